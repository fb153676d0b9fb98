import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { asJoint } from "../../lower/any-moves.ts";
import { byGroup, type GroupSchedule } from "../../model/joint/by-group.ts";
import { isJoint, type JointSchedule } from "../../model/joint/joint-schedule.ts";
import { RUNTIMES } from "../../model/program/runtimes.ts";
import type { Schedule } from "../../model/slots/slot-schedule.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import { count, timeText } from "../../report/amounts.ts";
import { dialectOf, type ProgramOptions, programOptions } from "../../request/from-texts.ts";
import { refuseOptions } from "../../request/option-table.ts";
import { fastestProgram } from "../programs/fastest.ts";
import { programOf, programUs } from "../programs/programs.ts";
import type { Written } from "./exporter.ts";
import { besideOf, making, writeFastest } from "./program-writing.ts";
import type { World } from "./world.ts";

/** A program of a group by itself. */
interface OwnProgram extends GroupSchedule {
  readonly us: number;
  readonly text: string;
}

/**
 * Writes MSCCL XML of what is no single named collective: one program where the runtime knows custom ones, else a folder with a
 * program for each group of each collective, for a communicator of that group; one for groups whose programs are the same.
 */
export async function writeAtOnce(world: World, schedule: Schedule | JointSchedule, path: string): Promise<Written> {
  const dialect = dialectOf(world.options);
  const options = programOptions(world.options, dialect);
  const { collectives, title } = RUNTIMES[dialect];
  if (collectives.custom !== undefined) {
    refuseOptions(world.options, ["threadBlocks"], "a schedule of trees beside it", "not-alone");
    return writeFastest(world, { schedule }, options, path);
  }
  refuseOptions(world.options, ["parts", "threadBlocks"], "a schedule of trees beside it", "not-alone");
  const joint = isJoint(schedule) ? schedule : asJoint(schedule);
  if (joint.tenants.some(({ collective }) => collective.kind === "custom"))
    throw new InputError(
      optionName("dialect"),
      `msccl for a custom collective, which ${title} has no name for,`,
      dialect,
    ).as("not-applicable");
  const folder = world.folder(path);
  // groups of a collective are lowered as its first one is
  const chosen = new Map<number, ProgramOptions>();
  const made: OwnProgram[] = [];
  for (const one of byGroup(joint)) {
    if (one.schedule.collective.groupSize === 1) continue;
    const asked = chosen.get(one.tenant);
    const best =
      asked === undefined
        ? await fastestProgram(one.schedule, options, besideOf(world), making(world))
        : { options: asked, made: programOf(one.schedule, asked) };
    chosen.set(one.tenant, best.options);
    const found = best.made;
    made.push({ ...one, us: programUs(found.program, one.schedule, best.options), text: [...found.parts()].join("") });
  }
  const files = new Map<string, { readonly name: string; readonly of: OwnProgram[] }>();
  for (const one of made) {
    const { kind, sizeBytes } = one.schedule.collective;
    const name = `${one.tenant}-${kind}-${sizeBytes}-group-${one.group}.xml`;
    const known = files.get(one.text);
    if (known === undefined) files.set(one.text, { name, of: [one] });
    else known.of.push(one);
  }
  const bytes = folder.write([...files].map(([text, { name }]) => ({ name, parts: [text] })));
  const notes = [...files.values()].map(({ name, of }) => {
    const us = timeText((of[0] as OwnProgram).us);
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
