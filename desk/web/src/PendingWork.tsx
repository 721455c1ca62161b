// What waits for a word of the writer: interrupted work, and whatever was typed or written and stands nowhere yet.
import { useEffect } from "react";
import { get } from "./api";
import { discard, forgetLaidAside, letGo, openAgain, openEditor, setAdrift, setUnsaved, takeBack, useDiscarded, useHiddenTexts, useTexts, useUnsavedText, type Discarded, type UnsavedText } from "./unsavedText";
import type { Live } from "./useStory";
import { hasField } from "./CodexPanel";
import { forgetEdit } from "./SaveText";
import { ChangedMeanwhile, Prose, Writing } from "./components";
import { count, excerpt, firstOf, isSame } from "./format";
import type { Ask, Passage, StoryView } from "./types";

export function PendingWork({ live: { job }, view, ask, onWrite }: { live: Live; view: StoryView; ask: Ask; onWrite: () => void }) {
  const interrupted = job.draft && job.step > 0;
  return (
    <>
      {view.pending_replay && (
        <div className="offer">
          <p>
            An edit of passage {view.pending_replay.step} was interrupted: {view.pending_replay.done} of {count(view.pending_replay.total, "passage")} are in place.
          </p>
          <details>
            <summary>Its text</summary>
            <div lang={view.language === "und" ? undefined : view.language}>
              <Prose text={view.pending_replay.text} language={view.language} />
            </div>
          </details>
          <p className="hint">Given up, it changes nothing, and its text stands in the passage’s editor, not saved.</p>
          <div className="row">
            <button className="primary" onClick={() => void ask("POST", "/replay")}>Go on with it</button>
            <button className="quiet" onClick={() => void ask("DELETE", "/replay")}>Give it up</button>
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
      <ChosenPlan view={view} ask={ask} hidden={Boolean(interrupted)} onWrite={onWrite} />
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

/** The plan that is chosen and waits to be written, and its editor. */
function ChosenPlan({ view, ask, hidden, onWrite }: { view: StoryView; ask: Ask; hidden: boolean; onWrite: () => void }) {
  const plan = view.waiting_plan ?? "";
  const field = useUnsavedText(`${view.id}/plan0/${view.root}/${view.step}`, view.head);
  const text = field.text;
  if (text !== null) {
    const number = view.plans.indexOf(plan) + 1;
    const changed = Boolean(plan) && ![field.base, text, field.saved].some((known) => isSame(known, plan));
    const cannot = changed || !text.trim();
    const save = async (then = () => {}) => {
      if (cannot) return;
      field.sent(text);
      if (!(await ask("PUT", "/waiting-plan", { plan: text, seen: plan, ...(number && { number }) }))) return field.sent(field.saved);
      field.drop();
      then();
    };
    return (
      <Writing label="The plan that waits" field={field} rows={3} atEnd back="#next" onSubmit={() => void save(onWrite)}>
        {changed && <ChangedMeanwhile what="The plan that waits" now={plan} onKeep={() => field.rebase(view.head, plan)} onTake={field.discard} />}
        <div className="row">
          <button className="primary" disabled={cannot} onClick={() => void save(onWrite)}>Write from it</button>
          <button disabled={cannot} onClick={() => void save()}>Only save it</button>
          <button className="quiet" onClick={field.discard}>Cancel</button>
        </div>
      </Writing>
    );
  }
  if (hidden || !plan) return null;
  return (
    <div className="offer">
      <p className="plan-now" dir="auto">{plan}</p>
      <div className="row">
        <button className="primary" onClick={onWrite}>Write it</button>
        <button className="quiet" aria-label="Edit the plan that waits" onClick={() => field.open(plan)}>Edit</button>
        <span className="hint">This plan is chosen and waits. Another choice takes its place.</span>
      </div>
    </div>
  );
}

const WHAT: Record<string, string> = { text: "Your text of passage", summary: "Your long-term entry of passage", memory: "Your memory after passage", plan: "Your plan after passage" };
const SHOWN = 90;
const MOST_BEFORE = 20;

type Dialogs = "" | "search" | "settings" | "map";
/** Where a field is that is at hand all the time. */
const PLACES: [RegExp, Dialogs][] = [
  [/^form\//, "settings"],
  [/^codex\//, ""],
  [/\/(replace|query)/, "search"],
  [/\/title/, ""],
  [/^name\//, "map"],
];

/** Forget a plan that was laid aside, or left, once the passage after the one where that was is written from it, in whatever tab. */
function useWrittenPlans({ id, head, path }: StoryView) {
  const own = `${id}/own//`;
  const plans = useHiddenTexts(id).filter(([key, draft]) => key.startsWith(own) && !draft.adrift);
  useEffect(() => {
    for (const [, { at, text }] of plans) {
      const here = path.findIndex(([version, , , first]) => version === at || first === at);
      const next = path[here + 1]?.[0];
      if (!next) continue;
      // The opening is no passage of the path.
      const isWritten = (passage?: Passage) => passage?.plan.trim() === text.trim() && (here >= 0 || passage.parent === at);
      void get<Passage[]>(`/stories/${id}/passages`, { ids: next }).then(([passage]) => isWritten(passage) && forgetLaidAside(own, text), () => undefined);
    }
  }, [id, head, plans.map(([key]) => key).join()]);
}

/** What is edited beside the page, and out of sight with the page alone: there an editor would be hidden, and letters be commands. */
const BESIDE = /^codex\/|\/(memory|plan\d)\//;

/** What was typed and not saved, of which no editor is in sight: its passage is elsewhere, or its editor was closed. */
export function UnsavedTexts(props: { view: StoryView; busy: boolean; ask: Ask; onShow: () => void; onJump: (id: string) => void; onMemory: (id: string) => void; onOpen: (dialog: Dialogs) => void }) {
  const { view } = props;
  useWrittenPlans(view);
  // A plan that waits is in sight as such.
  const hidden = useHiddenTexts(view.id)
    .filter(([key, draft]) => !props.busy || draft.adrift || !/\/plan\d\//.test(key))
    .filter(([key, draft]) => !/\/own\//.test(key) || draft.text.trim() !== view.waiting_plan);
  const forget = (key: string, lent?: string) => {
    discard(key);
    if (lent) void forgetEdit(props.ask, lent);
  };
  const show = async (key: string, draft: UnsavedText) => {
    const { at } = draft;
    if (BESIDE.test(key)) props.onShow();
    if (/^codex\//.test(key)) {
      if (!hasField(key)) {
        // It is typed on where it is offered.
        openEditor(key, "", at);
        return setAdrift(key);
      }
      setUnsaved(key, { ...draft, adrift: false });
    }
    const chapter = /\/chapter\/(\d+)/.exec(key);
    if (chapter) {
      const passage = view.path[Number(chapter[1]) - 1]?.[0];
      openAgain(key);
      return passage ? props.onJump(passage) : setAdrift(key.replace(/\/~\w+$/, ""));
    }
    const place = PLACES.find(([pattern]) => pattern.test(key));
    if (place) {
      openAgain(key);
      return props.onOpen(place[1]);
    }
    const [, kind = "", root] = key.split("/");
    const here = view.path.find((entry) => firstOf(entry) === root)?.[0] ?? (root === view.root ? view.head : "");
    if (kind === "memory") {
      if (!here && !(await props.ask("POST", "/goto", { at }))) return;
      // Of the newest passage it is the one that is steered while the next is written.
      props.onMemory(here === view.head ? "" : here || at);
    } else if (kind === "text" || kind === "summary" || (kind !== "own" && root !== view.root)) {
      // A plan is edited where it would be written from.
      if ((!here || kind.startsWith("plan")) && !(await props.ask("POST", "/goto", { at: here || at }))) return;
      if (kind === "text" || kind === "summary") props.onJump(here || at);
    }
    openAgain(key);
  };
  return (
    <>
      <Thrown owner={view.id} onBack={({ key, draft }) => void show(key, draft)} />
      {hidden.map(([key, draft]) => (
        <div className="offer" key={key} role="group" aria-label="Not saved">
          {draft.adrift ? <Adrift name={key} at={draft.at} /> : (
            <p>
              {named(key)} is not saved: <q dir="auto">{typedOf(key, draft)}</q>
            </p>
          )}
          <div className="row">
            <button disabled={props.busy && !/^codex\/|\/(memory|own)\//.test(key)} onClick={() => void show(key, draft)}>Go on with it</button>
            <button className="quiet" onClick={() => forget(key, draft.lent)}>Forget it</button>
          </div>
        </div>
      ))}
    </>
  );
}

/** A text whose editor vanished while somebody typed in it: they go on here. */
function Adrift({ name, at }: { name: string; at: string }) {
  const field = useUnsavedText(name, at);
  return (
    <>
      <p>{named(name)} has left the page, and is not saved:</p>
      {/* Whoever was about to type, and goes elsewhere, wanted nothing of it. */}
      <div onBlur={() => field.text === "" && field.discard()}>
        <Writing label={named(name)} field={field} rows={4} adrift />
      </div>
    </>
  );
}

/** What was thrown away and can be taken back: the last of it, and on request what went before. */
export function Thrown({ owner, onBack }: { owner: string; onBack: (thrown: Discarded) => void }) {
  const [last, ...before] = useDiscarded(owner);
  if (!last) return null;
  const offer = (thrown: Discarded, said: string) => (
    <>
      <p>
        {named(thrown.key)}{said}: <q dir="auto">{typedOf(thrown.key, thrown.draft)}</q>
      </p>
      <div className="row">
        <button type="button" onClick={() => (takeBack(thrown), onBack(thrown))}>Take it back</button>
        {thrown === last && <button type="button" className="quiet" onClick={() => letGo(owner)}>{before.length ? "Let all of it go" : "Let it go"}</button>}
      </div>
    </>
  );
  return (
    <div className="offer" role="group" aria-label="Thrown away">
      {offer(last, " was thrown away")}
      {before.length > 0 && (
        <details>
          <summary>Thrown away before ({before.length})</summary>
          {before.map((thrown, number) => <div className="offer" key={number}>{offer(thrown, "")}</div>)}
        </details>
      )}
    </div>
  );
}

/** What was typed in the same fields in tabs that are no more. */
export function FromTabs({ owner, onBack }: { owner: string; onBack?: (key: string) => void }) {
  const copies = useHiddenTexts(owner).filter(([key]) => key.includes("/~"));
  return copies.map(([key, draft]) => (
    <div className="offer" key={key} role="group" aria-label="Not saved">
      <p>Typed in another tab: <q dir="auto">{typedOf(key, draft)}</q></p>
      <div className="row">
        <button type="button" onClick={() => (openAgain(key), onBack?.(key))}>Go on with it</button>
        <button type="button" className="quiet" onClick={() => discard(key)}>Forget it</button>
      </div>
    </div>
  ));
}

/** What was typed in a story that was erased meanwhile, to be copied. */
export function LeftTexts({ story }: { story: string }) {
  const left = useTexts(story);
  return (
    <>
      <Thrown owner={story} onBack={() => undefined} />
      {left.map(([key, draft]) => (
        <div className="offer" key={key} role="group" aria-label="Not saved">
          {draft.adrift ? <Adrift name={key} at={draft.at} /> : (
            <>
              <p>{named(key)} was not saved:</p>
              <blockquote dir="auto">{key.startsWith("form/") ? typedOf(key, draft) : draft.text}</blockquote>
            </>
          )}
          <div className="row">
            <button className="quiet" onClick={() => discard(key)}>Forget it</button>
          </div>
        </div>
      ))}
    </>
  );
}

const FIELDS: [RegExp, string][] = [
  [/^start\/premise/, "A premise"],
  [/^start\/player/, "Who you play"],
  [/^start\/settings/, "How it is told"],
  [/^form\//, "A form of settings"],
  [/^codex\//, "A line of the codex"],
  [/\/own\//, "A plan of your own"],
  [/\/chapter\//, "The title of a chapter"],
  [/\/query/, "What you looked for"],
  [/\/replace\/old/, "Words to replace"],
  [/\/replace\/new/, "Words in their place"],
  [/\/title/, "A title"],
  [/^name\//, "A name"],
];

/** What somebody typed, in words: a key says whose and what it is. */
function named(key: string) {
  const field = FIELDS.find(([pattern]) => pattern.test(key));
  if (field) return field[1];
  const [, kind = "", , step] = key.split("/");
  return `${WHAT[kind.replace(/\d/, "")] ?? "Your text of passage"} ${step}`;
}

/** The first words that were typed: of a text that was changed, from where it is another than it was. */
function typedOf(key: string, { text, base }: { text: string; base: string }) {
  const values = (value: unknown): unknown => (typeof value === "object" && value ? Object.values(value).flatMap(values) : value);
  if (/^form\/|^start\/settings/.test(key)) {
    const { was, ...typed } = JSON.parse(text) as Record<string, unknown>;
    return excerpt(String(values(typed)), SHOWN);
  }
  let same = 0;
  while (same < text.length && text[same] === base[same]) same += 1;
  // From the word on, where the script sets words apart.
  const from = Math.max(text.lastIndexOf(" ", same) + 1, same - MOST_BEFORE);
  return from < SHOWN / 2 || same === text.length ? excerpt(text, SHOWN) : `…${excerpt(text.slice(from), SHOWN)}`;
}
