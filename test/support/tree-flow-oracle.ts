import { add, compare, multiply, type Rational, rational } from "../../src/model/numbers/rational.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import type { PlainFlow, PlainForest, PlainTree } from "./plain-trees.ts";

/**
 * A judge of tree flows by brute force, for small ones: every image of every tree is written out and walked with JavaScript
 * sets, loads are fractions in maps. It shares no code with the verifier.
 */
export interface TreeOpinion {
  readonly valid: boolean;
  /** The forests are not those of the collective. */
  readonly wrongForests: boolean;
  readonly falseSymmetry: boolean;
  /** "forest tree" of listed trees with an image that is no tree. */
  readonly badTrees: ReadonlySet<string>;
  /** NPUs at which the wrong number of copies is rooted. */
  readonly wrongRoots: ReadonlySet<number>;
  /** "link" (side by side) or "forest link" of what holds more than there is. */
  readonly overloaded: ReadonlySet<string>;
}

/** A listed tree or an image of one. */
interface Image extends PlainTree {
  readonly listed: number;
}

/** Returns the oracle's opinion. O(group order * links^2). */
export function judgeTrees(flow: PlainFlow): TreeOpinion {
  const { topology, forests, concurrent } = flow;
  const falseSymmetry = !isSymmetry(flow);
  const badTrees = new Set<string>();
  const wrongRoots = new Set<number>();
  const overloaded = new Set<string>();
  const wanted = directionsOf(flow);
  const wrongForests =
    wanted === null ||
    wanted !== forests.map(({ direction }) => direction).join() ||
    (concurrent && forests.length === 1);
  if (!falseSymmetry) {
    const images = forests.map((forest) => imagesOf(flow, forest));
    const loads = images.map((trees, f) => loadsOf(trees, forests[f].y));
    images.forEach((trees, f) => {
      for (const image of trees) if (!isTree(flow, image, forests[f].direction)) badTrees.add(`${f} ${image.listed}`);
    });
    for (let link = 0; link < topology.linkSource.length; link++) {
      const room = rational(topology.linkBytesPerSecond[link]);
      const used = loads.map((load) => load.get(link) ?? rational(0));
      if (concurrent && compare(used.reduce(add), room) > 0) overloaded.add(`${link}`);
      used.forEach((load, f) => {
        if (!concurrent && compare(load, room) > 0) overloaded.add(`${f} ${link}`);
      });
    }
    if (wanted !== null && wanted.split(",").length === forests.length) {
      for (let npu = 0; npu < topology.npuCount; npu++) if (!rootsFit(flow, images, npu)) wrongRoots.add(npu);
    }
  }
  const clean = badTrees.size + wrongRoots.size + overloaded.size === 0;
  const valid = clean && !falseSymmetry && !wrongForests;
  return { valid, wrongForests, falseSymmetry, badTrees, wrongRoots, overloaded };
}

/** Returns the greatest bandwidth of a copy that fits, the same in all forests. */
export function largestY(flow: PlainFlow): Rational {
  const one = rational(1);
  const loads = flow.forests.map((forest) => loadsOf(imagesOf(flow, forest), one));
  let y: Rational | null = null;
  flow.topology.linkBytesPerSecond.forEach((bandwidth, link) => {
    const used = loads.map((load) => load.get(link) ?? rational(0));
    const most = flow.concurrent ? used.reduce(add) : used.reduce((a, b) => (compare(a, b) > 0 ? a : b));
    if (most.num === 0n) return;
    const here = rational(BigInt(bandwidth) * most.den, most.num);
    if (y === null || compare(here, y) < 0) y = here;
  });
  return y ?? one;
}

/** Returns the nodes to which every element of the group takes each node. */
function elementsOf({ topology, symmetry }: PlainFlow): number[][] {
  let elements = [topology.nodeNames.map((_, v) => v)];
  symmetry?.sizes.forEach((size, d) => {
    const step = symmetry.steps[d];
    const all = [...elements];
    let last = elements;
    for (let power = 1; power < size; power++) {
      last = last.map((element) => element.map((v) => step[v]));
      all.push(...last);
    }
    elements = all;
  });
  return elements;
}

/** Returns the links from a node to another with the same bandwidth and latency as a link has. */
const alike = (topology: Topology, link: number, from: number, to: number): number[] =>
  [...topology.linkSource.keys()].filter(
    (other) =>
      topology.linkSource[other] === from &&
      topology.linkTarget[other] === to &&
      topology.linkBytesPerSecond[other] === topology.linkBytesPerSecond[link] &&
      topology.linkLatencyPs[other] === topology.linkLatencyPs[link],
  );

function linkImage(topology: Topology, element: readonly number[], link: number): number | undefined {
  const from = topology.linkSource[link];
  const to = topology.linkTarget[link];
  const k = alike(topology, link, from, to).indexOf(link);
  return alike(topology, link, element[from], element[to])[k];
}

function isSymmetry(flow: PlainFlow): boolean {
  const { topology, collective, symmetry } = flow;
  if (symmetry === null) return true;
  const nodes = topology.nodeNames.map((_, v) => v);
  const kind = (v: number): string => `${v < topology.npuCount} ${collective.groupMembers.includes(v)}`;
  return symmetry.steps.every((step, d) => {
    if (new Set(step).size !== nodes.length || nodes.some((v) => kind(v) !== kind(step[v]))) return false;
    if (symmetry.steps.some((other) => nodes.some((v) => step[other[v]] !== other[step[v]]))) return false;
    const images = [...topology.linkSource.keys()].map((link) => linkImage(topology, step, link));
    if (images.includes(undefined) || new Set(images).size !== images.length) return false;
    return nodes.every((v) => {
      let at = v;
      for (let i = 0; i < symmetry.sizes[d]; i++) at = step[at];
      return at === v;
    });
  });
}

function imagesOf(flow: PlainFlow, { trees }: PlainForest): Image[] {
  return elementsOf(flow).flatMap((element) => {
    const image = flow.topology.linkSource.length === 0 ? [] : [...flow.topology.linkSource.keys()];
    const links = image.map((link) => linkImage(flow.topology, element, link) as number);
    return trees.map(({ root, copies, edges }, listed) => ({
      root: element[root],
      copies,
      edges: edges.map((edge) => edge.map((link) => links[link])),
      listed,
    }));
  });
}

function loadsOf(trees: readonly Image[], y: Rational): Map<number, Rational> {
  const loads = new Map<number, Rational>();
  for (const { copies, edges } of trees) {
    for (const link of edges.flat()) {
      loads.set(link, add(loads.get(link) ?? rational(0), multiply(rational(copies), y)));
    }
  }
  return loads;
}

function isTree({ topology, collective }: PlainFlow, { root, edges }: Image, direction: "out" | "in"): boolean {
  const [from, to] =
    direction === "out" ? [topology.linkSource, topology.linkTarget] : [topology.linkTarget, topology.linkSource];
  const members = new Set(collective.groupMembers);
  const reached = new Set([root]);
  if (!members.has(root)) return false;
  for (const edge of edges) {
    if (edge.length === 0) return false;
    const walk = [from[edge[0]], ...edge.map((link) => to[link])];
    if (edge.some((link, i) => from[link] !== walk[i])) return false;
    if (new Set(walk).size !== walk.length || walk.slice(1, -1).some((node) => members.has(node))) return false;
    const end = walk.at(-1) as number;
    if (!reached.has(walk[0]) || reached.has(end) || !members.has(end)) return false;
    reached.add(end);
  }
  return reached.size === members.size;
}

/** Returns the forests that the chunks want, or null. */
function directionsOf({ collective }: PlainFlow): string | null {
  const { reduces, kind, groupSize } = collective;
  const { starts, ends } = placesOf(collective);
  const members = [...collective.groupMembers].sort((a, b) => a - b).join();
  const all = (places: readonly number[][]): boolean => places.every((npus) => npus.join() === members);
  const single = (places: readonly number[][]): boolean =>
    places.every((npus) => npus.length === 1 && collective.groupMembers.includes(npus[0]));
  if (!reduces) return single(starts) && all(ends) ? "out" : null;
  if (!all(starts)) return null;
  if (all(ends) && (groupSize > 1 || kind === "allreduce")) return "in,out";
  return single(ends) ? "in" : null;
}

/** Returns where each chunk starts and ends, ascending. */
function placesOf(collective: PlainFlow["collective"]): { starts: number[][]; ends: number[][] } {
  const [starts, ends] = [collective.pre, collective.post].map((placement) =>
    Array.from({ length: collective.chunkCount }, (_, chunk) => {
      if (placement.kind === "group") return [...collective.groupMembers].sort((a, b) => a - b);
      if (placement.kind === "one") return [placement.npu[chunk]];
      return [...placement.members.subarray(placement.offset[chunk], placement.offset[chunk + 1])];
    }),
  );
  return { starts, ends };
}

function rootsFit({ collective }: PlainFlow, images: readonly Image[][], npu: number): boolean {
  const rooted = images.map((trees) =>
    trees.filter(({ root }) => root === npu).reduce((n, { copies }) => n + copies, 0),
  );
  if (images.length === 2) return rooted[0] === rooted[1];
  const total = images[0].reduce((n, { copies }) => n + copies, 0);
  const { starts, ends } = placesOf(collective);
  const own = (collective.reduces ? ends : starts).filter(([owner]) => owner === npu).length;
  return rooted[0] * collective.chunkCount === own * total;
}
