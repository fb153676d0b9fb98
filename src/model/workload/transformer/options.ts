import { InputError, inWords } from "../../../base/errors.ts";
import { listed } from "../../../base/listed.ts";
import { BYTES_OF, type Precision } from "../accelerators.ts";
import { RECOMPUTATIONS, type Recomputation } from "../operations.ts";
import { ALONE, type Parallelism } from "../parallelism.ts";
import { type Optimizer, optimizerBytes, type ParameterBytes } from "../sharing.ts";
import type { PipelineOrder } from "../training-step.ts";
import { layerKinds, type TransformerConfig } from "./config.ts";
import type { AttentionCount } from "./parameters.ts";

/** What is done: a step of training, the tokens of prompts, or one further token of every sequence. */
export const PASS_KINDS = ["train", "prefill", "decode"] as const;
export type PassKind = (typeof PASS_KINDS)[number];

/** How a transformer is trained, or asked. */
export interface TransformerOptions {
  readonly pass: PassKind;
  readonly parallelism: Parallelism;
  /** Sequences of a step, over all copies. */
  readonly batch: number;
  /** Sequences that a copy works on at a time. */
  readonly microBatch: number;
  /** Tokens of a sequence; of decode: those that are there already. */
  readonly sequence: number;
  /** Of the factors of products. */
  readonly precision: Precision;
  readonly optimizer: Optimizer;
  /** Of a gradient: kept, and sent; 4 is Megatron-LM's default, 2 FSDP's and ZeRO's. */
  readonly gradientBytes: number;
  readonly recompute: Recomputation;
  /** One kernel for attention, which keeps no scores (Dao et al. 2022); else products and a softmax through memory. */
  readonly flash: boolean;
  readonly order: PipelineOrder;
  /**
   * Two passes of a stage are under way at a time, each computing while the other waits: a forward pass hides the exchanges of a
   * backward pass and the other way round (DeepSeek-V3, 3.2.1; Megatron-LM: --overlap-moe-expert-parallel-comm).
   */
  readonly overlapped: boolean;
  /** Of sums of gradients. */
  readonly bucketBytes: number;
  /** Tokens that an expert has room for, by those it gets if all get as many. */
  readonly capacityFactor: number;
  /** Products of an NPU's experts are one kernel (Gale et al. 2023: MegaBlocks; Megatron-LM's default); else one after the other. */
  readonly groupedExperts: boolean;
  /** How many layers each part of the pipeline has, in the order of the model; null: as evenly as they go. */
  readonly layersPerPart: readonly number[] | null;
  /** How operations of attention are counted in the model's operations. */
  readonly attentionCount: AttentionCount;
}

/** Returns options of a training step in bf16 on one NPU, one sequence. */
export const defaultOptions = ({ sequence }: TransformerConfig): TransformerOptions => ({
  pass: "train",
  parallelism: ALONE,
  batch: 1,
  microBatch: 1,
  sequence,
  precision: "bf16",
  optimizer: "adam",
  gradientBytes: 2,
  recompute: "none",
  flash: true,
  order: "1f1b",
  overlapped: false,
  // PyTorch's DistributedDataParallel: bucket_cap_mb 25
  bucketBytes: 25 * 2 ** 20,
  capacityFactor: 1,
  groupedExperts: true,
  layersPerPart: null,
  attentionCount: "causal",
});

/** Returns bytes of one number between products: 2 where products have 16 bits or fewer. */
export const activationBytes = (precision: Precision): number => Math.max(2, BYTES_OF[precision]);

/** Returns bytes of a parameter; weights of fewer than 16 bits are kept in 16 and cast, but of inference. */
export function parameterBytes({ precision, optimizer, gradientBytes, pass }: TransformerOptions): ParameterBytes {
  if (pass !== "train") return { weight: BYTES_OF[precision], gradient: 0, optimizer: 0 };
  const weight = activationBytes(precision);
  return { weight, gradient: gradientBytes, optimizer: optimizerBytes(optimizer, weight) };
}

/** Returns micro batches of a step. */
export const microBatchesOf = ({ batch, microBatch, parallelism }: TransformerOptions): number =>
  batch / (microBatch * parallelism.data);

/** Returns the divisors of a number that are at most twice another, which is what one would choose from. */
function divisors(of: number, near: number): string {
  const all = Array.from({ length: Math.min(of, 2 * near) }, (_, i) => i + 1).filter((d) => of % d === 0);
  return listed(all.slice(-6), "or");
}

/**
 * Throws InputError, in one sentence that says what would do, where a transformer cannot be split as asked: heads, widths,
 * experts, layers, sequences or batches that do not divide.
 */
export function checkOptions(config: TransformerConfig, options: TransformerOptions): void {
  const { parallelism, batch, microBatch, sequence, capacityFactor, gradientBytes, recompute } = options;
  const { tensor, context, data, pipeline, interleaved, expert, expertTensor } = parallelism;
  const counts = { batch, "micro batch": microBatch, sequence, tp: tensor, cp: context, dp: data, pp: pipeline };
  for (const [name, value] of Object.entries({ ...counts, vp: interleaved, ep: expert, etp: expertTensor })) {
    if (!Number.isSafeInteger(value) || value < 1) throw new InputError(name, "an integer of 1 or more", value);
  }
  if (!(capacityFactor > 0)) throw new InputError("the capacity factor", "above 0", capacityFactor);
  if (!(gradientBytes > 0)) throw new InputError("the bytes of a gradient", "above 0", gradientBytes);
  if (!RECOMPUTATIONS.includes(recompute))
    throw new InputError("recompute", `one of ${RECOMPUTATIONS.join(", ")}`, recompute);
  checkTensor(config, tensor);
  checkExperts(config, options);
  checkSequence(options);
  if (options.pass === "decode" && (config.encoderLayers > 0 || !config.causal)) {
    throw new InputError("decode", "asked of a decoder alone", inWords(`of ${config.name}`)).as("not-together");
  }
  checkPipeline(config, options);
  // interleaved stages take micro batches in groups (Narayanan et al. 2021, 2.2)
  const each = data * microBatch * (interleaved > 1 ? pipeline : 1);
  if (batch % each !== 0) {
    const factors = `dp ${data} x micro batch ${microBatch}${interleaved > 1 ? ` x pp ${pipeline}, for vp is ${interleaved}` : ""}`;
    throw new InputError("the batch", `a multiple of ${each}, ${factors}, such as ${multiples(batch, each)}`, batch);
  }
}

/** Returns the multiples of a number next to another. */
const multiples = (near: number, of: number): string =>
  listed(
    [Math.floor(near / of), Math.ceil(near / of)].filter((n) => n > 0).map((n) => n * of),
    "or",
  );

function checkTensor(config: TransformerConfig, tensor: number): void {
  const { heads, kvHeads, ffn, latent, name } = config;
  const refuse = (what: string): never => {
    throw new InputError("tp", what, tensor).as("not-together");
  };
  if (heads % tensor !== 0) refuse(`a divisor of the ${heads} heads of ${name}: ${divisors(heads, tensor)}`);
  if (latent === null && kvHeads % tensor !== 0 && tensor % kvHeads !== 0) {
    const fit = Array.from({ length: 2 * tensor }, (_, i) => i + 1).filter(
      (t) => heads % t === 0 && (kvHeads % t === 0 || t % kvHeads === 0),
    );
    refuse(`a divisor or a multiple of the ${kvHeads} heads of keys and values of ${name}: ${listed(fit, "or")}`);
  }
  const isDense = layerKinds(config).some(({ hasExperts }) => !hasExperts);
  if (isDense && ffn % tensor !== 0)
    refuse(`a divisor of the width ${ffn} of feed-forward blocks of ${name}: ${divisors(ffn, tensor)}`);
}

function checkExperts({ experts, name }: TransformerConfig, { parallelism }: TransformerOptions): void {
  const { tensor, expert, expertTensor, sequence } = parallelism;
  const refuse = (place: string, what: string, value: unknown): never => {
    throw new InputError(place, what, value).as("not-together");
  };
  if (experts === null) {
    if (expert > 1) refuse("ep", `1, for ${name} has no experts`, expert);
    if (expertTensor > 1 && expertTensor !== tensor) refuse("etp", `1, for ${name} has no experts`, expertTensor);
    return;
  }
  const { count, ffn, sharedFfn } = experts;
  if (count % expert !== 0)
    refuse("ep", `a divisor of the ${count} experts of ${name}: ${divisors(count, expert)}`, expert);
  if (expertTensor !== 1 && expertTensor !== tensor)
    refuse("etp", tensor === 1 ? "1, for tp is 1" : `1 or ${tensor}, as tp`, expertTensor);
  if (ffn % expertTensor !== 0) {
    refuse(
      "etp",
      `a divisor of the width ${ffn} of an expert of ${name}: ${divisors(ffn, expertTensor)}`,
      expertTensor,
    );
  }
  if (sharedFfn % tensor !== 0) {
    refuse(
      "tp",
      `a divisor of the width ${sharedFfn} of the shared expert of ${name}: ${divisors(sharedFfn, tensor)}`,
      tensor,
    );
  }
  if (tensor > 1 && expertTensor === 1 && !sequence) {
    refuse(
      "tp",
      `1, or with sequence parallelism, or with etp ${tensor}, for else every expert gets each token ${tensor} times`,
      tensor,
    );
  }
}

function checkSequence({ parallelism, sequence, pass }: TransformerOptions): void {
  const { tensor, context } = parallelism;
  if (pass === "decode") {
    if (context > 1) throw new InputError("cp", "1, for one token is no sequence to split", context).as("not-together");
    return;
  }
  const parts = context * (parallelism.sequence ? tensor : 1);
  if (sequence % parts !== 0) {
    const near = multiples(sequence, parts);
    throw new InputError("the sequence", `a multiple of ${parts}, among which it is split, such as ${near}`, sequence);
  }
}

function checkPipeline({ layers, encoderLayers, name }: TransformerConfig, options: TransformerOptions): void {
  const { pipeline, interleaved } = options.parallelism;
  const places = pipeline * interleaved;
  if (interleaved > 1 && pipeline === 1) {
    throw new InputError("vp", "1, for there is one stage: interleaving takes pp 2 or more", interleaved).as(
      "not-together",
    );
  }
  if (encoderLayers > 0 && pipeline > 1) {
    throw new InputError("pp", `1, for decoder layers of ${name} attend to its encoder`, pipeline).as("not-together");
  }
  // the first part may have the embedding only, and the last the head
  const most = Math.floor((layers + encoderLayers + 2) / interleaved);
  if (pipeline > Math.max(1, most)) {
    const parts = interleaved === 1 ? "" : ` in ${interleaved} parts of each stage`;
    const expected = `at most ${most}, for ${name} has ${layers} layers between embedding and head${parts}`;
    throw new InputError("pp", expected, pipeline);
  }
  const asked = options.layersPerPart;
  if (asked === null) return;
  const all = asked.reduce((sum, count) => sum + count, 0);
  if (asked.length !== places || all !== layers + encoderLayers) {
    const expected = `${places} numbers of sum ${layers + encoderLayers}`;
    const said = `${asked.length} ${asked.length === 1 ? "number" : "numbers"} of sum ${all}`;
    throw new InputError("the layers of each part", expected, inWords(said)).saying(
      `the layers of each part are ${said}; they must be ${expected}, for ${name} has so many layers in ${places} parts`,
    );
  }
}

/**
 * Returns how many layers each part of the pipeline has. Parts in the middle have one more where they do not go evenly, for the
 * first has the embedding besides and the last the head (126 layers in 64 parts: 1, 2 ... 2, 1, as Llama 3.1 405B is trained).
 */
export function dealtLayers(layers: number, places: number): number[] {
  const each = Math.floor(layers / places);
  const more = layers % places;
  const first = more <= places - 2 ? 1 : 0;
  return Array.from({ length: places }, (_, i) => each + (i >= first && i < first + more ? 1 : 0));
}
