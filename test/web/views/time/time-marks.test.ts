import { describe, expect, it } from "vitest";
import { random } from "../../../../src/base/random.ts";
import type { HopsView, NetworkView } from "../../../../src/web/protocol.ts";
import { chunkPalette } from "../../../../src/web/views/time/chunk-colours.ts";
import {
  arrivalsOf,
  Fill,
  heldAt,
  holdingsOf,
  rangesText,
  sortedHops,
  UnderWay,
} from "../../../../src/web/views/time/holdings.ts";
import { alongHop, type Moment, marksAt } from "../../../../src/web/views/time/time-marks.ts";
import { randomHops } from "./random-hops.ts";

/** NPUs 0, 1, 2 on a switch, node 3: wires 0-3, 1-3, 2-3; and a wire 0-1. */
const NETWORK = {
  npuCount: 3,
  nodeNames: ["a", "b", "c", "s"],
  wires: { a: Int32Array.of(0, 1, 2, 0), b: Int32Array.of(3, 3, 3, 1) },
} as unknown as NetworkView;

/** Chunk 0: a to b over the switch (0 to 10), b to c (10 to 20); chunk 1: b to a on the wire between them (5 to 15). */
const HOPS: HopsView = {
  chunk: Int32Array.of(0, 1, 0),
  source: Int32Array.of(0, 1, 1),
  target: Int32Array.of(1, 0, 2),
  startPs: Float64Array.of(0, 5, 10),
  endPs: Float64Array.of(10, 15, 20),
  reduces: Uint8Array.of(0, 0, 0),
  wireOffset: Int32Array.of(0, 2, 3, 5),
  wires: Int32Array.of(0, 1, 3, 1, 2),
  chunkCount: 2,
  chunkBytes: 1,
  chunkOrigin: Int32Array.of(0, 1),
  heldOffset: Int32Array.of(0, 1, 2, 2),
  held: Int32Array.of(0, 1),
  wantedOffset: Int32Array.of(0, 2, 4, 5),
  wanted: Int32Array.of(0, 1, 0, 1, 0),
  totalPs: 20,
  isPipelined: false,
  note: "",
};
const holdings = holdingsOf(HOPS, 3);
const palette = chunkPalette(2, false);
const [first, second] = [palette.css[1], palette.css[2]];

function moment(time: number, chunk: number | null = null, npu: number | null = null): Moment {
  const shares = new Fill(holdings).at(time);
  return { network: NETWORK, holdings, palette, time, active: new UnderWay(HOPS).at(time), shares, chunk, npu };
}

describe("what the network shows of thousands of hops", () => {
  const many: HopsView = {
    ...HOPS,
    chunk: Int32Array.from({ length: 9000 }, (_, hop) => hop % 2),
    source: new Int32Array(9000).fill(0),
    target: new Int32Array(9000).fill(1),
    startPs: new Float64Array(9000),
    endPs: new Float64Array(9000).fill(20),
    reduces: Uint8Array.from({ length: 9000 }, (_, hop) => (hop === 8999 ? 1 : 0)),
    wireOffset: Int32Array.from({ length: 9001 }, (_, hop) => hop),
    wires: Int32Array.from({ length: 9000 }, (_, hop) => (hop === 0 ? 2 : 3)),
  };

  it("is each wire once, as the hop that covers the others shows it", () => {
    const active = Array.from({ length: 9000 }, (_, hop) => hop);
    const { wires } = marksAt({ ...moment(5), holdings: holdingsOf(many, 3), active });
    expect(wires).toEqual([
      { wire: 2, forward: null, colour: palette.css[palette.ofChunk(0)], dashed: false },
      { wire: 3, forward: null, colour: palette.css[palette.ofChunk(1)], dashed: true },
    ]);
  });
});

describe("what the network shows at a time", () => {
  it("follows a hop over its wires, each in its direction", () => {
    const seen: [number, boolean][] = [];
    alongHop(NETWORK, holdings, 0, (wire, forward) => seen.push([wire, forward]));
    alongHop(NETWORK, holdings, 1, (wire, forward) => seen.push([wire, forward]));
    expect(seen).toEqual([
      [0, true],
      [1, false],
      [3, false],
    ]);
  });

  it("has a dot for each transfer under way, as far as its time", () => {
    const { dots, wires, fill, fadeOthers } = marksAt(moment(7.5));
    expect(dots).toEqual([
      { wire: 1, forward: false, at: 0.5, colour: first },
      { wire: 3, forward: false, at: 0.25, colour: second },
    ]);
    expect(wires?.map(({ wire, colour }) => [wire, colour])).toEqual([
      [0, first],
      [1, first],
      [3, second],
    ]);
    expect([...(fill ?? [])]).toEqual([0.5, 0.5, 0, 0]);
    expect(fadeOthers).toBe(false);
    expect(marksAt(moment(20)).dots).toEqual([]);
    expect([...(marksAt(moment(20)).fill ?? [])]).toEqual([1, 1, 1, 0]);
  });

  it("of a chunk has its way so far, who holds it and where it began", () => {
    const { dots, wires, fill, nodes, fadeOthers } = marksAt(moment(12, 0));
    expect(wires?.map(({ wire }) => wire)).toEqual([0, 1, 1, 2]);
    expect(dots).toEqual([{ wire: 1, forward: true, at: 0.4, colour: first }]);
    expect([...(fill ?? [])]).toEqual([1, 1, 0, 0]);
    expect(nodes?.get(0)).toEqual({ colour: first, ring: true, text: "start" });
    expect(fadeOthers).toBe(true);
  });

  it("of an NPU has what it sends and receives", () => {
    expect(marksAt(moment(7, null, 2)).wires).toEqual([]);
    expect(marksAt(moment(12, null, 2)).dots?.length).toBe(1);
    expect(marksAt(moment(12, null, 1)).dots?.length).toBe(2);
    expect(marksAt(moment(12, null, 2)).nodes?.get(2)).toEqual({ colour: "--chosen", ring: true });
  });
});

describe("tables", () => {
  it("tell who got a chunk, from whom and when, the latest first", () => {
    expect(arrivalsOf(holdings, 0, 12)).toEqual({
      holders: 2,
      rows: [
        { hop: 2, npu: 2, from: 1, at: 20, isMoving: true, amount: 1 },
        { hop: 0, npu: 1, from: 0, at: 10, isMoving: false, amount: 1 },
      ],
    });
  });

  it("count as holders those who hold all of it", () => {
    const hops = randomHops(random(7), 6, 4);
    const summed = holdingsOf(hops, 6);
    for (let chunk = 0; chunk < 4; chunk++) {
      for (let time = 0; time <= hops.totalPs; time++) {
        const all = [...heldAt(summed, chunk, time)].filter((has) => has >= summed.whole[chunk]).length;
        expect(arrivalsOf(summed, chunk, time).holders).toBe(all);
      }
    }
  });

  it("are sorted by any column, both ways", () => {
    const hops = randomHops(random(3), 5, 5);
    const all = [...hops.chunk.keys()];
    const values = {
      chunk: hops.chunk,
      source: hops.source,
      target: hops.target,
      start: hops.startPs,
      end: hops.endPs,
    };
    for (const column of ["chunk", "source", "target", "start", "end"] as const) {
      const up = sortedHops(hops, all, column, false).map((hop) => values[column][hop]);
      const down = sortedHops(hops, all, column, true).map((hop) => values[column][hop]);
      expect(up).toEqual([...values[column]].sort((a, b) => a - b));
      expect(down).toEqual([...up].reverse());
    }
  });

  it("write numbers as ranges", () => {
    expect(rangesText([])).toBe("");
    expect(rangesText([0, 1, 2, 5, 7, 8])).toBe("0-2, 5, 7, 8");
    expect(rangesText([0, 2, 4, 6, 8, 9], 3)).toBe("0, 2, 4 and 3 more");
  });
});
