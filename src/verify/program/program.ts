import { InputError } from "../../base/errors.ts";
import { blockCount, instructionCount, type Program } from "../../model/program/program.ts";
import { skippedText } from "../../model/steps/skipped-part.ts";
import { checkBounds } from "./program-bounds.ts";
import { stuckBlocks, waitWords } from "./program-deadlock.ts";
import { checkForm, mostOf } from "./program-form.ts";
import { memoryOf, type ProgramMode } from "./program-memory.ts";
import { chunksPerMessage, slotsOf } from "./program-messages.ts";
import { checkOutcome, type ProgramResult, resultOf } from "./program-outcome.ts";
import { checkRaces } from "./program-races.ts";
import { leastCapacity, type Run, run } from "./program-run.ts";
import { valuesOf } from "./program-values.ts";
import type { ProgramViolation } from "./program-violation.ts";
import { type Wiring, wiringOf } from "./program-wiring.ts";
import { type Findings, findings } from "./program-words.ts";

/** The verdict on a program: it is correct when `violationCount` is 0. */
export interface ProgramVerification {
  /** The first errors found, in a fixed order: form, deadlock, then for each kind of call bounds, data races, values. */
  readonly violations: readonly ProgramViolation[];
  readonly violationCount: number;
  readonly warnings: readonly ProgramViolation[];
  /** There were more violations than were kept. */
  readonly truncated: boolean;
  /** "custom": there is no known result to compare with; what each rank ends with is in `results`. */
  readonly collective: Program["collective"];
  /** Kinds of calls for which the program was executed. */
  readonly modes: readonly ProgramMode[];
  /** Of custom programs, in the last of these kinds of calls: what outputs hold in the end, at most so many runs of chunks as violations. */
  readonly results: readonly ProgramResult[];
  readonly facts: ProgramFacts;
}

export interface ProgramFacts {
  readonly instructions: number;
  readonly blocks: number;
  readonly mostBlocksPerRank: number;
  readonly mostStepsPerBlock: number;
  readonly mostScratchChunks: number;
  /** Messages that a connection holds in the runtimes, and chunks that a message takes, as the program was judged. */
  readonly capacity: number;
  readonly messageChunks: number;
  /** The least with which the program ends; null where it does not end with any, or was not executed. */
  readonly leastCapacity: number | null;
}

export interface ProgramVerifyOptions {
  /** Violations kept, of each severity; 100. */
  readonly limit?: number;
  /** Messages that a connection holds. */
  readonly fifoSlots?: number;
  /** Called as ranks' memories are judged. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Returns everything that is wrong with a program, by executing it symbolically, and nothing that its maker says:
 *
 * 1. connections: one block at each end, k-th send and k-th receive of equal chunks; events and barriers that come out even;
 * 2. it ends, with connections that hold as many messages as those of the runtimes;
 * 3. every operand lies in its buffer, as NCCL defines it, in place and out of place, whichever the program is for;
 * 4. no data races: accesses to the same memory, at least one a write, are ordered by block, message, wait, event, barrier or
 *    packet in every course;
 * 5. nothing is read that was not given or written;
 * 6. in the end every output holds what the collective defines, every contribution exactly once; out of place, inputs are
 *    unchanged (a warning: deployed files change them).
 *
 * One course decides all of it: without races, what blocks compute does not depend on when they run (Kahn 1974), and whether
 * they end does not in any case; races are looked for in the order that all courses have in common, not in the one executed.
 * A step that is wrong hides later ones: what has a wrong form is not executed, what never ends computes nothing; with data
 * races, 5 and 6 tell of one course among several.
 *
 * `fifoSlots`: NCCL's connections have 8 slots; a message takes 4 of them with Simple (MSCCL_CHUNKSTEPS is half of NCCL_STEPS in
 * microsoft/msccl), 1 with LL and LL128; so they hold 2 and 8 messages. A message takes as many chunks of an instruction as
 * fit at the greatest size that the program is for, which needs the most room (see program-messages.ts).
 *
 * What a file has besides, and runtimes pass over, is a warning each, the first of all.
 *
 * What may differ in the runtimes and is not judged: slices of a chunk, which follow each other like the chunks of a message;
 * transfers that a proxy carries out late (mscclpp's port channels without flush); memory order weaker than program order; a
 * second call that begins before the first has ended everywhere. Throws InputError for options out of range; never for a
 * program whose columns fit together, however wrong it is. O(chunks moved + ranks x instructions x blocks per rank).
 */
export function verifyProgram(program: Program, options: ProgramVerifyOptions = {}): ProgramVerification {
  const limit = options.limit ?? 100;
  if (!Number.isSafeInteger(limit) || limit < 0)
    throw new InputError("options.limit", "a whole number, 0 or more", limit);
  const capacity = options.fifoSlots ?? slotsOf(program.protocol);
  if (!Number.isSafeInteger(capacity) || capacity < 1)
    throw new InputError("options.fifoSlots", "a whole number, 1 or more", capacity);
  const messageChunks = chunksPerMessage(program);
  const wiring = wiringOf(program);
  const found = findings(program, wiring, limit);
  const modes: ProgramMode[] = [];
  let results: readonly ProgramResult[] = [];
  let least: number | null = null;
  if (checkForm(program, wiring, found)) {
    const course = wholeRun(program, wiring, capacity, messageChunks, found);
    least = course.least;
    if (program.inPlace) modes.push("in place");
    if (program.outOfPlace) modes.push("out of place");
    if (course.order !== null)
      for (const [m, mode] of modes.entries()) {
        const progress = (rank: number): void =>
          options.onProgress?.(m * program.rankCount + rank + 1, modes.length * program.rankCount);
        const ofMode = findings(program, wiring, limit);
        results = judgeMode(program, wiring, course.order, mode, ofMode, limit, progress);
        found.take(ofMode);
      }
  }
  const violationCount = found.errorCount();
  return {
    violations: found.errors,
    violationCount,
    warnings: [...skippedWarnings(program), ...found.warnings].slice(0, limit),
    truncated: violationCount > found.errors.length,
    collective: program.collective,
    modes,
    results,
    facts: factsOf(program, capacity, messageChunks, least),
  };
}

/** Returns a course in which the program ends, if there is one, and the room that it needs; records that it needs too much. */
function wholeRun(
  program: Program,
  wiring: Wiring,
  capacity: number,
  messageChunks: number,
  found: Findings,
): { readonly order: Int32Array | null; readonly least: number | null } {
  const whole = (course: Run): boolean => course.order.length === instructionCount(program);
  const bounded = run(program, wiring, capacity, messageChunks);
  if (whole(bounded))
    return { order: bounded.order, least: leastCapacity(program, wiring, bounded.deepest, messageChunks) };
  const boundless = run(program, wiring, Number.POSITIVE_INFINITY, messageChunks);
  const least = whole(boundless) ? leastCapacity(program, wiring, boundless.deepest, messageChunks) : null;
  const course = least === null ? boundless : bounded;
  const blocks = stuckBlocks(program, wiring, course);
  const room =
    least === null
      ? ""
      : `; the program needs connections that hold ${least} messages, where the runtime's hold ${capacity}`;
  const first = blocks.length === 0 ? undefined : course.at[blocks[0]];
  found.error(
    "deadlock",
    () => `${blocks.length > 1 ? "in a circle" : "for ever"}, ${waitWords(program, wiring, course, blocks)}${room}`,
    first,
  );
  return { order: least === null ? null : boundless.order, least };
}

function judgeMode(
  program: Program,
  wiring: Wiring,
  order: Int32Array,
  mode: ProgramMode,
  found: Findings,
  limit: number,
  progress: (rank: number) => void,
): readonly ProgramResult[] {
  const memory = memoryOf(program, mode);
  const words = memory.cells * (8 + Math.ceil(program.rankCount / 32));
  if (words > MOST_WORDS) {
    found.error("too-large", () => `the buffers of all gpus have ${memory.cells} chunks, more than can be judged`);
    return [];
  }
  if (!checkBounds(program, wiring, memory, found)) return [];
  checkRaces(program, wiring, memory, order, found, progress);
  const values = valuesOf(program, wiring, memory, order, found);
  if (program.collective !== "custom") checkOutcome(program, wiring, memory, values, found);
  return program.collective === "custom" ? resultOf(program, memory, values, limit) : [];
}

const skippedWarnings = ({ skipped = [] }: Program): ProgramViolation[] =>
  skipped.map((part) => ({ kind: "skipped", severity: "warning", message: skippedText(part), line: part.line }));

/** Words of 4 bytes that memory and values may take. */
const MOST_WORDS = 2 ** 27;

function factsOf(program: Program, capacity: number, messageChunks: number, least: number | null): ProgramFacts {
  const { blocks, steps } = mostOf(program);
  return {
    instructions: instructionCount(program),
    blocks: blockCount(program),
    mostBlocksPerRank: blocks,
    mostStepsPerBlock: steps,
    mostScratchChunks: program.scratchChunks.reduce((most, chunks) => Math.max(most, chunks), 0),
    capacity,
    messageChunks,
    leastCapacity: least,
  };
}
