import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { mpiCParts } from "../../export/programs/mpi-c.ts";
import { mpiPlanParts } from "../../export/programs/mpi-plan.ts";
import { mscclXmlParts } from "../../export/programs/msccl-xml.ts";
import { becomesCustom } from "../../lower/any-moves.ts";
import { hostsOfRanks } from "../../lower/mpi/lower.ts";
import { goesThroughSwitch } from "../../lower/mscclpp/plan.ts";
import { formatSize } from "../../model/numbers/units.ts";
import { isPeriodSchedule } from "../../model/periods/period-schedule.ts";
import { isPhaseSchedule } from "../../model/phases/phase-schedule.ts";
import type { Program } from "../../model/program/program.ts";
import type { RuntimeName } from "../../model/program/runtime-names.ts";
import type { Schedule } from "../../model/slots/slot-schedule.ts";
import type { AnySchedule } from "../../model/steps/schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { isTreeFlow } from "../../model/trees/tree-flow.ts";
import { count } from "../../report/amounts.ts";
import { LIBRARY_OF } from "../../report/comparison.ts";
import { programText } from "../../report/program-text.ts";
import type { Report } from "../../report/result.ts";
import { dialectOf, programOptions, rangeOf, synthesisOptions } from "../../request/from-texts.ts";
import { hostsOf } from "../../request/hosts.ts";
import { refuseOptions } from "../../request/option-table.ts";
import { progressOf } from "../../request/progress.ts";
import { AUTO, algorithmNamed } from "../../synthesize/catalog.ts";
import { verifyProgram } from "../../verify/program/program.ts";
import { fastestProgram } from "../programs/fastest.ts";
import { libraryTime } from "../programs/library-time.ts";
import { limitViolations, type MadeProgram } from "../programs/programs.ts";
import { refuseManyChunks, synthesizeForRuntime } from "../programs/programs-by-size.ts";
import { writeAtOnce } from "./at-once.ts";
import { type Exporter, lacksMessages, type Written } from "./exporter.ts";
import { LANGUAGE_EXPORTERS } from "./languages.ts";
import {
  besideOf,
  instancesNotes,
  libraryNotes,
  making,
  type Times,
  timesOf,
  worthNotes,
  writeFastest,
  writeProgram,
} from "./program-writing.ts";
import { type ScheduleSubject, synthesized } from "./subject.ts";
import type { World } from "./world.ts";

/** A file of the same machine in another dialect, or with another range of sizes. */
function rewrite(world: World, program: Program, path: string): Written {
  if (program.machine !== "msccl")
    throw new InputError(optionName("to", " msccl-xml"), "a schedule or MSCCL XML", inWords("an MSCCL++ plan")).saying(
      `the file is an MSCCL++ plan; ${optionName("to", " msccl-xml")} takes a schedule or MSCCL XML`,
    );
  const dialect = dialectOf(world.options);
  const parts = () => mscclXmlParts(program, { dialect, ...rangeOf(world.options) });
  world.progress(progressOf({ phase: "limits", done: 0, total: 1 }));
  const found = limitViolations(program, dialect, parts());
  const error = found.find(({ severity }) => severity === "error");
  if (error !== undefined)
    throw new InputError(
      optionName("dialect"),
      `one whose limits the program meets (${error.message}); a schedule or network exported with ${optionName("dialect")} ${dialect} does,`,
      dialect,
    );
  world.progress({ what: "writing" });
  const bytes = world.file(path).write(parts());
  return { bytes, what: programText(program), notes: found.map(({ message }) => message) };
}

/** Writes a plan for MPI again: for other sizes or hosts, or as a program. */
function rewritePlan(world: World, program: Program, path: string, to: "mpi" | "mpi-c"): Written {
  const place = optionName("to", ` ${to}`);
  if (program.mpi === undefined)
    throw new InputError(place, "a schedule or a plan for MPI", inWords("another program")).saying(
      `${place} takes a schedule or a plan for MPI, not a program of GPUs`,
    );
  const found = [...verifyProgram(program, { limit: 1 }).violations, ...limitViolations(program, "mpi", null)];
  const error = found.find(({ severity }) => severity === "error");
  if (error !== undefined) throw new InputError(place, "a plan that is right", error.message);
  const range = rangeOf(world.options);
  const hosts = hostsOf(world.options);
  const { mpi, rankCount } = program;
  const placed =
    hosts === null ? program : { ...program, mpi: { ...mpi, hosts: hostsOfRanks(hosts, rankCount, mpi.group) } };
  const parts = to === "mpi" ? mpiPlanParts(placed, range) : mpiCParts(program, world.mpiEngine(), range);
  world.progress({ what: "writing" });
  const bytes = world.file(path).write(parts);
  const notes =
    to === "mpi"
      ? []
      : [`\`mpicc ${path}\` compiles it; mpirun with ${program.rankCount} processes runs, times and checks it`];
  return { bytes, what: programText(program), notes };
}

/** Trees are made and lowered so that the runtime carries them out fastest. */
async function synthesizeTrees(world: World, topology: Topology, runtime: RuntimeName): Promise<ScheduleSubject> {
  const { options, signal } = world;
  const wanted = synthesisOptions(options);
  const { algorithm } = wanted;
  const { k, ...others } = wanted;
  const making = k === "auto" || k === undefined ? others : wanted;
  const request = world.collective(topology);
  const mayBeTrees = algorithm === AUTO || (algorithm !== undefined && algorithmNamed(algorithm).makes === "trees");
  if (!mayBeTrees || typeof request.collective !== "string") {
    refuseManyChunks(topology, { ...request, ...others });
    const subject = await synthesized(world, topology);
    if (typeof request.collective !== "string") return subject;
    const { instances } = programOptions(options, runtime);
    const { sizeBytes } = subject.schedule.collective;
    const asked = { ...request, ...others, sizeBytes, signal };
    return {
      ...subject,
      libraryTime() {
        world.progress({ what: `simulating what ${LIBRARY_OF[runtime]} takes by itself` });
        return world.withEngine((engine) => libraryTime(engine, topology, asked, runtime, { instances }));
      },
    };
  }
  const { result, us, made, how, library } = await world.withEngine((engine) =>
    synthesizeForRuntime(
      engine,
      topology,
      { ...request, ...making, algorithm, signal, onProgress: (step) => world.progress(progressOf(step)) },
      programOptions(world.options, runtime),
    ),
  );
  return { kind: "schedule", schedule: result.schedule, report: result.report, made, us, how, library };
}

/** Returns what is said of a program that was looked for with its schedule. */
function foundTimes({ schedule, how }: ScheduleSubject, { program }: MadeProgram, report: Report, us: number): Times {
  const copies = report.throughput?.treesPerRoot;
  const trees = copies === null || copies === undefined ? "" : `${count(copies, "copy", "copies")} per root: `;
  const size = formatSize(schedule.collective.sizeBytes);
  const whose = isTreeFlow(schedule) ? "the trees themselves take" : "the schedule itself takes";
  const { notes, facts } = timesOf(program, us, { schedule, us: report.time.us }, size, whose, how ?? {});
  const [first, ...added] = notes;
  return { notes: [`${trees}${first}`, ...added, ...worthNotes(report, program, us)], facts };
}

/** Writes the program that was looked for with its schedule, or the fastest of a schedule that was there before. */
async function writeFound(
  world: World,
  subject: ScheduleSubject,
  runtime: RuntimeName,
  path: string,
): Promise<Written> {
  const { made, us, report } = subject;
  if (made === undefined) return writeFastest(world, subject, programOptions(world.options, runtime), path);
  const written = writeProgram(world, made, path);
  const times = us === undefined || report === null ? null : foundTimes(subject, made, report, us);
  const notes = [...(times?.notes ?? [])];
  if (us !== undefined) notes.push(...libraryNotes(subject.library ?? null, us, runtime));
  if (subject.how !== undefined) notes.push(...instancesNotes(programOptions(world.options, runtime), subject.how));
  const facts = { ...written.facts, ...times?.facts, us, library: subject.library ?? null };
  return { ...written, notes: [...notes, ...(written.notes ?? [])], facts };
}

const isTable = (schedule: AnySchedule): boolean =>
  !isPhaseSchedule(schedule) && !isPeriodSchedule(schedule) && becomesCustom(schedule);

export const PROGRAM_EXPORTERS: readonly Exporter[] = [
  {
    name: "msccl-xml",
    runs: true,
    extension: ".xml",
    description: `a program for microsoft/msccl, Azure's executor or RCCL: --dialect; several by size: --sizes`,
    takes: ["dialect", "placement", "instances", "parts", "threadBlocks", "protocol", "minBytes", "maxBytes"],
    lacks: lacksMessages,
    synthesize: (world, topology) => synthesizeTrees(world, topology, dialectOf(world.options)),
    fromSchedule(world, subject, path) {
      const { schedule } = subject;
      if (isTable(schedule)) return writeAtOnce(world, schedule as Schedule, path);
      if (!isTreeFlow(schedule))
        refuseOptions(world.options, ["parts", "threadBlocks"], "a schedule of trees beside it", "not-alone");
      return writeFound(world, subject, dialectOf(world.options), path);
    },
    fromJoint: (world, { schedule }, path) => writeAtOnce(world, schedule, path),
    fromProgram: (world, { program }, path) => rewrite(world, program, path),
  },
  {
    name: "mscclpp-json",
    runs: true,
    extension: ".json",
    description: "an execution plan for MSCCL++; several by size: --sizes",
    takes: ["placement", "instances", "protocol", "minBytes", "maxBytes"],
    lacks: (schedule) => {
      const lack = lacksMessages(schedule);
      return lack !== null && isTreeFlow(schedule) && goesThroughSwitch(schedule) ? null : lack;
    },
    synthesize: (world, topology) => synthesizeTrees(world, topology, "mscclpp"),
    fromSchedule: (world, subject, path) => writeFound(world, subject, "mscclpp", path),
    fromJoint: (world, subject, path) => writeFastest(world, subject, programOptions(world.options, "mscclpp"), path),
  },
  {
    name: "mpi",
    runs: true,
    extension: ".plan",
    description:
      "a plan for Banyan's runtime for MPI, by which unchanged MPI programs follow the schedule; several by size: --sizes",
    takes: ["parts", "hosts", "minBytes", "maxBytes"],
    lacks: lacksMessages,
    synthesize: (world, topology) => synthesizeTrees(world, topology, "mpi"),
    fromSchedule: (world, subject, path) => writeFound(world, subject, "mpi", path),
    fromProgram: (world, { program }, path) => rewritePlan(world, program, path, "mpi"),
  },
  {
    name: "mpi-c",
    runs: true,
    extension: ".c",
    description:
      "a plan for MPI with its engine as one C file: a function to call, and a main that times and checks it",
    takes: ["parts"],
    lacks: lacksMessages,
    async ready(world) {
      world.mpiEngine();
    },
    synthesize: (world, topology) => synthesizeTrees(world, topology, "mpi"),
    async fromSchedule(world, subject, path) {
      const made =
        subject.made ??
        (await fastestProgram(subject.schedule, programOptions(world.options, "mpi"), besideOf(world), making(world)))
          .made;
      return rewritePlan(world, made.program, path, "mpi-c");
    },
    fromProgram: (world, { program }, path) => rewritePlan(world, program, path, "mpi-c"),
  },
  ...LANGUAGE_EXPORTERS,
];
