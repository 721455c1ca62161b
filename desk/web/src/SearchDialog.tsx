import { useEffect, useRef, useState } from "react";
import { get } from "./api";
import { RecalledPassages } from "./RecalledPassages";
import { Dialog, Problem, useAttempt } from "./components";
import type { RecalledEntry } from "./types";

export function SearchDialog(props: { story: string; onClose: () => void; onJump: (id: string) => void }) {
  const [query, setQuery] = useState("");
  const [found, setFound] = useState<RecalledEntry[] | null>(null);
  const [busy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const { problem, attempt } = useAttempt();
  // A dialog that opens gives the focus to its first button.
  useEffect(() => field.current?.focus(), []);
  const look = async () => {
    setBusy(true);
    await attempt(async () => setFound(await get<RecalledEntry[]>(`/stories/${props.story}/search`, { query })));
    setBusy(false);
  };
  return (
    <Dialog title="Search by meaning" onClose={props.onClose}>
      <form
        className="row"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          if (query.trim()) void look();
        }}
      >
        <input ref={field} role="searchbox" dir="auto" maxLength={1000} aria-label="What to look for" placeholder="where the letter was hidden" value={query} onChange={(event) => setQuery(event.target.value)} />
        <button className="primary" disabled={busy || !query.trim()}>{busy ? "Looking" : "Search"}</button>
      </form>
      <Problem text={problem} />
      <div aria-live="polite">
        {found && (found.length ? null : <p className="hint">Nothing is found on this branch.</p>)}
      </div>
      {found && (
        <RecalledPassages
          entries={found}
          onJump={(id) => {
            props.onClose();
            props.onJump(id);
          }}
        />
      )}
    </Dialog>
  );
}
