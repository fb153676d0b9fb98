import { type Collective, groupOfChunk, membersOf, type Placement } from "../../model/collective/collective.ts";

/**
 * A phase is a collective without reduction, synthesized on the topology or on the topology with its links turned around;
 * in the second case its transfers are run backwards in time and add up instead of copying (TACOS 2024, section IV-E,
 * figure 11: reduce is a broadcast reversed, reduce-scatter an all-gather reversed, all-reduce the one after the other).
 */
export interface Phase {
  readonly name: string;
  readonly reversed: boolean;
  /** Transfers of the final schedule reduce. */
  readonly reduces: boolean;
  /** Every chunk has one source and one target, and NPUs that do not want it may pass it on. */
  readonly unicast: boolean;
  /** Precondition and postcondition of the phase, in the direction in which it is synthesized. */
  readonly collective: Collective;
}

function firstMembers(collective: Collective, placement: Placement): Placement {
  const npu = Int32Array.from({ length: collective.chunkCount }, (_, c) => membersOf(collective, placement, c)[0]);
  return { kind: "one", npu };
}

/** Returns the owner of each chunk of an all-reduce: rank b of its group for the chunks of block b. */
function blockOwners(collective: Collective): Placement {
  const perGroup = collective.chunkCount / collective.groupCount;
  const npu = Int32Array.from({ length: collective.chunkCount }, (_, c) => {
    const rank = Math.floor((c % perGroup) / collective.chunksPerNpu);
    return collective.groupMembers[groupOfChunk(collective, c) * collective.groupSize + rank];
  });
  return { kind: "one", npu };
}

/** Returns the phases of a collective, in the order in which they run. */
export function phasesOf(collective: Collective): Phase[] {
  const { kind, pre, post, reduces } = collective;
  const plain = (from: Placement, to: Placement): Collective => ({
    ...collective,
    kind:
      from.kind === "one" && to.kind === "group" && kind !== "broadcast" && kind !== "reduce" ? "allgather" : "custom",
    reduces: false,
    pre: from,
    post: to,
  });
  const forward = (name: string, from: Placement, to: Placement): Phase => ({
    name,
    reversed: false,
    reduces: false,
    unicast: from.kind === "one" && to.kind === "one",
    collective: plain(from, to),
  });
  const backward = (name: string, from: Placement, to: Placement): Phase => ({
    name,
    reversed: true,
    reduces,
    unicast: from.kind === "one" && to.kind === "one",
    collective: plain(to, from),
  });
  if (kind === "gather") return [backward("gather", pre, post)];
  if (!reduces) return [forward(kind, pre, post)];
  if (post.kind === "one") return [backward(kind, pre, post)];
  const owners = kind === "allreduce" ? blockOwners(collective) : firstMembers(collective, post);
  return [backward("reduce-scatter", pre, owners), forward("all-gather", owners, post)];
}
