import type { Schedule } from "../../model/slots/slot-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type ByteSource, bysHeader } from "./bys-blocks.ts";
import { slotsFromBlocks } from "./bys-slots.ts";
import { stepsFromBlocks } from "./bys-steps.ts";
import { embeddedTopology, type ReadScheduleOptions, scheduleHeaderFromJson } from "./schedule-header.ts";

export { type ByteSource, bytesSource, looksLikeBys } from "./bys-blocks.ts";

export interface ReadBysOptions extends ReadScheduleOptions {
  /** Blocks of arrival logs of about so many bytes are kept in memory; 1 GiB without it. */
  readonly cacheBytes?: number;
}

/**
 * Returns the schedule of a `.bys` file (version 1, FORMATS.md), on the network inside the file. Rows of a step schedule are
 * read at once; those of a slot schedule when they are asked for, so the source must stay open. Everything that a schedule is
 * made of is checked, lengths before anything is allocated; whether it does its work is the verifier's question. Throws
 * InputError with the place in the file, and DamagedFileError where a checksum does not match or the file is cut short.
 */
export function readBys(source: ByteSource, fileName: string, options: ReadBysOptions = {}): Schedule {
  const { value, end } = bysHeader(source, fileName);
  const header = scheduleHeaderFromJson(value, fileName, options);
  const { slots, transfers } = value as { readonly slots?: unknown; readonly transfers?: unknown };
  return slots === undefined
    ? stepsFromBlocks(source, fileName, end, header, transfers)
    : slotsFromBlocks(source, fileName, end, header, slots, options.cacheBytes ?? 2 ** 30);
}

/** Returns the network inside a `.bys` file, whose blocks are not looked at. Throws InputError, DamagedFileError. */
export function readBysTopology(source: ByteSource, fileName: string): Topology {
  return embeddedTopology(bysHeader(source, fileName).value, fileName);
}
