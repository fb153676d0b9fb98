import { groupedOnce } from "../../model/graph/graph.ts";
import { heap } from "../../model/graph/heap.ts";
import type { RouteSet } from "../../model/routes/routes.ts";

/** Shortest ways of a chunk from its holders. */
export interface Distances {
  /** [npus] in picoseconds, Infinity where the chunk cannot come. */
  readonly timePs: Float64Array;
  /** [npus] place in the order in which the chunk may pass the NPUs, holders first; -1 where it cannot come. */
  readonly rank: Int32Array;
  /** NPUs by rank. */
  readonly order: Int32Array;
}

/**
 * Returns a function that gives times and an order of NPUs such that routes which go up in it make no cycle. The order is by the sum of squared
 * times over the way: several quick routes come before one as slow as all of them (TACCL allows the NPUs on shortest ways
 * only, and loses NDv2's ring of double links by it); equal ones, as behind one switch, follow the first holder cyclically,
 * `turn` places on: so several chunks of one holder begin at different NPUs.
 * O(routes * log(routes)).
 */
export function distancesFrom(
  npuCount: number,
  routes: RouteSet,
  slotPs: Float64Array,
  holders: Int32Array,
  allowed: (route: number) => boolean,
): (turn: number) => Distances {
  const least = slotPs.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const squares = slotPs.map((ps) => Math.max(1, Math.round((64 * ps) / Math.max(least, 1))) ** 2);
  const timePs = shortest(npuCount, routes, slotPs, holders, allowed);
  const sums = shortest(npuCount, routes, squares, holders, allowed);
  const reached = Int32Array.from({ length: npuCount }, (_, npu) => npu).filter(
    (npu) => sums[npu] < Number.POSITIVE_INFINITY,
  );
  return (turn) => {
    const place = (npu: number): number => (npu + 2 * npuCount - holders[0] - 1 - (turn % npuCount)) % npuCount;
    const order = reached.slice().sort((a, b) => sums[a] - sums[b] || place(a) - place(b));
    const rank = new Int32Array(npuCount).fill(-1);
    for (let i = 0; i < order.length; i++) rank[order[i]] = i;
    return { timePs, rank, order };
  };
}

/** Dijkstra's algorithm from several NPUs. */
function shortest(
  npuCount: number,
  { source, target }: RouteSet,
  length: Float64Array,
  from: Int32Array,
  allowed: (route: number) => boolean,
): Float64Array {
  const leaving = groupedOnce(source, npuCount);
  const distance = new Float64Array(npuCount).fill(Number.POSITIVE_INFINITY);
  const done = new Uint8Array(npuCount);
  const queue = heap();
  for (const npu of from) {
    distance[npu] = 0;
    queue.add(0, npu);
  }
  while (queue.size() > 0) {
    const npu = queue.take();
    if (done[npu] === 1) continue;
    done[npu] = 1;
    for (let i = leaving.offset[npu]; i < leaving.offset[npu + 1]; i++) {
      const route = leaving.items[i];
      const way = distance[npu] + length[route];
      if (way >= distance[target[route]] || !allowed(route)) continue;
      distance[target[route]] = way;
      queue.add(way, target[route]);
    }
  }
  return distance;
}
