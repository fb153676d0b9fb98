import type { Collective } from "../../model/collective/collective.ts";
import { type Op, type Program, WAIT_EVENT } from "../../model/program/program.ts";
import { type Operand, type ProgramBuilder, programBuilder } from "../../model/program/program-builder.ts";
import { MSCCLPP_RUNTIME } from "../../model/program/runtimes.ts";
import { bufferOf, indexOf, layoutOf, type Shape } from "./plan-layout.ts";
import { planHeader } from "./plan-program.ts";

export interface SwitchPlanOptions {
  readonly name: string;
  readonly inPlace: boolean;
  /** Thread blocks of each rank, which share its work equally. */
  readonly blocks: number;
}

/**
 * Returns the plan in which every rank stores its share to all ranks at once through a switch (gstore), or, of an all-reduce,
 * lets the switch sum its share over all ranks and store the sum to all (glres). A thread block meets those of the other ranks
 * with its number, does its part, and meets them again. O(ranks * blocks * (ranks, or its logarithm where there are many)).
 */
export function switchPlan(collective: Collective, shares: Int32Array, options: SwitchPlanOptions): Program {
  const { name, inPlace, blocks } = options;
  const rankCount = shares.length;
  const all = shares.reduce((sum, share) => sum + share, 0);
  const gathers = collective.kind === "allgather";
  const shape: Shape = {
    ...{ collective, rankCount, rootRank: collective.rootRank, chunkCount: all * blocks },
    chunksPerBlock: gathers ? shares[0] * blocks : all * blocks,
  };
  const layout = layoutOf(shape, inPlace);
  const builder = programBuilder();
  const meet = meetingsOf(builder, rankCount);
  let before = 0;
  for (let rank = 0; rank < rankCount; rank++) {
    builder.addRank();
    for (let block = 0; block < blocks; block++) {
      builder.addBlock({ id: block });
      const first = gathers ? (rank * blocks + block) * shares[rank] : block * all + before;
      meet(rank, block, "rlxsignal", "rlxwait");
      if (shares[rank] > 0) {
        const places = Array.from(shares, (_, r): [number, number] => [layout.start(r, first), layout.end(r, first)]);
        const operand = (at: number, r: number): Operand => ({ rank: r, buffer: bufferOf(at), index: indexOf(at) });
        const sums = collective.reduces;
        builder.add({
          ...{ op: sums ? "glres" : "gstore", via: "switch", chunks: shares[rank] },
          sources: sums ? places.map(([start], r) => operand(start, r)) : [operand(places[rank][0], rank)],
          destinations: places.map(([, end], r) => operand(end, r)),
        });
        builder.add({ op: "nop" });
      }
      meet(rank, block, "signal", "wait");
    }
    before += shares[rank];
  }
  return builder.build({ ...planHeader(shape, layout, inPlace, name), channelCount: blocks });
}

type Meeting = (rank: number, block: number, signal: Op, wait: Op) => void;

/**
 * Returns what makes a block meet those of all ranks with its number. Where a block has channels to all of them, they signal
 * each other; else, in round k, each signals the rank 2^k after it, so that the last has heard, by others, of all (Hensgen,
 * Finkel and Manber 1988: dissemination).
 */
function meetingsOf(builder: ProgramBuilder, ranks: number): Meeting {
  const { channelsPerBlock, channelsPerOp } = MSCCLPP_RUNTIME;
  const events = new Map<string, number>();
  const event = (rank: number, peer: number, id: number): number => {
    const key = `${rank} ${peer} ${id}`;
    const known = events.get(key) ?? builder.addEvent({ rank, peer, id, via: "memory" });
    events.set(key, known);
    return known;
  };
  const distances = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, k) => from + k);
  const together: number[][] = [];
  if (ranks - 1 <= channelsPerBlock) {
    for (let d = 1; d < ranks; d += channelsPerOp) together.push(distances(d, Math.min(ranks, d + channelsPerOp)));
  }
  const rounds: number[][][] = together.length > 0 ? [together] : [];
  if (rounds.length === 0) for (let d = 1; d < ranks; d *= 2) rounds.push([[d]]);
  return (rank, block, signal, wait) => {
    for (const pieces of rounds) {
      const via = "memory";
      for (const piece of pieces) {
        builder.add({ op: signal, via, posts: piece.map((d) => event((rank + d) % ranks, rank, block)) });
      }
      for (const piece of pieces) {
        const waits = piece.map((d) => ({ kind: WAIT_EVENT, on: event(rank, (rank + ranks - d) % ranks, block) }));
        builder.add({ op: wait, via, waits });
      }
      builder.add({ op: "nop" });
    }
  };
}
