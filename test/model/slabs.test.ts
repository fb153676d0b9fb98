import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bordersOf, dimensionOf, leastBorders, prefixDemands, steepest } from "../../src/model/bounds/cut-sets.ts";
import { demandOf, npuDemands } from "../../src/model/bounds/demand.ts";
import { crossingBandwidth, markSet, portsOf, sidesOf } from "../../src/model/bounds/sides.ts";
import { COLLECTIVE_KINDS, collective } from "../../src/model/collective/collective.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { nodeCount, type Topology } from "../../src/model/topology/topology.ts";
import { anyTopology } from "../support/any-topology.ts";

const shapes = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3 });
const product = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

describe("slabs of a shape", () => {
  it("have coordinates with the first dimension fastest", () => {
    expect([...dimensionOf([2, 3], 0, 6).coordinate]).toEqual([0, 1, 0, 1, 0, 1]);
    expect([...dimensionOf([2, 3], 1, 6).coordinate]).toEqual([0, 0, 1, 1, 2, 2]);
  });

  it("are crossed by what crosses each of them alone", () => {
    fc.assert(
      fc.property(
        shapes,
        fc.array(fc.tuple(fc.nat(999), fc.nat(999), fc.nat(9)), { maxLength: 40 }),
        fc.nat(2),
        (shape, arcs, k) => {
          const npus = product(shape);
          const dimension = dimensionOf(shape, k % shape.length, npus);
          const tail = Int32Array.from(arcs, ([a]) => a % npus);
          const head = Int32Array.from(arcs, ([, b]) => b % npus);
          const amount = Float64Array.from(arcs, ([, , n]) => n);
          const { into, outOf } = bordersOf(dimension, tail, head, amount);
          const ones = bordersOf(dimension, tail, head, 1);
          for (let p = 1; p <= dimension.size; p++) {
            const inside = (npu: number): boolean => dimension.coordinate[npu] < p;
            const sum = (from: boolean, weight: (arc: number) => number): number =>
              arcs.reduce(
                (total, _, arc) => total + (inside(tail[arc]) === from && inside(head[arc]) !== from ? weight(arc) : 0),
                0,
              );
            expect([into[p], outOf[p]]).toEqual([sum(false, (arc) => amount[arc]), sum(true, (arc) => amount[arc])]);
            expect([ones.into[p], ones.outOf[p]]).toEqual([sum(false, () => 1), sum(true, () => 1)]);
          }
        },
      ),
    );
  });

  it("ask for the chunks that each of them, and each NPU, alone asks for, of every collective and several groups", () => {
    fc.assert(
      fc.property(
        shapes.filter((shape) => product(shape) > 1),
        fc.constantFrom(...COLLECTIVE_KINDS),
        fc.boolean(),
        fc.nat(),
        (shape, kind, split, choice) => {
          const npus = product(shape);
          const everyone = Array.from({ length: npus }, (_, i) => (i * 7 + choice) % npus);
          const ids = [...new Set(everyone)];
          const half = ids.length >> 1;
          const groups = split && half > 0 ? [ids.slice(0, half), ids.slice(half, 2 * half)] : [ids];
          const c = collective({
            kind,
            groups: groups.map((group) => Int32Array.from(group)),
            sizeBytes: 64,
            chunksPerNpu: 2,
            rootRank: choice % groups[0].length,
          });
          const dimension = dimensionOf(shape, choice % shape.length, npus);
          const { into, outOf } = prefixDemands(c, dimension);
          const alone = demandOf(c, npus);
          for (let p = 1; p <= dimension.size; p++) {
            const set = Array.from({ length: npus }, (_, npu) => npu).filter((npu) => dimension.coordinate[npu] < p);
            expect({ into: into[p], outOf: outOf[p] }).toEqual(alone(set));
          }
          const needs = npuDemands(c, npus);
          for (let npu = 0; npu < npus; npu++) {
            expect({ into: needs.into[npu], outOf: needs.outOf[npu] }).toEqual(alone([npu]));
          }
        },
      ),
    );
  });

  it("are tried from the steepest on, and no longer than they beat what is known", () => {
    const demands = { into: Float64Array.of(0, 4, 9, 8, 0), outOf: Float64Array.of(0, 1, 1, 1, 0) };
    const borders = { into: Float64Array.of(0, 2, 3, 4, 0), outOf: Float64Array.of(0, 1, 1, 1, 0) };
    let known = 1;
    const beats = (demand: number, border: number): boolean => demand / border > known;
    expect([...steepest(demands, () => borders, beats)]).toEqual([2, 1, 3]);
    const once: number[] = [];
    for (const p of steepest(demands, () => borders, beats)) {
      once.push(p);
      known = 3;
    }
    expect(once).toEqual([2]);
  });
});

/** Returns [prefixes][into, out of]: the narrowest border of each prefix over all places of the switches. */
function narrowest(topology: Topology, coordinate: Int32Array, size: number): [number, number][] {
  const sides = sidesOf(topology);
  const ports = portsOf(topology);
  const switches = nodeCount(topology) - topology.npuCount;
  return Array.from({ length: size + 1 }, (_, p) => {
    const npus = [...coordinate.keys()].filter((npu) => coordinate[npu] < p);
    const least: [number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let mask = 0; mask < 2 ** switches; mask++) {
      const inside = Array.from({ length: switches }, (_, w) => w).filter((w) => (mask >> w) % 2 === 1);
      const nodes = [...npus, ...inside.map((w) => topology.npuCount + w)];
      markSet(sides, nodes);
      const { into, outOf } = crossingBandwidth(topology, ports, sides, nodes);
      least[0] = Math.min(least[0], into);
      least[1] = Math.min(least[1], outOf);
    }
    return least;
  });
}

describe("leastBorders", () => {
  it("are no more than any place of the switches gives", () => {
    fc.assert(
      fc.property(anyTopology(), fc.nat(1), (topology, k) => {
        fc.pre(topology.shape.length > k);
        const dimension = dimensionOf(topology.shape, k, topology.npuCount);
        const { into, outOf } = leastBorders(dimension, topology, portsOf(topology));
        narrowest(topology, dimension.coordinate, dimension.size).forEach(([leastInto, leastOutOf], p) => {
          expect(into[p]).toBeLessThanOrEqual(leastInto);
          expect(outOf[p]).toBeLessThanOrEqual(leastOutOf);
        });
      }),
    );
  });

  it("are as much where switches join NPUs only", () => {
    const topology = presetTopology("switch:4*switch:3");
    for (let k = 0; k < 2; k++) {
      const dimension = dimensionOf(topology.shape, k, topology.npuCount);
      const { into, outOf } = leastBorders(dimension, topology, portsOf(topology));
      narrowest(topology, dimension.coordinate, dimension.size).forEach(([leastInto, leastOutOf], p) => {
        expect(into[p]).toBeCloseTo(leastInto, -2);
        expect(outOf[p]).toBeCloseTo(leastOutOf, -2);
      });
    }
  });
});
