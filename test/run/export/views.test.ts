import { describe, expect, it } from "vitest";
import { openEngine } from "../../../src/engine/engine.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import type { Schedule } from "../../../src/model/slots/slot-schedule.ts";
import { transfersOf } from "../../../src/model/steps/schedule.ts";
import type { TreeFlow } from "../../../src/model/trees/tree-flow.ts";
import { busyOf, timelineFor } from "../../../src/run/export/pictures.ts";
import { synthesize } from "../../../src/run/synthesize.ts";

const engine = await openEngine({ threads: 0 });
const made = async (algorithm: string, network: string) => {
  const request = { collective: "allgather", algorithm, sizeBytes: 2 ** 20 } as const;
  return synthesize(engine, presetTopology(network), request as Parameters<typeof synthesize>[2]);
};

describe("what pictures show", () => {
  it.each([
    ["tacos", "mesh:3x3"],
    ["direct", "ring:5"],
    ["forestcoll", "dgx-a100:1"],
  ])("ends when the simulation does, with no link busy for longer: %s on %s", async (algorithm, network) => {
    const { schedule, report } = await made(algorithm, network);
    const { linkBusyPs, totalPs } = busyOf(schedule as Schedule | TreeFlow);
    expect(totalPs / 1e6).toBeCloseTo(report.time.us, 9);
    expect(Math.max(...linkBusyPs)).toBeLessThanOrEqual(totalPs);
    expect(Math.max(...linkBusyPs)).toBeGreaterThan(totalPs / 3);
  });

  it("has times of links up to so many transfers", async () => {
    const schedule = (await made("tacos", "mesh:3x3")).schedule as Schedule;
    const transfers = transfersOf(schedule);
    expect(timelineFor(schedule)).not.toBeNull();
    expect(timelineFor(schedule, transfers)).toEqual(timelineFor(schedule));
    expect(timelineFor(schedule, transfers - 1)).toBeNull();
  });

  it("has times of the links of trees, piece by piece", async () => {
    const flow = (await made("forestcoll", "dgx-a100:1")).schedule as TreeFlow;
    expect(timelineFor(flow)).not.toBeNull();
    expect(timelineFor(flow, 1)).toBeNull();
    expect(timelineFor({ ...flow, inNetwork: true })).toBeNull();
  });
});
