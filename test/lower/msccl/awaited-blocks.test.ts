import { expect, it } from "vitest";
import { MSCCL_RUNTIMES } from "../../../src/model/program/runtimes.ts";
import { programOf } from "../../../src/run/programs/programs.ts";
import { plainEngine, scheduleOf } from "../../support/lowering-cases.ts";
import { refused } from "../../support/refusals.ts";

/** Runtimes keep the thread block that a step waits for in 8 bits with a sign: 128 would be -128, and a wait for another one. */
it("refuses more thread blocks to wait for than runtimes can name", async () => {
  const what = { network: "hypercube:3", collective: "allreduce", algorithm: "direct" } as const;
  const schedule = await scheduleOf(await plainEngine(), what);
  const made = (instances: number) => programOf(schedule, { runtime: "azure", instances });
  const { awaitedBlock } = MSCCL_RUNTIMES.azure;
  const { blockId, waitOn, instructionOffset } = made(16).program;
  const awaited = Array.from(waitOn, (on) => blockId[instructionOffset.findLastIndex((first) => first <= on)]);
  expect(Math.max(...awaited)).toBeGreaterThan(100);
  expect(Math.max(...awaited)).toBeLessThanOrEqual(awaitedBlock);
  expect(() => made(20)).toThrow(
    refused("out-of-range", "the schedule as a program for Azure's MSCCL executor", 140, awaitedBlock + 1),
  );
});
