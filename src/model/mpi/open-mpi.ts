import type { NamedCollective } from "../collective/collective.ts";

/**
 * What Open MPI chooses by itself: the fixed rules of its component coll/tuned, for operations that commute. Source:
 * coll_tuned_decision_fixed.c and coll_tuned_*_decision.c of open-mpi/ompi, the same in all of 4.1.0 to 4.1.8 and 5.0.0 to 5.0.10.
 */

/** How it calls collectives; a reduce-scatter of equal shares is MPI_Reduce_scatter_block. */
const CALLS: Readonly<Record<NamedCollective, string>> = {
  allgather: "allgather",
  reducescatter: "reduce_scatter_block",
  allreduce: "allreduce",
  broadcast: "bcast",
  reduce: "reduce",
  gather: "gather",
  scatter: "scatter",
  alltoall: "alltoall",
};

/** Its algorithms by their numbers, from 1 on. */
const NAMES: Readonly<Record<NamedCollective, readonly string[]>> = {
  allgather: ["linear", "bruck", "recursive_doubling", "ring", "neighbor", "two_proc"],
  reducescatter: ["basic_linear", "recursive_doubling", "recursive_halving", "butterfly"],
  allreduce: ["basic_linear", "nonoverlapping", "recursive_doubling", "ring", "segmented_ring", "rabenseifner"],
  broadcast: [
    ...["basic_linear", "chain", "pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial"],
    ...["scatter_allgather", "scatter_allgather_ring"],
  ],
  reduce: ["linear", "chain", "pipeline", "binary", "binomial", "in-order_binary", "rabenseifner"],
  gather: ["basic_linear", "binomial", "linear_sync"],
  scatter: ["basic_linear", "binomial", "linear_nb"],
  alltoall: ["linear", "pairwise", "modified_bruck", "linear_sync", "two_proc"],
};

/** Algorithms for two ranks alone. */
const FOR_TWO = "two_proc";

/** Below so many ranks: the number of an algorithm, the bytes below which it is taken, the next one's number ...; the last has no bytes. */
type Rule = readonly [ranksBelow: number, ...choices: number[]];

const ALL_RANKS = Number.POSITIVE_INFINITY;

const RULES: Readonly<Record<NamedCollective, readonly Rule[]>> = {
  allreduce: [
    [4, 4, 8, 3, 4096, 4, 8192, 3, 16384, 4, 65536, 5, 262144, 6],
    [8, 4, 16, 3, 8192, 6],
    [16, 3, 8192, 6],
    [32, 5, 64, 3, 4096, 6],
    [64, 5, 128, 6],
    [128, 3, 262144, 6],
    [256, 2, 131072, 3, 262144, 6],
    [512, 2, 4096, 6],
    [2048, 2, 2048, 3, 16384, 6],
    [4096, 2, 2048, 5, 4096, 3, 16384, 6],
    [ALL_RANKS, 2, 2048, 5, 16384, 3, 32768, 6],
  ],
  allgather: [
    [3, 6],
    [32, 3],
    [64, 3, 1024, 5, 65536, 4],
    [128, 3, 512, 5, 65536, 4],
    [256, 3, 512, 5, 131072, 4, 524288, 5, 1048576, 4],
    [512, 3, 32, 2, 128, 3, 1024, 5, 131072, 4, 524288, 5, 1048576, 4],
    [1024, 3, 64, 2, 256, 3, 2048, 5],
    [2048, 3, 4, 2, 8, 3, 16, 2, 32, 3, 256, 2, 512, 3, 4096, 5],
    [4096, 2, 32, 3, 128, 2, 512, 3, 4096, 5],
    [ALL_RANKS, 3, 2, 2, 8, 3, 16, 2, 512, 3, 4096, 5],
  ],
  alltoall: [
    [3, 2, 2, 5, 4, 2, 16, 5, 64, 2, 256, 5, 4096, 2, 32768, 4, 262144, 5, 1048576, 2],
    [8, 4, 8192, 1, 16384, 4, 65536, 1, 524288, 2, 1048576, 1],
    [16, 4, 262144, 1],
    [32, 4, 4, 3, 512, 4, 8192, 1, 32768, 4, 262144, 1, 524288, 4],
    [64, 3, 512, 1, 524288, 4],
    [128, 3, 1024, 1, 2048, 4, 4096, 1, 262144, 2],
    [256, 3, 1024, 4, 2048, 1, 262144, 2],
    [512, 3, 1024, 4, 8192, 1, 32768, 2],
    [1024, 3, 512, 4, 8192, 1, 16384, 4, 131072, 1, 262144, 2],
    [2048, 3, 512, 4, 1024, 1, 2048, 4, 16384, 1, 262144, 4],
    [4096, 3, 1024, 4, 4096, 1, 8192, 4, 131072, 1],
    [ALL_RANKS, 3, 2048, 4, 8192, 1, 16384, 4, 32768, 1, 65536, 4],
  ],
  broadcast: [
    [4, 3, 32, 5, 256, 3, 512, 7, 1024, 1, 32768, 5, 131072, 2, 262144, 1, 524288, 6, 1048576, 5],
    [8, 5, 64, 6, 128, 5, 2048, 6, 8192, 1, 1048576, 2],
    [16, 7, 8, 5, 64, 7, 4096, 5, 16384, 6, 32768, 1],
    [32, 7, 4096, 6, 1048576, 8],
    [64, 6, 2048, 7],
    [128, 7],
    [256, 6, 2, 5, 16384, 1, 32768, 5, 65536, 7],
    [1024, 7, 16384, 4, 32768, 7],
    [2048, 7, 524288, 8],
    [4096, 7, 262144, 8],
    [ALL_RANKS, 7, 8192, 5, 16384, 7, 262144, 8],
  ],
  reduce: [
    [4, 7, 8, 4, 16, 3, 32, 1, 262144, 3, 524288, 2, 1048576, 3],
    [8, 4, 4096, 2, 65536, 5, 262144, 1, 524288, 5, 1048576, 1],
    [16, 4, 8192, 5],
    [32, 4, 4096, 5],
    [256, 5],
    [512, 5, 8192, 6, 16384, 5],
    [2048, 5],
    [4096, 5, 512, 6, 1024, 5, 8192, 6, 16384, 5],
    [ALL_RANKS, 5, 16, 6, 32, 5, 1024, 6, 2048, 5, 8192, 6, 16384, 5],
  ],
  reducescatter: [
    [4, 2, 4, 4, 8, 3, 16, 4, 128, 3, 256, 4, 4096, 3, 8192, 4, 131072, 1],
    [8, 3, 8, 2, 32, 4, 256, 3, 8192, 4, 16384, 3, 1048576, 1],
    [16, 1, 4, 3, 32, 4, 128, 3, 524288, 1, 4194304, 4],
    [32, 1, 32, 3, 524288, 1, 2097152, 3, 4194304, 4],
    [ALL_RANKS, 3, 4, 1, 16, 4, 65536, 1, 262144, 4],
  ],
  gather: [
    [4, 3, 2, 1, 4, 2, 32768, 1, 65536, 2, 131072, 3],
    [8, 2, 1024, 1, 8192, 2, 32768, 1, 262144, 3],
    [256, 2],
    [512, 2, 2048, 1, 8192, 2],
    [ALL_RANKS, 2],
  ],
  scatter: [
    [4, 3, 2, 1, 131072, 3, 262144, 1],
    [8, 2, 2048, 1, 4096, 2, 8192, 1, 32768, 3, 1048576, 1],
    [16, 2, 16384, 3, 1048576, 1],
    [32, 2, 16384, 1, 32768, 3],
    [64, 2, 512, 3, 8192, 2, 16384, 3],
    [ALL_RANKS, 2, 512, 3],
  ],
};

/** The bytes that a rule goes by: of a whole buffer, or of the part of one rank. */
const OF_WHOLE: readonly NamedCollective[] = ["allreduce", "broadcast", "reduce"];

/** Returns the algorithm that Open MPI chooses for a collective among so many ranks, of a size as nccl-tests count it. */
export function openMpiChoice(collective: NamedCollective, ranks: number, sizeBytes: number): string {
  const [, ...choices] = RULES[collective].find(([below]) => ranks < below) as Rule;
  const bytes = OF_WHOLE.includes(collective) ? sizeBytes : sizeBytes / ranks;
  let at = 0;
  while (at + 1 < choices.length && bytes >= (choices[at + 1] as number)) at += 2;
  return NAMES[collective][(choices[at] as number) - 1] as string;
}

/** Returns what Open MPI can be told to take among so many ranks. */
export const openMpiAlgorithms = (collective: NamedCollective, ranks: number): readonly string[] =>
  NAMES[collective].filter((name) => name !== FOR_TWO || ranks === 2);

/** Returns what to set for Open MPI to take an algorithm, in segments of so many bytes (0: whole). */
export function openMpiEnvironment(collective: NamedCollective, algorithm: string, segmentBytes: number): string {
  const parameter = `OMPI_MCA_coll_tuned_${CALLS[collective]}_algorithm`;
  const number = NAMES[collective].indexOf(algorithm) + 1;
  const segment = segmentBytes === 0 ? "" : ` ${parameter}_segmentsize=${segmentBytes}`;
  return `OMPI_MCA_coll_tuned_use_dynamic_rules=1 ${parameter}=${number}${segment}`;
}
