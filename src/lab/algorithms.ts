import type { MpiFlavour } from "../mpi/toolchain.ts";

/** An algorithm that a library can be told to use. */
export interface LibraryAlgorithm {
  readonly name: string;
  /** Open MPI: parameters; MPICH: variables. */
  readonly settings: Readonly<Record<string, string>>;
}

/** How Open MPI's module `tuned` calls collectives, by ours; reduce-scatters of equal blocks are what is called. */
const TUNED: Readonly<Record<string, string>> = {
  ...{ allgather: "allgather", reducescatter: "reduce_scatter_block", allreduce: "allreduce", broadcast: "bcast" },
  ...{ reduce: "reduce", gather: "gather", scatter: "scatter", alltoall: "alltoall" },
};

/** What Open MPI's algorithms are of that are for two processes only. */
const FOR_TWO = "two_proc";

/** Returns the algorithms of a collective that `ompi_info --param coll tuned --level 9 --parsable` lists. */
export function openMpiAlgorithms(text: string, collective: string, npuCount: number): LibraryAlgorithm[] {
  const parameter = `coll_tuned_${TUNED[collective]}_algorithm`;
  return text.split("\n").flatMap((line) => {
    const [name, number, word] = new RegExp(`:${parameter}:enumerator:value:(\\d+):(\\S+)$`).exec(line)?.slice(0) ?? [];
    if (name === undefined || number === "0" || (word === FOR_TWO && npuCount !== 2)) return [];
    return [{ name: word as string, settings: { coll_tuned_use_dynamic_rules: "1", [parameter]: number as string } }];
  });
}

/** MPICH's algorithms among processes that are equal, by its variables MPIR_CVAR_*_INTRA_ALGORITHM. */
const MPICH: Readonly<Record<string, readonly [variable: string, ...names: string[]]>> = {
  allgather: ["ALLGATHER", "brucks", "recursive_doubling", "ring"],
  reducescatter: ["REDUCE_SCATTER_BLOCK", "noncommutative", "pairwise", "recursive_doubling", "recursive_halving"],
  allreduce: ["ALLREDUCE", "recursive_doubling", "reduce_scatter_allgather"],
  broadcast: ["BCAST", "binomial", "scatter_recursive_doubling_allgather", "scatter_ring_allgather"],
  reduce: ["REDUCE", "binomial", "reduce_scatter_gather"],
  gather: ["GATHER", "binomial"],
  scatter: ["SCATTER", "binomial"],
  alltoall: ["ALLTOALL", "brucks", "pairwise", "scattered"],
};

/** Returns the algorithms of a collective that MPICH can be told to use. */
export function mpichAlgorithms(collective: string): LibraryAlgorithm[] {
  const [variable, ...names] = MPICH[collective] ?? [];
  if (variable === undefined) return [];
  return names.map((name) => ({
    name,
    settings: {
      [`MPIR_CVAR_${variable}_INTRA_ALGORITHM`]: name,
      // else the device chooses, and does not look at the variable
      [`MPIR_CVAR_${variable}_DEVICE_COLLECTIVE`]: "0",
    },
  }));
}

/** What is asked for the algorithms of a library: a command, or nothing. */
export const ALGORITHMS_COMMAND: Readonly<Record<MpiFlavour, readonly string[] | null>> = {
  openmpi: ["ompi_info", "--param", "coll", "tuned", "--level", "9", "--parsable"],
  mpich: null,
};
