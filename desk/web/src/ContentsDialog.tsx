// The chapters of the branch: where each begins, how long it is, and what happens in it.
import { useEffect, useRef, useState, useSyncExternalStore, type ReactNode } from "react";
import { get } from "./api";
import { ChangedMeanwhile, Dialog, Problem, ShortInput, useAttempt } from "./components";
import { count } from "./format";
import type { PassageCache } from "./passageCache";
import type { Ask, Chapters, PathEntry, StoryView } from "./types";
import { takeWish, useField } from "./unsavedText";

type Chapter = { number: number; step: number; title: string | null; entries: PathEntry[] };

/** The path, divided where a chapter begins; what stands before the first one has no title. */
export function divide(path: PathEntry[], chapters: Chapters): Chapter[] {
  const steps = [...new Set([1, ...Object.keys(chapters).map(Number)])].filter((step) => step <= path.length).sort((a, b) => a - b);
  return steps.map((step, at) => ({ number: at + 1, step, title: chapters[step] ?? null, entries: path.slice(step - 1, (steps[at + 1] ?? path.length + 1) - 1) }));
}

export function ContentsDialog(props: { view: StoryView; chapters: Chapters; cache: PassageCache; busy: boolean; ask: Ask; onClose: () => void; onJump: (id: string) => void }) {
  const { view, chapters } = props;
  const go = (id: string) => {
    props.onClose();
    props.onJump(id);
  };
  return (
    <Dialog title="Contents" onClose={props.onClose}>
      {Object.keys(chapters).length === 0 && (
        <p className="hint">No chapter is set: a book that is exported begins one at every eighth passage. By hand one begins at any passage, by the number in its margin.</p>
      )}
      <ol className="contents">
        {divide(view.path, chapters).map((part) => (
          <li key={part.step}>
            <button className="card" onClick={() => go(part.entries[0]![0])}>
              <span className="numeral" aria-hidden="true">{part.number}</span>
              <span>
                <bdi>{part.title || (part.title === null ? "The beginning" : `Chapter ${part.number}`)}</bdi>{" "}
                <span className="hint">
                  {count(part.entries.reduce((sum, entry) => sum + entry[1], 0), "word")} in {count(part.entries.length, "passage")}
                </span>
              </span>
            </button>
            <Opened summary="Its scenes, and its title">
              <ChapterForm {...props} story={view.id} at={part.entries[0]![0]} step={part.step} title={part.title} />
              <Scenes entries={part.entries} first={part.step} cache={props.cache} onGo={go} />
            </Opened>
          </li>
        ))}
      </ol>
    </Dialog>
  );
}

/** What is there once it is opened: a long book has more of it than a page should hold. */
function Opened(props: { summary: string; children: ReactNode }) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{props.summary}</summary>
      {open && props.children}
    </details>
  );
}

/** The passages of a chapter, each by what happens in it. */
function Scenes(props: { entries: PathEntry[]; first: number; cache: PassageCache; onGo: (id: string) => void }) {
  const { entries, cache } = props;
  const ids = entries.map((entry) => entry[0]);
  useEffect(() => cache.want(ids), [ids.join()]);
  const known = useSyncExternalStore(cache.subscribe, () => ids.filter((id) => cache.get(id)).length);
  return (
    <ol className="sentences" aria-busy={known < ids.length}>
      {entries.map(([id, words], at) => (
        <li key={id}>
          <button className="plain scene" onClick={() => props.onGo(id)}>
            {props.first + at}. <bdi>{cache.get(id)?.summary || "…"}</bdi> <span className="hint">{count(words, "word")}</span>
          </button>
        </li>
      ))}
    </ol>
  );
}

export const keyOfChapter = (story: string, step: number) => `name/stories/${story}/chapter/${step}`;

/** Begin a chapter with a passage, name it, or make it one with what stands before. `title` is null where none begins. */
export function ChapterForm(props: { story: string; at: string; step: number; title: string | null; busy: boolean; ask: Ask }) {
  const field = useField(keyOfChapter(props.story, props.step));
  const input = useRef<HTMLInputElement>(null);
  // Each time that it is drawn: it may be there already.
  useEffect(() => void (takeWish(field.key) && input.current?.focus()));
  // What stood there as the server refused another one, where the page was not told of it.
  const [told, setTold] = useState<string | null>();
  const { problem, setProblem, attempt } = useAttempt();
  useEffect(() => setTold(undefined), [props.title]);
  // Why it was refused holds for what stood there then.
  useEffect(() => setProblem(""), [props.title, props.busy]);
  const now = told === undefined ? props.title : told;
  const stands = now ?? "";
  const title = field.text ?? stands;
  const changed = field.text !== null && ![field.base, field.text, field.saved].includes(stands);
  const type = (text: string) => {
    setProblem("");
    if (text === stands) field.drop();
    else field.change(text, field.text === null ? stands : field.base);
  };
  const set = async (to: string | null) => {
    field.sent(to ?? "");
    // Where a chapter is no more, a title that was typed for it can be taken back.
    if (await props.ask("PUT", "/chapter", { at: props.at, title: to, seen: now }, attempt)) return to === null ? field.discard() : field.drop();
    field.sent(field.saved);
    const found = await get<Chapters>(`/stories/${props.story}/chapters`).catch(() => null);
    if (found) setTold(found[props.step] ?? null);
  };
  const settle = (how: () => void) => () => {
    setProblem("");
    how();
  };
  return (
    <>
      {changed && <ChangedMeanwhile what="The title of this chapter" now={stands || "no title"} onKeep={settle(() => field.rebase("", stands))} onTake={settle(field.discard)} />}
      <form
        className="row"
        onSubmit={(event) => {
          event.preventDefault();
          void set(title);
        }}
      >
        <ShortInput {...field.mark} ref={input} aria-label={`Title of the chapter that begins with passage ${props.step}`} placeholder="Title, or empty for a number" dir="auto" maxLength={200} value={title} onChange={({ target }) => type(target.value)} />
        <button disabled={props.busy || changed || title === now}>{now === null ? "Begin a chapter" : "Rename"}</button>
        {now !== null && (
          <button type="button" className="quiet" disabled={props.busy || changed} onClick={() => void set(null)}>
            {props.step > 1 ? "Join with the one before" : "No title"}
          </button>
        )}
      </form>
      <Problem text={problem} />
    </>
  );
}
