import { describe, expect, it } from "vitest";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { without } from "../../src/model/topology/modify.ts";
import { layoutOf } from "../../src/picture/scene/layout.ts";
import { wiresOf } from "../../src/picture/scene/wires.ts";

describe("the layout of a network", () => {
  it.each(["mesh:4x4", "torus:4x4x4", "ring:8", "fc:7", "dgx-h100:2", "dgx1"])(
    "of %s ends where its drawing does",
    (name) => {
      const topology = presetTopology(name);
      const { x, y, radius, width, height, boxes } = layoutOf(topology, wiresOf(topology));
      const inside = [...x].every((at) => at >= 0 && at <= width) && [...y].every((at) => at >= 0 && at <= height);
      expect(inside).toBe(true);
      // bends, names of switches and boxes reach beyond nodes, but not by much
      const room = boxes.length > 0 ? 30 : 3 * radius + 40;
      expect(Math.min(...x) - radius).toBeLessThan(room);
      expect(width - Math.max(...x) - radius).toBeLessThan(room);
      expect(Math.min(...y)).toBeLessThan(room);
      expect(height - Math.max(...y) - radius).toBeLessThan(room + 40);
    },
  );

  it.each([
    ["mesh:4x4", ["5", "10"]],
    ["mesh:16x16", ["17", "100"]],
    ["torus:3x4x5", ["7"]],
  ])("of %s without some NPUs is that of the whole, with gaps", (name, gone) => {
    const whole = presetTopology(name);
    const rest = without(whole, gone);
    const [all, left] = [whole, rest].map((topology) => layoutOf(topology, wiresOf(topology)));
    const at = new Map(whole.nodeNames.map((node, i) => [node, [all.x[i], all.y[i]]]));
    rest.nodeNames.forEach((node, i) => {
      const [x, y] = at.get(node) as [number, number];
      expect(left.x[i]).toBeCloseTo(x, 6);
      expect(left.y[i]).toBeCloseTo(y, 6);
    });
  });
});
