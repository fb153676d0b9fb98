import type { NamedCollective } from "../collective/collective.ts";
import { isPowerOfTwo } from "../numbers/integers.ts";
import { MPICH_DEFAULTS, type MpichTree } from "./mpich-defaults.ts";

/**
 * What MPICH chooses by itself among equal ranks: maint/tuning/coll/mpir/generic.json of pmodels/mpich, of versions 4.0 to 5.0 but
 * for barriers the same, read as csel.c reads it.
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

/** What it can be told to take by MPIR_CVAR_*_INTRA_ALGORITHM. */
const NAMES: Readonly<Record<NamedCollective, readonly string[]>> = {
  allgather: ["brucks", "recursive_doubling", "ring"],
  reducescatter: ["noncommutative", "pairwise", "recursive_doubling", "recursive_halving"],
  allreduce: ["recursive_doubling", "reduce_scatter_allgather"],
  broadcast: ["binomial", "scatter_recursive_doubling_allgather", "scatter_ring_allgather"],
  reduce: ["binomial", "reduce_scatter_gather"],
  gather: ["binomial"],
  scatter: ["binomial"],
  alltoall: ["brucks", "pairwise", "scattered"],
};

/** Of nccl-tests: f32. */
const ELEMENT_BYTES = 4;

/** What conditions are asked of. */
interface Call {
  readonly ranks: number;
  /** What MPICH calls the average and the total size of a collective's messages. */
  readonly averageBytes: number;
  readonly totalBytes: number;
  readonly count: number;
}

/** Returns what MPICH asks of a call of a size as nccl-tests count it. */
function callOf(collective: NamedCollective, ranks: number, sizeBytes: number): Call {
  const ofRank = collective === "allreduce" || collective === "broadcast" || collective === "reduce";
  const averageBytes = ofRank ? sizeBytes : sizeBytes / ranks;
  return { ranks, averageBytes, totalBytes: averageBytes * ranks, count: averageBytes / ELEMENT_BYTES };
}

const relationOf = (condition: string) =>
  (/^([a-z_]+)(<=|<|=)(.+)$/.exec(condition) as RegExpExecArray).slice(1) as [string, string, string];

/**
 * Returns whether a condition of a tree holds for a sum of f32 out of place, among ranks of which none shares a node. `early`: it is
 * asked when the communicator is made; what is asked in a call takes comm_size< for at most.
 */
function holds(condition: string, { ranks, averageBytes, totalBytes, count }: Call, early: boolean): boolean {
  const [name, relation, value] = relationOf(condition);
  if (value === "any") return true;
  if (name === "comm_hierarchy" || name === "is_sendbuf_inplace" || name === "is_node_consecutive")
    return value === "no";
  if (relation === "=" && value !== "pow2") return value === "yes";
  if (name === "count") return count < 2 ** Math.floor(Math.log2(ranks));
  if (relation === "=") return isPowerOfTwo(ranks);
  const asked = { comm_size: ranks, avg_msg_size: averageBytes, total_msg_size: totalBytes }[name as string] as number;
  const isBelow = relation === "<" && (early || name !== "comm_size");
  return isBelow ? asked < Number(value) : asked <= Number(value);
}

const LEAF = /^algorithm=MPIR_[A-Z][a-z_]*?_intra_(.+)$/;

/** Returns the algorithm that MPICH chooses for a collective among so many ranks, of a size as nccl-tests count it. */
export function mpichChoice(collective: NamedCollective, ranks: number, sizeBytes: number): string {
  const call = callOf(collective, ranks, sizeBytes);
  let tree: MpichTree = MPICH_DEFAULTS[CALLS[collective]]?.intra as MpichTree;
  for (let early = true; ; ) {
    const [first] = Object.keys(tree) as [string];
    const [, algorithm] = LEAF.exec(first) ?? [];
    if (algorithm !== undefined) return algorithm;
    early = early && first.startsWith("comm_");
    const next = Object.keys(tree).find((condition) => holds(condition, call, early)) as string;
    tree = tree[next] as MpichTree;
  }
}

/** Returns what MPICH can be told to take. */
export const mpichAlgorithms = (collective: NamedCollective): readonly string[] => NAMES[collective];

/** Returns what to set for MPICH to take an algorithm: unless its device is told not to choose, that does not look at the first variable. */
export function mpichEnvironment(collective: NamedCollective, algorithm: string): string {
  const variable = `MPIR_CVAR_${CALLS[collective]?.toUpperCase()}`;
  return `${variable}_INTRA_ALGORITHM=${algorithm} ${variable}_DEVICE_COLLECTIVE=0`;
}
