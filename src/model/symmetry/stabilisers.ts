import { type Random, random } from "../../base/random.ts";
import { type DisjointSets, disjointSets } from "../graph/graph.ts";
import { composed, inverted } from "../numbers/ordering.ts";
import { type ColouredNetwork, imageOf } from "./coloured-network.ts";
import { findMap } from "./map-search.ts";
import { copyOf, type Partition, type Refiner, refinerOf } from "./refinement.ts";

/**
 * The maps of a network that leave some points where they are, with the orbits of all points under them. Points are nodes, arcs
 * and cables, as imageOf has them.
 */
export interface Level {
  /** Returns the point that stands for all of a point's orbit. */
  nameOf(point: number): number;
  /** Returns whether some map of the level takes a point elsewhere. */
  moves(point: number): boolean;
  /** Returns a map of the level to apply to a point, to come nearer to the one that it is not but that stands for its orbit; null: none is known. */
  step(point: number): Int32Array | null;
  /** Returns the level of those maps that also leave this point, which stands for its orbit, where it is. */
  child(point: number): Level;
}

/** So many random maps are drawn in a row that join no orbits before orbits are taken to be known. */
const IDLE_DRAWS = 6;
/** So many maps at most generate a level's group. */
const MOST_GENERATORS = 48;
/** Bytes of the maps of all levels that are kept; those that were asked for longest ago are made again. */
const MOST_BYTES = 256e6;
/** Nodes and arcs that are looked at to find maps, for a network of no arcs, and for each of its arcs; beyond, points stay apart. */
const LEAST_WORK = 5e7;
const WORK_PER_ARC = 2000;
/** Levels that are searched for maps before all others. */
const FIRST_LEVELS = 3;

function isIdentity(element: Int32Array): boolean {
  for (let i = 0; i < element.length; i++) if (element[i] !== i) return false;
  return true;
}

/** The level of the identity alone. */
export const STILL: Level = {
  nameOf: (point) => point,
  moves: () => false,
  step: () => null,
  child: () => STILL,
};

/** Returns whether a group draws nothing but the identity, as one of more maps does in a case of thousands. */
function isStill(draw: () => Int32Array | null): boolean {
  for (let i = 0; i < 2 * IDLE_DRAWS; i++) {
    const element = draw();
    if (element === null || !isIdentity(element)) return element === null;
  }
  return true;
}

/** Random products of maps (Celler et al. 1995, product replacement). */
interface Pool {
  readonly elements: Int32Array[];
  add(element: Int32Array): void;
  /** Returns a random product; null where there is no map but the identity. */
  draw(): Int32Array | null;
}

function poolOf(first: readonly Int32Array[], rng: Random): Pool {
  const elements: Int32Array[] = [];
  let last: Int32Array | null = null;
  let settling = 0;
  const add = (element: Int32Array): void => {
    settling = Math.min(MOST_GENERATORS, elements.length + 1);
    if (elements.length < MOST_GENERATORS) {
      elements.push(element);
      return;
    }
    // a random half takes it in
    for (let i = 0; i < elements.length; i++) {
      if (rng.below(2) === 0) elements[i] = composed(element, elements[i] as Int32Array);
    }
  };
  first.forEach(add);
  const turn = (): Int32Array => {
    const i = rng.below(elements.length);
    const j = rng.below(elements.length);
    const [one, other] = [elements[i] as Int32Array, elements[j] as Int32Array];
    const by = rng.below(2) === 0 ? other : inverted(other);
    if (i !== j) elements[i] = rng.below(2) === 0 ? composed(by, one) : composed(one, by);
    last = last === null ? (elements[i] as Int32Array) : composed(elements[i] as Int32Array, last);
    return last;
  };
  const draw = (): Int32Array | null => {
    if (elements.length === 0) return null;
    for (; settling > 0; settling--) turn();
    return turn();
  };
  return { elements, add, draw };
}

/** The orbits of a group. */
interface Orbits {
  readonly generators: readonly Int32Array[];
  readonly nameOf: Level["nameOf"];
  readonly moves: Level["moves"];
  readonly step: Level["step"];
  /** That all this takes. */
  readonly bytes: number;
}

/** A group as it is made. */
interface Making {
  readonly pool: Pool;
  /** Returns a random map of the group from those that it is part of; null where these have none. */
  readonly draw: () => Int32Array | null;
  /** Hears of each map that only the search found. */
  readonly onFound: (element: Int32Array) => void;
}

/**
 * Returns the group of all maps of a network onto itself, as far as they are found: every map was held against every node and arc
 * (elementOf), and products of such maps are maps. `known`: elements that are known before. Deterministic.
 */
export function levelsOf(network: ColouredNetwork, known: readonly Int32Array[]): Level {
  const { nodes, source, target, kind, linkArcs, back } = network;
  const arcs = source.length;
  const points = nodes + 2 * arcs;
  const refiner: Refiner = refinerOf(network);
  const most = LEAST_WORK + WORK_PER_ARC * arcs;
  let verified = 0;
  const isSpent = (): boolean => refiner.work() + verified > most;
  const search = (partition: Partition, pairs: readonly (readonly [number, number])[]): Int32Array | null => {
    if (isSpent()) return null;
    const found = findMap(network, refiner, partition, pairs);
    verified += found === null ? nodes : nodes + arcs;
    return found;
  };

  const endsOf = (point: number): readonly number[] => {
    if (point < nodes) return [point];
    const arc = (point - nodes) % arcs;
    return [source[arc], target[arc]];
  };
  /** Marks a point; both ends of a cable are not told apart. */
  const marked = (partition: Partition, point: number): Partition => {
    const copy = copyOf(partition);
    const ends = endsOf(point);
    for (const group of point < nodes + arcs ? ends.map((end) => [end]) : [ends]) refiner.mark(copy, group);
    return copy;
  };

  /** Joins the orbits of nodes and arcs under a map; returns whether some were apart. */
  const joinBy = (sets: DisjointSets, element: Int32Array): boolean => {
    let joins = false;
    for (let point = 0; point < element.length; point++) {
      if (element[point] === point || sets.least(point) === sets.least(element[point])) continue;
      sets.join(point, element[point]);
      joins = true;
    }
    return joins;
  };

  /**
   * Makes the group's pool such that the orbits of nodes and arcs are those of all maps that keep the cells of the partition; returns
   * these orbits.
   */
  const complete = (partition: Partition, { pool, draw, onFound }: Making): DisjointSets => {
    const sets = disjointSets(nodes + arcs);
    for (const element of pool.elements) joinBy(sets, element);
    const drawn = (): void => {
      for (let idle = 0; idle < IDLE_DRAWS; idle++) {
        const element = draw();
        if (element === null) return;
        if (isIdentity(element)) continue;
        if (joinBy(sets, element)) idle = -1;
        if (draw !== pool.draw && (idle < 0 || pool.elements.length < IDLE_DRAWS)) pool.add(element);
      }
    };
    drawn();
    const { order, length, cell } = partition;
    const unify = (members: ArrayLike<number> & Iterable<number>): void => {
      const splitOf = (point: number): number => {
        const [from, to] = endsOf(point);
        return refiner.mark(copyOf(partition), [from as number]) ^ (to === undefined ? 0 : cell[to]);
      };
      // one point of each orbit; where there are two or more, by how the partition splits where they are marked
      const apart = new Map<number, number[]>();
      const first = members[0];
      let known = new Set([sets.least(first)]);
      for (const point of members) {
        if (known.has(sets.least(point)) || isSpent()) continue;
        if (apart.size === 0) apart.set(splitOf(first), [first]);
        const split = splitOf(point);
        const like = apart.get(split) ?? [];
        const element = firstMap(like, (other) => search(partition, zipped(endsOf(other), endsOf(point))));
        if (element === null) {
          apart.set(split, [...like, point]);
          known.add(sets.least(point));
          continue;
        }
        joinBy(sets, element);
        pool.add(element);
        onFound(element);
        drawn();
        known = new Set([...apart.values()].flat().map(sets.least));
      }
    };
    for (let at = 0; at < nodes; at += length[at]) {
      if (length[at] > 1) unify(order.slice(at, at + length[at]).sort());
    }
    const alike = new Map<string, number[]>();
    for (let arc = 0; arc < linkArcs; arc++) {
      const [from, to] = [cell[source[arc]], cell[target[arc]]];
      if (length[from] === 1 && length[to] === 1) continue;
      const key = `${from} ${to} ${kind[arc]}`;
      const known = alike.get(key);
      if (known === undefined) alike.set(key, [nodes + arc]);
      else known.push(nodes + arc);
    }
    for (const list of alike.values()) unify(list);
    return sets;
  };

  const isDiscrete = ({ length }: Partition): boolean => length.every((many) => many === 1);

  /**
   * Returns the orbits of a group of some maps at least, `sets` those of nodes and arcs. Ways within an orbit are looked for when one is
   * asked for: about as many steps as it has points, O(generators * points).
   */
  const orbitsOf = (pool: Pool, sets: DisjointSets): Orbits => {
    const generators = [...pool.elements];
    while (generators.length < 2 * IDLE_DRAWS) generators.push(pool.draw() as Int32Array);
    const steps: Int32Array[] = [];
    const least = Int32Array.from({ length: nodes + arcs }, (_, point) => sets.least(point));
    const size = new Int32Array(nodes + arcs);
    for (const point of least) size[point]++;
    const cableOf = (arc: number): number => nodes + arcs + Math.min(arc, back[arc]);
    /** Returns the least nodes or arcs of the orbits that a point is in: of both ways of a cable. */
    const within = (point: number): readonly [number, number] => {
      if (point < nodes + arcs) return [least[point], least[point]];
      const arc = point - nodes - arcs;
      return [least[nodes + arc], least[nodes + back[arc]]];
    };
    const nameOf = (point: number): number => {
      const [one, other] = within(point);
      return point < nodes + arcs ? one : cableOf(Math.min(one, other) - nodes);
    };
    const sizeOf = (point: number): number => {
      const [one, other] = within(point);
      return point >= nodes + arcs && one === other ? size[one] / 2 : size[one];
    };
    const towards = new Int32Array(points).fill(-1);
    const isReached = new Set<number>();
    const reach = (first: number): void => {
      isReached.add(first);
      if (steps.length === 0) for (const element of generators) steps.push(element, inverted(element));
      const queue = new Int32Array(sizeOf(first));
      let last = 1;
      queue[0] = first;
      for (let i = 0; i < last && last < queue.length; i++) {
        for (let s = 0; s < steps.length; s++) {
          const image = imageOf(network, steps[s] as Int32Array, queue[i]);
          if (towards[image] >= 0 || image === first) continue;
          towards[image] = s ^ 1;
          queue[last++] = image;
        }
      }
    };
    return {
      generators,
      nameOf,
      moves: (point) => sizeOf(point) > 1,
      step(point) {
        const first = nameOf(point);
        if (!isReached.has(first)) reach(first);
        return towards[point] < 0 ? null : (steps[towards[point]] as Int32Array);
      },
      bytes: 4 * (2 * generators.length * (nodes + arcs) + 2 * points),
    };
  };

  /** Returns a random map of a group that leaves a point, which stands for its orbit, where it is (Schreier's lemma); null where it has none. */
  const fixing = ({ step }: Orbits, pool: Pool, point: number): Int32Array | null => {
    let element = pool.draw();
    if (element === null) return null;
    for (let at = imageOf(network, element, point); at !== point; ) {
      const next = step(at);
      if (next === null) return null;
      element = composed(next, element);
      at = imageOf(network, next, at);
    }
    return element;
  };

  let bytes = 0;
  /** Levels with maps, by what they leave where it is; asked for longest ago first. */
  const kept = new Map<string, { readonly level: Level; readonly bytes: number }>();

  const levelOf = (key: string, partition: Partition, pool: Pool, known: DisjointSets): Level => {
    if (pool.elements.length === 0) return STILL;
    const orbits = orbitsOf(pool, known);
    const { nameOf, moves, step } = orbits;
    const level: Level = { nameOf, moves, step, child: (point) => childOf(key, partition, orbits, point) };
    kept.set(key, { level, bytes: orbits.bytes });
    bytes += orbits.bytes;
    for (const [other, { bytes: theirs }] of kept) {
      if (bytes <= MOST_BYTES || other === key) break;
      kept.delete(other);
      bytes -= theirs;
    }
    return level;
  };

  const childOf = (key: string, partition: Partition, orbits: Orbits, point: number): Level => {
    const own = `${key} ${point}`;
    const known = kept.get(own);
    if (known !== undefined) {
      kept.delete(own);
      kept.set(own, known);
      return known.level;
    }
    const rng = random(point, orbits.generators.length);
    const from = poolOf(orbits.generators, rng);
    if (isStill(() => fixing(orbits, from, point))) return STILL;
    const finer = marked(partition, point);
    if (isDiscrete(finer)) return STILL;
    const pool = poolOf([], rng);
    const sets = complete(finer, { pool, draw: () => fixing(orbits, from, point), onFound: () => {} });
    return levelOf(own, finer, pool, sets);
  };

  /** Searches the first levels of a chain for maps that the pool of the whole group does not make yet. */
  const deepen = (whole: Partition, pool: Pool, sets: DisjointSets): void => {
    const levels = [{ pool, sets }];
    let partition = whole;
    for (const above of levels) {
      const point = firstShared(partition);
      if (point < 0 || levels.length > FIRST_LEVELS) return;
      partition = marked(partition, point);
      if (isDiscrete(partition)) return;
      const orbits = above.pool.elements.length === 0 ? null : orbitsOf(above.pool, above.sets);
      const own = poolOf([], random(levels.length, 1));
      const draw = () => (orbits === null ? null : fixing(orbits, above.pool, point));
      const onFound = (element: Int32Array): void => {
        for (const one of levels) {
          one.pool.add(element);
          joinBy(one.sets, element);
        }
      };
      levels.push({ pool: own, sets: complete(partition, { pool: own, draw, onFound }) });
    }
  };

  const partition = refiner.initial();
  if (isDiscrete(partition)) return STILL;
  const pool = poolOf(known, random(0));
  const sets = complete(partition, { pool, draw: pool.draw, onFound: () => {} });
  deepen(partition, pool, sets);
  return levelOf("", partition, pool, sets);
}

/** Returns the first thing that one of some points gives; null where none does. */
function firstMap(points: readonly number[], give: (point: number) => Int32Array | null): Int32Array | null {
  for (const point of points) {
    const given = give(point);
    if (given !== null) return given;
  }
  return null;
}

const zipped = (from: readonly number[], to: readonly number[]): (readonly [number, number])[] =>
  from.map((end, i) => [end, to[i] as number]);

/** Returns the least node that shares its cell; -1 where none does. */
const firstShared = ({ cell, length }: Partition): number => cell.findIndex((at) => length[at] > 1);
