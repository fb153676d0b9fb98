import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import type { Engine } from "../../engine/types.ts";
import { refuseMany } from "../../lower/moves.ts";
import { formatSize } from "../../model/numbers/units.ts";
import { MSCCLPP_RUNTIME } from "../../model/program/runtimes.ts";
import { leastTransfers } from "../../model/steps/estimate.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { timeText } from "../../report/amounts.ts";
import { gainText } from "../../report/gains.ts";
import type { ProgramOptions, WantedProgram } from "../../request/from-texts.ts";
import { askedOf } from "../../request/maker-options.ts";
import type { SynthesizeOptions } from "../../request/options.ts";
import { DEFAULT_SIZE_BYTES, problemOf } from "../../request/problem.ts";
import { AUTO } from "../../synthesize/catalog.ts";
import { catalogueIndex } from "../auto/best.ts";
import { type Algorithm, candidatesFor, trialOrder, wholeProblem } from "../auto/candidates.ts";
import type { CompareOptions } from "../compare.ts";
import { boundedResult, type SynthesizeResult, synthesize } from "../synthesize.ts";
import { besideEngine } from "./beside.ts";
import { fastestWithin } from "./fastest.ts";
import { KnownPrograms } from "./known-programs.ts";
import { HOPELESS, isRefusal, type LibraryTime, libraryTime } from "./library-time.ts";
import { judged, type MadeProgram, type Making, programUs, unheard } from "./programs.ts";

/** Sizes that one program is for. */
export interface SizeRange {
  /** nccl-tests sizes that its file is for, both included; null: no bound. */
  readonly minBytes: number;
  readonly maxBytes: number | null;
  /** The sizes asked for that lie in the range. */
  readonly sizesBytes: readonly number[];
  readonly algorithm: string;
  /** Of the program, simulated at the first of these sizes. */
  readonly us: number;
  /** At each of these sizes what the program made for it takes, and the fastest that the runtime's library has by itself, if any. */
  readonly beside: readonly BesideLibrary[];
  /** The library's own is faster at these sizes: they are better left to it. Never where the algorithm was named. */
  readonly isLeft: boolean;
  readonly made: MadeProgram;
  /** Algorithms of which no program was made, and why not. */
  readonly passedOver: readonly { readonly algorithm: string; readonly reason: string }[];
}

/** What a program takes at a size, beside what the library behind its runtime runs without it: both simulated as programs. */
export interface BesideLibrary {
  readonly sizeBytes: number;
  readonly us: number;
  readonly library: LibraryTime | null;
}

interface Choice {
  readonly sizeBytes: number;
  readonly algorithm: string;
  readonly us: number;
  readonly result: SynthesizeResult;
  readonly target: ProgramOptions;
  readonly made: MadeProgram;
  readonly library: LibraryTime | null;
  /** Better left to the library, where nobody named the algorithm. */
  readonly isLeft: boolean;
  readonly passedOver: SizeRange["passedOver"];
}

/** Among more ranks programs of fewer copies only are tried. */
const MOST_RANKS_SEARCHED = 32;

/** A program that takes this many times the least is no slower: the first is taken. */
const NO_SLOWER = 1.001;

/** Of f32; what these fill, smaller elements fill too. */
const ELEMENT_BYTES = 4;

/** Copies per root of trees that are tried beside those of the optimum: fewer make fewer, longer steps. */
const COPIES_TRIED = [1, 2, 8];

/** Chunks of phases that are tried beside those of the fastest schedule: fewer make fewer messages. */
const CHUNKS_TRIED = [1, 4, 32];
/** They make no program this many times as fast. */
const MOST_GAINED_BY_CHUNKS = 1.5;

/** Returns what an algorithm is asked: trees also with few copies and phases with few chunks, unless their number is said. */
function requestsFor(
  algorithm: Algorithm,
  { npuCount }: Topology,
  options: Omit<SynthesizeOptions, "algorithm">,
): SynthesizeOptions[] {
  const asked = askedOf(algorithm, options);
  if (algorithm.makes === "phases" && options.chunks === undefined && npuCount <= MOST_RANKS_SEARCHED)
    return [asked, ...CHUNKS_TRIED.map((chunks) => ({ ...asked, chunks }))];
  if (algorithm.traits?.fewCopies !== true || options.k !== undefined) return [asked];
  if (npuCount > MOST_RANKS_SEARCHED && options.group === undefined)
    return manyRanksRequests(algorithm, npuCount, asked);
  return [asked, ...COPIES_TRIED.map((k) => ({ ...asked, k }))];
}

/** Among more ranks a GPU has no room for the thread blocks of many peers. */
const MOST_RANKS_AS_PEERS = 256;

/** Returns what is asked among many ranks: trees of one copy per root, with few peers for each rank where the algorithm can. */
function manyRanksRequests({ traits }: Algorithm, ranks: number, asked: SynthesizeOptions): SynthesizeOptions[] {
  const single = { ...asked, k: 1 };
  const policy = traits?.fewPeersPolicy;
  if (asked.policy !== undefined || policy === undefined) return [single];
  const fewPeers = { ...single, policy };
  return ranks > MOST_RANKS_AS_PEERS ? [fewPeers] : [fewPeers, single];
}

/** Throws InputError where each rank would receive more than any program is made of: before a schedule of steps is made. */
export function refuseManyChunks(topology: Topology, { chunks, ...request }: SynthesizeOptions): void {
  if (typeof chunks !== "number") return;
  const { collective } = problemOf(topology, { ...request, chunks });
  refuseMany(Math.ceil(leastTransfers(collective) / collective.groupSize));
}

/**
 * Returns the program that a runtime would carry out fastest, of those that fit it, in its simulation; first those whose chunks
 * divide the size.
 */
async function choiceFor(
  engine: Engine,
  topology: Topology,
  sizeBytes: number,
  options: CompareOptions,
  target: WantedProgram,
  known = new KnownPrograms(),
): Promise<Choice> {
  const { algorithms, sizesBytes: _, onProgress, ...rest } = options;
  const { candidates, leftOut } = candidatesFor(topology, { ...rest, sizeBytes }, algorithms);
  const found: (Omit<Choice, "passedOver" | "library" | "isLeft"> & { readonly divides: boolean })[] = [];
  /** The least that each algorithm's schedule or programs for the runtime were seen to take. */
  const seen = new Map<string, number>();
  const note = (name: string, us: number): void => void seen.set(name, Math.min(us, seen.get(name) ?? us));
  const unitBytes = target.runtime === "mscclpp" ? MSCCLPP_RUNTIME.alignmentBytes : ELEMENT_BYTES;
  const refused = new Map(leftOut.map(({ algorithm, reason }) => [algorithm, reason]));
  const transfers = leastTransfers(wholeProblem(topology, { ...rest, sizeBytes }).collective);
  let leastUs = Number.POSITIVE_INFINITY;
  for (const [done, algorithm] of trialOrder(candidates, transfers).entries()) {
    const { name } = algorithm;
    onProgress?.({ phase: `try ${name}`, done, total: candidates.length });
    const onStep: Making = (step) => onProgress?.({ ...step, phase: `${name}: ${step.phase}` });
    const slower = (what: string, us: number) =>
      refused.set(name, `its ${what} takes ${timeText(us)}, the fastest program ${timeText(leastUs)}`);
    for (const request of requestsFor(algorithm, topology, { ...rest, sizeBytes })) {
      try {
        if (algorithm.makes === "steps") refuseManyChunks(topology, request);
        const result = await synthesize(engine, topology, request, false);
        const scheduleUs = result.report.time.us;
        if (scheduleUs > HOPELESS * leastUs) {
          slower("schedule", scheduleUs);
          note(name, scheduleUs);
          continue;
        }
        const worthUs = NO_SLOWER * leastUs;
        const program = await fastestWithin(worthUs, result.schedule, target, known, besideEngine(engine), onStep);
        if ("slowerUs" in program) {
          slower("program", program.slowerUs);
          note(name, program.slowerUs);
          if (algorithm.makes === "phases" && program.slowerUs > MOST_GAINED_BY_CHUNKS * leastUs) break;
          continue;
        }
        const { made, options: lowered, us } = program;
        const divides = sizeBytes % (made.program.loopChunks * unitBytes) === 0;
        if (divides) leastUs = Math.min(leastUs, us);
        note(name, us);
        found.push({ sizeBytes, algorithm: name, us, result, target: lowered, made, divides });
      } catch (error) {
        if (!isRefusal(error)) throw error;
        refused.set(name, error.message);
      }
    }
  }
  // runtimes pass over a program whose chunks the elements do not fill
  found.sort(
    (a, b) =>
      Number(b.divides) - Number(a.divides) || catalogueIndex(a.result.report) - catalogueIndex(b.result.report),
  );
  const first = found.filter(({ divides }) => divides === found[0]?.divides);
  const least = first.reduce((us, one) => Math.min(us, one.us), Number.POSITIVE_INFINITY);
  for (const { algorithm } of found) refused.delete(algorithm);
  const passedOver = [...refused].map(([algorithm, reason]) => ({ algorithm, reason }));
  const best = first.find(({ us }) => us <= least * NO_SLOWER);
  if (best !== undefined) {
    const { runtime, instances } = target;
    const library = await libraryTime(engine, topology, { ...rest, sizeBytes }, runtime, { instances, known, seen });
    const isLeft = algorithms === undefined && isFaster(library, best.us);
    return { ...best, library, isLeft, passedOver };
  }
  const [why] = passedOver;
  if (why === undefined) throw new InputError(optionName("algorithm"), "at least one algorithm");
  throw new InputError(
    optionName("algorithm"),
    `one whose program fits the runtime (${why.reason})`,
    why.algorithm,
  ).saying(`${optionName("algorithm")} ${why.algorithm} makes no program for this runtime: ${why.reason}`);
}

/** Returns whether a library's own is faster than a program, by more than times tell. */
const isFaster = (library: LibraryTime | null, us: number): boolean =>
  library !== null && library.us < us && gainText(us, library.us) !== "tie";

/**
 * Returns the schedule whose program a runtime would carry out fastest in its simulation: trees are tried also with few copies
 * and phases with few chunks, unless `k` or `chunks` says how many; with "auto" all algorithms that apply. Throws as synthesize
 * does, and InputError where no program fits the runtime.
 */
export async function synthesizeForRuntime(
  engine: Engine,
  topology: Topology,
  options: SynthesizeOptions & { readonly algorithm: string },
  target: WantedProgram,
): Promise<Pick<Choice, "result" | "us" | "made" | "library"> & { readonly how: ProgramOptions }> {
  const { algorithm, sizeBytes = DEFAULT_SIZE_BYTES, ...rest } = options;
  const named = algorithm === AUTO ? {} : { algorithms: [algorithm] };
  const choice = await choiceFor(engine, topology, sizeBytes, { ...rest, ...named, sizesBytes: [sizeBytes] }, target);
  const { us, made, target: how, result, library } = choice;
  return { us, made, how, library, result: boundedResult(engine, result, options.onProgress) };
}

/** What logs call a range's program: "allreduce-65536-1048575-forestcoll". */
const nameOfRange = ({ schedule, report }: SynthesizeResult, minBytes: number, maxBytes: number | null): string =>
  `${schedule.collective.kind}-${minBytes}-${maxBytes ?? "up"}-${report.algorithm}`;

/**
 * Returns the size from which on the second of two programs is taken: that for which it was made, or the least power of two times
 * `fromBytes`, the last size of the first one, at which it is no slower. O(log log sizes) simulations.
 */
function changeBetween(one: Choice, other: Choice, fromBytes: number): number {
  const usAt = ({ made, result, target: { blockBytesPerSecond } }: Choice, sizeBytes: number) =>
    programUs(made.program, result.schedule, {
      sizeBytes,
      ...(blockBytesPerSecond === undefined ? {} : { blockBytesPerSecond }),
    });
  let [low, high] = [0, Math.ceil(Math.log2(other.sizeBytes / fromBytes))];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    const size = fromBytes * 2 ** middle;
    if (usAt(other, size) <= usAt(one, size)) high = middle;
    else low = middle;
  }
  return Math.min(fromBytes * 2 ** high, other.sizeBytes);
}

/**
 * Returns a program for each range of sizes: the one that is fastest in the simulation of programs at each size asked for, up to
 * where that of the next size is no slower; the first also for smaller and the last for all larger ones. Neighbours with the same program become one range.
 * `onSize` hears after each size but the last what there would be if it were the last one.
 * The ranges do not overlap and leave nothing out, but for sizes beyond what a program is good for. Throws as synthesize does, and InputError where no algorithm's program fits the runtime.
 */
export async function programsBySize(
  engine: Engine,
  topology: Topology,
  options: CompareOptions,
  target: WantedProgram,
  onSize?: (soFar: () => SizeRange[], sizesDone: readonly number[], sizesLeft: readonly number[]) => void,
): Promise<SizeRange[]> {
  const sizes = [...new Set(options.sizesBytes)].sort((a, b) => a - b);
  const choices: Choice[] = [];
  const known = new KnownPrograms();
  for (const [i, size] of sizes.entries()) {
    const at = `${formatSize(size)} (size ${i + 1} of ${sizes.length})`;
    const onProgress: CompareOptions["onProgress"] = (step) =>
      options.onProgress?.({ ...step, phase: `${at}: ${step.phase}` });
    choices.push(await choiceFor(engine, topology, size, { ...options, onProgress }, target, known));
    const done = i + 1;
    if (done < sizes.length) onSize?.(() => rangesOf(choices, sizes), sizes.slice(0, done), sizes.slice(done));
  }
  return rangesOf(choices, sizes);
}

/** Returns the size from which on the second of two choices is taken; a program only where it was seen to be faster than the library. */
function beginOf(one: Choice, other: Choice, lastOfOne: number): number {
  if (one.isLeft === other.isLeft) return changeBetween(one, other, lastOfOne);
  return one.isLeft ? other.sizeBytes : lastOfOne + 1;
}

/** Returns the ranges of the programs that were chosen for the first of some sizes. */
function rangesOf(choices: readonly Choice[], sizes: readonly number[]): SizeRange[] {
  const plain = choices.map((choice) => `${choice.isLeft} ${[...choice.made.parts()].join("")}`);
  const starts = choices.map((_, i) => i).filter((i) => i === 0 || plain[i] !== plain[i - 1]);
  const begins = starts.map((first, r) =>
    r === 0
      ? 0
      : beginOf(choices[starts[r - 1] as number] as Choice, choices[first] as Choice, sizes[first - 1] as number),
  );
  return starts.map((first, r) => {
    const next = starts[r + 1] ?? choices.length;
    const { algorithm, us, result, passedOver, target: options, made, isLeft } = choices[first] as Choice;
    const minBytes = begins[r] as number;
    const last = r + 1 === starts.length ? null : (begins[r + 1] as number) - 1;
    const range = last === null ? { minBytes } : { minBytes, maxBytes: last };
    const program = { ...made.program, name: nameOfRange(result, minBytes, last) };
    const ranged = judged(program, result.schedule, { ...options, ...range }, unheard);
    return {
      minBytes,
      maxBytes: ranged.maxBytes,
      sizesBytes: sizes.slice(first, next),
      algorithm,
      us,
      beside: choices.slice(first, next).map((one) => ({ sizeBytes: one.sizeBytes, us: one.us, library: one.library })),
      isLeft,
      made: ranged,
      passedOver,
    };
  });
}
