import type { NamedCollective } from "../collective/collective.ts";

/** Operations that MPI has built in and that may be carried out in any order. */
export const MPI_OPS = ["sum", "prod", "min", "max", "land", "lor", "lxor", "band", "bor", "bxor"] as const;
export type MpiOp = (typeof MPI_OPS)[number];

/** Collectives that plans for MPI are for, as files name them. */
export const MPI_COLLECTIVES = [
  ...["allgather", "reducescatter", "allreduce", "broadcast", "reduce", "gather", "scatter", "alltoall"],
] as readonly NamedCollective[];

/**
 * Messages are cut into pieces of at most so many bytes, which are passed on one by one: MPI libraries send them at once, where of
 * more than 64 KiB with its header the receiver is asked first (ring:4 at 200 Mbit/s: 65 ms for 4 MB instead of 122).
 */
export const USUAL_SEGMENT_BYTES = 49_152;
/** What the runtime reads. */
export const MOST_LANES = 256;
export const MOST_PLAN_CHUNKS = 2 ** 24;
export const MOST_PLAN_RANKS = 4096;

/** Where a process runs: the host, and which of the job's processes there it is, from 0 on. */
export interface HostOfRank {
  readonly name: string;
  readonly index: number;
}

/** What a plan for MPI says beside its program. */
export interface MpiPlan {
  /** Longer messages go in pieces of at most so many bytes, a multiple of 64; 0: never cut. */
  readonly segmentBytes: number;
  /** [instructions] first of its chunks, as the collective numbers them: block by block. */
  readonly chunk: Int32Array;
  /** [ranks] which processes of the job it is for; null: of any communicator of as many. */
  readonly group: Int32Array | null;
  /** [ranks] null: in the order of the communicator. */
  readonly hosts: readonly HostOfRank[] | null;
  /** Only these operations; null: all. */
  readonly ops: readonly MpiOp[] | null;
  /** Of an all-to-all: for calls whose blocks differ in size. */
  readonly unequal: boolean;
}

/** The first word of a plan's file, and the version of the format. */
export const PLAN_MAGIC = "banyan-mpi-plan";
export const PLAN_VERSION = 1;

/** Collectives with a root, which files name. */
export const ROOTED: ReadonlySet<string> = new Set(["broadcast", "reduce", "gather", "scatter"]);
/** Collectives that add up. */
export const SUMMING: ReadonlySet<string> = new Set(["allreduce", "reducescatter", "reduce"]);
