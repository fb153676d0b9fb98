import type { CollectiveKind } from "../../model/collective/collective.ts";
import type { PredictedRow } from "./nccl-tests.ts";
import { type Naming, namingFor, type TunerFile, type TunerOptions, tunedRanges } from "./tuner-ranges.ts";

/** A file for UCC (UCC_CONFIG_FILE): scores of its transport over UCX, TL/UCP. */

/** Algorithms of TL/UCP of UCC 1.8 that do what ours of that name do. */
const NAMINGS: Readonly<Partial<Record<CollectiveKind, Naming>>> = {
  allreduce: { ring: "ring", rhd: "sra_knomial", dbt: "dbt" },
  allgather: { ring: "ring", rhd: "knomial", bruck: "bruck", pat: "sparbit", direct: "linear" },
  reducescatter: { ring: "ring", rhd: "knomial" },
  alltoall: { direct: "pairwise", bruck: "bruck" },
  broadcast: { dbt: "dbt" },
  reduce: { dbt: "dbt" },
};
const NAMES: Readonly<Partial<Record<CollectiveKind, string>>> = {
  reducescatter: "reduce_scatter",
  broadcast: "bcast",
};
/** What sets the radix where its algorithm takes any: ours is 2. */
const RADICES: Readonly<Partial<Record<CollectiveKind, string>>> = {
  allreduce: "UCC_TL_UCP_ALLREDUCE_SRA_KN_RADIX",
  allgather: "UCC_TL_UCP_ALLGATHER_KN_RADIX",
  reducescatter: "UCC_TL_UCP_REDUCE_SCATTER_KN_RADIX",
};

/**
 * Returns which algorithms UCC's TL/UCP is to use for which sizes among as many ranks, as a configuration file. They get the highest
 * score, so that TL/UCP is taken for those sizes before any other transport. A range goes up to its end without it. Source:
 * ucc_coll_score_parse_str and ucc_coll_args_msgsize of openucx/ucc, docs/user_guide.md. Throws InputError for collectives of which
 * it has none of ours, and where no size is left.
 */
export function uccConfig(rows: readonly PredictedRow[], { collective, ranks }: TunerOptions): TunerFile {
  const naming = namingFor("tuner-ucc", collective, NAMINGS);
  const { ranges, ...rest } = tunedRanges(rows, [naming]);
  // a reduce-scatter goes by what a rank gets
  const parts = collective === "reducescatter" ? ranks : 1;
  const name = NAMES[collective] ?? collective;
  const tokens = ranges.flatMap(({ algorithm, from, to }) => {
    const [first, end] = [from, to + 1].map((bytes) => Math.ceil(bytes / parts)) as [number, number];
    if (first === end) return [];
    return [`${name}:${first}-${end === Number.POSITIVE_INFINITY ? "inf" : end}:[${ranks}]:inf:@${algorithm}`];
  });
  const radix = RADICES[collective];
  const usesRadix = ranges.some(({ algorithm }) => algorithm.endsWith("knomial"));
  const lines = [`UCC_TL_UCP_TUNE=${tokens.join("#")}`, ...(usesRadix ? [`${radix}=2`] : [])];
  return { text: `${lines.join("\n")}\n`, ...rest };
}
