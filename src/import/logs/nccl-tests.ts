import { InputError } from "../../base/errors.ts";
import { type MeasuredPoint, type Measurements, measurementsOf } from "../../model/calibration/measurements.ts";
import { busFactor, COLLECTIVE_KINDS, type NamedCollective } from "../../model/collective/collective.ts";
import { parseJson } from "../text/json-text.ts";
import { asInteger, asList, asObject, placeIn, refuse } from "../text/json-value.ts";
import { looksLikeNcclLog } from "./nccl-log.ts";
import { ANY_RATIO, collectiveIn, collectiveOf, narrowed } from "./nccl-tests-collective.ts";
import { looksLikeNcclTests, looksLikeNcclTestsStart, readNcclTestsText } from "./nccl-tests-text.ts";

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
    throw new InputError(fileName, OUTPUT, tool === null ? value : `a file of ${tool}`);
  }
  if (looksLikePoints(text.slice(0, LOOKED_AT))) return readPoints(text, fileName);
  if (looksLikeNcclTests(text)) return readNcclTestsText(text, fileName, collective);
  if (looksLikeNcclTestsStart(text.slice(0, LOOKED_AT)))
    throw new InputError(fileName, "rows of a table of nccl-tests", "a log of nccl-tests that ends before its table");
  const tool = otherTool(text.slice(0, LOOKED_AT));
  throw new InputError(fileName, OUTPUT, tool === null ? text.trimStart().slice(0, 40) : `a log of ${tool}`);
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
  const given = { source: fileName, gpus: [], remarks: [] };
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
  if (tables.size === 0) throw new InputError(fileName, `rows of ${COLUMNS.join(", ")}`, "none");
  return [...tables.values()].map(({ about, points }) => measurementsOf(points, about));
}

function whole(text: string, low: number, place: string): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value) || value < low) throw new InputError(place, `a whole number, ${low} or more`, text);
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
interface Config {
  readonly nthreads?: unknown;
  readonly ngpus?: unknown;
  readonly devices?: unknown;
}
interface Result {
  readonly size?: unknown;
  readonly out_of_place?: unknown;
  readonly in_place?: unknown;
}
interface Timing {
  readonly time?: unknown;
  readonly cpu_time?: unknown;
  readonly alg_bw?: unknown;
  readonly bus_bw?: unknown;
  readonly nwrong?: unknown;
}

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
    throw new InputError(placeIn(fileName, "results"), "results of sizes above 0", `${results.length} results`);
  const args = Array.isArray(report.args) ? report.args : [];
  const program = [report.program, args[0]].filter((name) => typeof name === "string").map(collectiveIn);
  const placed = ranksOf(report, fileName);
  const told = program.find((found) => found !== null) ?? null;
  const known = collectiveOf({ program: told, asked, ratio, ranks: placed.ranks }, fileName);
  return measurementsOf(points, { ...known, ...placed, platform: "", source: fileName });
}

/** Every process lists the first of its devices. */
function ranksOf(report: Report, fileName: string): Pick<Measurements, "ranks" | "hosts" | "gpus"> {
  const unknown = { ranks: null, hosts: null, gpus: [] };
  if (report.ranks !== undefined) return { ...unknown, ranks: asInteger(report.ranks, placeIn(fileName, "ranks"), 1) };
  if (report.config === undefined) return unknown;
  const config = asObject<Config>(report.config, placeIn(fileName, "config"));
  if (config.nthreads === undefined || config.ngpus === undefined || !Array.isArray(config.devices)) return unknown;
  const threads = asInteger(config.nthreads, placeIn(fileName, "config.nthreads"), 1, 65536);
  const gpus = asInteger(config.ngpus, placeIn(fileName, "config.ngpus"), 1, 65536);
  const devices = config.devices.map((device, i) =>
    asObject<{ hostname?: unknown; device_info?: unknown }>(device, placeIn(fileName, `config.devices[${i}]`)),
  );
  const models = devices.map((device) => device.device_info).filter((info) => typeof info === "string");
  return {
    ranks: threads * gpus * Math.max(1, devices.length),
    hosts: new Set(devices.map(({ hostname }) => hostname)).size || null,
    gpus: [...new Set(models)],
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
