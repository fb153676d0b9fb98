import type { LpRows, MilpProblem } from "../../engine/contract/programs.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import { type ProgramRows, programRows } from "../program-rows.ts";
import { type FlowProblem, firstFrom, pairOf, type Resource } from "./problem.ts";
import type { Room } from "./stages.ts";
import { type Block, COPY, type Columns, EXCHANGE, MEET, REDUCE } from "./windows.ts";

/**
 * The time-expanded binary program (TACOS 2023, figure 12) without its hold variables: a column is "this chunk starts over
 * this route at this tick". A chunk comes to an NPU at most once (exactly once where it is wanted: 12b), leaves only what has
 * come (12c), and links carry what fits (12d). Departures are counted up to each tick, and a chunk does not go back to where
 * it came from: the relaxation is tighter than with one row for each departure.
 *
 * Reductions are the same backwards in time: every contribution leaves exactly once, after all that is added to it has come.
 * All-reduce joins both: somewhere, once, all contributions have met (a column for each NPU and tick), which ends the
 * reduction and begins the spreading; or two neighbours exchange the sums of two parts (exchanges.ts), and both spread them.
 * So its schedules here are trees in and out of any NPU or of any two neighbours, chunk by chunk.
 */

interface Incidence {
  readonly into: (npu: number) => Int32Array;
  readonly outOf: (npu: number) => Int32Array;
}

function incidenceOf({ npuCount, routes }: FlowProblem): Incidence {
  const into = groupedBy(routes.target, npuCount);
  const outOf = groupedBy(routes.source, npuCount);
  return {
    into: (v) => into.items.subarray(into.offset[v], into.offset[v + 1]),
    outOf: (v) => outOf.items.subarray(outOf.offset[v], outOf.offset[v + 1]),
  };
}

/** Returns the exchanges of a flow that an NPU may be part of, each with the route by which it receives. */
const exchangesOf = (
  { into }: Incidence,
  { block, opposite }: Columns,
  f: number,
  v: number,
): { readonly r: number; readonly block: Block | undefined }[] =>
  [...into(v)]
    .filter((r) => opposite[r] !== -1)
    .map((r) => ({ r, block: block(f, EXCHANGE, pairOf(opposite, r)) }))
    .filter((one) => one.block !== undefined);

/** Adds the columns of a block whose ticks are from .. to. */
function addTicks(sink: RowSink, block: Block | undefined, from: number, to: number, value: number): void {
  if (block === undefined) return;
  const last = Math.min(block.high, to);
  for (let k = Math.max(block.low, from); k <= last; k++) sink.add(block.first + k - block.low, value);
}

const addAll = (sink: RowSink, block: Block | undefined, value: number): void =>
  addTicks(sink, block, 0, Number.POSITIVE_INFINITY, value);

/** Whose rows are written, and whether these are all there are to be: `complete`: everything wanted arrives, else at most once. */
export interface RowChoice {
  readonly flows: Iterable<number>;
  readonly resources: readonly Resource[];
  readonly complete: boolean;
}

/** Writes rows of the program, as long as the sink has room. */
export function writeRows(
  problem: FlowProblem,
  columns: Columns,
  { flows, resources, complete }: RowChoice,
  sink: KeptRows,
): void {
  const incidence = incidenceOf(problem);
  for (const f of flows) {
    const { kind } = problem.flows[f];
    if (kind !== "reduce") writeCopies(problem, incidence, columns, f, sink, complete);
    if (kind !== "copy") writeReductions(problem, incidence, columns, f, sink);
    if (kind !== "both") continue;
    for (let v = 0; v < problem.npuCount; v++) addAll(sink, columns.block(f, MEET, v), 1);
    for (let r = 0; r < columns.opposite.length; r++) addAll(sink, columns.block(f, EXCHANGE, r), 1);
    sink.end(1, 1);
  }
  for (const resource of resources) {
    writeCapacity(problem, resource, columns, sink);
  }
}

function writeCopies(
  { npuCount, routes, durations, flows }: FlowProblem,
  incidence: Incidence,
  columns: Columns,
  f: number,
  sink: KeptRows,
  complete: boolean,
): void {
  const { into, outOf } = incidence;
  const { ticks } = columns;
  const { kind, size, from, to } = flows[f];
  const duration = durations[size] as Float64Array;
  const holds = new Uint8Array(npuCount);
  if (kind === "copy") for (const v of from) holds[v] = 1;
  const wants = new Uint8Array(npuCount);
  for (const v of to) wants[v] = 1;
  for (let v = 0; v < npuCount; v++) {
    if (holds[v] === 1) continue;
    if (!sink.hasRoom()) return;
    const meeting = columns.block(f, MEET, v);
    const arriving = [...into(v)].map((r) => ({ r, block: columns.block(f, COPY, r) }));
    const exchanges = exchangesOf(incidence, columns, f, v);
    for (const { block } of [...arriving, ...exchanges]) addAll(sink, block, 1);
    addAll(sink, meeting, 1);
    sink.end(wants[v] === 1 && complete ? 1 : 0, 1);
    for (const r of outOf(v)) {
      const block = columns.block(f, COPY, r);
      if (block === undefined) continue;
      const others = [...arriving, ...exchanges].filter((one) => routes.source[one.r] !== routes.target[r]);
      /** Returns the last tick of departures over `one` that have come by tick k. */
      const latest = (one: number, k: number): number => firstFrom(ticks, ticks[k] - duration[one] + 0.5) - 1;
      const comes = (k: number): boolean =>
        (meeting !== undefined && k >= meeting.low && k <= meeting.high) ||
        others.some(({ r: one, block: arrivals }) => {
          if (arrivals === undefined) return false;
          const [before, now] = [latest(one, k - 1), latest(one, k)];
          return now > before && now >= arrivals.low && before < arrivals.high;
        });
      for (let k = block.low; k <= block.high; k++) {
        if (k < block.high && !comes(k + 1)) continue;
        addTicks(sink, block, 0, k, 1);
        for (const one of others) addTicks(sink, one.block, 0, latest(one.r, k), -1);
        addTicks(sink, meeting, 0, k, -1);
        sink.end(Number.NEGATIVE_INFINITY, 0);
      }
    }
  }
}

function writeReductions(
  { npuCount, routes, durations, flows }: FlowProblem,
  incidence: Incidence,
  columns: Columns,
  f: number,
  sink: KeptRows,
): void {
  const { into, outOf } = incidence;
  const { ticks } = columns;
  const { kind, size, from, to } = flows[f];
  const duration = durations[size] as Float64Array;
  const contributes = new Uint8Array(npuCount);
  for (const v of from) contributes[v] = 1;
  for (let v = 0; v < npuCount; v++) {
    if (kind === "reduce" && v === to[0]) continue;
    if (!sink.hasRoom()) return;
    const meeting = columns.block(f, MEET, v);
    const leaving = [...outOf(v)].map((r) => ({ r, block: columns.block(f, REDUCE, r) }));
    const exchanges = exchangesOf(incidence, columns, f, v);
    for (const { block } of [...leaving, ...exchanges]) addAll(sink, block, 1);
    addAll(sink, meeting, 1);
    sink.end(contributes[v] === 1 ? 1 : 0, 1);
    for (const r of into(v)) {
      const block = columns.block(f, REDUCE, r);
      if (block === undefined) continue;
      const others = [
        ...leaving.filter((one) => routes.target[one.r] !== routes.source[r]),
        ...exchanges.filter((one) => routes.source[one.r] !== routes.source[r]),
      ];
      /** Returns the first tick at which what starts over r at tick k has come. */
      const after = (k: number): number => firstFrom(ticks, ticks[k] + duration[r]);
      const leaves = (low: number, high: number): boolean =>
        [meeting, ...others.map((one) => one.block)].some((b) => b !== undefined && low <= b.high && high >= b.low);
      for (let k = block.high; k >= block.low; k--) {
        if (k > block.low && !leaves(after(k - 1), after(k) - 1)) continue;
        addTicks(sink, block, k, block.high, 1);
        for (const one of others) addTicks(sink, one.block, after(k), Number.POSITIVE_INFINITY, -1);
        addTicks(sink, meeting, after(k), Number.POSITIVE_INFINITY, -1);
        sink.end(Number.NEGATIVE_INFINITY, 0);
      }
    }
  }
}

/** Returns what may be over a route. */
const blocksOver = ({ block, opposite }: Columns, f: number, r: number): (Block | undefined)[] => [
  block(f, COPY, r),
  block(f, REDUCE, r),
  opposite[r] === -1 ? undefined : block(f, EXCHANGE, pairOf(opposite, r)),
];

function writeCapacity(
  { durations, flows }: FlowProblem,
  { route, units, capacity }: Resource,
  columns: Columns,
  sink: KeptRows,
): void {
  const { ticks } = columns;
  const users = route.flatMap((r, i) =>
    flows.flatMap(({ size }, f) =>
      blocksOver(columns, f, r).flatMap((block) =>
        block === undefined ? [] : [{ block, duration: durations[size][r], units: units[i] }],
      ),
    ),
  );
  let previous = "";
  for (let k = ticks.length - 1; k >= 0 && sink.hasRoom(); k--) {
    const busy = users.map(({ block, duration }) => ({
      from: Math.max(block.low, firstFrom(ticks, ticks[k] - duration + 0.5)),
      to: Math.min(block.high, k),
    }));
    // one tick less than the row above, and nothing more: it says no more
    const added = users.some(({ block }) => block.low <= k && k <= block.high);
    const key = busy.map(({ from, to }) => `${from}.${to}`).join();
    if (!added || key === previous) continue;
    previous = key;
    users.forEach((user, i) => {
      addTicks(sink, user.block, busy[i].from, busy[i].to, user.units);
    });
    sink.end(Number.NEGATIVE_INFINITY, capacity);
  }
}

/** Columns that are one, [columns] the least of each orbit, and the parts of the problem whose rows stand for all. */
export interface Symmetry extends Omit<RowChoice, "complete"> {
  readonly orbit: Int32Array;
}

/** A program over columns, or over the columns that stand for orbits of them. */
export interface Program {
  readonly milp: MilpProblem;
  /** [columns] column of `milp`. */
  readonly place: Int32Array | null;
  /** Something wanted has no column that could bring it: there is no point. */
  readonly impossible: boolean;
}

/** Returns the program of feasibility: any point is a schedule. Unfinished where `room` says no. */
export function feasibility(
  problem: FlowProblem,
  resources: readonly Resource[],
  columns: Columns,
  symmetry: Symmetry | null,
  whole: boolean,
  room: Room,
): Program {
  const { place, count } = symmetry === null ? { place: null, count: columns.count } : numbered(symmetry.orbit);
  const sink = keepingSink(count, place, room);
  const { flows, resources: written } = symmetry ?? { flows: problem.flows.keys(), resources };
  writeRows(problem, columns, { flows, resources: written, complete: true }, sink);
  return { milp: programOf(sink.lpRows(), count, whole), place, impossible: sink.impossible() };
}

/** Returns for each column the number of the one that stands for it among those. */
export function numbered(orbit: Int32Array): { readonly place: Int32Array; readonly count: number } {
  const place = new Int32Array(orbit.length);
  let count = 0;
  for (let c = 0; c < orbit.length; c++) if (orbit[c] === c) place[c] = count++;
  for (let c = 0; c < orbit.length; c++) place[c] = place[orbit[c]];
  return { place, count };
}

const programOf = (rows: LpRows, count: number, whole: boolean): MilpProblem => ({
  objective: new Float64Array(count),
  lower: new Float64Array(count),
  upper: new Float64Array(count).fill(1),
  rows,
  integer: new Uint8Array(count).fill(whole ? 1 : 0),
});

/** Takes the rows of a program one after the other: entries first, then the sides. */
export interface RowSink {
  add(column: number, value: number): void;
  end(lower: number, upper: number): void;
}

/** Smallest part of a coefficient that is distinguished from another: shares of links have small denominators. */
const COEFFICIENT_UNIT = 1 / 720_720;

/**
 * Returns 64 bits and a count that rows of equal entries have alike, in any order. Should two unlike rows have them alike, the
 * second is left out, which leaves more points: what has none still has none, and a point that breaks the row is found out when
 * its moves are timed and judged. O(entries).
 */
function fingerprint(entries: readonly (readonly [column: number, value: number])[]): string {
  let first = 0;
  let second = 0;
  for (const [column, value] of entries) {
    const units = Math.round(value / COEFFICIENT_UNIT) | 0;
    let mixed = Math.imul(column + 0x9e3779b9, 0x85ebca6b) ^ Math.imul(units, 0xc2b2ae35);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
    mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
    mixed ^= mixed >>> 15;
    first = (first + mixed) | 0;
    second = (second + Math.imul(mixed, mixed | 1) + Math.imul(mixed >>> 7, 0x9e3779b1)) | 0;
  }
  return `${entries.length}:${first}:${second}`;
}

/** A sink that keeps rows. `impossible`: a row without entries asked for more than 0. */
export interface KeptRows extends RowSink, Pick<ProgramRows, "lpRows"> {
  hasRoom(): boolean;
  impossible(): boolean;
}

/**
 * Returns a sink that keeps rows over so many columns. `place`, where given, is the column that stands for each: entries of one row that fall on
 * the same column add up, and equal rows are kept once.
 */
export function keepingSink(columns: number, place: Int32Array | null, room: Room): KeptRows {
  const rows = programRows();
  const known = new Set<string>();
  const row = new Map<number, number>();
  const size = { rows: 0, entries: 0 };
  let impossible = false;
  return {
    hasRoom: () => room({ columns, ...size }),
    add: (at, coefficient) => {
      const key = place === null ? at : place[at];
      row.set(key, (row.get(key) ?? 0) + coefficient);
    },
    end: (least, most) => {
      const entries = [...row].filter(([, coefficient]) => coefficient !== 0);
      row.clear();
      if (entries.length === 0) {
        impossible ||= least > 0 || most < 0;
        return;
      }
      if (place !== null) {
        const key = `${fingerprint(entries)};${least};${most}`;
        if (known.has(key)) return;
        known.add(key);
        entries.sort(([a], [b]) => a - b);
      }
      rows.add(least, most, entries);
      size.rows++;
      size.entries += entries.length;
    },
    impossible: () => impossible,
    lpRows: rows.lpRows,
  };
}
