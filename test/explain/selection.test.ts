import { describe, expect, it } from "vitest";
import { explainLog, selectionOf } from "../../src/explain/log.ts";
import type { LoggedPrograms } from "../../src/model/calibration/measurements.ts";
import type { Program } from "../../src/model/program/program.ts";
import { programBuilder } from "../../src/model/program/program-builder.ts";

function program(changes: Partial<Program> = {}): Program {
  const builder = programBuilder();
  for (let rank = 0; rank < 2; rank++) builder.addRank();
  const header = {
    name: "x",
    machine: "msccl",
    collective: "allreduce",
    rootRank: 0,
    rankCount: 2,
    protocol: "Simple",
    inPlace: true,
    outOfPlace: false,
    minBytes: 1024,
    maxBytes: 4096,
    loopChunks: 8,
    finer: 1,
    inputChunks: Int32Array.of(8, 8),
    outputChunks: Int32Array.of(0, 0),
    scratchChunks: Int32Array.of(0, 0),
    channelCount: 1,
  } as const;
  return { ...builder.build(header), ...changes };
}
const call = { sizeBytes: 4096, elementBytes: 4, inPlace: true, ranks: 2 };

describe("selectionOf", () => {
  it("knows that microsoft/msccl leaves maxBytes out and Azure's executor does not", () => {
    expect(selectionOf(program(), "msccl", call)).toEqual({
      runtime: "msccl",
      selected: false,
      reasons: ["4 KiB is outside its range (1024 to 4096 bytes, the last not included)"],
    });
    expect(selectionOf(program(), "azure", call).selected).toBe(true);
    expect(selectionOf(program(), "msccl", { ...call, sizeBytes: 4064 }).selected).toBe(true);
  });

  it("takes maxBytes 0 for no bound where the runtime does", () => {
    const open = program({ maxBytes: 0 });
    const large = { ...call, sizeBytes: 2 ** 40 };
    expect(selectionOf(open, "rccl", large).selected).toBe(true);
    expect(selectionOf(open, "msccl", large).selected).toBe(false);
  });

  it("knows that microsoft/msccl takes a program for both placements in place only", () => {
    const both = program({ outOfPlace: true });
    const outOfPlace = { ...call, inPlace: false };
    expect(selectionOf(both, "msccl", { ...outOfPlace, sizeBytes: 2048 }).reasons).toEqual([
      "microsoft/msccl looks at inplace only, and selects it for calls in place",
    ]);
    expect(selectionOf(both, "azure", outOfPlace).selected).toBe(true);
  });

  it("gives every reason", () => {
    const { reasons } = selectionOf(program(), "azure", { sizeBytes: 1036, elementBytes: 4, inPlace: false, ranks: 3 });
    expect(reasons).toEqual([
      "it is for 2 ranks, not 3",
      "it is for in-place calls only, and this one is out of place",
      "259 elements are no multiple of its 8 chunks",
    ]);
    expect(selectionOf(program({ collective: "custom" }), "rccl", call).reasons).toEqual([
      'RCCL knows no collective "custom"',
    ]);
    expect(selectionOf(program({ minBytes: null }), "rccl", call).reasons[0]).toContain("does not load");
  });

  it("knows the divisibility that MSCCL++ asks", () => {
    const plan = program({ machine: "mscclpp", minBytes: 0, maxBytes: 2 ** 20 });
    expect(selectionOf(plan, "mscclpp", { ...call, sizeBytes: 8 * 16 }).selected).toBe(true);
    expect(selectionOf(plan, "mscclpp", { ...call, sizeBytes: 9 * 16 }).reasons).toEqual([
      "9 units of 16 bytes are no multiple of its 8 chunks",
    ]);
    expect(selectionOf(plan, "mscclpp", { ...call, sizeBytes: 2 ** 21 }).reasons).toEqual([
      "2 MiB is above max_message_size",
    ]);
  });
});

describe("explainLog", () => {
  const facts: LoggedPrograms = {
    version: "RCCL version 2.20",
    parsed: [],
    failed: [],
    connected: null,
    folder: "/opt/rocm/share/rccl/msccl-algorithms",
    problems: [],
    hasRuntime: true,
    tellsCalls: true,
    calls: [],
  };
  const made = (changes: Partial<LoggedPrograms["calls"][number]>): LoggedPrograms["calls"][number] => ({
    collective: "allreduce",
    sizeBytes: 2048,
    elementBytes: 4,
    reduction: 0,
    ranks: 2,
    inPlace: true,
    ranBy: "msccl",
    line: 7,
    times: 3,
    ...changes,
  });
  const last = (changes: Partial<LoggedPrograms["calls"][number]>): string | undefined =>
    explainLog(program(), "rccl", { ...facts, calls: [made(changes)] }, "x.xml").at(-1);

  it("says of every call whether the program ran, and if not why", () => {
    expect(last({})).toBe("line 7: 3 x 2 KiB in place: run by an MSCCL program, and this one fits");
    expect(last({ ranBy: "library" })).toContain("the library's own algorithm ran");
    expect(last({ ranBy: "mscclpp" })).toContain("run by MSCCL++");
    expect(last({ sizeBytes: 8192 })).toContain("8 KiB is outside its range");
    expect(last({ reduction: 4 })).toContain("averages");
    expect(last({ collective: "allgather" })).toBe("it shows no allreduce");
  });

  it("says when no runtime is there at all", () => {
    const lines = explainLog(program(), "msccl", { ...facts, hasRuntime: false }, "x.xml");
    expect(lines[1]).toContain("does not run such programs");
  });
});
