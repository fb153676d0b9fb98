import { describe, expect, test } from "vitest";
import type { StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { verifySchedule } from "../../src/verify/steps/schedule.ts";
import type { Violation } from "../../src/verify/violation.ts";
import {
  HALF_US,
  halves,
  line,
  make,
  PRIME,
  ring,
  ringAllReduce,
  ringSteps,
  row,
  sharedLink,
  star,
  task,
  together,
  US,
} from "../support/hand-made-schedules.ts";
import { judge } from "../support/schedule-oracle.ts";
import { type Row, rowsOf, scheduleOfRows } from "../support/schedule-rows.ts";

const allReduce = (change: (rows: Row[]) => Row[]): StepSchedule =>
  make(ring(4), task("allreduce", 4), change(ringAllReduce(4)));
const allGather = (change: (rows: Row[]) => Row[]): StepSchedule =>
  make(ring(4), task("allgather", 4), change(ringSteps(4, 0, 0)));
const replace =
  (at: number, change: Partial<Row>) =>
  (rows: Row[]): Row[] =>
    rows.map((own, i) => (i === at ? { ...own, ...change } : own));

/** The common denominator of shares in parts of PRIME and of PRIME - 2. */
const BOTH = BigInt(PRIME) * BigInt(PRIME - 2);

/** Each schedule and all that is wrong with it. */
const BROKEN: Readonly<Record<string, readonly [StepSchedule, ...Violation[]]>> = {
  "a transfer that is a picosecond too short": [
    allGather(replace(9, { end: 4.5 * US - 1 })),
    {
      kind: "too-fast",
      npu: 1,
      chunk: 3,
      link: 1,
      transfer: 9,
      timePs: 3 * US,
      message:
        "rank 1 (g1) sends chunk 3 on link g1>g2 at 3 us (transfer 9) and takes 1.499999 us, less than the 1.5 us it needs",
    },
  ],
  "a chunk that departs a picosecond before it arrives": [
    make(line, task("broadcast", 3), [row(0, 0, 0, 0, 1.500001), row(0, 1, 1.5)]),
    {
      kind: "absent-chunk",
      npu: 1,
      chunk: 0,
      link: 1,
      transfer: 1,
      timePs: 1.5 * US,
      message: "rank 1 (g1) sends chunk 0 on link g1>g2 at 1.5 us (transfer 1) but holds it only from 1.500001 us on",
    },
  ],
  "a chunk that its sender never holds": [
    make(line, task("broadcast", 3, 0, Int32Array.of(0, 2)), [row(0, 1, 0)]),
    {
      kind: "absent-chunk",
      npu: 1,
      chunk: 0,
      link: 1,
      transfer: 0,
      timePs: 0,
      message: "g1 (outside the group) sends chunk 0 on link g1>g2 at 0 us (transfer 0) but never holds it",
    },
  ],
  "two chunks on one direct link": [
    make(line, task("scatter", 3), [row(2, 0, 0), row(1, 0, 1.4), row(2, 1, 1.5)]),
    {
      kind: "route-conflict",
      npu: 0,
      chunk: 1,
      link: 0,
      transfer: 1,
      timePs: 1.4 * US,
      message:
        "rank 0 (g0) sends chunk 1 on link g0>g1 at 1.4 us (transfer 1), while chunk 2 (transfer 0) is on that route until 1.5 us",
    },
    {
      kind: "link-conflict",
      npu: 0,
      chunk: 1,
      link: 0,
      transfer: 1,
      timePs: 1.4 * US,
      message:
        "rank 0 (g0) sends chunk 1 on link g0>g1 at 1.4 us (transfer 1), taking link g0>g1 to 2 times its capacity",
    },
  ],
  "two chunks sent as one in a picosecond too little": [
    make(line, task("scatter", 3), [row(1, 0, 0, 0, 2.499999), row(2, 0, 0, 0, 2.499999), row(2, 1, 2.5)]),
    {
      kind: "too-fast",
      npu: 0,
      chunk: 1,
      link: 0,
      transfer: 0,
      timePs: 0,
      message:
        "rank 0 (g0) sends chunk 1 on link g0>g1 at 0 us (transfer 0), one of 2 merged chunks, and takes 2.499999 us, less than the 2.5 us they need",
    },
  ],
  "a merged send of which one chunk is sent again at the same time, and another at its end less a picosecond": [
    make(line, task("allgather", 3), [
      row(1, 2, 0),
      row(1, 1, 0),
      row(2, 3, 0),
      row(0, 0, 0),
      row(0, 1, 1.5),
      ...[2, 1, 2].map((chunk) => row(chunk, 2, 1.5, 0, 2.5)),
      row(0, 2, 3.999999),
    ]),
    {
      kind: "route-conflict",
      npu: 1,
      chunk: 2,
      link: 2,
      transfer: 7,
      timePs: 1.5 * US,
      message:
        "rank 1 (g1) sends chunk 2 on link g1>g0 at 1.5 us (transfer 7), while chunk 1 (transfer 6), one of 2 merged chunks, is on that route until 4 us",
    },
    {
      kind: "route-conflict",
      npu: 1,
      chunk: 0,
      link: 2,
      transfer: 8,
      timePs: 3_999_999,
      message:
        "rank 1 (g1) sends chunk 0 on link g1>g0 at 3.999999 us (transfer 8), while chunk 1 (transfer 6), one of 2 merged chunks, is on that route until 4 us",
    },
    {
      kind: "link-conflict",
      npu: 1,
      chunk: 2,
      link: 2,
      transfer: 7,
      timePs: 1.5 * US,
      message:
        "rank 1 (g1) sends chunk 2 on link g1>g0 at 1.5 us (transfer 7), taking link g1>g0 to 2 times its capacity",
    },
    {
      kind: "link-conflict",
      npu: 1,
      chunk: 0,
      link: 2,
      transfer: 8,
      timePs: 3_999_999,
      message:
        "rank 1 (g1) sends chunk 0 on link g1>g0 at 3.999999 us (transfer 8), taking link g1>g0 to 3 times its capacity",
    },
  ],
  "a second chunk on a route that leaves half of its links free": [
    make(
      star,
      task("scatter", 4),
      [
        row(1, 0, 0, 0, HALF_US),
        row(3, 0, 2.5, 0, HALF_US),
        row(3, 2, 6, 0, HALF_US),
        row(3, 3, 6, 0, HALF_US),
        row(2, 1, 9, 0, HALF_US),
      ],
      halves(),
    ),
    {
      kind: "route-conflict",
      npu: 0,
      chunk: 3,
      link: 0,
      transfer: 1,
      timePs: 2.5 * US,
      message:
        "rank 0 (g0) sends chunk 3 on links g0>s0, s0>g1 at 2.5 us (transfer 1), while chunk 1 (transfer 0) is on that route until 3 us",
    },
  ],
  "two chunks during a third on one route": [
    make(
      star,
      task("scatter", 4),
      [
        row(1, 0, 0, 0, 12),
        row(2, 1, 0, 0, HALF_US),
        row(3, 0, 4, 0, HALF_US),
        row(0, 0, 8, 0, HALF_US),
        row(3, 2, 9, 0, HALF_US),
      ],
      [...halves().slice(0, 2), { links: [1, 7], share: [1, 2] }],
    ),
    {
      kind: "route-conflict",
      npu: 0,
      chunk: 3,
      link: 0,
      transfer: 2,
      timePs: 4 * US,
      message:
        "rank 0 (g0) sends chunk 3 on links g0>s0, s0>g1 at 4 us (transfer 2), while chunk 1 (transfer 0) is on that route until 12 us",
    },
    {
      kind: "route-conflict",
      npu: 0,
      chunk: 0,
      link: 0,
      transfer: 3,
      timePs: 8 * US,
      message:
        "rank 0 (g0) sends chunk 0 on links g0>s0, s0>g1 at 8 us (transfer 3), while chunk 1 (transfer 0) is on that route until 12 us",
    },
  ],
  "three halves of a switch port": [
    make(
      star,
      task("broadcast", 4),
      [row(0, 0, 0, 0, HALF_US), row(0, 1, 0, 0, HALF_US), row(0, 8, 2, 0, HALF_US)],
      [...halves(), { links: [0, 7], share: [1, 2] }],
    ),
    {
      kind: "link-conflict",
      npu: 0,
      chunk: 0,
      link: 0,
      transfer: 2,
      timePs: 2 * US,
      message:
        "rank 0 (g0) sends chunk 0 on links g0>s0, s0>g3 at 2 us (transfer 2), taking link g0>s0 to 3/2 times its capacity",
    },
  ],
  "one part of a large prime more than a whole link": [
    sharedLink([
      [PRIME - 1, PRIME],
      [1, PRIME],
      [1, PRIME],
    ]),
    {
      kind: "link-conflict",
      npu: 0,
      chunk: 2,
      link: 0,
      transfer: 2,
      timePs: 0,
      message:
        "rank 0 (g0) sends chunk 2 on link g0>g1 at 0 us (transfer 2), taking link g0>g1 to 9007199254740882/9007199254740881 times its capacity",
    },
  ],
  "shares that exceed a link by less than doubles can tell": [
    sharedLink([
      [PRIME - 1, PRIME],
      [1, PRIME - 2],
    ]),
    {
      kind: "link-conflict",
      npu: 0,
      chunk: 1,
      link: 0,
      transfer: 1,
      timePs: 0,
      message: `rank 0 (g0) sends chunk 1 on link g0>g1 at 0 us (transfer 1), taking link g0>g1 to ${BOTH + 2n}/${BOTH} times its capacity`,
    },
  ],
  "a route that uses all of one link twice": [
    make(line, task("broadcast", 3, 0, Int32Array.of(0, 1)), [row(0, 0, 0, 0, 2.5)], [{ links: [0, 2, 0] }]),
    {
      kind: "link-conflict",
      npu: 0,
      chunk: 0,
      link: 0,
      transfer: 0,
      timePs: 0,
      message:
        "rank 0 (g0) sends chunk 0 on links g0>g1, g1>g0, g0>g1 at 0 us (transfer 0), taking link g0>g1 to 2 times its capacity",
    },
  ],
  "an NPU that is left out": [
    allGather((rows) => rows.filter((_, i) => i !== 11)),
    { kind: "missing-chunk", npu: 0, chunk: 1, message: "rank 0 (g0) never receives chunk 1" },
  ],
  "a sum that lacks a contribution": [
    make(ring(4), task("reducescatter", 4), ringSteps(4, 1, 1).slice(1)),
    {
      kind: "missing-contribution",
      npu: 3,
      chunk: 3,
      message: "rank 3 (g3) ends with 3 of the 4 contributions to chunk 3, without that of rank 0 (g0)",
    },
  ],
  "a sum sent on before its last arrival": [
    make(line, task("reduce", 3, 2), [row(0, 0, 0, 1), row(0, 1, 1.499999, 1)]),
    {
      kind: "missing-contribution",
      npu: 2,
      chunk: 0,
      message: "rank 2 (g2) ends with 2 of the 3 contributions to chunk 0, without that of rank 0 (g0)",
    },
  ],
  "a copy over a partial sum": [
    make(line, task("reduce", 3, 2), [row(0, 0, 0, 0), row(0, 1, 1.5, 1)]),
    {
      kind: "missing-contribution",
      npu: 2,
      chunk: 0,
      message: "rank 2 (g2) ends with 2 of the 3 contributions to chunk 0, without that of rank 1 (g1)",
    },
  ],
  "a copy that lands with a partial sum, on the higher route": [
    together(1, 0),
    {
      kind: "missing-contribution",
      npu: 2,
      chunk: 0,
      message: "rank 2 (g2) ends with 1 of the 2 contributions to chunk 0, without that of rank 0 (g0)",
    },
  ],
  "a contribution added to the complete sum": [
    allReduce((rows) => [...rows, row(0, 0, 20, 1)]),
    {
      kind: "repeated-contribution",
      npu: 1,
      chunk: 0,
      link: 0,
      transfer: 24,
      timePs: 21.5 * US,
      message:
        "rank 1 (g1) receives chunk 0 on link g0>g1 at 21.5 us (transfer 24) with the contribution of rank 0 (g0), which it has already",
    },
  ],
  "a contribution sent twice": [
    make(line, task("reduce", 3, 1), [row(0, 0, 0, 1), row(0, 3, 0, 1), row(0, 0, 2, 1)]),
    {
      kind: "repeated-contribution",
      npu: 1,
      chunk: 0,
      link: 0,
      transfer: 2,
      timePs: 3.5 * US,
      message:
        "rank 1 (g1) receives chunk 0 on link g0>g1 at 3.5 us (transfer 2) with the contribution of rank 0 (g0), which it has already",
    },
  ],
  "a sum from an NPU that has none": [
    make(line, task("reduce", 3, 0, Int32Array.of(0, 2)), [row(0, 2, 0, 1), row(0, 3, 0, 1), row(0, 2, 1.5, 1)]),
    {
      kind: "absent-chunk",
      npu: 1,
      chunk: 0,
      link: 2,
      transfer: 0,
      timePs: 0,
      message:
        "g1 (outside the group) sends chunk 0 on link g1>g0 at 0 us (transfer 0) but holds no contribution to it then",
    },
  ],
};

describe("verifySchedule names what is wrong with", () => {
  test.each(Object.entries(BROKEN))("%s", (_, [schedule, ...expected]) => {
    expect(verifySchedule(schedule)).toEqual({
      violations: expected,
      violationCount: expected.length,
      truncated: false,
    });
    expect(judge(schedule).valid).toBe(false);
  });

  test("a schedule with its rows in any order", () => {
    for (const [name, [schedule, ...expected]] of Object.entries(BROKEN)) {
      const { topology, collective: goal, routes } = schedule;
      const backwards = scheduleOfRows(topology, goal, routes, rowsOf(schedule).reverse());
      const kinds = verifySchedule(backwards).violations.map((v) => v.kind);
      expect(kinds, name).toEqual(expected.map((v) => v.kind));
    }
  });
});
