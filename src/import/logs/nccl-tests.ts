import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import {
  type LoggedRank,
  type MeasuredPoint,
  type Measurements,
  measurementsOf,
} from "../../model/calibration/measurements.ts";
import { busFactor, COLLECTIVE_KINDS, type NamedCollective } from "../../model/collective/collective.ts";
import { isSendsText } from "../schedules/sends.ts";
import { asInteger, asList, asObject, type JsonFields, parseJson, placeIn, refuse } from "../text/json.ts";
import { looksLikeNcclLog } from "./nccl-log.ts";

const OUTPUT = "output of nccl-tests";
/** Headers and marks stand early, even where a log of NCCL precedes a table. */
const LOOKED_AT = 1 << 20;

/**
 * Returns the measurements in output of nccl-tests or rccl-tests (text of any version, or the JSON of -J), in our own
 * predictions of that form, or in a table of points. Logs of other tools are refused by name. `collective` serves where the file
 * does not tell it. Throws InputError. O(text).
 */
export function readMeasurements(
  text: string,
  fileName: string,
  collective: NamedCollective | null = null,
): Measurements[] {
  if (text.trim() === "") throw new InputError(fileName, OUTPUT);
  if (/^\ufeff?\s*[{[]\s*["{\]}]/.test(text)) {
    const value = parseJson(text, fileName);
    if (looksLikeNcclTestsJson(value)) return [readNcclTestsJson(value, fileName, collective)];
    const tool = otherJsonTool(value);
    throw new InputError(fileName, OUTPUT, tool === null ? value : inWords(`a file of ${tool}`));
  }
  if (looksLikePoints(text.slice(0, LOOKED_AT))) return readPoints(text, fileName);
  if (looksLikeNcclTests(text)) return readNcclTestsText(text, fileName, collective);
  if (looksLikeNcclTestsStart(text.slice(0, LOOKED_AT)))
    throw new InputError(
      fileName,
      "rows of a table of nccl-tests",
      inWords("a log of nccl-tests that ends before its table"),
    );
  const tool = otherTool(text.slice(0, LOOKED_AT));
  if (isSendsText(text)) throw new InputError(fileName, OUTPUT, inWords("a list of sends"));
  throw new InputError(fileName, OUTPUT, tool === null ? text.trimStart().slice(0, 40) : inWords(`a log of ${tool}`));
}

const COLUMNS = ["platform", "collective", "gpus", "nodes", "bytes", "busbw"];

/** Returns whether a text is a table of measured points: platform, collective, gpus, nodes, bytes, busbw, note, by tabs. */
const looksLikePoints = (text: string): boolean =>
  /^#?[ ]*platform\tcollective\tgpus\tnodes\tbytes\tbusbw\b/m.test(text);

/**
 * Returns the measurements of a table of points, one for each platform, collective and number of GPUs and nodes: a line
 * each of platform, collective, gpus, nodes, bytes, busbw in GB/s and a note, apart by tabs; "#" begins a comment. Rows of what is
 * no collective ("p2p") are left out. Throws InputError with the line. O(text).
 */
function readPoints(text: string, fileName: string): Measurements[] {
  const given = { source: fileName, listed: [], remarks: [] };
  const tables = new Map<string, { about: Parameters<typeof measurementsOf>[1]; points: MeasuredPoint[] }>();
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    if (line.startsWith("#") || line.trim() === "" || line.startsWith("platform\t")) continue;
    const place = `${fileName} line ${i + 1}`;
    const [platform, kind, gpus, nodes, bytes, busbw, note = ""] = line.split("\t");
    if (busbw === undefined) throw new InputError(place, `the columns ${COLUMNS.join(", ")}, apart by tabs,`, line);
    if (!(COLLECTIVE_KINDS as readonly string[]).includes(kind)) {
      if (kind === "p2p") continue;
      throw new InputError(place, `a collective (${COLLECTIVE_KINDS.join(", ")}) or p2p`, kind);
    }
    const collective = kind as NamedCollective;
    const ranks = whole(gpus, 2, `${place}, gpus`);
    const hosts = whole(nodes, 1, `${place}, nodes`);
    const sizeBytes = whole(bytes, 1, `${place}, bytes`);
    const rate = /^\d+(?:\.\d+)?$/.test(busbw) ? Number(busbw) : 0;
    if (!(rate > 0)) throw new InputError(`${place}, busbw`, "a bandwidth above 0 in GB/s", busbw);
    const timeUs = (sizeBytes * busFactor(collective, ranks)) / rate / 1000;
    const key = [platform, collective, ranks, hosts].join("\t");
    const table = tables.get(key) ?? { about: { ...given, collective, ranks, hosts, platform }, points: [] };
    tables.set(key, table);
    table.points.push({ sizeBytes, timeUs, inPlaceUs: Number.NaN, note });
  }
  if (tables.size === 0) throw new InputError(fileName, `rows of ${COLUMNS.join(", ")}`);
  return [...tables.values()].map(({ about, points }) => measurementsOf(points, about));
}

function whole(text: string, low: number, place: string): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value) || value < low)
    throw new InputError(place, `a whole number, ${low} or more`, text).as("out-of-range");
  return value;
}

/** Tools that measure too, by marks of their output; the first that fits is meant. */
const OTHERS: readonly (readonly [tool: string, mark: RegExp])[] = [
  ["OSU Micro-Benchmarks", /^(?:# )?OSU [\w\s/-]*(?:Test|Benchmark)/im],
  ["Intel MPI Benchmarks", /Intel\(?R?\)? MPI Benchmarks|^# Benchmarking (?:Allreduce|Allgather|Bcast|PingPong)/im],
  ["nvbandwidth", /\bnvbandwidth Version|memcpy (?:CE|SM) [CG]PU\(/i],
  [
    "p2pBandwidthLatencyTest",
    /P2P \(?Peer-to-Peer\)?|p2pBandwidthLatencyTest|P2P=(?:Dis|En)abled|P2P Connectivity Matrix/i,
  ],
  [
    "perftest (ib_write_bw and its like)",
    /\b(?:RDMA_|Send |)(?:Write|Read|Send|Atomic)[ _](?:BW|Latency|Bidirectional BW) Test|#bytes\s+#iterations\s+BW peak/i,
  ],
  ["bandwidthTest of the CUDA samples", /\[CUDA Bandwidth Test\]/],
  ["mscclpp-test", /mscclpp-test|# Setting up the connection in MSCCL\+\+/i],
  ["UCC perftest", /^[ \t]*Collective:[ \t]+\w+/m],
  ["ucx_perftest", /overhead.{0,80}bandwidth \(MB\/s\).{0,80}message rate/i],
  ["iperf", /^\[\s*ID\]\s+Interval\s+Transfer/m],
  ["nvidia-smi", /\bNVIDIA-SMI\b|^[ \t]*GPU0[ \t]+(?:GPU1|X)\b/m],
];

/** Returns the name of the tool that wrote a JSON value which is no output of nccl-tests; null for an unknown one. */
function otherJsonTool(value: unknown): string | null {
  if (Array.isArray(value)) return isTraceEvent(value[0]) ? "a profiler (trace events)" : null;
  if (typeof value !== "object" || value === null) return null;
  if ("traceEvents" in value)
    return "schemaVersion" in value || "deviceProperties" in value
      ? "the PyTorch profiler"
      : "a profiler (trace events)";
  if ("nvbandwidth" in value) return "nvbandwidth";
  if ("test_info" in value && "results" in value && !Array.isArray(value.results))
    return "perftest (ib_write_bw and its like)";
  if ("format" in value && typeof value.format === "string" && value.format.startsWith("banyan-"))
    return `Banyan (${value.format})`;
  if ("schema" in value && typeof value.schema === "string" && value.schema.startsWith("banyan/"))
    return `Banyan (${value.schema})`;
  return null;
}

const isTraceEvent = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "ph" in value && "ts" in value;

/** Returns the name of the tool that wrote a text which is no output of nccl-tests; null for an unknown one. */
function otherTool(text: string): string | null {
  const found = OTHERS.find(([, mark]) => mark.test(text));
  if (found !== undefined) return found[0];
  return looksLikeNcclLog(text) ? "NCCL itself (NCCL_DEBUG), without a table" : null;
}

interface Report {
  readonly results?: unknown;
  readonly config?: unknown;
  readonly args?: unknown;
  /** Ours, where it is a prediction. */
  readonly program?: unknown;
  readonly ranks?: unknown;
}
type Config = JsonFields<"nthreads" | "ngpus" | "devices">;
type Result = JsonFields<"size" | "out_of_place" | "in_place">;
type Timing = JsonFields<"time" | "cpu_time" | "alg_bw" | "bus_bw" | "nwrong">;

/** Returns whether a JSON value has the results of nccl-tests (-J). */
const looksLikeNcclTestsJson = (value: unknown): boolean => {
  if (typeof value !== "object" || value === null || !("results" in value) || !Array.isArray(value.results))
    return false;
  const [first] = value.results;
  return (
    ("average_bus_bandwidth" in value && value.results.length === 0) ||
    (typeof first === "object" && first !== null && ("out_of_place" in first || "in_place" in first))
  );
};

/** Returns what the JSON of nccl-tests (-J), or our prediction in its form, holds. Throws InputError with the path. */
function readNcclTestsJson(value: unknown, fileName: string, asked: NamedCollective | null = null): Measurements {
  const report = asObject<Report>(value, fileName);
  const results = asList(report.results, placeIn(fileName, "results"));
  const points: MeasuredPoint[] = [];
  let ratio = ANY_RATIO;
  results.forEach((entry, i) => {
    const path = `results[${i}]`;
    const result = asObject<Result>(entry, placeIn(fileName, path));
    const sizeBytes = asInteger(result.size, placeIn(fileName, `${path}.size`), 0);
    if (sizeBytes === 0) return;
    const outOfPlace = timeOf(result.out_of_place, placeIn(fileName, `${path}.out_of_place`));
    const inPlaceUs = timeOf(result.in_place, placeIn(fileName, `${path}.in_place`));
    const timeUs = Number.isNaN(outOfPlace) ? inPlaceUs : outOfPlace;
    if (Number.isNaN(timeUs)) refuse(placeIn(fileName, path), "a time out of place or in place", entry);
    points.push({ sizeBytes, timeUs, inPlaceUs, note: "" });
    for (const timing of [result.out_of_place, result.in_place]) {
      const { alg_bw: algbw, bus_bw: busbw } = (timing ?? {}) as Timing;
      if (typeof algbw === "number" && typeof busbw === "number") ratio = narrowed(ratio, String(algbw), String(busbw));
    }
  });
  if (points.length === 0)
    throw new InputError(
      placeIn(fileName, "results"),
      "results of sizes above 0",
      inWords(`${results.length} results`),
    );
  const args = Array.isArray(report.args) ? report.args : [];
  const program = [report.program, args[0]].filter((name) => typeof name === "string").map(collectiveIn);
  const placed = ranksOf(report, fileName);
  const told = program.find((found) => found !== null) ?? null;
  const known = collectiveOf({ program: told, asked, ratio, ranks: placed.ranks }, fileName);
  return measurementsOf(points, { ...known, ...placed, platform: "", source: fileName });
}

/** More than any network here has. */
const MOST_RANKS = 2 ** 20;

/** Every process lists the first of its devices. */
function ranksOf(report: Report, fileName: string): Pick<Measurements, "ranks" | "hosts" | "listed"> {
  const unknown = { ranks: null, hosts: null, listed: [] };
  if (report.ranks !== undefined) return { ...unknown, ranks: asInteger(report.ranks, placeIn(fileName, "ranks"), 1) };
  if (report.config === undefined) return unknown;
  const config = asObject<Config>(report.config, placeIn(fileName, "config"));
  if (config.nthreads === undefined || config.ngpus === undefined || !Array.isArray(config.devices)) return unknown;
  const threads = asInteger(config.nthreads, placeIn(fileName, "config.nthreads"), 1, 65536);
  const gpus = asInteger(config.ngpus, placeIn(fileName, "config.ngpus"), 1, 65536);
  const devices = config.devices.map((device, i) =>
    asObject<{ hostname?: unknown; device_info?: unknown }>(device, placeIn(fileName, `config.devices[${i}]`)),
  );
  const each = threads * gpus;
  const isListed = each * devices.length <= MOST_RANKS;
  const text = (cell: unknown): string => (typeof cell === "string" ? cell : "");
  return {
    ranks: each * Math.max(1, devices.length),
    hosts: new Set(devices.map(({ hostname }) => hostname)).size || null,
    listed: (isListed ? devices : []).flatMap(({ hostname, device_info: info }, process) =>
      Array.from({ length: each }, (_, i) => ({ rank: process * each + i, host: text(hostname), gpu: text(info) })),
    ),
  };
}

/** Returns us, NaN where nothing was measured. */
function timeOf(value: unknown, place: string): number {
  if (value === undefined || value === null) return Number.NaN;
  const { time, cpu_time: cpu, nwrong } = asObject<Timing>(value, place);
  if (time === undefined && cpu !== undefined) refuse(place, "times of GPUs", "cpu_time (-C 1)");
  if (typeof nwrong === "number" && nwrong > 0) refuse(place, "a run without wrong values", `${nwrong} wrong`);
  if (typeof time !== "number" || !(time > 0)) refuse(`${place}.time`, "a time above 0 in us", time);
  return time;
}

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
  /** By rank: a list may be printed again. */
  readonly listed: Map<number, LoggedRank>;
  perProcess: number | null;
  stated: number | null;
  columns: Columns | null;
  readonly points: MeasuredPoint[];
  ratio: BusRatio;
  zeros: number;
}

const draft = (): Draft => ({
  collective: null,
  listed: new Map(),
  perProcess: null,
  stated: null,
  columns: null,
  points: [],
  ratio: ANY_RATIO,
  zeros: 0,
});

/** Returns whether a text has the header of a table of nccl-tests. */
/** Returns whether a text is output of nccl-tests or rccl-tests, whole or cut short. */
export const isNcclTestsText = (text: string): boolean =>
  looksLikeNcclTests(text) || looksLikeNcclTestsStart(text.slice(0, LOOKED_AT));

const looksLikeNcclTests = (text: string): boolean =>
  /^.{0,80}#\s+size\s+count\s.*\b(?:cpu)?time\s+algbw\s+busbw\b/m.test(text);

/** Returns whether a text has the lines that nccl-tests print before the first table. */
const looksLikeNcclTestsStart = (text: string): boolean =>
  /^.{0,80}#\s+(?:nThread\s+\d+\s+nGpus\s+\d|nccl-tests version\s|Collective test starting:)/m.test(text);

function columnsOf(words: readonly string[], place: string): Columns {
  if (words.includes("cputime")) throw new InputError(place, "times of GPUs", inWords("cputime (-C 1)"));
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
function readNcclTestsText(text: string, fileName: string, asked: NamedCollective | null = null): Measurements[] {
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
      const own = Number(rank[1]);
      open.listed.set(own, { rank: own, host: rank[2] as string, gpu: rank[3] ?? "" });
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
    throw new InputError(
      place,
      `${words.length} columns (${listed(words)})`,
      inWords(`${row.length} column${row.length === 1 ? "" : "s"}: ${row.join(" ")}`),
    );
  const sizeBytes = Number(row[0]);
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0)
    throw new InputError(place, "a size in whole bytes, 0 or more,", row[0]);
  if (sizeBytes === 0) {
    open.zeros++;
    return;
  }
  const tail = row.slice(row.length - group * (onlyInPlace ? 1 : groups));
  const times = Array.from({ length: tail.length / group }, (_, g) =>
    timeCell(open, tail.slice(g * group, (g + 1) * group), sizeBytes, words.slice(figures, figures + group), place),
  );
  const [timeUs, inPlaceUs = onlyInPlace ? times[0] : Number.NaN] = times;
  open.points.push({ sizeBytes, timeUs, inPlaceUs, note: "" });
}

/** Returns the time of a group of figures, held against the bandwidth beside it. */
function timeCell(
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
    throw new InputError(place, "a run without wrong values", inWords(`${wrong} wrong`));
  const told = sizeBytes / time / 1000;
  const rounding = cells.slice(0, 3).some((cell) => /^\de/.test(cell)) ? COARSE_ROUNDING : ROUNDING;
  // half of the last of two decimals, and of what is printed of the time
  if (Math.abs(told - algbw) > rounding * told + 0.0051 || busbw > (2.1 + 2 * rounding) * algbw + 0.02)
    throw new InputError(place, "columns that agree (algbw = size / time, busbw at most twice that)", cells.join(" "));
  open.ratio = narrowed(open.ratio, cells[words.indexOf("algbw")], cells[words.indexOf("busbw")]);
  return time;
}

function finished(open: Draft, fileName: string, asked: NamedCollective | null): Measurements {
  const { points, zeros, stated, perProcess, ratio } = open;
  const listed = [...open.listed.values()].sort((a, b) => a.rank - b.rank);
  if (points.length === 0) {
    const received = zeros > 0 ? "only rows of size 0" : "a header without rows";
    throw new InputError(fileName, "rows of a table of nccl-tests", received);
  }
  // without a list of devices one process is all there is, but a process of one GPU tells nothing
  const ranksOf = listed.length > 0 ? listed.length : (stated ?? ((perProcess ?? 1) > 1 ? perProcess : null));
  return measurementsOf(points, {
    ...collectiveOf({ program: open.collective, asked, ratio, ranks: ranksOf }, fileName),
    ranks: ranksOf,
    listed,
    hosts:
      listed.length > 0
        ? new Set(listed.map(({ host }) => host)).size
        : ranksOf !== null && ranksOf === perProcess
          ? 1
          : null,
    platform: "",
    source: fileName,
  });
}

/** Programs of nccl-tests and rccl-tests. */
const PROGRAMS: readonly (readonly [word: RegExp, collective: NamedCollective])[] = [
  [/all_?reduce/i, "allreduce"],
  [/all_?gather/i, "allgather"],
  [/reduce_?scatter/i, "reducescatter"],
  [/all_?to_?all(?!v)/i, "alltoall"],
  [/broadcast/i, "broadcast"],
  [/scatter/i, "scatter"],
  [/gather/i, "gather"],
  [/reduce/i, "reduce"],
];

/** Returns the collective that a program's or a file's name tells; null where it tells none. */
const collectiveIn = (name: string): NamedCollective | null => PROGRAMS.find(([word]) => word.test(name))?.[1] ?? null;

/** Least and greatest busbw / algbw that printed figures allow. */
interface BusRatio {
  readonly low: number;
  readonly high: number;
}

const ANY_RATIO: BusRatio = { low: 0, high: Number.POSITIVE_INFINITY };
/** Of busbw, beside what printing takes away. */
const FACTOR_ROUNDING = 1e-3;
const MANY_RANKS = 2 ** 40;

/** Returns a unit of the last digit of a printed number. */
function lastDigit(cell: string): number {
  const [mantissa = "", exponent = "0"] = cell.toLowerCase().split("e");
  const decimals = mantissa.split(".")[1]?.length ?? 0;
  return Number(`1e${Number(exponent) - decimals}`);
}

/** Returns the ratio that a row's figures allow too, as printed. */
function narrowed({ low, high }: BusRatio, algbw: string, busbw: string): BusRatio {
  const [least, most] = [Number(algbw) - lastDigit(algbw), Number(algbw) + lastDigit(algbw)];
  return {
    low: Math.max(low, (Number(busbw) - lastDigit(busbw)) / most),
    high: least > 0 ? Math.min(high, (Number(busbw) + lastDigit(busbw)) / least) : high,
  };
}

/** Returns the collectives whose factor the rows of a log have; all where the rows do not agree, or fit none. */
function collectivesWith({ low, high }: BusRatio, ranks: number | null): readonly NamedCollective[] {
  const fitting = COLLECTIVE_KINDS.filter(
    (kind) =>
      busFactor(kind, ranks ?? MANY_RANKS) >= low * (1 - FACTOR_ROUNDING) &&
      busFactor(kind, ranks ?? 2) <= high * (1 + FACTOR_ROUNDING),
  );
  return fitting.length > 0 ? fitting : COLLECTIVE_KINDS;
}

/** What is known of a log's collective. */
interface CollectiveHints {
  /** What the program's name in the log tells. */
  readonly program: NamedCollective | null;
  /** What the caller says. */
  readonly asked: NamedCollective | null;
  readonly ratio: BusRatio;
  readonly ranks: number | null;
}

/**
 * Returns the collective that a log is of: what it says itself, else what was asked for, the file's name, or busbw / algbw (the
 * factor of nccl-tests) tell, and a remark where the last did. Throws InputError where the factor contradicts, or leaves several.
 */
function collectiveOf(
  { program, asked, ratio, ranks }: CollectiveHints,
  fileName: string,
): { readonly collective: NamedCollective; readonly remarks: readonly string[] } {
  if (program !== null) return { collective: program, remarks: [] };
  const fitting = collectivesWith(ratio, ranks);
  const choice = `${fitting.length > 1 ? "one of " : ""}${fitting.join(", ")}`;
  const about = Number(((ratio.low + ratio.high) / 2).toPrecision(3));
  if (asked !== null) {
    if (fitting.includes(asked)) return { collective: asked, remarks: [] };
    throw new InputError(optionName("collective"), `${choice} (in ${fileName} busbw is ${about} times algbw)`, asked);
  }
  const named = collectiveIn(fileName.split(/[\\/]/).at(-1) as string);
  if (named !== null && fitting.includes(named)) return { collective: named, remarks: [] };
  const [only, ...others] = fitting as [NamedCollective, ...NamedCollective[]];
  if (others.length > 0) throw new InputError(optionName("collective"), `${choice} (${fileName} does not say which)`);
  return { collective: only, remarks: [`${fileName} is taken as ${only}: its busbw is ${about} times algbw`] };
}
