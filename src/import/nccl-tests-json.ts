import { InputError } from "../errors.ts";
import type { NamedCollective } from "../model/collective.ts";
import { type MeasuredPoint, type Measurements, measurementsOf } from "../model/measurements.ts";
import { asInteger, asList, asObject, placeIn, refuse } from "./json-value.ts";
import { collectiveIn } from "./nccl-tests-text.ts";

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
  collective: NamedCollective | null = null,
): Measurements {
  const report = asObject<Report>(value, fileName);
  const results = asList(report.results, placeIn(fileName, "results"));
  const points: MeasuredPoint[] = [];
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
  });
  if (points.length === 0)
    throw new InputError(placeIn(fileName, "results"), "results of sizes above 0", `${results.length} results`);
  const args = Array.isArray(report.args) ? report.args : [];
  const program = [report.program, args[0], fileName.split(/[\\/]/).at(-1)].filter((name) => typeof name === "string");
  const kind =
    program
      .slice(0, -1)
      .map(collectiveIn)
      .find((found) => found !== null) ??
    collective ??
    collectiveIn(program.at(-1) as string);
  if (kind === null)
    throw new InputError("--collective", `the collective that ${fileName} is of, which does not tell it,`);
  return measurementsOf(points, { collective: kind, ...ranksOf(report, fileName), platform: "", source: fileName });
}

/** Every process lists the first of its devices. */
function ranksOf(report: Report, fileName: string): { ranks: number | null; hosts: number | null } {
  if (report.ranks !== undefined) return { ranks: asInteger(report.ranks, placeIn(fileName, "ranks"), 1), hosts: null };
  if (report.config === undefined) return { ranks: null, hosts: null };
  const config = asObject<Config>(report.config, placeIn(fileName, "config"));
  if (config.nthreads === undefined || config.ngpus === undefined || !Array.isArray(config.devices))
    return { ranks: null, hosts: null };
  const threads = asInteger(config.nthreads, placeIn(fileName, "config.nthreads"), 1, 65536);
  const gpus = asInteger(config.ngpus, placeIn(fileName, "config.ngpus"), 1, 65536);
  const names = config.devices.map(
    (device, i) => asObject<{ hostname?: unknown }>(device, placeIn(fileName, `config.devices[${i}]`)).hostname,
  );
  return { ranks: threads * gpus * Math.max(1, names.length), hosts: new Set(names).size || null };
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
