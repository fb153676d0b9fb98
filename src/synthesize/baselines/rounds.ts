import type { Collective } from "../../model/collective/collective.ts";
import { type Blocks, blocksOf, type Messages, messages } from "../../model/messages/messages.ts";
import { isPowerOfTwo } from "../../model/numbers/integers.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";
import { fromBaseline } from "./baseline.ts";

const rhdWords = (policy: string): string => `vector halving, ${policy.replace("-", " ")}`;
const BRUCK_WORDS = "distances 1, 2, 4, ...";
const PAT_WORDS = "binomial trees, far ranks first";

/**
 * Recursive halving and doubling (Rabenseifner), as in MPICH and Open MPI: log2 N rounds of a reduce-scatter in which messages halve, mirrored by those of
 * the all-gather. With distance doubling the largest messages go to the nearest ranks, with distance halving to the farthest.
 */
export const recursiveHalvingDoubling = fromBaseline({
  name: "rhd",
  traits: { library: "in rank order", librariesOf: ["MPI"] },
  description: "recursive halving and doubling, for powers of two; the largest messages go to neighbours (baseline)",
  collectives: ["allgather", "reducescatter", "allreduce"],
  policies: ["distance-doubling", "distance-halving"],
  refuses: (_, { groupSize }) => (isPowerOfTwo(groupSize) ? null : "a number of NPUs that is a power of two for rhd"),
  issue({ collective, policy }) {
    const { groupSize, chunksPerNpu, kind } = collective;
    const list = messages();
    const blocks = blocksOf(collective);
    const near = powersBelow(groupSize);
    const steps = policy === "distance-halving" ? near : near.reverse();
    const rounds = gatherRounds(groupSize, exchanges, steps);
    if (kind !== "allgather") addRounds(list, blocks, chunksPerNpu, exchanges, rounds, true);
    if (kind !== "reducescatter") addRounds(list, blocks, chunksPerNpu, exchanges, rounds, false);
    return list;
  },
  words: ({ policy }) => rhdWords(policy),
});

/**
 * Adds the rounds of an all-to-all: a block for the rank at distance d goes 2^k ranks on in round k where d has that bit. What came
 * last goes first. O(N^2 log N) messages of a block.
 */
function addAllToAll(list: Messages, collective: Collective): void {
  const blocks = blocksOf(collective);
  const { size, groups } = blocks;
  let order = Array.from({ length: size - 1 }, (_, i) => i + 1);
  for (const step of powersBelow(size)) {
    const moves = (distance: number): boolean => (distance & step) !== 0;
    const sent = order.filter(moves).reverse();
    for (let k = 0; k < collective.chunksPerNpu; k++) {
      for (const distance of sent) {
        const gone = distance & (step - 1);
        for (let group = 0; group < groups; group++) {
          for (let rank = 0; rank < size; rank++) {
            const chunk = blocks.chunk(group, rank * size + ((rank + distance) % size), k);
            list.add(chunk, blocks.npu(group, rank + gone), blocks.npu(group, rank + gone + step), false);
          }
        }
      }
    }
    order = [...order.filter((distance) => !moves(distance)), ...sent];
  }
}

/**
 * Bruck et al. (1997), as in MPICH and Open MPI: ceil(log2 N) rounds over distances 1, 2, 4, ... for any N; the reduce-scatter is
 * the all-gather mirrored.
 */
export const bruck = fromBaseline({
  name: "bruck",
  traits: { library: "in rank order", librariesOf: ["MPI"] },
  description: "Bruck: ceil(log2 N) rounds over distances 1, 2, 4, ... (baseline)",
  collectives: ["allgather", "reducescatter", "alltoall"],
  issue({ collective }) {
    const list = messages();
    if (collective.kind === "alltoall") {
      addAllToAll(list, collective);
    } else {
      const rounds = gatherRounds(collective.groupSize, shifts, powersBelow(collective.groupSize));
      const reduce = collective.kind === "reducescatter";
      addRounds(list, blocksOf(collective), collective.chunksPerNpu, shifts, rounds, reduce);
    }
    return list;
  },
  words: () => BRUCK_WORDS,
});

/**
 * Parallel aggregated trees (NCCL 2.23): every rank's block goes down a binomial tree, the trees are one tree shifted by rank, and
 * what ranks send in a round is one message. Far ranks come first, while messages are small. The reduce-scatter is mirrored.
 */
export const parallelAggregatedTrees = fromBaseline({
  name: "pat",
  traits: { library: "over boxes", librariesOf: ["NCCL"] },
  description: "parallel aggregated trees, NCCL's PAT: binomial trees shifted by rank, far ranks first (baseline)",
  collectives: ["allgather", "reducescatter"],
  issue({ collective }) {
    const list = messages();
    const rounds = gatherRounds(collective.groupSize, shifts, powersBelow(collective.groupSize).reverse());
    const reduce = collective.kind === "reducescatter";
    addRounds(list, blocksOf(collective), collective.chunksPerNpu, shifts, rounds, reduce);
    return list;
  },
  words: () => PAT_WORDS,
});

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
const shifts: Rotation = {
  to: (rank, step) => rank + step,
  blockOf: (rank, position) => rank - position,
  landed: (position, step) => position + step,
};

/** Ranks in binary: partners of a round differ in one bit. */
const exchanges: Rotation = {
  to: (rank, step) => rank ^ step,
  blockOf: (rank, position) => rank ^ position,
  landed: (position, step) => position ^ step,
};

/** Returns 1, 2, 4, ... below the number of ranks. */
function powersBelow(ranks: number): number[] {
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
function gatherRounds(ranks: number, { landed }: Rotation, steps: readonly number[]): Round[] {
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

/** The rounds of an algorithm, of which all ranks do the same: in each a rank sends some blocks to one other. */
export interface RoundSteps {
  /** As schedules say it. */
  readonly policy: string;
  readonly rounds: readonly { readonly step: number; readonly blocks: number }[];
  to(rank: number, step: number): number;
}

/** Returns the rounds of an algorithm, for each of its policies; of a reduction those of its mirror image. O(N log N). */
export function roundSteps(
  name: "rhd" | "bruck" | "pat",
  { kind, groupSize }: Pick<Collective, "kind" | "groupSize">,
): RoundSteps[] {
  const near = powersBelow(groupSize);
  const far = near.toReversed();
  const counted = (policy: string, rotation: Rotation, steps: readonly number[]): RoundSteps => {
    const rounds = gatherRounds(groupSize, rotation, steps).map(({ step, sent }) => ({ step, blocks: sent.length }));
    return { policy, rounds, to: rotation.to };
  };
  if (name === "rhd")
    return [
      counted(rhdWords("distance-doubling"), exchanges, far),
      counted(rhdWords("distance-halving"), exchanges, near),
    ];
  if (name === "pat") return [counted(PAT_WORDS, shifts, far)];
  if (kind !== "alltoall") return [counted(BRUCK_WORDS, shifts, near)];
  const moved = (step: number): number => indicesBelow(groupSize).filter((distance) => (distance & step) !== 0).length;
  return [{ policy: BRUCK_WORDS, rounds: near.map((step) => ({ step, blocks: moved(step) })), to: shifts.to }];
}

/**
 * Adds the messages of all groups: rounds as they are for an all-gather; backwards, from receiver to sender, with sums, for a
 * reduce-scatter. The k-th chunks of all blocks are an all-gather of their own, and those follow each other in every round.
 */
function addRounds(
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
