import { type ColouredNetwork, elementOf } from "./coloured-network.ts";
import { copyOf, type Partition, type Refiner } from "./refinement.ts";

/** So many second choices are tried in one search. */
const MOST_CHOICES = 64;
/** So many nodes are marked one after the other in one search. */
const MOST_MARKS = 2000;

/** A node that its cell of one partition has and the cell at the same place of another has not, and the nodes that this one has. */
interface Difference {
  readonly mine: number;
  /** Those first that the cell of the first partition has not. */
  readonly others: readonly number[];
}

/** Returns where two partitions of equal cells differ beyond nodes that are alone, in the smallest such cell; null where they do not. O(nodes). */
function firstDifference(a: Partition, b: Partition): Difference | null {
  let mine = -1;
  for (let v = 0; v < a.cell.length; v++) {
    const own = a.length[a.cell[v]];
    if (own > 1 && a.cell[v] !== b.cell[v] && (mine < 0 || own < a.length[a.cell[mine]])) mine = v;
  }
  if (mine < 0) return null;
  const cell = a.cell[mine];
  const others = [...b.order.subarray(cell, cell + b.length[cell])];
  const isBoth = (node: number): number => (a.cell[node] === cell ? 1 : 0);
  return { mine, others: others.sort((x, y) => isBoth(x) - isBoth(y) || x - y) };
}

/** Returns the map that takes nodes that are alone to those at their places, and leaves the others where they are. */
function mapBetween(a: Partition, b: Partition): Int32Array {
  return a.cell.map((cell, node) => (a.length[cell] === 1 ? b.order[cell] : node));
}

/** Returns the nodes of the smallest cell of two or more, the least first; none where all nodes are alone. O(nodes). */
function nextCell({ order, length }: Partition): Int32Array {
  let found = -1;
  for (let at = 0; at < order.length; at += length[at]) {
    if (length[at] > 1 && (found < 0 || length[at] < length[found])) found = at;
  }
  return found < 0 ? new Int32Array(0) : order.slice(found, found + length[found]).sort();
}

/**
 * Returns a map of a network onto itself, as elementOf has it, that keeps the cells of a partition and takes each of some nodes to
 * the other of its pair; null where none is found: two copies of the partition are marked and refined side by side. Nodes whose
 * cells do not differ stay where they are, and of nodes that do the first that fits is taken, so few maps are missed, but some may
 * be. What is returned was held against every node and arc.
 */
export function findMap(
  network: ColouredNetwork,
  refiner: Refiner,
  partition: Partition,
  pairs: readonly (readonly [from: number, to: number])[],
): Int32Array | null {
  let choices = 0;
  let marks = 0;
  const goes = (a: Partition, b: Partition, from: number, to: number): boolean =>
    a.cell[from] === b.cell[to] && refiner.mark(a, [from]) === refiner.mark(b, [to]);

  const complete = (a: Partition, b: Partition): Int32Array | null => {
    const difference = firstDifference(a, b);
    if (difference === null) {
      const element = elementOf(network, mapBetween(a, b));
      if (element !== null) return element;
    }
    const cell = difference === null ? nextCell(a) : [];
    const from = difference?.mine ?? cell[0];
    if (from === undefined) return null;
    let isSecond = false;
    for (const to of difference?.others ?? cell) {
      if (isSecond) choices++;
      if (choices > MOST_CHOICES || marks++ > MOST_MARKS) return null;
      isSecond = true;
      const [here, there] = [copyOf(a), copyOf(b)];
      const found = goes(here, there, from, to) ? complete(here, there) : null;
      if (found !== null) return found;
    }
    return null;
  };

  const [a, b] = [copyOf(partition), copyOf(partition)];
  return pairs.every(([from, to]) => goes(a, b, from, to)) ? complete(a, b) : null;
}
