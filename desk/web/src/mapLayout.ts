// Where the passages of a tree stand on the map: steps go to the right, each branch has a row of its own.
import type { Branch, Tree, TreeNode } from "./types";

export const STEP = 48;
export const ROW = 58;
export const EDGE = 36;

export type Spot = { node: TreeNode; x: number; y: number };
export type BranchRow = { branch: Branch; lane: number; spots: Spot[]; from: Spot | null };
export type MapLayout = { rows: BranchRow[]; spots: Map<string, Spot>; width: number; height: number; known: number };

/** Lay a tree out; what `before` shows stays in its place, so that nothing jumps under a pointer that goes somewhere. */
export function layOut(tree: Tree, before: MapLayout | null = null): MapLayout {
  const nodes = new Map(tree.passages.map((node) => [node.id, node]));
  if (before && tree.passages.length === before.known) {
    const rows = before.rows.map((row) => ({ ...row, spots: row.spots.map((spot) => ({ ...spot, node: nodes.get(spot.node.id) ?? spot.node })) }));
    return { ...before, rows, spots: new Map(rows.flatMap((row) => row.spots.map((spot) => [spot.node.id, spot]))) };
  }
  const spots = new Map<string, Spot>();
  const rows: BranchRow[] = [];
  const free: number[] = []; // for each lane, the last step that is taken
  for (const branch of tree.branches) {
    if (branch.superseded) continue;
    const first = branch.nodes[0] ? (nodes.get(branch.nodes[0])?.step ?? 0) : 0;
    let lane = free.findIndex((taken) => taken + 1 < first);
    // A branch stands below the one that it left, so that the line to it crosses as little as possible.
    const left = spots.get(branch.left);
    if (left) {
      const below = Math.round((left.y - EDGE) / ROW) + 1;
      lane = free.findIndex((taken, at) => at >= below && taken + 1 < first);
    }
    if (lane < 0 || rows.length === 0) lane = rows.length === 0 ? 0 : free.length;
    free[lane] = branch.last_step + 2;
    const own = branch.nodes.flatMap((id) => {
      const node = nodes.get(id);
      return node ? [{ node, x: EDGE + node.step * STEP, y: EDGE + lane * ROW }] : [];
    });
    own.forEach((spot) => spots.set(spot.node.id, spot));
    rows.push({ branch, lane, spots: own, from: left ?? null });
  }
  const last = Math.max(0, ...tree.passages.map((node) => node.step));
  return { rows, spots, width: EDGE * 2 + last * STEP + 220, height: EDGE * 2 + Math.max(0, free.length - 1) * ROW, known: tree.passages.length };
}
