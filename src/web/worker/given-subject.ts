import { InputError, inWords } from "../../base/errors.ts";
import { formatOf, readTopology } from "../../import/networks/network-formats.ts";
import { looksLikeProgram, readProgram } from "../../import/programs/program.ts";
import { bytesSource, looksLikeBys, readBys } from "../../import/schedules/bys.ts";
import { isScheduleText, readScheduleText } from "../../import/schedules/schedule-text.ts";
import { isSendsText, readSendTable } from "../../import/schedules/sends.ts";
import { algorithmTold } from "../../import/text/made-by.ts";
import { utf8Text } from "../../import/text/utf8.ts";
import { isJoint } from "../../model/joint/joint-schedule.ts";
import type { Program } from "../../model/program/program.ts";
import type { AnySchedule } from "../../model/steps/schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { namedRequest } from "../../request/from-texts.ts";
import { topologyOptions } from "../../request/network-from-texts.ts";
import { NETWORK_OPTIONS, type Options, refuseOptions, textOf } from "../../request/option-table.ts";
import type { CollectiveOptions } from "../../request/problem.ts";
import { type OwnSends, sendsFor } from "../../run/own/own-sends.ts";
import type { GivenFile, MakeWish } from "../protocol.ts";
import { bytesOf } from "./given-file.ts";
import { networkOf } from "./networks.ts";

/** A schedule that was read, with the algorithm that its file names. */
export interface GivenSchedule {
  readonly kind: "schedule";
  readonly schedule: AnySchedule;
  readonly algorithm: string | null;
  /** The list of sends that it was written as, where it was. */
  readonly sends?: OwnSends;
}

/** What a file is, read. */
export type Read =
  | { readonly kind: "network"; readonly format: string; readonly topology: Topology }
  | GivenSchedule
  | { readonly kind: "program"; readonly program: Program };

/**
 * Returns what a file holds, recognized as the command line does: a program (MSCCL XML, an MSCCL++ plan), a schedule (Banyan's
 * JSON or .bys, an algorithm of SCCL, a list of sends, which is for network and collective of `wish` unless it names its own),
 * else a network in any format that can be read. Throws the reader's InputError.
 */
export async function readGiven(file: GivenFile, options: Options = {}, wish: MakeWish | null = null): Promise<Read> {
  const { name } = file;
  const bytes = await bytesOf(file);
  const itself = `nothing beside ${name}, which says it`;
  if (looksLikeBys(bytes)) {
    refuseOptions(options, NETWORK_OPTIONS, itself);
    return {
      kind: "schedule",
      schedule: readBys(bytesSource(bytes), name),
      algorithm: algorithmTold(bytesSource(bytes)),
    };
  }
  const text = utf8Text(bytes, name);
  if (looksLikeProgram(text)) {
    refuseOptions(options, NETWORK_OPTIONS, itself);
    return { kind: "program", program: readProgram(text, name) };
  }
  if (isScheduleText(text)) {
    refuseOptions(options, NETWORK_OPTIONS, itself);
    const schedule = readScheduleText(text, name);
    if (!isJoint(schedule)) return { kind: "schedule", schedule, algorithm: algorithmTold(bytesSource(bytes)) };
    throw new InputError(name, "a schedule of one collective", inWords(`one of ${schedule.tenants.length} at once`));
  }
  if (isSendsText(text)) {
    refuseOptions(options, NETWORK_OPTIONS, itself);
    const table = readSendTable(text, name);
    const topology = table.topology === undefined && wish !== null ? await networkOf(wish.network) : null;
    const collective = (): CollectiveOptions | null =>
      table.collective !== undefined || wish === null
        ? null
        : namedRequest(textOf(wish.options, "collective") ?? "allgather", wish.options);
    const sends = sendsFor(table, { topology, collective });
    return { kind: "schedule", schedule: sends.schedule, algorithm: null, sends };
  }
  return {
    kind: "network",
    format: formatOf(text, name),
    topology: readTopology(text, name, topologyOptions(options)),
  };
}

/** Returns the program of a file. Throws InputError. */
export async function programIn(file: GivenFile): Promise<Program> {
  const read = await readGiven(file);
  if (read.kind === "program") return read.program;
  throw new InputError(file.name, "a program (MSCCL XML or an MSCCL++ plan)", inWords(`a ${read.kind}`));
}

/** Returns the schedule of a file. Throws InputError. */
export async function scheduleIn(file: GivenFile, wish: MakeWish | null = null): Promise<GivenSchedule> {
  const read = await readGiven(file, {}, wish);
  if (read.kind === "schedule") return read;
  throw new InputError(file.name, "a schedule", inWords(`a ${read.kind}`));
}
