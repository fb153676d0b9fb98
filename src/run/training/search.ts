import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { refuseStopped, turn } from "../../base/stopping.ts";
import type { Computation, Pass } from "../../model/workload/layer-work.ts";
import { RECOMPUTATIONS, type Recomputation } from "../../model/workload/operations.ts";
import { ALONE, type Parallelism } from "../../model/workload/parallelism.ts";
import type { TrainingStep } from "../../model/workload/training-step.ts";

/** A way to train that can be tried. */
export interface Way {
  readonly parallelism: Parallelism;
  readonly microBatch: number;
  readonly recompute: Recomputation;
}

/** A way that fits, with its step. */
export interface Fitting {
  readonly way: Way;
  readonly step: TrainingStep;
  /** Below this no collectives bring it: computations, and the filling and draining of the pipeline. Picoseconds. */
  readonly boundPs: number;
}

/** What was found. */
export interface Found<Result> {
  /** The fastest, first the best. */
  readonly best: readonly { readonly fitting: Fitting; readonly ps: number; readonly result: Result }[];
  readonly tried: number;
  /** Simulated, too large for the memory, and slower than the best by their bounds alone. */
  readonly simulated: number;
  readonly tooLarge: number;
  readonly pruned: number;
}

const divisors = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1).filter((d) => n % d === 0);
const powers = (most: number): number[] => [1, 2, 4, 8, 16, 32, 64].filter((p) => p <= most);

/** What bounds the ways that are worth trying. */
export interface SearchSpace {
  readonly npus: number;
  /** NPUs of a box: products are split within one. */
  readonly box: number;
  readonly layers: number;
  /** Experts of a layer; 0 without any. */
  readonly experts: number;
  /** Samples of a step. */
  readonly batch: number;
  /** Ways of the caller's own that all share: "tp=8". */
  readonly fixed: Partial<Parallelism>;
}

/** Yields meshes of the NPUs with what else may be chosen. */
export function* waysOf({ npus, box, layers, experts, batch, fixed }: SearchSpace): Generator<Way> {
  const allowed = (key: keyof Parallelism, value: unknown): boolean => fixed[key] === undefined || fixed[key] === value;
  for (const tensor of divisors(npus).filter((d) => box % d === 0 && allowed("tensor", d))) {
    for (const pipeline of divisors(npus / tensor).filter((d) => d <= layers && allowed("pipeline", d))) {
      for (const context of powers(8).filter((d) => (npus / tensor / pipeline) % d === 0 && allowed("context", d))) {
        const data = npus / tensor / pipeline / context;
        if (batch % data !== 0 || !allowed("data", data)) continue;
        const copies = divisors(data * context).filter((d) => experts > 0 && experts % d === 0);
        for (const expert of (experts > 0 ? copies : [1]).filter((d) => allowed("expert", d))) {
          for (const interleaved of pipeline > 1 ? powers(8).filter((v) => v * pipeline <= layers) : [1]) {
            if (!allowed("interleaved", interleaved)) continue;
            for (const zero of fixed.zero !== undefined
              ? [fixed.zero]
              : ((data * context > 1 ? [1, 3] : [0]) as (0 | 1 | 3)[])) {
              if (zero === 3 && pipeline > 1) continue;
              for (const microBatch of powers(8).filter((b) => (batch / data) % b === 0)) {
                if (interleaved > 1 && (batch / data / microBatch) % pipeline !== 0) continue;
                for (const recompute of RECOMPUTATIONS) {
                  const sequence = fixed.sequence ?? tensor > 1;
                  const rest = { expertTensor: experts > 0 ? 1 : tensor, interleaved, sequence, zero };
                  const parallelism = { ...ALONE, tensor, pipeline, context, data, expert, ...rest, ...fixed };
                  yield { parallelism, microBatch, recompute };
                }
              }
            }
          }
        }
      }
    }
  }
}

/**
 * Returns a time that a step does not undercut, whatever communicates: a stage that computes all its micro batches, behind one
 * forward pass through the first parts of the stages before it and before one backward pass through them. O(layers).
 */
export function computeBoundPs(step: TrainingStep, computationPs: (computation: Computation) => number): number {
  const { pipeline, interleaved } = step.parallelism;
  const known = new Map<Pass, number>();
  const timeOf = (pass: Pass): number => {
    let ps = known.get(pass);
    if (ps === undefined) {
      ps = pass.parts.reduce((sum, part) => sum + ("computation" in part ? computationPs(part.computation) : 0), 0);
      known.set(pass, ps);
    }
    return ps;
  };
  const partPs = step.stages.map((runs) =>
    runs.reduce((sum, { layer, count }) => sum + count * (timeOf(layer.forward) + timeOf(layer.backward)), 0),
  );
  const updatePs = step.stages.map((runs) =>
    runs.reduce((sum, { layer, count }) => sum + count * timeOf(layer.update), 0),
  );
  let most = 0;
  let before = 0;
  for (let stage = 0; stage < pipeline; stage++) {
    let own = 0;
    for (let v = 0; v < interleaved; v++) {
      const at = stage * interleaved + v;
      own += step.microBatches * partPs[at] + (step.trains ? updatePs[at] : 0);
    }
    most = Math.max(most, before + own);
    before += partPs[stage * interleaved];
  }
  return most;
}

/**
 * Returns the fastest ways to train, `keep` of them: all meshes of the NPUs; of each and each micro batch the one that fits the
 * memory with least computed again; in the order of their bounds, until the bound is above the time of the last that is kept.
 * `make` returns the step of a way or null where it does not divide; `fits` whether it has room; `simulate` its time. Throws
 * InputError where nothing fits, CancelledError.
 */
export async function fastestWays<Result>(
  space: SearchSpace,
  {
    make,
    fits,
    computationPs,
    simulate,
  }: {
    readonly make: (way: Way) => TrainingStep | null;
    readonly fits: (step: TrainingStep) => boolean;
    readonly computationPs: (computation: Computation) => number;
    readonly simulate: (fitting: Fitting) => Promise<{ readonly ps: number; readonly result: Result }>;
  },
  {
    keep = 5,
    signal,
    onProgress,
  }: {
    readonly keep?: number;
    readonly signal?: AbortSignal;
    readonly onProgress?: (done: number, total: number) => void;
  } = {},
): Promise<Found<Result>> {
  let tried = 0;
  let tooLarge = 0;
  const fitting: Fitting[] = [];
  let fitted = "";
  for (const way of waysOf(space)) {
    const { parallelism, microBatch, recompute } = way;
    const key = JSON.stringify([parallelism, microBatch]);
    // what fits with less computed again is not slower
    if (key === fitted && recompute !== "none") continue;
    const step = make(way);
    if (step === null) continue;
    tried++;
    if (!fits(step)) {
      tooLarge++;
      continue;
    }
    fitted = key;
    fitting.push({ way, step, boundPs: computeBoundPs(step, computationPs) });
  }
  if (fitting.length === 0) {
    throw new InputError(
      optionName("parallel"),
      "more NPUs, or NPUs with more memory",
      inWords(`auto, and none of ${tried} ways fits`),
    );
  }
  fitting.sort((a, b) => a.boundPs - b.boundPs);
  const best: { fitting: Fitting; ps: number; result: Result }[] = [];
  let simulated = 0;
  for (const one of fitting) {
    if (best.length === keep && one.boundPs >= (best[keep - 1]?.ps ?? 0)) break;
    await turn(signal);
    refuseStopped(signal);
    onProgress?.(simulated, fitting.length);
    const { ps, result } = await simulate(one);
    simulated++;
    best.push({ fitting: one, ps, result });
    best.sort((a, b) => a.ps - b.ps);
    best.length = Math.min(best.length, keep);
  }
  return { best, tried, simulated, tooLarge, pruned: fitting.length - simulated };
}
