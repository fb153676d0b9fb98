import { InputError } from "../../base/errors.ts";
import type { CostTerms } from "../collective/collective-cost.ts";
import { nonNegativeLeastSquares, ownLength, residual, squares } from "../numbers/least-squares.ts";
import { PS_PER_US } from "../numbers/units.ts";
import type { LinkClass } from "../topology/link-classes.ts";

/**
 * What is known of a figure. `together`: known only together with others, of which it keeps its share; `either`: another value
 * fits as well, where other figures change too; `kept`: the data do not say, so it is as before.
 */
type Certainty = "fitted" | "together" | "either" | "kept";

export interface FittedFigure {
  readonly value: number;
  /** One standard error; null where nothing tells it. */
  readonly error: number | null;
  readonly certainty: Certainty;
  /** Why it is not simply fitted, in words. */
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
  if (sizes < 2 * regimes)
    throw new InputError(source, `at least ${2 * regimes} sizes ${what}`, sizes).as("out-of-range");
  const need = unknowns.length * regimes;
  if (points < need) throw new InputError(source, `at least ${need} points ${what}`, points).as("out-of-range");
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
  setups.every(({ terms, pathOf }, s) => {
    if (pathOf !== undefined) return true;
    const limit = bottleneck[s];
    const most = limit < 0 ? 0 : terms.load[limit] * (usPerByte[limit] as number);
    return terms.load.every((load, index) => load * (usPerByte[index] as number) <= most * (1 + LITTLE));
  });

/** Returns other choices of what limits: another class for one setup, or for all that a class limits. */
function* otherChoices(setups: readonly FitSetup[], bottleneck: Int32Array): Generator<Int32Array> {
  if (setups.every(({ pathOf }) => pathOf !== undefined)) return;
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
  const off = setups.some(({ pathOf }) => pathOf !== undefined)
    ? "on the critical path of none of these schedules"
    : "none of the measurements crosses it";
  const unused = (index: number): string => (crossed[index] ? "limits none of the measurements" : off);
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

/** Returns whether a latency is known by itself. */
function shared(
  group: readonly number[],
  index: number,
  classes: readonly LinkClass[],
): Pick<FittedFigure, "certainty" | "because"> {
  const others = group.filter((other) => other !== index).map((other) => classes[other].name);
  if (others.length === 0) return { certainty: "fitted", because: "" };
  return { certainty: "together", because: `known only together with ${others.join(", ")}, in proportion to before` };
}

/** Measured times of one setup: a collective among some ranks. */
export interface FitSetup {
  readonly terms: CostTerms;
  /** The terms are those of one path, whose loads follow each other: the log that it is of. Without it the class that takes longest limits. */
  readonly pathOf?: number;
  /** [points] */
  readonly sizeBytes: Float64Array;
  /** [points] */
  readonly timeUs: Float64Array;
}

/** A number to be found: it multiplies latencies before, or is us per byte of a class, or us that every call costs by itself. */
interface Unknown {
  readonly kind: "latency" | "bandwidth" | "call";
  /** Classes whose latencies change together, or the one of the bandwidth; none of a call. */
  readonly classes: readonly number[];
  /** us of each class at a value of 1; bandwidths have none. */
  readonly parts: readonly number[];
  /** Value with the figures before. */
  readonly before: number;
}

/** Times are not repeated better than this, however well a line fits. */
export const LEAST_NOISE = 1e-3;
/** What they are repeated to where a line goes through all points, so that nothing tells. */
const UNKNOWN_NOISE = 0.05;
/** Student's t at 95 % for 1, 2, ... spare points, as a multiple of that for many. */
const FEW_POINTS = [6.48, 2.2, 1.62, 1.42, 1.31, 1.25, 1.21, 1.18, 1.15, 1.14];
/** A figure with a greater standard error, as part of it, is not taken for known. */
export const MOST_UNCERTAIN = 0.5;
/** A figure that makes up less of every time, as it was before, does not show. */
const LEAST_SHARE = 0.05;
/** Stands for a latency of 0 before. */
const SOME_LATENCY_US = 1;

const bytesPerUs = ({ bytesPerSecond }: LinkClass): number => bytesPerSecond / PS_PER_US;

/** Returns the class whose load takes longest, -1 where there is none; of equal ones the first. */
function bottleneckOf(load: Float64Array, usPerByte: readonly number[]): number {
  let worst = -1;
  for (let index = 0; index < load.length; index++) {
    const time = load[index] * (usPerByte[index] as number);
    if (time > 0 && (worst < 0 || time > load[worst] * (usPerByte[worst] as number))) worst = index;
  }
  return worst;
}

/** Returns the unknown factor of latencies; where all are 0 each counts alike. */
function latencyUnknown(group: readonly number[], classes: readonly LinkClass[]): Unknown {
  const before = group.map((index) => classes[index].latencyPs / PS_PER_US);
  const known = before.some((us) => us > 0);
  return {
    kind: "latency",
    classes: group,
    parts: known ? before : before.map(() => SOME_LATENCY_US),
    before: Number(known),
  };
}

/** Returns latencies that the setups cannot tell apart, as groups: their hops are in the same proportion in each. */
function latencyGroups(setups: readonly FitSetup[], classCount: number): number[][] {
  const groups: number[][] = [];
  for (let index = 0; index < classCount; index++) {
    const own = setups.map(({ terms }) => terms.hops[index]);
    if (own.every((hops) => hops === 0)) continue;
    const alike = groups.find((group) => {
      const other = setups.map(({ terms }) => terms.hops[group[0]]);
      return own.every((hops, s) => own.every((more, t) => hops * other[t] === more * other[s]));
    });
    if (alike === undefined) groups.push([index]);
    else alike.push(index);
  }
  return groups;
}

/** Returns the column of an unknown over all points, each as a part of the measured time. */
function columnOf(unknown: Unknown, setups: readonly FitSetup[], bottleneck: Int32Array): Float64Array {
  const rows: number[] = [];
  setups.forEach(({ terms, sizeBytes, timeUs, pathOf }, s) => {
    const fixed = unknown.parts.reduce((sum, part, k) => sum + part * terms.hops[unknown.classes[k]], 0);
    const limits = pathOf !== undefined || bottleneck[s] === unknown.classes[0];
    sizeBytes.forEach((size, i) => {
      const us = { latency: fixed, bandwidth: limits ? size * terms.load[unknown.classes[0]] : 0, call: 1 }[
        unknown.kind
      ];
      rows.push(us / timeUs[i]);
    });
  });
  return Float64Array.from(rows);
}

/** Returns whether setups tell what a call costs by itself: a constant does not depend on the hops of the groups. */
function tellsCall(setups: readonly FitSetup[], groups: readonly (readonly number[])[]): boolean {
  // paths of one log differ by size, which tells too little
  const logs = new Set<number>();
  const own = setups.filter(({ pathOf }) => pathOf === undefined || (!logs.has(pathOf) && logs.add(pathOf)));
  const columns = groups.map(([first]) => Float64Array.from(own, ({ terms }) => terms.hops[first as number]));
  columns.push(new Float64Array(own.length).fill(1));
  return columns.every((_, j) => ownLength(columns, j) > 0);
}

interface Solved {
  readonly unknowns: readonly Unknown[];
  readonly columns: readonly Float64Array[];
  readonly values: Float64Array;
  readonly kept: ReadonlyMap<Unknown, string>;
  readonly rest: Float64Array;
}

/** Solves for the unknowns but those that are kept, whose part is taken from the measured times. */
function solve(
  unknowns: readonly Unknown[],
  columns: readonly Float64Array[],
  kept: ReadonlyMap<Unknown, string>,
): Solved {
  const target = new Float64Array(columns[0]?.length ?? 0).fill(1);
  unknowns.forEach((unknown, j) => {
    if (kept.has(unknown))
      columns[j].forEach((value, i) => {
        target[i] -= value * unknown.before;
      });
  });
  const free = unknowns.map((_, j) => j).filter((j) => !kept.has(unknowns[j] as Unknown));
  // columns of length 1, for us and us per byte differ by many powers of ten
  const lengths = free.map((j) => Math.sqrt(squares(columns[j] as Float64Array)) || 1);
  const scaled = free.map((j, k) => (columns[j] as Float64Array).map((value) => value / (lengths[k] as number)));
  const found = nonNegativeLeastSquares(scaled, target);
  const values = Float64Array.from(unknowns, ({ before }) => before);
  free.forEach((j, k) => {
    values[j] = found[k] / (lengths[k] as number);
  });
  return { unknowns, columns, values, kept, rest: residual(scaled, target, found) };
}

/** Returns the relative error of a time that squares and spare points tell, greater where they are few. */
export function noiseOf(left: number, spare: number): number {
  if (spare <= 0) return UNKNOWN_NOISE;
  return Math.max(LEAST_NOISE, Math.sqrt(left / spare)) * (FEW_POINTS[spare - 1] ?? 1);
}

/** Returns one standard error of an unknown, wider where points are few; infinite where it depends on others. */
function standardError({ unknowns, columns, kept, rest }: Solved, j: number): number {
  const free = columns.filter((_, k) => !kept.has(unknowns[k] as Unknown));
  const own = ownLength(free, free.indexOf(columns[j] as Float64Array));
  if (own === 0) return Number.POSITIVE_INFINITY;
  return noiseOf(squares(rest), rest.length - free.length) / own;
}

/** Keeps the least certain unknown as it was, again and again, until all others are certain enough. */
function solveWhatIsTold(unknowns: readonly Unknown[], columns: readonly Float64Array[]): Solved {
  const kept = new Map<Unknown, string>();
  for (;;) {
    const solved = solve(unknowns, columns, kept);
    let worst = -1;
    let worstPart = MOST_UNCERTAIN;
    unknowns.forEach((unknown, j) => {
      if (kept.has(unknown)) return;
      const part = standardError(solved, j) / solved.values[j];
      // of two that depend on each other a latency is kept, else the later
      if (part > worstPart || (part === worstPart && worst >= 0)) [worst, worstPart] = [j, part];
    });
    if (worst < 0) return solved;
    kept.set(unknowns[worst] as Unknown, reasonOf(solved, worst));
  }
}

/** Returns why an unknown stays as it was. */
function reasonOf(solved: Solved, j: number): string {
  const { kind, before } = solved.unknowns[j] as Unknown;
  const share = (solved.columns[j] as Float64Array).reduce((most, part) => Math.max(most, part), 0) * before;
  if (kind !== "call" && share < LEAST_SHARE)
    return `no sizes so ${kind === "latency" ? "small" : "large"} that it shows`;
  if (standardError(solved, j) === Number.POSITIVE_INFINITY) return "cannot be told apart from the others";
  return solved.values[j] > 0
    ? "its standard error is above half of it"
    : "fits best as 0, which no link has (small sizes may have run otherwise)";
}

/**
 * Returns the unknowns: a factor for each group of latencies, us per byte for each class that limits a setup, and us of a call
 * where numbers of ranks or boxes differ so that it can be told apart from latencies.
 */
function unknownsOf(setups: readonly FitSetup[], classes: readonly LinkClass[], bottleneck: Int32Array): Unknown[] {
  const groups = latencyGroups(setups, classes.length);
  const call: Unknown = { kind: "call", classes: [], parts: [], before: 0 };
  const limiting = classes.flatMap((_, index) =>
    setups.some(({ terms, pathOf }, s) => (pathOf !== undefined ? terms.load[index] > 0 : bottleneck[s] === index))
      ? [index]
      : [],
  );
  return [
    ...limiting.map(
      (index): Unknown => ({ kind: "bandwidth", classes: [index], parts: [], before: 1 / bytesPerUs(classes[index]) }),
    ),
    ...groups.map((group) => latencyUnknown(group, classes)),
    ...(tellsCall(setups, groups) ? [call] : []),
  ];
}

/** A range of sizes that a line of its own fits. */
export interface Regime {
  readonly fromBytes: number;
  readonly toBytes: number;
  /** [setups] us of a call of no bytes. */
  readonly callUs: Float64Array;
  /** [setups] us that each byte adds; 0 where sizes do not matter. */
  readonly usPerByte: Float64Array;
}

/** A line needs two sizes. */
const FEWEST_SIZES = 2;

/** Returns the setups with the sizes of a range only. */
export function within(setups: readonly FitSetup[], fromBytes: number, toBytes: number): FitSetup[] {
  return setups.map(({ terms, sizeBytes, timeUs }) => {
    const inside = (_: number, i: number): boolean => sizeBytes[i] >= fromBytes && sizeBytes[i] <= toBytes;
    return { terms, sizeBytes: sizeBytes.filter(inside), timeUs: timeUs.filter(inside) };
  });
}

/** Returns the best line of a range of sizes, no figure kept. */
function lineOf(
  setups: readonly FitSetup[],
  classes: readonly LinkClass[],
  bottleneck: Int32Array,
  from: number,
  to: number,
): { regime: Regime; squares: number } {
  const part = within(setups, from, to);
  const unknowns = unknownsOf(part, classes, bottleneck);
  const { values, rest } = solve(
    unknowns,
    unknowns.map((unknown) => columnOf(unknown, part, bottleneck)),
    new Map(),
  );
  const callUs = new Float64Array(setups.length);
  const usPerByte = new Float64Array(setups.length);
  setups.forEach(({ terms }, s) => {
    unknowns.forEach(({ kind, classes: of, parts }, j) => {
      if (kind === "latency")
        of.forEach((index, k) => {
          callUs[s] += values[j] * (parts[k] as number) * terms.hops[index];
        });
      else if (kind === "call") callUs[s] += values[j];
      else if (bottleneck[s] === of[0]) usPerByte[s] = values[j] * terms.load[of[0]];
    });
  });
  return { regime: { fromBytes: from, toBytes: to, callUs, usPerByte }, squares: squares(rest) };
}

/**
 * Returns the split of the sizes into this many ranges, of two sizes at least, that lines of their own fit best: least sum of the
 * squares of relative errors, by dynamic programming; of equal splits the earliest. There are at least two sizes for each range.
 * O(sizes^2 points).
 */
export function bestRegimes(
  setups: readonly FitSetup[],
  classes: readonly LinkClass[],
  bottleneck: Int32Array,
  count: number,
): Regime[] {
  const sizes = [...new Set(setups.flatMap(({ sizeBytes }) => [...sizeBytes]))].sort((a, b) => a - b);
  const lines = sizes.map((from, i) =>
    sizes.slice(i + FEWEST_SIZES - 1).map((to) => lineOf(setups, classes, bottleneck, from, to)),
  );
  type Line = ReturnType<typeof lineOf>;
  const line = (from: number, to: number): Line => (lines[from] as Line[])[to - from - FEWEST_SIZES + 1] as Line;
  // least[r][end]: the sizes before `end` in r + 1 ranges, and where the last of them begins
  const least: { squares: number; start: number }[][] = [];
  for (let r = 0; r < count; r++) {
    least.push(
      Array.from({ length: sizes.length + 1 }, (_, end) => {
        let best = { squares: Number.POSITIVE_INFINITY, start: -1 };
        // the first range begins with the first size
        const last = r === 0 ? Math.min(0, end - FEWEST_SIZES) : end - FEWEST_SIZES;
        for (let start = FEWEST_SIZES * r; start <= last; start++) {
          const before = r === 0 ? 0 : ((least[r - 1] as (typeof best)[])[start] as typeof best).squares;
          const sum = before + line(start, end - 1).squares;
          if (sum < best.squares) best = { squares: sum, start };
        }
        return best;
      }),
    );
  }
  const regimes: Regime[] = [];
  for (let r = count - 1, end = sizes.length; r >= 0; r--) {
    const { start } = (least[r] as { start: number }[])[end] as { start: number };
    regimes.unshift(line(start, end - 1).regime);
    end = start;
  }
  return regimes;
}
