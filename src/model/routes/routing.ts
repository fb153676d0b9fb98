import { disjointSets } from "../graph/graph.ts";
import { addTo, indicesBelow } from "../numbers/ordering.ts";
import { type Rational, rational } from "../numbers/rational.ts";
import { inLinks, isNpu, linkCount, nodeCount, outLinks, switchCount, type Topology } from "../topology/topology.ts";
import type { RouteSet } from "./routes.ts";
import { degreesOf, type SwitchDegree } from "./switch-degrees.ts";

/** A connected set of switches and the links between it and its NPUs. */
interface SwitchComponent {
  readonly switches: Int32Array;
  /** NPUs that can send into the set, ascending, with their links into it. */
  readonly senders: readonly { readonly npu: number; readonly links: readonly number[] }[];
  /** NPUs that it can reach, ascending, with its links to them. */
  readonly receivers: readonly { readonly npu: number; readonly links: readonly number[] }[];
}

/** Returns the connected sets of switches, in order of their lowest switch. O(nodes + links). */
export function switchComponents(topology: Topology): SwitchComponent[] {
  const nodes = nodeCount(topology);
  const out = outLinks(topology);
  const into = inLinks(topology);
  const component = new Int32Array(nodes).fill(-1);
  const components: SwitchComponent[] = [];
  for (let first = topology.npuCount; first < nodes; first++) {
    if (component[first] >= 0) continue;
    const members = [first];
    component[first] = components.length;
    const up = new Map<number, number[]>();
    const down = new Map<number, number[]>();
    const visit = (node: number, link: number, ports: Map<number, number[]>): void => {
      if (isNpu(topology, node)) {
        addTo(ports, node, link);
      } else if (component[node] < 0) {
        component[node] = components.length;
        members.push(node);
      }
    };
    for (let i = 0; i < members.length; i++) {
      const node = members[i] as number;
      for (let k = out.offset[node]; k < out.offset[node + 1]; k++) {
        visit(topology.linkTarget[out.links[k]], out.links[k], down);
      }
      for (let k = into.offset[node]; k < into.offset[node + 1]; k++) {
        visit(topology.linkSource[into.links[k]], into.links[k], up);
      }
    }
    const sorted = (ports: Map<number, number[]>) =>
      [...ports.entries()]
        .sort((a, b) => a[0] - b[0])
        .map(([npu, links]) => ({ npu, links: links.sort((x, y) => x - y) }));
    components.push({
      switches: Int32Array.from(members.sort((a, b) => a - b)),
      senders: sorted(up),
      receivers: sorted(down),
    });
  }
  return components;
}

/** Columns of a route set while it grows. */
export interface RouteDraft {
  readonly source: number[];
  readonly target: number[];
  readonly linkOffset: number[];
  readonly links: number[];
}

/** Appends a route over these links. */
export function addRoute(draft: RouteDraft, source: number, target: number, links: readonly number[]): void {
  draft.source.push(source);
  draft.target.push(target);
  for (const link of links) draft.links.push(link);
  draft.linkOffset.push(draft.links.length);
}

/** Hop counts between the switches of a component: [from][to] by position; -1 where there is no way. */
function switchDistances(topology: Topology, switches: Int32Array): Map<number, Int32Array> {
  const position = new Map<number, number>();
  switches.forEach((node, i) => {
    position.set(node, i);
  });
  const into = inLinks(topology);
  const distances = new Map<number, Int32Array>();
  for (const target of switches) {
    const distance = new Int32Array(switches.length).fill(-1);
    distance[position.get(target) as number] = 0;
    const queue = [target];
    for (let i = 0; i < queue.length; i++) {
      const node = queue[i] as number;
      for (let k = into.offset[node]; k < into.offset[node + 1]; k++) {
        const previous = topology.linkSource[into.links[k]];
        const at = position.get(previous);
        if (at === undefined || distance[at] >= 0) continue;
        distance[at] = distance[position.get(node) as number] + 1;
        queue.push(previous);
      }
    }
    distances.set(target, distance);
  }
  return distances;
}

/**
 * Returns a way from one switch to another with the fewest hops, or null. Equal ways are spread over the pairs: hop h of
 * the pair with key k takes option (k + h) mod options.
 */
export type WayFinder = (from: number, to: number, key: number) => number[] | null;

/** Returns the way finder of a connected set of switches. O(switches x links between them). */
export function wayFinder(topology: Topology, switches: Int32Array): WayFinder {
  const out = outLinks(topology);
  const position = new Map<number, number>();
  switches.forEach((node, i) => {
    position.set(node, i);
  });
  const distances = switches.length === 1 ? null : switchDistances(topology, switches);
  return (from, to, key) => {
    const links: number[] = [];
    if (from === to) return links;
    const distance = distances?.get(to);
    if (distance === undefined || distance[position.get(from) as number] < 0) return null;
    for (let node = from, hop = 0; node !== to; hop++) {
      const left = distance[position.get(node) as number];
      const options: number[] = [];
      for (let k = out.offset[node]; k < out.offset[node + 1]; k++) {
        const at = position.get(topology.linkTarget[out.links[k]]);
        if (at !== undefined && distance[at] === left - 1) options.push(out.links[k]);
      }
      const link = options[(key + hop) % options.length] as number;
      links.push(link);
      node = topology.linkTarget[link];
    }
    return links;
  };
}

/** Returns the NPUs of a component, ascending. */
const npusOf = ({ senders, receivers }: SwitchComponent): number[] =>
  [...new Set([...senders, ...receivers].map((port) => port.npu))].sort((a, b) => a - b);

/** Adds the routes of one component for the pairs (i, i + 1 .. i + degree) of some of its NPUs, around in their order. */
function addRing(
  draft: RouteDraft,
  topology: Topology,
  { senders, receivers, switches }: SwitchComponent,
  members: readonly number[],
  degree: number,
): void {
  const way = wayFinder(topology, switches);
  const up = new Map(senders.map((port) => [port.npu, port.links]));
  const down = new Map(receivers.map((port) => [port.npu, port.links]));
  const count = members.length;
  for (let i = 0; i < count; i++) {
    const source = members[i] as number;
    const upLinks = up.get(source);
    if (upLinks === undefined) continue;
    for (let step = 1; step <= Math.min(degree, count - 1); step++) {
      const target = members[(i + step) % count] as number;
      const downLinks = down.get(target);
      if (downLinks === undefined) continue;
      for (let k = 0; k < Math.max(upLinks.length, downLinks.length); k++) {
        const first = upLinks[k % upLinks.length] as number;
        const last = downLinks[k % downLinks.length] as number;
        const middle = way(topology.linkTarget[first], topology.linkSource[last], i + step);
        if (middle !== null) addRoute(draft, source, target, [first, ...middle, last]);
      }
    }
  }
}

/**
 * Fills in the shares: a route gets, of each of its links, what its bottleneck can carry. With unwinding the d routes of a
 * port divide it for good (rate = min over links of bandwidth / routes through it), with ports a route may take all.
 */
export function withShares(topology: Topology, draft: RouteDraft, divided: boolean): RouteSet {
  const routes = draft.source.length;
  const links = Int32Array.from(draft.links);
  const shareNum = new Float64Array(links.length).fill(1);
  const shareDen = new Float64Array(links.length).fill(1);
  const load = new Int32Array(linkCount(topology));
  for (const link of links) load[link]++;
  for (let route = 0; route < routes; route++) {
    const from = draft.linkOffset[route] as number;
    const to = draft.linkOffset[route + 1] as number;
    const parts = (link: number): number => (divided ? load[link] : 1);
    let slowest = links[from];
    for (let i = from + 1; i < to; i++) {
      const a = topology.linkBytesPerSecond[links[i]] * parts(slowest);
      const b = topology.linkBytesPerSecond[slowest] * parts(links[i]);
      if (a < b) slowest = links[i];
    }
    const rate = rational(BigInt(topology.linkBytesPerSecond[slowest]), BigInt(parts(slowest)));
    takeRate(topology, { links, shareNum, shareDen }, from, to, rate);
  }
  return {
    source: Int32Array.from(draft.source),
    target: Int32Array.from(draft.target),
    linkOffset: Int32Array.from(draft.linkOffset),
    links,
    shareNum,
    shareDen,
  };
}

/** Sets the shares of a route's links, from .. to - 1, to a rate in bytes per second. */
function takeRate(
  topology: Topology,
  { links, shareNum, shareDen }: Pick<RouteSet, "links" | "shareNum" | "shareDen">,
  from: number,
  to: number,
  rate: Rational,
): void {
  for (let i = from; i < to; i++) {
    const share = rational(rate.num, rate.den * BigInt(topology.linkBytesPerSecond[links[i]]));
    shareNum[i] = Number(share.num);
    shareDen[i] = Number(share.den);
  }
}

/**
 * Returns all routes: every direct link between NPUs (share 1), and the ways through switches. A number d unwinds each
 * connected set of switches with degree d (TACOS 2024, section IV-G: i -> i+1 .. i+d in index order, 1/d of every port;
 * d is cut to n - 1). Where the set joins boxes, the order goes along each rail (see railsOf): in index order only the last NPU
 * of a box would send to another one. `ports` gives every pair a route with the full rate of its bottleneck, and whoever
 * schedules sees to it that the shares in use fit. Throws InputError for degrees by names that do not fit the switches.
 * O(routes x route length); n(n-1) routes per set of n NPUs for `ports`.
 */
export function routesOf(topology: Topology, degree: SwitchDegree): RouteSet {
  if (nodeCount(topology) === topology.npuCount && typeof degree !== "object") return directRoutes(topology);
  const draft: RouteDraft = { source: [], target: [], linkOffset: [0], links: [] };
  for (let link = 0; link < linkCount(topology); link++) {
    const source = topology.linkSource[link];
    const target = topology.linkTarget[link];
    if (isNpu(topology, source) && isNpu(topology, target)) addRoute(draft, source, target, [link]);
  }
  const components = switchComponents(topology);
  const npus = components.map(npusOf);
  const degrees = degree === "ports" ? null : degreesOf(topology, components, degree);
  components.forEach((component, c) => {
    const rails = degrees === null ? null : railsOf(topology, npus, c);
    for (const ring of rails ?? [npus[c]]) {
      addRing(draft, topology, component, ring, degrees?.[c] ?? Number.MAX_SAFE_INTEGER);
    }
  });
  return withShares(topology, draft, degree !== "ports");
}

/** Returns the links as routes, where all nodes are NPUs: route = link. Shares the topology's columns. */
function directRoutes({ linkSource, linkTarget }: Topology): RouteSet {
  const count = linkSource.length;
  return {
    source: linkSource,
    target: linkTarget,
    linkOffset: indicesBelow(count + 1),
    links: indicesBelow(count),
    shareNum: new Float64Array(count).fill(1),
    shareDen: new Float64Array(count).fill(1),
  };
}

/**
 * Returns the same routes, where all through a connected set of switches carry no more than the slowest of them; null where they
 * already do. Then parts of a port add up: beside half of it for a route over a narrow link, what goes to a neighbour takes the
 * other half, where at full rate it would wait for a whole port. O(route links).
 */
export function atOnePace(topology: Topology, routes: RouteSet): RouteSet | null {
  const { source, linkOffset, links, shareNum, shareDen } = routes;
  const set = new Map<number, number>();
  switchComponents(topology).forEach(({ switches }, component) => {
    for (const node of switches) set.set(node, component);
  });
  const bytesPerSecond = (i: number): number => (topology.linkBytesPerSecond[links[i]] * shareNum[i]) / shareDen[i];
  const pace = new Map<number, number>();
  const setOf = Array.from(source, (_, route) => set.get(topology.linkTarget[links[linkOffset[route]]]));
  setOf.forEach((component, route) => {
    if (component === undefined) return;
    const rate = Math.round(bytesPerSecond(linkOffset[route]));
    pace.set(component, Math.min(rate, pace.get(component) ?? rate));
  });
  const paced = { ...routes, shareNum: shareNum.slice(), shareDen: shareDen.slice() };
  let slowed = false;
  setOf.forEach((component, route) => {
    const rate = component === undefined ? null : (pace.get(component) as number);
    if (rate === null || bytesPerSecond(linkOffset[route]) <= rate) return;
    slowed = true;
    takeRate(topology, paced, linkOffset[route], linkOffset[route + 1], rational(BigInt(rate)));
  });
  return slowed ? paced : null;
}

/** Above this many routes through switches tables and programs take a ring of them instead of all pairs. */
const MOST_TABLE_ROUTES = 4096;

/** Returns the degree of unwinding whose routes tables and programs take. */
export function tableDegree(topology: Topology, wanted: SwitchDegree | null): SwitchDegree {
  if (wanted !== null || switchCount(topology) === 0) return wanted ?? 1;
  return portRouteCount(topology) <= MOST_TABLE_ROUTES ? "ports" : 1;
}

/** Returns how many routes `routesOf(topology, "ports")` would have through switches. O(nodes + links). */
export function portRouteCount(topology: Topology): number {
  if (nodeCount(topology) === topology.npuCount) return 0;
  return switchComponents(topology).reduce((sum, { senders, receivers }) => sum + senders.length * receivers.length, 0);
}

/**
 * Returns the rails of a set of switches that joins boxes: rail r has the r-th of the set's NPUs of every box, in the order of the
 * boxes. Null where that is not a division that keeps the network together: NPUs without boxes, boxes with unequal numbers, a
 * single box, one NPU of each box, or boxes whose NPUs only meet in these switches. `npus`: those of every set of switches,
 * of which the one asked for is number `own`. O(NPUs of the set), and O(links + NPUs of the sets) where there may be rails.
 */
export function railsOf(
  topology: Topology,
  npus: readonly (readonly number[])[],
  own: number,
): readonly (readonly number[])[] | null {
  const boxes = new Map<string, number[]>();
  for (const npu of npus[own]) {
    const { group } = topology.nodeTraits[npu];
    if (group === undefined) return null;
    addTo(boxes, group, npu);
  }
  const lists = [...boxes.values()];
  const rails = lists[0]?.length ?? 0;
  if (lists.length < 2 || rails < 2 || lists.some((box) => box.length !== rails)) return null;
  const joined = disjointSets(topology.npuCount);
  for (let link = 0; link < linkCount(topology); link++) {
    const [a, b] = [topology.linkSource[link], topology.linkTarget[link]];
    if (isNpu(topology, a) && isNpu(topology, b)) joined.join(a, b);
  }
  npus.forEach((set, other) => {
    if (other !== own) for (const npu of set) joined.join(npu, set[0]);
  });
  if (lists.some((box) => box.some((npu) => joined.least(npu) !== joined.least(box[0])))) return null;
  return Array.from({ length: rails }, (_, rail) => lists.map((box) => box[rail]));
}
