import { InputError } from "../../base/errors.ts";
import type { Program } from "../../model/program/program.ts";
import { MSCCLPP_RUNTIME } from "../../model/program/runtimes.ts";
import type { Schedule } from "../../model/slots/slot-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { isTreeFlow, type TreeFlow } from "../../model/trees/tree-flow.ts";
import type { Moves } from "../moves/moves.ts";
import { movesOf } from "../moves/moves-of.ts";
import { instancesOf } from "./plan-instances.ts";
import { layoutOf } from "./plan-layout.ts";
import { levelsOf } from "./plan-levels.ts";
import { type Excess, excessError, excessOf } from "./plan-limits.ts";
import { planHeader, planProgram } from "./plan-program.ts";
import { sliceOpsOf } from "./plan-slice-ops.ts";
import { dealt, unitsOf } from "./plan-slices.ts";
import type { Problem } from "./plan-state.ts";
import { switchShares } from "./plan-switch.ts";
import { switchPlan } from "./plan-switch-program.ts";

/** Far more than an executor has room for; what is within is refused with what helps. */
const MOST_INSTANCES = 1024;

export interface PlanOptions {
  /** Whether input and output are the same memory. */
  readonly placement: "in" | "out";
  /** Returns the box of a rank: ranks of one box reach each other's memory. By default groups of the network's nodes. */
  readonly nodeOf?: (rank: number) => unknown;
  /** "Simple": packets (LL) are not made. */
  readonly protocol?: Program["protocol"];
  readonly name?: string;
  /** Equal parts of every chunk, each with thread blocks of its own; by default so many that there are about 8 blocks. */
  readonly instances?: number;
  /** Whether trees over a switch that duplicates (and sums) become multicasts of that switch (NVLS); default true. */
  readonly throughSwitch?: boolean;
}

/** Thread blocks of a GPU that fill its links: as many as MSCCL++'s own plans for 8 GPUs have. */
const USUAL_BLOCKS = 8;

/**
 * Returns an MSCCL++ plan that does what a schedule does. Chunks that do not wait for each other are dealt to slices, as few as
 * the executor's limits allow; each slice runs in one thread block of every rank that has a part in it, over channels of its
 * own, so that blocks of a rank never wait for each other. Trees of one box over a switch that can do their work are left to it.
 *
 * Throws InputError for custom collectives, several groups, trees whose switches duplicate and sum where no multicast of one switch
 * does their work (several boxes, reduce-scatter), and where a limit of the executor cannot be kept: with the limit,
 * its value, the need, and what may help. O(chunks of all moves) for each number of slices that is tried.
 */
export function lowerToPlan(schedule: Schedule | TreeFlow, options: PlanOptions): Program {
  const { topology, collective } = schedule;
  checkOptions(options);
  const { placement, instances, name = collective.kind, throughSwitch = true } = options;
  const nodeOf = options.nodeOf ?? boxesOf(topology, collective.groupMembers);
  const shares = throughSwitch && isTreeFlow(schedule) ? sharesThroughSwitch(schedule, nodeOf) : null;
  if (shares === null) return planOf(movesOf(schedule), { ...options, name, nodeOf });
  return switchPlan(collective, shares, { name, inPlace: placement === "in", blocks: instances ?? USUAL_BLOCKS });
}

/** Returns the shares of trees that one switch's multicasts can stand for; null where there are none. */
function sharesThroughSwitch(flow: TreeFlow, nodeOf: (rank: number) => unknown): Int32Array | null {
  const oneBox = flow.collective.groupMembers.every((_, rank) => nodeOf(rank) === nodeOf(0));
  return oneBox ? switchShares(flow) : null;
}

/** Returns whether trees become multicasts of one switch in an MSCCL++ plan. O(links of all edges of all images). */
export const goesThroughSwitch = (flow: TreeFlow): boolean =>
  sharesThroughSwitch(flow, boxesOf(flow.topology, flow.collective.groupMembers)) !== null;

function checkOptions({ instances, protocol }: PlanOptions): void {
  if (instances !== undefined && !(Number.isSafeInteger(instances) && instances >= 1 && instances <= MOST_INSTANCES)) {
    throw new InputError("--instances", `an integer in 1 .. ${MOST_INSTANCES}`, instances);
  }
  if (protocol !== undefined && protocol !== "Simple") throw new InputError("protocol", '"Simple"', protocol);
}

function boxesOf({ nodeTraits }: Topology, members: Int32Array): (rank: number) => unknown {
  return (rank) => nodeTraits[members[rank]].group ?? null;
}

/** Returns the plan of moves between ranks; as `lowerToPlan`. All ranks are of one box where `nodeOf` is left out. */
export function planOf(moves: Moves, options: PlanOptions): Program {
  checkOptions(options);
  const { placement, nodeOf = () => null, name = moves.collective.kind } = options;
  const inPlace = placement === "in";
  const via: Problem["via"] = (rank, peer) => (nodeOf(rank) === nodeOf(peer) ? "memory" : "port");
  const base = { moves, layout: layoutOf(moves, inPlace), levels: levelsOf(moves), via };
  const { problem, sliceOfMove, slices } = fewestSlices(base);
  const wanted = options.instances ?? Math.max(1, Math.floor(USUAL_BLOCKS / slices));
  for (let instances = wanted; ; instances = Math.floor(instances / 2)) {
    const whole = instancesOf(problem, sliceOfMove, slices, instances, inPlace);
    const { ops, scratchChunks } = sliceOpsOf(whole.problem, whole.sliceOfMove, slices * instances);
    const excess = excessOf(ops, moves.rankCount);
    if (excess !== null && options.instances === undefined && instances > 1) continue;
    if (excess !== null) throw excessError(excess);
    return planProgram(ops, planHeader(whole.problem.moves, whole.problem.layout, inPlace, name, scratchChunks));
  }
}

/** A deal of moves to slices. */
interface Deal {
  readonly problem: Problem;
  readonly sliceOfMove: Int32Array;
  readonly slices: number;
}

/** In the order in which they are tried: few units and reading of peers' memory make the faster plans, barriers slower ones. */
const WAYS = [
  { coarse: true, reads: true, spread: false },
  { coarse: true, reads: false, spread: false },
  { coarse: false, reads: true, spread: false },
  { coarse: false, reads: false, spread: false },
  { coarse: true, reads: false, spread: true },
] as const;

const ratio = ({ need, limit }: Excess): number => need / limit;

/**
 * Returns a deal of the moves to few slices that keep the limits: the fewest that do among those tried, in the first way in
 * which the most slices do. Throws InputError where there is none.
 */
function fewestSlices(base: Omit<Problem, "reads" | "spread">): Deal {
  const excesses: Excess[] = [];
  for (const { coarse, ...way } of WAYS) {
    const problem = { ...base, ...way };
    const units = unitsOf(problem.moves, problem.layout, coarse);
    /** Returns a deal that keeps the limits, or else how many times too much the better one needs. */
    const fitting = (slices: number): Deal | number => {
      let least = Number.POSITIVE_INFINITY;
      for (const inTurns of [true, false]) {
        const sliceOfMove = dealt(units, slices, inTurns);
        const { ops } = sliceOpsOf(problem, sliceOfMove, slices);
        const excess = excessOf(ops, problem.moves.rankCount);
        if (excess === null) return { problem, sliceOfMove, slices };
        excesses.push(excess);
        least = Math.min(least, ratio(excess));
      }
      return least;
    };
    const most = Math.min(Math.max(1, units.count), MSCCLPP_RUNTIME.blocksPerGpu);
    const last = fitting(most);
    if (typeof last === "number") continue;
    for (let slices = 1; slices < most; ) {
      const deal = fitting(slices);
      if (typeof deal !== "number") return deal;
      slices += deal > 2 ? slices : Math.max(1, Math.floor(slices / 4));
    }
    return last;
  }
  throw excessError(excesses.reduce((least, other) => (ratio(other) < ratio(least) ? other : least)));
}
