import type { Collective } from "../model/collective/collective.ts";

/** Into which blocks the chunks of a collective are put. */
export interface BlockShape {
  readonly chunksPerBlock: number;
  /** All chunks go the same ways in from and out to buffers: there are no blocks by rank. */
  readonly oneBlock: boolean;
}

/** Returns the blocks of a collective; each chunk of a custom one is a block. */
export function blockShapeOf({ kind, chunkCount, chunksPerNpu }: Collective): BlockShape {
  const oneBlock = kind === "allreduce" || kind === "broadcast" || kind === "reduce";
  return { oneBlock, chunksPerBlock: kind === "custom" ? 1 : oneBlock ? chunkCount : chunksPerNpu };
}
