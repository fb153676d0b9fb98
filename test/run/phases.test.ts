import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CancelledError, InputError } from "../../src/base/errors.ts";
import { openEngine } from "../../src/engine/engine.ts";
import type { Engine } from "../../src/engine/types.ts";
import { isPhaseSchedule } from "../../src/model/phases/phase-schedule.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import type { StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { degrade, without } from "../../src/model/topology/modify.ts";
import type { Report } from "../../src/report/result.ts";
import type { SynthesizeOptions } from "../../src/request/options.ts";
import { synthesize } from "../../src/run/synthesize.ts";
import { verifyPhases } from "../../src/verify/phases/phases.ts";
import { verifySchedule } from "../../src/verify/steps/schedule.ts";
import { type Refusal, refused, unexpected } from "../support/refusals.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 0 });
});
afterAll(async () => engine.close());

const run = (network: string, options: Partial<SynthesizeOptions> = {}) =>
  synthesize(engine, presetTopology(network), { collective: "allreduce", algorithm: "themis", ...options });

const KINDS = ["allreduce", "reducescatter", "allgather"] as const;
const SMALL = ["torus:4x4", "mesh:2x3", "dgx-a100:2", "dgx-h100:2", "hypercube:3", "fc:4*ring:3", "switch:6"];

/** What holds of any report with dimensions. */
function expectSound({ classLimit, limit, ofLimit, perDimension, time, verified }: Report): void {
  expect(verified).toBe(true);
  expect(limit.us).toBeLessThanOrEqual(classLimit?.us ?? time.us);
  expect(classLimit?.us ?? 0).toBeLessThanOrEqual(time.us);
  expect(ofLimit).toBeLessThanOrEqual(1);
  expect(time.us).toBeGreaterThanOrEqual(limit.us);
  const { dimensions = [], utilisation = 0 } = perDimension ?? {};
  expect(dimensions.length).toBeGreaterThan(0);
  const bandwidth = dimensions.reduce((sum, { GBps }) => sum + GBps, 0);
  const used = dimensions.reduce((sum, { GBps, utilisation: own }) => sum + GBps * own, 0);
  expect(used / bandwidth).toBeCloseTo(utilisation, 9);
  expect(utilisation).toBeLessThanOrEqual(1);
}

describe.each(SMALL)("%s, few transfers", (network) => {
  it.each(KINDS)("gets the phases of a %s as steps, with both levels in the report", async (collective) => {
    for (const algorithm of ["themis", "blueconnect"]) {
      const { schedule, report } = await run(network, { collective, algorithm, sizeBytes: 2 ** 22, chunks: 4 });
      expect(verifySchedule(schedule as StepSchedule).violations).toEqual([]);
      expect(report).toMatchObject({
        algorithm,
        schedule: { kind: "steps" },
        time: { model: "network/cut-through" },
      });
      expectSound(report);
    }
  });
});

describe("many transfers", () => {
  it.each(KINDS)("stay phases, judged and simulated dimension by dimension: %s", async (collective) => {
    const { schedule, report } = await run("torus:16x16", { collective, chunks: 32 });
    if (!isPhaseSchedule(schedule)) throw new Error("steps");
    expect(verifyPhases(schedule).violations).toEqual([]);
    const passes = collective === "allreduce" ? 2 : 1;
    expect(report).toMatchObject({
      collective: { kind: collective, chunksPerNpu: 32 },
      schedule: { kind: "phases", phases: 64 * passes, transfers: 2 * 32 * passes * 256 * 255 },
      time: { model: "dimensions", us: report.perDimension?.us },
      details: { planned: null },
    });
    expectSound(report);
  });

  it("has the same report on every backend", async () => {
    const reports: Report[] = [];
    for (const backend of ["native", "wasm", "js"] as const) {
      const other = await openEngine({ backend, threads: 0 });
      const { report } = await synthesize(other, presetTopology("torus:16x16"), {
        collective: "allreduce",
        algorithm: "themis",
        chunks: 32,
      });
      await other.close();
      reports.push({ ...report, synthesis: { ...report.synthesis, ms: 0, backend: "js" } });
    }
    expect(reports[1]).toEqual(reports[0]);
    expect(reports[2]).toEqual(reports[0]);
  });
});

describe("switches that sum", () => {
  it("send half as much, and have no steps", async () => {
    const [plain, summed] = await Promise.all([run("dgx-h100:1"), run("dgx-h100:1", { offload: true })]);
    expect(plain.report.schedule.kind).toBe("steps");
    expect(summed.report).toMatchObject({ schedule: { kind: "phases", transfers: null } });
    expectSound(summed.report);
    // NVLS-like: all of S up once, besides the eighth part that all-gathers send up
    const least = ((9 / 8) * 2 ** 30) / 450e3;
    expect(summed.report.time.us).toBeGreaterThanOrEqual(least);
    expect(summed.report.time.us).toBeLessThan(least * 1.01);
    expect(plain.report.time.us).toBeGreaterThan(1.5 * least);
  });

  it("take no steps for granted that other schedules have", async () => {
    await expect(run("dgx-h100:1", { algorithm: "tacos", offload: true })).rejects.toThrow(
      refused("not-applicable", "offload", "tacos"),
    );
    await expect(run("dgx-a100:1", { offload: true })).rejects.toThrow(InputError);
  });
});

describe("links that failed", () => {
  const HURT: readonly (readonly [string, string[]])[] = [
    ["torus:4x4", ["0-1"]],
    ["torus:4x4", ["0>1", "5-9"]],
    ["mesh:3x4", ["4-5"]],
    ["fc:4*ring:3", ["0-2"]],
    ["switch:4*switch:4", ["3-d0s0"]],
    ["switch:4*switch:4", ["d1s1"]],
    ["hypercube:3", ["0-4"]],
    ["dgx-a100:2", ["9-ib"]],
  ];
  it.each(HURT)("%s without %j: phases of the network as it was, around them", async (preset, failed) => {
    const topology = without(presetTopology(preset), failed);
    for (const collective of KINDS) {
      for (const algorithm of ["themis", "blueconnect"]) {
        const options = { collective, algorithm, sizeBytes: 2 ** 22, chunks: 4 } as const;
        const { schedule, report } = await synthesize(engine, topology, options);
        const steps = schedule as StepSchedule;
        expect(steps.topology).toBe(topology);
        expect(verifySchedule(steps).violations).toEqual([]);
        expect(report.notes?.some((note) => note.includes("takes detours"))).toBe(true);
        expect(report.verified).toBe(true);
        expect(report.time.us).toBeGreaterThanOrEqual(report.limit.us);
        const intact = await run(preset, options);
        expect(report.time.us).toBeGreaterThanOrEqual(intact.report.time.us);
      }
    }
  });

  it("messages are spread over several ways around: three quarters of the limit on a torus without a cable", async () => {
    const topology = without(presetTopology("torus:4x4"), ["0-1"]);
    const options = { collective: "allreduce", algorithm: "themis", sizeBytes: 2 ** 26, chunks: 16 } as const;
    const { schedule, report } = await synthesize(engine, topology, options);
    const { routes, route } = schedule as StepSchedule;
    const ways = new Set([...route].filter((r) => routes.source[r] === 0 && routes.target[r] === 1));
    expect(ways.size).toBe(3);
    expect(report.ofLimit).toBeGreaterThan(0.75);
  });

  it("slow links are taken as they are", async () => {
    const topology = degrade(presetTopology("torus:4x4"), [["0-1", 0.5]]);
    const { schedule, report } = await synthesize(engine, topology, {
      collective: "allreduce",
      algorithm: "themis",
      chunks: 4,
    });
    expect(verifySchedule(schedule as StepSchedule).violations).toEqual([]);
    expect(report.notes).toContain("planned for links at the speed that most of their dimension have");
  });

  it("groups go around them as well", async () => {
    const topology = without(presetTopology("torus:4x4"), ["0-1"]);
    const options = { collective: "allreduce", algorithm: "themis", group: "0,1,2,3;4,5,6,7", chunks: 4 } as const;
    const { schedule } = await synthesize(engine, topology, options);
    expect(verifySchedule(schedule as StepSchedule).violations).toEqual([]);
  });

  it("an NPU that is missing is said in one sentence", async () => {
    const topology = without(presetTopology("switch:4*switch:4*switch:2"), ["5"]);
    await expect(synthesize(engine, topology, { collective: "allreduce", algorithm: "themis" })).rejects.toThrow(
      refused("not-applicable", "algorithm", "themis", "4 x 4 x 2", 32, 1),
    );
  });
});

describe("a request for phases", () => {
  const heeds = (option: string, names: string) => refused("not-applicable", option, "themis", `auto, ${names}`);
  const trees = "forestcoll, blink, multitree, c-cube, tto, nvls";
  it.each<[Partial<SynthesizeOptions>, Refusal]>([
    [{ trials: 3 }, heeds("trials", "tacos, mcf, tacos-ilp")],
    [{ switchDegree: "ports" }, heeds("switchDegree", "tacos, mcf, tacos-ilp, sccl")],
    [{ k: 2 }, heeds("k", trees)],
    [{ root: 3 }, refused("not-together", "root", 3)],
    [{ policy: "lifo" }, refused("unknown-name", "policy", "lifo")],
    [{ collective: "broadcast" }, refused("not-applicable", "collective", "broadcast")],
    [{ group: "0,1,5" }, refused("not-applicable", "algorithm", "themis")],
    [{ chunks: 0 }, unexpected("chunks", 0)],
  ])("%j is refused in a sentence", async (options, sentence) => {
    await expect(run("torus:4x4", options)).rejects.toThrow(InputError);
    await expect(run("torus:4x4", options)).rejects.toThrow(sentence);
  });

  it("is refused where the network is no product", async () => {
    await expect(run("dragonfly:4x5@400,200GB/s")).rejects.toThrow(
      refused("not-applicable", "algorithm", "themis", 400),
    );
  });

  it("can be cancelled", async () => {
    await expect(run("torus:4x4", { signal: AbortSignal.abort() })).rejects.toThrow(CancelledError);
  });

  it("without a number of chunks gets the one that is fastest", async () => {
    const [own, auto, ...fixed] = await Promise.all(
      ([undefined, "auto", 1, 4, 16, 64] as const).map((chunks) =>
        run("switch:4*switch:8", { sizeBytes: 1e8, ...(chunks === undefined ? {} : { chunks }) }),
      ),
    );
    expect(auto?.report.perDimension).toEqual(own?.report.perDimension);
    for (const { report } of fixed) {
      expect(own?.report.perDimension?.us).toBeLessThanOrEqual(report.perDimension?.us as number);
    }
  });
});

describe.each(["ring:4*fc:4", ...SMALL])("steps on %s", (network) => {
  it.each(KINDS)("of a %s take at most 1 % longer by Themis than by the baseline", async (collective) => {
    for (const sizeBytes of [2 ** 16, 2 ** 24]) {
      for (const chunks of [4, 32]) {
        const us = async (options: Partial<SynthesizeOptions>): Promise<number> =>
          (await run(network, { collective, sizeBytes, chunks, ...options })).report.time.us;
        const baseline = await us({ algorithm: "blueconnect" });
        for (const policy of ["scf", "fifo"]) expect(await us({ policy })).toBeLessThanOrEqual(1.01 * baseline);
      }
    }
  });
});
