import { InputError } from "../../base/errors.ts";
import { type Grouped, groupedBy } from "../../model/graph/graph.ts";
import { type RouteTimes, routeCount } from "../../model/routes/routes.ts";
import { mirrorRoutes, portBytes, portsOf, type SlotSchedule } from "../../model/slots/slot-schedule.ts";
import { type IndexColumn, indexColumn } from "../../model/steps/step-schedule.ts";

/** One pass through the streams. */
interface Pass {
  readonly streams: Streams;
  /** [chunks] NPU that has the chunk first, or where its contributions end. */
  readonly origin: Int32Array;
  /** Contributions add up on their way to the origin: a chunk leaves an NPU when all of them have come. Else one arrival does. */
  readonly merges: boolean;
  /** [chunks] when the chunk is at its origin: read, or where streams merge written. */
  readonly readyPs: Float64Array;
  /** [streams] when the link is free; replay leaves when it is free after the pass. */
  readonly freePs: Float64Array;
  /** Starts within a window, for tests: the result does not depend on it. */
  readonly starts?: number | undefined;
  readonly onProgress?: ((done: number) => void) | undefined;
}

interface Replay extends Pass {
  readonly missing: Missing;
  readonly window: Window;
  /** [chunks] scratch of `plan`: the first cell that brings the chunk to the NPU at hand, where mark is its turn. */
  readonly cellOf: Int32Array;
  readonly mark: Int32Array;
  turn: number;
  /** Scratch of `plan`: cells whose chunk is not there yet. */
  readonly waiting: Int32Array;
  readonly waitingChunk: Int32Array;
  /** [streams] cell that an active stream waits for; -1 where it has not run in the window. */
  readonly stalled: Int32Array;
  /** Streams that can go on, and room for as many. */
  active: Int32Array;
  survivors: Int32Array;
  /** Figures that change, by their names below: doubles in one place. */
  readonly now: Float64Array;
}

/** Beginning and end of the window. */
const FROM = 0;
const TO = 1;
/** Earliest start of a transfer that waits for nothing but the end of the window. */
const NEXT = 2;
/** Latest arrival. */
const LAST = 3;
/** Transfers that have started. */
const STARTED = 4;

/**
 * Returns when the last chunk of a pass arrives. A transfer starts when its chunk is at its sender and the transfer before it
 * on its link has freed it.
 *
 * Time is cut into windows. Of what had arrived when a window begins one bit (or counter) per NPU and chunk is kept, no time:
 * every transfer that has not started by then starts in the window or later, and a transfer whose chunk is there starts as
 * soon as its link is free. For others, the streams into the sender tell which transfer will bring the chunk, if it can come
 * within the window at all. Within a window streams run one after the other, each until it needs an arrival that is not known
 * yet or the window ends, in turns, until none can go on; what waits then, waits for an arrival after the window.
 *
 * Throws InputError for a pass that never ends. O(transfers + windows x (NPUs + streams)), and turns of the streams in a window,
 * which are few unless chunks hurry on: at most as many as transfers of a stream fit in it.
 */
export function replayPass(pass: Pass): number {
  const { streams, origin, merges, readyPs, starts, onProgress } = pass;
  const { into, outOf, count } = streams;
  const npus = into.offset.length - 1;
  const total = count.reduce((sum, transfers) => sum + transfers, 0);
  const window = windowFor(streams, merges, starts);
  let widest = 0;
  for (let v = 0; v < npus; v++) {
    let most = 0;
    for (let i = outOf.offset[v]; i < outOf.offset[v + 1]; i++) most += window.most[outOf.items[i]];
    widest = Math.max(widest, most);
  }
  const replay: Replay = {
    ...pass,
    missing: merges ? missingContributions(streams, origin) : missingEverywhere(npus, origin.length),
    window,
    cellOf: new Int32Array(origin.length),
    mark: new Int32Array(origin.length),
    turn: 0,
    waiting: new Int32Array(widest),
    waitingChunk: new Int32Array(widest),
    stalled: new Int32Array(count.length),
    active: new Int32Array(count.length),
    survivors: new Int32Array(count.length),
    now: new Float64Array(5),
  };
  const { now } = replay;
  now[TO] = window.lengthPs;
  /** Chunks in order of when they are at their origin. */
  const appearing = merges
    ? new Uint32Array(0)
    : Uint32Array.from(origin.keys()).sort((a, b) => readyPs[a] - readyPs[b] || a - b);
  let appeared = 0;
  while (now[STARTED] < total) {
    for (; appeared < appearing.length && readyPs[appearing[appeared]] <= now[FROM]; appeared++) {
      countDown(replay.missing, origin[appearing[appeared]], appearing[appeared]);
    }
    for (let v = 0; v < npus; v++) {
      settle(replay, v);
      plan(replay, v);
    }
    const before = now[STARTED];
    run(replay);
    onProgress?.(now[STARTED]);
    // where nothing started, NEXT is when something will: no stream came to the end of what was planned
    now[FROM] = now[STARTED] > before ? now[TO] : now[NEXT];
    if (now[FROM] === Number.POSITIVE_INFINITY) throw stuck(replay);
    now[TO] = now[FROM] + window.lengthPs;
  }
  if (merges) {
    now[FROM] = Number.POSITIVE_INFINITY;
    for (let v = 0; v < npus; v++) settle(replay, v);
  }
  return now[LAST];
}

function countDown({ counters, words, log }: Missing, npu: number, chunk: number): void {
  counters[npu * words + (chunk >>> (5 - log))] -= 1 << ((chunk << log) & 31);
}

/** Takes what has arrived at an NPU by the beginning of the window out of the streams. */
function settle(replay: Replay, v: number): void {
  const { streams, window, origin, merges, readyPs, now } = replay;
  const { into, columns, holder, first, step } = streams;
  const { arrived, head, times, stride, mask } = window;
  const { counters, words, log } = replay.missing;
  const row = v * words;
  const fromPs = now[FROM];
  for (let i = into.offset[v]; i < into.offset[v + 1]; i++) {
    const s = into.items[i];
    const base = s * stride;
    const column = columns[holder[s]];
    const end = head[s];
    let k = arrived[s];
    for (let at = first[s] + step * k; k < end; k++, at += step) {
      const time = times[base + (k & mask)];
      if (time > fromPs) break;
      const chunk = column[at];
      if (merges && origin[chunk] === v) {
        if (time > readyPs[chunk]) readyPs[chunk] = time;
      } else {
        counters[row + (chunk >>> (5 - log))] -= 1 << ((chunk << log) & 31);
      }
    }
    arrived[s] = k;
  }
}

/** Finds out what each transfer that may leave an NPU within the window waits for. */
function plan(replay: Replay, v: number): void {
  const { streams, window, waiting, waitingChunk } = replay;
  const { outOf, columns, holder, first, step, count } = streams;
  const { head, planned, most, times, waits, stride, mask } = window;
  const { counters, words, log } = replay.missing;
  const row = v * words;
  const full = 2 ** (2 ** log) - 1;
  let waiters = 0;
  for (let i = outOf.offset[v]; i < outOf.offset[v + 1]; i++) {
    const s = outOf.items[i];
    const base = s * stride;
    const column = columns[holder[s]];
    const end = Math.min(count[s], head[s] + most[s]);
    planned[s] = end;
    for (let k = head[s], at = first[s] + step * k; k < end; k++, at += step) {
      const chunk = column[at];
      const cell = base + (k & mask);
      times[cell] = -1;
      waits[cell] = THERE;
      if (((counters[row + (chunk >>> (5 - log))] >>> ((chunk << log) & 31)) & full) !== 0) {
        waiting[waiters] = cell;
        waitingChunk[waiters++] = chunk;
      }
    }
  }
  if (waiters > 0) resolve(replay, v, waiters);
}

/** Finds the cells that bring the chunks that transfers out of an NPU wait for. */
function resolve(replay: Replay, v: number, waiters: number): void {
  const { streams, window, waiting, waitingChunk, origin, merges, cellOf, mark } = replay;
  const { into, columns, holder, first, step, count } = streams;
  const { arrived, head, most, waits, next, stride, mask } = window;
  const { counters, words, log } = replay.missing;
  if (++replay.turn === 2 ** 31 - 1) {
    mark.fill(0);
    replay.turn = 1;
  }
  const turn = replay.turn;
  for (let i = into.offset[v]; i < into.offset[v + 1]; i++) {
    const s = into.items[i];
    const base = s * stride;
    const column = columns[holder[s]];
    const end = Math.min(count[s], head[s] + most[s]);
    for (let k = arrived[s], at = first[s] + step * k; k < end; k++, at += step) {
      const chunk = column[at];
      const cell = base + (k & mask);
      if (merges) next[cell] = mark[chunk] === turn ? cellOf[chunk] : -1;
      mark[chunk] = turn;
      cellOf[chunk] = cell;
    }
  }
  for (let i = 0; i < waiters; i++) {
    const chunk = waitingChunk[i];
    let code = mark[chunk] === turn ? cellOf[chunk] : NOT_YET;
    if (merges && code >= 0) {
      const word = counters[v * words + (chunk >>> (5 - log))];
      let open = (word >>> ((chunk << log) & 31)) & (2 ** (2 ** log) - 1);
      for (let cell = code; cell >= 0; cell = next[cell]) open--;
      if (open > 0) code = NOT_YET;
    } else if (!merges && code < 0 && origin[chunk] === v) {
      code = AT_ORIGIN - chunk;
    }
    waits[waiting[i]] = code;
  }
}

/** Lets the streams run until none can go on within the window: last to first and first to last in turns. */
function run(replay: Replay): void {
  const { window, streams, stalled, now } = replay;
  const { head, planned, times } = window;
  let left = 0;
  stalled.fill(-1);
  for (let s = 0; s < streams.count.length; s++) if (head[s] < planned[s]) replay.active[left++] = s;
  now[NEXT] = Number.POSITIVE_INFINITY;
  for (let before = -1; left > 0 && now[STARTED] > before; ) {
    before = now[STARTED];
    const { active, survivors } = replay;
    let surviving = 0;
    for (let i = left - 1; i >= 0; i--) {
      const s = active[i];
      const stands = stalled[s] >= 0 && times[stalled[s]] < 0;
      if (stands || advance(replay, s)) survivors[surviving++] = s;
    }
    left = surviving;
    replay.active = survivors;
    replay.survivors = active;
  }
}

/** Lets a stream run; returns whether it waits for an arrival that may become known within the window. */
function advance(replay: Replay, s: number): boolean {
  const { streams, window, freePs, readyPs, merges, stalled, now } = replay;
  const { head, planned, times, waits, next, stride, mask } = window;
  const base = s * stride;
  const end = planned[s];
  const serial = streams.serialPs[s];
  const travel = streams.travelPs[s];
  const fromPs = now[FROM];
  const toPs = now[TO];
  const first = head[s];
  let free = freePs[s];
  let waiting = false;
  let k = first;
  for (; k < end; k++) {
    const cell = base + (k & mask);
    let wait = waits[cell];
    let start = free > fromPs ? free : fromPs;
    if (wait >= 0) {
      let time = times[wait];
      while (time >= 0) {
        if (time > start) start = time;
        wait = merges ? next[wait] : -1;
        if (wait < 0) break;
        time = times[wait];
      }
      if (time < 0) {
        stalled[s] = wait;
        waiting = true;
        break;
      }
    } else if (wait === NOT_YET) {
      break;
    } else if (wait !== THERE && readyPs[AT_ORIGIN - wait] > start) {
      start = readyPs[AT_ORIGIN - wait];
    }
    if (start >= toPs) {
      if (start < now[NEXT]) now[NEXT] = start;
      break;
    }
    free = start + serial;
    times[cell] = start + travel;
  }
  if (k > first) {
    const last = times[base + ((k - 1) & mask)];
    if (last > now[LAST]) now[LAST] = last;
    now[STARTED] += k - first;
    head[s] = k;
    freePs[s] = free;
  }
  return waiting;
}

function stuck({ streams, window }: Replay): InputError {
  const { count, columns, holder, first, step, sender } = streams;
  const s = count.findIndex((transfers, i) => window.head[i] < transfers);
  const chunk = columns[holder[s]][first[s] + step * window.head[s]];
  return new InputError(
    `transfer ${window.head[s]} over route ${streams.route[s]} (simulate needs a valid schedule)`,
    `chunk ${chunk} to come to NPU ${sender[s]}`,
  );
}

/**
 * How many arrivals a chunk still waits for at an NPU before it can be sent on: a matrix of counters of 2^log bits, those of
 * NPU v from word v * words on.
 */
interface Missing {
  readonly counters: Int32Array;
  readonly words: number;
  readonly log: number;
}

const MOST_WORDS = 2 ** 31 - 1;

function missing(npus: number, chunks: number, most: number): Missing {
  let log = 0;
  while (2 ** (2 ** log) <= most) log++;
  const words = Math.ceil((chunks * 2 ** log) / 32);
  if (npus * words > MOST_WORDS) {
    throw new InputError(
      "NPUs times chunks",
      `at most ${Math.floor((MOST_WORDS * 32) / 2 ** log)} to simulate`,
      npus * chunks,
    ).as("out-of-range");
  }
  return { counters: new Int32Array(npus * words), words, log };
}

/** Returns 1 for every pair: all chunks still have to come. */
function missingEverywhere(npus: number, chunks: number): Missing {
  const matrix = missing(npus, chunks, 1);
  matrix.counters.fill(-1);
  return matrix;
}

/**
 * Returns the number of contributions that the streams bring to each pair, origins apart, whose counters stay 0.
 * Throws InputError for a chunk that an NPU receives through all its streams: one of them leads to where it goes next.
 * O(transfers).
 */
function missingContributions(streams: Streams, origin: Int32Array): Missing {
  const { into, columns, holder, receiver, count, first, step } = streams;
  const npus = into.offset.length - 1;
  let most = 1;
  for (let v = 0; v < npus; v++) most = Math.max(most, into.offset[v + 1] - into.offset[v] - 1);
  const matrix = missing(npus, origin.length, most);
  const { counters, words, log } = matrix;
  const mask = 2 ** (2 ** log) - 1;
  for (let s = 0; s < receiver.length; s++) {
    const column = columns[holder[s]];
    const v = receiver[s];
    const row = v * words;
    for (let k = 0, at = first[s]; k < count[s]; k++, at += step) {
      const chunk = column[at];
      if (origin[chunk] === v) continue;
      const word = row + (chunk >>> (5 - log));
      const shift = (chunk << log) & 31;
      if (((counters[word] >>> shift) & mask) === most) {
        throw new InputError(
          `chunk ${chunk} at NPU ${v} (simulate needs a valid schedule)`,
          `at most ${most} contributions`,
        );
      }
      counters[word] += 1 << shift;
    }
  }
  return matrix;
}

/** Transfers of a stream that a window keeps, where nothing else is asked for. */
const CELLS = 256;
const MOST_CELLS = 2 ** 28;

/** The chunk is at the sender since the window began or before. */
const THERE = -1;
/** The chunk does not come to the sender within the window. */
const NOT_YET = -2;
/** Codes from here down: chunk AT_ORIGIN - code leaves the NPU that has it first. */
const AT_ORIGIN = -3;

/** Cells between those of neighbouring streams, which otherwise would compete for the same lines of the caches. */
const APART = 8;

/**
 * The part of every stream that a window of time can touch. Transfer k of stream s is cell s * stride + (k & mask); cells
 * from arrived[s] on are in use: those before head[s] have started, those before planned[s] may start within the window.
 */
interface Window {
  readonly stride: number;
  readonly mask: number;
  readonly lengthPs: number;
  /** [streams] starts within a window at most. */
  readonly most: Int32Array;
  readonly arrived: Int32Array;
  readonly head: Int32Array;
  readonly planned: Int32Array;
  /** [cells] arrival; -1 until it is known. */
  readonly times: Float64Array;
  /** [cells] what the transfer waits for: a cell that brings its chunk to the sender, or a code. */
  readonly waits: Int32Array;
  /** [cells] where streams merge, the next cell that brings the same chunk to the same NPU, -1 after the last; else empty. */
  readonly next: Int32Array;
}

/**
 * Returns an empty window that is as long as `starts` transfers take on the fastest link. Without `starts` as long as leaves
 * 256 cells per stream, more where more transfers than that are on their way at once.
 * Throws InputError where that is too much memory.
 */
export function windowFor(streams: Streams, merges: boolean, starts?: number): Window {
  const { serialPs, travelPs, count } = streams;
  let fastest = Number.POSITIVE_INFINITY;
  let flying = 1;
  let longest = 1;
  for (let s = 0; s < count.length; s++) {
    if (count[s] === 0) continue;
    fastest = Math.min(fastest, serialPs[s]);
    flying = Math.max(flying, Math.min(count[s], Math.ceil(travelPs[s] / serialPs[s])));
    longest = Math.max(longest, count[s]);
  }
  if (fastest === Number.POSITIVE_INFINITY) fastest = 1;
  // starts of two windows stand in a stream that has not been settled yet
  let ahead = Math.min(starts ?? Math.max(CELLS - flying, flying) >> 1, longest);
  let shift = Math.ceil(Math.log2(2 * ahead + flying));
  const most = Math.floor(Math.log2(Math.max(1, MOST_CELLS / count.length - APART)));
  if (shift > most) {
    shift = most;
    ahead = (2 ** shift - flying) >> 1;
    if (ahead < 1) {
      const limit = Math.max(0, 2 ** shift - 2);
      throw new InputError(
        "chunks on their way on one link",
        `at most ${limit} at once to simulate this schedule`,
        flying,
      ).as("out-of-range");
    }
  }
  const stride = 2 ** shift + APART;
  const cells = count.length * stride;
  const lengthPs = ahead * fastest;
  return {
    stride,
    mask: 2 ** shift - 1,
    lengthPs,
    most: Int32Array.from(serialPs, (ps, s) => Math.min(count[s], Math.ceil(lengthPs / ps))),
    arrived: new Int32Array(count.length),
    head: new Int32Array(count.length),
    planned: new Int32Array(count.length),
    times: new Float64Array(cells),
    waits: new Int32Array(cells),
    next: new Int32Array(merges ? cells : 0),
  };
}

/** The chunks that each port receives, in order: all that the replay keeps of the logs. */
interface PortQueues {
  /** Port p of NPU v is number ports.offset[v] + p; items are their routes. */
  readonly ports: Grouped;
  /** [NPUs] what arrives, grouped by port. */
  readonly columns: readonly IndexColumn[];
  /** [ports] where the port begins in the column of its NPU. */
  readonly first: Int32Array;
  /** [ports] */
  readonly count: Int32Array;
}

/** What every link carries in one pass, in order. Streams are numbered like the ports of the logs. */
export interface Streams {
  /** [streams] NPU that sends. */
  readonly sender: Int32Array;
  readonly receiver: Int32Array;
  /** Streams by receiver, and by sender. */
  readonly into: Grouped;
  readonly outOf: Grouped;
  /** [streams] route, which is one link. */
  readonly route: Int32Array;
  /** [streams] how long a chunk holds the link, and how long it takes from its start to its arrival. */
  readonly serialPs: Float64Array;
  readonly travelPs: Float64Array;
  /** Transfer k of stream s carries columns[holder[s]][first[s] + step * k]. */
  readonly columns: readonly IndexColumn[];
  readonly holder: Int32Array;
  readonly first: Int32Array;
  readonly step: 1 | -1;
  /** [streams] transfers. */
  readonly count: Int32Array;
}

/** Returns whether every route is one link with share 1 that no other route uses. O(routes). */
export function routesAreLinks({ routes, topology }: SlotSchedule): boolean {
  const { linkOffset, links, shareNum, shareDen } = routes;
  const used = new Uint8Array(topology.linkSource.length);
  for (let route = 0; route < routeCount(routes); route++) {
    const at = linkOffset[route];
    if (linkOffset[route + 1] !== at + 1 || shareNum[at] !== shareDen[at] || used[links[at]] === 1) return false;
    used[links[at]] = 1;
  }
  return true;
}

/**
 * Returns the queues of all ports; asks for each row once, NPUs ascending. One index of memory per transfer.
 * Throws InputError for a log that is not well-formed. O(transfers + slots x NPUs).
 */
export function portQueues(schedule: SlotSchedule): PortQueues {
  const { npuCount } = schedule.topology;
  const ports = portsOf(schedule.routes, npuCount);
  const arrivalsAt = arrivalReader(schedule, ports);
  const first = new Int32Array(ports.items.length);
  const count = new Int32Array(ports.items.length);
  const columns: IndexColumn[] = [];
  for (let v = 0; v < npuCount; v++) {
    const { chunk, held, port, count: arrivals } = arrivalsAt(v);
    const [from, to] = [ports.offset[v], ports.offset[v + 1]];
    for (let i = 0; i < arrivals; i++) count[from + port[i]]++;
    for (let q = from, at = 0; q < to; q++) {
      first[q] = at;
      at += count[q];
    }
    const column = indexColumn(arrivals, schedule.collective.chunkCount);
    for (let i = 0; i < arrivals; i++) column[first[from + port[i]]++] = chunk[held + i];
    for (let q = from; q < to; q++) first[q] -= count[q];
    columns.push(column);
  }
  return { ports, columns, first, count };
}

/** Returns the streams of a pass that runs as the logs do. O(routes). */
export function forwardStreams({ routes, topology }: SlotSchedule, queues: PortQueues, times: RouteTimes): Streams {
  const { ports, columns, first, count } = queues;
  const sender = ports.items.map((route) => routes.source[route]);
  const receiver = ports.items.map((route) => routes.target[route]);
  return {
    sender,
    receiver,
    into: identityGroups(ports),
    outOf: groupedBy(sender, topology.npuCount),
    route: ports.items,
    ...timesOf(ports.items, times),
    columns,
    holder: receiver,
    first,
    step: 1,
    count,
  };
}

export const noMirror = (): InputError =>
  new InputError(
    "the pass that runs backwards (simulate needs a valid schedule)",
    "a route the other way for every route",
  );

/**
 * Returns the streams of a pass that runs backwards over the mirrored routes. O(routes).
 * Throws InputError when a route has no mirror.
 */
export function reversedStreams({ routes, topology }: SlotSchedule, queues: PortQueues, times: RouteTimes): Streams {
  const { ports, columns, first, count } = queues;
  const mirror = mirrorRoutes(routes, topology.npuCount);
  if (mirror === null) throw noMirror();
  const route = ports.items.map((r) => mirror[r]);
  const sender = ports.items.map((r) => routes.target[r]);
  const receiver = ports.items.map((r) => routes.source[r]);
  return {
    sender,
    receiver,
    into: groupedBy(receiver, topology.npuCount),
    outOf: identityGroups(ports),
    route,
    ...timesOf(route, times),
    columns,
    holder: sender,
    first: first.map((at, q) => at + count[q] - 1),
    step: -1,
    count,
  };
}

const identityGroups = ({ offset, items }: Grouped): Grouped => ({ offset, items: items.map((_, i) => i) });

const timesOf = (route: Int32Array, { serialPs, slotPs }: RouteTimes) => ({
  serialPs: Float64Array.from(route, (r) => serialPs[r]),
  travelPs: Float64Array.from(route, (r) => slotPs[r]),
});

/** What arrives at an NPU, in the order of its log. */
export interface Arrivals {
  /** [held + count] what the NPU has from the start, then the arrivals. */
  readonly chunk: IndexColumn;
  readonly held: number;
  readonly count: number;
  /** [count or more] port of each arrival; overwritten by the next call. */
  readonly port: IndexColumn;
}

/**
 * Returns a function that gives the arrivals at an NPU. It asks for the row at each call; O(chunks + slots x bytes per slot).
 * It throws InputError for a log that is not well-formed: a chunk that does not exist or comes twice or never, chunks from the
 * start among others, a port that does not exist, arrivals that do not match the ports.
 */
export function arrivalReader(schedule: SlotSchedule, ports: Grouped): (npu: number) => Arrivals {
  const { origin, topology, collective } = schedule;
  const { npuCount, nodeNames } = topology;
  const chunks = collective.chunkCount;
  const held = new Int32Array(npuCount);
  for (const npu of origin) held[npu]++;
  let mostPorts = 0;
  for (let v = 0; v < npuCount; v++) mostPorts = Math.max(mostPorts, ports.offset[v + 1] - ports.offset[v]);
  const port = indexColumn(chunks, mostPorts);
  const seen = new Int32Array(chunks);
  let turn = 0;
  return (v) => {
    const { chunk, ports: bits } = schedule.row(v);
    const degree = ports.offset[v + 1] - ports.offset[v];
    const fail = (expected: string, received: number): InputError =>
      new InputError(`the arrivals at NPU ${nodeNames[v]} (simulate needs a valid schedule)`, expected, received);
    if (chunk.length !== chunks) throw fail(`${chunks} chunks`, chunk.length);
    const count = chunks - held[v];
    const found = readPorts(bits, degree, port);
    if (found !== count) throw fail(`${count} arrivals through ports below ${degree}`, found);
    turn++;
    for (let i = 0; i < chunks; i++) {
      const c = chunk[i];
      if (!(c < chunks) || seen[c] === turn) throw fail(`every chunk below ${chunks} once`, c);
      if ((origin[c] === v) !== i < held[v]) throw fail("what is there from the start before all else", c);
      seen[c] = turn;
    }
    return { chunk, held: held[v], count, port };
  };
}

/** Writes the ports of the arrivals to `port`, as many as fit; returns how many arrivals there are, Infinity for a bad port. */
function readPorts(bits: Uint8Array, degree: number, port: IndexColumn): number {
  const step = 8 * portBytes(degree);
  let found = 0;
  for (let byte = 0, base = 0; byte < bits.length; byte++) {
    for (let rest = bits[byte]; rest !== 0; rest &= rest - 1) {
      const p = base + 31 - Math.clz32(rest & -rest);
      if (p >= degree) return Number.POSITIVE_INFINITY;
      if (found < port.length) port[found] = p;
      found++;
    }
    base += 8;
    if (base === step) base = 0;
  }
  return found;
}
