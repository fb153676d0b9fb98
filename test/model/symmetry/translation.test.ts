import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { routesOf } from "../../../src/model/routes/routing.ts";
import { portsOf } from "../../../src/model/slots/slot-schedule.ts";
import {
  isTranslationInvariant,
  portTranslation,
  translateAll,
  translated,
  translationsOf,
} from "../../../src/model/symmetry/translation.ts";
import { degrade, without } from "../../../src/model/topology/modify.ts";
import { linkNames, type Topology } from "../../../src/model/topology/topology.ts";
import { anyCayley, type Cayley, cayleyNetwork, coordinates, npusOf, sum } from "../../support/cayley.ts";

const groupOf = (topology: Topology) => translationsOf(topology, routesOf(topology, 1));

/** Returns whether translations keep the multiset of links, compared NPU by NPU as text. */
function invariantByText(topology: Topology, sizes: readonly number[]): boolean {
  const described = (v: number): string => {
    const incoming: string[] = [];
    for (let link = 0; link < topology.linkTarget.length; link++) {
      if (topology.linkTarget[link] !== v) continue;
      const [from, to] = [coordinates(sizes, topology.linkSource[link]), coordinates(sizes, v)];
      const offset = sizes.map((size, d) => (from[d] - to[d] + size) % size);
      incoming.push(`${offset} ${topology.linkBytesPerSecond[link]} ${topology.linkLatencyPs[link]}`);
    }
    return incoming.sort().join(";");
  };
  for (let v = 1; v < topology.npuCount; v++) if (described(v) !== described(0)) return false;
  return true;
}

describe("translated", () => {
  it("adds coordinates, each modulo its size, alone and for all NPUs at once", () => {
    fc.assert(
      fc.property(anyCayley(60), fc.nat(), (cayley, seed) => {
        const { sizes } = cayley;
        const by = seed % npusOf(cayley);
        const image = new Int32Array(npusOf(cayley));
        translateAll(sizes, by, image);
        const expected = [...image.keys()].map((npu) => sum(sizes, npu, by));
        expect([...image]).toEqual(expected);
        expect(expected.map((_, npu) => translated(sizes, npu, by))).toEqual(expected);
      }),
    );
  });
});

describe("translationsOf", () => {
  it.each([
    ["torus:4x5", [4, 5]],
    ["torus:3x1x5", [3, 5]],
    ["torus:2x2x7", [2, 2, 7]],
    ["torus:200x200", [200, 200]],
    ["ring:9", [9]],
    ["ring:2", [2]],
    ["fc:6", [6]],
    ["hypercube:4", [2, 2, 2, 2]],
    ["ring:4*fc:3@50,100GB/s", [4, 3]],
    ["torus:4x4@50,75GB/s", [4, 4]],
    ["switch:8", [8]],
    ["tpu-v4:4x4x8", [4, 4, 8]],
  ])("finds the dimensions of %s", (expression, sizes) => {
    expect(groupOf(presetTopology(expression))).toEqual(sizes);
  });

  it.each([
    ["torus:7x5", [7, 5]],
    ["torus:3x4x5", [3, 4, 5]],
    // a ring of 4 is a square, which is a binary cube too
    ["torus:4x5", [2, 2, 5]],
    ["hypercube:5", [2, 2, 2, 2, 2]],
    ["torus:6x10@50,75GB/s", [6, 10]],
    ["fc:6", [6]],
  ])("finds a group of %s where the shape is not known", (expression, sizes) => {
    expect(groupOf({ ...presetTopology(expression), shape: [] })).toEqual(sizes);
  });

  it.each(["mesh:4x4", "mesh:3x3x3", "line:5", "mesh:4x4*ring:3", "dragonfly:4x5", "dgx1", "fc:1", "mesh:200x200"])(
    "finds none for %s",
    (expression) => {
      expect(groupOf(presetTopology(expression))).toBeNull();
    },
  );

  it("finds none once one link of a torus is slower, has more latency, or is gone", () => {
    for (const expression of ["torus:4x5", "ring:8", "hypercube:3", "fc:5"]) {
      const topology = presetTopology(expression);
      for (const name of linkNames(topology)) {
        expect(groupOf(degrade(topology, [[name, 0.5]]))).toBeNull();
        expect(groupOf(without(topology, [name]))).toBeNull();
      }
      const late = { ...topology, linkLatencyPs: topology.linkLatencyPs.map((ps, link) => ps + (link === 7 ? 1 : 0)) };
      expect(groupOf(late)).toBeNull();
    }
  });

  it("returns groups that hold link by link, for any wiring of groups up to 24 NPUs", () => {
    fc.assert(
      fc.property(anyCayley(24), fc.nat(1000), (cayley, seed) => {
        const topology = cayleyNetwork(cayley, seed);
        const found = groupOf(topology);
        expect(found).not.toBeNull();
        expect(invariantByText(topology, found as readonly number[])).toBe(true);
      }),
    );
  });
});

describe("isTranslationInvariant", () => {
  it("agrees with a comparison of all links as text, also for wrong sizes and moved links", () => {
    fc.assert(
      fc.property(anyCayley(24), fc.nat(), fc.nat(), fc.boolean(), (cayley, link, to, move) => {
        const topology = cayleyNetwork(cayley);
        const npus = npusOf(cayley);
        const at = link % topology.linkSource.length;
        if (move) topology.linkSource[at] = (topology.linkTarget[at] + 1 + (to % (npus - 1))) % npus;
        const routes = routesOf(topology, 1);
        for (const sizes of [cayley.sizes, [npus], [...cayley.sizes].reverse()]) {
          expect(isTranslationInvariant(topology, routes, sizes)).toBe(invariantByText(topology, sizes));
        }
      }),
    );
  });

  it("refuses sizes that do not multiply to the NPUs", () => {
    const topology = presetTopology("ring:6");
    for (const sizes of [[5], [12], [2, 2], [6, 0], [-2, -3], []]) {
      expect(isTranslationInvariant(topology, routesOf(topology, 1), sizes)).toBe(false);
    }
  });
});

describe("portTranslation", () => {
  it("takes each port of NPU 0 to one with the translated source, parallel ones in order", () => {
    const doubled: Cayley = { sizes: [3, 4], offsets: [1, 4, 1, 9, 4, 1] };
    const topology = cayleyNetwork(doubled, 5);
    const routes = routesOf(topology, 1);
    const { offset, items } = portsOf(routes, topology.npuCount);
    const translation = portTranslation(topology, routes, doubled.sizes);
    const port = new Int32Array(6);
    for (let v = 0; v < topology.npuCount; v++) {
      expect(translation?.portsAt(v, port)).toBe(true);
      expect([...port].sort()).toEqual([0, 1, 2, 3, 4, 5]);
      const seen = new Map<number, number>();
      port.forEach((p, p0) => {
        const source = routes.source[items[p0]];
        expect(routes.source[items[offset[v] + p]]).toBe(sum(doubled.sizes, source, v));
        expect(p).toBeGreaterThan(seen.get(source) ?? -1);
        seen.set(source, p);
      });
    }
  });

  it("matches parallel routes of different speeds by their speed", () => {
    const topology = cayleyNetwork({ sizes: [4], offsets: [1, 1] });
    // into NPUs 0 .. 3: the first of the two links is the fast one at even NPUs, the second at odd ones
    for (let v = 0; v < 4; v++) topology.linkBytesPerSecond[v % 2 === 0 ? v : 4 + v] = 2e9;
    const translation = portTranslation(topology, routesOf(topology, 1), [4]);
    const port = new Int32Array(2);
    for (let v = 0; v < 4; v++) {
      expect(translation?.portsAt(v, port)).toBe(true);
      expect([...port]).toEqual(v % 2 === 0 ? [0, 1] : [1, 0]);
    }
  });
});
