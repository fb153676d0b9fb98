import type { CollectiveKind, NamedCollective } from "../collective/collective.ts";
import { INPUT, OUTPUT, type Program } from "./program.ts";

/** Operations that MPI has built in and that may be carried out in any order. */
export const MPI_OPS = ["sum", "prod", "min", "max", "land", "lor", "lxor", "band", "bor", "bxor"] as const;
export type MpiOp = (typeof MPI_OPS)[number];

/** Collectives that plans for MPI are for, as files name them. */
export const MPI_COLLECTIVES = [
  ...["allgather", "reducescatter", "allreduce", "broadcast", "reduce", "gather", "scatter", "alltoall"],
] as readonly NamedCollective[];

/** Messages are cut into pieces of at most so many bytes, which are passed on one by one. */
export const USUAL_SEGMENT_BYTES = 65_536;
/** What the runtime reads. */
export const MOST_LANES = 256;
export const MOST_PLAN_CHUNKS = 2 ** 24;
export const MOST_PLAN_RANKS = 65_536;

/** What a plan for MPI says beside its program. */
export interface MpiPlan {
  /** Longer messages go in pieces of at most so many bytes, a multiple of 64; 0: never cut. */
  readonly segmentBytes: number;
  /** [instructions] first of its chunks, as the collective numbers them: block by block. */
  readonly chunk: Int32Array;
  /** [ranks] which processes of the job it is for; null: of any communicator of as many. */
  readonly group: Int32Array | null;
  /** [ranks] host, and which of the job's processes on it; null: in the order of the communicator. */
  readonly hosts: readonly { readonly name: string; readonly index: number }[] | null;
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

/** What places and blocks of a plan depend on. */
type Shape = Pick<Program, "collective" | "rankCount" | "rootRank" | "loopChunks">;

/** Returns the chunks of a block: of a rank's part, or of the whole buffer of an all-reduce, a broadcast or a reduce. */
export function chunksPerBlock({ collective, rankCount, loopChunks }: Omit<Shape, "rootRank">): number {
  return isOneBlock(collective) ? loopChunks : loopChunks / rankCount;
}

/** Returns whether a collective has one block for all ranks. */
export const isOneBlock = (collective: Program["collective"]): boolean =>
  collective === "allreduce" || collective === "broadcast" || collective === "reduce";

/** Returns how many blocks of chunks a collective has. */
export function blocksOfCollective({ collective, rankCount }: Omit<Shape, "rootRank" | "loopChunks">): number {
  if (isOneBlock(collective)) return 1;
  return collective === "alltoall" ? rankCount * rankCount : rankCount;
}

/** Returns where a rank has a chunk in its input or output; -1: it has none there. */
export function placeOfChunk(shape: Shape, rank: number, buffer: number, chunk: number): number {
  const { collective, rankCount, rootRank } = shape;
  const perBlock = chunksPerBlock(shape);
  const block = Math.floor(chunk / perBlock);
  const own = (at: number): number => (block === at ? chunk - block * perBlock : -1);
  const atRoot = rank === rootRank ? chunk : -1;
  switch (collective as CollectiveKind) {
    case "allgather":
      return buffer === INPUT ? own(rank) : chunk;
    case "reducescatter":
      return buffer === INPUT ? chunk : own(rank);
    case "broadcast":
      return buffer === INPUT ? atRoot : chunk;
    case "reduce":
      return buffer === INPUT ? chunk : atRoot;
    case "gather":
      return buffer === INPUT ? own(rank) : atRoot;
    case "scatter":
      return buffer === INPUT ? atRoot : own(rank);
    case "alltoall": {
      const [source, target] = [Math.floor(block / rankCount), block % rankCount];
      if ((buffer === INPUT ? source : target) !== rank) return -1;
      return (buffer === INPUT ? target : source) * perBlock + chunk - block * perBlock;
    }
    default:
      return chunk;
  }
}

/** Returns the chunks of a rank's input and output in a plan. */
export function bufferChunks(shape: Shape, rank: number, buffer: number): number {
  const { collective, rankCount, rootRank } = shape;
  const perBlock = chunksPerBlock(shape);
  const isRoot = rank === rootRank;
  const parts = (all: boolean): number => (all ? rankCount * perBlock : perBlock);
  switch (collective as CollectiveKind) {
    case "allgather":
      return parts(buffer === OUTPUT);
    case "reducescatter":
      return parts(buffer === INPUT);
    case "broadcast":
      return buffer === OUTPUT || isRoot ? perBlock : 0;
    case "reduce":
      return buffer === INPUT || isRoot ? perBlock : 0;
    case "gather":
      return buffer === INPUT ? perBlock : isRoot ? parts(true) : 0;
    case "scatter":
      return buffer === OUTPUT ? perBlock : isRoot ? parts(true) : 0;
    case "alltoall":
      return parts(true);
    default:
      return perBlock;
  }
}

/** Returns whether calls in which input and output share memory are a plan's own matter; else the runtime copies the input away. */
export const plansTakeInPlace = (collective: Program["collective"]): boolean =>
  isOneBlock(collective) || collective === "allgather" || collective === "gather";
