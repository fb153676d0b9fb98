import type { Rate } from "../../engine/contract/kernels.ts";
import type { LpSolver } from "../../engine/contract/programs.ts";
import { limitOf } from "../../model/bounds/bounds.ts";
import { collective } from "../../model/collective/collective.ts";
import { commonDivisor, lcm } from "../../model/numbers/integers.ts";
import { compare, type Rational, rational, toNumber } from "../../model/numbers/rational.ts";
import { PS_PER_SECOND } from "../../model/numbers/units.ts";
import { oppositeLinks } from "../../model/topology/link-classes.ts";
import { inLinks, nodeCount, outLinks, type Topology } from "../../model/topology/topology.ts";
import { programRows } from "../program-rows.ts";
import type { RateKernel } from "./optimum.ts";
import { packingNetwork } from "./packing.ts";

/** Groups that run at once: what each may use of the links, so that the slowest is as fast as can be. */
export interface GroupShares {
  /** [groups][links] bytes per second, exact integers; of a link no more together than may be used of it. */
  readonly shares: readonly Float64Array[];
  /** How they were found, in words. */
  readonly how: string;
  /** Rate of the slowest group for one unit of weight, bytes per second. */
  readonly rate: Rational;
  /** No shares give the slowest group more, a double: by cuts, or by the linear program. */
  readonly most: number;
}

export interface GroupNetwork {
  readonly topology: Topology;
  /** [groups] NPUs in rank order. */
  readonly groups: readonly Int32Array[];
  /** [links] bytes per second, exact integers. */
  readonly usable: Float64Array;
  /** [members] what each contributes, in all groups alike. */
  readonly weight: Float64Array;
}

/** Programs of more columns than this are not solved. */
const MOST_COLUMNS = 2000;
/** Cuts are looked for so often. */
const MOST_ROUNDS = 80;
/** Into how many parts links are cut where groups take shares of them: tried in this order. */
const PARTS: readonly number[] = [1, 2, 3, 4, 6, 8, 12, 24, 60, 120, 720];
const MOST_PARTS = 720;
/** Capacities of a program as whole numbers, in parts of the widest link. */
const WHOLE = 2 ** 30;
const NEAR = 1e-6;

/**
 * Returns shares for groups that run at once. First each link is shared equally by the groups for some of whose members it is on a
 * shortest way: groups of which each has links of its own get these. Where no cut proves that this is best, and the linear program
 * of all shares says that more is possible, its shares, in few parts of a link so that few trees fill them. Shares are balanced where the network is: every link
 * has that of its opposite one, or all groups have the same part of all links.
 *
 * The program: maximize x with sum over groups of c_g(e) <= b(e), and x w(S) <= c_g(out of S) for every group g and node set S that
 * lacks a member of it (maximum flow = minimum cut, as in B.7 of Zhao 2026); cuts come as they are violated halfway between shares that are
 * known to do and those of the program so far. O(groups x links) and
 * the kernel `rate` once for each group and round.
 */
export async function groupShares(
  network: GroupNetwork,
  rate: RateKernel,
  lp: () => Promise<LpSolver>,
): Promise<GroupShares> {
  const { topology, groups, usable } = network;
  const opposite = oppositeLinks(topology.linkSource, topology.linkTarget, [usable]);
  const shares =
    opposite === null
      ? inParts(usable, groups.length, groups.length, (_, link) => usable[link] / groups.length)
      : sharedByWays(network);
  const how =
    opposite === null ? "an equal part of every link for each" : "links shared by the groups on whose ways they are";
  const first = { shares, how, rate: await slowest(network, shares, rate) };
  const byCuts = mostByCuts(network);
  const isSmall = 1 + (groups.length * usable.length) / 2 <= MOST_COLUMNS;
  if (opposite === null || !isSmall || toNumber(first.rate) >= byCuts * (1 - NEAR)) return { ...first, most: byCuts };
  const program = await programmed(network, opposite, first, rate, await lp());
  if (program === null) return { ...first, most: byCuts };
  const { points } = program;
  const most = Math.min(program.most, byCuts);
  if (toNumber(first.rate) >= most * (1 - NEAR)) return { ...first, most };
  let best: Omit<GroupShares, "most"> = first;
  for (const parts of PARTS) {
    for (const capacity of points) {
      const shares = inParts(usable, groups.length, parts, (group, link) => capacity[group][link]);
      const reached = await slowest(network, shares, rate);
      if (compare(reached, best.rate) > 0)
        best = { shares, how: `shares of a linear program, in parts of 1/${parts} of a link`, rate: reached };
    }
    if (toNumber(best.rate) >= most * (1 - NEAR)) break;
  }
  return { ...best, most };
}

/**
 * Returns [groups][links] what is wanted of each link, rounded down to whole multiples of 1/parts of the links' common divisor; all
 * together no more than the link, whatever a solver's last digits are.
 */
function inParts(
  usable: Float64Array,
  groups: number,
  parts: number,
  wanted: (group: number, link: number) => number,
): Float64Array[] {
  const whole = commonDivisor(usable) || 1;
  const unit = Math.floor(whole / parts);
  const left = usable.map((bandwidth) => (bandwidth / whole) * parts);
  return Array.from({ length: groups }, (_, group) =>
    left.map((most, link) => {
      const count = Math.min(most, Math.floor((wanted(group, link) * parts) / whole + NEAR));
      left[link] -= count;
      return count * unit;
    }),
  );
}

/** Returns equal shares of each link for the groups with a member between two of whose members it is on a shortest way. */
function sharedByWays({ topology, groups, usable }: GroupNetwork): readonly Float64Array[] {
  const isOnWay = groups.map((members) => linksOnWays(topology, usable, members));
  const claims = usable.map((_, link) => isOnWay.reduce((sum, own) => sum + own[link], 0));
  let parts = 1;
  for (const many of new Set(claims)) if (many > 0 && lcm(parts, many) <= MOST_PARTS) parts = lcm(parts, many);
  return inParts(usable, groups.length, parts, (group, link) =>
    isOnWay[group][link] === 0 ? 0 : usable[link] / claims[link],
  );
}

/** Returns [links] 1 for those that are on a way of fewest links between two members. O(members x links). */
function linksOnWays(topology: Topology, usable: Float64Array, members: Int32Array): Uint8Array {
  const { linkSource, linkTarget } = topology;
  const [out, into] = [outLinks(topology), inLinks(topology)];
  const onWay = new Uint8Array(linkSource.length);
  for (const root of members) {
    const hops = new Int32Array(nodeCount(topology)).fill(-1);
    const queue = [root];
    hops[root] = 0;
    for (let i = 0; i < queue.length; i++) {
      const node = queue[i];
      for (let k = out.offset[node]; k < out.offset[node + 1]; k++) {
        const [link, to] = [out.links[k], linkTarget[out.links[k]]];
        if (usable[link] === 0 || hops[to] >= 0) continue;
        hops[to] = hops[node] + 1;
        queue.push(to);
      }
    }
    const leads = new Uint8Array(hops.length);
    const back = Array.from(members);
    for (const member of back) leads[member] = 1;
    for (let node = back.pop(); node !== undefined; node = back.pop()) {
      for (let k = into.offset[node]; k < into.offset[node + 1]; k++) {
        const [link, from] = [into.links[k], linkSource[into.links[k]]];
        if (usable[link] === 0 || hops[from] < 0 || hops[from] + 1 !== hops[node]) continue;
        onWay[link] = 1;
        if (leads[from] === 1) continue;
        leads[from] = 1;
        back.push(from);
      }
    }
  }
  return onWay;
}

/** Returns the rate that no group can exceed while all have it, by cuts of the network that limits look at; Infinity without. */
function mostByCuts({ topology, groups, weight }: GroupNetwork): number {
  const kind = weight.includes(0) ? "broadcast" : "allgather";
  const rootRank = Math.max(0, weight.indexOf(1));
  const perUnit = 2 ** 20;
  const sizeBytes = kind === "broadcast" ? perUnit : perUnit * weight.length;
  const task = collective({ kind, groups, sizeBytes, chunksPerNpu: 1, rootRank });
  const { ps } = limitOf({ ...topology, linkLatencyPs: topology.linkLatencyPs.map(() => 0) }, task);
  return (perUnit * PS_PER_SECOND) / toNumber(ps);
}

/** Returns the rate of the slowest group, for one unit of weight. */
async function slowest(
  { topology, groups, weight }: GroupNetwork,
  shares: readonly Float64Array[],
  rate: RateKernel,
): Promise<Rational> {
  let least: Rational | null = null;
  for (const [g, members] of groups.entries()) {
    const { capacity, shards } = await rateOf(topology, members, shares[g], weight, rate);
    if (capacity === 0n) return rational(0);
    const own = rational(capacity, shards);
    if (least === null || compare(own, least) < 0) least = own;
  }
  return least ?? rational(0);
}

async function rateOf(
  topology: Topology,
  members: Int32Array,
  usable: Float64Array,
  weight: Float64Array,
  rate: RateKernel,
): Promise<Rate & { readonly node: Int32Array }> {
  const { bandwidth, node, ...network } = packingNetwork(topology, members, usable, "out");
  const { nodeCount, npuCount, linkSource, linkTarget } = network;
  const found = await rate({ nodeCount, npuCount, linkSource, linkTarget, capacity: bandwidth, weight });
  return { ...found, node };
}

/** The optimum of the program: its rate, and [groups][links] capacities in bytes per second; null where the solver gave up. */
async function programmed(
  { topology, groups, usable, weight }: GroupNetwork,
  opposite: Int32Array,
  known: Pick<GroupShares, "rate" | "shares">,
  rate: RateKernel,
  solver: LpSolver,
) {
  const { linkSource, linkTarget } = topology;
  const widest = usable.reduce((most, b) => Math.max(most, b), 1);
  // a link and its opposite one have one column in each group
  const pairOf = new Int32Array(usable.length).fill(-1);
  const first: number[] = [];
  for (let link = 0; link < usable.length; link++) {
    if (pairOf[link] >= 0) continue;
    pairOf[link] = first.length;
    pairOf[opposite[link]] = first.length;
    first.push(link);
  }
  const columnOf = (group: number, link: number): number => 1 + group * first.length + pairOf[link];
  const columns = 1 + groups.length * first.length;
  const rows = programRows();
  first.forEach((link) => {
    rows.add(
      Number.NEGATIVE_INFINITY,
      usable[link] / widest,
      groups.map((_, g) => [columnOf(g, link), 1] as const),
    );
  });
  const cutRow = (group: number, inside: Uint8Array): [number, number][] => {
    const members = groups[group];
    const own = new Map<number, number>();
    for (let link = 0; link < usable.length; link++) {
      if (inside[linkSource[link]] === 0 || inside[linkTarget[link]] === 1) continue;
      own.set(columnOf(group, link), (own.get(columnOf(group, link)) ?? 0) - 1);
    }
    const starting = members.reduce((sum, npu, rank) => sum + (inside[npu] === 1 ? weight[rank] : 0), 0);
    return [[0, starting], ...own];
  };
  for (const [g, members] of groups.entries()) {
    for (const npu of members) {
      const inside = new Uint8Array(nodeCount(topology)).fill(1);
      inside[npu] = 0;
      rows.add(Number.NEGATIVE_INFINITY, 0, cutRow(g, inside));
    }
  }
  const objective = new Float64Array(columns);
  objective[0] = 1;
  const session = solver.open({
    objective,
    lower: new Float64Array(columns),
    upper: new Float64Array(columns).fill(Number.POSITIVE_INFINITY),
    rows: rows.lpRows(),
  });
  // between what is known to do and what the program allows; cuts that part them lie close to both
  let [least, inner] = [toNumber(known.rate) / widest, known.shares.map((own) => own.map((share) => share / widest))];
  try {
    for (let round = 0; ; round++) {
      const { status, objective: most, primal } = session.solve();
      if (status !== "optimal") return null;
      if (round === MOST_ROUNDS || least >= most * (1 - NEAR)) {
        const outer = groups.map((_, g) => usable.map((_, link) => primal[columnOf(g, link)] * widest));
        return { most: most * widest, points: [outer, inner.map((own) => own.map((c) => c * widest))] };
      }
      for (let added = 0; added === 0 && least < most * (1 - NEAR); ) {
        const middle = inner.map((own, g) => own.map((c, link) => (c + primal[columnOf(g, link)]) / 2));
        const wanted = (least + most) / 2;
        const violated = programRows();
        for (const [g, members] of groups.entries()) {
          const own = middle[g].map((c) => Math.round(c * WHOLE));
          const found = await rateOf(topology, members, own, weight, rate);
          if (Number(found.capacity) >= Number(found.shards) * wanted * WHOLE * (1 - NEAR / 10)) continue;
          const inside = new Uint8Array(nodeCount(topology));
          found.cut.forEach((is, i) => {
            inside[found.node[i]] = is;
          });
          violated.add(Number.NEGATIVE_INFINITY, 0, cutRow(g, inside));
          added++;
        }
        if (added > 0) session.addRows(violated.lpRows());
        else [least, inner] = [wanted, middle];
      }
    }
  } finally {
    session.close();
  }
}
