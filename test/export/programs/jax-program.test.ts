import { expect, it } from "vitest";
import { jaxProgram } from "../../../src/export/programs/jax-program.ts";
import { describePythonProgram } from "../../support/python-programs.ts";
import { outOfRange } from "../../support/refusals.ts";
import { longRingSchedule, ringSchedule } from "../../support/ring-schedule.ts";

describePythonProgram("a program of JAX", jaxProgram, "numpy", [{ args: [], variables: {} }]);

it("asks for as many devices of the host as there are ranks, before JAX is loaded", () => {
  const text = [...jaxProgram(ringSchedule(), "ring all-gather")].join("");
  const flags = text.indexOf("--xla_force_host_platform_device_count=3");
  expect(flags).toBeGreaterThan(0);
  expect(text.indexOf("\nimport jax\n")).toBeGreaterThan(flags);
  expect(text).toContain('\ndef ring_all_gather(x, axis="ranks"):\n');
});

it("refuses more permutations than XLA compiles", () => {
  // copies that replace sums stay in their order
  const long = (count: number) => {
    const schedule = longRingSchedule(count);
    return { ...schedule, collective: { ...schedule.collective, reduces: true } };
  };
  const lines = [...jaxProgram(long(30_000), "long")].filter((part) => part.startsWith("0>1:0 "));
  expect(lines).toHaveLength(10_000);
  expect(() => [...jaxProgram(long(30_001), "long")]).toThrow(
    outOfRange("a schedule to be written for JAX", 10_001, 10_000),
  );
});
