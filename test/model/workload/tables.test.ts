import { describe, expect, it } from "vitest";
import { MODEL_NAMES, modelNamed, tableStep } from "../../../src/model/workload/models.ts";
import { ALONE } from "../../../src/model/workload/parallelism.ts";
import { stepTasks } from "../../../src/model/workload/step-tasks.ts";
import type { TrainingStep } from "../../../src/model/workload/training-step.ts";
import { parameterCount } from "../../../src/model/workload/transformer/parameters.ts";
import { communicationsOf, computationsOf, layersOf } from "./support.ts";

function stepOf(name: string, samples: number, copies: number, bucketBytes = Number.POSITIVE_INFINITY): TrainingStep {
  const { sizes } = modelNamed(name);
  if (sizes.kind === "transformer") throw new Error(`${name} is a transformer`);
  const parallelism = { ...ALONE, data: copies };
  const bytes = { precision: "fp16", optimizer: "sgd", gradientBytes: 2, bucketBytes } as const;
  return tableStep(sizes, { parallelism, batch: samples * copies, ...bytes });
}

/** Returns bytes of all sums of gradients. */
const summed = (step: TrainingStep): number[] =>
  layersOf(step).flatMap(({ gradients }) => communicationsOf(gradients).map(({ bytes }) => bytes));

describe("tables of layers", () => {
  // He et al. 2016, table 1: 3.8e9, 7.6e9 and 11.3e9 multiply-adds; weights as torchvision's (25,557,032 ...)
  it.each([
    ["resnet-50", 25_557_032, 3.8e9, 0.02],
    ["resnet-101", 44_549_160, 7.6e9, 0.02],
    ["resnet-152", 60_192_808, 11.3e9, 0.01],
  ])("of %s have its parameters and multiply-adds", (name, parameters, multiplyAdds, near) => {
    const step = stepOf(name, 32, 4);
    expect(summed(step)).toEqual([2 * parameters]);
    expect(Math.abs(step.modelFlops / (6 * 32 * 4) / multiplyAdds - 1)).toBeLessThan(near);
    expect([step.samples, step.tokens]).toEqual([128, 0]);
  });

  it("of ResNet-50 in the group's public table have 25,502,912 weights besides norms and biases", () => {
    const step = stepOf("resnet-50", 1, 2);
    const products = layersOf(step)
      .flatMap(({ forward }) => computationsOf(forward))
      .filter(({ kind }) => kind === "matmul");
    const weights = products.reduce((sum, { shape }) => sum + (shape?.inner ?? 0) * (shape?.columns ?? 0), 0);
    expect(weights).toBe(25_502_912);
  });

  it("of GNMT have 160,665,150 parameters with 4 + 4 layers, 244.6 million with 8 + 8", () => {
    expect(summed(stepOf("gnmt", 128, 2))).toEqual([2 * 160_665_150]);
    expect(Math.abs((summed(stepOf("gnmt-16", 128, 2))[0] ?? 0) / 2 / 244.6e6 - 1)).toBeLessThan(0.001);
  });

  it("of DLRM exchange 4,194,304 bytes and sum 114,823,168, as LIBRA's table", () => {
    const step = stepOf("dlrm", 512, 4);
    expect(summed(step)).toEqual([114_823_168]);
    const [tables] = layersOf(step);
    for (const pass of [tables.forward, tables.backward]) {
      expect(communicationsOf(pass)).toMatchObject([{ collective: "alltoall", bytes: 4_194_304 }]);
    }
  });

  it("of DLRM exchange rows beside the bottom stack, and wait before the top one", () => {
    const { forward, backward } = layersOf(stepOf("dlrm", 512, 4))[0];
    const at = forward.parts.findIndex((part) => "communication" in part);
    for (const part of forward.parts.slice(at + 1)) expect(part.after).not.toContain(at);
    expect(forward.outputs).toContain(at);
    const last = backward.parts[backward.parts.length - 1];
    expect(last).toMatchObject({ after: [0], computation: { name: "update of rows" } });
  });

  it("have sums in buckets that overlap, or one at the end", () => {
    const small = summed(stepOf("resnet-50", 32, 4, 10e6));
    expect(small.length).toBe(6);
    expect(small.reduce((a, b) => a + b, 0)).toBe(2 * 25_557_032);
    expect(stepTasks(stepOf("resnet-50", 32, 4)).works.filter(({ kind }) => kind === "communication").length).toBe(1);
  });

  it("are refused where samples do not go round, or NPUs are no copies", () => {
    const { sizes } = modelNamed("resnet-50");
    if (sizes.kind !== "resnet") throw new Error(sizes.kind);
    const options = { precision: "fp16", optimizer: "sgd", gradientBytes: 2, bucketBytes: 1e6, batch: 10 } as const;
    expect(() => tableStep(sizes, { ...options, parallelism: { ...ALONE, data: 4 } })).toThrow(
      "the batch is 10; it must be a multiple of the 4 copies of resnet-50, such as 8 or 12",
    );
    expect(() => tableStep(sizes, { ...options, parallelism: { ...ALONE, data: 2, tensor: 2 } })).toThrow(
      "dp is 2; it must be 4, all NPUs, for resnet-50 is trained in copies only",
    );
  });
});

describe("the catalogue of models", () => {
  it("knows names and aliases, and the nearest of others", () => {
    expect(modelNamed("GPT3").name).toBe("gpt3-175b");
    expect(modelNamed("llama-3.1-405b").name).toBe("llama3-405b");
    expect(modelNamed("resnet50").name).toBe("resnet-50");
    expect(() => modelNamed("llama3-71b")).toThrow(/the model is "llama3-71b".*did you mean "llama3-70b"\?/);
  });

  it("has no name twice, and a source for each", () => {
    const names = MODEL_NAMES.flatMap((name) => [name, ...modelNamed(name).aliases]);
    expect(new Set(names).size).toBe(names.length);
    for (const name of MODEL_NAMES) expect(modelNamed(name).source.length).toBeGreaterThan(5);
  });

  it("has whole parameters everywhere", () => {
    for (const name of MODEL_NAMES) {
      const { sizes } = modelNamed(name);
      if (sizes.kind === "transformer") expect(Number.isSafeInteger(parameterCount(sizes.config))).toBe(true);
    }
  });
});
