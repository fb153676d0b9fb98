import { CancelledError } from "../../../base/errors.ts";
import type { ArborescenceProblem, CancelFlag } from "../../contract/kernels.ts";
import { STATUS } from "../status.ts";
import { ArcHeaps } from "./arc-heap.ts";
import { find, group, NONE, range } from "./lists.ts";

/** Breadth-first from the root: `arc` gets the arc by which each node is reached; returns whether all are. */
function search({ nodeCount, root, arcSource, arcTarget }: ArborescenceProblem, arc: Int32Array): boolean {
  const out = group(arcSource, nodeCount);
  const queue = new Int32Array(nodeCount);
  arc.fill(NONE);
  let queued = 0;
  queue[queued++] = root;
  for (let i = 0; i < queued; i++) {
    const v = queue[i];
    for (let k = out.offset[v]; k < out.offset[v + 1]; k++) {
      const a = out.items[k];
      const u = arcTarget[a];
      if (u === root || arc[u] !== NONE) continue;
      arc[u] = a;
      queue[queued++] = u;
    }
  }
  return queued === nodeCount;
}

/** The twin of native/kernels/arborescence.h, function by function: the same arcs, written to `arc` [nodes]; returns the status. */
export function arborescenceJs(problem: ArborescenceProblem, arc: Int32Array, cancel?: CancelFlag): number {
  const { nodeCount, root, arcSource, arcTarget } = problem;
  if (!search(problem, arc)) return STATUS.unreachable;
  // of nodes and circles
  const heap = new Int32Array(2 * nodeCount).fill(NONE); // arcs into it, those from within still among them
  const chosen = new Int32Array(2 * nodeCount); // the arc into it
  const visit = new Int32Array(2 * nodeCount); // 1 + start of the path that it lies on; 0: none
  const parent = new Int32Array(2 * nodeCount).fill(NONE); // the circle that it is part of
  const set = range(2 * nodeCount); // disjoint sets, the outermost circle as root
  const path = new Int32Array(nodeCount);
  const heaps = new ArcHeaps(problem.cost);
  let count = nodeCount;
  let depth = 0;

  /** Chooses the cheapest arc into a node from outside; returns the node that it comes from. */
  const chooseArc = (v: number): number => {
    while (find(set, arcSource[heap[v]]) === v) heap[v] = heaps.pop(heap[v]);
    chosen[v] = heap[v];
    heaps.lower(heap[v], heaps.cost(heap[v]));
    return find(set, arcSource[heap[v]]);
  };

  /** Makes one node of the path's end from `first` on; returns it. */
  const closeCircle = (first: number): number => {
    const circle = count++;
    let part = NONE;
    do {
      part = path[--depth];
      heap[circle] = heaps.merge(heap[circle], heap[part]);
      parent[part] = circle;
      set[part] = circle;
    } while (part !== first);
    return circle;
  };

  /** Chooses arcs backwards from a node until one comes from the root or from a node of an earlier path. */
  const growPath = (start: number): void => {
    depth = 0;
    let v = find(set, start);
    while (visit[v] === 0) {
      visit[v] = start + 1;
      path[depth++] = v;
      v = chooseArc(v);
      if (visit[v] === start + 1) v = closeCircle(v);
    }
  };

  /** From the outermost circles inwards, the arc into a circle is chosen for all its parts that it enters. */
  const openCircles = (): void => {
    for (let circle = count - 1; circle >= nodeCount; circle--) {
      const entering = chosen[circle];
      if (entering === NONE) continue; // was entered with the circle around it
      for (let v = arcTarget[entering]; v !== circle; v = parent[v]) chosen[v] = v < nodeCount ? entering : NONE;
    }
    for (let v = 0; v < nodeCount; v++) arc[v] = v === root ? NONE : chosen[v];
  };

  for (let a = 0; a < arcTarget.length; a++) heap[arcTarget[a]] = heaps.merge(heap[arcTarget[a]], a);
  visit[root] = nodeCount + 1;
  for (let start = 0; start < nodeCount; start++) {
    if (cancel !== undefined && Atomics.load(cancel, 0) !== 0) throw new CancelledError();
    growPath(start);
  }
  openCircles();
  return STATUS.ok;
}
