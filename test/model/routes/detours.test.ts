import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InfeasibleError } from "../../../src/base/errors.ts";
import { rational } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { detoursOn } from "../../../src/model/routes/detours.ts";
import { without } from "../../../src/model/topology/modify.ts";

const MIB = rational(2 ** 20);

describe("detoursOn", () => {
  it("finds walks from one NPU to the other, the shortest of equal links at first", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("torus:4x4", "mesh:3x3", "switch:4*switch:3", "fc:5"),
        fc.nat(),
        fc.nat(),
        (preset, a, b) => {
          const topology = presetTopology(preset);
          const [from, to] = [a % topology.npuCount, b % topology.npuCount];
          fc.pre(from !== to);
          const links = detoursOn(topology, MIB)(from, to);
          let at = from;
          for (const link of links) {
            expect(topology.linkSource[link]).toBe(at);
            at = topology.linkTarget[link];
          }
          expect(at).toBe(to);
        },
      ),
    );
    expect(detoursOn(presetTopology("torus:4x4"), MIB)(0, 5)).toHaveLength(2);
    expect(detoursOn(presetTopology("ring:8"), MIB)(0, 3)).toHaveLength(3);
  });

  it("goes around the links that earlier detours take", () => {
    const topology = without(presetTopology("mesh:3x3"), ["4-5"]);
    const detours = detoursOn(topology, MIB);
    const [first, second] = [detours(4, 5), detours(4, 5)];
    expect(first).toHaveLength(3);
    expect(second).toHaveLength(3);
    expect(first.filter((link) => second.includes(link))).toEqual([]);
  });

  it("takes fast links before slow ones", () => {
    const topology = presetTopology("ring:4*ring:4@1,100GB/s,1us");
    // two steps of the slow ring, or four fast ones around... none leads there without a slow one
    expect(detoursOn(topology, MIB)(0, 8)).toHaveLength(2);
    const between = detoursOn(topology, MIB)(0, 1);
    expect(between).toHaveLength(1);
  });

  it("says where none is left", () => {
    const topology = without(presetTopology("line:4"), ["1>2"]);
    expect(() => detoursOn(topology, MIB)(0, 3)).toThrow(InfeasibleError);
    expect(detoursOn(topology, MIB)(3, 0)).toHaveLength(3);
  });
});
