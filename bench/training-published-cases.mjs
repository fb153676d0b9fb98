// Published times of training steps, as rows that a step can be made of. The tables lie outside (../shared/data/measured/training.csv,
// each row with its address) and are read where they are; what they leave out stands here, with its source.

export const TABLES = new URL("../../shared/data/measured/training.csv", import.meta.url);

/**
 * Korthikanti et al. 2022 (arXiv 2205.05198), table 5, which the efficiencies are fitted on: seconds of a step with full
 * recomputation, and with sequences split and selective recomputation. Tensor parallel over 8, A100 of 80 GB, 2,048 tokens.
 */
export const KORTHIKANTI = [
  { model: "megatron-22b", gpus: 8, mbs: 4, gbs: 4, pp: 1, vp: 1, full: 1.42, selective: 1.1 },
  { model: "gpt3-175b", gpus: 64, mbs: 1, gbs: 64, pp: 8, vp: 3, full: 18.13, selective: 13.75 },
  { model: "mt-nlg-530b", gpus: 280, mbs: 1, gbs: 280, pp: 35, vp: 3, full: 49.05, selective: 37.83 },
  { model: "megatron-1t", gpus: 512, mbs: 1, gbs: 512, pp: 64, vp: 1, full: 94.42, selective: 71.49 },
].flatMap(({ full, selective, ...row }) =>
  [
    ["full", full],
    ["selective", selective],
  ].map(([recompute, seconds]) => ({
    ...row,
    group: "Korthikanti",
    source: "table 5",
    system: "A100",
    box: 8,
    tp: 8,
    cp: 1,
    ep: 1,
    dp: 1,
    zero: 0,
    seq: 2048,
    precision: "fp16",
    format: "FP16",
    isFlash: false,
    isOverlapped: false,
    isSplit: recompute === "selective",
    recompute,
    seconds,
  })),
);

/**
 * GPUs of one NVLink domain, bytes a second of one GPU to it and to its network card, one way; presets where there is one of such
 * boxes. Jobs on NVL72 take 64 of 72 GPUs of a rack (segments of 16 trays of 4), those of 72 all.
 */
export const SYSTEMS = {
  A100: { accelerator: "a100", preset: "dgx-a100", link: 300e9, card: 25e9 },
  "A100-40": { accelerator: "a100-40", preset: "dgx-a100", link: 300e9, card: 25e9 },
  H100: { accelerator: "h100", preset: "dgx-h100", link: 450e9, card: 50e9 },
  H200: { accelerator: "h200", preset: "hgx-h200", link: 450e9, card: 50e9 },
  B200: { accelerator: "b200", preset: "hgx-b200", link: 900e9, card: 50e9 },
  B300: { accelerator: "b300", preset: "hgx-b300", link: 900e9, card: 100e9 },
  GB200: { accelerator: "gb200", preset: null, link: 900e9, card: 50e9 },
  GB300: { accelerator: "gb300", preset: null, link: 900e9, card: 100e9 },
};

const systemOf = (text) =>
  Object.keys(SYSTEMS)
    .toReversed()
    .find((name) => text.toUpperCase().includes(name)) ?? null;

/** Returns GPUs of one NVLink domain that a job of so many uses. */
function boxOf(system, gpus) {
  if (SYSTEMS[system].preset !== null) return 8;
  return gpus <= 72 ? gpus : gpus % 64 === 0 ? 64 : 8;
}

const MODELS = {
  DeepSeekV3: "deepseek-v3",
  Kimi_K2: "kimi-k2",
  "GPT OSS 120B": "gpt-oss-120b",
  Qwen3_30B_a3B: "qwen3-30b-a3b",
  Qwen3_235B_a22B: "qwen3-235b-a22b",
  LLAMA3_70B: "llama3-70b",
  "LLAMA3.1_405B": "llama3-405b",
  "Llama 3.1 405B": "llama3-405b",
  "Llama 3.1 8B": "llama3-8b",
};

/**
 * How MLPerf's submissions split the step and in what they compute, of folders of results in training_results_v5.0 and v5.1: from
 * their config files (config_*.sh, SYSTEM_* and MINIBS in their names and texts). [tp, pp, vp, cp, micro batch, format].
 */
const LLAMA_405B = [4, 8, 8, 2, 1];
const MLPERF = {
  "eos-dfw_n64_ngc25.01_nemo": [8, 8, 8, 2, 1, "FP8-DS"],
  "eos-dfw_n256_ngc25.01_nemo": [8, 8, 8, 2, 1, "FP8-DS"],
  "eos-dfw_n304_ngc25.01_nemo": [8, 8, 8, 2, 1, "FP8-DS"],
  "eos-dfw_n320_ngc25.01_nemo": [8, 8, 8, 2, 1, "FP8-DS"],
  "eos-dfw_n1024_ngc25.01_nemo": [8, 8, 8, 2, 1, "FP8-DS"],
  "nebius_soperator_8xH200_n64_ngc25.01_nemo": [...LLAMA_405B, "FP8-DS"],
  nebius_h200_n128: [...LLAMA_405B, "FP8-DS"],
  "tyche_ngpu512_ngc25.04_nemo": [...LLAMA_405B, "FP8-DS"],
  "carina_ngpu1536_ngc25.04_nemo": [...LLAMA_405B, "FP8-DS"],
  "carina_ngpu2496_ngc25.04_nemo": [...LLAMA_405B, "FP8-DS"],
  "hpg.dgxb200x8.n32": [...LLAMA_405B, "FP8-CS"],
  "hpg.dgxb200x8.n56": [...LLAMA_405B, "FP8-CS"],
  "hsg_ngpu2560_ngc25.09_nemo": [...LLAMA_405B, "NVFP4"],
};
const MLPERF_405B = {
  ...MLPERF,
  "tyche_ngpu512_ngc25.09_nemo": [...LLAMA_405B, "NVFP4"],
  "theia_ngpu512_ngc25.09_nemo": [2, 8, 8, 2, 1, "NVFP4"],
};
const MLPERF_8B = {
  "theia_ngpu8_ngc25.09_nemo": [1, 1, 1, 1, 2, "NVFP4"],
  "theia_ngpu72_ngc25.09_nemo": [1, 1, 1, 2, 1, "FP8-CS"],
  "theia_ngpu512_ngc25.09_nemo": [2, 1, 1, 4, 1, "FP8-CS"],
  "tyche_ngpu72_ngc25.09_nemo": [1, 1, 1, 2, 1, "FP8-CS"],
  "tyche_ngpu512_ngc25.09_nemo": [2, 1, 1, 4, 1, "FP8-CS"],
  "8xBM.GPU.B200.8": [1, 1, 1, 2, 1, "FP8-CS"],
  "b200_8x8_ngc25.09": [1, 1, 1, 2, 1, "FP8-CS"],
  nebius_b200_n1: [1, 1, 1, 1, 2, "NVFP4"],
  nebius_b200_n2: [1, 1, 1, 1, 1, "NVFP4"],
  nebius_b300_n1: [1, 1, 1, 1, 2, "FP8-CS"],
  "hpg.dgxb200x8.n1": [1, 1, 1, 1, 2, "FP8-CS"],
  "hpg.dgxb200x8.n8": [1, 1, 1, 2, 1, "FP8-CS"],
  "gb300_n18_ngc25.04_nemo": [1, 1, 1, 2, 1, "FP8-CS"],
};

/**
 * Whose all-to-alls are hidden behind the next pass, by Megatron-Bridge's recipes at the commit of its tables (perf_recipes, functions
 * NAME_pretrain_*: overlap_moe_expert_parallel_comm or moe_a2a_overlap is True, or one of the functions for whole graphs in MXFP8 is
 * called, which set it). From container 26.06 on only: with it came the graphs, and the same tables jump there (DeepSeek-V3 on GB300
 * by 26 %, GPT-OSS by 60 %).
 */
const OVERLAPPED = [
  "deepseek-v3 GB300 MXFP8",
  "deepseek-v3 GB200 MXFP8",
  "deepseek-v3 B300 MXFP8",
  "gpt-oss-120b GB300 MXFP8",
  "gpt-oss-120b GB200 MXFP8",
  "gpt-oss-120b GB200 BF16",
  "qwen3-235b-a22b GB300 MXFP8",
  "qwen3-235b-a22b GB200 MXFP8",
  "qwen3-235b-a22b B300 MXFP8",
  "qwen3-235b-a22b B200 MXFP8",
  "qwen3-235b-a22b H100 FP8-CS",
  "qwen3-30b-a3b GB200 MXFP8",
  "qwen3-30b-a3b B200 MXFP8",
];

const precisionOf = (format) => (format === "BF16" ? "bf16" : format === "NVFP4" ? "fp4" : "fp8");

/** Returns the lines of a table of comma-separated values as records. */
function records(text) {
  const [heading, ...lines] = text.trimEnd().split(/\r?\n/);
  const names = heading.split(",");
  return lines.map((line) => {
    const cells = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
      ([, quoted, plain]) => quoted ?? plain,
    );
    return Object.fromEntries(names.map((name, i) => [name, cells[i] ?? ""]));
  });
}

const numberIn = (text, pattern, otherwise) => {
  const found = pattern.exec(text)?.[1];
  return found === undefined || found === "n/a" ? otherwise : Number(found);
};

/** Megatron-Bridge's tables of pre-training; tokens a second of one GPU. Distributed optimiser, no recomputation. */
function bridgeRow({ source_url: url, metric, model, system, gpus, tp, pp, batch, seq, precision, value }) {
  if (!url.includes("Megatron-Bridge") || !metric.startsWith("tokens/s/GPU") || !metric.includes("Pre-Training"))
    return null;
  if (MODELS[model] === undefined) return null;
  const format = precision === "FP8" ? "FP8-CS" : precision;
  const fsdp = numberIn(metric, /FSDP (\S+?)[ )]/, 0);
  return {
    group: `Bridge, ${/llama/i.test(model) ? "dense" : "experts"}`,
    source: `container ${/\(([\d.]+)/.exec(metric)?.[1]}`,
    model: MODELS[model],
    system: systemOf(system),
    gpus: Number(gpus),
    tp: Number(tp),
    pp: Number(pp),
    vp: numberIn(metric, /VP (\S+?)[ )]/, 1),
    cp: numberIn(metric, /CP (\d+)/, 1),
    ep: numberIn(metric, /EP (\S+?)[ )]/, 1),
    mbs: numberIn(metric, /MBS (\d+)/, 1),
    gbs: Number(batch),
    seq: Number(seq),
    format,
    zero: fsdp > 1 ? 3 : 1,
    recompute: "none",
    seconds: (Number(batch) * Number(seq)) / (Number(value) * Number(gpus)),
  };
}

/** MLPerf training 5.0 and 5.1, Llama 3.1: the median of the logged steps. */
function mlperfRow({ source_url: url, metric, model, system, gpus, batch, seq, value }) {
  if (!url.includes("mlcommons") || !metric.includes("train_step_time") || MODELS[model] === undefined) return null;
  const submission = /\/results\/([^/]+)\//.exec(url)?.[1] ?? "";
  const known = (model.includes("405B") ? MLPERF_405B : MLPERF_8B)[submission];
  if (known === undefined) return null;
  const [tp, pp, vp, cp, mbs, format] = known;
  return {
    group: "MLPerf",
    source: `${/v5\.\d/.exec(url)?.[0]} ${submission}`,
    model: MODELS[model],
    system: systemOf(system),
    ...{ gpus: Number(gpus), tp, pp, vp, cp, ep: 1, mbs, gbs: Number(batch), seq: Number(seq), format, zero: 1 },
    recompute: "none",
    seconds: Number(value),
  };
}

/** llm-foundry's tables of MPT with FSDP; tokens a second of one GPU. */
function foundryRow({ source_url: url, metric, model, system, gpus, batch, seq, precision, value }) {
  if (!url.includes("llm-foundry") || !metric.startsWith("tokens/s/GPU") || precision.includes("fp8")) return null;
  const recompute = /act\. ckpt True/.test(metric) ? "full" : "none";
  return {
    group: "llm-foundry",
    source: metric,
    model: model.toLowerCase(),
    // the tables of A100 are older than PyTorch 2.0 (the README says so), those of H100 install .[gpu-flash2]
    attention: system.startsWith("h100") ? "flash-2 on h100" : "flash-1 on a100",
    system: system.startsWith("h100") ? "H100" : system.includes("40gb") ? "A100-40" : "A100",
    ...{ gpus: Number(gpus), tp: 1, pp: 1, vp: 1, cp: 1, ep: 1, mbs: numberIn(metric, /MBS (\d+)/, 1) },
    ...{ gbs: Number(batch), seq: Number(seq), format: "BF16", zero: metric.includes("SHARD_GRAD_OP") ? 2 : 3 },
    recompute,
    seconds: (Number(batch) * Number(seq)) / (Number(value) * Number(gpus)),
  };
}

const configurationOf = ({ seconds, source, ...configuration }) => JSON.stringify(configuration);

const middle = (rows) => rows.toSorted((a, b) => a.seconds - b.seconds)[(rows.length - 1) >> 1];

/**
 * Returns the rows of the table whose splitting is known, each distinct configuration once: of Megatron-Bridge what the newest
 * container takes (the tables have it first), of MLPerf the middle one of the newest round; `spread` is the slowest over the fastest.
 */
export function publishedRows(text) {
  const found = new Map();
  for (const record of records(text)) {
    const row = bridgeRow(record) ?? mlperfRow(record) ?? foundryRow(record);
    if (row === null) continue;
    const dp = row.gpus / (row.tp * row.pp * row.cp);
    const whole = {
      ...row,
      dp,
      zero: dp * row.cp === 1 ? 0 : row.zero,
      box: boxOf(row.system, row.gpus),
      precision: precisionOf(row.format),
      isFlash: true,
      isSplit: row.tp > 1,
    };
    const key = configurationOf(whole);
    found.set(key, [...(found.get(key) ?? []), whole]);
  }
  return [...found.values()].map((rows) => {
    const times = rows.map(({ seconds }) => seconds);
    const newest = rows.filter(({ source }) => source.startsWith("v5.1"));
    const row = rows[0].group === "MLPerf" ? middle(newest.length > 0 ? newest : rows) : rows[0];
    const isOverlapped =
      row.source >= "container 26.06" && OVERLAPPED.includes(`${row.model} ${row.system} ${row.format}`);
    return { ...row, isOverlapped, repeats: rows.length, spread: Math.max(...times) / Math.min(...times) };
  });
}
