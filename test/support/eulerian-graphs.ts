import { type Random, random } from "../../src/base/random.ts";
import type { Packing, RatedNetwork } from "../../src/synthesize/forestcoll/optimum.ts";
import { pick, shuffle } from "./draws.ts";

/** Random networks with as much capacity into every node as out of it, and what trees must reach on them. */

/** A network with trees that use every unit of it: so many copies at each NPU, and each link's capacity in copies. */
export interface Saturated {
  readonly network: RatedNetwork;
  readonly packing: Pick<Packing, "capacity" | "copies">;
}

/** Capacity from node to node, of any size. */
class Demands {
  readonly #between = new Map<number, bigint>();
  readonly nodeCount: number;

  constructor(nodeCount: number) {
    this.nodeCount = nodeCount;
  }

  widen(from: number, to: number, amount: bigint): void {
    const key = from * this.nodeCount + to;
    if (from !== to) this.#between.set(key, (this.#between.get(key) ?? 0n) + amount);
  }

  /** Capacity to each node less capacity from it. */
  surplus(): bigint[] {
    const surplus = new Array<bigint>(this.nodeCount).fill(0n);
    for (const [key, amount] of this.#between) {
      surplus[key % this.nodeCount] += amount;
      surplus[Math.floor(key / this.nodeCount)] -= amount;
    }
    return surplus;
  }

  /** Links in random order; some capacity in two parallel ones. */
  links(draws: Random): readonly { readonly from: number; readonly to: number; readonly amount: bigint }[] {
    const rows = [...this.#between].flatMap(([key, amount]) => {
      const ends = { from: Math.floor(key / this.nodeCount), to: key % this.nodeCount };
      const first =
        amount > 1n && draws.below(6) === 0
          ? 1n + BigInt(draws.below(Number(amount > 1000n ? 1000n : amount) - 1))
          : 0n;
      return [{ ...ends, amount: amount - first }, ...(first > 0n ? [{ ...ends, amount: first }] : [])];
    });
    shuffle(rows, draws);
    return rows;
  }
}

const columns = (npuCount: number, nodeCount: number, rows: ReturnType<Demands["links"]>) => ({
  nodeCount,
  npuCount,
  linkSource: Int32Array.from(rows, ({ from }) => from),
  linkTarget: Int32Array.from(rows, ({ to }) => to),
});

/** Adds capacity along closed walks until links lead from every node to every other: one through all nodes, `count` more. */
function closedWalks(demands: Demands, count: number, amount: () => bigint, draws: Random): void {
  const all = Array.from({ length: demands.nodeCount }, (_, v) => v);
  for (let walk = 0; walk <= count; walk++) {
    const stops = [...all];
    shuffle(stops, draws);
    if (walk > 0) stops.length = 2 + draws.below(stops.length - 1);
    const width = amount();
    for (const [i, from] of stops.entries()) demands.widen(from, stops[(i + 1) % stops.length], width);
  }
}

/**
 * Returns a balanced network of 3 to 6 NPUs and up to 3 switches whose bandwidths go up to about `most` (2^32 or less), by
 * closed walks.
 */
export function smallNetwork(seed: number, most: number): RatedNetwork {
  const draws = random(seed, 171);
  const npuCount = 3 + draws.below(4);
  const demands = new Demands(npuCount + draws.below(4));
  const amount = (): bigint => 1n + BigInt(draws.below(most));
  closedWalks(demands, 1 + draws.below(6), amount, draws);
  const rows = demands.links(draws);
  return {
    ...columns(npuCount, demands.nodeCount, rows),
    bandwidth: Float64Array.from(rows, (row) => Number(row.amount)),
  };
}

/**
 * Returns a network of 4 to `npus` NPUs and up to `switches` switches with a packing that leaves no unit of a link free, or, one
 * time in three, some closed walks more. Random trees are laid over each other along few or many pairs of nodes, as many copies
 * at every NPU or, one time in four, any numbers, some of them 0. Paths only pass switches, so these are balanced; NPUs that
 * send more than they receive get the difference from others along paths, which is what trees leave free.
 */
export function saturatedNetwork(seed: number, npus: number, switches: number): Saturated {
  const draws = random(seed, 172);
  const npuCount = 4 + draws.below(npus - 3);
  const demands = new Demands(npuCount + draws.below(switches + 1));
  const pairs = drawPairs(demands.nodeCount, pick([2, 3, 4, 8, demands.nodeCount], draws), draws);
  const trees = 1 + draws.below(3);
  const each = draws.below(4) > 0 ? 1 + draws.below(3) : 0;
  const copies = new Array<bigint>(npuCount).fill(0n);
  for (let i = 0; i < npuCount * trees; i++) {
    const root = i % npuCount;
    const count = BigInt(each > 0 ? each : i === 0 ? 1 : draws.below(40));
    copies[root] += count;
    if (count > 0n) layTree(demands, pairs, npuCount, root, count, draws);
  }
  balance(demands, pairs, draws);
  if (draws.below(3) === 0) closedWalks(demands, draws.below(4), () => BigInt(1 + draws.below(5)), draws);
  const rows = demands.links(draws);
  const capacity = rows.map(({ amount }) => amount);
  return {
    network: { ...columns(npuCount, demands.nodeCount, rows), bandwidth: Float64Array.from(capacity, Number) },
    packing: { capacity, copies },
  };
}

/** Returns where links may lead from each node: one closed walk through all nodes, and `degree` others from each. */
function drawPairs(nodeCount: number, degree: number, draws: Random): readonly (readonly number[])[] {
  const order = Array.from({ length: nodeCount }, (_, v) => v);
  shuffle(order, draws);
  const next: number[] = [];
  for (const [i, v] of order.entries()) next[v] = order[(i + 1) % nodeCount];
  return next.map((first, v) => {
    const others = Array.from({ length: degree }, () => draws.below(nodeCount)).filter((u) => u !== v);
    return [...new Set([first, ...others])];
  });
}

/** Lays a random tree: one NPU after another is reached from an earlier one. */
function layTree(
  demands: Demands,
  pairs: readonly (readonly number[])[],
  npuCount: number,
  root: number,
  count: bigint,
  draws: Random,
): void {
  const reached = [root];
  const isReached = new Uint8Array(npuCount);
  isReached[root] = 1;
  while (reached.length < npuCount) {
    const starts = [...reached];
    shuffle(starts, draws);
    for (const start of starts) {
      const path = pathFrom(
        pairs,
        start,
        (v) => v < npuCount && isReached[v] === 0,
        (v) => v >= npuCount,
        draws,
      );
      if (path === null) continue;
      for (const [i, v] of path.entries()) if (i > 0) demands.widen(path[i - 1], v, count);
      const end = path[path.length - 1];
      reached.push(end);
      isReached[end] = 1;
      break;
    }
  }
}

/** Returns a short path, drawn among its like, to the first node that `ends` it, through nodes that it may pass. */
function pathFrom(
  pairs: readonly (readonly number[])[],
  start: number,
  ends: (node: number) => boolean,
  passes: (node: number) => boolean,
  draws: Random,
): number[] | null {
  const before = new Int32Array(pairs.length).fill(-1);
  before[start] = start;
  const queue = [start];
  for (const v of queue) {
    const targets = [...pairs[v]];
    shuffle(targets, draws);
    for (const u of targets) {
      if (before[u] >= 0) continue;
      before[u] = v;
      if (ends(u)) {
        const path = [u];
        while (path[0] !== start) path.unshift(before[path[0]]);
        return path;
      }
      if (passes(u)) queue.push(u);
    }
  }
  return null;
}

/** Makes every NPU send as much as it receives. */
function balance(demands: Demands, pairs: readonly (readonly number[])[], draws: Random): void {
  const surplus = demands.surplus();
  for (const start of surplus.keys()) {
    while (surplus[start] > 0n) {
      const path = pathFrom(
        pairs,
        start,
        (v) => surplus[v] < 0n,
        () => true,
        draws,
      ) as number[];
      const end = path[path.length - 1];
      const amount = surplus[start] < -surplus[end] ? surplus[start] : -surplus[end];
      for (const [i, v] of path.entries()) if (i > 0) demands.widen(path[i - 1], v, amount);
      surplus[start] -= amount;
      surplus[end] += amount;
    }
  }
}

/** Returns the greatest w(S) / B+(S) over all 2^nodes sets that lack an NPU, as a fraction that is not reduced. */
export function narrowestOfAll(
  { nodeCount, npuCount, linkSource, linkTarget }: Omit<RatedNetwork, "bandwidth">,
  width: readonly bigint[],
  weight: readonly bigint[],
) {
  let best = { weight: 0n, leaving: 1n };
  for (let set = 1; set < 2 ** nodeCount; set++) {
    const has = (node: number): boolean => ((set >>> node) & 1) === 1;
    if (weight.every((_, v) => has(v))) continue;
    let inside = 0n;
    let leaving = 0n;
    for (let v = 0; v < npuCount; v++) if (has(v)) inside += weight[v];
    for (const [e, amount] of width.entries()) if (has(linkSource[e]) && !has(linkTarget[e])) leaving += amount;
    if (inside * best.leaving > best.weight * leaving) best = { weight: inside, leaving };
  }
  return best;
}

/** Returns what is wrong with a forest; nothing where trees span, start where they should and fit. */
export function forestFaults(
  { npuCount, linkSource, linkTarget }: Omit<RatedNetwork, "bandwidth">,
  { capacity, copies }: Pick<Packing, "capacity" | "copies">,
  trees: readonly { readonly root: number; readonly copies: bigint; readonly edges: readonly (readonly number[])[] }[],
): string[] {
  const faults: string[] = [];
  const load = capacity.map(() => 0n);
  const rooted = copies.map(() => 0n);
  for (const [t, tree] of trees.entries()) {
    if (tree.copies < 1n) faults.push(`tree ${t} stands for ${tree.copies}`);
    rooted[tree.root] += tree.copies;
    const reached = new Set([tree.root]);
    for (const links of tree.edges) {
      let at = links.length > 0 ? linkSource[links[0]] : -1;
      if (!reached.has(at)) faults.push(`tree ${t}: an edge starts at ${at} before it is reached`);
      const passed = new Set([at]);
      for (const [i, link] of links.entries()) {
        if (linkSource[link] !== at) faults.push(`tree ${t}: link ${link} does not start at ${at}`);
        at = linkTarget[link];
        if (passed.has(at)) faults.push(`tree ${t}: an edge visits node ${at} twice`);
        passed.add(at);
        if (i + 1 < links.length && at < npuCount) faults.push(`tree ${t}: an edge passes NPU ${at}`);
        load[link] += tree.copies;
      }
      if (at >= npuCount || reached.has(at)) faults.push(`tree ${t}: an edge ends at ${at}`);
      reached.add(at);
    }
    if (reached.size !== npuCount) faults.push(`tree ${t} reaches ${reached.size} of ${npuCount}`);
  }
  for (const [v, count] of rooted.entries())
    if (count !== copies[v]) faults.push(`${count} of ${copies[v]} at NPU ${v}`);
  for (const [e, amount] of load.entries())
    if (amount > capacity[e]) faults.push(`link ${e} carries ${amount} of ${capacity[e]}`);
  return faults;
}
