import { InputError } from "../../base/errors.ts";
import type { Collective, Placement } from "../../model/collective/collective.ts";
import { ceil, toNumber } from "../../model/numbers/rational.ts";
import { isPeriodSchedule } from "../../model/periods/period-schedule.ts";
import { isPhaseSchedule } from "../../model/phases/phase-schedule.ts";
import { phaseTransfers } from "../../model/phases/phase-steps.ts";
import type { Replay } from "../../model/replay/problem.ts";
import { type RouteSet, routeTimes, serializationPs } from "../../model/routes/routes.ts";
import { type AnySchedule, stepsOf, transfersOf } from "../../model/steps/schedule.ts";
import { type IndexColumn, indexColumn, type StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { expandTrees } from "../../model/trees/tree-expansion.ts";
import { groupOrder, isTreeFlow, type TreeFlow, treeCount } from "../../model/trees/tree-flow.ts";
import {
  type Carried,
  carriedChunks,
  chunkingOf,
  departuresOf,
  type EdgeTimes,
  edgeTimes,
  routesOfEdges,
} from "../../model/trees/tree-steps.ts";
import { simulateSchedule } from "../../simulate/steps/replay.ts";
import { simulateTreeFlow } from "../../simulate/trees/tree-flow.ts";
import type { Refusal } from "../protocol.ts";
import type { KnownSchedule } from "./schedule-cache.ts";

/** More are not drawn one by one. */
export const MOST_MOVES = 4e6;

/** What moves from NPU to NPU, and when in the simulated network: what views of a schedule in time are made of. */
export interface Moves {
  readonly topology: Topology;
  /** Says who has and who wants which of the chunks that move. */
  readonly collective: Pick<
    Collective,
    "chunkCount" | "groupCount" | "groupSize" | "groupMembers" | "reduces" | "pre" | "post"
  >;
  /** Bytes of a chunk, on average. */
  readonly chunkBytes: number;
  /** [chunks] bytes of each over `chunkBytes`; null: all are alike. */
  readonly weight: Float64Array | null;
  /** [moves] */
  readonly chunk: IndexColumn;
  readonly way: IndexColumn;
  readonly startPs: Float64Array;
  /** When it has arrived. */
  readonly endPs: Float64Array;
  /** [moves] 1: added to what the target holds. */
  readonly reduces: Uint8Array;
  /** Links of each way and its share of them. */
  readonly ways: RouteSet;
  /** [ways] */
  readonly latencyPs: Float64Array;
  /**
   * Store and forward: [moves' links] when each link of the way is taken, in the order of the moves, and [links] for how long;
   * null: all links of a way at once.
   */
  readonly hops: { readonly startPs: Float64Array; readonly serialPs: Float64Array } | null;
  /**
   * [moves] how long a move that stands for many pieces holds its links in all, between its start and its end; the first pieces
   * are passed on before the last arrive. Null: all the time.
   */
  readonly heldPs: Float64Array | null;
  readonly totalPs: number;
  /** [links] how long links are held, times the share that is. */
  readonly linkBusyPs: Float64Array;
  /** What the user should know of them, a sentence; "" for nothing. */
  readonly note: string;
}

const tooMany = (transfers: number): Refusal => ({
  refusal: `The schedule has ${transfers.toLocaleString("en")} transfers; at most ${MOST_MOVES.toLocaleString("en")} are shown one by one. Fewer NPUs or fewer chunks can be shown.`,
});

const known = new WeakMap<AnySchedule, Moves | Refusal>();

/**
 * Returns what moves in a schedule of any kind, and when; why not, where it cannot be shown. Costs one simulation with all its
 * times, once for each schedule.
 */
export function movesOf(kept: KnownSchedule, replay: Replay): Moves | Refusal {
  const before = known.get(kept.schedule);
  if (before !== undefined) return before;
  const found = made(kept, replay);
  known.set(kept.schedule, found);
  return found;
}

function made({ schedule, report }: KnownSchedule, replay: Replay): Moves | Refusal {
  try {
    if (isTreeFlow(schedule)) return treeMoves(schedule, report.schedule.pieces ?? 1, MOST_MOVES);
    if (isPhaseSchedule(schedule)) {
      const transfers = phaseTransfers(schedule);
      if (!Number.isFinite(transfers)) return { refusal: "Sums in switches are no transfers between NPUs." };
      if (transfers > MOST_MOVES) return tooMany(transfers);
      const note = "These are the transfers of the phases, each as early as its links allow.";
      return stepMoves(stepsOf(schedule), false, replay, note);
    }
    if (transfersOf(schedule) > MOST_MOVES) return tooMany(transfersOf(schedule));
    const stores = report.time.model.endsWith("store-and-forward");
    const note = isPeriodSchedule(schedule)
      ? "These are the transfers of the rounds, each as early as its links allow, which may be before its time in the period."
      : "";
    return stepMoves(stepsOf(schedule), stores, replay, note);
  } catch (error) {
    if (error instanceof InputError) return { refusal: `The schedule cannot be replayed: ${error.message}.` };
    throw error;
  }
}

/** Returns [links] how long a chunk takes on each whole link. */
function serialOfLinks({ topology, collective: { chunkBytes } }: StepSchedule): Float64Array {
  const known = new Map<number, number>();
  return topology.linkBytesPerSecond.map((bytesPerSecond) => {
    const ps = known.get(bytesPerSecond) ?? Number(ceil(serializationPs(chunkBytes, bytesPerSecond)));
    known.set(bytesPerSecond, ps);
    return ps;
  });
}

/** Returns the transfers of a schedule as the network carries them out. */
function stepMoves(steps: StepSchedule, stores: boolean, replay: Replay, note: string): Moves {
  const { topology, collective, routes, chunk, route, op } = steps;
  const switching = stores ? "store-and-forward" : "cut-through";
  const simulated = simulateSchedule(steps, { switching, timeline: true, replay });
  return {
    topology,
    collective,
    chunkBytes: toNumber(collective.chunkBytes),
    weight: null,
    chunk,
    way: route,
    startPs: simulated.startPs as Float64Array,
    endPs: simulated.endPs as Float64Array,
    reduces: op,
    ways: routes,
    latencyPs: routeTimes(topology, routes, collective.chunkBytes).latencyPs,
    hops: simulated.hopStartPs === undefined ? null : { startPs: simulated.hopStartPs, serialPs: serialOfLinks(steps) },
    heldPs: null,
    totalPs: simulated.ps,
    linkBusyPs: simulated.linkBusyPs,
    note,
  };
}

/** More pieces are not shown one by one: the whole of a copy's part, or of a tree's, is then one move. */
const MOST_PIECES_SHOWN = 1e6;

/** What is one move over an edge: a piece of a copy's part, all of a copy's part, or all that the tree carries. */
type Grain = "piece" | "copy" | "tree";

/** First and last chunk, among those that a tree sends, of each move over its edges. */
interface Sent {
  /** [trees + 1] moves over each edge of the tree: sent[offset[t] .. offset[t + 1]]. */
  readonly offset: Int32Array;
  readonly chunk: Int32Array;
  /** [sent] when a first sender sends the first and the last of its pieces. */
  readonly firstPs: Float64Array;
  readonly lastPs: Float64Array;
}

/** Returns how many moves a flow has in a grain. */
function movesIn({ forests, collective, symmetry }: TreeFlow, pieces: number, grain: Grain): number {
  const edges = collective.groupSize - 1;
  return forests.reduce((sum, forest) => {
    const parts = grain === "tree" ? treeCount(forest) : forest.copies.reduce((all, copies) => all + copies, 0);
    return sum + parts * groupOrder(symmetry) * edges * (grain === "piece" ? pieces : 1);
  }, 0);
}

/** Returns the finest grain that can be shown; null where there is none. An all-reduce hands copies over, not trees. */
function grainFor(flow: TreeFlow, pieces: number, most: number): Grain | null {
  if (movesIn(flow, pieces, "piece") <= MOST_PIECES_SHOWN) return "piece";
  if (movesIn(flow, pieces, "copy") <= MOST_PIECES_SHOWN) return "copy";
  if (flow.forests.length === 1 && movesIn(flow, pieces, "tree") <= most) return "tree";
  return movesIn(flow, pieces, "copy") <= most ? "copy" : null;
}

/** Returns what each tree sends, grain by grain. */
function sentBy(
  { forest }: EdgeTimes,
  { offset: all, chunk }: Carried,
  departure: Float64Array,
  pieces: number,
  grain: Grain,
): Sent {
  const trees = treeCount(forest);
  const offset = new Int32Array(trees + 1);
  for (let t = 0; t < trees; t++) {
    const copies = forest.copies[t];
    offset[t + 1] = offset[t] + (grain === "piece" ? copies * pieces : grain === "copy" ? copies : 1);
  }
  const sent = {
    offset,
    chunk: new Int32Array(offset[trees]),
    firstPs: new Float64Array(offset[trees]),
    lastPs: new Float64Array(offset[trees]),
  };
  for (let t = 0; t < trees; t++) {
    const [from, to] = [all[t], all[t + 1]];
    for (let i = offset[t]; i < offset[t + 1]; i++) {
      const k = i - offset[t];
      const first = from + k;
      // the copies of a tree send their pieces in turn
      const last = grain === "piece" ? first : grain === "copy" ? to - forest.copies[t] + k : to - 1;
      sent.chunk[i] = grain === "piece" ? chunk[first] : grain === "copy" ? chunk[first] / pieces : t;
      sent.firstPs[i] = departure[first];
      sent.lastPs[i] = departure[last];
    }
  }
  return sent;
}

/** Who has and who wants the chunks that are shown. */
function collectiveOf(flow: TreeFlow, pieces: number, grain: Grain): Moves["collective"] {
  if (grain !== "tree") return chunkingOf(flow, grain === "piece" ? pieces : 1).collective;
  const [{ root }] = flow.forests;
  const [atRoot, everyone]: [Placement, Placement] = [{ kind: "one", npu: root }, { kind: "group" }];
  const { collective } = flow;
  return {
    ...collective,
    chunkCount: root.length,
    ...(collective.reduces ? { pre: everyone, post: atRoot } : { pre: atRoot, post: everyone }),
  };
}

const NOTES: Readonly<Record<Grain, string>> = {
  piece: "",
  copy: "All pieces of a copy of a tree are shown as one transfer, from when the first leaves to when the last arrives, at their mean share of the bandwidth.",
  tree: "All that a tree carries is shown as one transfer over each edge, from when the first piece leaves to when the last arrives, at its mean share of the bandwidth.",
};

/** Returns [trees] what each tree of the one forest carries, over the mean: its copies. */
function weightsOf({ forests: [{ copies }] }: TreeFlow): Float64Array {
  const mean = copies.reduce((all, some) => all + some, 0) / copies.length;
  return Float64Array.from(copies, (some) => some / mean);
}

/** Bytes that the flow's collective carries in all. */
const bytesOf = ({ chunkBytes, chunkCount }: Collective): number => toNumber(chunkBytes) * chunkCount;

/**
 * Returns what trees carry over their edges, in their closed form: piece by piece where these are few, else all pieces of a copy
 * or of a tree as one. Throws InputError as expandTrees does. O(links of all edges, moves).
 */
function treeMoves(flow: TreeFlow, pieces: number, most: number): Moves | Refusal {
  if (flow.inNetwork === true)
    return { refusal: "Switches duplicate and sum on the way: these trees have no transfers from NPU to NPU." };
  const grain = grainFor(flow, pieces, most);
  if (grain === null) return { refusal: "The trees have too many edges to be shown in time." };
  const whole = expandTrees(flow);
  const { topology, collective } = whole;
  const chunking = chunkingOf(whole, pieces);
  const times = whole.forests.map((forest) => edgeTimes(whole, forest, pieces));
  const carried = whole.forests.map((forest) => carriedChunks(forest, chunking));
  const departures = departuresOf(whole, times, carried);
  const sent = times.map((time, f) => sentBy(time, carried[f], departures[f], pieces, grain));
  const ways = routesOfEdges(topology, times);
  const shown = collectiveOf(whole, pieces, grain);
  const count = movesIn(flow, pieces, grain);
  const moves = {
    chunk: indexColumn(count, shown.chunkCount),
    way: indexColumn(count, ways.source.length),
    startPs: new Float64Array(count),
    endPs: new Float64Array(count),
    reduces: new Uint8Array(count),
  };
  const heldPs = new Float64Array(grain === "piece" ? 0 : count);
  const latencyPs = new Float64Array(ways.source.length);
  const edges = collective.groupSize - 1;
  let [row, firstWay, begin, totalPs] = [0, 0, 0, 0];
  times.forEach((time, f) => {
    const { offset, chunk, firstPs, lastPs } = sent[f];
    const from = row;
    for (let edge = 0; edge < time.near.length; edge++) {
      const tree = Math.floor(edge / edges);
      const latency = time.latencyPs[edge];
      const sentPieces = grain === "tree" ? pieces * time.forest.copies[tree] : pieces;
      latencyPs[firstWay + edge] = latency;
      for (let i = offset[tree]; i < offset[tree + 1]; i++, row++) {
        moves.chunk[row] = chunk[i];
        moves.way[row] = firstWay + edge;
        moves.startPs[row] = begin + firstPs[i] + time.offsetPs[edge];
        if (grain !== "piece") heldPs[row] = sentPieces * time.serialPs[tree];
        moves.endPs[row] = begin + lastPs[i] + time.offsetPs[edge] + time.serialPs[tree] + latency;
        if (moves.endPs[row] > totalPs) totalPs = moves.endPs[row];
      }
    }
    moves.reduces.fill(time.forest.direction === "in" ? 1 : 0, from, row);
    firstWay += time.near.length;
    // one after the other, with a barrier between them
    if (!whole.concurrent) begin = totalPs;
  });
  return {
    topology,
    collective: shown,
    chunkBytes: bytesOf(collective) / Math.max(1, shown.chunkCount),
    weight: grain === "tree" ? weightsOf(whole) : null,
    ...moves,
    ways,
    latencyPs,
    hops: null,
    heldPs: grain === "piece" ? null : heldPs,
    totalPs,
    linkBusyPs: simulateTreeFlow(flow, pieces).linkBusyPs,
    note: NOTES[grain],
  };
}
