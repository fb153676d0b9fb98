import { random } from "../base/random.ts";
import { arrivalsThrough, sharedCapacity } from "./sharing.ts";

/** A time longer than this many times what it takes alone: something is shared. */
export const SLOWED = 1.18;
/** Counts of sharers are whole numbers but for this part of them. */
const WHOLE = 0.13;
/** What one shared capacity explains to this part, it explains. */
const EXPLAINED = 0.1;
/** What all together get of something is what the fastest gets alone but for this factor, where that fills it. */
const FILLED = 1.08;
const MOST_ROUNDS = 12;

/** Classes of flows that share something, and what: [items] class of each, [classes] bytes per second (Infinity: alone). */
export interface Partition {
  readonly classOf: Int32Array;
  readonly capacity: readonly number[];
  /** False where the times fit no partition. */
  readonly sure: boolean;
}

/**
 * Asks which of some flows share something, and returns it: all at once, whose times tell how many share with each; where classes of
 * equal size cannot be told apart, random halves; pairs where rates differ so that times are no multiples. Yields lists of sets
 * to be run, gets for each set what its flows took [set], in `alone` units (seconds x rate / bytes).
 * `rate`: [items] bytes per second alone.
 */
export function* partition(
  rate: readonly number[],
  bytes: number,
  seed: number,
): Generator<readonly (readonly number[])[], Partition, readonly (readonly number[])[]> {
  const items = rate.map((_, i) => i);
  if (items.length === 1) return separate(1);
  const [whole] = yield [items];
  if (whole.every((ratio) => ratio < SLOWED)) return separate(items.length);
  const one = oneClass(rate, bytes, whole);
  const counts = whole.map((ratio) => Math.round(ratio));
  const regular =
    whole.every((ratio, i) => Math.abs(ratio / counts[i] - 1) < WHOLE) &&
    items.every((i) => counts.filter((n) => n === counts[i]).length % counts[i] === 0);
  if (one !== null && !(regular && Math.max(...counts) < items.length))
    return isFilled(one.capacity[0], rate) ? one : yield* byPairs(rate, bytes, whole, one);
  if (regular) {
    const found = yield* byCounts(counts, seed);
    if (found !== null) return withCapacities(found, rate, bytes, whole);
  }
  return yield* byPairs(rate, bytes, whole, null);
}

/** Whether the fastest flow fills alone what all share. */
function isFilled(capacity: number, rate: readonly number[]): boolean {
  const fastest = Math.max(...rate);
  return capacity < FILLED * fastest && capacity * FILLED > fastest;
}

function separate(count: number): Partition {
  return {
    classOf: Int32Array.from({ length: count }, (_, i) => i),
    capacity: new Array<number>(count).fill(Number.POSITIVE_INFINITY),
    sure: true,
  };
}

/** Returns all in one class where one capacity explains what they took together. */
function oneClass(rate: readonly number[], bytes: number, ratios: readonly number[]): Partition | null {
  const taken = ratios.map((ratio, i) => (ratio * bytes) / rate[i]);
  const capacity = sharedCapacity(rate, bytes, Math.max(...taken));
  if (capacity === Number.POSITIVE_INFINITY) return null;
  // what one of them fills alone, and all of them keep busy, is shared by all that it slows, fairly or not
  const filled = isFilled(capacity, rate) && ratios.every((ratio) => ratio > SLOWED);
  const fits =
    filled || arrivalsThrough(capacity, rate, bytes).every((time, i) => Math.abs(taken[i] / time - 1) < EXPLAINED);
  return fits ? { classOf: new Int32Array(rate.length), capacity: [capacity], sure: true } : null;
}

/** Finds classes whose sizes are known, by how many of a random half share with each; null where the counts contradict each other. */
function* byCounts(
  sizes: readonly number[],
  seed: number,
): Generator<readonly (readonly number[])[], Int32Array | null, readonly (readonly number[])[]> {
  const draws = random(seed, 11);
  const relation = relationOf(sizes);
  for (let round = 0; round < MOST_ROUNDS; round++) {
    if (!relation.settle()) return null;
    if (relation.isDone()) return relation.classes();
    const open = sizes.map((_, i) => i).filter((i) => relation.isOpen(i));
    const half = open.filter(() => draws.below(2) === 0);
    const rest = open.filter((i) => !half.includes(i));
    const sets = [half, rest].filter((set) => set.length > 1);
    if (sets.length === 0) continue;
    const answers = yield sets;
    for (const [s, set] of sets.entries()) {
      for (const [k, i] of set.entries()) relation.count(i, set, Math.round(answers[s][k]));
    }
  }
  return null;
}

/** What is known of which items are in one class; class sizes are known. */
function relationOf(sizes: readonly number[]) {
  const n = sizes.length;
  const state = new Int8Array(n * n);
  const counts: { item: number; others: number[]; among: number }[] = [];
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++)
      if (i === j) state[i * n + j] = 1;
      else if (sizes[i] !== sizes[j]) state[i * n + j] = -1;
  for (let i = 0; i < n; i++) {
    const others = [...sizes.keys()].filter((j) => j !== i);
    counts.push({ item: i, others, among: sizes[i] - 1 });
  }
  let changed = false;
  let sound = true;
  const set = (i: number, j: number, value: 1 | -1): void => {
    if (state[i * n + j] === value) return;
    if (state[i * n + j] !== 0) sound = false;
    state[i * n + j] = value;
    state[j * n + i] = value;
    changed = true;
  };
  const isOpen = (i: number): boolean => state.subarray(i * n, (i + 1) * n).includes(0);
  return {
    count(item: number, of: readonly number[], count: number): void {
      counts.push({ item, others: of.filter((j) => j !== item), among: count - 1 });
      // those of one class have the same count
      for (const j of of) {
        const other = counts.findLast(
          (c) => c.item === j && c.others.length === of.length - 1 && c.others.includes(item),
        );
        if (j !== item && other !== undefined && other.among !== count - 1 && state[item * n + j] === 0)
          set(item, j, -1);
      }
    },
    /** Draws all conclusions; false where they contradict each other. */
    settle(): boolean {
      do {
        changed = false;
        for (const { item, others, among } of counts) {
          const open = others.filter((j) => state[item * n + j] === 0);
          const same = others.filter((j) => state[item * n + j] === 1).length;
          if (same > among || same + open.length < among) return false;
          if (same === among) for (const j of open) set(item, j, -1);
          else if (same + open.length === among) for (const j of open) set(item, j, 1);
        }
        for (let i = 0; i < n; i++)
          for (let j = 0; j < n; j++) {
            if (i === j || state[i * n + j] !== 1) continue;
            for (let k = 0; k < n; k++) {
              const known = state[j * n + k];
              if (known !== 0 && k !== i) set(i, k, known as 1 | -1);
            }
          }
      } while (changed && sound);
      return sound;
    },
    isOpen,
    isDone: (): boolean => !state.includes(0),
    classes(): Int32Array {
      const first = Int32Array.from({ length: n }, (_, i) => state.subarray(i * n, (i + 1) * n).indexOf(1));
      const ids = [...new Set(first)];
      return first.map((f) => ids.indexOf(f));
    },
  };
}

function withCapacities(
  classOf: Int32Array,
  rate: readonly number[],
  bytes: number,
  ratios: readonly number[],
  sure = true,
): Partition {
  const capacity = Array.from({ length: Math.max(...classOf) + 1 }, (_, one) => {
    const members = [...classOf.keys()].filter((i) => classOf[i] === one);
    if (members.length === 1) return Number.POSITIVE_INFINITY;
    const limits = members.map((i) => rate[i]);
    return sharedCapacity(limits, bytes, Math.max(...members.map((i) => (ratios[i] * bytes) / rate[i])));
  });
  return { classOf, capacity, sure };
}

/** Tries all pairs; what contends is of one class. `one`: one class that explains what all took together, kept where pairs do not speak against it. */
function* byPairs(
  rate: readonly number[],
  bytes: number,
  whole: readonly number[],
  one: Partition | null,
): Generator<readonly (readonly number[])[], Partition, readonly (readonly number[])[]> {
  const n = rate.length;
  const pairs: (readonly [number, number])[] = [];
  for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) pairs.push([i, j]);
  const answers = yield pairs;
  const parent = Int32Array.from({ length: n }, (_, i) => i);
  const root = (i: number): number => (parent[i] === i ? i : root(parent[i]));
  const slowest = answers.map((ratios) => Math.max(...ratios));
  if (one !== null) {
    const expected = pairs.map(([i, j]) =>
      Math.max(
        ...arrivalsThrough(one.capacity[0], [rate[i], rate[j]], bytes).map((t, k) => (t * rate[k ? j : i]) / bytes),
      ),
    );
    if (expected.every((ratio, p) => Math.abs(slowest[p] / ratio - 1) < SLOWED - 1)) return one;
  }
  const contends = slowest.map((ratio) => ratio > SLOWED);
  for (const [p, [i, j]] of pairs.entries()) if (contends[p]) parent[root(j)] = root(i);
  const roots = [...new Set(rate.map((_, i) => root(i)))];
  const classOf = Int32Array.from(rate, (_, i) => roots.indexOf(root(i)));
  // each class has one that contends with all others, or it is more than one thing that is shared
  const sure = roots.every((_, one) => {
    const members = [...classOf.keys()].filter((i) => classOf[i] === one);
    const slowWith = (i: number, j: number): boolean =>
      contends[pairs.findIndex(([a, b]) => (a === i && b === j) || (a === j && b === i))];
    return members.some((i) => members.every((j) => i === j || slowWith(i, j)));
  });
  return withCapacities(classOf, rate, bytes, whole, sure);
}
