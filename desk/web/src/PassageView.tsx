import { memo, useEffect, useState } from "react";
import { get } from "./api";
import { useUnsavedText, type EditorField } from "./unsavedText";
import type { PassageCache } from "./passageCache";
import { Prose, Writing } from "./components";
import { AUTHORS, count, duration, tokens } from "./format";
import type { Ask, Cost, Passage } from "./types";

type Props = { passage: Passage; first: string; step: number; author: string; busy: boolean; later: number; ask: Ask; story: string; cache: PassageCache; onMemory: (id: string) => void };

export const PassageView = memo(function PassageView(props: Props) {
  const { passage, step } = props;
  const [open, setOpen] = useState(false);
  const text = useUnsavedText(`${props.story}/text/${props.first}/${step}`, passage.id);
  const summary = useUnsavedText(`${props.story}/summary/${props.first}/${step}`, passage.id);
  const by = AUTHORS[props.author] ?? AUTHORS.model!;
  const editSummary = async () => {
    // What was just written has no summary on the page yet.
    const found = await get<Passage[]>(`/stories/${props.story}/passages`, { ids: passage.id }).catch(() => []);
    summary.open(found[0]?.summary ?? passage.summary);
  };
  return (
    <article id={`p-${passage.id}`} className={`passage by-${props.author} ${step === 1 ? "first" : ""}`} tabIndex={-1} aria-label={`Passage ${step}${by.mark ? `, by ${by.name}` : ""}`}>
      <button className="number" aria-expanded={open} aria-label={`Passage ${step}${by.mark && ` ${by.mark}`}: what can be done`} title="What can be done with this passage" onClick={() => setOpen(!open)}>
        {step} {by.mark && <span className="by">{by.mark}</span>}
      </button>
      {open && text.text === null && (
        <div className="passage-menu">
          <p className="plan-was" dir="auto">
            <span className="label">Plan</span> {passage.plan || "none"}
          </p>
          <div className="row">
            <button disabled={props.busy} onClick={() => text.open(passage.text)}>Edit</button>
            <button disabled={props.busy} onClick={() => void props.ask("POST", "/retry", { at: passage.id })}>Another take</button>
            <button disabled={props.busy || props.later === 0} onClick={() => void props.ask("POST", "/goto", { at: passage.id })}>Go back to here</button>
            <button onClick={() => props.onMemory(passage.id)}>Memory here</button>
            <button disabled={props.busy || summary.text !== null} onClick={() => void editSummary()}>Long-term entry</button>
          </div>
        </div>
      )}
      {summary.text !== null && <EditSummary {...props} field={summary} />}
      {text.text !== null ? (
        <EditText {...props} field={text} />
      ) : (
        <div className="prose" onDoubleClick={() => !props.busy && text.open(passage.text)}>
          <Prose text={passage.text} />
        </div>
      )}
    </article>
  );
});

function EditText(props: Props & { field: EditorField }) {
  const { field } = props;
  const text = field.text ?? "";
  const [cost, setCost] = useState<Cost | null>(null);
  useEffect(() => {
    if (props.later) void get<Cost>(`/stories/${props.story}/replay-cost`, { ref: props.passage.id }).then(setCost, () => undefined);
  }, [props.later, props.passage.id, props.story]);
  // From here on the server keeps the text, and gives it back if it cannot be stored.
  const save = (replay: boolean) => void props.ask("POST", "/passage", { at: props.passage.id, text, replay }).then((done) => done && field.drop());
  const cancel = () => {
    field.drop();
    if (field.lent && !props.busy) void props.ask("DELETE", "/passage");
  };
  const same = text.trim() === props.passage.text.trim();
  useEffect(() => {
    // Another tab saved it.
    if (field.kept && same) field.drop();
  }, [field.kept, same]);
  return (
    <Writing label={`Text of passage ${props.step}`} field={field} rows={8} back={`#p-${props.passage.id} .number`} onSubmit={() => same || props.busy || save(false)}>
      <div className="follows">
        <div>
          <button className="primary" disabled={same || props.busy} onClick={() => save(false)}>
            {props.later ? "Continue from here" : "Save"}
          </button>
          <p className="hint">
            The memory and the plans are made anew from your text.
            {props.later > 0 && ` The ${count(props.later, "later passage")} ${props.later === 1 ? "stays as it is" : "stay as they are"}, on a branch of ${props.later === 1 ? "its" : "their"} own.`}
          </p>
        </div>
        {props.later > 0 && (
          <div>
            <button disabled={same || props.busy} onClick={() => save(true)}>
              Keep the {count(props.later, "later passage")}
            </button>
            <p className="hint">
              Word for word, with the memory rewritten for each
              {cost ? `: about ${count(cost.calls, "call")}, ${tokens(cost.input_tokens + cost.output_tokens)} tokens, ${duration(cost.seconds)}.` : "."}
            </p>
          </div>
        )}
        <button className="quiet" onClick={cancel}>{field.kept ? "Forget this text" : "Cancel"}</button>
      </div>
    </Writing>
  );
}

function EditSummary(props: Props & { field: EditorField }) {
  const { field } = props;
  const text = field.text ?? "";
  const save = () =>
    void props.ask("PUT", "/summary", { text, at: props.passage.id }).then((done) => {
      if (!done) return;
      props.cache.put({ ...props.passage, summary: text });
      field.drop();
    });
  return (
    <Writing label={`What the long-term memory holds of passage ${props.step}`} field={field} back={`#p-${props.passage.id} .number`} onSubmit={save}>
      <p className="hint">What the long-term memory tells of this passage when it is recalled, from now on and on this branch. It costs nothing.</p>
      <div className="row">
        <button className="primary" disabled={props.busy || !text.trim()} onClick={save}>Save</button>
        <button className="quiet" onClick={field.drop}>Cancel</button>
      </div>
    </Writing>
  );
}
