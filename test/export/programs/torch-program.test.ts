import { expect, it } from "vitest";
import { torchProgram } from "../../../src/export/programs/torch-program.ts";
import { describePythonProgram } from "../../support/python-programs.ts";
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
    "expected at most 1000000 transfers for a schedule to be written in Python but received 1000001",
  );
});
