import {
  type Communication,
  type Computation,
  EARLIER,
  INPUT,
  type LayerRun,
  type LayerWork,
  NOTHING,
  type Part,
  type Pass,
} from "./layer-work.ts";
import { type GroupName, groupSizeOf, type Parallelism } from "./parallelism.ts";

/** What an optimiser keeps for a parameter. */
export const OPTIMIZERS = ["adam", "sgd", "none"] as const;
export type Optimizer = (typeof OPTIMIZERS)[number];

/** Bytes of a parameter. */
export interface ParameterBytes {
  /** As products and gathers take it. */
  readonly weight: number;
  /** Its gradient, as it is kept and sent. */
  readonly gradient: number;
  /** What the optimiser keeps. */
  readonly optimizer: number;
}

/**
 * Returns what an optimiser keeps, bytes a parameter: two moments (Adam) or one (SGD with momentum) of 4 bytes, and a copy of 4
 * bytes of weights that have fewer (Rajbhandari et al. 2020, 3.1: 12 for Adam).
 */
export function optimizerBytes(optimizer: Optimizer, weight: number): number {
  if (optimizer === "none") return 0;
  return (optimizer === "adam" ? 8 : 4) + (weight < 4 ? 4 : 0);
}

/** How copies of a model share their work. */
export interface Sharing {
  readonly parallelism: Parallelism;
  readonly bytes: ParameterBytes;
  /** Gradients are summed when so many bytes of them are there (Li et al. 2020: DDP); Infinity: all at once. */
  readonly bucketBytes: number;
  readonly trains: boolean;
}

/** A layer of one NPU before anything is shared among copies. */
export interface LocalLayer {
  readonly name: string;
  readonly forward: Pass;
  readonly backward: Pass;
  /** Parameters that all copies have, and those of experts. */
  readonly dense: number;
  readonly experts: number;
  /** Bytes kept from the forward to the backward pass of a micro batch, and held while the layer is worked on. */
  readonly activations: number;
  readonly working: number;
}

/** Parameters that the same NPUs have copies of. */
interface Kin {
  readonly group: GroupName;
  readonly what: string;
  readonly countOf: (layer: LocalLayer) => number;
}

const KIN: readonly Kin[] = [
  { group: "copies", what: "", countOf: ({ dense }) => dense },
  { group: "expertCopies", what: " of experts", countOf: ({ experts }) => experts },
];

/** Returns a pass with parts before it, which wait for what the layer before was given; its own first parts wait for them too. */
function fetchedAhead(pass: Pass, fetched: readonly Communication[]): Pass {
  const ahead = fetched.length;
  if (ahead === 0 || pass.parts.length === 0) return pass;
  const numbers = fetched.map((_, i) => i);
  const moved = (at: number): number => (at >= 0 ? at + ahead : at);
  return {
    parts: [
      ...fetched.map((communication): Part => ({ after: [EARLIER], communication })),
      ...pass.parts.map((part) => {
        const after = part.after.map(moved);
        return { ...part, after: part.after.includes(INPUT) ? [...numbers, ...after] : after };
      }),
    ],
    outputs: pass.outputs.map(moved),
  };
}

/** Returns a pass with communications behind all of its outputs; nothing waits for them but the end of the step. */
function followed(pass: Pass, communications: readonly Communication[]): Pass {
  const after = pass.outputs.length > 0 ? pass.outputs : [INPUT];
  return {
    parts: [...pass.parts, ...communications.map((communication) => ({ after, communication }))],
    outputs: pass.outputs,
  };
}

const passOf = (communications: readonly Communication[]): Pass => followed(NOTHING, communications);

/** Sums of gradients by layer, [layers][sums of one kind of parameters]; a layer's turn comes from the last to the first. */
function bucketsOf(layers: readonly LocalLayer[], kin: Kin, { bytes, bucketBytes }: Sharing): number[][] {
  const sums: number[][] = layers.map(() => []);
  let waiting = 0;
  for (let i = layers.length - 1; i >= 0; i--) {
    let fresh = kin.countOf(layers[i]) * bytes.gradient;
    while (waiting + fresh >= bucketBytes) {
      sums[i].push(bucketBytes);
      fresh -= bucketBytes - waiting;
      waiting = 0;
    }
    waiting += fresh;
  }
  if (waiting > 0) sums[0].push(waiting);
  return sums;
}

/**
 * Returns the layers of the parts of a pipeline with what copies of the model do for each other (`zero` of the parallelism,
 * Rajbhandari et al. 2020):
 * 0: gradients are summed in buckets once a step, filled from the last layer on, each when its last layer is done;
 * 1: they are summed to the NPU that updates them, which then sends the new weights;
 * 2: the same, but of every micro batch and layer by layer, for gradients are kept in parts only;
 * 3 (FSDP, Zhao et al. 2023): besides, weights are kept in parts and brought together for every pass, one layer ahead.
 * Parameters of experts are shared among the NPUs that have the same experts. Equal layers in a row are one run. O(layers).
 */
export function sharedLayers(parts: readonly (readonly LocalLayer[])[], sharing: Sharing): LayerRun[][] {
  const { parallelism, bytes, trains } = sharing;
  const { zero } = parallelism;
  const sizes = KIN.map(({ group }) => groupSizeOf(parallelism, group));
  const made = new Map<string, LayerWork>();
  const once = new Map<string, Communication>();
  const keys = new Map<LocalLayer, number>();
  const communication = (
    collective: "allreduce" | "reducescatter" | "allgather",
    { group, what }: Kin,
    size: number,
  ) => {
    const verbs = { allreduce: "sum of gradients", reducescatter: "sum of gradients", allgather: "weights" } as const;
    const key = `${collective} ${group} ${size}`;
    const known = once.get(key) ?? { name: `${verbs[collective]}${what}`, collective, group, bytes: Math.ceil(size) };
    once.set(key, known);
    return known;
  };
  /** Communications over each kind of parameters that a layer has. */
  const ofKin = (layer: LocalLayer, collective: "reducescatter" | "allgather", size: number): Communication[] =>
    KIN.filter((kin, k) => sizes[k] > 1 && kin.countOf(layer) > 0).map((kin) =>
      communication(collective, kin, kin.countOf(layer) * size),
    );

  /** Parameters that are brought together for a pass: weights of this layer and of the next one, and this one's gradients. */
  const gathered = (layer: LocalLayer): number =>
    KIN.reduce((all, { countOf }, k) => all + (sizes[k] > 1 ? countOf(layer) : 0), 0);

  const workOf = (layer: LocalLayer, buckets: readonly (readonly number[])[]): LayerWork => {
    if (!keys.has(layer)) keys.set(layer, keys.size);
    const key = `${keys.get(layer)} ${JSON.stringify(buckets)}`;
    const known = made.get(key);
    if (known !== undefined) return known;
    const fetched = zero === 3 ? ofKin(layer, "allgather", bytes.weight) : [];
    const passedOn = trains && zero >= 2 ? ofKin(layer, "reducescatter", bytes.gradient) : [];
    const collective = zero === 1 ? "reducescatter" : "allreduce";
    const summed = KIN.flatMap((kin, k) =>
      (buckets[k] as number[]).map((size) => communication(collective, kin, size)),
    );
    const part = (from: number): number =>
      KIN.reduce((all, { countOf }, k) => all + countOf(layer) / (zero >= from ? sizes[k] : 1), 0);
    const work: LayerWork = {
      name: layer.name,
      forward: fetchedAhead(layer.forward, fetched),
      backward: trains ? followed(fetchedAhead(layer.backward, fetched), passedOn) : NOTHING,
      gradients: trains && zero < 2 ? passOf(summed) : NOTHING,
      update: trains
        ? updateOf(part(1), bytes, zero === 1 || zero === 2 ? ofKin(layer, "allgather", bytes.weight) : [])
        : NOTHING,
      memory: {
        parameters: Math.ceil(part(3) * bytes.weight),
        gradients: trains ? Math.ceil(part(2) * bytes.gradient) : 0,
        optimizer: trains ? Math.ceil(part(1) * bytes.optimizer) : 0,
        activations: Math.ceil(layer.activations),
        working: Math.ceil(layer.working + (zero === 3 ? gathered(layer) * (2 * bytes.weight + bytes.gradient) : 0)),
      },
    };
    made.set(key, work);
    return work;
  };

  return parts.map((layers) => {
    const buckets = KIN.map((kin, k) =>
      !trains || zero >= 2 || sizes[k] === 1 ? layers.map(() => []) : bucketsOf(layers, kin, sharing),
    );
    const runs: { layer: LayerWork; count: number }[] = [];
    layers.forEach((layer, i) => {
      const work = workOf(
        layer,
        buckets.map((of) => of[i] as number[]),
      );
      const last = runs[runs.length - 1];
      if (last?.layer === work) last.count++;
      else runs.push({ layer: work, count: 1 });
    });
    return runs;
  });
}

/**
 * Returns the update of parameters, a stream through memory: what the optimiser keeps is read and written, weights are written,
 * gradients are read for their norm, scaled by it, read and cleared.
 */
export const updateComputation = (
  parameters: number,
  { weight, gradient, optimizer }: ParameterBytes,
): Computation => ({
  name: "update",
  kind: "memory",
  flops: 0,
  bytes: parameters * (5 * gradient + 2 * optimizer + weight),
});

/** Returns the update of parameters, then new weights sent. */
function updateOf(parameters: number, bytes: ParameterBytes, sent: readonly Communication[]): Pass {
  if (bytes.optimizer === 0 || parameters === 0) return NOTHING;
  const computation = updateComputation(parameters, bytes);
  const parts: Part[] = [{ after: [INPUT], computation }];
  for (const communication of sent) parts.push({ after: [0], communication });
  return { parts, outputs: parts.map((_, i) => i) };
}
