import { draw } from "../../../base/random.ts";
import { type Heap, heap } from "../../../model/graph/graph.ts";
import { type DuplexNetwork, otherEnd } from "./duplex.ts";
import { hopsFrom, middleOf, type Packing } from "./packing.ts";

/**
 * When one chunk per tree goes up its tree, summed, and down again, on links that latency does not occupy. Job 2N i + v: NPU v sends up in tree i; job 2N i + N + v: it
 * receives the result. The same again every period: no two jobs of a direction of an edge begin in the same cell of the period.
 */
export interface Timetable {
  /** [trees x 2 NPUs] -1 for roots. */
  readonly startPs: Float64Array;
  readonly endPs: number;
}

/** Trees with their roots in their middles. */
export interface RootedTrees {
  /** [trees x NPUs] the edge towards the root; -1 for the root. */
  readonly entry: Int32Array;
  /** [trees x NPUs] the other end of that edge; -1 for the root. */
  readonly parent: Int32Array;
  /** [trees x NPUs] how many NPUs have this one as parent. */
  readonly children: Int32Array;
  /** [trees x NPUs] time of the links to the root, and of those to the farthest NPU that has its way through this one. */
  readonly abovePs: Float64Array;
  readonly belowPs: Float64Array;
  /** [trees] */
  readonly root: Int32Array;
}

/** Returns the trees rooted. O(trees x edges). */
export function rooted(network: DuplexNetwork, { trees }: Packing): RootedTrees {
  const { npuCount, serialPs, latencyPs } = network;
  const size = trees.length * npuCount;
  const entry = new Int32Array(size);
  const parent = new Int32Array(size).fill(-1);
  const children = new Int32Array(size);
  const abovePs = new Float64Array(size);
  const belowPs = new Float64Array(size);
  const root = Int32Array.from(trees, (used, i) => {
    const base = i * npuCount;
    const walk = hopsFrom(network, used, middleOf(network, used));
    entry.set(walk.entry, base);
    for (const npu of walk.order) {
      const edge = walk.entry[npu];
      if (edge < 0) continue;
      parent[base + npu] = otherEnd(network, edge, npu);
      children[base + parent[base + npu]]++;
      abovePs[base + npu] = abovePs[base + parent[base + npu]] + serialPs[edge] + latencyPs[edge];
    }
    for (const npu of walk.order.slice().reverse()) {
      if (walk.entry[npu] < 0) continue;
      const [up, edge] = [base + parent[base + npu], walk.entry[npu]];
      belowPs[up] = Math.max(belowPs[up], belowPs[base + npu] + serialPs[edge] + latencyPs[edge]);
    }
    return walk.order[0];
  });
  return { entry, parent, children, abovePs, belowPs, root };
}

/**
 * Returns a timetable by list scheduling modulo the period (Rau 1981): whenever a direction of an edge has a job that is ready, it
 * starts the one with the longest way still to go in its next free cell; with `shake` ways count up to so much more, at random.
 * Every direction has a cell for each of its jobs, so all find one. O(jobs log jobs).
 */
export function timetable(
  network: DuplexNetwork,
  { trees, periodPs }: Packing,
  rootedTrees: RootedTrees,
  { shakePs, seed, turn }: { readonly shakePs: number; readonly seed: number; readonly turn: number },
): Timetable {
  const { npuCount, serialPs, latencyPs, tail } = network;
  const { entry, parent, children, abovePs, belowPs, root } = rootedTrees;
  const lines = 2 * serialPs.length;
  const jobs = 2 * npuCount * trees.length;
  const startPs = new Float64Array(jobs).fill(-1);
  const keyPs = new Float64Array(jobs);
  const lineOf = new Int32Array(jobs).fill(-1);
  const shaken = (job: number): number => (shakePs * draw(seed, turn, job)) / 4294967296;
  for (let i = 0; i < trees.length; i++) {
    for (let npu = 0; npu < npuCount; npu++) {
      const at = i * npuCount + npu;
      if (entry[at] < 0) continue;
      const up = 2 * i * npuCount + npu;
      const down = up + npuCount;
      const outward = tail[entry[at]] === npu ? 0 : 1;
      lineOf[up] = 2 * entry[at] + outward;
      lineOf[down] = 2 * entry[at] + 1 - outward;
      keyPs[up] = abovePs[at] + belowPs[i * npuCount + root[i]] + shaken(up);
      keyPs[down] = serialPs[entry[at]] + latencyPs[entry[at]] + belowPs[at] + shaken(down);
    }
  }
  const cells = cellsOf(serialPs, periodPs);
  /** [lines] jobs that may start, the longest way first, of equal ones the first job. */
  const ready = Array.from({ length: lines }, (): Heap => heap());
  const waiting = children.slice();
  const events = heap();
  /** [lines] the time at which it is to start a job; -1: none is known. */
  const plannedPs = new Float64Array(lines).fill(-1);
  let endPs = 0;
  const offer = (job: number, nowPs: number): void => {
    const line = lineOf[job];
    ready[line].add(-keyPs[job], job);
    const at = cells.nextPs(line, nowPs);
    if (plannedPs[line] >= 0 && plannedPs[line] <= at) return;
    plannedPs[line] = at;
    events.add(at, jobs + line);
  };
  const spread = (i: number, npu: number, nowPs: number): void => {
    const { offset, items } = network.incident;
    for (let k = offset[npu]; k < offset[npu + 1]; k++) {
      const edge = items[k];
      if (trees[i][edge] === 0 || edge === entry[i * npuCount + npu]) continue;
      offer(2 * i * npuCount + npuCount + otherEnd(network, edge, npu), nowPs);
    }
  };
  /** What an NPU has to do once all NPUs below it have sent. */
  const summed = (i: number, npu: number, nowPs: number): void => {
    if (parent[i * npuCount + npu] >= 0) offer(2 * i * npuCount + npu, nowPs);
    else spread(i, npu, nowPs);
  };
  for (let at = 0; at < children.length; at++) {
    if (children[at] === 0) summed(Math.floor(at / npuCount), at % npuCount, 0);
  }
  while (events.size() > 0) {
    const nowPs = events.key();
    const event = events.take();
    if (event < jobs) {
      const i = Math.floor(event / (2 * npuCount));
      const end = event - 2 * i * npuCount;
      if (end >= npuCount) {
        spread(i, end - npuCount, nowPs);
        continue;
      }
      const above = parent[i * npuCount + end];
      if (--waiting[i * npuCount + above] === 0) summed(i, above, nowPs);
      continue;
    }
    const line = event - jobs;
    if (plannedPs[line] !== nowPs) continue;
    const job = ready[line].take();
    startPs[job] = nowPs;
    cells.take(line, nowPs);
    const done = nowPs + serialPs[line >> 1] + latencyPs[line >> 1];
    endPs = Math.max(endPs, done);
    events.add(done, job);
    plannedPs[line] = ready[line].size() === 0 ? -1 : cells.nextPs(line, nowPs);
    if (plannedPs[line] >= 0) events.add(plannedPs[line], event);
  }
  return { startPs, endPs };
}

/** The cells of each direction of each edge in a period: its slot after slot from the beginning of the period. */
function cellsOf(serialPs: Float64Array, periodPs: number) {
  const count = serialPs.map((slot) => Math.floor(periodPs / slot));
  const first = new Int32Array(2 * serialPs.length + 1);
  for (let line = 0; line < 2 * serialPs.length; line++) first[line + 1] = first[line] + count[line >> 1] + 1;
  /** [cells, and one behind each direction's] a cell at or behind it, the next free one in the end. */
  const next = Int32Array.from({ length: first[2 * serialPs.length] }, (_, cell) => cell);
  const free = (cell: number): number => {
    let at = cell;
    while (next[at] !== at) {
      next[at] = next[next[at]];
      at = next[at];
    }
    return at;
  };
  return {
    /** Returns when the next free cell begins, now or later; there must be one. */
    nextPs(line: number, nowPs: number): number {
      const slot = serialPs[line >> 1];
      const last = first[line] + count[line >> 1];
      const period = Math.floor(nowPs / periodPs) * periodPs;
      const cell = free(Math.min(last, first[line] + Math.ceil((nowPs - period) / slot)));
      if (cell < last) return period + (cell - first[line]) * slot;
      return period + periodPs + (free(first[line]) - first[line]) * slot;
    },
    take(line: number, startPs: number): void {
      const cell = first[line] + Math.round((startPs % periodPs) / serialPs[line >> 1]);
      next[cell] = cell + 1;
    },
  };
}
