import { expect, it } from "vitest";
import { jaxProgram } from "../../../src/export/programs/jax-program.ts";
import { describePythonProgram } from "../../support/python-programs.ts";
import { longRingSchedule, ringSchedule } from "../../support/ring-schedule.ts";

describePythonProgram("a program of JAX", jaxProgram, "numpy");

it("asks for as many devices of the host as there are ranks, before JAX is loaded", () => {
  const text = [...jaxProgram(ringSchedule(), "ring all-gather")].join("");
  const flags = text.indexOf("--xla_force_host_platform_device_count=3");
  expect(flags).toBeGreaterThan(0);
  expect(text.indexOf("\nimport jax\n")).toBeGreaterThan(flags);
  expect(text).toContain('\ndef ring_all_gather(x, axis="ranks"):\n');
});

it("refuses more rounds than XLA compiles", () => {
  expect([...jaxProgram(longRingSchedule(30_000), "long")].length).toBeGreaterThan(10_000);
  expect(() => [...jaxProgram(longRingSchedule(30_001), "long")]).toThrow(
    "expected at most 10000 rounds for a schedule to be written for JAX but received 10001",
  );
});
