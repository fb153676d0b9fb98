import { nodeCount, type Topology } from "../topology/topology.ts";
import type { Ports } from "./sides.ts";

/** Passes over the switches near a set: their places depend on each other. */
const PASSES = 3;

/** Returns a set of NPUs and, after them, the switches that are better inside with them. */
export type Placement = (npus: ArrayLike<number>) => Int32Array;

/**
 * Returns the function that adds to a set of NPUs the switches, ascending, with at least as much bandwidth to the set as to
 * the rest, in three passes over the switches that the set's links lead to. Any choice is valid.
 *
 * What each switch has in common with the set is summed up as nodes come inside, so a set costs O(links of its nodes) and
 * a few steps for each switch it touches, however many ports that has: one switch under all boxes is touched by every box.
 */
export function switchPlacement(topology: Topology, ports: Ports): Placement {
  const { npuCount } = topology;
  const nodes = nodeCount(topology);
  if (nodes === npuCount) return (npus) => Int32Array.from(npus);
  const { offset, neighbour, bandwidth, leads, total } = switchesBeside(topology, ports);

  /** Number of the set at hand. Columns below that hold an earlier number hold nothing. */
  let current = 0;
  /** [nodes] the last set with the node inside. */
  const inside = new Int32Array(nodes);
  /** [nodes] the last set whose links lead to the node. */
  const seen = new Int32Array(nodes);
  /** [nodes] the last set that has bandwidth in common with the node, */
  const shares = new Int32Array(nodes);
  /** [nodes] and how much. */
  const common = new Float64Array(nodes);
  /** The switches seen. */
  const near = new Int32Array(nodes - npuCount);
  let nearCount = 0;

  /** Puts a node inside (1) or outside (-1). */
  const put = (node: number, sign: 1 | -1): void => {
    inside[node] = sign === 1 ? current : 0;
    for (let i = offset[node]; i < offset[node + 1]; i++) {
      const next = neighbour[i];
      const known = shares[next] === current ? common[next] : 0;
      shares[next] = current;
      common[next] = known + sign * bandwidth[i];
    }
  };
  const seeFrom = (node: number): void => {
    for (let i = offset[node]; i < offset[node + 1]; i++) {
      if (leads[i] === 0 || seen[neighbour[i]] === current) continue;
      seen[neighbour[i]] = current;
      near[nearCount++] = neighbour[i];
    }
  };
  const belongs = (node: number): boolean => (shares[node] === current ? 2 * common[node] : 0) >= total[node];

  return (npus) => {
    current++;
    nearCount = 0;
    for (let i = 0; i < npus.length; i++) put(npus[i], 1);
    for (let i = 0; i < npus.length; i++) seeFrom(npus[i]);
    for (let pass = 0, changed = true; pass < PASSES && changed; pass++) {
      changed = false;
      const known = nearCount;
      for (let i = 0; pass > 0 && i < known; i++) if (inside[near[i]] === current) seeFrom(near[i]);
      if (pass === 0 || nearCount > known) near.subarray(0, nearCount).sort();
      for (let i = 0; i < nearCount; i++) {
        const node = near[i];
        const better = belongs(node);
        if (better === (inside[node] === current)) continue;
        put(node, better ? 1 : -1);
        changed = true;
      }
    }
    let count = npus.length;
    const set = new Int32Array(npus.length + nearCount);
    set.set(npus);
    for (let i = 0; i < nearCount; i++) if (inside[near[i]] === current) set[count++] = near[i];
    return set.slice(0, count);
  };
}

/** For each node the switches beside it: elements `offset[v] .. offset[v + 1]`. */
interface SwitchesBeside {
  readonly offset: Int32Array;
  readonly neighbour: Int32Array;
  /** Of all links between the two, both ways. */
  readonly bandwidth: Float64Array;
  /** 1 where a link leads there. */
  readonly leads: Uint8Array;
  /** [nodes] bandwidth of all links at the node. */
  readonly total: Float64Array;
}

function switchesBeside(topology: Topology, { entering, leaving }: Ports): SwitchesBeside {
  const { npuCount, linkSource, linkTarget, linkBytesPerSecond } = topology;
  const nodes = nodeCount(topology);
  const offset = new Int32Array(nodes + 1);
  const neighbour = new Int32Array(2 * linkSource.length);
  const bandwidth = new Float64Array(neighbour.length);
  const leads = new Uint8Array(neighbour.length);
  const total = new Float64Array(nodes);
  /** [nodes] 1 + the last element of the node, which is of an earlier one's unless it is above the offset. */
  const last = new Int32Array(nodes);
  let count = 0;
  const add = (node: number, other: number, link: number, leadsThere: 0 | 1): void => {
    total[node] += linkBytesPerSecond[link];
    if (other < npuCount) return;
    if (last[other] <= offset[node]) {
      neighbour[count++] = other;
      last[other] = count;
    }
    bandwidth[last[other] - 1] += linkBytesPerSecond[link];
    leads[last[other] - 1] |= leadsThere;
  };
  for (let node = 0; node < nodes; node++) {
    for (let i = leaving.offset[node]; i < leaving.offset[node + 1]; i++) {
      add(node, linkTarget[leaving.items[i]], leaving.items[i], 1);
    }
    for (let i = entering.offset[node]; i < entering.offset[node + 1]; i++) {
      add(node, linkSource[entering.items[i]], entering.items[i], 0);
    }
    offset[node + 1] = count;
  }
  return { offset, neighbour, bandwidth, leads, total };
}
