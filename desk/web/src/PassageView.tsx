import { memo, useEffect, useState, type MouseEvent } from "react";
import { get } from "./api";
import { isWanted, takeWish, useUnsavedText, type EditorField } from "./unsavedText";
import type { PassageCache } from "./passageCache";
import { ChapterForm, keyOfChapter } from "./ContentsDialog";
import { Contradictions, useContradictions } from "./Contradictions";
import { ChangedMeanwhile, Prose, Writing } from "./components";
import { forgetEdit, SaveText, savePassage, useCost } from "./SaveText";
import { SelectionTools, SuggestionView } from "./Suggestion";
import { placeAt, selectFirst, useSelected } from "./selection";
import { AUTHORS, firstOf, isSame } from "./format";
import type { Ask, Cost, Passage, StoryView, Suggestion } from "./types";

/** The passage as it is drawn, and `at`, the version that stands by now: its text may be on the way. */
type Props = { passage: Passage; at: string; chapter: string | null; language: string; first: string; step: number; author: string; busy: boolean; later: number; ask: Ask; story: string; cache: PassageCache; suggestions: Suggestion[]; play: boolean; onMemory: (id: string) => void };

export const PassageView = memo(function PassageView(props: Props) {
  const { passage, at, step } = props;
  const [open, setOpen] = useState(false);
  const text = useUnsavedText(`${props.story}/text/${props.first}/${step}`, passage.id);
  const summary = useUnsavedText(`${props.story}/summary/${props.first}/${step}`, passage.id);
  useEffect(() => {
    // Its field stands in the menu, which an editor of the text takes the place of.
    const key = keyOfChapter(props.story, step);
    if (!isWanted(key)) return;
    if (text.text === null) setOpen(true);
    else takeWish(key);
  });
  const cost = useCost(props.story, at, props.later, text.text !== null || props.suggestions.length > 0);
  const selected = useSelected(passage.id);
  const contradictions = useContradictions(passage);
  const by = AUTHORS[props.author] ?? AUTHORS.model!;
  // What was just written has no summary on the page yet.
  const editSummary = async () => summary.open((await standing(props.story, props.first, at))?.summary ?? passage.summary);
  const editAt = ({ clientX, clientY }: MouseEvent) => {
    const caret = placeAt(clientX, clientY);
    text.open(passage.text, caret === null ? undefined : { caret, y: clientY });
  };
  const select = () => {
    // A field of the menu would take the selection away from whoever tabs through it to the toolbar.
    setOpen(false);
    selectFirst(passage.id);
  };
  const tools = selected && !props.busy && text.text === null;
  // The toolbar lies over the text behind the selection, and over nothing of the next passage.
  const room = tools ? { minHeight: `calc(${selected.top}px + var(--tools))` } : undefined;
  return (
    <article style={room} id={`p-${passage.id}`} data-at={at} className={`passage by-${props.author} ${step === 1 ? "first" : ""}`} tabIndex={-1} aria-label={`Passage ${step}${by.mark ? `, by ${by.name}` : ""}`}>
      <button className="number" aria-expanded={open} aria-label={`Passage ${step}${by.mark && ` ${by.mark}`}: what can be done`} title="What can be done with this passage" onClick={() => setOpen(!open)}>
        {step} {by.mark && <span className="by">{by.mark}</span>}
      </button>
      {open && text.text === null && (
        <div className="passage-menu">
          <p className="plan-was" dir="auto">
            <span className="label">Plan</span> {passage.plan || "none"}
          </p>
          <div className="row">
            <button onClick={() => text.open(passage.text)}>Edit</button>
            <button disabled={props.busy} title="Shift and the arrow keys change what is selected" onClick={select}>Select text</button>
            <button disabled={props.busy} onClick={() => void props.ask("POST", "/retry", { at })}>Another take</button>
            <button disabled={props.busy || props.later === 0} onClick={() => void props.ask("POST", "/goto", { at })}>Go back to here</button>
            <button onClick={() => props.onMemory(at)}>Memory here</button>
            <button disabled={props.busy || summary.text !== null} onClick={() => void editSummary()}>Long-term entry</button>
          </div>
          <ChapterForm story={props.story} at={at} step={step} title={props.chapter} busy={props.busy} ask={props.ask} />
        </div>
      )}
      {props.play && <Did step={step} what={passage.plan} />}
      {summary.text !== null && <EditSummary {...props} field={summary} />}
      {text.text !== null ? (
        <EditText {...props} field={text} cost={cost} />
      ) : (
        <div className="prose" onDoubleClick={editAt}>
          <Prose text={passage.text} language={props.language} marks={contradictions.marks} />
        </div>
      )}
      {text.text === null && <Contradictions {...props} {...contradictions} onEdit={text.open} />}
      {tools && <SelectionTools {...props} selected={selected} />}
      {text.text === null && props.suggestions.map((one) => <SuggestionView key={one.key} {...props} suggestion={one} cost={cost} />)}
    </article>
  );
});

/** What somebody who plays did, or who they are: it stands before the passage that tells what came of it, and is no part of its text. */
export function Did({ step, what }: { step: number; what: string }) {
  if (!what) return null;
  // A story to play begins with the answer to "Who are you?".
  const isDeed = step > 1;
  return <div className={`did ${isDeed ? "deed" : ""}`} dir="auto"><span className="sr">{isDeed ? "You did: " : "Who you are: "}</span>{what}</div>;
}

function EditText(props: Props & { field: EditorField; cost: Cost | null }) {
  const { field } = props;
  const text = field.text ?? "";
  const cancel = () => {
    field.discard();
    if (field.lent) void forgetEdit(props.ask, field.lent);
  };
  const same = text.trim() === props.passage.text.trim();
  const changed = useChanged(props.story, field.seen, props.passage) && !same && !isSame(props.passage.text, field.saved);
  const busy = props.busy || changed;
  useEffect(() => {
    // Another tab saved it.
    if (field.kept && same) field.drop();
  }, [field.kept, same]);
  return (
    <Writing label={`Text of passage ${props.step}`} field={field} rows={8} back={`#p-${props.passage.id} .number`} onSubmit={() => same || busy || void savePassage(props.ask, props.passage, text, false, field).then((done) => done && field.drop())}>
      {changed && <ChangedMeanwhile what="The text of this passage" now={props.passage.text} onKeep={() => field.rebase(props.passage.id, props.passage.text)} onTake={cancel} />}
      <div className="follows">
        {props.busy && <p className="hint" role="status">The desk is at work on the story. What you type here is kept, and can be saved when that is done.</p>}
        {changed && <button type="button" onClick={({ currentTarget }) => currentTarget.closest(".writing")!.querySelector(".offer")!.scrollIntoView({ block: "center" })}>Changed meanwhile: see how</button>}
        <SaveText {...props} busy={busy} text={text} from={field} verb={props.later ? "Continue from here" : "Save"} keep="Keep" onSaved={field.drop} />
        <button className="quiet" onClick={cancel}>{field.kept ? "Forget this text" : "Cancel"}</button>
      </div>
    </Writing>
  );
}

/** Whether a passage reads otherwise than the version of it that was edited. */
function useChanged(story: string, seen: string, passage: Passage) {
  const [changed, setChanged] = useState(false);
  useEffect(() => {
    let here = true;
    setChanged(false);
    if (seen && seen !== passage.id) {
      void get<Passage[]>(`/stories/${story}/passages`, { ids: seen }).then(([edited]) => here && setChanged(Boolean(edited) && !isSame(edited!.text, passage.text)), () => undefined);
    }
    return () => void (here = false);
  }, [story, seen, passage.id, passage.text]);
  return changed;
}

/** Read the version of a passage that stands in the story by now; nothing where the desk does not answer. */
async function standing(story: string, first: string, shown: string): Promise<Passage | undefined> {
  try {
    const { path } = await get<StoryView>(`/stories/${story}`);
    const id = path.find((entry) => firstOf(entry) === first)?.[0] ?? shown;
    return (await get<Passage[]>(`/stories/${story}/passages`, { ids: id }))[0];
  } catch {
    return undefined;
  }
}

function EditSummary(props: Props & { field: EditorField }) {
  const { field } = props;
  const text = field.text ?? "";
  const [now, setNow] = useState<string | null>(null);
  const save = async () => {
    if (now !== null || !text.trim()) return;
    if (!(await props.ask("PUT", "/summary", { text, at: props.at, seen: field.base }))) {
      // Another page may have saved one, of which this one was not told.
      const found = await standing(props.story, props.first, props.at);
      if (found && !isSame(field.base, found.summary)) setNow(found.summary);
      return;
    }
    props.cache.put({ ...props.passage, summary: text });
    field.drop();
  };
  const rebase = () => {
    field.rebase(props.passage.id, now ?? "");
    setNow(null);
  };
  return (
    <Writing label={`What the long-term memory holds of passage ${props.step}`} field={field} back={`#p-${props.passage.id} .number`} onSubmit={() => void save()}>
      <p className="hint">What the long-term memory tells of this passage when it is recalled, from now on and on this branch. It costs nothing.</p>
      {now !== null && <ChangedMeanwhile what="The long-term entry" now={now} onKeep={rebase} onTake={field.discard} />}
      <div className="row">
        <button className="primary" disabled={props.busy || now !== null || !text.trim()} onClick={() => void save()}>Save</button>
        <button className="quiet" onClick={field.discard}>Cancel</button>
      </div>
    </Writing>
  );
}
