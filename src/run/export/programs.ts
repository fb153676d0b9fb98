import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { mscclXmlParts } from "../../export/programs/msccl-xml.ts";
import { kindOf } from "../../kinds/kinds.ts";
import { asJoint, becomesCustom } from "../../lower/any-moves.ts";
import { goesThroughSwitch } from "../../lower/mscclpp/plan.ts";
import { byGroup } from "../../model/joint/by-group.ts";
import { type GivenSchedule, isJoint, type JointSchedule } from "../../model/joint/joint-schedule.ts";
import { formatSize, PS_PER_US } from "../../model/numbers/units.ts";
import { isPhaseSchedule } from "../../model/phases/phase-schedule.ts";
import type { Program } from "../../model/program/program.ts";
import { RUNTIMES } from "../../model/program/runtimes.ts";
import type { Schedule } from "../../model/slots/slot-schedule.ts";
import type { AnySchedule } from "../../model/steps/schedule.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { isTreeFlow } from "../../model/trees/tree-flow.ts";
import { count, timeText } from "../../report/amounts.ts";
import { programSizeText, programText } from "../../report/program-text.ts";
import { dialectOf, type ProgramOptions, programOptions, rangeOf, synthesisOptions } from "../../request/from-texts.ts";
import { refuseOptions } from "../../request/option-table.ts";
import { progressOf } from "../../request/progress.ts";
import { AUTO, algorithmNamed } from "../../synthesize/catalog.ts";
import {
  callOf,
  fastestProgram,
  limitViolations,
  type MadeProgram,
  MOST_SIMULATED_INSTRUCTIONS,
  programOf,
  programUs,
} from "../programs/programs.ts";
import { synthesizeForRuntime } from "../programs/programs-by-size.ts";
import { type Exporter, lacksMessages, type Written } from "./exporter.ts";
import { type ScheduleSubject, synthesized } from "./subject.ts";
import type { World } from "./world.ts";

/** Returns facts of a program for people and for --json. */
function writtenProgram({ program, verification, warnings }: MadeProgram, bytes: number): Written {
  const { facts } = verification;
  return {
    bytes,
    what: `${programText(program)}: ${programSizeText(program)}, at most ${facts.mostBlocksPerRank} on a GPU and ${count(facts.mostStepsPerBlock, "step")} in one; verified`,
    notes: warnings.map(({ message }) => message),
    facts: { program: facts },
  };
}

function write(world: World, made: MadeProgram, path: string): Written {
  return writtenProgram(made, world.file(path).write([made.text]));
}

/** A program that takes so many times what its schedule takes is worth another one. */
const SLOWER = 1.25;

/** Returns what a runtime would need for the program beside what the schedule itself takes, where that is soon told. */
function timeNotes(schedule: GivenSchedule, { program, verification }: MadeProgram): string[] {
  if (verification.facts.instructions > MOST_SIMULATED_INSTRUCTIONS) return [];
  const { sizeBytes } = callOf(program, schedule);
  const us = programUs(program, schedule, sizeBytes);
  const kind = kindOf(schedule);
  const what = program.table === undefined ? formatSize(sizeBytes) : `the schedule's sizes`;
  if (kind.name === "trees") return [`${timeText(us)} for ${what} in the simulation of programs`];
  const own = (kind.simulate({})?.ps ?? 0) / PS_PER_US;
  const advice = us > SLOWER * own ? adviceFor(schedule, program) : [];
  const both = `${timeText(us)} for ${what} in the simulation of programs; the schedule itself takes ${timeText(own)}`;
  return [both, ...callNotes(program, sizeBytes), ...advice];
}

/** Returns what may make a faster program. */
function adviceFor(schedule: GivenSchedule, { table }: Program): string[] {
  if (table === undefined) return [`\`export TOPO --sizes\` looks for the algorithm whose program is fastest`];
  if (isJoint(schedule)) return [];
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

/**
 * Writes MSCCL XML of what is no single named collective: one program where the runtime knows custom ones, else a folder with a
 * program for each group of each collective, for a communicator of that group; one for groups whose programs are the same.
 */
function writeAtOnce(world: World, schedule: Schedule | JointSchedule, path: string): Written {
  const dialect = dialectOf(world.options);
  const options = programOptions(world.options, dialect);
  const { collectives, title } = RUNTIMES[dialect];
  if (collectives.custom !== undefined) return writeTable(world, schedule, options, path);
  refuseOptions(world.options, ["parts", "threadBlocks"], "a schedule of trees beside it", "not-alone");
  const joint = isJoint(schedule) ? schedule : asJoint(schedule);
  if (joint.tenants.some(({ collective }) => collective.kind === "custom"))
    throw new InputError(
      optionName("dialect"),
      `msccl for a custom collective, which ${title} has no name for,`,
      dialect,
    ).as("not-applicable");
  const folder = world.folder(path);
  const made = byGroup(joint)
    .filter(({ schedule: own }) => own.collective.groupSize > 1)
    .map((one) => ({ ...one, made: programOf(one.schedule, options) }));
  const files = new Map<string, { readonly name: string; readonly of: typeof made }>();
  for (const one of made) {
    const { kind, sizeBytes } = one.schedule.collective;
    const name = `${one.tenant}-${kind}-${sizeBytes}-group-${one.group}.xml`;
    const known = files.get(one.made.text);
    if (known === undefined) files.set(one.made.text, { name, of: [one] });
    else known.of.push(one);
  }
  const bytes = folder.write([...files].map(([text, { name }]) => ({ name, parts: [text] })));
  const notes = [...files.values()].map(({ name, of }) => {
    const { schedule: own, made: first } = of[0] as (typeof made)[number];
    const us = timeText(programUs(first.program, own));
    const groups = of.map(({ schedule: each }) => npuNames(each));
    return `${name}: for a communicator of ${groups.join(" or of ")}; ${us} by itself in the simulation of programs`;
  });
  const lone = [...files.values()].some(
    ({ of }) => of.length < joint.tenants[of[0]?.tenant as number]?.collective.groupCount,
  );
  return {
    bytes,
    what: `${count(files.size, "program")} of ${count(made.length, "communicator")}, verified`,
    notes: [
      ...notes,
      ...(lone ? [`groups differ: hand each process those of its own groups only (MSCCL_ALGO_DIR)`] : []),
      `${title} has no custom collective: a program for each communicator, which run side by side`,
    ],
    facts: {
      files: [...files.values()].map(({ name, of }) => ({
        file: name,
        groups: of.map(({ schedule: each }) => npuNames(each)),
      })),
    },
  };
}

const npuNames = ({ topology, collective }: StepSchedule): string =>
  Array.from(collective.groupMembers, (npu) => topology.nodeNames[npu]).join(",");

const isTable = (schedule: AnySchedule): boolean => !isPhaseSchedule(schedule) && becomesCustom(schedule);

/** Writes the program of a custom collective, of several groups or of several collectives at once. */
function writeTable(world: World, schedule: GivenSchedule, options: ProgramOptions, path: string): Written {
  refuseOptions(world.options, ["threadBlocks"], "a schedule of trees beside it", "not-alone");
  const made = fastestProgram(schedule, options);
  const written = write(world, made, path);
  return { ...written, notes: [...timeNotes(schedule, made), ...(written.notes ?? [])] };
}

/** A file of the same machine in another dialect, or with another range of sizes. */
function rewrite(world: World, program: Program, path: string): Written {
  if (program.machine !== "msccl")
    throw new InputError(optionName("to", " msccl-xml"), "a schedule or MSCCL XML", "an MSCCL++ plan");
  const dialect = dialectOf(world.options);
  const text = [...mscclXmlParts(program, { dialect, ...rangeOf(world.options) })].join("");
  const found = limitViolations(program, dialect, text);
  const error = found.find(({ severity }) => severity === "error");
  if (error !== undefined)
    throw new InputError(
      optionName("dialect"),
      `one whose limits the program meets (${error.message}); a schedule or network exported with ${optionName("dialect")} ${dialect} does,`,
      dialect,
    );
  const bytes = world.file(path).write([text]);
  return { bytes, what: programText(program), notes: found.map(({ message }) => message) };
}

/** Trees are made and lowered so that the runtime carries them out fastest. */
async function synthesizeTrees(world: World, topology: Topology): Promise<ScheduleSubject> {
  const { options, signal } = world;
  const wanted = synthesisOptions(options);
  const { algorithm } = wanted;
  const { k, ...others } = wanted;
  const making = k === "auto" || k === undefined ? others : wanted;
  const request = world.collective(topology);
  const mayBeTrees = algorithm === AUTO || (algorithm !== undefined && algorithmNamed(algorithm).makes === "trees");
  if (!mayBeTrees || typeof request.collective !== "string") return synthesized(world, topology);
  const { result, us, target } = await world.withEngine((engine) =>
    synthesizeForRuntime(
      engine,
      topology,
      { ...request, ...making, algorithm, signal, onProgress: (step) => world.progress(progressOf(step)) },
      programOptions(world.options, dialectOf(world.options)),
    ),
  );
  const { schedule, report } = result;
  const copies = report.throughput?.treesPerRoot;
  const trees = copies === null || copies === undefined ? "" : `${count(copies, "copy", "copies")} per root: `;
  const size = formatSize(schedule.collective.sizeBytes);
  return {
    kind: "schedule",
    schedule,
    report,
    ...(target.parts === undefined ? {} : { parts: target.parts }),
    note: `${trees}${timeText(us)} for ${size} in the simulation of programs; the ${isTreeFlow(schedule) ? "trees themselves take" : "schedule itself takes"} ${timeText(report.time.us)}`,
  };
}

export const PROGRAM_EXPORTERS: readonly Exporter[] = [
  {
    name: "msccl-xml",
    runs: true,
    extension: ".xml",
    description: `a program for microsoft/msccl, Azure's executor or RCCL: --dialect; several by size: --sizes`,
    takes: ["dialect", "placement", "instances", "parts", "threadBlocks", "protocol", "minBytes", "maxBytes"],
    lacks: lacksMessages,
    synthesize: synthesizeTrees,
    fromSchedule(world, { schedule, note, parts }, path) {
      if (isTable(schedule)) return writeAtOnce(world, schedule as Schedule, path);
      if (!isTreeFlow(schedule))
        refuseOptions(world.options, ["parts", "threadBlocks"], "a schedule of trees beside it", "not-alone");
      const options = programOptions(world.options, dialectOf(world.options));
      const made = programOf(schedule, parts === undefined ? options : { ...options, parts });
      const written = write(world, made, path);
      const times = note === undefined ? timeNotes(schedule, made) : [note];
      return { ...written, notes: [...times, ...(written.notes ?? [])] };
    },
    fromJoint: (world, { schedule }, path) => writeAtOnce(world, schedule, path),
    fromProgram: (world, { program }, path) => rewrite(world, program, path),
  },
  {
    name: "mscclpp-json",
    runs: true,
    extension: ".json",
    description: "an execution plan for MSCCL++",
    takes: ["placement", "instances", "protocol", "minBytes", "maxBytes"],
    lacks: (schedule) => {
      const lack = lacksMessages(schedule);
      return lack !== null && isTreeFlow(schedule) && goesThroughSwitch(schedule) ? null : lack;
    },
    fromSchedule: (world, { schedule }, path) =>
      isTable(schedule)
        ? writeTable(world, schedule, programOptions(world.options, "mscclpp"), path)
        : write(world, programOf(schedule, programOptions(world.options, "mscclpp")), path),
    fromJoint: (world, { schedule }, path) =>
      writeTable(world, schedule, programOptions(world.options, "mscclpp"), path),
  },
];
