import type { NamedCollective } from "../collective/collective.ts";
import type { FittedFigure } from "./alpha-beta.ts";

export interface CalibratedPoint {
  readonly source: string;
  readonly collective: NamedCollective;
  readonly ranks: number;
  readonly sizeBytes: number;
  readonly measuredUs: number;
  readonly fittedUs: number;
  /** (fitted - measured) / measured */
  readonly error: number;
}

/** Absolute relative errors, and the part of their squares that a constant time would leave and the fit does not. */
export interface CalibrationErrors {
  readonly mean: number;
  readonly median: number;
  readonly worst: number;
  readonly explained: number;
}

export interface CalibratedClass {
  readonly name: string;
  readonly links: number;
  readonly before: { readonly gbps: number; readonly latencyUs: number };
  readonly gbps: FittedFigure;
  readonly latencyUs: FittedFigure;
}

/** What `calibrate --json` prints: schema banyan/calibration@1. */
export interface CalibrationReport {
  readonly schema: "banyan/calibration@1";
  readonly topology: string;
  /** ring, tree or nvls as a library runs them, or the algorithm whose schedules were simulated. */
  readonly algorithm: string;
  readonly classes: readonly CalibratedClass[];
  /**
   * us that every call costs by itself, such as a launch: no part of a network. null where the logs do not tell it from
   * latencies, which hold it.
   */
  readonly callUs: FittedFigure | null;
  readonly points: readonly CalibratedPoint[];
  readonly errors: CalibrationErrors;
  /** Class that limits large sizes, for each log and collective. */
  readonly limits: readonly {
    readonly source: string;
    readonly collective: string;
    readonly ranks: number;
    readonly class: string;
  }[];
  readonly regimes: readonly {
    readonly fromBytes: number;
    readonly toBytes: number;
    /** Two points fit any line: their errors say nothing. */
    readonly points: number;
    /** Of the first log: us of a call of no bytes, and GB/s that its size grows by. */
    readonly callUs: number;
    readonly algbwGBps: number | null;
    readonly errors: CalibrationErrors;
  }[];
  /** With regimes: errors of all points, each by the line of its range. */
  readonly regimeErrors: CalibrationErrors | null;
  /** Points that another algorithm than the one asked for was noted for. */
  readonly leftOut: number;
  /** What was concluded of the logs, and where they do not suit the network, in words. */
  readonly notes: readonly string[];
}

/** Returns "6.8 %". */
export const percentText = (part: number): string => `${(100 * part).toFixed(1)} %`;

/** Returns the errors of fitted times, of which there is one at least. O(points log points). */
export function errorsOf(measured: readonly number[], fitted: readonly number[]): CalibrationErrors {
  const parts = measured.map((time, i) => Math.abs((fitted[i] as number) - time) / time).sort((a, b) => a - b);
  const inverse = measured.reduce((sum, time) => sum + 1 / time, 0);
  const constant = inverse / measured.reduce((sum, time) => sum + 1 / (time * time), 0);
  const left = measured.reduce((sum, time) => sum + ((constant - time) / time) ** 2, 0);
  const squares = parts.reduce((sum, part) => sum + part * part, 0);
  const middle = Math.floor(parts.length / 2);
  const even = parts.length % 2 === 0;
  return {
    mean: parts.reduce((sum, part) => sum + part, 0) / parts.length,
    median: even ? ((parts[middle - 1] as number) + (parts[middle] as number)) / 2 : (parts[middle] as number),
    worst: parts.at(-1) as number,
    explained: left > 0 ? 1 - squares / left : 1,
  };
}
