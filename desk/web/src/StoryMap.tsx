// The map: all branches, of which only what is in sight is drawn.
import { useEffect, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore, type KeyboardEvent } from "react";
import { get, send } from "./api";
import { ComparePassages } from "./ComparePassages";
import { layOut, ROW, STEP, type MapLayout, type BranchRow, type Spot } from "./mapLayout";
import type { PassageCache } from "./passageCache";
import { Dialog, Problem, useAttempt } from "./components";
import { AUTHORS, count, excerpt } from "./format";
import { useUnsavedText } from "./unsavedText";
import type { Ask, Tree, StoryView } from "./types";

type Window = { left: number; top: number; width: number; height: number };
const MARGIN = 200;
const ZOOMS = [0.35, 0.5, 0.75, 1, 1.4];
const BEGINNING = 200;
const PLAN_IN_A_TIP = 160;

export function StoryMap(props: { view: StoryView; cache: PassageCache; busy: boolean; onClose: () => void; onJump: (id: string) => void }) {
  const { view } = props;
  const [tree, setTree] = useState<Tree | null>(null);
  const [at, setAt] = useState(view.head);
  const [over, setOver] = useState("");
  const [before, setBefore] = useState("");
  const [compared, setCompared] = useState(false);
  const plan = useRef<MapLayout | null>(null);
  const { problem, setProblem, attempt } = useAttempt();
  // What is refused is said here: the page behind is out of sight.
  const ask: Ask = (method, path, body) => attempt(() => send(method, `/stories/${view.id}${path}`, body));
  useEffect(() => {
    let wanted = true;
    const show = (found: Tree) => {
      if (!wanted) return;
      plan.current = layOut(found, plan.current);
      setTree(found);
    };
    // What was refused stays told while the map is read anew.
    get<Tree>(`/stories/${view.id}/tree`).then(show, (error: Error) => wanted && setProblem(error.message));
    return () => void (wanted = false);
  }, [view.id, view.revision, view.head]);
  const go = (id: string) => {
    if (id === view.head || props.busy) return;
    const left = view.head;
    void ask("POST", "/goto", { at: id }).then((done) => {
      if (!done) return;
      setBefore(left);
      setAt(id);
    });
  };
  const other = at === view.head ? before : view.head;
  const stepOf = (id: string) => plan.current?.spots.get(id)?.node.step;
  const nameOf = (id: string) => `Passage ${stepOf(id)}${id === view.head ? ", where you are" : id === before ? ", where you were" : ""}`;
  return (
    <Dialog title={compared ? (stepOf(at) === stepOf(other) ? "Two takes side by side" : "Two passages side by side") : "Map"} wide onClose={props.onClose}>
      <Problem text={problem} />
      {compared ? (
        <ComparePassages story={view.id} a={other} b={at} names={[nameOf(other), nameOf(at)]} onBack={() => setCompared(false)} />
      ) : (
        plan.current && tree && (
          <>
            <Board plan={plan.current} tree={tree} at={at} over={over} cache={props.cache} onAt={setAt} onOver={setOver} onGo={go} />
            <Details view={view} cache={props.cache} plan={plan.current} at={at} busy={props.busy} ask={ask} say={setProblem}>
              {at === view.head ? (
                <button className="primary" onClick={() => (props.onClose(), setTimeout(() => props.onJump(at), 0))}>Read it</button>
              ) : (
                <button className="primary" disabled={props.busy} onClick={() => go(at)}>Go there</button>
              )}
              {other && other !== at && (
                <button onClick={() => setCompared(true)}>Compare with passage {stepOf(other)}, where you {at === view.head ? "were" : "are"}</button>
              )}
            </Details>
          </>
        )
      )}
    </Dialog>
  );
}

function Board(props: { plan: MapLayout; tree: Tree; at: string; over: string; cache: PassageCache; onAt: (id: string) => void; onOver: (id: string) => void; onGo: (id: string) => void }) {
  const { plan, tree, at } = props;
  const board = useRef<HTMLDivElement>(null);
  const zoomed = useRef(1);
  const [seen, setSeen] = useState<Window>({ left: 0, top: 0, width: 1200, height: 600 });
  const [zoom, setZoom] = useState(1);
  const path = useMemo(() => pathOf(tree), [tree]);
  const scale = (by: number) => setZoom((now) => ZOOMS[Math.min(ZOOMS.length - 1, Math.max(0, ZOOMS.indexOf(now) + by))]!);
  useLayoutEffect(() => {
    const element = board.current!;
    const middle = plan.spots.get(zoomed.current === zoom ? tree.head : at);
    if (middle && (zoomed.current !== zoom || (!element.scrollLeft && !element.scrollTop))) element.scrollTo(middle.x * zoom - element.clientWidth / 2, middle.y * zoom - element.clientHeight / 2);
    zoomed.current = zoom;
    let frame = 0;
    const look = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        setSeen({ left: element.scrollLeft / zoom, top: element.scrollTop / zoom, width: element.clientWidth / zoom, height: element.clientHeight / zoom });
      });
    };
    look();
    requestAnimationFrame(() => document.activeElement?.closest(".board, .details") || document.getElementById(`n-${tree.head}`)?.focus({ preventScroll: true }));
    element.addEventListener("scroll", look, { passive: true });
    const resized = new ResizeObserver(look);
    resized.observe(element);
    return () => {
      element.removeEventListener("scroll", look);
      resized.disconnect();
      cancelAnimationFrame(frame);
    };
  }, [plan, zoom]);
  const move = (event: KeyboardEvent) => {
    if (event.key === "+" || event.key === "-") scale(event.key === "+" ? 1 : -1);
    const to = neighbour(plan, tree, at, event.key);
    if (!to) return;
    event.preventDefault();
    props.onAt(to);
    const spot = plan.spots.get(to)!;
    const element = board.current!;
    const reach = { left: spot.x * zoom - MARGIN / 2, right: spot.x * zoom + MARGIN / 2, top: spot.y * zoom - ROW, bottom: spot.y * zoom + ROW };
    const by = (low: number, high: number, from: number, size: number) => (low < from ? low - from : high > from + size ? high - from - size : 0);
    element.scrollBy(by(reach.left, reach.right, element.scrollLeft, element.clientWidth), by(reach.top, reach.bottom, element.scrollTop, element.clientHeight));
    requestAnimationFrame(() => requestAnimationFrame(() => document.getElementById(`n-${to}`)?.focus({ preventScroll: true })));
  };
  const inSight = (x: number, y: number) =>
    x > seen.left - MARGIN && x < seen.left + seen.width + MARGIN && y > seen.top - MARGIN && y < seen.top + seen.height + MARGIN;
  const spots = plan.rows.flatMap((row) => visible(row, seen).filter((spot) => inSight(spot.x, spot.y)));
  // One node is always in the page, so that the keyboard has a place to come back to.
  const here = plan.spots.get(at);
  const over = plan.spots.get(props.over);
  if (here && !spots.includes(here)) spots.push(here);
  return (
    <div className="map">
    <div className="row zoom" role="group" aria-label="Size of the map">
      <button aria-label="Smaller" disabled={zoom === ZOOMS[0]} onClick={() => scale(-1)}>−</button>
      <button aria-label="Larger" disabled={zoom === ZOOMS.at(-1)} onClick={() => scale(1)}>+</button>
    </div>
    <div ref={board} className="board" role="group" aria-label="Branches; arrow keys move, Enter goes there, plus and minus change the size" onKeyDown={move}>
      <div className="extent" style={{ width: plan.width * zoom, height: plan.height * zoom }}>
      <div className="sheet" style={{ width: plan.width, height: plan.height, transform: `scale(${zoom})` }}>
        <svg width={plan.width} height={plan.height} aria-hidden="true">
          {plan.rows.map((row) => <Line key={row.branch.tip} row={row} seen={seen} path={path} />)}
        </svg>
        {spots.map((spot) => (
          <NodeButton key={spot.node.id} spot={spot} head={tree.head} on={path.has(spot.node.id)} here={spot.node.id === at} onAt={props.onAt} onOver={props.onOver} onGo={props.onGo} />
        ))}
        {over && <Tip spot={over} cache={props.cache} zoom={zoom} />}
      </div>
      </div>
    </div>
    </div>
  );
}

/** What a passage under the pointer was written from; the pane below stays with the passage that was chosen. */
function Tip(props: { spot: Spot; cache: PassageCache; zoom: number }) {
  const { node, x, y } = props.spot;
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
  const { node, x, y } = props.spot;
  const by = AUTHORS[node.author]?.mark;
  const names = node.names.join(", ");
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
      onMouseEnter={() => props.onOver(node.id)}
      onMouseLeave={() => props.onOver("")}
      onClick={() => props.onGo(node.id)}
    >
      {node.step || "·"}{" "}
      {names && <span className="branch-name"><bdi>{names}</bdi></span>}
    </button>
  );
}

function Line({ row, seen, path }: { row: BranchRow; seen: Window; path: Set<string> }) {
  const first = row.spots[0];
  const last = row.spots.at(-1);
  if (!first || !last) return null;
  const y = first.y;
  const top = Math.min(y, row.from?.y ?? y);
  if (y < seen.top - MARGIN || top > seen.top + seen.height + MARGIN) return null;
  const bend = row.from ? `M ${row.from.x} ${row.from.y} C ${row.from.x + STEP / 2} ${row.from.y}, ${first.x - STEP / 1.6} ${y}, ${first.x} ${y}` : "";
  const onPath = row.spots.filter((spot) => path.has(spot.node.id));
  const until = onPath.at(-1);
  return (
    <>
      <path className="line" d={`${bend} M ${first.x} ${y} L ${last.x} ${y}`} />
      {until && <path className="line on" d={`${bend} M ${first.x} ${y} L ${until.x} ${y}`} />}
      {last.x < seen.left + seen.width + MARGIN && (
        <text x={last.x + 20} y={y - 12}>{last.node.names.length ? "" : `${row.branch.words.toLocaleString("en-GB")} words`}</text>
      )}
    </>
  );
}

type Naming = { plan: MapLayout; at: string; busy: boolean; ask: Ask; say: (problem: string) => void };

function Details(props: Naming & { view: StoryView; cache: PassageCache; children: React.ReactNode }) {
  const { at, cache } = props;
  const passage = useSyncExternalStore(cache.subscribe, () => cache.get(at));
  const node = props.plan.spots.get(at)?.node;
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
    const owner = [...plan.spots.values()].find((spot) => spot.node.names.includes(wanted))?.node;
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
      <input aria-label="Name of the branch" placeholder="Name of the branch" dir="auto" maxLength={60} value={name} onChange={(event) => field.change(event.target.value)} />
      <button disabled={props.busy || !name.trim() || name.trim() === old}>{old ? "Rename it" : "Name it"}</button>
      {old && <button type="button" className="quiet" disabled={props.busy} onClick={() => void remove(old)}>Take the name away</button>}
    </form>
  );
}

function visible(row: BranchRow, seen: Window): Spot[] {
  const first = row.spots[0];
  if (!first || first.y < seen.top - MARGIN || first.y > seen.top + seen.height + MARGIN) return [];
  const from = Math.max(0, Math.floor((seen.left - MARGIN - first.x) / STEP));
  return row.spots.slice(from, from + Math.ceil((seen.width + 2 * MARGIN) / STEP) + 1);
}

function pathOf(tree: Tree) {
  const parents = new Map(tree.passages.map((node) => [node.id, node.parent]));
  const path = new Set<string>();
  for (let id: string | undefined = tree.head; id; id = parents.get(id)) path.add(id);
  return path;
}

/** The passage that an arrow key leads to: along the branch, or to the nearest in the row above or below. */
function neighbour(plan: MapLayout, tree: Tree, at: string, key: string): string | undefined {
  const spot = plan.spots.get(at);
  if (!spot) return undefined;
  const all = [...plan.spots.values()];
  if (key === "Home") return all.find((other) => !other.node.step)?.node.id;
  if (key === "End") return tree.head;
  if (key === "ArrowLeft") return spot.node.parent || undefined;
  if (key === "ArrowRight") {
    const later = all.filter((other) => other.node.parent === at);
    return (later.find((other) => other.y === spot.y) ?? later[0])?.node.id;
  }
  const down = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
  if (!down) return undefined;
  const side = all.filter((other) => (other.y - spot.y) * down > 0);
  const near = (other: Spot) => Math.abs(other.y - spot.y) * 4 + Math.abs(other.x - spot.x);
  return side.sort((a, b) => near(a) - near(b))[0]?.node.id;
}
