import type { CollectiveKind } from "../collective/collective.ts";
import { INPUT, OUTPUT, type Program } from "./program.ts";

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
