import { optionName } from "../../base/option-names.ts";
import { kindOf } from "../../kinds/kinds.ts";
import { type GivenSchedule, isJoint } from "../../model/joint/joint-schedule.ts";
import { formatBandwidth, formatSize, PS_PER_US } from "../../model/numbers/units.ts";
import type { Program } from "../../model/program/program.ts";
import type { RuntimeName } from "../../model/program/runtime-names.ts";
import { count, percent, timeText } from "../../report/amounts.ts";
import { LIBRARY_OF } from "../../report/comparison.ts";
import { gainText } from "../../report/gains.ts";
import { differencesJson, differencesText, programSizeText, programText } from "../../report/program-text.ts";
import type { Report } from "../../report/result.ts";
import { type ProgramOptions, rangeOf, type WantedProgram } from "../../request/from-texts.ts";
import { progressOf } from "../../request/progress.ts";
import type { Beside } from "../programs/beside.ts";
import { differencesOf } from "../programs/differences.ts";
import { fastestProgram } from "../programs/fastest.ts";
import type { LibraryTime } from "../programs/library-time.ts";
import { callOf, type MadeProgram } from "../programs/programs.ts";
import type { Written } from "./exporter.ts";
import type { World } from "./world.ts";

/** Returns facts of a program for people and for --json. */
function writtenProgram(made: MadeProgram, asked: number | undefined, bytes: number): Written {
  const { program, verification, warnings, maxBytes } = made;
  const { facts } = verification;
  return {
    bytes,
    what: `${programText(program)}: ${programSizeText(program)}, at most ${facts.mostBlocksPerRank} on a ${program.mpi === undefined ? "GPU" : "process"} and ${count(facts.mostStepsPerBlock, "step")} in one; verified`,
    notes: [
      ...(maxBytes === null || maxBytes === asked ? [] : [`for sizes up to ${formatSize(maxBytes)}, as its file says`]),
      ...firstOfEach(warnings),
    ],
    facts: { program: facts },
  };
}

/** Returns the first warning of each kind, with how many more there are: GPUs of a large program all have the same. */
function firstOfEach(warnings: MadeProgram["warnings"]): string[] {
  const kinds = [...new Set(warnings.map(({ kind }) => kind))];
  return kinds.map((one) => {
    const [first, ...more] = warnings.filter(({ kind }) => kind === one);
    return `${first?.message}${more.length === 0 ? "" : `, and ${count(more.length, "more warning")} of this kind`}`;
  });
}

/** Returns what hears how far the making of a program is. */
export const making =
  (world: World) =>
  (step: Parameters<typeof progressOf>[0]): void =>
    world.progress(progressOf(step));

/** Returns what lets threads do work. */
export const besideOf =
  (world: World): Beside =>
  (work) =>
    world.withEngine((engine) => work(engine.pool()));

/** Writes a program that was made. */
export function writeProgram(world: World, made: MadeProgram, path: string): Written {
  world.progress({ what: "writing" });
  return writtenProgram(made, rangeOf(world.options).maxBytes, world.file(path).write(made.parts()));
}

/** Writes the fastest program of a schedule, with what it takes, what the schedule does, and how good that is. */
export async function writeFastest(
  world: World,
  {
    schedule,
    report = null,
    libraryTime,
  }: {
    readonly schedule: GivenSchedule;
    readonly report?: Report | null;
    /** Asks what the library behind the runtime takes by itself. */
    readonly libraryTime?: () => Promise<LibraryTime | null>;
  },
  options: WantedProgram,
  path: string,
): Promise<Written> {
  const { made, us, options: how } = await fastestProgram(schedule, options, besideOf(world), making(world));
  const written = writeProgram(world, made, path);
  const scheduleUs = report?.time.us ?? (kindOf(schedule).simulate({})?.ps ?? 0) / PS_PER_US;
  const { sizeBytes } = callOf(made.program, schedule);
  const what = made.program.table === undefined ? formatSize(sizeBytes) : "the schedule's sizes";
  const asPlanned = { schedule, us: scheduleUs };
  const times = timesOf(made.program, us, asPlanned, what, "the schedule itself takes", how);
  const worth =
    report === null ? adviceFor(schedule, made.program, us, scheduleUs) : worthNotes(report, made.program, us);
  const library = (await libraryTime?.()) ?? null;
  return {
    ...written,
    notes: [
      ...times.notes,
      ...callNotes(made.program, sizeBytes),
      ...instancesNotes(options, how),
      ...worth,
      ...libraryNotes(library, us, options.runtime),
      ...(written.notes ?? []),
    ],
    facts: { ...written.facts, ...times.facts, ...(libraryTime === undefined ? {} : { us, library }) },
  };
}

/** Returns how many instances a program has, where that was to be found, and what it is due to. */
export function instancesNotes({ instances: asked }: WantedProgram, how: ProgramOptions): string[] {
  if (asked !== "auto") return [];
  const { instances, blockBytesPerSecond: rate, runtime } = how;
  const found =
    instances === undefined && runtime === "mscclpp"
      ? "instances that keep 8 thread blocks of a GPU busy"
      : count(instances ?? 1, "instance");
  return [
    rate === undefined
      ? `${found}: what a thread block of these GPUs can move is not known, so the time is of blocks that fill their links`
      : `${found}: a thread block moves ${formatBandwidth(rate)} at most here, as NCCL counts a channel, and the time counts with that`,
  ];
}

/** Below this share of the limit of any algorithm, and above this many times its schedule's time, a program is worth another one. */
const NEAR = 0.9;
const SLOWER = 1.25;
const OTHERS =
  "`export TOPO --sizes` looks for the algorithm whose program is fastest, `compare TOPO --programs` sets it beside the libraries'";

/** Returns which algorithm a program is of, how near to the limit it is, and what may be nearer. */
export function worthNotes({ algorithm, time, limit, classLimit }: Report, { machine }: Program, us: number): string[] {
  const share = limit.us / us;
  const by = `by ${algorithm}: ${percent(share)} of the limit of any algorithm (${timeText(limit.us)})`;
  const forwardingUs = classLimit?.of === "forwarding switches" ? classLimit.us : (classLimit?.forwardingUs ?? 0);
  if (share >= NEAR && us <= SLOWER * time.us) return [by];
  const letsSum = us < forwardingUs;
  if (share >= NEAR || letsSum || forwardingUs * NEAR <= limit.us) return [by, OTHERS];
  const plan = machine === "mscclpp" ? "" : `${optionName("to")} mscclpp-json `;
  const sums = `here switches only forward, which costs ${timeText(forwardingUs - limit.us)} at least`;
  return [
    by,
    `${sums}: MSCCL++ plans let them sum, which pays from some MiB on (${plan}${optionName("algorithm")} nvls)`,
    OTHERS,
  ];
}

/** What is said of the times of a program and its schedule. */
export interface Times {
  readonly notes: readonly string[];
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Returns what a runtime needs for a program beside what its schedule takes, and why; `whose`: "the schedule itself takes". */
export function timesOf(
  program: Program,
  us: number,
  { schedule, us: scheduleUs }: { readonly schedule: GivenSchedule; readonly us: number },
  what: string,
  whose: string,
  how: Pick<ProgramOptions, "blockBytesPerSecond">,
): Times {
  const why = differencesOf(program, schedule, how, scheduleUs);
  const text = why === null ? "" : differencesText(why);
  return {
    notes: [
      `${timeText(us)} for ${what} in the simulation of programs; ${whose} ${timeText(scheduleUs)}`,
      ...(text === "" ? [] : [`between the two: ${text}`]),
    ],
    facts: { times: { scheduleUs, programUs: us, differences: why === null ? null : differencesJson(why) } },
  };
}

/** Returns what may make a faster program, of a schedule without a report. */
function adviceFor(schedule: GivenSchedule, { table }: Program, us: number, scheduleUs: number): string[] {
  if (us <= SLOWER * scheduleUs) return [];
  if (table === undefined) return [OTHERS];
  // each chunk of an all-to-all-v has one target: no more transfers than chunks relay nothing
  if (isJoint(schedule) || !("route" in schedule) || schedule.chunk.length <= schedule.collective.chunkCount) return [];
  return [
    `what is relayed waits for what its thread blocks carry before it: ${optionName("algorithm")} direct relays nothing`,
  ];
}

/** Returns how the program of a table is called. */
function callNotes({ table, machine }: Program, sizeBytes: number): string[] {
  if (table === undefined) return [];
  const size = `${sizeBytes} bytes`;
  return machine === "msccl"
    ? [
        `call ncclCustomCollective on every rank with a count of ${size}, the largest buffer; others are used as far as their chunks go`,
      ]
    : [
        `every rank hands its own buffers to the executor, a whole number of chunks as its input_chunks and output_chunks say`,
      ];
}

/** Returns the same as a note, none where the library has nothing. */
export const libraryNotes = (library: LibraryTime | null, us: number, runtime: RuntimeName): string[] =>
  library === null ? [] : [libraryNote(library, us, runtime)];

/** Returns what the library behind a runtime takes by itself, beside a program of it. */
export function libraryNote(
  { algorithm, library, us: libraryUs }: LibraryTime,
  us: number,
  runtime: RuntimeName,
): string {
  const whose = library ?? LIBRARY_OF[runtime];
  const both = `library ${timeText(libraryUs)} (${algorithm} of ${whose}), this ${timeText(us)}`;
  const gain = gainText(libraryUs, us);
  if (gain === "tie") return `${both}: a tie`;
  return us < libraryUs ? `${both}: ${gain} as fast` : `${both}: the library is the better choice`;
}
