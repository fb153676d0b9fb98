import type { Place } from "../base/option-names.ts";
import { parseSize } from "../model/numbers/units.ts";
import type { OptionRow } from "./option-row.ts";
import { listOf, oneOf, wholeNumber } from "./values.ts";

const whole = (text: string, place: Place): number => wholeNumber(text, place, 1);
const among = <Word extends string>(...words: readonly Word[]) =>
  Object.assign((text: string, place: Place): Word => oneOf(text, words, place), { words });

/** Options of training steps and of inference. */
export const TRAINING_ROWS = {
  parallel: {
    part: "training",
    short: "p",
    value: "<ways>",
    help: "how NPUs split the step: dp, tp, pp, cp (product: the NPUs), ep, etp, vp, zero, sp, order; or auto",
    parse: (text: string, place: Place): string[] => listOf(text, place, "ways such as tp=8"),
  },
  batch: { part: "training", value: "<n>", help: "samples of a step, over all copies", parse: whole },
  microBatch: {
    part: "training",
    value: "<n>",
    help: "samples that one copy takes at a time; default 1",
    parse: whole,
  },
  seq: { part: "training", value: "<n>", help: "tokens of a sample; default: the model's own", parse: whole },
  precision: {
    part: "training",
    value: "<name>",
    help: "of products of matrices: bf16 (default), fp16, tf32, fp32, fp8, fp4",
    parse: among("bf16", "fp16", "tf32", "fp32", "fp8", "fp4"),
  },
  recompute: {
    part: "training",
    value: "<how>",
    help: "activations computed again: none (default), selective (attention), full",
    parse: among("none", "selective", "full"),
  },
  optimizer: {
    part: "training",
    value: "<name>",
    help: "adam (default), sgd, none",
    parse: among("adam", "sgd", "none"),
  },
  bucket: {
    part: "training",
    value: "<size>",
    help: "gradients that are summed at once, at least; default 25MB",
    parse: (text: string, place: Place): number => parseSize(text, place),
  },
  accelerator: {
    part: "training",
    value: "<name>",
    help: "NPUs: a100, h100, b200, ..., with figures of one's own (h100,memory=94GB); default: the network's GPUs",
  },
  priority: {
    part: "training",
    value: "<who>",
    help: "who gets shared links first: nobody (default), or blocking: what computations wait for, before gradients",
    parse: among("nobody", "blocking"),
  },
  chakra: {
    part: "training",
    value: "<folder>",
    help: "write the step as Chakra traces, one file an NPU and their groups, as ASTRA-sim reads them",
  },
  pass: {
    part: "training",
    value: "<name>",
    help: "train (default), or of inference prefill or decode",
    parse: among("train", "prefill", "decode"),
  },
} as const satisfies Readonly<Record<string, OptionRow>>;
