import { draw } from "../../base/random.ts";
import type { Collective } from "../../model/collective/collective.ts";
import type { RouteSet } from "../../model/routes/routes.ts";
import { type ArrivalLog, portsOf } from "../../model/slots/slot-schedule.ts";
import { indexColumn } from "../../model/steps/step-schedule.ts";
import { translateAll, translationsOf } from "../../model/symmetry/translation.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { SynthesisRequest } from "../synthesizer.ts";
import { receive, refill, translatedLog } from "./translated-log.ts";

/** Returns how many chunks each NPU owns, where NPU v owns the v-th this many; null where it is otherwise. */
function evenShare({ pre, chunkCount }: Collective, npuCount: number): number | null {
  if (pre.kind !== "one" || chunkCount % npuCount !== 0) return null;
  const share = chunkCount / npuCount;
  return pre.npu.every((npu, chunk) => npu === Math.floor(chunk / share)) ? share : null;
}

/** The translations that leave a network as it is, and how many chunks each NPU owns. */
export interface InvariantShare {
  readonly sizes: readonly number[];
  readonly chunksPerNpu: number;
}

/**
 * Returns what an all-gather that is the same for every NPU needs; null where the routes are not translation-invariant, the
 * collective is not an all-gather in order of ids, or a policy was asked for.
 */
export function invariantShare(
  topology: Topology,
  routes: RouteSet,
  collective: Collective,
  { policy }: Pick<SynthesisRequest, "policy">,
): InvariantShare | null {
  const chunksPerNpu = evenShare(collective, topology.npuCount);
  if (chunksPerNpu === null || policy !== null) return null;
  const sizes = translationsOf(topology, routes);
  return sizes === null ? null : { sizes, chunksPerNpu };
}

/**
 * Returns the invariant all-gather over routes that are equally long and never in each other's way; null as
 * invariantShare.
 */
export function invariantLogs(
  topology: Topology,
  routes: RouteSet,
  collective: Collective,
  request: Pick<SynthesisRequest, "seed" | "trials" | "policy">,
): (InvariantAllGather & InvariantShare) | null {
  const share = invariantShare(topology, routes, collective, request);
  if (share === null) return null;
  const found = invariantAllGather(routes, topology.npuCount, share.sizes, share.chunksPerNpu, request);
  return found === null ? null : { ...found, ...share };
}

/** What reports call it. */
export const invariantLabel = (policy: string): string => `invariant: ${policy}`;

/** Visits of elements that all trials together may take, beyond the first. */
const MOST_WORK = 2e7;
const MOST_TRIALS = 64;

/** An all-gather that is the same for every NPU, up to translation. */
interface InvariantAllGather {
  /** Log of NPU 0; the others are its translations (model/symmetry/translation.ts). */
  readonly row: ArrivalLog;
  readonly slots: number;
  /** Proved least number of slots of any all-gather over these routes. */
  readonly bound: number;
  readonly policy: string;
  readonly trials: number;
}

/**
 * Returns an all-gather in slots on a network whose routes are invariant under translations by `sizes` (translation.ts), all
 * equally long and never in each other's way, every NPU with `chunksPerNpu` chunks; null when an NPU cannot be reached.
 *
 * All NPUs have the same set of offsets to what they hold, so one of them is synthesized: O(NPUs * chunks * ports) instead of
 * NPUs times that. The first trial takes what the fewest ports could bring, oldest first; where it misses the bound, others
 * draw among equals, until one meets it or `trials` (default 64, fewer when large) are spent. Each trial matches ports to
 * chunks at its best per slot (Alg. 1 of TACOS 2024 visits them in random order). Beyond the paper.
 */
export function invariantAllGather(
  routes: RouteSet,
  npuCount: number,
  sizes: readonly number[],
  chunksPerNpu: number,
  options: { readonly seed: number; readonly trials?: number | null },
): InvariantAllGather | null {
  const problem = invariantProblem(routes, npuCount, sizes, chunksPerNpu);
  const bound = leastSlots(problem);
  if (bound === null) return null;
  let best = spread(problem, "oldest", options.seed, Number.POSITIVE_INFINITY);
  if (best === null) return null;
  let policy = "rarest, oldest first";
  const affordable = Math.ceil(MOST_WORK / (npuCount * chunksPerNpu * problem.ports));
  const most = options.trials ?? Math.min(MOST_TRIALS, 1 + affordable);
  let trials = 1;
  for (; best.slots > bound && trials < most; trials++) {
    const found = spread(problem, "random", options.seed + trials, best.slots - 1);
    if (found === null) continue;
    best = found;
    policy = "rarest, drawn among equals";
  }
  return { row: rowOf(best), slots: best.slots, bound, policy, trials };
}

function rowOf({ log, bits }: Spread): ArrivalLog {
  const chunk = indexColumn(log.length, log.length);
  chunk.set(log);
  return { chunk, ports: bits };
}

function invariantProblem(
  routes: RouteSet,
  npuCount: number,
  sizes: readonly number[],
  chunksPerNpu: number,
): InvariantProblem {
  const { offset, items } = portsOf(routes, npuCount);
  const ports = offset[1];
  const shifted = new Int32Array(ports * npuCount);
  for (let p = 0; p < ports; p++) {
    translateAll(sizes, routes.source[items[p]], shifted.subarray(p * npuCount, (p + 1) * npuCount));
  }
  return { npuCount, chunksPerNpu, ports, shifted };
}

/**
 * Returns a lower bound on the slots of an all-gather, or null when some NPU is out of reach. Chunks from more than t hops
 * away have all slots but the first t, whatever the schedule; and in the first slot a source has its own chunks only.
 */
function leastSlots({ npuCount, chunksPerNpu, ports, shifted }: InvariantProblem): number | null {
  if (npuCount === 1) return 0;
  if (ports === 0) return null;
  const hops = new Int32Array(npuCount).fill(-1);
  const queue = new Int32Array(npuCount);
  hops[0] = 0;
  let reached = 1;
  for (let i = 0; i < reached; i++) {
    for (let p = 0; p < ports; p++) {
      const next = shifted[p * npuCount + queue[i]];
      if (hops[next] >= 0) continue;
      hops[next] = hops[queue[i]] + 1;
      queue[reached++] = next;
    }
  }
  if (reached < npuCount) return null;
  let bound = 0;
  for (let i = 0; i < npuCount; i++) {
    const nearer = hops[queue[i]] - 1;
    if (nearer < 0 || hops[queue[i - 1]] > nearer) continue;
    bound = Math.max(bound, nearer + Math.ceil(((npuCount - i) * chunksPerNpu) / ports));
  }
  const parallel = new Map<number, number>();
  for (let p = 0; p < ports; p++) {
    const source = shifted[p * npuCount];
    parallel.set(source, (parallel.get(source) ?? 0) + 1);
  }
  let first = 0;
  for (const among of parallel.values()) first += Math.min(among, chunksPerNpu);
  return Math.max(bound, 1 + Math.ceil(((npuCount - 1) * chunksPerNpu - first) / ports));
}

/** A spread among translations of one NPU. Element o * chunks + j is chunk j of the NPU that lies o from the one in view. */
interface InvariantProblem {
  readonly npuCount: number;
  readonly chunksPerNpu: number;
  readonly ports: number;
  /** [ports * NPUs] p * NPUs + o: what lies o from the source of port p lies here from the NPU itself. */
  readonly shifted: Int32Array;
}

/** How a port chooses among what it could bring: what the fewest ports could bring, then the oldest or any. */
type SpreadChoice = "oldest" | "random";

/** What the NPU in view holds and receives, in the form of an ArrivalLog. */
interface Spread {
  readonly slots: number;
  readonly log: Int32Array;
  readonly bits: Uint8Array;
}

/** Candidates that a port keeps at a time: at least FEWEST; as many as ports, so that a matching is maximum, up to MOST. */
const FEWEST = 8;
const MOST = 64;

/**
 * Returns a spread in at most `limit` slots, or null when this choice does not lead to one. In each slot a maximum matching
 * of ports to new elements, augmenting paths after a greedy start (Kuhn): port p can bring shifted[p][o] when o is held at
 * the start of the slot, so it walks through the NPU's own log once and keeps a window of what is still missing.
 * Maximum where ports <= 64, over the window beyond. O(elements * (ports + window)) but for the augmenting, which is rare.
 */
function spread(problem: InvariantProblem, choice: SpreadChoice, seed: number, limit: number): Spread | null {
  const state = spreadState(problem, choice, seed);
  const { ports, npuCount, chunksPerNpu } = problem;
  const { brings, order, taken, count, log } = state;
  const elements = npuCount * chunksPerNpu;
  const bytes = (ports + 7) >>> 3;
  let bits = new Uint8Array(bytes * (Math.ceil(elements / ports) + 64));

  for (let j = 0; j < chunksPerNpu; j++) receive(state, j);
  let slot = 0;
  for (; state.length < elements; slot++) {
    if (slot + Math.ceil((elements - state.length) / ports) > limit) return null;
    const visible = state.length;
    for (let p = 0; p < ports; p++) refill(state, p, visible);
    sortPorts(state, slot);
    brings.fill(-1);
    for (let i = 0; i < ports; i++) {
      const port = order[i];
      const element = choose(state, port, slot);
      if (element >= 0) {
        taken[element] = port;
        brings[port] = element;
      } else if (count[port] > 0) {
        state.visit++;
        augment(state, port);
      }
    }
    if ((slot + 1) * bytes > bits.length) bits = extended(bits);
    for (let p = 0; p < ports; p++) {
      if (brings[p] < 0) continue;
      bits[slot * bytes + (p >> 3)] |= 1 << (p & 7);
      receive(state, brings[p]);
    }
    if (state.length === visible) return null;
  }
  return { log, slots: slot, bits: bits.slice(0, slot * bytes) };
}

/** Returns the columns of a spread. */
function spreadState(problem: InvariantProblem, choice: SpreadChoice, seed: number) {
  const { npuCount, chunksPerNpu, ports, shifted } = problem;
  const elements = npuCount * chunksPerNpu;
  const window = Math.min(MOST, Math.max(FEWEST, ports));
  return {
    ...translatedLog({ npuCount, chunksPerNpu, shifted }, ports, window),
    choice,
    seed,
    /** The port that brings or brought it, -1 for none. */
    taken: new Int32Array(elements).fill(-1),
    visited: new Int32Array(elements),
    visit: 0,
    brings: new Int32Array(ports),
    order: new Int32Array(ports),
    bucket: new Int32Array(window + 2),
  };
}

type SpreadState = ReturnType<typeof spreadState>;

/** Ports by number of candidates, fewest first; among equals round robin from a drawn one. */
function sortPorts(state: SpreadState, slot: number): void {
  const { bucket, ways: ports, count, window, seed, order } = state;
  bucket.fill(0);
  for (let p = 0; p < ports; p++) bucket[count[p] + 1]++;
  for (let c = 0; c <= window; c++) bucket[c + 1] += bucket[c];
  const first = draw(seed, slot, 0) % ports;
  for (let i = 0; i < ports; i++) {
    const p = first + i < ports ? first + i : first + i - ports;
    order[bucket[count[p]]++] = p;
  }
}

function choose(state: SpreadState, port: number, slot: number): number {
  const { window, count, candidate, taken, bringers, choice, seed, ways: ports } = state;
  let best = -1;
  let fewest = 0;
  let least = 0;
  for (let i = port * window, end = i + count[port]; i < end; i++) {
    const element = candidate[i];
    if (taken[element] >= 0 || (best >= 0 && bringers[element] > fewest)) continue;
    const tie = choice === "oldest" ? i : draw(seed, slot * ports + port, element + 1);
    if (best >= 0 && bringers[element] === fewest && tie >= least) continue;
    best = element;
    fewest = bringers[element];
    least = tie;
  }
  return best;
}

function augment(state: SpreadState, port: number): boolean {
  const { window, count, candidate, visited, taken, brings } = state;
  for (let i = port * window, end = i + count[port]; i < end; i++) {
    const element = candidate[i];
    if (visited[element] === state.visit) continue;
    visited[element] = state.visit;
    if (taken[element] >= 0 && !augment(state, taken[element])) continue;
    taken[element] = port;
    brings[port] = element;
    return true;
  }
  return false;
}

function extended(bits: Uint8Array): Uint8Array<ArrayBuffer> {
  const longer = new Uint8Array(bits.length * 2);
  longer.set(bits);
  return longer;
}
