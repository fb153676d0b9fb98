import { InputError } from "../../base/errors.ts";
import { type MeasuredPoint, type Measurements, measurementsOf } from "../../model/calibration/measurements.ts";
import type { NamedCollective } from "../../model/collective/collective.ts";
import { ANY_RATIO, type BusRatio, collectiveIn, collectiveOf, narrowed } from "./nccl-tests-collective.ts";

/** What stands before each line where mpirun or srun tell ranks: "[1,0]<stdout>:", "[node1:0]", "0: ". */
const PREFIX = /^(?:\[[\w.,:-]+\]<std(?:out|err)>:? ?|\d{1,6}: )/;
/** A row begins with two numbers, or was cut before the second. */
const ROW = /^-?\d[\d.]*(?:\s+-?\d|$)/;
/** Blanks where nothing was measured out of place. */
const GAP = /\S {20,}\S/;
/** Rounding of what is printed: a time of "1.2e+07" has two digits, a bandwidth of "1e+06" has one. */
const ROUNDING = 0.06;
const COARSE_ROUNDING = 0.6;

/** The columns of a table: where the figures of each group begin among the words of the header. */
interface Columns {
  readonly words: readonly string[];
  /** Index of the first "time". */
  readonly figures: number;
  /** Figures of a group (time, algbw, busbw, wrong and more). */
  readonly group: number;
  readonly groups: number;
}

/** A table while its lines are read. */
interface Draft {
  collective: NamedCollective | null;
  readonly ranks: Set<number>;
  readonly hosts: Set<string>;
  /** Names of devices. */
  readonly gpus: Set<string>;
  perProcess: number | null;
  stated: number | null;
  columns: Columns | null;
  readonly points: MeasuredPoint[];
  ratio: BusRatio;
  zeros: number;
}

const draft = (): Draft => ({
  collective: null,
  ranks: new Set(),
  hosts: new Set(),
  gpus: new Set(),
  perProcess: null,
  stated: null,
  columns: null,
  points: [],
  ratio: ANY_RATIO,
  zeros: 0,
});

/** Returns whether a text has the header of a table of nccl-tests. */
export const looksLikeNcclTests = (text: string): boolean =>
  /^.{0,80}#\s+size\s+count\s.*\b(?:cpu)?time\s+algbw\s+busbw\b/m.test(text);

/** Returns whether a text has the lines that nccl-tests print before the first table. */
export const looksLikeNcclTestsStart = (text: string): boolean =>
  /^.{0,80}#\s+(?:nThread\s+\d+\s+nGpus\s+\d|nccl-tests version\s|Collective test starting:)/m.test(text);

function columnsOf(words: readonly string[], place: string): Columns {
  if (words.includes("cputime")) throw new InputError(place, "times of GPUs", "cputime (-C 1)");
  const figures = words.indexOf("time");
  const second = words.indexOf("time", figures + 1);
  const end = words.includes("timestamp") ? words.indexOf("timestamp") : words.length;
  const group = (second < 0 ? end : second) - figures;
  const groups = second < 0 ? 1 : 2;
  if (group < 3 || end - figures !== group * groups || words[0] !== "size" || words[1] !== "count")
    throw new InputError(place, "the columns size, count, ..., time, algbw, busbw", words.join(" "));
  return { words: words.slice(0, end), figures, group, groups };
}

/**
 * Returns what a log of nccl-tests or rccl-tests of any version holds, a table after the other. Columns are found by the header;
 * what mpirun or srun put before lines is taken off, lines of NCCL itself are left out, as are rows of size 0. `asked` is the
 * collective where the log does not tell it (`collectiveOf`). Throws InputError with the line. O(text).
 */
export function readNcclTestsText(
  text: string,
  fileName: string,
  asked: NamedCollective | null = null,
): Measurements[] {
  const tables: Measurements[] = [];
  let open = draft();
  const close = (): void => {
    if (open.columns !== null) tables.push(finished(open, fileName, asked));
  };
  let number = 0;
  for (const raw of text.split("\n")) {
    number++;
    const line = raw.replace(PREFIX, "").trim();
    if (line === "" || /\b[NR]CCL (?:INFO|WARN|version)\b/.test(line)) continue;
    const place = `${fileName} line ${number}`;
    if (!line.startsWith("#")) {
      if (open.columns !== null && ROW.test(line)) addRow(open, open.columns, line, place);
      continue;
    }
    const start = /Collective test starting:\s*(\S+)/.exec(line);
    const shape = /nThread\s+(\d+)\s+nGpus\s+(\d+)/.exec(line);
    if ((start !== null || shape !== null || /Using devices/.test(line)) && open.columns !== null) {
      close();
      open = draft();
    }
    if (start !== null) open.collective = collectiveIn(start[1]);
    if (shape !== null) open.perProcess = Number(shape[1]) * Number(shape[2]);
    const predicted = /^#\s*Predicted by Banyan \S+ for (\d+) ranks on /.exec(line);
    if (predicted !== null) open.stated = Number(predicted[1]);
    const rank = /^#\s+Rank\s+(\d+)\s.*?\bon\s+(\S+)\s+device\b(?:\s+\d+\s+\[[^\]]*\]\s*(\S.*))?/.exec(line);
    if (rank !== null) {
      open.ranks.add(Number(rank[1]));
      open.hosts.add(rank[2]);
      if (rank[3] !== undefined) open.gpus.add(rank[3]);
    }
    const words = line.replace(/^#\s*/, "").split(/\s+/);
    if (words[0] === "size" && words.includes("algbw")) {
      // a header is printed again where a log is cut in pieces
      open.columns = columnsOf(words, place);
    }
  }
  close();
  return tables;
}

const MOST_LISTED = 20;
const MOST_LETTERS = 200;

/** Returns the words of a header as a sentence has them: the first ones of very many. */
function listed(words: readonly string[]): string {
  const first = words.slice(0, MOST_LISTED).join(" ");
  return words.length <= MOST_LISTED && first.length <= MOST_LETTERS ? first : `${first.slice(0, MOST_LETTERS)} ...`;
}

/** Adds a row; see `Columns`. Rows may lack the operation or the root, or the whole group out of place. */
function addRow(open: Draft, columns: Columns, line: string, place: string): void {
  const { words, figures, group, groups } = columns;
  const cells = line.split(/\s+/);
  const stamp = cells.findIndex((cell, i) => i > figures && /^\d{4}-\d\d-\d\d/.test(cell));
  const row = stamp < 0 ? cells : cells.slice(0, stamp);
  const missing = words.length - row.length;
  const onlyInPlace = groups === 2 && missing === group && GAP.test(line);
  if (missing < 0 || (missing > Math.max(0, figures - 3) && !onlyInPlace))
    throw new InputError(place, `${words.length} columns (${listed(words)})`, `${row.length}: ${row.join(" ")}`);
  const sizeBytes = Number(row[0]);
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0)
    throw new InputError(place, "a size in whole bytes, 0 or more,", row[0]);
  if (sizeBytes === 0) {
    open.zeros++;
    return;
  }
  const tail = row.slice(row.length - group * (onlyInPlace ? 1 : groups));
  const times = Array.from({ length: tail.length / group }, (_, g) =>
    timeOf(open, tail.slice(g * group, (g + 1) * group), sizeBytes, words.slice(figures, figures + group), place),
  );
  const [timeUs, inPlaceUs = onlyInPlace ? times[0] : Number.NaN] = times;
  open.points.push({ sizeBytes, timeUs, inPlaceUs, note: "" });
}

/** Returns the time of a group of figures, held against the bandwidth beside it. */
function timeOf(
  open: Draft,
  cells: readonly string[],
  sizeBytes: number,
  words: readonly string[],
  place: string,
): number {
  const [time, algbw, busbw] = ["time", "algbw", "busbw"].map((word) => {
    const cell = cells[words.indexOf(word)];
    const value = /^\d+(?:\.\d*)?(?:e[+-]?\d+)?$/i.test(cell) ? Number(cell) : Number.NaN;
    if (!Number.isFinite(value)) throw new InputError(place, `a number of ${word}`, cell);
    return value;
  });
  if (time === 0) throw new InputError(place, "a time above 0", cells[words.indexOf("time")]);
  const wrong = cells[words.indexOf("#wrong")];
  if (wrong !== undefined && Number(wrong) > 0)
    throw new InputError(place, "a run without wrong values", `${wrong} wrong`);
  const told = sizeBytes / time / 1000;
  const rounding = cells.slice(0, 3).some((cell) => /^\de/.test(cell)) ? COARSE_ROUNDING : ROUNDING;
  // half of the last of two decimals, and of what is printed of the time
  if (Math.abs(told - algbw) > rounding * told + 0.0051 || busbw > (2.1 + 2 * rounding) * algbw + 0.02)
    throw new InputError(place, "columns that agree (algbw = size / time, busbw at most twice that)", cells.join(" "));
  open.ratio = narrowed(open.ratio, cells[words.indexOf("algbw")], cells[words.indexOf("busbw")]);
  return time;
}

function finished(open: Draft, fileName: string, asked: NamedCollective | null): Measurements {
  const { points, zeros, ranks, hosts, gpus, stated, perProcess, ratio } = open;
  if (points.length === 0) {
    const received = zeros > 0 ? "only rows of size 0" : "a header without rows";
    throw new InputError(fileName, "rows of a table of nccl-tests", received);
  }
  // without a list of devices one process is all there is, but a process of one GPU tells nothing
  const ranksOf = ranks.size > 0 ? ranks.size : (stated ?? ((perProcess ?? 1) > 1 ? perProcess : null));
  return measurementsOf(points, {
    ...collectiveOf({ program: open.collective, asked, ratio, ranks: ranksOf }, fileName),
    ranks: ranksOf,
    gpus: [...gpus],
    hosts: hosts.size > 0 ? hosts.size : ranksOf !== null && ranksOf === perProcess ? 1 : null,
    platform: "",
    source: fileName,
  });
}
