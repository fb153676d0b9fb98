import { InputError } from "../../base/errors.ts";
import { jsonText, visible } from "../../base/visible.ts";
import { busFactor, type CollectiveKind } from "../../model/collective/collective.ts";
import { formatSize } from "../../model/numbers/units.ts";

/** A prediction for one size; the rows of a comparison have these fields. */
export interface PredictedRow {
  /** As nccl-tests count it. */
  readonly sizeBytes: number;
  readonly us: number;
  readonly algorithm: string;
}

/** What is said of all rows. */
export interface PredictedRun {
  readonly collective: CollectiveKind;
  readonly ranks: number;
  /** Rank of the root, -1 where there is none. */
  readonly root?: number;
  /** Name of the network. */
  readonly network: string;
  readonly version: string;
  readonly rows: readonly PredictedRow[];
}

/** Programs of nccl-tests, and which of them send only a part of the size from each rank. */
const PROGRAMS: Readonly<
  Record<string, { readonly program: string; readonly partPerRank: boolean; readonly reduces: boolean }>
> = {
  allreduce: { program: "all_reduce_perf", partPerRank: false, reduces: true },
  allgather: { program: "all_gather_perf", partPerRank: true, reduces: false },
  reducescatter: { program: "reduce_scatter_perf", partPerRank: true, reduces: true },
  alltoall: { program: "alltoall_perf", partPerRank: true, reduces: false },
  broadcast: { program: "broadcast_perf", partPerRank: false, reduces: false },
  reduce: { program: "reduce_perf", partPerRank: false, reduces: true },
  gather: { program: "gather_perf", partPerRank: true, reduces: false },
  scatter: { program: "scatter_perf", partPerRank: true, reduces: false },
};
const ELEMENT_BYTES = 4;

interface Line {
  readonly size: number;
  readonly count: number;
  readonly us: number;
  readonly algorithm: string;
  readonly algbw: number;
  readonly busbw: number;
}

/** Returns the fastest row of each size, ascending. Throws InputError. */
function linesOf({ collective, ranks, rows }: PredictedRun): Line[] {
  if (PROGRAMS[collective] === undefined)
    throw new InputError("the collective", `one that nccl-tests has (${Object.keys(PROGRAMS).join(", ")})`, collective);
  if (rows.length === 0) throw new InputError("the table", "at least one row");
  const best = new Map<number, PredictedRow>();
  for (const row of rows)
    if (row.us < (best.get(row.sizeBytes)?.us ?? Number.POSITIVE_INFINITY)) best.set(row.sizeBytes, row);
  const parts = PROGRAMS[collective].partPerRank ? ranks : 1;
  return [...best.values()]
    .sort((a, b) => a.sizeBytes - b.sizeBytes)
    .map(({ sizeBytes, us, algorithm }) => {
      const algbw = us > 0 ? sizeBytes / us / 1000 : 0;
      const busbw = algbw * busFactor(collective, ranks);
      return { size: sizeBytes, count: Math.floor(sizeBytes / parts / ELEMENT_BYTES), us, algorithm, algbw, busbw };
    });
}

/** Returns a number in this many characters, as nccl-tests write it: with two, one or no decimals, else with an exponent. */
export function fixedWidth(value: number, width: number): string {
  const fits = [2, 1, 0].map((digits) => value.toFixed(digits)).find((text) => text.length <= width);
  const text = fits ?? exponential(value, width >= 7 ? 1 : 0);
  return text.padStart(width);
}

/** As C's %.<digits>e: at least two digits of exponent. */
const exponential = (value: number, digits: number): string =>
  value.toExponential(digits).replace(/e([+-])(\d)$/, "e$10$2");

const mean = (lines: readonly Line[]): number => lines.reduce((sum, { busbw }) => sum + busbw, 0) / lines.length;

/**
 * Returns predictions as nccl-tests print measurements (src/util.cu of NVIDIA/nccl-tests): the same columns, float elements, N/A
 * for errors; comments say that nothing was measured and which algorithm each size is for. In place takes as long as out of place.
 * Of several rows of a size the fastest is shown. Throws InputError for a collective that nccl-tests do not have, and without rows.
 */
export function ncclTestsTable(run: PredictedRun): string {
  const lines = linesOf(run);
  const { program, reduces } = PROGRAMS[run.collective];
  const [first, last] = [lines[0].size, lines[lines.length - 1].size];
  const head = (words: readonly string[]): string => {
    const [size, count, type, redop, root, ...rest] = words;
    const figures = rest.map((word, i) => word.padStart(i % 4 === 0 ? 7 : 6)).join("  ");
    return `# ${size.padStart(10)}  ${count.padStart(12)}  ${type.padStart(8)}  ${redop.padStart(6)}  ${root.padStart(6)}  ${figures} \n`;
  };
  const measured = ["time", "algbw", "busbw", "#wrong"];
  const units = ["(us)", "(GB/s)", "(GB/s)", ""];
  const comment = (text: string): string => `# ${visible(text)}\n`;
  let text = comment(
    `Predicted by Banyan ${run.version} for ${run.ranks} ranks on ${run.network || "a network"}; nothing was measured`,
  );
  text += `# Collective test starting: ${program}\n`;
  text += `# nThread 1 nGpus 1 minBytes ${first} maxBytes ${last} step: ${stepOf(lines)} warmup iters: 0 iters: 1 agg iters: 1 validation: 0 graph: 0 unalign: 0\n#\n`;
  text += algorithmsOf(lines).map(comment).join("");
  text += `#\n# ${" ".repeat(10)}  ${" ".repeat(12)}  ${" ".repeat(8)}  ${" ".repeat(6)}  ${" ".repeat(6)}           out-of-place                       in-place          \n`;
  text += head(["size", "count", "type", "redop", "root", ...measured, ...measured]);
  text += head(["(B)", "(elements)", "", "", "", ...units, ...units]);
  for (const { size, count, us, algbw, busbw } of lines) {
    const figures = `  ${fixedWidth(us, 7)}  ${fixedWidth(algbw, 6)}  ${fixedWidth(busbw, 6)}    N/A`;
    const what = `${"float".padStart(8)}  ${(reduces ? "sum" : "none").padStart(6)}  ${String(run.root ?? -1).padStart(6)}`;
    text += `${String(size).padStart(12)}  ${String(count).padStart(12)}  ${what}${figures}${figures}\n`;
  }
  const average = Number(mean(lines).toPrecision(6));
  return `${text}# Out of bounds values : 0 OK\n# Avg bus bandwidth    : ${average} \n#\n# Collective test concluded: ${program}\n#\n`;
}

/** Returns "2(factor)" or "1024(bytes)", and "0(bytes)" where sizes follow neither. */
function stepOf(lines: readonly Line[]): string {
  const pairs = lines.slice(1).map(({ size }, i) => [lines[i].size, size] as const);
  const all = (of: (before: number, after: number) => number): number | null => {
    const steps = new Set(pairs.map(([before, after]) => of(before, after)));
    return steps.size === 1 ? ([...steps][0] as number) : null;
  };
  const factor = all((before, after) => after / before);
  if (factor !== null && Number.isInteger(factor)) return `${factor}(factor)`;
  return `${all((before, after) => after - before) ?? 0}(bytes)`;
}

/** Returns "Algorithm: tacos", or a line for each run of sizes with the same one. */
function algorithmsOf(lines: readonly Line[]): string[] {
  const runs: { algorithm: string; from: number; to: number }[] = [];
  for (const { algorithm, size } of lines) {
    const last = runs[runs.length - 1];
    if (last?.algorithm === algorithm) last.to = size;
    else runs.push({ algorithm, from: size, to: size });
  }
  if (runs.length === 1) return [`Algorithm: ${runs[0].algorithm}`];
  return runs.map(
    ({ algorithm, from, to }) =>
      `Algorithm: ${algorithm}, ${from === to ? formatSize(from) : `${formatSize(from)} to ${formatSize(to)}`}`,
  );
}

/**
 * Returns the same as the JSON that nccl-tests write with -J: config, results per size, averages; nwrong is null, for nothing was
 * checked. `predicted_by` and `algorithm` are ours. Throws InputError as ncclTestsTable does.
 */
export function ncclTestsJson(run: PredictedRun): string {
  const lines = linesOf(run);
  const { program, reduces } = PROGRAMS[run.collective];
  const results = lines.map(({ size, count, us, algorithm, algbw, busbw }) => {
    const timing = { time: us, alg_bw: algbw, bus_bw: busbw, nwrong: null };
    const what = { size, count, type: "float", redop: reduces ? "sum" : "none", root: String(run.root ?? -1) };
    return { ...what, algorithm, out_of_place: timing, in_place: timing };
  });
  const json = {
    predicted_by: `Banyan ${run.version}`,
    program,
    network: run.network,
    ranks: run.ranks,
    results,
    out_of_bounds: { count: 0, okay: true },
    average_bus_bandwidth: { bandwidth: mean(lines), okay: "unchecked" },
  };
  return `${jsonText(json, 2)}\n`;
}
