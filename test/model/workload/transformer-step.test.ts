import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { MODEL_NAMES, modelNamed } from "../../../src/model/workload/models.ts";
import { groupSizeOf, npusOf } from "../../../src/model/workload/parallelism.ts";
import { stepTasks } from "../../../src/model/workload/step-tasks.ts";
import { GPT_LIKE, LLAMA_LIKE, type TransformerConfig } from "../../../src/model/workload/transformer/config.ts";
import { dealtLayers } from "../../../src/model/workload/transformer/options.ts";
import { parameterCount } from "../../../src/model/workload/transformer/parameters.ts";
import { transformerStep } from "../../../src/model/workload/transformer.ts";
import { runs } from "../../support/runs.ts";
import { communicationsOf, computationsOf, layersOf, operationsOf, optionsOf, transformerNamed } from "./support.ts";

const SIZES = { layers: 8, hidden: 256, heads: 8, kvHeads: 8, headSize: 32, vocabulary: 1024, sequence: 64 };
const PLAIN: TransformerConfig = { ...GPT_LIKE, ...SIZES, name: "plain", ffn: 1024, positions: 64 };
const NO_MORE = { sharedGate: false, firstDense: 2, every: 2, routerBias: false };
const MIXED: TransformerConfig = {
  ...LLAMA_LIKE,
  ...SIZES,
  name: "mixed",
  ffn: 512,
  experts: { count: 16, perToken: 2, ffn: 128, sharedFfn: 64, ...NO_MORE },
};
const LATENT: TransformerConfig = {
  ...MIXED,
  name: "latent",
  latent: { queryRank: 48, keyValueRank: 32, plainSize: 32, rotarySize: 16, valueSize: 32 },
};

const powers = (most: number) => fc.constantFrom(...[1, 2, 4, 8].filter((n) => n <= most));
const meshes = fc.record({ tensor: powers(4), context: powers(2), data: powers(4), pipeline: powers(4) });

describe("a transformer's step", () => {
  it("does the model's operations, however it is split", () => {
    const cases = fc.record({
      mesh: meshes,
      config: fc.constantFrom(PLAIN, MIXED, LATENT),
      microBatch: powers(2),
      zero: fc.constantFrom(0, 1, 2, 3),
    });
    fc.assert(
      fc.property(cases, ({ mesh, config, microBatch, zero }) => {
        const expert = config.experts === null ? 1 : mesh.data;
        const parallelism = { ...mesh, expert, sequence: true, zero: zero as 0 | 1 | 2 | 3 };
        const options = optionsOf(config, { parallelism, batch: 16, microBatch, flash: false, attentionCount: "full" });
        const step = transformerStep(config, options);
        expect(step.microBatches).toBe(16 / mesh.data / microBatch);
        expect(operationsOf(step) / step.modelFlops).toBeCloseTo(1, 9);
        expect(step.tokens).toBe(16 * 64);
      }),
      { numRuns: runs(200) },
    );
  });

  it("keeps every parameter once where everything is shared", () => {
    const cases = fc.record({ mesh: meshes, config: fc.constantFrom(MIXED, LATENT) });
    fc.assert(
      fc.property(cases, ({ mesh, config }) => {
        const parallelism = { ...mesh, tensor: 1, expert: mesh.data, zero: 3 as const };
        const step = transformerStep(config, optionsOf(config, { parallelism, batch: 16 }));
        const kept = layersOf(step).reduce((sum, { memory }) => sum + memory.parameters, 0);
        const all = (kept * npusOf(parallelism as never)) / mesh.pipeline / 2;
        expect(Math.abs(all / parameterCount(config) - 1)).toBeLessThan(0.01);
      }),
      { numRuns: runs(60) },
    );
  });

  it("computes again what is asked: attention, or all of a layer", () => {
    const of = (recompute: "none" | "selective" | "full") =>
      operationsOf(transformerStep(PLAIN, optionsOf(PLAIN, { recompute, flash: false, batch: 1 })));
    const { layers: L, hidden: h, sequence: s, vocabulary: v } = PLAIN;
    const scores = 4 * L * s * s * h;
    expect(of("selective") - of("none")).toBe(scores);
    expect(of("full") - of("none")).toBe(24 * L * s * h * h + scores);
    expect(of("none")).toBe(72 * L * s * h * h + 3 * scores + 6 * s * h * v);
  });
});

describe("tensor parallelism", () => {
  const bytes = 2 * SIZES.sequence * SIZES.hidden;
  const passesOf = (sequence: boolean, recompute: "none" | "full" = "none") => {
    const options = optionsOf(PLAIN, { parallelism: { tensor: 4, sequence }, recompute });
    const layer = layersOf(transformerStep(PLAIN, options)).find(({ name }) => name === "layer");
    if (layer === undefined) throw new Error("no layer");
    return [layer.forward, layer.backward].map((pass) => communicationsOf(pass).map(({ collective }) => collective));
  };

  it("sums outputs twice forward and gradients twice backward (Shoeybi et al. 2019)", () => {
    expect(passesOf(false)).toEqual([
      ["allreduce", "allreduce"],
      ["allreduce", "allreduce"],
    ]);
  });

  it("gathers and scatters with the sequence split, and gathers inputs once more (Korthikanti et al. 2022)", () => {
    const [forward, backward] = passesOf(true);
    expect(forward).toEqual(["allgather", "reducescatter", "allgather", "reducescatter"]);
    const block = ["allgather", "allgather", "reducescatter"];
    expect(backward).toEqual([...block, ...block]);
  });

  it("repeats the forward pass's with full recomputation", () => {
    expect(passesOf(false, "full")[1]).toEqual(["allreduce", "allreduce", "allreduce", "allreduce"]);
  });

  it("gathers inputs and sums their gradients beside products, and what follows waits for all", () => {
    const options = optionsOf(PLAIN, { parallelism: { tensor: 4, sequence: true } });
    const { parts, outputs } = layersOf(transformerStep(PLAIN, options))[1].backward;
    const at = (name: string): number =>
      parts.findIndex((part) => ("computation" in part ? part.computation.name : part.communication.name) === name);
    const up = "feed-forward up";
    const gather = at(`${up}: parts of sequences`);
    const [input, weights] = [at(`${up}: gradients of the input`), at(`${up}: gradients of the weights`)];
    const sum = at(`${up}: sum of gradients`);
    expect([parts[input]?.after.includes(gather), parts[sum]?.after]).toEqual([false, [input]]);
    expect(parts[weights]?.after).toEqual([input, gather]);
    expect(parts[weights + 1]?.after).toEqual([sum, weights]);
    expect(outputs).toEqual([parts.length - 1]);
  });

  it("sends a stage's part of sequences on", () => {
    const whole = { tensor: 4, pipeline: 2 };
    const bytesOf = (sequence: boolean) =>
      transformerStep(PLAIN, optionsOf(PLAIN, { parallelism: { ...whole, sequence } })).boundaryBytes;
    expect([bytesOf(false), bytesOf(true)]).toEqual([bytes, bytes / 4]);
  });

  it("sends sequence x hidden size numbers of 16 bits", () => {
    const options = optionsOf(PLAIN, { parallelism: { tensor: 4 } });
    const all = layersOf(transformerStep(PLAIN, options)).filter(({ name }) => name === "layer");
    for (const { bytes: sent } of all.flatMap(({ forward }) => communicationsOf(forward))) expect(sent).toBe(bytes);
  });
});

describe("parts of sequences", () => {
  const stepOf = (context: number, pass: "train" | "prefill" = "train") =>
    transformerStep(PLAIN, optionsOf(PLAIN, { pass, parallelism: { context } }));

  it("bring keys and values together, once more backward, and sum their gradients", () => {
    const { forward, backward } = layersOf(stepOf(2))[1];
    const size = 2 * 2 * SIZES.sequence * SIZES.hidden;
    const shown = [forward, backward].map((pass) =>
      communicationsOf(pass).map(({ collective, group, bytes }) => [collective, group, bytes]),
    );
    expect(shown).toEqual([
      [["allgather", "context", size]],
      [
        ["allgather", "context", size],
        ["reducescatter", "context", size],
      ],
    ]);
  });

  it("have as many pairs each, and in one kernel two products forward and five backward", () => {
    const attention = (context: number) =>
      [layersOf(stepOf(context))[1]].flatMap(({ forward, backward }) =>
        [forward, backward].map((pass) =>
          computationsOf(pass)
            .filter(({ kind }) => kind === "attention")
            .reduce((sum, { flops }) => sum + flops, 0),
        ),
      );
    const { sequence: s, hidden: h } = SIZES;
    expect(attention(1)).toEqual([2 * s * s * h, 5 * s * s * h]);
    expect(attention(4)).toEqual([(s * s * h) / 2, (5 * s * s * h) / 4]);
  });

  it("keep their own keys and values of a prompt", () => {
    const kept = (context: number) => layersOf(stepOf(context, "prefill"))[1].memory.activations;
    expect([kept(1), kept(4)]).toEqual([2 * 2 * SIZES.sequence * SIZES.hidden, SIZES.sequence * SIZES.hidden]);
  });
});

describe("experts", () => {
  const step = (capacityFactor: number) =>
    transformerStep(MIXED, optionsOf(MIXED, { parallelism: { data: 4, expert: 4 }, batch: 4, capacityFactor }));

  it("exchange tokens twice forward and twice backward, as many as they take", () => {
    const layer = layersOf(step(1)).find(({ name }) => name === "layer with experts");
    const exchanged = [layer?.forward, layer?.backward].map((pass) =>
      communicationsOf(pass ?? { parts: [], outputs: [] }).map(({ collective, group, bytes }) => [
        collective,
        group,
        bytes,
      ]),
    );
    const one = ["alltoall", "experts", 64 * 2 * 256 * 2];
    expect(exchanged).toEqual([
      [one, one],
      [one, one],
    ]);
  });

  it("fill units together where one kernel does their products, with the same operations", () => {
    const rowsOf = (groupedExperts: boolean): number[] => {
      const options = optionsOf(MIXED, { parallelism: { data: 4, expert: 2 }, batch: 4, groupedExperts });
      const layer = layersOf(transformerStep(MIXED, options)).find(({ name }) => name === "layer with experts");
      const products = computationsOf(layer?.forward ?? { parts: [], outputs: [] });
      return products
        .filter(({ name }) => name === "experts up")
        .flatMap(({ flops, shape }) => [flops, shape?.rows ?? 0]);
    };
    const [together, apart] = [rowsOf(true), rowsOf(false)];
    expect(together[0]).toBe(apart[0]);
    expect(together[1]).toBe(((MIXED.experts?.count ?? 0) / 2) * (apart[1] ?? 0));
  });

  it("get more with a capacity above what balance needs", () => {
    expect(operationsOf(step(1.25))).toBeGreaterThan(operationsOf(step(1)));
  });

  it("that are split too gather the tokens of all parts before, and sum their outputs back", () => {
    const parallelism = { tensor: 2, expertTensor: 2, data: 4, expert: 4, sequence: true };
    const split = transformerStep(
      MIXED,
      optionsOf(MIXED, { parallelism, batch: 4, flash: false, attentionCount: "full" }),
    );
    expect(operationsOf(split) / split.modelFlops).toBeCloseTo(1, 9);
    const layer = layersOf(split).find(({ name }) => name === "layer with experts");
    const own = communicationsOf(layer?.forward ?? { parts: [], outputs: [] }).filter(({ group }) =>
      group.startsWith("expert"),
    );
    // half of the tokens, each to two experts, at 256 numbers of 2 bytes; both parts together for the products
    const sent = (64 / 2) * 2 * 256 * 2;
    expect(own.map(({ collective, bytes }) => [collective, bytes])).toEqual([
      ["alltoall", sent],
      ["allgather", 2 * sent],
      ["reducescatter", 2 * sent],
      ["alltoall", sent],
    ]);
  });

  it("stand in every second layer behind the dense ones", () => {
    const names = layersOf(step(1)).map(({ name }) => name);
    const [plain, special] = ["layer", "layer with experts"];
    expect(names.slice(1, -1)).toEqual([plain, plain, plain, special, plain, special, plain, special]);
  });
});

describe("copies", () => {
  const parallelism = { data: 4 } as const;
  const sumOf = (zero: 0 | 1 | 2 | 3, bucketBytes = 2 ** 20) => {
    const options = optionsOf(PLAIN, { parallelism: { ...parallelism, zero }, batch: 8, bucketBytes });
    return transformerStep(PLAIN, options);
  };
  const all = 2 * parameterCount(PLAIN);
  const bytesOf = (pass: "forward" | "backward" | "gradients" | "update", zero: 0 | 1 | 2 | 3, bucket?: number) =>
    layersOf(sumOf(zero, bucket))
      .flatMap((layer) => communicationsOf(layer[pass]))
      .reduce((sum, { bytes }) => sum + bytes, 0);

  it.each([1000, 2 ** 16, 2 ** 20, Number.POSITIVE_INFINITY])("sum every gradient once, in buckets of %d", (bucket) => {
    expect(bytesOf("gradients", 0, bucket)).toBe(all);
    const sizes = layersOf(sumOf(0, bucket)).flatMap(({ gradients }) => communicationsOf(gradients));
    for (const { bytes } of sizes) expect(bytes).toBeLessThanOrEqual(bucket);
  });

  it("fill buckets from the last layer on, and wait with one of all for the first", () => {
    const [first, ...rest] = layersOf(sumOf(0, Number.POSITIVE_INFINITY));
    expect(communicationsOf(first.gradients).map(({ bytes }) => bytes)).toEqual([all]);
    expect(rest.flatMap(({ gradients }) => gradients.parts)).toEqual([]);
  });

  it("share as ZeRO says: sums once a step, of every micro batch, weights gathered for each pass", () => {
    expect([0, 1, 2, 3].map((zero) => bytesOf("gradients", zero as 0))).toEqual([all, all, 0, 0]);
    expect([0, 1, 2, 3].map((zero) => bytesOf("update", zero as 0))).toEqual([0, all, all, 0]);
    expect([0, 1, 2, 3].map((zero) => bytesOf("forward", zero as 0))).toEqual([0, 0, 0, all]);
    expect([0, 1, 2, 3].map((zero) => bytesOf("backward", zero as 0))).toEqual([0, 0, all, 2 * all]);
    const collectives = new Set(
      layersOf(sumOf(1)).flatMap(({ gradients }) => communicationsOf(gradients).map(({ collective }) => collective)),
    );
    expect([...collectives]).toEqual(["reducescatter"]);
  });

  it("have weights on their way one layer ahead, and wait for them", () => {
    const { forward } = layersOf(sumOf(3))[1];
    expect(forward.parts[0]).toMatchObject({ after: [-2], communication: { collective: "allgather" } });
    expect(forward.parts[1].after).toEqual([0, -1]);
  });

  it("of experts sum apart from the rest", () => {
    const options = optionsOf(MIXED, {
      parallelism: { data: 4, expert: 2 },
      batch: 4,
      bucketBytes: Number.POSITIVE_INFINITY,
    });
    const sums = layersOf(transformerStep(MIXED, options)).flatMap(({ gradients }) => communicationsOf(gradients));
    const { parallelism: mesh } = options;
    expect(sums.map(({ group }) => [group, groupSizeOf(mesh, group)])).toEqual([
      ["copies", 4],
      ["expertCopies", 2],
    ]);
    const experts = (sums[1]?.bytes ?? 0) / 2;
    expect(experts).toBe(3 * (16 / 2) * 3 * 256 * 128);
  });
});

describe("a pipeline of layers", () => {
  it("deals them evenly, the ends fewer: 126 in 64 parts as Llama 3.1 405B", () => {
    expect(dealtLayers(8, 4)).toEqual([2, 2, 2, 2]);
    expect(dealtLayers(6, 4)).toEqual([1, 2, 2, 1]);
    expect(dealtLayers(7, 4)).toEqual([2, 2, 2, 1]);
    expect(dealtLayers(8, 10)).toEqual([0, 1, 1, 1, 1, 1, 1, 1, 1, 0]);
    const parts = dealtLayers(126, 64);
    expect([parts[0], parts[1], parts[62], parts[63]]).toEqual([1, 2, 2, 1]);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 64 }), (layers, places) => {
        const dealt = dealtLayers(layers, places);
        expect(dealt.reduce((a, b) => a + b, 0)).toBe(layers);
        expect(Math.max(...dealt) - Math.min(...dealt)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it("has parts of interleaved stages in the order of the model", () => {
    const options = optionsOf(PLAIN, {
      parallelism: { pipeline: 2, interleaved: 2 },
      batch: 4,
      layersPerPart: [1, 2, 3, 2],
    });
    const { stages } = transformerStep(PLAIN, options);
    const shown = stages.map((runs) => runs.map(({ layer, count }) => `${count} ${layer.name}`).join(", "));
    expect(shown).toEqual(["1 embedding, 1 layer", "3 layer", "2 layer", "2 layer, 1 head"]);
  });

  it("has a tied matrix at both of its ends", () => {
    const kept = (pipeline: number) =>
      layersOf(transformerStep(PLAIN, optionsOf(PLAIN, { parallelism: { pipeline } }))).reduce(
        (sum, { memory }) => sum + memory.parameters,
        0,
      );
    expect(kept(1)).toBe(2 * parameterCount(PLAIN));
    expect(kept(2) - kept(1)).toBe(2 * SIZES.vocabulary * SIZES.hidden);
  });

  it("has windows where the model has them: every second of Gemma 2's layers sees all", () => {
    const gemma = transformerNamed("gemma2-2b");
    const names = layersOf(transformerStep(gemma, optionsOf(gemma))).map(({ name }) => name);
    expect(names.slice(1, 5)).toEqual([1, 2].flatMap(() => ["layer with a window of 4096", "layer"]));
  });

  it("becomes tasks that a simulation can run", () => {
    const options = optionsOf(MIXED, {
      parallelism: { tensor: 2, sequence: true, data: 2, pipeline: 2, interleaved: 2, expert: 2, zero: 1 },
      batch: 8,
    });
    const tasks = stepTasks(transformerStep(MIXED, options));
    expect(tasks.actors.length).toBe(2);
    for (const task of tasks.awaited) expect(task).toBeGreaterThanOrEqual(0);
  });
});

describe("inference", () => {
  const config = transformerNamed("llama3-8b");

  it("reads what is kept of every token for the next one, and the weights once", () => {
    const step = transformerStep(
      config,
      optionsOf(config, { pass: "decode", batch: 4, microBatch: 4, sequence: 8192 }),
    );
    const layer = layersOf(step)[1];
    expect(layer.backward.parts).toEqual([]);
    const cache = computationsOf(layer.forward).find(({ kind }) => kind === "attention");
    expect(cache?.bytes).toBe(4 * 8192 * 2 * 8 * 128 * 2);
    expect(layer.memory.activations).toBe(cache?.bytes);
    const weights = computationsOf(layer.forward).filter(({ kind }) => kind === "matmul");
    const read = weights.reduce((sum, { bytes }) => sum + bytes, 0);
    expect(read).toBeGreaterThan(2 * 218e6);
    expect(read).toBeLessThan(2 * 219e6);
    expect([step.tokens, step.samples, step.trains]).toEqual([4, 4, false]);
    const each = 2 * 4 * (parameterCount(config) - 128256 * 4096);
    expect(step.modelFlops / each).toBeGreaterThan(1);
    expect(step.modelFlops / each).toBeLessThan(1.3);
  });

  it("does not split the one token of a sequence", () => {
    const asked = { pass: "decode", batch: 3, microBatch: 3, parallelism: { tensor: 4, sequence: true } } as const;
    const step = transformerStep(PLAIN, optionsOf(PLAIN, asked));
    expect(step.parallelism.sequence).toBe(false);
    const sums = communicationsOf(layersOf(step)[1].forward).map(({ collective, bytes }) => [collective, bytes]);
    const one = ["allreduce", 3 * SIZES.hidden * 2];
    expect(sums).toEqual([one, one]);
  });

  it("with latents reads these, and works on their side", () => {
    const sizes = { pass: "decode", batch: 1, sequence: 1000 } as const;
    const step = transformerStep(LATENT, optionsOf(LATENT, sizes));
    const kernel = computationsOf(layersOf(step)[1].forward).find(({ kind }) => kind === "attention");
    expect(kernel?.bytes).toBe(1000 * (32 + 16) * 2);
    expect(kernel?.flops).toBe(2 * 1000 * 8 * (2 * 32 + 16));
  });

  it("of a prompt takes a third of a training step", () => {
    const [prefill, train] = (["prefill", "train"] as const).map((pass) =>
      transformerStep(config, optionsOf(config, { pass })),
    );
    expect(3 * (prefill?.modelFlops ?? 0)).toBe(train?.modelFlops);
  });
});

describe("every transformer of the catalogue", () => {
  const names = MODEL_NAMES.filter((name) => modelNamed(name).sizes.kind === "transformer");

  it.each(names)("%s makes a step of training and of inference", (name) => {
    const config = transformerNamed(name);
    const expert = config.experts === null ? 1 : 2;
    for (const pass of ["train", "prefill", "decode"] as const) {
      if (pass === "decode" && (config.encoderLayers > 0 || !config.causal)) continue;
      const step = transformerStep(config, optionsOf(config, { pass, parallelism: { data: 2, expert }, batch: 4 }));
      const layers = layersOf(step);
      expect(layers.length).toBe(config.layers + config.encoderLayers + 2);
      for (const { memory } of layers) {
        for (const bytes of Object.values(memory)) expect(Number.isSafeInteger(bytes) && bytes >= 0).toBe(true);
      }
      // products do the model's operations; kernels of attention some more, for they make scores again, and with latents of the
      // next token many more, for these are longer than heads
      const times = operationsOf(step) / step.modelFlops;
      expect(times).toBeGreaterThan(pass === "train" ? 0.999 : 0.5);
      expect(times).toBeLessThan(pass === "decode" && config.latent !== null ? 2 : 1.2);
    }
  });
});

describe("what does not divide", () => {
  const refusal = (config: TransformerConfig, more: Parameters<typeof optionsOf>[1]): string => {
    try {
      transformerStep(config, optionsOf(config, more));
    } catch (error) {
      if (error instanceof InputError) return error.message;
      throw error;
    }
    return "none";
  };

  it.each<[string, TransformerConfig, Parameters<typeof optionsOf>[1]]>([
    ["tp is 3; it must be a divisor of the 8 heads of plain: 1, 2 or 4", PLAIN, { parallelism: { tensor: 3 } }],
    [
      "ep is 3; it must be a divisor of the 16 experts of mixed: 1, 2 or 4",
      MIXED,
      { parallelism: { expert: 3, data: 3 }, batch: 3 },
    ],
    ["ep is 2; it must be 1, for plain has no experts", PLAIN, { parallelism: { expert: 2, data: 2 }, batch: 2 }],
    [
      "the batch is 6; it must be a multiple of 4, dp 2 x micro batch 2, such as 4 or 8",
      PLAIN,
      { parallelism: { data: 2 }, batch: 6, microBatch: 2 },
    ],
    [
      "the sequence is 63; it must be a multiple of 2, among which it is split, such as 62 or 64",
      PLAIN,
      { parallelism: { context: 2 }, sequence: 63 },
    ],
    [
      "pp is 16; it must be at most 10, for plain has 8 layers between embedding and head",
      PLAIN,
      { parallelism: { pipeline: 16 } },
    ],
    [
      "pp is 8; it must be at most 5, for plain has 8 layers between embedding and head in 2 parts of each stage",
      PLAIN,
      { parallelism: { pipeline: 8, interleaved: 2 } },
    ],
    [
      "vp is 2; it must be 1, for there is one stage: interleaving takes pp 2 or more",
      PLAIN,
      { parallelism: { interleaved: 2 } },
    ],
    [
      "the batch is 6; it must be a multiple of 4, dp 1 x micro batch 1 x pp 4, for vp is 2, such as 4 or 8",
      PLAIN,
      { parallelism: { pipeline: 4, interleaved: 2 }, batch: 6 },
    ],
    ["dp is 0; it must be an integer of 1 or more", PLAIN, { parallelism: { data: 0 } }],
    [
      "cp is 2; it must be 1, for one token is no sequence to split",
      PLAIN,
      { pass: "decode", parallelism: { context: 2 } },
    ],
    [
      "tp is 2; it must be 1, or with sequence parallelism, or with etp 2, for else every expert gets each token 2 times",
      MIXED,
      { parallelism: { tensor: 2 } },
    ],
    [
      "the layers of each part are 2 numbers of sum 9; they must be 2 numbers of sum 8, for plain has so many layers in 2 parts",
      PLAIN,
      { parallelism: { pipeline: 2 }, layersPerPart: [4, 5] },
    ],
  ])("is refused: %s", (sentence, config, more) => {
    expect(refusal(config, more)).toBe(sentence);
  });

  it("is refused where few heads of keys and values meet more NPUs", () => {
    const few = { ...PLAIN, heads: 12, kvHeads: 6, name: "few" };
    expect(refusal(few, { parallelism: { tensor: 4 } })).toMatch(
      /^tp is 4; it must be a divisor or a multiple of the 6 heads/,
    );
  });
});
