import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { commonDivisor } from "../numbers/integers.ts";
import { formatBandwidth } from "../numbers/units.ts";
import { linkCount, linkNames, nodeCount, type Topology } from "../topology/topology.ts";
import { flowSolver } from "./flow.ts";
import { groupedOnce } from "./graph.ts";

/**
 * Networks with as much bandwidth into every node as out of it (Eulerian), which optimal trees are known for.
 *
 * What theorems 24 and 25 of Zhao 2026 (B.8) need is less: NPUs that the trees span need no balance at all, for theorem 24
 * asks of a node with less in than out only that all trees can reach it, which is the condition of theorem 25 itself. Nodes
 * that only forward (switches, NPUs outside the group) must not have less in than out, or trees would have to multiply on
 * their way through; what a switch has more in than out stays unused (the proof by splitting off goes through, see
 * synthesize/forestcoll/splitting.ts). Trees of the reversed network need the same of the other direction, so equality at the
 * nodes that only forward is enough for every collective. Unbalanced networks are refused all the same unless asked for: the
 * bound by cuts that leave a set then differs from the one by cuts that enter it.
 */
export interface Imbalance {
  readonly node: number;
  readonly bytesPerSecondIn: bigint;
  readonly bytesPerSecondOut: bigint;
}

/**
 * Returns the first node whose links in and links out differ in total bandwidth, null where there is none. With `members`
 * (NPUs) only the nodes that are not among them are looked at: those that only forward for a group. O(nodes + links).
 */
export function unbalancedNode(topology: Topology, members: ArrayLike<number> = []): Imbalance | null {
  const { linkSource, linkTarget, linkBytesPerSecond } = topology;
  const nodes = nodeCount(topology);
  const into = new Array<bigint>(nodes).fill(0n);
  const out = new Array<bigint>(nodes).fill(0n);
  for (let link = 0; link < linkSource.length; link++) {
    const bandwidth = BigInt(linkBytesPerSecond[link]);
    out[linkSource[link]] += bandwidth;
    into[linkTarget[link]] += bandwidth;
  }
  const skipped = new Uint8Array(nodes);
  for (let i = 0; i < members.length; i++) skipped[members[i]] = 1;
  for (let node = 0; node < nodes; node++) {
    if (skipped[node] === 1 || into[node] === out[node]) continue;
    return { node, bytesPerSecondIn: into[node], bytesPerSecondOut: out[node] };
  }
  return null;
}

/** Throws InputError that names the first node without balance and both sums, as `unbalancedNode` finds it, and the remedy. */
export function demandBalance(
  topology: Topology,
  members: ArrayLike<number> = [],
  remedy = `see ${optionName("eulerian")}`,
): void {
  const found = unbalancedNode(topology, members);
  if (found === null) return;
  const { node, bytesPerSecondIn, bytesPerSecondOut } = found;
  const rounded = [bytesPerSecondIn, bytesPerSecondOut].map((sum) => formatBandwidth(Number(sum)));
  const [into, out] = rounded[0] === rounded[1] ? [`${bytesPerSecondIn} B/s`, `${bytesPerSecondOut} B/s`] : rounded;
  const place = `node ${topology.nodeNames[node]} of ${topology.name}`;
  throw new InputError(place, `as much bandwidth in as out (${remedy})`, inWords(`${into} in, ${out} out`));
}

/** What is left of a network when every node is to have as much bandwidth in as out. */
export interface Trimmed {
  /** [links] bytes per second that are kept, exact integers, 0 for nothing. */
  readonly usable: Float64Array;
  /** What was taken away, in words. */
  readonly statement: string;
}

const LINKS_NAMED = 5;

/**
 * Returns the greatest part of all links that leaves every node as much in as out: no other has a greater sum of bandwidths.
 * Throws InputError where the sums of bandwidths leave exact numbers.
 *
 * What is taken away is a flow of least total amount from the nodes with too much out to those with too much in: successive
 * shortest paths in the residual network (Ahuja, Magnanti, Orlin 1993, 9.7), all paths of one length by one maximum flow. Every
 * link costs 1, so there are at most as many lengths as nodes; in practice a few.
 */
export function trimToEulerian(topology: Topology): Trimmed {
  const { linkBytesPerSecond } = topology;
  const removed = leastRemoval(topology);
  const usable = linkBytesPerSecond.map((bandwidth, link) => bandwidth - removed[link]);
  const changed = [...usable.keys()].filter((link) => removed[link] > 0);
  if (changed.length === 0) return { usable, statement: "every node has as much bandwidth in as out" };
  const names = linkNames(topology);
  const sum = (column: Float64Array): string => formatBandwidth(column.reduce((total, value) => total + value, 0));
  const listed = changed
    .slice(0, LINKS_NAMED)
    .map((e) => `${names[e]} ${formatBandwidth(linkBytesPerSecond[e])} to ${formatBandwidth(usable[e])}`);
  const more = changed.length > LINKS_NAMED ? `, and ${changed.length - LINKS_NAMED} more` : "";
  const statement =
    `${sum(removed)} of ${sum(linkBytesPerSecond)} taken from ${changed.length} of ${linkCount(topology)} links, ` +
    `so that every node has as much in as out: ${listed.join(", ")}${more}`;
  return { usable, statement };
}

/** Returns what to take from each link, [links]. */
function leastRemoval(topology: Topology): Float64Array {
  const { linkSource, linkTarget, linkBytesPerSecond } = topology;
  const links = linkCount(topology);
  const nodes = nodeCount(topology);
  const unit = commonDivisor(linkBytesPerSecond);
  const source = nodes;
  const sink = nodes + 1;
  // Arc 2i is link i, arc 2(links + v) joins node v to the source or the sink; the odd arc after it leads back.
  const arcs = 2 * (links + nodes);
  const tail = new Int32Array(arcs);
  const head = new Int32Array(arcs);
  const residual = new Float64Array(arcs);
  const excess = new Float64Array(nodes);
  const join = (arc: number, from: number, to: number, capacity: number): void => {
    tail[arc] = head[arc + 1] = from;
    head[arc] = tail[arc + 1] = to;
    residual[arc] = capacity;
  };
  let total = 0;
  for (let i = 0; i < links; i++) {
    const amount = linkBytesPerSecond[i] / unit;
    total += amount;
    excess[linkSource[i]] += amount;
    excess[linkTarget[i]] -= amount;
    join(2 * i, linkSource[i], linkTarget[i], amount);
  }
  if (!(total <= Number.MAX_SAFE_INTEGER)) {
    throw new InputError(`the bandwidths of ${topology.name}`, `at most 2^53 - 1 times ${unit} B/s in all`, total).as(
      "out-of-range",
    );
  }
  for (let v = 0; v < nodes; v++) {
    if (excess[v] > 0) join(2 * (links + v), source, v, excess[v]);
    else join(2 * (links + v), v, sink, -excess[v]);
  }
  const network = { nodes: nodes + 2, tail, head };
  const solve = flowSolver(network);
  const potential = new Int32Array(nodes + 2);
  const cost = (arc: number): number => (arc >= 2 * links ? 0 : 1 - 2 * (arc & 1));
  const reduced = (arc: number): number => cost(arc) + potential[tail[arc]] - potential[head[arc]];
  const capacity = new Float64Array(arcs);
  while (raisePotentials(network, residual, reduced, potential, source, sink)) {
    for (let a = 0; a < arcs; a++) capacity[a] = residual[a] > 0 && reduced(a) === 0 ? residual[a] : 0;
    const { flow } = solve(capacity, source, sink);
    for (let a = 0; a < arcs; a++) {
      residual[a] -= flow[a];
      residual[a ^ 1] += flow[a];
    }
  }
  return Float64Array.from({ length: links }, (_, i) => residual[2 * i + 1] * unit);
}

/**
 * Adds to each node's potential its distance from the source by reduced costs, at most the sink's; false where the sink is
 * out of reach. Dijkstra with a list per distance (Dial 1969). O(nodes + arcs + distance).
 */
function raisePotentials(
  { nodes, tail, head }: { readonly nodes: number; readonly tail: Int32Array; readonly head: Int32Array },
  residual: Float64Array,
  reduced: (arc: number) => number,
  potential: Int32Array,
  source: number,
  sink: number,
): boolean {
  const { offset, items } = groupedOnce(tail, nodes);
  const distance = new Int32Array(nodes).fill(-1);
  const lists: number[][] = [[source]];
  for (let d = 0; d < lists.length && distance[sink] < 0; d++) {
    const list = lists[d] ?? [];
    for (let i = 0; i < list.length; i++) {
      const u = list[i];
      if (distance[u] >= 0) continue;
      distance[u] = d;
      for (let j = offset[u]; j < offset[u + 1]; j++) {
        const arc = items[j];
        if (!(residual[arc] > 0) || distance[head[arc]] >= 0) continue;
        const reach = d + reduced(arc);
        lists[reach] ??= [];
        lists[reach].push(head[arc]);
      }
    }
  }
  const most = distance[sink];
  if (most < 0) return false;
  for (let v = 0; v < nodes; v++) potential[v] += distance[v] < 0 ? most : distance[v];
  return true;
}
