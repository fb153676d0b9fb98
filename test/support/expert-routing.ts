import { random } from "../../src/base/random.ts";

/** A workload of experts: tokens that each rank routes to the two experts that like them best. */
export interface Routing {
  readonly ranks: number;
  /** Over all ranks, the same number on each. */
  readonly experts: number;
  readonly tokensPerRank: number;
  readonly tokenBytes: number;
  readonly seed: number;
}

/** Returns the bytes that each rank sends to each other: experts differ in how often they are liked, [ranks][ranks]. */
export function dispatchBytes({ ranks, experts, tokensPerRank, tokenBytes, seed }: Routing): number[][] {
  const draws = random(seed, 0xe4be);
  const liked = Array.from({ length: experts }, () => 1 + draws.below(8));
  const pick = (not: number): number => {
    const weights = liked.map((weight, e) => (e === not ? 0 : weight));
    let left = draws.below(weights.reduce((sum, weight) => sum + weight, 0));
    return weights.findIndex((weight) => {
      left -= weight;
      return left < 0;
    });
  };
  const bytes = Array.from({ length: ranks }, () => new Array<number>(ranks).fill(0));
  for (let rank = 0; rank < ranks; rank++) {
    for (let token = 0; token < tokensPerRank; token++) {
      const first = pick(-1);
      for (const expert of [first, pick(first)]) {
        const to = Math.floor((expert * ranks) / experts);
        if (to !== rank) bytes[rank][to] += tokenBytes;
      }
    }
  }
  return bytes;
}

/** Returns what the experts send back. */
export const combineBytes = (dispatch: readonly (readonly number[])[]): number[][] =>
  dispatch.map((_, i) => dispatch.map((row) => row[i]));

/** Returns the table as the file of an all-to-all-v. */
export const matrixText = (bytes: readonly (readonly number[])[]): string =>
  bytes.map((row) => row.join(" ")).join("\n");
