import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { leastCut, ringDecomposition } from "../../../src/model/routes/rings.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { missing, unexpected } from "../../support/refusals.ts";

/** Bandwidth that rings use of each pair of NPUs must be there. */
function expectFits(topology: Topology, rings: readonly Int32Array[], bytesPerSecond: number): void {
  const { npuCount, linkSource, linkTarget, linkBytesPerSecond } = topology;
  const free = new Map<string, number>();
  linkSource.forEach((from, link) => {
    const key = `${from} ${linkTarget[link]}`;
    free.set(key, (free.get(key) ?? 0) + linkBytesPerSecond[link]);
  });
  for (const ring of rings) {
    expect([...ring].sort((a, b) => a - b)).toEqual(Array.from({ length: npuCount }, (_, npu) => npu));
    ring.forEach((npu, i) => {
      const key = `${npu} ${ring[(i + 1) % npuCount]}`;
      const rest = (free.get(key) ?? 0) - bytesPerSecond;
      expect(rest).toBeGreaterThanOrEqual(0);
      free.set(key, rest);
    });
  }
}

function permutations(values: readonly number[]): number[][] {
  if (values.length === 0) return [[]];
  return values.flatMap((value) =>
    permutations(values.filter((other) => other !== value)).map((rest) => [value, ...rest]),
  );
}

/** The most Hamiltonian cycles without a common slot, by trying every choice of cycles. */
function mostRings(npus: number, slots: Int32Array): number {
  const cycles = permutations(Array.from({ length: npus - 1 }, (_, i) => i + 1)).map((rest) => [0, ...rest]);
  const left = slots.slice();
  const from = (first: number): number => {
    let most = 0;
    for (let c = first; c < cycles.length; c++) {
      const edges = cycles[c].map((npu, i) => npu * npus + cycles[c][(i + 1) % npus]);
      if (edges.some((edge) => left[edge] === 0)) continue;
      for (const edge of edges) left[edge]--;
      most = Math.max(most, 1 + from(c));
      for (const edge of edges) left[edge]++;
    }
    return most;
  };
  return from(0);
}

function boxOf(npus: number, slots: Int32Array): Topology {
  const builder = topologyBuilder("box");
  builder.addNumberedNpus(npus, () => ({}));
  slots.forEach((count, i) => {
    for (let link = 0; link < count; link++) builder.addLink(Math.floor(i / npus), i % npus, 1e9, 0);
  });
  return builder.build();
}

const anySlots = (mostNpus: number): fc.Arbitrary<{ npus: number; slots: Int32Array }> =>
  fc.integer({ min: 2, max: mostNpus }).chain((npus) =>
    fc
      .tuple(fc.array(fc.integer({ min: 0, max: 2 }), { minLength: npus * npus, maxLength: npus * npus }), fc.boolean())
      .map(([counts, both]) => {
        const slots = Int32Array.from(counts, (count, i) => (i % npus === Math.floor(i / npus) ? 0 : count));
        if (both)
          slots.forEach((count, i) => {
            slots[(i % npus) * npus + Math.floor(i / npus)] = count;
          });
        return { npus, slots };
      }),
  );

describe("rings of a box", () => {
  it.each([
    ["ring:8", 2, 50],
    // complete graphs split into n - 1 rings but for 4 and 6 (Tillson, 1980)
    ["fc:4", 2, 50],
    ["fc:5", 4, 50],
    ["fc:6", 4, 50],
    ["fc:8", 7, 50],
    // as many as NCCL finds on a DGX-1
    ["dgx1", 6, 25],
    ["mi250:1", 6, 50],
    ["mi300x", 7, 64],
    ["hypercube:4", 4, 50],
    ["torus:4x4", 4, 50],
    ["dgx-a100:1", 12, 25],
    ["gb200-nvl72", 32, 28.125],
  ])("%s has %d of %d GB/s", (name, count, gbps) => {
    const topology = presetTopology(name);
    const { rings, bytesPerSecond, bound } = ringDecomposition(topology);
    expect([rings.length, bytesPerSecond / 1e9, bound]).toEqual([count, gbps, count]);
    if (topology.nodeNames.length === topology.npuCount) expectFits(topology, rings, bytesPerSecond);
  });

  it("are as many as trying everything finds", () => {
    fc.assert(
      fc.property(anySlots(4), ({ npus, slots }) => {
        const most = mostRings(npus, slots);
        const topology = boxOf(npus, slots);
        if (most === 0) {
          expect(() => ringDecomposition(topology)).toThrow();
          return;
        }
        const { rings, bytesPerSecond, bound } = ringDecomposition(topology);
        expectFits(topology, rings, bytesPerSecond);
        // equal pairs of links make a slot of twice the bandwidth, of which half as many rings fit
        const all = [...slots].filter((count) => count > 0);
        const unit = all.every((count) => count === 2) ? 2 : 1;
        expect(rings.length).toBe(
          unit === 1
            ? most
            : mostRings(
                npus,
                slots.map((count) => count / 2),
              ),
        );
        expect(bound).toBe(rings.length);
      }),
    );
  });

  it("never are more than the least cut lets through", () => {
    fc.assert(
      fc.property(anySlots(6), ({ npus, slots }) => {
        let least = Number.POSITIVE_INFINITY;
        for (let set = 1; set < 2 ** npus - 1; set++) {
          let leaving = 0;
          slots.forEach((count, i) => {
            const [from, to] = [Math.floor(i / npus), i % npus];
            if ((set >> from) & 1 && !((set >> to) & 1)) leaving += count;
          });
          least = Math.min(least, leaving);
        }
        expect(leastCut(npus, slots)).toBe(least);
      }),
    );
  });

  it.each([
    ["line:4", "no ring goes through all NPUs of the box once"],
    ["mesh:3x3", "no ring goes through all NPUs of the box once"],
    ["line:20", unexpected("the NPUs of a box with rings over direct links", 20, 2, 16)],
    ["dgx-a100:2", missing("the links of a box with rings")],
  ])("are refused on %s", (name, message) => {
    const refuse = () => ringDecomposition(presetTopology(name));
    expect(refuse).toThrow(message);
  });
});
