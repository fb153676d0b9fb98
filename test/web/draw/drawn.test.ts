import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { heatColour } from "../../../src/picture/scales.ts";
import { between, covers, fitted, seen } from "../../../src/web/draw/camera.ts";
import { linksAt, wireBetween, wiresAt } from "../../../src/web/draw/network-index.ts";
import { HEAT_STEPS, heatStep } from "../../../src/web/draw/paint.ts";
import { nodesWithin, nodeTowards, pointOn, regionOf, shapesOf, wireAt } from "../../../src/web/draw/shapes.ts";
import { emphasis } from "../../../src/web/draw/stage.ts";
import { nodeFigures, tipOf, wayOf, wayText } from "../../../src/web/draw/tips.ts";
import { networkView } from "../../../src/web/worker/network-view.ts";

const view = (preset: string) => networkView(presetTopology(preset));

describe("the camera", () => {
  const extent = fc.record({ width: fc.integer({ min: 50, max: 3000 }), height: fc.integer({ min: 50, max: 3000 }) });

  it("shows everything when it is fitted, and touches two sides", () => {
    fc.assert(
      fc.property(extent, extent, (whole, screen) => {
        const camera = fitted(whole, screen, 10);
        const region = seen(camera, screen);
        expect(covers(region, { left: 0, top: 0, right: whole.width, bottom: whole.height })).toBe(true);
        const room = Math.min(screen.width - camera.k * whole.width, screen.height - camera.k * whole.height);
        expect(room).toBeCloseTo(20, 6);
      }),
    );
  });

  it("begins and ends where it is told, and its scale grows evenly on the way", () => {
    const [from, to] = [
      { k: 1, x: 3, y: 5 },
      { k: 16, x: -900, y: -200 },
    ];
    const screen = { width: 800, height: 500 };
    expect(between(from, to, 0, screen)).toEqual(from);
    const end = between(from, to, 1, screen);
    expect([end.k, end.x, end.y].map(Math.round)).toEqual([16, -900, -200]);
    expect(between(from, to, 0.5, screen).k).toBeCloseTo(4, 9);
  });
});

describe("the index of a network", () => {
  it("has every link in its wire, and every wire at both ends", () => {
    const network = view("dgx-a100:2");
    const { a, b, ofLink } = network.wires;
    const ends = network.nodeNames.map((_, node) => Array.from(wiresAt(network, node)));
    expect(ends.flat().length).toBe(2 * a.length);
    for (let wire = 0; wire < a.length; wire++) {
      expect(ends[a[wire]]).toContain(wire);
      expect(wireBetween(network, b[wire], a[wire])).toBe(wire);
      for (const link of linksAt(network, wire)) expect(ofLink[link]).toBe(wire);
    }
    expect(wireBetween(network, 0, 1)).toBe(-1);
  });
});

describe("pointing", () => {
  it("finds every node at its place and every wire in its middle", () => {
    for (const preset of ["dgx-a100:2", "mesh:4x4", "torus:4x5", "dragonfly:4x5", "torus:3x3x8"]) {
      const network = view(preset);
      const { x, y } = network.placement;
      for (let node = 0; node < x.length; node++) expect(shapesOf(network).nodeAt(x[node], y[node], 1)).toBe(node);
      for (let wire = 0; wire < network.wires.a.length; wire++) {
        const { x: atX, y: atY } = pointOn(network, wire, 0.37);
        const found = wireAt(network, atX, atY, 4);
        const other = pointOn(network, wire, 0.37);
        // another wire may pass through the same point
        expect(found, `${preset} wire ${wire}`).toBeGreaterThanOrEqual(0);
        expect(Math.hypot(other.x - atX, other.y - atY)).toBe(0);
      }
    }
  });

  it("finds nothing far from everything", () => {
    const network = view("mesh:4x4");
    expect(shapesOf(network).nodeAt(-500, -500, 20)).toBe(-1);
    expect(wireAt(network, -500, -500, 20)).toBe(-1);
  });

  it("takes the nearest of several nodes", () => {
    const network = view("mesh:8x8");
    const { x, y, radius } = network.placement;
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }), (u, v) => {
        const [atX, atY] = [u * network.placement.width, v * network.placement.height];
        const off = Array.from(x, (left, node) => Math.max(0, Math.hypot(left - atX, y[node] - atY) - radius));
        const found = shapesOf(network).nodeAt(atX, atY, 30);
        const least = Math.min(...off);
        if (least < 30) expect(off[found]).toBe(least);
        else expect(found).toBe(-1);
      }),
    );
  });

  it("takes the nodes in a box", () => {
    const network = view("mesh:3x3");
    const { x, y } = network.placement;
    expect(nodesWithin(network, { left: x[0] - 1, top: y[0] - 1, right: x[4] + 1, bottom: y[4] + 1 })).toEqual([
      0, 1, 3, 4,
    ]);
  });
});

describe("walking by keys", () => {
  it("goes to the neighbour in a mesh in each direction, and nowhere beyond its edge", () => {
    const network = view("mesh:3x3");
    expect([nodeTowards(network, 4, 1, 0), nodeTowards(network, 4, -1, 0)]).toEqual([5, 3]);
    expect([nodeTowards(network, 4, 0, 1), nodeTowards(network, 4, 0, -1)]).toEqual([7, 1]);
    expect(nodeTowards(network, 2, 1, 0)).toBe(-1);
  });

  it("looks at a node with its neighbours, and at a whole group", () => {
    const network = view("dgx-a100:2");
    const { x } = network.placement;
    const region = regionOf(network, { at: { kind: "group", group: 0 } });
    for (let npu = 0; npu < 8; npu++) expect(x[npu] > region.left && x[npu] < region.right).toBe(true);
    expect(x[15]).toBeGreaterThan(region.right);
  });
});

describe("what is said of a node or wire", () => {
  it("names bandwidth each way, latency and neighbours", () => {
    const network = view("dgx-a100:2");
    expect(tipOf(network, { kind: "node", node: 3 })).toEqual({
      title: "NPU 3",
      lines: ["in box0", "325 GB/s each way, linked with 2 nodes"],
    });
    const wire = wireBetween(network, 3, network.nodeNames.indexOf("nvsw0"));
    expect(tipOf(network, { kind: "wire", wire })).toEqual({
      title: "3 – nvsw0",
      lines: ["300 GB/s, 500 ns, each way"],
    });
  });

  it("tells the ways of a one-way link apart", () => {
    const network = view("line:2");
    const oneWay = {
      ...network,
      wires: { ...network.wires, backward: new Float64Array(1) },
      linkSource: Int32Array.of(0, 0),
      linkTarget: Int32Array.of(1, 1),
    };
    expect(wayText(wayOf(oneWay, 0, false))).toBe("none");
    expect(tipOf(oneWay, { kind: "wire", wire: 0 }).title).toBe("0 → 1");
    expect(wayText(wayOf(oneWay, 0, true))).toContain("in 2 links");
    expect(nodeFigures(oneWay, 1)).toEqual({ sent: 0, received: network.wires.forward[0], degree: 1 });
  });

  it("marks the wires of a selected node, and both ends of a selected wire", () => {
    const network = view("mesh:3x3");
    const { wires, nodes } = emphasis(network, { kind: "node", node: 4 }, null);
    expect(wires.map(({ wire }) => wire).sort()).toEqual(Array.from(wiresAt(network, 4)).sort());
    expect([...nodes.keys()]).toEqual([4]);
    expect([...emphasis(network, { kind: "wire", wire: 0 }, null).nodes.keys()]).toEqual([0, 1]);
  });
});

describe("heat", () => {
  it("has a step for every share", () => {
    expect([-1, 0, 0.5, 1, 2].map(heatStep)).toEqual([0, 0, HEAT_STEPS / 2, HEAT_STEPS - 1, HEAT_STEPS - 1]);
    expect(heatColour(2, false)).toBe(heatColour(1, false));
  });
});
