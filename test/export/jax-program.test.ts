import { expect, it } from "vitest";
import { jaxProgram } from "../../src/export/jax-program.ts";
import { describePythonProgram } from "../support/python-programs.ts";
import { ringSchedule } from "../support/ring-schedule.ts";

describePythonProgram("a program of JAX", jaxProgram, "numpy");

it("asks for as many devices of the host as there are ranks, before JAX is loaded", () => {
  const text = [...jaxProgram(ringSchedule(), "ring all-gather")].join("");
  const flags = text.indexOf("--xla_force_host_platform_device_count=3");
  expect(flags).toBeGreaterThan(0);
  expect(text.indexOf("\nimport jax\n")).toBeGreaterThan(flags);
  expect(text).toContain('\ndef ring_all_gather(x, axis="ranks"):\n');
});
