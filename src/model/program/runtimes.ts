import type { NamedCollective } from "../collective/collective.ts";
import { MPI_COLLECTIVES } from "./mpi-plan.ts";
import type { Op, Program } from "./program.ts";
import type { RuntimeName } from "./runtime-names.ts";

/** What a runtime that reads MSCCL XML takes. */
export interface MscclRuntime {
  readonly name: "msccl" | "azure" | "rccl";
  readonly title: string;
  /** Names of collectives in its files. */
  readonly collectives: Readonly<Partial<Record<NamedCollective | "custom", string>>>;
  readonly ops: ReadonlySet<Op>;
  readonly stepsPerBlock: number;
  readonly blocksPerGpu: number;
  readonly peersPerChannel: number;
  readonly channels: number;
  /** Chunks of one instruction. */
  readonly chunksPerStep: number;
  /** Greatest chunk index, and greatest thread block that may be waited for. */
  readonly chunkIndex: number;
  readonly awaitedBlock: number;
  /** Reductions that may follow each other into one destination as one. */
  readonly fusedReductions: number;
  /** Of its XML parser: nodes that it keeps for a rank, children of a node, characters of a value, attributes of a node. */
  readonly nodesPerRank: number;
  readonly childrenPerNode: number;
  readonly charactersPerValue: number;
  readonly attributesPerNode: number;
  /** minBytes, maxBytes and outofplace must be there. */
  readonly needsRange: boolean;
  /** A size equal to maxBytes is still in the range, and maxBytes 0 means no bound. */
  readonly maxBytesIncluded: boolean;
  /** Files that it loads. */
  readonly files: number;
}

/** What the executor of MSCCL++ plans takes. */
export interface MscclppRuntime {
  readonly name: "mscclpp";
  readonly title: string;
  readonly collectives: Readonly<Partial<Record<NamedCollective | "custom", string>>>;
  readonly ops: ReadonlySet<Op>;
  readonly opsPerBlock: number;
  /** Channels of each kind; as many remote buffers. */
  readonly channelsPerBlock: number;
  readonly channelsPerOp: number;
  /** Sources or destinations of an operation. */
  readonly operandsPerSide: number;
  readonly barriersPerGpu: number;
  readonly semaphoresPerGpu: number;
  readonly blocksPerGpu: number;
  /** Bytes of which a chunk has a whole number. */
  readonly alignmentBytes: number;
  /** Bytes that its 32-bit offsets reach. */
  readonly reachBytes: number;
}

/** What Banyan's runtime for MPI takes. */
export interface MpiRuntime {
  readonly name: "mpi";
  readonly title: string;
  readonly collectives: Readonly<Partial<Record<NamedCollective | "custom", string>>>;
  readonly ops: ReadonlySet<Op>;
}

/**
 * What connections of MSCCL's runtimes hold, with NCCL's default buffers of 8 steps: bytes of data in a message, and messages.
 * Simple: 4 steps of 512 KiB to a message (MSCCL_CHUNKSTEPS of microsoft/msccl); LL: a step of 512 threads x 8 lines of 16 bytes,
 * half of them flags; LL128: a step of 640 threads x 120 words of 8 bytes, 120 of 128 of them data.
 */
export const CONNECTIONS = {
  Simple: { messageBytes: 2_097_152, messages: 2 },
  LL: { messageBytes: 32_768, messages: 8 },
  LL128: { messageBytes: 576_000, messages: 8 },
} as const;

/** Returns how many chunks of an instruction travel in one message in a call of `sizeBytes`. Source: maxAllowedCount of microsoft/msccl's interpreter. */
export function chunksPerMessage(
  { protocol, loopChunks }: Pick<Program, "protocol" | "loopChunks">,
  sizeBytes: number,
): number {
  const fit = Math.floor(CONNECTIONS[protocol].messageBytes / Math.ceil(sizeBytes / loopChunks));
  return Math.max(1, Math.min(MSCCL.chunksPerStep, fit));
}

const FULL_OPS: ReadonlySet<Op> = new Set(["nop", "s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re"]);

const AZURE_NAMES = {
  allreduce: "allreduce",
  allgather: "allgather",
  reducescatter: "reducescatter",
  reduce: "reduce",
  broadcast: "broadcast",
  alltoall: "alltoall",
  gather: "gather",
  scatter: "scatter",
} as const;

const MSCCL: MscclRuntime = {
  name: "msccl",
  title: "microsoft/msccl",
  collectives: {
    allreduce: "allreduce",
    allgather: "allgather",
    reducescatter: "reduce_scatter",
    reduce: "reduce",
    broadcast: "broadcast",
    alltoall: "alltoall",
    custom: "custom",
  },
  ops: FULL_OPS,
  stepsPerBlock: 256,
  blocksPerGpu: 216,
  peersPerChannel: 32,
  channels: 32,
  chunksPerStep: 71,
  chunkIndex: 32767,
  awaitedBlock: 127,
  fusedReductions: 16,
  nodesPerRank: 4096,
  childrenPerNode: 1024,
  charactersPerValue: 255,
  attributesPerNode: 16,
  needsRange: false,
  maxBytesIncluded: false,
  files: 4,
};

const AZURE: MscclRuntime = {
  ...MSCCL,
  name: "azure",
  title: "Azure's MSCCL executor",
  collectives: AZURE_NAMES,
  stepsPerBlock: 64,
  blocksPerGpu: 1024,
  needsRange: true,
  maxBytesIncluded: true,
  files: 1024,
};

const RCCL: MscclRuntime = {
  ...AZURE,
  name: "rccl",
  title: "RCCL",
  ops: new Set<Op>(["nop", "s", "r", "cpy", "re"]),
  blocksPerGpu: 64,
  channels: 128,
};

const MSCCLPP: MscclppRuntime = {
  name: "mscclpp",
  title: "MSCCL++",
  collectives: { ...AZURE_NAMES, custom: "custom" },
  ops: new Set<Op>([
    ...(["nop", "barrier", "sem_acquire", "sem_release", "signal", "wait", "rlxsignal", "rlxwait", "flush"] as const),
    ...(["put", "pws", "pwsf", "get", "copy", "rre", "re", "res", "rres", "glres", "gstore"] as const),
    ...(["cpkt", "upkt", "ppkt", "rppkt", "repkt", "respkt", "recpkt", "recspkt"] as const),
  ]),
  opsPerBlock: 64,
  channelsPerBlock: 16,
  channelsPerOp: 8,
  operandsPerSide: 10,
  barriersPerGpu: 16,
  semaphoresPerGpu: 16,
  blocksPerGpu: 108,
  alignmentBytes: 16,
  reachBytes: 2 ** 32,
};

export const MSCCL_RUNTIMES: Readonly<Record<MscclRuntime["name"], MscclRuntime>> = {
  msccl: MSCCL,
  azure: AZURE,
  rccl: RCCL,
};
const MPI: MpiRuntime = {
  name: "mpi",
  title: "Banyan's runtime for MPI",
  collectives: Object.fromEntries(MPI_COLLECTIVES.map((name) => [name, name])),
  ops: new Set(["s", "r", "rrc", "cpy", "re"] as const),
};

export const RUNTIMES: Readonly<Record<RuntimeName, MscclRuntime | MscclppRuntime | MpiRuntime>> = {
  ...MSCCL_RUNTIMES,
  mscclpp: MSCCLPP,
  mpi: MPI,
};
export const MSCCLPP_RUNTIME = MSCCLPP;

/** Returns the runtimes that read the files of a program. */
export function runtimesOf({ machine, mpi }: Pick<Program, "machine" | "mpi">): readonly RuntimeName[] {
  if (mpi !== undefined) return ["mpi"];
  return machine === "mscclpp" ? ["mscclpp"] : ["msccl", "azure", "rccl"];
}

/**
 * Returns how many times the size that MSCCL's runtimes compare with minBytes and cut into nchunksperloop goes into the size of a
 * call as nccl-tests count: for gather and scatter they take one rank's part for the whole. Source: sizeMultiplier in msccl_parser.cc
 * of Azure/msccl-executor-nccl and ROCm/rccl, with the counts that ncclGather and ncclScatter of the latter hand on.
 */
export const partsPerSize = (collective: NamedCollective | "custom", rankCount: number): number =>
  collective === "gather" || collective === "scatter" ? rankCount : 1;
