import { describe, expect, it } from "vitest";
import { readSketch } from "../../../src/import/sketches/taccl-sketch.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { routeCount } from "../../../src/model/routes/routes.ts";
import { lossesOf } from "../../../src/model/sketch/losses.ts";
import { sketchNetwork } from "../../../src/model/sketch/network.ts";
import type { Sketch } from "../../../src/model/sketch/sketch.ts";
import { degrade, without } from "../../../src/model/topology/modify.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { sharedNics } from "../../support/sketches.ts";

/** GPU 0 of a node sends to GPU 1 of the other; both nodes are alike. */
const RELAYED = JSON.stringify({
  nnodes: 2,
  intranode_sketch: { strategy: "none" },
  internode_sketch: {
    strategy: "relay",
    internode_conn: { 0: [1], 2: [3] },
    gpus_to_sender_rev_map: { 0: [0, 1], 2: [2, 3] },
  },
  symmetry_offsets: [[4, 8]],
});

const whole = sharedNics();
const sketch = readSketch(RELAYED, "sk.json", whole);

/** Returns the pairs that a sketch connects, by name. */
const pairs = (topology: Topology, of: Sketch = sketch): string[] => {
  const { routes } = sketchNetwork(topology, of);
  const { nodeNames } = topology;
  return Array.from(
    { length: routeCount(routes) },
    (_, r) => `${nodeNames[routes.source[r]]}>${nodeNames[routes.target[r]]}`,
  );
};

describe("a sketch where parts of its network failed", () => {
  const gone = (...names: string[]): Topology => without(whole, names);

  it("connects what is left of the whole network's pairs, whichever NPU failed", () => {
    const all = pairs(whole);
    for (let npu = 0; npu < whole.npuCount; npu++) {
      const name = whole.nodeNames[npu] as string;
      expect(pairs(gone(name))).toEqual(all.filter((pair) => !pair.split(">").includes(name)));
    }
  });

  it("keeps ranks and boxes of the NPUs that are left", () => {
    const { place, boxOf, symmetries } = sketchNetwork(gone("1", "6"), sketch);
    expect([...place]).toEqual([0, 2, 3, 4, 5, 7]);
    expect([...boxOf]).toEqual([0, 0, 0, 1, 1, 1]);
    expect(symmetries).toEqual([]);
  });

  it("holds also where a whole node is gone", () => {
    const left = pairs(whole).filter((pair) => /^[4-7]>[4-7]$/.test(pair));
    // the network's switches join no other NPUs then: they count as the box's
    expect(new Set(pairs(gone("box0")))).toEqual(new Set(left));
  });

  it("tells what is left out, and nothing of a whole network", () => {
    expect(lossesOf(whole, sketch)).toEqual([]);
    expect(lossesOf(sharedNics(), sketch)).toEqual([]);
    const told = (topology: Topology): string => lossesOf(topology, sketch).join();
    expect(told(gone("3"))).toContain("NPU 3; the rotation [4, 8]");
    const nic = whole.nodeNames.find((name) => name.startsWith("nic")) as string;
    expect(told(gone(`0-${nic}`))).toContain("connection 0 -> 5; the rotation [4, 8]");
    expect(told(degrade(whole, [[`0-${nic}`, 0.5]]))).toMatch(/: the rotation \[4, 8\]$/);
  });

  it("keeps rotations that still hold", () => {
    const ring = presetTopology("ring:6");
    const turned = readSketch(
      JSON.stringify({
        intranode_sketch: { strategy: "none" },
        symmetry_offsets: [
          [1, 6],
          [3, 6],
        ],
      }),
      "ring.json",
      ring,
    );
    const less = without(ring, ["0-1", "3-4"]);
    expect(sketchNetwork(less, turned).sketch.symmetries).toEqual([{ offset: 3, period: 6 }]);
  });

  it("refuses what does not suit the whole network either", () => {
    const wrong = readSketch(
      JSON.stringify({ intranode_sketch: { strategy: "relay", intranode_conn: { 0: [2] } } }),
      "r",
      presetTopology("ring:4"),
    );
    expect(() => lossesOf(without(presetTopology("ring:4"), ["0-1"]), wrong)).toThrow("0 -> 2");
  });
});
