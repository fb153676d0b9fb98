import type { Collective } from "../collective/collective.ts";
import { commonValue, distancesFrom, graph, groupedBy } from "../graph/graph.ts";
import { orderByTime } from "../numbers/ordering.ts";
import { add, compare, divide, multiply, type Rational, rational } from "../numbers/rational.ts";
import { formatTime, PS_PER_SECOND } from "../numbers/units.ts";
import { type RouteSet, type RouteTimes, reversedRoutes } from "../routes/routes.ts";
import { nodeCount, reversed, type Topology } from "../topology/topology.ts";
import { timeReversed } from "./byte-partition.ts";
import { capacityOf } from "./capacity.ts";
import { BUDGET, bordersOf, type Dimension, prefixDemands, steepest, visitSets, worstCuts } from "./cut-sets.ts";
import { demandCost, demandOf, npuDemands } from "./demand.ts";
import { type RouteView, reversedView, routeView, slotGraph } from "./graph.ts";
import type { LagWitness } from "./lag.ts";
import { farthestPair } from "./latency.ts";
import { type Found, forwardLimit, roundedBytes } from "./limit.ts";
import { fixedPartitions, partitionsInto, tryRoutePartition } from "./partition.ts";
import {
  type CutContext,
  crossingTime,
  cutWitness,
  noTails,
  npuMayRaise,
  tryCut,
  tryTail,
  usedOf,
} from "./route-cuts.ts";
import { crossingRoutes, markSet, portsOf, sidesOf } from "./sides.ts";
import {
  asBound,
  type Best,
  type Bound,
  inReversedTime,
  nothingYet,
  offerWhole,
  reversedWitness,
  type Witness,
} from "./witness.ts";
import { tryRouteWork } from "./work.ts";

/**
 * Returns a proved lower bound on the link-busy time of any schedule for the collective over these routes and chunks:
 * whole transfers, each occupying its route for its slot.
 *
 * The largest of: cuts (whole transfers that fit over the border of a set, and its complement, against the chunks that must
 * cross), the tail bound of sets joined by faster links, total work (of an all-reduce also that between boxes, groups and
 * what faster links join), and the slot time of the farthest pair. Never a sum.
 * Reduce-scatter, reduce and gather are bounded as all-gather, broadcast and scatter on the reversed network: a schedule
 * run backwards in time delivers a copy along every path that a contribution took. All-reduce gets no sum of two halves,
 * which would not be a bound, but every broadcast and reduction hidden in it.
 *
 * About 0.1 s for 40,000 NPUs with 160,000 links; `visitSets`, `worstCuts`, `farthestPair` say what is left out when
 * large. Throws InfeasibleError when the routes cannot carry the collective.
 */
export const boundOf = (topology: Topology, collective: Collective, routes: RouteSet, times: RouteTimes): Bound =>
  boundOfTransfers(topology, collective, routes, times, false);

/**
 * Returns a proved lower bound as `boundOf` that holds for schedules with merged sends as well: a message of n chunks takes
 * latency + n x serialisation of its route.
 *
 * The same machinery, with a slot for the first chunk and a serialisation for each further one. Proof: a chunk's hop takes a
 * slot at least, so distances are those of slots. A route with k > 0 messages of n chunks together is taken for
 * k x latency + n x serialisation, so n is at most floor((time - latency) / serialisation), counted from the earliest start of
 * a message (`capacityOf` has the same for links that routes share). What counts transfers, or when they end, counts the
 * chunks of messages: those of one message are there when it ends, and each is delivered by it alone. Turned around in time, a
 * merged send is one again. Costs as `boundOf`. Throws InfeasibleError.
 */
export const mergedBoundOf = (topology: Topology, collective: Collective, routes: RouteSet, times: RouteTimes): Bound =>
  boundOfTransfers(topology, collective, routes, times, true);

function boundOfTransfers(
  topology: Topology,
  collective: Collective,
  routes: RouteSet,
  times: RouteTimes,
  merged: boolean,
): Bound {
  if (isTrivial(collective)) return { ps: rational(0), witness: { kind: "nothing" } };
  const mirror = unreduced(collective);
  if (mirror === null) return forwardBound(topology, collective, routes, times, merged);
  return turnedAround(topology, () => forwardBound(reversed(topology), mirror, reversedRoutes(routes), times, merged));
}

/**
 * Returns a proved lower bound that is free of any choice of chunks, algorithm or pipelining: the largest of what cuts prove,
 * what partitions prove (`tryPartition`), distances over all bandwidth where each chunk goes to one NPU, and the latency of
 * the farthest pair alone. All-reduce: the whole buffer crosses every cut that separates members, each way. Of the narrowest few
 * cuts and partitions bandwidth and latency count together (`leastTime`). `found`: further ones to try; whatever they are,
 * the limit is true. Throws InfeasibleError.
 */
export function limitOf(topology: Topology, collective: Collective, found: Found = {}): Bound {
  if (isTrivial(collective)) return { ps: rational(0), witness: { kind: "nothing" } };
  const mirror = unreduced(collective);
  if (mirror === null) return forwardLimit(topology, collective, found);
  return turnedAround(topology, () => forwardLimit(timeReversed(topology), mirror, found));
}

const isTrivial = (collective: Collective): boolean =>
  collective.chunkCount === 0 || (collective.kind !== "custom" && collective.groupSize < 2);

/** Returns the collective that this one is in reversed time, for those that are bounded that way; null for the others. */
function unreduced(collective: Collective): Collective | null {
  const { kind, pre, post } = collective;
  const mirror =
    kind === "reducescatter" ? "allgather" : kind === "reduce" ? "broadcast" : kind === "gather" ? "scatter" : null;
  return mirror === null ? null : { ...collective, kind: mirror, pre: post, post: pre, reduces: false };
}

function turnedAround(topology: Topology, reversedBound: () => Bound): Bound {
  const { ps, witness } = inReversedTime(topology, reversedBound);
  return { ps, witness: reversedWitness(witness) };
}

function forwardBound(
  topology: Topology,
  collective: Collective,
  routes: RouteSet,
  times: RouteTimes,
  merged: boolean,
): Bound {
  const { npuCount } = topology;
  const { kind, groupCount, groupSize, groupMembers, rootRank, chunksPerNpu } = collective;
  const context = contextOf(routeView(topology, routes, times, merged));
  const { best, view, budget } = context;
  const forward = slotGraph(view);
  const far = farthestPair(topology, collective, forward, () => slotGraph(view, true));
  offerWhole(best, far.ps, () => ({ kind: "latency", from: far.from, to: far.to }));
  if (merged && times.serialPs.includes(0)) return asBound(best); // any number of chunks fits anywhere

  const demands = demandOf(collective, npuCount);
  const root = (kind === "broadcast" || kind === "scatter") && groupCount === 1 ? groupMembers[rootRank] : null;
  const everywhere = kind === "custom" || kind === "allreduce" || startsEverywhere(collective, npuCount);
  const release = everywhere ? null : distancesFrom(forward, holders(collective));
  const costly = { ...context, demandCost: demandCost(collective) };
  const pockets: Int32Array[] = [];
  const distinctPockets: Int32Array[] = [];
  const trySet = (set: Int32Array): void => tryCut(costly, set, demands, release, root);
  const named = kind !== "custom";
  const needs = npuDemands(collective, npuCount);
  visitSets(topology, view, budget, {
    visit: (set, pocket, again) => {
      if (!again) trySet(set);
      if (pocket) pockets.push(set);
      if (pocket && !again) distinctPockets.push(set);
    },
    worthTrying: (npu) => !named || npuMayRaise(context, npu, needs.into[npu], needs.outOf[npu], release),
    prefixes: (dimension) => (named && view.direct ? prefixesToTry(context, collective, dimension, release) : null),
  });
  for (const set of worstCuts(topology, collective)) trySet(set);

  const foreign = foreignChunks(collective, npuCount);
  if (kind === "allgather" || kind === "broadcast") {
    for (const set of distinctPockets) tryTail(context, set, foreign(set), release);
  }
  for (let g = 0; (kind === "broadcast" || kind === "scatter") && g < groupCount; g++) {
    const members = groupMembers.subarray(g * groupSize, (g + 1) * groupSize);
    tryRooted(context, members[rootRank], members, chunksPerNpu, kind as "broadcast", false);
  }
  if (kind === "allreduce") {
    const back = contextOf(reversedView(view, reversed(topology), reversedRoutes(routes)));
    back.best.wholePs = best.wholePs;
    const adopt = (): void => offerWhole(best, back.best.wholePs, () => reversedWitness(back.best.witness));
    for (const set of distinctPockets) {
      tryTail(context, set, foreign(set), null);
      tryTail(back, set, foreign(set), null);
      adopt();
    }
    tryHiddenBroadcasts(context, back, collective, [far.from, far.to], adopt);
    for (const partition of [...fixedPartitions(topology), ...partitionsInto(topology, pockets)]) {
      tryRoutePartition(best, view, collective, partition);
    }
  }
  tryRouteWork(best, view, collective);
  return asBound(best);
}

function contextOf(view: RouteView): CutContext {
  const best: Best = nothingYet();
  return {
    view,
    ports: portsOf(view.topology),
    sides: sidesOf(view.topology),
    budget: { left: BUDGET },
    demandCost: 0,
    best,
    tails: noTails(),
  };
}

/** Returns whether every NPU holds a chunk at the start, for collectives with a name. */
const startsEverywhere = ({ kind, groupMembers }: Collective, npuCount: number): boolean =>
  kind !== "broadcast" && kind !== "scatter" && groupMembers.length === npuCount;

/** Returns the NPUs that hold any chunk at the start, for collectives with a name. */
function holders({ kind, groupMembers, groupSize, rootRank }: Collective): Int32Array {
  return kind === "broadcast" || kind === "scatter"
    ? groupMembers.filter((_, i) => i % groupSize === rootRank)
    : groupMembers;
}

/** Yields the slabs of a dimension over whose border fewer transfers fit by the time known so far than must cross it. */
function prefixesToTry(
  { view, best, budget }: CutContext,
  collective: Collective,
  dimension: Dimension,
  release: Float64Array | null,
): Iterable<number> {
  const demands = prefixDemands(collective, dimension);
  const most = demands.into.reduce((a, b) => Math.max(a, b), 0) + demands.outOf.reduce((a, b) => Math.max(a, b), 0);
  const { source, target } = view.routes;
  const { pacePs, leadPs } = view;
  const alike = release === null && commonValue(pacePs) !== null && (leadPs === null || commonValue(leadPs) !== null);
  const fitting = (route: number): number => {
    const start = (release === null ? 0 : release[source[route]]) + (leadPs === null ? 0 : leadPs[route]);
    const time = best.wholePs - start;
    return time > 0 ? Math.min(most, Math.floor(time / pacePs[route])) : 0;
  };
  const borders = () => {
    budget.left -= pacePs.length;
    const amount = alike ? fitting(0) : pacePs.map((_, route) => fitting(route));
    return bordersOf(dimension, source, target, amount);
  };
  return steepest(demands, borders, (demand, fits) => demand > fits);
}

/**
 * Returns, for a set, the number of chunks that an NPU of it wants and that start outside it, or, for all-reduce, must
 * bring something from outside; every member of one process group wants the same ones. O(set) per set.
 */
function foreignChunks(collective: Collective, npuCount: number): (set: Int32Array) => (npu: number) => number {
  const { kind, groupCount, groupSize, groupMembers, rootRank, chunksPerNpu } = collective;
  const { offset, items } = groupedBy(groupMembers, npuCount);
  return (set) => {
    const inside = new Int32Array(groupCount);
    const rootInside = new Uint8Array(groupCount);
    for (const v of set) {
      if (v >= npuCount) continue;
      for (let i = offset[v]; i < offset[v + 1]; i++) {
        const group = Math.floor(items[i] / groupSize);
        inside[group]++;
        if (items[i] % groupSize === rootRank) rootInside[group] = 1;
      }
    }
    const ofGroup = (group: number): number => {
      const outside = groupSize - inside[group];
      if (kind === "allgather") return outside * chunksPerNpu;
      if (kind === "broadcast") return (1 - rootInside[group]) * chunksPerNpu;
      return outside > 0 ? groupSize * chunksPerNpu : 0;
    };
    return (npu) => {
      let need = 0;
      for (let i = offset[npu]; i < offset[npu + 1]; i++) need += ofGroup(Math.floor(items[i] / groupSize));
      return need;
    };
  };
}

/**
 * Tries what a broadcast or scatter from `root` must do at its two ends.
 *
 * Leaving: every route out of the root leads to a neighbour, from which NPU v is at least q(v) away; a chunk for v has left
 * the root by T - q(v). So for every q the transfers that fit out of the root by T - q reach the number of chunks whose
 * farthest target is q or more away. Arriving: with `arriving`, each NPU's own border, where nothing can enter before it
 * has come from the root. `chunks` is what every member wants (broadcast), or each member its own (scatter).
 */
function tryRooted(
  context: CutContext,
  root: number,
  members: Int32Array,
  chunks: number,
  kind: "broadcast" | "scatter",
  arriving: boolean,
): void {
  const { view, sides, best, budget } = context;
  const { routes, topology } = view;
  const one = Int32Array.of(root);
  markSet(sides, one);
  const leaving = crossingRoutes(view, sides, one, "out");
  const neighbours = leaving.route.map((route) => routes.target[route]);
  const all = slotGraph(view);
  budget.left -= 4 * (routes.source.length + topology.npuCount);
  const remaining = distancesFrom(all, neighbours);
  const capacity = capacityOf(view, leaving, null);
  const targets = farthestFirst(members, root, remaining);
  for (let i = 0; i < (kind === "broadcast" ? Math.min(1, targets.length) : targets.length); i++) {
    const to = targets[i];
    if (kind === "scatter" && i + 1 < targets.length && remaining[targets[i + 1]] === remaining[to]) continue;
    const count = kind === "broadcast" ? chunks : chunks * (i + 1);
    const known = Math.max(0, best.wholePs - remaining[to]);
    const time = crossingTime(capacity, count, known);
    if (time === null) break;
    offerWhole(best, time + remaining[to], () => ({
      ...cutWitness(context, one, "out", `${count} chunks`),
      ...usedOf(context, one, "out", leaving),
      chunks: count,
      to,
    }));
  }
  if (!arriving) return;

  const release = distancesFrom(all, [root]);
  const wanted = { into: chunks, outOf: 0 };
  for (const npu of targets) {
    if (budget.left <= 0) return;
    if (!npuMayRaise(context, npu, wanted.into, wanted.outOf, release)) continue;
    one[0] = npu;
    tryCut(context, one, () => wanted, release, root);
  }
}

/** Returns the members but the root, the farthest first, equally far ones in order. */
function farthestFirst(members: Int32Array, root: number, distance: Float64Array): Int32Array {
  const others = members.filter((v) => v !== root).sort();
  const nearness = new Float64Array(others.length);
  let farthest = 0;
  for (let i = 0; i < others.length; i++) farthest = Math.max(farthest, distance[others[i]]);
  for (let i = 0; i < others.length; i++) nearness[i] = farthest - distance[others[i]];
  const order = orderByTime(nearness);
  const targets = new Int32Array(others.length);
  for (let i = 0; i < targets.length; i++) targets[i] = others[order[i]];
  return targets;
}

/**
 * Tries, for all-reduce, the broadcasts and reductions hidden in it: each NPU's contribution to every chunk must reach
 * every other, so it takes no less than a broadcast of all N x chunks from any NPU u (the transfers that carry a part of
 * u), and, by the same argument in reversed time, no less than a reduction to any NPU. `reversed` is the context of the
 * network turned around. All NPUs are tried as u while that is cheap, else the two ends of the farthest pair.
 */
function tryHiddenBroadcasts(
  context: CutContext,
  reversed: CutContext,
  collective: Collective,
  ends: readonly number[],
  offerReversed: () => void,
): void {
  const { groupCount, groupSize, groupMembers, chunksPerNpu } = collective;
  const chunks = groupSize * chunksPerNpu;
  const cost = 8 * context.view.slotPs.length * groupMembers.length;
  for (let group = 0; group < groupCount; group++) {
    const members = groupMembers.subarray(group * groupSize, (group + 1) * groupSize);
    for (const root of members) {
      if (cost > 8_000_000 && !ends.includes(root)) continue;
      tryRooted(context, root, members, chunks, "broadcast", true);
      tryRooted(reversed, root, members, chunks, "broadcast", true);
      offerReversed();
    }
  }
}

/** Returns the greater of two bounds, the first among equals: what both prove. */
export const greaterBound = (a: Bound, b: Bound): Bound => (compare(b.ps, a.ps) > 0 ? b : a);

/**
 * Returns the "ideal" of the TACOS papers in picoseconds: size x 2(N-1)/N over the smallest NPU bandwidth, plus the
 * diameter (TACOS 2024, section V-A); for all-gather and reduce-scatter half the bytes. Null for other collectives and for
 * several process groups, where the papers define none.
 *
 * It is printed for comparison and is not a bound: an optimal all-reduce on a 3x3 mesh takes 0.75 of it. An NPU's bandwidth
 * is the smaller of what its links can send and receive; the diameter is by latency, as in `limitOf`.
 */
export function referencePs(topology: Topology, collective: Collective): Rational | null {
  const { kind, groupSize, groupCount, groupMembers, sizeBytes } = collective;
  const halves = kind === "allreduce" ? 2 : kind === "allgather" || kind === "reducescatter" ? 1 : 0;
  if (halves === 0 || groupCount !== 1) return null;
  if (groupSize < 2) return rational(0);
  const nodes = nodeCount(topology);
  const { linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  const sends = new Float64Array(nodes);
  const receives = new Float64Array(nodes);
  for (let link = 0; link < linkSource.length; link++) {
    sends[linkSource[link]] += linkBytesPerSecond[link];
    receives[linkTarget[link]] += linkBytesPerSecond[link];
  }
  let least = Number.POSITIVE_INFINITY;
  for (const npu of groupMembers) least = Math.min(least, sends[npu], receives[npu]);
  const forward = graph(nodes, linkSource, linkTarget, linkLatencyPs);
  const backward = () => graph(nodes, linkTarget, linkSource, linkLatencyPs);
  const diameter = farthestPair(topology, collective, forward, backward).ps;
  const bytes = multiply(rational(sizeBytes), rational(halves * (groupSize - 1), groupSize));
  const serial = divide(multiply(bytes, rational(PS_PER_SECOND)), rational(least));
  return add(serial, rational(diameter));
}

/** Returns the latency of the farthest pair between which something must travel, in picoseconds: what any size takes. */
export function farthestLatencyPs(topology: Topology, collective: Collective): number {
  if (isTrivial(collective)) return 0;
  const mirror = unreduced(collective);
  const nodes = nodeCount(topology);
  const { linkSource, linkTarget, linkLatencyPs } = mirror === null ? topology : reversed(topology);
  const forward = graph(nodes, linkSource, linkTarget, linkLatencyPs);
  const backward = () => graph(nodes, linkTarget, linkSource, linkLatencyPs);
  return farthestPair(topology, mirror ?? collective, forward, backward).ps;
}

/**
 * Returns what proves the bound in one phrase: "0 receives 24 chunks through 134.22 GB/s", "the 8 NPUs of box0 ...", "the
 * latency from 0 to 24".
 */
export function describeWitness(topology: Topology, bound: Bound): string {
  const { witness } = bound;
  const name = (node: number): string => npuName(topology, node);
  switch (witness.kind) {
    case "nothing":
      return "nothing has to be sent";
    case "latency":
      return `one chunk travels from ${name(witness.from)} to ${name(witness.to)}`;
    case "program": {
      const { slots, columns, rows, nodes } = witness;
      const searched = nodes === 0 ? "its linear relaxation has no solution" : `no solution in ${nodes} nodes`;
      return `${slots} slots are too few for ${witness.model}: an integer program of ${columns} columns and ${rows} rows, ${searched}`;
    }
    case "dual":
      return `${witness.cuts.length} weighted cuts (dual of the linear program): what is reduced and broadcast shares the links across them`;
    case "lengths": {
      const used = witness.lengths.reduce((count, length) => count + (length > 0 ? 1 : 0), 0);
      return `lengths of ${used} links (dual of the maximum concurrent flow): what is sent takes up the distance from source to target`;
    }
    case "work":
      return `${witness.demand} in all through ${gbps(witness.totalGBps)} in total${ofAll(witness.networkGBps)}`;
    case "partition":
      return `${partsText(topology, witness)} ${witness.side === "out" ? "send" : "receive from"} each other ${bytesOf(witness)} through ${gbps(witness.totalGBps)} in total${lagText(witness)}`;
    case "cut": {
      const verb = witness.direction === "in" ? "receive" : "send";
      const start = witness.from === undefined ? "" : `, none before it has come from ${name(witness.from)}`;
      const end = witness.to === undefined ? "" : `, the last of which must reach ${name(witness.to)}`;
      return `${subject(topology, witness.nodes, verb)} ${witness.demand} through ${throughText(witness)}${start}${end}${lagText(witness)}`;
    }
    case "doubling":
      return doublingText(topology, witness);
    case "tail": {
      const into = witness.direction === "in";
      const rest = into
        ? `and what arrives from ${formatTime(witness.afterPs)} on must still reach ${name(witness.npu)}`
        : `and ${name(witness.npu)} must pass its part on ${formatTime(witness.afterPs)} or more before the end`;
      return `${subject(topology, witness.nodes, into ? "receive" : "send")} ${witness.demand} through ${throughText(witness)}, ${rest}`;
    }
  }
}

const lagText = ({ leastLagPs }: LagWitness): string =>
  leastLagPs === undefined || leastLagPs === 0 ? "" : `, ${formatTime(leastLagPs)} or more on the way`;

/** Returns "in each of 4 rounds of 300 ns or more what an NPU knows at most doubles, from 1 to 16 chunks, and each takes 10 ns". */
function doublingText({ npuCount }: Topology, witness: Extract<Witness, { kind: "doubling" }>): string {
  const { direction, what, count, known, ways, sets, rounds, roundPs, chunkPs } = witness;
  const one = sets === npuCount ? "an NPU" : `one of ${sets} sets of NPUs`;
  const grows = ways === 1 ? "doubles" : ways === 2 ? "triples" : `grows ${1 + ways}-fold`;
  const of =
    what === "chunks"
      ? `what ${one} ${direction === "in" ? "knows" : "must still hand out, seen from the end,"} at most ${grows}`
      : `${direction === "in" ? "how many have added to a sum" : "how many have a chunk"} at most ${grows}`;
  const many = `from ${known} to ${count}${what === "chunks" ? " chunks" : ""}`;
  const each = chunkPs === 0 ? "" : `; each of ${count - known} more takes ${formatTime(chunkPs)}`;
  const lanes = chunkPs === 0 || ways === 1 ? "" : `, ${ways} at a time`;
  return `in each of ${rounds} rounds of ${formatTime(roundPs)} or more ${of}, ${many}${each}${lanes}`;
}

/** Returns "the 8 NPUs", "the 4 sets of 8 NPUs", "the 3 sets of NPUs" where they are not equally large. */
function partsText({ npuCount }: Topology, { parts, nodes }: Extract<Witness, { kind: "partition" }>): string {
  if (parts === npuCount) return `the ${parts} NPUs`;
  const size = new Float64Array(parts);
  let node = 0;
  for (const [part, count, step] of nodes) {
    for (let i = 0; i < count && node < npuCount; i++, node++) size[part + i * step]++;
  }
  const common = commonValue(size);
  return `the ${parts} sets of ${common === null ? "" : `${common} `}NPUs`;
}

/** Returns the bytes of a witness in words. */
function bytesOf({ bytes }: Extract<Witness, { kind: "partition" }>): string {
  const [num, den = "1"] = bytes.split("/");
  return roundedBytes(Number(BigInt(num) / BigInt(den)));
}

/** Returns "100 GB/s", or "50 GB/s, all that these routes use of 100 GB/s". */
const throughText = ({ usedGBps, entryGBps }: { readonly usedGBps?: number; readonly entryGBps: number }): string =>
  usedGBps === undefined ? gbps(entryGBps) : `${gbps(usedGBps)}${ofAll(entryGBps)}`;

/** Returns what a part of the links is a part of; nothing where it is all of them. */
const ofAll = (allGBps: number | undefined): string =>
  allGBps === undefined ? "" : `, all that these routes use of ${gbps(allGBps)}`;

const gbps = (value: number): string => `${Number(value.toPrecision(5))} GB/s`;

const npuName = (topology: Topology, node: number): string =>
  /^\d+$/.test(topology.nodeNames[node]) ? `NPU ${topology.nodeNames[node]}` : topology.nodeNames[node];

/** Names the set, with the verb in its number: one node, a whole node group, or the first few of many. */
function subject(topology: Topology, nodes: readonly number[], verb: string): string {
  const npus = nodes.filter((v) => v < topology.npuCount);
  if (npus.length === 1) return `${npuName(topology, npus[0])} ${verb}s`;
  const count = `the ${npus.length} NPUs`;
  const group = topology.nodeTraits[npus[0]]?.group;
  if (group !== undefined && npus.every((v) => topology.nodeTraits[v].group === group)) {
    const whole = topology.nodeTraits.slice(0, topology.npuCount).filter((t) => t.group === group).length;
    if (whole === npus.length) return `${count} of ${group} ${verb}`;
  }
  const names = npus.map((v) => topology.nodeNames[v]);
  const follows = (name: string, i: number): boolean =>
    npus[i] === npus[0] + i && (!/^\d+$/.test(name) || Number(name) === Number(names[0]) + i);
  if (names.length > 2 && names.every(follows)) return `${count} ${names[0]} to ${names[names.length - 1]} ${verb}`;
  const shown = names.slice(0, 6);
  return `${count} ${shown.join(", ")}${npus.length > 6 ? ", ..." : ""} ${verb}`;
}
