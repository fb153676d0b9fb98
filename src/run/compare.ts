import { InputError } from "../base/errors.ts";
import { optionName } from "../base/option-names.ts";
import type { Engine } from "../engine/types.ts";
import { goesThroughSwitch } from "../lower/mscclpp/plan.ts";
import { busFactor } from "../model/collective/collective.ts";
import { ncclEstimates } from "../model/nccl/model.ts";
import { formatSize } from "../model/numbers/units.ts";
import { boxesOf } from "../model/routes/rings.ts";
import type { AnySchedule } from "../model/steps/schedule.ts";
import type { Topology } from "../model/topology/topology.ts";
import { isTreeFlow } from "../model/trees/tree-flow.ts";
import type { Comparison, ComparisonRow, ReferenceRow } from "../report/comparison.ts";
import { type BoundReport, bandwidth, boundReport, type Report } from "../report/result.ts";
import type { SynthesizeOptions } from "../request/options.ts";
import { problemOf } from "../request/problem.ts";
import { algorithmNamed } from "../synthesize/catalog.ts";
import { limitWithFlow } from "./all-to-all.ts";
import { isBetter, usOf } from "./auto/best.ts";
import { type Algorithm, candidatesFor, isOwnFailure } from "./auto/candidates.ts";
import { contender } from "./auto/chunk-trials.ts";
import { fastestProgram } from "./programs/fastest.ts";
import { programUs } from "./programs/programs.ts";
import { synthesize } from "./synthesize.ts";

/** A table of more lines is for nobody to read. */
const MOST_SIZES = 256;

export interface CompareOptions extends Omit<SynthesizeOptions, "algorithm" | "sizeBytes" | "timeLimitMs"> {
  readonly sizesBytes: readonly number[];
  /** Names from the catalogue; without it all that make the collective and apply to the network. */
  readonly algorithms?: readonly string[];
  /** Also simulates the fastest MSCCL program of each line's schedule; of what switches sum or duplicate, the MSCCL++ plan. */
  readonly programs?: boolean;
  /** Told what there is after each size but the last. */
  readonly onSize?: (soFar: Comparison) => void;
  /** Told of each line before it is worked on: the first is 0 of `total`. */
  readonly onLine?: (line: { sizeBytes: number; algorithm: string; done: number; total: number }) => void;
}

type SizedOptions = Omit<SynthesizeOptions, "algorithm"> & { readonly sizeBytes: number };

/** A line: its report and, where asked for, its program. */
interface Line extends Pick<ComparisonRow, "programUs" | "noProgram"> {
  readonly report: Report;
}

/** Returns what the program of a schedule takes, or why it has none. */
function programLine(schedule: AnySchedule): Pick<ComparisonRow, "programUs" | "noProgram"> {
  try {
    const bySwitch = isTreeFlow(schedule) && goesThroughSwitch(schedule);
    const { us, made } = fastestProgram(schedule, { runtime: bySwitch ? "mscclpp" : "azure" });
    return { programUs: us ?? programUs(made.program, schedule) };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { programUs: null, noProgram: error.message };
  }
}

/** Returns the lines of one size, in the order of the candidates; `failed` hears of those that could not. */
async function linesOf(
  engine: Engine,
  topology: Topology,
  candidates: readonly Algorithm[],
  options: SizedOptions,
  programs: boolean,
  told: { begins: (algorithm: string) => void; failed: (algorithm: string, error: Error) => void },
): Promise<Line[]> {
  const lines = new Map<Algorithm, Line>();
  const lastOf = ({ traits }: Algorithm): number => traits?.searches ?? 0;
  for (const algorithm of [...candidates].sort((a, b) => lastOf(a) - lastOf(b))) {
    told.begins(algorithm.name);
    try {
      const make = (asked: SynthesizeOptions) => synthesize(engine, topology, asked, false);
      const rivalUs = Math.min(...[...lines.values()].map(({ report }) => usOf(report)));
      const { report, schedule } = await contender(algorithm, topology, options, make, rivalUs);
      lines.set(algorithm, { report, ...(programs ? programLine(schedule) : {}) });
    } catch (error) {
      if (!isOwnFailure(error)) throw error;
      told.failed(algorithm.name, error);
    }
  }
  return candidates.flatMap((algorithm) => lines.get(algorithm) ?? []);
}

/** Returns the greatest limit that is known for a size: an algorithm that knows the network's flow may prove more than the cuts. */
async function limitOfSize(
  engine: Engine,
  given: Topology,
  options: SizedOptions,
  lines: readonly Line[],
): Promise<BoundReport> {
  const chunks = options.chunks === "auto" ? 1 : (options.chunks ?? 1);
  const { topology, collective } = problemOf(given, { ...options, chunks });
  const known = await limitWithFlow(engine, topology, collective, options.signal);
  const own = boundReport(topology, collective, known.limit);
  return lines.map(({ report: { limit } }) => limit).reduce((a, b) => (b.us > a.us ? b : a), own);
}

function rowsOf(
  lines: readonly Line[],
  limit: BoundReport,
  sizeBytes: number,
  isLibrary: (algorithm: string) => boolean,
): ComparisonRow[] {
  const best = lines.map(({ report }) => report).reduce((a, b) => (isBetter(b, a) ? b : a));
  return lines.map(({ report, ...program }) => {
    const { us, algbwGBps, busbwGBps } = report.time;
    return {
      sizeBytes,
      algorithm: report.algorithm,
      us,
      algbwGBps,
      busbwGBps,
      ofLimit: (report.ofLimit ?? 1) * (report.limit.us > 0 ? limit.us / report.limit.us : 1),
      chunks: report.schedule.pieces ?? report.collective.chunksPerNpu,
      verified: true,
      synthesisMs: report.synthesis.ms,
      best: report === best,
      ...program,
      ...(isLibrary(report.algorithm) ? { library: report.synthesis.policy } : {}),
    };
  });
}

/**
 * Returns which algorithms libraries run on a network: what they have within a box not over several of them, where one of the
 * candidates is laid over these.
 */
function librariesOf(topology: Topology, candidates: readonly Algorithm[]): (algorithm: string) => boolean {
  const isOver = candidates.some(({ traits }) => traits?.library === "over boxes");
  const inner = isOver && (boxesOf(topology)?.length ?? 1) > 1;
  return (algorithm) => {
    const { library } = algorithmNamed(algorithm).traits ?? {};
    return library !== undefined && !(inner && library === "within a box");
  };
}

/** Returns what NCCL's own cost model says of a size on the whole network; null where it says nothing. */
function referenceOf(topology: Topology, { collective, group, sizeBytes }: SizedOptions): ReferenceRow | null {
  if (typeof collective !== "string" || group !== undefined) return null;
  const [first] = ncclEstimates(topology, collective, sizeBytes) ?? [];
  if (first === undefined) return null;
  const { algorithm, protocol, channels, us } = first;
  const algbwGBps = bandwidth(sizeBytes, us);
  return {
    sizeBytes,
    name: "NCCL model",
    choice: `${algorithm}/${protocol}, ${channels} ${channels === 1 ? "channel" : "channels"}`,
    us,
    algbwGBps,
    busbwGBps: algbwGBps === null ? null : algbwGBps * busFactor(collective, topology.npuCount),
  };
}

/**
 * Returns time and distance from the limit for every size and algorithm, each line of a verified schedule. Algorithms that cannot
 * do what was asked are left out with the reason. Throws as synthesize does where none can.
 */
export async function compare(engine: Engine, topology: Topology, options: CompareOptions): Promise<Comparison> {
  const { sizesBytes, algorithms, onLine, onSize, programs = false, ...rest } = options;
  if (!Array.isArray(sizesBytes) || sizesBytes.length === 0)
    throw new InputError(optionName("sizesBytes"), "at least one size, as in [1024, 1048576]", sizesBytes).as(
      "out-of-range",
    );
  if (sizesBytes.length > MOST_SIZES)
    throw new InputError(optionName("sizesBytes"), `at most ${MOST_SIZES} sizes`, sizesBytes.length).as("out-of-range");
  const firstSize = sizesBytes[0] as number;
  const { candidates, leftOut } = candidatesFor(topology, { ...rest, sizeBytes: firstSize }, algorithms);
  const isLibrary = librariesOf(topology, candidates);
  const rows: ComparisonRow[] = [];
  const references: ReferenceRow[] = [];
  const limits: Comparison["limits"][number][] = [];
  const failures = new Map<string, { readonly error: Error; readonly sizes: number[] }>();
  const total = sizesBytes.length * candidates.length;
  let done = 0;
  let shown: Report["topology"] | null = null;
  /** Returns what is known by now. */
  const soFar = (): Comparison => {
    const failed = [...failures].map(([algorithm, { error, sizes }]) => ({
      algorithm,
      reason: `${sizes.length < sizesBytes.length ? `${sizes.map(formatSize).join(", ")}: ` : ""}${error.message}`,
    }));
    return {
      schema: "banyan/comparison@2",
      topology: shown as Report["topology"],
      collective: typeof rest.collective === "string" ? rest.collective : rest.collective.kind,
      rows: [...rows],
      references: [...references],
      limits: [...limits],
      leftOut: [...leftOut, ...failed],
    };
  };
  for (const sizeBytes of sizesBytes) {
    const sized = { ...rest, sizeBytes };
    const lines = await linesOf(engine, topology, candidates, sized, programs, {
      begins: (algorithm) => onLine?.({ sizeBytes, algorithm, done: done++, total }),
      failed(algorithm, error) {
        const failure = failures.get(algorithm) ?? { error, sizes: [] };
        failures.set(algorithm, failure);
        failure.sizes.push(sizeBytes);
      },
    });
    const [first] = lines;
    if (first === undefined) throw failures.values().next().value?.error;
    shown ??= first.report.topology;
    const limit = await limitOfSize(engine, topology, sized, lines);
    rows.push(...rowsOf(lines, limit, sizeBytes, isLibrary));
    const reference = referenceOf(topology, sized);
    if (reference !== null) references.push(reference);
    limits.push({ sizeBytes, limit });
    if (limits.length < sizesBytes.length) onSize?.(soFar());
  }
  return soFar();
}
