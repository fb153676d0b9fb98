import { describe, expect, it } from "vitest";
import { InfeasibleError, InputError } from "../../../src/base/errors.ts";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { compare, format, multiply, type Rational, rational } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { paperTrees } from "../../../src/synthesize/forestcoll/grow.ts";
import {
  type FixedPacking,
  fixedCopies,
  nextCopies,
  optimumOf,
  type RatedNetwork,
} from "../../../src/synthesize/forestcoll/optimum.ts";
import { packingNetwork } from "../../../src/synthesize/forestcoll/packing.ts";
import { forestFaults, narrowestOfAll, smallNetwork } from "../../support/eulerian-graphs.ts";

const { rate } = jsKernels;
const ones = (count: number): Float64Array => new Float64Array(count).fill(1);
const inGBps = (bytesPerSecond: Rational): string => format(multiply(bytesPerSecond, rational(1, 10n ** 9n)));

async function fixedOn(network: RatedNetwork, weight: Float64Array, k: bigint) {
  const optimum = await optimumOf(network, weight, rate);
  return { optimum, fixed: await fixedCopies(network, weight, k, optimum, rate) };
}

/** Returns the least j / (some bandwidth) at which no cut of the network is too narrow for the copies. */
function leastByTrial(network: RatedNetwork, copies: readonly bigint[], most: Rational): Rational {
  const candidates = [...new Set(network.bandwidth)].flatMap((b) => {
    const last = Number((most.num * BigInt(b)) / most.den);
    return Array.from({ length: last }, (_, j) => rational(j + 1, b));
  });
  candidates.sort(compare);
  const fits = (u: Rational): boolean => {
    const capacity = Array.from(network.bandwidth, (b) => (u.num * BigInt(b)) / u.den);
    const { weight, leaving } = narrowestOfAll(network, capacity, copies);
    return weight <= leaving;
  };
  // what fits at one candidate fits at all greater ones
  let [from, to] = [0, candidates.length - 1];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (fits(candidates[middle])) to = middle;
    else from = middle + 1;
  }
  return candidates[from];
}

function treesOrNull(network: RatedNetwork, fixed: FixedPacking) {
  try {
    return paperTrees(network, fixed);
  } catch (error) {
    if (error instanceof InfeasibleError) return null;
    throw error;
  }
}

describe("fixedCopies", () => {
  it.each([
    [1n, "320"],
    [2n, "1024/3"],
    [3n, "2400/7"],
    [4n, "1024/3"],
    [5n, "8000/23"],
    [83n, "5312/15"],
    [166n, "5312/15"],
  ])("gathers on two MI250 boxes with %i trees per GPU at %s GB/s, as published", async (k, bandwidth) => {
    const topology = presetTopology("mi250:2");
    const members = Int32Array.from({ length: 32 }, (_, v) => v);
    const network = packingNetwork(topology, members, topology.linkBytesPerSecond, "out");
    const { fixed } = await fixedOn(network, ones(32), k);
    expect(inGBps(fixed.bytesPerSecond)).toBe(bandwidth);
    expect(fixed).toMatchObject({ k, wider: null });
    expect(forestFaults(network, fixed, paperTrees(network, fixed))).toEqual([]);
  });

  it("finds the least U of all candidates, within what theorem 35 grants (300 random networks)", async () => {
    for (let seed = 0; seed < 300; seed++) {
      const network = smallNetwork(seed, [3, 12, 60][seed % 3]);
      const weight = ones(network.npuCount).map((w, v) => (seed % 5 === 0 ? (v * seed) % 4 : w));
      if (weight.every((w) => w === 0)) continue;
      const k = BigInt(1 + (seed % 7));
      const { fixed, optimum } = await fixedOn(network, weight, k);
      expect(compare(fixed.copiesPerBandwidth, fixed.mostCopiesPerBandwidth)).toBeLessThanOrEqual(0);
      expect(compare(fixed.bytesPerSecond, optimum.bytesPerSecond)).toBeLessThanOrEqual(0);
      expect(fixed.copiesPerBandwidth).toEqual(leastByTrial(network, fixed.copies, fixed.mostCopiesPerBandwidth));
    }
  });

  it("reaches the optimum with a multiple of the fewest copies, on bandwidths of any size", async () => {
    for (let seed = 0; seed < 30; seed++) {
      const network = smallNetwork(seed, 1e6);
      const { k } = await optimumOf(network, ones(network.npuCount), rate);
      if (k * 18n > BigInt(Number.MAX_SAFE_INTEGER)) continue;
      const { fixed, optimum } = await fixedOn(network, ones(network.npuCount), 3n * k);
      expect(fixed.bytesPerSecond).toEqual(optimum.bytesPerSecond);
      expect(fixed.capacity).toEqual(optimum.capacity.map((amount) => 3n * amount));
    }
  });

  it("names a switch whose floors leave more capacity out than in", async () => {
    const found: number[] = [];
    for (let seed = 0; seed < 60; seed++) {
      const network = smallNetwork(seed, 12);
      const { fixed } = await fixedOn(network, ones(network.npuCount), 1n);
      const surplus = Array.from({ length: network.nodeCount }, () => 0n);
      for (const [e, amount] of fixed.capacity.entries()) {
        surplus[network.linkSource[e]] += amount;
        surplus[network.linkTarget[e]] -= amount;
      }
      const first = surplus.findIndex((value, v) => v >= network.npuCount && value > 0n);
      expect(fixed.wider).toBe(first < 0 ? null : first);
      if (first >= 0) found.push(seed);
    }
    expect(found.length).toBeGreaterThan(3);
  });

  it("goes on to the next U where floors leave no trees, which then exist after a few (200 random networks)", async () => {
    let most = 0;
    for (let seed = 300; seed < 500; seed++) {
      const network = smallNetwork(seed, [10, 1000, 1e9][seed % 3]);
      const weight = ones(network.npuCount);
      let { fixed } = await fixedOn(network, weight, BigInt(1 + (seed % 5)));
      for (let tries = 0; ; tries++) {
        const trees = treesOrNull(network, fixed);
        most = Math.max(most, tries);
        if (trees !== null) {
          expect(forestFaults(network, fixed, trees)).toEqual([]);
          break;
        }
        expect(fixed.wider).not.toBeNull();
        const next = nextCopies(network, weight, fixed);
        expect(compare(next.copiesPerBandwidth, fixed.copiesPerBandwidth)).toBeGreaterThan(0);
        const more = next.capacity.filter((amount, e) => amount !== fixed.capacity[e]);
        expect(more.length).toBeGreaterThan(0);
        expect(next.capacity.every((amount, e) => amount - fixed.capacity[e] <= 1n)).toBe(true);
        fixed = next;
      }
    }
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(10);
  });

  it("refuses more copies than numbers are exact for", async () => {
    await expect(fixedOn(smallNetwork(1, 5), ones(smallNetwork(1, 5).npuCount), 2n ** 53n)).rejects.toThrow(InputError);
  });
});
