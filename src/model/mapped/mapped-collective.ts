import { InputError, inWords } from "../../base/errors.ts";
import { type Collective, collective, hasRoot } from "../collective/collective.ts";

/** A collective on another network, and its chunks there. */
export interface MappedCollective {
  readonly collective: Collective;
  /** Returns the chunk there of a chunk here: that of the image of its owner, or of both ends of an all-to-all. */
  chunkOf(chunk: number): number;
}

/** The images of groups, and where each group goes: to which, and [group size] its ranks there. */
interface Images {
  readonly groups: readonly Int32Array[];
  readonly place: readonly number[];
  readonly ranks: readonly Int32Array[];
}

const isAscending = (numbers: ArrayLike<number>): boolean =>
  Array.from(numbers).every((number, i, all) => i === 0 || (all[i - 1] as number) < number);

/** Returns whether groups stand in the order in which they are made where no other is asked for: by NPUs. */
const isPlain = (groups: readonly Int32Array[]): boolean =>
  groups.every(isAscending) && isAscending(groups.map((members) => members[0]));

/** Returns the images of groups in the order of NPUs. O(members log members). */
function byNpus(images: readonly Int32Array[]): Images {
  const sorted = images.map((members) => members.slice().sort());
  const order = [...sorted.keys()].sort((a, b) => sorted[a][0] - sorted[b][0]);
  const place = order.map((_, g) => order.indexOf(g));
  const ranks = images.map((members, g) => {
    const rankOf = new Map(Array.from(sorted[g], (member, rank) => [member, rank]));
    return members.map((member) => rankOf.get(member) as number);
  });
  return { groups: order.map((g) => sorted[g]), place, ranks };
}

/** Returns the images of groups with the ranks that they have. */
const asTheyAre = (images: readonly Int32Array[]): Images => ({
  groups: images,
  place: [...images.keys()],
  ranks: images.map((members) => members.map((_, rank) => rank)),
});

/**
 * Returns a collective whose NPUs are others, npu [NPUs]: its groups in the order of NPUs where they are so here, and roots still have
 * one rank; else, and always where `keepsRanks`, with the ranks that they have. Throws InputError for a custom one, unless every NPU
 * stays. O(NPUs log NPUs), where groups share none.
 */
export function mappedCollective(own: Collective, npu: Int32Array, keepsRanks = false): MappedCollective {
  const { kind, groupSize, groupCount, groupMembers, chunksPerNpu, chunkCount, sizeBytes, rootRank } = own;
  if (kind === "custom") {
    if (npu.every((image, one) => image === one)) return { collective: own, chunkOf: (chunk) => chunk };
    throw new InputError("a schedule for other NPUs", "one of a collective with a name", inWords("a custom one"));
  }
  const groups = Array.from({ length: groupCount }, (_, g) =>
    groupMembers.subarray(g * groupSize, (g + 1) * groupSize),
  );
  const images = groups.map((members) => members.map((member) => npu[member]));
  const sorted = !keepsRanks && isPlain(groups) ? byNpus(images) : asTheyAre(images);
  const roots = new Set(sorted.ranks.map((ranks) => ranks[rootRank]));
  const { groups: there, place, ranks } = hasRoot(kind) && roots.size > 1 ? asTheyAre(images) : sorted;
  const root = hasRoot(kind) ? ranks[0][rootRank] : rootRank;

  const perGroup = chunkCount / groupCount;
  const isPairs = kind === "alltoall";
  const isOneBlock = perGroup === chunksPerNpu;
  const chunkOf = (chunk: number): number => {
    const group = Math.floor(chunk / perGroup);
    const block = Math.floor((chunk % perGroup) / chunksPerNpu);
    const rank = ranks[group];
    const image = isPairs ? rank[Math.floor(block / groupSize)] * groupSize + rank[block % groupSize] : rank[block];
    return place[group] * perGroup + (isOneBlock ? 0 : image * chunksPerNpu) + (chunk % chunksPerNpu);
  };
  return { collective: collective({ kind, groups: there, sizeBytes, chunksPerNpu, rootRank: root }), chunkOf };
}
