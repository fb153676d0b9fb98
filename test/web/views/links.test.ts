import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { cellsFor, nodesIn, single } from "../../../src/picture/cells.ts";
import type { NetworkView } from "../../../src/web/protocol.ts";
import {
  ABOUT_LINKS,
  ABOUT_TRAFFIC,
  extremes,
  heatOfWires,
  sharesOf,
  spreadByClass,
  spreadOf,
  trafficText,
} from "../../../src/web/views/links/figures.ts";
import { cameraOf, everyName, frameOf, shadesOf, short } from "../../../src/web/views/links/heat-paint.ts";
import {
  entryAt,
  entryBeside,
  insideOf,
  matrixOf,
  npusOf,
  type Pairs,
  wholeMatrix,
} from "../../../src/web/views/links/matrix.ts";
import { networkView } from "../../../src/web/worker/network-view.ts";

const viewOf = (preset: string): NetworkView => networkView(presetTopology(preset));
const mesh = viewOf("mesh:4x4");
const boxes = viewOf("dgx-a100:2");

const linksOf = ({ linkSource, linkTarget }: NetworkView, value: Float64Array): Pairs => ({
  source: linkSource,
  target: linkTarget,
  value,
  together: "mean",
});

function someShares({ linkSource }: NetworkView, seed: number): Float64Array {
  const draws = random(seed);
  return Float64Array.from(linkSource, () => draws.below(1001) / 1000);
}

describe("figures of links", () => {
  it("are shares of the whole time, 0 where there is none", () => {
    expect([...sharesOf({ busyPs: Float64Array.of(0, 5, 10), totalPs: 10 })]).toEqual([0, 0.5, 1]);
    expect([...sharesOf({ busyPs: Float64Array.of(0), totalPs: 0 })]).toEqual([0]);
  });
  it("have a mean, a greatest and idle ones", () => {
    expect(spreadOf([0, 0.5, 1, 0.5])).toEqual({ links: 4, mean: 0.5, most: 1, idle: 1 });
    expect(spreadOf([])).toEqual({ links: 0, mean: 0, most: 0, idle: 0 });
  });
  it("are the same in all and over the classes", () => {
    const shares = someShares(boxes, 3);
    const classes = spreadByClass(boxes, shares);
    const all = spreadOf(shares);
    expect(classes).toHaveLength(boxes.classes.length);
    expect(classes.reduce((sum, { links }) => sum + links, 0)).toBe(all.links);
    expect(classes.reduce((sum, { links, mean }) => sum + links * mean, 0) / all.links).toBeCloseTo(all.mean, 12);
    expect(Math.max(...classes.map(({ most }) => most))).toBe(all.most);
  });
  it("colour a wire by its busier direction, not by both together", () => {
    const shares = new Float64Array(mesh.linkSource.length);
    const wire = mesh.wires.ofLink[5];
    shares[5] = 0.8;
    const heat = heatOfWires(mesh, shares);
    expect(heat[wire]).toBeCloseTo(0.8, 6);
    expect(heat.filter((share) => share > 0)).toHaveLength(1);
  });
  it("name the busiest and the idlest, none in both", () => {
    const shares = Float64Array.of(0.5, 0.9, 0.1, 0.9, 0);
    expect(extremes(shares, 2)).toEqual({ busiest: [1, 3], idlest: [4, 2] });
    expect(extremes(shares, 4)).toEqual({ busiest: [1, 3, 0, 2], idlest: [4] });
    expect(extremes(shares, 9).idlest).toEqual([]);
  });
});

describe("cells", () => {
  it("are nodes while there is room", () => {
    const cells = cellsFor(mesh);
    expect(cells.names).toEqual(mesh.nodeNames);
    expect(cells.note).toBeNull();
  });
  it("are groups where there are too many nodes, switches with their box", () => {
    const cells = cellsFor(boxes, 10);
    expect(cells.note).toMatch(/group/);
    expect(cells.npuCells).toBe(2);
    expect(cells.names.length).toBeLessThanOrEqual(5);
    expect(nodesIn(cells, 0)).toEqual(expect.arrayContaining([0, 1, 2, 3, 4, 5, 6, 7]));
  });
  it("are runs of nodes without groups; every node is in one, NPUs and switches apart", () => {
    for (const [view, most] of [
      [mesh, 5],
      [viewOf("fat-tree:4x4"), 7],
    ] as const) {
      const cells = cellsFor({ ...view, groups: [] }, most);
      expect(cells.names.length).toBeLessThanOrEqual(most);
      expect(cells.note).toMatch(/follow one another/);
      const all = cells.names.flatMap((_, cell) => nodesIn(cells, cell));
      expect(all).toEqual([...view.nodeNames.keys()]);
      for (const [node, cell] of cells.cellOf.entries()) expect(cell < cells.npuCells).toBe(node < view.npuCount);
    }
  });
});

describe("the matrix", () => {
  it("has the mean of the links between two cells, as counted one by one", () => {
    for (const [view, most] of [
      [mesh, 1000],
      [boxes, 10],
      [mesh, 5],
    ] as const) {
      const shares = someShares(view, 7);
      const cells = cellsFor(view, most);
      const matrix = matrixOf(linksOf(view, shares), cells, cells);
      for (let row = 0; row < cells.names.length; row++) {
        for (let column = 0; column < cells.names.length; column++) {
          const links = [...view.linkSource.keys()].filter(
            (link) => cells.cellOf[view.linkSource[link]] === row && cells.cellOf[view.linkTarget[link]] === column,
          );
          const entry = entryAt(matrix, row, column);
          expect(entry >= 0).toBe(links.length > 0);
          if (entry < 0) continue;
          expect(matrix.pairs[entry]).toBe(links.length);
          expect(matrix.share[entry]).toBeCloseTo(links.reduce((sum, l) => sum + shares[l], 0) / links.length, 6);
        }
      }
    }
  });
  it("shows what is inside a coarse entry", () => {
    const shares = someShares(boxes, 1);
    const coarse = matrixOf(linksOf(boxes, shares), cellsFor(boxes, 10), cellsFor(boxes, 10));
    const inside = insideOf(boxes, linksOf(boxes, shares), coarse, 0, 0);
    expect(inside.rows.note).toBeNull();
    expect(inside.pairs.reduce((sum, links) => sum + links, 0)).toBe(coarse.pairs[entryAt(coarse, 0, 0)]);
  });
  it("is walked from link to link, there and back", () => {
    const matrix = wholeMatrix(mesh, linksOf(mesh, someShares(mesh, 2)));
    const visited: number[] = [];
    let at: { row: number; column: number } | null = null;
    for (let entry = entryBeside(matrix, at, 1); entry >= 0; entry = entryBeside(matrix, at, 1)) {
      visited.push(entry);
      at = { row: matrix.row[entry], column: matrix.column[entry] };
    }
    expect(visited).toEqual([...matrix.row.keys()]);
    expect(entryBeside(matrix, at, -1)).toBe(visited.length - 2);
    expect(entryBeside(matrix, { row: 0, column: 0 }, -1)).toBe(-1);
    expect(entryBeside(matrix, null, -1)).toBe(visited.length - 1);
  });
});

describe("traffic between NPUs", () => {
  const npus = npusOf(boxes);
  const traffic: Pairs = {
    source: Int32Array.of(0, 0, 1, 9),
    target: Int32Array.of(1, 9, 0, 0),
    value: Float64Array.of(1024, 2048, 1024, 4096),
    together: "sum",
  };
  it("is between NPUs only, in shares of the largest", () => {
    const matrix = wholeMatrix(npus, traffic);
    expect(matrix.rows.names).toEqual(boxes.nodeNames.slice(0, boxes.npuCount));
    expect([...matrix.value]).toEqual([1024, 2048, 1024, 4096]);
    expect([...matrix.share]).toEqual([0.25, 0.5, 0.25, 1]);
    expect([0, matrix.whole].map(ABOUT_TRAFFIC.amount)).toEqual(["0 B", "4 KiB"]);
  });
  it("adds up where cells are coarse, and is found again inside", () => {
    const cells = cellsFor(npus, 4);
    const coarse = matrixOf(traffic, cells, cells);
    expect(cells.names).toHaveLength(2);
    expect([...coarse.value]).toEqual([2048, 2048, 4096]);
    const inside = insideOf(npus, traffic, coarse, 0, 0);
    expect([...inside.value]).toEqual([1024, 1024]);
    expect([...inside.first]).toEqual([0, 2]);
  });
  it("is said in a sentence, and each entry in a few words", () => {
    const named = (bytes: Float64Array) => trafficText({ ...traffic, bytes }, boxes.nodeNames);
    const [from, to] = [boxes.nodeNames[9], boxes.nodeNames[0]];
    expect(named(traffic.value)).toBe(`4 pairs of NPUs: 8 KiB in all, 4 KiB at most (from ${from} to ${to}).`);
    expect(named(new Float64Array(4).fill(512))).toBe("4 pairs of NPUs: 2 KiB in all, 512 B each.");
    const none = new Int32Array();
    expect(trafficText({ source: none, target: none, bytes: new Float64Array() }, [])).toBe("Nothing is sent.");
    expect(ABOUT_TRAFFIC.textOf(3072, 2)).toBe("3 KiB (2 pairs)");
    expect([0, 1].map(ABOUT_LINKS.amount)).toEqual(["0 %", "100 %"]);
    expect(ABOUT_LINKS.textOf(0.5, 4)).toBe("50 % busy (mean of 4 links)");
  });
});

describe("the picture of the matrix", () => {
  const shares = someShares(mesh, 5);
  const matrix = matrixOf(linksOf(mesh, shares), single(mesh, [0, 1, 2]), single(mesh, [0, 1, 2, 3]));

  it("has each cell where it belongs, with a gap between large ones", () => {
    const shades = shadesOf(matrix, { left: 0, top: 0, cell: 10 }, 40, 30);
    for (let row = 0; row < 3; row++) {
      for (let column = 0; column < 4; column++) {
        const entry = entryAt(matrix, row, column);
        const shade = entry < 0 ? 0 : 1 + Math.round(matrix.share[entry] * 254);
        expect(shades[(row * 10 + 4) * 40 + column * 10 + 4]).toBe(shade);
        expect(shades[(row * 10 + 9) * 40 + column * 10 + 4]).toBe(0);
      }
    }
  });
  it("loses nothing where cells are smaller than pixels: the busiest of a pixel is seen", () => {
    const whole = wholeMatrix(mesh, linksOf(mesh, shares));
    const shades = shadesOf(whole, { left: 0, top: 0, cell: 0.25 }, 4, 4);
    const expected = new Uint8Array(16);
    for (const [entry, share] of whole.share.entries()) {
      const at = 4 * Math.floor(whole.row[entry] / 4) + Math.floor(whole.column[entry] / 4);
      expected[at] = Math.max(expected[at], 1 + Math.round(share * 254));
    }
    expect([...shades]).toEqual([...expected]);
  });
  it("shows the part that the camera looks at", () => {
    const frame = frameOf(matrix, 400, 400);
    const camera = cameraOf({ k: 2, x: -2 * frame.cell, y: -frame.cell * 2 }, frame);
    expect(camera).toEqual({ left: 1, top: 1, cell: 2 * frame.cell });
    const shades = shadesOf(matrix, { ...camera, cell: 8 }, 8, 8);
    const entry = entryAt(matrix, 1, 1);
    expect(shades[0]).toBe(entry < 0 ? 0 : 1 + Math.round(matrix.share[entry] * 254));
  });
  it("fits its room", () => {
    const whole = wholeMatrix(viewOf("mesh:16x16"), { ...linksOf(viewOf("mesh:16x16"), new Float64Array(4096)) });
    const frame = frameOf(whole, 500, 300);
    expect(frame.left + frame.width).toBeLessThanOrEqual(500);
    expect(frame.top + frame.height).toBeLessThanOrEqual(300 + 1e-9);
    expect(everyName(frame.cell) * frame.cell).toBeGreaterThanOrEqual(12);
  });
  it("cuts long names in their middle", () => {
    expect(short("gpu0")).toBe("gpu0");
    expect(short("rack12/box7/gpu15")).toBe("rack12/b…gpu15");
  });
});
