import { InternalError } from "../../base/errors.ts";
import { greatest } from "../../model/numbers/ordering.ts";
import { replayProblem, rowsOf } from "../../model/replay/columns.ts";
import { REPLAY_MODE, REPLAY_WANTS } from "../../model/replay/problem.ts";
import { replayJs } from "../../model/replay/replay.ts";
import type { Synthesis, SynthesisContext, SynthesisRequest } from "../synthesizer.ts";
import { assemble, assembleRows, type PhaseTransfers } from "./assemble.ts";
import { everyoneWantsAll } from "./demand.ts";
import { mirrored, mirrorsPhase } from "./mirror.ts";
import { type Phase, phasesOf } from "./network.ts";
import { type Looks, latenciesOf, matched, type Stream, type Streamed, type StreamTrial, streamOf } from "./streams.ts";
import { type Network, outcome } from "./trials.ts";

const ANY_WAY = Number.POSITIVE_INFINITY;
const RAREST: StreamTrial = { choice: "rarest", spareHops: 0 };
const OLDEST: StreamTrial = { choice: "oldest", spareHops: 0 };
const RAREST_ANY_WAY: StreamTrial = { ...RAREST, spareHops: ANY_WAY };
const OLDEST_ANY_WAY: StreamTrial = { ...OLDEST, spareHops: ANY_WAY };
const APART: StreamTrial = { choice: "apart", spareHops: ANY_WAY };

/** What the trials of a phase go round. */
const TRIALS = [
  ...[APART, RAREST, OLDEST, RAREST_ANY_WAY, OLDEST_ANY_WAY],
  ...[RAREST, OLDEST].map((trial) => ({ ...trial, spareHops: 1 })),
];
/** Trials of the halves of an all-reduce: of the reduce-scatter, and of the all-gather behind it. */
const HALVES: readonly { readonly sum: StreamTrial; readonly spread: readonly StreamTrial[] }[] = [
  { sum: APART, spread: [APART] },
  { sum: OLDEST_ANY_WAY, spread: [RAREST_ANY_WAY, OLDEST_ANY_WAY, APART] },
  { sum: RAREST_ANY_WAY, spread: [RAREST_ANY_WAY] },
  { sum: OLDEST, spread: [RAREST] },
];

/** Above this many transfers matching in slots is left alone: the more there are, the less latency counts. */
const MOST_TRANSFERS = 100_000;
const MOST_NPUS = 512;
const MOST_ROUTES = 20_000;
/** What the trials of a phase, and those of overlapped halves, may look at: about a third of a second, and two thirds. */
const MOST_LOOKS = 1e7;
const MOST_OVERLAPPED_LOOKS = 2e7;
const MOST_TRIALS = 14;
/** Where the longest way has less latency than this share of the time, there is little to win. */
const LATENCY_COUNTS = 0.01;

/** What schedules of small sizes are made from. */
interface Problem extends SynthesisRequest {
  /** The networks that a phase may use. */
  readonly networksOf: (phase: Phase) => readonly Network[];
  /** What the collective takes otherwise. */
  readonly knownPs: number;
  readonly breathe: () => Promise<void>;
}

/** A network of a phase. */
interface On {
  readonly network: Network;
  readonly stream: Stream;
}

/** Returns the networks on which latency counts, by their place among those of the phase. */
function streamsOf(problem: Problem, phase: Phase): (On | null)[] {
  const { topology, networksOf, knownPs } = problem;
  const enoughPs = LATENCY_COUNTS * knownPs;
  const { npu: owner } = phase.collective.pre as { readonly npu: Int32Array };
  return networksOf(phase).map((network) => {
    const { routes, times } = network;
    if (routes.source.length > MOST_ROUTES || topology.npuCount * greatest(latenciesOf(times)) < enoughPs) return null;
    const stream = streamOf(topology, network, owner);
    return stream.farPs.some((ps) => ps >= enoughPs) ? { network, stream } : null;
  });
}

/** Returns where transfers start if links are held for whole slots, in the same order on every link. */
function inSlots(
  { topology, collective }: Pick<SynthesisRequest, "topology" | "collective">,
  { routes, times: { slotPs } }: Network,
  { chunk, route, startPs, op }: Streamed,
) {
  const endPs = startPs.map((start, i) => start + slotPs[route[i]]);
  const schedule = { topology, collective, routes, chunk, route, startPs, endPs, op };
  const held = { serial: slotPs, delay: slotPs };
  const planned = replayJs(replayProblem(rowsOf(schedule), REPLAY_MODE.cutThrough, REPLAY_WANTS.times, held));
  if (planned.kind !== "replayed") throw new InternalError(`streamed transfers cannot be planned: ${planned.kind}`);
  return { schedule, startPs: planned.start };
}

/** Returns whether a trial is another than those without "apart". */
const isFor = ({ choice }: StreamTrial, { apart }: Stream): boolean => choice !== "apart" || apart !== null;

/** What trials found best, and how many ran. */
interface Best {
  readonly network: Network;
  readonly found: Streamed;
  readonly words: readonly string[];
  readonly trials: number;
}

/** Returns the best trial of a phase; null where there is none. */
async function bestStream({ seed, trials, breathe }: Problem, streams: readonly On[]): Promise<Best | null> {
  const looks: Looks = { left: MOST_LOOKS };
  const tried = TRIALS.filter((trial) => streams.some(({ stream }) => isFor(trial, stream)));
  const most = streams.length === 0 ? 0 : Math.min(MOST_TRIALS, trials ?? MOST_TRIALS);
  let best: Omit<Best, "trials"> | null = null;
  let ran = 0;
  for (; ran < most && looks.left > 0; ran++) {
    await breathe();
    const { network, stream } = streams[ran % streams.length] as On;
    const trial = tried[Math.floor(ran / streams.length) % tried.length] as StreamTrial;
    const found = matched(stream, trial, (seed + ran) >>> 0, looks);
    if (found === null || (best !== null && found.endPs >= best.found.endPs)) continue;
    best = { network, found, words: [`streams, ${trial.choice}`, network.label] };
  }
  return best === null ? null : { ...best, trials: ran };
}

/** Returns the schedule of the phases one after the other; null where there is none for one of them. */
async function inTurn(problem: Problem, phases: readonly Phase[], streams: readonly On[][]): Promise<Synthesis | null> {
  const { topology, collective } = problem;
  const done: PhaseTransfers[] = [];
  const labels: string[] = [];
  let trials = 0;
  for (const [k, phase] of phases.entries()) {
    const same = k > 0 && mirrorsPhase(phases[0] as Phase, phase) ? mirrored(done[0] as PhaseTransfers) : null;
    if (same !== null) {
      done.push(same);
      continue;
    }
    const best = await bestStream(problem, streams[k] as On[]);
    if (best === null) return null;
    const { network, found, words } = best;
    const { startPs } = inSlots({ topology, collective: phase.collective }, network, found);
    const { transfers, label } = outcome(phase, network, { chunk: found.chunk, route: found.route, startPs }, words);
    done.push(transfers);
    labels.push(label);
    trials += best.trials;
  }
  return { schedule: assemble(topology, collective, done), policy: [...new Set(labels)].join("; "), trials };
}

/** The halves of an all-reduce on one network, and who may have the sums. */
interface Halves {
  readonly network: Network;
  readonly first: Stream;
  readonly second: Stream;
  readonly owners: readonly { readonly words: string; readonly owner: Int32Array }[];
}

/** Returns the halves with sums at the owners of blocks, and at the NPUs from and to which the ways are shortest. O(NPUs^2). */
function halvesOf({ stream: first }: On, { stream: second, network }: On): Halves {
  const { npuCount, owner } = first;
  const farthest = ({ farPs }: Stream, v: number): number => greatest(farPs.subarray(v * npuCount, (v + 1) * npuCount));
  const farPs = Float64Array.from({ length: npuCount }, (_, v) => farthest(first, v) + farthest(second, v));
  const least = farPs.reduce((a, b) => Math.min(a, b));
  const central = Array.from(farPs.keys()).filter((v) => farPs[v] === least);
  const inTheMiddle = {
    words: "summed in the middle",
    owner: owner.map((_, c) => central[c % central.length] as number),
  };
  const owners = [{ words: "", owner }, ...(central.length < npuCount ? [inTheMiddle] : [])];
  return { network, first, second, owners };
}

/**
 * Returns an all-reduce whose halves overlap; null where there is none. The reduce-scatter is an all-gather of the reversed network
 * turned around; its transfers go first wherever they can, and each chunk spreads from when its sum is whole, over what is idle.
 * Sums may be made in the middle of the network, from which latency is least.
 */
async function overlapped(problem: Problem, halves: readonly Halves[]): Promise<Synthesis | null> {
  const { topology, collective, seed, breathe } = problem;
  const looks: Looks = { left: MOST_OVERLAPPED_LOOKS };
  const tried = HALVES.flatMap((trials) =>
    halves.flatMap(({ owners, ...of }) => owners.map((sums) => ({ ...of, ...sums, ...trials }))),
  ).filter(({ sum, first }) => isFor(sum, first));
  let best: Omit<Best, "trials"> | null = null;
  let ran = 0;
  for (const { network, first, second, owner, words, sum, spread } of tried.slice(0, problem.trials ?? tried.length)) {
    if (looks.left <= 0) break;
    await breathe();
    ran++;
    const half = matched({ ...first, owner }, sum, seed, looks);
    if (half === null) continue;
    const sums = { chunk: half.chunk.toReversed(), route: half.route.toReversed() };
    for (const trial of spread.filter((one) => isFor(one, second))) {
      const found = matched({ ...second, owner }, trial, seed, looks, sums);
      if (found === null || (best !== null && found.endPs >= best.found.endPs)) continue;
      best = { network, found, words: [`streams, ${sum.choice}`, network.label, words, "halves overlapped"] };
    }
  }
  if (best === null) return null;
  const { network, found, words } = best;
  const { schedule, startPs } = inSlots({ topology, collective }, network, found);
  const { slotPs } = network.times;
  const rowSlotPs = Float64Array.from(found.route, (r) => slotPs[r]);
  return {
    schedule: assembleRows(schedule, startPs, rowSlotPs),
    policy: words.filter((label) => label !== "").join(", "),
    trials: ran,
  };
}

/**
 * Returns schedules of matching in the congestion model, planned in slots in the order that it finds, so that judges and files see
 * what they always see; none where latency hardly counts in the time that was found without, some do not want everything, or there
 * is too much to send. `networksOf`: the networks that a phase may use.
 */
export async function smallSizes(
  request: SynthesisRequest,
  { breathe = async () => {} }: Pick<SynthesisContext, "breathe">,
  networksOf: (phase: Phase) => readonly Network[],
  foundPs: () => number,
): Promise<readonly Synthesis[]> {
  const { topology, collective, policy } = request;
  const { npuCount } = topology;
  if (policy !== null || npuCount > MOST_NPUS || (npuCount - 1) * collective.chunkCount > MOST_TRANSFERS) return [];
  const phases = phasesOf(collective);
  if (phases.some(({ unicast, collective: own }) => unicast || !everyoneWantsAll(own, npuCount))) return [];
  const problem: Problem = { ...request, networksOf, knownPs: foundPs(), breathe };
  const streams = phases.map((phase) => streamsOf(problem, phase));
  const isThere = (on: On | null | undefined): on is On => on !== null && on !== undefined;
  const [first = [], second = []] = streams;
  const halves = first.flatMap((on, k) => {
    const other = second[k];
    return isThere(on) && isThere(other) ? [halvesOf(on, other)] : [];
  });
  const found = [
    await inTurn(
      problem,
      phases,
      streams.map((of) => of.filter(isThere)),
    ),
    await overlapped(problem, halves),
  ];
  return found.filter((one) => one !== null);
}
