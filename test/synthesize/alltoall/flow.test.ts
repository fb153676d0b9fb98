import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InfeasibleError, InputError } from "../../../src/base/errors.ts";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { openHighs } from "../../../src/engine/milp/highs.ts";
import { lengthsBound } from "../../../src/model/bounds/witness.ts";
import { graphOf } from "../../../src/model/direct/construction.ts";
import { networkOf } from "../../../src/model/direct/digraph.ts";
import { parseConstruction } from "../../../src/model/direct/parse.ts";
import { compare, type Rational, rational, toNumber } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { networkSymmetry } from "../../../src/model/symmetry/network-symmetry.ts";
import { nodeCount, type Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { type AllToAllFlow, allToAllFlow } from "../../../src/synthesize/alltoall/flow.ts";
import { provenRate } from "../../../src/verify/flows/flow-limit.ts";
import { allToAllRate } from "../../support/concurrent-problems.ts";
import { runs } from "../../support/runs.ts";
import { inlineRunner } from "../../support/synthesis.ts";

const LINK = 1000;
const runner = inlineRunner(jsKernels);
const lp = await openHighs();

const direct = (text: string): Topology =>
  networkOf(graphOf(parseConstruction(text)), text, { bytesPerSecond: LINK, latencyPs: 0 }).topology;

const ratio = (value: Rational): number => toNumber(value) / LINK;

/** Returns what is wrong with a flow: not conserved, negative, over a link's bandwidth at its rate, another bound. */
function brokenLaws(topology: Topology, demand: Float64Array | null, found: AllToAllFlow): string[] {
  const wrong: string[] = [];
  const { npuCount, linkSource, linkTarget, linkBytesPerSecond } = topology;
  const proven = provenRate(topology, demand, found.lengths);
  if (proven === null || compare(proven, found.bound) !== 0) wrong.push("the judge proves another bound");
  if (compare(found.rate, found.bound) > 0) wrong.push("the rate is above the bound");
  const load = new Float64Array(linkSource.length);
  for (let npu = 0; npu < npuCount; npu++) {
    const flow = found.flow(npu);
    const net = new Float64Array(nodeCount(topology));
    flow.forEach((amount, link) => {
      if (amount < 0) wrong.push(`NPU ${npu} sends ${amount} over link ${link}`);
      load[link] += amount;
      net[linkTarget[link]] += amount;
      net[linkSource[link]] -= amount;
    });
    for (let v = 0; v < net.length; v++) {
      const wanted = v >= npuCount || v === npu ? 0 : demand === null ? 1 : demand[npu * npuCount + v];
      if (v !== npu && Math.abs(net[v] - wanted) > 1e-9) wrong.push(`NPU ${npu} brings ${net[v]} to node ${v}`);
    }
  }
  const busiest = load.reduce((most, amount, link) => Math.max(most, amount / linkBytesPerSecond[link]), 0);
  if (Math.abs(busiest * toNumber(found.rate) - 1) > 1e-9) wrong.push("the flows reach another rate");
  return wrong;
}

describe("the concurrent flow of an all-to-all", () => {
  it.each<[string, number, number]>([
    ["hypercube:4: 2 / N", 2 / 16, 1e-6],
    ["torus:4x4: 8 / (side * N)", 8 / (4 * 16), 1e-6],
    ["torus:8x8: 8 / (side * N)", 8 / (8 * 64), 1e-6],
  ])("of a %s is what is known", async (name, rate, within) => {
    const topology = presetTopology(name.split(": ")[0]);
    const wide = topology.linkBytesPerSecond[0];
    const found = await allToAllFlow(topology, null, 1e-6, runner, null);
    expect(brokenLaws(topology, null, found)).toEqual([]);
    expect(toNumber(found.rate) / wide).toBeGreaterThan(rate * (1 - within));
    expect(toNumber(found.bound) / wide).toBeLessThan(rate * (1 + within));
  });

  it.each([
    ["L(K(4,4))", "5.71e-2"],
    ["DistReg(4,32)", "5.26e-2"],
    ["Pi(4,64)", "2.17e-2"],
    ["L2(K(4,4))", "9.89e-3"],
    ["L(DistReg(4,32))", "9.26e-3"],
    ["BiRing(2,8) x UniRing(1,4)^2", "5.21e-3"],
  ])("of %s is %s, to the digits of table A.1", async (text, digits) => {
    const found = await allToAllFlow(direct(text), null, 2e-4, runner, null);
    expect([found.rate, found.bound].map((value) => ratio(value).toExponential(2))).toEqual(
      [digits, digits].map((value) => Number(value).toExponential(2)),
    );
  });

  it("is the optimum where the linear program is small: 2/35 for L(K(4,4))", async () => {
    const found = await allToAllFlow(direct("L(K(4,4))"), null, 1e-8, runner, lp);
    expect(found.method).toContain("linear program");
    expect(ratio(found.rate)).toBeCloseTo(2 / 35, 9);
    expect(ratio(found.bound)).toBeCloseTo(2 / 35, 9);
  });

  it.each(["L(K(4,4))", "Pi(4,24)", "K(3,3)", "Diamond", "C(12,{2,3})", "UniRing(2,5)"])(
    "of %s by orbits is that of all NPUs by themselves",
    async (text) => {
      const topology = direct(text);
      const byOrbits = await allToAllFlow(topology, null, 1e-3, runner, null);
      const { npuCount } = topology;
      const ones = Float64Array.from({ length: npuCount ** 2 }, (_, i) => (i % (npuCount + 1) === 0 ? 0 : 1));
      const alone = await allToAllFlow(topology, ones, 1e-3, runner, null);
      expect(alone.method).toContain("no symmetry");
      expect(byOrbits.method).not.toContain("no symmetry");
      for (const found of [byOrbits, alone]) expect(brokenLaws(topology, ones, found)).toEqual([]);
      expect(compare(byOrbits.rate, alone.bound)).toBeLessThanOrEqual(0);
      expect(compare(alone.rate, byOrbits.bound)).toBeLessThanOrEqual(0);
      expect(toNumber(byOrbits.bound) / toNumber(byOrbits.rate)).toBeLessThanOrEqual(1.001001);
    },
  );

  it.each(["dgx-a100:2", "mesh:3x3", "dragonfly:4x5"])(
    "keeps its laws on %s, with switches and unequal links",
    async (name) => {
      const topology = presetTopology(name);
      const found = await allToAllFlow(topology, null, 1e-3, runner, null);
      expect(brokenLaws(topology, null, found)).toEqual([]);
      expect(toNumber(found.bound) / toNumber(found.rate)).toBeLessThanOrEqual(1.001001);
    },
  );

  it("meets the linear program with a flow for every pair on random networks with switches and demands", async () => {
    await fc.assert(
      fc.asyncProperty(networks, async ({ topology, demand }) => {
        const found = await allToAllFlow(topology, demand, 1e-3, runner, null);
        const best = LINK * optimum(topology, demand);
        expect(brokenLaws(topology, demand, found)).toEqual([]);
        expect(toNumber(found.rate)).toBeLessThanOrEqual(best * (1 + 1e-6));
        expect(toNumber(found.bound)).toBeGreaterThanOrEqual(best * (1 - 1e-6));
      }),
      { numRuns: runs(40) },
    );
  });

  it("gives a bound on time: bytes of a pair by the proven rate", () => {
    const bound = lengthsBound(Int32Array.of(1, 2), rational(1000), rational(5));
    expect(bound).toEqual({ ps: rational(5_000_000_000), witness: { kind: "lengths", lengths: [1, 2] } });
  });

  it("names a pair without a path", async () => {
    const builder = topologyBuilder("one way");
    builder.addNumberedNpus(2);
    builder.addLink(0, 1, LINK, 0);
    const topology = builder.build({});
    await expect(allToAllFlow(topology, null, 0.01, runner, null)).rejects.toThrow(InfeasibleError);
    await expect(allToAllFlow(topology, null, 0.01, runner, null)).rejects.toThrow("no path leads from 1 to 0");
    const found = await allToAllFlow(topology, Float64Array.of(7, 2, 0, 7), 0.01, runner, null);
    expect(found.rate).toEqual(rational(LINK, 2));
    expect(found.flow(1)).toEqual(Float64Array.of(0));
  });

  it.each([
    ["too few numbers", new Float64Array(3)],
    ["nothing to send", Float64Array.of(1, 0, 0, 1)],
    ["half a byte", Float64Array.of(0, 0.5, 1, 0)],
    ["a negative number", Float64Array.of(0, -1, 1, 0)],
    ["no number", Float64Array.of(0, Number.NaN, 1, 0)],
    ["2^51", Float64Array.of(0, 2 ** 51, 1, 0)],
  ])("refuses demands with %s", async (_, demand) => {
    await expect(allToAllFlow(presetTopology("ring:2"), demand, 0.01, runner, null)).rejects.toThrow(InputError);
  });
});

describe("what lengths prove of an all-to-all", () => {
  const ring = direct("UniRing(1,5)");

  it("is the same by one NPU where maps and lengths allow it", () => {
    const symmetry = networkSymmetry(ring);
    expect(symmetry).not.toBeNull();
    const equal = new Int32Array(5).fill(7);
    expect(provenRate(ring, null, equal, symmetry)).toEqual(provenRate(ring, null, equal));
    expect(provenRate(ring, null, equal)).toEqual(rational(LINK, 10));
  });

  it("refuses lengths that differ on images, maps that are none, and lengths out of range", () => {
    const symmetry = networkSymmetry(ring);
    expect(() => provenRate(ring, null, Int32Array.of(1, 1, 1, 1, 2), symmetry)).toThrow(InputError);
    const twisted = { sizes: [5], steps: [Int32Array.of(1, 2, 3, 0, 4)] };
    expect(() => provenRate(ring, null, new Int32Array(5).fill(1), twisted)).toThrow(InputError);
    const still = { sizes: [1], steps: [Int32Array.of(0, 1, 2, 3, 4)] };
    expect(() => provenRate(ring, null, new Int32Array(5).fill(1), still)).toThrow(InputError);
    expect(() => provenRate(ring, null, new Int32Array(4))).toThrow(InputError);
    expect(() => provenRate(ring, null, Int32Array.of(1, 1, -1, 1, 1))).toThrow(InputError);
  });

  it("is nothing where all distances are 0", () => {
    expect(provenRate(ring, null, new Int32Array(5))).toBeNull();
  });

  it("is never below the optimum, whatever the lengths", () => {
    fc.assert(
      fc.property(networks, fc.array(fc.nat(9), { minLength: 60, maxLength: 60 }), ({ topology, demand }, numbers) => {
        const lengths = Int32Array.from(topology.linkSource, (_, i) => numbers[i % 60]);
        const proven = provenRate(topology, demand, lengths);
        if (proven === null) return;
        expect(toNumber(proven)).toBeGreaterThanOrEqual(LINK * optimum(topology, demand) * (1 - 1e-6));
      }),
      { numRuns: runs(40) },
    );
  });
});

/** Rings of up to 5 nodes, the last ones switches, with more links; bandwidths are multiples of LINK. */
const networks = fc
  .record({
    npus: fc.integer({ min: 2, max: 4 }),
    switches: fc.nat(1),
    wide: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 5, maxLength: 5 }),
    more: fc.array(fc.tuple(fc.nat(4), fc.nat(4), fc.integer({ min: 1, max: 5 })), { maxLength: 8 }),
    demands: fc.option(fc.array(fc.nat(4), { minLength: 16, maxLength: 16 })),
  })
  .map(({ npus, switches, wide, more, demands }) => {
    const builder = topologyBuilder("random");
    builder.addNumberedNpus(npus);
    for (let i = 0; i < switches; i++) builder.addSwitch(`switch${i}`);
    const nodes = npus + switches;
    for (let v = 0; v < nodes; v++) builder.addLink(v, (v + 1) % nodes, wide[v] * LINK, 0);
    for (const [from, to, width] of more) {
      if (from % nodes !== to % nodes) builder.addLink(from % nodes, to % nodes, width * LINK, 0);
    }
    const demand = demands === null ? null : Float64Array.from(demands.slice(0, npus * npus));
    if (demand !== null) demand[1] = 1;
    return { topology: builder.build({}), demand };
  });

/** Returns the greatest rate in units of LINK. */
const optimum = (topology: Topology, demand: Float64Array | null): number => allToAllRate(topology, demand, LINK, lp);
