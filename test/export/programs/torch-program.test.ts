import { describe, expect, it } from "vitest";
import { torchProgram } from "../../../src/export/programs/torch-program.ts";
import { stepsOf } from "../../../src/model/steps/schedule.ts";
import { type LoweringCase, plainEngine, scheduleOf } from "../../support/lowering-cases.ts";
import { describePythonProgram } from "../../support/python-programs.ts";
import { pythonWithTorch, runTorch } from "../../support/python-run.ts";
import { outOfRange } from "../../support/refusals.ts";
import { longRingSchedule, ringSchedule } from "../../support/ring-schedule.ts";

const gpu = { STAND_IN_GPU: "1" };
describePythonProgram("a program of torch", torchProgram, "random", [
  { args: [], variables: {} },
  { args: [], variables: gpu },
  { args: ["--parts", "3"], variables: {} },
  { args: ["--parts", "3"], variables: gpu },
]);

it("lists messages round by round, ranks and chunks", () => {
  const text = [...torchProgram(ringSchedule())].join("");
  expect(text).toContain('TABLE = """\n0>1:0 1>2:1 2>0:2\n0>1:2 1>2:0 2>0:1\n"""\n');
  expect(text).toContain('NPUS = ["a", "b", "c"]\nRANKS = 3\nROOT = 0\nREDUCES = False\n');
  expect(text).toContain("INPUT = [[0], [1], [2]]\nOUTPUT = [range(3)] * 3\n");
  expect(text).toContain("PIECES = [[1]] * 3\n");
  expect(text).toContain("\n    def all_gather_into_tensor(self, output_tensor, input_tensor):\n");
});

it("refuses more than a million transfers", () => {
  expect(() => [...torchProgram(longRingSchedule(1_000_001))]).toThrow(
    outOfRange("a schedule to be written in Python", 1_000_001, 1_000_000),
  );
});

const python = pythonWithTorch() ?? "";
describe.skipIf(python === "")(`programs under torch itself${python === "" ? " (there is none here)" : ""}`, () => {
  const written = async (what: LoweringCase): Promise<string[]> => [
    ...torchProgram(stepsOf(await scheduleOf(await plainEngine(), what), 2)),
  ];

  it("is right in small and large pieces", async () => {
    const what: LoweringCase = { network: "ring:5", collective: "alltoall", algorithm: "tacos" };
    const { out, failed } = runTorch(python, await written(what), ["1", "1009", "600011"]);
    expect(failed).toBe("");
    expect(out).toContain(": correct for [1, 1009, 600011] elements a block\n");
  });

  it("measures as nccl-tests do, with torch's own beside it", async () => {
    const what: LoweringCase = { network: "ring:4", collective: "allreduce", algorithm: "ring" };
    const args = ["--time", "--compare", "--size", "4KiB,1M", "--iters", "3", "--dtype", "half"];
    const { out, failed } = runTorch(python, await written(what), args);
    expect(failed).toBe("");
    const rows = out.split("\n").filter((line) => /^ +\d/.test(line));
    expect(rows.map((line) => line.trim().split(/\s+/).slice(0, 5))).toEqual([
      ["4096", "2048", "half", "sum", "-1"],
      ["1048576", "524288", "half", "sum", "-1"],
    ]);
    const columns =
      "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong ";
    expect(out.split("\n")).toContain(columns);
    for (const row of rows) {
      const [time, algbw, busbw, wrong] = row.trim().split(/\s+/).slice(5, 9).map(Number);
      const size = Number(row.trim().split(/\s+/)[0]);
      expect(wrong).toBe(0);
      expect(Math.abs(algbw - size / time / 1000)).toBeLessThan(0.006);
      expect(Math.abs(busbw - 1.5 * algbw)).toBeLessThan(0.016);
    }
    expect(out.match(/# takes [\d.]+ and [\d.]+ times as long as torch's own/g)).toHaveLength(2);
    expect(out).toContain("# Out of bounds values : 0 OK\n");
  });

  it("trains as torch's own all-reduce does", async () => {
    const what: LoweringCase = { network: "mesh:2x2", collective: "allreduce", algorithm: "tacos", chunks: 2 };
    expect(runTorch(python, await written(what), [], "torch-training.py")).toEqual({ out: "fine\n", failed: "" });
  });
});
