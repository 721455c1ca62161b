import { useEffect, useState } from "react";
import { get, type Memory, type View } from "./api";
import { Problem, useAttempt, Writing } from "./parts";
import type { Ask } from "./StoryPage";
import { count, wordsOf } from "./words";

const MOST_SENTENCES = 20;

export function MemoryPanel(props: { view: View; busy: boolean; at: string; ask: Ask; onJump: (id: string) => void; onBack: () => void }) {
  const { view } = props;
  const id = props.at || view.head;
  const [full, setFull] = useState<Memory | null>(null);
  const [edited, setEdited] = useState<string | null>(null);
  const { problem, attempt } = useAttempt();
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
  useEffect(() => setEdited(null), [id]);
  const memory = full?.id === id ? full : props.at ? null : (view.memory ?? null);
  const save = () => edited !== null && void props.ask("PUT", "/memory", { text: edited, at: id }).then((done) => done && setEdited(null));
  const sentences = edited?.split("\n").filter((line) => line.trim()).length ?? 0;
  return (
    <section className="memory" aria-labelledby="memory">
      <div className="section-head">
        <h2 id="memory">{props.at ? `Memory after passage ${memory?.step ?? ""}` : "Memory"}</h2>
        {props.at && <button className="quiet" onClick={props.onBack}>Back to now</button>}
        {edited === null && memory && <button className="quiet" disabled={props.busy} onClick={() => setEdited(memory.now.join("\n"))}>Edit</button>}
      </div>
      <Problem text={problem} />
      {!memory ? (
        <p className="hint">Reading</p>
      ) : edited !== null ? (
        <Writing label="Short-term memory, one sentence a line" value={edited} rows={8} focus onChange={setEdited} onSubmit={save} onCancel={() => setEdited(null)}>
          <p className={`hint ${sentences > MOST_SENTENCES ? "too-much" : ""}`}>
            {count(sentences, "sentence")} of at most {MOST_SENTENCES}, {count(wordsOf(edited), "word")} of at most 500. The next passage is written from it; the plans stay
            until you ask for new ones. It costs nothing{props.at ? ", and the story goes on from that passage" : ""}.
          </p>
          <div className="row">
            <button className="primary" onClick={save}>Save</button>
            <button className="quiet" onClick={() => setEdited(null)}>Cancel</button>
          </div>
        </Writing>
      ) : (
        <Shown memory={memory} onJump={props.onJump} />
      )}
    </section>
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
          <Found entries={memory.recalled} onJump={onJump} />
        </>
      )}
    </>
  );
}

/** Passages that a search found, each with the piece that did it. */
export function Found(props: { entries: Memory["recalled"]; onJump: (id: string) => void }) {
  return (
    <ul className="found-list">
      {props.entries.map((entry) => (
        <li key={entry.id}>
          <button className="card" onClick={() => props.onJump(entry.id)}>
            <span className="where">
              Passage {entry.step} <span className="hint">likeness {entry.score.toFixed(2)}</span>
            </span>
            <q dir="auto">{entry.piece || entry.summary || "…"}</q>
          </button>
        </li>
      ))}
    </ul>
  );
}
