import { groupedBy } from "../../model/graph/graph.ts";
import { OP_COPY, type StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Describer } from "../describe.ts";
import type { Recorder } from "../violation.ts";
import { type PlacementView, placementView } from "./rows.ts";

/**
 * Records what is wrong with the sums of a collective that reduces: a transfer that departs with nothing, a contribution
 * added twice, an NPU of the postcondition that ends without one.
 *
 * Each NPU of the precondition starts with the set of its own contribution, any other NPU with the empty set. A payload is
 * the set at the source at departure, arrivals at that time included. A reduce unites it with the target's set, which must
 * be disjoint; a copy replaces the target's set. Arrivals at one time at one NPU take effect by start, route, operation.
 * At the end each NPU of the postcondition holds the set of all of the precondition.
 *
 * Chunks are judged one by one: by counting where that is exact (`countJudge`), which is every schedule that moves partial
 * sums along trees; by sets for the others and to find the words for what is wrong (`setJudge`). O(transfers + members), and
 * members / 32 for each transfer of a chunk judged by sets.
 */
export function checkContributions(schedule: StepSchedule, recorder: Recorder, words: Describer): void {
  const { topology, collective } = schedule;
  const { offset, items: rows } = groupedBy(schedule.chunk, collective.chunkCount);
  let most = 0;
  for (let chunk = 0; chunk < collective.chunkCount; chunk++) most = Math.max(most, offset[chunk + 1] - offset[chunk]);
  const life = chunkLife(most);
  const pre = placementView(collective, collective.pre);
  const post = placementView(collective, collective.post);
  const soundByCount = countJudge(topology.npuCount, most);
  const judgeBySets = setJudge(schedule, recorder, words);
  for (let chunk = 0; chunk < collective.chunkCount; chunk++) {
    pre.look(chunk);
    post.look(chunk);
    load(life, schedule, chunk, rows.subarray(offset[chunk], offset[chunk + 1]));
    if (!soundByCount(life, pre, post)) judgeBySets(life, pre, post);
  }
}

/**
 * Returns a function that says whether a chunk's life is sound, knowing of each set of contributions only its size; false
 * means unsound, or unknown from sizes alone. O(transfers + members), memory O(NPUs).
 *
 * Why sizes are enough. Call a set complete when it is the whole of P contributions, partial when it is neither that nor
 * empty. A partial set is *live* at the NPU that holds it until it departs, and then in flight; what stays behind at the
 * sender is *spent*. At all times the live partial sets are pairwise disjoint: so they are at the start, and
 *   - a departure passes the live set on; a second departure of a spent one is refused;
 *   - a reduce unites two live sets, disjoint by the invariant, so nothing repeats and sizes add; a reduce into a spent set
 *     is refused; one into an empty set is a move;
 *   - a copy drops what was there and is a move.
 * A set of size P is therefore the complete one, known member by member, and may be sent any number of times. While it
 * exists no live partial set does: what is reduced is then complete too, and repeats unless its target is empty.
 */
function countJudge(
  npus: number,
  mostTransfers: number,
): (life: ChunkLife, pre: PlacementView, post: PlacementView) => boolean {
  const size = new Int32Array(npus);
  const spent = new Uint8Array(npus);
  const payload = new Int32Array(mostTransfers);
  let whole = 0;
  let source: Int32Array = size;
  let target: Int32Array = size;
  let op: Uint8Array = spent;

  const depart = (i: number): boolean => {
    const npu = source[i];
    const sent = size[npu];
    if (sent === 0) return false;
    if (sent < whole) {
      if (spent[npu] === 1) return false;
      spent[npu] = 1;
    }
    payload[i] = sent;
    return true;
  };
  const arrive = (i: number): boolean => {
    const npu = target[i];
    if (op[i] === OP_COPY || size[npu] === 0) {
      size[npu] = payload[i];
      spent[npu] = 0;
      return true;
    }
    if (spent[npu] === 1 || payload[i] === whole) return false;
    size[npu] += payload[i];
    return true;
  };

  return (life, pre, post) => {
    ({ source, target, op } = life);
    whole = pre.to - pre.from;
    for (let i = pre.from; i < pre.to; i++) size[pre.members[i]] = 1;
    let sound = play(life, depart, arrive);
    for (let i = post.from; i < post.to && sound; i++) sound = size[post.members[i]] === whole;
    for (let i = pre.from; i < pre.to; i++) {
      size[pre.members[i]] = 0;
      spent[pre.members[i]] = 0;
    }
    for (let i = 0; i < life.count; i++) {
      size[target[i]] = 0;
      spent[target[i]] = 0;
    }
    return sound;
  };
}

/** Contributions as a bit set over the chunk's precondition, never changed once made; null is the empty set. */
type Contributions = Uint32Array | null;

/** Returns the least member of the set, a position in the precondition. */
function first(set: Uint32Array): number {
  const word = set.findIndex((bits) => bits !== 0);
  return 32 * word + 31 - Math.clz32(set[word] & -set[word]);
}

function united(a: Uint32Array, b: Uint32Array): Uint32Array {
  const union = a.slice();
  for (let w = 0; w < union.length; w++) union[w] |= b[w];
  return union;
}

/** Returns the members of both, null where there are none. */
function common(a: Uint32Array, b: Uint32Array): Contributions {
  for (let w = 0; w < a.length; w++) if ((a[w] & b[w]) !== 0) return a.map((bits, v) => bits & b[v]);
  return null;
}

function sizeOf(set: Contributions): number {
  let size = 0;
  for (let bits of set ?? []) {
    bits -= (bits >>> 1) & 0x55555555;
    bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
    size += Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  }
  return size;
}

/**
 * Returns a function that plays a chunk's life with whole sets of contributions and records what is wrong. A transfer that
 * departs with nothing changes nothing; after a repetition the target holds the union.
 * O(members / 32) time for each transfer, O(NPUs x members / 32) words of memory.
 */
function setJudge(
  schedule: StepSchedule,
  recorder: Recorder,
  words: Describer,
): (life: ChunkLife, pre: PlacementView, post: PlacementView) => void {
  const { routes, topology } = schedule;
  const held: Contributions[] = new Array<Contributions>(topology.npuCount).fill(null);

  return (life, pre, post) => {
    const { chunk, source, target, op, row } = life;
    const whole = pre.to - pre.from;
    const payload: Contributions[] = new Array<Contributions>(life.count).fill(null);
    const named = (position: number): string => words.npu(pre.members[pre.from + position], chunk);
    for (let i = 0; i < whole; i++) {
      const own = new Uint32Array((whole + 31) >>> 5);
      own[i >>> 5] = 1 << (i & 31);
      held[pre.members[pre.from + i]] = own;
    }

    const depart = (i: number): boolean => {
      payload[i] = held[source[i]];
      if (payload[i] === null) {
        recorder.record(() => words.departure("absent-chunk", row[i], " but holds no contribution to it then"));
      }
      return true;
    };
    const arrive = (i: number): boolean => {
      const sent = payload[i];
      payload[i] = null;
      if (sent === null) return true;
      const npu = target[i];
      const before = held[npu];
      if (op[i] === OP_COPY || before === null) {
        held[npu] = sent;
        return true;
      }
      const twice = common(before, sent);
      if (twice !== null) recorder.record(() => repetition(i, first(twice)));
      held[npu] = united(before, sent);
      return true;
    };
    const repetition = (i: number, position: number) => {
      const npu = target[i];
      const end = routes.linkOffset[life.route[i] + 1];
      const arrival = `receives chunk ${chunk} on ${words.route(life.route[i])} at ${words.time(life.end[i])} (transfer ${row[i]})`;
      return {
        kind: "repeated-contribution" as const,
        npu,
        chunk,
        link: routes.links[end - 1],
        transfer: row[i],
        timePs: life.end[i],
        message: `${words.npu(npu, chunk)} ${arrival} with the contribution of ${named(position)}, which it has already`,
      };
    };
    play(life, depart, arrive);

    for (let i = post.from; i < post.to; i++) {
      const npu = post.members[i];
      const set = held[npu];
      const size = sizeOf(set);
      if (size === whole) continue;
      recorder.record(() => {
        let absent = 0;
        while (set !== null && ((set[absent >>> 5] >>> (absent & 31)) & 1) === 1) absent++;
        const message = `${words.npu(npu, chunk)} ends with ${size} of the ${whole} contributions to chunk ${chunk}, without that of ${named(absent)}`;
        return { kind: "missing-contribution", npu, chunk, message };
      });
    }
    for (let i = pre.from; i < pre.to; i++) held[pre.members[i]] = null;
    for (let i = 0; i < life.count; i++) held[target[i]] = null;
  };
}

/**
 * The transfers of one chunk, copied together from their rows, with the orders of their departures and arrivals. A
 * workspace: `load` refills it for the next chunk. Transfer i is `row[i]` of the schedule.
 */
interface ChunkLife {
  chunk: number;
  count: number;
  row: Int32Array;
  start: Float64Array;
  end: Float64Array;
  route: Int32Array;
  source: Int32Array;
  target: Int32Array;
  op: Uint8Array;
  /** [count] transfers in order of departure. */
  departures: Int32Array;
  /** [count] transfers in order of arrival: by end, then start, route, operation (copy first), row. */
  arrivals: Int32Array;
}

/** Returns an empty workspace for chunks of at most `most` transfers. */
function chunkLife(most: number): ChunkLife {
  return {
    chunk: -1,
    count: 0,
    row: new Int32Array(most),
    start: new Float64Array(most),
    end: new Float64Array(most),
    route: new Int32Array(most),
    source: new Int32Array(most),
    target: new Int32Array(most),
    op: new Uint8Array(most),
    departures: new Int32Array(most),
    arrivals: new Int32Array(most),
  };
}

/** Fills the workspace with the chunk's rows. O(rows) where they are in order of start and end, else O(rows log rows). */
function load(life: ChunkLife, schedule: StepSchedule, chunk: number, rows: Int32Array): void {
  const { start, end, route, departures, arrivals } = life;
  const { source, target } = schedule.routes;
  const count = rows.length;
  life.chunk = chunk;
  life.count = count;
  life.row.set(rows);
  let startsInOrder = true;
  let endsInOrder = true;
  for (let i = 0; i < count; i++) {
    const row = rows[i];
    start[i] = schedule.startPs[row];
    end[i] = schedule.endPs[row];
    route[i] = schedule.route[row];
    life.source[i] = source[route[i]];
    life.target[i] = target[route[i]];
    life.op[i] = schedule.op[row];
    departures[i] = i;
    arrivals[i] = i;
    if (i > 0) {
      if (start[i] < start[i - 1]) startsInOrder = false;
      if (compareArrivals(life, i - 1, i) > 0) endsInOrder = false;
    }
  }
  if (!startsInOrder) departures.subarray(0, count).sort((a, b) => start[a] - start[b] || a - b);
  if (!endsInOrder) arrivals.subarray(0, count).sort((a, b) => compareArrivals(life, a, b));
}

/**
 * Two rows that tie up to the operation overlap on one route, which is a violation already: so the row numbers never
 * decide a verdict.
 */
function compareArrivals({ end, start, route, op }: ChunkLife, a: number, b: number): number {
  return end[a] - end[b] || start[a] - start[b] || route[a] - route[b] || op[a] - op[b] || a - b;
}

/**
 * Plays the chunk's life: `arrive(i)` and `depart(i)` in order of time, arrivals before departures at the same time. Stops
 * with false as soon as one of them returns false.
 */
function play(life: ChunkLife, depart: (i: number) => boolean, arrive: (i: number) => boolean): boolean {
  const { count, start, end, departures, arrivals } = life;
  let landed = 0;
  for (let k = 0; k < count; k++) {
    const i = departures[k];
    // What lands by start[i] has left before it, since transfers take time.
    while (end[arrivals[landed]] <= start[i]) if (!arrive(arrivals[landed++])) return false;
    if (!depart(i)) return false;
  }
  while (landed < count) if (!arrive(arrivals[landed++])) return false;
  return true;
}
