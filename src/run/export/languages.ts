import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { mscclLangProgram } from "../../export/programs/msccl-lang.ts";
import { mscclppDslProgram } from "../../export/programs/mscclpp-dsl.ts";
import { formatSize } from "../../model/numbers/units.ts";
import type { Program } from "../../model/program/program.ts";
import type { RuntimeName } from "../../model/program/runtime-names.ts";
import { programText } from "../../report/program-text.ts";
import { type ProgramOptions, programOptions } from "../../request/from-texts.ts";
import { saidText } from "../../request/option-table.ts";
import { programOf } from "../programs/programs.ts";
import { type Exporter, lacksMessages } from "./exporter.ts";
import type { ScheduleSubject } from "./subject.ts";
import type { World } from "./world.ts";

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

/** Returns what options say of programs. Throws InputError for instances that are to be found: people change these programs. */
function numberedOptions(options: World["options"], runtime: RuntimeName): ProgramOptions {
  const { instances, ...wanted } = programOptions(options, runtime);
  if (instances === "auto")
    throw new InputError(optionName("instances"), "a number for programs in a language, or nothing,", instances).as(
      "not-applicable",
    );
  return instances === undefined ? wanted : { ...wanted, instances };
}

/** In place sums of a reduce-scatter need no other memory than those that they are made of. */
function mscclLang({ schedule }: ScheduleSubject, options: World["options"], about: readonly string[]): MadeSource {
  const usual = schedule.collective.kind === "reducescatter" ? { placement: "in" as const } : {};
  const { program } = programOf(schedule, { ...usual, ...numberedOptions(options, "msccl") });
  return { program, source: mscclLangProgram(program, about) };
}

/** Thread blocks of a GPU that fill its links. */
const USUAL_BLOCKS = 8;

/** The DSL makes the instances where all operations are of one chunk: it cuts each by itself. */
function mscclppDsl({ schedule }: ScheduleSubject, options: World["options"], about: readonly string[]): MadeSource {
  const wanted = { ...numberedOptions(options, "mscclpp"), throughSwitch: false };
  const made = programOf(schedule, { ...wanted, instances: 1 });
  const { program, verification } = made;
  const instances = wanted.instances ?? Math.max(1, Math.floor(USUAL_BLOCKS / verification.facts.mostBlocksPerRank));
  if (program.chunks.every((chunks) => chunks <= 1))
    return { program, source: mscclppDslProgram(program, about, instances) };
  const whole = programOf(schedule, wanted).program;
  return { program: whole, source: mscclppDslProgram(whole, about) };
}

/** Formats of programs that people can change. */
export const LANGUAGE_EXPORTERS: readonly Exporter[] = [
  sourceExporter(
    "msccl-lang",
    "a short Python program for msccl-tools (MSCCLang), which makes the XML; meant to be edited",
    mscclLang,
  ),
  sourceExporter(
    "mscclpp-dsl",
    "a short Python program for MSCCL++'s DSL, which makes the plan; meant to be edited",
    mscclppDsl,
  ),
];
