import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CancelledError, InfeasibleError, InputError } from "../../src/base/errors.ts";
import { openEngine } from "../../src/engine/engine.ts";
import type { Engine } from "../../src/engine/types.ts";
import { readCollectiveJson } from "../../src/import/collectives/collective.ts";
import { COLLECTIVE_KINDS } from "../../src/model/collective/collective.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { stepsOf } from "../../src/model/steps/schedule.ts";
import { degrade, without } from "../../src/model/topology/modify.ts";
import { linkNames } from "../../src/model/topology/topology.ts";
import type { SynthesizeOptions } from "../../src/request/options.ts";
import { type SynthesizeResult, synthesize } from "../../src/run/synthesize.ts";
import { verifySchedule } from "../../src/verify/steps/schedule.ts";
import { infeasible, outOfRange, refused, unexpected } from "../support/refusals.ts";
import { quick, triesAll } from "../support/runs.ts";
import { wholeCollective } from "../support/synthesis.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 0 });
});
afterAll(async () => engine.close());

const failedMesh = () => without(presetTopology("mesh:4x4@50GB/s,0.5us"), ["7", "9"]);
const networks = {
  "mesh:3x3": presetTopology("mesh:3x3"),
  "ring:8": presetTopology("ring:8"),
  dragonfly: presetTopology("dragonfly:4x5@400,200GB/s"),
  "switch:8": presetTopology("switch:8"),
  "ndv2:2": presetTopology("ndv2:2"),
  "4x4 mesh without 7 and 9": failedMesh(),
};
const run = (name: keyof typeof networks | string, options: SynthesizeOptions) =>
  synthesize(engine, name in networks ? networks[name as keyof typeof networks] : presetTopology(name), options);
const judged = ({ schedule }: SynthesizeResult) => verifySchedule(stepsOf(schedule)).violations;

describe.each(Object.keys(networks))("%s", (name) => {
  it.each(COLLECTIVE_KINDS)("gets a verified, simulated and bounded %s", async (collective) => {
    const result = await run(name, { collective, sizeBytes: 2 ** 26 });
    const { report } = result;
    expect(judged(result)).toEqual([]);
    expect(report.verified).toBe(true);
    expect(report.time.us).toBeGreaterThan(0);
    expect(report.details.ofPlannedBound).toBeGreaterThan(0.3);
    expect(report.details.ofPlannedBound).toBeLessThanOrEqual(1);
    expect(report.ofLimit).toBeLessThanOrEqual(1);
    expect(report.limit.us).toBeLessThanOrEqual(report.classLimit?.us ?? report.time.us);
    expect(report.classLimit?.us ?? 0).toBeLessThanOrEqual(report.time.us);
  });
});

describe("chunks by trial", () => {
  it("keeps the number of chunks per NPU whose schedule is shortest", async () => {
    const options: SynthesizeOptions = { collective: "allgather", sizeBytes: 1e9 };
    const [auto, ...fixed] = await Promise.all(
      (["auto", 1, 2, 4, 8] as const).map((chunks) => run("switch:8*switch:4@300,25GB/s", { ...options, chunks })),
    );
    for (const { report } of fixed) expect(auto?.report.time.us).toBeLessThanOrEqual(report.time.us);
    expect(auto?.report.collective.chunksPerNpu).toBeGreaterThan(1);
    expect(auto?.report.synthesis.policy).toMatch(/ of 1, 2, 4, 8.* chunks per NPU$/);
  });

  it("chooses by the simulated time, not by the planned one", async () => {
    const options: SynthesizeOptions = { collective: "allreduce", sizeBytes: 2 ** 20 };
    const [auto, one, two] = await Promise.all(
      (["auto", 1, 2] as const).map((chunks) => run("fc:8", { ...options, chunks })),
    );
    expect(two?.report.time.us).toBeLessThan(one?.report.time.us ?? 0);
    const plannedUs = [one, two].map((made) => made?.report.details.planned?.us ?? 0);
    expect(plannedUs[1]).toBeGreaterThan(plannedUs[0] as number);
    expect(auto?.report.time.us).toBe(two?.report.time.us);
  });

  it("keeps one chunk where more are no faster, and refuses to choose for a custom collective", async () => {
    const { report } = await run("fc:4", { collective: "allgather", sizeBytes: 800, chunks: "auto" });
    expect(report.collective.chunksPerNpu).toBe(1);
    const topology = presetTopology("mesh:2x2");
    const custom = wholeCollective(topology, "allgather", 64);
    await expect(synthesize(engine, topology, { collective: custom, chunks: "auto" })).rejects.toThrow(InputError);
  });
});

describe("quality", () => {
  it.each([
    ["mesh:10x10@50GiB/s,0.5us", 1],
    ["mesh:7x12@50GiB/s,0.5us", 1],
    ["grid:3x4x5@50GiB/s,0.5us", 1],
    ["mesh:5x5@50,75GiB/s,0.5us", 1],
    ["mesh:5x8@80,35GiB/s,1us", 2],
    ["mesh:10x7@16,73GiB/s,1.5us", 3],
    ["torus:4x4", 1],
    ["torus:5x5", 1],
    ["torus:8x8", 1],
    ["torus:13x13", 1],
    ["switch:16", 1],
    ["dragonfly:4x5@400,200GB/s", 1],
  ])("%s all-gather meets its bound", async (name, chunks) => {
    const { report } = await run(name, { collective: "allgather", sizeBytes: 2 ** 30, chunks });
    expect(report.details.ofPlannedBound).toBe(1);
  });

  it.each(["mesh:2x50", "mesh:3x33", "mesh:5x20", "grid:2x5x10", "torus:3x20"])(
    "%s comes within 5 %% of its bound",
    async (name) => {
      const { report } = await run(name, { collective: "allgather" });
      expect(report.details.ofPlannedBound).toBeGreaterThanOrEqual(0.95);
    },
  );

  it("beats the ring that goes one way by 3 on the mesh with failed NPUs", async () => {
    const request = { collective: "allreduce", sizeBytes: 2 ** 26, chunks: 4 } as const;
    const [ours, ring] = await Promise.all(
      [{ algorithm: "tacos" }, { algorithm: "ring", policy: "natural" }].map((maker) =>
        run("4x4 mesh without 7 and 9", { ...request, ...maker }),
      ),
    );
    expect(ring?.report.time.model).toBe("network/store-and-forward");
    expect((ring?.report.time.us ?? 0) / (ours?.report.time.us ?? 1)).toBeGreaterThanOrEqual(3);
  });

  it.each(quick(["mesh:8x8", "torus:5x5", "grid:3x3x3", "hypercube:4"], (name) => name === "hypercube:4"))(
    "%s simulates to at most its own time",
    async (name) => {
      for (const collective of COLLECTIVE_KINDS) {
        const { report } = await run(name, { collective });
        expect(report.time.us).toBeLessThanOrEqual(report.details.planned?.us ?? 0);
      }
    },
  );
});

describe("process groups", () => {
  const groups = "0,1,4,5";

  it.each(COLLECTIVE_KINDS)("a %s among four NPUs, the others relaying or not", async (collective) => {
    for (const outsiders of ["relay", "none"] as const) {
      const { report } = await run("mesh:4x4", { collective, group: groups, outsiders, sizeBytes: 2 ** 20 });
      expect(report.verified).toBe(true);
      expect(report.topology.npus).toBe(outsiders === "none" ? 4 : 16);
    }
  });

  it("relays where the members are not neighbours", async () => {
    const { report } = await run("ring:8", { collective: "allgather", group: "0,4" });
    expect(report.schedule.transfers).toBeGreaterThanOrEqual(8);
    await expect(run("ring:8", { collective: "allgather", group: "0,4", outsiders: "none" })).rejects.toThrow(
      infeasible({ from: "0", to: "4" }),
    );
  });

  it.each(COLLECTIVE_KINDS)("several groups share the links: %s", async (collective) => {
    const { report } = await run("mesh:4x4", { collective, group: "0,3,12,15;5,6,9,10", sizeBytes: 2 ** 20 });
    expect(report.collective).toMatchObject({ groups: 2, groupSize: 4 });
  });

  it("a rank order of its own", async () => {
    const { schedule } = await run("ring:4", { collective: "broadcast", group: "2,0,1,3" });
    expect(schedule.collective.pre).toMatchObject({ kind: "one", npu: Int32Array.of(2) });
  });
});

describe("custom collectives", () => {
  const topology = networks["mesh:3x3"];
  const custom = (chunks: unknown, more: object = {}) =>
    readCollectiveJson(
      JSON.stringify({ format: "banyan-collective", version: 1, chunkBytes: 1000, chunks, ...more }),
      "c.json",
      topology,
    );

  it.each([
    ["one to one", [{ pre: ["0"], post: ["8"] }], {}],
    ["one to several, through others", [{ pre: ["0"], post: ["2", "6", "8"] }], {}],
    [
      "several holders",
      [
        { pre: ["0", "8"], post: ["2", "4", "6"] },
        { pre: ["1"], post: ["7"] },
      ],
      {},
    ],
    ["a reduction to one", [{ pre: ["0", "2", "6"], post: ["8"] }], { reduces: true }],
    ["a reduction to several", [{ pre: ["0", "2", "6"], post: ["8", "4"] }], { reduces: true }],
  ])("%s", async (_, chunks, more) => {
    for (const algorithm of ["tacos", "direct"]) {
      const { report } = await synthesize(engine, topology, { collective: custom(chunks, more), algorithm });
      expect(report.verified).toBe(true);
      expect(report.details.ofPlannedBound).toBeGreaterThan(0.2);
    }
  });

  it("is refused by a baseline that cannot make it", async () => {
    const collective = custom([{ pre: ["0"], post: ["8"] }]);
    await expect(synthesize(engine, topology, { collective, algorithm: "ring" })).rejects.toThrow(InputError);
  });
});

describe("what is refused, and what is empty", () => {
  it("one NPU has an empty schedule of time 0", async () => {
    for (const collective of COLLECTIVE_KINDS) {
      const { report } = await run("ring:1", { collective });
      expect(report).toMatchObject({
        ofLimit: 1,
        classLimit: null,
        gaps: [],
        details: { ofPlannedBound: 1 },
        verified: true,
        schedule: { transfers: 0 },
        time: { us: 0 },
      });
    }
  });

  it("an absurd number of chunks is estimated, not tried", async () => {
    await expect(run("mesh:3x3", { collective: "alltoall", chunks: 1e7 })).rejects.toThrow(
      outOfRange("chunks", "10000000 (about 8.1e+8 transfers, 32.4 GB of memory)", 9, 8),
    );
    await expect(run("mesh:3x3", { collective: "allgather", chunks: 1e9 })).rejects.toThrow(
      outOfRange("chunks", "1000000000 (about 9.0e+9 chunks in all)", 9, 2147483647),
    );
  });

  it.runIf(triesAll)("more NPUs than transfers can be held for", async () => {
    await expect(run("mesh:200x200@50,75GB/s", { collective: "allgather" })).rejects.toThrow(
      /fewer NPUs: allgather among 40000 needs about 1\.6e\+9 transfers/,
    );
    await expect(run("mesh:200x200", { collective: "allgather", algorithm: "ring" })).rejects.toThrow(/fewer NPUs/);
    const oneWay = without(presetTopology("mesh:200x200"), ["3>4"]);
    await expect(synthesize(engine, oneWay, { collective: "reducescatter" })).rejects.toThrow(/fewer NPUs/);
    await expect(run("mesh:1000x1000", { collective: "allgather" })).rejects.toThrow(
      /1\.0e\+12 transfers needs \d{3} GiB/,
    );
  });

  it.runIf(triesAll)("unicast on more NPUs than its tables can hold", async () => {
    await expect(run("mesh:80x80", { collective: "scatter" })).rejects.toThrow(
      expect.objectContaining({
        message: expect.stringContaining("at most 6000 NPUs for a gather, scatter or all-to-all"),
      }),
    );
  });

  it("a disconnected network names a pair", async () => {
    const halves = without(presetTopology("ring:6"), ["0-1", "3-4"]);
    const refused = synthesize(engine, halves, { collective: "allgather" });
    await expect(refused).rejects.toThrow(InfeasibleError);
    await expect(refused).rejects.toThrow(infeasible({ from: "0", to: "1" }));
  });

  it.each([
    [{ sizeBytes: 0 }, unexpected("sizeBytes", 0)],
    [{ chunks: 0 }, unexpected("chunks", 0)],
    [{ root: "77", collective: "broadcast" }, unexpected("root", "77", 9)],
    [{ seed: -1 }, outOfRange("seed", -1)],
    [{ trials: 0 }, outOfRange("trials", 0)],
    [{ policy: "best" }, refused("unknown-name", "policy", "best")],
    [{ policy: "farthest" }, refused("unknown-name", "policy", "farthest")],
    [{ policy: "oldest", collective: "alltoall" }, refused("unknown-name", "policy", "oldest")],
    [{ switchDegree: 0 }, outOfRange("switchDegree", 0)],
    [{ algorithm: "magic" }, refused("unknown-name", "algorithm", "magic")],
    [{ collective: "allsum" }, refused("unknown-name", "collective", "allsum")],
    [{ outsiders: "all", group: "0,1" }, unexpected("outsiders", "all")],
    [{ root: "8", group: "0,1,3", collective: "broadcast" }, unexpected("root", "8")],
  ])("%j", async (options, message) => {
    const request = { collective: "allgather", ...options } as SynthesizeOptions;
    await expect(run("mesh:3x3", request)).rejects.toThrow(InputError);
    await expect(run("mesh:3x3", request)).rejects.toThrow(message);
  });

  it("stops when its signal aborts", async () => {
    const controller = new AbortController();
    const running = run("ring:8", { collective: "alltoall", trials: 1e6, signal: controller.signal });
    setTimeout(() => controller.abort(), 50);
    await expect(running).rejects.toThrow(CancelledError);
  });
});

describe("determinism", () => {
  it("gives the same schedule for the same seed on every backend, and with worker threads", async () => {
    const options: SynthesizeOptions = {
      collective: "allgather",
      chunks: 2,
      trials: triesAll ? 4 : 2,
      policy: "neighbour",
      seed: 9,
    };
    const topology = presetTopology("torus:18x18");
    const runs = [];
    for (const choice of [{ backend: "native" }, { backend: "wasm" }, { backend: "js" }, { threads: 2 }] as const) {
      const other = await openEngine({ threads: 0, ...choice }).catch(() => null);
      if (other === null) continue;
      const schedule = stepsOf((await synthesize(other, topology, options)).schedule);
      runs.push(
        Buffer.from(schedule.startPs.buffer).toString("base64") + Buffer.from(schedule.chunk.buffer).toString("base64"),
      );
      await other.close();
    }
    expect(runs.length).toBeGreaterThanOrEqual(2);
    expect(new Set(runs).size).toBe(1);
  });

  it("a degraded link is slower and still verified", async () => {
    const topology = presetTopology("mesh:4x4");
    const slow = degrade(topology, [["0-1", 0.5]]);
    expect(linkNames(slow)).toEqual(linkNames(topology));
    const [before, after] = await Promise.all(
      [topology, slow].map((t) => synthesize(engine, t, { collective: "allgather" })),
    );
    expect(after?.report.time.us).toBeGreaterThan(before?.report.time.us ?? 0);
  });
});
