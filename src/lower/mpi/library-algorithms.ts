import type { NamedCollective } from "../../model/collective/collective.ts";
import { openMpiChoice } from "../../model/mpi/open-mpi.ts";
import { isPowerOfTwo } from "../../model/numbers/integers.ts";
import type { LibraryRun } from "./library-messages.ts";
import * as sent from "./library-messages.ts";

/** Which messages algorithms of Open MPI (4.1, 5.0) and MPICH (4, 5) send, by the names that the libraries have for them. */

export interface LibraryRequest {
  readonly ranks: number;
  readonly rootRank: number;
  /** As nccl-tests count it, of f32. */
  readonly sizeBytes: number;
  /** Of Open MPI's trees and chains; 0: messages are whole. */
  readonly segmentBytes: number;
  /** Chains of Open MPI's chain: one where it chooses by itself, else 4. */
  readonly chains: number;
}

/** What is sent, by ranks as they are or counted from the root on. */
export interface LibraryMessages {
  readonly run: LibraryRun;
  readonly fromRoot: boolean;
}

type Make = (asked: LibraryRequest) => LibraryRun | null;
type Makes = Readonly<Record<NamedCollective, Readonly<Record<string, Make>>>>;

const ELEMENT_BYTES = 4;
const KNOMIAL = 4;
/** Ranks that MPICH's scattered all-to-all speaks to at once (MPIR_CVAR_ALLTOALL_THROTTLE). */
const THROTTLE = 32;
/** More segments are not looked at. */
const MOST_SEGMENTS = 1024;

const elementsOf = ({ sizeBytes }: LibraryRequest): number => sizeBytes / ELEMENT_BYTES;
const isFewerThanRanks = (asked: LibraryRequest): boolean => elementsOf(asked) < asked.ranks;
/** What is halved for each of a power of two of the ranks has an element for each. */
const isTooFewToHalve = (asked: LibraryRequest): boolean => elementsOf(asked) < 2 ** Math.floor(Math.log2(asked.ranks));

function segmentsOf({ sizeBytes, segmentBytes }: LibraryRequest): number {
  return segmentBytes === 0 ? 1 : Math.min(MOST_SEGMENTS, Math.ceil(sizeBytes / segmentBytes));
}

type Tree = (asked: LibraryRequest) => ReturnType<typeof sent.binaryTree>;
const oneChain: Tree = ({ ranks }) => sent.chains(ranks, 1);
const someChains: Tree = ({ ranks, chains }) => sent.chains(ranks, chains);
const binary: Tree = ({ ranks }) => sent.binaryTree(ranks);
const down =
  (tree: Tree): Make =>
  (asked) =>
    sent.alongTree(tree(asked), segmentsOf(asked), false);
const up =
  (tree: Tree): Make =>
  (asked) =>
    sent.alongTree(tree(asked), segmentsOf(asked), true);

/** Returns what Open MPI does by itself for a part of an algorithm, with rank 0 as root. */
function ownChoice(collective: NamedCollective, asked: LibraryRequest): LibraryRun | null {
  const name = openMpiChoice(collective, asked.ranks, asked.sizeBytes);
  return OPEN_MPI[collective][name]?.({ ...asked, rootRank: 0, segmentBytes: 0, chains: 1 }) ?? null;
}

/** Two collectives one after the other; null where one of them has no model. */
const both =
  (first: NamedCollective, second: NamedCollective): Make =>
  (asked) => {
    const [one, other] = [ownChoice(first, asked), ownChoice(second, asked)];
    return one === null || other === null ? null : sent.inTurn(one, other);
  };

const linearAllreduce: Make = ({ ranks }) => sent.inTurn(sent.linearReduce(ranks, 0), sent.linearBroadcast(ranks, 0));
const linearBroadcast: Make = ({ ranks, rootRank }) => sent.linearBroadcast(ranks, rootRank);
const linearReduce: Make = ({ ranks, rootRank }) => sent.linearReduce(ranks, rootRank);
const ring: Make = (asked) =>
  isFewerThanRanks(asked) ? sent.doublingAllreduce(asked.ranks) : sent.ringAllreduce(asked.ranks);
/** Of fewer elements than ranks a broadcast is not scattered. */
const scattered =
  (make: (ranks: number) => LibraryRun): Make =>
  (asked) =>
    isFewerThanRanks(asked) ? sent.linearBroadcast(asked.ranks, 0) : make(asked.ranks);
const pair: Make = ({ ranks }) => (ranks === 2 ? sent.doublingAllgather(2) : null);
const allToAll: Make = ({ ranks }) => sent.linearAllToAll(ranks);

const OPEN_MPI: Makes = {
  allreduce: {
    basic_linear: linearAllreduce,
    nonoverlapping: both("reduce", "broadcast"),
    recursive_doubling: ({ ranks }) => sent.doublingAllreduce(ranks),
    ring,
    // without a segment size it is the ring
    segmented_ring: ring,
    rabenseifner: (asked) =>
      isTooFewToHalve(asked) ? linearAllreduce(asked) : sent.rabenseifnerAllreduce(asked.ranks, "halves"),
  },
  allgather: {
    linear: both("gather", "broadcast"),
    bruck: ({ ranks }) => sent.bruckAllgather(ranks),
    recursive_doubling: ({ ranks }) =>
      isPowerOfTwo(ranks) ? sent.doublingAllgather(ranks) : sent.bruckAllgather(ranks),
    ring: ({ ranks }) => sent.ringAllgather(ranks),
    neighbor: ({ ranks }) => (ranks % 2 === 0 ? sent.neighborAllgather(ranks) : sent.ringAllgather(ranks)),
    two_proc: pair,
  },
  reducescatter: {
    basic_linear: both("reduce", "scatter"),
    recursive_doubling: ({ ranks }) => sent.doublingReduceScatter(ranks),
    recursive_halving: ({ ranks }) => sent.halvingReduceScatter(ranks),
    butterfly: ({ ranks }) => sent.butterflyReduceScatter(ranks),
  },
  alltoall: {
    linear: allToAll,
    pairwise: ({ ranks }) => sent.pairwiseAllToAll(ranks, false),
    modified_bruck: ({ ranks }) => sent.bruckAllToAll(ranks),
    // without a limit of requests it is the linear one
    linear_sync: allToAll,
    two_proc: (asked) => (asked.ranks === 2 ? allToAll(asked) : null),
  },
  broadcast: {
    basic_linear: linearBroadcast,
    chain: down(someChains),
    pipeline: down(oneChain),
    binary_tree: down(binary),
    binomial: down(({ ranks }) => sent.binomialTree(ranks)),
    knomial: down(({ ranks }) => sent.knomialTree(ranks, KNOMIAL)),
    scatter_allgather: scattered(sent.scatterDoubling),
    scatter_allgather_ring: scattered(sent.scatterRing),
  },
  reduce: {
    linear: linearReduce,
    chain: up(someChains),
    pipeline: up(oneChain),
    binary: up(binary),
    binomial: up(({ ranks }) => sent.inOrderBinomialTree(ranks)),
    rabenseifner: (asked) =>
      isTooFewToHalve(asked) ? linearReduce(asked) : sent.rabenseifnerReduce(asked.ranks, asked.rootRank, "halves"),
  },
  gather: {
    basic_linear: ({ ranks, rootRank }) => sent.linearGather(ranks, rootRank),
    binomial: ({ ranks }) => sent.binomialGather(ranks),
  },
  scatter: {
    basic_linear: ({ ranks, rootRank }) => sent.linearScatter(ranks, rootRank, false),
    binomial: ({ ranks }) => sent.binomialScatter(ranks),
    linear_nb: ({ ranks, rootRank }) => sent.linearScatter(ranks, rootRank, true),
  },
};

const MPICH: Makes = {
  allreduce: {
    recursive_doubling: ({ ranks }) => sent.doublingAllreduce(ranks),
    reduce_scatter_allgather: (asked) =>
      isTooFewToHalve(asked) ? null : sent.rabenseifnerAllreduce(asked.ranks, "whole"),
  },
  allgather: {
    brucks: ({ ranks }) => sent.bruckAllgather(ranks),
    recursive_doubling: ({ ranks }) => (isPowerOfTwo(ranks) ? sent.doublingAllgather(ranks) : null),
    ring: ({ ranks }) => sent.ringAllgather(ranks),
  },
  reducescatter: {
    noncommutative: ({ ranks }) => (isPowerOfTwo(ranks) ? sent.butterflyReduceScatter(ranks) : null),
    pairwise: ({ ranks }) => sent.pairwiseReduceScatter(ranks),
    recursive_doubling: ({ ranks }) => sent.doublingReduceScatter(ranks),
    recursive_halving: ({ ranks }) => sent.halvingReduceScatter(ranks),
  },
  alltoall: {
    brucks: ({ ranks }) => sent.bruckAllToAll(ranks),
    pairwise: ({ ranks }) => sent.pairwiseAllToAll(ranks, isPowerOfTwo(ranks)),
    scattered: ({ ranks }) => sent.linearAllToAll(ranks, THROTTLE),
  },
  broadcast: {
    binomial: ({ ranks }) => sent.binomialBroadcast(ranks),
    scatter_recursive_doubling_allgather: ({ ranks }) => sent.scatterDoubling(ranks),
    scatter_ring_allgather: ({ ranks }) => sent.scatterRing(ranks),
  },
  reduce: {
    binomial: ({ ranks }) => sent.binomialReduce(ranks),
    reduce_scatter_gather: (asked) =>
      isTooFewToHalve(asked) ? null : sent.rabenseifnerReduce(asked.ranks, asked.rootRank, "whole"),
  },
  gather: { binomial: ({ ranks }) => sent.binomialGather(ranks) },
  scatter: { binomial: ({ ranks }) => sent.binomialScatter(ranks) },
};

export type MpiLibrary = "Open MPI" | "MPICH";
const OF: Readonly<Record<MpiLibrary, Makes>> = { "Open MPI": OPEN_MPI, MPICH };

/** What is linear, or halves, goes by ranks as they are. */
const BY_RANKS: readonly string[] = ["reduce_scatter_gather", "rabenseifner", "linear", "basic_linear", "linear_nb"];
const ROOTED: readonly NamedCollective[] = ["broadcast", "reduce", "gather", "scatter"];

/**
 * Returns what ranks send in an algorithm of a library; null where there is no model of it, or of a part of it: Open MPI's
 * split_binary_tree, in-order_binary and linear_sync, recursive doubling of reduce-scatters but among powers of two.
 */
export function libraryMessages(
  library: MpiLibrary,
  collective: NamedCollective,
  algorithm: string,
  asked: LibraryRequest,
): LibraryMessages | null {
  const run = OF[library][collective][algorithm]?.(asked) ?? null;
  if (run === null) return null;
  const fromRoot = ROOTED.includes(collective) && !BY_RANKS.includes(algorithm);
  return { run, fromRoot };
}

/** Returns whether an algorithm of Open MPI can be told to cut messages into segments. */
export const takesSegments = (collective: NamedCollective, algorithm: string): boolean =>
  (collective === "broadcast" && ["chain", "pipeline", "binary_tree", "binomial", "knomial"].includes(algorithm)) ||
  (collective === "reduce" && ["chain", "pipeline", "binary", "binomial"].includes(algorithm));
