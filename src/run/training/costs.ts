import { InputError, inWords } from "../../base/errors.ts";
import type { Engine } from "../../engine/types.ts";
import { limitOf } from "../../model/bounds/bounds.ts";
import type { Collective, CollectiveKind, NamedCollective } from "../../model/collective/collective.ts";
import { messages } from "../../model/messages/messages.ts";
import { toNumber } from "../../model/numbers/rational.ts";
import { PS_PER_SECOND, PS_PER_US } from "../../model/numbers/units.ts";
import { shortestRoutes } from "../../model/routes/list-routes.ts";
import { leastTransfers } from "../../model/steps/estimate.ts";
import { alikePieces, type Pieces } from "../../model/topology/pieces.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { askedCollective } from "../../model/workload/asked-collective.ts";
import type { CommunicationKind, NpuGroups } from "../../model/workload/layer-work.ts";
import { ALGORITHMS, USUAL_ALGORITHM } from "../../synthesize/catalog.ts";
import type { Effort } from "../../synthesize/maker.ts";
import { isBetter, usOf } from "../auto/best.ts";
import { type Algorithm, candidatesFor, isMany, isOwnFailure, trialOrder, wholeProblem } from "../auto/candidates.ts";
import { contender } from "../auto/chunk-trials.ts";
import { linkUseOf } from "../link-use.ts";
import { type SynthesizeResult, synthesize } from "../synthesize.ts";

/** What a communication takes when it has the network to itself. */
export interface CommunicationCost {
  /** The algorithm, "send", or "limit". */
  readonly algorithm: string;
  /** Picoseconds, a whole number. */
  readonly ps: number;
  /** [links] part of that time in which each link is in use. */
  readonly use: Float64Array;
}

/** Returns what a communication of some groups takes. */
export type CostOf = (kind: CommunicationKind, groups: NpuGroups, bytes: number) => Promise<CommunicationCost>;

export interface CostOptions {
  /** "library", "best", "ideal", or an algorithm's name. */
  readonly algorithm: string;
  /** Of an algorithm that is named. */
  readonly policy?: string;
  readonly chunks?: number;
  /** The promising are tried first, and no more once one is near what any takes at least: NEAR, or, where many transfers are listed, NEAR_OF_MANY. */
  readonly untilNear?: boolean;
  /**
   * Collectives of libraries whose groups share no link are made for one group, on its part of the network (alikePieces): what NPUs
   * of a part can have, so can all of them at the same time.
   */
  readonly byPieces?: boolean;
}

/** So many times what any schedule takes at least is near it; more where each further trial takes seconds. */
const NEAR = 1.01;
const NEAR_OF_MANY = 1.1;

/** What a maker's schedule of a communication takes, and what any takes at least; null where it makes none. */
type Attempt = { readonly cost: CommunicationCost; readonly report: SynthesizeResult["report"] } | null;

/** Schedules of communications on one network, each made once, whoever asks for it. */
export interface CostTable {
  /** Returns what gives costs by an algorithm. */
  by(options: CostOptions): CostOf;
}

/**
 * Returns the costs of communications on a network, each distinct one synthesized once for each algorithm, verified and simulated
 * with all its groups at the same time. "library": the fastest of what libraries have; "best": of all that need no solver; "ideal":
 * the proved limit of any algorithm, with links in use as by the best. Where a named algorithm cannot make a collective or does not
 * apply to it, the fastest of the libraries takes its place. Costs reject as `synthesize` does.
 */
export function communicationCosts(engine: Engine, topology: Topology, signal?: AbortSignal): CostTable {
  const attempts = new Map<string, Promise<Attempt>>();
  const trials = new Map<string, Trial[]>();
  const piecesOf = alikePiecesOnce(topology);
  const once = <Value>(known: Map<string, Promise<Value>>, key: string, make: () => Promise<Value>): Promise<Value> => {
    const found = known.get(key) ?? make();
    known.set(key, found);
    return found;
  };
  return {
    by({ algorithm, policy, chunks, untilNear = false, byPieces = false }) {
      const known = new Map<string, Promise<CommunicationCost>>();
      const onWhole = { on: topology, where: "" };
      const made = async (
        { on, where }: typeof onWhole,
        kind: NamedCollective,
        groups: NpuGroups,
        bytes: number,
      ): Promise<CommunicationCost> => {
        const request = {
          ...askedCollective(on.npuCount, kind, groups, bytes),
          ...(policy !== undefined && { policy }),
          ...(chunks !== undefined && { chunks }),
          ...(signal && { signal }),
        };
        const { collective } = wholeProblem(on, request);
        const makers = makersFor(on, request, algorithm);
        const transfers = leastTransfers(collective);
        const trialsOf = ({ name }: Algorithm): Trial[] => {
          const key = `${name} ${policy} ${chunks} ${kind} ${membersKey(groups)}${where}`;
          const own = trials.get(key) ?? [];
          trials.set(key, own);
          return own;
        };
        const best = await fastestOf(
          untilNear ? trialOrder(makers, transfers) : makers,
          (maker, rivalUs) =>
            once(attempts, `${maker.name} ${policy} ${chunks} ${keyOf(kind, groups, bytes)}${where}`, async () => {
              const made = await attempt(engine, on, maker, request, rivalUs);
              trialsOf(maker).push({ bytes, us: made === null ? Number.POSITIVE_INFINITY : usOf(made.report) });
              return made;
            }),
          (maker) =>
            Math.max(
              leastPs(on, collective, maker.traits?.effort?.(collective)) / PS_PER_US,
              leastByTrials(trialsOf(maker), bytes),
            ),
          untilNear ? (isMany(transfers) ? NEAR_OF_MANY : NEAR) : 0,
        );
        if (best === null) throw nothingFor(kind, on);
        if (algorithm !== "ideal") return best.cost;
        const ps = Math.ceil(best.report.limit.us * PS_PER_US);
        return {
          algorithm: "limit",
          ps,
          use: best.cost.use.map((share) => Math.min(1, (share * best.cost.ps) / ps)),
        };
      };
      return (kind, groups, bytes) =>
        once(known, keyOf(kind, groups, bytes), async () => {
          if (kind === "send") return sendCost(topology, groups, bytes);
          const pieces = byPieces && isOfLibraries(algorithm) ? piecesOf(groups) : null;
          if (pieces === null) return made(onWhole, kind, groups, bytes);
          const { topology: on, key, links } = pieces;
          const one = { size: on.npuCount, members: Int32Array.from({ length: on.npuCount }, (_, rank) => rank) };
          const cost = await once(known, `${keyOf(kind, one, bytes)} ${key}`, () =>
            made({ on, where: ` ${key}` }, kind, one, bytes),
          );
          const use = new Float64Array(topology.linkSource.length);
          for (const own of links) for (let link = 0; link < own.length; link++) use[own[link]] = cost.use[link];
          return { ...cost, use };
        });
    },
  };
}

const membersKey = ({ size, members }: NpuGroups): string => `${size} ${members.join(",")}`;
const keyOf = (kind: CommunicationKind, groups: NpuGroups, bytes: number): string =>
  `${kind} ${bytes} ${membersKey(groups)}`;

/** What an algorithm took for a collective of so many bytes; Infinity where it makes none. */
interface Trial {
  readonly bytes: number;
  readonly us: number;
}

/**
 * Returns what an algorithm takes for a collective at least by what it took for other sizes: for more bytes not less, for fewer not
 * less a byte; what makes none makes none of fewer bytes.
 */
const leastByTrials = (trials: readonly Trial[], bytes: number): number =>
  trials.reduce((least, { bytes: tried, us }) => {
    const own = us === Number.POSITIVE_INFINITY ? (bytes <= tried ? us : 0) : us * Math.min(1, bytes / tried);
    return Math.max(least, own);
  }, 0);

/** Whether only algorithms of libraries are tried, which send on shortest ways. */
const isOfLibraries = (algorithm: string): boolean =>
  algorithm === "library" || ALGORITHMS.some(({ name, traits }) => name === algorithm && traits?.library !== undefined);

/** Returns what gives the parts of a network that are groups' own, each looked for once; alike ones are one topology. */
function alikePiecesOnce(topology: Topology): (groups: NpuGroups) => Pieces | null {
  const known = new Map<string, Pieces | null>();
  const parts = new Map<string, Topology>();
  return ({ size, members }) => {
    const key = membersKey({ size, members });
    let pieces = known.get(key);
    if (pieces === undefined) {
      const found = alikePieces(topology, members, size);
      if (found !== null && !parts.has(found.key)) parts.set(found.key, found.topology);
      pieces = found && { ...found, topology: parts.get(found.key) as Topology };
      known.set(key, pieces);
    }
    return pieces;
  };
}

/**
 * Returns what gives picoseconds that no schedule of a collective on a network takes less than: never less for more bytes, nor more
 * a byte.
 */
export function leastCosts(topology: Topology): (kind: NamedCollective, groups: NpuGroups, bytes: number) => number {
  return (kind, groups, bytes) => {
    const { topology: network, collective } = wholeProblem(
      topology,
      askedCollective(topology.npuCount, kind, groups, bytes),
    );
    return toNumber(limitOf(network, collective).ps);
  };
}

type Request = Omit<Parameters<typeof synthesize>[2], "algorithm">;

/** Returns those that are tried for a choice. */
function makersFor(topology: Topology, request: Request, algorithm: string): readonly Algorithm[] {
  const { candidates } = candidatesFor(topology, request);
  const isLibrary = ({ traits }: Algorithm): boolean => traits?.library !== undefined;
  const named = candidates.filter((maker) => {
    if (algorithm === "library") return isLibrary(maker);
    // those that solve are tried only where they are named
    return algorithm === "best" || algorithm === "ideal" ? maker.traits?.solves !== true : maker.name === algorithm;
  });
  return named.length > 0 ? named : candidates.filter((maker) => isLibrary(maker) || maker.name === USUAL_ALGORITHM);
}

async function attempt(
  engine: Engine,
  topology: Topology,
  maker: Algorithm,
  request: Request,
  rivalUs: number | undefined,
): Promise<Attempt> {
  try {
    const make = (asked: Parameters<typeof synthesize>[2]) => synthesize(engine, topology, asked, false);
    const { schedule, report } = await contender(maker, topology, request, make, rivalUs);
    const { busyPs, totalPs } = linkUseOf(schedule, report.schedule.pieces ?? 1, engine.kernels.replay);
    const use = busyPs.map((ps) => (totalPs === 0 ? 0 : ps / totalPs));
    return { cost: { algorithm: report.algorithm, ps: Math.ceil(totalPs), use }, report };
  } catch (error) {
    if (!isOwnFailure(error)) throw error;
    return null;
  }
}

/**
 * Returns the fastest of some makers' attempts, each told of the best so far, without those that take more for sure; none is tried
 * any more once one takes at most `enough` times the limit.
 */
async function fastestOf(
  makers: readonly Algorithm[],
  made: (maker: Algorithm, rivalUs: number | undefined) => Promise<Attempt>,
  leastUs: (maker: Algorithm) => number,
  enough: number,
): Promise<Attempt> {
  let best: Attempt = null;
  for (const maker of makers) {
    if (best !== null && usOf(best.report) <= enough * best.report.limit.us) break;
    if (best !== null && leastUs(maker) > usOf(best.report)) continue;
    const one: Attempt = await made(maker, best === null ? undefined : usOf(best.report));
    if (one !== null && (best === null || isBetter(one.report, best.report))) best = one;
  }
  return best;
}

/** Returns what so much takes at least: every message waits for a link out of an NPU, and all are sent over those. O(links). */
function leastPs(
  { linkSource, linkLatencyPs, linkBytesPerSecond, npuCount }: Topology,
  { groupMembers }: Collective,
  effort: Effort | undefined,
): number {
  if (effort === undefined) return 0;
  let hopPs = Number.POSITIVE_INFINITY;
  let bytesPerSecond = 0;
  linkSource.forEach((node, link) => {
    if (node >= npuCount) return;
    hopPs = Math.min(hopPs, linkLatencyPs[link]);
    bytesPerSecond += linkBytesPerSecond[link];
  });
  const sentPs = (effort.sentBytes * groupMembers.length * PS_PER_SECOND) / bytesPerSecond;
  return Math.max(effort.chain * hopPs, sentPs);
}

const nothingFor = (collective: CollectiveKind, topology: Topology): InputError =>
  new InputError("the algorithm", `one that makes ${collective} on ${topology.name}`, inWords("none"));

/**
 * Returns what it takes when the first member of every group sends `bytes` to its second at the same time, on shortest ways: the
 * way's latency and the most loaded link of all. O(groups x hops).
 */
export function sendCost(topology: Topology, { members, size }: NpuGroups, bytes: number): CommunicationCost {
  const { linkBytesPerSecond, linkLatencyPs } = topology;
  const list = messages();
  for (let at = 0; at < members.length; at += size) list.add(0, members[at], members[at + 1], false);
  const { routes, routeOf } = shortestRoutes(topology, list);
  const loadPs = new Float64Array(linkBytesPerSecond.length);
  let latencyPs = 0;
  for (let i = 0; i < list.count; i++) {
    let wayPs = 0;
    for (let k = routes.linkOffset[routeOf[i]]; k < routes.linkOffset[routeOf[i] + 1]; k++) {
      const link = routes.links[k];
      loadPs[link] += (bytes * PS_PER_SECOND) / linkBytesPerSecond[link];
      wayPs += linkLatencyPs[link];
    }
    latencyPs = Math.max(latencyPs, wayPs);
  }
  const ps = Math.ceil(loadPs.reduce((most, load) => Math.max(most, load), 0) + latencyPs);
  return { algorithm: "send", ps, use: loadPs.map((load) => (ps === 0 ? 0 : load / ps)) };
}

/**
 * Returns costs that are made for powers of four of bytes only, and interpolated between: to rank many steps by. Links are in use as
 * at the larger of the two sizes.
 */
export function interpolatedCosts(costOf: CostOf): CostOf {
  return async (kind, groups, bytes) => {
    const low = 4 ** Math.floor(Math.log2(Math.max(1, bytes)) / 2);
    const [below, above] = [await costOf(kind, groups, low), await costOf(kind, groups, 4 * low)];
    const ps = Math.ceil(below.ps + ((above.ps - below.ps) * (bytes - low)) / (3 * low));
    return { ...above, ps: Math.max(1, ps) };
  };
}
