import { InternalError } from "../../base/errors.ts";
import type { Collective } from "../collective/collective.ts";
import { addTo, composed, indicesBelow, inverted } from "../numbers/ordering.ts";
import type { Target } from "../topology/modify.ts";
import { linkCount, nodeCount, type Topology } from "../topology/topology.ts";
import { type ColouredNetwork, colouredNetwork, elementOf, elementOfOwn, imageOf } from "./coloured-network.ts";
import type { NetworkMap } from "./network-maps.ts";
import { networkSymmetry } from "./network-symmetry.ts";
import { type Level, levelsOf, STILL } from "./stabilisers.ts";

/** Failures that maps of the network take to each other, so that what is left is the same network but for names. */
export interface FailureClasses {
  /** [failures] 0, 1, ... in the order of first members. */
  readonly classOf: Int32Array;
  /** [classes] the first failure of each. */
  readonly firstOf: Int32Array;
  /** Returns a map of the whole network that takes the first failure of its class onto this one. O(maps * (nodes + links)). */
  mapTo(failure: number): NetworkMap;
  /** Returns the class of one more failure, and the map that takes the class's first failure onto it; null where it is of none. */
  find(failure: readonly Target[]): ClassFound | null;
}

/** The class of a failure. */
export interface ClassFound {
  readonly of: number;
  map(): NetworkMap;
}

/** Of more images of one failure that are followed side by side the others are left out, so classes may stay apart. */
const MOST_IMAGES = 512;

/** What a failure takes out. */
interface Failed {
  readonly nodes: ReadonlySet<number>;
  /** Links of no such node. */
  readonly links: ReadonlySet<number>;
  /**
   * The same as points of the coloured network, ascending: boxes of which all nodes fail, other nodes, arcs and cables, each as
   * point * (links + 1) + how many of its links fail.
   */
  readonly points: readonly number[];
}

/** A failure under some maps, one after the other, in points. */
interface Image {
  readonly points: readonly number[];
  readonly path: readonly Int32Array[];
}

/** The image of a failure that all of its class have, as a text. */
interface Canonical {
  readonly key: string;
  readonly path: readonly Int32Array[];
}

/**
 * Returns the classes of failures, each of which is all its targets at once, under the maps of the network onto itself that keep boxes,
 * who takes part in a collective, and its root; of a custom collective only the identity. A failure is what it takes out, so links
 * of nodes that fail too do not count, nor does which of equal parallel links fail. Failures are of one class only where maps, held
 * against every node and link, take them to the same one; where no map is found, classes stay apart. O(maps * (nodes + links)) for
 * the network, then about as many steps for each failure as maps lead to it, times its targets.
 */
export function failureClasses(
  topology: Topology,
  collective: Collective,
  failures: readonly (readonly Target[])[],
): FailureClasses {
  const network = colouredNetwork(topology, collective);
  const scale = linkCount(topology) + 1;
  const failed = failedIn(topology, network, scale);
  let whole: Level | undefined;
  const canonical = ({ points }: Failed): Canonical => {
    whole ??= collective.kind === "custom" ? STILL : levelsOf(network, translationsOf(topology, network));
    return canonicalOf(network, whole, scale, points);
  };
  // a single failure is of its class whatever the maps are, which take time
  const isOne = failures.length === 1;
  const numbers = new Map<string, number>();
  const firstOf: number[] = isOne ? [0] : [];
  const classOf = Int32Array.from(failures, (failure, i) => {
    if (isOne) return 0;
    const { key } = canonical(failed(failure));
    const number = numbers.get(key) ?? firstOf.push(i) - 1;
    numbers.set(key, number);
    return number;
  });

  const mapOnto = (of: number, failure: readonly Target[]): NetworkMap => {
    const first = failed(failures[firstOf[of] as number] as readonly Target[]);
    const other = failed(failure);
    const there = productOf(network, canonical(first).path);
    const back = inverted(productOf(network, canonical(other).path));
    return mapOf(topology, network, composed(back, there), first, other);
  };
  return {
    classOf,
    firstOf: Int32Array.from(firstOf),
    mapTo: (failure) => mapOnto(classOf[failure] as number, failures[failure] as readonly Target[]),
    find(failure) {
      if (isOne) numbers.set(canonical(failed(failures[0] as readonly Target[])).key, 0);
      const of = numbers.get(canonical(failed(failure)).key);
      return of === undefined ? null : { of, map: () => mapOnto(of, failure) };
    },
  };
}

/** Returns what the generators of a network's translations do, as far as they are maps of what is asked of it. */
function translationsOf(topology: Topology, network: ColouredNetwork): Int32Array[] {
  const { steps = [] } = networkSymmetry(topology) ?? {};
  return steps.flatMap((step) => elementOfOwn(network, step) ?? []);
}

/** Returns a function that says what fails where some targets do. O(targets * nodes of a box) a call. */
function failedIn(
  { linkSource, linkTarget }: Topology,
  { nodes: count, source, target, arcOf, back, linkArcs, boxes }: ColouredNetwork,
  scale: number,
): (targets: readonly Target[]) => Failed {
  const members = new Map<number, number[]>();
  const boxOf = new Map<number, number>();
  for (let arc = linkArcs; arc < source.length && source[arc] < boxes; arc++) {
    boxOf.set(target[arc], source[arc]);
    addTo(members, source[arc], target[arc]);
  }
  return (targets) => {
    const nodes = new Set(targets.flatMap((one) => one.nodes));
    const stays = (link: number): boolean => !nodes.has(linkSource[link]) && !nodes.has(linkTarget[link]);
    const links = new Set(targets.flatMap((one) => one.links).filter(stays));
    const whole = new Set<number>();
    for (const node of nodes) {
      const box = boxOf.get(node);
      if (box === undefined || whole.has(box)) continue;
      if ((members.get(box) as number[]).every((one) => nodes.has(one))) whole.add(box);
    }
    const points = [...whole, ...[...nodes].filter((node) => !whole.has(boxOf.get(node) ?? -1))].map(
      (point) => point * scale,
    );
    const many = new Map<number, number>();
    for (const link of links) many.set(arcOf[link], (many.get(arcOf[link]) ?? 0) + 1);
    for (const [arc, some] of many) {
      const isCable = back[arc] >= 0 && many.get(back[arc]) === some;
      if (isCable && back[arc] < arc) continue;
      points.push((count + arc + (isCable ? source.length : 0)) * scale + some);
    }
    return { nodes, links, points: points.sort((a, b) => a - b) };
  };
}

/**
 * Returns the image of a failure that stands for its class: of its points one goes to the least of its orbit, then another one by maps
 * that leave the first where it is, and so on; each time a point of which fewest are in one orbit. Images that come of different
 * choices are followed side by side, and the least goes on.
 */
function canonicalOf(network: ColouredNetwork, whole: Level, scale: number, given: readonly number[]): Canonical {
  let images: Image[] = [{ points: given, path: [] }];
  let key = "";
  let level = whole;
  for (;;) {
    const nameOf = (one: number): number => level.nameOf(Math.floor(one / scale)) * scale + (one % scale);
    const texts = images.map((image) => ascending(image.points.map(nameOf)).join());
    const least = texts.reduce((one, other) => (other < one ? other : one));
    images = images.filter((_, i) => texts[i] === least);
    const { points, path } = images[0] as Image;
    const name = rarest(points.filter((one) => level.moves(Math.floor(one / scale))).map(nameOf));
    if (name === null) return { key: `${key}|${least}`, path };
    const point = Math.floor(name / scale);
    const next = new Map<string, Image>();
    for (const image of images) {
      for (const one of image.points) {
        if (nameOf(one) !== name || next.size === MOST_IMAGES) continue;
        const moved = movedTo(network, level, scale, image, one, point);
        if (moved === null) continue;
        const text = moved.points.join();
        if (!next.has(text)) next.set(text, moved);
      }
    }
    images = [...next.values()];
    // no way is known to what stands for it: it stays alone
    if (images.length === 0) return { key: `alone ${given.join()}`, path: [] };
    key += ` ${name}`;
    if (images[0]?.points.length === 0) return { key, path: images[0].path };
    level = level.child(point);
  }
}

const ascending = (numbers: number[]): number[] => numbers.sort((a, b) => a - b);

/** Returns the number that is there least often, the least of several; null for none. */
function rarest(numbers: readonly number[]): number | null {
  const times = new Map<number, number>();
  for (const number of numbers) times.set(number, (times.get(number) ?? 0) + 1);
  let found: readonly [number, number] | null = null;
  for (const [number, many] of times) {
    if (found === null || many < found[1] || (many === found[1] && number < found[0])) found = [number, many];
  }
  return found === null ? null : found[0];
}

/** Returns the image in which one point of a failure, which is left out, is the one that stands for its orbit; null where no way is known. */
function movedTo(
  network: ColouredNetwork,
  level: Level,
  scale: number,
  { points, path }: Image,
  one: number,
  least: number,
): Image | null {
  const others = points.filter((other) => other !== one);
  const steps: Int32Array[] = [];
  for (let at = Math.floor(one / scale); at !== least; ) {
    const step = level.step(at);
    if (step === null) return null;
    steps.push(step);
    at = imageOf(network, step, at);
    for (let i = 0; i < others.length; i++) {
      const other = others[i] as number;
      others[i] = imageOf(network, step, Math.floor(other / scale)) * scale + (other % scale);
    }
  }
  return { points: ascending(others), path: [...path, ...steps] };
}

/** Returns what some maps do one after the other. */
function productOf({ nodes, source }: ColouredNetwork, path: readonly Int32Array[]): Int32Array {
  const product = indicesBelow(nodes + source.length);
  for (const step of path) for (let i = 0; i < product.length; i++) product[i] = step[product[i]];
  return product;
}

/**
 * Returns the map of nodes and links that an element is, where failed links go to failed ones and the k-th of other parallel ones to
 * the k-th. Throws InternalError where it is no map of the network, or does not take one failure onto the other. O(nodes + links).
 */
function mapOf(
  topology: Topology,
  network: ColouredNetwork,
  element: Int32Array,
  from: Failed,
  to: Failed,
): NetworkMap {
  const { nodes, linkOffset, links } = network;
  const proved = elementOf(network, element.slice(0, nodes));
  const isOnto =
    proved !== null &&
    from.nodes.size === to.nodes.size &&
    from.links.size === to.links.size &&
    [...from.nodes].every((node) => to.nodes.has(proved[node]));
  if (!isOnto) throw new InternalError("a map that does not take one failure to another that is alike");
  const link = new Int32Array(linkCount(topology));
  const inOrder = (arc: number, { links: failed }: Failed): Int32Array => {
    const own = links.subarray(linkOffset[arc], linkOffset[arc + 1]);
    return failed.size === 0 || own.length === 1
      ? own
      : own.slice().sort((a, b) => +failed.has(b) - +failed.has(a) || a - b);
  };
  for (let arc = 0; arc < network.linkArcs; arc++) {
    const images = inOrder(proved[nodes + arc] - nodes, to);
    inOrder(arc, from).forEach((one, k) => {
      link[one] = images[k];
    });
  }
  if (![...from.links].every((one) => to.links.has(link[one])))
    throw new InternalError("a map that does not take the failed links of one failure to those of another");
  return { node: proved.slice(0, nodeCount(topology)), link };
}
