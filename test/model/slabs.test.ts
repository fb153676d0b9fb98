import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { demandOf, npuDemands } from "../../src/model/bounds/demand.ts";
import { bordersOf, dimensionOf, prefixDemands, steepest } from "../../src/model/bounds/slabs.ts";
import { COLLECTIVE_KINDS, collective } from "../../src/model/collective.ts";

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
