import { InputError } from "../../errors.ts";
import type { Topology } from "../../model/topology.ts";
import { type ProgramOption, refuseProgramOptions } from "../../words/program-options.ts";
import type { Context } from "../context.ts";
import { nameOf } from "../input-file.ts";
import type { NetworkSubject, ProgramSubject, ScheduleSubject, Subject } from "../subject.ts";

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

/** A format that `banyan export` writes; `path` is -o. */
export interface Exporter {
  readonly name: string;
  readonly description: string;
  /** Options of programs that it takes. */
  readonly takes?: readonly ProgramOption[];
  /** It writes a folder of files. */
  readonly folder?: true;
  /** Makes the schedule that suits the format best; without it, the one that `synth` makes. */
  synthesize?(context: Context, topology: Topology): Promise<ScheduleSubject>;
  fromSchedule?(context: Context, subject: ScheduleSubject, path: string): Promise<Written> | Written;
  fromProgram?(context: Context, subject: ProgramSubject, path: string): Promise<Written> | Written;
  fromNetwork?(context: Context, subject: NetworkSubject, path: string): Promise<Written> | Written;
}

/** Writes a subject in a format that takes it. Throws InputError where it does not. */
export async function exportTo(exporter: Exporter, context: Context, subject: Subject, path: string): Promise<Written> {
  const takes = exporter.takes ?? [];
  if (subject.kind === "program" && takes.length > 0)
    refuseProgramOptions(
      context,
      ["dialect", "minBytes", "maxBytes"],
      `${nameOf(subject.file)}, which is a program already,`,
    );
  else refuseProgramOptions(context, takes, `--to ${exporter.name}`);
  if (subject.kind === "schedule" && exporter.fromSchedule !== undefined)
    return exporter.fromSchedule(context, subject, path);
  if (subject.kind === "program" && exporter.fromProgram !== undefined)
    return exporter.fromProgram(context, subject, path);
  if (subject.kind === "network") {
    if (exporter.fromNetwork !== undefined) return exporter.fromNetwork(context, subject, path);
    throw new InputError(
      "--to",
      "--collective beside it, or a file of a schedule, for what is written of schedules",
      exporter.name,
    );
  }
  const kinds = [
    ...(exporter.fromSchedule === undefined ? [] : ["a schedule"]),
    ...(exporter.fromProgram === undefined ? [] : ["a program"]),
    ...(exporter.fromNetwork === undefined ? [] : ["a network"]),
  ];
  throw new InputError(`--to ${exporter.name}`, kinds.join(" or "), `a ${subject.kind}`);
}
