import { InputError } from "../../base/errors.ts";
import type { NamedCollective } from "../../model/collective/collective.ts";
import { INPUT, OUTPUT } from "../../model/program/program.ts";
import { MSCCLPP_RUNTIME } from "../../model/program/runtimes.ts";
import type { Moves } from "../moves/moves.ts";

/** A place of a chunk in a rank's memory, as one number; NOWHERE: none. */
export const NOWHERE = -1;
export const place = (buffer: number, index: number): number => index * 4 + buffer;
export const bufferOf = (at: number): number => at & 3;
export const indexOf = (at: number): number => at >> 2;

/** A collective and how its data is cut. */
export type Shape = Pick<Moves, "collective" | "rankCount" | "rootRank" | "chunksPerBlock" | "chunkCount">;

/** Where the chunks of a collective lie before and after a plan. */
export interface Layout {
  readonly inputChunks: number;
  readonly outputChunks: number;
  /** Place of the rank's own version of a chunk at the start; NOWHERE: it has none. */
  readonly start: (rank: number, chunk: number) => number;
  /** Place where the rank must have it at the end; NOWHERE: it need not. */
  readonly end: (rank: number, chunk: number) => number;
  /** Where chunks must be at the end none of another kind lies at the start. */
  readonly free: boolean;
  /** Another chunk that the rank must have at the end where this one lies at the start; NOWHERE: there is none. */
  readonly successor: (rank: number, chunk: number) => number;
}

/**
 * Returns the layout of a collective. In place, what is both input and output is found in the input of all-reduce, broadcast,
 * reduce, reduce-scatter, scatter and all-to-all, and in the output of all-gather and gather; both buffers have their full
 * number of chunks, as MSCCL++ divides by either. Throws InputError for custom collectives.
 */
export function layoutOf(shape: Shape, inPlace: boolean): Layout {
  const { collective, rankCount, rootRank, chunksPerBlock, chunkCount } = shape;
  const { kind } = collective;
  const known = Object.keys(MSCCLPP_RUNTIME.collectives);
  if (kind === "custom") throw new InputError("the collective of an MSCCL++ plan", `one of ${known.join(", ")}`, kind);
  const k = chunksPerBlock;
  const all = rankCount * k;
  const blockOf = (chunk: number): number => Math.floor(chunk / k);
  const whole = { inputChunks: chunkCount, outputChunks: chunkCount };
  const gathered = { inputChunks: k, outputChunks: all };
  const scattered = { inputChunks: all, outputChunks: k };

  const input = (_: number, chunk: number): number => place(INPUT, chunk);
  const result = (_: number, chunk: number): number => place(inPlace ? INPUT : OUTPUT, chunk);
  const output = (_: number, chunk: number): number => place(OUTPUT, chunk);
  const ofRoot = (where: typeof input) => (rank: number, chunk: number) =>
    rank === rootRank ? where(rank, chunk) : NOWHERE;
  const share = (rank: number, chunk: number): number => {
    if (blockOf(chunk) !== rank) return NOWHERE;
    return inPlace && (kind === "reducescatter" || rank === rootRank) ? place(INPUT, chunk) : place(OUTPUT, chunk % k);
  };
  const owned = (rank: number, chunk: number): number => {
    if (blockOf(chunk) !== rank) return NOWHERE;
    return inPlace && (kind === "allgather" || rank === rootRank) ? place(OUTPUT, chunk) : place(INPUT, chunk % k);
  };
  const fromRank = (rank: number, chunk: number): number => {
    const block = blockOf(chunk);
    if (Math.floor(block / rankCount) !== rank) return NOWHERE;
    return place(INPUT, (block % rankCount) * k + (chunk % k));
  };
  const toRank = (rank: number, chunk: number): number => {
    const block = blockOf(chunk);
    if (block % rankCount !== rank) return NOWHERE;
    return place(inPlace ? INPUT : OUTPUT, Math.floor(block / rankCount) * k + (chunk % k));
  };

  const noSuccessor = (): number => NOWHERE;
  const answer = (rank: number, chunk: number): number => {
    const block = blockOf(chunk);
    const [from, to] = [Math.floor(block / rankCount), block % rankCount];
    return from === rank && to !== rank ? (to * rankCount + rank) * k + (chunk % k) : NOWHERE;
  };

  const layouts: Record<NamedCollective, Omit<Layout, "free" | "successor">> = {
    allreduce: { ...whole, start: input, end: result },
    broadcast: { ...whole, start: ofRoot(input), end: result },
    reduce: { ...whole, start: input, end: ofRoot(result) },
    allgather: { ...gathered, start: owned, end: output },
    gather: { ...gathered, start: owned, end: ofRoot(output) },
    reducescatter: { ...scattered, start: input, end: share },
    scatter: { ...scattered, start: ofRoot(input), end: share },
    alltoall: { inputChunks: all, outputChunks: all, start: fromRank, end: toRank },
  };
  const swaps = kind === "alltoall" && inPlace;
  return { ...layouts[kind], free: !swaps, successor: swaps ? answer : noSuccessor };
}
