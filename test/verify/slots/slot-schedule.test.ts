import { describe, expect, test } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { random } from "../../../src/base/random.ts";
import type { ArrivalLog, SlotSchedule } from "../../../src/model/slots/slot-schedule.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { verifySlots } from "../../../src/verify/slots/slot-schedule.ts";
import { verifySchedule } from "../../../src/verify/steps/schedule.ts";
import { verify } from "../../../src/verify/verify.ts";
import type { Violation } from "../../../src/verify/violation.ts";
import { everyone } from "../../support/everyone.ts";
import { garbled } from "../../support/garbled.ts";
import { ringSchedule } from "../../support/ring-schedule.ts";
import { routeSet } from "../../support/schedule-rows.ts";
import {
  built,
  copyOf,
  directRoutes,
  goal,
  networkOf,
  type PlainArrival,
  type PlainSlots,
  SLOT_PS,
  slotCases,
} from "../../support/slot-cases.ts";
import { FORWARD, PASSES, REDUCING, type SlotKind } from "../../support/slot-passes.ts";
import { symmetricSlots } from "../../support/symmetric-slots.ts";

/** a0 - a1 - a2: routes 0 a0>a1, 1 a1>a0, 2 a1>a2, 3 a2>a1. Everything from the ends meets in the middle. */
function line(kind: SlotKind): PlainSlots {
  const topology = networkOf(3, [
    [0, 1],
    [1, 0],
    [1, 2],
    [2, 1],
  ]);
  const [collective, origin] = goal(kind, 3, 1, 0);
  const held = [[0], [1], [2]];
  const at = (chunk: number, port: number, slot: number): PlainArrival => ({ chunk, port, slot });
  const arrivals = [
    [at(1, 0, 0), at(2, 0, 1)],
    [at(0, 0, 0), at(2, 1, 0)],
    [at(1, 0, 0), at(0, 0, 1)],
  ];
  const frame = {
    topology,
    collective,
    routes: directRoutes(topology),
    slotPs: SLOT_PS,
    slots: 2,
    passes: PASSES[kind],
  };
  return { ...frame, origin, symmetry: null, held, arrivals };
}

/** Returns the line's schedule with parts replaced. */
const lineWith = (kind: SlotKind, part: Partial<SlotSchedule>): SlotSchedule => ({ ...built(line(kind)), ...part });

/** Returns the line's schedule with other arrivals. */
function lineChanged(kind: SlotKind, change: (plain: PlainSlots) => void): SlotSchedule {
  const plain = copyOf(line(kind));
  change(plain);
  return built(plain);
}

const sentBeforeItIsThere = ({ arrivals }: PlainSlots): void => {
  arrivals[2] = [
    { chunk: 0, port: 0, slot: 0 },
    { chunk: 1, port: 0, slot: 1 },
  ];
};
const twiceAndNever = ({ arrivals }: PlainSlots): void => {
  arrivals[1][0].chunk = 2;
};

/** Returns the line's schedule with another log of a1. */
function lineLog(log: Partial<Record<keyof ArrivalLog, unknown>> | null): SlotSchedule {
  const schedule = built(line("allgather"));
  const row = (npu: number) => (npu === 1 ? log && { ...schedule.row(1), ...log } : schedule.row(npu));
  return { ...schedule, row: row as SlotSchedule["row"] };
}

const brokenCollective = (part: object): Partial<SlotSchedule> => ({
  collective: { ...line("allgather").collective, ...part },
});
const malformed = (message: string, npu?: number, chunk?: number): Violation => ({
  kind: "malformed",
  ...(npu === undefined ? {} : { npu }),
  ...(chunk === undefined ? {} : { chunk }),
  message,
});

/** What follows where a1 does not get chunk 0. */
const WITHOUT_CHUNK_0: readonly Violation[] = [
  { kind: "missing-chunk", npu: 1, chunk: 0, message: "rank 1 (a1) never receives chunk 0" },
  {
    kind: "absent-chunk",
    npu: 1,
    chunk: 0,
    link: 2,
    timePs: SLOT_PS,
    message: "rank 1 (a1) sends chunk 0 on link a1>a2 at 1.5 us but never holds it",
  },
];

/** Each schedule and all that is wrong with it. */
const BROKEN: readonly (readonly [string, SlotSchedule, ...Violation[]])[] = [
  [
    "a chunk sent before it is there",
    lineChanged("allgather", sentBeforeItIsThere),
    {
      kind: "absent-chunk",
      npu: 1,
      chunk: 0,
      link: 2,
      timePs: 0,
      message: "rank 1 (a1) sends chunk 0 on link a1>a2 at 0 us but holds it only from 1.5 us on",
    },
  ],
  [
    "the same against the direction of routes",
    lineChanged("reducescatter", sentBeforeItIsThere),
    {
      kind: "missing-contribution",
      npu: 0,
      chunk: 0,
      timePs: 3 * SLOT_PS - SLOT_PS,
      message:
        "rank 0 (a0) ends without the contribution of rank 2 (a2) to chunk 0, which is at rank 1 (a1) only at 3 us (against the direction of link a1>a2), and that sends at 1.5 us already",
    },
  ],
  [
    "a chunk that comes twice and one that does not come",
    lineChanged("allgather", twiceAndNever),
    malformed("the log of a1 has chunk 2 more than once", 1, 2),
    ...WITHOUT_CHUNK_0,
  ],
  [
    "the same in an all-reduce, told of its first pass",
    lineChanged("allreduce", twiceAndNever),
    malformed("the log of a1 has chunk 2 more than once", 1, 2),
    {
      kind: "missing-contribution",
      npu: 0,
      chunk: 0,
      message: "rank 0 (a0) ends without the contribution of rank 1 (a1) to chunk 0, which never sends it",
    },
    {
      kind: "missing-contribution",
      npu: 0,
      chunk: 0,
      timePs: SLOT_PS,
      message:
        "rank 0 (a0) ends without the contribution of rank 2 (a2) to chunk 0, which is at rank 1 (a1) only at 1.5 us (against the direction of link a1>a2), and that never sends on",
    },
  ],
  [
    "slots that are a picosecond too short",
    lineWith("broadcast", { ...built(line("allgather")), slotPs: SLOT_PS - 1 }),
    ...[0, 1, 2, 3].map((link): Violation => {
      const name = ["a0>a1", "a1>a0", "a1>a2", "a2>a1"][link] as string;
      const message = `${name.slice(0, 2)} sends on link ${name} for slots of 1.499999 us, less than the 1.5 us that a chunk needs`;
      return { kind: "too-fast", npu: Number(name[1]), link, message };
    }),
  ],
  [
    "more slots than can be counted exactly",
    lineWith("allgather", { slots: 2 ** 40 }),
    malformed("the schedule has 1099511627776 slots"),
  ],
  ["half a slot", lineWith("allgather", { slots: 1.5 }), malformed("the schedule has 1.5 slots")],
  [
    "slots of no time",
    lineWith("allgather", { slotPs: 0 }),
    malformed("a slot lasts 0 ps, not a whole number above 0"),
  ],
  [
    "an end beyond what doubles hold",
    lineWith("allgather", { slotPs: 2 ** 52 }),
    malformed(`2 slots of ${2 ** 52} ps are more than can be counted exactly`),
  ],
  [
    "too few origins",
    lineWith("allgather", { origin: Int32Array.of(0, 1) }),
    malformed("the schedule has origins for 2 chunks, not for 3"),
  ],
  [
    "an origin that is no NPU",
    lineWith("reducescatter", { origin: Int32Array.of(0, 1, 3) }),
    malformed("the origin of chunk 2 is no NPU: 3", undefined, 2),
  ],
  [
    "passes that make nothing",
    lineWith("allreduce", { passes: [FORWARD, REDUCING] }),
    malformed("passes that are forward copying, reversed reducing make no collective"),
  ],
  ["no pass", lineWith("allgather", { passes: [] }), malformed("passes that are none make no collective")],
  [
    "passes of another collective",
    lineWith("allreduce", { passes: [FORWARD] }),
    malformed("the passes copy but the collective does not"),
    malformed("the precondition of chunk 0 is not its origin a0 alone, as the passes make it", undefined, 0),
  ],
  [
    "origins that are not the precondition",
    lineWith("allgather", brokenCollective({ kind: "custom", pre: { kind: "one", npu: Int32Array.of(0, 2, 1) } })),
    malformed("the precondition of chunk 1 is not its origin a1 alone, as the passes make it", undefined, 1),
  ],
  [
    "an all-gather to some NPUs only",
    lineWith("allgather", brokenCollective({ kind: "custom", groupSize: 2, groupMembers: Int32Array.of(0, 1) })),
    malformed("the postcondition of chunk 0 is not every NPU, as the passes make it", undefined, 0),
  ],
  ["a log that is none", lineLog(null), malformed("the log of a1 is no pair of columns of whole numbers", 1)],
  [
    "a log of fractions",
    lineLog({ chunk: Float64Array.of(1, 0, 2) }),
    malformed("the log of a1 is no pair of columns of whole numbers", 1),
  ],
  [
    "a log of too few chunks",
    lineLog({ chunk: Int32Array.of(1, 0) }),
    malformed("the log of a1 has 2 entries, not one for each of the 3 chunks", 1),
  ],
  [
    "a log of too many slots",
    lineLog({ ports: Uint8Array.of(1, 1, 1) }),
    malformed("the log of a1 goes on for 3 slots, but the schedule has 2", 1),
  ],
  [
    "a log with an empty end",
    lineLog({ ports: Uint8Array.of(3, 0) }),
    malformed("the log of a1 ends with a slot in which nothing arrives", 1),
  ],
  [
    "a log with a port too many",
    lineLog({ ports: Uint8Array.of(5) }),
    malformed("the log of a1 has an arrival through port 2, but there are 2 ports", 1),
  ],
  [
    "a log with too few bits",
    lineLog({ ports: Uint8Array.of(1) }),
    malformed("the log of a1 has 1 arrivals through ports, but 3 chunks of which 1 are there from the start", 1),
  ],
  [
    "a log that begins with another's chunk",
    lineLog({ chunk: Int32Array.of(0, 1, 2) }),
    ...[1, 2]
      .map(
        (link): Violation => ({
          kind: "absent-chunk",
          npu: 1,
          chunk: 1,
          link,
          timePs: 0,
          message: `rank 1 (a1) sends chunk 1 on link a1>a${link === 1 ? 0 : 2} at 0 us but holds it only from 1.5 us on`,
        }),
      )
      .toSpliced(1, 0, malformed("the log of a1 begins with chunk 0 where chunk 1 is its own", 1, 0)),
  ],
  [
    "a log with a chunk that does not exist",
    lineLog({ chunk: Int32Array.of(1, 3, 2) }),
    malformed("the log of a1 has chunk 3, which does not exist", 1, 3),
    ...WITHOUT_CHUNK_0,
  ],
];

describe("verifySlots names", () => {
  test.each(BROKEN.map(([name, schedule, ...violations]) => ({ name, schedule, violations })))(
    "$name",
    ({ schedule, violations }) => {
      expect(verifySlots(schedule).violations).toEqual(violations);
    },
  );

  test("a route that a reversed pass cannot mirror", () => {
    const topology = networkOf(2, [
      [0, 1],
      [1, 0],
      [1, 0],
    ]);
    const [collective, origin] = goal("reducescatter", 2, 1, 0);
    const one = { chunk: 1, port: 0, slot: 0 };
    const arrivals = [[one], [{ ...one, chunk: 0 }]];
    const frame = { topology, collective, origin, slotPs: SLOT_PS, slots: 1, passes: PASSES.reducescatter };
    const plain = { ...frame, routes: directRoutes(topology), symmetry: null, held: [[0], [1]], arrivals };
    expect(verifySlots(built(plain)).violations).toEqual([
      malformed("a pass is reversed, but fewer routes run from a0 to a1 than back"),
    ]);
  });
});

describe("verifySlots judges links", () => {
  /** Three NPUs on a switch: links 0 to 2 go up, 3 to 5 down; every pair has a route with this share of its links. */
  function star(share: readonly [number, number], slotPs: number): SlotSchedule {
    const builder = topologyBuilder("star");
    for (const name of ["a", "b", "c"]) builder.addNpu(name);
    const hub = builder.addSwitch("s");
    for (const v of [0, 1, 2]) builder.addLink(v, hub, 1e9, 250_000);
    for (const v of [0, 1, 2]) builder.addLink(hub, v, 1e9, 250_000);
    const topology = builder.build();
    const pairs = [0, 1, 2].flatMap((v) => [1, 2].map((hop) => ({ links: [v, 3 + ((v + hop) % 3)], share })));
    const [collective, origin] = goal("allgather", 3, 1, 0);
    const routes = routeSet(topology, pairs);
    const arrivals = [0, 1, 2].map((v) => {
      const sources = [...routes.source].filter((_, route) => routes.target[route] === v);
      return sources.map((chunk, port) => ({ chunk, port, slot: 0 }));
    });
    const frame = { topology, collective, routes, slotPs, slots: 1, passes: PASSES.allgather };
    return built({ ...frame, origin, symmetry: null, held: [[0], [1], [2]], arrivals });
  }

  test("shared by routes that fit", () => {
    expect(verifySlots(star([1, 2], 2_500_000)).violations).toEqual([]);
    expect(verifySlots(star([1, 2], 2_499_999)).violations.map((v) => v.kind)).toEqual(new Array(6).fill("too-fast"));
  });

  test("shared by routes that take too much together", () => {
    const { violations, violationCount } = verifySlots(star([2, 3], 2_500_000));
    expect(violationCount).toBe(6);
    expect(violations[0]).toEqual({
      kind: "link-conflict",
      link: 0,
      message: "routes over link a>s take 4/3 times its capacity when they are used together",
    });
  });

  test("by the routes in use: slow ones that are idle do not matter", () => {
    /** Returns the way of a chunk over link a>b, forward or reversed, with bandwidths of a>b and b>a. */
    const overOneLink = (kind: "broadcast" | "reduce", there: number, back: number): SlotSchedule => {
      const builder = topologyBuilder("two");
      for (const name of ["a", "b"]) builder.addNpu(name);
      builder.addLink(0, 1, there, 500_000);
      builder.addLink(1, 0, back, 500_000);
      const topology = builder.build();
      const [collective, origin] = goal(kind, 2, 1, 0);
      const frame = { topology, collective, slotPs: SLOT_PS, slots: 1, passes: PASSES[kind] };
      const arrivals = [[], [{ chunk: 0, port: 0, slot: 0 }]];
      return built({ ...frame, routes: directRoutes(topology), origin, symmetry: null, held: [[0], []], arrivals });
    };
    const slow = (link: string): string =>
      `${link[0]} sends on link ${link} for slots of 1.5 us, less than the 1000.5 us that a chunk needs`;
    const messages = (schedule: SlotSchedule): string[] => verifySlots(schedule).violations.map((v) => v.message);
    expect(messages(overOneLink("broadcast", 1e9, 1e6))).toEqual([]);
    expect(messages(overOneLink("broadcast", 1e6, 1e9))).toEqual([slow("a>b")]);
    expect(messages(overOneLink("reduce", 1e6, 1e9))).toEqual([]);
    expect(messages(overOneLink("reduce", 1e9, 1e6))).toEqual([slow("b>a")]);
  });
});

describe("verifySlots", () => {
  test("accepts a single NPU, which holds everything already", () => {
    for (const kind of ["allgather", "reducescatter", "allreduce"] as const) {
      const topology = networkOf(1, []);
      const [collective, origin] = goal(kind, 1, 2, 0);
      const frame = { topology, collective, routes: directRoutes(topology), slotPs: 0, slots: 0, passes: PASSES[kind] };
      const plain = { ...frame, origin, symmetry: null, held: [[0, 1]], arrivals: [[]] };
      expect(verifySlots(built(plain)).violations).toEqual([]);
      expect(verifySlots({ ...built(plain), symmetry: [1] }).violations).toEqual([]);
    }
  });

  test("keeps as many violations as asked for and counts all", () => {
    const broken = lineWith("allgather", { slotPs: SLOT_PS - 1 });
    expect(verifySlots(broken, { limit: 1 })).toMatchObject({ violationCount: 4, truncated: true });
    expect(verifySlots(broken, { limit: 1 }).violations.length).toBe(1);
    expect(verifySlots(broken, { limit: 4 }).truncated).toBe(false);
  });

  test("refuses options that are no whole numbers", () => {
    const schedule = built(line("allgather"));
    expect(() => verifySlots(schedule, { limit: -1 })).toThrow(
      new InputError("options.limit", "a whole number, 0 or more", -1).message,
    );
    expect(() => verifySlots(schedule, { cacheBytes: 0.5 })).toThrow(
      new InputError("options.cacheBytes", "a whole number, 0 or more", 0.5).message,
    );
  });

  test("says how far it is, and ends with what the listener throws", () => {
    const reports: number[][] = [];
    verifySlots(built(line("allgather")), { onProgress: (done, total) => void reports.push([done, total]) });
    expect(reports).toEqual([[3, 3]]);
    const stop = (): never => {
      throw new Error("enough");
    };
    expect(() => verifySlots(built(line("allgather")), { onProgress: stop })).toThrow("enough");
  });

  test("passes on what row throws for a damaged file", () => {
    const row = (): never => {
      throw new InputError("block 3", "its checksum", "another");
    };
    expect(() => verifySlots(lineWith("allgather", { row }))).toThrow(InputError);
  });

  test("judges more than 65,534 slots", () => {
    const late = lineChanged("allgather", (plain) => {
      plain.slots = 80_000;
      for (const list of plain.arrivals) for (const arrival of list) arrival.slot += 70_000;
    });
    expect(verifySlots(late).violations).toEqual([]);
    expect(verifySlots({ ...late, slots: 70_001 }).violationCount).toBe(2);
  });

  test("is what verify calls for slot schedules, as it calls verifySchedule for others", () => {
    const broken = lineWith("allgather", { slotPs: SLOT_PS - 1 });
    expect(verify(broken, { limit: 2 })).toEqual(verifySlots(broken, { limit: 2 }));
    const steps = { ...ringSchedule(), endPs: ringSchedule().endPs.map((end) => end - 1) };
    expect(verify(steps, { limit: 2 })).toEqual(verifySchedule(steps, { limit: 2 }));
    expect(verify(steps).violationCount).toBeGreaterThan(0);
  });
});

describe("verifySlots on schedules that make no sense", () => {
  const symmetric = [[4], [2, 3]].map(
    (sizes) => symmetricSlots(sizes, [1, 3], "allreduce", 1, random(9)) as PlainSlots,
  );
  const cases = [...slotCases(30), ...symmetric].map(built);

  test("throws nothing, whatever their columns hold", () => {
    let right = 0;
    for (let m = 0; m < 4000; m++) {
      const draws = random(m, 36);
      const { row, ...frame } = cases[m % cases.length] as SlotSchedule;
      const broken = garbled(frame, draws, 40) as Omit<SlotSchedule, "row">;
      const logs = Array.from(everyone(frame.topology.npuCount), (npu) => garbled(row(npu), draws, 40) as ArrivalLog);
      const symmetry = frame.symmetry && draws.below(9) === 0 ? [draws.below(9), draws.below(9)] : frame.symmetry;
      const { violations, violationCount } = verifySlots({ ...broken, symmetry, row: (npu) => logs[npu] });
      expect(violationCount).toBeGreaterThanOrEqual(violations.length);
      if (violationCount === 0) right++;
    }
    expect(right).toBeGreaterThan(20);
    expect(right).toBeLessThan(3000);
  });
});
