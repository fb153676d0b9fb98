import { InputError } from "../../base/errors.ts";
import type { CollectiveKind } from "../../model/collective/collective.ts";
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

/** NCCL's algorithms that do what ours of that name do. */
const COUNTERPARTS: Readonly<Record<string, string>> = {
  "nccl-rings": "ring",
  "nccl-tree": "tree",
  nvls: "nvls",
  "nvls-tree": "nvls_tree",
  pat: "pat",
};
/** Where NCCL's own was not tried for a size: other rings, and trees of any kind, stand for it. */
const STAND_INS: Readonly<Record<string, string>> = {
  ring: "ring",
  rings: "ring",
  tree: "tree",
  dbt: "tree",
  forestcoll: "tree",
  blink: "tree",
  multitree: "tree",
};
const COLLECTIVES: readonly string[] = ["broadcast", "reduce", "allgather", "reducescatter", "allreduce"];
/** NCCL has its tree for no other collective. */
const OF_TREES: readonly string[] = ["allreduce"];
const LARGEST = 2 ** 32 - 1;

/** Returns the least time of each of NCCL's algorithms that rows of these names stand for, by size. */
function timesBySize(
  rows: readonly PredictedRow[],
  nameOf: Readonly<Record<string, string>>,
  collective: CollectiveKind,
): Map<number, Map<string, number>> {
  const times = new Map<number, Map<string, number>>();
  for (const { sizeBytes, us, algorithm: ours } of rows) {
    const algorithm = nameOf[ours];
    if (algorithm === undefined || (algorithm === "tree" && !OF_TREES.includes(collective))) continue;
    const ofSize = times.get(sizeBytes) ?? new Map<string, number>();
    times.set(sizeBytes, ofSize.set(algorithm, Math.min(us, ofSize.get(algorithm) ?? us)));
  }
  return times;
}

/** Returns NCCL's name of the fastest for each size that has any. */
function bestBySize(rows: readonly PredictedRow[], collective: CollectiveKind): Map<number, string> {
  const [own, like] = [COUNTERPARTS, STAND_INS].map((nameOf) => timesBySize(rows, nameOf, collective));
  const best = new Map<number, string>();
  for (const { sizeBytes } of rows) {
    const times = [...new Map([...(like?.get(sizeBytes) ?? []), ...(own?.get(sizeBytes) ?? [])])];
    const [fastest] = times.sort((a, b) => a[1] - b[1]);
    if (fastest !== undefined) best.set(sizeBytes, fastest[0]);
  }
  return best;
}

/** A file for NCCL's example tuner plugin, and what it does not say. */
export interface TunerCsv {
  readonly text: string;
  /** Sizes for which no algorithm was tried that NCCL has. */
  readonly leftOut: readonly number[];
}

/**
 * Returns which of NCCL's algorithms to use for which sizes, as the CSV of NCCL's example tuner plugin (NCCL_TUNER_CONFIG_FILE):
 * for each size the fastest of those that NCCL has too, or of what is like one where that was not tried. Ranges adjoin: a
 * size's reaches up to the next size, the first from 0, the last to 2^32 - 1; sizes without such an algorithm keep NCCL's
 * choice. A tuner chooses among NCCL's own algorithms and cannot carry a schedule. Throws InputError for collectives without a
 * tuner and where no size is left.
 */
export function tunerCsv(rows: readonly PredictedRow[], options: TunerOptions): TunerCsv {
  const { collective, nodes, ranks, channels = -1, protocol = "simple" } = options;
  if (!COLLECTIVES.includes(collective))
    throw new InputError("the collective of a tuner", `one of ${COLLECTIVES.join(", ")}`, collective).as(
      "unknown-name",
    );
  const sizes = [...new Set(rows.map(({ sizeBytes }) => sizeBytes))].sort((a, b) => a - b);
  const best = bestBySize(rows, collective);
  // between boxes NCCL sums by trees of what their switches have summed
  if (nodes > 1) for (const [size, name] of best) if (name === "nvls") best.set(size, "nvls_tree");
  const leftOut = sizes.filter((size) => !best.has(size));
  if (best.size === 0)
    throw new InputError(
      "the rows of a tuner",
      `an algorithm that NCCL has too (${[...Object.keys(COUNTERPARTS), ...Object.keys(STAND_INS)].join(", ")})`,
    );
  const ranges: { algorithm: string; from: number; to: number }[] = [];
  for (const [i, size] of sizes.entries()) {
    const chosen = best.get(size);
    if (chosen === undefined || size > LARGEST) continue;
    const from = i === 0 ? 0 : size;
    const to = i === sizes.length - 1 ? LARGEST : Math.min(LARGEST, (sizes[i + 1] as number) - 1);
    const last = ranges[ranges.length - 1];
    if (last?.algorithm === chosen && last.to === from - 1) last.to = to;
    else ranges.push({ algorithm: chosen, from, to });
  }
  const header = "collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,regBuff\n";
  const lines = ranges.map(
    ({ algorithm, from, to }) =>
      `${collective},${from},${to},${algorithm},${protocol},${channels},${nodes},${ranks},-1,-1\n`,
  );
  return { text: header + lines.join(""), leftOut };
}
