import { jsonText } from "../../base/visible.ts";
import type { CollectiveKind } from "../../model/collective/collective.ts";
import { MPICH_DEFAULTS, type MpichTree, mpichAlgorithm } from "../../model/mpi/mpich-defaults.ts";
import type { PredictedRow } from "./nccl-tests.ts";
import {
  type Naming,
  namingFor,
  type TunedRange,
  type TunerFile,
  type TunerOptions,
  tunedRanges,
} from "./tuner-ranges.ts";

/** A file for MPICH's selection of collectives (MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE). */

/** Its algorithms that do what ours of that name do. */
const NAMINGS: Readonly<Partial<Record<CollectiveKind, Naming>>> = {
  allreduce: { rhd: "reduce_scatter_allgather" },
  allgather: { ring: "ring", rhd: "recursive_doubling", bruck: "brucks" },
  reducescatter: { rhd: "recursive_halving", direct: "pairwise" },
  alltoall: { direct: "scattered", bruck: "brucks" },
};

/** Its collectives that a kind of ours stands for. */
const CALLS: Readonly<Partial<Record<CollectiveKind, readonly string[]>>> = {
  allreduce: ["allreduce"],
  allgather: ["allgather"],
  reducescatter: ["reduce_scatter", "reduce_scatter_block"],
  alltoall: ["alltoall"],
};
/** By which of its sizes it can choose as nccl-tests count. */
const sizeOf = (collective: CollectiveKind): string => (collective === "allreduce" ? "avg_msg_size" : "total_msg_size");

/** What must hold for an algorithm of ours. */
const CONDITIONS: Readonly<Record<string, readonly string[]>> = {
  allreduce: ["is_commutative=yes", "is_op_built_in=yes", "count=any"],
  reduce_scatter: ["is_commutative=yes"],
  reduce_scatter_block: ["is_commutative=yes"],
  alltoall: ["is_sendbuf_inplace=no"],
};
/** What is asked first where a condition only says that all else is left. */
const BEFORE: Readonly<Record<string, string>> = { "count=any": "count<pow2" };

const PAGE_BYTES = 4096;
/** It reads sizes as C's int. */
const LARGEST = 2 ** 31 - 2;

/** Returns the tree that chooses by size, `others` where no range says. */
function bySize(call: string, what: string, ranges: readonly TunedRange[], others: MpichTree): MpichTree {
  const tree: Record<string, MpichTree> = {};
  let next = 0;
  for (const { algorithm, from, to } of ranges) {
    if (from > next) tree[`${what}<${from}`] = others;
    tree[to === LARGEST ? `${what}=any` : `${what}<${to + 1}`] = mpichAlgorithm(call, algorithm);
    next = to + 1;
  }
  return next > LARGEST ? tree : { ...tree, [`${what}=any`]: others };
}

/** Returns a tree that has `tuned` where all conditions hold, `others` elsewhere. */
const where = (conditions: readonly string[], tuned: MpichTree, others: MpichTree): MpichTree =>
  conditions.reduceRight<MpichTree>((inner, condition) => {
    const before = BEFORE[condition];
    if (before !== undefined) return { [before]: others, [condition]: inner };
    const contrary = condition.replace(/=(yes|no)$/, (_, word: string) => (word === "yes" ? "=no" : "=yes"));
    return { [condition]: inner, [contrary]: others };
  }, tuned);

/**
 * Returns which of MPICH's algorithms to use for which sizes, among as many ranks alone, as the JSON that versions 4 and 5 read. Such
 * a file stands for all that MPICH knows of collectives, so that of others, of other communicators and of sizes without one of ours
 * is in it too, as MPICH 4 has it. Source: csel.c, csel_container.c of pmodels/mpich. Throws InputError for collectives of which
 * MPICH has none of ours, and where no size is left.
 */
export function mpichJson(rows: readonly PredictedRow[], { collective, ranks }: TunerOptions): TunerFile {
  const naming = namingFor("tuner-mpich", collective, NAMINGS);
  const { ranges, ...rest } = tunedRanges(rows, [naming], LARGEST);
  const what = sizeOf(collective);
  const file: Record<string, MpichTree> = {};
  for (const [call, { intra, inter }] of Object.entries(MPICH_DEFAULTS)) {
    const tuned = (CALLS[collective] as readonly string[]).includes(call)
      ? {
          [`comm_size<${ranks}`]: intra,
          [`comm_size<=${ranks}`]: where(CONDITIONS[call] ?? [], bySize(call, what, ranges, intra), intra),
          "comm_size=any": intra,
        }
      : intra;
    file[`collective=${call}`] = inter === null ? tuned : { "comm_type=intra": tuned, "comm_type=inter": inter };
  }
  const text = `${jsonText(file, 1)}\n`;
  // it reads on to the end of a page of memory, where a zero must be
  return { text: text.length % PAGE_BYTES === 0 ? `${text}\n` : text, ...rest };
}
