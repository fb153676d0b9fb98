import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Collective, collective } from "../../../src/model/collective/collective.ts";
import { indicesBelow } from "../../../src/model/numbers/ordering.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { sketchNetwork } from "../../../src/model/sketch/network.ts";
import { relaxations } from "../../../src/model/sketch/proposals.ts";
import type { Sketch } from "../../../src/model/sketch/sketch.ts";
import { anySketch, firstUnreached, flatSketch, onlyBetween, onlyInside, sharedNics } from "../../support/sketches.ts";

const whole = (npus: number, kind: "allgather" | "alltoall"): Collective =>
  collective({ kind, groups: [indicesBelow(npus)], chunksPerNpu: 1, rootRank: 1, sizeBytes: 4096 });

/** Two boxes of four in which 0 and 1 never learn from each other inside, but only 1 may send what 0 has. */
const cut = (): Sketch =>
  flatSketch(4, {
    boxes: 2,
    intranode: onlyInside([0, [2]], [1, [3]], [2, [0]], [3, [1]]),
    internode: onlyBetween(
      new Map([
        [0, [0, 1]],
        [1, [0, 1]],
      ]),
      new Map([0, 1, 2, 3].map((owner) => [owner, [1]])),
    ),
  });

describe("relaxations", () => {
  it("gives up the least first", () => {
    const sketch = { ...cut(), symmetries: [{ offset: 4, period: 8 }] };
    const found = relaxations(sketch, sharedNics());
    expect(found.map(({ what }) => what)).toEqual([
      "without gpus_to_sender_rev_map",
      "without symmetry_offsets",
      "without gpus_to_sender_rev_map, without symmetry_offsets",
      "without gpus_to_sender_rev_map, internode_conn also from each GPU to its like",
      "without gpus_to_sender_rev_map, internode_conn fully-connected",
      "intranode_sketch with all links of a node",
      "without gpus_to_sender_rev_map, without symmetry_offsets, internode_conn also from each GPU to its like, intranode_sketch with all links of a node",
      "without gpus_to_sender_rev_map, without symmetry_offsets, internode_conn fully-connected, intranode_sketch with all links of a node",
    ]);
    const routable = found.filter(
      (one) => firstUnreached(sketchNetwork(sharedNics(), one.sketch), whole(8, "allgather")) === null,
    );
    expect(routable[0].what).toBe("without gpus_to_sender_rev_map");
  });

  it("gives up rotations that no longer hold, and what the network lacks is not proposed", () => {
    const rails = presetTopology("dgx-h100:2");
    const turned: Sketch = {
      ...flatSketch(8),
      boxes: 2,
      intranode: onlyInside([0, [1]], [2, [3]]),
      internode: onlyBetween(
        new Map([
          [1, [1]],
          [3, [3]],
        ]),
      ),
      symmetries: [{ offset: 8, period: 16 }],
    };
    const whats = relaxations(turned, rails).map(({ what }) => what);
    expect(whats.some((what) => what.includes("fully-connected"))).toBe(false);
    expect(whats).toContain("internode_conn also from each GPU to its like");
  });

  it("says which rotations hold no longer", () => {
    const sketch = flatSketch(8, {
      intranode: onlyInside([1, [2]], [3, [0]]),
      symmetries: [{ offset: 2, period: 4 }],
    });
    const found = relaxations(sketch, presetTopology("dgx1"));
    expect(found.map(({ what }) => what)).toEqual([
      "without symmetry_offsets",
      "intranode_sketch with all links of a node, without the rotation [2, 4]",
      "without symmetry_offsets, intranode_sketch with all links of a node",
    ]);
    expect(found[1].sketch.symmetries).toEqual([]);
  });

  it("has only sketches that the network takes, ending with one that reaches everyone", () => {
    const topology = sharedNics();
    fc.assert(
      fc.property(anySketch(2, 4), (any) => {
        const sketch = { ...any, symmetries: any.symmetries.filter(({ period }) => period === 8) };
        const found = relaxations(sketch, topology);
        for (const { sketch: relaxed } of found) sketchNetwork(topology, relaxed);
        const last = found.at(-1)?.sketch ?? sketch;
        expect(firstUnreached(sketchNetwork(topology, { ...last, symmetries: [] }), whole(8, "alltoall"))).toBeNull();
      }),
    );
  });
});
