import { useEffect, useRef, useState } from "react";
import { get } from "./api";
import { layAside, useUnsavedText } from "./unsavedText";
import { ChangedMeanwhile, Problem, TakeOut, useAttempt, Writing } from "./components";
import { count, firstOf, isSame, wordsOf } from "./format";
import { RecalledPassages } from "./RecalledPassages";
import type { Ask, Memory, MemoryAsked, MemoryChange, StoryView } from "./types";

const MOST_SENTENCES = 20;

/** The sentences that an edit of the memory brings, and those that it takes away. */
function parts({ before, after }: MemoryChange) {
  const [old, now] = [before.split("\n"), after.split("\n")];
  return { came: now.filter((line) => !old.includes(line)), went: old.filter((line) => !now.includes(line)) };
}

/** Return a memory with an edit of another one made in it. */
function withChange(memory: string[], change: MemoryChange): string[] {
  const { came, went } = parts(change);
  return [...memory.filter((line) => !went.includes(line)), ...came.filter((line) => !memory.includes(line))];
}

export function MemoryPanel(props: { view: StoryView; busy: "write" | "other" | false; at: string; past: boolean; changes: MemoryChange[]; asked: MemoryAsked; ask: Ask; onJump: (id: string) => void; onBack: () => void }) {
  const { view } = props;
  // An editor that is open while it writes stays with its passage, the first version of which is held: the next one is there
  // before the text is.
  const [held, setHeld] = useState("");
  const version = view.path.find((entry) => firstOf(entry) === held)?.[0];
  const id = props.at || (props.busy && (version ?? held)) || view.head;
  const [full, setFull] = useState<Memory | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const place = view.path.findIndex((entry) => entry[0] === id);
  const root = view.path[place]?.[3] ?? (id === view.head ? view.root : id);
  const field = useUnsavedText(`${view.id}/memory/${root}/${place < 0 && id === view.head ? view.step : place + 1}`, id);
  const edited = field.text;
  const { problem, attempt } = useAttempt();
  const steers = props.busy === "write" && !props.at;
  const waits = Boolean(props.busy) && !steers;
  // Whoever edits again goes on from what waits already.
  const edit = () => memory && field.open((props.at ? memory.now : props.changes.reduce(withChange, memory.now)).join("\n"));
  const stays = Boolean(props.busy) && edited !== null && !props.at;
  useEffect(() => setHeld(stays && root ? root : ""), [stays]);
  useEffect(() => {
    // The pieces by which passages were recalled are searched for again, which may take a moment.
    let here = true;
    void attempt(async () => {
      const found = await get<Memory>(`/stories/${view.id}/memory`, { at: id });
      if (here) setFull(found);
    });
    return () => {
      here = false;
    };
  }, [id, view.id, view.revision]);
  useEffect(() => {
    // Whoever asked for it goes there; whoever moves along the time line, or works while the newest passage changes, stays.
    if (!props.asked.goThere) return;
    heading.current?.scrollIntoView({ block: "nearest" });
    // Whoever goes there to write has the caret in the text already.
    if (!heading.current?.closest("section")?.contains(document.activeElement)) heading.current?.focus({ preventScroll: true });
  }, [props.asked]);
  const memory = full?.id === id ? full : props.at ? null : (view.memory ?? null);
  const save = () => {
    if (edited === null || waits || changed) return;
    field.sent(edited);
    void props.ask("PUT", "/memory", { text: edited, at: id, seen: field.seen || id, saved: field.saved, before: field.base, steers }).then((done) => (done ? field.drop() : field.sent(field.saved)));
  };
  const now = memory?.now.join("\n") ?? "";
  const [seen, setSeen] = useState<Memory | null>(null);
  useEffect(() => {
    if (field.seen && field.seen !== id) void get<Memory>(`/stories/${view.id}/memory`, { at: field.seen }).then(setSeen, () => undefined);
  }, [field.seen, id, view.id]);
  const changed = field.seen !== id && seen?.id === field.seen && Boolean(memory) && ![seen.now.join("\n"), edited ?? "", field.saved].some((text) => isSame(text, now));
  const sentences = edited?.split("\n").filter((line) => line.trim()).length ?? 0;
  return (
    <section className="memory" aria-labelledby="memory">
      <div className="section-head">
        <h2 id="memory" ref={heading} tabIndex={-1}>{props.at ? `Memory after passage ${memory?.step ?? ""}` : props.past && id === view.head ? `Memory of now, after passage ${view.step}` : "Memory"}</h2>
        {props.at && <button className="quiet" onClick={props.onBack}>Back to now</button>}
        {edited === null && memory && <button className="quiet" disabled={waits} onClick={edit}>Edit</button>}
      </div>
      <Problem text={problem} />
      {edited !== null ? (
        <Writing label="Short-term memory, one sentence a line" field={field} rows={8} back="#memory" onSubmit={save}>
          <p className={`hint ${sentences > MOST_SENTENCES ? "too-much" : ""}`}>
            {count(sentences, "sentence")} of at most {MOST_SENTENCES}, {count(wordsOf(edited), "word")} of at most 500.{" "}
            {steers
              ? "What you change here is changed in the memory that the passage in the making leaves, and the one after it is written from that."
              : `The next passage is written from it; the plans stay until you ask for new ones. It costs nothing${props.at ? ", and the story goes on from that passage" : ""}.`}
          </p>
          {changed && <ChangedMeanwhile what="The memory" now={now} onKeep={() => field.rebase(id, now)} onTake={field.discard} />}
          <div className="row">
            <button className="primary" disabled={waits || changed} onClick={save}>Save</button>
            <button className="quiet" onClick={field.discard}>Cancel</button>
          </div>
        </Writing>
      ) : !memory ? (
        <p className="hint">Reading</p>
      ) : (
        <>
          {!props.at && <Waiting changes={props.changes} writes={steers} ask={props.ask} onOut={(change) => layAside(field.key, withChange(memory.now, change).join("\n"), id, memory.now.join("\n"))} />}
          <Shown memory={memory} onJump={props.onJump} />
        </>
      )}
    </section>
  );
}

/** Edits that wait for the memory that the passage in the making leaves; one that is taken out is a text in hand again. */
function Waiting({ changes, writes, ask, onOut }: { changes: MemoryChange[]; writes: boolean; ask: Ask; onOut: (change: MemoryChange) => void }) {
  if (!changes.length) return null;
  return (
    <>
      <p className="hint">{writes ? "Changed in the memory that the passage in the making leaves:" : "These changes wait for the next passage:"}</p>
      <ul className="queue" aria-label="Changes of the memory that wait">
        {changes.map((change, at) => (
          <li className="row" key={at}>
            <span dir="auto">
              {parts(change).came.join(" ")}
              {parts(change).went.map((line) => <del key={line}> {line}</del>)}
            </span>
            <TakeOut label={`Take out change ${at + 1} of the memory`} back="#memory" onClick={() => void ask("DELETE", `/memory?number=${at + 1}`, change).then((done) => done && onOut(change))} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Shown({ memory, onJump }: { memory: Memory; onJump: (id: string) => void }) {
  const why = new Map([...memory.added, ...memory.dropped].map((entry) => [entry.sentence.trim(), entry.why]));
  const gone = memory.before.filter((line) => !memory.now.includes(line));
  const told = memory.dropped.map((entry) => entry.sentence.trim());
  // The model's own list may name in other words what left; both are shown, each once.
  const dropped = [...gone, ...told.filter((sentence) => !gone.includes(sentence) && !memory.now.includes(sentence))];
  return (
    <>
      <ul className="sentences">
        {memory.now.map((line, number) => {
          const fresh = memory.before.length > 0 && !memory.before.includes(line);
          return (
            <li key={number} className={fresh ? "added" : ""} dir="auto">
              {fresh && <span className="tag">new</span>} {line}
              {fresh && why.get(line.trim()) && <span className="why">{why.get(line.trim())}</span>}
            </li>
          );
        })}
        {memory.now.length === 0 && <li className="hint">Nothing is remembered.</li>}
      </ul>
      {dropped.length > 0 && (
        <details>
          <summary>Dropped here ({dropped.length})</summary>
          <ul className="sentences">
            {dropped.map((line, number) => (
              <li key={number} className="dropped" dir="auto">
                <del>{line}</del>
                {why.get(line) && <span className="why">{why.get(line)}</span>}
              </li>
            ))}
          </ul>
        </details>
      )}
      {memory.added.some((entry) => !memory.now.includes(entry.sentence.trim())) && (
        <details>
          <summary>Why it was changed</summary>
          <ul className="sentences">
            {memory.added.map((entry, number) => (
              <li key={number} dir="auto">
                {entry.sentence}
                <span className="why">{entry.why}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
      {memory.recalled.length > 0 && (
        <>
          <h3>Recalled for passage {memory.step}</h3>
          <RecalledPassages entries={memory.recalled} onJump={onJump} />
        </>
      )}
    </>
  );
}
