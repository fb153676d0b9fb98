import { InfeasibleError } from "../base/errors.ts";
import { inLinks, isNpu, pairName, type Topology } from "../model/topology/topology.ts";

/** A way that something wants to take from an NPU to another: nodes, and how many bytes of it. */
export interface WantedPath {
  readonly nodes: readonly number[];
  readonly bytes: number;
}

/** The next NPU of a way: its number, and the node that it is entered from. */
export interface Hop {
  readonly npu: number;
  readonly from: number;
  /** The node that the way leaves for. */
  readonly by: number;
}

/** What nodes do with what comes: one way for each ordered pair of NPUs. */
export interface Forwarding {
  /** [NPUs x NPUs] nodes from an NPU to another, both ends included; empty for an NPU and itself. */
  readonly paths: readonly (readonly number[])[];
  /** [NPUs x NPUs] where the first NPU sends what is for the second; null for itself. */
  readonly hops: readonly (Hop | null)[];
  /** Where an NPU sends what comes from `source` for `target`, unlike its own. */
  readonly exceptions: readonly {
    readonly npu: number;
    readonly source: number;
    readonly target: number;
    readonly hop: Hop;
  }[];
  /** For each switch by its entry (an NPU and the node that it is entered from, "npu:from") the node to forward to. */
  readonly switches: ReadonlyMap<number, ReadonlyMap<string, number>>;
}

/** Returns for every node the next one of a shortest way to an NPU (fewest links, of these the widest, the lowest number); -1: none. */
function nextTowards(topology: Topology, target: number): Int32Array {
  const { offset, links } = inLinks(topology);
  const count = topology.nodeNames.length;
  const next = new Int32Array(count).fill(-1);
  const distance = new Int32Array(count).fill(-1);
  const width = new Float64Array(count);
  distance[target] = 0;
  width[target] = Infinity;
  const queue = [target];
  for (const node of queue) {
    for (let i = offset[node]; i < offset[node + 1]; i++) {
      const source = topology.linkSource[links[i]];
      const wide = Math.min(width[node], topology.linkBytesPerSecond[links[i]]);
      if (distance[source] === -1) {
        distance[source] = distance[node] + 1;
        queue.push(source);
      } else if (distance[source] <= distance[node] || wide <= width[source]) continue;
      width[source] = wide;
      next[source] = node;
    }
  }
  return next;
}

/**
 * Returns one way for each ordered pair of NPUs: the one that is wanted for most bytes, else a shortest. Switches know only where
 * something goes, so ways through the same switch to the same port of an NPU join there; those of more bytes come first.
 * Throws InfeasibleError where an NPU cannot reach another. O(NPUs x links + NPUs^2 x length).
 */
export function forwardingOf(topology: Topology, wanted: readonly WantedPath[]): Forwarding {
  const { npuCount } = topology;
  const best = new Map<number, WantedPath>();
  for (const path of wanted) {
    const pair = (path.nodes[0] as number) * npuCount + (path.nodes.at(-1) as number);
    const before = best.get(pair);
    if (before === undefined || path.bytes > before.bytes) best.set(pair, path);
  }
  const switches = new Map<number, Map<string, number>>();
  const paths: number[][] = Array.from({ length: npuCount * npuCount }, () => []);
  const first = [...best].sort((one, other) => other[1].bytes - one[1].bytes || one[0] - other[0]);
  for (const [pair, { nodes }] of first) paths[pair] = joined(topology, switches, nodes);
  for (let target = 0; target < npuCount; target++) {
    const next = nextTowards(topology, target);
    for (let source = 0; source < npuCount; source++) {
      if (source === target || best.has(source * npuCount + target)) continue;
      if (next[source] === -1)
        throw new InfeasibleError(`${pairName(topology, source, target)}: there is no way`, { source, target });
      const nodes = [source];
      while (nodes.at(-1) !== target) nodes.push(next[nodes.at(-1) as number]);
      paths[source * npuCount + target] = joined(topology, switches, nodes);
    }
  }
  return { paths, switches, ...hopsOf(topology, paths) };
}

/** Returns a way as switches will have it, which know where to forward from earlier ways, or learn it from this one. */
function joined(topology: Topology, switches: Map<number, Map<string, number>>, nodes: readonly number[]): number[] {
  const made: number[] = [];
  for (let i = 0; i < nodes.length; ) {
    made.push(nodes[i]);
    let end = i + 1;
    while (end < nodes.length && !isNpu(topology, nodes[end])) end++;
    if (end >= nodes.length) break;
    const entry = `${nodes[end]}:${nodes[end - 1]}`;
    for (let at = i + 1; at < end; at++) {
      const known = switches.get(nodes[at]);
      if (known?.has(entry) === true) {
        // from here on all is known
        for (let node = nodes[at]; node !== nodes[end]; node = switches.get(node)?.get(entry) as number)
          made.push(node);
        break;
      }
      if (known === undefined) switches.set(nodes[at], new Map([[entry, nodes[at + 1]]]));
      else known.set(entry, nodes[at + 1]);
      made.push(nodes[at]);
    }
    i = end;
  }
  return made;
}

/** Returns where each NPU sends what it has for each other, and what comes by of others' where that differs. */
function hopsOf(topology: Topology, paths: readonly (readonly number[])[]): Pick<Forwarding, "hops" | "exceptions"> {
  const { npuCount } = topology;
  const hops: (Hop | null)[] = new Array(npuCount * npuCount).fill(null);
  const legs = (pair: number): { npu: number; hop: Hop }[] => {
    const path = paths[pair];
    const found: { npu: number; hop: Hop }[] = [];
    let start = 0;
    for (let i = 1; i < path.length; i++) {
      if (!isNpu(topology, path[i])) continue;
      found.push({ npu: path[start], hop: { npu: path[i], from: path[i - 1], by: path[start + 1] } });
      start = i;
    }
    return found;
  };
  for (let pair = 0; pair < paths.length; pair++) hops[pair] = legs(pair)[0]?.hop ?? null;
  const exceptions: { npu: number; source: number; target: number; hop: Hop }[] = [];
  for (let pair = 0; pair < paths.length; pair++) {
    const [source, target] = [Math.floor(pair / npuCount), pair % npuCount];
    for (const { npu, hop } of legs(pair).slice(1)) {
      const own = hops[npu * npuCount + target];
      const isOwn = own !== null && own.npu === hop.npu && own.from === hop.from && own.by === hop.by;
      if (!isOwn) exceptions.push({ npu, source, target, hop });
    }
  }
  return { hops, exceptions };
}
