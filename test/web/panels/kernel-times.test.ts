import { expect, it } from "vitest";
import { browserOf, figuresOf, markdownOf, summaryOf } from "../../../src/web/panels/kernel-times.ts";
import type { KernelTimes } from "../../../src/web/protocol.ts";
import { sameBits } from "../../../src/web/worker/kernel-times.ts";

const spread: Pick<KernelTimes, "kernel" | "network" | "collective"> = {
  kernel: "spread",
  network: "mesh:4x4",
  collective: "all-gather",
};
const judge: typeof spread = { kernel: "judge", network: "mesh:4x4", collective: "all-gather" };
const done: readonly [KernelTimes, KernelTimes] = [
  { ...spread, wasmMs: 2, js: { ms: 5, isSame: true } },
  { ...judge, wasmMs: 1.2345, js: null },
];

it("says milliseconds, the ratio and whether the bits are the same; nothing before, a dash where there is no answer", () => {
  expect(figuresOf({ ...spread, wasmMs: null, js: null })).toEqual(["", "", "", ""]);
  expect(figuresOf(done[0])).toEqual(["2", "5", "2.5", "yes"]);
  expect(figuresOf({ ...spread, wasmMs: 2, js: { ms: 5, isSame: false } })[3]).toBe("no");
  expect(figuresOf(done[1])).toEqual(["1.23", "–", "–", "–"]);
});

it("sums up, and is copied as a table that says where it was measured", () => {
  expect(summaryOf(done)).toBe("JavaScript gives the same bits for 1 of 1 kernel and has no judge.");
  const lines = markdownOf(done, "Firefox 133, 4 threads").split("\n");
  expect(lines[0]).toContain("Firefox 133, 4 threads");
  expect(lines[4]).toBe("| spread | mesh:4x4 | all-gather | 2 | 5 | 2.5 | yes |");
});

it("names browsers that call themselves others, too", () => {
  const chrome =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36";
  expect(browserOf(chrome)).toBe("Chrome 131");
  expect(browserOf(`${chrome} Edg/131.0.0.0`)).toBe("Edge 131");
  expect(browserOf("Mozilla/5.0 (Macintosh) AppleWebKit/605.1 (KHTML, like Gecko) Version/18.1 Safari/605.1")).toBe(
    "Safari 18.1",
  );
  expect(browserOf("lynx")).toBe("lynx");
});

it("compares answers bit for bit", () => {
  const answer = { count: 2, chunk: Int32Array.of(1, 2), rate: { ps: Float64Array.of(0) } };
  expect(sameBits(answer, structuredClone(answer))).toBe(true);
  expect(sameBits(answer, { ...answer, rate: { ps: Float64Array.of(-0) } })).toBe(false);
  expect(sameBits(answer, { ...answer, chunk: Int32Array.of(1, 3) })).toBe(false);
  expect(sameBits(answer, { ...answer, chunk: Uint32Array.of(1, 2) })).toBe(false);
  expect(sameBits(answer, { ...answer, more: 1 })).toBe(false);
  expect(sameBits(null, null)).toBe(true);
});
