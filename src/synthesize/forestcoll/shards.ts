import { InputError } from "../../base/errors.ts";
import type { Collective } from "../../model/collective/collective.ts";

/**
 * Returns what each member contributes, [members] in rank order, as exact integers: 1 each, 1 at the root of a broadcast or a
 * reduction alone. A custom collective is an all-gather of unequal shards: each chunk has one holder, and all members want it;
 * then it is the number of chunks. Throws InputError for other custom collectives.
 */
export function contributions(collective: Collective): Float64Array {
  const { kind, groupSize, rootRank } = collective;
  const weight = new Float64Array(groupSize);
  if (kind === "broadcast" || kind === "reduce") weight[rootRank] = 1;
  else if (kind !== "custom") weight.fill(1);
  else countChunks(collective, weight);
  return weight;
}

function countChunks(
  { pre, post, reduces, chunkCount, groupMembers, groupSize }: Collective,
  weight: Float64Array,
): void {
  const refuse = (received: string): InputError =>
    new InputError(
      "--collective",
      "an all-gather of unequal shards (each chunk with one holder, wanted by all members) for forestcoll",
      received,
    );
  if (reduces) throw refuse("a reduction");
  const rankOf = new Map([...groupMembers].map((npu, rank) => [npu, rank]));
  for (let chunk = 0; chunk < chunkCount; chunk++) {
    const holders =
      pre.kind === "one" ? 1 : pre.kind === "sets" ? pre.offset[chunk + 1] - pre.offset[chunk] : groupSize;
    if (holders !== 1) throw refuse(`chunk ${chunk} with ${holders} holders`);
    const wanted =
      post.kind === "sets" ? post.offset[chunk + 1] - post.offset[chunk] : post.kind === "one" ? 1 : groupSize;
    if (wanted < groupSize - 1) throw refuse(`chunk ${chunk} wanted by ${wanted} of ${groupSize}`);
    const holder = pre.kind === "one" ? pre.npu[chunk] : pre.kind === "sets" ? pre.members[pre.offset[chunk]] : -1;
    const rank = rankOf.get(holder);
    if (rank === undefined) throw refuse(`chunk ${chunk} held by an NPU outside the group`);
    weight[rank]++;
  }
}
