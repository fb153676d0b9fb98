import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { draw } from "../../base/random.ts";
import { type Collective, membersOf } from "../../model/collective/collective.ts";
import { distancesFrom, graph } from "../../model/graph/graph.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";
import { divide, rational } from "../../model/numbers/rational.ts";
import { type RouteSet, routeCount } from "../../model/routes/routes.ts";
import { portRouteCount, routesOf } from "../../model/routes/routing.ts";
import {
  inLinks,
  isNpu,
  linkCount,
  nodeCount,
  outLinks,
  switchCount,
  type Topology,
} from "../../model/topology/topology.ts";

/** [messages] the links of each message's path, in order. */
export type Paths = Int32Array[];

/** The flow of all messages of a source over each link, [links]: conserved at every node, without circles. */
export type SourceFlow = (source: number) => Float64Array;

/** Flows of fewer messages are numerical dust. */
const DUST = 1e-6;

const NO_PATH = new Int32Array(0);
/** States of a depth-first search. */
const OPEN = 1;
const CLOSED = 2;

/**
 * Returns one path for every message, all along links that the flow of its source uses, such that as many messages take a
 * link as flow does, up to rounding. The decomposition is made backwards, node by node from the last: what must reach a node
 * enters it over its links in proportion to their flow, so that the mean of all choices is the flow itself (Raghavan and
 * Thompson 1987). Instead of a coin, the link decides to which the sources so far owe most; sources come in an order that the
 * seed draws. A message whose target the flow does not reach gets an empty path. Also returns the sum of the flows, [links].
 * O(sources * links + path links).
 */
export function pathsAlong(
  topology: Topology,
  messages: Messages,
  flowOf: SourceFlow,
  seed: number,
): { readonly paths: Paths; readonly total: Float64Array } {
  const { linkSource } = topology;
  const { bySource, target } = messages;
  const into = inLinks(topology);
  const total = new Float64Array(linkCount(topology));
  const debt = new Float64Array(linkCount(topology));
  const paths: Paths = new Array<Int32Array>(target.length).fill(NO_PATH);
  const trail = trails();
  const last = new Int32Array(target.length);
  const waiting: number[][] = Array.from({ length: nodeCount(topology) }, () => []);
  const drawn = Uint32Array.from({ length: bySource.length - 1 }, (_, v) => draw(seed, 0, v));
  const sources = [...drawn.keys()].sort((a, b) => drawn[a] - drawn[b] || a - b);

  for (const source of sources) {
    if (bySource[source] === bySource[source + 1]) continue;
    const flow = flowOf(source);
    const { order, mark } = visitedBy(topology, flow, source);
    for (let link = 0; link < flow.length; link++) {
      debt[link] += flow[link];
      total[link] += flow[link];
    }
    trail.clear();
    for (let m = bySource[source]; m < bySource[source + 1]; m++) {
      waiting[target[m]].push(m);
      last[m] = TRAIL_END;
    }
    for (const node of order) {
      if (node === source) continue;
      for (const m of waiting[node]) {
        let best = -1;
        for (let k = into.offset[node]; k < into.offset[node + 1]; k++) {
          const link = into.links[k];
          if (mark[link] === 1 && (best < 0 || debt[link] > debt[best])) best = link;
        }
        debt[best]--;
        last[m] = trail.before(best, last[m]);
        waiting[linkSource[best]].push(m);
      }
      waiting[node].length = 0;
    }
    for (const [i, path] of trail.paths(waiting[source].map((m) => last[m])).entries())
      paths[waiting[source][i]] = path;
    for (let m = bySource[source]; m < bySource[source + 1]; m++) waiting[target[m]].length = 0;
    waiting[source].length = 0;
  }
  return { paths, total };
}

/**
 * Returns the shortest path of every message, links being as long as they are busy with it; where a target cannot be reached
 * the path is empty. O(sources * links * log nodes + path links).
 */
export function shortestPaths(topology: Topology, messages: Messages, costPs: Float64Array): Paths {
  const { linkSource, linkTarget } = topology;
  const { bySource, target } = messages;
  const network = graph(nodeCount(topology), linkSource, linkTarget, costPs);
  const via = new Int32Array(network.nodes);
  const paths: Paths = new Array<Int32Array>(target.length).fill(NO_PATH);
  const trail = trails();
  for (let source = 0; source + 1 < bySource.length; source++) {
    if (bySource[source] === bySource[source + 1]) continue;
    const distance = distancesFrom(network, [source], via);
    trail.clear();
    const firsts: number[] = [];
    for (let m = bySource[source]; m < bySource[source + 1]; m++) {
      let first = TRAIL_END;
      if (distance[target[m]] < Number.POSITIVE_INFINITY) {
        for (let node = target[m]; node !== source; node = linkSource[via[node]])
          first = trail.before(via[node], first);
      }
      firsts.push(first);
    }
    for (const [i, path] of trail.paths(firsts).entries()) paths[bySource[source] + i] = path;
  }
  return paths;
}

const TRAIL_END = -1;

/** Paths that grow from their ends, as lists in two columns: a million small arrays keep the collector of garbage busy. */
function trails() {
  let link = new Int32Array(1024);
  let next = new Int32Array(1024);
  let count = 0;
  return {
    clear(): void {
      count = 0;
    },
    /** Returns the place of a link that goes before the one at place `after`. */
    before(one: number, after: number): number {
      if (count === link.length) {
        link = grown(link);
        next = grown(next);
      }
      link[count] = one;
      next[count] = after;
      return count++;
    },
    /** Returns the paths that begin at these places, as views of one array. O(links). */
    paths(firsts: readonly number[]): Int32Array[] {
      const all = new Int32Array(count);
      let end = 0;
      return firsts.map((first) => {
        const begin = end;
        for (let place = first; place !== TRAIL_END; place = next[place]) all[end++] = link[place];
        return begin === end ? NO_PATH : all.subarray(begin, end);
      });
    },
  };
}

function grown(column: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(2 * column.length);
  larger.set(column);
  return larger;
}

/**
 * Returns the nodes that the flow visits, every one before those that it comes from, and [links] 1 for the links on which it
 * comes. A link that would close a circle is left out. O(nodes + links).
 */
function visitedBy(
  topology: Topology,
  flow: Float64Array,
  source: number,
): { readonly order: readonly number[]; readonly mark: Uint8Array } {
  const { linkTarget } = topology;
  const out = outLinks(topology);
  const mark = new Uint8Array(flow.length);
  const state = new Uint8Array(nodeCount(topology));
  const next = out.offset.slice(0, state.length);
  const order: number[] = [];
  const stack = [source];
  state[source] = OPEN;
  while (stack.length > 0) {
    const node = stack.at(-1) as number;
    if (next[node] === out.offset[node + 1]) {
      state[node] = CLOSED;
      order.push(node);
      stack.pop();
      continue;
    }
    const link = out.links[next[node]++];
    const to = linkTarget[link];
    if (flow[link] <= DUST || state[to] === OPEN) continue;
    mark[link] = 1;
    if (state[to] === CLOSED) continue;
    state[to] = OPEN;
    stack.push(to);
  }
  return { order, mark };
}

/** Chunks that travel from one NPU to another, in ascending order of (source, chunk). */
export interface Messages {
  /** [messages] */
  readonly chunk: Int32Array;
  readonly source: Int32Array;
  readonly target: Int32Array;
  /** [npus + 1] messages of an NPU: bySource[npu] .. bySource[npu + 1]. */
  readonly bySource: Int32Array;
}

/**
 * Returns what an all-to-all(v) sends: every chunk whose one target is not its one source. Throws InputError for a chunk that
 * has several holders or goes to several NPUs. O(chunks + NPUs).
 */
export function messagesOf(collective: Collective, npuCount: number): Messages {
  const { chunkCount, pre, post } = collective;
  if (collective.reduces)
    throw new InputError(optionName("collective"), "an all-to-all(v), which copies,", inWords("one that reduces"));
  const from = new Int32Array(chunkCount);
  const to = new Int32Array(chunkCount);
  for (let c = 0; c < chunkCount; c++) {
    const holders = membersOf(collective, pre, c);
    const targets = membersOf(collective, post, c);
    if (holders.length !== 1 || targets.length !== 1) {
      const received = `chunk ${c} of ${holders.length} for ${targets.length}`;
      throw new InputError(optionName("collective"), "an all-to-all(v): chunks of one NPU for one NPU,", received);
    }
    from[c] = holders[0];
    to[c] = targets[0];
  }
  const bySource = new Int32Array(npuCount + 1);
  for (let c = 0; c < chunkCount; c++) if (from[c] !== to[c]) bySource[from[c] + 1]++;
  for (let v = 0; v < npuCount; v++) bySource[v + 1] += bySource[v];
  const count = bySource[npuCount];
  const next = bySource.slice(0, npuCount);
  const chunk = new Int32Array(count);
  for (let c = 0; c < chunkCount; c++) if (from[c] !== to[c]) chunk[next[from[c]]++] = c;
  return { chunk, source: chunk.map((c) => from[c]), target: chunk.map((c) => to[c]), bySource };
}

/** Above this many routes through switches, only those that paths take are listed. */
const MOST_PORT_ROUTES = 65_536;

/** What moves: the hops of all messages, one message after the other, each in the order of its path. */
export interface Hops {
  readonly routes: RouteSet;
  /** [transfers] message */
  readonly message: Int32Array;
  /** [transfers] */
  readonly route: Int32Array;
}

/**
 * Returns paths as transfers from NPU to NPU over routes: all links where there are no switches, else the routes of `ports`
 * (model/routes/routing.ts) and those that paths take beside them, each with the full rate of its bottleneck. O(path links).
 */
export function hopsOf(topology: Topology, paths: Paths): Hops {
  const { linkTarget } = topology;
  const direct = switchCount(topology) === 0;
  const known = direct || portRouteCount(topology) <= MOST_PORT_ROUTES ? routesOf(topology, "ports") : null;
  // A tree of hops: [place * links + link] the place of a hop with one more link, from which its route is known.
  const links = linkCount(topology);
  const longer = new Map<number, number>();
  const placeOf = (place: number, link: number): number => {
    const key = place * links + link;
    let found = longer.get(key);
    if (found === undefined) {
      found = longer.size + 1;
      longer.set(key, found);
    }
    return found;
  };
  const routeAt: number[] = [];
  for (let r = 0; !direct && known !== null && r < routeCount(known); r++) {
    routeAt[known.links.subarray(known.linkOffset[r], known.linkOffset[r + 1]).reduce(placeOf, 0)] = r;
  }
  const added: Int32Array[] = [];
  const first = known === null ? 0 : routeCount(known);
  let hops = 0;
  for (const path of paths) for (const link of path) if (isNpu(topology, linkTarget[link])) hops++;
  const message = new Int32Array(hops);
  const route = new Int32Array(hops);
  let hop = 0;
  for (let m = 0; m < paths.length; m++) {
    const path = paths[m] as Int32Array;
    for (let i = 0, begin = 0, place = 0; i < path.length; i++) {
      const link = path[i];
      if (!direct) place = placeOf(place, link);
      if (!isNpu(topology, linkTarget[link])) continue;
      message[hop] = m;
      if (!direct && routeAt[place] === undefined) {
        routeAt[place] = first + added.length;
        added.push(path.subarray(begin, i + 1));
      }
      route[hop++] = direct ? link : (routeAt[place] as number);
      begin = i + 1;
      place = 0;
    }
  }
  const more = withFullRates(topology, added);
  const routes = known === null ? more : added.length === 0 ? known : joined(known, more);
  return { routes, message, route };
}

/** Shares of streams are whole parts of a link: so many, which kernels count exactly. */
const PARTS = 2 ** 30;

/**
 * Returns the same hops over routes that never wait for each other, or null where one had less than a part of a link: of every
 * link each route has at most its part of the messages that take it, so that all routes end together on the busiest link, with
 * their bandwidth in the same ratio on the others. A route that is narrower elsewhere leaves links idle. O(route links).
 */
export function inStreams(topology: Topology, { routes, message, route }: Hops): Hops | null {
  const { linkBytesPerSecond } = topology;
  const count = new Int32Array(routeCount(routes));
  for (const r of route) count[r]++;
  const used = indicesBelow(count.length).filter((r) => count[r] > 0);
  const linksOf = (r: number): Int32Array => routes.links.subarray(routes.linkOffset[r], routes.linkOffset[r + 1]);
  const load = new Float64Array(linkCount(topology));
  for (const r of used) for (const link of linksOf(r)) load[link] += count[r];
  const perMessage = (link: number): number => linkBytesPerSecond[link] / load[link];
  const linkOffset = new Int32Array(used.length + 1);
  const links: number[] = [];
  const shareNum: number[] = [];
  for (const [i, r] of used.entries()) {
    const narrowest = linksOf(r).reduce((least, link) => (perMessage(link) < perMessage(least) ? link : least));
    const rate = BigInt(count[r]) * BigInt(linkBytesPerSecond[narrowest]) * BigInt(PARTS);
    for (const link of linksOf(r)) {
      links.push(link);
      shareNum.push(Number(rate / (BigInt(load[narrowest]) * BigInt(linkBytesPerSecond[link]))));
    }
    linkOffset[i + 1] = links.length;
  }
  if (shareNum.includes(0)) return null;
  const place = new Int32Array(count.length);
  for (const [i, r] of used.entries()) place[r] = i;
  return {
    routes: {
      source: used.map((r) => routes.source[r]),
      target: used.map((r) => routes.target[r]),
      linkOffset,
      links: Int32Array.from(links),
      shareNum: Float64Array.from(shareNum),
      shareDen: new Float64Array(links.length).fill(PARTS),
    },
    message,
    route: route.map((r) => place[r]),
  };
}

/** Returns ways as routes that may each take all that their narrowest link carries. */
function withFullRates(
  { linkSource, linkTarget, linkBytesPerSecond }: Topology,
  ways: readonly Int32Array[],
): RouteSet {
  const links = Int32Array.from(ways.flatMap((way) => [...way]));
  const shareNum = new Float64Array(links.length);
  const shareDen = new Float64Array(links.length);
  const linkOffset = new Int32Array(ways.length + 1);
  for (const [r, way] of ways.entries()) {
    const rate = way.reduce((least, link) => Math.min(least, linkBytesPerSecond[link]), Number.POSITIVE_INFINITY);
    for (const [i, link] of way.entries()) {
      const share = divide(rational(rate), rational(linkBytesPerSecond[link]));
      shareNum[linkOffset[r] + i] = Number(share.num);
      shareDen[linkOffset[r] + i] = Number(share.den);
    }
    linkOffset[r + 1] = linkOffset[r] + way.length;
  }
  return {
    source: Int32Array.from(ways, (way) => linkSource[way[0] as number]),
    target: Int32Array.from(ways, (way) => linkTarget[way.at(-1) as number]),
    linkOffset,
    links,
    shareNum,
    shareDen,
  };
}

function joined(a: RouteSet, b: RouteSet): RouteSet {
  const ints = (x: Int32Array, y: Int32Array): Int32Array => {
    const both = new Int32Array(x.length + y.length);
    both.set(x);
    both.set(y, x.length);
    return both;
  };
  const doubles = (x: Float64Array, y: Float64Array): Float64Array => {
    const both = new Float64Array(x.length + y.length);
    both.set(x);
    both.set(y, x.length);
    return both;
  };
  const ends = b.linkOffset.subarray(1).map((end) => end + a.links.length);
  return {
    source: ints(a.source, b.source),
    target: ints(a.target, b.target),
    linkOffset: ints(a.linkOffset, ends),
    links: ints(a.links, b.links),
    shareNum: doubles(a.shareNum, b.shareNum),
    shareDen: doubles(a.shareDen, b.shareDen),
  };
}
