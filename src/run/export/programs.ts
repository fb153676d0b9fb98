import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { mscclLangProgram } from "../../export/programs/msccl-lang.ts";
import { mscclXmlParts } from "../../export/programs/msccl-xml.ts";
import { mscclppDslProgram } from "../../export/programs/mscclpp-dsl.ts";
import { kindOf } from "../../kinds/kinds.ts";
import { goesThroughSwitch } from "../../lower/mscclpp/plan.ts";
import { formatSize, PS_PER_US } from "../../model/numbers/units.ts";
import type { Program } from "../../model/program/program.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { isTreeFlow } from "../../model/trees/tree-flow.ts";
import { count, timeText } from "../../report/amounts.ts";
import { programSizeText, programText } from "../../report/program-text.ts";
import { dialectOf, programOptions, rangeOf, synthesisOptions } from "../../request/from-texts.ts";
import { refuseOptions, saidText } from "../../request/option-table.ts";
import { progressOf } from "../../request/progress.ts";
import { AUTO, algorithmNamed } from "../../synthesize/catalog.ts";
import { fastestProgram, limitViolations, type MadeProgram, programOf } from "../programs/programs.ts";
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

/** Returns what hears how far the making of a program is. */
const making =
  (world: World) =>
  (step: Parameters<typeof progressOf>[0]): void =>
    world.progress(progressOf(step));

function write(world: World, made: MadeProgram, path: string): Written {
  world.progress({ what: "writing" });
  return writtenProgram(made, world.file(path).write(made.parts()));
}

/** Returns lines that say what a schedule's program was made of and for, and how. */
function aboutLines(to: string, { options }: World, { schedule, report }: ScheduleSubject): string[] {
  const { topology, collective } = schedule;
  const what = `Network ${topology.name}, ${collective.kind} of ${formatSize(collective.sizeBytes)}`;
  if (report === null) return [`${what}. Written by Banyan from a schedule's file.`];
  const said = saidText(options, "network", "collective", "making", "program");
  return [
    `${what}, algorithm ${report.algorithm}. Written by Banyan:`,
    "",
    `    banyan export ${topology.name} ${said} --to ${to}`,
  ];
}

/** A format that writes Python for a runtime's own language, which people can change; `make` makes the program and its text. */
const sourceExporter = (
  name: string,
  description: string,
  make: (subject: ScheduleSubject, options: World["options"], about: readonly string[]) => MadeSource,
): Exporter => ({
  name,
  runs: true,
  extension: ".py",
  description,
  takes: ["placement", "instances", "protocol"],
  lacks: lacksMessages,
  fromSchedule(world, subject, path) {
    const { program, source } = make(subject, world.options, aboutLines(name, world, subject));
    return { bytes: world.file(path).write(source), what: programText(program) };
  },
});

interface MadeSource {
  readonly program: Program;
  readonly source: Iterable<string>;
}

/** In place sums of a reduce-scatter need no other memory than those that they are made of. */
function mscclLang({ schedule }: ScheduleSubject, options: World["options"], about: readonly string[]): MadeSource {
  const usual = schedule.collective.kind === "reducescatter" ? { placement: "in" as const } : {};
  const { program } = programOf(schedule, { ...usual, ...programOptions(options, "msccl") });
  return { program, source: mscclLangProgram(program, about) };
}

/** Thread blocks of a GPU that fill its links. */
const USUAL_BLOCKS = 8;

/** The DSL makes the instances where all operations are of one chunk: it cuts each by itself. */
function mscclppDsl({ schedule }: ScheduleSubject, options: World["options"], about: readonly string[]): MadeSource {
  const wanted = { ...programOptions(options, "mscclpp"), throughSwitch: false };
  const made = programOf(schedule, { ...wanted, instances: 1 });
  const { program, verification } = made;
  const instances = wanted.instances ?? Math.max(1, Math.floor(USUAL_BLOCKS / verification.facts.mostBlocksPerRank));
  if (program.chunks.every((chunks) => chunks <= 1))
    return { program, source: mscclppDslProgram(program, about, instances) };
  const whole = programOf(schedule, wanted).program;
  return { program: whole, source: mscclppDslProgram(whole, about) };
}

/** A program that takes so many times what its schedule takes is worth another one. */
const SLOWER = 1.25;

/** Returns what a runtime would need for the program beside what the schedule itself takes, where that is soon told. */
function timeNotes(schedule: ScheduleSubject["schedule"], us: number | null): string[] {
  if (us === null) return [];
  const { sizeBytes } = schedule.collective;
  const kind = kindOf(schedule);
  if (kind.name === "trees") return [`${timeText(us)} for ${formatSize(sizeBytes)} in the simulation of programs`];
  const own = (kind.simulate({})?.ps ?? 0) / PS_PER_US;
  const advice = us > SLOWER * own ? [`\`export TOPO --sizes\` looks for the algorithm whose program is fastest`] : [];
  const both = `${timeText(us)} for ${formatSize(sizeBytes)} in the simulation of programs; the schedule itself takes ${timeText(own)}`;
  return [both, ...advice];
}

/** A file of the same machine in another dialect, or with another range of sizes. */
function rewrite(world: World, program: Program, path: string): Written {
  if (program.machine !== "msccl")
    throw new InputError(optionName("to", " msccl-xml"), "a schedule or MSCCL XML", "an MSCCL++ plan");
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
    lowering: target,
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
    fromSchedule(world, { schedule, note, lowering }, path) {
      if (!isTreeFlow(schedule))
        refuseOptions(world.options, ["parts", "threadBlocks"], "a schedule of trees beside it", "not-alone");
      const options = programOptions(world.options, dialectOf(world.options));
      if (lowering !== undefined) {
        const written = write(world, programOf(schedule, lowering, making(world)), path);
        return { ...written, notes: [...(note === undefined ? [] : [note]), ...(written.notes ?? [])] };
      }
      const { made, us } = fastestProgram(schedule, options, making(world));
      const written = write(world, made, path);
      return { ...written, notes: [...timeNotes(schedule, us), ...(written.notes ?? [])] };
    },
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
      write(world, programOf(schedule, programOptions(world.options, "mscclpp"), making(world)), path),
  },
  sourceExporter(
    "msccl-lang",
    "a short Python program for msccl-tools (MSCCLang), which makes the XML; to be changed",
    mscclLang,
  ),
  sourceExporter(
    "mscclpp-dsl",
    "a short Python program for MSCCL++'s DSL, which makes the plan; to be changed",
    mscclppDsl,
  ),
];
