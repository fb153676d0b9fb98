import { disjointSets } from "../../model/graph/graph.ts";
import { composed, indicesBelow } from "../../model/numbers/ordering.ts";
import { imagesByName } from "../../model/symmetry/network-maps.ts";
import type { Item, Load, SyncProblem } from "./problem.ts";

/** What a map of the NPUs does to arcs and items. */
export interface SyncMap {
  /** [npus] */
  readonly npu: Int32Array;
  /** [arcs] */
  readonly arc: Int32Array;
  /** [items] */
  readonly item: Int32Array;
}

/** A problem of one item of each orbit; the sends of the others are images of theirs under `maps`, the identity first. */
export interface Folded {
  readonly problem: SyncProblem;
  /** [items of the folded problem] */
  readonly item: Int32Array;
  readonly maps: readonly SyncMap[];
}

/** Nodes of the search for maps, and maps that are tried as generators. */
const MOST_NODES = 20_000;
const MOST_MAPS = 24;
/** Items times NPUs squared beyond which no maps are looked for: about two seconds. */
const MOST_WORK = 4e6;

/** Returns what a map of the NPUs does where it keeps arcs, loads and items; null where it does not. */
function mapOf({ arcs, loads, items }: SyncProblem, npu: Int32Array): SyncMap | null {
  const own = new Float64Array(arcs.source.length);
  for (const load of loads) if (load.arcs.length === 1) own[load.arcs[0]] = load.capacity;
  const arc = imagesByName(
    Array.from(own, (capacity, a) => `${arcs.source[a]} ${arcs.target[a]} ${capacity}`),
    Array.from(own, (capacity, a) => `${npu[arcs.source[a]]} ${npu[arcs.target[a]]} ${capacity}`),
  );
  if (arc === null) return null;
  const shared = new Map<string, number>();
  const loadName = ({ capacity }: Load, users: Int32Array): string => `${capacity}: ${users.slice().sort().join()}`;
  for (const load of loads) shared.set(loadName(load, load.arcs), (shared.get(loadName(load, load.arcs)) ?? 0) + 1);
  for (const load of loads) {
    const name = loadName(
      load,
      load.arcs.map((a) => arc[a]),
    );
    const left = shared.get(name) ?? 0;
    if (left === 0) return null;
    shared.set(name, left - 1);
  }
  const itemName = ({ sources, targets, demand }: Item, at: (v: number) => number): string => {
    const ends = Array.from(targets, (v, t) => `${at(v)}:${demand === null ? "" : demand[t]}`);
    return `${sources.map(at).sort().join()}>${ends.sort().join()}`;
  };
  const item = imagesByName(
    items.map((one) => itemName(one, (v) => v)),
    items.map((one) => itemName(one, (v) => npu[v])),
  );
  return item === null ? null : { npu, arc, item };
}

/** Yields maps that may be symmetries: shifts of all NPUs and, of a power of two of them, exclusive or; then by a search. */
function* candidates(problem: SyncProblem, shape: readonly number[]): Generator<Int32Array> {
  const n = problem.npuCount;
  const npus = indicesBelow(n);
  for (let d = 0, stride = 1; d < shape.length; stride *= shape[d++] as number) {
    const size = shape[d] as number;
    const at = (v: number): number => Math.floor(v / stride) % size;
    yield npus.map((v) => v + stride * (((at(v) + 1) % size) - at(v)));
    yield npus.map((v) => v + stride * (size - 1 - 2 * at(v)));
  }
  if (n % 2 === 0) yield npus.map((v) => v ^ 1);
  for (let step = 1; step < n; step++) if (n % step === 0) yield npus.map((v) => (v + step) % n);
  for (let bit = 2; bit < n && (n & (n - 1)) === 0; bit *= 2) yield npus.map((v) => v ^ bit);
  yield* searched(problem);
}

/** Yields maps without fixed points that keep which pairs have arcs and how many, by backtracking within a budget. */
function* searched({ npuCount: n, arcs, loads }: SyncProblem): Generator<Int32Array> {
  const joined = new Float64Array(n * n);
  for (const { arcs: users, capacity } of loads) {
    if (users.length === 1) joined[arcs.source[users[0]] * n + arcs.target[users[0]]] += capacity;
  }
  const image = new Int32Array(n).fill(-1);
  const taken = new Uint8Array(n);
  let left = MOST_NODES;
  function* place(v: number): Generator<Int32Array> {
    if (v === n) yield image.slice();
    else
      for (let w = 0; w < n && left > 0; w++) {
        if (w === v || taken[w] === 1) continue;
        left--;
        let fits = true;
        for (let u = 0; u < v && fits; u++) {
          fits = joined[u * n + v] === joined[image[u] * n + w] && joined[v * n + u] === joined[w * n + image[u]];
        }
        if (!fits) continue;
        [image[v], taken[w]] = [w, 1];
        yield* place(v + 1);
        taken[w] = 0;
      }
  }
  yield* place(0);
}

/** Returns the maps that some generate, the identity first; null where one other than it keeps an NPU in place. */
function freeGroup(generators: readonly Int32Array[], npuCount: number): Int32Array[] | null {
  const identity = indicesBelow(npuCount);
  const group: Int32Array[] = [identity];
  const known = new Set([identity.join()]);
  for (let i = 0; i < group.length; i++) {
    for (const generator of generators) {
      const next = composed(generator, group[i] as Int32Array);
      const key = next.join();
      if (known.has(key)) continue;
      if (next.some((image, v) => image === v)) return null;
      known.add(key);
      group.push(next);
    }
  }
  return group;
}

/**
 * Returns a group of maps that keep the problem and of which none but the identity keeps an NPU in place, as large as was
 * found. A schedule that looks the same under them is found among as many times fewer. Items have one source each.
 */
export function freeMaps(problem: SyncProblem, shape: readonly number[]): SyncMap[] {
  const { npuCount, items } = problem;
  let group: Int32Array[] = [indicesBelow(npuCount)];
  const generators: Int32Array[] = [];
  const isSmall = items.length * npuCount * npuCount <= MOST_WORK;
  const movesItems = isSmall && items.every(({ sources }) => sources.length === 1);
  let tried = 0;
  for (const npu of movesItems ? candidates(problem, shape) : []) {
    if (group.length === npuCount || tried === MOST_MAPS) break;
    if (group.some((one) => one.every((image, v) => image === npu[v])) || mapOf(problem, npu) === null) continue;
    tried++;
    const larger = freeGroup([...generators, npu], npuCount);
    if (larger === null) continue;
    generators.push(npu);
    group = larger;
  }
  const maps = group.map((npu) => mapOf(problem, npu));
  return maps.filter((map) => map !== null);
}

/**
 * Returns the problem of schedules that are the same under the maps: one item of each orbit, and one load, over the arcs of
 * all images of its arcs; where fewer loads than maps are in an orbit, each counts as often as maps keep it.
 */
export function fold(problem: SyncProblem, maps: readonly SyncMap[]): Folded {
  const { loads, items } = problem;
  const orbit = disjointSets(items.length);
  for (const { item } of maps) for (let i = 0; i < item.length; i++) orbit.join(i, item[i]);
  const representatives = indicesBelow(items.length).filter((i) => orbit.least(i) === i);
  const folded = new Map<string, Load>();
  for (const { arcs: users, capacity } of loads) {
    const images = new Set(
      maps.map(({ arc }) =>
        users
          .map((a) => arc[a])
          .sort()
          .join(),
      ),
    );
    const key = `${capacity}: ${[...images].sort()[0]}`;
    if (folded.has(key)) continue;
    const all = [...images].flatMap((text) => text.split(",").map(Number));
    folded.set(key, { arcs: Int32Array.from(all), weight: maps.length / images.size, capacity });
  }
  return {
    problem: { ...problem, loads: [...folded.values()], items: Array.from(representatives, (i) => items[i] as Item) },
    item: representatives,
    maps,
  };
}
