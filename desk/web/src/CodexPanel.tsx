// Who is here as of a passage, what is true of them, and the passage that each line comes from.
import { useEffect, useState } from "react";
import { get } from "./api";
import { Problem, useAttempt } from "./components";
import type { CodexEntry, StoryView } from "./types";

export function CodexPanel({ view, at, onJump }: { view: StoryView; at: string; onJump: (id: string) => void }) {
  const [entries, setEntries] = useState<CodexEntry[]>([]);
  const { problem, attempt } = useAttempt();
  const id = at || view.head;
  useEffect(() => {
    let here = true;
    void attempt(async () => {
      const found = await get<CodexEntry[]>(`/stories/${view.id}/codex`, { at: id });
      if (here) setEntries(found);
    });
    return () => {
      here = false;
    };
  }, [id, view.id, view.revision]);
  const rest = entries.filter((entry) => !entry.here);
  return (
    <section className="memory codex" aria-labelledby="codex">
      <h2 id="codex">Who is here</h2>
      <Problem text={problem} />
      {entries.length === rest.length && <p className="hint">{rest.length ? "The passage names nobody of the codex." : "The codex fills while the story is written."}</p>}
      {entries.filter((entry) => entry.here).map((entry) => <Entry key={entry.name} view={view} entry={entry} onJump={onJump} />)}
      {rest.length > 0 && (
        <details>
          <summary>Elsewhere ({rest.length})</summary>
          {rest.map((entry) => <Entry key={entry.name} view={view} entry={entry} onJump={onJump} />)}
        </details>
      )}
    </section>
  );
}

function Entry({ view, entry, onJump }: { view: StoryView; entry: CodexEntry; onJump: (id: string) => void }) {
  const onPage = (passage: string) => view.path.some(([id]) => id === passage);
  return (
    <div>
      <h3>
        <bdi>{entry.name}</bdi> · {entry.kind}
      </h3>
      <ul className="sentences">
        {entry.lines.map((line, number) => (
          <li key={number} dir="auto">
            {line.text}
            {line.rests_on && line.rests_on !== line.text && <q className="why">{line.rests_on}</q>}
            {onPage(line.passage) ? (
              <button className="quiet" onClick={() => onJump(line.passage)} aria-label={`${entry.name}, from passage ${line.step}`}>from passage {line.step}</button>
            ) : (
              <span className="why">{line.step ? `from passage ${line.step}` : "from the author, or the brief"}</span>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
