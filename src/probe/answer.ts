import { InputError } from "../base/errors.ts";
import type { Experiment, Measurement, ProbeEndpoint } from "../model/probe/measurements.ts";

/** What lines of a probing program begin with: whatever else is on its standard output is a launcher's, or a library's. */
const MARK = "banyan-probe ";

/** A repeat begins late where a process begins so long after its start, or so great a part of the longest flow's time. */
const LATE_S = 20e-6;
const LATE_PART = 0.02;

/** What probing programs say, taken line by line. */
export interface ProbeAnswer {
  /** Whether the last line has come. */
  readonly isWhole: boolean;
  /** Why the program refused its list; null where it did not. */
  readonly refused: string | null;
  readonly endpoints: readonly ProbeEndpoint[];
  readonly resolutionS: number;
  /** Repeats that were measured so far. */
  readonly repeats: number;
  /** Repeats whose start some process missed each time that it was tried. */
  readonly late: number;
  /** Takes a line. Throws InputError where it is none that a probing program writes. */
  take(line: string): void;
  /** Returns the measurements in the order of the experiments. Throws InputError where some are missing. */
  measurements(): readonly Measurement[];
}

const isCount = (value: unknown, below: number): value is number =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) < below;

/** Returns a reader of what a probing program says of experiments; `program` is what errors call it. */
export function probeAnswer(experiments: readonly Experiment[], program: string): ProbeAnswer {
  const seconds = experiments.map(({ repeats, flows }) => new Float64Array(repeats * flows.length).fill(Number.NaN));
  const endpoints: ProbeEndpoint[] = [];
  const state = { isWhole: false, refused: null as string | null, resolutionS: 0, repeats: 0, late: 0 };
  const wrong = (line: string): never => {
    throw new InputError(program, "lines of a probing program of this version", line);
  };
  const takeEndpoint = ({ rank, kind, host }: Record<string, unknown>): boolean => {
    if (rank !== endpoints.length || typeof host !== "string") return false;
    if (kind !== "npu" && kind !== "cpu" && kind !== "nic") return false;
    const before = endpoints.filter((other) => other.kind === kind).length;
    endpoints.push({ kind, name: kind === "npu" ? String(before) : `${kind}${before}`, host });
    return true;
  };
  const takeRepeat = ({ experiment, repeat, late, seconds: times }: Record<string, unknown>): boolean => {
    if (!isCount(experiment, experiments.length) || !Array.isArray(times)) return false;
    const { repeats, flows, bytes } = experiments[experiment] as Experiment;
    if (!isCount(repeat, repeats) || times.length !== flows.length) return false;
    if (!times.every((time) => typeof time === "number" && Number.isFinite(time))) return false;
    // clocks of two machines may be so far apart that a flow seems to arrive before it began
    (seconds[experiment] as Float64Array).set(
      times.map((time: number) => Math.max(time, bytes > 0 ? state.resolutionS : 0)),
      repeat * flows.length,
    );
    state.repeats++;
    if (typeof late === "number" && late > Math.max(LATE_S, LATE_PART * Math.max(...times))) state.late++;
    return true;
  };
  const takeObject = (said: Record<string, unknown>): boolean => {
    if (typeof said["refused"] === "string") {
      state.refused = said["refused"];
      return true;
    }
    if ("end" in said) {
      state.isWhole = said["end"] === experiments.length;
      return state.isWhole;
    }
    if ("rank" in said) return takeEndpoint(said);
    if ("experiment" in said) return takeRepeat(said);
    const { resolutionS } = said;
    if (typeof resolutionS !== "number" || !(resolutionS > 0 && resolutionS < 1)) return false;
    state.resolutionS = resolutionS;
    return true;
  };
  return {
    get isWhole() {
      return state.isWhole;
    },
    get refused() {
      return state.refused;
    },
    get resolutionS() {
      return state.resolutionS;
    },
    get repeats() {
      return state.repeats;
    },
    get late() {
      return state.late;
    },
    endpoints,
    take(line) {
      const at = line.indexOf(MARK);
      if (at < 0) return;
      let said: unknown;
      try {
        said = JSON.parse(line.slice(at + MARK.length));
      } catch {
        return wrong(line);
      }
      if (typeof said !== "object" || said === null || !takeObject(said as Record<string, unknown>)) wrong(line);
    },
    measurements: () =>
      experiments.map((experiment, at) => {
        const own = seconds[at] as Float64Array;
        if (own.some(Number.isNaN)) throw new InputError(program, "every repeat of every experiment", "fewer");
        return { experiment, seconds: own };
      }),
  };
}
