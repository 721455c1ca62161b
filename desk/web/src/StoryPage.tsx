import { useCallback, useEffect, useRef, useState } from "react";
import { get, send } from "./api";
import { goTo } from "./route";
import { dropOpening, showServerCopy } from "./unsavedText";
import { ExportDialog } from "./ExportDialog";
import { ShortcutsHelp } from "./ShortcutsHelp";
import { useKeys } from "./shortcuts";
import { useStory } from "./useStory";
import { Manuscript } from "./Manuscript";
import { StoryMap } from "./StoryMap";
import { CodexPanel } from "./CodexPanel";
import { MemoryPanel } from "./MemoryPanel";
import { NextPassage } from "./NextPassage";
import { UnsavedTexts } from "./PendingWork";
import { Problem, useAttempt } from "./components";
import { SearchDialog } from "./SearchDialog";
import { MachineSettings, StorySettings } from "./Settings";
import { count, tokens } from "./format";
import type { Ask, Jump, Usage } from "./types";

type Open = "" | "map" | "search" | "export" | "settings" | "machine" | "help";
const MARKS = "desk.authors";

export function StoryPage(props: { id: string }) {
  const live = useStory(props.id);
  const { view, job, cache } = live;
  const [open, setOpen] = useState<Open>("");
  const [jump, setJump] = useState<Jump | null>(null);
  const [memoryAt, setMemoryAt] = useState("");
  const [marks, setMarks] = useState(() => localStorage.getItem(MARKS) !== "off");
  const [usage, setUsage] = useState<Usage | null>(null);
  const [budget, setBudget] = useState(0);
  const { problem, setProblem, attempt } = useAttempt();

  const asking = useRef(new Set<string>());
  const ask = useCallback<Ask>(
    async (method, path, body) => {
      // A second click on the same button is not a second wish.
      const wish = `${method} ${path}`;
      if (asking.current.has(wish)) return false;
      asking.current.add(wish);
      const done = await attempt(() => send(method, `/stories/${props.id}${path}`, body));
      asking.current.delete(wish);
      return done;
    },
    [props.id],
  );
  // Undone as often as it was pressed, one after the other.
  const moves = useRef(Promise.resolve());
  const move = (path: string) => void (moves.current = moves.current.then(async () => void (await ask("POST", path))));
  const goto = useCallback((id: string) => setJump({ id, at: Date.now() }), []);

  useEffect(() => {
    if (view?.title) document.title = `${view.title} · The writing desk`;
    if (!view?.opened || job.busy) return;
    // The cost is counted beside the page: of a long story it takes a moment.
    void get<Usage>(`/stories/${props.id}/usage`).then(setUsage, () => undefined);
    void get<{ values: { budget?: number } }>(`/stories/${props.id}/settings`).then((kept) => setBudget(kept.values?.budget ?? 0), () => undefined);
  }, [view?.head, view?.revision, job.busy, props.id]);
  useEffect(() => setMemoryAt(""), [view?.head]);
  // What was refused because of work in hand, or before it, is past.
  useEffect(() => setProblem(""), [job.busy]);
  useEffect(() => {
    if (view?.step) dropOpening(props.id);
  }, [props.id, view?.step]);
  const edit = view?.pending_edit;
  useEffect(() => (edit ? showServerCopy(`${props.id}/text/${edit.at}/${edit.step}`, edit.text, edit.at) : undefined), [props.id, edit?.at, edit?.text]);

  const toggle = (what: Open) => setOpen((now) => (now === what ? "" : what));
  useKeys({
    m: () => toggle("map"),
    "?": () => toggle("help"),
    "/": () => toggle("search"),
    z: () => move("/undo"),
    y: () => move("/redo"),
    escape: () => job.busy && void ask("POST", "/stop"),
  });
  const showMarks = (on: boolean) => {
    localStorage.setItem(MARKS, on ? "on" : "off");
    setMarks(on);
  };

  if (live.gone) {
    return (
      <main className="start">
        <h1>Not here</h1>
        <Problem text={live.gone} />
        <a href="#/">All stories</a>
      </main>
    );
  }
  if (!view) return <main className="start" aria-busy="true"><p className="lead">Opening the story</p></main>;

  const branch = usage ? usage.input_tokens + usage.output_tokens : 0;
  const spent = usage ? usage.in_all.input_tokens + usage.in_all.output_tokens : 0;
  return (
    <div className={`desk ${marks ? "marks" : ""}`}>
      <header className="bar">
        <a href="#/" className="home" onClick={() => goTo("")}>Stories</a>
        <Title title={view.title} disabled={job.busy || !view.opened} rename={(title) => ask("PUT", "/title", { title })} />
        <p className="figures">
          <span>{count(view.words ?? 0, "word")}</span>
          <span>passage {view.step}</span>
          {usage && (
            <span>
              {tokens(spent)}{budget ? ` of ${tokens(budget)}` : ""} tokens{usage.in_all.cost && ` · ${usage.in_all.cost}`}{spent > branch && `, ${tokens(branch)} on this branch`}
            </span>
          )}
        </p>
        <nav aria-label="Views">
          <button className="quiet" onClick={() => toggle("map")}>Map <kbd>M</kbd></button>
          <button className="quiet" onClick={() => toggle("search")}>Search <kbd>/</kbd></button>
          <button className="quiet" onClick={() => toggle("export")}>Export</button>
          <button className="quiet" onClick={() => toggle("settings")}>Settings</button>
          <button className="quiet" onClick={() => toggle("help")}>Keys <kbd>?</kbd></button>
        </nav>
      </header>
      {live.lost && <p className="lost" role="status">The desk does not answer. Nothing written is lost; this page comes back by itself.</p>}
      <Manuscript live={live} view={view} jump={jump} ask={ask} onMemory={setMemoryAt} />
      <aside aria-label="Choices and memory">
        <Problem text={problem} onClose={() => setProblem("")} />
        <UnsavedTexts view={view} busy={job.busy} ask={ask} onJump={goto} onMemory={setMemoryAt} />
        <NextPassage live={live} view={view} ask={ask} onMachine={() => setOpen("machine")} />
        {view.opened && <MemoryPanel view={view} busy={job.busy} at={memoryAt} ask={ask} onJump={goto} onBack={() => setMemoryAt("")} />}
        {view.opened && view.head && <CodexPanel view={view} at={memoryAt} onJump={goto} />}
        {view.opened && (
          <label className="switch">
            <input type="checkbox" checked={marks} onChange={(event) => showMarks(event.target.checked)} />
            <span>Show who wrote what</span>
          </label>
        )}
      </aside>
      <p className="sr" aria-live="polite">
        {live.written ? `Passage ${live.written.step} is written.` : ""}
      </p>
      {open === "map" && <StoryMap view={view} cache={cache} busy={job.busy} onClose={() => setOpen("")} onJump={goto} />}
      {open === "search" && <SearchDialog story={props.id} onClose={() => setOpen("")} onJump={goto} />}
      {open === "export" && <ExportDialog story={props.id} onClose={() => setOpen("")} />}
      {open === "settings" && <StorySettings view={view} onClose={() => setOpen("")} />}
      {open === "machine" && <MachineSettings onClose={() => setOpen("")} />}
      {open === "help" && <ShortcutsHelp onClose={() => setOpen("")} play={view.mode === "fiction"} />}
    </div>
  );
}

function Title(props: { title: string; disabled: boolean; rename: (title: string) => Promise<boolean> }) {
  const [draft, setDraft] = useState<string | null>(null);
  if (draft === null) {
    return (
      <h1 className="title">
        <button className="plain" disabled={props.disabled} title="Rename" onClick={() => setDraft(props.title)}>
          <bdi>{props.title || "A new story"}</bdi>
        </button>
      </h1>
    );
  }
  return (
    <form
      className="title"
      onSubmit={(event) => {
        event.preventDefault();
        void props.rename(draft).then((done) => done && setDraft(null));
      }}
    >
      <h1 className="sr">{props.title}</h1>
      <input aria-label="Title" autoFocus dir="auto" value={draft} onChange={(event) => setDraft(event.target.value)} onKeyDown={(event) => event.key === "Escape" && setDraft(null)} />
      <button>Rename</button>
    </form>
  );
}
