import { describe, expect, it } from "vitest";
import { type Axis, readSweepFile, type SweepFile } from "../../../src/request/sweep/sweep-file.ts";

const AXES = "  topology: [mesh:2x2]\n  collective: [allgather]\n";
const read = (text: string): SweepFile => readSweepFile(text, "s.yaml");
const axis = (file: SweepFile, name: string): Axis => file.blocks[0]?.find(({ names }) => names.includes(name)) as Axis;
const texts = (one: Axis): unknown[] =>
  Array.from({ length: one.length }, (_, i) => one.at(i).map(({ value }) => value));

describe("files of sweeps", () => {
  it("have lists, single values, ranges by steps and by factors, in any spelling of an option", () => {
    const file = read(
      `sweep: mine\naxes:\n${AXES}  size: {from: 1KiB, to: 1MiB, times: 32}\n  seed: {from: 2, to: 9, step: 3}\n  time-limit: 5s\n  switchDegree: [1, ports]\n`,
    );
    expect(file).toMatchObject({ name: "mine", verb: "synth", keep: false, prices: null });
    expect(texts(axis(file, "size"))).toEqual([["1KiB"], ["32KiB"], ["1MiB"]]);
    expect(texts(axis(file, "seed"))).toEqual([["2"], ["5"], ["8"]]);
    expect(texts(axis(file, "timeLimit"))).toEqual([["5s"]]);
    expect(texts(axis(file, "switchDegree"))).toEqual([["1"], ["ports"]]);
  });

  it("zip lists of one length", () => {
    const file = read(
      "axes:\n  collective: allgather\n  zip: {topology: [mesh:2x2, ring:4], algorithm: [tacos, ring]}\n",
    );
    expect(texts(axis(file, "topology"))).toEqual([
      ["mesh:2x2", "tacos"],
      ["ring:4", "ring"],
    ]);
    expect(() =>
      read("axes:\n  collective: allgather\n  zip: {topology: [mesh:2x2], algorithm: [tacos, ring]}\n"),
    ).toThrow("s.yaml line 3: algorithm has 2 values, and topology, which it is zipped with, has 1");
  });

  it("do not list the numbers of a range", () => {
    const many = axis(read(`axes:\n${AXES}  seed: {from: 0, to: 4e9}\n`), "seed");
    expect([many.length, many.at(123_456_789)[0]?.value]).toEqual([4_000_000_001, "123456789"]);
  });

  it("put networks first and failures last, whatever the order in the file", () => {
    const [block] = read(
      "axes:\n  failures: [none, a+b, {each: links}, {every: 2, of: nics}, {random: 3, of: switches, times: 200, seed: 7}]\n  collective: allgather\n  topology: mesh:2x2\n",
    ).blocks;
    expect(block?.map(({ names }) => names[0])).toEqual(["topology", "collective", "failures"]);
    expect(texts(block?.[2] as Axis).flat()).toEqual([
      { kind: "names", names: [] },
      { kind: "names", names: ["a", "b"] },
      { kind: "every", size: 1, of: "links" },
      { kind: "every", size: 2, of: "nics" },
      { kind: "random", size: 3, of: "switches", times: 200, seed: 7 },
    ]);
  });

  it("have budgets, prices and priorities", () => {
    const rest = "budget: {time: 90s, memory: 2GiB}\nprices: {npu: 3, cable: 0.5}\npriority: 7\nkeep: schedules\n";
    expect(read(`axes:\n${AXES}${rest}`)).toMatchObject({
      ...{ budget: { timeMs: 90_000, memoryBytes: 2 ** 31 }, prices: { npu: 3, cable: 0.5 } },
      ...{ priority: 7, keep: true },
    });
  });

  it.each([
    ["", "s.yaml is null; it must be a sweep, as KEY: VALUE lines"],
    ["sweep: a\n", "s.yaml has no axes; e.g. axes: {topology: [mesh:4x4], collective: [allgather, allreduce]}"],
    [
      `axs:\n${AXES}`,
      's.yaml line 1 is "axs", not a key of a sweep (sweep, do, axes, options, budget, keep, prices, priority); did you mean "axes"?',
    ],
    ["axes:\n  topology: mesh:2x2\n", "s.yaml has no axis collective, which every task of `synth` needs"],
    [`axes:\n${AXES}  siz: 1MiB\n`, 's.yaml line 4: "siz" is no option of `synth` (did you mean "size"?)'],
    [`axes:\n${AXES}  size: [1MiB, 2Mib,\n    3 parsecs]\n`, 's.yaml line 5, column 5 is "3 parsecs"; it must be'],
    [`axes:\n${AXES}  failures: [{each: linkss}]\n`, 's.yaml line 4, column 21 is "linkss"; did you mean "links"?'],
    [`axes:\n${AXES}  failures: [{random: 3}]\n`, 's.yaml line 4, column 14 is "undefined"'],
    [`axes:\n${AXES}  seed: {from: 5, to: 2}\n`, "s.yaml line 4, column 23 is 2; it must be 5 or more"],
    [
      `axes:\n${AXES}options: {collective: allreduce}\n`,
      "s.yaml line 3 is both; it must be collective as an axis or as an option, not both",
    ],
    [`axes:\n${AXES}  trials: [one]\n`, 's.yaml line 4, column 12 is "one"; it must be a whole number, 1 or more'],
    [`axes:\n${AXES}keep: all\n`, 's.yaml line 4, column 7 is "all"; it must be schedules or nothing'],
    ["do: bound\nkeep: schedules\naxes:\n  topology: a\n  collective: allgather\n", "s.yaml line 2, column 7"],
    [`axes:\n${AXES}prices: {npu: -1}\n`, "s.yaml line 4, column 15 is -1; it must be a number, 0 or more"],
  ])("%j is refused with its place", (text, sentence) => {
    expect(() => read(text)).toThrow(sentence);
  });
});
