import { useCallback, useEffect, useRef, useState, type CSSProperties } from "react";
import { get, send, SILENT } from "./api";
import { goTo } from "./route";
import { dropOpening, forgetLaidAside, layAside, showServerCopies, useUnsavedText } from "./unsavedText";
import { ExportDialog } from "./ExportDialog";
import { ShortcutsHelp } from "./ShortcutsHelp";
import { useKeys } from "./shortcuts";
import { useStory } from "./useStory";
import { Manuscript } from "./Manuscript";
import { StoryMap } from "./StoryMap";
import { CodexPanel, useCodex } from "./CodexPanel";
import { ContentsDialog } from "./ContentsDialog";
import { GoToPassage } from "./Contradictions";
import { NameTip } from "./NameTip";
import { PageDialog } from "./PageDialog";
import { usePage, wordsSince } from "./pageSettings";
import { MemoryPanel } from "./MemoryPanel";
import { NextPassage } from "./NextPassage";
import { LeftTexts, UnsavedTexts } from "./PendingWork";
import { Problem, useAttempt } from "./components";
import { SearchDialog } from "./SearchDialog";
import { TimeLine } from "./TimeLine";
import { MachineSettings, StorySettings } from "./Settings";
import { count, tokens } from "./format";
import type { Ask, Chapters, Jump, MemoryAsked, StoryView, Usage } from "./types";

type Open = "" | "contents" | "page" | "map" | "search" | "export" | "settings" | "machine" | "help";
const MARKS = "desk.authors";
const ASK_AGAIN_MS = 2000;
const NO_CHAPTERS: Chapters = {};
const NEEDS_IDLE = /^\/(write|keep|replan|retry|undo|redo|goto)$/;
const FORGETS_THE_PLAN = /^\/(replan|retry|undo|redo|goto|passage|replay)$|^\/keep\?key=/;

/** Whether the story goes on from elsewhere, where the plan that waits does not. */
function leavesThePlan(path: string, body: unknown, head: string, writes: boolean) {
  if (path === "/write") return ["plan", "number"].some((chosen) => chosen in (body as object));
  // What is changed while a passage is written waits itself.
  if (path === "/memory") return !writes && (body as { at?: string }).at !== head;
  return FORGETS_THE_PLAN.test(path);
}

/** Let a page be scrolled to below its bar, which lies over it on a narrow screen and has more lines the longer the story is. */
function below(bar: HTMLElement | null) {
  if (!bar) return undefined;
  const root = document.documentElement;
  const measure = () => (root.style.scrollPaddingTop = `${bar.offsetHeight}px`);
  // At once, for what is scrolled to first.
  measure();
  const watch = new ResizeObserver(measure);
  watch.observe(bar);
  return () => {
    watch.disconnect();
    root.style.scrollPaddingTop = "";
  };
}

export function StoryPage(props: { id: string }) {
  const live = useStory(props.id);
  const { view, job, cache, standing } = live;
  const [open, setOpen] = useState<Open>("");
  const [jump, setJump] = useState<Jump | null>(null);
  const [asked, setAsked] = useState<MemoryAsked>({ id: "", head: "", goThere: false });
  const [marks, setMarks] = useState(() => localStorage.getItem(MARKS) !== "off");
  const [usage, setUsage] = useState<Usage | null>(null);
  const [budget, setBudget] = useState(0);
  const { problem, setProblem, attempt } = useAttempt();
  const [chapters, setChapters] = useState<Chapters>(NO_CHAPTERS);
  const [sight, setSight] = useState("");
  const [focus, setFocus] = useState(false);
  const page = usePage();
  // A passage in view may have another version since.
  const inView = view?.path.some((entry) => entry[0] === sight) ? sight : "";
  // Whoever looks at the newest passage looks at the one that takes its place.
  const memoryAt = view && asked.id ? (asked.id === asked.head ? view.head : asked.head === view.head ? asked.id : "") : "";
  const codexAt = memoryAt || inView || view?.head || "";
  const codex = useCodex(view, codexAt);

  const now = useRef(view);
  now.current = view;
  const writes = useRef(false);
  writes.current = job.busy && job.kind === "write";
  const asking = useRef(new Map<string, { said: string; over: Promise<unknown> }>());
  const ask = useCallback<Ask>(
    async (method, path, body, toldIn = attempt) => {
      // A second click on the same button is not a second wish; a text that was changed since is saved after the one under way.
      const wish = `${method} ${path}`;
      const said = JSON.stringify(body) ?? "";
      const before = asking.current.get(wish);
      if (before && (method !== "PUT" || before.said === said)) return false;
      let end = () => {};
      const mine = { said, over: new Promise<void>((ended) => (end = ended)) };
      asking.current.set(wish, mine);
      const over = () => {
        if (asking.current.get(wish) === mine) asking.current.delete(wish);
        end();
      };
      await before?.over;
      // Chosen before the page knew that another tab has the story written: it shows that by now.
      if (NEEDS_IDLE.test(path) && !standing.current.heard && (await standing.current.busy)) {
        over();
        return false;
      }
      const [waits, head] = [now.current?.waiting_plan, now.current?.head ?? ""];
      const own = waits && !now.current!.plans.includes(waits) ? waits : "";
      const leaves = own && leavesThePlan(path, body, head, writes.current);
      const done = await toldIn(() => send(method, `/stories/${props.id}${path}`, body));
      over();
      // A plan of one's own that waited to be written is not lost to another choice.
      if (done && leaves) layAside(`${props.id}/own//`, own, head);
      // An edit that was stopped may have left it waiting, and laid aside as well.
      else if (done && path === "/write" && waits) forgetLaidAside(`${props.id}/own//`, waits);
      return done;
    },
    [props.id, standing],
  );
  // Undone as often as it was pressed, one after the other.
  const moves = useRef(Promise.resolve());
  const move = (path: string) => void (moves.current = moves.current.then(async () => void (await ask("POST", path))));
  const goto = useCallback((id: string) => setJump({ id, at: Date.now() }), []);
  const lookBack = useCallback((id: string, goThere = false) => setAsked({ id, head: now.current?.head ?? "", goThere }), []);
  const showMemory = useCallback((id: string) => lookBack(id, true), [lookBack]);

  useEffect(() => {
    if (view?.title) document.title = `${view.title} · The writing desk`;
    if (!view?.opened || job.busy) return;
    // The cost is counted beside the page: of a long story it takes a moment.
    void get<Usage>(`/stories/${props.id}/usage`).then(setUsage, () => undefined);
    void get<{ values: { budget?: number } }>(`/stories/${props.id}/settings`).then((kept) => setBudget(kept.values?.budget ?? 0), () => undefined);
  }, [view?.head, view?.revision, job.busy, props.id]);
  useEffect(() => {
    if (!view?.head || job.busy) return;
    void get<Chapters>(`/stories/${props.id}/chapters`).then((found) => setChapters((old) => (JSON.stringify(old) === JSON.stringify(found) ? old : found)), () => undefined);
  }, [view?.head, job.busy, props.id]);
  // What was refused because of work in hand, or before it, is past.
  useEffect(() => setProblem(""), [job.busy]);
  useEffect(() => {
    if (problem !== SILENT) return;
    // It is past as soon as the desk answers.
    const timer = setInterval(() => void get(`/stories/${props.id}`).then(() => setProblem(""), () => undefined), ASK_AGAIN_MS);
    return () => clearInterval(timer);
  }, [problem, props.id]);
  useEffect(() => {
    if (view?.step) dropOpening(props.id);
  }, [props.id, view?.step]);
  useEffect(() => {
    if (view) showServerCopies(props.id, view.pending_edits);
  }, [props.id, view]);

  const toggle = (what: Open) => setOpen((now) => (now === what ? "" : what));
  useKeys({
    m: () => toggle("map"),
    c: () => toggle("contents"),
    f: () => setFocus(!focus),
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
        <LeftTexts story={props.id} />
        <a href="#/">All stories</a>
      </main>
    );
  }
  if (!view) return <main className="start" aria-busy="true"><p className="lead">Opening the story</p></main>;

  const branch = usage ? usage.input_tokens + usage.output_tokens : 0;
  const spent = usage ? usage.in_all.input_tokens + usage.in_all.output_tokens : 0;
  return (
    <div
      className={`desk ${marks ? "marks" : ""} ${focus ? "focus" : ""} in-${page.font}`}
      style={{ "--size": `${page.size}%`, "--width": `${page.width}rem` } as CSSProperties}
    >
      <header ref={below} className="bar">
        <a href="#/" className="home" onClick={() => goTo("")}>Stories</a>
        <Title story={view.id} title={view.title} disabled={job.busy || !view.opened} rename={(title) => ask("PUT", "/title", { title })} />
        <p className="figures">
          <span>{count(view.words ?? 0, "word")}</span>
          <span>passage {view.step}</span>
          <Goals story={view.id} recent={view.recent} opened={view.opened} />
          {usage && (
            <span>
              {tokens(spent)}{budget ? ` of ${tokens(budget)}` : ""} tokens{usage.in_all.cost && ` · ${usage.in_all.cost}`}{spent > branch && `, ${tokens(branch)} on this branch`}
              {usage.choices > 0 && ` · ${usage.ready} of ${count(usage.choices, "choice")} ready`}
            </span>
          )}
        </p>
        <nav aria-label="Views">
          <button className="quiet" onClick={() => toggle("contents")}>Contents <kbd>C</kbd></button>
          <button className="quiet" onClick={() => toggle("map")}>Map <kbd>M</kbd></button>
          <button className="quiet" onClick={() => toggle("search")}>Search <kbd>/</kbd></button>
          <button className="quiet" onClick={() => toggle("export")}>Export</button>
          <button className="quiet" onClick={() => toggle("settings")}>Settings</button>
          <button className="quiet" onClick={() => toggle("page")}>Page</button>
          <button className="quiet focus-button" aria-pressed={focus} onClick={() => setFocus(!focus)}>Focus <kbd>F</kbd></button>
          <button className="quiet" onClick={() => toggle("help")}>Keys <kbd>?</kbd></button>
        </nav>
      </header>
      {live.lost && <p className="lost" role="status">The desk does not answer. Nothing written is lost; this page comes back by itself.</p>}
      <GoToPassage value={goto}>
        <Manuscript live={live} view={view} chapters={chapters} jump={jump} ask={ask} onMemory={showMemory} onSight={setSight} />
      </GoToPassage>
      <NameTip entries={codex.entries} />
      <aside aria-label="Choices and memory">
        <Problem text={problem} onClose={() => setProblem("")} />
        <UnsavedTexts view={view} busy={job.busy} ask={ask} onShow={() => setFocus(false)} onJump={goto} onMemory={showMemory} onOpen={setOpen} />
        <NextPassage live={live} view={view} ask={ask} alone={focus} onMachine={() => setOpen("machine")} />
        <TimeLine view={view} at={codexAt} onAt={lookBack} onJump={goto} />
        {view.opened && <MemoryPanel view={view} past={codexAt !== view.head} busy={job.busy && (job.kind === "write" ? "write" : "other")} at={memoryAt} changes={job.memory_changes} asked={asked} ask={ask} onJump={goto} onBack={() => lookBack("")} />}
        {view.opened && view.head && <CodexPanel view={view} at={codexAt} busy={job.busy} changes={job.codex_changes} ask={ask} onJump={goto} {...codex} />}
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
      {open === "map" && <StoryMap view={view} cache={cache} busy={job.busy} ask={ask} onClose={() => setOpen("")} onJump={goto} />}
      {open === "contents" && <ContentsDialog view={view} chapters={chapters} cache={cache} busy={job.busy} ask={ask} onClose={() => setOpen("")} onJump={goto} />}
      {open === "page" && <PageDialog onClose={() => setOpen("")} />}
      {open === "search" && <SearchDialog story={props.id} busy={job.busy} onClose={() => setOpen("")} onJump={goto} />}
      {open === "export" && <ExportDialog story={props.id} opened={view.opened} onClose={() => setOpen("")} />}
      {open === "settings" && <StorySettings view={view} busy={job.busy} onClose={() => setOpen("")} />}
      {open === "machine" && <MachineSettings onClose={() => setOpen("")} />}
      {open === "help" && <ShortcutsHelp onClose={() => setOpen("")} play={view.mode === "fiction"} />}
    </div>
  );
}

/** How far somebody is with the words that they meant to write. */
function Goals(props: { story: string; recent: StoryView["recent"]; opened: boolean }) {
  const page = usePage();
  if (!props.opened) return null;
  const { today, sitting } = wordsSince(props.story, props.recent);
  return (
    <>
      {page.daily > 0 && <span>{today.toLocaleString("en-GB")} of {count(page.daily, "word")} today</span>}
      {page.sitting > 0 && <span>{sitting.toLocaleString("en-GB")} of {count(page.sitting, "word")} in this sitting</span>}
    </>
  );
}

function Title(props: { story: string; title: string; disabled: boolean; rename: (title: string) => Promise<boolean> }) {
  const field = useUnsavedText(`name/stories/${props.story}/title`);
  if (field.text === null) {
    return (
      <h1 className="title">
        <button className="plain" disabled={props.disabled} title="Rename" onClick={() => field.open(props.title)}>
          <bdi>{props.title || "A new story"}</bdi>
        </button>
      </h1>
    );
  }
  const title = field.text;
  return (
    <form
      className="title"
      onSubmit={(event) => {
        event.preventDefault();
        void props.rename(title).then((done) => done && field.drop());
      }}
    >
      <h1 className="sr">{props.title}</h1>
      <input aria-label="Title" autoFocus={!field.kept} dir="auto" value={title} onChange={(event) => field.change(event.target.value)} onKeyDown={(event) => event.key === "Escape" && field.discard()} />
      <button disabled={props.disabled}>Rename</button>
    </form>
  );
}
