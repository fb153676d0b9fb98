import { flowSolver } from "../../model/graph/max-flow.ts";
import { commonDivisor } from "../../model/numbers/integers.ts";
import { commonDenominator } from "../../model/numbers/nearby-fractions.ts";
import { compare, multiply, type Rational, rational } from "../../model/numbers/rational.ts";
import { type AllReduceCopies, bottleneckOf, settled } from "./allreduce-exact.ts";
import type { AllReducePoint } from "./allreduce-lp.ts";
import { type AllReduceNetwork, reversedNetwork, unbalancedNode } from "./allreduce-network.ts";
import type { RateKernel } from "./optimum.ts";

/** Values of the linear program are right to so many parts of the greatest. */
const ACCURACY = 1e-9;
const MOST_PARTS = 1e6;
/** Multiples of the bound's denominator that are tried as denominators of the values. */
const MULTIPLES = [1, 2, 3, 4, 6, 8, 12];
/** Parts of the rate that values are rounded to where no denominator leads to the bound. */
const FINE_PARTS = 2 ** 40;
/** Copies per root, over what all roots have in common, that are tried for a solution with fewer copies. */
const FEWER = [1, 2, 3, 4, 5, 6, 8];

/**
 * Returns the best exact solution near a point, the first that reaches the bound (of the network, exact): with the common
 * denominator of its values, with multiples of the bound's, and with finely rounded values. The solution of a vertex has small
 * denominators, and those of great bandwidths are out of a double's sight; any rounding is one, if slower. Null where none is.
 */
export async function exactCopies(
  network: AllReduceNetwork,
  point: AllReducePoint,
  bound: Rational,
  rate: RateKernel,
): Promise<AllReduceCopies | null> {
  const most = Math.floor(Number.MAX_SAFE_INTEGER / (2 * network.bandwidth.reduce((sum, b) => sum + b, 0)));
  const values = new Set([...point.shares, ...point.out, ...point.in]);
  const common = commonDenominator(values, ACCURACY * Math.max(...values), MOST_PARTS);
  const fine = Math.max(1, Math.ceil(FINE_PARTS / point.rate));
  let best: AllReduceCopies | null = null;
  for (const parts of [
    common ?? 1,
    ...MULTIPLES.map((multiple) => multiple * Number(bound.den)),
    Math.min(fine, most),
  ]) {
    if (!(parts <= most)) continue;
    const found = await rounded(network, point, parts, rate);
    if (found !== null && (best === null || compare(found.rate, best.rate) > 0)) best = found;
    if (best !== null && compare(best.rate, bound) === 0) break;
  }
  return best;
}

/** Returns the exact solution of a point whose values are rounded to whole parts; forwarding nodes are balanced again. */
function rounded(
  network: AllReduceNetwork,
  point: AllReducePoint,
  parts: number,
  rate: RateKernel,
): Promise<AllReduceCopies | null> {
  const whole = (values: Float64Array): Float64Array => values.map((value) => Math.round(value * parts));
  const limited = (values: Float64Array, limit: (l: number) => number): Float64Array =>
    balanced(
      network,
      whole(values).map((value, l) => Math.min(value, limit(l))),
    );
  const out = limited(point.out, (l) => parts * network.bandwidth[l]);
  const into = limited(point.in, (l) => parts * network.bandwidth[l] - out[l]);
  return settled(network, parts, whole(point.shares), out, into, rate);
}

/**
 * Returns the solution with fewer, wider copies where capacities rounded down to those still carry them, at the same rate:
 * odd bandwidths of links that are not used up would otherwise decide how many copies there are.
 */
export async function withFewerCopies(
  network: AllReduceNetwork,
  solution: AllReduceCopies,
  rate: RateKernel,
): Promise<AllReduceCopies> {
  const shared = commonDivisor(solution.copies);
  for (const multiple of FEWER) {
    const width = shared / multiple;
    if (!Number.isInteger(width) || width === 1) continue;
    const copies = solution.copies.map((x) => x / width);
    const [out, into] = [solution.out, solution.in].map((capacity) =>
      balanced(
        network,
        capacity.map((c) => Math.floor(c / width)),
      ),
    ) as [Float64Array, Float64Array];
    const fits = async (way: AllReduceNetwork, capacity: Float64Array): Promise<boolean> => {
      const cut = await bottleneckOf(way, copies, capacity, rate);
      return cut.capacity > 0n && cut.shards <= cut.capacity;
    };
    if ((await fits(network, out)) && (await fits(reversedNetwork(network), into))) {
      return { ...solution, copies, out, in: into, copy: multiply(solution.copy, rational(width)) };
    }
  }
  return solution;
}

/** Returns capacities, none greater than before, that are balanced at forwarding nodes: a maximum flow through those. */
function balanced(network: AllReduceNetwork, capacity: Float64Array): Float64Array {
  if (unbalancedNode(network, capacity) === null) return capacity;
  const { nodeCount, memberCount, source, target } = network;
  const through = Int32Array.from(source.keys()).filter((l) => source[l] >= memberCount || target[l] >= memberCount);
  const [from, to] = [nodeCount, nodeCount + 1];
  const solve = flowSolver({
    nodes: nodeCount + 2,
    tail: through.map((l) => (source[l] < memberCount ? from : source[l])),
    head: through.map((l) => (target[l] < memberCount ? to : target[l])),
  });
  const { flow } = solve(
    Float64Array.from(through, (l) => capacity[l]),
    from,
    to,
  );
  const result = capacity.slice();
  through.forEach((l, i) => {
    result[l] = flow[i];
  });
  return result;
}
