// Where the passages of a tree stand on the map: the story goes to the right, each branch has a row of its own.
import type { Branch, Tree, TreeNode } from "./types";

export const STEP = 48;
export const ROW = 58;
const LEFT = 24;
const TOP = 36;
/** Fewer passages in a row stand for themselves: that takes hardly more room. */
const RUN = 4;
const RUN_COLUMNS = 2;
const NAME_WIDTH = 200;
const WORDS_WIDTH = 100;

/** One passage, or a straight run of them; either has the id of its first. */
export type Spot = { id: string; nodes: TreeNode[]; x: number; y: number };
export type BranchRow = { branch: Branch; spots: Spot[]; from: Spot | null };
export type MapLayout = { rows: BranchRow[]; spots: Map<string, Spot>; width: number; height: number; known: number };

export const first = (spot: Spot) => spot.nodes[0]!;
export const last = (spot: Spot) => spot.nodes.at(-1)!;
export const isRun = (spot: Spot) => spot.nodes.length > 1;

/** Lay a tree out; what `before` shows stays in its place, so that nothing jumps under a pointer that goes somewhere. */
export function layOut(tree: Tree, before: MapLayout | null = null, opened: TreeNode[] = []): MapLayout {
  const nodes = new Map(tree.passages.map((node) => [node.id, node]));
  const shown = [...(before?.spots.values() ?? [])].filter((spot) => !isRun(spot)).map((spot) => spot.id);
  if (before && !opened.length && tree.passages.length === before.known && shown.includes(tree.head)) {
    const rows = before.rows.map((row) => ({ ...row, spots: row.spots.map((spot) => ({ ...spot, nodes: spot.nodes.map((node) => nodes.get(node.id) ?? node) })) }));
    return { ...before, rows, spots: spotsOf(rows) };
  }
  const branches = tree.branches.filter((branch) => !branch.superseded);
  // A passage that was shown by itself stays so: it may be the one that somebody looks at.
  const alone = new Set([tree.head, ...shown, ...opened.map((node) => node.id), ...branches.map((branch) => branch.left)]);
  const spots = new Map<string, Spot>();
  const rows: BranchRow[] = [];
  const free: number[] = []; // for each lane, the last column that is taken
  for (const branch of branches) {
    const own = branch.nodes.flatMap((id) => nodes.get(id) ?? []);
    const left = spots.get(branch.left);
    const begins = left ? Math.round((left.x - LEFT) / STEP) + 1 : 0;
    const parts = runs(own, (node, at) => alone.has(node.id) || node.names.length > 0 || node.step === 0 || at === own.length - 1);
    const ends = begins + parts.reduce((columns, part) => columns + columnsOf(part), 0) - 1;
    // A branch stands below the one that it left, so that the line to it crosses as little as possible.
    const below = left ? Math.round((left.y - TOP) / ROW) + 1 : 0;
    let lane = free.findIndex((taken, at) => at >= below && taken + 1 < begins);
    if (lane < 0) lane = free.length;
    free[lane] = ends + 2;
    let column = begins;
    const placed = parts.map((part) => {
      const spot = { id: part[0]!.id, nodes: part, x: LEFT + (column + (columnsOf(part) - 1) / 2) * STEP, y: TOP + lane * ROW };
      column += columnsOf(part);
      return spot;
    });
    placed.forEach((spot) => spots.set(spot.id, spot));
    rows.push({ branch, spots: placed, from: left ?? null });
  }
  const right = (row: BranchRow) => row.spots.map((spot, at) => spot.x + (first(spot).names.length ? NAME_WIDTH : at === row.spots.length - 1 ? WORDS_WIDTH : 0));
  const width = Math.max(0, ...rows.flatMap(right));
  return { rows, spots, width, height: TOP * 2 + Math.max(0, free.length - 1) * ROW, known: tree.passages.length };
}

const columnsOf = (part: TreeNode[]) => (part.length > 1 ? RUN_COLUMNS : 1);
const spotsOf = (rows: BranchRow[]) => new Map(rows.flatMap((row) => row.spots.map((spot) => [spot.id, spot])));

/** The passages of a branch in parts: one that stands alone, or a run of those that do not. */
function runs(nodes: TreeNode[], isAlone: (node: TreeNode, at: number) => boolean): TreeNode[][] {
  const parts: TreeNode[][] = [];
  let run: TreeNode[] = [];
  const end = () => {
    parts.push(...(run.length < RUN ? run.map((node) => [node]) : [run]));
    run = [];
  };
  nodes.forEach((node, at) => {
    if (!isAlone(node, at)) return void run.push(node);
    end();
    parts.push([node]);
  });
  end();
  return parts;
}
