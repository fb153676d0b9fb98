import { disjointSets, type NumberedSets, numberedSets } from "../../model/graph/disjoint-sets.ts";
import { type Grouped, groupedBy } from "../../model/graph/graph.ts";
import { nodeCount, type Topology } from "../../model/topology/topology.ts";
import { groupOrder, type TreeFlow } from "../../model/trees/tree-flow.ts";
import type { Recorder } from "../violation.ts";
import type { TreeWords } from "./tree-flow-words.ts";

/** Where the images of nodes and links under a group lie. */
export interface Orbits {
  readonly order: bigint;
  readonly nodes: NumberedSets;
  readonly links: NumberedSets;
}

/**
 * Returns the orbits of the flow's symmetry, or null after recording why it is none: each generator must be a permutation that
 * takes NPUs to NPUs, members to members and links onto links of the same bandwidth and latency (of parallel links that are
 * equal the k-th to the k-th); all commute; and the sizes[d]-th power of generator d is the identity. Each element of the
 * product of the cyclic groups then acts, faithfully or not, and an item has order / (size of its orbit) images at each place
 * of its orbit. O((nodes + links) * generators + nodes * generators^2).
 */
export function checkSymmetry(flow: TreeFlow, recorder: Recorder, words: TreeWords): Orbits | null {
  const { topology, collective, symmetry } = flow;
  const nodes = nodeCount(topology);
  const linkCount = topology.linkSource.length;
  const [nodeSets, linkSets] = [disjointSets(nodes), disjointSets(linkCount)];
  const isMember = new Uint8Array(nodes);
  for (let i = 0; i < collective.groupMembers.length; i++) isMember[collective.groupMembers[i]] = 1;
  const links = symmetry === null ? null : linkOrder(topology);
  const { sizes, steps } = symmetry ?? { sizes: [], steps: [] };
  for (const [d, step] of steps.entries()) {
    const image = new Int32Array(linkCount);
    const fault =
      nodeFault(step, sizes[d], topology, isMember, words) ??
      commuteFault(steps, d, words) ??
      linkFault(topology, step, links as Grouped, image, words);
    if (fault !== null) {
      recorder.record(() => ({ kind: "false-symmetry", message: `map ${d} of the symmetry ${fault}` }));
      return null;
    }
    for (let v = 0; v < nodes; v++) nodeSets.join(v, step[v]);
    for (let link = 0; link < image.length; link++) linkSets.join(link, image[link]);
  }
  return {
    order: BigInt(groupOrder(symmetry)),
    nodes: numberedSets(nodes, nodeSets.least),
    links: numberedSets(linkCount, linkSets.least),
  };
}

function nodeFault(
  step: Int32Array,
  size: number,
  topology: Topology,
  isMember: Uint8Array,
  words: TreeWords,
): string | null {
  const seen = new Uint8Array(step.length);
  for (let v = 0; v < step.length; v++) {
    const w = step[v];
    if (seen[w] === 1) return `takes two nodes to ${words.node(w)}`;
    seen[w] = 1;
    if (v < topology.npuCount !== w < topology.npuCount || isMember[v] !== isMember[w]) {
      return `takes ${words.node(v)} to ${words.node(w)}, a node of another kind`;
    }
  }
  for (let v = 0; v < step.length; v++) {
    if (seen[v] === 0) continue; // on a circle that has been gone round
    let length = 0;
    for (let w = v; seen[w] === 1; w = step[w]) {
      seen[w] = 0;
      length++;
    }
    if (size % length !== 0)
      return `does not bring ${words.node(v)} back in ${size} steps, for it does so in ${length}`;
  }
  return null;
}

function commuteFault(steps: readonly Int32Array[], d: number, words: TreeWords): string | null {
  const step = steps[d];
  for (let other = 0; other < d; other++) {
    const before = steps[other];
    for (let v = 0; v < step.length; v++) {
      if (step[before[v]] !== before[step[v]]) return `does not commute with map ${other} at ${words.node(v)}`;
    }
  }
  return null;
}

/** Returns all links by source, within it by target, bandwidth, latency, number. O(links + nodes) but for parallel links. */
function linkOrder({ linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs, nodeNames }: Topology): Grouped {
  const byTarget = groupedBy(linkTarget, nodeNames.length).items;
  const bySource = groupedBy(
    byTarget.map((link) => linkSource[link]),
    nodeNames.length,
  );
  const items = bySource.items.map((place) => byTarget[place]);
  const before = (a: number, b: number): number =>
    linkBytesPerSecond[a] - linkBytesPerSecond[b] || linkLatencyPs[a] - linkLatencyPs[b] || a - b;
  for (let from = 0; from < items.length; ) {
    let to = from + 1;
    const same = (link: number): boolean =>
      linkSource[link] === linkSource[items[from]] && linkTarget[link] === linkTarget[items[from]];
    while (to < items.length && same(items[to])) to++;
    if (to - from > 1) items.subarray(from, to).sort(before);
    from = to;
  }
  return { offset: bySource.offset, items };
}

/**
 * Writes to `image` where a map takes each link; returns what is wrong where there is none for one. Different links go to
 * different ones, so where all have an image none is left over. O(links + nodes).
 */
function linkFault(
  topology: Topology,
  step: Int32Array,
  order: Grouped,
  image: Int32Array,
  words: TreeWords,
): string | null {
  const { linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  const { offset, items } = order;
  /** [nodes] place of the first link to the node, of the source looked at. */
  const firstTo = new Int32Array(step.length).fill(-1);
  for (let v = 0; v < step.length; v++) {
    const from = offset[step[v]];
    const to = offset[step[v] + 1];
    for (let i = to - 1; i >= from; i--) firstTo[linkTarget[items[i]]] = i;
    let place = -1;
    for (let i = offset[v]; i < offset[v + 1]; i++) {
      const link = items[i];
      const target = linkTarget[link];
      const again = i > offset[v] && linkTarget[items[i - 1]] === target;
      place = again ? place + 1 : firstTo[step[target]];
      const other = items[place];
      const fits =
        place >= from &&
        place < to &&
        linkTarget[other] === step[target] &&
        linkBytesPerSecond[other] === linkBytesPerSecond[link] &&
        linkLatencyPs[other] === linkLatencyPs[link];
      if (!fits) return `takes link ${words.link(link)} to none like it`;
      image[link] = other;
    }
  }
  return null;
}
