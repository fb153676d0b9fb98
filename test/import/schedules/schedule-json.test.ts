import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scheduleToJson } from "../../../src/export/schedules/schedule-json.ts";
import { readSchedule } from "../../../src/import/schedules/schedule-json.ts";
import { routeCount } from "../../../src/model/routes/routes.ts";
import type { StepSchedule } from "../../../src/model/steps/step-schedule.ts";
import { linkCount, topologyHash } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { anySchedule } from "../../support/any-schedule.ts";
import { anyTextChange, changedText } from "../../support/changed-text.ts";
import { missing, outOfRange, type Refusal, refusalFrom, unexpected } from "../../support/refusals.ts";
import { ringSchedule } from "../../support/ring-schedule.ts";
import { runs, seen } from "../../support/runs.ts";
import { isRefused } from "../support.ts";

/** The file of the ring schedule as a value that a test may change. */
// biome-ignore lint/suspicious/noExplicitAny: the tests break it in every way
const ring = (): any => JSON.parse(scheduleToJson(ringSchedule()));
/** Returns a change that puts a value (nothing: removes it) at a path such as `chunks[1].id`. */
const put =
  (path: string, value: unknown) =>
  (file: unknown): void => {
    const keys = path.split(/[.[\]]+/).filter((key) => key !== "");
    const last = keys.pop() as string;
    // biome-ignore lint/suspicious/noExplicitAny: any path
    const holder = keys.reduce((at: any, key) => at[key], file);
    holder[last] = value;
  };
const read = (value: unknown): StepSchedule => readSchedule(JSON.stringify(value), "s.json");

/** Fails unless every index, length and order that StepSchedule promises holds. */
function expectValid({ topology, collective, routes, chunk, route, startPs, endPs, op }: StepSchedule): void {
  expect(topology.npuCount).toBeGreaterThan(0);
  const below = (column: ArrayLike<number>, limit: number): boolean =>
    Array.from(column).every((value) => Number.isSafeInteger(value) && value >= 0 && value < limit);
  const rows = chunk.length;
  expect([route.length, startPs.length, endPs.length, op.length]).toEqual([rows, rows, rows, rows]);
  expect(below(chunk, collective.chunkCount) && below(route, routeCount(routes)) && below(op, 2)).toBe(true);
  expect(below(startPs, 2 ** 53) && endPs.every((end, i) => Number.isSafeInteger(end) && end >= startPs[i])).toBe(true);
  for (let i = 1; i < rows; i++) {
    const order = startPs[i - 1] - startPs[i] || route[i - 1] - route[i] || chunk[i - 1] - chunk[i];
    expect(order).toBeLessThanOrEqual(0);
  }
  expect(below(routes.links, linkCount(topology)) && below(routes.source, topology.npuCount)).toBe(true);
  expect(below(routes.target, topology.npuCount)).toBe(true);
  expect(routes.shareNum.every((num, i) => num >= 1 && num <= routes.shareDen[i])).toBe(true);
  expect(collective.groupMembers.length).toBe(collective.groupCount * collective.groupSize);
  expect(below(collective.groupMembers, topology.npuCount)).toBe(true);
  expect(collective.chunkBytes.num > 0n && collective.chunkBytes.den > 0n).toBe(true);
  for (const placement of [collective.pre, collective.post]) {
    if (placement.kind === "one") expect(placement.npu.length).toBe(collective.chunkCount);
    if (placement.kind === "sets") expect(placement.offset.length).toBe(collective.chunkCount + 1);
  }
}

describe("readSchedule", () => {
  it("reads back what was written, for every kind of collective and route", () => {
    fc.assert(
      fc.property(anySchedule(), (schedule) => {
        expectValid(schedule);
        expect(readSchedule(scheduleToJson(schedule), "s.json")).toEqual(schedule);
      }),
      { numRuns: runs(300) },
    );
  });

  it("sorts rows that are out of order", () => {
    const file = ring();
    for (const name of ["chunk", "route", "startPs", "endPs", "op"]) file.transfers[name].reverse();
    expect(read(file)).toEqual(ringSchedule());
  });

  it("takes link numbers and lists of shares", () => {
    const file = ring();
    file.routes[1] = { id: 1, links: [1, 2], share: ["1/2", "2/4"] };
    const { routes } = read(file);
    expect([...routes.links]).toEqual([0, 1, 2, 2]);
    expect([...routes.shareNum, ...routes.shareDen]).toEqual([1, 1, 2, 1, 1, 2, 4, 1]);
    expect([routes.source[1], routes.target[1]]).toEqual([1, 0]);
  });

  it("accepts the network that it is for, whatever its nodes are called, and refuses another", () => {
    const text = scheduleToJson(ringSchedule());
    const same = { ...ringSchedule().topology, name: "other", nodeNames: ["x", "y", "z"] };
    expect(readSchedule(text, "s.json", { topology: same }).topology.name).toBe("ring3");
    const builder = topologyBuilder("line");
    builder.addDuplex(builder.addNpu("a"), builder.addNpu("b"), 1e9, 0);
    const line = builder.build();
    const own = topologyHash(same);
    expect(refusalFrom(() => readSchedule(text, "s.json", { topology: line }))).toEqual(
      unexpected("s.json", `one for another topology, ring3 (hash ${own})`, topologyHash(line)),
    );
  });

  it.each<[string, (file: unknown) => void, Refusal]>([
    ["format", put("format", "banyan-topology"), unexpected("s.json: format", "banyan-topology")],
    ["version", put("version", 9), unexpected("s.json: version", 9, 2)],
    ["no topology", put("topology", undefined), missing("s.json: topology")],
    ["topology", put("topology.links[2].to", "q"), unexpected("s.json: topology.links[2].to", "q")],
    ["no collective", put("collective", undefined), missing("s.json: collective")],
    ["kind", put("collective.kind", "gossip"), unexpected("s.json: collective.kind", "gossip")],
    ["no groups", put("collective.groups", []), outOfRange("s.json: collective.groups", [])],
    ["empty group", put("collective.groups", [[]]), outOfRange("s.json: collective.groups[0]", [])],
    ["member", put("collective.groups[0][1]", null), unexpected("s.json: collective.groups[0][1]", null)],
    ["unknown member", put("collective.groups[0][1]", 3), unexpected("s.json: collective.groups", 3, 3)],
    ["root", put("collective.rootRank", 3), unexpected("s.json: collective.rootRank", 3, 2)],
    ["size", put("collective.sizeBytes", 0.5), unexpected("s.json: collective.sizeBytes", 0.5)],
    ["chunksPerNpu", put("collective.chunksPerNpu", 1e9), unexpected("s.json: chunks", 3, 3000000000)],
    ["chunk count", put("chunks", { count: 4, bytes: 1e6 }), unexpected("s.json: chunks", 4, 3)],
    ["no chunks", put("chunks", undefined), missing("s.json: chunks")],
    ["chunk id", put("chunks[1].id", 2), unexpected("s.json: chunks[1].id", 2)],
    ["chunk bytes", put("chunks[1].bytes", "1/3"), unexpected("s.json: chunks[1].bytes", "1/3", 1000000)],
    ["chunk zero", put("chunks[1].bytes", 0), unexpected("s.json: chunks[1].bytes", 0)],
    ["origin", put("chunks[1].origin", 2), unexpected("s.json: chunks[1].origin", 2)],
    ["no routes", put("routes", undefined), missing("s.json: routes")],
    ["route id", put("routes[1].id", 0), unexpected("s.json: routes[1].id", 0)],
    ["no links", put("routes[1].links", []), outOfRange("s.json: routes[1].links", [])],
    ["link name", put("routes[1].links[0]", "a>c"), unexpected("s.json: routes[1].links[0]", "a>c", 3)],
    ["link number", put("routes[1].links[0]", 3), unexpected("s.json: routes[1].links[0]", 3, 3)],
    ["broken route", put("routes[1].links", ["a>b", "c>a"]), unexpected("s.json: routes[1].links[1]", "c>a")],
    ["share", put("routes[1].share", "3/2"), unexpected("s.json: routes[1].share", "3/2")],
    ["no share", put("routes[1].share", undefined), missing("s.json: routes[1].share")],
    ["shares", put("routes[1].share", []), unexpected("s.json: routes[1].share", 0)],
    ["no transfers", put("transfers", undefined), missing("s.json: transfers")],
    ["count", put("transfers.count", 5), unexpected("s.json: transfers.count", 5, 6)],
    ["length", put("transfers.op", [0, 0, 0, 0, 0]), unexpected("s.json: transfers.op", 5, 6)],
    ["chunk", put("transfers.chunk[4]", 3), unexpected("s.json: transfers.chunk[4]", 3, 2)],
    ["route", put("transfers.route[4]", -1), unexpected("s.json: transfers.route[4]", -1, 2)],
    ["start", put("transfers.startPs[0]", 0.5), unexpected("s.json: transfers.startPs[0]", 0.5)],
    ["end", put("transfers.endPs[5]", 7), unexpected("s.json: transfers.endPs[5]", 7, 1000000000)],
    ["op", put("transfers.op[0]", 2), unexpected("s.json: transfers.op[0]", 2)],
  ])("refuses a wrong %s", (_, change, sentence) => {
    const file = ring();
    change(file);
    expect(refusalFrom(() => read(file))).toEqual(sentence);
  });

  it("refuses a network that was changed after the schedule was made", () => {
    const file = ring();
    file.topology.links[0].bandwidthGBps = 2;
    expect(refusalFrom(() => read(file))).toEqual(unexpected("s.json: topology.hash", "3335e3e2c04c07a0"));
  });

  it("answers any mutation of a file with an InputError or a valid schedule", () => {
    let refused = 0;
    fc.assert(
      fc.property(
        anySchedule(),
        fc.array(anyTextChange(), { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        (schedule, changes, values) => {
          let text = scheduleToJson(schedule);
          // half of the runs swap whole values
          for (const change of changes) text = changedText(text, change, values ? 0 : null);
          if (isRefused(() => expectValid(readSchedule(text, "s.json")))) refused++;
        },
      ),
      { numRuns: runs(2000) },
    );
    expect(refused).toBeGreaterThan(seen(1000));
  });

  it("answers a deep nest with one sentence", () => {
    const nest = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
    const text = scheduleToJson(ringSchedule()).replace(/"nodes": \[[^\]]*\]/, `"nodes": [${nest}]`);
    expect(refusalFrom(() => readSchedule(text, "s.json"))).toEqual(unexpected("s.json", "deeper JSON", 1000));
  });
});
