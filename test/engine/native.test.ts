import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { kernelsOrReason } from "../support/backends.ts";
import { kernelContract } from "./kernels.contract.ts";

await kernelContract("native");

const { kernels, reason } = await kernelsOrReason("native");
const file = fileURLToPath(new URL("../../native/build/Release/banyan.node", import.meta.url));

describe.runIf(kernels !== undefined)(`the add-on itself${reason && ` (skipped: ${reason})`}`, () => {
  const ints = (...values: number[]): Int32Array => Int32Array.from(values);
  // NPU 0 sends its one chunk to NPU 1.
  const good = (): unknown[] => [
    ...[2, ints(0), ints(1), Float64Array.of(5), ints(0, 0), ints(), ints(), ints()],
    ...[1, ints(0, 1, 1), ints(0), null, null],
    ...[1, 0, 1, 0, 0, 0, 0, null, null],
    ...[ints(9), ints(9), Float64Array.of(9), new Float64Array(3)],
  ];
  // One transfer over that route.
  const goodPlace = (): unknown[] => [
    ...[2, ints(0), ints(1), Float64Array.of(5), ints(0, 0), ints(), ints(), ints()],
    ...[ints(0), ints(0, 0), ints(), Float64Array.of(3), null, Float64Array.of(9)],
  ];
  // Two NPUs, a link each way.
  const goodRate = (): unknown[] => [
    ...[2, 2, ints(0, 1), ints(1, 0), Float64Array.of(5, 5), Float64Array.of(1, 1), null, new Uint8Array(2)],
  ];
  // A link from a node that is fed to a sink.
  const goodSweep = (): unknown[] => [
    ...[2, ints(0), ints(1), Float64Array.of(5), Float64Array.of(3, 0), ints(1), null, new Float64Array(1)],
  ];
  // A link each way between two terminals.
  const goodPartition = (): unknown[] => [
    ...[2, 0, ints(0, 1), ints(1, 0), Float64Array.of(5, 5), ints(0, 0), null, ints(9, 9)],
  ];
  // One copy over a link.
  const goodPack = (): unknown[] => [
    ...[2, 2, ints(0), ints(1), Float64Array.of(5), Float64Array.of(1, 0), 1, 1, 0, 1, 0, 0, null],
    ...[ints(9), Float64Array.of(9), Float64Array.of(9, 9), ints(9), new Uint8Array(2), new Float64Array(4)],
  ];
  // Two arcs into node 1.
  const goodArborescence = (): unknown[] => [
    ...[2, 0, ints(0, 0), ints(1, 1), Float64Array.of(5, 4), null, new Int32Array(2)],
  ];
  // One tree of one edge.
  const goodPeriod = (): unknown[] => [
    ...[2, 1, 1, 0, ints(0), ints(1), Float64Array.of(5), Float64Array.of(2), Uint8Array.of(1), Float64Array.of(5)],
    ...[Float64Array.of(0), null, ints(9, 9), Float64Array.of(9, 9, 9, 9)],
  ];
  // All that node 0 sends node 1 goes over one link.
  const goodConcurrent = (): unknown[] => [
    ...[2, ints(0, 1, 1), ints(1), ints(0), Float64Array.of(5), ints(0), Float64Array.of(1), null, Uint8Array.of(1, 1)],
    ...[Float64Array.of(0.1), 9, null, ints(9), Float64Array.of(9), new Float64Array(3)],
  ];
  // One chunk over one link, cut through.
  const goodReplay = (): unknown[] => [
    ...[0, 2, 1, ints(0), ints(1), ints(0, 1), ints(0), ints(0, 1), Uint8Array.of(0), Float64Array.of(5)],
    ...[Float64Array.of(7), Float64Array.of(1), Float64Array.of(1), ints(0), ints(0, 1), ints(0), ints(0), ints(0)],
    ...[Float64Array.of(0), Float64Array.of(9), null],
    ...[new Float64Array(1), Float64Array.of(9), Float64Array.of(9), null, new Float64Array(3)],
  ];
  const calls = {
    concurrent: goodConcurrent,
    match: good,
    place: goodPlace,
    rate: goodRate,
    sweep: goodSweep,
    partition: goodPartition,
    pack: goodPack,
    arborescence: goodArborescence,
    period: goodPeriod,
    replay: goodReplay,
  };
  const names = Object.keys(calls) as (keyof typeof calls)[];
  const addon = (): Record<keyof typeof calls, (...args: unknown[]) => number> =>
    createRequire(import.meta.url)(process.env["BANYAN_ADDON"] ?? file);

  it("writes into the caller's arrays", () => {
    const args = good();
    expect(addon().match(...args)).toBe(0);
    expect(args.slice(-4)).toEqual([ints(0), ints(0), Float64Array.of(0), Float64Array.of(1, 0, 0)]);
  });

  it("writes starts into the caller's array", () => {
    const args = goodPlace();
    expect(addon().place(...args)).toBe(0);
    expect(args.at(-1)).toEqual(Float64Array.of(0));
  });

  it("writes flows, parts and arcs into the caller's arrays", () => {
    const [sweep, parts, span] = [goodSweep(), goodPartition(), goodArborescence()];
    expect([addon().sweep(...sweep), addon().partition(...parts), addon().arborescence(...span)]).toEqual([0, 0, 0]);
    expect([sweep.at(-1), parts.at(-1), span.at(-1)]).toEqual([Float64Array.of(3), ints(0, 1), ints(-1, 1)]);
  });

  it("writes edges and starts into the caller's arrays", () => {
    const args = goodPeriod();
    expect(addon().period(...args)).toBe(0);
    expect(args.slice(-2)).toEqual([ints(-1, 0), Float64Array.of(-1, 0, -1, 10)]);
  });

  it("writes a concurrent flow into the caller's arrays", () => {
    const args = goodConcurrent();
    expect(addon().concurrent(...args)).toBe(0);
    expect(args.slice(-3)).toEqual([ints(2 ** 30), Float64Array.of(1), Float64Array.of(5, 5, 0)]);
  });

  it("writes times into the caller's arrays, or none", () => {
    const args = goodReplay();
    expect(addon().replay(...args)).toBe(0);
    const [busy, start, end] = [Float64Array.of(5), Float64Array.of(0), Float64Array.of(7)];
    expect(args.slice(-5)).toEqual([busy, start, end, null, Float64Array.of(7, 0, 0)]);
    expect(addon().replay(...goodReplay().with(-3, null).with(-4, null))).toBe(0);
    expect(addon().replay(...goodReplay().with(-3, null))).toBe(1);
    expect(addon().replay(...goodReplay().with(-2, new Float64Array(1)))).toBe(1);
  });

  it("writes trees into the caller's arrays", () => {
    const args = goodPack();
    expect(addon().pack(...args)).toBe(0);
    const trees = [ints(0), Float64Array.of(1), Float64Array.of(0, 1), ints(0)];
    expect(args.slice(-6)).toEqual([...trees, new Uint8Array(2), Float64Array.of(1, 0, 1, 0)]);
  });

  it.each([undefined, "x", {}, 1.5, 2 ** 40, [0], new Float32Array(2), new DataView(new ArrayBuffer(8))])(
    "throws a TypeError for %o at every place of the call",
    (wrong) => {
      for (const kernel of names) {
        for (let place = 0; place < calls[kernel]().length; place++) {
          const args = calls[kernel]();
          args[place] = wrong;
          expect(() => addon()[kernel](...args), `${kernel}, place ${place}`).toThrow(TypeError);
        }
      }
    },
  );

  it("throws a TypeError for missing arguments", () => {
    for (const kernel of names) {
      for (let count = 0; count < calls[kernel]().length; count++) {
        expect(() => addon()[kernel](...calls[kernel]().slice(0, count))).toThrow(TypeError);
      }
    }
  });
});
