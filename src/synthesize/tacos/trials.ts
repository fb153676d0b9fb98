import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { CHOICE, type MatchPolicy } from "../../engine/contract/kernels.ts";
import { boundOf } from "../../model/bounds/bounds.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { ceil } from "../../model/numbers/rational.ts";
import { type RouteSet, type RouteTimes, reversedRoutes, routeTimes } from "../../model/routes/routes.ts";
import { reversed, type Topology } from "../../model/topology/topology.ts";
import { endsOf, type PhaseTransfers } from "./assemble.ts";
import type { Choosers, Who } from "./choosers.ts";
import type { RelayOrder } from "./demand.ts";
import type { Phase } from "./network.ts";

/** A way to choose chunks in multicast phases; see native/kernels/match.h. */
interface MulticastPolicy {
  readonly name: string;
  readonly choice: number;
  readonly window: number;
  /** The choice applies once an NPU lacks at most max(32, this share of all chunks). */
  readonly lateShare: number;
  /** Where there are few of them, only these NPUs choose. */
  readonly who?: Who;
}

const WHOLE = 0x7fffffff;
/** Candidates that the choices of one trial may look at, about a second, and those of all trials together. */
const MOST_LOOKS = 4e8;
const MOST_LOOKS_OF_ALL = 1.6e9;
/** A window of this many chunks for each NPU chooses as well as one over all of them. */
const CHUNKS_PER_NPU = 8;
/** What one look costs: bits of the neighbours, and of those around, are read as well. */
const COST: Readonly<Record<number, number>> = { [CHOICE.neighbour]: 4, [CHOICE.around]: 8 };

/** The size of a multicast phase. */
export interface MulticastSize {
  readonly npuCount: number;
  readonly chunkCount: number;
}

/** Returns what all windows over all chunks of one trial look at, where the chunks are many for the NPUs; 0 where they are few. */
const looksOf = ({ npuCount, chunkCount }: MulticastSize): number =>
  chunkCount <= CHUNKS_PER_NPU * npuCount ? 0 : npuCount * chunkCount ** 2;

/** Returns the window of a policy, narrowed where one over all chunks would take quadratic time in many chunks. */
function windowFor({ window, choice }: MulticastPolicy, size: MulticastSize): number {
  const most = MOST_LOOKS / (COST[choice] ?? 1);
  if (window < WHOLE || looksOf(size) <= most) return window;
  return Math.max(CHUNKS_PER_NPU * size.npuCount, Math.floor(most / (size.npuCount * size.chunkCount)));
}

const OLDEST: MulticastPolicy = { name: "oldest", choice: CHOICE.oldest, window: 1, lateShare: 1 };
const NEIGHBOUR_LATE: MulticastPolicy = {
  name: "neighbour-late",
  choice: CHOICE.neighbour,
  window: 8,
  lateShare: 0.06,
};
const NEIGHBOUR: MulticastPolicy = { name: "neighbour", choice: CHOICE.neighbour, window: 8, lateShare: 1 };
const NEIGHBOUR_TIGHT: MulticastPolicy = { ...NEIGHBOUR, name: "neighbour-tight", who: "tight" };
const NEIGHBOUR_WIDE: MulticastPolicy = { name: "neighbour-wide", choice: CHOICE.neighbour, window: 64, lateShare: 1 };
/**
 * As the neighbour choice, with ties to what fewest NPUs two steps away have: a pocket of a damaged mesh is fed through both of
 * its entrances with different chunks. 120 meshes and 40 tori with failed NPUs, 40 networks with broken links, 22 elongated
 * ones: all but one at the bound (a mesh of 16x10, 76 slots of 75) where without it three missed it, in a third of the time.
 * Means over 8 seeds of one trial on that mesh, on 17x8 without 10 NPUs, on 2x50 and on a 5x5 torus (bound over time):
 *
 *   around 0.987 0.996 1.000 0.982; neighbour, window 64 0.944 0.977 1.000 0.964; rarest 0.885 0.932 0.780 0.857;
 *   random 0.807 0.900 0.703 0.844; farthest from its source first 0.503 0.737 0.768 0.830
 *
 * Counting the two rings alike, or three rings, gains nothing on the meshes and loses on 2x50 (0.89) and 5x5 (0.87).
 */
const AROUND: MulticastPolicy = { name: "around", choice: CHOICE.around, window: WHOLE, lateShare: 1 };
const RAREST: MulticastPolicy = { name: "rarest", choice: CHOICE.rarest, window: WHOLE, lateShare: 1 };
const NEWEST: MulticastPolicy = { name: "newest", choice: CHOICE.newest, window: 1, lateShare: 1 };

/** The first pass over the policies; after it the trials go round those that gain from another seed. */
const FIRST_PASS = [OLDEST, NEIGHBOUR_LATE, NEIGHBOUR, AROUND, NEIGHBOUR_WIDE, RAREST, NEWEST];
/** What comes before it on large networks where few NPUs are tight. */
const TIGHT_PASS: readonly MulticastPolicy[] = [
  NEIGHBOUR_TIGHT,
  ...[1, 2].map((lateHops) => ({ ...NEIGHBOUR_TIGHT, who: { lateHops } })),
];
/** One source with many chunks needs the rarest over all of them, not a window of its log. */
const FIRST_PASS_ONE_SOURCE = [RAREST, AROUND, NEIGHBOUR_WIDE, NEIGHBOUR, OLDEST, NEWEST];
const LATER_PASSES = [AROUND, NEIGHBOUR, AROUND, RAREST];

const RELAY_ORDERS: readonly RelayOrder[] = ["farthest", "nearest", "load"];

export const MULTICAST_POLICIES = [...FIRST_PASS, NEIGHBOUR_TIGHT].map((policy) => policy.name);
export const RELAY_POLICIES: readonly string[] = RELAY_ORDERS;

/** Throws InputError when the named policy is not one for any of the phases; null is all policies. */
export function checkPolicy(policy: string | null, phases: readonly { readonly unicast: boolean }[]): void {
  const known = phases.flatMap(({ unicast }) => (unicast ? RELAY_POLICIES : MULTICAST_POLICIES));
  if (policy === null || known.includes(policy)) return;
  throw new InputError(optionName("policy"), `one of ${[...new Set(known)].join(", ")}`, policy).as("unknown-name");
}

/** What one multicast trial does. */
export interface MulticastTrial {
  readonly name: string;
  readonly policy: MatchPolicy;
  readonly who: Who | null;
  /** Index into the phase's variants (route set x relay mode). */
  readonly variant: number;
}

/**
 * Returns trial k of a multicast phase: every variant with the first policy, every variant with the second, and so on,
 * then again with new seeds. Deterministic in (seed, k).
 */
export function multicastTrial(
  k: number,
  options: {
    readonly seed: number;
    readonly wanted: string | null;
    readonly variants: number;
    readonly oneSource: boolean;
    readonly heterogeneous: boolean;
    /** Whether few NPUs are tight. */
    readonly tight: boolean;
  } & MulticastSize,
): MulticastTrial {
  const { wanted, variants, oneSource, chunkCount } = options;
  const forced = wanted === null ? [] : [...FIRST_PASS, ...TIGHT_PASS].filter((policy) => policy.name === wanted);
  const anyhow = oneSource ? FIRST_PASS_ONE_SOURCE : FIRST_PASS;
  const firstPass = forced.length > 0 ? forced : options.tight ? [...TIGHT_PASS, ...anyhow] : anyhow;
  const later = forced.length > 0 ? forced : LATER_PASSES;
  const round = Math.floor(k / variants);
  const chosen =
    round < firstPass.length
      ? (firstPass[round] as MulticastPolicy)
      : (later[(round - firstPass.length) % later.length] as MulticastPolicy);
  const mixed = options.heterogeneous ? 1 : 0;
  return {
    name: chosen.name,
    variant: k % variants,
    who: options.tight ? (chosen.who ?? null) : null,
    policy: {
      seed: (options.seed + k) >>> 0,
      choice: chosen.choice,
      window: windowFor(chosen, options),
      lateLimit: chosen.lateShare === 1 ? chunkCount : Math.max(32, Math.ceil(chunkCount * chosen.lateShare)),
      novelty: mixed,
      overtaking: mixed,
    },
  };
}

/** What one unicast trial does. */
export interface UnicastTrial {
  readonly name: string;
  readonly order: RelayOrder;
  readonly variant: number;
  readonly seed: number;
}

/** Returns trial k of a unicast phase: variants first, then orders, then seeds. */
export function unicastTrial(k: number, seed: number, wanted: string | null, variants: number): UnicastTrial {
  const orders = RELAY_ORDERS.filter(
    (order) => wanted === null || !RELAY_POLICIES.includes(wanted) || order === wanted,
  );
  const order = orders[Math.floor(k / variants) % orders.length] as RelayOrder;
  return { name: order, order, variant: k % variants, seed: (seed + k) >>> 0 };
}

/**
 * Returns how many trials a phase of this many transfers gets by default: min(64, 1e7 / transfers), at least 1; fewer where a
 * multicast phase has so many chunks that choosing among them takes longer than sending them.
 */
export function defaultTrials(transfers: number, size: MulticastSize): number {
  const looks = Math.min(MOST_LOOKS, looksOf(size));
  const affordable = looks === 0 ? 64 : Math.floor(MOST_LOOKS_OF_ALL / looks);
  return Math.max(1, Math.min(64, Math.floor(1e7 / Math.max(1, transfers)), affordable));
}

/** From this many transfers on a trial that misses the bound by less than a hundredth is not followed by others for that. */
const MANY_TRANSFERS = 1e8;

/** Returns how many trials a multicast phase gets in all, once its first is known: at least three where few NPUs are tight and it misses the bound by more than a slot. */
export function trialsAfter(
  first: { readonly endPs: number },
  byDefault: number,
  choosers: Choosers | null,
  { targetPs, slotPs, transfers }: { readonly targetPs: number; readonly slotPs: number; readonly transfers: number },
): number {
  const allowedPs = transfers < MANY_TRANSFERS ? slotPs : Math.max(slotPs, 0.01 * targetPs);
  return choosers !== null && first.endPs > targetPs + allowedPs ? Math.max(byDefault, TIGHT_PASS.length) : byDefault;
}

/** A set of routes that a phase may use, in the direction of synthesis (`routes`) and in true direction (`trueRoutes`). */
export interface Network {
  readonly trueRoutes: RouteSet;
  readonly routes: RouteSet;
  readonly times: RouteTimes;
  readonly label: string;
}

/** One trial's outcome. */
export interface Outcome {
  readonly transfers: PhaseTransfers;
  readonly endPs: number;
  readonly label: string;
}

/** A trial ready to run. */
export type Attempt = () => Promise<Outcome>;

/** Returns the networks of a phase, one per route set; reversed routes for a phase on the reversed topology. */
export function networksOf(
  topology: Topology,
  collective: Collective,
  phase: Phase,
  routeSets: readonly { readonly label: string; readonly routes: RouteSet }[],
): Network[] {
  return routeSets.map(({ label, routes }) => ({
    trueRoutes: routes,
    routes: phase.reversed ? reversedRoutes(routes) : routes,
    times: routeTimes(topology, routes, collective.chunkBytes),
    label,
  }));
}

/** Returns the least bound of the phase on any of its networks, in whole picoseconds. */
export function targetPs(topology: Topology, phase: Phase, networks: readonly Network[]): number {
  const phaseTopology = phase.reversed ? reversed(topology) : topology;
  let least = Number.POSITIVE_INFINITY;
  for (const { routes, times } of networks) {
    least = Math.min(least, Number(ceil(boundOf(phaseTopology, phase.collective, routes, times).ps)));
  }
  return least;
}

/** Returns the outcome of a trial that found these transfers; empty labels are left out. */
export function outcome(
  phase: Phase,
  network: Network,
  found: { readonly chunk: Int32Array; readonly route: Int32Array; readonly startPs: Float64Array },
  labels: readonly string[],
): Outcome {
  const { slotPs } = network.times;
  const ends = endsOf({ ...found, slotPs });
  const transfers: PhaseTransfers = {
    ...found,
    slotPs,
    ends,
    routes: network.trueRoutes,
    reversed: phase.reversed,
    reduces: phase.reduces,
  };
  return { transfers, endPs: ends.endPs, label: labels.filter((label) => label !== "").join(", ") };
}

/**
 * Returns the best of the trials: the first that reaches `targetPs`, else the shortest, else the earliest among equals.
 * Runs `width` trials at a time and discards what lies behind the first hit, so the answer does not depend on `width`.
 */
export async function bestOf<T extends { readonly endPs: number }>(
  attempt: (k: number) => () => Promise<T>,
  trials: (first: T) => number,
  targetPs: number,
  width: number,
  progress: (done: number, total: number) => void,
): Promise<{ best: T; ran: number }> {
  let best = await attempt(0)();
  const total = trials(best);
  let ran = 1;
  progress(ran, total);
  while (best.endPs > targetPs && ran < total) {
    const wave = Math.min(width, total - ran);
    const outcomes = await Promise.all(Array.from({ length: wave }, (_, i) => attempt(ran + i)()));
    for (const next of outcomes) {
      ran++;
      if (next.endPs < best.endPs) best = next;
      if (best.endPs <= targetPs) break;
    }
    progress(ran, total);
  }
  return { best, ran };
}
