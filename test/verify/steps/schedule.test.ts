import { describe, expect, test } from "vitest";
import { collective } from "../../../src/model/collective/collective.ts";
import { listSchedule } from "../../../src/model/messages/list-schedule.ts";
import { messages as messageList } from "../../../src/model/messages/messages.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import type { StepSchedule } from "../../../src/model/steps/step-schedule.ts";
import { verifySchedule } from "../../../src/verify/steps/schedule.ts";
import { everyone } from "../../support/everyone.ts";
import {
  doubling,
  HALF_US,
  halves,
  line,
  make,
  network,
  PRIME,
  ring,
  ringAllReduce,
  ringSteps,
  row,
  sharedLink,
  star,
  task,
  together,
} from "../../support/hand-made-schedules.ts";
import { outOfRange } from "../../support/refusals.ts";
import { ringSchedule } from "../../support/ring-schedule.ts";
import { judge } from "../../support/schedule-oracle.ts";
import { rowsOf } from "../../support/schedule-rows.ts";

const messages = (schedule: StepSchedule): string[] => verifySchedule(schedule).violations.map((v) => v.message);

const CORRECT: Readonly<Record<string, () => StepSchedule>> = {
  "a ring all-gather": () => make(ring(4), task("allgather", 4), ringSteps(4, 0, 0)),
  "a ring reduce-scatter": () => make(ring(4), task("reducescatter", 4), ringSteps(4, 1, 1)),
  "a ring all-reduce": () => make(ring(4), task("allreduce", 4), ringAllReduce(4)),
  "a ring all-reduce of more NPUs than a word has bits": () => make(ring(67), task("allreduce", 67), ringAllReduce(67)),
  "an all-reduce by recursive doubling": () => doubling(3),
  "the same over more NPUs than a word has bits": () => doubling(6),
  "a broadcast along a line": () => make(line, task("broadcast", 3), [row(0, 0, 0), row(0, 1, 1.5)]),
  "a broadcast with a delivery too many": () =>
    make(line, task("broadcast", 3), [row(0, 0, 0), row(0, 1, 1.5), row(0, 0, 7), row(0, 3, 7)]),
  "a scatter through a relay that does not want the chunk": () =>
    make(line, task("scatter", 3), [row(2, 0, 0), row(1, 0, 1.5), row(2, 1, 1.5)]),
  "a reduction through a relay outside the group": () =>
    make(line, task("reduce", 3, 1, Int32Array.of(0, 2)), [row(0, 0, 0, 1), row(0, 1, 1.5, 1)]),
  "a reduction moved by copies": () =>
    make(line, task("reduce", 3, 1, Int32Array.of(0, 2)), [row(0, 0, 0, 0), row(0, 1, 1.5, 1)]),
  "an all-gather over halves of switch ports": () =>
    make(
      star,
      task("allgather", 4),
      [
        ...[0, 1, 2, 3].flatMap((i) => [row(i, 2 * i, 0, 0, HALF_US), row(i, 2 * i + 1, 0, 0, HALF_US)]),
        ...[0, 1, 2, 3].map((i) => row((i + 3) % 4, 2 * i + 1, HALF_US, 0, HALF_US)),
        ...[0, 1, 2, 3].map((i) => row(i, 2 * i, HALF_US, 0, HALF_US)),
      ],
      halves(),
    ),
  "a scatter that sends two chunks as one": () =>
    make(line, task("scatter", 3), [row(2, 0, 0, 0, 2.5), row(1, 0, 0, 0, 2.5), row(2, 1, 2.5)]),
  "a link shared by three thirds": () =>
    sharedLink([
      [1, 3],
      [1, 3],
      [1, 3],
    ]),
  "a link shared in parts of a large prime": () =>
    sharedLink([
      [PRIME - 1, PRIME],
      [1, PRIME],
    ]),
  "shares that leave less of a link than doubles can tell": () =>
    sharedLink([
      [PRIME - 1, PRIME],
      [1, PRIME + 2],
    ]),
  "a copy that lands with a partial sum, on the lower route": () => together(0, 1),
  "a route that uses half of one link twice": () =>
    make(line, task("broadcast", 2), [row(0, 0, 0, 0, 3.5)], [{ links: [0, 2, 0], share: [1, 2] }]),
  "an empty schedule for one NPU": () => make(network(1, []), task("allreduce", 1), []),
  "transfers longer than they need be": () =>
    make(line, task("broadcast", 3), [row(0, 0, 0, 0, 9), row(0, 1, 9, 0, 2)]),
};

describe("verifySchedule accepts", () => {
  test.each(Object.entries(CORRECT))("%s", (_, schedule) => {
    expect(messages(schedule())).toEqual([]);
    if (rowsOf(schedule()).length < 500) expect(judge(schedule()).valid).toBe(true);
  });
});

describe("verifySchedule of many messages", () => {
  test("tells of links that are judged, and ends where that throws", () => {
    const npus = 20 * 20;
    const topology = presetTopology("mesh:20x20");
    const all = collective({
      kind: "allgather",
      groups: [everyone(npus)],
      sizeBytes: npus,
      chunksPerNpu: 1,
      rootRank: 0,
    });
    const list = messageList();
    for (let chunk = 0; chunk < npus; chunk++)
      for (let npu = 0; npu < npus; npu++) if (npu !== chunk) list.add(chunk, chunk, npu, false);
    const schedule = listSchedule(topology, all, list);
    const told: number[] = [];
    const onProgress = (done: number, total: number): void => void told.push(done / total);
    expect(verifySchedule(schedule, { onProgress }).violationCount).toBe(0);
    expect(told).toHaveLength(2);
    expect(told).toEqual([...told].sort());
    const stop = (): never => {
      throw new Error("enough");
    };
    expect(() => verifySchedule(schedule, { onProgress: stop })).toThrow("enough");
  });
});

describe("verifySchedule names and counts", () => {
  test("NPUs by their rank in the chunk's process group", () => {
    const pairs = collective({
      kind: "allgather",
      groups: [Int32Array.of(3, 1), Int32Array.of(0, 2)],
      sizeBytes: 2000,
      chunksPerNpu: 1,
      rootRank: 0,
    });
    expect(messages(make(ring(4), pairs, []))).toEqual([
      "rank 1 of group 0 (g1) never receives chunk 0",
      "rank 0 of group 0 (g3) never receives chunk 1",
      "rank 1 of group 1 (g2) never receives chunk 2",
      "rank 0 of group 1 (g0) never receives chunk 3",
    ]);
  });

  test("more violations than the limit", () => {
    const empty = make(ring(4), task("allgather", 4), []);
    const { violations, violationCount, truncated } = verifySchedule(empty, { limit: 5 });
    expect([violations.length, violationCount, truncated]).toEqual([5, 12, true]);
    expect(verifySchedule(empty, { limit: 0 })).toEqual({ violations: [], violationCount: 12, truncated: true });
    expect(verifySchedule(empty, { limit: 12 }).truncated).toBe(false);
  });

  test.each([-1, 1.5, Number.NaN])("nothing with the limit %d, which it refuses", (limit) => {
    expect(() => verifySchedule(ringSchedule(), { limit })).toThrow(outOfRange("options.limit", limit));
  });
});
