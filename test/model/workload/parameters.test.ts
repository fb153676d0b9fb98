import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  activeParameterCount,
  attendedPairs,
  forwardFlops,
  parameterCount,
} from "../../../src/model/workload/transformer/parameters.ts";
import { transformerNamed } from "./support.ts";

/** Totals as their publishers' checkpoints, cards or readmes have them. */
const PUBLISHED: readonly (readonly [string, number])[] = [
  ["gpt2-small", 124_439_808],
  ["gpt2-medium", 354_823_168],
  ["gpt2-large", 774_030_080],
  ["gpt2-xl", 1_557_611_200],
  ["llama2-7b", 6_738_415_616],
  ["llama2-13b", 13_015_864_320],
  ["llama2-70b", 68_976_648_192],
  ["llama3-8b", 8_030_261_248],
  ["llama3-70b", 70_553_706_496],
  ["llama3-405b", 405_853_388_800],
  ["llama3-119b", 118_960_046_080],
  ["gemma2-2b", 2_614_341_888],
  ["gemma2-9b", 9_241_705_984],
  ["gemma2-27b", 27_227_128_320],
  ["mistral-7b", 7_241_732_096],
  ["qwen3-8b", 8_190_735_360],
  ["qwen3-32b", 32_762_123_264],
  ["mixtral-8x7b", 46_702_792_704],
  ["mixtral-8x22b", 140_620_634_112],
  ["deepseek-v3", 671_026_419_200],
  ["deepseek-v2", 235_741_434_880],
  ["qwen3-30b-a3b", 30_532_122_624],
  ["qwen3-235b-a22b", 235_093_634_560],
  ["gpt-oss-20b", 20_914_757_184],
  ["gpt-oss-120b", 116_829_156_672],
  ["bert-base", 109_514_298],
  ["bert-large", 335_174_458],
  ["t5-base", 222_903_552],
  ["switch-base-8", 619_339_008],
  ["switch-base-256", 14_664_154_368],
  ["switch-c-2048", 1_571_308_972_448],
  ["mpt-125m", 125_311_488],
  ["mpt-350m", 355_985_408],
  ["mpt-760m", 760_470_528],
  ["mpt-1b", 1_315_950_592],
  ["mpt-3b", 2_651_837_440],
  ["mpt-7b", 6_658_859_008],
  ["mpt-13b", 12_853_954_560],
  ["mpt-30b", 29_975_214_080],
  ["mpt-70b", 64_862_437_376],
];

describe("the parameters of transformers", () => {
  it.each(PUBLISHED)("of %s are those published: %i", (name, total) => {
    expect(parameterCount(transformerNamed(name))).toBe(total);
  });

  it.each([
    ["megatron-22b", 22e9],
    ["gpt3-175b", 175e9],
    ["mt-nlg-530b", 530e9],
    ["megatron-1t", 1008e9],
    ["turing-nlg-17b", 17.2e9],
    ["msft-1t", 1000e9],
    ["kimi-k2", 1026.4e9],
  ])("of %s are within half a percent of what it is called by", (name, total) => {
    expect(Math.abs(parameterCount(transformerNamed(name)) / total - 1)).toBeLessThan(0.005);
  });

  it.each([
    ["mixtral-8x7b", 12_879_925_248],
    ["qwen3-30b-a3b", 3_353_032_704],
    ["qwen3-235b-a22b", 22_190_763_520],
    ["gpt-oss-120b", 5_711_982_912],
    ["llama3-8b", 8_030_261_248],
  ])("that a token of %s uses are those published: %i", (name, active) => {
    expect(activeParameterCount(transformerNamed(name))).toBe(active);
  });
});

describe("the operations of transformers", () => {
  it.each(["megatron-22b", "gpt3-175b", "mt-nlg-530b", "megatron-1t"])(
    "of %s are Korthikanti's equation 7 where all pairs of tokens count",
    (name) => {
      const { layers: L, hidden: h, vocabulary: v } = transformerNamed(name);
      const s = 2048;
      const one = 72 * L * s * h * h * (1 + s / (6 * h) + v / (12 * h * L));
      expect((3 * forwardFlops(transformerNamed(name), s, "full")) / one).toBeCloseTo(1, 12);
    },
  );

  // NVIDIA's Megatron-Bridge counts half of the pairs, MLPerf's configuration of 405B all of them
  it.each([
    ["gpt-oss-120b", 32.61e9],
    ["qwen3-30b-a3b", 23.11e9],
    ["qwen3-235b-a22b", 148.14e9],
    ["kimi-k2", 204.58e9],
  ])("a token of %s takes with its experts what Megatron-Bridge counts: %d", (name, flops) => {
    const each = (3 * forwardFlops(transformerNamed(name), 4096, "causal")) / 4096;
    expect(Math.abs(each / flops - 1)).toBeLessThan(0.01);
  });

  it.each([
    ["llama3-70b", "causal", 449.2e9],
    ["llama3-405b", "causal", 2524e9],
    ["llama3-405b", "full", 2625e9],
  ] as const)("a token of %s takes (%s) what benchmarks count: %d", (name, count, flops) => {
    const sequence = 8192;
    const each = (3 * forwardFlops(transformerNamed(name), sequence, count)) / sequence;
    expect(Math.abs(each / flops - 1)).toBeLessThan(0.005);
  });

  it("of attention are those of the pairs that are seen, but for half of a token each", () => {
    const cases = fc.record({ s: fc.integer({ min: 1, max: 60 }), window: fc.option(fc.integer({ min: 1, max: 80 })) });
    fc.assert(
      fc.property(cases, ({ s, window }) => {
        const seen = Math.min(window ?? s, s);
        const pairs = Array.from({ length: s }, (_, i) => Math.min(i + 1, seen)).reduce((a, b) => a + b, 0);
        expect(attendedPairs(s, true, window)).toBe(pairs - seen / 2);
        expect(attendedPairs(s, false, null)).toBe(s * s);
      }),
    );
  });
});
