import { InputError } from "../../base/errors.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { ceil, toNumber } from "../../model/numbers/rational.ts";
import { isPhaseSchedule } from "../../model/phases/phase-schedule.ts";
import { phaseTransfers } from "../../model/phases/phase-steps.ts";
import type { Replay } from "../../model/replay/problem.ts";
import { type RouteSet, routeTimes, serializationPs } from "../../model/routes/routes.ts";
import { type AnySchedule, stepsOf, transfersOf } from "../../model/steps/schedule.ts";
import type { IndexColumn, StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { isTreeFlow } from "../../model/trees/tree-flow.ts";
import { simulateSchedule } from "../../simulate/steps/replay.ts";
import type { Refusal } from "../protocol.ts";
import type { Kept } from "./shelf.ts";
import { treeMoves } from "./tree-moves.ts";

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
export function movesOf(kept: Kept, replay: Replay): Moves | Refusal {
  const before = known.get(kept.schedule);
  if (before !== undefined) return before;
  const found = made(kept, replay);
  known.set(kept.schedule, found);
  return found;
}

function made({ schedule, report }: Kept, replay: Replay): Moves | Refusal {
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
    const stores = report.simulated?.model.endsWith("store-and-forward") === true;
    return stepMoves(stepsOf(schedule), stores, replay, "");
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
