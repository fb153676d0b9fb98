import type { Blocks, Messages } from "../../model/messages/messages.ts";

/**
 * An all-gather in rounds in which all ranks do the same: in a round of step d, rank r sends one message to rank `to(r, d)`. Its
 * blocks are named by where they stand for the sender: block `blockOf(r, p)` at position p, which is at `landed(p, d)` for the
 * receiver. A rank's own block is at position 0.
 */
export interface Rotation {
  to(rank: number, step: number): number;
  blockOf(rank: number, position: number): number;
  landed(position: number, step: number): number;
}

/** Ranks modulo N: a message goes `step` ranks on. Positions count ranks back to the owner. */
export const shifts: Rotation = {
  to: (rank, step) => rank + step,
  blockOf: (rank, position) => rank - position,
  landed: (position, step) => position + step,
};

/** Ranks in binary: partners of a round differ in one bit. */
export const exchanges: Rotation = {
  to: (rank, step) => rank ^ step,
  blockOf: (rank, position) => rank ^ position,
  landed: (position, step) => position ^ step,
};

/** Returns 1, 2, 4, ... below the number of ranks. */
export function powersBelow(ranks: number): number[] {
  const powers: number[] = [];
  for (let power = 1; power < ranks; power *= 2) powers.push(power);
  return powers;
}

/** One round: the step, and the positions a rank sends, in order. */
export interface Round {
  readonly step: number;
  readonly sent: readonly number[];
}

/**
 * Returns the rounds of an all-gather with these steps, in which every rank sends all that its partner lacks. What came last goes
 * first: a round's message then starts when the whole message before it is there, as in libraries, at no cost to the order
 * of bytes. O(blocks).
 */
export function gatherRounds(ranks: number, { landed }: Rotation, steps: readonly number[]): Round[] {
  const held = [0];
  const known = new Set(held);
  return steps.map((step) => {
    const sent = held.filter((position) => {
      const there = landed(position, step);
      return there < ranks && !known.has(there);
    });
    sent.reverse();
    for (const position of sent) {
      held.push(landed(position, step));
      known.add(landed(position, step));
    }
    return { step, sent };
  });
}

/**
 * Adds the messages of all groups: rounds as they are for an all-gather; backwards, from receiver to sender, with sums, for a
 * reduce-scatter. The k-th chunks of all blocks are an all-gather of their own, and those follow each other in every round.
 */
export function addRounds(
  list: Messages,
  blocks: Blocks,
  chunksPerNpu: number,
  { to, blockOf }: Rotation,
  rounds: readonly Round[],
  reduce: boolean,
): void {
  const turned = <T>(items: readonly T[]): readonly T[] => (reduce ? [...items].reverse() : items);
  for (const { step, sent } of turned(rounds)) {
    const order = turned(sent);
    for (let k = 0; k < chunksPerNpu; k++) {
      for (const position of order) {
        for (let group = 0; group < blocks.groups; group++) {
          for (let rank = 0; rank < blocks.size; rank++) {
            const chunk = blocks.chunk(group, blockOf(rank, position), k);
            const [sender, receiver] = [blocks.npu(group, rank), blocks.npu(group, to(rank, step))];
            if (reduce) list.add(chunk, receiver, sender, true);
            else list.add(chunk, sender, receiver, false);
          }
        }
      }
    }
  }
}
