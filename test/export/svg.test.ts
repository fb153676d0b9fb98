import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { heatMapSvg } from "../../src/export/pictures/svg-heat-map.ts";
import { timelineSvg } from "../../src/export/pictures/svg-timeline.ts";
import { topologySvg } from "../../src/export/pictures/svg-topology.ts";
import { treesSvg } from "../../src/export/pictures/svg-trees.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { busyOverTime, timelineOf } from "../../src/picture/scene/timeline.ts";
import { anySchedule } from "../support/any-schedule.ts";
import { anyTopology } from "../support/any-topology.ts";
import { outOfRange, unexpected } from "../support/refusals.ts";
import { ringSchedule } from "../support/ring-schedule.ts";
import { elementsOf, ofClass } from "../support/svg-elements.ts";
import { ringFlow, rotatedRingFlow, starFlow } from "../support/tree-flows.ts";

const text = (parts: Iterable<string>): string => [...parts].join("");

/** Laws of every picture: well-formed, finite numbers, nothing that runs or is loaded, no ids that could clash in a page. */
function checked(svg: string) {
  const elements = elementsOf(svg);
  expect(svg.replace('xmlns="http://www.w3.org/2000/svg"', "")).not.toMatch(
    /NaN|Infinity|undefined|url\(|https?:\/\/www/,
  );
  for (const { name, attributes } of elements) {
    expect(["script", "image", "use", "foreignObject", "a"]).not.toContain(name);
    for (const attribute of Object.keys(attributes)) expect(attribute).not.toMatch(/^(id|href|xlink:href|src|on.*)$/);
  }
  expect(elements[0].attributes["viewBox"]).toMatch(/^-?[\d.]+ -?[\d.]+ [\d.]+ [\d.]+$/);
  return elements;
}

/** The pairs of linked nodes, the long way. */
const pairs = ({ linkSource, linkTarget }: Topology): number =>
  new Set([...linkSource].map((from, link) => [from, linkTarget[link]].sort((a, b) => a - b).join())).size;

const centres = (elements: ReturnType<typeof elementsOf>): number[][] => [
  ...ofClass(elements, "npu").map(({ attributes: a }) => [Number(a["cx"]), Number(a["cy"])]),
  ...ofClass(elements, "switch").map(({ attributes: a }) => [
    Number(a["x"]) + Number(a["width"]) / 2,
    Number(a["y"]) + Number(a["height"]) / 2,
  ]),
];

function expectApart(points: readonly number[][], least: number): void {
  let nearest = Number.POSITIVE_INFINITY;
  points.forEach(([x, y], i) => {
    for (let j = 0; j < i; j++) nearest = Math.min(nearest, Math.hypot(x - points[j][0], y - points[j][1]));
  });
  expect(nearest).toBeGreaterThan(least);
}

describe("a picture of a network", () => {
  it("shows every node and every pair of linked nodes once, whatever the names", () => {
    const anyLinked = anyTopology().filter((topology) => topology.linkSource.length > 0);
    fc.assert(
      fc.property(anyLinked, (topology) => {
        const elements = checked(text(topologySvg(topology)));
        expect(ofClass(elements, "npu")).toHaveLength(topology.npuCount);
        expect(ofClass(elements, "switch")).toHaveLength(topology.nodeNames.length - topology.npuCount);
        const wires = ofClass(elements, "wire").filter(({ text: title }) => title !== "");
        expect(wires).toHaveLength(pairs(topology));
        expectApart(centres(elements), 5);
      }),
    );
  });

  it.each([
    "mesh:4x4",
    "torus:4x4x4",
    "torus:20x20",
    "hypercube:6",
    "ring:12",
    "fc:20",
    "dgx1",
    "dgx-a100:2",
    "dgx-h100:16",
    "mi250:2",
    "fat-tree:8x4,leaf=2",
    "dragonfly:4x9",
  ])("%s has all nodes apart and inside the frame, the same every time", (name) => {
    const topology = presetTopology(name);
    const svg = text(topologySvg(topology));
    const elements = checked(svg);
    const points = centres(elements);
    expect(points).toHaveLength(topology.nodeNames.length);
    const radius = Number(ofClass(elements, "npu")[0].attributes["r"]);
    expectApart(points, 1.5 * radius);
    const [left, top, width, height] = (elements[0].attributes["viewBox"] as string).split(" ").map(Number);
    for (const [x, y] of points) {
      expect(x).toBeGreaterThan(left);
      expect(y).toBeGreaterThan(top);
      expect(x).toBeLessThan(left + width);
      expect(y).toBeLessThan(top + height);
    }
    expect(text(topologySvg(topology))).toBe(svg);
  });

  it("puts together parallel links and says both ways where they differ", () => {
    const builder = topologyBuilder("pair");
    const [a, b] = [builder.addNpu("a"), builder.addNpu("b")];
    builder.addDuplex(a, b, 1e9, 0);
    builder.addDuplex(a, b, 1e9, 0);
    builder.addLink(b, a, 3e9, 0);
    const wires = ofClass(elementsOf(text(topologySvg(builder.build()))), "wire");
    expect(wires[0].text).toBe("a – b: 2 GB/s, 2 links; back 5 GB/s, 3 links");
  });

  it("marks the nodes of a cut and the links that cross it", () => {
    const elements = checked(
      text(topologySvg(presetTopology("mesh:4x4"), { cut: { nodes: [0, 1], direction: "in" } })),
    );
    expect(ofClass(elements, "chosen")).toHaveLength(2);
    expect(ofClass(elements, "crosses")).toHaveLength(3);
    expect(ofClass(elements, "faded")).toHaveLength(21);
  });

  it("of too many nodes draws groups and what lies between them, and says so", () => {
    const svg = text(topologySvg(presetTopology("dgx-h100:700"), { cut: { nodes: [0], direction: "in" } }));
    const elements = checked(svg);
    expect(ofClass(elements, "npu")).toHaveLength(700);
    expect(ofClass(elements, "switch")).toHaveLength(8);
    expect(ofClass(elements, "chosen")).toHaveLength(0);
    expect(svg).toContain("Each circle stands for a group; links inside groups are left out.");
    expectApart(centres(elements).slice(0, 700), 5);
  });

  it("refuses what nobody could look at", () => {
    expect(() => text(topologySvg(presetTopology("mesh:80x80")))).toThrow(
      outOfRange("the nodes of a picture", 6400, 5000),
    );
  });
});

describe("a heat map", () => {
  it("colours each pair by the mean share of its links", () => {
    fc.assert(
      fc.property(anyTopology(), fc.infiniteStream(fc.nat(1000)), (topology, stream) => {
        const busy = Float64Array.from(topology.linkSource, () => stream.next().value);
        const elements = checked(text(heatMapSvg(topology, busy, 1000)));
        const cells = elements
          .filter(({ name, text: title }) => name === "rect" && title !== "")
          .map((cell) => cell.text);
        const expected = new Map<string, number[]>();
        topology.linkSource.forEach((from, link) => {
          const key = `${topology.nodeNames[from]} to ${topology.nodeNames[topology.linkTarget[link]]}`;
          expected.set(key, [...(expected.get(key) ?? []), busy[link]]);
        });
        expect(cells).toHaveLength(expected.size);
        const shares = cells.map((cell) => Number(/([\d.]+) %$/.exec(cell)?.[1]));
        const means = [...expected.values()].map((all) => all.reduce((sum, ps) => sum + ps, 0) / all.length / 10);
        shares.forEach((share, i) => {
          expect(Math.abs(share - means[i])).toBeLessThan(0.11);
        });
      }),
    );
  });

  it("of many nodes puts groups together, or nodes that follow one another, and says so", () => {
    const boxes = presetTopology("dgx-a100:200");
    const grouped = text(heatMapSvg(boxes, new Float64Array(boxes.linkSource.length).fill(5), 10));
    checked(grouped);
    expect(grouped).toContain("Each cell stands for all nodes of a group.");
    expect(grouped).toContain("busy 50 % of 0.01 ns on average");
    const mesh = presetTopology("mesh:50x50");
    const runs = text(heatMapSvg(mesh, new Float64Array(mesh.linkSource.length), 10));
    checked(runs);
    expect(runs).toContain("Each cell stands for 4 nodes that follow one another.");
  });

  it("refuses another number of times than of links", () => {
    expect(() => text(heatMapSvg(presetTopology("ring:4"), new Float64Array(7), 1))).toThrow(
      unexpected("linkBusyPs", 7, 8),
    );
  });
});

describe("a picture of trees", () => {
  it("draws every edge, on the network where there are no switches", () => {
    const elements = checked(text(treesSvg(ringFlow(5, 1e9, 0, 1000), { most: 100 })));
    expect(ofClass(elements, "root")).toHaveLength(10);
    expect(elements.filter(({ name, text: title }) => name === "path" && title.includes("→"))).toHaveLength(40);
  });

  it("draws data that is reduced towards the root", () => {
    const titles = elementsOf(text(treesSvg(ringFlow(3, 1e9, 0, 1000, "in"), { most: 1 })))
      .filter(({ name, text: title }) => name === "path" && title.includes("→"))
      .map((edge) => edge.text);
    expect(titles).toEqual(["1 → 0", "2 → 1"]);
  });

  it("says what forwards, how many trees are drawn, and what stands for how many", () => {
    const star = text(treesSvg(starFlow(6, 1e9, 0, 1000), { most: 2 }));
    checked(star);
    expect(star).toContain("0 → hub → 1");
    expect(star).toContain("6 trees, roots filled. 2 of 6 are drawn.");
    const turned = text(treesSvg(rotatedRingFlow(4, 1e9, 0, 1000)));
    expect(turned).toContain("2 trees, roots filled. Each stands for 4 that a symmetry of the network makes of it.");
  });
});

describe("a picture of a schedule over time", () => {
  it("has a bar for each transfer and link", () => {
    const schedule = ringSchedule();
    const elements = checked(text(timelineSvg(schedule.topology, timelineOf(schedule))));
    const bars = ofClass(elements, "copy").filter(({ text: title }) => title !== "");
    expect(bars.map((bar) => bar.text)).toContain("a>b: chunk 2, copy, 1 ms to 2 ms");
    expect(bars).toHaveLength(6);
  });

  it("keeps all time that links are held", () => {
    fc.assert(
      fc.property(anySchedule(), fc.integer({ min: 1, max: 50 }), (schedule, bins) => {
        const timeline = timelineOf(schedule);
        const links = Math.max(1, schedule.topology.linkSource.length);
        const ends = timeline.startPs.map((start, i) => start + timeline.lastsPs[i]);
        const total = ends.reduce((a, b) => Math.max(a, b), 0);
        const held = timeline.lastsPs.reduce((sum, ps, i) => sum + ps * timeline.share[i], 0);
        const shown = busyOverTime(timeline, links, total, bins).reduce((sum, share) => sum + share, 0);
        expect((shown * links * total) / bins).toBeCloseTo(held, held > 1e6 ? -Math.ceil(Math.log10(held) - 9) : 3);
        checked(text(timelineSvg(schedule.topology, timeline)));
      }),
    );
  });

  it("of many transfers shows how many links are busy", () => {
    const schedule = ringSchedule();
    const timeline = timelineOf(schedule);
    const many = 5000;
    const svg = text(
      timelineSvg(schedule.topology, {
        link: Int32Array.from({ length: many }, (_, i) => i % 3),
        startPs: Float64Array.from({ length: many }, (_, i) => i),
        lastsPs: new Float64Array(many).fill(1),
        share: new Float64Array(many).fill(1),
        chunk: new Int32Array(many),
        reduces: new Uint8Array(many),
        arrivedPs: many,
      }),
    );
    checked(svg);
    expect(svg).toContain("33.33 % on average");
    expect(() => timelineSvg(schedule.topology, { ...timeline, link: Int32Array.of(3) })).toThrow(
      unexpected("timeline.link", 3, 2),
    );
  });
});
