import { InternalError } from "../../base/errors.ts";
import type { Rate } from "../../engine/contract/kernels.ts";
import type { LpSolver } from "../../engine/contract/programs.ts";
import { bigLcm, commonDivisor } from "../../model/numbers/integers.ts";
import { compare, divide, multiply, type Rational, rational } from "../../model/numbers/rational.ts";
import type { DualCertificate } from "../../model/trees/tree-flow.ts";
import { programRows } from "../program-rows.ts";
import { balancedCapacity, cutSearch } from "./cuts.ts";
import { ACCURACY, PRECISIONS, partsTried, signedFraction } from "./exact-values.ts";
import type { RateKernel } from "./optimum.ts";
import type { PackingNetwork } from "./packing.ts";

/** What trees may use of each link so that what comes into a node that only forwards can leave it again. */
export interface Forwarding {
  /** Links that nothing may be used of are left out; bandwidths are in `unit`s. */
  readonly network: PackingNetwork;
  /** Bytes per second in one unit of its bandwidths. */
  readonly unit: Rational;
  /** Proves that no trees of the whole network, with these weights, are faster than the best of `network`; else the best known bound. */
  readonly certificate: DualCertificate;
  /** 1/seconds that one byte from every NPU (weight bytes from each) takes: what was reached, and what is proved. */
  readonly rate: Rational;
  readonly bound: Rational;
}

/** Returns whether some node that only forwards can send on more than comes in: then cuts promise more than trees carry. O(links). */
export function forwardsTooLittle({ nodeCount, npuCount, linkSource, linkTarget, bandwidth }: PackingNetwork): boolean {
  const surplus = new Float64Array(nodeCount);
  const lost = new Uint8Array(nodeCount);
  for (let l = 0; l < bandwidth.length; l++) {
    surplus[linkTarget[l]] += bandwidth[l];
    surplus[linkSource[l]] -= bandwidth[l];
  }
  for (let v = npuCount; v < nodeCount; v++) if (surplus[v] < 0) lost[v] = 1;
  return lost.some((bit) => bit === 1);
}

/** Up to so many NPUs times links cuts are sought for every NPU, above it the narrowest of all alone. */
const FEW_FLOWS = 2e5;
/** Linear programs solved at most. */
const ROUNDS = 400;
/** Parts of the greatest value that values are rounded to where no denominator leads to the bound. */
const FINE_PARTS = 2 ** 30;

/**
 * Returns what to use of each link where nodes that only forward have less bandwidth in than out: the best there is, with its
 * proof, or the best that was found. Member r contributes in proportion to weight[r] (exact integers).
 *
 * Zhao 2026, 4.4 takes Eulerian networks, and trims others beforehand. Here the linear program chooses: maximize x over
 * capacities c <= b that are balanced at nodes that only forward and of which x w(S) leave every set S that lacks a member. Right,
 * for any flow over paths is balanced there, and what is balanced there can be split off (4.5.3) and packed (Edmonds). Cuts
 * are added as they are violated. Prices of cuts (W) and potentials (g) of forwarding nodes prove
 *   x <= sum over links of b max(0, W + g(end) - g(start)) / sum over cuts of their price times w(S).
 */
export async function forwardingOf(
  whole: PackingNetwork,
  weight: Float64Array,
  direction: "out" | "in",
  rate: RateKernel,
  lp: LpSolver,
): Promise<Forwarding> {
  const common = commonDivisor(whole.bandwidth) || 1;
  const network = { ...whole, bandwidth: whole.bandwidth.map((b) => b / common) };
  const { capacity, prices } = await solved(network, weight, rate, lp);
  const proof = bestProof(network, weight, prices);
  const found = await exactCapacity(network, weight, capacity, proof.bound, rate);
  const kept = Int32Array.from(found.capacity.keys()).filter((l) => found.capacity[l] > 0);
  const scale = rational(common);
  return {
    network: {
      ...network,
      linkSource: kept.map((l) => network.linkSource[l]),
      linkTarget: kept.map((l) => network.linkTarget[l]),
      link: kept.map((l) => network.link[l]),
      bandwidth: Float64Array.from(kept, (l) => found.capacity[l]),
    },
    unit: rational(common, found.parts),
    certificate: certificateOf(network, direction, proof),
    rate: multiply(found.rate, scale),
    bound: multiply(proof.bound, scale),
  };
}

/** Prices of the linear program, as doubles. */
interface Prices {
  readonly cuts: readonly { readonly inside: Uint8Array; readonly weight: number }[];
  /** [nodes] 0 at members. */
  readonly potential: Float64Array;
}

/** Returns the capacities and the prices of the linear program, as doubles. Throws where its solver fails. */
async function solved(
  network: PackingNetwork,
  weight: Float64Array,
  rate: RateKernel,
  lp: LpSolver,
): Promise<{ readonly capacity: Float64Array; readonly prices: Prices }> {
  const { nodeCount, npuCount, linkSource, linkTarget, bandwidth } = network;
  const links = bandwidth.length;
  const most = bandwidth.reduce((a, b) => Math.max(a, b), 1);
  const total = weight.reduce((sum, w) => sum + w, 0);
  const fixed = programRows();
  const balance: Map<number, number>[] = Array.from({ length: nodeCount - npuCount }, () => new Map());
  const count = (node: number, link: number, sign: number): void => {
    const row = balance[node - npuCount];
    row?.set(link + 1, (row.get(link + 1) ?? 0) + sign);
  };
  for (let l = 0; l < links; l++) {
    count(linkTarget[l], l, 1);
    count(linkSource[l], l, -1);
  }
  for (const row of balance) fixed.add(0, 0, row);
  const objective = new Float64Array(links + 1);
  objective[0] = 1;
  const upper = new Float64Array(links + 1).fill(Number.POSITIVE_INFINITY);
  for (let l = 0; l < links; l++) upper[l + 1] = bandwidth[l] / most;
  const session = lp.open({ objective, lower: new Float64Array(links + 1), upper, rows: fixed.lpRows() });
  const members = Array.from({ length: npuCount }, (_, v) => v);
  const findCuts = cutSearch(network, members);
  const known = new Set<string>();
  const cuts: Uint8Array[] = [];
  const addCuts = (found: readonly Uint8Array[]): number => {
    const rows = programRows();
    let added = 0;
    for (const inside of found) {
      const share = weight.reduce((sum, w, v) => sum + (inside[v] === 1 ? w : 0), 0);
      const leaving = Array.from(bandwidth.keys()).filter(
        (l) => inside[linkSource[l]] === 1 && inside[linkTarget[l]] === 0,
      );
      const key = `${share} ${leaving.join(" ")}`;
      if (share === 0 || known.has(key)) continue;
      known.add(key);
      cuts.push(inside);
      // shares of all are 1, so that x is near the bandwidths
      rows.add(Number.NEGATIVE_INFINITY, 0, [[0, share / total], ...leaving.map((l) => [l + 1, -1] as const)]);
      added++;
    }
    if (added > 0) session.addRows(rows.lpRows());
    return added;
  };
  const isSmall = npuCount * links <= FEW_FLOWS;
  try {
    addCuts([
      ...members.map((v) => new Uint8Array(nodeCount).fill(1, v, v + 1)),
      ...members.map((v) => new Uint8Array(nodeCount).fill(1).fill(0, v, v + 1)),
    ]);
    for (let round = 1; ; round++) {
      const { status, primal, dual } = session.solve();
      if (status !== "optimal") throw new InternalError(`the linear program of forwarding nodes is ${status}`);
      const capacity = bandwidth.map((_, l) => Math.max(0, primal[l + 1] * most));
      const x = (primal[0] * most) / total;
      const narrowest = await cutBelow(network, weight, capacity, x, rate);
      if (narrowest !== null && round < ROUNDS) {
        const others = isSmall
          ? findCuts(
              weight.map((w) => w * x),
              capacity,
            )
          : [];
        if (addCuts([narrowest, ...others]) > 0) continue;
      }
      const potential = new Float64Array(nodeCount);
      for (let v = npuCount; v < nodeCount; v++) potential[v] = -dual[v - npuCount];
      const weights = cuts.map((inside, i) => ({ inside, weight: dual[balance.length + i] }));
      return { capacity, prices: { cuts: weights.filter((cut) => cut.weight > 0), potential } };
    }
  } finally {
    session.close();
  }
}

/** Returns the narrowest cut where less than x for each unit of weight in it leaves, null where there is none. */
async function cutBelow(
  network: PackingNetwork,
  weight: Float64Array,
  capacity: Float64Array,
  x: number,
  rate: RateKernel,
): Promise<Uint8Array | null> {
  const scale = FINE_PARTS / capacity.reduce((a, b) => Math.max(a, b), 0);
  const found = await narrowest(
    network,
    weight,
    capacity.map((c) => Math.round(c * scale)),
    rate,
  );
  const least = Number(found.capacity) / Number(found.shards) / scale;
  return least < x * (1 - ACCURACY) ? found.cut : null;
}

/** Returns the narrowest cut of whole capacities. */
function narrowest(
  { nodeCount, npuCount, linkSource, linkTarget }: PackingNetwork,
  weight: Float64Array,
  capacity: Float64Array,
  rate: RateKernel,
): Rate | Promise<Rate> {
  const open = Int32Array.from(capacity.keys()).filter((l) => capacity[l] > 0);
  return rate({
    nodeCount,
    npuCount,
    linkSource: open.map((l) => linkSource[l]),
    linkTarget: open.map((l) => linkTarget[l]),
    capacity: Float64Array.from(open, (l) => capacity[l]),
    weight,
  });
}

/** Weighted sets and potentials, exact, and what they prove in units of the network. */
interface Proof {
  readonly cuts: readonly { readonly inside: Uint8Array; readonly weight: Rational }[];
  readonly potential: readonly Rational[];
  readonly bound: Rational;
}

/** Returns the least bound that prices as fractions prove: any weights prove one. */
function bestProof(network: PackingNetwork, weight: Float64Array, prices: Prices): Proof {
  let best: Proof | null = null;
  for (const precision of PRECISIONS) {
    const fraction = (value: number): Rational => signedFraction(value, precision);
    const cuts = prices.cuts
      .map(({ inside, weight: price }) => ({ inside, weight: fraction(price) }))
      .filter((cut) => cut.weight.num > 0n);
    const potential = Array.from(prices.potential, fraction);
    const bound = provedBy(network, weight, cuts, potential);
    if (bound !== null && (best === null || compare(bound, best.bound) < 0)) best = { cuts, potential, bound };
  }
  if (best === null) throw new InternalError("prices of forwarding nodes that prove nothing");
  return best;
}

/** Returns the bound of weighted sets and potentials (see forwardingOf); null where the sets hold no share. O(cuts * links). */
function provedBy(
  { linkSource, linkTarget, bandwidth }: PackingNetwork,
  weight: Float64Array,
  cuts: Proof["cuts"],
  potential: readonly Rational[],
): Rational | null {
  let whole = 1n;
  for (const { den } of [...cuts.map((cut) => cut.weight), ...potential]) whole = bigLcm(whole, den);
  const scaled = ({ num, den }: Rational): bigint => num * (whole / den);
  const onLinks = Array.from(bandwidth, () => 0n);
  let shares = 0n;
  for (const { inside, weight: price } of cuts) {
    const own = scaled(price);
    weight.forEach((w, v) => {
      if (inside[v] === 1) shares += own * BigInt(w);
    });
    for (let l = 0; l < onLinks.length; l++)
      if (inside[linkSource[l]] === 1 && inside[linkTarget[l]] === 0) onLinks[l] += own;
  }
  if (shares === 0n) return null;
  const gain = potential.map(scaled);
  let sum = 0n;
  for (let l = 0; l < onLinks.length; l++) {
    const price = onLinks[l] + (gain[linkTarget[l]] ?? 0n) - (gain[linkSource[l]] ?? 0n);
    if (price > 0n) sum += price * BigInt(bandwidth[l]);
  }
  return rational(sum, shares);
}

/** Capacities in whole parts of a unit, and the rate that they carry, in units of the network. */
interface Exact {
  readonly parts: number;
  readonly capacity: Float64Array;
  readonly rate: Rational;
}

/**
 * Returns the best exact capacities near those given, the first that reach the bound: with the common denominator of their values,
 * with multiples of the bound's, and finely rounded. What forwarding nodes cannot pass on is taken off, and what is left of the
 * links is added where they can: trees have more to choose from then. One call of the rate kernel each.
 */
async function exactCapacity(
  network: PackingNetwork,
  weight: Float64Array,
  capacity: Float64Array,
  bound: Rational,
  rate: RateKernel,
): Promise<Exact> {
  const { bandwidth } = network;
  const greatest = capacity.reduce((a, b) => Math.max(a, b), 0);
  let best: Exact | null = null;
  for (const parts of partsTried(new Set(capacity), bound, bandwidth, FINE_PARTS / greatest)) {
    const limit = bandwidth.map((b) => b * parts);
    const near = balancedCapacity(
      network,
      capacity.map((c, l) => Math.min(limit[l], Math.round(c * parts))),
    );
    const spare = balancedCapacity(
      network,
      limit.map((b, l) => b - near[l]),
    );
    const all = near.map((c, l) => c + spare[l]);
    const found = await narrowest(network, weight, all, rate);
    const reached = divide(rational(found.capacity, found.shards), rational(parts));
    if (best === null || compare(reached, best.rate) > 0) best = { parts, capacity: all, rate: reached };
    if (compare(best.rate, bound) === 0) break;
  }
  if (best === null) throw new InternalError("bandwidths beyond exact numbers");
  return best;
}

/** Returns the proof in the numbers of the topology, whose links run the other way where the direction is "in". */
function certificateOf({ node }: PackingNetwork, direction: "out" | "in", { cuts, potential }: Proof): DualCertificate {
  const none = rational(0);
  return {
    kind: "dual",
    cuts: cuts.map(({ inside, weight }) => ({
      nodes: node.filter((_, v) => inside[v] === 1).sort(),
      direction,
      weight,
    })),
    potentials: potential
      .flatMap((value, v) =>
        value.num === 0n
          ? []
          : [
              direction === "out"
                ? { node: node[v], out: value, in: none }
                : { node: node[v], out: none, in: rational(-value.num, value.den) },
            ],
      )
      .sort((a, b) => a.node - b.node),
  };
}
