import { InputError } from "../../base/errors.ts";
import type { RelayProblem } from "../../engine/contract/kernels.ts";
import { boundOf } from "../../model/bounds/bounds.ts";
import { COLLECTIVE_KINDS, type Collective } from "../../model/collective/collective.ts";
import { ceil } from "../../model/numbers/rational.ts";
import { replayedPs } from "../../model/replay/columns.ts";
import { REPLAY_MODE } from "../../model/replay/problem.ts";
import { reversedRoutes, routeCount, routeTimes } from "../../model/routes/routes.ts";
import { atOnePace, portRouteCount, routesOf } from "../../model/routes/routing.ts";
import { degreeText, type SwitchDegree } from "../../model/routes/switch-degrees.ts";
import { isSlotSchedule } from "../../model/slots/slot-schedule.ts";
import {
  emptyRows,
  type IndexColumn,
  makespanPs,
  OP_REDUCE,
  type StepSchedule,
} from "../../model/steps/step-schedule.ts";
import { switchCount, type Topology } from "../../model/topology/topology.ts";
import { leastOf } from "../fastest.ts";
import { refined } from "../joint/table-search.ts";
import type { MadeSteps, Synthesis, SynthesisContext, SynthesisRequest, Synthesizer } from "../synthesizer.ts";
import { assemble, endOf, endsOf, type PhaseTransfers, slotClasses } from "./assemble.ts";
import { allTimes, serviceOrder } from "./demand.ts";
import { mirrored, mirrorsPhase } from "./mirror.ts";
import { multicastAttempts } from "./multicast.ts";
import { type Phase, phasesOf, tenNetwork } from "./network.ts";
import { overlapped } from "./overlap.ts";
import { autoChunks, fewRounds, manyRounds, periodsEstimate } from "./periods/all-reduce.ts";
import { slotSynthesis } from "./slots.ts";
import { smallSizes } from "./small-sizes.ts";
import {
  type Attempt,
  bestOf,
  checkPolicy,
  defaultTrials,
  MULTICAST_POLICIES,
  type Network,
  networksOf,
  outcome,
  RELAY_POLICIES,
  targetPs,
  unicastTrial,
} from "./trials.ts";

/** Above this many routes through switches, ports are not tried unless asked for. */
const MOST_PORT_ROUTES = 65_536;

/** Returns the degrees of unwinding worth trying: ports first, then a ring (and only that where there are too many pairs). */
function degreesToTry(topology: Topology, wanted: SwitchDegree | null): readonly SwitchDegree[] {
  if (wanted !== null || switchCount(topology) === 0) return [wanted ?? 1];
  return portRouteCount(topology) <= MOST_PORT_ROUTES ? ["ports", 1] : [1];
}

/** Returns the routes of a degree; of ports also at one pace, where that is another set. */
function routeSetsOf(topology: Topology, degree: SwitchDegree) {
  const routes = routesOf(topology, degree);
  if (degree !== "ports") return [{ label: switchCount(topology) === 0 ? "" : degreeText(degree), routes }];
  const paced = atOnePace(topology, routes);
  const own = { label: switchCount(topology) === 0 ? "" : "ports", routes };
  return paced === null ? [own] : [own, { label: "ports at one pace", routes: paced }];
}

async function synthesize(request: SynthesisRequest, context: SynthesisContext): Promise<Synthesis<MadeSteps>> {
  return (await manyRounds(request, context)) ?? synthesizeListed(request, context);
}

/** Returns the same without periods that are too long to be listed: of periods, matching and streams the fastest, as simulated. */
export async function synthesizeListed(request: SynthesisRequest, context: SynthesisContext): Promise<Synthesis> {
  const periodic = await fewRounds(request, context);
  const isEnough = periodic !== null && !periodic.gainsFromMatching;
  const matched = isEnough ? null : await refined(await synthesizeByMatching(request, context), request, context);
  const found: readonly Synthesis[] = [matched, periodic].filter((one) => one !== null);
  const simulatedPs = ({ schedule }: Synthesis): number =>
    isSlotSchedule(schedule) ? 0 : replayedPs(schedule, REPLAY_MODE.cutThrough);
  const best = leastOf(found, simulatedPs);
  const small = await smallSizes(request, context, networksFor(request), () => simulatedPs(best));
  return leastOf([best, ...small], simulatedPs);
}

/** Returns what gives the networks that a phase may use. */
function networksFor({ topology, collective, switchDegree }: SynthesisRequest): (phase: Phase) => readonly Network[] {
  const routeSets = degreesToTry(topology, switchDegree).flatMap((degree) => routeSetsOf(topology, degree));
  return (phase) => networksOf(topology, collective, phase, routeSets);
}

/** Returns the schedule of matching alone, phase by phase. */
export async function synthesizeByMatching(request: SynthesisRequest, context: SynthesisContext): Promise<Synthesis> {
  const { topology, collective } = request;
  const phases = phasesOf(collective);
  checkPolicy(request.policy, phases);
  const inSlots = await slotSynthesis(request, phases, context);
  if (inSlots !== null) return inSlots;
  const networksOfPhase = networksFor(request);
  const rounds = await inRounds(request, phases, networksOfPhase, context, synthesizeByMatching);
  if (rounds !== null) return rounds;
  const done: PhaseTransfers[] = [];
  const labels: string[] = [];
  let trials = 0;
  for (const [index, phase] of phases.entries()) {
    const same = index > 0 && mirrorsPhase(phases[0] as Phase, phase) ? mirrored(done[0] as PhaseTransfers) : null;
    if (same !== null) {
      done.push(same);
      continue;
    }
    const networks = networksOfPhase(phase);
    const target = targetPs(topology, phase, networks);
    const attempts = (phase.unicast ? unicastAttempts : multicastAttempts)(phase, networks, request, context, target);
    const { best, ran } = await bestOf(
      attempts,
      (first) =>
        request.trials ??
        defaultTrials(first.transfers.chunk.length, {
          npuCount: phase.unicast ? Number.POSITIVE_INFINITY : topology.npuCount,
          chunkCount: phase.collective.chunkCount,
        }),
      target,
      context.runner.width,
      (count, total) => context.onProgress?.({ phase: phase.name, done: count, total }),
    );
    trials += ran;
    done.push(best.transfers);
    labels.push(best.label);
  }
  const alone = done.length === 1 ? assembleInPlace(topology, collective, done[0] as PhaseTransfers) : null;
  const schedule = alone ?? assemble(topology, collective, done);
  const policy = labels.every((label) => label === labels[0]) ? (labels[0] as string) : labels.join("; ");
  if (done.length === 1) return { schedule, policy, trials };
  return overlap({ schedule, policy, trials }, request, context);
}

/** Lets the phases of an all-reduce overlap where that is shorter. */
async function overlap(
  found: Synthesis & { readonly schedule: StepSchedule },
  request: SynthesisRequest,
  context: SynthesisContext,
): Promise<Synthesis> {
  const { topology, collective, routes } = found.schedule;
  const times = routeTimes(topology, routes, collective.chunkBytes);
  const { schedule, tries, how } = await overlapped(found.schedule, tenNetwork(topology, routes, times), {
    targetPs: Number(ceil(boundOf(topology, collective, routes, times).ps)),
    seed: request.seed,
    trials: request.trials,
    runner: context.runner,
    progress: (done, total) => context.onProgress?.({ phase: "overlap", done, total }),
  });
  const policy = how === null ? found.policy : `${found.policy}, halves overlapped (${how})`;
  return { schedule, policy, trials: found.trials + tries };
}

/** The kernel keeps a distance, an order and a queue for every pair of NPUs: 24 bytes. */
const MOST_NPUS = 6000;
const FEWER_NPUS = `at most ${MOST_NPUS} NPUs for a gather, scatter or all-to-all`;

/** Returns what is needed where chunks have one source and one target each; null where the network is small enough. O(chunks). */
const refusesSize = ({ npuCount }: Topology, collective: Collective): string | null =>
  npuCount > MOST_NPUS && phasesOf(collective).some(({ unicast }) => unicast) ? FEWER_NPUS : null;

/** TACOS: greedy matching of chunks to links on the time-expanded network (TACOS 2024, Algorithms 1 and 2). */
export const tacos: Synthesizer<MadeSteps> = {
  name: "tacos",
  makes: "steps",
  description: "greedy matching on the time-expanded network, best of several seeded trials",
  collectives: [...COLLECTIVE_KINDS, "custom"],
  policies: [...MULTICAST_POLICIES, ...RELAY_POLICIES],
  makesLogs: true,
  estimate: periodsEstimate,
  options: ["trials", "switchDegree"],
  traits: { searches: 2, triesChunks: true },
  plans: true,
  refuses: refusesSize,
  autoChunks,
  synthesize,
};

/** Most transfers of a round: some thirty tries to let its halves overlap. */
const MOST_TRANSFERS = 2e5;

/** Returns the least number of rounds, all with equally many chunks per NPU, that keeps each small; null for no division. */
function roundsFor(transfers: number, chunksPerNpu: number): number | null {
  if (transfers <= MOST_TRANSFERS) return null;
  for (let rounds = Math.ceil(transfers / MOST_TRANSFERS); rounds <= chunksPerNpu; rounds++) {
    if (chunksPerNpu % rounds === 0) return rounds;
  }
  return null;
}

/** Returns the collective on every `rounds`-th part of the chunks of each block. */
function partOf(collective: Collective, rounds: number): Collective {
  return {
    ...collective,
    sizeBytes: collective.sizeBytes / rounds,
    chunksPerNpu: collective.chunksPerNpu / rounds,
    chunkCount: collective.chunkCount / rounds,
  };
}

/** Returns the schedule of one round after the other, each with the next chunks of every block. O(transfers). */
function repeated(round: StepSchedule, collective: Collective, rounds: number): StepSchedule {
  const { topology, routes } = round;
  const rows = round.chunk.length;
  const lengthPs = makespanPs(round);
  const perRound = collective.chunksPerNpu / rounds;
  const schedule = emptyRows(topology, collective, routes, rows * rounds);
  const first = Int32Array.from({ length: collective.chunkCount / rounds }, (_, c) => {
    const block = Math.floor(c / perRound);
    return block * collective.chunksPerNpu + (c - block * perRound);
  });
  for (let k = 0; k < rounds; k++) {
    const at = k * rows;
    schedule.route.set(round.route, at);
    schedule.op.set(round.op, at);
    for (let i = 0; i < rows; i++) {
      schedule.chunk[at + i] = first[round.chunk[i]] + k * perRound;
      schedule.startPs[at + i] = round.startPs[i] + k * lengthPs;
      schedule.endPs[at + i] = round.endPs[i] + k * lengthPs;
    }
  }
  return schedule;
}

/**
 * Returns an all-reduce of many chunks as rounds of fewer, one after the other, where that is no longer than its halves one
 * after the other could be; else null. Tries to let the halves overlap are cheap on a round and too dear on the whole, which
 * gains little more: 10x10 mesh, 64 chunks per NPU: 18,371 us after three tries on the whole, 16,964 in eight rounds. Networks
 * with switches are left out: halves that contend for their ports gain nothing from overlapping.
 */
async function inRounds(
  request: SynthesisRequest,
  phases: readonly Phase[],
  networksOfPhase: (phase: Phase) => readonly Network[],
  context: SynthesisContext,
  synthesize: typeof synthesizeByMatching,
): Promise<Synthesis | null> {
  const { topology, collective } = request;
  if (collective.kind !== "allreduce" || switchCount(topology) > 0) return null;
  const transfers = phases.length * (collective.groupSize - 1) * collective.chunkCount;
  const rounds = roundsFor(transfers, collective.chunksPerNpu);
  if (rounds === null) return null;
  const found = await synthesize({ ...request, collective: partOf(collective, rounds) }, context);
  if (isSlotSchedule(found.schedule)) return null;
  const leastPs = phases.reduce((sum, phase) => sum + targetPs(topology, phase, networksOfPhase(phase)), 0);
  if (makespanPs(found.schedule) * rounds > leastPs) return null;
  const policy = `${found.policy}, ${rounds} rounds of ${collective.chunksPerNpu / rounds} chunks per NPU`;
  return { ...found, schedule: repeated(found.schedule, collective, rounds), policy };
}

/** Returns the attempt for trial k of a phase in which every chunk has one source and one target. */
function unicastAttempts(
  phase: Phase,
  networks: readonly Network[],
  request: SynthesisRequest,
  context: SynthesisContext,
) {
  const { collective } = phase;
  const npus = request.topology.npuCount;
  if (npus > MOST_NPUS) {
    throw new InputError("the topology", FEWER_NPUS, npus).as("out-of-range");
  }
  const single = (placement: Collective["pre"]): Int32Array => (placement as { npu: Int32Array }).npu;
  const source = single(collective.pre);
  const target = single(collective.post);
  const bothWays = collective.kind === "custom" && !phase.reversed && !isFan(source) && !isFan(target);
  const variants = networks.flatMap((network) =>
    (bothWays ? [false, true] : [false]).map((turned) => ({ network, turned })),
  );
  const prepared = variants.map(
    () => null as null | { problem: Omit<RelayProblem, "order" | "seed">; demand: Float64Array },
  );
  const orders = new Map<string, Int32Array>();
  const prepare = (index: number) => {
    const { network, turned } = variants[index] as (typeof variants)[number];
    const routes = turned ? reversedRoutes(network.routes) : network.routes;
    const { timePs: distancePs, hops } = allTimes(routes, network.times.slotPs, npus);
    const [from, to] = turned ? [target, source] : [source, target];
    const demand = new Float64Array(npus * npus);
    let maxTransfers = from.length;
    for (let c = 0; c < from.length; c++) {
      demand[from[c] * npus + to[c]]++;
      maxTransfers += hops[from[c] * npus + to[c]];
    }
    const ten = tenNetwork(request.topology, routes, network.times);
    return { problem: { network: ten, chunkSource: from, chunkTarget: to, distancePs, maxTransfers }, demand };
  };
  return (k: number): Attempt => {
    const trial = unicastTrial(k, request.seed, request.policy, variants.length);
    return async () => {
      const { network, turned } = variants[trial.variant] as (typeof variants)[number];
      const routes = turned ? reversedRoutes(network.routes) : network.routes;
      prepared[trial.variant] ??= prepare(trial.variant);
      const { problem, demand } = prepared[trial.variant] as ReturnType<typeof prepare>;
      const key = `${trial.variant}:${trial.order}`;
      let order = orders.get(key);
      if (order === undefined) {
        order = serviceOrder(trial.order, routes, network.times.slotPs, problem.distancePs, demand);
        orders.set(key, order);
      }
      let room = problem.maxTransfers;
      let found = await context.runner.relay({ ...problem, order, seed: trial.seed });
      while (found === null) {
        room *= 2;
        found = await context.runner.relay({ ...problem, maxTransfers: room, order, seed: trial.seed });
      }
      const labels = [trial.name, network.label, turned ? "time-reversed" : ""];
      return outcome(phase, network, turned ? turnedBack(found, network.times.slotPs) : found, labels);
    };
  };
}

/** Returns whether all chunks meet in one NPU. */
const isFan = (npus: Int32Array): boolean => npus.every((npu) => npu === npus[0]);

/** Returns the transfers of the reversed network run backwards in time, in order of their ends. */
function turnedBack(found: { chunk: Int32Array; route: Int32Array; startPs: Float64Array }, slotPs: Float64Array) {
  const end = endOf({ ...found, slotPs });
  const count = found.chunk.length;
  const startPs = new Float64Array(count);
  for (let i = 0; i < count; i++) startPs[i] = end - found.startPs[i] - slotPs[found.route[i]];
  return { chunk: found.chunk, route: found.route, startPs };
}

/** Rows that wait at first, for each slot length. */
const WAITING = 1024;

/** Returns the narrowest column for 0 .. maximum over the beginning of the memory of a wider one. */
function narrowed(column: Int32Array, maximum: number): IndexColumn {
  const { buffer, byteOffset, length } = column;
  if (maximum < 256) return new Uint8Array(buffer, byteOffset, length);
  return maximum < 65536 ? new Uint16Array(buffer, byteOffset, length) : column;
}

/** The columns of a schedule that a phase's rows become. */
type Rows = Pick<StepSchedule, "chunk" | "route" | "startPs" | "endPs">;

/**
 * Writes the rows of the phase, in order of their ends, over its own columns in order of their starts, equal starts in order of
 * row. A row of the longest slot starts before all behind it; others wait until one of those, or nothing, can come before them.
 * So no more rows are written than have been read, and few wait. O(rows).
 */
function mergeOver(phase: PhaseTransfers, classOf: Uint8Array, lengths: Float64Array, into: Rows): void {
  const { route, chunk, startPs } = phase;
  const slowest = lengths.length - 1;
  const longest = lengths[slowest];
  /** What waits of each class: the first and behind the last, in rings; when the first starts. */
  let capacity = WAITING;
  let starts = new Float64Array(slowest * capacity);
  let chunks = new Int32Array(slowest * capacity);
  let routes = new Int32Array(slowest * capacity);
  const head = new Uint32Array(slowest);
  const tail = new Uint32Array(slowest);
  const headPs = new Float64Array(slowest).fill(Number.POSITIVE_INFINITY);
  const count = route.length;
  let row = 0;
  for (let i = 0; i <= count; i++) {
    const over = i < count ? route[i] : -1;
    const k = over < 0 ? slowest : classOf[over];
    const start = over < 0 ? Number.POSITIVE_INFINITY : startPs[i];
    const carried = over < 0 ? 0 : chunk[i];
    if (k === slowest || tail[k] - head[k] === capacity) {
      const until = over < 0 ? Number.MAX_VALUE : start + lengths[k] - longest;
      for (;;) {
        let least = 0;
        for (let other = 1; other < slowest; other++) if (headPs[other] < headPs[least]) least = other;
        if (slowest === 0 || headPs[least] > until) break;
        const at = least * capacity + (head[least] & (capacity - 1));
        into.chunk[row] = chunks[at];
        into.route[row] = routes[at];
        into.startPs[row] = starts[at];
        into.endPs[row++] = starts[at] + lengths[least];
        head[least]++;
        const next = least * capacity + (head[least] & (capacity - 1));
        headPs[least] = head[least] === tail[least] ? Number.POSITIVE_INFINITY : starts[next];
      }
      if (over < 0) break;
      if (k === slowest) {
        into.chunk[row] = carried;
        into.route[row] = over;
        into.startPs[row] = start;
        into.endPs[row++] = start + longest;
        continue;
      }
      if (tail[k] - head[k] === capacity) {
        starts = widened(starts, capacity, head);
        chunks = widened(chunks, capacity, head);
        routes = widened(routes, capacity, head);
        capacity *= 2;
      }
    }
    const at = k * capacity + (tail[k] & (capacity - 1));
    if (head[k] === tail[k]) headPs[k] = start;
    starts[at] = start;
    chunks[at] = carried;
    routes[at] = over;
    tail[k]++;
  }
}

/** Returns rings of twice the capacity with what is in these. */
function widened<T extends Int32Array | Float64Array>(rings: T, capacity: number, head: Uint32Array): T {
  const wide = new (rings.constructor as new (length: number) => T)(2 * rings.length);
  for (let k = 0; k < head.length; k++) {
    for (let i = head[k]; i < head[k] + capacity; i++) {
      wide[k * 2 * capacity + (i & (2 * capacity - 1))] = rings[k * capacity + (i & (capacity - 1))];
    }
  }
  return wide;
}

/**
 * Returns the schedule that runs one phase, as `assemble` does, but over the columns of the phase, which are gone: half the
 * memory, and so half the time where there are many rows. Null, and nothing is written, where the phase is turned around, its
 * rows are not in order of their ends, or it has too many slot lengths. O(rows).
 */
export function assembleInPlace(
  topology: Topology,
  collective: Collective,
  phase: PhaseTransfers,
): StepSchedule | null {
  if (phase.reversed || !(phase.ends ?? endsOf(phase)).ordered) return null;
  const classes = slotClasses(phase.slotPs);
  if (classes === null) return null;
  const { routes, chunk, route, startPs, reduces } = phase;
  const count = chunk.length;
  const rows = {
    chunk: narrowed(chunk, collective.chunkCount),
    route: narrowed(route, routeCount(routes)),
    startPs,
    endPs: new Float64Array(count),
  };
  mergeOver(phase, classes.classOf, classes.lengths, rows);
  const op = new Uint8Array(count);
  if (reduces) op.fill(OP_REDUCE);
  return { topology, collective, routes, ...rows, op };
}
