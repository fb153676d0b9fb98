import type { NamedCollective } from "../collective/collective.ts";

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
  /** Names of GPUs as the log tells them. */
  readonly gpus: readonly string[];
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
  about: Pick<Measurements, "collective" | "ranks" | "hosts" | "platform" | "source" | "gpus" | "remarks">,
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
