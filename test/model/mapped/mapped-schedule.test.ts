import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { openEngine } from "../../../src/engine/engine.ts";
import type { Engine } from "../../../src/engine/types.ts";
import { bytesSource, readBys } from "../../../src/import/schedules/bys.ts";
import { readAnySchedule } from "../../../src/import/schedules/schedule-json.ts";
import { kindOf } from "../../../src/kinds/kinds.ts";
import { mappedSchedule } from "../../../src/model/mapped/mapped-schedule.ts";
import { mapOfParts } from "../../../src/model/mapped/part-map.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import type { AnySchedule } from "../../../src/model/steps/schedule.ts";
import { failureClasses } from "../../../src/model/symmetry/failure-classes.ts";
import { resolver, type Target, without } from "../../../src/model/topology/modify.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { type CollectiveOptions, problemOf } from "../../../src/request/problem.ts";
import { synthesize } from "../../../src/run/synthesize.ts";
import { foldedSlots, keptFolded } from "../../support/folded-slots.ts";
import { periodsOn } from "../../support/period-cases.ts";
import { quick } from "../../support/runs.ts";
import { grid } from "../../support/slot-cases.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 0 });
});
afterAll(async () => engine.close());

const named = (topology: Topology, failure: string): Target[] => failure.split("+").map(resolver(topology, "failure"));

/** What the judges say of a schedule, whatever its numbers. */
function saidOf(schedule: AnySchedule) {
  const kind = kindOf(schedule);
  const verdict = kind.judge();
  expect(verdict.violations).toEqual([]);
  const { certificate } = verdict;
  return {
    kind: kind.name,
    ps: kind.simulate({})?.ps,
    // of an all-to-all cuts are tried by the numbers of NPUs
    limit: schedule.collective.kind === "alltoall" ? null : kind.limit(verdict).ps,
    endPs: kind.endPs(),
    proof: certificate && {
      achieved: certificate.achieved,
      optimal: certificate.proof?.optimal,
      gap: certificate.proof?.gap,
    },
  };
}

/** Returns the schedule of a file that keeps it, and of a .bys file where it can be one. */
function reread(schedule: AnySchedule): AnySchedule[] {
  const { json, bys } = kindOf(schedule).forms;
  const text = [...json.parts()]
    .map((part) => (typeof part === "string" ? part : Buffer.from(part).toString()))
    .join("");
  const files = [readAnySchedule(text, "moved.json") as AnySchedule];
  if (typeof bys !== "string") {
    const bytes = Buffer.concat([...bys.parts()].map((part) => Buffer.from(part as Uint8Array)));
    files.push(readBys(bytesSource(bytes), "moved.bys"));
  }
  return files;
}

/** Holds a schedule for one failure against what is made of it for another. */
function expectMoved(schedule: AnySchedule, moved: AnySchedule): void {
  const said = saidOf(schedule);
  expect(saidOf(moved)).toEqual(said);
  for (const read of reread(moved)) expect(saidOf(read).ps).toBe(said.ps);
}

type Case = readonly [
  network: string,
  failures: readonly string[],
  options: Partial<CollectiveOptions> & { readonly algorithm?: string },
];

const CASES: readonly Case[] = [
  ["torus:4x4", ["0-1", "5-9", "12-8"], { collective: "allgather" }],
  ["torus:4x4", ["3>0", "2>6"], { collective: "reducescatter", chunks: 2 }],
  ["torus:4x4", ["0-1", "5-9"], { collective: "allreduce", algorithm: "tacos" }],
  ["torus:4x4", ["0-1", "5-9"], { collective: "alltoall" }],
  ["mesh:3x3", ["0", "8", "2", "6"], { collective: "allgather" }],
  ["mesh:3x3", ["0+1", "8+7", "2+5", "6+3"], { collective: "allreduce" }],
  ["mesh:3x3", ["0-1+3-4", "8-7+5-4"], { collective: "alltoall" }],
  ["torus:4x4", ["5-6", "5-9", "5-4"], { collective: "broadcast", root: "5" }],
  ["torus:4x4", ["5", "15"], { collective: "gather", root: "0" }],
  ["mesh:4x4", ["1-2", "13-14"], { collective: "allgather", group: "0,1,4,5;10,11,14,15" }],
  ["dgx-h100:2", ["0-rail0", "9-rail1"], { collective: "allgather", algorithm: "forestcoll" }],
  ["dgx-h100:2", ["3", "12"], { collective: "reducescatter", algorithm: "forestcoll" }],
  ["dgx-h100:2", ["rail0", "rail3"], { collective: "allgather", algorithm: "forestcoll" }],
  ["dgx-h100:2", ["2-nvsw0", "13-nvsw1"], { collective: "allreduce", algorithm: "forestcoll" }],
];

describe("a schedule without one failure, moved to those that are alike", () => {
  it.each(CASES)("of %s without %s is correct, as fast, and proved as well: %o", async (network, failures, options) => {
    const whole = presetTopology(network);
    const request = { collective: "allgather", sizeBytes: 2 ** 20, ...options } as const;
    const targets = failures.map((failure) => named(whole, failure));
    const classes = failureClasses(whole, problemOf(whole, request).collective, targets);
    expect(new Set(classes.classOf).size).toBe(1);
    const { schedule } = await synthesize(engine, without(whole, failures[0].split("+")), request);
    for (const [i, failure] of failures.entries()) {
      const part = without(whole, failure.split("+"));
      const moved = mappedSchedule(schedule, part, mapOfParts(whole, classes.mapTo(i), targets[0], targets[i]));
      expectMoved(schedule, moved);
      expect(moved.collective.groupMembers).toEqual(problemOf(part, request).collective.groupMembers);
    }
  });
});

/** Returns a schedule on a whole network moved by a map that takes one cable to another. */
function turned(schedule: AnySchedule, from: string, to: string): AnySchedule {
  const { topology, collective } = schedule;
  const classes = failureClasses(topology, collective, [named(topology, from), named(topology, to)]);
  expect([...classes.classOf]).toEqual([0, 0]);
  return mappedSchedule(schedule, topology, classes.mapTo(1));
}

describe("a schedule turned on its network", () => {
  it.each(quick(["allgather", "reducescatter", "allreduce"] as const, (kind) => kind !== "reducescatter"))(
    "is as good where it is kept as arrival logs: %s",
    (kind) => {
      const schedule = keptFolded(foldedSlots(grid([4, 4], false), kind, 2, 1));
      const moved = turned(schedule, "a0-a1", "a15-a11");
      expectMoved(schedule, moved);
      expect(moved.collective.groupMembers).toEqual(schedule.collective.groupMembers);
    },
  );

  it("is as good where it is kept as periods", async () => {
    const schedule = await periodsOn(presetTopology("mesh:3x3"), 2 ** 20, 40);
    expectMoved(schedule, turned(schedule, "0-1", "8-5"));
  });

  it("is as good where it is phases", async () => {
    const { schedule } = await synthesize(engine, presetTopology("torus:16x16"), {
      collective: "allreduce",
      algorithm: "themis",
      chunks: 32,
      sizeBytes: 2 ** 20,
    });
    expect(kindOf(schedule).name).toBe("phases");
    expectMoved(schedule, turned(schedule, "0-1", "17-33"));
  });

  it("keeps the maps by which few trees are listed", async () => {
    const { schedule } = await synthesize(engine, presetTopology("torus:4x4"), {
      collective: "allgather",
      algorithm: "forestcoll",
      sizeBytes: 2 ** 20,
    });
    expect(schedule).toMatchObject({ symmetry: { sizes: [4, 4] } });
    expectMoved(schedule, turned(schedule, "0-1", "5-9"));
  });
});

describe("what is no map between the networks", () => {
  const whole = presetTopology("mesh:3x3");
  const request = { collective: "allgather", sizeBytes: 2 ** 20 } as const;
  const failures = ["0-1", "8-5", "1-4"].map((failure) => named(whole, failure));
  const { classOf, mapTo } = failureClasses(whole, problemOf(whole, request).collective, failures);

  it("is refused, whichever of nodes, links and figures it gets wrong", async () => {
    expect([...classOf]).toEqual([0, 0, 1]);
    const { schedule } = await synthesize(engine, without(whole, ["0-1"]), request);
    const there = without(whole, ["8-5"]);
    const map = mapOfParts(whole, mapTo(1), failures[0], failures[1]);
    const { node, link } = map;
    const swapped = (column: Int32Array): Int32Array => column.map((image, i) => column[i < 2 ? 1 - i : i] ?? image);
    const faster = {
      ...there,
      linkBytesPerSecond: there.linkBytesPerSecond.map((rate, e) => (e === 3 ? 2 * rate : rate)),
    };
    const wrong: [Topology, typeof map, RegExp][] = [
      [there, { node: swapped(node), link }, /a link that does not go where its ends go/],
      [there, { node, link: swapped(link) }, /a link that does not go where its ends go/],
      [there, { node: node.map(() => 0), link }, /nodes that do not go one to one/],
      [there, { node, link: link.slice(1) }, /links that do not go one to one/],
      [faster, map, /links that go to links of other figures/],
      [without(whole, ["1-4"]), map, /a link that does not go where its ends go/],
    ];
    for (const [network, other, why] of wrong) expect(() => mappedSchedule(schedule, network, other)).toThrow(why);
    expect(() => mapOfParts(whole, mapTo(1), failures[0], failures[2])).toThrow(InputError);
  });

  it("would make a wrong schedule, which the judge finds", async () => {
    const { schedule } = await synthesize(engine, without(whole, ["0-1"]), request);
    const there = without(whole, ["8-5"]);
    const moved = mappedSchedule(schedule, there, mapOfParts(whole, mapTo(1), failures[0], failures[1]));
    expect(
      kindOf({ ...moved, topology: without(whole, ["1-4"]) } as AnySchedule).judge().violationCount,
    ).toBeGreaterThan(0);
  });
});
