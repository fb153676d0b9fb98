/** What MPICH 4 chooses by itself (its maint/tuning/coll/mpir/generic.json), for files that must say all of it. */

/** Conditions, the first that holds counts, with what follows from them; in the end an algorithm. */
export interface MpichTree {
  readonly [condition: string]: MpichTree;
}

/** Between the ranks of one group, or between two groups. */
type Where = "intra" | "inter";

/** Returns the leaf of an algorithm: of "iallgather" and "ring" MPIR_Iallgather_intra_sched_ring. */
export const mpichAlgorithm = (call: string, algorithm: string, where: Where = "intra"): MpichTree =>
  leaf(call, `${where}${isBlocking(call) ? "" : "_sched"}_${algorithm}`);

const leaf = (call: string, rest: string): MpichTree => ({
  [`algorithm=MPIR_${call.charAt(0).toUpperCase()}${call.slice(1)}_${rest}`]: {},
});

/** Calls that return when they are done: the others begin with an i. */
const isBlocking = (call: string): boolean => !call.startsWith("i");

/** Names of algorithms stand for their leaves. */
type Words = string | { readonly [condition: string]: Words };

function treeOf(call: string, words: Words, where: Where = "intra"): MpichTree {
  if (typeof words === "string") return mpichAlgorithm(call, words, where);
  return Object.fromEntries(Object.entries(words).map(([condition, then]) => [condition, treeOf(call, then, where)]));
}

/** Between ranks of one group, and between two groups: null where that is no matter, and intra is all there is. */
interface Default {
  readonly intra: MpichTree;
  readonly inter: MpichTree | null;
}

const byTotal = (bytes: number, below: Words, above: Words): Words => ({
  [`total_msg_size<${bytes}`]: below,
  "total_msg_size=any": above,
});
const byPower = (power: Words, other: Words): Words => ({ "comm_size=pow2": power, "comm_size=any": other });
/** Below this many bytes an operation is on whole buffers. */
const reduced = (bytes: number, whole: string, parts: string): Words => ({
  [`avg_msg_size<=${bytes}`]: whole,
  "avg_msg_size=any": {
    "is_op_built_in=yes": { "count<pow2": whole, "count=any": parts },
    "is_op_built_in=no": whole,
  },
});
const GATHERED = byPower(byTotal(524_288, "recursive_doubling", "ring"), byTotal(81_920, "brucks", "ring"));
const HALVED = byTotal(524_288, "recursive_halving", "pairwise");
const IN_ORDER = byPower("noncommutative", "recursive_doubling");
const sent = (relation: "<" | "<="): Words => ({
  "comm_size<8": "binomial",
  [`avg_msg_size${relation}12288`]: "binomial",
  [`avg_msg_size${relation}524288`]: byPower("scatter_recursive_doubling_allgather", "scatter_ring_allgather"),
  "avg_msg_size=any": "scatter_ring_allgather",
});
const REDUCED = reduced(2048, "binomial", "reduce_scatter_gather");
/** The communicator of a whole job goes by nodes. */
const byNodes = (parent: Words, other: Words): Words => ({
  "comm_hierarchy=parent": parent,
  "comm_hierarchy=any": other,
});
const exchanged = (brucksBytes: number, inPlace: string, spread: string): Words => ({
  "is_sendbuf_inplace=yes": inPlace,
  "is_sendbuf_inplace=no": {
    "comm_size<8": { "avg_msg_size<=32768": spread, "avg_msg_size=any": "pairwise" },
    "comm_size=any": {
      [`avg_msg_size<=${brucksBytes}`]: "brucks",
      "avg_msg_size<=32768": spread,
      "avg_msg_size=any": "pairwise",
    },
  },
});
const inPlaceOr = (inPlace: string, other: string): Words => ({
  "is_sendbuf_inplace=yes": inPlace,
  "is_sendbuf_inplace=no": other,
});

/** Between ranks of one group, by call. */
const INTRA: Readonly<Record<string, Words>> = {
  allgather: GATHERED,
  allgatherv: GATHERED,
  allreduce: reduced(8, "recursive_doubling", "reduce_scatter_allgather"),
  alltoall: exchanged(256, "pairwise_sendrecv_replace", "scattered"),
  alltoallv: inPlaceOr("pairwise_sendrecv_replace", "scattered"),
  alltoallw: inPlaceOr("pairwise_sendrecv_replace", "scattered"),
  bcast: sent("<="),
  gather: "binomial",
  reduce: REDUCED,
  reduce_scatter: {
    "is_commutative=yes": HALVED,
    "is_commutative=no": { "is_block_regular=yes": IN_ORDER, "is_block_regular=no": "recursive_doubling" },
  },
  reduce_scatter_block: { "is_commutative=yes": HALVED, "is_commutative=no": IN_ORDER },
  scatter: "binomial",
};
/** Those of calls that do not wait, where they are others. */
const INTRA_BESIDE: typeof INTRA = {
  ...INTRA,
  allreduce: reduced(2048, "recursive_doubling", "reduce_scatter_allgather"),
  alltoall: exchanged(2048, "inplace", "permuted_sendrecv"),
  alltoallv: inPlaceOr("inplace", "blocked"),
  alltoallw: inPlaceOr("inplace", "blocked"),
  bcast: byNodes("smp", sent("<")),
  reduce: byNodes({ "is_commutative=yes": "smp", "is_commutative=no": "binomial" }, REDUCED),
};
/** Between two groups. */
const INTER: Readonly<Record<string, Words>> = {
  allgather: "local_gather_remote_bcast",
  allgatherv: "remote_gather_local_bcast",
  allreduce: "reduce_exchange_bcast",
  alltoall: "pairwise_exchange",
  alltoallv: "pairwise_exchange",
  alltoallw: "pairwise_exchange",
  bcast: "remote_send_local_bcast",
  gather: byTotal(2048, "local_gather_remote_send", "linear"),
  reduce: "local_reduce_remote_send",
  reduce_scatter: "remote_reduce_local_scatter",
  reduce_scatter_block: "remote_reduce_local_scatter",
  scatter: byTotal(2048, "remote_send_local_scatter", "linear"),
};
const INTER_BESIDE: typeof INTER = {
  ...INTER,
  allreduce: "remote_reduce_local_bcast",
  bcast: "flat",
  gather: byTotal(2048, "short", "long"),
  reduce_scatter: "remote_reduce_local_scatterv",
  reduce_scatter_block: "remote_reduce_local_scatterv",
};

/** Calls of which one algorithm is all. */
const ANYHOW: Readonly<Record<string, string>> = {
  exscan: "intra_recursive_doubling",
  gatherv: "allcomm_linear",
  scatterv: "allcomm_linear",
  neighbor_allgather: "allcomm_nb",
  neighbor_allgatherv: "allcomm_nb",
  neighbor_alltoall: "allcomm_nb",
  neighbor_alltoallv: "allcomm_nb",
  neighbor_alltoallw: "allcomm_nb",
  iexscan: "intra_sched_recursive_doubling",
  igatherv: "allcomm_sched_linear",
  iscatterv: "allcomm_sched_linear",
  ineighbor_allgather: "allcomm_sched_linear",
  ineighbor_allgatherv: "allcomm_sched_linear",
  ineighbor_alltoall: "allcomm_sched_linear",
  ineighbor_alltoallv: "allcomm_sched_linear",
  ineighbor_alltoallw: "allcomm_sched_linear",
};

const both = (call: string, intra: Words, inter: Words): Default => ({
  intra: treeOf(call, intra),
  inter: treeOf(call, inter, "inter"),
});

/** Every call of MPICH that a file must say. */
export const MPICH_DEFAULTS: Readonly<Record<string, Default>> = {
  ...Object.fromEntries(
    Object.entries(INTRA).flatMap(([call, words]) => [
      [call, both(call, words, INTER[call] as Words)],
      [`i${call}`, both(`i${call}`, INTRA_BESIDE[call] as Words, INTER_BESIDE[call] as Words)],
    ]),
  ),
  barrier: {
    // within a node the only one that has the same name in versions 4 and 5
    intra: {
      "comm_hierarchy=parent": mpichAlgorithm("barrier", "smp"),
      "comm_hierarchy=any": leaf("barrier", "allcomm_nb"),
    },
    inter: mpichAlgorithm("barrier", "bcast", "inter"),
  },
  ibarrier: both("ibarrier", "recursive_doubling", "bcast"),
  scan: {
    intra: treeOf("scan", { "is_node_consecutive=yes": "smp", "is_node_consecutive=no": "recursive_doubling" }),
    inter: null,
  },
  iscan: { intra: treeOf("iscan", byNodes("smp", "recursive_doubling")), inter: null },
  ...Object.fromEntries(
    Object.entries(ANYHOW).map(([call, rest]): [string, Default] => [call, { intra: leaf(call, rest), inter: null }]),
  ),
};
