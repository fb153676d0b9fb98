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
import { ringSchedule } from "../../support/ring-schedule.ts";
import { runs, seen } from "../../support/runs.ts";
import { isRefused, sentenceOf } from "../support.ts";

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
    expect(sentenceOf(() => readSchedule(text, "s.json", { topology: line }))).toBe(
      `expected a schedule for line (hash ${topologyHash(line)}) for s.json but received "one for another topology, ring3 (hash ${own})"`,
    );
  });

  it.each<[string, (file: unknown) => void, string]>([
    [
      "format",
      put("format", "banyan-topology"),
      'expected "banyan-schedule" for s.json: format but received "banyan-topology"',
    ],
    [
      "version",
      put("version", 9),
      "expected version 1 to 2, the only ones this program reads, for s.json: version but received 9",
    ],
    ["no topology", put("topology", undefined), "expected an object for s.json: topology but received nothing"],
    [
      "topology",
      put("topology.links[2].to", "q"),
      'expected the id of a node in the list of nodes for s.json: topology.links[2].to but received "q"',
    ],
    ["no collective", put("collective", undefined), "expected an object for s.json: collective but received nothing"],
    [
      "kind",
      put("collective.kind", "gossip"),
      'expected one of allgather, reducescatter, allreduce, broadcast, reduce, gather, scatter, alltoall, custom for s.json: collective.kind but received "gossip"',
    ],
    [
      "no groups",
      put("collective.groups", []),
      "expected at least one group for s.json: collective.groups but received []",
    ],
    [
      "empty group",
      put("collective.groups", [[]]),
      "expected at least one NPU for s.json: collective.groups[0] but received []",
    ],
    [
      "member",
      put("collective.groups[0][1]", null),
      "expected an NPU for s.json: collective.groups[0][1] but received null",
    ],
    [
      "unknown member",
      put("collective.groups[0][1]", 3),
      "expected the name or id (below 3) of an NPU for s.json: collective.groups but received 3",
    ],
    [
      "root",
      put("collective.rootRank", 3),
      "expected an integer in 0 .. 2 for s.json: collective.rootRank but received 3",
    ],
    [
      "size",
      put("collective.sizeBytes", 0.5),
      "expected an integer of 1 or more for s.json: collective.sizeBytes but received 0.5",
    ],
    [
      "chunksPerNpu",
      put("collective.chunksPerNpu", 1e9),
      "expected 3000000000 chunks, as the collective has, for s.json: chunks but received 3",
    ],
    [
      "chunk count",
      put("chunks", { count: 4, bytes: 1e6 }),
      "expected 3 chunks, as the collective has, for s.json: chunks but received 4",
    ],
    ["no chunks", put("chunks", undefined), "expected an object for s.json: chunks but received nothing"],
    ["chunk id", put("chunks[1].id", 2), "expected 1 for s.json: chunks[1].id but received 2"],
    [
      "chunk bytes",
      put("chunks[1].bytes", "1/3"),
      'expected 1000000 bytes, as the collective has, for s.json: chunks[1].bytes but received "1/3"',
    ],
    [
      "chunk zero",
      put("chunks[1].bytes", 0),
      'expected a positive number of bytes such as 4096 or "2400/7" for s.json: chunks[1].bytes but received 0',
    ],
    ["origin", put("chunks[1].origin", 2), "expected 1 for s.json: chunks[1].origin but received 2"],
    ["no routes", put("routes", undefined), "expected a list for s.json: routes but received nothing"],
    ["route id", put("routes[1].id", 0), "expected 1 for s.json: routes[1].id but received 0"],
    ["no links", put("routes[1].links", []), "expected at least one link for s.json: routes[1].links but received []"],
    [
      "link name",
      put("routes[1].links[0]", "a>c"),
      'expected the name or number (below 3) of a link for s.json: routes[1].links[0] but received "a>c"',
    ],
    [
      "link number",
      put("routes[1].links[0]", 3),
      "expected the name or number (below 3) of a link for s.json: routes[1].links[0] but received 3",
    ],
    [
      "broken route",
      put("routes[1].links", ["a>b", "c>a"]),
      'expected a link that leaves b for s.json: routes[1].links[1] but received "c>a"',
    ],
    [
      "share",
      put("routes[1].share", "3/2"),
      'expected a share such as "1" or "1/4" for s.json: routes[1].share but received "3/2"',
    ],
    [
      "no share",
      put("routes[1].share", undefined),
      'expected a share such as "1" or "1/4" for s.json: routes[1].share but received nothing',
    ],
    ["shares", put("routes[1].share", []), "expected 1 shares, one a link, for s.json: routes[1].share but received 0"],
    ["no transfers", put("transfers", undefined), "expected an object for s.json: transfers but received nothing"],
    [
      "count",
      put("transfers.count", 5),
      "expected 6, the length of the columns, for s.json: transfers.count but received 5",
    ],
    [
      "length",
      put("transfers.op", [0, 0, 0, 0, 0]),
      "expected 6 numbers, as in transfers.chunk, for s.json: transfers.op but received 5",
    ],
    [
      "chunk",
      put("transfers.chunk[4]", 3),
      "expected an integer in 0 .. 2 for s.json: transfers.chunk[4] but received 3",
    ],
    [
      "route",
      put("transfers.route[4]", -1),
      "expected an integer in 0 .. 2 for s.json: transfers.route[4] but received -1",
    ],
    [
      "start",
      put("transfers.startPs[0]", 0.5),
      "expected an integer of 0 or more for s.json: transfers.startPs[0] but received 0.5",
    ],
    [
      "end",
      put("transfers.endPs[5]", 7),
      "expected a time at or after startPs (1000000000) for s.json: transfers.endPs[5] but received 7",
    ],
    ["op", put("transfers.op[0]", 2), "expected an integer in 0 .. 1 for s.json: transfers.op[0] but received 2"],
  ])("refuses a wrong %s", (_, change, sentence) => {
    const file = ring();
    change(file);
    expect(sentenceOf(() => read(file))).toBe(sentence);
  });

  it("refuses a network that was changed after the schedule was made", () => {
    const file = ring();
    file.topology.links[0].bandwidthGBps = 2;
    expect(sentenceOf(() => read(file))).toMatch(
      /^expected [0-9a-f]{16} \(this schedule is for another topology\) for s\.json: topology\.hash but received "[0-9a-f]{16}"$/,
    );
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
    expect(sentenceOf(() => readSchedule(text, "s.json"))).toMatch(/^expected JSON of at most 1000 levels/);
  });
});
