import { InfeasibleError } from "../../base/errors.ts";
import { badRow } from "../../model/replay/plan.ts";
import {
  hopCountOf,
  REPLAY_WANTS,
  type Replayed,
  type ReplayOutcome,
  type ReplayProblem,
} from "../../model/replay/problem.ts";
import { orbitsUnder } from "../../model/symmetry/fold.ts";
import type {
  ArborescenceProblem,
  Balance,
  BalanceProblem,
  ConcurrentFlow,
  ConcurrentProblem,
  MatchProblem,
  PackedTrees,
  PackOutcome,
  PackProblem,
  PartitionProblem,
  PeriodProblem,
  PeriodTimetable,
  PlaceProblem,
  Rate,
  RateProblem,
  SpreadLogs,
  SpreadProblem,
  SweepProblem,
  Transfers,
} from "../contract/kernels.ts";
import { exactSum } from "./check.ts";
import { STATUS, throwForStatus } from "./status.ts";

/** The caller's arrays of one kernel call, and where the kernel writes its summary: count, detail 0, detail 1. */
export interface Outputs extends Transfers {
  readonly summary: Float64Array;
}

/** Returns what `make` allocates; throws as for a kernel out of memory when there is no room for it. */
export function allocated<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof RangeError) throwForStatus(STATUS.outOfMemory, 0, 0);
    throw error;
  }
}

/** Returns arrays for `room` transfers; throws as for a kernel out of memory when there is no room for them. */
export function allocateOutputs(room: number): Outputs {
  if (!Number.isSafeInteger(room) || room < 0) throwForStatus(STATUS.badArgument, 0, 0);
  return allocated(() => ({
    chunk: new Int32Array(room),
    route: new Int32Array(room),
    startPs: new Float64Array(room),
    summary: new Float64Array(3),
  }));
}

/** Returns the array for the starts of a place problem; throws as for a kernel out of memory. */
export const allocateStarts = (problem: PlaceProblem): Float64Array =>
  allocated(() => new Float64Array(problem.route.length));

/** Returns the arrays for the timetable of a period problem; throws as for a kernel out of memory. */
export const allocateTimetable = ({ treeCount, npuCount }: PeriodProblem): PeriodTimetable =>
  allocated(() => ({
    entry: new Int32Array(treeCount * npuCount),
    startPs: new Float64Array(2 * treeCount * npuCount),
  }));

/** Returns arrays for the deliveries of a match problem whose shapes have been checked. */
export function allocateDeliveries(problem: MatchProblem): Outputs {
  return allocateOutputs(deliveriesOf(problem));
}

/** Returns the logs of a spread problem whose shapes have been checked, empty, with room for maxSlots slots. */
export function allocateLogs(problem: SpreadProblem): SpreadLogs {
  const { npuCount, heldOffset, routeTarget, maxSlots, chunkCount, maps, folded } = problem;
  const { wanted, wantedAndHeld } = demandOf(problem);
  const representative = folded && maps !== null ? orbitsUnder(maps, npuCount).representative : null;
  const inDegree = new Int32Array(npuCount);
  for (let r = 0; r < routeTarget.length; r++) inDegree[routeTarget[r]]++;
  const logOffset = new Float64Array(npuCount + 1);
  const portOffset = new Float64Array(npuCount + 1);
  for (let v = 0; v < npuCount; v++) {
    const follows = representative !== null && representative[v] !== v;
    const held = heldOffset[v + 1] - heldOffset[v];
    logOffset[v + 1] = logOffset[v] + (follows ? 0 : wanted[v] + held - wantedAndHeld[v]);
    portOffset[v + 1] = portOffset[v] + (follows ? 0 : maxSlots * ((inDegree[v] + 7) >>> 3));
  }
  const entries = logOffset[npuCount];
  return allocated(() => ({
    logOffset,
    chunk: chunkCount <= 65536 ? new Uint16Array(entries) : new Int32Array(entries),
    portOffset,
    ports: new Uint8Array(portOffset[npuCount]),
    slots: new Int32Array(npuCount),
  }));
}

/** Returns the transfers that a kernel wrote, or null when there was too little room; throws for a bad status. */
export function collect(status: number, outputs: Outputs): Transfers | null {
  const { chunk, route, startPs, summary } = outputs;
  const [count, npu, detail] = summary;
  throwForStatus(status, npu, detail);
  if (status === STATUS.outputTooSmall) return null;
  if (count === chunk.length) return { chunk, route, startPs };
  return { chunk: chunk.slice(0, count), route: route.slice(0, count), startPs: startPs.slice(0, count) };
}

/** Returns the array for the cut of a rate problem; throws as for a kernel out of memory. */
export const allocateCut = (problem: RateProblem): Uint8Array => allocated(() => new Uint8Array(problem.nodeCount));

/** Returns what a cut says of the rate. O(nodes + links). */
export function rateOfCut({ linkSource, linkTarget, capacity, weight }: RateProblem, cut: Uint8Array): Rate {
  return {
    shards: exactSum(weight.filter((_, npu) => cut[npu] === 1)),
    capacity: exactSum(capacity.filter((_, i) => cut[linkSource[i]] === 1 && cut[linkTarget[i]] === 0)),
    cut,
  };
}

/** The caller's arrays of a pack problem, and where the kernel writes trees, outcome, sweeps, rollbacks. */
export interface TreeColumns extends PackedTrees {
  /** [nodes] */
  readonly cut: Uint8Array;
  readonly summary: Float64Array;
}

/** What summary[1] of a pack problem says. */
export const PACK_OUTCOME = { packed: 0, violated: 1, stuck: 2 } as const;

/** Returns the arrays of a pack problem whose shapes have been checked; throws as for a kernel out of memory. */
export const allocateTrees = ({ npuCount, nodeCount, maxTrees, maxLinks }: PackProblem): TreeColumns =>
  allocated(() => ({
    root: new Int32Array(maxTrees),
    copies: new Float64Array(maxTrees),
    linkOffset: new Float64Array(maxTrees * (npuCount - 1) + 1),
    links: new Int32Array(maxLinks),
    cut: new Uint8Array(nodeCount),
    summary: new Float64Array(4),
  }));

/** Returns what a pack kernel found, or null when there was too little room; throws for a bad status. */
export function packOutcomeOf(status: number, { npuCount }: PackProblem, out: TreeColumns): PackOutcome | null {
  throwForStatus(status, 0, 0);
  if (status === STATUS.outputTooSmall) return null;
  const [count, outcome, sweeps, rollbacks] = out.summary;
  if (outcome === PACK_OUTCOME.violated) return { kind: "violated", cut: out.cut };
  if (outcome === PACK_OUTCOME.stuck) return { kind: "stuck" };
  const edges = count * (npuCount - 1);
  const trees = {
    root: upTo(out.root, count),
    copies: upTo(out.copies, count),
    linkOffset: upTo(out.linkOffset, edges + 1),
    links: upTo(out.links, out.linkOffset[edges]),
  };
  return { kind: "packed", trees, sweeps, rollbacks };
}

/** Returns the first elements of a column, which keeps its memory only if that is all of it. */
const upTo = <T extends Int32Array | Float64Array | Uint16Array>(column: T, count: number): T =>
  (count === column.length ? column : column.slice(0, count)) as T;

/** Returns the array for the flows of a sweep problem; throws as for a kernel out of memory. */
export const allocateFlows = (problem: SweepProblem): Float64Array =>
  allocated(() => new Float64Array(problem.sinks.length));

/** Returns the array for the parts of a partition problem; throws as for a kernel out of memory. */
export const allocateParts = ({ start }: PartitionProblem): Int32Array => allocated(() => new Int32Array(start.length));

/** Returns the array for the arcs of an arborescence problem; throws as for a kernel out of memory. */
export const allocateArcs = (problem: ArborescenceProblem): Int32Array =>
  allocated(() => new Int32Array(problem.nodeCount));

/** Throws the error that the status of an arborescence stands for: the least node without an arc cannot be reached. */
export function throwForArcs(status: number, { root }: ArborescenceProblem, arc: Int32Array): void {
  if (status !== STATUS.unreachable) {
    throwForStatus(status, 0, 0);
    return;
  }
  const node = arc.findIndex((into, v) => into < 0 && v !== root);
  throw new InfeasibleError(`node ${node} cannot be reached from node ${root}: no arc leads there`, { node, root });
}

/** The caller's arrays of a concurrent problem, and where the kernel writes rate, bound, rounds. */
export interface ConcurrentColumns extends Pick<ConcurrentFlow, "length" | "flow"> {
  readonly summary: Float64Array;
}

/** Returns the arrays of a concurrent problem whose shapes have been checked; throws as for a kernel out of memory. */
export const allocateConcurrent = (problem: ConcurrentProblem): ConcurrentColumns =>
  allocated(() => ({
    length: new Int32Array(problem.capacity.length),
    flow: new Float64Array(problem.wantsFlow === 1 ? problem.sources.length * problem.arcTarget.length : 0),
    summary: new Float64Array(3),
  }));

/** Returns the flow that a kernel found; throws for a bad status. */
export function concurrentOf(status: number, { length, flow, summary }: ConcurrentColumns): ConcurrentFlow {
  if (status === STATUS.unreachable) throw new InfeasibleError("a demand has no path from its source", {});
  throwForStatus(status, 0, 0);
  const [rate, bound, rounds] = summary;
  return { rate, bound, rounds, length, flow };
}

/** The caller's arrays of a balance problem, and where the kernel writes steps, target, node. */
export interface BalanceColumns extends Omit<Balance, "steps"> {
  readonly summary: Float64Array;
}

/** Returns the arrays of a balance problem whose shapes have been checked; throws as for a kernel out of memory. */
export const allocateBalance = ({ targets, maxSteps, maxRows, wantsShares }: BalanceProblem): BalanceColumns =>
  allocated(() => {
    const rows = wantsShares === 1 ? maxRows : 0;
    return {
      loadNum: new Int32Array(maxSteps),
      loadDen: new Int32Array(maxSteps),
      worst: new Int32Array(maxSteps),
      rowOffset: new Float64Array(targets.length + 1),
      step: new Uint16Array(rows),
      port: new Uint16Array(rows),
      source: new Int32Array(rows),
      from: new Uint16Array(rows),
      to: new Uint16Array(rows),
      summary: new Float64Array(3),
    };
  });

/** Returns the balance that a kernel found, or null when there was too little room; throws for a bad status. */
export function balanceOf(status: number, out: BalanceColumns): Balance | null {
  const [steps, target, node] = out.summary;
  if (status === STATUS.unreachable) {
    const sentence = `node ${target} cannot be reached from node ${node}: no arc leads there`;
    throw new InfeasibleError(sentence, { node: target, root: node });
  }
  throwForStatus(status, 0, 0);
  if (status === STATUS.outputTooSmall) return null;
  const { rowOffset } = out;
  const rows = rowOffset[rowOffset.length - 1];
  return {
    steps,
    loadNum: upTo(out.loadNum, steps),
    loadDen: upTo(out.loadDen, steps),
    worst: upTo(out.worst, steps),
    rowOffset,
    step: upTo(out.step, rows),
    port: upTo(out.port, rows),
    source: upTo(out.source, rows),
    from: upTo(out.from, rows),
    to: upTo(out.to, rows),
  };
}

/** What NPUs hold and want, in the columns of a match or spread problem. */
type Demand = Pick<SpreadProblem, "npuCount" | "chunkCount" | "heldOffset" | "heldChunk" | "wanted">;

/** Returns the chunks that each NPU wants and those it wants and holds at the start. O(npus * chunks / 32 + held). */
function demandOf(demand: Demand): { readonly wanted: Float64Array; readonly wantedAndHeld: Float64Array } {
  const { npuCount, chunkCount, heldOffset, heldChunk, wanted } = demand;
  const count = new Float64Array(npuCount).fill(chunkCount);
  const both = Float64Array.from({ length: npuCount }, (_, v) => heldOffset[v + 1] - heldOffset[v]);
  if (wanted === null) return { wanted: count, wantedAndHeld: both };
  const words = (chunkCount + 31) >>> 5;
  for (let v = 0; v < npuCount; v++) {
    count[v] = 0;
    for (let i = v * words; i < (v + 1) * words; i++) count[v] += popcount(wanted[i]);
    for (let i = heldOffset[v]; i < heldOffset[v + 1]; i++) {
      const c = heldChunk[i];
      if (((wanted[v * words + (c >>> 5)] >>> (c & 31)) & 1) === 0) both[v]--;
    }
  }
  return { wanted: count, wantedAndHeld: both };
}

/** Returns how many deliveries a match problem needs: wanted and not held at the start. O(npus * chunks / 32 + held). */
export function deliveriesOf(problem: MatchProblem): number {
  const { wanted, wantedAndHeld } = demandOf({ ...problem, npuCount: problem.network.npuCount });
  let count = 0;
  for (let v = 0; v < wanted.length; v++) count += wanted[v] - wantedAndHeld[v];
  return count;
}

/** Returns the number of one bits of a 32-bit word. */
function popcount(word: number): number {
  let x = word - ((word >>> 1) & 0x55555555);
  x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
  return Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The caller's arrays of a replay problem, and where the kernel writes last, outcome, row. */
export interface ReplayColumns extends Pick<Replayed, "linkBusy" | "start" | "end" | "hopStart"> {
  readonly summary: Float64Array;
}

/** What summary[1] of a replay says. */
const OUTCOME = { replayed: 0, refused: 1, late: 2 } as const;

/** Returns the arrays of a replay problem whose shapes have been checked; throws as for a kernel out of memory. */
export function allocateReplay(problem: ReplayProblem): ReplayColumns {
  const { wants, route, linkCount } = problem;
  // rows that are bad may name no route; they are refused whatever the room
  const hops = wants === REPLAY_WANTS.hops && badRow(problem) < 0 ? hopCountOf(problem) : 0;
  const timed = wants === REPLAY_WANTS.nothing ? 0 : route.length;
  return allocated(() => ({
    linkBusy: new Float64Array(linkCount),
    start: new Float64Array(timed),
    end: new Float64Array(timed),
    hopStart: new Float64Array(hops),
    summary: new Float64Array(3),
  }));
}

/** Returns what a replay kernel found; throws for a bad status. */
export function replayOutcomeOf(status: number, columns: ReplayColumns): ReplayOutcome {
  throwForStatus(status, 0, 0);
  const { summary, ...found } = columns;
  const [last, outcome, row] = summary;
  if (outcome === OUTCOME.refused) return { kind: "refused", row };
  if (outcome === OUTCOME.late) return { kind: "late" };
  return { kind: "replayed", last, ...found };
}
