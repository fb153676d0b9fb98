import { type CompareOptions, optionsFor } from "./compare.ts";
import type { Engine } from "./engine/types.ts";
import { InfeasibleError, InputError } from "./errors.ts";
import type { Topology } from "./model/topology.ts";
import { type SynthesizeResult, synthesize } from "./pipeline.ts";
import { type MadeProgram, type ProgramOptions, programOf } from "./programs.ts";
import { ALGORITHMS, algorithmNamed } from "./synthesize/catalog.ts";

/** Sizes that one program is for. */
export interface SizeRange {
  /** nccl-tests sizes, both included; null: no bound. */
  readonly minBytes: number;
  readonly maxBytes: number | null;
  /** The sizes asked for that lie in the range. */
  readonly sizesBytes: readonly number[];
  readonly algorithm: string;
  /** Simulated, at the first of these sizes. */
  readonly us: number;
  readonly made: MadeProgram;
  /** Faster algorithms that cannot be used, and why not. */
  readonly passedOver: readonly { readonly algorithm: string; readonly reason: string }[];
}

interface Choice {
  readonly sizeBytes: number;
  readonly algorithm: string;
  readonly us: number;
  readonly result: SynthesizeResult;
  readonly passedOver: SizeRange["passedOver"];
}

const isRefusal = (error: unknown): error is Error => error instanceof InputError || error instanceof InfeasibleError;

/** Returns the fastest schedule of a size that fits the runtime. */
async function choiceFor(
  engine: Engine,
  topology: Topology,
  sizeBytes: number,
  options: CompareOptions,
  target: ProgramOptions,
): Promise<Choice> {
  const { algorithms, sizesBytes: _, ...rest } = options;
  const kind = typeof options.collective === "string" ? options.collective : options.collective.kind;
  const chosen = algorithms?.map(algorithmNamed) ?? ALGORITHMS.filter(({ collectives }) => collectives.includes(kind));
  const found: { readonly name: string; readonly us: number; readonly result: SynthesizeResult }[] = [];
  const refused: { readonly algorithm: string; readonly reason: string }[] = [];
  for (const algorithm of chosen) {
    try {
      const result = await synthesize(engine, topology, optionsFor(algorithm, { ...rest, sizeBytes }));
      found.push({ name: algorithm.name, us: (result.report.simulated ?? result.report.time).us, result });
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refused.push({ algorithm: algorithm.name, reason: error.message });
    }
  }
  found.sort((a, b) => a.us - b.us);
  const passedOver: { readonly algorithm: string; readonly reason: string }[] = [];
  for (const { name, us, result } of found) {
    try {
      programOf(result.schedule, target);
      return { sizeBytes, algorithm: name, us, result, passedOver };
    } catch (error) {
      if (!isRefusal(error)) throw error;
      passedOver.push({ algorithm: name, reason: error.message });
    }
  }
  const [first] = [...passedOver, ...refused];
  throw new InputError(
    "--sizes",
    "at least one algorithm whose program fits the runtime",
    first === undefined ? undefined : `${first.algorithm}: ${first.reason}`,
  );
}

/**
 * Returns a program for each range of sizes: the fastest simulated one of every size asked for, up to the next size; the first
 * also for smaller and the last for all larger ones. Neighbours with the same program become one range. The ranges do not
 * overlap and leave nothing out. Throws as synthesize does, and InputError where no algorithm's program fits the runtime.
 */
export async function programsBySize(
  engine: Engine,
  topology: Topology,
  options: CompareOptions,
  target: ProgramOptions,
): Promise<SizeRange[]> {
  const sizes = [...new Set(options.sizesBytes)].sort((a, b) => a - b);
  const choices: Choice[] = [];
  for (const size of sizes) choices.push(await choiceFor(engine, topology, size, options, target));
  const plain = choices.map(({ result }) => programOf(result.schedule, target).text);
  const starts = choices.map((_, i) => i).filter((i) => i === 0 || plain[i] !== plain[i - 1]);
  return starts.map((first, r) => {
    const next = starts[r + 1] ?? choices.length;
    const { algorithm, us, result, passedOver } = choices[first] as Choice;
    const minBytes = first === 0 ? 0 : (sizes[first] as number);
    const maxBytes = next === choices.length ? null : (sizes[next] as number) - 1;
    const range = maxBytes === null ? { minBytes } : { minBytes, maxBytes };
    return {
      minBytes,
      maxBytes,
      sizesBytes: sizes.slice(first, next),
      algorithm,
      us,
      made: programOf(result.schedule, { ...target, ...range }),
      passedOver,
    };
  });
}
