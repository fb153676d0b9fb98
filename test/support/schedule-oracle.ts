import type { Collective, Placement } from "../../src/model/collective/collective.ts";
import { OP_COPY, type StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { type Row, rowsOf } from "./schedule-rows.ts";

/**
 * A judge of schedules by brute force, for small ones: every pair of transfers compared, every moment played with JavaScript
 * sets. It shares no code with the verifier.
 */
export interface Opinion {
  readonly valid: boolean;
  readonly malformed: boolean;
  /** Rows that are too short; of a merged send its first row of the lowest chunk. */
  readonly tooFast: ReadonlySet<number>;
  /** "link@time" of departures with more than the whole link in use. */
  readonly overfull: ReadonlySet<string>;
  /** A route carries two messages at some time. */
  readonly doubled: boolean;
  /** "kind chunk npu" of what goes wrong with the chunks, downstream of the first mistake too. */
  readonly chunks: ReadonlySet<string>;
}

interface Hop {
  readonly link: number;
  readonly num: bigint;
  readonly den: bigint;
}

/** Returns the oracle's opinion. O(transfers^2 x route length). */
export function judge(schedule: StepSchedule): Opinion {
  const rows = rowsOf(schedule);
  const opinion = {
    malformed: rows.some((row) => !wellFormed(schedule, row)),
    tooFast: new Set<number>(),
    overfull: new Set<string>(),
    doubled: false,
    chunks: new Set<string>(),
  };
  if (!opinion.malformed) {
    const messages = messagesAmong(rows);
    messages.forEach(({ row, chunks, at }) => {
      if (BigInt(row.end) - BigInt(row.start) < leastTime(schedule, row, chunks)) opinion.tooFast.add(at);
      const active = messages.filter((other) => other.row.start <= row.start && row.start < other.row.end);
      if (active.some((other) => other.at !== at && other.row.route === row.route)) opinion.doubled = true;
      for (const { link } of hops(schedule, row)) {
        let num = 0n;
        let den = 1n;
        for (const hop of active.flatMap((other) => hops(schedule, other.row))) {
          if (hop.link === link) [num, den] = [num * hop.den + hop.num * den, den * hop.den];
        }
        if (num > den) opinion.overfull.add(`${link}@${row.start}`);
      }
    });
    for (let chunk = 0; chunk < schedule.collective.chunkCount; chunk++) {
      const own = rows.filter((row) => row.chunk === chunk);
      if (schedule.collective.reduces) playSums(schedule, chunk, own, opinion.chunks);
      else playCopies(schedule, chunk, own, opinion.chunks);
    }
  }
  const clean = opinion.tooFast.size + opinion.overfull.size + opinion.chunks.size === 0 && !opinion.doubled;
  return { ...opinion, valid: clean && !opinion.malformed };
}

function wellFormed({ collective, routes }: StepSchedule, { chunk, route, start, end, op }: Row): boolean {
  const whole = [start, end].every((time) => Number.isSafeInteger(time) && time >= 0);
  const known = chunk >= 0 && chunk < collective.chunkCount && route >= 0 && route < routes.source.length;
  return whole && known && start < end && (op === OP_COPY || (op === 1 && collective.reduces));
}

function hops({ routes }: StepSchedule, { route }: Row): Hop[] {
  const list: Hop[] = [];
  for (let i = routes.linkOffset[route]; i < routes.linkOffset[route + 1]; i++) {
    list.push({ link: routes.links[i], num: BigInt(routes.shareNum[i]), den: BigInt(routes.shareDen[i]) });
  }
  return list;
}

/** Several rows that are one transfer of several chunks, or one row. */
export interface Message {
  readonly row: Row;
  readonly chunks: number;
  /** Index of the row: of the lowest chunk, the first if there are several. */
  readonly at: number;
}

/**
 * Returns the messages: all rows of the same route, start and end are one, but a chunk is in it once, and what is said again
 * is a message by itself.
 */
export function messagesAmong(rows: readonly Row[]): Message[] {
  return rows.flatMap((row, at) => {
    const alike = rows.filter((o) => o.route === row.route && o.start === row.start && o.end === row.end);
    const again = rows.findIndex((o) => alike.includes(o) && o.chunk === row.chunk) < at;
    if (again) return [{ row, chunks: 1, at }];
    if (alike.some((o) => o.chunk < row.chunk)) return [];
    return [{ row, chunks: new Set(alike.map((o) => o.chunk)).size, at }];
  });
}

/** Latencies plus, for each chunk, the slowest serialisation: bytes * 10^12 / (bandwidth * share), rounded up. */
function leastTime(schedule: StepSchedule, row: Row, chunks: number): bigint {
  const { topology, collective } = schedule;
  const { num: bytes, den: parts } = collective.chunkBytes;
  let latency = 0n;
  let slowest = 0n;
  for (const { link, num, den } of hops(schedule, row)) {
    latency += BigInt(topology.linkLatencyPs[link]);
    const above = bytes * 1_000_000_000_000n * den;
    const below = parts * BigInt(topology.linkBytesPerSecond[link]) * num;
    const ps = (above + below - 1n) / below;
    if (ps > slowest) slowest = ps;
  }
  return latency + slowest * BigInt(chunks);
}

function holders(collective: Collective, placement: Placement, chunk: number): number[] {
  if (placement.kind === "one") return [placement.npu[chunk]];
  if (placement.kind === "sets")
    return [...placement.members.slice(placement.offset[chunk], placement.offset[chunk + 1])];
  const group = Math.floor(chunk / (collective.chunkCount / collective.groupCount));
  return [...collective.groupMembers.slice(group * collective.groupSize, (group + 1) * collective.groupSize)];
}

/** Visits the moments at which something starts or ends. */
function moments(rows: readonly Row[]): number[] {
  return [...new Set(rows.flatMap((row) => [row.start, row.end]))].sort((a, b) => a - b);
}

function playCopies(
  { collective, routes }: StepSchedule,
  chunk: number,
  rows: readonly Row[],
  faults: Set<string>,
): void {
  const has = new Set(holders(collective, collective.pre, chunk));
  const carries = new Set<Row>();
  for (const now of moments(rows)) {
    for (const row of rows) if (row.end === now && carries.has(row)) has.add(routes.target[row.route]);
    for (const row of rows) {
      if (row.start !== now) continue;
      if (has.has(routes.source[row.route])) carries.add(row);
      else faults.add(`absent-chunk ${chunk} ${routes.source[row.route]}`);
    }
  }
  for (const npu of holders(collective, collective.post, chunk))
    if (!has.has(npu)) faults.add(`missing-chunk ${chunk} ${npu}`);
}

function playSums(
  { collective, routes }: StepSchedule,
  chunk: number,
  rows: readonly Row[],
  faults: Set<string>,
): void {
  const all = holders(collective, collective.pre, chunk);
  const sums = new Map<number, Set<number>>(all.map((npu) => [npu, new Set([npu])]));
  const cargo = new Map<Row, Set<number>>();
  for (const now of moments(rows)) {
    const landing = rows.filter((row) => row.end === now && cargo.has(row));
    landing.sort((a, b) => a.start - b.start || a.route - b.route || a.op - b.op);
    for (const row of landing) {
      const npu = routes.target[row.route];
      const sent = cargo.get(row) as Set<number>;
      const had = row.op === OP_COPY ? new Set<number>() : (sums.get(npu) ?? new Set<number>());
      if ([...sent].some((member) => had.has(member))) faults.add(`repeated-contribution ${chunk} ${npu}`);
      sums.set(npu, new Set([...had, ...sent]));
    }
    for (const row of rows) {
      if (row.start !== now) continue;
      const sent = sums.get(routes.source[row.route]);
      if (sent !== undefined && sent.size > 0) cargo.set(row, new Set(sent));
      else faults.add(`absent-chunk ${chunk} ${routes.source[row.route]}`);
    }
  }
  for (const npu of holders(collective, collective.post, chunk)) {
    const sum = sums.get(npu);
    if (all.some((member) => sum === undefined || !sum.has(member))) faults.add(`missing-contribution ${chunk} ${npu}`);
  }
}
