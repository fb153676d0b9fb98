import { mix } from "../../base/random.ts";
import { groupedBy } from "../graph/graph.ts";
import { indicesBelow } from "../numbers/ordering.ts";
import type { ColouredNetwork } from "./coloured-network.ts";

/**
 * Nodes in cells, in an order that says nothing within a cell: order[c .. c + length[c]] are the nodes of the cell that starts at
 * place c. Cells never merge.
 */
export interface Partition {
  readonly order: Int32Array;
  /** [nodes] the place of each node in `order`. */
  readonly place: Int32Array;
  /** [nodes] where the cell of each node starts. */
  readonly cell: Int32Array;
  /** [places] the nodes of the cell that starts there. */
  readonly length: Int32Array;
}

export const copyOf = ({ order, place, cell, length }: Partition): Partition => ({
  order: order.slice(),
  place: place.slice(),
  cell: cell.slice(),
  length: length.slice(),
});

/** Colour refinement (McKay and Piperno 2014, section 3): cells are split until all nodes of one have as many arcs of each kind to each. */
export interface Refiner {
  /** Returns the coarsest refined partition of the network. O((nodes + arcs) log nodes). */
  initial(): Partition;
  /**
   * Puts the nodes, all of one cell or each of another, before the rest of their cells as cells of their own, and refines. Returns
   * a hash of what was split how: the same for partitions that a map takes to each other. O(arcs log nodes), less where little splits.
   */
  mark(partition: Partition, nodes: readonly number[]): number;
  /** Nodes and arcs looked at so far. */
  work(): number;
}

/** Returns the refiner of a network. O(nodes + arcs). */
export function refinerOf({ nodes, colour, source, target, kind }: ColouredNetwork): Refiner {
  const out = groupedBy(source, nodes);
  const into = groupedBy(target, nodes);
  const label = kind.map((k) => mix(2 * k + 1));
  const labelBack = kind.map((k) => mix(2 * k + 2));
  const sum = new Int32Array(nodes);
  const isTouched = new Uint8Array(nodes);
  const touched = new Int32Array(nodes);
  /** [places] how many nodes of the cell were touched. */
  const hits = new Int32Array(nodes);
  /** [places] where the touched nodes of the cell begin. */
  const end = new Int32Array(nodes);
  const queue = new Int32Array(nodes + 1);
  const isQueued = new Uint8Array(nodes);
  let [head, tail] = [0, 0];
  let done = 0;

  const push = (start: number): void => {
    if (isQueued[start] === 1) return;
    isQueued[start] = 1;
    queue[tail] = start;
    tail = (tail + 1) % queue.length;
  };

  const put = ({ order, place }: Partition, node: number, at: number): void => {
    const other = order[at];
    order[place[node]] = other;
    place[other] = place[node];
    order[at] = node;
    place[node] = at;
  };

  /** Cuts a cell in two at a place. */
  const cut = ({ order, cell, length }: Partition, start: number, at: number): void => {
    const end = start + length[start];
    length[start] = at - start;
    length[at] = end - at;
    for (let i = at; i < end; i++) cell[order[i]] = at;
  };

  /** Counts the arcs between a cell and all nodes, and moves those with some to the ends of their cells, which are listed; returns how many. */
  const count = (p: Partition, start: number, cells: number[]): number => {
    const { order, cell, length, place } = p;
    let many = 0;
    const reach = (node: number, by: number): void => {
      if (isTouched[node] === 0) {
        isTouched[node] = 1;
        sum[node] = 0;
        touched[many++] = node;
        if (hits[cell[node]] === 0) cells.push(cell[node]);
        hits[cell[node]]++;
      }
      sum[node] = (sum[node] + by) | 0;
    };
    for (let i = start; i < start + length[start]; i++) {
      const v = order[i];
      for (let a = out.offset[v]; a < out.offset[v + 1]; a++) reach(target[out.items[a]], label[out.items[a]]);
      for (let a = into.offset[v]; a < into.offset[v + 1]; a++) reach(source[into.items[a]], labelBack[into.items[a]]);
      done += 1 + out.offset[v + 1] - out.offset[v] + into.offset[v + 1] - into.offset[v];
    }
    for (const c of cells) end[c] = c + length[c];
    for (let i = 0; i < many; i++) {
      const node = touched[i];
      const at = --end[cell[node]];
      if (place[node] !== at) put(p, node, at);
    }
    return many;
  };

  /** Splits the touched end of a cell by what was counted; returns the hash with what was split. */
  const split = (p: Partition, start: number, hash: number): number => {
    const { order, length, place } = p;
    const last = start + length[start];
    const first = last - hits[start];
    const hit = order.subarray(first, last);
    let isSame = true;
    for (let i = 1; i < hit.length && isSame; i++) isSame = sum[hit[i]] === sum[hit[0]];
    if (!isSame) {
      hit.sort((a, b) => sum[a] - sum[b]);
      for (let i = first; i < last; i++) place[order[i]] = i;
    }
    let trace = mix(hash ^ mix(start * 3 + 1) ^ hit.length);
    const starts = [start];
    for (let i = first; i < last; i++) {
      if (i > first && sum[order[i]] === sum[order[i - 1]]) continue;
      trace = mix(trace + Math.imul(sum[order[i]], 0x9e3779b1) + (i - start));
      if (i > start) starts.push(i);
    }
    if (starts.length === 1) return trace;
    for (let k = 1; k < starts.length; k++) cut(p, starts[k - 1] as number, starts[k] as number);
    const wasQueued = isQueued[start] === 1;
    let largest = start;
    for (const s of starts) if (length[s] > length[largest]) largest = s;
    for (const s of starts) if (wasQueued || s !== largest) push(s);
    return trace;
  };

  const refine = (p: Partition): number => {
    let hash = 0;
    const cells: number[] = [];
    while (head !== tail) {
      const start = queue[head];
      head = (head + 1) % queue.length;
      isQueued[start] = 0;
      cells.length = 0;
      const many = count(p, start, cells);
      cells.sort((a, b) => a - b);
      hash = mix(hash + start);
      for (const c of cells) {
        hash = split(p, c, hash);
        hits[c] = 0;
      }
      for (let i = 0; i < many; i++) isTouched[touched[i]] = 0;
    }
    return hash;
  };

  const initial = (): Partition => {
    const order = indicesBelow(nodes).sort((a, b) => colour[a] - colour[b] || a - b);
    const p = { order, place: new Int32Array(nodes), cell: new Int32Array(nodes), length: new Int32Array(nodes) };
    let start = 0;
    for (let i = 0; i < nodes; i++) {
      if (i > 0 && colour[order[i]] !== colour[order[i - 1]]) start = i;
      if (i === start) push(i);
      p.place[order[i]] = i;
      p.cell[order[i]] = start;
      p.length[start]++;
    }
    refine(p);
    return p;
  };

  const mark = (p: Partition, marked: readonly number[]): number => {
    const starts = new Map<number, number>();
    for (const node of marked) {
      const start = p.cell[node];
      const at = starts.get(start) ?? start;
      put(p, node, at);
      starts.set(start, at + 1);
    }
    let hash = 0;
    for (const start of [...starts.keys()].sort((a, b) => a - b)) {
      const at = starts.get(start) as number;
      hash = mix(hash + start * 5 + at);
      if (at === start + p.length[start]) continue;
      cut(p, start, at);
      push(at - start <= p.length[at] ? start : at);
    }
    return mix(hash + refine(p));
  };

  return { initial, mark, work: () => done };
}
