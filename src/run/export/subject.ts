import type { JointSchedule } from "../../model/joint/joint-schedule.ts";
import type { Program } from "../../model/program/program.ts";
import type { AnySchedule } from "../../model/steps/schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { Report } from "../../report/result.ts";
import { type ProgramOptions, synthesisOptions } from "../../request/from-texts.ts";
import { progressOf } from "../../request/progress.ts";
import { AUTO, algorithmNamed, USUAL_ALGORITHM } from "../../synthesize/catalog.ts";
import type { LibraryTime } from "../programs/library-time.ts";
import type { MadeProgram } from "../programs/programs.ts";
import { synthesize } from "../synthesize.ts";
import type { World } from "./world.ts";

/** A schedule, read from a file or just made: then with its report. */
export interface ScheduleSubject {
  readonly kind: "schedule";
  readonly schedule: AnySchedule;
  /** Null where it was read: then nobody has judged it yet. */
  readonly report: Report | null;
  /** What messages call it: its file. */
  readonly name?: string;
  /** Read from a file: what reports say of its algorithm. */
  readonly algorithm?: string;
  /** Its program, where that was looked for with it. */
  readonly made?: MadeProgram;
  /** What that takes in the simulation of programs. */
  readonly us?: number;
  /** How it was lowered. */
  readonly how?: ProgramOptions;
  /** What the library behind the runtime has by itself, where that was looked for. */
  readonly library?: LibraryTime | null;
  /** Asks for it, once the program is there. */
  readonly libraryTime?: () => Promise<LibraryTime | null>;
}
/** A schedule of several collectives at once, read from a file. */
export interface JointSubject {
  readonly kind: "joint";
  readonly schedule: JointSchedule;
  /** What messages call it: its file. */
  readonly name: string;
}
export interface ProgramSubject {
  readonly kind: "program";
  /** What messages call it: its file. */
  readonly name: string;
  readonly program: Program;
}
export interface NetworkSubject {
  readonly kind: "network";
  readonly topology: Topology;
}

/** What is exported: a schedule of one collective or of several, a program, or a network. */
export type Subject = ScheduleSubject | JointSubject | ProgramSubject | NetworkSubject;

/** Returns the schedule that the options of synthesis ask for on a network. Throws as synthesize does. */
export async function synthesized(world: World, topology: Topology): Promise<ScheduleSubject> {
  const { options, signal } = world;
  // --no-nvls is also for the program that is made of steps
  const { nvls, ...wanted } = synthesisOptions(options);
  const { algorithm = USUAL_ALGORITHM } = wanted;
  const takesNvls = algorithm === AUTO || algorithmNamed(algorithm).options?.includes("nvls") === true;
  const request = { ...world.collective(topology), ...wanted, ...(nvls !== undefined && takesNvls && { nvls }) };
  const { schedule, report } = await world.withEngine((engine) =>
    synthesize(engine, topology, { ...request, signal, onProgress: (step) => world.progress(progressOf(step)) }),
  );
  return { kind: "schedule", schedule, report };
}
