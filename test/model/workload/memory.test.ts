import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { acceleratorNamed } from "../../../src/model/workload/accelerators.ts";
import { checkMemory, greatestMemory, stepMemory } from "../../../src/model/workload/memory.ts";
import { smallerSteps } from "../../../src/model/workload/transformer/alternatives.ts";
import { GPT_LIKE, type TransformerConfig } from "../../../src/model/workload/transformer/config.ts";
import { transformerStep } from "../../../src/model/workload/transformer.ts";
import { runs } from "../../support/runs.ts";
import { layersOf, optionsOf, transformerNamed } from "./support.ts";

describe("what a layer keeps", () => {
  const config = transformerNamed("megatron-22b");
  const { hidden: h, heads: a, sequence: s } = config;
  const kept = (b: number, t: number, sequence: boolean, recompute: "none" | "selective" | "full"): number => {
    const options = optionsOf(config, {
      parallelism: { tensor: t, sequence },
      batch: b,
      microBatch: b,
      recompute,
      flash: false,
    });
    return layersOf(transformerStep(config, options))[1].memory.activations;
  };

  it.each([1, 2, 4])("is Korthikanti's equations 1 to 6, for micro batches of %d", (b) => {
    const t = 8;
    const sbh = s * b * h;
    expect(kept(b, 1, false, "none") / (sbh * (34 + (5 * a * s) / h))).toBeCloseTo(1, 9);
    expect(kept(b, t, false, "none") / (sbh * (10 + 24 / t + (5 * a * s) / (h * t)))).toBeCloseTo(1, 9);
    expect(kept(b, t, true, "none") / ((sbh / t) * (34 + (5 * a * s) / h))).toBeCloseTo(1, 9);
    expect(kept(b, t, false, "selective") / (sbh * (10 + 24 / t))).toBeCloseTo(1, 9);
    expect(kept(b, t, true, "selective") / ((sbh * 34) / t)).toBeCloseTo(1, 9);
    expect(kept(b, 1, false, "full") / (2 * sbh)).toBeCloseTo(1, 9);
  });

  it("is 4 s b h (1 + v / h) / t bytes behind the last layer (Korthikanti et al. 2022, 4.3), and the mask before the first", () => {
    const options = optionsOf(config, { parallelism: { tensor: 8, sequence: true }, batch: 4, microBatch: 4 });
    const layers = layersOf(transformerStep(config, options));
    const sbh = s * 4 * h;
    expect(layers[layers.length - 1].memory.activations).toBe((4 * sbh * (1 + config.vocabulary / h)) / 8);
    expect(layers[0].memory.activations).toBe(sbh / 8);
  });

  it("is of experts what they got, made and gave back", () => {
    const mixtral = transformerNamed("mixtral-8x7b");
    const options = optionsOf(mixtral, { parallelism: { data: 8, expert: 8 }, batch: 8, sequence: 1024 });
    const { hidden, kvHeads, headSize } = mixtral;
    const attention = 2 * hidden + 2 * hidden + 2 * kvHeads * headSize;
    // of each token: inputs of norm and router; of each of its two experts: input, output, three widths
    const experts = 2 * hidden + 2 * (2 * hidden + 3 * 14336);
    expect(layersOf(transformerStep(mixtral, options))[1].memory.activations).toBe(1024 * 2 * (attention + experts));
  });

  it("is no scores with attention in one kernel", () => {
    const options = optionsOf(config, { parallelism: { tensor: 8, sequence: true }, batch: 1 });
    expect(layersOf(transformerStep(config, options))[1].memory.activations).toBe(kept(1, 8, true, "selective"));
  });
});

describe("what copies keep", () => {
  // Rajbhandari et al. 2020, figure 1: 7.5e9 parameters on 64 copies, 2 + 2 + 12 bytes
  const wide: TransformerConfig = {
    ...{ ...GPT_LIKE, name: "wide", layers: 36, hidden: 4096, heads: 32, kvHeads: 32, headSize: 128, ffn: 16384 },
    ...{ vocabulary: 51200, positions: 1024, sequence: 1024 },
  };

  it.each([
    [0, 120],
    [1, 31.4],
    [2, 16.6],
    [3, 1.9],
  ] as const)("with ZeRO %d is what its figure 1 prints, %d GB", (zero, gigabytes) => {
    const step = transformerStep(wide, optionsOf(wide, { parallelism: { data: 64, zero }, batch: 64, flash: true }));
    const { parameters, gradients, optimizer } = greatestMemory(step);
    expect(Math.abs((parameters + gradients + optimizer) / (gigabytes * 1e9) - 1)).toBeLessThan(0.02);
  });

  it("is 18 bytes a parameter with gradients of 4 bytes, 12 with SGD's one moment, 16 without a copy of weights", () => {
    const bytes = (more: Parameters<typeof optionsOf>[1]): number => {
      const { parameters, gradients, optimizer } = greatestMemory(transformerStep(wide, optionsOf(wide, more)));
      return Math.round(
        ((parameters + gradients + optimizer) / greatestMemory(transformerStep(wide, optionsOf(wide))).parameters) * 2,
      );
    };
    expect(bytes({ gradientBytes: 4 })).toBe(18);
    expect(bytes({ optimizer: "sgd" })).toBe(12);
    expect(bytes({ optimizer: "none" })).toBe(4);
    expect(bytes({ precision: "fp32", gradientBytes: 4 })).toBe(16);
  });
});

describe("stages of a pipeline", () => {
  it("keep as many micro batches as there are stages behind them and one more", () => {
    const config = transformerNamed("gpt2-small");
    const options = optionsOf(config, { parallelism: { pipeline: 4 }, batch: 16 });
    const layer = layersOf(transformerStep(config, options))[1].memory.activations;
    const stages = stepMemory(transformerStep(config, options));
    expect(stages.slice(1, 3).map(({ activations }) => activations)).toEqual([3 * 3 * layer, 2 * 3 * layer]);
    const eager = stepMemory(transformerStep(config, { ...options, order: "gpipe" }));
    expect(eager[1].activations).toBe(16 * 3 * layer);
  });

  it("sum to their parts", () => {
    const config = transformerNamed("gpt2-small");
    const cases = fc.record({
      pipeline: fc.constantFrom(1, 2, 3),
      data: fc.constantFrom(1, 2),
      batch: fc.constantFrom(12, 24),
    });
    fc.assert(
      fc.property(cases, ({ pipeline, data, batch }) => {
        for (const stage of stepMemory(
          transformerStep(config, optionsOf(config, { parallelism: { pipeline, data }, batch })),
        )) {
          const { parameters, gradients, optimizer, activations, working } = stage;
          expect(stage.total).toBe(parameters + gradients + optimizer + activations + working);
        }
      }),
      { numRuns: runs(40) },
    );
  });
});

describe("what does not fit", () => {
  const check = (name: string, more: Parameters<typeof optionsOf>[1], accelerator = "a100"): string => {
    const config = transformerNamed(name);
    const options = optionsOf(config, more);
    const { memoryBytes } = acceleratorNamed(accelerator);
    try {
      checkMemory(transformerStep(config, options), memoryBytes, accelerator, () => smallerSteps(config, options));
    } catch (error) {
      if (error instanceof InputError) return error.message;
      throw error;
    }
    return "fits";
  };

  it("is refused with what needs how much, and what would fit", () => {
    const said = check("llama3-8b", { parallelism: { data: 8 }, batch: 8, sequence: 4096 });
    expect(said).toMatch(
      /^llama3-8b needs \d+ GB of memory an NPU \(16\.1 GB parameters, 16\.1 GB gradients, 96\.4 GB optimizer, [\d.]+ GB activations\), and a100 has 85\.9 GB; it fits with /,
    );
    expect(said).toContain("ZeRO 1 (");
    expect(said).not.toContain("tp 2");
  });

  it("names only what fits by its own computation", () => {
    const config = transformerNamed("llama3-70b");
    const options = optionsOf(config, { parallelism: { tensor: 8, data: 8 }, batch: 8, sequence: 8192 });
    const said = check("llama3-70b", { parallelism: { tensor: 8, data: 8 }, batch: 8, sequence: 8192 });
    const { memoryBytes } = acceleratorNamed("a100");
    const fits = smallerSteps(config, options).filter(({ step }) => greatestMemory(step).total <= memoryBytes);
    const names = fits.map(({ changes }) => changes.join(" and "));
    const fitting =
      /it fits with (.*)$/
        .exec(said)?.[1]
        ?.split(", or ")
        .map((one) => one.replace(/ \(.*/, "")) ?? [];
    expect(fitting.length).toBe(3);
    for (const one of fitting) expect(names).toContain(one);
  });

  it("tries what is not there already", () => {
    const config = transformerNamed("gpt2-small");
    const options = optionsOf(config, {
      parallelism: { data: 8, zero: 1 },
      batch: 16,
      microBatch: 2,
      recompute: "full",
    });
    const names = smallerSteps(config, options).map(({ changes }) => changes.join(" and "));
    expect(names).toContain("micro batches of 1 and ZeRO 2");
    for (const name of names) expect(name).not.toMatch(/ZeRO 1|recomputation/);
    // 12 heads go to 2 and 4 NPUs, not to 8
    expect(names.filter((name) => /^tp .* dp/.test(name))).toEqual(["tp 2 and dp 4", "tp 4 and dp 2"]);
  });

  it("is of inference helped by fewer bits, or more NPUs", () => {
    const said = check("llama3-405b", {
      pass: "decode",
      parallelism: { tensor: 8 },
      batch: 8,
      microBatch: 8,
      sequence: 1024,
    });
    expect(said).toMatch(
      /it fits with weights of 8 bits \([\d.]+ GB\), or tp 16 on 16 NPUs \([\d.]+ GB\), or pp 2 on 16 NPUs/,
    );
  });

  it("says what comes nearest where nothing fits, and nothing where it fits", () => {
    expect(check("llama3-405b", { parallelism: { data: 8 }, batch: 8 })).toMatch(
      /; nearest comes pp 16 on 128 NPUs \(\d+ GB\)$/,
    );
    expect(check("gpt2-small", { batch: 1 })).toBe("fits");
  });
});
