import type { Topology } from "../../model/topology/topology.ts";
import type { TreeFlow } from "../../model/trees/tree-flow.ts";
import type { ComparedRow } from "./svg-comparison.ts";
import type { Timeline } from "./timeline.ts";

interface TimingFigures {
  readonly us: number;
  readonly algbwGBps: number | null;
  readonly busbwGBps: number | null;
  readonly model: string;
}

interface BoundFigures {
  readonly us: number;
  readonly exact: string;
  readonly kind: string;
  readonly witness: Readonly<Record<string, unknown>>;
  readonly because: string;
}

/** What a report tells of a result; the JSON of `synth --json` has these fields, and others. */
export interface ReportFigures {
  readonly collective: { readonly kind: string; readonly sizeBytes: number; readonly chunksPerNpu: number };
  readonly algorithm: string;
  readonly schedule: {
    readonly kind: string;
    readonly transfers: number | null;
    readonly trees?: number;
    readonly pieces?: number;
  };
  readonly time: TimingFigures;
  readonly simulated: TimingFigures | null;
  readonly bound: BoundFigures;
  readonly limit: BoundFigures;
  readonly throughput?: {
    readonly algbwGBps: number;
    readonly busbwGBps: number;
    readonly height: number;
    readonly distinctTrees: number;
  };
  readonly optimality: number;
  readonly ofLimit: number | null;
  readonly verified: boolean;
  readonly notes?: readonly string[];
  /** null: read from a file, which does not tell. */
  readonly synthesis: {
    readonly ms: number;
    readonly backend: string;
    readonly seed: number;
    readonly trials: number;
    readonly policy: string;
  } | null;
}

/** What a page about one result is made of. */
export interface ReportData {
  readonly topology: Topology;
  /** Embedded in the page as it is, all of its fields, for download. */
  readonly report: ReportFigures;
  /** [links] of the simulation, and its end; null where there was none. */
  readonly busy: { readonly linkBusyPs: Float64Array; readonly totalPs: number } | null;
  readonly trees: TreeFlow | null;
  /** See timelineOf; null where the schedule is too large for it. */
  readonly timeline: Timeline | null;
  /** Other algorithms beside it, for a plot over sizes; none without it. */
  readonly comparison?: readonly ComparedRow[];
  readonly version: string;
  /** What to type to get this result again. */
  readonly command: string | null;
}
