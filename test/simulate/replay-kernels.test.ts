import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Kernels } from "../../src/engine/contract/kernels.ts";
import type { JointSchedule } from "../../src/model/joint/joint-schedule.ts";
import { rational } from "../../src/model/numbers/rational.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import type { Replay } from "../../src/model/replay/problem.ts";
import type { StepSchedule } from "../../src/model/steps/step-schedule.ts";
import type { Switching } from "../../src/simulate/simulation.ts";
import { simulateReference } from "../../src/simulate/steps/reference.ts";
import { simulateJoint, simulateSchedule } from "../../src/simulate/steps/replay.ts";
import { anySchedule } from "../support/any-schedule.ts";
import { availableKernels } from "../support/backends.ts";
import { runs, seen } from "../support/runs.ts";
import { synthesizeWith, wholeCollective } from "../support/synthesis.ts";
import { anyPlan } from "./any-plan.ts";

const all = await availableKernels();
const names = all.map(({ backend }) => backend).join(", ");
const MODES: readonly Switching[] = ["cut-through", "store-and-forward"];

/** Returns a long column as a digest of its bits: comparing element by element takes seconds. */
const short = (column: unknown): unknown =>
  column instanceof Float64Array && column.length > 100
    ? createHash("sha256").update(new Uint8Array(column.buffer)).digest("hex")
    : column;

/** Returns what a simulation gave, or the sentence with which it was refused. */
function outcome(call: () => object): unknown {
  try {
    return Object.fromEntries(Object.entries(call()).map(([name, value]) => [name, short(value)]));
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : error;
  }
}

/** Holds every simulation with a kernel against that without. */
function expectSame(simulated: (options: { replay?: Replay }) => object): void {
  const expected = outcome(() => simulated({}));
  for (const { replay } of all) expect(outcome(() => simulated({ replay }))).toEqual(expected);
}

/** Returns a schedule beside itself, a little later, with larger chunks, reductions instead of copies or the reverse. */
function twice({ topology, routes, ...tenant }: StepSchedule): JointSchedule {
  const { startPs, endPs, collective } = tenant;
  const chunkBytes = rational(3n * collective.chunkBytes.num, 2n * collective.chunkBytes.den);
  const later = {
    ...tenant,
    startPs: startPs.map((ps) => ps + 1),
    endPs: endPs.map((ps) => ps + 1),
    collective: { ...collective, chunkBytes, reduces: !collective.reduces },
  };
  return { topology, routes, tenants: [tenant, later] };
}

describe(`simulations by the kernels ${names}`, () => {
  it("are those in JavaScript, on random plans", () => {
    fc.assert(
      fc.property(anyPlan({ direct: false, reductions: true }), fc.constantFrom(...MODES), (schedule, switching) => {
        expectSame((options) => simulateSchedule(schedule, { switching, timeline: true, ...options }));
        expectSame(({ replay }) => simulateReference(schedule, {}, replay));
      }),
      { seed: 31, numRuns: runs(300) },
    );
  });

  it("refuse schedules that are not valid in the same words", () => {
    fc.assert(
      fc.property(anySchedule(), fc.constantFrom(...MODES), (schedule, switching) => {
        expectSame((options) => simulateSchedule(schedule, { switching, ...options }));
      }),
      { seed: 32, numRuns: runs(300) },
    );
  });

  it("are those in JavaScript for two collectives at once", () => {
    let simulated = 0;
    fc.assert(
      fc.property(anyPlan({ direct: false, reductions: true }), fc.constantFrom(...MODES), (schedule, switching) => {
        const joint = twice(schedule);
        expectSame((options) => simulateJoint(joint, { switching, timeline: true, ...options }));
        if (simulateJoint(joint, { switching }).ps > 0) simulated++;
      }),
      { seed: 33, numRuns: runs(200) },
    );
    expect(simulated).toBeGreaterThan(seen(100));
  });

  it.each([
    ["mesh:13x13@50,75GiB/s,0.5us", "allgather"],
    ["mesh:10x11", "allreduce"],
    ["switch:60", "alltoall"],
  ] as const)("are those in JavaScript for thousands of transfers: %s, %s", async (network, kind) => {
    const topology = presetTopology(network);
    const request = { topology, collective: wholeCollective(topology, kind, 2 ** 20), trials: 1 };
    const { schedule } = await synthesizeWith(all[0] as Kernels, request);
    expect(schedule.chunk.length).toBeGreaterThan(3000);
    for (const switching of MODES) {
      expectSame((options) => simulateSchedule(schedule, { switching, timeline: true, ...options }));
    }
    expectSame(({ replay }) => simulateReference(schedule, {}, replay));
  });

  it("say when times would leave 2^53 ps, on links that are too slow for a double too", () => {
    fc.assert(
      fc.property(
        anyPlan({ direct: false, reductions: true }).filter(({ chunk }) => chunk.length > 0),
        fc.constantFrom(...MODES),
        fc.constantFrom(10n ** 16n, 10n ** 400n),
        (schedule, switching, times) => {
          const chunkBytes = {
            num: schedule.collective.chunkBytes.num * times,
            den: schedule.collective.chunkBytes.den,
          };
          const slow = { ...schedule, collective: { ...schedule.collective, chunkBytes } };
          expectSame((options) => simulateSchedule(slow, { switching, ...options }));
          expect(outcome(() => simulateSchedule(slow, { switching }))).toBe(
            "InputError: the simulated time is longer times; it must be less than 2^53 ps (2.5 hours)",
          );
        },
      ),
      { seed: 34, numRuns: runs(60) },
    );
  });
});
