import { excerpt } from "./format";
import type { RecalledEntry } from "./types";

const SHOWN_OF_A_PIECE = 180;

/** Passages that a search found, each with the piece that did it. */
export function RecalledPassages(props: { entries: RecalledEntry[]; onJump: (id: string) => void }) {
  return (
    <ul className="found-list">
      {props.entries.map((entry) => (
        <li key={entry.id}>
          <button className="card" onClick={() => props.onJump(entry.id)}>
            <span className="where">
              Passage {entry.step} <span className="hint">likeness {entry.score.toFixed(2)}</span>
            </span>
            <q dir="auto">{excerpt(entry.piece || entry.summary, SHOWN_OF_A_PIECE) || "…"}</q>
          </button>
        </li>
      ))}
    </ul>
  );
}
