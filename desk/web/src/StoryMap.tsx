// The map: all branches, of which only what is in sight is drawn.
import { useEffect, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore, type KeyboardEvent } from "react";
import { get } from "./api";
import { ComparePassages } from "./ComparePassages";
import { first, isRun, last, layOut, ROW, STEP, type MapLayout, type BranchRow, type Spot } from "./mapLayout";
import type { PassageCache } from "./passageCache";
import { Dialog, Problem, ShortInput, useAttempt } from "./components";
import { AUTHORS, count, excerpt } from "./format";
import { useUnsavedText } from "./unsavedText";
import type { Ask, Tree, StoryView } from "./types";

type Window = { left: number; top: number; width: number; height: number };
const MARGIN = 200;
const ZOOMS = [0.35, 0.5, 0.75, 1, 1.4];
/** Of these the map opens in the largest that shows all of it: at less than the last a finger meets no passage. */
const FITS = [1, 0.75, 0.5];
const BEGINNING = 200;
const PLAN_IN_A_TIP = 160;

export function StoryMap(props: { view: StoryView; cache: PassageCache; busy: boolean; ask: Ask; onClose: () => void; onJump: (id: string) => void }) {
  const { view } = props;
  const [drawn, setDrawn] = useState<{ tree: Tree; plan: MapLayout } | null>(null);
  const [at, setAt] = useState(view.head);
  const [over, setOver] = useState("");
  const [before, setBefore] = useState("");
  const [compared, setCompared] = useState(false);
  const { problem, setProblem, attempt } = useAttempt();
  // What is refused is said here: the page behind is out of sight.
  const ask: Ask = (method, path, body) => props.ask(method, path, body, attempt);
  useEffect(() => {
    if (!view.opened) return;
    let wanted = true;
    const show = (found: Tree) => {
      if (wanted) setDrawn((before) => ({ tree: found, plan: layOut(found, before?.plan) }));
    };
    // What was refused stays told while the map is read anew.
    get<Tree>(`/stories/${view.id}/tree`).then(show, (error: Error) => wanted && setProblem(error.message));
    return () => void (wanted = false);
  }, [view.id, view.opened, view.revision, view.head]);
  const go = (id: string) => {
    if (id === view.head || props.busy) return;
    const left = view.head;
    void ask("POST", "/goto", { at: id }).then((done) => {
      if (!done) return;
      setBefore(left);
      setAt(id);
    });
  };
  const open = (run: Spot) => drawn && setDrawn({ ...drawn, plan: layOut(drawn.tree, drawn.plan, run.nodes) });
  const other = at === view.head ? before : view.head;
  const spotAt = (id: string) => drawn?.plan.spots.get(id);
  const stepOf = (id: string) => spotAt(id)?.nodes[0]?.step;
  const run = [spotAt(at)].find((spot) => spot && isRun(spot));
  const nameOf = (id: string) => `Passage ${stepOf(id)}${id === view.head ? ", where you are" : id === before ? ", where you were" : ""}`;
  return (
    <Dialog title={compared ? (stepOf(at) === stepOf(other) ? "Two takes side by side" : "Two passages side by side") : "Map"} wide onClose={props.onClose}>
      <Problem text={problem} />
      {!view.opened && <p className="hint">Nothing of this story is written yet. The map shows its passages and branches when there are some.</p>}
      {compared ? (
        <ComparePassages story={view.id} a={other} b={at} names={[nameOf(other), nameOf(at)]} onBack={() => setCompared(false)} />
      ) : (
        drawn && (
          <>
            <Board {...drawn} at={at} over={over} cache={props.cache} onAt={setAt} onOver={setOver} onGo={go} onOpen={open} />
            {run ? (
              <section className="details" aria-label="The passages that are chosen">
                <p className="where">{passagesOf(run)} · {count(wordsOf(run), "word")}</p>
                <div className="row">
                  <button className="primary" onClick={() => open(run)}>Show each of them</button>
                </div>
              </section>
            ) : (
              <Details view={view} cache={props.cache} plan={drawn.plan} at={at} busy={props.busy} ask={ask} say={setProblem}>
                {at === view.head ? (
                  <button className="primary" onClick={() => (props.onClose(), setTimeout(() => props.onJump(at), 0))}>Read it</button>
                ) : (
                  <button className="primary" disabled={props.busy} onClick={() => go(at)}>Go there</button>
                )}
                {other && other !== at && (
                  <button onClick={() => setCompared(true)}>Compare with passage {stepOf(other)}, where you {at === view.head ? "were" : "are"}</button>
                )}
              </Details>
            )}
          </>
        )
      )}
    </Dialog>
  );
}

function Board(props: { plan: MapLayout; tree: Tree; at: string; over: string; cache: PassageCache; onAt: (id: string) => void; onOver: (id: string) => void; onGo: (id: string) => void; onOpen: (run: Spot) => void }) {
  const { plan, tree, at } = props;
  const board = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState<Window>({ left: 0, top: 0, width: 1200, height: 600 });
  const [zoom, setZoom] = useState(1);
  const path = useMemo(() => pathOf(tree), [tree]);
  const scale = (by: number) => setZoom((now) => ZOOMS[Math.min(ZOOMS.length - 1, Math.max(0, ZOOMS.indexOf(now) + by))]!);
  const reveal = (spot: Spot) => {
    const element = board.current!;
    const reach = { left: spot.x * zoom - MARGIN / 2, right: spot.x * zoom + MARGIN / 2, top: spot.y * zoom - ROW, bottom: spot.y * zoom + ROW };
    const by = (low: number, high: number, from: number, size: number) => (low < from ? low - from : high > from + size ? high - from - size : 0);
    element.scrollBy(by(reach.left, reach.right, element.scrollLeft, element.clientWidth), by(reach.top, reach.bottom, element.scrollTop, element.clientHeight));
  };
  useLayoutEffect(() => {
    const { clientWidth, clientHeight } = board.current!;
    setZoom(FITS.find((size) => plan.width * size <= clientWidth && plan.height * size <= clientHeight) ?? FITS.at(-1)!);
  }, []);
  useLayoutEffect(() => {
    const element = board.current!;
    const middle = plan.spots.get(at);
    if (middle) element.scrollTo(middle.x * zoom - element.clientWidth / 2, middle.y * zoom - element.clientHeight / 2);
  }, [zoom]);
  useLayoutEffect(() => {
    const element = board.current!;
    const chosen = plan.spots.get(at);
    if (chosen) reveal(chosen);
    let frame = 0;
    const look = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        setSeen({ left: element.scrollLeft / zoom, top: element.scrollTop / zoom, width: element.clientWidth / zoom, height: element.clientHeight / zoom });
      });
    };
    look();
    // What was opened is gone, and its first passage has its place.
    requestAnimationFrame(() => document.activeElement?.closest(".map, .details") || document.getElementById(`n-${at}`)?.focus({ preventScroll: true }));
    element.addEventListener("scroll", look, { passive: true });
    const resized = new ResizeObserver(look);
    resized.observe(element);
    return () => {
      element.removeEventListener("scroll", look);
      resized.disconnect();
      cancelAnimationFrame(frame);
    };
  }, [plan, zoom]);
  // At once: a focus that came late would take whoever presses the next key back.
  useLayoutEffect(() => {
    if (board.current!.contains(document.activeElement)) document.getElementById(`n-${at}`)?.focus({ preventScroll: true });
  }, [at]);
  const move = (event: KeyboardEvent) => {
    if (event.key === "+" || event.key === "-") scale(event.key === "+" ? 1 : -1);
    const to = neighbour(plan, tree, at, event.key)?.id;
    if (!to) return;
    event.preventDefault();
    props.onAt(to);
    reveal(plan.spots.get(to)!);
  };
  const inSight = (x: number, y: number) =>
    x > seen.left - MARGIN && x < seen.left + seen.width + MARGIN && y > seen.top - MARGIN && y < seen.top + seen.height + MARGIN;
  const spots = [...plan.spots.values()].filter((spot) => inSight(spot.x, spot.y));
  // One node is always in the page, so that the keyboard has a place to come back to.
  const here = plan.spots.get(at);
  const over = plan.spots.get(props.over);
  if (here && !spots.includes(here)) spots.push(here);
  return (
    <div className="map" onKeyDown={move}>
    <div className="row zoom" role="group" aria-label="Size of the map">
      <button aria-label="Smaller" disabled={zoom === ZOOMS[0]} onClick={() => scale(-1)}>−</button>
      <button aria-label="Larger" disabled={zoom === ZOOMS.at(-1)} onClick={() => scale(1)}>+</button>
    </div>
    <div ref={board} className="board" role="group" aria-label="Branches; arrow keys move, Enter goes there or opens a run of passages, plus and minus change the size">
      <div className="extent" style={{ width: plan.width * zoom, height: plan.height * zoom }}>
      <div className="sheet" style={{ width: plan.width, height: plan.height, transform: `scale(${zoom})` }}>
        <svg width={plan.width} height={plan.height} aria-hidden="true">
          {plan.rows.map((row) => <Line key={row.branch.tip} row={row} seen={seen} path={path} />)}
        </svg>
        {spots.map((spot) =>
          isRun(spot) ? (
            <RunButton key={spot.id} run={spot} on={path.has(spot.id)} here={spot.id === at} onAt={props.onAt} onOpen={props.onOpen} />
          ) : (
            <NodeButton key={spot.id} spot={spot} head={tree.head} on={path.has(spot.id)} here={spot.id === at} onAt={props.onAt} onOver={props.onOver} onGo={props.onGo} />
          ),
        )}
        {over && <Tip spot={over} cache={props.cache} zoom={zoom} />}
      </div>
      </div>
    </div>
    </div>
  );
}

/** What a passage under the pointer was written from; the pane below stays with the passage that was chosen. */
function Tip(props: { spot: Spot; cache: PassageCache; zoom: number }) {
  const { x, y } = props.spot;
  const node = first(props.spot);
  const passage = useSyncExternalStore(props.cache.subscribe, () => props.cache.get(node.id));
  useEffect(() => {
    const timer = setTimeout(() => props.cache.want([node.id]), 80);
    return () => clearTimeout(timer);
  }, [node.id, props.cache]);
  return (
    <div className="tip" aria-hidden="true" style={{ transform: `translate(${x}px, ${y + 22}px) scale(${1 / props.zoom})` }}>
      <strong>{node.step ? `Passage ${node.step}` : "The opening"}</strong> <bdi>{excerpt(passage?.plan ?? "", PLAN_IN_A_TIP)}</bdi>
    </div>
  );
}

function NodeButton(props: { spot: Spot; head: string; on: boolean; here: boolean; onAt: (id: string) => void; onOver: (id: string) => void; onGo: (id: string) => void }) {
  const { x, y } = props.spot;
  const node = first(props.spot);
  const by = AUTHORS[node.author]?.mark;
  const names = node.names.join(", ");
  // A click on one that is not chosen yet chooses it, to be looked at; the next goes there, as Enter does.
  const chosen = useRef(false);
  // Whoever speaks to the machine says what they see: the label has it in the same order.
  const label = [
    [node.step ? `Passage ${node.step}` : "Opening ·", names].filter(Boolean).join(" "),
    count(node.words, "word"),
    ...(by ? [`by ${AUTHORS[node.author]!.name}`] : []),
    ...(node.id === props.head ? ["where you are"] : []),
  ].join(", ");
  return (
    <button
      id={`n-${node.id}`}
      className={`node ${props.on ? "on" : ""} ${node.id === props.head ? "head" : ""} ${props.here ? "here" : ""} by-${node.author}`}
      style={{ transform: `translate(${x - 15}px, ${y - 15}px)` }}
      tabIndex={props.here ? 0 : -1}
      aria-label={label}
      onFocus={() => props.onAt(node.id)}
      onPointerDown={() => (chosen.current = props.here)}
      onMouseEnter={() => props.onOver(node.id)}
      onMouseLeave={() => props.onOver("")}
      onClick={(event) => (event.detail === 0 || chosen.current ? props.onGo : props.onAt)(node.id)}
    >
      {node.step || "·"}{" "}
      {names && <span className="branch-name"><bdi>{names}</bdi></span>}
    </button>
  );
}

/** A straight run of passages, in which there is nothing to choose: it says how many, and opens. */
function RunButton(props: { run: Spot; on: boolean; here: boolean; onAt: (id: string) => void; onOpen: (run: Spot) => void }) {
  const { run } = props;
  return (
    <button
      id={`n-${run.id}`}
      className={`node run ${props.on ? "on" : ""} ${props.here ? "here" : ""}`}
      style={{ transform: `translate(${run.x}px, ${run.y - 15}px) translateX(-50%)` }}
      tabIndex={props.here ? 0 : -1}
      aria-expanded={false}
      aria-label={`${count(run.nodes.length, "passage")}, ${first(run).step} to ${last(run).step}, ${count(wordsOf(run), "word")}`}
      onFocus={() => props.onAt(run.id)}
      onClick={() => props.onOpen(run)}
    >
      {count(run.nodes.length, "passage")}
    </button>
  );
}

const passagesOf = (run: Spot) => `Passages ${first(run).step} to ${last(run).step}`;
const wordsOf = (run: Spot) => run.nodes.reduce((words, node) => words + node.words, 0);

function Line({ row, seen, path }: { row: BranchRow; seen: Window; path: Set<string> }) {
  const [begin, end] = [row.spots[0], row.spots.at(-1)];
  if (!begin || !end) return null;
  const y = begin.y;
  const top = Math.min(y, row.from?.y ?? y);
  if (y < seen.top - MARGIN || top > seen.top + seen.height + MARGIN) return null;
  const bend = row.from ? `M ${row.from.x} ${row.from.y} C ${row.from.x + STEP / 2} ${row.from.y}, ${begin.x - STEP / 1.6} ${y}, ${begin.x} ${y}` : "";
  const until = row.spots.filter((spot) => path.has(spot.id)).at(-1);
  return (
    <>
      <path className="line" d={`${bend} M ${begin.x} ${y} L ${end.x} ${y}`} />
      {until && <path className="line on" d={`${bend} M ${begin.x} ${y} L ${until.x} ${y}`} />}
      {end.x < seen.left + seen.width + MARGIN && (
        <text x={end.x + 20} y={y - 12}>{first(end).names.length ? "" : `${row.branch.words.toLocaleString("en-GB")} words`}</text>
      )}
    </>
  );
}

type Naming = { plan: MapLayout; at: string; busy: boolean; ask: Ask; say: (problem: string) => void };

function Details(props: Naming & { view: StoryView; cache: PassageCache; children: React.ReactNode }) {
  const { at, cache } = props;
  const passage = useSyncExternalStore(cache.subscribe, () => cache.get(at));
  const node = props.plan.spots.get(at)?.nodes[0];
  useEffect(() => {
    const timer = setTimeout(() => cache.want([at]), 80);
    return () => clearTimeout(timer);
  }, [at, cache]);
  if (!node) return null;
  return (
    <section className="details" aria-label="The passage that is chosen">
      <p className="where">
        {node.step ? `Passage ${node.step}` : "The opening"} · {count(node.words, "word")} · {AUTHORS[node.author]?.name ?? node.author}
        {at === props.view.head && " · where you are"}
      </p>
      <p className="plan-now" dir="auto">{passage?.plan || (node.step ? "…" : props.view.premise)}</p>
      <p className="hint begins" dir="auto">{excerpt(passage?.text ?? "", BEGINNING)}</p>
      <div className="row">
        {props.children}
        {(node.names.length ? node.names : [""]).map((name) => <NameForm key={`${at} ${name}`} {...props} name={name} />)}
      </div>
    </section>
  );
}

/** Name a passage's branch, change that name or take it away; a name that another passage has stays there. */
function NameForm({ plan, at, name: old, ...props }: Naming & { view: StoryView; name: string }) {
  const field = useUnsavedText(`name/stories/${props.view.id}/${at}/${old}`);
  const name = field.text ?? old;
  const remove = (name: string) => props.ask("DELETE", `/names?name=${encodeURIComponent(name)}`);
  const save = async () => {
    const wanted = name.trim();
    const owner = [...plan.spots.values()].flatMap((spot) => spot.nodes).find((node) => node.names.includes(wanted));
    if (owner && owner.id !== at) return props.say(`“${wanted}” is the name of passage ${owner.step}: take it away there first.`);
    if (!(await props.ask("POST", "/names", { name: wanted, at }))) return;
    field.drop();
    if (old) await remove(old);
  };
  return (
    <form
      className="row"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <ShortInput aria-label="Name of the branch" placeholder="Name of the branch" dir="auto" maxLength={60} value={name} onChange={(event) => field.change(event.target.value)} />
      <button disabled={props.busy || !name.trim() || name.trim() === old}>{old ? "Rename it" : "Name it"}</button>
      {old && <button type="button" className="quiet" disabled={props.busy} onClick={() => void remove(old)}>Take the name away</button>}
    </form>
  );
}

function pathOf(tree: Tree) {
  const parents = new Map(tree.passages.map((node) => [node.id, node.parent]));
  const path = new Set<string>();
  for (let id: string | undefined = tree.head; id; id = parents.get(id)) path.add(id);
  return path;
}

/** What an arrow key leads to: along the branch, or to the nearest in the row above or below. */
function neighbour(plan: MapLayout, tree: Tree, at: string, key: string): Spot | undefined {
  const spot = plan.spots.get(at);
  const row = spot && plan.rows.find((row) => row.spots.includes(spot));
  if (!spot || !row) return undefined;
  const all = [...plan.spots.values()];
  if (key === "Home") return all.find((other) => !first(other).step);
  if (key === "End") return plan.spots.get(tree.head);
  const place = row.spots.indexOf(spot);
  if (key === "ArrowLeft") return row.spots[place - 1] ?? row.from ?? undefined;
  if (key === "ArrowRight") return row.spots[place + 1] ?? plan.rows.find((other) => other.from?.id === at)?.spots[0];
  const down = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
  if (!down) return undefined;
  const side = all.filter((other) => (other.y - spot.y) * down > 0);
  const near = (other: Spot) => Math.abs(other.y - spot.y) * 4 + Math.abs(other.x - spot.x);
  return side.sort((a, b) => near(a) - near(b))[0];
}
