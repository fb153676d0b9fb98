import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { mscclXmlParts } from "../../export/programs/msccl-xml.ts";
import { kindOf } from "../../kinds/kinds.ts";
import { goesThroughSwitch } from "../../lower/mscclpp/plan.ts";
import { formatSize, PS_PER_US } from "../../model/numbers/units.ts";
import type { Program } from "../../model/program/program.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { isTreeFlow } from "../../model/trees/tree-flow.ts";
import { count, timeText } from "../../report/amounts.ts";
import { programSizeText, programText } from "../../report/program-text.ts";
import { dialectOf, programOptions, rangeOf, synthesisOptions } from "../../request/from-texts.ts";
import { refuseOptions } from "../../request/option-table.ts";
import { progressOf } from "../../request/progress.ts";
import { AUTO, algorithmNamed } from "../../synthesize/catalog.ts";
import { limitViolations, type MadeProgram, programOf, programUs } from "../programs/programs.ts";
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

/** Programs of more instructions are not simulated on the way. */
const MOST_SIMULATED_INSTRUCTIONS = 5e4;

/** A program that takes so many times what its schedule takes is worth another one. */
const SLOWER = 1.25;

/** Returns what a runtime would need for the program beside what the schedule itself takes, where that is soon told. */
function timeNotes(schedule: ScheduleSubject["schedule"], { program, verification }: MadeProgram): string[] {
  if (verification.facts.instructions > MOST_SIMULATED_INSTRUCTIONS) return [];
  const { sizeBytes } = schedule.collective;
  const us = programUs(program, schedule, sizeBytes);
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
      if (!isTreeFlow(schedule))
        refuseOptions(world.options, ["parts", "threadBlocks"], "a schedule of trees beside it", "not-alone");
      const options = programOptions(world.options, dialectOf(world.options));
      const made = programOf(schedule, parts === undefined ? options : { ...options, parts });
      const written = write(world, made, path);
      const times = note === undefined ? timeNotes(schedule, made) : [note];
      return { ...written, notes: [...times, ...(written.notes ?? [])] };
    },
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
    fromSchedule: (world, { schedule }, path) =>
      write(world, programOf(schedule, programOptions(world.options, "mscclpp")), path),
  },
];
