import { InputError } from "../../base/errors.ts";
import { type MeasuredPoint, type Measurements, measurementsOf } from "../../model/calibration/measurements.ts";
import type { NamedCollective } from "../../model/collective/collective.ts";
import { asInteger, asList, asObject, placeIn, refuse } from "../text/json-value.ts";
import { ANY_RATIO, collectiveIn, collectiveOf, narrowed } from "./nccl-tests-collective.ts";

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
export const looksLikeNcclTestsJson = (value: unknown): boolean => {
  if (typeof value !== "object" || value === null || !("results" in value) || !Array.isArray(value.results))
    return false;
  const [first] = value.results;
  return (
    ("average_bus_bandwidth" in value && value.results.length === 0) ||
    (typeof first === "object" && first !== null && ("out_of_place" in first || "in_place" in first))
  );
};

/** Returns what the JSON of nccl-tests (-J), or our prediction in its form, holds. Throws InputError with the path. */
export function readNcclTestsJson(
  value: unknown,
  fileName: string,
  asked: NamedCollective | null = null,
): Measurements {
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
