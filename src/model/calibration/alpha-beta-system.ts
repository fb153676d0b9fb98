import type { CostTerms } from "../collective/collective-cost.ts";
import { nonNegativeLeastSquares, ownLength, residual, squares } from "../numbers/least-squares.ts";
import { PS_PER_US } from "../numbers/units.ts";
import type { LinkClass } from "../topology/link-classes.ts";

/** Measured times of one setup: a collective among some ranks. */
export interface FitSetup {
  readonly terms: CostTerms;
  /** [points] */
  readonly sizeBytes: Float64Array;
  /** [points] */
  readonly timeUs: Float64Array;
}

/** A number to be found: it multiplies latencies before, or is us per byte of a class, or us that every call costs by itself. */
export interface Unknown {
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
/** A figure with a greater standard error, as part of it, is not told. */
const MOST_UNCERTAIN = 0.5;
/** A figure that makes up less of every time, as it was before, does not show. */
const LEAST_SHARE = 0.05;
/** Stands for a latency of 0 before. */
const SOME_LATENCY_US = 1;

export const bytesPerUs = ({ bytesPerSecond }: LinkClass): number => bytesPerSecond / PS_PER_US;

/** Returns the class whose load takes longest, -1 where there is none; of equal ones the first. */
export function bottleneckOf(load: Float64Array, usPerByte: readonly number[]): number {
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
export function columnOf(unknown: Unknown, setups: readonly FitSetup[], bottleneck: Int32Array): Float64Array {
  const rows: number[] = [];
  setups.forEach(({ terms, sizeBytes, timeUs }, s) => {
    const fixed = unknown.parts.reduce((sum, part, k) => sum + part * terms.hops[unknown.classes[k]], 0);
    const limits = bottleneck[s] === unknown.classes[0];
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
  const columns = groups.map(([first]) => Float64Array.from(setups, ({ terms }) => terms.hops[first as number]));
  columns.push(new Float64Array(setups.length).fill(1));
  return columns.every((_, j) => ownLength(columns, j) > 0);
}

export interface Solved {
  readonly unknowns: readonly Unknown[];
  readonly columns: readonly Float64Array[];
  readonly values: Float64Array;
  readonly kept: ReadonlyMap<Unknown, string>;
  readonly rest: Float64Array;
}

/** Solves for the unknowns but those that are kept, whose part is taken from the measured times. */
export function solve(
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

/** Returns one standard error of an unknown, wider where points are few; infinite where it depends on others. */
export function standardError({ unknowns, columns, kept, rest }: Solved, j: number): number {
  const free = columns.filter((_, k) => !kept.has(unknowns[k] as Unknown));
  const own = ownLength(free, free.indexOf(columns[j] as Float64Array));
  if (own === 0) return Number.POSITIVE_INFINITY;
  const spare = rest.length - free.length;
  if (spare <= 0) return UNKNOWN_NOISE / own;
  const noise = Math.max(LEAST_NOISE, Math.sqrt(squares(rest) / spare));
  return (noise * (FEW_POINTS[spare - 1] ?? 1)) / own;
}

/** Keeps the unknown that is told least, again and again, until all others are told. */
export function solveWhatIsTold(unknowns: readonly Unknown[], columns: readonly Float64Array[]): Solved {
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

/** Returns why an unknown is not told. */
function reasonOf(solved: Solved, j: number): string {
  const { kind, before } = solved.unknowns[j] as Unknown;
  const share = (solved.columns[j] as Float64Array).reduce((most, part) => Math.max(most, part), 0) * before;
  if (kind !== "call" && share < LEAST_SHARE)
    return `no sizes so ${kind === "latency" ? "small" : "large"} that it shows`;
  if (standardError(solved, j) === Number.POSITIVE_INFINITY) return "not told apart from the others";
  return solved.values[j] > 0
    ? "its standard error is above half of it"
    : "fits best as 0, which no link has (small sizes may have run otherwise)";
}

/**
 * Returns the unknowns: a factor for each group of latencies, us per byte for each class that limits a setup, and us of a call
 * where numbers of ranks or boxes differ so that it can be told from latencies.
 */
export function unknownsOf(
  setups: readonly FitSetup[],
  classes: readonly LinkClass[],
  bottleneck: Int32Array,
): Unknown[] {
  const groups = latencyGroups(setups, classes.length);
  const call: Unknown = { kind: "call", classes: [], parts: [], before: 0 };
  const limiting = [...new Set(bottleneck)].filter((index) => index >= 0).sort((a, b) => a - b);
  return [
    ...limiting.map(
      (index): Unknown => ({ kind: "bandwidth", classes: [index], parts: [], before: 1 / bytesPerUs(classes[index]) }),
    ),
    ...groups.map((group) => latencyUnknown(group, classes)),
    ...(tellsCall(setups, groups) ? [call] : []),
  ];
}
