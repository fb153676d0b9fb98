/** Libraries whose own algorithms are modelled. */
export type LibraryName = "NCCL" | "RCCL" | "MPI";
