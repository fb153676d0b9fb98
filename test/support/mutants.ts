import type { Random } from "../../src/base/random.ts";
import { OP_COPY, OP_REDUCE, type StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { pick } from "./draws.ts";
import { type Row, rowsOf, scheduleOfRows } from "./schedule-rows.ts";

type Mutation = (rows: Row[], at: number, schedule: StepSchedule, random: Random) => Row[];

const changed = (rows: readonly Row[], at: number, change: Partial<Row>): Row[] =>
  rows.map((row, i) => (i === at ? { ...row, ...change } : row));

/** Returns a moment at which something happens in the schedule, or one beside it. */
function moment(rows: readonly Row[], random: Random): number {
  const row = rows[random.below(rows.length)];
  return Math.max(0, (random.below(2) === 0 ? row.start : row.end) + random.below(3) - 1);
}

function moved(rows: readonly Row[], at: number, start: number): Row[] {
  const row = rows[at];
  return changed(rows, at, { start, end: start + row.end - row.start });
}

/** Ways to change a schedule a little, most of which break it. */
export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  dropped: (rows, at) => rows.filter((_, i) => i !== at),
  "moved a picosecond earlier": (rows, at) => moved(rows, at, Math.max(0, rows[at].start - 1)),
  "moved to another moment": (rows, at, _, random) => moved(rows, at, moment(rows, random)),
  redirected: (rows, at, { routes }, random) => changed(rows, at, { route: random.below(routes.source.length) }),
  "redirected beside": (rows, at, { routes }, random) => {
    const own = rows[at].route;
    const beside = [...routes.source.keys()].filter(
      (r) => routes.source[r] === routes.source[own] && routes.target[r] === routes.target[own],
    );
    return changed(rows, at, { route: beside[random.below(beside.length)] });
  },
  duplicated: (rows, at) => [...rows, rows[at]],
  "repeated later": (rows, at, _, random) => {
    const last = Math.max(...rows.map((row) => row.end));
    const copy = { ...rows[at], op: random.below(2) === 0 ? rows[at].op : OP_COPY };
    return [...rows, ...moved([copy], 0, last + random.below(2))];
  },
  "chunk changed": (rows, at, { collective }, random) =>
    changed(rows, at, { chunk: random.below(collective.chunkCount) }),
  "chunks swapped": (rows, at, _, random) => {
    const other = random.below(rows.length);
    return changed(changed(rows, at, { chunk: rows[other].chunk }), other, { chunk: rows[at].chunk });
  },
  "operation flipped": (rows, at) => changed(rows, at, { op: rows[at].op === OP_COPY ? OP_REDUCE : OP_COPY }),
  shortened: (rows, at, _, random) =>
    changed(rows, at, { end: rows[at].end - (random.below(2) === 0 ? 1 : 1 + random.below(1_000_000)) }),
  lengthened: (rows, at, _, random) => changed(rows, at, { end: rows[at].end + 1 + random.below(1_000_000) }),
  "sent along with another": (rows, at, _, random) => {
    const beside = rows.filter((row, i) => i !== at && row.route === rows[at].route);
    const { route, start, end } = pick(beside.length > 0 ? beside : rows, random);
    return changed(rows, at, { route, start, end });
  },
  "sent along with another in enough time": (rows, at, _, random) => {
    const beside = rows.filter((row, i) => i !== at && row.route === rows[at].route);
    const { route, start, end } = pick(beside.length > 0 ? beside : rows, random);
    const longer = end + rows[at].end - rows[at].start - random.below(2);
    return changed(rows, at, { route, start, end }).map((row) =>
      row.route === route && row.start === start && row.end === end ? { ...row, end: longer } : row,
    );
  },
  "turned in time": (rows, at) => changed(rows, at, { start: rows[at].end, end: rows[at].start }),
};

/** Returns the schedule after one or two random mutations and, half the time, with its rows in another order. */
export function mutant(schedule: StepSchedule, random: Random): StepSchedule {
  const names = Object.keys(MUTATIONS);
  let rows = rowsOf(schedule);
  for (let left = 1 + random.below(2); left > 0 && rows.length > 0; left--) {
    rows = MUTATIONS[names[random.below(names.length)]](rows, random.below(rows.length), schedule, random);
  }
  if (random.below(2) === 0)
    rows = rows
      .map((row) => ({ row, key: random.next() }))
      .sort((a, b) => a.key - b.key)
      .map(({ row }) => row);
  return scheduleOfRows(schedule.topology, schedule.collective, schedule.routes, rows);
}
