import { describe, expect, it } from "vitest";
import type { NetworkView, TimelineView } from "../../../../src/web/protocol.ts";
import { chunkPalette } from "../../../../src/web/views/time/chunk-colours.ts";
import { rowsOf, sliceColours } from "../../../../src/web/views/time/gantt-rows.ts";
import { type Frame, paintRows, shortened } from "../../../../src/web/views/time/gantt-stage.ts";

const NETWORK = {
  npuCount: 2,
  nodeNames: ["a", "b"],
  linkSource: Int32Array.of(0, 1),
  linkTarget: Int32Array.of(1, 0),
  linkBytesPerSecond: Float64Array.of(1e9, 1e9),
  groups: [],
  nodeGroup: Int32Array.of(-1, -1),
  wires: { a: Int32Array.of(0), b: Int32Array.of(1), ofLink: Int32Array.of(0, 0), bandwidthClass: Uint8Array.of(0) },
} as unknown as NetworkView;

/** Link 0: chunk 0 for all of 0 .. 10, then chunk 1 on the upper half of 10 .. 20 beside chunk 2; link 1: chunk 3 in 15 .. 20. */
const TIMELINE: TimelineView = {
  link: Int32Array.of(0, 0, 0, 1),
  startPs: Float64Array.of(0, 10, 10, 15),
  lastsPs: Float64Array.of(10, 10, 10, 5),
  share: Float32Array.of(1, 0.5, 0.5, 1),
  chunk: Int32Array.of(0, 2, 1, 3),
  reduces: Uint8Array.of(0, 0, 1, 0),
  totalPs: 20,
  planned: false,
  note: "",
};
const GROUND = 1000;
const EMPTY = 2000;
const rows = rowsOf(NETWORK, TIMELINE, "links");
const palette = { ...chunkPalette(4, false), pixel: Uint32Array.from({ length: 9 }, (_, i) => i * 10) };
const colour = sliceColours(rows, NETWORK, TIMELINE, null, "chunk", palette, () => true);

function paint(changes: Partial<Frame> = {}, shown = rows): { at: (x: number, y: number) => number } {
  const frame: Frame = {
    width: 20,
    height: 12,
    from: 0,
    to: 20,
    top: 0,
    rowHeight: 5,
    gap: 1,
    colour,
    pixel: palette.pixel,
    ground: GROUND,
    empty: EMPTY,
    ...changes,
  };
  const image = new Uint32Array(frame.width * frame.height);
  paintRows(shown, frame, image);
  return { at: (x, y) => image[y * frame.width + x] };
}

describe("painted rows", () => {
  it("have bars in their places, gaps between them and ground where nothing is", () => {
    const { at } = paint();
    expect([at(0, 0), at(8, 3), at(9, 2)]).toEqual([10, 10, EMPTY]);
    // chunk 2 came first and lies below chunk 1
    expect([at(12, 3), at(12, 0)]).toEqual([30, 20]);
    expect([at(3, 4), at(3, 11)]).toEqual([GROUND, GROUND]);
    expect([at(3, 6), at(16, 6)]).toEqual([EMPTY, 40]);
  });

  it("are scrolled and zoomed", () => {
    const { at } = paint({ top: 5, from: 10, to: 20 });
    expect([at(2, 0), at(12, 0)]).toEqual([EMPTY, 40]);
    expect(at(12, 8)).toBe(GROUND);
    expect(paint({ from: 14, to: 15 }).at(5, 0)).toBe(20);
  });

  it("say how busy a row is where bars would be too small", () => {
    const { at } = paint({ width: 2 }, { ...rows, crowded: Uint8Array.of(1, 1) });
    expect([at(0, 0), at(0, 3)]).toEqual([10, 10]);
    // link 1 is busy for half of the second half
    expect([at(1, 6), at(1, 7), at(0, 8)]).toEqual([EMPTY, 40, EMPTY]);
    // bars that are too short to be seen have a pixel, at the right edge too
    expect(paint({ width: 2 }).at(1, 6)).toBe(40);
  });
});

describe("colours of bars", () => {
  it("tell chunks, sums and NPUs, and leave out what is not wanted", () => {
    const of = (...given: [Parameters<typeof sliceColours>[4], (chunk: number) => boolean]) => [
      ...sliceColours(rows, NETWORK, TIMELINE, Int32Array.of(0, 1, 1, -1), given[0], palette, given[1]),
    ];
    expect(of("chunk", () => true)).toEqual([1, 3, 2, 4]);
    expect(of("sum", () => true)).toEqual([1, 1, 2, 1]);
    expect(of("origin", () => true)).toEqual([1, 2, 2, 0]);
    expect(of("chunk", (chunk) => chunk === 1)).toEqual([0, 0, 2, 0]);
  });

  it("go with names that are cut in their middle", () => {
    expect(shortened("gpu0.3 > nvsw1", 20)).toBe("gpu0.3 > nvsw1");
    expect(shortened("abcdefghij", 5)).toBe("ab\u2026ij");
  });
});
