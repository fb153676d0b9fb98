import { add, divide, multiply, type Rational, rational, toNumber } from "../numbers/rational.ts";
import { linkOrbits, orbitsOf } from "../symmetry/network-maps.ts";
import { isActive, isNpu, linkCount, nodeCount, type Topology } from "../topology/topology.ts";
import { copiesOf, type Forest, groupOrder, type NetworkSymmetry, type TreeFlow } from "./tree-flow.ts";

/**
 * Traffic that switches save which duplicate or sum messages themselves (dissertation of Zhao, 2026, 4.5.6). Throughput stays:
 * it is bounded by what must enter a set of nodes once, which no switch spares (4.4). What falls is the traffic, above all
 * what NPUs send again and again (or, of reductions, receive).
 */
interface Traffic {
  /** [forests][links] copies, those of images included, that cross each link. */
  readonly copies: readonly (readonly bigint[])[];
  /** Bytes over all links in one run of the collective. */
  readonly bytes: Rational;
  /** The part of them over links that leave an NPU, */
  readonly fromNpus: Rational;
  /** and over those that enter one. */
  readonly toNpus: Rational;
}

/**
 * Returns the traffic of a sound flow, where `multicast` without the links that switches make redundant. In total and link by
 * link, exactly. O(links of all edges + (nodes + links) * generators of the symmetry).
 */
export function trafficOf(flow: TreeFlow, multicast: boolean): Traffic {
  const { topology, collective, forests, symmetry } = flow;
  const { linkSource, linkTarget } = topology;
  const links = linkCount(topology);
  const spread = spreadOverImages(topology, symmetry);
  const copies = forests.map((forest) => {
    const skips = multicast ? multicastSkips(flow, forest) : null;
    return spread(copiesOnLinks(forest, collective.groupSize - 1, links, skips));
  });
  const data = multiply(collective.chunkBytes, rational(collective.chunkCount));
  const bytesOver = (counts: (link: number) => boolean): Rational =>
    forests
      .map((forest, f) => {
        const sum = copies[f].reduce((total, count, link) => (counts(link) ? total + count : total), 0n);
        return multiply(data, rational(sum, copiesOf(forest, symmetry)));
      })
      .reduce(add);
  return {
    copies,
    bytes: bytesOver(() => true),
    fromNpus: bytesOver((link) => isNpu(topology, linkSource[link])),
    toNpus: bytesOver((link) => isNpu(topology, linkTarget[link])),
  };
}

/**
 * Returns how many of its first links each edge of a forest can leave out, [edges], counted from the end at the root: all up to
 * the last switch on its path that has the tree's data from another edge, and that duplicates (out-trees; in-trees: sums).
 *
 * Edges are taken from the root outwards, those that start at fewer edges from it first, in the order of the listing; the first
 * through a switch feeds it. So a feeder never starts below the edges that it serves, no data waits for itself, and every switch
 * that can duplicate gets a tree's data at most once. O(links of all edges).
 */
export function multicastSkips({ topology, collective, symmetry }: TreeFlow, forest: Forest): Uint8Array {
  const { direction, root, linkOffset, links } = forest;
  const edges = collective.groupSize - 1;
  const skips = new Uint8Array(root.length * edges);
  const able = ableNodes(topology, symmetry, direction);
  if (!able.includes(1)) return skips;
  const far = direction === "out" ? topology.linkTarget : topology.linkSource;
  const orderOf = outwards(topology, forest, edges);
  const fed = new Int32Array(able.length).fill(-1); // the last tree whose data the node has
  for (let tree = 0; tree < root.length; tree++) {
    const order = orderOf(tree);
    for (let i = 0; i < edges; i++) {
      const edge = order[i];
      const begin = linkOffset[edge];
      const inner = linkOffset[edge + 1] - begin - 1; // nodes between the ends
      for (let k = 0; k < inner && k < 255; k++) {
        if (fed[far[links[begin + k]]] === tree) skips[edge] = k + 1;
      }
      for (let k = skips[edge]; k < inner; k++) {
        const node = far[links[begin + k]];
        if (able[node] === 1) fed[node] = tree;
      }
    }
  }
  return skips;
}

/**
 * Returns what tells the edges of a tree, [edges], by the edges between their start and the root, then as listed: so who feeds a
 * switch comes before who is served. The next call writes over them. O(edges) a call.
 */
export function outwards(
  { linkSource, linkTarget, nodeNames }: Topology,
  { direction, root, linkOffset, links }: Forest,
  edges: number,
): (tree: number) => Float64Array {
  const [near, far] = direction === "out" ? [linkSource, linkTarget] : [linkTarget, linkSource];
  const order = new Float64Array(edges);
  const depth = new Int32Array(nodeNames.length);
  const own = new Int32Array(edges);
  const next = new Int32Array(edges + 2);
  return (tree) => {
    const first = tree * edges;
    let height = 0;
    depth[root[tree]] = 0;
    for (let i = 0; i < edges; i++) {
      const level = depth[near[links[linkOffset[first + i]]]];
      own[i] = level;
      depth[far[links[linkOffset[first + i + 1] - 1]]] = level + 1;
      next[level + 1]++;
      if (level > height) height = level;
    }
    for (let level = 0; level <= height; level++) next[level + 1] += next[level];
    for (let i = 0; i < edges; i++) order[next[own[i]]++] = first + i;
    next.fill(0, 0, height + 2);
    return order;
  };
}

/** Marks the nodes that duplicate (or sum); of a symmetric flow those whose images all do, for trees stand for their images. */
function ableNodes(topology: Topology, symmetry: NetworkSymmetry | null, direction: Forest["direction"]): Uint8Array {
  const trait = direction === "out" ? "multicast" : "aggregation";
  const able = Uint8Array.from({ length: nodeCount(topology) }, (_, node) =>
    !isNpu(topology, node) && topology.nodeTraits[node][trait] === true ? 1 : 0,
  );
  if (symmetry === null) return able;
  const { of, size } = orbitsOf(able.length, symmetry.steps);
  const all = new Uint8Array(size.length).fill(1);
  of.forEach((orbit, node) => {
    all[orbit] &= able[node];
  });
  return Uint8Array.from(of, (orbit) => all[orbit]);
}

/** Returns what gives each link what its whole orbit is listed with, evenly. */
function spreadOverImages(
  topology: Topology,
  symmetry: NetworkSymmetry | null,
): (listed: readonly bigint[]) => readonly bigint[] {
  if (symmetry === null) return (listed) => listed;
  const { of, size } = linkOrbits(topology, symmetry);
  const order = groupOrder(symmetry);
  return (listed) => {
    const sums = new Array<bigint>(size.length).fill(0n);
    listed.forEach((count, link) => {
      sums[of[link]] += count;
    });
    return Array.from(of, (orbit) => sums[orbit] * BigInt(order / size[orbit]));
  };
}

/**
 * Returns the part (0 .. 1) of a sound flow's traffic that is left when switches duplicate and reduce as they can: over all
 * links, over those that leave an NPU and over those that enter one; null where that saves nothing. Takes as long as trafficOf.
 */
export function trafficSaved(
  flow: TreeFlow,
): { ofAllLinks: number; sentByNpus: number; receivedByNpus: number } | null {
  const { nodeTraits } = flow.topology;
  if (!nodeTraits.some(isActive)) return null;
  const [before, after] = [trafficOf(flow, false), trafficOf(flow, true)];
  const left = (of: "bytes" | "fromNpus" | "toNpus"): number => toNumber(divide(after[of], before[of]));
  if (left("bytes") === 1) return null;
  return { ofAllLinks: left("bytes"), sentByNpus: left("fromNpus"), receivedByNpus: left("toNpus") };
}

/** The part of a forest that says which links its copies cross. */
type ForestLinks = Pick<Forest, "copies" | "linkOffset" | "links">;

/**
 * Returns how many copies of the listed trees cross each link, [links]; an edge leaves out as many of its leading links as
 * `skips` says. Exact: in doubles where no sum leaves 2^53 - 1, else in BigInt. O(links of all edges).
 */
export function copiesOnLinks(
  forest: ForestLinks,
  edges: number,
  linkCount: number,
  skips: Uint8Array | null = null,
): bigint[] {
  const { copies, linkOffset, links } = forest;
  const sums = new Float64Array(linkCount);
  for (let tree = 0; tree < copies.length; tree++) {
    const own = copies[tree];
    const first = linkOffset[tree * edges];
    const ofTree = links.subarray(first, linkOffset[(tree + 1) * edges]);
    if (skips === null) {
      for (let i = 0; i < ofTree.length; i++) sums[ofTree[i]] += own;
      continue;
    }
    let i = 0;
    for (let e = tree * edges; e < (tree + 1) * edges; e++) {
      i += skips[e];
      for (const end = linkOffset[e + 1] - first; i < end; i++) sums[ofTree[i]] += own;
    }
  }
  // sums only grow, so one that was rounded on the way is not below 2^53
  if (sums.every((sum) => sum <= Number.MAX_SAFE_INTEGER)) return Array.from(sums, BigInt);
  const exact = new Array<bigint>(linkCount).fill(0n);
  for (let tree = 0; tree < copies.length; tree++) {
    const own = BigInt(copies[tree]);
    for (let e = tree * edges; e < (tree + 1) * edges; e++) {
      const from = linkOffset[e] + (skips === null ? 0 : skips[e]);
      for (let i = from; i < linkOffset[e + 1]; i++) exact[links[i]] += own;
    }
  }
  return exact;
}

/**
 * Returns the greatest bandwidth y of a copy with which `loads` [links] copies fit on all links: the least of usable / load, in
 * bytes per second; null where no link carries any.
 */
export function fittingBandwidth(loads: readonly bigint[], usable: Float64Array): Rational | null {
  let num = 0n;
  let den = 0n;
  for (let link = 0; link < loads.length; link++) {
    if (loads[link] === 0n) continue;
    const room = BigInt(usable[link]);
    if (den > 0n && room * den >= num * loads[link]) continue;
    num = room;
    den = loads[link];
  }
  return den === 0n ? null : rational(num, den);
}

/** Returns the data per second of a forest without symmetry: all its copies times the bandwidth of one. */
export const rateOfForest = (forest: Forest): Rational =>
  multiply(rational(copiesOf(forest, null)), forest.copyBytesPerSecond);

/**
 * Returns a function that puts a sound flow on a network of other figures: copies get the part more or less bandwidth that the
 * narrowest link allows them. O(links of all edges) once, then O(links).
 */
export function onOtherFigures(flow: TreeFlow): (topology: Topology) => TreeFlow {
  const { copies } = trafficOf(flow, flow.inNetwork === true);
  const loads = flow.concurrent
    ? copies.map(() => copies.reduce((sum, other) => sum.map((load, link) => load + other[link])))
    : copies;
  const fitting = ({ linkBytesPerSecond }: Topology) => loads.map((load) => fittingBandwidth(load, linkBytesPerSecond));
  const before = fitting(flow.topology);
  return (topology) => {
    const now = fitting(topology);
    const forests = flow.forests.map((forest, f): Forest => {
      const [own, old] = [now[f], before[f]];
      if (!own || !old) return forest;
      return { ...forest, copyBytesPerSecond: multiply(forest.copyBytesPerSecond, divide(own, old)) };
    });
    return { ...flow, topology, forests };
  };
}
