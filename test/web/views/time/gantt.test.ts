import { describe, expect, it } from "vitest";
import { random } from "../../../../src/base/random.ts";
import type { NetworkView, TimelineView } from "../../../../src/web/protocol.ts";
import { ROW_KINDS, type Rows, rowsOf, sliceAt, slicesWithin } from "../../../../src/web/views/time/gantt-rows.ts";
import { binRow, emptyBins } from "../../../../src/web/views/time/gantt-stage.ts";

/** A ring of four NPUs in two boxes, links both ways, those out of NPU 0 twice as fast; link 7 is never used. */
const RING = {
  nodeNames: ["a", "b", "c", "d"],
  npuCount: 4,
  linkSource: Int32Array.of(0, 1, 1, 2, 2, 3, 3, 0),
  linkTarget: Int32Array.of(1, 0, 2, 1, 3, 2, 0, 3),
  linkBytesPerSecond: Float64Array.of(2e9, 1e9, 1e9, 1e9, 1e9, 1e9, 1e9, 2e9),
  groups: ["left", "right"],
  nodeGroup: Int32Array.of(0, 0, 1, 1),
  wires: { a: Int32Array.of(0, 1, 2, 0), b: Int32Array.of(1, 2, 3, 3), ofLink: Int32Array.of(0, 0, 1, 1, 2, 2, 3, 3) },
} as unknown as NetworkView;

/** Returns slices in two halves of each link but the last, which never hold more than all of it. */
function randomTimeline(seed: number, count: number): TimelineView {
  const draw = random(seed);
  const free = new Float64Array(14);
  const slices: number[][] = [];
  for (let i = 0; i < count; i++) {
    const lane = draw.below(14);
    const lasts = 1 + draw.below(6);
    const start = free[lane] + draw.below(3);
    free[lane] = start + lasts;
    slices.push([lane >> 1, start, lasts, draw.below(5)]);
  }
  slices.sort((a, b) => a[1] - b[1]);
  return {
    link: Int32Array.from(slices, ([link]) => link),
    startPs: Float64Array.from(slices, ([, start]) => start),
    lastsPs: Float64Array.from(slices, ([, , lasts]) => lasts),
    share: new Float32Array(count).fill(0.5),
    chunk: Int32Array.from(slices, ([, , , chunk]) => chunk),
    reduces: new Uint8Array(count),
    totalPs: Math.max(...free),
    planned: false,
    note: "",
  };
}

const colourOf = ({ slice }: Rows, timeline: TimelineView): Uint8Array =>
  Uint8Array.from(slice, (i) => timeline.chunk[i] + 1);

describe("rows of the chart", () => {
  it("hold every slice once, by start, and the idle ones are counted", () => {
    const timeline = randomTimeline(1, 200);
    const idle = { links: 1, sent: 0, received: 0, wires: 0, boxes: 0 };
    for (const kind of ROW_KINDS) {
      const rows = rowsOf(RING, timeline, kind);
      expect([...rows.slice].sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, i) => i));
      for (let row = 0; row < rows.names.length; row++) {
        const starts = [...rows.startPs.subarray(rows.offset[row], rows.offset[row + 1])];
        expect(starts).toEqual(starts.toSorted((a, b) => a - b));
      }
      expect(rows.idle).toBe(idle[kind]);
    }
    expect(rowsOf(RING, timeline, "links").names).toEqual([
      "a > b",
      "b > a",
      "b > c",
      "c > b",
      "c > d",
      "d > a",
      "d > c",
    ]);
    expect(rowsOf(RING, timeline, "boxes").names).toEqual(["left", "right"]);
    expect(rowsOf(RING, timeline, "wires").names).toEqual(["a - b", "b - c", "c - d", "a - d"]);
  });

  it("of some links have these only, and their bandwidth counts", () => {
    const timeline = randomTimeline(2, 100);
    const rows = rowsOf(RING, timeline, "sent", (link) => link === 2 || link === 3);
    expect(rows.names).toEqual(["b", "c"]);
    expect([...rows.slice].every((i) => timeline.link[i] === 2 || timeline.link[i] === 3)).toBe(true);
    expect(rows.share.every((share) => share === 0.5)).toBe(true);
  });

  it("give slices at the same time places that do not overlap, and the slice at a point is found there", () => {
    for (let seed = 0; seed < 10; seed++) {
      for (const kind of ["links", "wires", "sent"] as const) {
        const rows = rowsOf(RING, randomTimeline(seed, 150), kind);
        for (let row = 0; row < rows.names.length; row++) {
          for (let i = rows.offset[row]; i < rows.offset[row + 1]; i++) {
            expect(rows.low[i] + rows.share[i]).toBeLessThan(1 + 1e-4);
            for (let j = rows.offset[row]; j < i; j++) {
              const meet = rows.startPs[j] + rows.lastsPs[j] > rows.startPs[i];
              const over =
                Math.min(rows.low[i] + rows.share[i], rows.low[j] + rows.share[j]) - Math.max(rows.low[i], rows.low[j]);
              if (meet) expect(over).toBeLessThan(1e-4);
            }
            const middle = rows.startPs[i] + rows.lastsPs[i] / 2;
            expect(sliceAt(rows, row, middle, rows.low[i] + rows.share[i] / 2)).toBe(i);
          }
          expect(sliceAt(rows, row, -1, 0)).toBe(-1);
        }
      }
    }
  });

  it("say where slices are too many to have places", () => {
    const count = 70;
    const timeline = { ...randomTimeline(3, count), share: new Float32Array(count).fill(1 / count) };
    timeline.link.fill(0);
    timeline.startPs.fill(0);
    timeline.lastsPs.fill(10);
    expect([...rowsOf(RING, timeline, "links").crowded]).toEqual([1]);
  });
});

describe("bins", () => {
  it("are how much of the row's bandwidth is in use, and the colour that prevails", () => {
    for (let seed = 0; seed < 8; seed++) {
      const timeline = randomTimeline(seed, 120);
      for (const kind of ROW_KINDS) {
        const rows = rowsOf(RING, timeline, kind);
        const colour = colourOf(rows, timeline);
        for (const [from, to, count] of [
          [0, timeline.totalPs, 17],
          [3.3, 9.1, 5],
          [-5, 4, 9],
        ] as const) {
          const bins = emptyBins(count);
          for (let row = 0; row < rows.names.length; row++) {
            binRow(rows, row, from, to, colour, bins);
            for (let bin = 0; bin < count; bin++) {
              const [start, stop] = [from + (bin * (to - from)) / count, from + ((bin + 1) * (to - from)) / count];
              let busy = 0;
              let most = 0;
              for (let i = rows.offset[row]; i < rows.offset[row + 1]; i++) {
                const meet = Math.min(stop, rows.startPs[i] + rows.lastsPs[i]) - Math.max(start, rows.startPs[i]);
                busy += (Math.max(0, meet) / (stop - start)) * rows.share[i];
                most = Math.max(most, (meet / (stop - start)) * rows.share[i]);
              }
              expect(bins.busy[bin]).toBeCloseTo(busy, 4);
              expect(bins.most[bin]).toBeCloseTo(most, 4);
              expect(bins.colour[bin] > 0).toBe(most > 0);
            }
          }
        }
      }
    }
  });

  it("look at slices in sight only", () => {
    const rows = rowsOf(RING, randomTimeline(4, 5000), "links");
    for (let row = 0; row < rows.names.length; row++) {
      const [first, end] = slicesWithin(rows, row, 500, 510);
      expect(end - first).toBeLessThan(40);
      for (let i = rows.offset[row]; i < rows.offset[row + 1]; i++) {
        if (rows.startPs[i] < 510 && rows.startPs[i] + rows.lastsPs[i] > 500) expect(i >= first && i < end).toBe(true);
      }
    }
  });
});
