import { InternalError } from "../../base/errors.ts";
import { CHOICE, type SpreadProblem, type TenNetwork, type Transfers } from "../../engine/contract/kernels.ts";
import { boundOf } from "../../model/bounds/bounds.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import { ceil } from "../../model/numbers/rational.ts";
import { type RouteSet, type RouteTimes, routeTimes } from "../../model/routes/routes.ts";
import { routesOf } from "../../model/routes/routing.ts";
import { foldedRows } from "../../model/slots/folded-rows.ts";
import {
  type ArrivalLog,
  type Generators,
  mirrorRoutes,
  portBytes,
  type SlotPass,
  type SlotSchedule,
} from "../../model/slots/slot-schedule.ts";
import { generatorsOf, mapsIn, orbitsUnder } from "../../model/symmetry/fold.ts";
import { translatedSchedule } from "../../model/symmetry/translation.ts";
import { switchCount } from "../../model/topology/topology.ts";
import type { KernelRunner, Synthesis, SynthesisContext, SynthesisRequest } from "../synthesizer.ts";
import { type Choosers, choosersOf } from "./choosers.ts";
import { everyoneWantsAll, foldingMaps, type Holdings, holdingsOf } from "./demand.ts";
import { invariantLabel, invariantLogs } from "./invariant-logs.ts";
import { type Phase, tenNetwork } from "./network.ts";
import { bestOf, defaultTrials, multicastTrial, trialsAfter } from "./trials.ts";

/** From this many transfers on a schedule is kept as arrival logs. */
const FROM_TRANSFERS = 4e6;
/** The same for an all-reduce, whose halves can overlap only transfer by transfer. */
const FROM_TRANSFERS_OF_TWO = 1e7;

/** Above so many there is no second trial that is not the same under maps: its logs alone are 8 GB and more. */
const MOST_TWICE = 4e9;

/** What an arrival log synthesis needs to know. */
interface SlotTask {
  readonly phase: Phase;
  readonly passes: readonly SlotPass[];
  readonly routes: RouteSet;
  readonly times: RouteTimes;
  readonly slotPs: number;
  readonly origin: Int32Array;
}

/** Returns how many transfers the phases need, where everyone gets everything. */
const transfersOfPhases = ({ topology, collective }: SynthesisRequest, phases: readonly Phase[]): number =>
  (topology.npuCount - 1) * collective.chunkCount * phases.length;

/**
 * Returns what to synthesize once, in the forward direction, and how the passes run through it; null where the form does not
 * fit: some NPU does not want everything, links differ or are shared, or a pass must run backwards on a network that is not
 * its own reverse.
 */
function slotTask(request: SynthesisRequest, phases: readonly Phase[]): SlotTask | null {
  const { topology, collective, switchDegree } = request;
  const phase = phases[0] as Phase;
  const { pre } = phase.collective;
  if (phases.some((p) => p.unicast || !everyoneWantsAll(p.collective, topology.npuCount)) || pre.kind !== "one")
    return null;
  if (switchDegree === "ports" || (switchDegree === null && switchCount(topology) > 0)) return null;
  const routes = routesOf(topology, switchDegree ?? 1);
  const times = routeTimes(topology, routes, collective.chunkBytes);
  if (!isSlotted(tenNetwork(topology, routes, times))) return null;
  if (phases.some(({ reversed }) => reversed) && mirrorRoutes(routes, topology.npuCount) === null) return null;
  const passes = phases.map(({ reversed, reduces }) => ({ reversed, reduces }));
  return { phase, passes, routes, times, slotPs: times.slotPs[0], origin: pre.npu };
}

/**
 * Returns a schedule kept as arrival logs, two bytes a transfer: for collectives in which everyone gets everything, over links
 * that are equally long and not shared, from 4e6 transfers on (1e7 for an all-reduce: smaller ones gain from overlapping
 * halves). Reductions run backwards through the logs; an all-reduce is synthesized once. Null where this does not apply.
 */
export async function slotSynthesis(
  request: SynthesisRequest,
  phases: readonly Phase[],
  context: SynthesisContext,
): Promise<Synthesis | null> {
  if (transfersOfPhases(request, phases) < (phases.length > 1 ? FROM_TRANSFERS_OF_TWO : FROM_TRANSFERS)) return null;
  const task = slotTask(request, phases);
  if (task === null) return null;
  const { topology, collective } = request;
  const { phase, passes, routes, slotPs, origin } = task;
  const targetPs = Number(ceil(boundOf(topology, phase.collective, routes, task.times).ps));
  const invariant = invariantLogs(topology, routes, phase.collective, request);
  if (invariant !== null) {
    const { sizes, chunksPerNpu, row, slots, trials, policy } = invariant;
    const rows = { topology, routes, sizes, chunksPerNpu, row };
    const schedule = translatedSchedule(rows, collective, { slotPs, slots, passes });
    return { schedule, policy: invariantLabel(policy), trials };
  }
  const held = holdingsOf(phase.collective, topology.npuCount);
  const transfers = transfersOfPhases(request, [phase]);
  const choosers = transfers > MOST_TWICE ? null : choosersOf(tenNetwork(topology, routes, task.times), held);
  const attempt = logsAttempts(request, task, context, held, choosers, targetPs);
  const size = { npuCount: topology.npuCount, chunkCount: collective.chunkCount };
  const { best, ran } = await bestOf(
    attempt,
    (first) =>
      request.trials ?? trialsAfter(first, defaultTrials(transfers, size), choosers, { targetPs, slotPs, transfers }),
    targetPs,
    1,
    (done, total) => context.onProgress?.({ phase: phase.name, done, total }),
  );
  const { logs, symmetry } = best;
  const given = { topology, collective, routes, origin };
  const row = symmetry === null ? logs.row : foldedRows(given, symmetry.generators, logs.row);
  if (row === null) throw new InternalError("maps of the network that its schedule does not follow");
  const { slots } = logs;
  const form = {
    kind: "slots",
    topology,
    collective,
    routes,
    slotPs,
    slots,
    passes,
    origin,
    symmetry,
    row,
  } as const;
  return { schedule: form satisfies SlotSchedule, policy: best.label, trials: ran };
}

interface LogsOutcome {
  /** Where there is a symmetry, those of the least NPUs of its orbits. */
  readonly logs: Logs;
  readonly symmetry: Generators | null;
  readonly endPs: number;
  readonly label: string;
}

/**
 * Returns the function that gives trial k, ready to run. The first, where it takes the oldest chunks and the network maps onto
 * itself, is the same under all its maps.
 */
function logsAttempts(
  request: SynthesisRequest,
  task: SlotTask,
  context: SynthesisContext,
  held: Holdings,
  choosers: Choosers | null,
  targetPs: number,
) {
  const { npuCount } = request.topology;
  const { phase, routes, slotPs } = task;
  const { chunkCount } = phase.collective;
  const trialOf = (k: number, tight = choosers !== null) =>
    multicastTrial(k, {
      seed: request.seed,
      wanted: request.policy,
      variants: 1,
      npuCount,
      chunkCount,
      oneSource: held.offset.some((end, v) => v > 0 && end - held.offset[v - 1] === held.chunk.length),
      heterogeneous: false,
      tight,
    });
  const maps =
    trialOf(0, false).policy.choice === CHOICE.oldest ? foldingMaps({ ...routes, slotPs: null }, held, npuCount) : null;
  return (k: number) => async (): Promise<LogsOutcome> => {
    const folded = maps !== null && k === 0;
    const trial = folded ? trialOf(0, false) : trialOf(maps === null ? k : k - 1);
    const problem = {
      npuCount,
      chunkCount,
      routeSource: routes.source,
      routeTarget: routes.target,
      heldOffset: held.offset,
      heldChunk: held.chunk,
      wanted: null,
      choosers: choosers?.of(trial.who) ?? null,
      policy: trial.policy,
      maps: folded ? maps : null,
      folded,
    };
    const logs = await spreadLogs(context.runner, problem);
    const like = folded ? orbitsUnder(maps, npuCount).representative : null;
    if (k === 0) choosers?.keepLate((npu) => logs.slotsOf(like?.[npu] ?? npu) * slotPs, targetPs);
    const label = folded ? `${trial.name}, ${maps.length / npuCount} symmetries` : trial.name;
    const symmetry = folded ? { generators: generatorsOf(mapsIn(maps, npuCount), npuCount) } : null;
    return { logs, symmetry, endPs: logs.slots * slotPs, label };
  };
}

/** The arrival logs of all NPUs; `slots` until the last arrival. */
export interface Logs {
  readonly row: (npu: number) => ArrivalLog;
  /** Slots until the NPU's last arrival. */
  readonly slotsOf: (npu: number) => number;
  readonly slots: number;
}

/** Returns whether time moves in slots: all routes are equally long and none shares a resource. */
export const isSlotted = ({ slotPs, useResource }: TenNetwork): boolean =>
  slotPs.length > 0 && useResource.length === 0 && slotPs.every((slot) => slot === slotPs[0]);

/** Returns the arrival logs that the kernel finds, with room for as many slots as it turns out to need. */
export async function spreadLogs(
  runner: KernelRunner,
  problem: Omit<SpreadProblem, "threads" | "maxSlots">,
): Promise<Logs> {
  const { npuCount, chunkCount } = problem;
  const { offset } = groupedBy(problem.routeTarget, npuCount);
  let work = 0;
  for (let v = 0; v < npuCount; v++) {
    const held = problem.heldOffset[v + 1] - problem.heldOffset[v];
    work = Math.max(work, (chunkCount - held) / Math.max(1, offset[v + 1] - offset[v]));
  }
  let maxSlots = Math.ceil(work * 1.02) + 64;
  let logs = await runner.spread({ ...problem, maxSlots });
  while (logs === null) {
    maxSlots *= 2;
    logs = await runner.spread({ ...problem, maxSlots });
  }
  const { logOffset, chunk, portOffset, ports, slots } = logs;
  return {
    row: (npu) => {
      const from = portOffset[npu];
      const bytes = slots[npu] * portBytes(offset[npu + 1] - offset[npu]);
      return { chunk: chunk.subarray(logOffset[npu], logOffset[npu + 1]), ports: ports.subarray(from, from + bytes) };
    },
    slotsOf: (npu) => slots[npu],
    slots: slots.reduce((most, count) => Math.max(most, count), 0),
  };
}

/**
 * Returns the arrivals as transfers, in order of slot and NPU. `heldOffset` as in SpreadProblem: the first entries of each
 * log did not arrive. O(arrivals + routes + slots x NPUs).
 */
export function transfersOfLogs(
  { row, slots }: Pick<Logs, "row" | "slots">,
  { routeTarget }: Pick<TenNetwork, "routeTarget">,
  heldOffset: Int32Array,
  slotPs: number,
): Transfers {
  const npuCount = heldOffset.length - 1;
  const { offset, items } = groupedBy(routeTarget, npuCount);
  const logs = Array.from({ length: npuCount }, (_, npu) => row(npu));
  const next = new Int32Array(slots + 1);
  const arrivalsOf = (npu: number, visit: (port: number, slot: number) => void): void => {
    const bytes = portBytes(offset[npu + 1] - offset[npu]);
    const { ports } = logs[npu] as ArrivalLog;
    for (let byte = 0; byte < ports.length; byte++) {
      if (ports[byte] === 0) continue;
      const slot = Math.floor(byte / bytes);
      for (let bits = ports[byte]; bits !== 0; bits &= bits - 1) {
        visit((byte % bytes) * 8 + 31 - Math.clz32(bits & -bits), slot);
      }
    }
  };
  for (let npu = 0; npu < npuCount; npu++) arrivalsOf(npu, (_, slot) => next[slot + 1]++);
  for (let slot = 0; slot < slots; slot++) next[slot + 1] += next[slot];
  const count = next[slots];
  const transfers = { chunk: new Int32Array(count), route: new Int32Array(count), startPs: new Float64Array(count) };
  for (let npu = 0; npu < npuCount; npu++) {
    const { chunk } = logs[npu] as ArrivalLog;
    let entry = heldOffset[npu + 1] - heldOffset[npu];
    arrivalsOf(npu, (port, slot) => {
      const at = next[slot]++;
      transfers.chunk[at] = chunk[entry++];
      transfers.route[at] = items[offset[npu] + port];
      transfers.startPs[at] = slot * slotPs;
    });
  }
  return transfers;
}
