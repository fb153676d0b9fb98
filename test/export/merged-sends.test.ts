import { describe, expect, it } from "vitest";
import { explainSteps } from "../../src/explain/steps.ts";
import { perfettoTrace } from "../../src/export/schedules/perfetto.ts";
import { scheduleToJson } from "../../src/export/schedules/schedule-json.ts";
import { readSchedule } from "../../src/import/schedules/schedule-json.ts";
import { hasMergedSends, type StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { timelineOf } from "../../src/picture/scene/timeline.ts";
import { simulateSchedule } from "../../src/simulate/steps/replay.ts";
import { verifySchedule } from "../../src/verify/steps/schedule.ts";
import { joined, read } from "../support/bys-files.ts";
import { line, make, row, task } from "../support/hand-made-schedules.ts";
import { mergedSchedule } from "../support/merged-schedules.ts";
import { rowsOf } from "../support/schedule-rows.ts";

/** Two chunks of 1,000 bytes from g0 to g1 as one message, of which one goes on to g2: 0.5 us + 2 x 1 us, then 1.5 us. */
const example = make(line, task("scatter", 3), [row(1, 0, 0, 0, 2.5), row(2, 0, 0, 0, 2.5), row(2, 1, 2.5)]);

/** Slices of a trace: name, start, how long, and arguments. */
const slices = (schedule: StepSchedule, startPs = schedule.startPs, endPs = schedule.endPs) =>
  JSON.parse([...perfettoTrace(schedule, startPs, endPs)].join(""))
    .traceEvents.filter((event: { ph: string }) => event.ph === "X")
    .map(({ name, ts, dur, args }: Record<string, unknown>) => ({ name, ts, dur, args }));

describe("files of merged sends", () => {
  it("read back to the same rows, and to the same judgement", () => {
    let merged = 0;
    for (let seed = 0; seed < 60; seed++) {
      const schedule = mergedSchedule(seed);
      const json = readSchedule(scheduleToJson(schedule), "schedule.json");
      for (const back of [json, read(joined(schedule)) as StepSchedule]) {
        expect(rowsOf(back)).toEqual(rowsOf(schedule));
        expect(verifySchedule(back).violations).toEqual([]);
      }
      if (hasMergedSends(schedule)) merged++;
    }
    expect(merged).toBeGreaterThan(25);
  });

  it("show a message as one slice that lists its chunks", () => {
    const both = { chunk: 1, chunks: [1, 2], route: 0, op: "copy", bytes: 2000, transfer: 0, arrivesUs: 2.5 };
    const onward = { chunk: 2, route: 1, op: "copy", bytes: 1000, transfer: 2, arrivesUs: 4 };
    expect(slices(example)).toEqual([
      { name: "2 chunks", ts: 0, dur: 2.5, args: both },
      { name: "chunk 2", ts: 2.5, dur: 1.5, args: onward },
    ]);
  });

  it("show each chunk for itself where it has times of its own", () => {
    const { startPs, endPs } = simulateSchedule(example, { timeline: true });
    const shown = slices(example, startPs, endPs);
    expect(shown.map(({ name, ts }: { name: string; ts: number }) => [name, ts])).toEqual([
      ["chunk 1", 0],
      ["chunk 2", 1],
      ["chunk 2", 2.5],
    ]);
  });

  it("draw the chunks of a plan's message one after the other", () => {
    const { startPs, lastsPs } = timelineOf(example);
    expect([...startPs]).toEqual([0, 1e6, 2.5e6]);
    expect([...lastsPs]).toEqual([1e6, 1e6, 1e6]);
  });

  it("are explained as messages that hold their links once", () => {
    const lines = explainSteps(example);
    expect(lines[0]).toBe("scatter in 3 transfers of 3 chunks, sent as 2 messages, on hand-made, planned for 4 us");
    expect(lines.at(-1)).toBe("limit: g0>g1 (1 GB/s) is 62.5 % busy; links are 25 % busy on average");
  });
});
