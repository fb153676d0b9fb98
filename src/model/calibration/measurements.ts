import type { NamedCollective } from "../collective/collective.ts";

/** Where a log says that a rank was. */
export interface LoggedRank {
  readonly rank: number;
  readonly host: string;
  /** The device's name; "" where the log does not tell it. */
  readonly gpu: string;
}

/** Times of one collective on one machine, by size: columns of equal length. */
export interface Measurements {
  readonly collective: NamedCollective;
  /** null where the log does not tell. */
  readonly ranks: number | null;
  readonly hosts: number | null;
  /** [points] as nccl-tests count it, ascending. */
  readonly sizeBytes: Float64Array;
  /** [points] out of place; in place where that is all there is. */
  readonly timeUs: Float64Array;
  /** [points] NaN where it was not measured. */
  readonly inPlaceUs: Float64Array;
  /** [points] what the log says of a point ("NVLS (SHARP)"), or nothing. */
  readonly notes: readonly string[];
  /** The platform's name where the log tells it, and where the figures are from. */
  readonly platform: string;
  readonly source: string;
  /** Ranks as the log lists them, in their order; none where it lists none. */
  readonly listed: readonly LoggedRank[];
  /** What was concluded of the log that it does not say, in words. */
  readonly remarks: readonly string[];
}

/** A point while points are collected. */
export interface MeasuredPoint {
  readonly sizeBytes: number;
  readonly timeUs: number;
  readonly inPlaceUs: number;
  readonly note: string;
}

/** Returns points as columns, by size, points of one size in the order given. */
export function measurementsOf(
  points: readonly MeasuredPoint[],
  about: Pick<Measurements, "collective" | "ranks" | "hosts" | "platform" | "source" | "listed" | "remarks">,
): Measurements {
  const sorted = [...points].sort((a, b) => a.sizeBytes - b.sizeBytes);
  return {
    ...about,
    sizeBytes: Float64Array.from(sorted, ({ sizeBytes }) => sizeBytes),
    timeUs: Float64Array.from(sorted, ({ timeUs }) => timeUs),
    inPlaceUs: Float64Array.from(sorted, ({ inPlaceUs }) => inPlaceUs),
    notes: sorted.map(({ note }) => note),
  };
}

/** Calls of a collective that are alike, as a debug log shows them (NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=INIT,COLL). */
export interface LoggedCall {
  readonly collective: NamedCollective;
  /** nccl-tests size. */
  readonly sizeBytes: number;
  readonly elementBytes: number;
  /** As the library numbers operations: 0 sum, 1 product, 2 max, 3 min, from 4 on averages and scaled sums. */
  readonly reduction: number;
  readonly ranks: number;
  readonly inPlace: boolean;
  /** What ran it; "library": its own algorithms, or, where the runtime logs nothing of the sort, not known to be otherwise. */
  readonly ranBy: "msccl" | "mscclpp" | "library";
  /** The first line with such a call, and how many there are. */
  readonly line: number;
  readonly times: number;
}

/** What a debug log of NCCL or RCCL says of programs. */
export interface LoggedPrograms {
  /** "NCCL version 2.21.5", "RCCL version ..."; null where the log does not tell. */
  readonly version: string | null;
  /** Programs that were read, and those that were not, by file name. */
  readonly parsed: readonly string[];
  readonly failed: readonly string[];
  /** How many programs a communicator was connected for; null where the log does not tell. */
  readonly connected: number | null;
  readonly folder: string | null;
  /** Warnings that concern programs, with their lines. */
  readonly problems: readonly { readonly line: number; readonly text: string }[];
  /** The log has lines of an MSCCL runtime. */
  readonly hasRuntime: boolean;
  /** The runtime logs which calls it ran itself (RCCL). */
  readonly tellsCalls: boolean;
  readonly calls: readonly LoggedCall[];
}
