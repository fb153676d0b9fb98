import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { random } from "../../src/base/random.ts";
import { rational } from "../../src/model/numbers/rational.ts";
import type { StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { verifySchedule } from "../../src/verify/steps/schedule.ts";
import { anySchedule } from "../support/any-schedule.ts";
import { garbled } from "../support/garbled.ts";
import { ringSchedule } from "../support/ring-schedule.ts";
import { runs } from "../support/runs.ts";
import { judge } from "../support/schedule-oracle.ts";

const ring = ringSchedule();
const withTopology = (part: Partial<StepSchedule["topology"]>) => ({ topology: { ...ring.topology, ...part } });
const withCollective = (part: Partial<StepSchedule["collective"]>) => ({ collective: { ...ring.collective, ...part } });
const withRoutes = (part: Partial<StepSchedule["routes"]>) => ({ routes: { ...ring.routes, ...part } });
/** Returns a copy of a column with one entry replaced. */
function entry<Column extends Int32Array | Float64Array | Uint8Array | Uint16Array>(
  column: Column,
  at: number,
  value: number,
): Column {
  const copy = column.slice() as Column;
  copy[at] = value;
  return copy;
}
const sets = (offset: number[], members: number[]) => ({
  kind: "sets" as const,
  offset: Int32Array.from(offset),
  members: Int32Array.from(members),
});

/** Parts that replace those of a correct all-gather on a ring of a, b, c with links and routes a>b, b>c, c>a. */
const CASES: readonly (readonly [Partial<StepSchedule>, string])[] = [
  [withTopology({ npuCount: 4 }), "the network has 3 nodes but 4 NPUs"],
  [withTopology({ linkLatencyPs: new Float64Array(2) }), "the link columns of the network differ in length"],
  [withTopology({ linkTarget: Int32Array.of(1, 2, 3) }), "link number 2 joins nodes that the network does not have"],
  [
    withTopology({ linkLatencyPs: Float64Array.of(0, 0.5, 0) }),
    "link number 1 has no whole bandwidth above 0 bytes/s and latency from 0 ps on",
  ],
  [
    withTopology({ linkBytesPerSecond: Float64Array.of(0, 1, 1) }),
    "link number 0 has no whole bandwidth above 0 bytes/s and latency from 0 ps on",
  ],
  [
    withCollective({ kind: "broadcast" }),
    "the collective is no broadcast: it has 3 chunks, which 1 per NPU do not make among 3 NPUs",
  ],
  [
    withCollective({ sizeBytes: 1e15 }),
    "the collective is no all-gather: its chunks have 1000000 bytes each, where 1000000000000000 bytes make chunks of 1000000000000000/3",
  ],
  [withCollective({ chunkCount: -1 }), "the collective has -1 chunks"],
  [withCollective({ chunkBytes: rational(-1) }), "the collective's chunks have a negative size"],
  [withCollective({ groupSize: 2 }), "the collective does not have the members of 1 process groups of 2 NPUs"],
  [withCollective({ groupMembers: Int32Array.of(0, 1, 3) }), "process group 0 has a member that is no NPU: 3"],
  [withCollective({ groupMembers: Int32Array.of(0, 1, 0) }), "process group 0 has NPU a twice"],
  [
    withCollective({ groupCount: 0, groupMembers: new Int32Array(0) }),
    "the postcondition is for process groups, but there are none",
  ],
  [withCollective({ pre: { kind: "one", npu: Int32Array.of(0, 1) } }), "the precondition is not for 3 chunks"],
  [
    withCollective({ post: { kind: "one", npu: Int32Array.of(0, 1, -1) } }),
    "the postcondition has a member that is no NPU: -1",
  ],
  [withCollective({ post: sets([0, 1, 2], [0, 1, 2]) }), "the postcondition is not for 3 chunks"],
  [
    withCollective({ pre: sets([0, 2, 1, 3], [0, 1, 2]) }),
    "the precondition of chunk 1 ends outside its list of members",
  ],
  [
    withCollective({ pre: sets([0, 1, 2, 4], [0, 1, 2]) }),
    "the precondition of chunk 2 ends outside its list of members",
  ],
  [withCollective({ pre: sets([0, 2, 3, 4], [1, 1, 2, 0]) }), "the precondition of chunk 0 is not in ascending order"],
  [withRoutes({ target: Int32Array.of(1, 2) }), "the columns of the routes differ in length"],
  [withRoutes({ linkOffset: Int32Array.of(0, 1, 1, 3) }), "route 1 has no links"],
  [withRoutes({ source: Int32Array.of(0, 1, 3) }), "route 2 does not run from an NPU to an NPU"],
  [withRoutes({ links: Int32Array.of(0, 3, 2) }), "route 1 from b uses link number 3, which the network does not have"],
  [withRoutes({ links: Int32Array.of(0, 2, 2) }), "route 1 from b uses link number 2, which does not leave b"],
  [withRoutes({ target: Int32Array.of(1, 0, 0) }), "route 1 from b ends at c, not at a"],
  [
    withRoutes({ shareNum: Float64Array.of(1, 1, 2) }),
    "route 2 from c has share 2/1 of link number 2, where a share is above 0 and at most 1",
  ],
  [
    withRoutes({ shareNum: Float64Array.of(0, 1, 1) }),
    "route 0 from a has share 0/1 of link number 0, where a share is above 0 and at most 1",
  ],
  [
    withRoutes({ shareDen: Float64Array.of(1.5, 1, 1) }),
    "route 0 from a has share 1/1.5 of link number 0, where a share is above 0 and at most 1",
  ],
  [{ op: new Uint8Array(5) }, "the columns of the schedule differ in length"],
  [{ chunk: entry(ring.chunk, 2, 3) }, "transfer 2 is of chunk 3, which does not exist"],
  [{ chunk: Int32Array.of(-1, 1, 2, 2, 0, 1) }, "transfer 0 is of chunk -1, which does not exist"],
  [{ route: entry(ring.route, 5, 3) }, "transfer 5 is on route 3, which does not exist"],
  [{ op: entry(ring.op, 1, 2) }, "transfer 1 has operation 2, neither copy (0) nor reduce (1)"],
  [{ op: entry(ring.op, 1, 1) }, "transfer 1 reduces chunk 1 in a collective that only copies"],
  [{ endPs: entry(ring.endPs, 3, 1e9) }, "transfer 3 ends at 1000000000 ps, not after its start at 1000000000 ps"],
  [{ startPs: entry(ring.startPs, 3, -1) }, "transfer 3 lasts from -1 to 2000000000 ps, not whole numbers from 0 on"],
  [
    { startPs: entry(ring.startPs, 3, Number.NaN) },
    "transfer 3 lasts from NaN to 2000000000 ps, not whole numbers from 0 on",
  ],
  [
    { endPs: entry(ring.endPs, 3, 2e9 + 0.5) },
    "transfer 3 lasts from 1000000000 to 2000000000.5 ps, not whole numbers from 0 on",
  ],
  [
    { endPs: entry(ring.endPs, 3, 2 ** 53) },
    "transfer 3 lasts from 1000000000 to 9007199254740992 ps, not whole numbers from 0 on",
  ],
  [
    { chunk: entry(ring.chunk, 2, 3), op: entry(ring.op, 2, 9) },
    "transfer 2 is of chunk 3, which does not exist and has operation 9, neither copy (0) nor reduce (1)",
  ],
];

describe("verifySchedule calls malformed", () => {
  test("nothing in the ring that the cases start from", () => {
    expect(verifySchedule(ring).violationCount).toBe(0);
  });

  test.each(CASES.map(([part, message]) => ({ part, message })))("$message", ({ part, message }) => {
    const { violations } = verifySchedule({ ...ring, ...part });
    expect(violations[0]).toMatchObject({ kind: "malformed", message });
    expect(violations.every((v) => v.kind === "malformed")).toBe(true);
  });
});

describe("verifySchedule on schedules that make no sense", () => {
  test("agrees with a brute-force oracle", () => {
    fc.assert(
      fc.property(anySchedule(), (schedule) => {
        const { violations } = verifySchedule(schedule);
        const opinion = judge(schedule);
        expect(violations.length === 0).toBe(opinion.valid);
        expect(violations.some((v) => v.kind === "malformed")).toBe(opinion.malformed);
      }),
      { seed: 1, numRuns: runs(500) },
    );
  });

  test("throws nothing, whatever their columns hold", () => {
    fc.assert(
      fc.property(anySchedule(), fc.nat(), (schedule, seed) => {
        const { violations, violationCount } = verifySchedule(garbled(schedule, random(seed), 12) as StepSchedule);
        expect(violationCount).toBeGreaterThanOrEqual(violations.length);
        for (const { message } of violations) expect(message).not.toMatch(/undefined/);
      }),
      { seed: 2, numRuns: runs(3000) },
    );
  });
});
