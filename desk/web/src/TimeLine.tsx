import { useEffect, useState } from "react";
import type { StoryView } from "./types";

const SETTLED_MS = 150;

/** The passage as of which memory and codex are shown: by a slider, while the page stays where it is read. */
export function TimeLine({ view, at, onAt, onJump }: { view: StoryView; at: string; onAt: (id: string) => void; onJump: (id: string) => void }) {
  const steps = view.path.length;
  const [moved, setMoved] = useState(0);
  const shown = moved || view.path.findIndex(([id]) => id === at) + 1 || steps;
  useEffect(() => {
    if (!moved) return;
    const timer = setTimeout(() => {
      setMoved(0);
      onAt(view.path[moved - 1]![0]);
    }, SETTLED_MS);
    return () => clearTimeout(timer);
  }, [moved]);
  if (steps < 2) return null;
  return (
    <section className="time-line" aria-label="Time line">
      <div className="section-head">
        <label htmlFor="as-of">As of passage {shown} of {steps}</label>
        <button className="quiet" onClick={() => onJump(view.path[shown - 1]![0])}>Show it</button>
      </div>
      <input id="as-of" type="range" min={1} max={steps} value={shown} aria-valuetext={`passage ${shown} of ${steps}`} onChange={(event) => setMoved(Number(event.target.value))} />
    </section>
  );
}
