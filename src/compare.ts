import { limitWithFlow } from "./all-to-all.ts";
import type { Engine } from "./engine/types.ts";
import { InfeasibleError, InputError } from "./errors.ts";
import type { Topology } from "./model/topology.ts";
import type { SynthesizeOptions } from "./options.ts";
import { synthesize } from "./pipeline.ts";
import { problemOf } from "./problem.ts";
import { type BoundReport, boundReport, type Report } from "./result.ts";
import { ALGORITHMS, algorithmNamed, isTreeMaker } from "./synthesize/catalog.ts";

export interface CompareOptions extends Omit<SynthesizeOptions, "algorithm" | "sizeBytes"> {
  readonly sizesBytes: readonly number[];
  /** Names from the catalogue; without it all that make the collective, trees where they can be made. */
  readonly algorithms?: readonly string[];
}

export interface ComparisonRow {
  readonly sizeBytes: number;
  readonly algorithm: string;
  /** Simulated, network model. */
  readonly us: number;
  readonly algbwGBps: number | null;
  readonly busbwGBps: number | null;
  /** limit / simulated: 1 is as good as any algorithm can be. */
  readonly ofLimit: number;
  readonly synthesisMs: number;
  /** Shortest of its size (the earlier algorithm among equals). */
  readonly best: boolean;
}

/** What `compare --json` prints: schema banyan/comparison@1. */
export interface Comparison {
  readonly schema: "banyan/comparison@1";
  readonly topology: Report["topology"];
  readonly collective: string;
  readonly rows: readonly ComparisonRow[];
  readonly limits: readonly { readonly sizeBytes: number; readonly limit: BoundReport }[];
  /** Algorithms that cannot do what was asked, and why not. */
  readonly leftOut: readonly { readonly algorithm: string; readonly reason: string }[];
}

/** Returns what an algorithm is asked: options of steps and of trees do not mix, and chunks are not pieces. */
export function optionsFor(
  algorithm: (typeof ALGORITHMS)[number],
  options: Omit<SynthesizeOptions, "algorithm">,
): SynthesizeOptions {
  const { trials, switchDegree, chunks, k, eulerian, ...both } = options;
  const ofTrees = { ...(k !== undefined && { k }), ...(eulerian !== undefined && { eulerian }) };
  const ofSteps = {
    ...(trials !== undefined && { trials }),
    ...(switchDegree !== undefined && { switchDegree }),
    ...(chunks !== undefined && { chunks }),
  };
  return { ...both, ...(isTreeMaker(algorithm) ? ofTrees : ofSteps), algorithm: algorithm.name, simulate: true };
}

/** Returns time and distance from the limit for every size and algorithm. Throws as synthesize does. */
export async function compare(engine: Engine, topology: Topology, options: CompareOptions): Promise<Comparison> {
  const { sizesBytes, algorithms, ...rest } = options;
  if (sizesBytes.length === 0) throw new InputError("--sizes", "at least one size");
  const kind = typeof options.collective === "string" ? options.collective : options.collective.kind;
  const chosen = algorithms?.map(algorithmNamed) ?? ALGORITHMS.filter((s) => s.collectives.includes(kind));
  const rows: ComparisonRow[] = [];
  const limits: Comparison["limits"][number][] = [];
  const leftOut = new Map<string, Error>();
  let shown: Report["topology"] | null = null;
  for (const sizeBytes of sizesBytes) {
    const reports: Report[] = [];
    for (const algorithm of chosen) {
      try {
        const { report } = await synthesize(engine, topology, optionsFor(algorithm, { ...rest, sizeBytes }));
        reports.push(report);
        shown = report.topology;
      } catch (error) {
        if (!(error instanceof InputError || error instanceof InfeasibleError)) throw error;
        leftOut.set(algorithm.name, error);
      }
    }
    if (reports.length === 0) throw leftOut.values().next().value;
    const { topology: network, collective } = problemOf(topology, {
      ...rest,
      sizeBytes,
      chunks: rest.chunks === "auto" ? 1 : (rest.chunks ?? 1),
    });
    const own = boundReport(network, collective, await limitWithFlow(engine, network, collective, rest.signal));
    // an algorithm that knows the network's flow may prove more than the cuts
    const limit = reports.map((report) => report.limit).reduce((a, b) => (b.us > a.us ? b : a), own);
    const times = reports.map((report) => report.simulated?.us ?? report.time.us);
    const best = times.indexOf(Math.min(...times));
    reports.forEach((report, i) => {
      const timing = report.simulated ?? report.time;
      rows.push({
        sizeBytes,
        algorithm: report.algorithm,
        us: timing.us,
        algbwGBps: timing.algbwGBps,
        busbwGBps: timing.busbwGBps,
        ofLimit: (report.ofLimit ?? 1) * (report.limit.us > 0 ? limit.us / report.limit.us : 1),
        synthesisMs: report.synthesis.ms,
        best: i === best,
      });
    });
    limits.push({ sizeBytes, limit });
  }
  if (shown === null) throw new InputError("--algorithms", "at least one algorithm");
  const reasons = [...leftOut].map(([algorithm, { message }]) => ({ algorithm, reason: message }));
  return { schema: "banyan/comparison@1", topology: shown, collective: kind, rows, limits, leftOut: reasons };
}
