import { useEffect, useState } from "react";
import { get } from "./api";
import { Problem, useAttempt } from "./components";
import type { Change, Diff } from "./types";

export function ComparePassages(props: { story: string; a: string; b: string; names: [string, string]; onBack: () => void }) {
  const [whole, setWhole] = useState(false);
  const [diff, setDiff] = useState<Diff | null>(null);
  const { problem, attempt } = useAttempt();
  useEffect(() => {
    void attempt(async () => setDiff(await get<Diff>(`/stories/${props.story}/diff`, { a: props.a, b: props.b })));
  }, [props.story, props.a, props.b]);
  return (
    <div className="compare">
      <div className="row">
        <button onClick={props.onBack}>Back to the map</button>
        <label className="switch">
          <input type="checkbox" checked={whole} onChange={(event) => setWhole(event.target.checked)} />
          <span>Whole sentences</span>
        </label>
        <span className="hint">{whole ? "Sentences" : "Words"} that only one of them has are underlined.</span>
      </div>
      <Problem text={problem} />
      {diff && (
        <div className="sides">
          {(["before", "after"] as const).map((side) => (
            <section key={side} aria-label={props.names[side === "before" ? 0 : 1]}>
              <h3>{props.names[side === "before" ? 0 : 1]}</h3>
              <p className="plan-now" dir="auto"><Marked changes={diff.plan} side={side} /></p>
              <div className="passage" dir="auto"><Marked changes={whole ? diff.sentences : diff.text} side={side} /></div>
              <h4>Only in this memory</h4>
              <ul className="sentences">
                {(side === "before" ? diff.memory_dropped : diff.memory_added).map((line, number) => <li key={number} dir="auto">{line}</li>)}
              </ul>
            </section>
          ))}
        </div>
      )}
    </div>
  );
}

/** One side of a comparison, with the words that only it has. */
export function Marked(props: { changes: Change[]; side: "before" | "after" }) {
  return props.changes.map((change, number) => {
    const text = change[props.side];
    if (change.kind === "same" || !text) return <span key={number}>{text}</span>;
    return props.side === "before" ? <del key={number}>{text}</del> : <ins key={number}>{text}</ins>;
  });
}
