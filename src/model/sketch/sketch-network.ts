import { InputError } from "../../base/errors.ts";
import { rational } from "../numbers/rational.ts";
import type { RouteSet } from "../routes/routes.ts";
import { addRoute, type RouteDraft, withShares } from "../routes/routing.ts";
import { pairName, type Topology } from "../topology/topology.ts";
import type { HyperedgePolicy, InternodeSketch, Sketch, SketchNetwork } from "./sketch.ts";
import { boxesOfSketch } from "./sketch-boxes.ts";
import { checkSketch, sketchPlace } from "./sketch-check.ts";
import { sketchSymmetries } from "./sketch-symmetry.ts";
import { type SketchWays, sketchWays } from "./sketch-ways.ts";

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
  readonly connections: Connection[];
  readonly policies: HyperedgePolicy[];
}

/**
 * Returns the logical topology of a sketch (TACCL, sections 3.1 to 3.3): inside a box its direct links and, through a switch,
 * every pair that the switch joins; between boxes the shortest ways of the connections that the sketch names. No way passes an
 * NPU. A route has the rate of its slowest link, over beta_split between boxes, and that share of all its links.
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
  const boxOf = boxesOfSketch(topology, sketch);
  const ways = sketchWays(topology, boxOf, sketch.boxes);
  const draft: Draft = { topology, sketch, ways, connections: [], policies: [] };
  for (let box = 0; box < sketch.boxes; box++) connectInside(draft, box);
  if (sketch.internode !== null) connectBoxes(draft, sketch.internode);

  const connections = draft.connections.sort((a, b) => a.from - b.from || a.to - b.to);
  const columns: RouteDraft = { source: [], target: [], linkOffset: [0], links: [] };
  for (const { from, to, links } of connections) addRoute(columns, from, to, links);
  const leavesBox = Uint8Array.from(connections, ({ from, to }) => Number(boxOf[from] !== boxOf[to]));
  const network = {
    topology,
    sketch,
    routes: withSplit(withShares(topology, columns, false), leavesBox, sketch),
    hyperedge: Int32Array.from(connections, ({ hyperedge }) => hyperedge),
    policies: draft.policies,
    leavesBox,
    boxOf,
  };
  return { ...network, symmetries: sketchSymmetries(network) };
}

function connect(draft: Draft, from: number, to: number, links: readonly number[], hyperedge: number): void {
  if (draft.connections.length === MOST_ROUTES)
    throw new InputError(
      sketchPlace(draft.sketch, "connections"),
      `at most ${MOST_ROUTES} of them on ${draft.topology.name}`,
      "more",
    );
  draft.connections.push({ from, to, links, hyperedge });
}

function connectInside(draft: Draft, box: number): void {
  const { sketch, ways } = draft;
  const { npusPerBox, intranode } = sketch;
  const first = box * npusPerBox;
  if (intranode.strategy === "relay") {
    for (const [sender, receivers] of intranode.connections ?? []) {
      for (const receiver of receivers) connectPair(draft, first + sender, first + receiver);
    }
    return;
  }
  const before = draft.connections.length;
  for (let from = first; from < first + npusPerBox; from++) {
    for (const [to, links] of ways.directFrom(from)) {
      if (to < first || to >= first + npusPerBox) continue;
      for (const link of links) connect(draft, from, to, [link], -1);
    }
  }
  if (intranode.strategy === "switch") {
    intranode.switches.forEach((ranks, i) => {
      const npus = ranks.map((rank) => first + rank);
      connectSwitch(draft, npus, intranode.policies[i], `intranode_sketch.switches[${i}]`);
    });
    return;
  }
  for (const npus of ways.insides[box]) connectSwitch(draft, npus, "none", null);
  if (draft.connections.length > before) return;
  const all = Array.from({ length: npusPerBox }, (_, rank) => first + rank);
  connectSwitch(draft, all, "none", null);
}

/** Joins every two NPUs through switches: through those of their box where there are such, else through the network's. */
function connectSwitch(draft: Draft, npus: readonly number[], policy: HyperedgePolicy, place: string | null): void {
  const { sketch, ways, topology, policies } = draft;
  const hyperedge = policies.length;
  let any = false;
  for (const from of npus) {
    for (const to of npus) {
      if (from === to) continue;
      const found = switched(sketch, ways, from, to);
      any ||= found.length > 0;
      if (found.length === 0 && place !== null)
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
function connectPair(draft: Draft, from: number, to: number): void {
  const { sketch, ways } = draft;
  const place = `intranode_sketch.intranode_conn.${from % sketch.npusPerBox}`;
  connectAsNamed(draft, from, to, place, () => switched(sketch, ways, from, to));
}

/** Joins two NPUs, as a field of the sketch names them, by their direct links, or the other ways where there are none. */
function connectAsNamed(draft: Draft, from: number, to: number, place: string, others: () => Ways): void {
  const direct = draft.ways.direct(from, to).map((link) => [link]);
  const found = direct.length > 0 ? direct : others();
  if (found.length === 0) throw noWay(draft, place, `connections that ${draft.topology.name} has`, from, to);
  for (const links of found) connect(draft, from, to, links, -1);
}

const noWay = ({ sketch, topology }: Draft, place: string, expected: string, from: number, to: number): InputError =>
  new InputError(sketchPlace(sketch, place), expected, pairName(topology, from, to));

function connectBoxes(draft: Draft, internode: InternodeSketch): void {
  const { sketch, ways, topology } = draft;
  const { boxes, npusPerBox } = sketch;
  const pairs = connectionsOf(internode, npusPerBox);
  const before = draft.connections.length;
  for (let a = 0; a < boxes; a++) {
    for (let b = 0; b < boxes; b++) {
      if (a === b || !ways.joins(a, b)) continue;
      const turn = (b - a + boxes) % boxes;
      for (const [sender, receiver] of pairs) {
        const [from, to] = [a * npusPerBox + sender, b * npusPerBox + receiver];
        const others = (): Ways => ways.through(from, to, false, receiver + turn);
        connectAsNamed(draft, from, to, "internode_sketch.internode_conn", others);
      }
    }
  }
  if (draft.connections.length === before)
    throw new InputError(sketchPlace(sketch, "internode_sketch"), `nodes that ${topology.name} joins`, "none");
}

/** Returns the pairs (local sender, local receiver) of the connections between boxes, senders ascending. */
function connectionsOf({ connections }: InternodeSketch, npus: number): readonly (readonly [number, number])[] {
  const ranks = Array.from({ length: npus }, (_, rank) => rank);
  if (connections === "direct-map") return ranks.map((rank) => [rank, rank]);
  if (connections === "fully-connected") return ranks.flatMap((a) => ranks.map((b) => [a, b] as const));
  return [...connections].flatMap(([a, receivers]) => receivers.map((b) => [a, b] as const));
}

/** Divides the shares of what a sender with a beta_split sends to other boxes. Throws InputError where they are no exact numbers. */
function withSplit(routes: RouteSet, leavesBox: Uint8Array, sketch: Sketch): RouteSet {
  const split = sketch.internode?.betaSplit;
  if (split === undefined || split.size === 0) return routes;
  const shareNum = routes.shareNum.slice();
  const shareDen = routes.shareDen.slice();
  leavesBox.forEach((leaves, route) => {
    const sender = routes.source[route] % sketch.npusPerBox;
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
