/** What MPICH 4 chooses by itself (its maint/tuning/coll/mpir/generic.json), for files that must say all of it. */

/** Conditions, the first that holds counts, with what follows from them; in the end an algorithm. */
export interface MpichTree {
  readonly [condition: string]: MpichTree;
}

/** Returns the leaf of an algorithm between the ranks of one group: of "iallgather" and "ring" MPIR_Iallgather_intra_sched_ring. */
export const mpichAlgorithm = (call: string, algorithm: string): MpichTree =>
  leaf(call, `${isBlocking(call) ? "intra" : "intra_sched"}_${algorithm}`);

const leaf = (call: string, rest: string): MpichTree => ({
  [`algorithm=MPIR_${call.charAt(0).toUpperCase()}${call.slice(1)}_${rest}`]: {},
});

/** Calls that return when they are done: the others begin with an i. */
const isBlocking = (call: string): boolean => !call.startsWith("i");

/** Names of algorithms stand for their leaves. */
type Words = string | { readonly [condition: string]: Words };

function treeOf(call: string, words: Words): MpichTree {
  if (typeof words === "string") return mpichAlgorithm(call, words);
  return Object.fromEntries(Object.entries(words).map(([condition, then]) => [condition, treeOf(call, then)]));
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
const SENT: Words = {
  "comm_size<8": "binomial",
  "avg_msg_size<=12288": "binomial",
  "avg_msg_size<=524288": byPower("scatter_recursive_doubling_allgather", "scatter_ring_allgather"),
  "avg_msg_size=any": "scatter_ring_allgather",
};
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
  bcast: SENT,
  gather: "binomial",
  reduce: reduced(2048, "binomial", "reduce_scatter_gather"),
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
};
/** Between two groups. */
const INTER: Readonly<Record<string, string>> = {
  allgather: "local_gather_remote_bcast",
  allgatherv: "remote_gather_local_bcast",
  allreduce: "reduce_exchange_bcast",
  alltoall: "pairwise_exchange",
  alltoallv: "pairwise_exchange",
  alltoallw: "pairwise_exchange",
  bcast: "remote_send_local_bcast",
  gather: "linear",
  reduce: "local_reduce_remote_send",
  reduce_scatter: "remote_reduce_local_scatter",
  reduce_scatter_block: "remote_reduce_local_scatter",
  scatter: "linear",
};
const INTER_BESIDE: typeof INTER = {
  ...INTER,
  allreduce: "remote_reduce_local_bcast",
  bcast: "flat",
  gather: "long",
  reduce_scatter: "remote_reduce_local_scatterv",
  reduce_scatter_block: "remote_reduce_local_scatterv",
};

/** The same whatever the ranks. */
const ANYHOW: Readonly<Record<string, string>> = {
  exscan: "intra_recursive_doubling",
  gatherv: "allcomm_linear",
  scan: "intra_recursive_doubling",
  scatterv: "allcomm_linear",
  // the only one that has the same name in versions 4 and 5
  barrier: "allcomm_nb",
  neighbor_allgather: "allcomm_nb",
  neighbor_allgatherv: "allcomm_nb",
  neighbor_alltoall: "allcomm_nb",
  neighbor_alltoallv: "allcomm_nb",
  neighbor_alltoallw: "allcomm_nb",
  iexscan: "intra_sched_recursive_doubling",
  igatherv: "allcomm_sched_linear",
  iscan: "intra_sched_recursive_doubling",
  iscatterv: "allcomm_sched_linear",
  ineighbor_allgather: "allcomm_sched_linear",
  ineighbor_allgatherv: "allcomm_sched_linear",
  ineighbor_alltoall: "allcomm_sched_linear",
  ineighbor_alltoallv: "allcomm_sched_linear",
  ineighbor_alltoallw: "allcomm_sched_linear",
};

/** Every call of MPICH that a file must say. */
export const MPICH_DEFAULTS: Readonly<Record<string, Default>> = Object.fromEntries<Default>([
  ...Object.entries(INTRA).flatMap(([call, words]): [string, Default][] => [
    [call, { intra: treeOf(call, words), inter: leaf(call, `inter_${INTER[call]}`) }],
    [
      `i${call}`,
      {
        intra: treeOf(`i${call}`, INTRA_BESIDE[call] as Words),
        inter: leaf(`i${call}`, `inter_sched_${INTER_BESIDE[call]}`),
      },
    ],
  ]),
  [
    "ibarrier",
    { intra: leaf("ibarrier", "intra_sched_recursive_doubling"), inter: leaf("ibarrier", "inter_sched_bcast") },
  ],
  ...Object.entries(ANYHOW).map(([call, rest]): [string, Default] => [call, { intra: leaf(call, rest), inter: null }]),
]);
