import { InfeasibleError, InputError } from "../src/base/errors.ts";
import { openEngine } from "../src/engine/engine.ts";
import { openHighs } from "../src/engine/milp/highs.ts";
import type { NamedCollective } from "../src/model/collective/collective.ts";
import { presetTopology } from "../src/model/presets/preset.ts";
import type { RuntimeName } from "../src/model/program/runtimes.ts";
import { fastestProgram } from "../src/run/programs/fastest.ts";
import { type SynthesizeResult, synthesize } from "../src/run/synthesize.ts";
import { algorithmNamed } from "../src/synthesize/catalog.ts";

/** What is loaded on first use cannot be loaded once `runnerImport` has returned. */
await openHighs();

/** A schedule, and the program that a runtime makes of it. */
export interface Promise_ {
  readonly topology: string;
  readonly collective: NamedCollective;
  readonly algorithm: string;
  readonly sizeBytes: number;
  readonly target: RuntimeName;
  readonly scheduleUs: number;
  /** null: refused, for the reason. */
  readonly programUs: number | null;
  readonly how: string;
  readonly ms: number;
}

export interface PromiseCases {
  readonly topologies: readonly string[];
  readonly collectives: readonly NamedCollective[];
  readonly algorithms: readonly string[];
  readonly sizes: readonly number[];
  readonly targets: readonly RuntimeName[];
}

/** Yields every schedule that can be made with the time of its fastest program. */
export async function* promises({
  topologies,
  collectives,
  algorithms,
  sizes,
  targets,
}: PromiseCases): AsyncGenerator<Promise_> {
  const engine = await openEngine();
  try {
    for (const topology of topologies)
      for (const collective of collectives)
        for (const algorithm of algorithms)
          for (const sizeBytes of sizes) {
            let made: SynthesizeResult;
            try {
              const own = algorithmNamed(algorithm).options?.includes("trials") ? { trials: 1 } : {};
              made = await synthesize(
                engine,
                presetTopology(topology),
                { collective, algorithm, sizeBytes, ...own },
                false,
              );
            } catch (error) {
              if (!(error instanceof InputError || error instanceof InfeasibleError)) throw error;
              continue;
            }
            for (const target of targets) {
              const begin = performance.now();
              const row = { topology, collective, algorithm, sizeBytes, target, scheduleUs: made.report.time.us };
              try {
                const { us, options } = fastestProgram(made.schedule, { runtime: target });
                yield {
                  ...row,
                  programUs: us,
                  how: JSON.stringify({ ...options, runtime: undefined }),
                  ms: performance.now() - begin,
                };
              } catch (error) {
                if (!(error instanceof InputError || error instanceof InfeasibleError)) throw error;
                yield { ...row, programUs: null, how: error.message, ms: performance.now() - begin };
              }
            }
          }
  } finally {
    await engine.close();
  }
}
