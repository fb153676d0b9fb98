import { ceil, compare, format, multiply, type Rational, rational } from "../numbers/rational.ts";
import { type Collective, membersOf, type NamedCollective, type Placement } from "./collective.ts";

/** Where a chunk stands: at the member of its block, at the block's target, at the root, or at every member of its group. */
type Place = "source" | "target" | "root" | "everyone";

interface Definition {
  /** Blocks of a group of n; a block has `chunksPerNpu` chunks. */
  readonly blocks: (n: number) => number;
  /** Equal parts into which a group's bytes are cut, each as large as a block. */
  readonly parts: (n: number) => number;
  readonly reduces: boolean;
  readonly pre: Place;
  readonly post: Place;
}

const own = (n: number): number => n;
const single = (): number => 1;
const define = (
  blocks: Definition["blocks"],
  pre: Place,
  post: Place,
  reduces = false,
  parts: Definition["parts"] = blocks,
): Definition => ({ blocks, parts, reduces, pre, post });

/** The collectives with a name (MPI 4.1, chapter 6; sizes as nccl-tests count them). */
const DEFINITIONS: Readonly<Record<NamedCollective, Definition>> = {
  allgather: define(own, "source", "everyone"),
  reducescatter: define(own, "everyone", "source", true),
  allreduce: define(own, "everyone", "everyone", true),
  broadcast: define(single, "root", "everyone"),
  reduce: define(single, "everyone", "root", true),
  gather: define(own, "source", "root"),
  scatter: define(own, "root", "source"),
  // a member's data has a block for each member
  alltoall: define((n) => n * n, "source", "target", false, own),
};

/**
 * Returns why a collective is not the one that its kind names, in a phrase; null where it is. What a
 * kind says is worked out again, by other means than `collective` makes it: how many chunks of which size, whether they are
 * summed, and for each chunk who has it and who wants it. Chunks stand block by block (`collective`); those of an all-reduce
 * are all alike, so any number of them makes one, and `chunksPerNpu` is what each NPU's share has of them, rounded down, or 1.
 *
 * A custom collective is what its table says; only its bytes are counted: they are no more than all chunks have, rounded up.
 * The members and placements must be well-formed. O(chunks + members of placements).
 */
export function kindFault(collective: Collective): string | null {
  const { kind, sizeBytes, chunkBytes, chunkCount } = collective;
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0)
    return `its size is ${sizeBytes} bytes, no whole number from 0 on`;
  if (kind !== "custom") {
    const definition = Object.hasOwn(DEFINITIONS, kind) ? DEFINITIONS[kind] : undefined;
    if (definition === undefined) return "no collective has this name";
    return countFault(collective, definition) ?? placesFault(collective, definition);
  }
  const all = multiply(chunkBytes, rational(chunkCount));
  return BigInt(sizeBytes) <= ceil(all)
    ? null
    : `its size is ${sizeBytes} bytes, but all its chunks have ${format(all)}`;
}

/** Returns what is wrong with the numbers of a named collective. */
function countFault(collective: Collective, { blocks, parts, reduces }: Definition): string | null {
  const { kind, groupCount, groupSize, chunkCount, chunksPerNpu, chunkBytes, sizeBytes, rootRank } = collective;
  if (collective.reduces !== reduces) return `its chunks are ${collective.reduces ? "summed" : "copied"}`;
  if (groupCount < 1 || groupSize < 1) return `it has ${groupCount} groups of ${groupSize} NPUs`;
  if (!(Number.isInteger(rootRank) && rootRank >= 0 && rootRank < groupSize))
    return `its root has rank ${rootRank} of ${groupSize}`;
  if (!Number.isSafeInteger(chunksPerNpu) || chunksPerNpu < 1) return `it has ${chunksPerNpu} chunks per NPU`;
  const perGroup = chunkCount / groupCount;
  const right =
    kind === "allreduce"
      ? Number.isInteger(perGroup) && perGroup > 0 && chunksPerNpu === Math.max(1, Math.floor(perGroup / groupSize))
      : perGroup === blocks(groupSize) * chunksPerNpu;
  if (!right) {
    const among = `${groupCount > 1 ? `${groupCount} groups of ` : ""}${groupSize} NPUs`;
    return `it has ${chunkCount} chunks, which ${chunksPerNpu} per NPU do not make among ${among}`;
  }
  const bytes = partOf(sizeBytes, kind === "allreduce" ? perGroup : parts(groupSize) * chunksPerNpu);
  if (compare(chunkBytes, bytes) === 0) return null;
  return `its chunks have ${format(chunkBytes)} bytes each, where ${sizeBytes} bytes make chunks of ${format(bytes)}`;
}

const partOf = (bytes: number, parts: number): Rational => rational(BigInt(bytes), BigInt(parts));

/** Returns the first chunk that a named collective places elsewhere, in a phrase; the numbers must be right. */
function placesFault(collective: Collective, { blocks, pre, post }: Definition): string | null {
  const { groupCount, groupSize, groupMembers, chunksPerNpu, chunkCount, rootRank } = collective;
  const perGroup = chunkCount / groupCount;
  const perMember = blocks(groupSize) / groupSize;
  const ascending = Array.from({ length: groupCount }, (_, g) =>
    groupMembers.slice(g * groupSize, (g + 1) * groupSize).sort(),
  );
  const rankAt = (place: Place, block: number): number => {
    if (place === "root") return rootRank;
    // block by block: all of the first source, to target after target, then those of the next one
    return place === "source" ? Math.floor(block / perMember) : block % groupSize;
  };
  const isAt = (placement: Placement, place: Place, chunk: number): boolean => {
    const group = Math.floor(chunk / perGroup);
    if (placement.kind === "group") return place === "everyone" || groupSize === 1;
    const [from, to] =
      placement.kind === "one" ? [chunk, chunk + 1] : [placement.offset[chunk], placement.offset[chunk + 1]];
    const members = placement.kind === "one" ? placement.npu : placement.members;
    if (place === "everyone") {
      return to - from === groupSize && ascending[group].every((npu, i) => members[from + i] === npu);
    }
    const block = Math.floor((chunk % perGroup) / chunksPerNpu);
    return to - from === 1 && members[from] === groupMembers[group * groupSize + rankAt(place, block)];
  };
  for (const [placement, place, verb] of [
    [collective.pre, pre, "starts"],
    [collective.post, post, "must end"],
  ] as const) {
    if (placement.kind === "group" && place === "everyone") continue;
    for (let chunk = 0; chunk < chunkCount; chunk++) {
      if (!isAt(placement, place, chunk)) return `chunk ${chunk} ${verb} elsewhere than ${where(place)}`;
    }
  }
  return null;
}

const where = (place: Place): string =>
  place === "everyone"
    ? "at every member of its group"
    : place === "root"
      ? "at the root alone"
      : `at its ${place} alone`;

/**
 * Returns how many (chunk, NPU) pairs of the postcondition need something from elsewhere: a chunk that the NPU does not have,
 * or contributions of others. 0 means that there is nothing to do. The placements must be well-formed. O(members of placements).
 */
export function deliveryCount(collective: Collective): number {
  const { chunkCount, reduces, pre, post } = collective;
  let count = 0;
  for (let chunk = 0; chunk < chunkCount; chunk++) {
    const holders = membersOf(collective, pre, chunk);
    for (const npu of membersOf(collective, post, chunk)) {
      if (reduces ? holders.length > 1 || holders[0] !== npu : !holders.includes(npu)) count++;
    }
  }
  return count;
}
