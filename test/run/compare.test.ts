import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openEngine } from "../../src/engine/engine.ts";
import type { Engine } from "../../src/engine/types.ts";
import { ncclEstimates } from "../../src/model/nccl/model.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { type CompareTarget, type ComparisonRow, usOnTarget } from "../../src/report/comparison.ts";
import { gainsOf } from "../../src/report/gains.ts";
import { compare } from "../../src/run/compare.ts";
import { synthesize } from "../../src/run/synthesize.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 0 });
});
afterAll(async () => engine.close());

describe("compare", () => {
  it("has one verified line per size and algorithm that applies, each no better than the limit", async () => {
    const lines: string[] = [];
    const counted: string[] = [];
    const sizesBytes = [2 ** 12, 2 ** 24];
    const { rows, limits, leftOut } = await compare(engine, presetTopology("mesh:3x3"), {
      collective: "allreduce",
      sizesBytes,
      trials: 4,
      onLine({ sizeBytes, algorithm, done, total }) {
        lines.push(`${sizeBytes} ${algorithm}`);
        counted.push(`${done} of ${total}`);
      },
    });
    expect(counted).toEqual(rows.map((_, i) => `${i} of ${rows.length}`));
    expect(lines.toSorted()).toEqual(rows.map(({ sizeBytes, algorithm }) => `${sizeBytes} ${algorithm}`).toSorted());
    expect(new Set(rows.map(({ sizeBytes, algorithm }) => `${sizeBytes} ${algorithm}`)).size).toBe(rows.length);
    for (const { verified, us, sizeBytes, ofLimit, chunks } of rows) {
      expect(verified).toBe(true);
      expect(Number.isInteger(chunks) && chunks >= 1).toBe(true);
      const limit = limits.find((one) => one.sizeBytes === sizeBytes)?.limit.us ?? 0;
      expect(us).toBeGreaterThanOrEqual(limit);
      expect(ofLimit).toBeCloseTo(limit / us, 9);
    }
    for (const size of sizesBytes) expect(rows.filter((row) => row.best && row.sizeBytes === size)).toHaveLength(1);
    const shown = rows.map(({ algorithm }) => algorithm);
    for (const { algorithm } of leftOut) expect(shown).not.toContain(algorithm);
  });

  it("has coarse lines where too many transfers would be listed, beside the limit, and says of all others why not", async () => {
    const topology = presetTopology("torus:13x13x13");
    const asked: string[] = [];
    const { rows, coarse, leftOut, limits } = await compare(engine, topology, {
      collective: "alltoall",
      sizesBytes: [2 ** 26],
      onLine: ({ algorithm, done, total }) => asked.push(`${algorithm} ${done + 1}/${total}`),
    });
    expect(rows).toEqual([]);
    expect(coarse?.map(({ algorithm }) => algorithm)).toEqual(["ring", "bruck", "mcf"]);
    expect(asked).toEqual(["ring 1/3", "bruck 2/3", "mcf 3/3"]);
    const limitUs = limits[0]?.limit.us as number;
    for (const { us, ofLimit, by } of coarse ?? []) {
      expect(us).toBeGreaterThanOrEqual(limitUs);
      expect(ofLimit).toBeCloseTo(limitUs / us, 9);
      expect(by).not.toBe("");
    }
    expect(leftOut.map(({ algorithm }) => algorithm)).toEqual(expect.arrayContaining(["tacos", "direct"]));
    // libraries have direct, so nothing is known of what is gained over them
    expect(gainsOf(rows, coarse)).toEqual([]);
    // named, or for a target, nothing is modelled
    await expect(
      compare(engine, topology, { collective: "alltoall", sizesBytes: [2 ** 26], target: "mscclpp" }),
    ).rejects.toThrow("fewer NPUs");
  });

  it("gives tacos the chunks that do best, which a line names", async () => {
    const topology = presetTopology("dgx-a100:2");
    const options = { collective: "broadcast", sizeBytes: 2 ** 28 } as const;
    const { rows } = await compare(engine, topology, { ...options, sizesBytes: [2 ** 28], algorithms: ["tacos"] });
    const [{ us, chunks }] = rows as [(typeof rows)[number]];
    expect(chunks).toBeGreaterThan(1);
    const { report } = await synthesize(engine, topology, { ...options, chunks });
    expect(report.time.us).toBe(us);
    const one = await compare(engine, topology, {
      ...options,
      sizesBytes: [2 ** 28],
      algorithms: ["tacos"],
      chunks: 1,
    });
    expect(one.rows[0]?.chunks).toBe(1);
    expect(one.rows[0]?.us).toBeGreaterThan(us);
  });

  it("shows NCCL's model beside the lines, and nothing where NCCL has none", async () => {
    const boxes = presetTopology("dgx-a100:2");
    const algorithms = ["ring"];
    const sizesBytes = [2 ** 10, 2 ** 30];
    const { references } = await compare(engine, boxes, { collective: "allreduce", sizesBytes, algorithms });
    expect(references.map(({ sizeBytes }) => sizeBytes)).toEqual(sizesBytes);
    for (const { sizeBytes, us, choice, name } of references) {
      const [first] = ncclEstimates(boxes, "allreduce", sizeBytes) ?? [];
      expect(name).toBe("NCCL model");
      expect(us).toBe(first?.us);
      expect(choice).toMatch(new RegExp(`^${first?.algorithm}/${first?.protocol}, ${first?.channels} channels?$`));
    }
    const mesh = await compare(engine, presetTopology("mesh:3x3"), { collective: "allreduce", sizesBytes, algorithms });
    expect(mesh.references).toEqual([]);
    const part = { collective: "allreduce", sizesBytes, algorithms, group: "0,1,2,3" } as const;
    expect((await compare(engine, boxes, part)).references).toEqual([]);
  });

  it("has every setting of NCCL's kernels where NCCL is to run it, and the best of them in its lines", async () => {
    const boxes = presetTopology("dgx-a100:2");
    const request = {
      collective: "allreduce",
      sizesBytes: [2 ** 20],
      algorithms: ["nccl-rings", "nccl-tree"],
    } as const;
    const { rows, settings = [] } = await compare(engine, boxes, { ...request, target: "nccl" });
    expect(settings.map(({ sizeBytes }) => sizeBytes)).toEqual([2 ** 20]);
    for (const [algorithm, own] of [
      ["nccl-rings", "Ring"],
      ["nccl-tree", "Tree"],
    ]) {
      const taken = settings[0]?.settings.filter((one) => one.algorithm === own).map(({ us }) => us) ?? [];
      expect(taken.length).toBeGreaterThan(3);
      expect(rows.find((row) => row.algorithm === algorithm)?.libraryUs).toBe(Math.min(...taken));
    }
    expect(await compare(engine, boxes, request)).not.toHaveProperty("settings");
  });

  it("ranks by what would run on a target: its programs, and what the library behind it runs by itself", async () => {
    const box = presetTopology("dgx-h100:1");
    const request = {
      collective: "allreduce",
      sizesBytes: [2 ** 24],
      algorithms: ["nccl-rings", "nvls", "rhd"],
    } as const;
    const onTarget = async (target: CompareTarget) => {
      const { rows, target: said } = await compare(engine, box, { ...request, target });
      expect(said).toBe(target);
      const least = Math.min(...rows.map(usOnTarget));
      expect(rows.filter(({ best }) => best).map(usOnTarget)).toEqual([least]);
      return new Map(rows.map((row) => [row.algorithm, row]));
    };
    const azure = await onTarget("azure");
    // NVLS is the library's alone where programs cannot let switches sum
    expect(azure.get("nvls")).toMatchObject({ programUs: null, best: true });
    expect(azure.get("nvls")?.libraryUs).toBeGreaterThan(0);
    // NCCL runs a ring by its own kernels, whose chunks and channels a program may better
    const { libraryUs = 0, programUs } = azure.get("nccl-rings") as ComparisonRow;
    expect(libraryUs).toBeGreaterThanOrEqual(programUs as number);
    expect(libraryUs).toBeLessThan(1.1 * (programUs as number));
    // halving and doubling is MPI's
    expect(azure.get("rhd")).not.toHaveProperty("libraryUs");
    const [gain] = gainsOf([...azure.values()]);
    expect(gain).toMatchObject({ library: { algorithm: "nvls" }, libraryUs: azure.get("nvls")?.libraryUs });
    expect(gain?.text).toMatch(/^0\.\d+ x$/);

    const plans = await onTarget("mscclpp");
    expect(plans.get("nvls")).toMatchObject({
      programFor: "mscclpp",
      libraryUs: plans.get("nvls")?.programUs as number,
    });
    const nccl = await onTarget("nccl");
    expect([...nccl.keys()]).toEqual(["nccl-rings", "nvls"]);
    // by its own kernels, whose chunks and orders a program may better, and at NCCL's own rate of NVLS
    for (const { algorithm, libraryUs = 0 } of nccl.values()) {
      const loaded = azure.get(algorithm)?.libraryUs ?? 0;
      expect(libraryUs).toBeGreaterThanOrEqual(loaded);
      expect(libraryUs).toBeLessThan(1.5 * loaded);
    }
    const mpi = await onTarget("mpi");
    // its messages are whole, where a plan has pieces of them under way
    expect(mpi.get("rhd")?.libraryUs).toBeLessThan(mpi.get("rhd")?.programUs as number);
    expect(mpi.get("rhd")?.libraryUs).toBeGreaterThan((mpi.get("rhd")?.us as number) * 0.5);
    expect(mpi.get("nvls")).not.toHaveProperty("libraryUs");
    await expect(compare(engine, box, { ...request, algorithms: ["rhd"], target: "nccl" })).rejects.toThrow(
      /NCCL's own/,
    );
  });

  it("goes on without an algorithm that fails at one size, and names the size", async () => {
    const { rows, leftOut } = await compare(engine, presetTopology("ring:4"), {
      collective: "allgather",
      sizesBytes: [2 ** 20],
      algorithms: ["multitree", "forestcoll", "ring"],
      k: 2,
    });
    expect(rows.map(({ algorithm }) => algorithm)).toEqual(["forestcoll", "ring"]);
    expect(leftOut).toMatchObject([{ algorithm: "multitree", reason: expect.stringMatching(/^--k is 2;/) }]);
  });

  it("has programs beside schedules where they are asked for, a library's too, none of them below the limit", async () => {
    const options = {
      collective: "allreduce" as const,
      sizesBytes: [2 ** 22],
      algorithms: ["forestcoll", "nccl-rings", "nvls"],
    };
    const { rows, limits } = await compare(engine, presetTopology("dgx-h100:2"), {
      ...options,
      programs: true,
    });
    const limit = limits[0]?.limit.us ?? 0;
    for (const { algorithm, programUs, programFor, noProgram } of rows) {
      expect(noProgram, algorithm).toBeUndefined();
      expect(programUs, algorithm).toBeGreaterThanOrEqual(limit);
      expect(programFor, algorithm).toBe(algorithm === "nvls" ? "mscclpp" : "azure");
    }
    const plain = await compare(engine, presetTopology("dgx-h100:2"), options);
    expect(plain.rows.every(({ programUs }) => programUs === undefined)).toBe(true);
  });
});
