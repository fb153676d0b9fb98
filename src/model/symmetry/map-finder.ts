/**
 * A search for maps of a coloured directed graph onto itself by colour refinement: two copies of the graph, one with u
 * marked and one with v, are refined side by side; classes that differ are split by marking one more node in each, and nodes
 * of classes that are the same stay where they are. No second choice is tried, so maps may be missed, and hashes stand for
 * colours, so the caller checks what comes out.
 */
export interface MapFinder {
  /** Nodes that may be images of each other, ascending; classes by their least node. */
  readonly classes: readonly Int32Array[];
  /** Returns a map [nodes] that takes u to v and probably keeps the graph; null where none is found or the work is used up. */
  find(u: number, v: number): Int32Array | null;
}

/** Returns 32 well-mixed bits (the finalizer of MurmurHash3). */
function mixed(value: number): number {
  let x = value;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return x ^ (x >>> 16);
}

/**
 * Makes the colours [nodes] those of one round of refinement: a node's own, and those at the other ends of its arcs, which have
 * kinds [arcs], out and in, each as often as it is there. Colours are hashes: equal ones stay equal, others probably differ.
 * O(nodes + arcs).
 */
export function refineOnce(colours: Int32Array, source: Int32Array, target: Int32Array, kind: Int32Array): void {
  const sum = new Int32Array(colours.length);
  for (let a = 0; a < source.length; a++) {
    const label = Math.imul(kind[a] + 1, 0x9e3779b1);
    sum[source[a]] += mixed(colours[target[a]] ^ label);
    sum[target[a]] += mixed(colours[source[a]] ^ Math.imul(label, 3));
  }
  for (let v = 0; v < colours.length; v++) colours[v] = mixed(mixed(colours[v]) + sum[v]);
}

/** Returns a function that counts different colours [nodes]. O(nodes), where sorting them would take ten times as long. */
function counterOf(nodes: number): (colours: Int32Array) => number {
  const places = 2 ** Math.ceil(Math.log2(2 * nodes + 1));
  const at = new Int32Array(places);
  const seen = new Int32Array(places);
  let call = 0;
  return (colours) => {
    call++;
    let count = 0;
    for (let v = 0; v < nodes; v++) {
      const colour = colours[v];
      let place = colour & (places - 1);
      while (seen[place] === call && at[place] !== colour) place = (place + 1) & (places - 1);
      if (seen[place] === call) continue;
      seen[place] = call;
      at[place] = colour;
      count++;
    }
    return count;
  };
}

/** Nodes by their colours: order[from[i] .. from[i + 1]] are the nodes of class i, ascending; classes by colour. */
interface Classes {
  readonly order: Int32Array;
  readonly from: Int32Array;
  readonly count: number;
}

/** Returns a search on the graph of these colours [nodes] and arcs; `work` nodes and arcs are looked at in all. */
export function mapFinder(
  colour: Int32Array,
  source: Int32Array,
  target: Int32Array,
  kind: Int32Array,
  work: number,
): MapFinder {
  const nodes = colour.length;
  const arcs = source.length;
  const countOf = counterOf(nodes);
  let left = work;

  const classesOf = (colours: Int32Array): Classes => {
    const order = Int32Array.from(colours.keys()).sort((a, b) => colours[a] - colours[b] || a - b);
    const from = new Int32Array(nodes + 1);
    let count = 0;
    for (let i = 0; i < nodes; i++) if (i > 0 && colours[order[i]] !== colours[order[i - 1]]) from[++count] = i;
    from[++count] = nodes;
    return { order, from, count };
  };

  /** Refines colours until no class splits further; returns the classes. */
  const refine = (colours: Int32Array): Classes => {
    let classes = countOf(colours);
    for (;;) {
      left -= nodes + arcs;
      refineOnce(colours, source, target, kind);
      const finer = countOf(colours);
      if (finer <= classes) return classesOf(colours);
      classes = finer;
    }
  };

  const base = colour.slice();
  const initial = refine(base);

  const find = (u: number, v: number): Int32Array | null => {
    const here = base.slice();
    const there = base.slice();
    for (let mark = 1, at = u, to = v; left > 0; mark++) {
      here[at] = there[to] = mixed(mark * 2 + 1);
      const a = refine(here);
      const b = refine(there);
      if (!alike(here, a, there, b)) return null;
      const next = firstDifference(a, b);
      if (next === null) return mapBetween(a, b);
      [at, to] = next;
    }
    return null;
  };
  return { classes: listed(initial), find };
}

/** Returns the classes of two nodes or more, by their least nodes. */
function listed({ order, from, count }: Classes): Int32Array[] {
  const classes: Int32Array[] = [];
  for (let i = 0; i < count; i++) if (from[i + 1] - from[i] > 1) classes.push(order.slice(from[i], from[i + 1]));
  return classes.sort((a, b) => a[0] - b[0]);
}

/** Returns whether two colourings have the same colours, each as often. */
function alike(here: Int32Array, a: Classes, there: Int32Array, b: Classes): boolean {
  return a.count === b.count && a.order.every((v, i) => here[v] === there[b.order[i]]);
}

/** Returns the least nodes that only one of two classes of a colour has, of the smallest such classes; null: none differ. */
function firstDifference(a: Classes, b: Classes): [number, number] | null {
  let found: [number, number] | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (let c = 0; c < a.count; c++) {
    const size = a.from[c + 1] - a.from[c];
    if (size === 1 || size >= least) continue;
    const mine = a.order.subarray(a.from[c], a.from[c + 1]);
    const other = b.order.subarray(b.from[c], b.from[c + 1]);
    if (mine.every((v, i) => v === other[i])) continue;
    least = size;
    found = [onlyIn(mine, other), onlyIn(other, mine)];
  }
  return found;
}

/** Returns the least element of an ascending list that another of the same length lacks. */
function onlyIn(list: Int32Array, other: Int32Array): number {
  let j = 0;
  for (const v of list) {
    while (j < other.length && other[j] < v) j++;
    if (other[j] !== v) return v;
  }
  return list[0];
}

/** Returns the map that takes the i-th node of each class of one colouring to the i-th of the other's. */
function mapBetween(a: Classes, b: Classes): Int32Array {
  const map = new Int32Array(a.order.length);
  for (let i = 0; i < map.length; i++) map[a.order[i]] = b.order[i];
  return map;
}
