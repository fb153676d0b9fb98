import { InputError } from "../../base/errors.ts";
import { squares } from "../numbers/least-squares.ts";
import { PS_PER_US } from "../numbers/units.ts";
import type { LinkClass } from "../topology/link-classes.ts";
import {
  bottleneckOf,
  bytesPerUs,
  columnOf,
  type FitSetup,
  LEAST_NOISE,
  type Solved,
  solveWhatIsTold,
  standardError,
  unknownsOf,
} from "./alpha-beta-system.ts";

/** What is known of a figure. `together`: only told with others, of which it keeps its share. */
export type Certainty = "fitted" | "together" | "kept";

export interface FittedFigure {
  readonly value: number;
  /** One standard error; null where nothing tells it. */
  readonly error: number | null;
  readonly certainty: Certainty;
  /** Why it is kept, in words. */
  readonly because: string;
}

/** [classes] what was found; figures that the data do not tell are those before. */
export interface AlphaBetaFit {
  readonly latencyUs: readonly FittedFigure[];
  readonly bytesPerUs: readonly FittedFigure[];
  /** us that every call costs by itself, such as a launch; null where the setups do not tell it from latencies. */
  readonly callUs: FittedFigure | null;
  /** [setups][points] */
  readonly fittedUs: readonly Float64Array[];
  /** [setups] class that limits large sizes. */
  readonly bottleneck: Int32Array;
  /** Sum of the squares of relative errors. */
  readonly squares: number;
}

const MOST_ROUNDS = 20;
/** A sum of squares that is greater by this part is as good. */
const LITTLE = 0.02;

/** Throws InputError where there are fewer sizes than unknowns. `regimes`: how many times as many are needed. */
export function refuseFewPoints(
  setups: readonly FitSetup[],
  classes: readonly LinkClass[],
  regimes: number,
  source: string,
): void {
  const usPerByte = classes.map((one) => 1 / bytesPerUs(one));
  const unknowns = unknownsOf(
    setups,
    classes,
    Int32Array.from(setups, ({ terms }) => bottleneckOf(terms.load, usPerByte)),
  );
  const names = unknowns.map(({ kind, classes: of }) =>
    kind === "call" ? "a call's own cost" : `${kind} of ${of.map((index) => classes[index].name).join(" with ")}`,
  );
  const what = `for a fit of ${names.join(", ")}${regimes > 1 ? ` in ${regimes} ranges` : ""}`;
  const points = setups.reduce((sum, { sizeBytes }) => sum + new Set(sizeBytes).size, 0);
  const sizes = new Set(setups.flatMap(({ sizeBytes }) => [...sizeBytes])).size;
  if (sizes < 2 * regimes) throw new InputError(source, `at least ${2 * regimes} sizes ${what}`, sizes);
  const need = unknowns.length * regimes;
  if (points < need) throw new InputError(source, `at least ${need} points ${what}`, points);
}

interface Attempt {
  readonly solved: Solved;
  /** [setups] */
  readonly bottleneck: Int32Array;
  /** [classes] fitted, or of the label. */
  readonly usPerByte: readonly number[];
}

/** Fits with one class that limits each setup. */
function attempt(setups: readonly FitSetup[], classes: readonly LinkClass[], bottleneck: Int32Array): Attempt {
  const unknowns = unknownsOf(setups, classes, bottleneck);
  const columns = unknowns.map((unknown) => columnOf(unknown, setups, bottleneck));
  const solved = solveWhatIsTold(unknowns, columns);
  const usPerByte = classes.map((one) => 1 / bytesPerUs(one));
  solved.unknowns.forEach(({ kind, classes: [index] }, j) => {
    if (kind === "bandwidth" && solved.values[j] > 0) usPerByte[index as number] = solved.values[j];
  });
  return { solved, bottleneck, usPerByte };
}

/** Returns whether no other class would limit a setup more than the one that does. */
const isConsistent = ({ bottleneck, usPerByte }: Attempt, setups: readonly FitSetup[]): boolean =>
  setups.every(({ terms }, s) => {
    const limit = bottleneck[s];
    const most = limit < 0 ? 0 : terms.load[limit] * (usPerByte[limit] as number);
    return terms.load.every((load, index) => load * (usPerByte[index] as number) <= most * (1 + LITTLE));
  });

/** Returns other choices of what limits: another class for one setup, or for all that a class limits. */
function* otherChoices(setups: readonly FitSetup[], bottleneck: Int32Array): Generator<Int32Array> {
  const limiting = [...new Set(bottleneck)].sort((a, b) => b - a);
  const classCount = setups[0]?.terms.load.length ?? 0;
  for (let other = 0; other < classCount; other++) {
    const changed = (of: (s: number) => boolean): Int32Array =>
      bottleneck.map((index, s) => (of(s) && (setups[s] as FitSetup).terms.load[other] > 0 ? other : index));
    for (const index of limiting) if (index !== other) yield changed((s) => bottleneck[s] === index);
    for (let s = 0; s < setups.length; s++) if (bottleneck[s] !== other) yield changed((t) => t === s);
  }
}

/**
 * Returns latencies and bandwidths of the classes of links so that the relative errors of
 * time = sum of hops x latency + size x load of the bottleneck / bandwidth (+ what a call costs, where setups tell it)
 * have the least sum of squares, no figure below 0. Which class limits each setup is found by repeating, then by changing it for one
 * setup or one class at a time; where one class explains what two do, it alone limits. Latencies that the setups do not tell apart keep
 * their proportion; figures that the data do not tell (0, or a standard error above half of it) stay as they were. Setups need points.
 * O(rounds x setups x classes x points x unknowns^3).
 */
export function fitAlphaBeta(setups: readonly FitSetup[], classes: readonly LinkClass[]): AlphaBetaFit {
  const noise = setups.reduce((sum, { sizeBytes }) => sum + sizeBytes.length, 0) * LEAST_NOISE * LEAST_NOISE;
  const labels = classes.map((one) => 1 / bytesPerUs(one));
  const limits = (usPerByte: readonly number[]): Int32Array =>
    Int32Array.from(setups, ({ terms }) => bottleneckOf(terms.load, usPerByte));
  let best = attempt(setups, classes, limits(labels));
  for (let round = 0; round < MOST_ROUNDS && !isConsistent(best, setups); round++)
    best = attempt(setups, classes, limits(best.usPerByte));
  const left = ({ solved }: Attempt): number => squares(solved.rest);
  for (let round = 0, changed = true; changed && round < MOST_ROUNDS; round++) {
    changed = false;
    for (const bottleneck of otherChoices(setups, best.bottleneck)) {
      const other = attempt(setups, classes, bottleneck);
      const margin = LITTLE * left(best) + noise;
      const simpler = other.solved.unknowns.length < best.solved.unknowns.length && left(other) <= left(best) + margin;
      if (!(simpler || left(other) < left(best) - margin) || !isConsistent(other, setups)) continue;
      best = other;
      changed = true;
      break;
    }
  }
  return reportOf(best.solved, setups, classes, best.bottleneck);
}

function reportOf(
  solved: Solved,
  setups: readonly FitSetup[],
  classes: readonly LinkClass[],
  bottleneck: Int32Array,
): AlphaBetaFit {
  const { unknowns, columns, values, kept, rest } = solved;
  const crossed = classes.map((_, index) => setups.some(({ terms }) => terms.hops[index] > 0));
  const unused = (index: number): string =>
    crossed[index] ? "limits none of the measurements" : "none of the measurements crosses it";
  const latencyUs = classes.map(
    (one, index): FittedFigure => ({
      value: one.latencyPs / PS_PER_US,
      error: null,
      certainty: "kept",
      because: unused(index),
    }),
  );
  const rates = classes.map(
    (one, index): FittedFigure => ({ value: bytesPerUs(one), error: null, certainty: "kept", because: unused(index) }),
  );
  let callUs: FittedFigure | null = null;
  unknowns.forEach((unknown, j) => {
    if (unknown.kind === "call") {
      const told = !kept.has(unknown);
      callUs = told
        ? { value: values[j], error: standardError(solved, j), certainty: "fitted", because: "" }
        : { value: 0, error: null, certainty: "kept", because: kept.get(unknown) as string };
      return;
    }
    const list = unknown.kind === "latency" ? latencyUs : rates;
    const because = kept.get(unknown);
    const error = because === undefined ? standardError(solved, j) : 0;
    unknown.classes.forEach((index, k) => {
      if (because !== undefined) list[index] = { ...(list[index] as FittedFigure), because };
      else if (unknown.kind === "latency") {
        const part = unknown.parts[k] as number;
        latencyUs[index] = { value: values[j] * part, error: error * part, ...shared(unknown.classes, index, classes) };
      } else {
        const rate = 1 / values[j];
        rates[index] = { value: rate, error: error * rate * rate, certainty: "fitted", because: "" };
      }
    });
  });
  let row = 0;
  const fittedUs = setups.map(({ timeUs }) =>
    timeUs.map((time) => {
      const at = row++;
      return time * columns.reduce((sum, column, j) => sum + column[at] * values[j], 0);
    }),
  );
  return { latencyUs, bytesPerUs: rates, callUs, fittedUs, bottleneck, squares: squares(rest) };
}

/** Returns whether a latency was told by itself. */
function shared(
  group: readonly number[],
  index: number,
  classes: readonly LinkClass[],
): Pick<FittedFigure, "certainty" | "because"> {
  const others = group.filter((other) => other !== index).map((other) => classes[other].name);
  if (others.length === 0) return { certainty: "fitted", because: "" };
  return { certainty: "together", because: `told only together with ${others.join(", ")}, in proportion to before` };
}
