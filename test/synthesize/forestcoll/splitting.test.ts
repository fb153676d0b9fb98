import { describe, expect, it } from "vitest";
import { InfeasibleError } from "../../../src/base/errors.ts";
import { random } from "../../../src/base/random.ts";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { optimumOf, type RatedNetwork } from "../../../src/synthesize/forestcoll/optimum.ts";
import { type LogicalArc, splitSwitches } from "../../../src/synthesize/forestcoll/splitting.ts";
import { narrowestOfAll, smallNetwork } from "../../support/eulerian-graphs.ts";
import { bothWays, rateOf } from "../../support/rate-problems.ts";
import { infeasible } from "../../support/refusals.ts";

const optimumOfAll = (network: RatedNetwork) =>
  optimumOf(network, new Float64Array(network.npuCount).fill(1), jsKernels.rate);

/** Returns what is wrong with arcs that stand for paths through a network. */
function arcFaults(
  { npuCount, linkSource, linkTarget }: RatedNetwork,
  capacity: readonly bigint[],
  arcs: LogicalArc[],
) {
  const faults: string[] = [];
  const load = capacity.map(() => 0n);
  for (const { source, target, capacity: width, strands } of arcs) {
    const name = `arc ${source} > ${target}`;
    if (source >= npuCount || target >= npuCount || source === target) faults.push(`${name} joins no two NPUs`);
    let all = 0n;
    for (const { links, amount } of strands) {
      let at = source;
      for (const link of links) {
        if (linkSource[link] !== at) faults.push(`${name}: link ${link} does not start at ${at}`);
        at = linkTarget[link];
        load[link] += amount;
      }
      if (at !== target) faults.push(`${name}: a strand ends at ${at}`);
      if (amount < 1n) faults.push(`${name}: a strand of ${amount}`);
      all += amount;
    }
    if (all !== width) faults.push(`${name}: strands of ${all} in all`);
  }
  for (const [e, amount] of load.entries()) {
    if (amount > capacity[e]) faults.push(`link ${e} carries ${amount} of ${capacity[e]}`);
  }
  return faults;
}

/** Returns whether no set of NPUs has more copies than the arcs that leave it carry. */
function isWideEnough(npuCount: number, arcs: LogicalArc[], copies: readonly bigint[]): boolean {
  const network = {
    nodeCount: npuCount,
    npuCount,
    linkSource: Int32Array.from(arcs, ({ source }) => source),
    linkTarget: Int32Array.from(arcs, ({ target }) => target),
  };
  const widths = arcs.map(({ capacity }) => capacity);
  const { weight, leaving } = narrowestOfAll(network, widths, copies);
  return weight <= leaving;
}

describe("splitSwitches", () => {
  it("replaces switches by arcs on the same links without loss for trees (300 random networks)", async () => {
    for (let seed = 0; seed < 300; seed++) {
      const network = smallNetwork(seed, [1, 10, 1e9][seed % 3]);
      const { capacity, copies } = await optimumOfAll(network);
      const arcs = splitSwitches(network, capacity, copies);
      expect(arcFaults(network, capacity, arcs)).toEqual([]);
      expect(isWideEnough(network.npuCount, arcs, copies)).toBe(true);
    }
  });

  it("leaves what is more into a switch than out of it unused (300 random networks)", async () => {
    for (let seed = 0; seed < 300; seed++) {
      const network = smallNetwork(seed, 9);
      if (network.nodeCount === network.npuCount) continue;
      const draws = random(seed, 3);
      // links from NPUs to switches are wider than balance asks for, links between NPUs of any width
      const bandwidth = network.bandwidth.map((b, e) => {
        const intoSwitch = network.linkTarget[e] >= network.npuCount;
        return network.linkSource[e] >= network.npuCount ? b : b + (intoSwitch ? draws.below(5) : draws.below(3));
      });
      const uneven = { ...network, bandwidth };
      const { capacity, copies } = await optimumOfAll(uneven);
      const arcs = splitSwitches(uneven, capacity, copies);
      expect(arcFaults(uneven, capacity, arcs)).toEqual([]);
      expect(isWideEnough(network.npuCount, arcs, copies)).toBe(true);
    }
  });

  it("replaces a switch between four NPUs by arcs that carry all it carries", () => {
    const star = rateOf(4, 1, bothWays([0, 1, 2, 3].map((v) => [v, 4, 3] as const)));
    const capacity = Array.from(star.capacity, BigInt);
    const arcs = splitSwitches(star, capacity, [1n, 1n, 1n, 1n]);
    for (let v = 0; v < 4; v++) {
      const into = arcs.filter(({ target }) => target === v);
      expect(into.reduce((sum, arc) => sum + arc.capacity, 0n)).toBe(3n);
    }
    expect(arcs.every(({ strands }) => strands.every(({ links }) => links.length === 2))).toBe(true);
  });

  it("names a set that more copies start in than can leave it", () => {
    const pair = rateOf(3, 0, bothWays([[0, 1, 2] as const, [1, 2, 9] as const]));
    const split = () => splitSwitches(pair, Array.from(pair.capacity, BigInt), [3n, 1n, 1n]);
    expect(split).toThrow(InfeasibleError);
    try {
      split();
    } catch (error) {
      expect((error as InfeasibleError).witness).toEqual({ nodes: [0] });
    }
  });

  it("names a switch that would have to multiply what comes in", () => {
    // one unit into the switch, one out of it to each of three NPUs: every cut is wide enough for one tree from NPU 0
    const fan = rateOf(4, 1, [
      [0, 4, 1],
      [4, 1, 1],
      [4, 2, 1],
      [4, 3, 1],
    ]);
    const split = () => splitSwitches(fan, Array.from(fan.capacity, BigInt), [1n, 0n, 0n, 0n]);
    expect(split).toThrow(infeasible({ nodes: [4] }));
  });
});
