import type { LibraryName } from "../model/collective/library-names.ts";
import { RUNTIME_NAMES, type RuntimeName } from "../model/program/runtime-names.ts";
import type { BoundReport, LeftOut, Report } from "./result.ts";

/** What is to run a collective: a runtime of programs, or NCCL, which loads none. */
export type CompareTarget = RuntimeName | "nccl";

export const COMPARE_TARGETS: readonly CompareTarget[] = [...RUNTIME_NAMES, "nccl"];

/** Whose calls a target answers: that library's own algorithms run where no program does. */
export const LIBRARY_OF: Readonly<Record<CompareTarget, LibraryName>> = {
  msccl: "NCCL",
  azure: "NCCL",
  mscclpp: "NCCL",
  nccl: "NCCL",
  rccl: "RCCL",
  mpi: "MPI",
};

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
  /** Shortest of its size (the earlier algorithm among equals); where a target is named, as it would run there. */
  readonly best: boolean;
  /** Where asked for: its fastest program, of the target if one is named, simulated as a program on the same network; null where there is none. */
  readonly programUs?: number | null;
  /** What reads it: the target; without one Azure's executor (MSCCL XML), or MSCCL++ (a plan) where switches sum or duplicate. */
  readonly programFor?: RuntimeName;
  /** Why there is no program. */
  readonly noProgram?: string;
  /** Where a target is named, of an algorithm that its library has: what that takes, simulated as a program of the library's own kernels. */
  readonly libraryUs?: number;
  /** No algorithm of ours: a schedule or a program that was given beside them; the algorithm is then the name of its file. */
  readonly own?: "schedule" | "program";
  /** How, in words, where libraries (NCCL, RCCL, MPI) do it on this network: "natural order, both ways". */
  readonly library?: string;
}

/** A line of an algorithm that has too many transfers to list: what a coarse model says of it. No schedule is made or verified, and it is never the best. */
export interface CoarseRow
  extends Pick<ComparisonRow, "sizeBytes" | "algorithm" | "us" | "algbwGBps" | "busbwGBps" | "ofLimit" | "library"> {
  /** How the algorithm is set: "natural order, both ways". */
  readonly policy: string;
  /** What was counted: "8190 rounds alike, by one of them". */
  readonly by: string;
}

/** What a model of somebody else's says of a size: no schedule of ours, and never the best. */
export interface ReferenceRow {
  readonly sizeBytes: number;
  /** "NCCL model" */
  readonly name: string;
  /** What it would choose: "Ring/Simple, 16 channels". */
  readonly choice: string;
  /** The algorithms that stand for it, the most like it first. */
  readonly like: readonly string[];
  readonly us: number;
  readonly algbwGBps: number | null;
  readonly busbwGBps: number | null;
}

/** Libraries that can be told how to run a collective. */
export type SetLibrary = "NCCL" | "Open MPI" | "MPICH";

/** A way in which a library can be told to run a collective. */
export interface LibrarySetting {
  readonly library: SetLibrary;
  readonly algorithm: string;
  /** Of NCCL. */
  readonly protocol?: string;
  readonly channels?: number;
  /** Of Open MPI: messages are cut into segments of so many bytes. */
  readonly segmentBytes?: number;
  /** Simulated as the library's own kernels. */
  readonly us: number;
  /** What to set: "NCCL_ALGO=Ring NCCL_PROTO=Simple". */
  readonly environment: string;
}

/** What a library takes at a size as it is set by default, and at its best setting; the same where nothing is faster. */
export interface SizeSettings {
  readonly library: SetLibrary;
  readonly sizeBytes: number;
  readonly chosen: LibrarySetting;
  readonly best: LibrarySetting;
  readonly settings: readonly LibrarySetting[];
}

/** What a library chooses at a size, of which there is no model, and the fastest that it can be told instead. */
export interface NotModelled {
  readonly library: SetLibrary;
  readonly sizeBytes: number;
  readonly algorithm: string;
  readonly best?: LibrarySetting;
}

/** What `compare --json` prints: schema banyan/comparison@2. */
export interface Comparison {
  readonly schema: "banyan/comparison@2";
  readonly topology: Report["topology"];
  readonly collective: string;
  /** What is to run it, where that was named: lines are then ranked by what would run. */
  readonly target?: CompareTarget;
  readonly rows: readonly ComparisonRow[];
  readonly references: readonly ReferenceRow[];
  /** Where some algorithms have too many transfers to list. */
  readonly coarse?: readonly CoarseRow[];
  /** Of targets nccl and mpi, for each size and library whose default could be simulated. */
  readonly settings?: readonly SizeSettings[];
  /** Of target mpi: defaults that could not. */
  readonly notModelled?: readonly NotModelled[];
  readonly limits: readonly { readonly sizeBytes: number; readonly limit: BoundReport }[];
  /** Algorithms that cannot do what was asked, and why not. */
  readonly leftOut: readonly LeftOut[];
  /** It was stopped: only the lines that were finished are there. */
  readonly stopped?: true;
}

/** Returns what a line of a size takes as it would run on a target, loaded or by the library itself; Infinity where neither runs it. */
export const usOnTarget = ({ programUs, libraryUs }: Pick<ComparisonRow, "programUs" | "libraryUs">): number =>
  Math.min(programUs ?? Number.POSITIVE_INFINITY, libraryUs ?? Number.POSITIVE_INFINITY);
