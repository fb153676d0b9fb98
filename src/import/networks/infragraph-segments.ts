/** An edge of an infrastructure, both ways, between two nodes; what it does not say is null. */
export interface Segment {
  readonly a: number;
  readonly b: number;
  readonly bytesPerSecond: number | null;
  readonly latencyPs: number | null;
  /** Its link's, or several joined by "+". */
  readonly name: string;
}

const least = (x: number | null, y: number | null): number | null =>
  x === null || y === null ? (x ?? y) : Math.min(x, y);
const sum = (x: number | null, y: number | null): number | null => (x === null || y === null ? (x ?? y) : x + y);

/**
 * Returns the nodes and edges that remain where, of edges between the same two nodes, the last counts, and where `minor` nodes
 * with less than two edges are left out, and those with two become part of one edge between their neighbours: the least
 * bandwidth, the sum of latencies. Nodes ascend; edges stay in the order of the first of their parts. O(nodes + edges).
 */
export function simplified(
  nodes: number,
  segments: readonly Segment[],
  minor: (node: number) => boolean,
): { readonly nodes: readonly number[]; readonly segments: readonly Segment[] } {
  const last = new Map<number, Segment>();
  for (const segment of segments) {
    const { a, b } = segment;
    last.set(Math.min(a, b) * nodes + Math.max(a, b), segment);
  }
  const edges: (Segment | null)[] = [...last.values()];
  const at: Set<number>[] = Array.from({ length: nodes }, () => new Set());
  for (const [e, { a, b }] of (edges as Segment[]).entries()) {
    at[a]?.add(e);
    at[b]?.add(e);
  }
  const gone = new Uint8Array(nodes);
  const stack = Array.from({ length: nodes }, (_, node) => node)
    .filter(minor)
    .reverse();
  const remove = (e: number): void => {
    const { a, b } = edges[e] as Segment;
    edges[e] = null;
    for (const end of [a, b]) {
      at[end]?.delete(e);
      if (gone[end] === 0 && minor(end)) stack.push(end);
    }
  };
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    const own = [...(at[node] as Set<number>)].sort((x, y) => x - y);
    if (gone[node] === 1 || own.length > 2) continue;
    gone[node] = 1;
    const [e, f] = own;
    if (e === undefined) continue;
    const first = edges[e] as Segment;
    if (f === undefined) {
      remove(e);
      continue;
    }
    const second = edges[f] as Segment;
    const [a, b] = [first, second].map((edge) => (edge.a === node ? edge.b : edge.a)) as [number, number];
    remove(e);
    remove(f);
    if (a === b) continue;
    edges[e] = {
      a,
      b,
      bytesPerSecond: least(first.bytesPerSecond, second.bytesPerSecond),
      latencyPs: sum(first.latencyPs, second.latencyPs),
      name: first.name === second.name ? first.name : `${first.name}+${second.name}`,
    };
    at[a]?.add(e);
    at[b]?.add(e);
  }
  return {
    nodes: Array.from({ length: nodes }, (_, node) => node).filter((node) => gone[node] === 0),
    segments: edges.filter((edge) => edge !== null),
  };
}
