import { type Collective, membersOf } from "../collective/collective.ts";
import { disjointSets } from "../graph/graph.ts";
import { add, type Rational, rational } from "../numbers/rational.ts";
import type { RouteSet, RouteTimes } from "../routes/routes.ts";
import type { Topology } from "../topology/topology.ts";
import { asBound, type Best, type Bound, nothingYet, offerRational, type Witness } from "./witness.ts";

/** So many of the least latencies are tried as those of faster routes, which join NPUs to sets. */
const MOST_LEVELS = 8;

/** Memberships of chunks of a custom collective that are read; of more, none. */
const MOST_MEMBERSHIPS = 4e6;

/** Sets of NPUs, and what leads from one to another. */
interface Level {
  /** [NPUs] the least NPU of the set. */
  readonly of: Int32Array;
  readonly sets: number;
  /** Of the routes between sets, each the least. */
  readonly latencyPs: number;
  readonly serialPs: number;
  /** Most messages that one set can receive, or send, at a time. */
  readonly ways: Readonly<Record<Direction, number>>;
}

type Direction = "in" | "out";
type Doubling = Extract<Witness, { kind: "doubling" }>;

/**
 * Returns a proved lower bound on the planned time of any schedule for the collective over these routes and chunks, merged sends
 * included: a message of m chunks takes latency + m x serialisation of its route. It counts what chunk counts over borders
 * cannot (`mergedBoundOf`): that a message brings only what its sender knew when it began, so that latencies add up.
 *
 * Gathering. Let the NPUs be in sets (at first each by itself), a the least latency and b the least serialisation of routes between
 * sets, D the most messages that one set receives at a time from others. One NPU must end with n chunks, of which no set has
 * more than h at the start, all different. Then it ends no sooner than g(n), g(x) = a x ceil(log(x / h) to base 1 + D) + b x (x - h) / D.
 *
 * Proof. Messages into a set are in D lanes, those of one lane one after the other: at most floor(1 / least share) are on a link
 * at a time, and intervals of which at most L overlap are in L lanes (interval graphs are perfect); each message is charged to one
 * link. Let K(t) be the most of the n chunks that a set can know at t, and G(t) the greatest x with g(x) <= t; g rises, and is
 * continuous from the left, so there is one. By induction over the ends of messages a lane has brought no more than
 * (G(t) - h) / D by t: its last message began at s with m of the chunks, m <= K(s) <= G(s) = x, and the lane had brought
 * (x - h) / D at most. g(x + D m) <= g(x) + a + b m, since x + D m <= (1 + D) x is one power of the base more at most; the message ends
 * at s + a + b m or later, when G is x + D m at least, so the lane has brought (x - h) / D + m <= (G(t) - h) / D. All D lanes together
 * with h make K(t) <= G(t). What moves inside a set takes no time here, which only weakens the bound.
 *
 * Scattering is gathering in reversed time (a merged send is one again): D counts what a set sends. An all-to-all is both; so is an
 * all-reduce: of each chunk only the contribution of its own rank is followed, which is an all-gather. Copies of one chunk, and
 * contributions in one sum: the same with a + b for a and 0 for b, since one message of a chunk takes a + b, and adds at most
 * what its sender has.
 *
 * Sets: for each of the least latencies what faster routes join is a set, so that a few slow routes between boxes count as
 * such. Zero where none of this applies (custom reductions). O(levels x (routes + members)); of a custom collective each membership once more.
 */
export function doublingBoundOf(
  topology: Topology,
  collective: Collective,
  routes: RouteSet,
  times: RouteTimes,
): Bound {
  const best = nothingYet();
  const isIdle = collective.chunkCount === 0 || (collective.kind !== "custom" && collective.groupSize < 2);
  if (isIdle) return asBound(best);
  const least = [...new Set(times.latencyPs)].sort((a, b) => a - b).slice(0, MOST_LEVELS);
  for (const fromPs of least) {
    const level = levelOf(topology, routes, times, fromPs);
    if (level.sets === 1) break;
    tryLevel(best, level, collective);
  }
  return asBound(best);
}

/** Returns the sets of NPUs that routes of less latency than this join. */
function levelOf(
  { npuCount, linkSource }: Topology,
  { source, target, linkOffset, links, shareNum, shareDen }: RouteSet,
  { latencyPs, serialPs }: RouteTimes,
  fromPs: number,
): Level {
  const joined = disjointSets(npuCount);
  for (let route = 0; route < source.length; route++)
    if (latencyPs[route] < fromPs) joined.join(source[route], target[route]);
  const of = Int32Array.from({ length: npuCount }, (_, npu) => joined.least(npu));
  let sets = 0;
  for (let npu = 0; npu < npuCount; npu++) if (of[npu] === npu) sets++;

  let [leastLatencyPs, leastSerialPs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const waysOf = (direction: Direction): number => {
    const end = direction === "in" ? target : source;
    const routesOn = new Int32Array(linkSource.length);
    const atOnce = new Float64Array(linkSource.length);
    const setOf = new Int32Array(linkSource.length);
    for (let route = 0; route < source.length; route++) {
      if (of[source[route]] === of[target[route]]) continue;
      leastLatencyPs = Math.min(leastLatencyPs, latencyPs[route]);
      leastSerialPs = Math.min(leastSerialPs, serialPs[route]);
      const place = direction === "in" ? linkOffset[route + 1] - 1 : linkOffset[route];
      const link = links[place];
      routesOn[link]++;
      atOnce[link] = Math.max(atOnce[link], Math.floor(shareDen[place] / shareNum[place]));
      setOf[link] = of[end[route]];
    }
    const ways = new Float64Array(npuCount);
    for (let link = 0; link < routesOn.length; link++) ways[setOf[link]] += Math.min(routesOn[link], atOnce[link]);
    return ways.reduce((a, b) => Math.max(a, b), 0);
  };
  const ways = { in: waysOf("in"), out: waysOf("out") };
  return { of, sets, latencyPs: leastLatencyPs, serialPs: leastSerialPs, ways };
}

/** Offers what a level proves of a collective. */
function tryLevel(best: Best, level: Level, collective: Collective): void {
  const { kind, chunksPerNpu, groupSize } = collective;
  const offer = (direction: Direction, what: Doubling["what"], count: number, known: number): void => {
    const { latencyPs, serialPs, sets } = level;
    const ways = level.ways[direction];
    if (ways === 0 || count <= known) return;
    const [eachPs, chunkPs] = what === "chunks" ? [latencyPs, serialPs] : [latencyPs + serialPs, 0];
    const rounds = roundsOf(count, known, 1 + ways);
    const ps = add(timesOf(eachPs, rounds), timesOf(chunkPs, count - known, ways));
    offerRational(best, ps, () => ({
      kind: "doubling",
      direction,
      what,
      count,
      known,
      ways,
      sets,
      rounds,
      roundPs: eachPs,
      chunkPs,
    }));
  };
  if (kind === "custom") {
    if (collective.reduces) return;
    for (const { count, known } of wantedBy(collective, level.of)) offer("in", "chunks", count, known);
    return;
  }
  const { chunks, copies } = DIRECTIONS[kind];
  const together = mostTogether(collective, level.of);
  for (const direction of chunks) offer(direction, "chunks", groupSize * chunksPerNpu, together * chunksPerNpu);
  for (const direction of copies) offer(direction, "copies", groupSize, together);
}

/** By kind: where chunks are gathered ("in") or scattered, and where sums grow ("in") or copies become more. */
const DIRECTIONS: Readonly<
  Record<
    Exclude<Collective["kind"], "custom">,
    { readonly chunks: readonly Direction[]; readonly copies: readonly Direction[] }
  >
> = {
  allgather: { chunks: ["in"], copies: ["out"] },
  reducescatter: { chunks: ["out"], copies: ["in"] },
  allreduce: { chunks: ["in", "out"], copies: ["in", "out"] },
  alltoall: { chunks: ["in", "out"], copies: [] },
  broadcast: { chunks: [], copies: ["out"] },
  reduce: { chunks: [], copies: ["in"] },
  gather: { chunks: ["in"], copies: [] },
  scatter: { chunks: ["out"], copies: [] },
};

/** Returns how many rounds `known` takes to become `count` where each multiplies it by `factor`. */
function roundsOf(count: number, known: number, factor: number): number {
  let rounds = 0;
  for (let most = known; most < count; most *= factor) rounds++;
  return rounds;
}

const timesOf = (ps: number, times: number, by = 1): Rational => rational(BigInt(ps) * BigInt(times), BigInt(by));

/** Returns the least, over process groups, of the most members that one set has. */
function mostTogether({ groupCount, groupSize, groupMembers }: Collective, of: Int32Array): number {
  const inSet = new Int32Array(of.length);
  let least = groupSize;
  for (let g = 0; g < groupCount; g++) {
    const members = groupMembers.subarray(g * groupSize, (g + 1) * groupSize);
    let most = 0;
    for (const npu of members) most = Math.max(most, ++inSet[of[npu]]);
    for (const npu of members) inSet[of[npu]] = 0;
    least = Math.min(least, most);
  }
  return least;
}

/** Returns, for each NPU that wants chunks, how many, and the most of them that one set has at the start. */
function wantedBy(
  collective: Collective,
  of: Int32Array,
): readonly { readonly count: number; readonly known: number }[] {
  const count = new Float64Array(of.length);
  const held = Array.from({ length: of.length }, () => new Map<number, number>());
  let read = 0;
  for (let chunk = 0; chunk < collective.chunkCount; chunk++) {
    const sets = new Set(Array.from(membersOf(collective, collective.pre, chunk), (npu) => of[npu]));
    const wanting = membersOf(collective, collective.post, chunk);
    read += wanting.length * sets.size;
    if (read > MOST_MEMBERSHIPS) return [];
    for (const npu of wanting) {
      count[npu]++;
      for (const set of sets) held[npu].set(set, (held[npu].get(set) ?? 0) + 1);
    }
  }
  return held.map((own, npu) => ({ count: count[npu], known: Math.max(1, ...own.values()) }));
}
