import { describe, expect, it } from "vitest";
import { judgeMutants, scheduleTrials } from "../support/schedule-campaign.ts";

describe("mutants of schedules (bench/schedule-mutants.mjs for more)", () => {
  it.each(Object.entries(scheduleTrials()))("are judged as brute force judges them: %s", (name, trial) => {
    const { right, wrong, faults } = judgeMutants(name, trial, 3, 0, 120);
    expect(faults).toEqual([]);
    expect([right > 0, wrong > 20]).toEqual([true, true]);
  });
});
