import type { BoundReport, LeftOut, Report } from "./result.ts";

export interface ComparisonRow {
  readonly sizeBytes: number;
  readonly algorithm: string;
  /** Simulated, network model. */
  readonly us: number;
  readonly algbwGBps: number | null;
  readonly busbwGBps: number | null;
  /** limit / simulated: 1 is as good as any algorithm can be. */
  readonly ofLimit: number;
  /** Chunks per NPU; of trees: pieces of what each carries. */
  readonly chunks: number;
  /** The independent judge found the schedule correct; what is not correct has no row. */
  readonly verified: true;
  readonly synthesisMs: number;
  /** Shortest of its size (the earlier algorithm among equals). */
  readonly best: boolean;
  /** Where asked for: its fastest MSCCL program, simulated as a program on the same network; null where there is none. */
  readonly programUs?: number | null;
  /** What reads it: Azure's executor (MSCCL XML), or MSCCL++ (a plan) where switches sum or duplicate. */
  readonly programFor?: "azure" | "mscclpp";
  /** Why there is no program. */
  readonly noProgram?: string;
  /** No algorithm of ours: a schedule or a program that was given beside them; the algorithm is then the name of its file. */
  readonly own?: "schedule" | "program";
  /** How, in words, where libraries (NCCL, RCCL, MPI) do it on this network: "natural order, both ways". */
  readonly library?: string;
}

/** What a model of somebody else's says of a size: no schedule of ours, and never the best. */
export interface ReferenceRow {
  readonly sizeBytes: number;
  /** "NCCL model" */
  readonly name: string;
  /** What it would choose: "Ring/Simple, 16 channels". */
  readonly choice: string;
  readonly us: number;
  readonly algbwGBps: number | null;
  readonly busbwGBps: number | null;
}

/** What `compare --json` prints: schema banyan/comparison@2. */
export interface Comparison {
  readonly schema: "banyan/comparison@2";
  readonly topology: Report["topology"];
  readonly collective: string;
  readonly rows: readonly ComparisonRow[];
  readonly references: readonly ReferenceRow[];
  readonly limits: readonly { readonly sizeBytes: number; readonly limit: BoundReport }[];
  /** Algorithms that cannot do what was asked, and why not. */
  readonly leftOut: readonly LeftOut[];
  /** It was stopped: only the lines that were finished are there. */
  readonly stopped?: true;
}
