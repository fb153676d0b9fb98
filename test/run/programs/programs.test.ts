import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { InputError, InternalError } from "../../../src/base/errors.ts";
import { openEngine } from "../../../src/engine/engine.ts";
import type { Engine } from "../../../src/engine/types.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { besideEngine } from "../../../src/run/programs/beside.ts";
import {
  judgedAndSimulated,
  lowered as loweredTo,
  programOf,
  programUs,
  unheard,
} from "../../../src/run/programs/programs.ts";
import { programsBySize, type SizeRange, synthesizeForRuntime } from "../../../src/run/programs/programs-by-size.ts";
import { synthesize } from "../../../src/run/synthesize.ts";
import { simulateProgram } from "../../../src/simulate/program/program.ts";
import { ALGORITHMS } from "../../../src/synthesize/catalog.ts";
import { verifyProgram } from "../../../src/verify/program/program.ts";
import { plainEngine } from "../../support/lowering-cases.ts";
import { lowered, loweringCases, scheduleFor, TARGETS } from "../../support/lowering-matrix.ts";
import { outOfRange } from "../../support/refusals.ts";
import { quick } from "../../support/runs.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await plainEngine();
});
afterAll(() => engine.close());

/** bench/programs.mjs has many more networks, up to 32 GPUs. */
const NETWORKS = ["switch:2", "ring:3", "switch:5", "mesh:2x3"];

/** Their programs of integers take a minute on the switch, and a mesh has the most programs. */
const SOLVERS: readonly string[] = ["taccl", "sccl", "tacos-ilp"];
const CASES = quick(
  loweringCases(NETWORKS),
  ({ topology, algorithm, collective }) =>
    !["switch:5", "mesh:2x3"].includes(topology) ||
    (!SOLVERS.includes(algorithm) && (topology !== "mesh:2x3" || ["allreduce", "alltoall"].includes(collective))),
);

describe("a schedule's program", () => {
  it.each(CASES)("$algorithm $collective on $topology is written right, or refused with a reason", async (found) => {
    const made = await scheduleFor(engine, found);
    if (made === null) return;
    for (const target of TARGETS) {
      const { outcome, reason, runtime, placement } = lowered(found, made, target);
      expect(outcome, `${runtime} ${placement}: ${reason}`).not.toBe("wrong");
      if (outcome === "refused") expect(reason).toMatch(/MSCCL|msccl|RCCL|Azure/);
      const unknown = runtime === "msccl" && (found.collective === "gather" || found.collective === "scatter");
      // what may not fit in one way of putting messages together does so apart
      if (target.joining === undefined || unknown) expect(outcome === "refused", reason).toBe(unknown);
    }
  });

  it("is judged and simulated side by side as one after the other, in threads or not", async () => {
    for (const [network, runtime] of [
      ["dgx-a100:1", "azure"],
      ["dgx-a100:2", "mscclpp"],
    ] as const) {
      const request = { collective: "allgather", algorithm: "forestcoll", sizeBytes: 2 ** 26, k: 1 } as const;
      const { schedule } = await synthesize(engine, presetTopology(network), request);
      const program = loweredTo(schedule, { runtime });
      const { parts, ...apart } = programOf(schedule, { runtime });
      for (const threads of [0, 2]) {
        const own = await openEngine({ threads });
        const { made, us } = await judgedAndSimulated(program, schedule, { runtime }, besideEngine(own), unheard);
        await own.close();
        expect(us).toBe(programUs(program, schedule));
        const { parts: text, ...beside } = made;
        expect(beside).toEqual(apart);
        expect([...text()].join("")).toBe([...parts()].join(""));
      }
    }
  });

  it("is refused by a judge beside the simulation as by one alone", async () => {
    const request = { collective: "allgather", algorithm: "ring", sizeBytes: 2 ** 20 } as const;
    const { schedule } = await synthesize(engine, presetTopology("ring:4"), request);
    const program = loweredTo(schedule, { runtime: "azure" });
    const wrong = { ...program, operandIndex: program.operandIndex.map(() => 0) };
    const own = await openEngine({ threads: 2 });
    const judging = judgedAndSimulated(wrong, schedule, { runtime: "azure" }, besideEngine(own), unheard);
    await expect(judging).rejects.toThrow(InternalError);
    await own.close();
  });

  it("is refused with the limit, its value and what would help", async () => {
    const request = { collective: "allgather", algorithm: "direct", sizeBytes: 2 ** 20 } as const;
    const { schedule } = await synthesize(engine, presetTopology("switch:8"), request);
    expect(programOf(schedule, { runtime: "rccl", instances: 2 }).verification.violationCount).toBe(0);
    const refused = (): unknown => programOf(schedule, { runtime: "rccl", instances: 40 });
    expect(refused).toThrow(InputError);
    expect(refused).toThrow(outOfRange("the schedule as a program for RCCL", "at least 280", 64, "--k"));
  });

  it.each(["allgather", "reducescatter", "allreduce"] as const)(
    "of ForestColl's %s fits Azure's executor and microsoft/msccl on 2 DGX A100 and 4 DGX H100",
    async (collective) => {
      for (const network of quick(["dgx-a100:2", "dgx-h100:4"], (name) => name === "dgx-a100:2")) {
        const request = { collective, algorithm: "forestcoll", sizeBytes: 2 ** 30 } as const;
        const { schedule } = await synthesize(engine, presetTopology(network), request);
        for (const runtime of ["azure", "msccl"] as const) {
          const { program, verification } = programOf(schedule, { runtime });
          expect(verification.violationCount).toBe(0);
          expect(program.rankCount).toBe(schedule.topology.npuCount);
        }
      }
    },
  );
});

describe("programsBySize", () => {
  it("covers every size once, each range with the fastest algorithm that fits", async () => {
    const sizesBytes = [2 ** 26, 2 ** 12, 2 ** 20];
    const options = { collective: "allreduce", sizesBytes, algorithms: ["ring", "direct"] } as const;
    const heard: [number[], readonly number[], readonly number[]][] = [];
    const ranges = await programsBySize(
      engine,
      presetTopology("ring:8"),
      options,
      { runtime: "azure" },
      (soFar, done, left) => {
        const ended = soFar();
        expect([ended[0]?.minBytes, ended.at(-1)?.maxBytes]).toEqual([0, null]);
        for (const { made } of ended) expect(verifyProgram(made.program).violationCount).toBe(0);
        heard.push([ended.flatMap((range) => range.sizesBytes), done, left]);
      },
    );
    // after each size but the last, what there would be if it were the last
    expect(heard).toEqual([
      [[2 ** 12], [2 ** 12], [2 ** 20, 2 ** 26]],
      [[2 ** 12, 2 ** 20], [2 ** 12, 2 ** 20], [2 ** 26]],
    ]);
    expect(ranges[0]?.minBytes).toBe(0);
    expect(ranges.at(-1)?.maxBytes).toBeNull();
    ranges.slice(1).forEach((range, i) => {
      expect(range.minBytes).toBe((ranges[i]?.maxBytes as number) + 1);
    });
    expect(ranges.flatMap((range) => range.sizesBytes)).toEqual([...sizesBytes].sort((a, b) => a - b));
    for (const { made } of ranges) expect(verifyProgram(made.program).violationCount).toBe(0);
  });

  it("is as fast as the fastest of all algorithms, though of those with hopeless schedules nothing is made", async () => {
    const topology = presetTopology("mesh:3x3");
    const target = { runtime: "azure" } as const;
    for (const sizeBytes of [2 ** 12, 9 * 2 ** 20]) {
      const [range] = await programsBySize(
        engine,
        topology,
        { collective: "allgather", sizesBytes: [sizeBytes] },
        target,
      );
      const each: number[] = [];
      for (const { name, collectives, traits } of ALGORITHMS) {
        if (traits?.solves === true || !collectives.includes("allgather")) continue;
        const request = { collective: "allgather", algorithm: name, sizeBytes } as const;
        const us = await synthesizeForRuntime(engine, topology, request, target).then(
          (one) => one.us,
          (error: unknown) => (error instanceof InputError ? Number.POSITIVE_INFINITY : Promise.reject(error)),
        );
        each.push(us);
      }
      expect(range?.us).toBeLessThanOrEqual(1.001 * Math.min(...each));
      if (sizeBytes > 2 ** 20)
        expect(range?.passedOver.map(({ reason }) => reason).join()).toContain("its schedule takes");
    }
  });

  it("changes at the first power of two at which the next program is no slower", async () => {
    const topology = presetTopology("dgx-a100:2");
    const options = { collective: "allreduce", sizesBytes: [2 ** 10, 2 ** 28], algorithms: ["direct", "rhd"] } as const;
    const [small, large] = (await programsBySize(engine, topology, options, { runtime: "azure" })) as [
      SizeRange,
      SizeRange,
    ];
    const us = ({ made }: SizeRange, sizeBytes: number) =>
      simulateProgram(made.program, topology, { sizeBytes, rankToNpu: Array.from({ length: 16 }, (_, r) => r) }).ps;
    const sizes = Array.from({ length: 19 }, (_, i) => 2 ** (10 + i));
    const first = sizes.find((size) => us(large, size) <= us(small, size));
    expect(first).toBeLessThan(2 ** 28);
    expect([large.minBytes, small.maxBytes]).toEqual([first, (first as number) - 1]);
  });
});

describe("programs among many ranks", () => {
  it("are of trees with few peers: as steps of whole trees, within a GPU's thread blocks and near the schedule's time", async () => {
    const request = { collective: "allgather", algorithm: "forestcoll", sizeBytes: 2 ** 30 } as const;
    const topology = presetTopology("dgx-h100:16");
    const { us, made, how, result } = await synthesizeForRuntime(engine, topology, request, { runtime: "azure" });
    expect(how).toMatchObject({ whole: true });
    expect(made.verification.facts.mostBlocksPerRank).toBeLessThanOrEqual(100);
    expect(us).toBeLessThan(1.1 * result.report.time.us);
  });
});
