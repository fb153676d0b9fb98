import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InfeasibleError, InputError } from "../../../src/base/errors.ts";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { format, multiply, type Rational, rational } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { optimumOf, packable, type RatedNetwork } from "../../../src/synthesize/forestcoll/optimum.ts";
import { packingNetwork } from "../../../src/synthesize/forestcoll/packing.ts";
import { narrowestOfAll, smallNetwork } from "../../support/eulerian-graphs.ts";
import { bothWays, type LinkRow, rateOf } from "../../support/rate-problems.ts";
import { runs } from "../../support/runs.ts";

const { rate } = jsKernels;
const ones = (count: number): Float64Array => new Float64Array(count).fill(1);
const inGBps = (bytesPerSecond: Rational): string => format(multiply(bytesPerSecond, rational(1, 10n ** 9n)));

const wholeOf = (topology: Topology): RatedNetwork =>
  packingNetwork(
    topology,
    Int32Array.from({ length: topology.npuCount }, (_, v) => v),
    topology.linkBytesPerSecond,
    "out",
  );

const networkOf = (npus: number, switches: number, rows: readonly LinkRow[]): RatedNetwork => {
  const { capacity, ...network } = rateOf(npus, switches, rows);
  return { ...network, bandwidth: capacity };
};

const ring = (npus: number, bandwidth: number): RatedNetwork =>
  networkOf(npus, 0, bothWays(Array.from({ length: npus }, (_, v) => [v, (v + 1) % npus, bandwidth] as const)));

describe("optimumOf", () => {
  it.each([
    ["dgx-a100:2", "1040/3", 13n],
    ["dgx-a100:8", "1600/7", 1n],
    ["mi250:2", "5312/15", 83n],
    ["mi250:4", "1024/3", 8n],
    ["torus:8x8", "12800/63", 4n],
  ])("gathers on %s at %s GB/s with %i trees per NPU", async (name, bandwidth, k) => {
    const network = wholeOf(presetTopology(name));
    const optimum = await optimumOf(network, ones(network.npuCount), rate);
    expect({ bandwidth: inGBps(optimum.bytesPerSecond), k: optimum.k }).toEqual({ bandwidth, k });
  });

  it("finds the fewest copies for which all links have whole capacities (B.5.1), by trying all", async () => {
    for (let seed = 0; seed < 200; seed++) {
      const network = smallNetwork(seed, [2, 6, 30][seed % 3]);
      const { inverse, k, copiesPerBandwidth, copyBytesPerSecond, capacity, copies } = await optimumOf(
        network,
        ones(network.npuCount),
        rate,
      );
      const isWhole = (count: bigint): boolean =>
        network.bandwidth.every((b) => (count * inverse.num * BigInt(b)) % inverse.den === 0n);
      let fewest = 1n;
      while (!isWhole(fewest)) fewest++;
      expect(k).toBe(fewest);
      expect(copiesPerBandwidth).toEqual(multiply(inverse, rational(k)));
      expect(multiply(copiesPerBandwidth, copyBytesPerSecond)).toEqual(rational(1));
      expect(copies).toEqual(Array.from({ length: network.npuCount }, () => k));
      for (const [e, copiesThatFit] of capacity.entries()) {
        expect(rational(copiesThatFit)).toEqual(multiply(copiesPerBandwidth, rational(network.bandwidth[e])));
      }
    }
  });

  it("gives each NPU copies in proportion to its weight, at the rate of the narrowest cut", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: 1e6 }),
        fc.array(fc.nat({ max: 9 }), { minLength: 6, maxLength: 6 }),
        fc.integer({ min: 1, max: 1000 }),
        async (seed, drawn, unit) => {
          const network = smallNetwork(seed, 40);
          const weight = Float64Array.from(drawn.slice(0, network.npuCount), (w) => w * unit);
          fc.pre(weight.some((w) => w > 0));
          const { inverse, copies, k, capacity, bytesPerSecond } = await optimumOf(network, weight, rate);
          const width = Array.from(network.bandwidth, BigInt);
          const narrowest = narrowestOfAll(network, width, Array.from(weight, BigInt));
          expect(inverse).toEqual(rational(narrowest.weight, narrowest.leaving));
          const all = weight.reduce((a, b) => a + b, 0);
          expect(multiply(bytesPerSecond, inverse)).toEqual(rational(all));
          const atRate = narrowestOfAll(network, capacity, copies);
          expect(atRate.weight).toBe(atRate.leaving);
          // as many as for the weights without a common factor
          const reduced = await optimumOf(
            network,
            Float64Array.from(weight, (w) => w / unit),
            rate,
          );
          expect({ k, copies }).toEqual({ k: reduced.k, copies: reduced.copies });
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it("broadcasts over both links of a ring at once", async () => {
    const { inverse, k, copies, bytesPerSecond } = await optimumOf(ring(5, 100), Float64Array.of(0, 0, 7, 0, 0), rate);
    expect(inverse).toEqual(rational(7, 200));
    expect({ k, copies, bytesPerSecond }).toEqual({
      k: 2n,
      copies: [0n, 0n, 2n, 0n, 0n],
      bytesPerSecond: rational(200),
    });
  });

  it("hands exact capacities on, or says that doubles cannot hold them", async () => {
    const narrow = await optimumOf(ring(4, 10), ones(4), rate);
    expect(packable(narrow)).toEqual({ capacity: new Float64Array(8).fill(3), copies: new Float64Array(4).fill(2) });
    const odd = networkOf(
      3,
      0,
      bothWays([
        [0, 1, 2 ** 52 - 1],
        [1, 2, 2 ** 52 - 47],
      ]),
    );
    const wide = await optimumOf(odd, ones(3), rate);
    expect(packable(wide)).toBeNull();
    expect(wide.capacity.map((amount) => rational(amount))).toEqual(
      Array.from(odd.bandwidth, (b) => multiply(wide.copiesPerBandwidth, rational(b))),
    );
  });

  it("refuses one NPU alone, and names the set that nothing leaves", async () => {
    await expect(optimumOf(networkOf(1, 1, bothWays([[0, 1, 5]])), ones(1), rate)).rejects.toThrow(InputError);
    const parts = networkOf(
      4,
      0,
      bothWays([
        [0, 1, 5],
        [2, 3, 5],
      ]),
    );
    const refusal = await optimumOf(parts, ones(4), rate).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(InfeasibleError);
    const { nodes } = (refusal as InfeasibleError).witness as { nodes: number[] };
    expect(nodes.length).toBe(2);
  });
});
