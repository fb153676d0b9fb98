/** Runtimes that execute programs. */
export const RUNTIME_NAMES = ["msccl", "azure", "rccl", "mscclpp", "mpi"] as const;
export type RuntimeName = (typeof RUNTIME_NAMES)[number];
