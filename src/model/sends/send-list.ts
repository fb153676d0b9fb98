import { InputError, inWords } from "../../base/errors.ts";
import { type Collective, membersOf } from "../collective/collective.ts";
import { orderByTime } from "../numbers/ordering.ts";
import { routeTimes } from "../routes/routes.ts";
import { indexColumn, OP_COPY, type StepSchedule, transferCount } from "../steps/step-schedule.ts";
import type { Topology } from "../topology/topology.ts";
import type { Ways } from "./ways.ts";

/**
 * Sends as people list them, columns of equal length in ascending order of step: in step `step[i]` NPU `source[i]` sends
 * `chunk[i]` to `target[i]`. The sends of a step happen at once: each carries what its source holds after the steps before.
 */
export interface SendList {
  readonly step: Float64Array;
  readonly source: Int32Array;
  readonly target: Int32Array;
  readonly chunk: Int32Array;
  /** OP_COPY or OP_REDUCE. */
  readonly op: Uint8Array;
}

/** What became of a list of sends in time. */
export interface TimedSends {
  readonly schedule: StepSchedule;
  /** [transfers] the send that each is. */
  readonly sendOf: Int32Array;
  /** Sends whose source has nothing of the chunk when their step begins, ascending. */
  readonly early: readonly number[];
}

/** Sends that are to overlap are moved so often; what needs more cannot overlap. */
const MOST_ROUNDS = 64;
/** Up to so many pairs of NPU and chunk have a place of their own each. */
const MOST_DENSE = 2 ** 25;

/** A number for each pair of NPU and chunk; -1 where none was set. */
interface Cells {
  get(cell: number): number;
  set(cell: number, value: number): void;
}

function cellsFor(count: number): Cells {
  if (count <= MOST_DENSE) {
    const values = new Float64Array(count).fill(-1);
    return {
      get: (cell) => values[cell],
      set: (cell, value) => {
        values[cell] = value;
      },
    };
  }
  const values = new Map<number, number>();
  return { get: (cell) => values.get(cell) ?? -1, set: (cell, value) => void values.set(cell, value) };
}

/** Returns the number of a pair of NPU and chunk. */
const cellOf = ({ chunkCount }: Collective, npu: number, chunk: number): number => npu * chunkCount + chunk;

/** Returns what is known of every pair of NPU and chunk before the first step: `there` where the NPU has some of the chunk. */
function cellsAtStart({ npuCount }: Topology, collective: Collective, there: number): Cells {
  const cells = cellsFor(npuCount * collective.chunkCount);
  for (let chunk = 0; chunk < collective.chunkCount; chunk++)
    for (const npu of membersOf(collective, collective.pre, chunk)) cells.set(cellOf(collective, npu, chunk), there);
  return cells;
}

/**
 * Returns the operations of sends of a collective that sums, where `given` has none (-1): a send copies once its source holds the
 * sum of all contributions, and adds what it has before that. O(sends + members).
 *
 * A complete sum that is added repeats what the target has, so copying is the only choice there; and one that is not complete,
 * where it took the place of what the target holds, would lose that unless it was sent on before.
 */
export function operationsOf(
  topology: Topology,
  collective: Collective,
  sends: Omit<SendList, "op">,
  given: Int8Array,
): Uint8Array {
  const { step, source, target, chunk } = sends;
  const op = Uint8Array.from(given, (said) => (said < 0 ? OP_COPY : said));
  if (!collective.reduces || given.every((said) => said >= 0)) return op;
  const size = cellsAtStart(topology, collective, 1);
  const payload = new Int32Array(step.length);
  for (let from = 0, to = 0; from < step.length; from = to) {
    for (; to < step.length && step[to] === step[from]; to++) {
      const whole = membersOf(collective, collective.pre, chunk[to]).length;
      payload[to] = Math.max(0, size.get(cellOf(collective, source[to], chunk[to])));
      if (given[to] < 0) op[to] = payload[to] >= whole ? OP_COPY : 1;
    }
    for (let i = from; i < to; i++) {
      const cell = cellOf(collective, target[i], chunk[i]);
      size.set(cell, op[i] === OP_COPY ? payload[i] : Math.max(0, size.get(cell)) + payload[i]);
    }
  }
  return op;
}

/** Links with room for several routes at once have a lane for each. */
interface Lanes {
  /** [links + 1] */
  readonly offset: Int32Array;
  /** [lanes] when each is free again, picoseconds. */
  readonly free: Float64Array;
}

/** Returns the lanes of the links: so many that the widest route over a link fits into one. */
function lanesOf({ linkSource }: Topology, { routes }: Ways): Lanes {
  const { links, shareNum, shareDen } = routes;
  const lanes = new Int32Array(linkSource.length).fill(-1);
  for (let i = 0; i < links.length; i++) {
    const fit = (shareDen[i] - (shareDen[i] % shareNum[i])) / shareNum[i];
    const known = lanes[links[i]];
    lanes[links[i]] = known < 0 ? fit : Math.min(known, fit);
  }
  const offset = new Int32Array(lanes.length + 1);
  for (let link = 0; link < lanes.length; link++) offset[link + 1] = offset[link] + Math.max(0, lanes[link]);
  return { offset, free: new Float64Array(offset[lanes.length]) };
}

/** Returns the lane of a link that is free first. */
function firstFree({ offset, free }: Lanes, link: number): number {
  let lane = offset[link];
  for (let other = lane + 1; other < offset[link + 1]; other++) if (free[other] < free[lane]) lane = other;
  return lane;
}

/**
 * Returns the schedule of a list of sends over `ways`, in the link-busy model: step by step, and within a step in the order of the
 * list, each send starts as soon as its data is there and its links are free, over the way on which it ends first.
 *
 * Data is there when the first of the arrivals of earlier steps has come; where the collective sums, all of them. What comes in
 * the same step or later must not be carried: where the collective sums, and of sends that are too early (`early`), an arrival ends
 * after the start of what leaves its target before, or with, it in the list of steps. A copy takes effect after the arrivals
 * of earlier steps. So what verifies the schedule judges the list.
 *
 * The times are the least that keep to this and to the order of the list on every link; so no send of a list that
 * `sendsOf` made starts later than in its schedule, where that uses the same routes and transfers take no longer than they must.
 * Throws InputError, which names `place`, for sends of a step that would have to overlap on a link, and for times that are no
 * exact numbers. O(sends x routes of a pair).
 */
export function timedSends(
  topology: Topology,
  collective: Collective,
  ways: Ways,
  list: SendList,
  placeOf: (send: number) => string,
): TimedSends {
  const { step, source, target, chunk, op } = list;
  const { reduces } = collective;
  const { routes, offset: wayOffset, pairOf } = ways;
  const { slotPs } = routeTimes(topology, routes, collective.chunkBytes);
  const lanes = lanesOf(topology, ways);
  const count = step.length;
  const there = cellsAtStart(topology, collective, 0);
  const left = cellsFor(topology.npuCount * collective.chunkCount);
  const copied = reduces ? cellsFor(topology.npuCount * collective.chunkCount) : null;
  const route = new Int32Array(count);
  const start = new Float64Array(count);
  const end = new Float64Array(count);
  /** The least start and end of each send. */
  const ready = new Float64Array(count);
  const leastEnd = new Float64Array(count);
  const isEarly = new Uint8Array(count);
  const early: number[] = [];
  const taken: number[] = [];

  const begin = (i: number): void => {
    const since = there.get(cellOf(collective, source[i], chunk[i]));
    if (since < 0) {
      isEarly[i] = 1;
      early.push(i);
    }
    ready[i] = Math.max(0, since);
    const into = cellOf(collective, target[i], chunk[i]);
    leastEnd[i] = left.get(into) + 1;
    if (copied === null) return;
    const before = op[i] === OP_COPY ? there.get(into) : copied.get(into);
    leastEnd[i] = Math.max(leastEnd[i], before + 1);
  };
  const startOn = (i: number, way: number): number => {
    let at = Math.max(ready[i], leastEnd[i] - slotPs[way]);
    for (let l = routes.linkOffset[way]; l < routes.linkOffset[way + 1]; l++)
      at = Math.max(at, lanes.free[firstFree(lanes, routes.links[l])]);
    return at;
  };
  const put = (i: number): void => {
    end[i] = Number.POSITIVE_INFINITY;
    for (let way = wayOffset[pairOf[i]]; way < wayOffset[pairOf[i] + 1]; way++) {
      const at = startOn(i, way);
      if (at + slotPs[way] >= end[i]) continue;
      start[i] = at;
      end[i] = at + slotPs[way];
      route[i] = way;
    }
    if (end[i] > Number.MAX_SAFE_INTEGER)
      throw new InputError(placeOf(i), "less than 2^53 ps (2.5 hours)", inWords("longer times")).as("too-long");
    for (let l = routes.linkOffset[route[i]]; l < routes.linkOffset[route[i] + 1]; l++) {
      const lane = firstFree(lanes, routes.links[l]);
      taken.push(lane, lanes.free[lane]);
      lanes.free[lane] = end[i];
    }
  };
  /** Returns a send that arrives before one leaves that must not carry it, once it is moved; -1 where there is none. */
  const moved = (from: number, to: number): number => {
    const arrivals = new Map<number, number[]>();
    let found = -1;
    for (let i = from; i < to; i++) {
      const into = cellOf(collective, target[i], chunk[i]);
      const others = arrivals.get(into);
      if (others === undefined) arrivals.set(into, [i]);
      else {
        const last = others.at(-1) as number;
        if (reduces && (op[i] === OP_COPY || op[last] === OP_COPY) && end[i] <= end[last]) {
          leastEnd[i] = end[last] + 1;
          found = i;
        }
        others.push(i);
      }
    }
    for (let i = from; i < to; i++) {
      if (!reduces && isEarly[i] === 0) continue;
      for (const other of arrivals.get(cellOf(collective, source[i], chunk[i])) ?? []) {
        if (end[other] > start[i]) continue;
        leastEnd[other] = Math.max(leastEnd[other], start[i] + 1);
        found = other;
      }
    }
    return found;
  };
  const settle = (i: number): void => {
    const from = cellOf(collective, source[i], chunk[i]);
    if (reduces || isEarly[i] === 1) left.set(from, Math.max(left.get(from), start[i]));
    const into = cellOf(collective, target[i], chunk[i]);
    const since = there.get(into);
    there.set(into, since < 0 ? end[i] : reduces ? Math.max(since, end[i]) : Math.min(since, end[i]));
    if (copied !== null && op[i] === OP_COPY) copied.set(into, Math.max(copied.get(into), end[i]));
  };

  for (let from = 0, to = 0; from < count; from = to) {
    for (; to < count && step[to] === step[from]; to++) begin(to);
    for (let round = 0; ; round++) {
      taken.length = 0;
      for (let i = from; i < to; i++) put(i);
      const found = reduces || early.length > 0 ? moved(from, to) : -1;
      if (found < 0) break;
      if (round === MOST_ROUNDS)
        throw new InputError(
          placeOf(found),
          "sends of one step that can be under way at once",
          inWords(`step ${step[from]}`),
        );
      for (let t = taken.length - 2; t >= 0; t -= 2) lanes.free[taken[t]] = taken[t + 1];
    }
    for (let i = from; i < to; i++) settle(i);
  }
  return { ...inOrder({ topology, collective, routes }, { chunk, op }, { route, start, end }), early };
}

/** Returns sends with their times as a schedule, in the order of its rows. */
function inOrder(
  header: Pick<StepSchedule, "topology" | "collective" | "routes">,
  { chunk, op }: Pick<SendList, "chunk" | "op">,
  { route, start, end }: { readonly route: Int32Array; readonly start: Float64Array; readonly end: Float64Array },
): Pick<TimedSends, "schedule" | "sendOf"> {
  const sendOf = Int32Array.from(orderByTime(start));
  for (let from = 0, to = 0; from < sendOf.length; from = to) {
    while (to < sendOf.length && start[sendOf[to]] === start[sendOf[from]]) to++;
    sendOf.subarray(from, to).sort((a, b) => route[a] - route[b] || chunk[a] - chunk[b] || a - b);
  }
  const chunks = indexColumn(sendOf.length, header.collective.chunkCount);
  const routeColumn = indexColumn(sendOf.length, header.routes.source.length);
  sendOf.forEach((send, row) => {
    chunks[row] = chunk[send];
    routeColumn[row] = route[send];
  });
  const schedule: StepSchedule = {
    ...header,
    chunk: chunks,
    route: routeColumn,
    startPs: Float64Array.from(sendOf, (send) => start[send]),
    endPs: Float64Array.from(sendOf, (send) => end[send]),
    op: Uint8Array.from(sendOf, (send) => op[send]),
  };
  return { schedule, sendOf };
}

/** Steps are raised so often until none is; what needs more has no steps. */
const MOST_PASSES = 100;

/**
 * Returns the sends of a schedule in the fewest steps in which they can be read back: data comes in earlier steps than those that
 * send it on, what a sum must not contain in the same step or later, and sends over one link are in order. Within a step they
 * stand in the order of their starts. Null where no steps say so. O(transfers x passes), of which there are seldom more than 3.
 */
export function sendsOf(schedule: StepSchedule): SendList | null {
  const { topology, collective, routes, startPs, endPs, op, chunk, route } = schedule;
  const { linkOffset, links } = routes;
  const count = transferCount(schedule);
  const ends = orderByTime(endPs);
  const step = new Float64Array(count);
  const cells = topology.npuCount * collective.chunkCount;
  const from = (row: number): number => cellOf(collective, routes.source[route[row]], chunk[row]);
  const into = (row: number): number => cellOf(collective, routes.target[route[row]], chunk[row]);
  let isRaised = true;
  for (let pass = 0; isRaised; pass++) {
    if (pass === MOST_PASSES) return null;
    isRaised = false;
    const raise = (row: number, least: number): void => {
      if (step[row] >= least) return;
      step[row] = least;
      isRaised = true;
    };
    /** Of each NPU and chunk: the step of the first arrival, of sums of the last; that of the last departure. */
    const arrived = cellsFor(cells);
    const left = cellsFor(cells);
    const lastCopy = cellsFor(cells);
    const busy = new Float64Array(topology.linkSource.length);
    const arrives = (row: number): void => {
      const cell = into(row);
      const known = arrived.get(cell);
      if (!collective.reduces) {
        if (known < 0) arrived.set(cell, step[row]);
        return;
      }
      raise(row, left.get(cell));
      raise(row, (op[row] === OP_COPY ? known : lastCopy.get(cell)) + 1);
      if (op[row] === OP_COPY) lastCopy.set(cell, step[row]);
      arrived.set(cell, Math.max(known, step[row]));
    };
    for (let row = 0, next = 0; row < count || next < count; ) {
      if (next < count && (row === count || endPs[ends[next]] <= startPs[row])) {
        arrives(ends[next++]);
        continue;
      }
      for (let l = linkOffset[route[row]]; l < linkOffset[route[row] + 1]; l++) raise(row, busy[links[l]]);
      raise(row, arrived.get(from(row)) + 1);
      for (let l = linkOffset[route[row]]; l < linkOffset[route[row] + 1]; l++) busy[links[l]] = step[row];
      left.set(from(row), Math.max(left.get(from(row)), step[row]));
      row++;
    }
  }
  const order = orderByTime(step);
  return {
    step: Float64Array.from(order, (row) => step[row]),
    source: Int32Array.from(order, (row) => routes.source[route[row]]),
    target: Int32Array.from(order, (row) => routes.target[route[row]]),
    chunk: Int32Array.from(order, (row) => chunk[row]),
    op: Uint8Array.from(order, (row) => op[row]),
  };
}
