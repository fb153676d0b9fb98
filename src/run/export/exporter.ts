import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import type { AnySchedule } from "../../model/steps/schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { demandForwarding, isTreeFlow } from "../../model/trees/tree-flow.ts";
import { refuseProgramOptions } from "../../request/from-texts.ts";
import type { OptionId } from "../../request/option-table.ts";
import { refuseWrong } from "../judge.ts";
import type { JointSubject, NetworkSubject, ProgramSubject, ScheduleSubject, Subject } from "./subject.ts";
import type { World } from "./world.ts";

/** What was written. */
export interface Written {
  readonly bytes: number;
  /** "12 transfers", "2 files": for people. */
  readonly what: string;
  /** What the user should know, a sentence each. */
  readonly notes?: readonly string[];
  /** Further facts for --json. */
  readonly facts?: Readonly<Record<string, unknown>>;
}

/** Switches that duplicate and sum leave no messages between NPUs; transfers and phases have no trees. */
export type Lack = "messages" | "trees";

/** Returns the lack of a schedule in formats of messages between NPUs. */
export const lacksMessages = (schedule: AnySchedule): Lack | null =>
  isTreeFlow(schedule) && schedule.inNetwork === true ? "messages" : null;

/** A format that `banyan export` and the page write; `path` is where to. */
export interface Exporter {
  readonly name: string;
  readonly description: string;
  /** What names of its files end with, the dot included; "" for folders. */
  readonly extension: string;
  /** Options of programs that it takes. */
  readonly takes?: readonly OptionId[];
  /** What it writes is carried out: of a file that is wrong nothing is written. */
  readonly runs?: true;
  /** It writes a folder of files. */
  readonly folder?: true;
  /** Throws InputError where the world lacks what the format needs; asked before long work. */
  ready?(world: World): Promise<void>;
  /** Makes the schedule that suits the format best; without it, the one that `synth` makes. */
  synthesize?(world: World, topology: Topology): Promise<ScheduleSubject>;
  /** Returns what the format is made of and a schedule has none of; without it, every schedule can be written. */
  lacks?(schedule: AnySchedule): Lack | null;
  fromSchedule?(world: World, subject: ScheduleSubject, path: string): Promise<Written> | Written;
  fromJoint?(world: World, subject: JointSubject, path: string): Promise<Written> | Written;
  fromProgram?(world: World, subject: ProgramSubject, path: string): Promise<Written> | Written;
  fromNetwork?(world: World, subject: NetworkSubject, path: string): Promise<Written> | Written;
}

/** Throws InputError for --no-nvls where neither trees are reported nor a plan is made. */
function refuseNvls({ name }: Exporter, { options }: World, subject: Subject): void {
  const reportsTrees = subject.kind === "schedule" && subject.report !== null && isTreeFlow(subject.schedule);
  if (options["nvls"] !== false || reportsTrees || (name === "mscclpp-json" && subject.kind === "schedule")) return;
  throw new InputError(
    optionName("nvls"),
    `${optionName("to")} mscclpp-json, or an algorithm that makes trees, beside it`,
    name,
  ).as("not-alone");
}

/** What a program may be written again for. */
const OF_PROGRAMS: readonly OptionId[] = ["dialect", "hosts", "minBytes", "maxBytes"];

/** Writes a subject in a format that takes it. Throws InputError where it does not. */
export async function exportTo(exporter: Exporter, world: World, subject: Subject, path: string): Promise<Written> {
  const takes = exporter.takes ?? [];
  if (subject.kind === "program" && takes.length > 0)
    refuseProgramOptions(
      world.options,
      takes.filter((id) => OF_PROGRAMS.includes(id)),
      `${subject.name}, which is a program already,`,
    );
  else refuseProgramOptions(world.options, takes, `${optionName("to")} ${exporter.name}`);
  refuseNvls(exporter, world, subject);
  if (subject.kind === "schedule" && exporter.fromSchedule !== undefined) {
    const { schedule } = subject;
    if (isTreeFlow(schedule) && exporter.lacks?.(schedule) === "messages")
      demandForwarding(schedule, optionName("to", ` ${exporter.name}`));
    if (exporter.runs === true && subject.report === null) refuseWrong(schedule, subject.name ?? "the schedule");
    return exporter.fromSchedule(world, subject, path);
  }
  if (subject.kind === "joint") {
    if (exporter.fromJoint === undefined)
      throw new InputError(
        subject.name,
        "a schedule of one collective",
        inWords(`one of ${subject.schedule.tenants.length} at once`),
      );
    refuseWrong(subject.schedule, subject.name);
    return exporter.fromJoint(world, subject, path);
  }
  if (subject.kind === "program" && exporter.fromProgram !== undefined)
    return exporter.fromProgram(world, subject, path);
  if (subject.kind === "network") {
    if (exporter.fromNetwork !== undefined) return exporter.fromNetwork(world, subject, path);
    const [to, collective] = [optionName("to"), optionName("collective")];
    throw new InputError(to, `${collective} beside it, or a file of a schedule`, exporter.name)
      .as("not-alone")
      .saying(`${to} ${exporter.name} of a network needs ${collective}, e.g. ${collective} allreduce`);
  }
  const made = exporter.fromSchedule === undefined ? "" : " (`banyan synth ... -o FILE.json` writes a schedule)";
  return refuseSubject(exporter, `a ${subject.kind}`, `name one in its place${made}`);
}

/** Throws InputError where a format takes no schedules and one would have to be made: before that is done. */
export function demandSchedules(exporter: Exporter): void {
  if (exporter.fromSchedule === undefined)
    refuseSubject(exporter, "a schedule", `leave ${optionName("collective")} out`);
}

/** Throws InputError for what a format does not take; `instead`: what to do. */
function refuseSubject(exporter: Exporter, what: string, instead: string): never {
  const kinds = [
    ...(exporter.fromSchedule === undefined ? [] : ["a schedule"]),
    ...(exporter.fromProgram === undefined ? [] : ["a program"]),
    ...(exporter.fromNetwork === undefined ? [] : ["a network"]),
  ].join(" or ");
  const place = optionName("to", ` ${exporter.name}`);
  throw new InputError(place, kinds, inWords(what)).saying(`${place} is made of ${kinds}, not of ${what}: ${instead}`);
}
