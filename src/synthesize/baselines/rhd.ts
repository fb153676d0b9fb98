import { blocksOf, messages } from "../../model/messages/messages.ts";
import { isPowerOfTwo } from "../../model/numbers/integers.ts";
import { fromBaseline } from "./baseline.ts";
import { addRounds, exchanges, gatherRounds, powersBelow } from "./symmetric-rounds.ts";

/**
 * Recursive halving and doubling (Rabenseifner): log2 N rounds of a reduce-scatter in which messages halve, mirrored by those of
 * the all-gather. With distance doubling the largest messages go to the nearest ranks, with distance halving to the farthest.
 */
export const recursiveHalvingDoubling = fromBaseline({
  name: "rhd",
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
  words: ({ policy }) => `vector halving, ${policy.replace("-", " ")}`,
});
