import { jsonText } from "../../base/visible.ts";
import type { CollectiveKind } from "../../model/collective/collective.ts";
import type { PredictedRow } from "./nccl-tests.ts";
import {
  type Naming,
  namingFor,
  type TunedRange,
  type TunerFile,
  type TunerOptions,
  tunedRanges,
} from "./tuner-ranges.ts";

/** Files for NCCL's example tuner plugin, and for the tuner within NCCLX. */

/** NCCL's algorithms that do what ours of that name do. */
const COUNTERPARTS: Naming = {
  "nccl-rings": "ring",
  "nccl-tree": "tree",
  nvls: "nvls",
  "nvls-tree": "nvls_tree",
  pat: "pat",
};
/** Where NCCL's own was not tried for a size: other rings, and trees of any kind, stand for it. */
const STAND_INS: Naming = {
  ring: "ring",
  rings: "ring",
  tree: "tree",
  dbt: "tree",
  forestcoll: "tree",
  blink: "tree",
  multitree: "tree",
};
/** Without its trees, which NCCL has for all-reduce alone. */
const isNoTree = ([, theirs]: readonly [string, string]): boolean => theirs !== "tree";
const BUT_TREES = Object.fromEntries(Object.entries(COUNTERPARTS).filter(isNoTree));
const OWN: Readonly<Partial<Record<CollectiveKind, Naming>>> = {
  broadcast: BUT_TREES,
  reduce: BUT_TREES,
  allgather: BUT_TREES,
  reducescatter: BUT_TREES,
  allreduce: COUNTERPARTS,
};

export interface NcclTunerOptions extends TunerOptions {
  /** -1, NCCL's own choice, without it. */
  readonly channels?: number;
  /** "simple" without it. */
  readonly protocol?: "ll" | "ll128" | "simple";
}

/** Returns the ranges of NCCL's algorithms. */
function ncclRanges(rows: readonly PredictedRow[], { collective, nodes }: TunerOptions, largest?: number) {
  const own = namingFor("a tuner", collective, OWN);
  const like = collective === "allreduce" ? STAND_INS : Object.fromEntries(Object.entries(STAND_INS).filter(isNoTree));
  // between boxes NCCL sums by trees of what their switches have summed
  return tunedRanges(rows, [nodes > 1 ? { ...own, nvls: "nvls_tree" } : own, like], largest);
}

/** Its columns of sizes have 32 bits. */
const LARGEST = 2 ** 32 - 1;

/**
 * Returns which of NCCL's algorithms to use for which sizes, as the CSV of NCCL's example tuner plugin (NCCL_TUNER_CONFIG_FILE):
 * for each size the fastest of those that NCCL has too, or of what is like one where that was not tried. Ranges adjoin: a
 * size's reaches up to the next size, the first from 0, the last to 2^32 - 1; sizes without such an algorithm keep NCCL's
 * choice. A tuner chooses among NCCL's own algorithms and cannot carry a schedule. Throws InputError for collectives without a
 * tuner and where no size is left.
 */
export function tunerCsv(rows: readonly PredictedRow[], options: NcclTunerOptions): TunerFile {
  const { collective, nodes, ranks, channels = -1, protocol = "simple" } = options;
  const { ranges, ...rest } = ncclRanges(rows, options, LARGEST);
  const header = "collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,regBuff\n";
  const lines = ranges.map(
    ({ algorithm, from, to }) =>
      `${collective},${from},${to},${algorithm},${protocol},${channels},${nodes},${ranks},-1,-1\n`,
  );
  return { text: header + lines.join(""), ...rest };
}

/**
 * Returns the bytes of a rank, of a call's divided by the ranks and rounded down, that a range of calls has, as NCCLX writes
 * intervals: `[a,b)`, `[a,)` without an end; null where no whole number of them is in it.
 */
function perRank({ from, to }: TunedRange, ranks: number): string | null {
  const [first, end] = [Math.ceil(from / ranks), Math.ceil((to + 1) / ranks)];
  if (end === Number.POSITIVE_INFINITY) return `[${first},)`;
  return first === end ? null : `[${first},${end})`;
}

/** A rule of NCCLX's tuner. */
interface NcclxRule {
  readonly filter: { collective: string; bytesPerRank: string; nNodes: number; nLocalRanks: number };
  readonly config: { algorithm: string; protocol: string };
}

function ncclxRules(
  rows: readonly PredictedRow[],
  options: NcclTunerOptions,
): { readonly rules: readonly NcclxRule[] } & Omit<TunerFile, "text"> {
  const { collective, nodes, ranks, protocol = "simple" } = options;
  const { ranges, ...rest } = ncclRanges(rows, options);
  const nLocalRanks = Math.floor(ranks / nodes);
  const rules = ranges.flatMap((range) => {
    const bytesPerRank = perRank(range, nodes * nLocalRanks);
    if (bytesPerRank === null) return [];
    const filter = { collective, bytesPerRank, nNodes: nodes, nLocalRanks };
    return [{ filter, config: { algorithm: range.algorithm, protocol } }];
  });
  return { rules, ...rest };
}

/**
 * Returns the same as the CSV of the tuner within NCCLX (NCCLX_TUNER_CONFIG_FILE, a name that ends in .csv): sizes by rank, as
 * intervals. Source: comms/ncclx/meta/tuner/README.md of meta-pytorch/torchcomms. Throws InputError as tunerCsv.
 */
export function ncclxCsv(rows: readonly PredictedRow[], options: NcclTunerOptions): TunerFile {
  const { channels = -1 } = options;
  const { rules, ...rest } = ncclxRules(rows, options);
  const lines = rules.map(({ filter, config }) =>
    [
      ...[filter.collective, filter.bytesPerRank, config.algorithm, config.protocol],
      ...[channels, filter.nNodes, filter.nLocalRanks],
    ].join(","),
  );
  const header = "# collective,bytesPerRank,algorithm,protocol,channels,nNodes,nLocalRanks";
  return { text: `${[header, ...lines].join("\n")}\n`, ...rest };
}

/** Returns the same rules as ncclxCsv in its JSON, for builds of NCCLX that read it (a name that ends in .json). Throws InputError as tunerCsv. */
export function ncclxJson(rows: readonly PredictedRow[], options: NcclTunerOptions): TunerFile {
  const { rules, ...rest } = ncclxRules(rows, options);
  return { text: `${jsonText({ rules }, 2)}\n`, ...rest };
}
