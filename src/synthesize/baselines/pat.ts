import { blocksOf, messages } from "../../model/messages/messages.ts";
import { fromBaseline } from "./baseline.ts";
import { addRounds, gatherRounds, powersBelow, shifts } from "./symmetric-rounds.ts";

/**
 * Parallel aggregated trees (NCCL 2.23): every rank's block goes down a binomial tree, the trees are one tree shifted by rank, and
 * what ranks send in a round is one message. Far ranks come first, while messages are small. The reduce-scatter is mirrored.
 */
export const parallelAggregatedTrees = fromBaseline({
  name: "pat",
  description: "parallel aggregated trees, NCCL's PAT: binomial trees shifted by rank, far ranks first (baseline)",
  collectives: ["allgather", "reducescatter"],
  issue({ collective }) {
    const list = messages();
    const rounds = gatherRounds(collective.groupSize, shifts, powersBelow(collective.groupSize).reverse());
    const reduce = collective.kind === "reducescatter";
    addRounds(list, blocksOf(collective), collective.chunksPerNpu, shifts, rounds, reduce);
    return list;
  },
  words: () => "binomial trees, far ranks first",
});
