import { InputError, inWords } from "../../base/errors.ts";
import { addTo } from "../numbers/ordering.ts";
import { rational } from "../numbers/rational.ts";
import { type RouteSet, routeCount } from "../routes/routes.ts";
import {
  addRoute,
  type RouteDraft,
  switchComponents,
  type WayFinder,
  wayFinder,
  withShares,
} from "../routes/routing.ts";
import { isNpu, linkCount, pairName, type Topology } from "../topology/topology.ts";
import {
  checkSketch,
  type HyperedgePolicy,
  type InternodeSketch,
  mayCarry,
  placesOfSketch,
  type Sketch,
  type SketchNetwork,
  type SketchSymmetry,
  type SymmetryOffset,
  sketchPlace,
} from "./sketch.ts";

/** More connections are beyond any program of the stages. */
const MOST_ROUTES = 250_000;

interface Connection {
  readonly from: number;
  readonly to: number;
  readonly links: readonly number[];
  readonly hyperedge: number;
}

/** Links of ways that are equally short. */
type Ways = readonly (readonly number[])[];

/** What connections are collected with. */
interface Draft {
  readonly topology: Topology;
  readonly sketch: Sketch;
  readonly ways: SketchWays;
  readonly boxOf: Int32Array;
  /** [boxes * NPUs of a box] The NPU of a place; -1 where it failed. */
  readonly npuAt: Int32Array;
  /** What the sketch names may have failed. */
  readonly isPart: boolean;
  readonly connections: Connection[];
  readonly policies: HyperedgePolicy[];
}

/**
 * Returns the logical topology of a sketch (TACCL, sections 3.1 to 3.3): inside a box its direct links and, through a switch,
 * every pair that the switch joins; between boxes the shortest ways of the connections that the sketch names. No way passes an
 * NPU. A route has the rate of its slowest link, over beta_split between boxes, and that share of all its links.
 *
 * Where the network has lost or slower nodes and links than the one that the sketch was made for, connections without a way and
 * rotations that no longer hold are left out; so the sketch of the result may have fewer rotations than the one given.
 *
 * Where the strategy is "none" all switches inside a box are used, without a policy; NPUs of a box that has neither links nor
 * switches of its own meet in the network's. Two boxes that no link and no switch joins need not be connected.
 *
 * Throws InputError, which names the field and the NPUs, where the sketch contradicts itself or the network: other numbers of
 * NPUs, a switch that does not join its GPUs, a connection that no way carries, a rotation that does not map routes onto
 * routes. O(links + routes x route length), after the ways of `sketchWays`.
 */
export function sketchNetwork(topology: Topology, sketch: Sketch): SketchNetwork {
  checkSketch(sketch);
  const { boxes, npusPerBox } = sketch;
  const { place, isPart } = placesOfSketch(topology, sketch);
  const boxOf = place.map((at) => Math.floor(at / npusPerBox));
  const npuAt = new Int32Array(boxes * npusPerBox).fill(-1);
  place.forEach((at, npu) => {
    npuAt[at] = npu;
  });
  const ways = sketchWays(topology, boxOf, boxes);
  const draft: Draft = { topology, sketch, ways, boxOf, npuAt, isPart, connections: [], policies: [] };
  for (let box = 0; box < boxes; box++) connectInside(draft, box);
  if (sketch.internode !== null) connectBoxes(draft, sketch.internode);

  const connections = draft.connections.sort((a, b) => a.from - b.from || a.to - b.to);
  const columns: RouteDraft = { source: [], target: [], linkOffset: [0], links: [] };
  for (const { from, to, links } of connections) addRoute(columns, from, to, links);
  const leavesBox = Uint8Array.from(connections, ({ from, to }) => Number(boxOf[from] !== boxOf[to]));
  const network = {
    topology,
    sketch,
    routes: withSplit(withShares(topology, columns, false), leavesBox, sketch, place),
    hyperedge: Int32Array.from(connections, ({ hyperedge }) => hyperedge),
    policies: draft.policies,
    leavesBox,
    place,
    boxOf,
  };
  if (!isPart) return { ...network, symmetries: sketchSymmetries(network) };
  const mapOf = rotationMaps(network);
  const symmetries = sketch.symmetries.filter((rotation) => typeof mapOf(rotation) !== "string");
  const kept = { ...network, sketch: { ...sketch, symmetries } };
  return { ...kept, symmetries: sketchSymmetries(kept) };
}

function connect(draft: Draft, from: number, to: number, links: readonly number[], hyperedge: number): void {
  if (draft.connections.length === MOST_ROUTES)
    throw new InputError(
      sketchPlace(draft.sketch, "connections"),
      `at most ${MOST_ROUTES} of them on ${draft.topology.name}`,
      inWords("more"),
    ).as("out-of-range");
  draft.connections.push({ from, to, links, hyperedge });
}

function connectInside(draft: Draft, box: number): void {
  const { sketch, ways, npuAt, boxOf } = draft;
  const { npusPerBox, intranode } = sketch;
  const npusOf = npuAt.subarray(box * npusPerBox, (box + 1) * npusPerBox);
  if (intranode.strategy === "relay") {
    for (const [sender, receivers] of intranode.connections ?? []) {
      for (const receiver of receivers) connectPair(draft, npusOf[sender], npusOf[receiver], sender);
    }
    return;
  }
  const before = draft.connections.length;
  const all = Array.from(npusOf).filter(isThere);
  for (const from of all) {
    for (const [to, links] of ways.directFrom(from)) {
      if (boxOf[to] !== box) continue;
      for (const link of links) connect(draft, from, to, [link], -1);
    }
  }
  if (intranode.strategy === "switch") {
    intranode.switches.forEach((ranks, i) => {
      const npus = ranks.map((rank) => npusOf[rank]).filter(isThere);
      connectSwitch(draft, npus, intranode.policies[i], `intranode_sketch.switches[${i}]`);
    });
    return;
  }
  for (const npus of ways.insides[box]) connectSwitch(draft, npus, "none", null);
  if (draft.connections.length === before) connectSwitch(draft, all, "none", null);
}

const isThere = (npu: number): boolean => npu >= 0;

/** Joins every two NPUs through switches: through those of their box where there are such, else through the network's. */
function connectSwitch(draft: Draft, npus: readonly number[], policy: HyperedgePolicy, place: string | null): void {
  const { sketch, ways, topology, policies, isPart } = draft;
  const hyperedge = policies.length;
  let any = false;
  for (const from of npus) {
    for (const to of npus) {
      if (from === to) continue;
      const found = switched(sketch, ways, from, to);
      any ||= found.length > 0;
      if (found.length === 0 && place !== null && !isPart)
        throw noWay(draft, place, `GPUs that a switch of ${topology.name} joins`, from, to);
      for (const links of found) connect(draft, from, to, links, hyperedge);
    }
  }
  if (any) policies.push(policy);
}

function switched({ npusPerBox }: Sketch, ways: SketchWays, from: number, to: number): Ways {
  const key = (((to - from) % npusPerBox) + npusPerBox) % npusPerBox;
  const inside = ways.through(from, to, true, key);
  return inside.length > 0 ? inside : ways.through(from, to, false, key);
}

/** Joins two NPUs of a box by their direct links, or through switches where there are none. */
function connectPair(draft: Draft, from: number, to: number, sender: number): void {
  const { sketch, ways } = draft;
  const place = `intranode_sketch.intranode_conn.${sender}`;
  connectAsNamed(draft, from, to, place, () => switched(sketch, ways, from, to));
}

/** Joins two NPUs, as a field of the sketch names them, by their direct links, or the other ways where there are none; -1 failed. */
function connectAsNamed(draft: Draft, from: number, to: number, place: string, others: () => Ways): void {
  if (from < 0 || to < 0) return;
  const direct = draft.ways.direct(from, to).map((link) => [link]);
  const found = direct.length > 0 ? direct : others();
  if (found.length === 0 && !draft.isPart)
    throw noWay(draft, place, `connections that ${draft.topology.name} has`, from, to);
  for (const links of found) connect(draft, from, to, links, -1);
}

const noWay = ({ sketch, topology }: Draft, place: string, expected: string, from: number, to: number): InputError =>
  new InputError(sketchPlace(sketch, place), expected, pairName(topology, from, to));

function connectBoxes(draft: Draft, internode: InternodeSketch): void {
  const { sketch, ways, topology, npuAt, isPart } = draft;
  const { boxes, npusPerBox } = sketch;
  const pairs = connectionsOf(internode, npusPerBox);
  const before = draft.connections.length;
  for (let a = 0; a < boxes; a++) {
    for (let b = 0; b < boxes; b++) {
      if (a === b || !ways.joins(a, b)) continue;
      const turn = (b - a + boxes) % boxes;
      for (const [sender, receiver] of pairs) {
        const [from, to] = [npuAt[a * npusPerBox + sender], npuAt[b * npusPerBox + receiver]];
        const others = (): Ways => ways.through(from, to, false, receiver + turn);
        connectAsNamed(draft, from, to, "internode_sketch.internode_conn", others);
      }
    }
  }
  if (draft.connections.length === before && !isPart)
    throw new InputError(sketchPlace(sketch, "internode_sketch"), `nodes that ${topology.name} joins`, inWords("none"));
}

/** Returns the pairs (local sender, local receiver) of the connections between boxes, senders ascending. */
function connectionsOf({ connections }: InternodeSketch, npus: number): readonly (readonly [number, number])[] {
  const ranks = Array.from({ length: npus }, (_, rank) => rank);
  if (connections === "direct-map") return ranks.map((rank) => [rank, rank]);
  if (connections === "fully-connected") return ranks.flatMap((a) => ranks.map((b) => [a, b] as const));
  return [...connections].flatMap(([a, receivers]) => receivers.map((b) => [a, b] as const));
}

/** Divides the shares of what a sender with a beta_split sends to other boxes. Throws InputError where they are no exact numbers. */
function withSplit(routes: RouteSet, leavesBox: Uint8Array, sketch: Sketch, place: Int32Array): RouteSet {
  const split = sketch.internode?.betaSplit;
  if (split === undefined || split.size === 0) return routes;
  const shareNum = routes.shareNum.slice();
  const shareDen = routes.shareDen.slice();
  leavesBox.forEach((leaves, route) => {
    const sender = place[routes.source[route]] % sketch.npusPerBox;
    const parts = split.get(sender) ?? 1;
    if (leaves === 0 || parts === 1) return;
    for (let i = routes.linkOffset[route]; i < routes.linkOffset[route + 1]; i++) {
      const share = rational(BigInt(shareNum[i]), BigInt(shareDen[i]) * BigInt(parts));
      shareNum[i] = Number(share.num);
      shareDen[i] = Number(share.den);
      if (!Number.isSafeInteger(shareDen[i]))
        throw new InputError(
          sketchPlace(sketch, `internode_sketch.beta_split.${sender}`),
          "a part of the bandwidth that is an exact fraction",
          parts,
        );
    }
  });
  return { ...routes, shareNum, shareDen };
}

/** An NPU's links to, or from, a connected set of switches. */
interface Port {
  readonly component: number;
  readonly links: readonly number[];
}

/** How NPUs reach each other without passing an NPU. */
interface SketchWays {
  /** Returns the links from one NPU straight to another, in link order. */
  direct(from: number, to: number): readonly number[];
  /** Returns what an NPU has links to, with these links. */
  directFrom(from: number): Iterable<readonly [to: number, links: readonly number[]]>;
  /**
   * Returns the shortest ways through switches: through those inside the NPUs' box (`inside`), or through those that join
   * boxes; several only where NPUs have several links to switches. Pairs of equal `key` choose alike among equal ways.
   */
  through(from: number, to: number, inside: boolean, key: number): readonly (readonly number[])[];
  /** [boxes] For each box, the sets of switches whose NPUs all belong to it, as ascending NPUs that can send or receive. */
  readonly insides: readonly (readonly (readonly number[])[])[];
  /** Returns whether a link or a set of switches leads from a box to another one. */
  joins(fromBox: number, toBox: number): boolean;
}

const NO_LINKS: readonly number[] = [];

/**
 * Returns the ways of a network divided into boxes. A connected set of switches is inside a box where all its NPUs are in it;
 * a NIC is connected to the network's switches, so it is not. O(nodes + links), and what the ways take that are asked for.
 */
export function sketchWays(topology: Topology, boxOf: Int32Array, boxes: number): SketchWays {
  const { npuCount, linkSource, linkTarget } = topology;
  const straight: Map<number, number[]>[] = Array.from({ length: npuCount }, () => new Map());
  /** Pairs of boxes, from x boxes + to, that a link joins. */
  const linked = new Set<number>();
  for (let link = 0; link < linkCount(topology); link++) {
    const [from, to] = [linkSource[link], linkTarget[link]];
    if (!isNpu(topology, from) || !isNpu(topology, to)) continue;
    addTo(straight[from], to, link);
    if (boxOf[from] !== boxOf[to]) linked.add(boxOf[from] * boxes + boxOf[to]);
  }

  const components = switchComponents(topology);
  const up: Port[][] = Array.from({ length: npuCount }, () => []);
  const down: Port[][] = Array.from({ length: npuCount }, () => []);
  const insides: number[][][] = Array.from({ length: boxes }, () => []);
  const finders: (WayFinder | undefined)[] = [];
  /** [boxes] sets of switches that a box sends to; [components] boxes that a set reaches. */
  const sendsTo: number[][] = Array.from({ length: boxes }, () => []);
  const reaches: ReadonlySet<number>[] = [];
  const isInside = components.map(({ senders, receivers }, component) => {
    for (const { npu, links } of senders) up[npu].push({ component, links });
    for (const { npu, links } of receivers) down[npu].push({ component, links });
    const from = new Set(senders.map(({ npu }) => boxOf[npu]));
    const to = new Set(receivers.map(({ npu }) => boxOf[npu]));
    for (const box of from) sendsTo[box].push(component);
    reaches.push(to);
    if (new Set([...from, ...to]).size !== 1) return false;
    const npus = new Set([...senders, ...receivers].map(({ npu }) => npu));
    insides[boxOf[[...npus][0] as number]].push([...npus].sort((a, b) => a - b));
    return true;
  });

  return {
    insides,
    joins: (from, to) => linked.has(from * boxes + to) || sendsTo[from].some((component) => reaches[component].has(to)),
    direct: (from, to) => straight[from].get(to) ?? NO_LINKS,
    directFrom: (from) => straight[from],
    through(from, to, inside, key) {
      let ways: number[][] = [];
      for (const { component, links: first } of up[from]) {
        if (isInside[component] !== inside) continue;
        const last = down[to].find((port) => port.component === component)?.links;
        if (last === undefined) continue;
        finders[component] ??= wayFinder(topology, components[component].switches);
        for (let k = 0; k < Math.max(first.length, last.length); k++) {
          const [a, b] = [first[k % first.length] as number, last[k % last.length] as number];
          const middle = finders[component](linkTarget[a], linkSource[b], key);
          if (middle === null) continue;
          const length = middle.length + 2;
          if (ways.length > 0 && length > ways[0].length) continue;
          if (ways.length > 0 && length < ways[0].length) ways = [];
          ways.push([a, ...middle, b]);
        }
      }
      return ways;
    },
  };
}

type Network = Omit<SketchNetwork, "symmetries">;

/**
 * Returns the sketch's rotations as permutations (TACCL, appendix A, symmetry_offsets), as `rotationMaps` checks them. Throws
 * InputError that names the rotation and a connection without image.
 */
function sketchSymmetries(network: Network): SketchSymmetry[] {
  const { sketch } = network;
  const mapOf = rotationMaps(network);
  return sketch.symmetries.map(({ offset, period }, i) => {
    const found = mapOf({ offset, period });
    if (typeof found !== "string") return found;
    const expected = `a rotation of the sketch (${found})`;
    throw new InputError(sketchPlace(sketch, `symmetry_offsets[${i}]`), expected, [offset, period]);
  });
}

/**
 * Returns a function from rotations to permutations, or to why they are none. A rotation must map routes onto routes with the
 * same links (bandwidth, latency, share, one after the other) and the same policy, the k-th of parallel routes onto the k-th,
 * and what relays may not carry onto what relays may not carry; that two routes share a link need not be kept. There is none
 * where NPUs of the sketch failed.
 * O(routes x route length + NPUs x NPUs of a box) a call, less where it fails.
 */
export function rotationMaps(network: Network): (rotation: SymmetryOffset) => SketchSymmetry | string {
  const { npuCount } = network.topology;
  const { boxes, npusPerBox } = network.sketch;
  if (npuCount !== boxes * npusPerBox) return () => `${boxes * npusPerBox - npuCount} of its NPUs failed`;
  const firstRoute = firstRoutes(network);
  return (rotation) => {
    const npuTo = rotated(npuCount, rotation);
    const routeTo = imagesOfRoutes(network, npuTo, firstRoute);
    if (typeof routeTo === "string") return routeTo;
    return relayFault(network, npuTo) ?? { npuTo, routeTo };
  };
}

/** Returns where a rotation takes each NPU. */
function rotated(npus: number, { offset, period }: SymmetryOffset): Int32Array {
  return Int32Array.from({ length: npus }, (_, npu) => {
    const base = npu - (npu % period);
    return base + ((npu - base + offset) % period);
  });
}

/** Returns the first route of each pair that has one, by source x NPUs + target; parallel routes follow it. */
function firstRoutes({ routes, topology }: Network): Map<number, number> {
  const first = new Map<number, number>();
  for (let route = routeCount(routes) - 1; route >= 0; route--)
    first.set(routes.source[route] * topology.npuCount + routes.target[route], route);
  return first;
}

function imagesOfRoutes(
  network: Network,
  npuTo: Int32Array,
  firstRoute: ReadonlyMap<number, number>,
): Int32Array | string {
  const { routes, topology, hyperedge, policies } = network;
  const { source, target } = routes;
  const images = new Int32Array(routeCount(routes));
  for (let route = 0; route < images.length; route++) {
    const [from, to] = [npuTo[source[route]], npuTo[target[route]]];
    const own = firstRoute.get(source[route] * topology.npuCount + target[route]) as number;
    const first = firstRoute.get(from * topology.npuCount + to);
    const image = first === undefined ? -1 : first + route - own;
    const what = `${pairName(topology, source[route], target[route])} would become ${pairName(topology, from, to)}`;
    if (image < 0 || source[image] !== from || target[image] !== to) return `${what}, which the sketch does not have`;
    if (!equalLinks(topology, routes, route, image)) return `${what}, whose links are others`;
    const [policy, other] = [route, image].map((r) => (hyperedge[r] < 0 ? null : policies[hyperedge[r]]));
    if (policy !== other) return `${what}, which has another policy`;
    images[route] = image;
  }
  return images;
}

/** Returns whether two routes have links of the same figures, one after the other. */
function equalLinks(topology: Topology, routes: RouteSet, a: number, b: number): boolean {
  const { linkOffset, links, shareNum, shareDen } = routes;
  const { linkBytesPerSecond, linkLatencyPs } = topology;
  const [at, other] = [linkOffset[a], linkOffset[b]];
  const length = linkOffset[a + 1] - at;
  if (linkOffset[b + 1] - other !== length) return false;
  for (let k = 0; k < length; k++) {
    const [i, j] = [at + k, other + k];
    if (
      linkBytesPerSecond[links[i]] !== linkBytesPerSecond[links[j]] ||
      linkLatencyPs[links[i]] !== linkLatencyPs[links[j]] ||
      shareNum[i] !== shareNum[j] ||
      shareDen[i] !== shareDen[j]
    )
      return false;
  }
  return true;
}

/**
 * Returns why relays do not turn with the owners of chunks, so that a chunk and its image could not leave their boxes alike;
 * null where they do. The map is one to one, so it is enough to look at what may not be carried.
 */
function relayFault(network: Network, npuTo: Int32Array): string | null {
  const { topology } = network;
  const { npusPerBox, internode } = network.sketch;
  if (internode === null || internode.relays === null) return null;
  const name = (owner: number, sender: number): string =>
    `the chunks of ${topology.nodeNames[owner]} through ${topology.nodeNames[sender]}`;
  for (let sender = 0; sender < topology.npuCount; sender++) {
    for (let rank = 0; rank < npusPerBox; rank++) {
      const owner = sender - (sender % npusPerBox) + rank;
      const [turned, through] = [npuTo[owner], npuTo[sender]];
      if (mayCarry(network, owner, sender) || !mayCarry(network, turned, through)) continue;
      return `${name(turned, through)} are allowed by gpus_to_sender_rev_map, unlike ${name(owner, sender)}`;
    }
  }
  return null;
}
