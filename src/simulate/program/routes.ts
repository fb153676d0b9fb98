import { unreachable } from "../../model/bounds/witness.ts";
import { EventQueue } from "../../model/replay/message-network.ts";
import { inLinks, isNpu, nodeCount, outLinks, type Topology } from "../../model/topology/topology.ts";

/** Ways between NPUs for programs, which name only who sends to whom. */
export interface ProgramRoutes {
  /**
   * Returns the links from one NPU to another: through switches only where that is possible, the widest way (greatest
   * bandwidth of its narrowest link), of these the one of least latency, then of fewest links. Among equal ways `turn` chooses.
   * Throws InfeasibleError where there is none.
   */
  readonly between: (source: number, target: number, turn: number) => Int32Array;
  /** Returns how many of the pairs asked for have no way but through other NPUs. */
  readonly relayedPairs: () => number;
}

/** What a search from one NPU has found; ways are read off backwards. */
interface Search {
  /** [nodes] Infinity: not reached. */
  readonly latencyPs: Float64Array;
  readonly hops: Int32Array;
  /** By node that many links lead into: those of them that end a best way. */
  readonly last: Map<number, readonly number[]>;
}

/** Nodes that more links lead into are searched once for those that end a best way. */
const FEW_LINKS = 32;
/** More turns than this take the same ways again. */
const TURNS = 4096;

/** Returns the ways of a network. Searches are made once per source and width: O(links log nodes) each. */
export function programRoutes(topology: Topology): ProgramRoutes {
  const widths = new Map<number, Float64Array>();
  const searches = new Map<string, Search>();
  /** By source; target and turn. */
  const known = new Map<number, Map<number, Int32Array>>();
  const relayed = new Set<number>();
  const count = topology.npuCount;

  const widthsFrom = (source: number, relay: boolean): Float64Array => {
    const key = 2 * source + (relay ? 1 : 0);
    const found = widths.get(key) ?? widestFrom(topology, source, relay);
    widths.set(key, found);
    return found;
  };
  const searchFrom = (source: number, width: number, relay: boolean): Search => {
    const key = `${source} ${width} ${relay}`;
    const found = searches.get(key) ?? nearestFrom(topology, source, width, relay);
    searches.set(key, found);
    return found;
  };
  return {
    between(source, target, turn) {
      const from = known.get(source) ?? new Map<number, Int32Array>();
      const key = target * TURNS + (turn % TURNS);
      const before = from.get(key);
      if (before !== undefined) return before;
      const relay = widthsFrom(source, false)[target] === 0;
      const width = widthsFrom(source, relay)[target];
      if (width === 0) throw unreachable(topology, source, target);
      if (relay) relayed.add(source * count + target);
      const search = searchFrom(source, width, relay);
      const way = wayBack(topology, search, { source, target, width, relay, turn: turn % TURNS });
      known.set(source, from.set(key, way));
      return way;
    },
    relayedPairs: () => relayed.size,
  };
}

/** Returns [nodes] the greatest bandwidth with which each node can be reached; 0: not at all. */
function widestFrom(topology: Topology, source: number, relay: boolean): Float64Array {
  const { linkTarget, linkBytesPerSecond } = topology;
  const out = outLinks(topology);
  const width = new Float64Array(nodeCount(topology));
  const queue = new EventQueue();
  width[source] = Number.POSITIVE_INFINITY;
  queue.push(0, source, source);
  while (queue.next()) {
    const node = queue.payload;
    if (node !== source && (-queue.time < width[node] || (!relay && isNpu(topology, node)))) continue;
    for (let k = out.offset[node]; k < out.offset[node + 1]; k++) {
      const link = out.links[k];
      const through = Math.min(width[node], linkBytesPerSecond[link]);
      const next = linkTarget[link];
      if (through <= width[next]) continue;
      width[next] = through;
      queue.push(-through, next, next);
    }
  }
  return width;
}

/** Returns latencies and hops of the nearest ways over links of at least this width. */
function nearestFrom(topology: Topology, source: number, width: number, relay: boolean): Search {
  const { linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  const out = outLinks(topology);
  const latencyPs = new Float64Array(nodeCount(topology)).fill(Number.POSITIVE_INFINITY);
  const hops = new Int32Array(nodeCount(topology));
  const settled = new Uint8Array(nodeCount(topology));
  const queue = new EventQueue();
  latencyPs[source] = 0;
  queue.push(0, 0, source);
  while (queue.next()) {
    const node = queue.payload;
    if (settled[node] === 1) continue;
    settled[node] = 1;
    if (node !== source && !relay && isNpu(topology, node)) continue;
    for (let k = out.offset[node]; k < out.offset[node + 1]; k++) {
      const link = out.links[k];
      const next = linkTarget[link];
      if (settled[next] === 1 || linkBytesPerSecond[link] < width) continue;
      const at = latencyPs[node] + linkLatencyPs[link];
      if (at > latencyPs[next] || (at === latencyPs[next] && hops[node] + 1 >= hops[next])) continue;
      latencyPs[next] = at;
      hops[next] = hops[node] + 1;
      queue.push(at, hops[next], next);
    }
  }
  return { latencyPs, hops, last: new Map() };
}

interface Wanted {
  readonly source: number;
  readonly target: number;
  readonly width: number;
  readonly relay: boolean;
  readonly turn: number;
}

/** Returns one of the best ways; link by link from its end, the turn and the place choose among equal ones. */
function wayBack(topology: Topology, search: Search, wanted: Wanted): Int32Array {
  const { linkSource } = topology;
  const way = new Int32Array(search.hops[wanted.target]);
  for (let node = wanted.target, place = way.length - 1; place >= 0; place--) {
    const options = search.last.get(node) ?? lastLinks(topology, search, wanted, node);
    way[place] = options[(wanted.turn + place) % options.length];
    node = linkSource[way[place]];
  }
  return way;
}

/** Returns the links that end best ways to a node. */
function lastLinks(topology: Topology, { latencyPs, hops, last }: Search, wanted: Wanted, node: number): number[] {
  const { source, width, relay } = wanted;
  const { linkSource, linkBytesPerSecond, linkLatencyPs } = topology;
  const into = inLinks(topology);
  const options: number[] = [];
  for (let k = into.offset[node]; k < into.offset[node + 1]; k++) {
    const link = into.links[k];
    const from = linkSource[link];
    if (from !== source && !relay && isNpu(topology, from)) continue;
    if (linkBytesPerSecond[link] < width || hops[from] !== hops[node] - 1) continue;
    if (latencyPs[from] + linkLatencyPs[link] === latencyPs[node]) options.push(link);
  }
  if (into.offset[node + 1] - into.offset[node] > FEW_LINKS) last.set(node, options);
  return options;
}
