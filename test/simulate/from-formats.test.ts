import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { scheduleToJson } from "../../src/export/schedules/schedule-json.ts";
import { readTopology } from "../../src/import/networks/network-formats.ts";
import { readAnySchedule } from "../../src/import/schedules/schedule-json.ts";
import type { JointSchedule } from "../../src/model/joint/joint-schedule.ts";
import { listSchedule } from "../../src/model/messages/list-schedule.ts";
import { messages } from "../../src/model/messages/messages.ts";
import type { StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { simulate, switchingFor } from "../../src/simulate/simulate.ts";
import { simulateReference } from "../../src/simulate/steps/reference.ts";
import { simulateJoint, simulateSchedule } from "../../src/simulate/steps/replay.ts";
import { joined } from "../support/bys-files.ts";
import { type FileCase, fileCases, shuffled } from "../support/formats-cases.ts";
import { readScheduleFile, type ScheduleFile } from "../support/formats-file.ts";
import { logsAsTransfers } from "../support/formats-logs.ts";
import { defaultSwitching, replayFile } from "../support/formats-replay.ts";
import { runs } from "../support/runs.ts";
import { wholeCollective } from "../support/synthesis.ts";
import { anyManner, anyNetwork, someSlots, someSymmetricSlots } from "./any-slots.ts";

const FILES = 500;
const SEED = fc.readConfigureGlobal().seed as number;
const SWITCHINGS = ["cut-through", "store-and-forward"] as const;

type Steps = StepSchedule | JointSchedule;
const read = (text: string): Steps => readAnySchedule(text, "s.json") as Steps;
const isJoint = (steps: Steps): steps is JointSchedule => "tenants" in steps;

interface Case extends FileCase {
  readonly steps: Steps;
  readonly file: ScheduleFile;
}

/** Returns what the simulator says, as the replay from FORMATS.md does. */
function simulated(steps: Steps, switching: (typeof SWITCHINGS)[number]) {
  const options = { switching, timeline: true };
  const { startPs, endPs, ps } = isJoint(steps) ? simulateJoint(steps, options) : simulateSchedule(steps, options);
  return { start: [...(startPs as Float64Array)], end: [...(endPs as Float64Array)], ps };
}

describe("the simulator and a replay written from FORMATS.md", () => {
  let cases: Case[] = [];
  beforeAll(async () => {
    const found = await fileCases(FILES, SEED);
    cases = found.map((one) => ({ ...one, steps: read(one.text), file: readScheduleFile(one.text) }));
  });

  it.each(SWITCHINGS)(`give every transfer of ${FILES} random files the same times, %s`, (switching) => {
    for (const { origin, text, steps, file } of cases) {
      const { ps, ...times } = simulated(steps, switching);
      const expected = replayFile(file, switching);
      expect({ origin, ...times }, text).toEqual({ origin, ...expected });
      expect(ps).toBe(Math.max(0, ...expected.end));
    }
  });

  it("agree in whole nanoseconds, by --reference", () => {
    for (const { origin, text, steps, file } of cases) {
      if (isJoint(steps)) continue;
      const { startNs, endNs } = simulateReference(steps);
      const expected = replayFile(file, "reference");
      expect({ origin, start: [...startNs], end: [...endNs] }, text).toEqual({ origin, ...expected });
    }
  });

  it("take the same way of switching for the default", () => {
    const relays = cases.filter(({ steps, file }) => {
      const expected = defaultSwitching(file);
      expect(switchingFor(steps)).toBe(expected);
      return expected === "store-and-forward";
    });
    expect(relays.length).toBeGreaterThan(FILES / 20);
    expect(cases.length - relays.length).toBeGreaterThan(FILES / 4);
  });

  it("make of a file what synth said of it", () => {
    let said = 0;
    for (const { origin, text, file, simulatedPs } of cases) {
      if (simulatedPs === undefined) continue;
      said++;
      const { end } = replayFile(file);
      expect({ origin, ps: Math.max(0, ...end) }, text).toEqual({ origin, ps: simulatedPs });
    }
    expect(said).toBeGreaterThan(FILES / 4);
  });

  it("do not heed the order of the rows in a file", () => {
    const draws = random(SEED, 0x0d);
    for (const { origin, text, steps } of cases) {
      const other = read(shuffled(text, draws));
      const expected = simulated(steps, "store-and-forward");
      expect({ origin, ...simulated(other, "store-and-forward") }, text).toEqual({ origin, ...expected });
    }
  });

  it("cover every kind of case", () => {
    const origins = new Set(cases.map(({ origin }) => origin.split(" ")[0]));
    expect(origins.size).toBeGreaterThan(12);
    const having = (test: (file: ScheduleFile) => boolean): number => cases.filter(({ file }) => test(file)).length;
    const shares = having(({ routes }) => routes.some(({ hops }) => hops.some(({ share }) => share[0] !== share[1])));
    const ties = having(({ rows }) => rows.some((row, i) => i > 0 && row.startPs === rows[i - 1]?.startPs));
    const sums = having(({ chunks }) => chunks.some((chunk) => chunk.sums));
    expect([shares, ties, sums].filter((count) => count > FILES / 10)).toHaveLength(3);
  });

  const KINDS = ["allgather", "reducescatter", "allreduce"] as const;

  it("take logs for the transfers that they stand for", () => {
    const slots = anyManner.chain((manner) =>
      fc
        .tuple(anyNetwork(manner, 6), fc.constantFrom(...KINDS, "broadcast", "reduce"), fc.integer({ min: 1, max: 3 }))
        .map(([topology, kind, chunks]) => someSlots(topology, kind, chunks, manner)),
    );
    const symmetric = fc
      .tuple(anyManner, fc.constantFrom(...KINDS), fc.integer({ min: 1, max: 2 }), fc.boolean())
      .map(([manner, kind, chunks, shuffled]) =>
        someSymmetricSlots({ sizes: [2, 3], offsets: [1, 2] }, kind, chunks, manner, shuffled),
      )
      .filter((schedule) => schedule !== null);
    fc.assert(
      fc.property(fc.oneof(slots, symmetric), fc.constantFrom(...SWITCHINGS), (schedule, switching) => {
        const { end } = replayFile(readScheduleFile(logsAsTransfers(joined(schedule))), switching);
        expect(simulate(schedule, { switching }).ps).toBe(Math.max(0, ...end));
      }),
      { numRuns: runs(60) },
    );
  });

  /** Four NPUs and three switches with equal links of no latency, so that everything happens at once with something else. */
  const ATONCE = {
    format: "banyan-topology",
    version: 1,
    name: "at once",
    nodes: [
      ...["n0", "n1", "n2", "n3"].map((id) => ({ id, kind: "npu" })),
      ...["s0", "s1", "s2"].map((id) => ({ id, kind: "switch" })),
    ],
    links: ["s1 s0", "s2 s1", "s2 s1", "n0 s0", "n1 s2", "n2 s0", "n3 s0", "n3 s2"].map((pair) => {
      const [from, to] = pair.split(" ");
      return { from, to, bandwidthGBps: 0.5, latencyUs: 0, bidirectional: true };
    }),
  };

  it("give an all-reduce straight from each to each 26,000 ps where row order at each instant would give 24,000", () => {
    const topology = readTopology(JSON.stringify(ATONCE), "at-once.json");
    const list = messages();
    for (let k = 1; k < 4; k++) for (let c = 0; c < 4; c++) list.add(c, (c - k + 4) % 4, c, true);
    for (let k = 1; k < 4; k++) for (let c = 0; c < 4; c++) list.add(c, c, (c + k) % 4, false);
    const schedule = listSchedule(topology, wholeCollective(topology, "allreduce", 4), list);
    expect(simulate(schedule, { switching: "store-and-forward" }).ps).toBe(26_000);
    const { end } = replayFile(readScheduleFile(scheduleToJson(schedule)));
    expect(Math.max(...end)).toBe(26_000);
  });
});
