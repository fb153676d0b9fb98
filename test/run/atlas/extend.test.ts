import { afterAll, describe, expect, it } from "vitest";
import { InfeasibleError, InputError } from "../../../src/base/errors.ts";
import { openEngine } from "../../../src/engine/engine.ts";
import { topologyJsonParts } from "../../../src/export/networks/topology-json.ts";
import { readAtlasIndex } from "../../../src/import/atlas/atlas-json.ts";
import { readAnySchedule } from "../../../src/import/schedules/schedule-json.ts";
import { kindOf } from "../../../src/kinds/kinds.ts";
import { type AtlasIndex, foundByName, type OptionTexts } from "../../../src/model/atlas/atlas-index.ts";
import { isJoint } from "../../../src/model/joint/joint-schedule.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import type { AnySchedule } from "../../../src/model/steps/schedule.ts";
import { contentHash, type SweepTask } from "../../../src/model/sweep/task.ts";
import { without } from "../../../src/model/topology/modify.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { boundReport, topologySummary } from "../../../src/report/result.ts";
import { namedRequest } from "../../../src/request/from-texts.ts";
import { problemOf } from "../../../src/request/problem.ts";
import { limitWithFlow } from "../../../src/run/all-to-all.ts";
import { type AtlasRequest, type AtlasWorld, emptyAtlas, extendAtlas } from "../../../src/run/atlas/extend.ts";
import { failureList } from "../../../src/run/atlas/failure-lists.ts";
import { classFound } from "../../../src/run/atlas/lookup.ts";
import { movedSchedule } from "../../../src/run/atlas/moved.ts";
import { performHere } from "../../support/perform-here.ts";

const engine = await openEngine({ threads: 0 });
afterAll(() => engine.close());
const { signal } = new AbortController();
const KINDS = ["allgather", "reducescatter"];

/** An atlas in memory. */
function atlasOf(given: string, making: OptionTexts) {
  const topology = presetTopology(given);
  const files = new Map<string, Uint8Array>();
  const put = (bytes: Uint8Array): string => {
    const sha256 = contentHash(bytes);
    files.set(sha256, bytes);
    return sha256;
  };
  const networkSha256 = put(new TextEncoder().encode([...topologyJsonParts(topology)].join("")));
  const get = async (sha256: string): Promise<Uint8Array> => files.get(sha256) as Uint8Array;
  const keep = async (parts: Iterable<string | Uint8Array>) => {
    const bytes = Buffer.concat(Array.from(parts, (part) => Buffer.from(part)));
    return { sha256: put(bytes), bytes: bytes.length };
  };
  const done: SweepTask[] = [];
  /** Of an interrupted atlas: what was saved last. */
  let saved: AtlasIndex | null = null;
  const scheduleOf = (sha256: string): AnySchedule => {
    const schedule = readAnySchedule(new TextDecoder().decode(files.get(sha256)), "kept");
    if (isJoint(schedule)) throw new Error("a schedule of several collectives");
    return schedule;
  };
  const { name, hash, npus, switches, links } = topologySummary(topology);
  const empty = emptyAtlas(
    "1",
    { name, hash, npus, switches, links, file: "network.json", given, options: {} },
    making,
  );
  const world = (stopAfter = Number.POSITIVE_INFINITY): AtlasWorld => ({
    networkSha256,
    perform: async (tasks, ended) => {
      for (const [at, task] of tasks.entries()) {
        if (done.length >= stopAfter) throw new Error("stopped");
        done.push(task);
        await performHere(engine, { input: get, keep, signal })([task], (_, outcome) => ended(at, outcome));
      }
    },
    fileOf: (sha256) => `schedules/${sha256}`,
    moved: async (index, kind, one, failed) => {
      const own = scheduleOf(one.schedule?.sha256 as string);
      const moved = movedSchedule(index, kind, topology, own, one.failed, failed);
      const { json } = kindOf(moved).forms;
      if (typeof json === "string") throw new Error(json);
      const kept = await keep(json.parts());
      return { ...(one.schedule as NonNullable<typeof one.schedule>), ...kept, file: `schedules/${kept.sha256}` };
    },
    save: (index) => {
      saved = index;
    },
    progress: () => undefined,
  });
  return { topology, empty, world, done, scheduleOf, saved: () => saved as AtlasIndex };
}

const asked = (topology: Topology, lists: string[], on: string[] = [], collectives = KINDS): AtlasRequest => ({
  collectives,
  failures: failureList(topology, lists).filter((names) => !names.some((name) => on.includes(name))),
  on,
});

const limitUs = async (part: Topology, kind: string, making: OptionTexts): Promise<number | null> => {
  try {
    const { topology, collective } = problemOf(part, namedRequest(kind, making));
    const { limit } = await limitWithFlow(engine, topology, collective, signal);
    return boundReport(topology, collective, limit).us;
  } catch (error) {
    if (error instanceof InputError || error instanceof InfeasibleError) return null;
    throw error;
  }
};

const NETWORKS: readonly (readonly [given: string, algorithm: string, lists: string[]])[] = [
  ["dgx-a100:2", "forestcoll", ["links", "switches", "npus", "boxes"]],
  ["ring:5", "tacos", ["links", "npus", "pairs:links"]],
  ["mesh:3x3", "tacos", ["links", "npus", "random:2:links:8"]],
  ["torus:3x3", "forestcoll", ["links", "0-1+1-2", "random:2:npus:5:7"]],
];

describe.each(NETWORKS)("an atlas of %s by %s", (given, algorithm, lists) => {
  const making = { size: "1MiB", algorithm };
  const atlas = atlasOf(given, making);
  const { topology, empty, world, done } = atlas;
  const request = asked(topology, lists);
  const made = extendAtlas(empty, topology, request, world());

  it("says of every failure what that failure alone does to the limit", async () => {
    const { collectives } = await made;
    for (const kind of KINDS) {
      const { classes, healthy } = collectives[kind] as AtlasIndex["collectives"][string];
      expect(classes.length).toBeLessThan(request.failures.length);
      const whole = (await limitUs(topology, kind, making)) as number;
      for (const names of request.failures) {
        const found = foundByName(collectives[kind] as AtlasIndex["collectives"][string], names);
        const one = classes[found?.at as number];
        const alone = await limitUs(without(topology, names), kind, making);
        if (alone === null) expect(one?.status, names.join()).toMatch(/impossible|refused/);
        else {
          expect(one?.status, names.join()).toBe("done");
          expect(one?.limitRose).toBeCloseTo(alone / whole, 9);
          expect(one?.schedule?.limitUs).toBeCloseTo(healthy.limitUs * (alone / whole), 6);
        }
      }
    }
  });

  it("has for every failure a schedule that the judge finds correct there, with the time that the index says", async () => {
    const index = await made;
    const kind = KINDS[0] as string;
    for (const names of request.failures) {
      const found = classFound(index, kind, topology, names);
      if (found?.one.status !== "done") continue;
      const own = atlas.scheduleOf(found.one.schedule?.sha256 as string);
      const moved = movedSchedule(index, kind, topology, own, found.one.failed, names);
      expect(moved.topology.nodeNames).toEqual(without(topology, names).nodeNames);
      expect(kindOf(moved).judge({ limit: 1 }).violationCount).toBe(0);
      expect(moved.collective.kind).toBe(kind);
    }
  });

  it("makes a class once, and nothing again", async () => {
    const index = await made;
    const classes = Object.values(index.collectives).reduce((sum, one) => sum + one.classes.length, 0);
    const before = done.length;
    expect(before).toBe(classes + KINDS.length);
    expect(await extendAtlas(index, topology, request, world())).toEqual(index);
    expect(done.length).toBe(before);
  });

  it("is read back from its text as it was", async () => {
    const index = await made;
    expect(readAtlasIndex(JSON.stringify(index), "index.json")).toEqual(index);
  });
});

describe("an atlas that is made in parts", () => {
  const making = { size: "1MiB", algorithm: "forestcoll" };
  const lists = ["links", "switches"];

  it("goes on where it was interrupted, to the same index", async () => {
    const whole = atlasOf("dgx-a100:2", making);
    const expected = await extendAtlas(whole.empty, whole.topology, asked(whole.topology, lists), whole.world());
    for (const stop of [1, 2, 4, 7]) {
      const parts = atlasOf("dgx-a100:2", making);
      const request = asked(parts.topology, lists);
      await expect(extendAtlas(parts.empty, parts.topology, request, parts.world(stop))).rejects.toThrow("stopped");
      expect(await extendAtlas(parts.saved(), parts.topology, request, parts.world())).toEqual(expected);
      expect(parts.done.length).toBe(whole.done.length);
    }
  });

  it("keeps what it has when failures and collectives are added", async () => {
    const { empty, topology, world } = atlasOf("dgx-a100:2", making);
    const first = await extendAtlas(empty, topology, asked(topology, ["links"], [], ["allgather"]), world());
    const second = await extendAtlas(
      first,
      topology,
      asked(topology, ["switches"], [], ["allgather", "allreduce"]),
      world(),
    );
    const [before, after] = [first, second].map(({ collectives }) => collectives["allgather"]);
    expect(after?.classes.slice(0, before?.classes.length)).toEqual(before?.classes);
    expect(after?.failures).toMatchObject(before?.failures as object);
    expect(Object.keys(second.collectives["allreduce"]?.failures ?? {})).toEqual(
      topology.nodeNames.slice(topology.npuCount),
    );
  });

  it("has what a second failure costs on top of the first, for a first one that no class is named by too", async () => {
    const { empty, topology, world, scheduleOf } = atlasOf("dgx-a100:2", making);
    const kinds = ["allgather"];
    const singles = await extendAtlas(empty, topology, asked(topology, ["nics"], [], kinds), world());
    const on = ["3-ib"];
    const index = await extendAtlas(singles, topology, asked(topology, ["nics"], on, kinds), world());
    const { classes, further, failures } = index.collectives["allgather"] as AtlasIndex["collectives"][string];
    expect(failures["3-ib"]).not.toBe(undefined);
    expect(classes[failures["3-ib"] as number]?.failed).not.toEqual(on);
    expect(Object.keys(further["3-ib"] ?? {})).toHaveLength(15);
    for (const [later, at] of Object.entries(further["3-ib"] ?? {})) {
      const one = classes[at] as NonNullable<(typeof classes)[number]>;
      expect(one.on).toEqual(on);
      const part = without(topology, ["3-ib", later]);
      const alone = (await limitUs(part, "allgather", making)) as number;
      expect(one.limitRose).toBeCloseTo(alone / ((await limitUs(topology, "allgather", making)) as number), 9);
      const found = classFound(index, "allgather", topology, [later, "ib>3"]);
      const own = scheduleOf(one.schedule?.sha256 as string);
      expect(found?.at).toBe(at);
      const moved = movedSchedule(index, "allgather", topology, own, one.failed, ["3-ib", later]);
      expect(kindOf(moved).judge({ limit: 1 }).violationCount).toBe(0);
    }
    // a pair that is alike, of other names
    expect(classFound(index, "allgather", topology, ["9-ib", "10-ib"])?.one.on).toEqual(on);
  });

  it("says what leaves no way, and stops where the network itself has none", async () => {
    const { empty, topology, world } = atlasOf("line:3", { size: "1MiB", algorithm: "tacos" });
    const { collectives } = await extendAtlas(empty, topology, asked(topology, ["links"]), world());
    const [one] = collectives["allgather"]?.classes ?? [];
    expect([one?.status, one?.schedule]).toEqual(["impossible", null]);
    expect(one?.why).toMatch(/0 .*2|reach/);
    const wrong = atlasOf("mesh:3x3", { size: "1MiB", algorithm: "themis" });
    const request = asked(wrong.topology, ["links"], [], ["broadcast"]);
    await expect(extendAtlas(wrong.empty, wrong.topology, request, wrong.world())).rejects.toThrow(InputError);
  });
});
