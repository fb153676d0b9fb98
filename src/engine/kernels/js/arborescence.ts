import { CancelledError } from "../../../base/errors.ts";
import type { ArborescenceProblem, CancelFlag } from "../../contract/kernels.ts";
import { STATUS } from "../status.ts";
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

/** Heaps of arcs whose costs fall together: the twin of native/kernels/arc_heap.h, function by function. */
class ArcHeaps {
  readonly #key: Float64Array;
  readonly #lowered: Float64Array;
  readonly #left: Int32Array;
  readonly #right: Int32Array;

  /** Heaps of one arc each. */
  constructor(cost: Float64Array) {
    this.#key = cost.slice();
    this.#lowered = new Float64Array(cost.length);
    this.#left = new Int32Array(cost.length).fill(NONE);
    this.#right = new Int32Array(cost.length).fill(NONE);
  }

  cost(heap: number): number {
    return this.#key[heap];
  }

  /** Takes `amount` off the cost of every arc of the heap. */
  lower(heap: number, amount: number): void {
    if (heap === NONE) return;
    this.#key[heap] -= amount;
    this.#lowered[heap] += amount;
  }

  /** Returns the two heaps as one. */
  merge(first: number, second: number): number {
    const left = this.#left;
    const right = this.#right;
    let a = first;
    let b = second;
    let top = NONE;
    let above = NONE; // whose left child comes next
    while (a !== NONE && b !== NONE) {
      if (this.#before(b, a)) [a, b] = [b, a];
      this.#handDown(a);
      if (above === NONE) top = a;
      else left[above] = a;
      above = a;
      const next = right[a];
      right[a] = left[a];
      a = next;
    }
    const rest = a === NONE ? b : a;
    if (above === NONE) return rest;
    left[above] = rest;
    return top;
  }

  /** Returns the heap without its least. */
  pop(heap: number): number {
    this.#handDown(heap);
    return this.merge(this.#left[heap], this.#right[heap]);
  }

  #before(a: number, b: number): boolean {
    return this.#key[a] !== this.#key[b] ? this.#key[a] < this.#key[b] : a < b;
  }

  /** Passes on what is to be taken off below. */
  #handDown(arc: number): void {
    this.lower(this.#left[arc], this.#lowered[arc]);
    this.lower(this.#right[arc], this.#lowered[arc]);
    this.#lowered[arc] = 0;
  }
}
