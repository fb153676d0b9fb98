import { InputError } from "../../base/errors.ts";
import { type Rational, rational } from "../numbers/rational.ts";

/** The eight collectives with a name, and `custom` for a table of pre- and postconditions. */
export const COLLECTIVE_KINDS = [
  "allgather",
  "reducescatter",
  "allreduce",
  "broadcast",
  "reduce",
  "gather",
  "scatter",
  "alltoall",
] as const;
export type NamedCollective = (typeof COLLECTIVE_KINDS)[number];
export type CollectiveKind = NamedCollective | "custom";

/** Returns whether one NPU of a collective is its root. */
export const hasRoot = (kind: CollectiveKind): boolean => ["broadcast", "reduce", "gather", "scatter"].includes(kind);

const HYPHENED: ReadonlyMap<string, string> = new Map([
  ["allgather", "all-gather"],
  ["reducescatter", "reduce-scatter"],
  ["allreduce", "all-reduce"],
  ["alltoall", "all-to-all"],
]);

/** Returns a collective as people write it: "all-reduce". */
export const collectiveName = (kind: string): string => HYPHENED.get(kind) ?? kind;

/**
 * Which NPUs a chunk belongs to. `one`: a single NPU per chunk. `group`: every member of the chunk's process group.
 * `sets`: any NPUs, `members[offset[c] .. offset[c + 1]]` for chunk c, ascending.
 */
export type Placement =
  | { readonly kind: "one"; readonly npu: Int32Array }
  | { readonly kind: "group" }
  | { readonly kind: "sets"; readonly offset: Int32Array; readonly members: Int32Array };

/** Returns the placement at these NPUs, a list for each chunk. */
export function placementOfLists(lists: readonly Int32Array[]): Placement {
  const offset = new Int32Array(lists.length + 1);
  lists.forEach((list, chunk) => {
    offset[chunk + 1] = offset[chunk] + list.length;
  });
  const members = new Int32Array(offset[lists.length]);
  lists.forEach((list, chunk) => {
    members.set(list, offset[chunk]);
  });
  return { kind: "sets", offset, members };
}

/**
 * What must be communicated: precondition and postcondition over equal chunks (TACOS 2024, section IV-D).
 *
 * Where `reduces` is false, the NPUs of `pre` hold the chunk at the start and those of `post` must hold it at the end.
 * Where it is true, every NPU of `pre` starts with its own contribution to the chunk, and every NPU of `post` must end
 * with the sum that contains each contribution exactly once.
 */
export interface Collective {
  readonly kind: CollectiveKind;
  /** Number of process groups; all have the same size. */
  readonly groupCount: number;
  /** NPUs per group: the collective's N. */
  readonly groupSize: number;
  /** [groupCount * groupSize] NPU of rank r of group g at g * groupSize + r. */
  readonly groupMembers: Int32Array;
  /** Rank of the root in each group (broadcast, reduce, gather, scatter; else 0). */
  readonly rootRank: number;
  /** nccl-tests size in bytes, per group. */
  readonly sizeBytes: number;
  /** Chunks per NPU; for broadcast and reduce the number of chunks of the buffer. */
  readonly chunksPerNpu: number;
  /** Over all groups; group g owns chunks g * chunkCount / groupCount onwards. */
  readonly chunkCount: number;
  /** Exact bytes of a chunk: size / (N x chunks), or size / chunks for broadcast and reduce. */
  readonly chunkBytes: Rational;
  readonly reduces: boolean;
  readonly pre: Placement;
  readonly post: Placement;
}

interface CollectiveRequest {
  readonly kind: NamedCollective;
  /** One array of NPU ids in rank order for each process group. */
  readonly groups: readonly Int32Array[];
  readonly sizeBytes: number;
  readonly chunksPerNpu: number;
  /** NPU id of the root; must be a member of every group that there is (so: one group), where the kind has a root. */
  readonly rootRank: number;
}

/** Returns 1 for broadcast and reduce, N for the other kinds but all-to-all, which has N x N blocks of chunks. */
function blocksOf(kind: NamedCollective, size: number): number {
  if (kind === "broadcast" || kind === "reduce") return 1;
  return kind === "alltoall" ? size * size : size;
}

/** Returns the number of chunks that a collective would have; a double, so that absurd requests can be refused. */
export function chunkCountOf(kind: NamedCollective, groupSize: number, groups: number, chunksPerNpu: number): number {
  return blocksOf(kind, groupSize) * groups * chunksPerNpu;
}

/**
 * Returns the collective with its chunks numbered block by block: chunk k of block b is b * chunksPerNpu + k, and the
 * block of an all-to-all is source rank * N + target rank. O(NPUs); tables of owners are filled when first read: bounds of
 * the 1.6e9 chunks of an all-to-all among 40,000 need none.
 */
export function collective(request: CollectiveRequest): Collective {
  const { kind, groups, chunksPerNpu, rootRank, sizeBytes } = request;
  const groupSize = (groups[0] as Int32Array).length;
  const blocks = blocksOf(kind, groupSize);
  const perGroup = blocks * chunksPerNpu;
  const chunkCount = perGroup * groups.length;
  const groupMembers = new Int32Array(groups.length * groupSize);
  groups.forEach((members, g) => {
    groupMembers.set(members, g * groupSize);
  });

  const owners = (rankOfBlock: (block: number) => number): Int32Array => {
    const npu = new Int32Array(chunkCount);
    for (let c = 0; c < chunkCount; c++) {
      const group = Math.floor(c / perGroup);
      const block = Math.floor((c % perGroup) / chunksPerNpu);
      npu[c] = groupMembers[group * groupSize + rankOfBlock(block)];
    }
    return npu;
  };
  const one = (rankOfBlock: (block: number) => number): Placement => {
    let npu: Int32Array | null = null;
    return {
      kind: "one",
      get npu() {
        npu ??= owners(rankOfBlock);
        return npu;
      },
    };
  };
  const everyone: Placement = { kind: "group" };
  const owner = (block: number): number => block;
  const root = (): number => rootRank;

  const placements: Record<NamedCollective, () => [Placement, Placement]> = {
    allgather: () => [one(owner), everyone],
    reducescatter: () => [everyone, one(owner)],
    allreduce: () => [everyone, everyone],
    broadcast: () => [one(root), everyone],
    reduce: () => [everyone, one(root)],
    gather: () => [one(owner), one(root)],
    scatter: () => [one(root), one(owner)],
    alltoall: () => [one((b) => Math.floor(b / groupSize)), one((b) => b % groupSize)],
  };
  const [pre, post] = placements[kind]();
  const share = kind === "broadcast" || kind === "reduce" ? 1 : groupSize;
  return {
    kind,
    groupCount: groups.length,
    groupSize,
    groupMembers,
    rootRank,
    sizeBytes,
    chunksPerNpu,
    chunkCount,
    chunkBytes: rational(BigInt(sizeBytes), BigInt(share) * BigInt(chunksPerNpu)),
    reduces: kind === "reducescatter" || kind === "allreduce" || kind === "reduce",
    pre,
    post,
  };
}

/** Returns the same collective with its data in this many chunks per NPU. Throws InputError for a custom one. O(NPUs). */
export function withChunks(whole: Collective, chunksPerNpu: number): Collective {
  const { kind, groupMembers, groupSize, groupCount, sizeBytes, rootRank } = whole;
  if (kind === "custom") throw new InputError("the collective", "one whose chunks are equal parts", kind);
  const groups = Array.from({ length: groupCount }, (_, g) =>
    groupMembers.subarray(g * groupSize, (g + 1) * groupSize),
  );
  return collective({ kind, groups, sizeBytes, chunksPerNpu, rootRank });
}

/** Returns the process group of a chunk. */
export function groupOfChunk(collective: Collective, chunk: number): number {
  return Math.floor((chunk * collective.groupCount) / collective.chunkCount);
}

/** Returns the NPUs of a placement for one chunk, as a view; ascending for `sets`, rank order for `group`. */
export function membersOf(collective: Collective, placement: Placement, chunk: number): Int32Array {
  switch (placement.kind) {
    case "one":
      return placement.npu.subarray(chunk, chunk + 1);
    case "group": {
      const group = groupOfChunk(collective, chunk);
      return collective.groupMembers.subarray(group * collective.groupSize, (group + 1) * collective.groupSize);
    }
    case "sets":
      return placement.members.subarray(placement.offset[chunk], placement.offset[chunk + 1]);
  }
}

/**
 * Returns the factor of nccl-tests that turns algorithm bandwidth into bus bandwidth for N ranks:
 * 2(N-1)/N all-reduce; (N-1)/N all-gather, reduce-scatter, all-to-all, gather, scatter; 1 broadcast, reduce, custom.
 */
export function busFactor(kind: CollectiveKind, ranks: number): number {
  if (kind === "allreduce") return (2 * (ranks - 1)) / ranks;
  if (kind === "broadcast" || kind === "reduce" || kind === "custom") return 1;
  return (ranks - 1) / ranks;
}

/** So many collectives at once are scheduled in seconds on a small network; more are refused. */
export const MOST_COLLECTIVES = 10_000;

/** Collectives of which many may be the same. */
interface RepeatedCollectives {
  /** Those that differ, in order of appearance. */
  readonly distinct: readonly Collective[];
  /** [distinct] how many times each is there. */
  readonly times: readonly number[];
  /** [collectives] number of each among those that differ. */
  readonly of: readonly number[];
}

function placementText(placement: Placement): string {
  if (placement.kind === "group") return "group";
  return placement.kind === "one"
    ? `one ${placement.npu.join()}`
    : `sets ${placement.offset.join()} ${placement.members.join()}`;
}

const textOf = (c: Collective): string =>
  [
    ...[c.kind, c.groupCount, c.rootRank, c.sizeBytes, c.chunksPerNpu, c.chunkCount, c.reduces],
    ...[c.chunkBytes.num, c.chunkBytes.den, c.groupMembers.join(), placementText(c.pre), placementText(c.post)],
  ].join(" ");

/** Returns which of the collectives are equal in all they say. O(what they say; of the same object once). */
export function repeatedCollectives(collectives: readonly Collective[]): RepeatedCollectives {
  const distinct: Collective[] = [];
  const times: number[] = [];
  const byText = new Map<string, number>();
  const byObject = new Map<Collective, number>();
  const of = collectives.map((collective) => {
    let index = byObject.get(collective);
    if (index === undefined) {
      const text = textOf(collective);
      index = byText.get(text) ?? distinct.push(collective) - 1;
      byText.set(text, index);
      byObject.set(collective, index);
    }
    times[index] = (times[index] ?? 0) + 1;
    return index;
  });
  return { distinct, times, of };
}

/** Returns for each collective the number of its chunk size among the different ones, in order of appearance. O(collectives). */
export function sizeClasses(collectives: readonly Collective[]): {
  readonly classes: readonly Collective[];
  readonly of: readonly number[];
} {
  const classes: Collective[] = [];
  const known = new Map<string, number>();
  const of = collectives.map((collective) => {
    const { num, den } = collective.chunkBytes;
    const text = `${num}/${den}`;
    const index = known.get(text) ?? classes.push(collective) - 1;
    known.set(text, index);
    return index;
  });
  return { classes, of };
}
