// Who is here as of a passage, what is true of them, the passage that each line comes from, and the author's word on it.
import { useEffect, useState, type FormEvent } from "react";
import { get, upload } from "./api";
import { Problem, ShortInput, TakeOut, useAttempt } from "./components";
import { count } from "./format";
import type { Ask, AskedChange, CodexEntry, CodexHistory, CodexLine, StoryView } from "./types";
import { layAside, openAgain, setLostLinesAdrift, useField as useDraft, useUnsavedText } from "./unsavedText";

const KINDS = ["person", "place", "thing", "promise", "question"];
const ASPECTS = { fact: "Fact", status: "Status", place: "Place", holder: "Who has it", look: "Look", role: "Role", unaware: "Does not know" };
const STATUSES = ["alive", "dead", "absent", "lost", "destroyed", "kept", "broken", "open", "answered"];

export function useCodex(view: StoryView | null, at: string) {
  const [found, setFound] = useState<{ asOf: string; entries: CodexEntry[] }>({ asOf: "", entries: [] });
  const { problem, attempt } = useAttempt();
  const story = view?.head ? view.id : "";
  useEffect(() => {
    if (!story) return;
    let here = true;
    void attempt(async () => {
      const entries = await get<CodexEntry[]>(`/stories/${story}/codex`, { at });
      if (here) setFound({ asOf: at, entries });
    });
    return () => {
      here = false;
    };
  }, [at, story, view?.revision]);
  return { ...found, problem };
}

type Props = { view: StoryView; entries: CodexEntry[]; at: string; busy: boolean; changes: AskedChange[]; ask: Ask; onJump: (id: string) => void };

export function CodexPanel(props: Props & { asOf: string; problem: string }) {
  const { view, entries } = props;
  const shown = entries.filter((entry) => !entry.hidden);
  const hidden = entries.filter((entry) => entry.hidden);
  const player = shown.find((entry) => entry.player);
  const carried = player ? shown.filter((entry) => entry.lines.some((line) => line.aspect === "holder" && player.names.includes(line.value))) : [];
  const here = shown.filter((entry) => entry.here && entry !== player);
  const elsewhere = shown.filter((entry) => !entry.here && entry !== player);
  const step = view.path.findIndex((entry) => entry[0] === props.at) + 1;
  const corrected = props.at === view.head && props.asOf === props.at;
  useEffect(() => {
    if (corrected) setLostLinesAdrift(view.id);
  }, [corrected, entries, view.id]);
  const list = (some: CodexEntry[]) => some.map((entry) => <Entry key={entry.name} {...props} entry={entry} />);
  return (
    <section className="memory codex" aria-labelledby="codex">
      <h2 id="codex" tabIndex={-1}>Who is here</h2>
      {props.at !== view.head && step > 0 && <p className="hint">As of passage {step}. It is corrected at the newest passage.</p>}
      <Problem text={props.problem} />
      {player && (
        <>
          {list([player])}
          <p className="hint">{carried.length ? `You carry: ${carried.map((entry) => entry.name).join(", ")}.` : "You carry nothing that the story tells of."}</p>
        </>
      )}
      {here.length === 0 && <p className="hint">{shown.length ? "The passage names nobody else of the codex." : "The codex fills while the story is written."}</p>}
      {list(here)}
      {elsewhere.length > 0 && (
        <details>
          <summary>Elsewhere ({elsewhere.length})</summary>
          {list(elsewhere)}
        </details>
      )}
      {hidden.length > 0 && (
        <details>
          <summary>Hidden from readers ({hidden.length})</summary>
          {list(hidden)}
        </details>
      )}
      <Waiting {...props} />
      <NewEntry {...props} />
      <Lorebook {...props} />
    </section>
  );
}

function Entry(props: Props & { entry: CodexEntry }) {
  const { view, entry } = props;
  const onPage = (passage: string) => view.path.some(([id]) => id === passage);
  return (
    <div className="entry">
      <h3>
        {entry.player && "You: "}<bdi>{entry.name}</bdi> · {entry.kind}{entry.pinned && " · pinned"}
      </h3>
      <ul className="sentences">
        {entry.lines.map((line, number) => (
          <li key={number} dir="auto">
            {line.text}
            {line.rests_on && line.rests_on !== line.text && <q className="why">{line.rests_on}</q>}
            {line.author ? (
              <span className="why">from the author, at passage {line.step}</span>
            ) : onPage(line.passage) ? (
              <button className="quiet" onClick={() => props.onJump(line.passage)} aria-label={`${entry.name}, from passage ${line.step}`}>from passage {line.step}</button>
            ) : (
              <span className="why">{line.step ? `from passage ${line.step}` : "from the author, or the brief"}</span>
            )}
          </li>
        ))}
      </ul>
      <History {...props} />
      {props.at === view.head && <Change {...props} />}
    </div>
  );
}

const DONE: Record<string, string> = { end: "No longer:", rename: "Named anew:", alias: "Also called", merge: "One with", remove: "Taken out", pin: "Pinned", hide: "Hidden" };

function History({ view, entry, at, onJump }: Props & { entry: CodexEntry }) {
  const [rows, setRows] = useState<CodexHistory[] | null>(null);
  const { problem, attempt } = useAttempt();
  const look = () => void attempt(async () => setRows(await get<CodexHistory[]>(`/stories/${view.id}/codex/history`, { name: entry.name, at })));
  return (
    <details onToggle={(event) => event.currentTarget.open && look()}>
      <summary>History of <bdi>{entry.name}</bdi></summary>
      <Problem text={problem} />
      <ul className="sentences">
        {rows?.map((row, number) => (
          <li key={number} dir="auto">
            {DONE[row.do]} {row.said}
            <button className="quiet" onClick={() => onJump(row.passage)}>{row.author ? "by the author, at" : "from"} passage {row.step}</button>
          </li>
        ))}
        {rows?.length === 0 && <li className="hint">No passage has changed it.</li>}
      </ul>
    </details>
  );
}

/** What is typed here is kept like all that is typed, and goes when it is stored. */
const useField = (view: StoryView, name: string) => useDraft(`codex/stories/${view.id}/${name}`);

/** Whether a line of the codex has a field on the page, which that of an entry that is gone has not. */
export const hasField = (key: string) => document.querySelector(`.codex [data-draft="${CSS.escape(key.replace(/\/~\w+$/, ""))}"]`) !== null;

/** Changes that wait until what is in the making is there. */
function Waiting(props: Props) {
  const { changes, busy } = props;
  return (
    <>
      {/* It is there before it says anything: a screen reader tells of what changes. */}
      <p role="status" className="hint">
        {changes.length > 0 && (busy ? `${count(changes.length, "change")} to be made in the codex when what the desk is at work on is done:` : "These changes wait for the next passage:")}
      </p>
      {changes.length > 0 && (
        <ul className="queue" aria-label="Changes of the codex that wait">
          {changes.map((change, at) => <WaitingChange key={at} {...props} change={change} number={at + 1} />)}
        </ul>
      )}
    </>
  );
}

/** One of them; what was typed of it is in hand again when it is taken out. */
function WaitingChange({ view, ask, change, number }: Props & { change: AskedChange; number: number }) {
  const keyOf = (field: string) => `codex/stories/${view.id}/${field}`;
  const typed = typedIn(change);
  const adds = change.do === "add";
  const first = useUnsavedText(keyOf(typed[0]?.[0] ?? ""));
  const chosen = useUnsavedText(keyOf(adds ? "new/kind" : `${change.name}/kind`));
  const takeOut = async () => {
    if (!(await ask("DELETE", `/codex/waiting?number=${number}`, change))) return;
    const kind = textOf(adds ? change.args.kind : change.args.aspect);
    // What is in hand already is of its own kind.
    if (typed.length && kind && !first.text?.trim()) chosen.change(kind);
    for (const [field, text] of typed) {
      const key = keyOf(field);
      // That of an entry that is gone is offered beside the story.
      if (text) layAside(hasField(key) ? key : `${key}/~${Math.random().toString(36).slice(2)}`, text, "");
      // Its field is in sight all the time, and shows what is open.
      if (hasField(key)) openAgain(key);
    }
  };
  return (
    <li className="row">
      <span dir="auto">{change.name} · {told(change)}</span>
      <TakeOut label={`Take out change ${number} of the codex`} back="#codex" onClick={() => void takeOut()} />
      {change.problem && <p className="hint" dir="auto">{change.problem}</p>}
    </li>
  );
}

const textOf = (value: unknown) => (Array.isArray(value) ? value.join(", ") : String(value ?? ""));

/** A change of an entry in words. */
function told({ do: what, args }: AskedChange) {
  const [facts, keys, value] = [args.facts, args.keys, args.value].map(textOf);
  const aspect = ASPECTS[args.aspect as keyof typeof ASPECTS];
  return {
    add: `${textOf(args.kind)}${facts && `: ${facts}`}${keys && ` (${keys})`}`,
    line: `${args.end ? "no longer " : ""}${aspect?.toLowerCase()}: ${value}`,
    alias: `also called ${textOf(args.alias)}`,
    rename: `named ${textOf(args.new)}`,
    merge: `one with ${textOf(args.other)}`,
    pin: args.pinned ? "pinned" : "no longer pinned",
    hide: args.hidden ? "hidden" : "no longer hidden",
    remove: "taken out",
  }[what];
}

/** What somebody typed of a change, by its field. */
function typedIn({ do: what, name, args }: AskedChange): [field: string, text: string][] {
  if (what === "add") return [["new/name", name], ["new/fact", textOf(args.facts)], ["new/keys", textOf(args.keys)]];
  if (what === "line" && !args.end) return [[`${name}/value`, textOf(args.value)]];
  return what === "alias" || what === "rename" ? [[`${name}/alias`, textOf(args.alias ?? args.new)]] : [];
}

function Change(props: Props & { entry: CodexEntry }) {
  const { view, entry, entries, ask } = props;
  const chosen = useField(view, `${entry.name}/kind`);
  const aspect = (chosen.text ?? "fact") as keyof typeof ASPECTS;
  const [other, setOther] = useState("");
  const said = useField(view, `${entry.name}/value`);
  const alias = useField(view, `${entry.name}/alias`);
  const value = said.text ?? "";
  const choose = (what: string) => {
    // A sentence is no status, and can be taken back.
    if (what === "status" && !STATUSES.includes(value)) said.discard();
    chosen.change(what);
  };
  const put = (change: object) => ask("PUT", "/codex", { name: entry.name, ...change });
  const line = (aspect: string, value: string, end: boolean) => ask("PUT", "/codex/line", { name: entry.name, aspect, value, end });
  const submit = (work: () => Promise<boolean>, done: () => void) => (event: FormEvent) => {
    event.preventDefault();
    void work().then((worked) => worked && done());
  };
  const valueOf = (one: CodexLine) => (one.aspect === "fact" ? one.text : one.value);
  const others = entries.filter((known) => known !== entry);
  const waits = props.changes.filter((change) => change.name === entry.name);
  return (
    <details>
      <summary>Change <bdi>{entry.name}</bdi>{(said.text || alias.text) && " · not saved"}</summary>
      <form className="row" onSubmit={submit(() => line(aspect, value, false), said.drop)}>
        <select aria-label={`What is true of ${entry.name}`} value={aspect} onChange={(event) => choose(event.target.value)}>
          {Object.entries(ASPECTS).map(([key, name]) => <option key={key} value={key}>{name}</option>)}
        </select>
        {aspect === "status" ? (
          <select {...said.mark} aria-label={`Status of ${entry.name}`} value={value} onChange={(event) => said.change(event.target.value)}>
            {["", ...STATUSES].map((status) => <option key={status}>{status}</option>)}
          </select>
        ) : (
          <ShortInput dir="auto" maxLength={400} {...said.mark} aria-label={`${ASPECTS[aspect]} of ${entry.name}`} value={value} onChange={(event) => said.change(event.target.value)} />
        )}
        <button disabled={!value.trim()}>Set it</button>
      </form>
      {entry.lines.map((one, number) => (
        <div className="row" key={number}>
          <button className="quiet" onClick={() => void line(one.aspect, valueOf(one), true)}>No longer true: <q dir="auto">{one.text}</q></button>
        </div>
      ))}
      <form className="row" onSubmit={submit(() => put({ alias: alias.text }), alias.drop)}>
        <ShortInput dir="auto" maxLength={100} {...alias.mark} aria-label={`Another name of ${entry.name}`} placeholder="Another name" value={alias.text ?? ""} onChange={(event) => alias.change(event.target.value)} />
        <button disabled={!alias.text?.trim()}>Add the name</button>
        <button type="button" disabled={!alias.text?.trim()} title="It still answers to the old name" onClick={submit(() => put({ rename: alias.text }), alias.drop)}>Rename</button>
      </form>
      {others.length > 0 && (
        <form className="row" onSubmit={submit(() => put({ merge: other }), () => setOther(""))}>
          <select aria-label={`The same as ${entry.name}`} value={other} onChange={(event) => setOther(event.target.value)}>
            {["", ...others.map((known) => known.name)].map((name) => <option key={name} value={name}>{name || "the same as …"}</option>)}
          </select>
          <button disabled={!other}>Merge</button>
        </form>
      )}
      <div className="row">
        <button className="quiet" aria-pressed={entry.pinned} title="The writer is always told it" onClick={() => void put({ pinned: !entry.pinned })}>Pin</button>
        <button className="quiet" aria-pressed={entry.hidden} title="Readers are not shown it" onClick={() => void put({ hidden: !entry.hidden })}>Hide</button>
        <button className="quiet" onClick={() => void ask("DELETE", `/codex?name=${encodeURIComponent(entry.name)}`)}>Take it out</button>
      </div>
      {waits.length > 0 && <p className="hint" dir="auto">Waits: {waits.map(told).join(", ")}.</p>}
    </details>
  );
}

function NewEntry({ view, ask }: Props) {
  const name = useField(view, "new/name");
  const fact = useField(view, "new/fact");
  const words = useField(view, "new/keys");
  const chosen = useField(view, "new/kind");
  const kind = chosen.text ?? "person";
  const add = (event: FormEvent) => {
    event.preventDefault();
    const keys = (words.text ?? "").split(",").map((word) => word.trim()).filter(Boolean);
    void ask("POST", "/codex", { name: name.text, kind, facts: fact.text?.trim() ? [fact.text] : [], keys }).then((done) => {
      if (!done) return;
      name.drop();
      fact.drop();
      words.drop();
    });
  };
  return (
    <details>
      <summary>Add an entry{(name.text || fact.text || words.text) && " · not saved"}</summary>
      <form className="row" onSubmit={add}>
        <ShortInput dir="auto" maxLength={100} {...name.mark} aria-label="Name of the entry" placeholder="Name" value={name.text ?? ""} onChange={(event) => name.change(event.target.value)} />
        <select aria-label="Kind of the entry" value={kind} onChange={(event) => chosen.change(event.target.value)}>
          {KINDS.map((one) => <option key={one}>{one}</option>)}
        </select>
        <ShortInput dir="auto" maxLength={400} {...fact.mark} aria-label="What is true of it" placeholder="What is true of it" value={fact.text ?? ""} onChange={(event) => fact.change(event.target.value)} />
        <ShortInput dir="auto" maxLength={400} {...words.mark} aria-label="Words that bring it to the writer, parted by commas" placeholder="Words that bring it, a comma between" value={words.text ?? ""} onChange={(event) => words.change(event.target.value)} />
        <button disabled={!name.text?.trim()}>Add</button>
      </form>
    </details>
  );
}

type Added = { added: string[]; left_out: string };

function Lorebook({ view, busy }: Props) {
  const [said, setSaid] = useState("");
  const { problem, attempt } = useAttempt();
  const add = async (file: File) => {
    setSaid("");
    await attempt(async () => {
      const { added, left_out } = await upload<Added>(`/stories/${view.id}/codex/lorebook`, file);
      setSaid(`Added: ${added.join(", ")}. ${left_out}`);
    });
  };
  return (
    <details>
      <summary>Import a lorebook</summary>
      <p className="hint">A lorebook of SillyTavern or NovelAI, or a character card, as JSON.{busy && " It can be imported when the desk is done with what it is at work on."}</p>
      <input
        type="file"
        accept=".json,.lorebook"
        aria-label="Lorebook"
        disabled={busy}
        onChange={(event) => {
          const file = event.target.files?.[0];
          event.target.value = "";
          if (file) void add(file);
        }}
      />
      <p role="status" className="hint" dir="auto">{said}</p>
      <Problem text={problem} />
    </details>
  );
}
