import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { nodeCount } from "../../../src/model/topology/topology.ts";
import { wiresOf } from "../../../src/picture/scene/wires.ts";
import { placementOf } from "../../../src/web/worker/network-view.ts";

const placed = (preset: string) => {
  const topology = presetTopology(preset);
  const wires = wiresOf(topology);
  return { topology, wires, placement: placementOf(topology, wires) };
};

const NETWORKS = [
  "dgx-a100:2",
  "dgx-h100:128",
  "dgx-h100:512",
  "fat-tree:64x8",
  "fat-tree:256x2",
  "mesh:32x32",
  "mesh:100x100",
  "torus:8x8x16",
  "torus:4x4x4x4",
  "hypercube:12",
  "dragonfly:16x64",
  "circulant:6000,1,50",
  "fc:256",
  "themis:3d-fc-ring-sw",
  "line:40",
];

describe("a placement", () => {
  it.each(NETWORKS)("of %s puts every node inside the picture, on a place of its own", (preset) => {
    const { topology, placement } = placed(preset);
    const { x, y, width, height, room, radius } = placement;
    expect([x.length, y.length, room.length]).toEqual(Array(3).fill(nodeCount(topology)));
    const places = new Set<string>();
    for (let node = 0; node < x.length; node++) {
      if (x[node] >= 0 && x[node] <= width && y[node] >= 0 && y[node] <= height)
        places.add(`${x[node].toFixed(2)} ${y[node].toFixed(2)}`);
    }
    expect(places.size).toBe(x.length);
    expect(radius).toBeGreaterThan(0);
    expect(placement.caption).not.toBe("");
  });

  it.each(["dgx-h100:128", "torus:8x8x16", "mesh:32x32", "dragonfly:16x64", "fat-tree:256x2"])(
    "of %s keeps NPUs apart from each other",
    (preset) => {
      const { topology, placement } = placed(preset);
      const { x, y, radius } = placement;
      let least = Number.POSITIVE_INFINITY;
      for (let one = 0; one < topology.npuCount; one++) {
        for (let other = 0; other < one; other++) {
          least = Math.min(least, Math.hypot(x[one] - x[other], y[one] - y[other]));
        }
      }
      expect(least).toBeGreaterThan(2 * radius);
    },
  );

  it("puts the NPUs of a box, and its own switches, inside its box", () => {
    const { topology, placement } = placed("dgx-h100:128");
    expect(placement.boxes).toHaveLength(128);
    for (const box of placement.boxes) {
      const members = topology.nodeTraits.flatMap(({ group }, node) =>
        group === box.name && node < topology.npuCount ? [node] : [],
      );
      expect(members).toHaveLength(8);
      for (const node of members) {
        expect(placement.x[node]).toBeGreaterThan(box.x);
        expect(placement.x[node]).toBeLessThan(box.x + box.width);
        expect(placement.y[node]).toBeGreaterThan(box.y);
        expect(placement.y[node]).toBeLessThan(box.y + box.height);
      }
    }
    expect(placement.caption).toBe("128 boxes of 8 NPUs; shared switches above");
  });

  it("draws slabs of three dimensions so that neighbours along the third stay in line", () => {
    const { topology, placement } = placed("torus:8x8x16");
    const { x, y } = placement;
    for (let z = 0; z + 1 < 16; z++) {
      const [one, next] = [z * 64, z * 64 + 64];
      expect(x[one] === x[next] || y[one] === y[next], `slabs ${z} and ${z + 1} of ${topology.name}`).toBe(true);
    }
    expect(placement.boxes.map(({ name }) => name)[3]).toBe("(x, y, 3)");
  });

  it("gives columns that the caller may move, and the same ones again", () => {
    const { topology, wires, placement } = placed("mesh:5x5");
    const before = [...placement.x];
    placement.x.fill(0);
    placement.room.fill(0);
    const again = placementOf(topology, wires);
    expect([...again.x]).toEqual(before);
    expect(again.room[0]).toBeGreaterThan(0);
  });
});
