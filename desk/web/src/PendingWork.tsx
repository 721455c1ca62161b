// What waits for a word of the writer: interrupted work, and whatever was typed or written and stands nowhere yet.
import { discard, openAgain, setUnsaved, settleDiscarded, useDiscarded, useHiddenTexts } from "./unsavedText";
import type { Live } from "./useStory";
import { count, excerpt } from "./format";
import type { Ask, StoryView } from "./types";

export function PendingWork({ live: { job }, view, ask, onWrite }: { live: Live; view: StoryView; ask: Ask; onWrite: () => void }) {
  const interrupted = job.draft && job.step > 0;
  return (
    <>
      {view.pending_replay && (
        <div className="offer">
          <p>
            An edit of passage {view.pending_replay.step} was interrupted: {view.pending_replay.done} of {count(view.pending_replay.total, "passage")} are in place.
          </p>
          <div className="row">
            <button className="primary" onClick={() => void ask("POST", "/replay")}>Go on with it</button>
            <button className="quiet" onClick={() => void ask("DELETE", "/replay")}>Forget it</button>
          </div>
        </div>
      )}
      {view.unfinished_import && view.step <= view.unfinished_import.done && !job.busy && (
        <div className="offer">
          <p>The import stopped {view.unfinished_import.done ? `at passage ${view.unfinished_import.done} of ${view.unfinished_import.total}` : "before its first passage"}. Drop the same file on this page again to go on with it.</p>
        </div>
      )}
      {interrupted && (
        <div className="offer">
          <p>The writing of passage {job.step} was interrupted. What is there stands on the page; another choice lays it aside.</p>
          <div className="row">
            <button className="primary" onClick={() => void ask("POST", "/keep")}>Keep these words <kbd>K</kbd></button>
            <button onClick={onWrite}>Write it anew</button>
            <button className="quiet" onClick={() => void ask("POST", "/drop")}>Forget them</button>
          </div>
        </div>
      )}
      {!interrupted && view.waiting_plan && (
        <div className="offer">
          <p className="plan-now" dir="auto">{view.waiting_plan}</p>
          <div className="row">
            <button className="primary" onClick={onWrite}>Write it</button>
            <span className="hint">This plan is chosen and waits. Another choice takes its place.</span>
          </div>
        </div>
      )}
      {(view.aside ?? []).map((words) => (
        <div className="offer" key={words.key}>
          <p>The words of an interrupted passage {words.step} were laid aside:</p>
          <blockquote dir="auto">{words.text}</blockquote>
          <div className="row">
            <button onClick={() => void ask("POST", `/keep?key=${words.key}`)}>Make a take of them</button>
            <button className="quiet" onClick={() => void ask("POST", `/drop?key=${words.key}`)}>Forget them</button>
          </div>
        </div>
      ))}
    </>
  );
}

const WHAT: Record<string, string> = { text: "Your text of passage", summary: "Your long-term entry of passage", memory: "Your memory after passage", plan: "Your plan after passage" };
const SHOWN = 90;

/** What was typed and not saved, of which no editor is in sight: its passage is elsewhere, or its editor was closed. */
export function UnsavedTexts(props: { view: StoryView; busy: boolean; ask: Ask; onJump: (id: string) => void; onMemory: (id: string) => void }) {
  const { view } = props;
  const hidden = useHiddenTexts(`${view.id}/`).filter(([key]) => !props.busy || !/\/plan\d\//.test(key));
  const forget = (key: string) => {
    discard(key);
    if (view.pending_edit && key.includes("/text/")) void props.ask("DELETE", "/passage");
  };
  const show = async (key: string, at: string) => {
    const [, kind = "", root] = key.split("/");
    const here = view.path.find((entry) => (entry[3] ?? entry[0]) === root)?.[0] ?? (root === view.root ? view.head : "");
    if (kind === "memory") props.onMemory(here || at);
    else if (kind === "text" || kind === "summary" || (kind !== "own" && root !== view.root)) {
      if (!here && !(await props.ask("POST", "/goto", { at }))) return;
      if (kind === "text" || kind === "summary") props.onJump(here || at);
    }
    openAgain(key);
  };
  const thrown = useDiscarded(`${view.id}/`);
  const takeBack = ({ key, draft }: NonNullable<typeof thrown>) => {
    settleDiscarded(true);
    if (!key.includes("/own/")) void show(key, draft.at);
  };
  return (
    <>
      {thrown && (
        <div className="offer" role="group" aria-label="Thrown away">
          <p>
            {named(thrown.key)} was thrown away: <q dir="auto">{excerpt(thrown.draft.text, SHOWN)}</q>
          </p>
          <div className="row">
            <button onClick={() => takeBack(thrown)}>Take it back</button>
            <button className="quiet" onClick={() => settleDiscarded(false)}>Let it go</button>
          </div>
        </div>
      )}
      {hidden.map(([key, draft]) => (
        <div className="offer" key={key} role="group" aria-label="Not saved">
          <p>
            {named(key)} is not saved: <q dir="auto">{excerpt(draft.text, SHOWN)}</q>
          </p>
          <div className="row">
            <button disabled={props.busy && !key.includes("/memory/")} onClick={() => void show(key, draft.at)}>Go on with it</button>
            <button className="quiet" onClick={() => forget(key)}>Forget it</button>
          </div>
        </div>
      ))}
    </>
  );
}

/** What was typed in a story that was erased meanwhile, to be copied. */
export function LeftTexts({ story }: { story: string }) {
  return useHiddenTexts(`${story}/`).map(([key, draft]) => (
    <div className="offer" key={key} role="group" aria-label="Not saved">
      <p>{named(key)} was not saved:</p>
      <blockquote dir="auto">{draft.text}</blockquote>
      <div className="row">
        <button className="quiet" onClick={() => setUnsaved(key, null)}>Forget it</button>
      </div>
    </div>
  ));
}

/** What somebody typed, in words: a key says whose and what it is. */
function named(key: string) {
  const [, kind = "", , step] = key.split("/");
  return kind === "own" ? "A plan of your own" : `${WHAT[kind.replace(/\d/, "")] ?? "Your text of passage"} ${step}`;
}
