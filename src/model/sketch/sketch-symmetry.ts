import { InputError } from "../../base/errors.ts";
import { type RouteSet, routeCount } from "../routes/routes.ts";
import { pairName, type Topology } from "../topology/topology.ts";
import type { SketchNetwork, SketchSymmetry, SymmetryOffset } from "./sketch.ts";
import { sketchPlace } from "./sketch-check.ts";
import { mayCarry } from "./sketch-relays.ts";

type Network = Omit<SketchNetwork, "symmetries">;

/**
 * Returns the sketch's rotations as permutations (TACCL, appendix A, symmetry_offsets), as `rotationMaps` checks them. Throws
 * InputError that names the rotation and a connection without image.
 */
export function sketchSymmetries(network: Network): SketchSymmetry[] {
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
 * and what relays may not carry onto what relays may not carry; that two routes share a link need not be kept.
 * O(routes x route length + NPUs x NPUs of a box) a call, less where it fails.
 */
export function rotationMaps(network: Network): (rotation: SymmetryOffset) => SketchSymmetry | string {
  const firstRoute = firstRoutes(network);
  return (rotation) => {
    const npuTo = rotated(network.topology.npuCount, rotation);
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
function relayFault({ sketch, topology }: Network, npuTo: Int32Array): string | null {
  const { npusPerBox, internode } = sketch;
  if (internode === null || internode.relays === null) return null;
  const name = (owner: number, sender: number): string =>
    `the chunks of ${topology.nodeNames[owner]} through ${topology.nodeNames[sender]}`;
  for (let sender = 0; sender < topology.npuCount; sender++) {
    for (let rank = 0; rank < npusPerBox; rank++) {
      const owner = sender - (sender % npusPerBox) + rank;
      const [turned, through] = [npuTo[owner], npuTo[sender]];
      if (mayCarry(sketch, owner, sender) || !mayCarry(sketch, turned, through)) continue;
      return `${name(turned, through)} are allowed by gpus_to_sender_rev_map, unlike ${name(owner, sender)}`;
    }
  }
  return null;
}
