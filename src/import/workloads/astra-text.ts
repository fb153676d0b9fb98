import { InputError, inWords, shown } from "../../base/errors.ts";
import type { NamedCollective } from "../../model/collective/collective.ts";
import { PS_PER_NS, PS_PER_US } from "../../model/numbers/units.ts";
import {
  type Communication,
  type Computation,
  INPUT,
  type LayerWork,
  NOTHING,
  type Part,
  type Pass,
} from "../../model/workload/layer-work.ts";
import { ALONE, type GroupName, groupSizeOf, type Parallelism } from "../../model/workload/parallelism.ts";
import type { TrainingStep } from "../../model/workload/training-step.ts";

export interface AstraTextOptions {
  /** NPUs of the network. */
  readonly npus: number;
  /**
   * NPUs of a group that shares a layer, where the text has both kinds of groups and does not say it: for HYBRID_DATA_MODEL those of
   * the network's first dimension, for HYBRID_MODEL_DATA those of all the others, for HYBRID_CUSTOMIZED those of the first.
   */
  readonly modelNpus?: number | null;
  /** Of the times in the text: "ns" as ASTRA-sim 1.0 reads them, "us" as Chakra's converter does. "ns" where it is not given. */
  readonly unit?: "ns" | "us";
}

/** Which groups communicate; null where ASTRA-sim drops the communications. */
interface Groups {
  /** Of activations and of their gradients. */
  readonly activations: GroupName | null;
  /** Of gradients of weights. */
  readonly weights: GroupName | null;
}

/** Parallelisms and their groups on a mesh of `tensor` (who share a layer) and `data` (who have copies of it). */
const GROUPS: ReadonlyMap<string, Groups> = new Map([
  ["DATA", { activations: null, weights: "all" }],
  ["MODEL", { activations: "all", weights: null }],
  ["DISTRIBUTED_INFERENCE", { activations: "all", weights: null }],
  ["MICRO", { activations: null, weights: "all" }],
  ["HYBRID_DATA_MODEL", { activations: "tensor", weights: "data" }],
  ["HYBRID_MODEL_DATA", { activations: "tensor", weights: "data" }],
  ["HYBRID_TRANSFORMER", { activations: "tensor", weights: "data" }],
  ["HYBRID_TRANSFORMER_FWD_IN_BCKWD", { activations: "tensor", weights: "data" }],
  ["HYBRID_DLRM", { activations: "all", weights: "all" }],
  ["HYBRID_DLRM_ENHANCED", { activations: "all", weights: "all" }],
  ["HYBRID_CUSTOMIZED", { activations: "tensor", weights: "data" }],
]);

/** What a layer of HYBRID_CUSTOMIZED may be; `tensor` is the first dimension of the network there. */
const LAYER_GROUPS: ReadonlyMap<string, Groups> = new Map([
  ["DATA", { activations: null, weights: "all" }],
  ["MODEL", { activations: "all", weights: null }],
  ["HYBRID_DATA_MODEL", { activations: "tensor", weights: "data" }],
  ["HYBRID_MODEL_DATA", { activations: "data", weights: "tensor" }],
]);

const COLLECTIVES: ReadonlyMap<string, NamedCollective | null> = new Map([
  ["NONE", null],
  ["ALLREDUCE", "allreduce"],
  ["ALLTOALL", "alltoall"],
  ["ALLGATHER", "allgather"],
  ["REDUCESCATTER", "reducescatter"],
]);

/** One of the three things that are done for a layer. */
interface Direction {
  readonly ps: number;
  /** What is communicated behind it. */
  readonly collective: NamedCollective | null;
  readonly bytes: number;
}

interface Row {
  readonly name: string;
  readonly forward: Direction;
  /** Gradients of the layer's input. */
  readonly input: Direction;
  readonly weights: Direction;
  /** Behind each communication, before what waits for it. */
  readonly updatePs: number;
  readonly groups: Groups;
}

/** The first line. */
interface Header {
  readonly policy: string;
  /** The last of the layers in whose place the exchange of embeddings runs, of HYBRID_DLRM. */
  readonly lastBottom: number;
  /** NPUs that share a layer, of HYBRID_TRANSFORMER; null of others. */
  readonly modelNpus: number | null;
  /** Layers at which what is computed again begins, and those before whose backward pass it is. */
  readonly checkpoints: ReadonlySet<number>;
  readonly initiates: ReadonlySet<number>;
}

/** Layers; a text of a few kilobytes could ask for any number. */
const MOST_COMPUTED_AGAIN = 1_000_000;

/**
 * Returns the step of an ASTRA-sim 1.0 workload text, one pass of it: `POLICY`, the number of layers, and a line for each with time,
 * collective and bytes of the forward pass, of the gradients of its input and of its weights, and the delay behind each
 * collective. It runs as ASTRA-sim runs it: communications of the forward pass hold up what follows, those of input gradients the
 * layer before, those of weight gradients nothing; in DLRM the exchange of embeddings runs beside the layers up to the last bottom
 * one. Sizes of all-gathers are those of one part there. Throws InputError with the line. O(text + what is computed again).
 */
export function readAstraText(text: string, fileName: string, options: AstraTextOptions): TrainingStep {
  const lines = text
    .split(/\r?\n/)
    .map((line, i) => ({ place: `${fileName} line ${i + 1}`, words: line.trim().split(/\s+/) }))
    .filter(({ words }) => words[0] !== "");
  const [first, second, ...rest] = lines;
  if (first === undefined) throw new InputError(fileName, "a workload of ASTRA-sim", inWords("empty"));
  const header = headerOf(first);
  if (second === undefined) throw new InputError(`${fileName}: the number of layers`, "in the second line");
  const count = wholeNumber(second.words[0], `${second.place}: the number of layers`);
  if (count !== rest.length || count === 0 || second.words.length > 1) {
    throw new InputError(
      second.place,
      `the number of layers, one a line behind it, ${rest.length} here`,
      second.words.join(" "),
    ).saying(`${second.place} says ${shown(second.words.join(" "))} layers, and behind it are ${rest.length} lines`);
  }
  const unit = options.unit === "us" ? PS_PER_US : PS_PER_NS;
  const parallelism = parallelismOf(header, options, first.place);
  const rows = rest.map((line) => rowOf(line, header, unit));
  for (const index of [header.lastBottom, ...header.checkpoints, ...header.initiates]) {
    if (index < count) continue;
    throw new InputError(first.place, `layers below ${count}`, index).saying(
      `${first.place} names layer ${index}, and the layers are 0 to ${count - 1}`,
    );
  }
  const again = computedAgainFrom(header, first.place);
  const maker: Maker = { header, rows, parallelism, place: first.place, again };
  const isDlrm = header.policy.startsWith("HYBRID_DLRM");
  const layers = isDlrm ? dlrmLayers(maker) : rows.map((_, i) => layerOf(maker, i));
  return {
    name: fileName.replace(/^.*[/\\]/, "").replace(/\.txt$/, ""),
    parallelism,
    microBatches: 1,
    order: "1f1b",
    overlapped: false,
    trains: header.policy !== "DISTRIBUTED_INFERENCE",
    stages: [(header.policy === "MICRO" ? layers.slice(0, 1) : layers).map((layer) => ({ layer, count: 1 }))],
    boundaryBytes: 0,
    samples: 0,
    tokens: 0,
    modelFlops: 0,
  };
}

interface Line {
  readonly place: string;
  readonly words: readonly string[];
}

/** Returns a whole number of 0 or more. Throws InputError. */
function wholeNumber(word: string | undefined, place: string): number {
  const value = /^\d{1,16}$/.test(word ?? "") ? Number(word) : Number.NaN;
  if (word === undefined) throw new InputError(place, "a whole number of 0 or more");
  if (!Number.isSafeInteger(value)) throw new InputError(place, "a whole number of 0 or more", word);
  return value;
}

function headerOf({ place, words }: Line): Header {
  const [policy, ...rest] = words;
  if (!GROUPS.has(policy)) {
    throw new InputError(place, `one of ${[...GROUPS.keys()].join(", ")}`, policy).as("unknown-name");
  }
  let at = 0;
  const next = (what: string): number => wholeNumber(rest[at++], `${place}: ${what}`);
  const labelled = (label: string): void => {
    if (rest[at] !== label) {
      const before = words.slice(0, at + 1).join(" ");
      throw new InputError(place, `${label} behind ${before}`, rest[at] ?? inWords("nothing")).saying(
        `${place} has ${rest[at] === undefined ? "nothing" : shown(rest[at])} behind ${before}, where ${label} must be`,
      );
    }
    at++;
  };
  const layers = (label: string): Set<number> => {
    labelled(label);
    const count = next(`the number of ${label.slice(0, -1)}`);
    if (count > rest.length - at)
      throw new InputError(`${place}: ${label.slice(0, -1)}`, `${count} layers`, inWords(`${rest.length - at} words`));
    return new Set(Array.from({ length: count }, () => next(label.slice(0, -1))));
  };
  const lastBottom = policy.startsWith("HYBRID_DLRM") ? next("the last bottom layer") : 0;
  let modelNpus: number | null = null;
  if (policy.startsWith("HYBRID_TRANSFORMER")) {
    labelled("model_parallel_NPU_group:");
    modelNpus = next("NPUs of a group that shares layers");
  }
  const again = policy === "HYBRID_TRANSFORMER_FWD_IN_BCKWD";
  const checkpoints = again ? layers("checkpoints:") : new Set<number>();
  const initiates = again ? layers("checkpoint_initiates:") : new Set<number>();
  if (at < rest.length) throw new InputError(place, `nothing behind ${words.slice(0, at + 1).join(" ")}`, rest[at]);
  return { policy, lastBottom, modelNpus, checkpoints, initiates };
}

/** Returns the mesh of a text: who share a layer are neighbours, but in HYBRID_MODEL_DATA. */
function parallelismOf({ policy, modelNpus: told }: Header, options: AstraTextOptions, place: string): Parallelism {
  const { npus } = options;
  const wanted = options.modelNpus ?? null;
  if (!Number.isSafeInteger(npus) || npus < 1)
    throw new InputError(`${place}: NPUs`, "a whole number of 1 or more", npus);
  const { activations, weights } = GROUPS.get(policy) as Groups;
  if (activations !== "tensor") {
    // all of them share a layer, or all have a copy of it
    return weights === null ? { ...ALONE, tensor: npus } : { ...ALONE, data: npus };
  }
  if (told !== null && wanted !== null && told !== wanted) {
    throw new InputError(place, `groups of ${wanted}`, told)
      .as("not-together")
      .saying(`${place} has groups of ${told} NPUs that share layers, and groups of ${wanted} were asked for`);
  }
  const tensor = told ?? wanted;
  if (tensor === null) throw new InputError(`${place}: ${policy}`, "the number of NPUs that share a layer beside it");
  if (!Number.isSafeInteger(tensor) || tensor < 1 || npus % tensor !== 0) {
    throw new InputError(
      `${place}: groups that share a layer`,
      `of a number of NPUs that divides ${npus}`,
      tensor,
    ).saying(`${place}: ${npus} NPUs make no groups of ${tensor} that share layers`);
  }
  const mesh = { ...ALONE, tensor, data: npus / tensor };
  return policy === "HYBRID_MODEL_DATA" ? { ...mesh, order: ["data", "tensor", "context", "pipeline"] } : mesh;
}

const COLUMNS = 12;

function rowOf({ place, words }: Line, { policy }: Header, unit: number): Row {
  if (words.length !== COLUMNS && words.length !== COLUMNS + 1) {
    throw new InputError(
      place,
      `a layer of ${COLUMNS} words, or ${COLUMNS + 1} with its parallelism`,
      inWords(`${words.length} words`),
    ).saying(
      `${place} is no layer: a layer has ${COLUMNS} words, or ${COLUMNS + 1} with its parallelism, and here is ${words.length === 1 ? "one" : words.length}`,
    );
  }
  const time = (word: string, what: string): number => {
    const ps = wholeNumber(word, `${place}: ${what}`) * unit;
    if (!Number.isSafeInteger(ps))
      throw new InputError(`${place}: ${what}`, "less than 2^53 ps (2.5 hours)", word).as("too-long");
    return ps;
  };
  const direction = (at: number, what: string): Direction => {
    const name = words[at + 1];
    const collective = COLLECTIVES.get(name);
    if (collective === undefined) {
      throw new InputError(`${place}: collective of ${what}`, `one of ${[...COLLECTIVES.keys()].join(", ")}`, name).as(
        "unknown-name",
      );
    }
    return {
      ps: time(words[at], `time of ${what}`),
      collective,
      bytes: wholeNumber(words[at + 2], `${place}: bytes of ${what}`),
    };
  };
  const own = policy === "HYBRID_CUSTOMIZED" ? words[COLUMNS] : undefined;
  if (policy === "HYBRID_CUSTOMIZED" && own === undefined) {
    throw new InputError(
      `${place}: parallelism`,
      `one of ${[...LAYER_GROUPS.keys()].join(", ")} at the end of the line`,
    );
  }
  const groups = own === undefined ? GROUPS.get(policy) : LAYER_GROUPS.get(own);
  if (groups === undefined) {
    throw new InputError(`${place}: parallelism`, `one of ${[...LAYER_GROUPS.keys()].join(", ")}`, own).as(
      "unknown-name",
    );
  }
  return {
    name: words[0],
    forward: direction(2, "the forward pass"),
    input: direction(5, "input gradients"),
    weights: direction(8, "weight gradients"),
    updatePs: time(words[11], "update"),
    groups,
  };
}

interface Maker {
  readonly header: Header;
  readonly rows: readonly Row[];
  readonly parallelism: Parallelism;
  readonly place: string;
  /** At which layer what a layer computes again begins. */
  readonly again: ReadonlyMap<number, number>;
}

/** Parts of a pass while they are added one by one. */
class PassMaker {
  readonly parts: Part[] = [];
  readonly #maker: Maker;

  constructor(maker: Maker) {
    this.#maker = maker;
  }

  /** Adds a computation and returns its number. */
  compute(name: string, givenPs: number, after: number, aside = false): number {
    const computation: Computation = { name, kind: "matmul", flops: 0, bytes: 0, givenPs, ...(aside ? { aside } : {}) };
    return this.parts.push({ after: [after], computation }) - 1;
  }

  /** Adds what is communicated behind `after` and the delay behind it; returns what waits for it waits for, `after` without one. */
  communicate(
    { name, updatePs }: Row,
    { collective, bytes }: Direction,
    group: GroupName | null,
    what: string,
    after: number,
  ): number {
    const { parallelism, place } = this.#maker;
    const size = group === null ? 1 : groupSizeOf(parallelism, group);
    if (collective === null || group === null || size === 1 || bytes === 0) return after;
    const all = collective === "allgather" ? bytes * size : bytes;
    if (!Number.isSafeInteger(all))
      throw new InputError(`${place}: bytes of ${name}`, "less than 2^53 over all members", bytes);
    const communication: Communication = { name: `${what} of ${name}`, collective, group, bytes: all };
    const part = this.parts.push({ after: [after], communication }) - 1;
    return updatePs === 0 ? part : this.compute(`update behind ${communication.name}`, updatePs, part, true);
  }

  /** Returns the pass; what follows waits for these and for the last part. */
  ending(outputs: readonly number[]): Pass {
    return { parts: this.parts, outputs: [...new Set(outputs.filter((at) => at >= 0))] };
  }
}

const layer = (name: string, forward: Pass, backward: Pass): LayerWork => ({
  name,
  forward,
  backward,
  gradients: NOTHING,
  update: NOTHING,
  memory: { parameters: 0, gradients: 0, optimizer: 0, activations: 0, working: 0 },
});

/** Returns what is done for a layer, in all policies but DLRM. */
function layerOf(maker: Maker, i: number): LayerWork {
  const { policy } = maker.header;
  const row = maker.rows[i];
  const { activations, weights } = row.groups;
  if (policy === "MICRO") {
    const pass = new PassMaker(maker);
    pass.communicate(row, row.weights, weights, "weight gradients", INPUT);
    return layer(row.name, NOTHING, pass.ending([]));
  }
  const forward = new PassMaker(maker);
  const done = forwardOf(forward, row, INPUT);
  const backward = new PassMaker(maker);
  if (policy === "DATA") {
    const own = backward.compute(`weight gradients of ${row.name}`, row.weights.ps, INPUT);
    backward.communicate(row, row.weights, weights, "weight gradients", own);
    const input = i > 0 ? backward.compute(`input gradients of ${row.name}`, row.input.ps, own) : own;
    return layer(row.name, forward.ending([done]), backward.ending([input]));
  }
  const again = computedAgain(maker, backward, i);
  const input = backward.compute(`input gradients of ${row.name}`, row.input.ps, again);
  // the first layer has nobody to hand them to; transformers sum them nonetheless
  const isSummed = i > 0 || policy.startsWith("HYBRID_TRANSFORMER");
  const sent = backward.communicate(row, row.input, isSummed ? activations : null, "input gradients", input);
  const own = backward.compute(`weight gradients of ${row.name}`, row.weights.ps, input);
  backward.communicate(row, row.weights, weights, "weight gradients", own);
  return layer(row.name, forward.ending([done]), backward.ending([own, sent]));
}

/** Adds the forward pass of a layer, whose communication holds up what follows. */
function forwardOf(pass: PassMaker, row: Row, after: number): number {
  const computed = pass.compute(`forward of ${row.name}`, row.forward.ps, after);
  return pass.communicate(row, row.forward, row.groups.activations, "activations", computed);
}

/** Returns the checkpoint from which each layer that begins with it computes the layers before it again. */
function computedAgainFrom({ checkpoints, initiates }: Header, place: string): Map<number, number> {
  const from = new Map<number, number>();
  const sorted = [...checkpoints].sort((a, b) => b - a);
  let count = 0;
  for (const i of initiates) {
    const checkpoint = sorted.find((at) => at <= i);
    if (checkpoint === undefined) {
      throw new InputError(`${place}: checkpoints`, `one at or before layer ${i}, which computes again from it`, [
        ...checkpoints,
      ]);
    }
    from.set(i, checkpoint);
    count += i - checkpoint;
  }
  if (count > MOST_COMPUTED_AGAIN) {
    throw new InputError(`${place}: layers that are computed again`, `at most ${MOST_COMPUTED_AGAIN}`, count).as(
      "out-of-range",
    );
  }
  return from;
}

/** Adds the forward passes from the checkpoint before a layer up to it, where it begins with them. */
function computedAgain({ again, rows }: Maker, pass: PassMaker, i: number): number {
  let last: number = INPUT;
  for (let k = again.get(i) ?? i; k < i; k++) last = forwardOf(pass, rows[k], last);
  return last;
}

/**
 * Returns the layers of a DLRM: those up to the last bottom one are one layer, for the exchange of embeddings begins in the first and is
 * waited for behind the last of them; on the way back it begins when the layer above them is done.
 */
function dlrmLayers(maker: Maker): LayerWork[] {
  const { rows, header } = maker;
  const { lastBottom, policy } = header;
  const [embedding] = rows;
  const bottom = rows.slice(0, lastBottom + 1);
  const forward = new PassMaker(maker);
  const isExchanged = embedding.forward.collective === "alltoall";
  let exchanged = -1;
  let last: number = INPUT;
  for (const [i, row] of bottom.entries()) {
    last = forward.compute(`forward of ${row.name}`, row.forward.ps, last);
    if (i === 0 && isExchanged) exchanged = forward.communicate(row, row.forward, "all", "embeddings", last);
  }
  // alone below the top layers, the exchange is waited for by none
  const waits = lastBottom > 0 ? [exchanged, last] : [last];

  const backward = new PassMaker(maker);
  const isSentBack = rows.length > lastBottom + 1;
  const sentBack = isSentBack
    ? backward.communicate(embedding, embedding.input, "all", "gradients of embeddings", INPUT)
    : INPUT;
  let done: number = INPUT;
  for (let i = lastBottom; i >= 0; i--) done = dlrmBackward(backward, bottom[i], i, done);
  const ends = policy === "HYBRID_DLRM" ? [sentBack, done] : [done];
  const name = bottom.length === 1 ? embedding.name : `${embedding.name} to ${bottom[lastBottom].name}`;
  const top = rows.slice(lastBottom + 1).map((row) => {
    const [there, back] = [new PassMaker(maker), new PassMaker(maker)];
    const computed = there.compute(`forward of ${row.name}`, row.forward.ps, INPUT);
    return layer(row.name, there.ending([computed]), back.ending([dlrmBackward(back, row, 1, INPUT)]));
  });
  return [layer(name, forward.ending(waits), backward.ending(ends)), ...top];
}

/** Adds the backward pass of a layer of a DLRM; the first has no input gradients. */
function dlrmBackward(pass: PassMaker, row: Row, i: number, after: number): number {
  const own = pass.compute(`weight gradients of ${row.name}`, row.weights.ps, after);
  pass.communicate(row, row.weights, "all", "weight gradients", own);
  return i > 0 ? pass.compute(`input gradients of ${row.name}`, row.input.ps, own) : own;
}
