import { CancelledError, InputError } from "../base/errors.ts";
import { optionName } from "../base/option-names.ts";
import { endingIn } from "../base/stopping.ts";
import type { Engine } from "../engine/types.ts";
import { busFactor } from "../model/collective/collective.ts";
import { ncclEstimates } from "../model/nccl/model.ts";
import { formatSize, formatTime, PS_PER_US } from "../model/numbers/units.ts";
import type { RuntimeName } from "../model/program/runtime-names.ts";
import type { AnySchedule } from "../model/steps/schedule.ts";
import type { Topology } from "../model/topology/topology.ts";
import {
  type CoarseRow,
  type CompareTarget,
  type Comparison,
  type ComparisonRow,
  type NotModelled,
  type ReferenceRow,
  type SizeSettings,
  usOnTarget,
} from "../report/comparison.ts";
import { type BoundReport, bandwidth, boundReport, type Report, topologySummary } from "../report/result.ts";
import type { SynthesizeOptions } from "../request/options.ts";
import { problemOf } from "../request/problem.ts";
import { limitWithFlow } from "./all-to-all.ts";
import { isBetter, usOf } from "./auto/best.ts";
import {
  type Algorithm,
  type Candidates,
  candidatesFor,
  candidatesOrNone,
  isOwnFailure,
  SOLVERS_SHARE,
  wholeProblem,
} from "./auto/candidates.ts";
import { contender } from "./auto/chunk-trials.ts";
import { coarseLines } from "./coarse-lines.ts";
import type { OwnLine } from "./own/own-lines.ts";
import { LIKE_NCCLS, librariesOf } from "./programs/libraries.ts";
import { mpiSettingsOf, ncclKernelsOf } from "./programs/library-time.ts";
import { type ProgramOfLine, programLine, targetLine } from "./programs/line-programs.ts";
import { likeOursUs } from "./programs/mpi-settings.ts";
import { kernelsUs, leastNvlsUs, ncclSettings } from "./programs/settings.ts";
import { synthesize } from "./synthesize.ts";

/** A table of more lines is for nobody to read. */
const MOST_SIZES = 256;

export interface CompareOptions extends Omit<SynthesizeOptions, "algorithm" | "sizeBytes" | "timeLimitMs"> {
  /** How long one line may take; what is not done by then has none, and solvers end before it with the best they have. */
  readonly timeLimitMs?: number;
  /** What is set beside the algorithms: schedules and programs of one's own, in this order behind them. */
  readonly own?: readonly OwnLine[];
  readonly sizesBytes: readonly number[];
  /** Names from the catalogue; without it all that make the collective and apply to the network. */
  readonly algorithms?: readonly string[];
  /** Also simulates the fastest program of each line's schedule, MSCCL XML or an MSCCL++ plan. */
  readonly programs?: boolean;
  /** What is to run it: lines are then ranked by what takes least there, a program that it loads or what its library runs without one. */
  readonly target?: CompareTarget;
  /** Told what there is after each size but the last. */
  readonly onSize?: (soFar: Comparison) => void;
  /** Told of each line as soon as it is finished, and what there is by then; which is the best of its size is not known yet. */
  readonly onRow?: (row: Omit<ComparisonRow, "best">, soFar: () => Comparison) => void;
  /** Told of each line before it is worked on: the first is 0 of `total`. */
  readonly onLine?: (line: { sizeBytes: number; algorithm: string; done: number; total: number }) => void;
}

type SizedOptions = Omit<SynthesizeOptions, "algorithm"> & { readonly sizeBytes: number };

/** A line: its report and, where asked for, its program. */
interface Line extends ProgramOfLine {
  readonly report: Report;
}

/** Returns what `work` returns within a time. Throws InputError where it was not done by then; work that does not heed its signal goes on until it is. */
async function within<T>(
  limitMs: number | undefined,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (limitMs === undefined) return work(signal);
  const begun = performance.now();
  try {
    const result = await work(endingIn(limitMs, signal));
    if (performance.now() - begun <= limitMs) return result;
  } catch (error) {
    if (!(error instanceof CancelledError) || signal?.aborted === true) throw error;
  }
  const limit = formatTime(limitMs * 1000 * PS_PER_US);
  throw new InputError(optionName("timeLimitMs"), "more time", limit).saying(`not done within ${limit}`);
}

/** Makes the lines of one size and puts them into `lines`; `told` hears of each that begins, is finished, or could not be made. */
async function makeLines(
  engine: Engine,
  topology: Topology,
  candidates: readonly Algorithm[],
  options: SizedOptions,
  lines: Map<Algorithm, Line>,
  programOf: (algorithm: string, schedule: AnySchedule) => Promise<ProgramOfLine>,
  told: {
    begins: (algorithm: string) => void;
    finished: (line: Line) => void;
    failed: (algorithm: string, error: Error) => void;
  },
): Promise<void> {
  const { timeLimitMs, ...rest } = options;
  const solving = timeLimitMs === undefined ? {} : { timeLimitMs: SOLVERS_SHARE * timeLimitMs };
  const lastOf = ({ traits }: Algorithm): number => traits?.searches ?? 0;
  for (const algorithm of [...candidates].sort((a, b) => lastOf(a) - lastOf(b))) {
    told.begins(algorithm.name);
    try {
      const rivalUs = Math.min(...[...lines.values()].map(({ report }) => usOf(report)));
      const { report, schedule } = await within(timeLimitMs, options.signal, (signal) => {
        const make = (asked: SynthesizeOptions) => synthesize(engine, topology, asked, false);
        return contender(algorithm, topology, { ...rest, ...solving, ...(signal && { signal }) }, make, rivalUs);
      });
      const line = { report, ...(await programOf(algorithm.name, schedule)) };
      lines.set(algorithm, line);
      told.finished(line);
    } catch (error) {
      if (!isOwnFailure(error)) throw error;
      told.failed(algorithm.name, error);
    }
  }
}

/** Returns the greatest limit that some lines know. */
const limitOfLines = (lines: readonly Line[], own?: BoundReport): BoundReport =>
  [...(own === undefined ? [] : [own]), ...lines.map(({ report: { limit } }) => limit)].reduce((a, b) =>
    b.us > a.us ? b : a,
  );

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
  return limitOfLines(lines, own);
}

function rowOf(
  { report, ...program }: Line,
  limit: BoundReport,
  sizeBytes: number,
  isLibrary: (algorithm: string) => boolean,
): Omit<ComparisonRow, "best"> {
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
    ...program,
    ...(isLibrary(report.algorithm) ? { library: report.synthesis.policy } : {}),
  };
}

/** Returns what a line that was given beside the algorithms takes as a program, where that is asked. */
function programOfOwn({ kind, runtimes, name }: OwnLine, us: number, programs: boolean, target?: CompareTarget) {
  if (target === undefined) return programs && kind === "program" ? { programUs: us } : {};
  if (runtimes?.some((runtime) => runtime === target)) return { programUs: us, programFor: target as RuntimeName };
  return {
    programUs: null,
    noProgram: kind === "program" ? `${target} does not read ${name}` : "export makes one of it",
  };
}

/** Returns the row of what was given beside the algorithms. */
function ownRow(
  own: OwnLine,
  sizeBytes: number,
  limit: BoundReport,
  programOf: (own: OwnLine, us: number) => ProgramOfLine,
): Omit<ComparisonRow, "best"> {
  const line = own.at(sizeBytes);
  return {
    sizeBytes,
    algorithm: own.name,
    ...line,
    ofLimit: line.us > 0 ? limit.us / line.us : 1,
    verified: true,
    synthesisMs: 0,
    own: own.kind,
    ...programOf(own, line.us),
  };
}

/**
 * Returns the rows of a size, the best of them marked: of lines, else of what was given and is faster than all of them; where a target
 * is named, the one that takes least there, none where nothing runs.
 */
function marked(
  lines: readonly Line[],
  ofLines: readonly Omit<ComparisonRow, "best">[],
  others: readonly Omit<ComparisonRow, "best">[],
  target: CompareTarget | undefined,
): ComparisonRow[] {
  const all = [...ofLines, ...others];
  if (target !== undefined) {
    const least = Math.min(...all.map(usOnTarget));
    const best = all.find((row) => usOnTarget(row) === least && least < Number.POSITIVE_INFINITY);
    return all.map((row) => ({ ...row, best: row === best }));
  }
  const bestLine = lines.reduce(
    (best, { report }, i) => (isBetter(report, (lines[best] as Line).report) ? i : best),
    0,
  );
  const best = others.reduce<(typeof ofLines)[0] | undefined>(
    (least, row) => (least === undefined || row.us < least.us ? row : least),
    ofLines[bestLine],
  );
  return all.map((row) => ({ ...row, best: row === best }));
}

/** Returns the algorithms that a target can run, of those that apply: NCCL, which loads no programs, runs its own alone. Throws InputError where none is. */
function runnable(
  { candidates, leftOut }: Candidates,
  isLibrary: (algorithm: string) => boolean,
  target: CompareTarget | undefined,
): Candidates {
  if (target !== "nccl") return { candidates, leftOut };
  const others = candidates.filter(({ name }) => !isLibrary(name));
  if (others.length === candidates.length)
    throw new InputError(
      optionName("target"),
      "a runtime that loads programs; NCCL has none of these algorithms",
      target,
    )
      .as("not-applicable")
      .saying(`${optionName("target")} nccl runs NCCL's own algorithms alone, and none of those here is one`);
  return {
    candidates: candidates.filter(({ name }) => isLibrary(name)),
    leftOut: [
      ...leftOut,
      ...others.map(({ name }) => ({ algorithm: name, reason: "NCCL does not have it, and loads no programs" })),
    ],
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
    like: LIKE_NCCLS[algorithm],
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
  const {
    sizesBytes,
    algorithms,
    own = [],
    onLine,
    onRow,
    onSize,
    programs = false,
    target,
    timeLimitMs,
    ...rest
  } = options;
  if (!Array.isArray(sizesBytes) || sizesBytes.length === 0)
    throw new InputError(optionName("sizesBytes"), "at least one size, as in [1024, 1048576]", sizesBytes).as(
      "out-of-range",
    );
  if (sizesBytes.length > MOST_SIZES)
    throw new InputError(optionName("sizesBytes"), `at most ${MOST_SIZES} sizes`, sizesBytes.length).as("out-of-range");
  const firstSize = sizesBytes[0] as number;
  const first = { ...rest, sizeBytes: firstSize };
  const problem = wholeProblem(topology, first);
  const isLibrary = librariesOf(problem, target);
  const limited = { ...first, ...(timeLimitMs !== undefined && { timeLimitMs }) };
  const sorted = candidatesOrNone(topology, limited, algorithms);
  const isModelled = algorithms === undefined && target === undefined && !programs;
  const models = coarseLines(engine, topology, first, isModelled ? sorted.leftOut : [], isLibrary);
  const isNone = sorted.candidates.length === 0 && models.names.length === 0;
  const { candidates, leftOut: others } = runnable(
    isNone ? candidatesFor(topology, limited, algorithms) : sorted,
    isLibrary,
    target,
  );
  const leftOut = others.filter(({ algorithm }) => !models.names.includes(algorithm));
  // what is wrong with them is said before the work
  for (const one of own) one.at(firstSize);
  const rows: ComparisonRow[] = [];
  const references: ReferenceRow[] = [];
  const coarse: CoarseRow[] = [];
  const settings: SizeSettings[] = [];
  const notModelled: NotModelled[] = [];
  const limits: Comparison["limits"][number][] = [];
  const failures = new Map<string, { readonly error: Error; readonly sizes: number[] }>();
  const total = sizesBytes.length * (candidates.length + own.length + models.names.length);
  let done = 0;
  const shown = topologySummary(wholeProblem(topology, first).topology);
  /** Returns what is known by now; `more`: what there is of a size that is not finished. */
  const soFar = (more: readonly ComparisonRow[] = [], limit?: Comparison["limits"][number]): Comparison => {
    const failed = [...failures].map(([algorithm, { error, sizes }]) => ({
      algorithm,
      reason: `${sizes.length < sizesBytes.length ? `${sizes.map(formatSize).join(", ")}: ` : ""}${error.message}`,
    }));
    return {
      schema: "banyan/comparison@2",
      topology: shown,
      collective: typeof rest.collective === "string" ? rest.collective : rest.collective.kind,
      ...(target !== undefined && { target }),
      rows: [...rows, ...more],
      references: [...references],
      ...(models.names.length > 0 && { coarse: [...coarse] }),
      ...((target === "nccl" || target === "mpi") && { settings: [...settings] }),
      ...(target === "mpi" && { notModelled: [...notModelled] }),
      limits: [...limits, ...(limit === undefined ? [] : [limit])],
      leftOut: [...leftOut, ...failed],
    };
  };
  for (const sizeBytes of sizesBytes) {
    const sized = { ...rest, sizeBytes };
    const made = new Map<Algorithm, Line>();
    const others: Omit<ComparisonRow, "best">[] = [];
    const linesNow = (): Line[] => candidates.flatMap((algorithm) => made.get(algorithm) ?? []);
    const rowsNow = (limit: BoundReport): ComparisonRow[] => {
      const lines = linesNow();
      const ofLines = lines.map((line) => rowOf(line, limit, sizeBytes, isLibrary));
      return marked(lines, ofLines, others, target);
    };
    const partial = (limit = limitOfLines(linesNow())): Comparison => {
      return soFar(rowsNow(limit), { sizeBytes, limit });
    };
    const asked = timeLimitMs === undefined ? sized : { ...sized, timeLimitMs };
    const { kind } = problem.collective;
    const kernels = ncclKernelsOf(problem, sized, target);
    /** Where NCCL itself is the target: what it can be set to counts too. */
    const ownKernels = target === "nccl" ? kernels : null;
    const ofMpi = mpiSettingsOf(problem, sized, target);
    const programOf = async (algorithm: string, schedule: AnySchedule): Promise<ProgramOfLine> => {
      if (ofMpi !== null && kind !== "custom") {
        const line = await targetLine(engine, schedule, "mpi", false);
        const libraryUs = likeOursUs(ofMpi, kind, algorithm);
        return libraryUs === null ? line : { ...line, libraryUs };
      }
      if (target !== undefined) {
        const ofKernels = kernels === null ? null : kernelsUs(kernels, algorithm);
        const line = await targetLine(engine, schedule, target, ofKernels === null && isLibrary(algorithm));
        if (ofKernels !== null) return { ...line, libraryUs: ofKernels };
        if (ownKernels === null || line.libraryUs === undefined) return line;
        return { ...line, libraryUs: Math.max(line.libraryUs, leastNvlsUs(ownKernels, algorithm)) };
      }
      return programs ? programLine(engine, schedule) : {};
    };
    await makeLines(engine, topology, candidates, asked, made, programOf, {
      begins: (algorithm) => onLine?.({ sizeBytes, algorithm, done: done++, total }),
      finished(line) {
        onRow?.(rowOf(line, line.report.limit, sizeBytes, isLibrary), partial);
      },
      failed(algorithm, error) {
        const failure = failures.get(algorithm) ?? { error, sizes: [] };
        failures.set(algorithm, failure);
        failure.sizes.push(sizeBytes);
      },
    });
    const lines = linesNow();
    if (lines.length === 0 && models.names.length === 0) throw failures.values().next().value?.error;
    const limit = await limitOfSize(engine, topology, sized, lines);
    for (const one of own) {
      onLine?.({ sizeBytes, algorithm: one.name, done: done++, total });
      const row = ownRow(one, sizeBytes, limit, (line, us) => programOfOwn(line, us, programs, target));
      others.push(row);
      onRow?.(row, () => partial(limit));
    }
    const ofSize = rowsNow(limit);
    rows.push(...ofSize);
    for (const algorithm of models.names) {
      onLine?.({ sizeBytes, algorithm, done: done++, total });
      const line = await models.line(algorithm, sizeBytes, rest.signal);
      coarse.push({ ...line, ofLimit: line.us > 0 ? limit.us / line.us : 1 });
    }
    const sizeSettings = ownKernels === null ? null : ncclSettings(ownKernels, sizeBytes, ofSize);
    if (sizeSettings !== null) settings.push(sizeSettings);
    if (ofMpi !== null) {
      settings.push(...ofMpi.sizes);
      notModelled.push(...ofMpi.notModelled);
    }
    const reference = target === "mpi" ? null : referenceOf(topology, sized);
    if (reference !== null) references.push(reference);
    limits.push({ sizeBytes, limit });
    if (limits.length < sizesBytes.length) onSize?.(soFar());
  }
  return soFar();
}
