import { InternalError } from "../../base/errors.ts";
import { random, shuffle } from "../../base/random.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import { replayProblem, rowsOf } from "../../model/replay/columns.ts";
import { EventQueue } from "../../model/replay/message-network.ts";
import { REPLAY_MODE, REPLAY_WANTS } from "../../model/replay/problem.ts";
import { replayJs } from "../../model/replay/replay.ts";
import { type RouteTimes, routeCount } from "../../model/routes/routes.ts";
import type { Synthesis, SynthesisRequest } from "../synthesizer.ts";
import { assemble, type PhaseTransfers } from "./assemble.ts";
import { allTimes, everyoneWantsAll } from "./demand.ts";
import { mirrored, mirrorsPhase } from "./mirror.ts";
import { type Phase, phasesOf, tenNetwork } from "./network.ts";
import { type Network, type Outcome, outcome } from "./trials.ts";

/**
 * Matching in the congestion model, for sizes at which latency counts. TACOS's slots hold a link for latency and bytes together
 * (TACOS 2024, section IV-A), so a link that takes many small chunks seems to pay the latency for each of them. Here a link is held
 * while the bytes are sent, as the simulation has it, and the chunk arrives a latency later. Otherwise it is TACOS's greedy choice:
 * a route that is free takes a chunk that its source has and its target lacks. What is found is planned in slots again, in the same
 * order, and simulated.
 */
interface StreamTrial {
  readonly choice: (typeof CHOICES)[number];
  /** Chunks may only take ways that are at most so many of the longest hops longer, in latency, than the shortest from their owners. */
  readonly spareHops: number;
  readonly seed: number;
}

const CHOICES = ["rarest", "oldest"] as const;
const SPARE_HOPS = [0, 1, Number.POSITIVE_INFINITY];

/** Above this many transfers matching in slots is left alone: the more there are, the less latency counts. */
const MOST_TRANSFERS = 20_000;
const MOST_NPUS = 512;
const MOST_ROUTES = 20_000;
/** Chunks that all trials may look at, and one at most: about a tenth of a second. */
const MOST_LOOKS = 1e7;
const MOST_TRIALS = 12;
/** Where the longest way has less latency than this share of the time, there is little to win. */
const LATENCY_COUNTS = 0.01;

const latenciesOf = ({ slotPs, serialPs }: RouteTimes): Float64Array => slotPs.map((slot, r) => slot - serialPs[r]);
const greatest = (values: Float64Array): number => values.reduce((most, value) => Math.max(most, value), 0);

/** What all trials of a phase on one of its networks have in common. */
type Stream = ReturnType<typeof streamOf>;

function streamOf({ topology }: SynthesisRequest, phase: Phase, network: Network) {
  const { routes, times } = network;
  const { npuCount } = topology;
  const ten = tenNetwork(topology, routes, times);
  const latencyPs = latenciesOf(times);
  const userOf = new Int32Array(ten.useResource.length);
  for (let r = 0; r < routeCount(routes); r++) userOf.fill(r, ten.useOffset[r], ten.useOffset[r + 1]);
  const uses = groupedBy(ten.useResource, ten.capacity.length);
  return {
    phase,
    network,
    npuCount,
    ten,
    latencyPs,
    longestHopPs: greatest(latencyPs),
    /** From each NPU to each other, in latency. */
    farPs: allTimes(routes, latencyPs, npuCount).timePs,
    chunkCount: phase.collective.chunkCount,
    owner: (phase.collective.pre as { readonly npu: Int32Array }).npu,
    out: groupedBy(routes.source, npuCount),
    /** Routes that use a resource. */
    users: { offset: uses.offset, items: uses.items.map((use) => userOf[use]) },
  };
}

/** Transfers in order of start, and when the last one arrives, where links are held for the bytes alone. */
interface Streamed {
  readonly chunk: Int32Array;
  readonly route: Int32Array;
  readonly startPs: Float64Array;
  readonly endPs: number;
  /** Chunks looked at. */
  readonly looks: number;
}

/** Payloads of events: route x 2 is free again, transfer x 2 + 1 has arrived. */
const ARRIVAL = 1;

/** Returns what one trial finds; null where its ways do not bring everything everywhere. O(transfers x routes of an NPU x chunks). */
function matched(stream: Stream, { choice, spareHops, seed }: StreamTrial): Streamed | null {
  const { npuCount, chunkCount, owner, ten, out, users, latencyPs, farPs } = stream;
  const { routeSource, routeTarget, slotPs, useOffset, useResource, useUnits } = ten;
  const { serialPs } = stream.network.times;
  const sparePs = spareHops * stream.longestHopPs;
  const words = (chunkCount + 31) >>> 5;
  // [npus][words] chunks that have arrived, and those that have or are on their way
  const there = new Int32Array(npuCount * words);
  const given = new Int32Array(npuCount * words);
  /** [npus][chunks] the when-th arrival there. */
  const turn = new Int32Array(npuCount * chunkCount);
  const holders = new Int32Array(chunkCount).fill(1);
  const left = ten.capacity.slice();
  const isBusy = new Uint8Array(routeSource.length);
  const isAsked = new Uint8Array(routeSource.length);
  const most = (npuCount - 1) * chunkCount;
  const chunk = new Int32Array(most);
  const route = new Int32Array(most);
  const startPs = new Float64Array(most);
  const queue = new EventQueue();
  const drawn = random(seed);
  let [transfers, endPs, looks, sequence, arrivals] = [0, 0, 0, 0, 1];
  let asked: number[] = [];
  const ask = (r: number): void => {
    if (isAsked[r] === 1 || isBusy[r] === 1) return;
    isAsked[r] = 1;
    asked.push(r);
  };
  const askAll = ({ offset, items }: Stream["out"], of: number): void => {
    for (let k = offset[of]; k < offset[of + 1]; k++) ask(items[k]);
  };
  /** Returns the best chunk that a route may take; -1: none. */
  const chosen = (r: number): number => {
    const [from, to] = [routeSource[r], routeTarget[r]];
    let best = -1;
    let least = Number.POSITIVE_INFINITY;
    for (let word = 0; word < words; word++) {
      for (let bits = there[from * words + word] & ~given[to * words + word]; bits !== 0; bits &= bits - 1) {
        const c = 32 * word + 31 - Math.clz32(bits & -bits);
        looks++;
        const ofOwner = owner[c] * npuCount;
        if (farPs[ofOwner + from] + latencyPs[r] > farPs[ofOwner + to] + sparePs) continue;
        const rank = choice === "rarest" ? holders[c] : turn[from * chunkCount + c];
        const score = rank + drawn.next() / 2 ** 32;
        if (score < least) [best, least] = [c, score];
      }
    }
    return best;
  };
  const hasRoom = (r: number): boolean => {
    for (let k = useOffset[r]; k < useOffset[r + 1]; k++) if (left[useResource[k]] < useUnits[k]) return false;
    return true;
  };
  const send = (r: number, c: number, now: number): void => {
    const to = routeTarget[r];
    given[to * words + (c >>> 5)] |= 1 << (c & 31);
    holders[c]++;
    isBusy[r] = 1;
    for (let k = useOffset[r]; k < useOffset[r + 1]; k++) left[useResource[k]] -= useUnits[k];
    chunk[transfers] = c;
    route[transfers] = r;
    startPs[transfers] = now;
    endPs = Math.max(endPs, now + slotPs[r]);
    queue.push(now + serialPs[r], sequence++, 2 * r);
    queue.push(now + slotPs[r], sequence++, 2 * transfers++ + ARRIVAL);
  };
  for (let c = 0; c < chunkCount; c++) {
    const at = owner[c] * words + (c >>> 5);
    there[at] |= 1 << (c & 31);
    given[at] |= 1 << (c & 31);
  }
  const happens = (payload: number): void => {
    const which = payload >> 1;
    if ((payload & ARRIVAL) === 1) {
      const [c, to] = [chunk[which], routeTarget[route[which]]];
      there[to * words + (c >>> 5)] |= 1 << (c & 31);
      turn[to * chunkCount + c] = arrivals++;
      askAll(out, to);
      return;
    }
    isBusy[which] = 0;
    ask(which);
    for (let k = useOffset[which]; k < useOffset[which + 1]; k++) {
      left[useResource[k]] += useUnits[k];
      askAll(users, useResource[k]);
    }
  };
  const match = (now: number): void => {
    const free = Int32Array.from(asked);
    asked = [];
    for (const r of free) isAsked[r] = 0;
    shuffle(free, 0, free.length, seed, transfers);
    for (const r of free) {
      if (isBusy[r] === 1 || !hasRoom(r)) continue;
      const c = chosen(r);
      if (c >= 0) send(r, c, now);
    }
  };
  for (let r = 0; r < routeSource.length; r++) ask(r);
  match(0);
  while (queue.next()) {
    const now = queue.time;
    happens(queue.payload);
    while (queue.next()) {
      if (queue.time > now) {
        queue.push(queue.time, queue.sequence, queue.payload);
        break;
      }
      happens(queue.payload);
    }
    match(now);
  }
  return transfers < most ? null : { chunk, route, startPs, endPs, looks };
}

/** Returns the transfers planned in slots, in the same order on every link. */
function inSlots({ phase, network }: Stream, { topology }: SynthesisRequest, found: Streamed, words: string): Outcome {
  const { routes, times } = network;
  const { slotPs } = times;
  const { chunk, route, startPs } = found;
  const endPs = startPs.map((start, i) => start + slotPs[route[i]]);
  const op = new Uint8Array(chunk.length);
  const rows = rowsOf({ topology, collective: phase.collective, routes, chunk, route, startPs, endPs, op });
  const held = { serial: slotPs, delay: slotPs };
  const planned = replayJs(replayProblem(rows, REPLAY_MODE.cutThrough, REPLAY_WANTS.times, held));
  if (planned.kind !== "replayed") throw new InternalError(`streamed transfers cannot be planned: ${planned.kind}`);
  return outcome(phase, network, { chunk, route, startPs: planned.start }, [words, network.label]);
}

/** Returns the best trial of a phase, planned in slots, and how many ran; null where there is none, or latency hardly counts. */
function bestStream(
  request: SynthesisRequest,
  phase: Phase,
  networks: readonly Network[],
  foundPs: number,
): { readonly found: Outcome; readonly trials: number } | null {
  const { topology } = request;
  const enoughPs = LATENCY_COUNTS * foundPs;
  const streams = networks
    .filter(
      ({ routes: { source }, times }) =>
        source.length <= MOST_ROUTES && topology.npuCount * greatest(latenciesOf(times)) >= enoughPs,
    )
    .map((network) => streamOf(request, phase, network))
    .filter(({ farPs }) => farPs.some((ps) => ps >= enoughPs));
  let best: { readonly stream: Stream; readonly found: Streamed; readonly words: string } | null = null;
  let looks = 0;
  let trials = 0;
  const most = Math.min(MOST_TRIALS, request.trials ?? MOST_TRIALS);
  for (; streams.length > 0 && trials < most && looks < MOST_LOOKS; trials++) {
    const round = Math.floor(trials / streams.length);
    const stream = streams[trials % streams.length] as Stream;
    const choice = CHOICES[round % CHOICES.length] as StreamTrial["choice"];
    const spareHops = SPARE_HOPS[Math.floor(round / CHOICES.length) % SPARE_HOPS.length];
    const found = matched(stream, { choice, spareHops, seed: (request.seed + trials) >>> 0 });
    if (found === null) continue;
    looks += found.looks;
    if (best === null || found.endPs < best.found.endPs) best = { stream, found, words: `streams, ${choice}` };
  }
  if (best === null) return null;
  const { stream, found, words } = best;
  return { found: inSlots(stream, request, found, words), trials };
}

/**
 * Returns the schedule of matching in the congestion model; null where latency hardly counts in the time that was found without, some
 * do not want everything, or there is too much to send. `networksOf`: the networks that a phase may use.
 */
export function streamed(
  request: SynthesisRequest,
  networksOf: (phase: Phase) => readonly Network[],
  foundPs: () => number,
): Synthesis | null {
  const { topology, collective, policy } = request;
  const { npuCount } = topology;
  const transfers = (npuCount - 1) * collective.chunkCount;
  if (policy !== null || npuCount > MOST_NPUS || transfers > MOST_TRANSFERS) return null;
  if (transfers * collective.chunkCount > MOST_LOOKS) return null;
  const phases = phasesOf(collective);
  if (phases.some(({ unicast, collective: own }) => unicast || !everyoneWantsAll(own, npuCount))) return null;
  const knownPs = foundPs();
  const done: PhaseTransfers[] = [];
  const labels: string[] = [];
  let trials = 0;
  for (const phase of phases) {
    const [first] = phases as [Phase];
    const same = phase !== first && mirrorsPhase(first, phase) ? mirrored(done[0] as PhaseTransfers) : null;
    if (same !== null) {
      done.push(same);
      continue;
    }
    const best = bestStream(request, phase, networksOf(phase), knownPs);
    if (best === null) return null;
    done.push(best.found.transfers);
    labels.push(best.found.label);
    trials += best.trials;
  }
  return { schedule: assemble(topology, collective, done), policy: [...new Set(labels)].join("; "), trials };
}
