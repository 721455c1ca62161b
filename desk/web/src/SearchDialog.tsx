import { useEffect, useRef, useState } from "react";
import { get, send } from "./api";
import { count, excerpt } from "./format";
import { useUnsavedText } from "./unsavedText";
import { RecalledPassages } from "./RecalledPassages";
import { Dialog, Problem, ShortInput, useAttempt } from "./components";
import type { FoundWords, RecalledEntry } from "./types";

const MOST_FOUND = 50;
const SHOWN = 180;

export function SearchDialog(props: { story: string; busy: boolean; onClose: () => void; onJump: (id: string) => void }) {
  const wish = useUnsavedText(`name/stories/${props.story}/query`);
  const query = wish.text ?? "";
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
    <Dialog title="Search and replace" onClose={props.onClose}>
      <h3>By meaning</h3>
      <form
        className="row"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          if (query.trim()) void look();
        }}
      >
        <ShortInput ref={field} role="searchbox" dir="auto" maxLength={1000} aria-label="What to look for" placeholder="where the letter was hidden" value={query} onChange={(event) => wish.change(event.target.value)} />
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
      <Replace {...props} onJump={(id) => (props.onClose(), props.onJump(id))} />
    </Dialog>
  );
}

/** Words that are found letter by letter in the whole branch, and others that take their place. */
function Replace(props: { story: string; busy: boolean; onJump: (id: string) => void }) {
  const old = useUnsavedText(`name/stories/${props.story}/replace/old`);
  const fresh = useUnsavedText(`name/stories/${props.story}/replace/new`);
  const [whole, setWhole] = useState(true);
  const [said, setSaid] = useState("");
  const [busy, setBusy] = useState(false);
  const { problem, attempt } = useAttempt();
  const [found, setFound] = useState<FoundWords[]>([]);
  const find = async () => {
    setBusy(true);
    setFound([]);
    await attempt(async () => {
      const passages = await get<FoundWords[]>(`/stories/${props.story}/words`, { words: old.text ?? "", whole_words: String(whole) });
      setFound(passages.slice(0, MOST_FOUND));
      const times = passages.reduce((sum, one) => sum + one.times, 0);
      setSaid(times ? `${count(times, "place")} in ${count(passages.length, "passage")}${passages.length > MOST_FOUND ? `, of which the first ${MOST_FOUND} are shown` : ""}.` : "No passage of this branch has these words; capitals and small letters are told apart.");
    });
    setBusy(false);
  };
  const replace = async () => {
    setBusy(true);
    setSaid("");
    setFound([]);
    await attempt(async () => {
      const body = { old: old.text ?? "", new: fresh.text ?? "", whole_words: whole };
      const { passages } = await send<{ passages: number }>("POST", `/stories/${props.story}/replace`, body);
      setSaid(`${count(passages, "passage")} changed. Undo takes all of it back as one.`);
      old.drop();
      fresh.drop();
    });
    setBusy(false);
  };
  return (
    <form
      className="replace"
      onSubmit={(event) => {
        event.preventDefault();
        void replace();
      }}
    >
      <h3>Letter by letter, on this branch</h3>
      <div className="row">
        <ShortInput dir="auto" maxLength={400} aria-label="Words to find or replace" placeholder="Mira" value={old.text ?? ""} onChange={(event) => old.change(event.target.value)} />
        <ShortInput dir="auto" maxLength={400} aria-label="Words in their place" placeholder="Nora" value={fresh.text ?? ""} onChange={(event) => fresh.change(event.target.value)} />
        <button type="button" disabled={busy || !old.text?.trim()} onClick={() => void find()}>Find</button>
        <button disabled={busy || props.busy || !old.text?.trim()}>{busy ? "Replacing" : "Replace all"}</button>
      </div>
      <label className="switch">
        <input type="checkbox" checked={whole} onChange={(event) => setWhole(event.target.checked)} />
        <span>Whole words alone</span>
      </label>
      <p className="hint">Words are replaced in the passages and in all that was made from them: memory, plans, summaries, people. It costs nothing.</p>
      <Problem text={problem} />
      <p role="status">{said}</p>
      {found.length > 0 && (
        <ul className="found-list">
          {found.map((one) => (
            <li key={one.id}>
              <button type="button" className="card" onClick={() => props.onJump(one.id)}>
                <span className="where">Passage {one.step}{one.times > 1 && <span className="hint">{one.times} times</span>}</span>
                <q dir="auto">{excerpt(one.piece, SHOWN)}</q>
              </button>
            </li>
          ))}
        </ul>
      )}
    </form>
  );
}
