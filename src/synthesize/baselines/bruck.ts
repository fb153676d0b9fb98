import type { Collective } from "../../model/collective/collective.ts";
import { blocksOf, type Messages, messages } from "../../model/messages/messages.ts";
import { fromBaseline } from "./baseline.ts";
import { addRounds, gatherRounds, powersBelow, shifts } from "./symmetric-rounds.ts";

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

/** Bruck et al. (1997): ceil(log2 N) rounds over distances 1, 2, 4, ... for any N; the reduce-scatter is the all-gather mirrored. */
export const bruck = fromBaseline({
  name: "bruck",
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
  words: () => "distances 1, 2, 4, ...",
});
