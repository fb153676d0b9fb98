import { InputError } from "../../base/errors.ts";
import { disjointSets, type Grouped, groupedBy, type NumberedSets, numberedSets } from "../../model/graph/graph.ts";
import { format, type Rational, rational } from "../../model/numbers/rational.ts";
import { NO_ROUTES } from "../../model/routes/routes.ts";
import { linkCount, nodeCount, type Topology } from "../../model/topology/topology.ts";
import {
  type Forest,
  groupOrder,
  type NetworkSymmetry,
  type TreeFlow,
  treeCount,
} from "../../model/trees/tree-flow.ts";
import type { Verification } from "../steps/schedule.ts";
import { type Recorder, recorder, type Violation } from "../violation.ts";
import { checkParts, type Faults, isBelow, isCount } from "../well-formed.ts";
import { checkForests, type TreeDemand, type TreeWords, treeDemand, treeWords } from "./demand.ts";

/**
 * Returns everything that is wrong with a tree flow, by exact arithmetic and nothing that its maker says:
 *
 * 0. it is well-formed; where it is not, nothing further is judged;
 * 1. its forests are those of its collective, which the placements of the chunks tell;
 * 2. its symmetry, if any, is an abelian group of maps of the network onto itself; where it is not, no more is judged;
 * 3. every tree spans the members, over paths through nodes that only forward;
 * 4. copies are rooted where the data is, in proportion (all-reduce: anywhere, as many in one forest as in the other);
 * 5. on no link do the copies of a forest, images included, hold more than the bandwidth; nor both where they run together;
 *    where the flow says that switches duplicate and sum, less is held of links to and from those that can (tree-flow-switches.ts).
 *
 * Only listed trees are walked: their images are as good as they are, and a link carries what its whole orbit is listed with,
 * spread evenly. Throws InputError for a limit that is no whole number; never for a flow, however wrong. O(edges + links of
 * edges + (nodes + links) * generators): 30 million edges a second.
 */
export function verifyTreeFlow(flow: TreeFlow, options: { readonly limit?: number } = {}): Verification {
  const limit = options.limit ?? 100;
  if (!Number.isSafeInteger(limit) || limit < 0)
    throw new InputError("options.limit", "a whole number, 0 or more", limit).as("out-of-range");
  const found = recorder(limit);
  const { topology, collective, forests } = flow;
  if (checkParts({ topology, collective, routes: NO_ROUTES }, () => treeFaults(flow), found)) {
    const words = treeWords(flow);
    const demand = treeDemand(collective, nodeCount(topology));
    checkForests(flow, demand, found);
    const orbits = checkSymmetry(flow, found, words);
    if (orbits !== null) {
      for (let f = 0; f < forests.length; f++) checkTrees(flow, f, found, words);
      if (demand !== null) checkCopies(flow, demand, orbits, found, words);
      checkLoads(flow, orbits, found, words);
    }
  }
  const violationCount = found.count();
  return { violations: found.kept, violationCount, truncated: violationCount > found.kept.length };
}

/** What an edge is not to do, and the node or link where it does. */
type Fault = readonly [kind: Violation["kind"], words: string];

/**
 * Records the first fault of every listed tree of a forest: it must reach every member but its root once, over paths of links
 * from a member reached before, through nodes that are no members, each once. As a tree has members - 1 edges, it then spans
 * the members and nothing else. An in-tree is judged as an out-tree of the reversed network. O(edges + links).
 */
function checkTrees(flow: TreeFlow, f: number, recorder: Recorder, words: TreeWords): void {
  const { topology, collective } = flow;
  const forest = flow.forests[f];
  const { root, linkOffset, links } = forest;
  const isOut = forest.direction === "out";
  const start = isOut ? topology.linkSource : topology.linkTarget;
  const end = isOut ? topology.linkTarget : topology.linkSource;
  const nodes = nodeCount(topology);
  const isMember = new Uint8Array(nodes);
  for (let i = 0; i < collective.groupMembers.length; i++) isMember[collective.groupMembers[i]] = 1;
  /** [nodes] the last tree that reached each member, and the last edge that passed each other node. */
  const reachedBy = new Int32Array(nodes).fill(-1);
  const passedBy = new Float64Array(nodes).fill(-1);

  const edgeFault = (tree: number, edge: number): Fault | null => {
    const from = linkOffset[edge];
    const last = linkOffset[edge + 1] - 1;
    if (last < from) return ["broken-path", "has no links"];
    let node = start[links[from]];
    if (reachedBy[node] !== tree) return ["not-a-tree", `starts at ${words.node(node)}, where the tree has not been`];
    for (let i = from; i < last; i++) {
      node = end[links[i]];
      if (start[links[i + 1]] !== node) {
        const fault = `which does not ${isOut ? "leave" : "enter"} ${words.node(node)}`;
        return ["broken-path", `goes on over link ${words.link(links[i + 1])}, ${fault}`];
      }
      if (isMember[node] === 1) return ["broken-path", `passes ${words.node(node)}, a member`];
      if (passedBy[node] === edge) return ["broken-path", `passes ${words.node(node)} twice`];
      passedBy[node] = edge;
    }
    node = end[links[last]];
    if (isMember[node] === 0) return ["not-a-tree", `ends at ${words.node(node)}, which is no member`];
    if (reachedBy[node] === tree) return ["not-a-tree", `ends at ${words.node(node)}, where the tree has been`];
    reachedBy[node] = tree;
    return null;
  };

  const edges = collective.groupSize - 1;
  for (let tree = 0; tree < treeCount(forest); tree++) {
    const npu = root[tree];
    if (isMember[npu] === 0) {
      const message = `${words.tree(f, tree)} has no member for its root`;
      recorder.record(() => ({ kind: "not-a-tree", npu, forest: f, tree, message }));
      continue;
    }
    reachedBy[npu] = tree;
    for (let edge = 0; edge < edges; edge++) {
      const at = tree * edges + edge;
      const fault = edgeFault(tree, at);
      if (fault === null) continue;
      recorder.record(() => {
        const [kind, what] = fault;
        const over = linkOffset[at] === linkOffset[at + 1] ? "" : ` over ${words.edge(f, at)}`;
        const link = over === "" ? {} : { link: links[linkOffset[at]] };
        const message = `${words.tree(f, tree)}: edge ${edge}${over} ${what}`;
        return { kind, npu, forest: f, tree, edge, ...link, message };
      });
      break;
    }
  }
}

/** An abelian group that moves something in each generator of an order up to 2^53 has fewer. */
const MOST_GENERATORS = 64;

const isPositive = ({ num, den }: Rational): boolean => num > 0n && den > 0n;

/**
 * Yields what keeps the data from being a tree flow at all; the network and the collective must be in order. The later checks
 * trust lengths, offsets and ranges. O(edges + links).
 */
function* treeFaults(flow: TreeFlow): Faults {
  const { collective, forests, symmetry } = flow;
  const { groupCount, groupSize, chunkCount } = collective;
  if (groupCount !== 1 || groupSize < 1 || chunkCount < 1) {
    yield {
      message: `trees are for one group of NPUs, not for ${groupCount} of ${groupSize} with ${chunkCount} chunks`,
    };
    return;
  }
  if (flow.inNetwork !== undefined && flow.inNetwork !== true) {
    yield { message: `inNetwork is ${flow.inNetwork}, neither true nor left out` };
    return;
  }
  if (forests.length !== 1 && forests.length !== 2) {
    yield { message: `a tree flow has one forest or two, not ${forests.length}` };
    return;
  }
  for (const [forest, columns] of forests.entries()) {
    const message = columnFault(flow, columns);
    if (message !== null) yield { forest, message: `forest ${forest} ${message}` };
  }
  const message = symmetry === null ? null : shapeFault(symmetry, nodeCount(flow.topology));
  if (message !== null) yield { message };
}

function columnFault({ topology, collective }: TreeFlow, forest: Forest): string | null {
  const { direction, root, copies, linkOffset, links, copyBytesPerSecond } = forest;
  const trees = root.length;
  const edges = trees * (collective.groupSize - 1);
  if (direction !== "out" && direction !== "in") return `has direction ${direction}, neither out nor in`;
  if (!isPositive(copyBytesPerSecond)) return "gives its copies no bandwidth";
  if (trees === 0) return "has no trees";
  if (copies.length !== trees || linkOffset.length !== edges + 1) {
    return `does not have the columns of ${trees} trees over ${collective.groupSize} members`;
  }
  for (let tree = 0; tree < trees; tree++) {
    if (!isBelow(root[tree], topology.npuCount))
      return `has tree ${tree} rooted at node ${root[tree]}, which is no NPU`;
    if (!isCount(copies[tree]) || copies[tree] === 0) {
      return `has ${copies[tree]} copies of tree ${tree}, not a whole number above 0`;
    }
  }
  if (linkOffset[0] !== 0 || linkOffset[edges] !== links.length) return "does not have the links of its edges";
  for (let edge = 0; edge < edges; edge++) {
    const from = linkOffset[edge];
    if (!(from <= linkOffset[edge + 1]) || Math.floor(from) !== from) return `has no list of links for edge ${edge}`;
  }
  const all = linkCount(topology);
  for (let i = 0; i < links.length; i++) {
    if (links[i] < 0 || links[i] >= all) return `has link number ${links[i]}, which the network does not have`;
  }
  return null;
}

function shapeFault({ sizes, steps }: NetworkSymmetry, nodes: number): string | null {
  if (sizes.length !== steps.length || sizes.length > MOST_GENERATORS) {
    return `the symmetry has ${sizes.length} sizes and ${steps.length} maps`;
  }
  let order = 1;
  for (const size of sizes) order *= isCount(size) && size > 0 ? size : Number.NaN;
  if (!Number.isSafeInteger(order))
    return `the symmetry has sizes ${sizes.join(" x ")}, not whole numbers below 2^53 in all`;
  for (const [d, step] of steps.entries()) {
    if (step.length !== nodes) return `map ${d} of the symmetry is for ${step.length} nodes, not for ${nodes}`;
    for (let v = 0; v < nodes; v++) {
      if (!isBelow(step[v], nodes)) return `map ${d} of the symmetry takes node ${v} to ${step[v]}, which is no node`;
    }
  }
  return null;
}

const counted = (copies: bigint): string => `${copies} ${copies === 1n ? "copy" : "copies"}`;

/** Records links whose copies hold more than their bandwidth: of each forest, or of both where they run side by side. Exact. */
function checkLoads(flow: TreeFlow, orbits: Orbits, recorder: Recorder, words: TreeWords): void {
  const { topology, forests, concurrent } = flow;
  const { linkBytesPerSecond } = topology;
  const loads = forests.map((forest) => spread(linkUses(flow, forest, orbits), orbits.links, orbits.order));
  const denominator = concurrent ? forests.reduce((product, { copyBytesPerSecond: { den } }) => product * den, 1n) : 1n;
  const factors = forests.map(({ copyBytesPerSecond: { num, den } }) => (concurrent ? num * (denominator / den) : num));
  const over = (link: number, load: bigint, den: bigint, ofForests: readonly number[]): void => {
    if (load <= BigInt(linkBytesPerSecond[link]) * den) return;
    recorder.record(() => {
      const used = format(rational(load, den));
      const held = ofForests.map((f) => `${counted(loads[f][link])} of ${words.forest(f)}`).join(" and ");
      const room = `${linkBytesPerSecond[link]} bytes/s`;
      const message = `${held} hold ${used} bytes/s of link ${words.link(link)}, more than its ${room}`;
      return { kind: "link-overload", link, ...(concurrent ? {} : { forest: ofForests[0] }), message };
    });
  };
  const all = forests.map((_, f) => f);
  for (let link = 0; link < linkBytesPerSecond.length; link++) {
    if (concurrent) {
      const load = all.reduce((sum, f) => sum + loads[f][link] * factors[f], 0n);
      over(link, load, denominator, all);
    } else for (const f of all) over(link, loads[f][link] * factors[f], forests[f].copyBytesPerSecond.den, [f]);
  }
}

/**
 * Returns the copies of all listed trees on each link: summed in doubles where no sum can leave 2^53, else in BigInt.
 * O(edges + links of edges).
 */
function linkUses(flow: TreeFlow, forest: Forest, orbits: Orbits): bigint[] {
  const { copies, linkOffset, links } = forest;
  const edges = flow.collective.groupSize - 1;
  const count = flow.topology.linkSource.length;
  let most = 0;
  for (let tree = 0; tree < copies.length; tree++) {
    most += copies[tree] * (linkOffset[(tree + 1) * edges] - linkOffset[tree * edges]);
  }
  if (most < 2 ** 52) {
    const uses = new Float64Array(count);
    eachRun(flow, forest, orbits, (tree, from, to) => {
      const own = copies[tree];
      for (let i = from; i < to; i++) uses[links[i]] += own;
    });
    return Array.from(uses, BigInt);
  }
  const uses = new Array<bigint>(count).fill(0n);
  eachRun(flow, forest, orbits, (tree, from, to) => {
    const own = BigInt(copies[tree]);
    for (let i = from; i < to; i++) uses[links[i]] += own;
  });
  return uses;
}

/** Calls with each run of places in `links` that carries a tree's data: all of them but where switches duplicate or sum. */
function eachRun(
  flow: TreeFlow,
  forest: Forest,
  orbits: Orbits,
  run: (tree: number, from: number, to: number) => void,
): void {
  if (flow.inNetwork === true) {
    eachServedRun(flow, forest, orbits.nodes, run);
    return;
  }
  const edges = flow.collective.groupSize - 1;
  for (let tree = 0; tree < treeCount(forest); tree++) {
    run(tree, forest.linkOffset[tree * edges], forest.linkOffset[(tree + 1) * edges]);
  }
}

/** Returns what each item gets when what its orbit has is repeated for every element of the group. O(items). */
function spread(listed: readonly bigint[], { of, size }: NumberedSets, order: bigint): bigint[] {
  if (order === 1n) return listed as bigint[];
  const sums = new Array<bigint>(size.length).fill(0n);
  for (let item = 0; item < listed.length; item++) sums[of[item]] += listed[item];
  const each = sums.map((sum, set) => sum * (order / BigInt(size[set])));
  return Array.from(of, (set) => each[set]);
}

/**
 * Records NPUs that root more or fewer copies than their share of the chunks; in an all-reduce, than in the other forest.
 * O(trees + NPUs).
 */
function checkCopies(flow: TreeFlow, demand: TreeDemand, orbits: Orbits, recorder: Recorder, words: TreeWords): void {
  const { forests, collective, topology } = flow;
  const rooted = forests.map(({ root, copies }) => {
    const listed = new Array<bigint>(topology.nodeNames.length).fill(0n);
    for (let tree = 0; tree < root.length; tree++) listed[root[tree]] += BigInt(copies[tree]);
    return spread(listed, orbits.nodes, orbits.order);
  });
  if (forests.length !== demand.directions.length) return;
  if (demand.share === null) {
    for (let npu = 0; npu < topology.npuCount; npu++) {
      const [own, other] = rooted.map((counts) => counts[npu]);
      if (own === other) continue;
      const message = `${words.node(npu)} is the root of ${counted(own)} in ${words.forest(0)} but of ${other} in ${words.forest(1)}`;
      recorder.record(() => ({ kind: "wrong-copies", npu, message }));
    }
    return;
  }
  const total = rooted[0].reduce((sum, count) => sum + count, 0n);
  for (let npu = 0; npu < topology.npuCount; npu++) {
    if (rooted[0][npu] * BigInt(collective.chunkCount) === total * BigInt(demand.share[npu])) continue;
    const chunks = `${demand.share[npu]} of ${collective.chunkCount} chunks ${collective.reduces ? "end" : "start"} there`;
    const message = `${words.node(npu)} is the root of ${rooted[0][npu]} of ${total} copies, but ${chunks}`;
    recorder.record(() => ({ kind: "wrong-copies", npu, forest: 0, message }));
  }
}

/**
 * Calls with each run of places in `links` over which a tree's data goes when switches duplicate (of in-trees: sum) what they can.
 *
 * The rule: a tree's data comes into an able switch over one edge, the first through it in the order of generations: edges that
 * start at the root, then those that start where these end, and so on, those of one generation as they are listed. Every other edge
 * through it starts there instead. An edge with several such switches starts at the last. So who feeds a switch is never fed by
 * it: that would put its start into a later generation than that of an edge which the switch serves. In-trees are out-trees of the
 * reversed network, data and time run backwards, and an able switch sends a tree's sum over one edge.
 *
 * A switch is able by its traits alone; as listed trees stand for their images, only where all of its orbit are. Edges of a tree
 * that is none may be called with anything: such flows are refused for that. O(links of all edges).
 */
export function eachServedRun(
  { topology, collective }: TreeFlow,
  { direction, root, linkOffset, links }: Forest,
  orbits: NumberedSets,
  run: (tree: number, from: number, to: number) => void,
): void {
  const isOut = direction === "out";
  const start = isOut ? topology.linkSource : topology.linkTarget;
  const end = isOut ? topology.linkTarget : topology.linkSource;
  const able = ableSwitches(topology, orbits, isOut ? "multicast" : "aggregation");
  const edges = collective.groupSize - 1;
  /** [nodes] the last tree whose data the switch has; the generation in which the last tree reached a member. */
  const servedBy = new Int32Array(able.length).fill(-1);
  const born = new Int32Array(able.length);
  for (let tree = 0; tree < root.length; tree++) {
    born[root[tree]] = 0;
    for (const generation of generations(tree)) for (const edge of generation) follow(tree, edge);
  }

  function generations(tree: number): number[][] {
    const list: number[][] = [];
    for (let edge = tree * edges; edge < (tree + 1) * edges; edge++) {
      const [from, to] = [linkOffset[edge], linkOffset[edge + 1]];
      if (from === to) continue;
      const generation = born[start[links[from]]];
      born[end[links[to - 1]]] = Math.min(generation + 1, edges);
      while (list.length <= generation) list.push([]);
      list[generation].push(edge);
    }
    return list;
  }

  function follow(tree: number, edge: number): void {
    const to = linkOffset[edge + 1];
    let from = to - 1;
    // back along the path to where the data is: a switch that has it, or else where the edge starts
    for (; from > linkOffset[edge]; from--) {
      const node = start[links[from]];
      if (servedBy[node] === tree) break;
      if (able[node] === 1) servedBy[node] = tree;
    }
    run(tree, from, to);
  }
}

function ableSwitches(topology: Topology, orbits: NumberedSets, trait: "multicast" | "aggregation"): Uint8Array {
  const nodes = nodeCount(topology);
  const isAble = (node: number): boolean => node >= topology.npuCount && topology.nodeTraits[node][trait] === true;
  const unable = new Uint8Array(orbits.size.length);
  for (let node = 0; node < nodes; node++) if (!isAble(node)) unable[orbits.of[node]] = 1;
  return Uint8Array.from({ length: nodes }, (_, node) => 1 - unable[orbits.of[node]]);
}

/** Where the images of nodes and links under a group lie. */
interface Orbits {
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
function checkSymmetry(flow: TreeFlow, recorder: Recorder, words: TreeWords): Orbits | null {
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
