import { InputError } from "../errors.ts";
import type { CollectiveKind } from "../model/collective.ts";
import type { PredictedRow } from "./nccl-tests.ts";

export interface TunerOptions {
  readonly collective: CollectiveKind;
  /** Boxes, and ranks in all; -1: any. */
  readonly nodes: number;
  readonly ranks: number;
  /** -1, NCCL's own choice, without it. */
  readonly channels?: number;
  /** "simple" without it. */
  readonly protocol?: "ll" | "ll128" | "simple";
}

/** NCCL's algorithms that do what ours of that name do; trees of any kind stand for NCCL's. */
const COUNTERPARTS: Readonly<Record<string, string>> = {
  ring: "ring",
  tree: "tree",
  forestcoll: "tree",
  blink: "tree",
  multitree: "tree",
  nvls: "nvls",
  "nvls-tree": "nvls_tree",
  pat: "pat",
};
const COLLECTIVES: readonly string[] = ["broadcast", "reduce", "allgather", "reducescatter", "allreduce"];
/** NCCL has its tree for no other collective. */
const OF_TREES: readonly string[] = ["allreduce"];
const LARGEST = 2 ** 32 - 1;

/** A file for NCCL's example tuner plugin, and what it does not say. */
export interface TunerCsv {
  readonly text: string;
  /** Sizes for which no algorithm was tried that NCCL has. */
  readonly leftOut: readonly number[];
}

/**
 * Returns which of NCCL's algorithms to use for which sizes, as the CSV of NCCL's example tuner plugin (NCCL_TUNER_CONFIG_FILE):
 * for each size the fastest of those that NCCL has too. Ranges adjoin: a size's reaches up to the next size, the first from 0, the
 * last to 2^32 - 1; sizes without such an algorithm keep NCCL's choice. A tuner chooses among NCCL's own rings and trees and cannot
 * carry a schedule. Throws InputError for collectives without a tuner and where no size is left.
 */
export function tunerCsv(rows: readonly PredictedRow[], options: TunerOptions): TunerCsv {
  const { collective, nodes, ranks, channels = -1, protocol = "simple" } = options;
  if (!COLLECTIVES.includes(collective))
    throw new InputError("the collective of a tuner", `one of ${COLLECTIVES.join(", ")}`, collective);
  const sizes = [...new Set(rows.map(({ sizeBytes }) => sizeBytes))].sort((a, b) => a - b);
  const best = new Map<number, { algorithm: string; us: number }>();
  for (const { sizeBytes, us, algorithm } of rows) {
    const counterpart = COUNTERPARTS[algorithm];
    if (counterpart === undefined || (counterpart === "tree" && !OF_TREES.includes(collective))) continue;
    if (us < (best.get(sizeBytes)?.us ?? Number.POSITIVE_INFINITY)) best.set(sizeBytes, { algorithm: counterpart, us });
  }
  const leftOut = sizes.filter((size) => !best.has(size));
  if (best.size === 0)
    throw new InputError(
      "the rows of a tuner",
      `an algorithm that NCCL has too (${Object.keys(COUNTERPARTS).join(", ")})`,
    );
  const ranges: { algorithm: string; from: number; to: number }[] = [];
  for (const [i, size] of sizes.entries()) {
    const chosen = best.get(size);
    if (chosen === undefined || size > LARGEST) continue;
    const from = i === 0 ? 0 : size;
    const to = i === sizes.length - 1 ? LARGEST : Math.min(LARGEST, (sizes[i + 1] as number) - 1);
    const last = ranges[ranges.length - 1];
    if (last?.algorithm === chosen.algorithm && last.to === from - 1) last.to = to;
    else ranges.push({ algorithm: chosen.algorithm, from, to });
  }
  const header = "collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,regBuff\n";
  const lines = ranges.map(
    ({ algorithm, from, to }) =>
      `${collective},${from},${to},${algorithm},${protocol},${channels},${nodes},${ranks},-1,-1\n`,
  );
  return { text: header + lines.join(""), leftOut };
}
