import { InternalError } from "../../base/errors.ts";
import { REPLAY_MODE, REPLAY_WANTS, type ReplayOutcome, type ReplayProblem } from "../../model/replay/problem.ts";
import type { PlacementSets } from "../../model/replay/steps-problem.ts";
import {
  type ArborescenceProblem,
  type Backend,
  type Balance,
  type BalanceProblem,
  type CancelFlag,
  type ConcurrentFlow,
  type ConcurrentProblem,
  type Kernels,
  type MatchProblem,
  mapCountOf,
  type PackOutcome,
  type PackProblem,
  type PartitionProblem,
  type PeriodProblem,
  type PeriodTimetable,
  type PlaceProblem,
  type Rate,
  type RateProblem,
  type RelayProblem,
  type SpreadLogs,
  type SpreadProblem,
  type StepsJudgement,
  type SweepProblem,
  type TenNetwork,
  type Transfers,
} from "../contract/kernels.ts";
import { INT32_MAX, isInteger, require } from "./check.ts";
import {
  column,
  columnOrNull,
  count,
  double,
  type Field,
  int,
  NOWHERE,
  output,
  result,
  room,
  type Struct,
  seed,
  struct,
  wideResult,
  zeros,
} from "./fields.ts";
import {
  allocateArcs,
  allocateBalance,
  allocateConcurrent,
  allocateCut,
  allocateDeliveries,
  allocateFlows,
  allocateLogs,
  allocateOutputs,
  allocateParts,
  allocateReplay,
  allocateStarts,
  allocateTimetable,
  allocateTrees,
  type BalanceColumns,
  balanceOf,
  type ConcurrentColumns,
  collect,
  concurrentOf,
  type Outputs,
  packOutcomeOf,
  type ReplayColumns,
  rateOfCut,
  replayOutcomeOf,
  type TreeColumns,
  throwForArcs,
} from "./outputs.ts";
import { STATUS, throwForStatus } from "./status.ts";

/** A kernel of native/abi.h: the one place that says what it takes and gives, for all backends that are compiled. */
export interface Kernel<Problem, Out, Answer> {
  readonly name: keyof Omit<Kernels, "backend" | "module">;
  /** Returns the arguments before the cancel flag; throws where a length or a setting does not fit the problem. O(fields). */
  takes(problem: Problem): readonly Field[];
  /** Returns the caller's arrays, of a problem whose shapes have been checked; throws as for a kernel out of memory. */
  allocate(problem: Problem): Out;
  /** Returns the argument behind the cancel flag. */
  gives(out: Out, problem: Problem): Field;
  /** Returns what the kernel found; throws for a bad status. */
  answer(status: number, out: Out, problem: Problem): Answer;
}

function networkOf(network: TenNetwork): Struct {
  const { npuCount, routeSource, routeTarget, slotPs, useOffset, useResource, useUnits, capacity } = network;
  const [routes, uses] = [routeSource.length, useResource.length];
  return struct([
    int(npuCount, 1),
    count(routes),
    count(uses),
    count(capacity.length),
    column(routeSource),
    column(routeTarget, routes),
    column(slotPs, routes),
    column(useOffset, routes + 1),
    column(useResource),
    column(useUnits, uses),
    column(capacity),
  ]);
}

/** Words of a row that has a bit for each chunk, for all NPUs. */
const wordsOf = (npuCount: number, chunkCount: number): number => npuCount * Math.ceil(chunkCount / 32);

function mapsOf(maps: Int32Array | null, npuCount: number, place: "here" | "last"): Field[] {
  require(maps === null || (maps.length > 0 && maps.length % npuCount === 0));
  return [int(mapCountOf(maps, npuCount), 0, INT32_MAX, place), columnOrNull(maps, maps?.length ?? 0, place)];
}

const transfersOf = (out: Outputs): Struct => {
  const { chunk, route, startPs, summary } = out;
  const filled = (): number => Math.min(Math.max(summary[0], 0), chunk.length);
  const columns = [output(chunk, filled), output(route, filled), output(startPs, filled)];
  return struct([room(chunk.length, true), ...columns, wideResult(0), result(1), result(2)], summary);
};

const match: Kernel<MatchProblem, Outputs, Transfers> = {
  name: "match",
  takes({ network, chunkCount, heldOffset, heldChunk, wanted, choosers, policy, maps }) {
    const { npuCount } = network;
    return [
      networkOf(network),
      int(chunkCount),
      count(heldChunk.length, INT32_MAX - chunkCount),
      column(heldOffset, npuCount + 1),
      column(heldChunk),
      columnOrNull(wanted, wordsOf(npuCount, chunkCount)),
      columnOrNull(choosers, npuCount),
      struct([
        seed(policy.seed),
        int(policy.choice),
        int(policy.window),
        int(policy.lateLimit),
        int(policy.novelty),
        int(policy.overtaking),
      ]),
      ...mapsOf(maps, npuCount, "here"),
    ];
  },
  allocate: allocateDeliveries,
  gives: transfersOf,
  answer(status, out) {
    const transfers = collect(status, out);
    if (transfers === null) throw new InternalError("the matching kernel wrote more deliveries than are wanted");
    return transfers;
  },
};

interface SpreadColumns {
  readonly logs: SpreadLogs;
  readonly summary: Float64Array;
}

const spread: Kernel<SpreadProblem, SpreadColumns, SpreadLogs | null> = {
  name: "spread",
  takes(problem) {
    const { npuCount, chunkCount, routeSource, routeTarget, heldOffset, heldChunk, wanted, choosers, policy } = problem;
    require(isInteger(problem.maxSlots, 0, INT32_MAX));
    return [
      struct([
        int(npuCount, 1),
        int(chunkCount),
        count(routeSource.length),
        count(heldChunk.length),
        column(routeSource),
        column(routeTarget, routeSource.length),
        column(heldOffset, npuCount + 1),
        column(heldChunk),
        columnOrNull(wanted, wordsOf(npuCount, chunkCount)),
        columnOrNull(choosers, npuCount),
        seed(policy.seed),
        int(policy.choice),
        int(policy.window),
        int(policy.lateLimit),
        int(problem.threads),
        // where the progress goes: the add-on writes it to the cancel flag
        room(0, false),
        ...mapsOf(problem.maps, npuCount, "last"),
      ]),
    ];
  },
  allocate: (problem) => ({ logs: allocateLogs(problem), summary: new Float64Array(3) }),
  gives({ logs, summary }, { maxSlots }) {
    const { logOffset, chunk, portOffset, ports, slots } = logs;
    const columns = [column(logOffset), output(chunk), column(portOffset), zeros(ports), zeros(slots)];
    return struct([room(chunk.BYTES_PER_ELEMENT, false), int(maxSlots), ...columns, result(1), result(2)], summary);
  },
  answer(status, { logs, summary }) {
    throwForStatus(status, summary[1], summary[2]);
    return status === STATUS.outputTooSmall ? null : logs;
  },
};

const relay: Kernel<RelayProblem, Outputs, Transfers | null> = {
  name: "relay",
  takes({ network, chunkSource, chunkTarget, distancePs, order, seed: drawn, maxTransfers }) {
    const pairs = network.npuCount * network.npuCount;
    require(isInteger(maxTransfers, 0, Number.MAX_SAFE_INTEGER));
    return [
      networkOf(network),
      count(chunkSource.length),
      column(chunkSource),
      column(chunkTarget, chunkSource.length),
      column(distancePs, pairs),
      column(order, pairs),
      seed(drawn),
    ];
  },
  allocate: ({ maxTransfers }) => allocateOutputs(maxTransfers),
  gives: transfersOf,
  answer: collect,
};

const place: Kernel<PlaceProblem, Float64Array, Float64Array> = {
  name: "place",
  takes: ({ network, route, successorOffset, successor, key }) => [
    networkOf(network),
    count(route.length),
    count(successor.length),
    column(route),
    column(successorOffset, route.length + 1),
    column(successor),
    column(key, route.length),
  ],
  allocate: allocateStarts,
  gives: (startPs) => output(startPs),
  answer: theColumn,
};

const period: Kernel<PeriodProblem, PeriodTimetable, PeriodTimetable> = {
  name: "period",
  takes({ npuCount, treeCount, tail, head, serialPs, latencyPs, used, periodPs, shakePs, seed: drawn, turn }) {
    require(treeCount * npuCount <= INT32_MAX / 2);
    return [
      struct([
        double(periodPs, "late"),
        double(shakePs, "late"),
        int(npuCount, 1, INT32_MAX - 64),
        count(tail.length, INT32_MAX / 2),
        int(treeCount),
        seed(drawn),
        int(turn),
        column(tail),
        column(head, tail.length),
        column(serialPs, tail.length),
        column(latencyPs, tail.length),
        column(used, treeCount * tail.length),
      ]),
    ];
  },
  allocate: allocateTimetable,
  gives: ({ entry, startPs }) => struct([output(entry), output(startPs)]),
  answer: theColumn,
};

/** Returns what a kernel wrote. */
function theColumn<T>(status: number, written: T): T {
  throwForStatus(status, 0, 0);
  return written;
}

const rate: Kernel<RateProblem, Uint8Array, Rate> = {
  name: "rate",
  takes: ({ nodeCount, npuCount, linkSource, linkTarget, capacity, weight }) => [
    struct([
      int(nodeCount, npuCount),
      int(npuCount, 1),
      count(linkSource.length, INT32_MAX / 2),
      column(linkSource),
      column(linkTarget, linkSource.length),
      column(capacity, linkSource.length),
      column(weight, npuCount),
    ]),
  ],
  allocate: allocateCut,
  gives: (cut) => output(cut),
  answer: (status, cut, problem) => rateOfCut(problem, theColumn(status, cut)),
};

const pack: Kernel<PackProblem, TreeColumns, PackOutcome | null> = {
  name: "pack",
  takes(problem) {
    const { nodeCount, npuCount, linkSource, linkTarget, capacity, copies, scheduled } = problem;
    require(typeof scheduled === "boolean" && isInteger(problem.maxTrees, 0, INT32_MAX));
    require(isInteger(problem.maxLinks, 0, Number.MAX_SAFE_INTEGER));
    return [
      struct([
        int(nodeCount, npuCount, INT32_MAX - 1),
        int(npuCount, 1),
        count(linkSource.length, Math.floor(INT32_MAX / 2) - npuCount),
        seed(problem.seed, "late"),
        column(linkSource),
        column(linkTarget, linkSource.length),
        column(capacity, linkSource.length),
        column(copies, npuCount),
        int(problem.depthPrice, 0, 1000),
        int(problem.loadPrice, 0, 1000),
        int(Number(scheduled), 0, 1),
        int(problem.repairs, 0, INT32_MAX, "late"),
        int(problem.enoughHeight, 0, INT32_MAX, "late"),
      ]),
    ];
  },
  allocate: allocateTrees,
  gives({ root, copies, linkOffset, links, cut, summary }, { npuCount }) {
    const trees = (): number => summary[0];
    const edges = (): number => summary[0] * (npuCount - 1);
    return struct(
      [
        room(links.length, true),
        room(root.length, false),
        result(0),
        output(root, trees),
        output(copies, trees),
        output(linkOffset, () => edges() + 1),
        output(links, () => linkOffset[edges()]),
        output(cut),
        result(1),
        result(2),
        result(3),
      ],
      summary,
    );
  },
  answer: (status, out, problem) => packOutcomeOf(status, problem, out),
};

const sweep: Kernel<SweepProblem, Float64Array, Float64Array> = {
  name: "sweep",
  takes: ({ nodeCount, linkSource, linkTarget, capacity, supply, sinks }) => [
    struct([
      int(nodeCount, 1),
      count(linkSource.length, INT32_MAX / 2),
      count(sinks.length),
      column(linkSource),
      column(linkTarget, linkSource.length),
      column(capacity, linkSource.length),
      column(supply, nodeCount),
      column(sinks),
    ]),
  ],
  allocate: allocateFlows,
  gives: (flow) => output(flow),
  answer: theColumn,
};

const partition: Kernel<PartitionProblem, Int32Array, Int32Array> = {
  name: "partition",
  takes: ({ nodeCount, outsideCount, linkSource, linkTarget, capacity, start }) => [
    struct([
      int(nodeCount, start.length, INT32_MAX - 1),
      count(start.length),
      int(outsideCount, 0, nodeCount - start.length),
      count(linkSource.length, Math.floor(INT32_MAX / 2) - start.length),
      column(linkSource),
      column(linkTarget, linkSource.length),
      column(capacity, linkSource.length),
      column(start),
    ]),
  ],
  allocate: allocateParts,
  gives: (part) => output(part),
  answer: theColumn,
};

const arborescence: Kernel<ArborescenceProblem, Int32Array, Int32Array> = {
  name: "arborescence",
  takes: ({ nodeCount, root, arcSource, arcTarget, cost }) => [
    struct([
      int(nodeCount, 1, Math.floor(INT32_MAX / 2)),
      int(root, 0, nodeCount - 1),
      count(arcSource.length),
      column(arcSource),
      column(arcTarget, arcSource.length),
      column(cost, arcSource.length),
    ]),
  ],
  allocate: allocateArcs,
  gives: (arc) => output(arc),
  answer(status, arc, problem) {
    throwForArcs(status, problem, arc);
    return arc;
  },
};

const balance: Kernel<BalanceProblem, BalanceColumns, Balance | null> = {
  name: "balance",
  takes({ nodeCount, inOffset, inSource, targets, parts, wantsShares, threads, maxSteps, maxRows }) {
    require(nodeCount * Math.max(parts, 1) <= INT32_MAX);
    require(isInteger(maxSteps, 0, 65535) && isInteger(maxRows, 0, Number.MAX_SAFE_INTEGER));
    return [
      struct([
        int(nodeCount, 1, INT32_MAX - 1),
        count(inSource.length),
        count(targets.length),
        int(parts, 0, 32767, "late"),
        int(wantsShares, 0, parts === 0 ? 0 : 1, "late"),
        int(threads, 1, INT32_MAX, "late"),
        column(inOffset, nodeCount + 1),
        column(inSource),
        column(targets),
      ]),
    ];
  },
  allocate: allocateBalance,
  gives({ loadNum, loadDen, worst, rowOffset, step, port, source, from, to, summary }) {
    const steps = (): number => summary[0];
    const rows = (): number => rowOffset[rowOffset.length - 1];
    const loads = [loadNum, loadDen, worst].map((values) => output(values, steps));
    const moves = [step, port, source, from, to].map((values) => output(values, rows));
    const rooms = [room(step.length, true), room(loadNum.length, false)];
    return struct([...rooms, result(0), ...loads, zeros(rowOffset), ...moves, result(1), result(2)], summary);
  },
  answer: balanceOf,
};

const concurrent: Kernel<ConcurrentProblem, ConcurrentColumns, ConcurrentFlow> = {
  name: "concurrent",
  takes(problem) {
    const { nodeCount, arcOffset, arcTarget, arcClass, capacity, sources, sourceWeight, demand, terminals } = problem;
    require(sources.length > 0 && problem.gap > 0 && isInteger(problem.wantsFlow, 0, 1));
    return [
      struct([
        double(problem.gap, "late"),
        int(nodeCount, 1, INT32_MAX - 1),
        count(arcTarget.length),
        count(capacity.length),
        count(sources.length),
        int(problem.maxRounds, 0, INT32_MAX, "late"),
        column(arcOffset, nodeCount + 1),
        column(arcTarget),
        column(arcClass, arcTarget.length),
        column(capacity),
        column(sources),
        column(sourceWeight, sources.length),
        columnOrNull(demand, sources.length * nodeCount),
        column(terminals, nodeCount),
      ]),
    ];
  },
  allocate: allocateConcurrent,
  gives({ length, flow, summary }, { wantsFlow }) {
    const results = [wideResult(0), wideResult(1), result(2)];
    return struct([...results, zeros(length), wantsFlow === 1 ? output(flow) : NOWHERE], summary);
  },
  answer: concurrentOf,
};

const replay: Kernel<ReplayProblem, ReplayColumns, ReplayOutcome> = {
  name: "replay",
  takes(problem) {
    const { mode, npuCount, linkCount, routeSource, routeTarget, linkOffset, links, firstChunk, reduces } = problem;
    const { holders, setOffset, setMembers, chunk, route, plannedStart, plannedEnd } = problem;
    const isCutThrough = mode === REPLAY_MODE.cutThrough;
    const [routes, rows, collectives] = [routeSource.length, chunk.length, firstChunk.length - 1];
    const timed = collectives * (isCutThrough ? routes : linkCount);
    require(isInteger(problem.wants, 0, isCutThrough ? REPLAY_WANTS.times : REPLAY_WANTS.hops));
    require(collectives > 0 && setOffset.length > 0 && timed <= INT32_MAX);
    const shares = [column(problem.cost, isCutThrough ? links.length : 0)];
    shares.push(column(problem.capacity, isCutThrough ? linkCount : 0));
    return [
      struct([
        int(mode, 0, 2),
        int(npuCount, 1),
        int(linkCount, 0, INT32_MAX - 1),
        count(routes),
        count(links.length),
        count(collectives, INT32_MAX - 2),
        count(holders.length),
        count(setOffset.length - 1, INT32_MAX - 2),
        count(setMembers.length),
        count(rows),
        column(routeSource),
        column(routeTarget, routes),
        column(linkOffset, routes + 1),
        column(links),
        column(firstChunk),
        column(reduces, collectives),
        column(problem.serial, timed),
        column(problem.delay, timed),
        ...(isCutThrough ? shares : [NOWHERE, NOWHERE]),
        column(holders),
        column(setOffset),
        column(setMembers),
        column(chunk),
        column(route, rows),
        column(plannedStart, rows),
        column(plannedEnd, rows),
      ]),
    ];
  },
  allocate: allocateReplay,
  gives({ linkBusy, start, end, hopStart, summary }, { wants }) {
    const results = [room(hopStart.length, true), wideResult(0), result(1), result(2)];
    const times = wants === REPLAY_WANTS.nothing ? [NOWHERE, NOWHERE] : [output(start), output(end)];
    const hops = wants === REPLAY_WANTS.hops ? output(hopStart) : NOWHERE;
    return struct([...results, zeros(linkBusy), ...times, hops], summary);
  },
  answer: replayOutcomeOf,
};

const setsOf = ({ setOf, offset, members }: PlacementSets, chunks: number): Field[] => [
  count(offset.length - 1, INT32_MAX - 2),
  count(members.length),
  column(setOf, chunks),
  column(offset),
  column(members),
];

const judge: Kernel<StepsJudgement, Int32Array, boolean> = {
  name: "judge",
  takes(problem) {
    const { npuCount, linkCount, routeSource, routeTarget, linkOffset, links, cost, capacity, least, further } =
      problem;
    const { from, to, reduces, threads, chunk, route, startPs, endPs, op } = problem;
    const [routes, rows, chunks] = [routeSource.length, chunk.length, from.setOf.length];
    return [
      struct([
        int(npuCount, 1),
        int(linkCount, 0, INT32_MAX - 1),
        count(routes),
        count(links.length),
        int(chunks, 0, INT32_MAX - 1),
        count(rows),
        int(reduces, 0, 1),
        int(threads, 1),
        column(routeSource),
        column(routeTarget, routes),
        column(linkOffset, routes + 1),
        column(links),
        column(cost, links.length),
        column(capacity, linkCount),
        column(least, routes),
        column(further, routes),
        ...setsOf(from, chunks),
        ...setsOf(to, chunks),
        column(chunk),
        column(route, rows),
        column(startPs, rows),
        column(endPs, rows),
        column(op, rows),
      ]),
    ];
  },
  allocate: () => new Int32Array(1),
  gives: (shown) => output(shown),
  answer(status, shown) {
    throwForStatus(status, 0, 0);
    return shown[0] === 1;
  },
};

export const KERNELS = {
  match,
  spread,
  relay,
  place,
  rate,
  period,
  pack,
  sweep,
  partition,
  arborescence,
  concurrent,
  balance,
  replay,
  judge,
} as const;

export type KernelName = keyof typeof KERNELS;

/** Calls a kernel of a compiled backend; returns its status. */
export type KernelCall = (
  name: KernelName,
  takes: readonly Field[],
  gives: Field,
  cancel: CancelFlag | undefined,
) => number;

/** Returns the kernels of a compiled backend. */
export function compiledKernels(backend: Backend, call: KernelCall): Kernels {
  const calling =
    <Problem, Out, Answer>({ name, takes, allocate, gives, answer }: Kernel<Problem, Out, Answer>) =>
    (problem: Problem, cancel?: CancelFlag): Answer => {
      const fields = takes(problem);
      const out = allocate(problem);
      return answer(call(name, fields, gives(out, problem), cancel), out, problem);
    };
  return {
    backend,
    match: calling(match),
    spread: calling(spread),
    relay: calling(relay),
    place: calling(place),
    rate: calling(rate),
    period: calling(period),
    pack: calling(pack),
    sweep: calling(sweep),
    partition: calling(partition),
    arborescence: calling(arborescence),
    concurrent: calling(concurrent),
    balance: calling(balance),
    replay: calling(replay),
    judge: calling(judge),
  };
}
