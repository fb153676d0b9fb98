import { InfeasibleError, InputError, InternalError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import type { Collective, CollectiveKind } from "../../model/collective/collective.ts";
import { rational } from "../../model/numbers/rational.ts";
import { networkSymmetry } from "../../model/symmetry/network-symmetry.ts";
import { nodeCount, outLinks, reversed, type Topology } from "../../model/topology/topology.ts";
import type { Forest, NetworkSymmetry, TreeFlow } from "../../model/trees/tree-flow.ts";
import { fittingBandwidth, trafficOf } from "../../model/trees/tree-multicast.ts";
import { abilityNote, abilityOf, type SwitchTrait } from "../forestcoll/in-network.ts";
import { optimumOf } from "../forestcoll/optimum.ts";
import { packingNetwork } from "../forestcoll/packing.ts";
import { contributions, refuseSeveralGroups } from "../forestcoll/requests.ts";
import { TREE_OPTIONS, type TreeContext, type TreeMaker, type TreeRequest } from "../tree-maker.ts";

/** Trees of this many roots are listed; symmetric networks need one. */
const MOST_ROOTS = 4096;

const DIRECTIONS: Readonly<Partial<Record<CollectiveKind, readonly Forest["direction"][]>>> = {
  allreduce: ["in", "out"],
  allgather: ["out"],
  reducescatter: ["in"],
  broadcast: ["out"],
  reduce: ["in"],
};

const directionsOf = ({ kind }: Collective): readonly Forest["direction"][] => DIRECTIONS[kind] ?? [];

/**
 * In-network collectives as NCCL's NVLS does them (NVLink SHARP): every member is the root of an equal part. In a box the switch
 * sums the contributions of all for the root, and duplicates to all what the root sends back. So of an all-reduce of S bytes S
 * leave and enter every member, where without such switches it is 2 (N - 1) / N of that: S / b at bandwidth b is the bound.
 * Instructions move 1 / N more: the root's own contribution and result pass the switch as well, so an all-reduce's rates leave
 * room for them.
 *
 * Over several boxes, as NCCL's NVLSTree: sums of each box go to the root over its rail (switches there only forward, unless
 * they can more), and come back to one member of each box. NCCL joins boxes by trees; here every other box is one hop from the
 * root, which loads links no more, for each of B boxes is as often a root: (B - 1) / B of S twice over the rails.
 *
 * Sums and results run side by side, and rates are as large as links let, exactly.
 */
export const nvls: TreeMaker = {
  name: "nvls",
  makes: "trees",
  description: "sums and copies made by the switches of boxes, where they can (NVLS)",
  collectives: ["allreduce", "allgather", "reducescatter", "broadcast", "reduce"],
  policies: [],
  options: TREE_OPTIONS,
  traits: { promising: 2, library: "over boxes", librariesOf: ["NCCL"] },
  inNetwork: true,
  refuses: (topology, collective) => neededBy(topology, collective, topology.linkBytesPerSecond),
  async make(request, context) {
    const { topology, collective, usable } = request;
    refuse(request);
    const needed = neededBy(topology, collective, usable);
    const boxes = boxesFor(topology, collective, usable);
    if (needed !== null || boxes === null) throw new InputError("the topology", `${needed}`, topology.name);
    const certificate = await cutOf(request, boxes, context);
    const symmetry = symmetryFor(request);
    const flow = flowOf(request, boxes, symmetry);
    const count = boxes.ranks.length;
    const policy = `${count === 1 ? "one box" : `${count} boxes`}${symmetry === null ? "" : ", one root for all by symmetry"}`;
    const hubs = boxes.ranks.map(([first]) => boxes.hub[first]);
    const notes = [abilityNote(topology, hubs, traitsFor(collective))];
    const size = boxes.ranks[0].length;
    if (collective.kind === "allreduce")
      notes.push(
        `counted with it: a switch's load and store also carry the root's own part, so ${size + 1}/${size} of an all-reduce's data cross each link of a box`,
      );
    return { flow: { ...flow, certificate }, policy, trials: 1, repaired: null, notes };
  },
};

const traitsFor = (collective: Collective): SwitchTrait[] =>
  (["multicast", "aggregation"] as const).filter((trait) =>
    directionsOf(collective).includes(trait === "multicast" ? "out" : "in"),
  );

const boxesFor = (topology: Topology, collective: Collective, usable: Float64Array): SwitchBoxes | null =>
  switchBoxes(topology, collective.groupMembers, usable, traitsFor(collective));

const isFromOne = ({ kind }: Collective): boolean => kind === "broadcast" || kind === "reduce";

function neededBy(topology: Topology, collective: Collective, usable: Float64Array): string | null {
  if (collective.groupCount !== 1 || collective.groupSize < 2) return "one group of two NPUs or more for nvls";
  const able = abilityOf(traitsFor(collective));
  const boxes = boxesFor(topology, collective, usable);
  if (boxes === null) return `switches that ${able}, one linked to each NPU and two NPUs or more to one, for nvls`;
  if (isFromOne(collective) && boxes.ranks.length > 1)
    return `one switch over all NPUs for a ${collective.kind} by nvls`;
  return null;
}

function refuse({ collective, copiesPerRoot, repair }: TreeRequest): void {
  refuseSeveralGroups(collective, "nvls joins the boxes of one");
  if (typeof copiesPerRoot === "number" && copiesPerRoot !== 1)
    throw new InputError(optionName("k"), "1 (nvls has one tree from every root)", copiesPerRoot);
  if (repair !== null)
    throw new InputError(optionName("repair"), "none (nvls cannot repair trees)", inWords("a schedule"));
}

/**
 * Returns the bottleneck cut of a gather (or scatter); of an all-reduce, all of which must leave each set that has a member, the
 * first box with its switch where less leaves that.
 */
async function cutOf(
  { topology, collective, usable }: TreeRequest,
  boxes: SwitchBoxes,
  { kernels }: TreeContext,
): Promise<TreeFlow["certificate"]> {
  const directions = directionsOf(collective);
  const direction = directions[directions.length - 1];
  const network = packingNetwork(topology, collective.groupMembers, usable, direction);
  const { cut } = await optimumOf(network, contributions(collective), kernels.rate);
  const nodes = network.node.filter((_, i) => cut[i] === 1).sort();
  const box = boxes.ranks[0].map((rank) => collective.groupMembers[rank]);
  const boxNodes = Int32Array.from([...box, boxes.hub[0]]).sort();
  const narrower =
    directions.length === 2 && boxes.ranks.length > 1 && leaving(topology, boxNodes) < leaving(topology, nodes);
  return { kind: "cut", nodes: narrower ? boxNodes : nodes, direction };
}

/** Returns the bytes per second of the links that leave a set of nodes. */
function leaving({ linkSource, linkTarget, linkBytesPerSecond }: Topology, nodes: Int32Array): number {
  const inside = new Set(nodes);
  return linkBytesPerSecond.reduce(
    (sum, bytes, link) => (inside.has(linkSource[link]) && !inside.has(linkTarget[link]) ? sum + bytes : sum),
    0,
  );
}

/** Returns the maps by which the tree of NPU 0 stands for all, where everyone takes part and may use all links; else null. */
function symmetryFor({ topology, collective, usable }: TreeRequest): NetworkSymmetry | null {
  const isWhole =
    !isFromOne(collective) &&
    collective.groupSize === topology.npuCount &&
    collective.groupMembers.every((npu, rank) => npu === rank) &&
    usable.every((bytes, link) => bytes === topology.linkBytesPerSecond[link]);
  return isWhole ? networkSymmetry(topology) : null;
}

/** Returns the trees with the greatest bandwidth that fits. */
function flowOf(
  { topology, collective, usable }: TreeRequest,
  boxes: SwitchBoxes,
  symmetry: NetworkSymmetry | null,
): TreeFlow {
  const { groupSize, groupMembers, rootRank } = collective;
  const roots = isFromOne(collective) ? [rootRank] : symmetry === null ? [...groupMembers.keys()] : [0];
  if (roots.length > MOST_ROOTS) {
    throw new InputError(
      optionName("group"),
      `at most ${MOST_ROOTS} NPUs of a network that does not look the same from all`,
      groupSize,
    ).as("out-of-range");
  }
  const forests = directionsOf(collective).map((direction): Forest => {
    const trees =
      direction === "out"
        ? switchTrees(topology, groupMembers, usable, boxes, roots)
        : switchTrees(reversed(topology), groupMembers, usable, turnedBoxes(boxes), roots);
    return { direction, ...trees, copyBytesPerSecond: rational(1) };
  });
  const concurrent = forests.length === 2;
  const frame = {
    kind: "trees",
    topology,
    collective,
    concurrent,
    inNetwork: true,
    symmetry,
    certificate: null,
  } as const;
  const { copies } = trafficOf({ ...frame, forests }, true);
  const crossing = copies.reduce((sum, other) => sum.map((load, link) => load + other[link]));
  const loads = concurrent ? withOwnParts(crossing, boxes) : crossing;
  const copyBytesPerSecond = fittingBandwidth(loads, usable);
  if (copyBytesPerSecond === null) throw new InternalError("trees without links");
  return { ...frame, forests: forests.map((forest) => ({ ...forest, copyBytesPerSecond })) };
}

/**
 * Returns the loads of an all-reduce's links with what its instructions carry besides: who sums for its box loads its own
 * contribution through the switch too, and what it stores comes back to itself. Copies of a box are dealt evenly among its members.
 */
function withOwnParts(loads: readonly bigint[], { up, down, box, ranks }: SwitchBoxes): readonly bigint[] {
  const all = loads.slice();
  for (let rank = 0; rank < box.length; rank++) {
    const size = BigInt(ranks[box[rank]].length);
    // what crosses a member's links is what all trees carry of one box: a share of it is the member's own
    for (const link of [up[rank], down[rank]]) all[link] += loads[link] / size;
  }
  return all;
}

/** Trees over boxes, one copy of each; those of the reversed network where that was asked. */
type SwitchTrees = Pick<Forest, "root" | "copies" | "linkOffset" | "links">;

/** A network as its trees see it. */
interface Ground {
  readonly topology: Topology;
  readonly members: Int32Array;
  readonly usable: Float64Array;
  readonly boxes: SwitchBoxes;
  /** [nodes] rank, -1 for all that only forwards. */
  readonly rankOf: Int32Array;
}

/**
 * Returns a tree from each of these ranks: its data goes to all of the root's box through the box's switch; straight, by the shortest
 * way outside of the members, to one member of every other box, and from there through its switch to the rest. That member is the
 * one nearest to the root; among equal ones that at the root's place in its box, else the one after it in turns. Boxes that the
 * root cannot reach so are reached from other members of its box in turns, then from those of other boxes.
 * Throws InfeasibleError where a box cannot be reached. O(roots * (links + members)).
 */
function switchTrees(
  topology: Topology,
  members: Int32Array,
  usable: Float64Array,
  boxes: SwitchBoxes,
  roots: readonly number[],
): SwitchTrees {
  const rankOf = new Int32Array(nodeCount(topology)).fill(-1);
  members.forEach((npu, rank) => {
    rankOf[npu] = rank;
  });
  const ground: Ground = { topology, members, usable, boxes, rankOf };
  const linkOffset = new Float64Array(roots.length * (members.length - 1) + 1);
  let links = new Int32Array(2 * linkOffset.length);
  let [edge, used] = [0, 0];
  for (const root of roots) {
    addTree(ground, root, (path) => {
      if (used + path.length > links.length) links = doubled(links, path.length);
      links.set(path, used);
      used += path.length;
      linkOffset[++edge] = used;
    });
  }
  return {
    root: Int32Array.from(roots, (rank) => members[rank]),
    copies: new Float64Array(roots.length).fill(1),
    linkOffset,
    links: links.slice(0, used),
  };
}

/** Returns the column with room for as much again, and some more. */
function doubled(column: Int32Array, more: number): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(2 * column.length + more);
  longer.set(column);
  return longer;
}

function addTree(ground: Ground, root: number, add: (path: readonly number[]) => void): void {
  const { boxes, members, topology } = ground;
  const { up, down, box, place, ranks } = boxes;
  const reached = new Uint8Array(ranks.length);
  const covered: number[] = [];
  const cover = (head: number): void => {
    const own = ranks[box[head]];
    reached[box[head]] = 1;
    for (let i = 0; i < own.length; i++) {
      const rank = own[(place[head] + i) % own.length];
      covered.push(rank);
      if (rank !== head) add([up[head], down[rank]]);
    }
  };
  cover(root);
  for (let i = 0; covered.length < members.length; i++) {
    if (i === covered.length) {
      const [from, to] = [members[root], members[boxes.ranks[reached.indexOf(0)][0]]];
      const names = [from, to].map((npu) => topology.nodeNames[npu]);
      throw new InfeasibleError(`NPU ${names[0]} cannot reach NPU ${names[1]}`, { from: names[0], to: names[1] });
    }
    for (const [head, path] of heads(ground, covered[i], place[root], reached)) {
      add(path);
      cover(head);
    }
  }
}

/**
 * Returns a member of each box not yet reached that is nearest to a member over usable links, through what only forwards, and the
 * links to it. Breadth-first, until all boxes are found.
 */
function heads(
  { topology, members, usable, boxes, rankOf }: Ground,
  from: number,
  wanted: number,
  reached: Uint8Array,
): [number, number[]][] {
  const { offset, links } = outLinks(topology);
  const { linkSource, linkTarget } = topology;
  const { box, place, ranks } = boxes;
  /** Links by which each node was found. */
  const by = new Map<number, number>([[members[from], -1]]);
  const headOf = new Map<number, { readonly rank: number; readonly hops: number }>();
  const turns = (rank: number): number => {
    const size = ranks[box[rank]].length;
    return (place[rank] - (wanted % size) + size) % size;
  };
  const missing = reached.reduce((count, one) => count + 1 - one, 0);
  let level = [members[from]];
  for (let hops = 1; level.length > 0 && headOf.size < missing; hops++) {
    const next: number[] = [];
    for (const node of level) {
      for (let i = offset[node]; i < offset[node + 1]; i++) {
        const to = linkTarget[links[i]];
        if (usable[links[i]] === 0 || by.has(to)) continue;
        by.set(to, links[i]);
        const rank = rankOf[to];
        if (rank < 0) next.push(to);
        else if (reached[box[rank]] === 0) {
          const known = headOf.get(box[rank]);
          if (known === undefined || (known.hops === hops && turns(rank) < turns(known.rank))) {
            headOf.set(box[rank], { rank, hops });
          }
        }
      }
    }
    level = next;
  }
  const list = [...headOf.values()].sort((a, b) => a.hops - b.hops || a.rank - b.rank);
  return list.map(({ rank }) => {
    const path: number[] = [];
    for (let link = by.get(members[rank]) as number; link >= 0; link = by.get(linkSource[link]) as number) {
      path.push(link);
    }
    return [rank, path.reverse()];
  });
}

/** Members that hang on the same switch, by rank. */
interface SwitchBoxes {
  /** [members] the switch of each. */
  readonly hub: Int32Array;
  /** [members] links to it and from it. */
  readonly up: Int32Array;
  readonly down: Int32Array;
  /** [members] number of its box, in the order of the first ranks, and its place among the ranks there. */
  readonly box: Int32Array;
  readonly place: Int32Array;
  /** [boxes] ranks, ascending. */
  readonly ranks: readonly (readonly number[])[];
}

/** Returns the boxes as the reversed network has them. */
const turnedBoxes = (boxes: SwitchBoxes): SwitchBoxes => ({ ...boxes, up: boxes.down, down: boxes.up });

/**
 * Returns the boxes of a group: each member belongs to the switch with all the traits, linked to it both ways, that its widest
 * link goes to (the first of equal ones). Null where a member has none, or no two are at the same switch. O(links + nodes).
 */
export function switchBoxes(
  topology: Topology,
  members: Int32Array,
  usable: Float64Array,
  traits: readonly SwitchTrait[],
): SwitchBoxes | null {
  const { npuCount, nodeTraits, linkSource, linkTarget } = topology;
  const isAble = (node: number): boolean =>
    node >= npuCount && traits.every((trait) => nodeTraits[node][trait] === true);
  const rankOf = new Int32Array(nodeCount(topology)).fill(-1);
  members.forEach((npu, rank) => {
    rankOf[npu] = rank;
  });
  const [ups, downs] = [new Map<string, number>(), new Map<string, number>()];
  const keepWidest = (known: Map<string, number>, npu: number, hub: number, link: number): void => {
    const key = `${rankOf[npu]} ${hub}`;
    const other = known.get(key);
    if (usable[link] > 0 && (other === undefined || usable[link] > usable[other])) known.set(key, link);
  };
  for (let link = 0; link < linkSource.length; link++) {
    const [from, to] = [linkSource[link], linkTarget[link]];
    if (from < npuCount && rankOf[from] >= 0 && isAble(to)) keepWidest(ups, from, to, link);
    if (to < npuCount && rankOf[to] >= 0 && isAble(from)) keepWidest(downs, to, from, link);
  }
  const up = new Int32Array(members.length).fill(-1);
  const down = new Int32Array(members.length).fill(-1);
  for (const [key, link] of ups) {
    const back = downs.get(key);
    const rank = rankOf[linkSource[link]];
    if (back === undefined || (up[rank] >= 0 && usable[link] <= usable[up[rank]])) continue;
    up[rank] = link;
    down[rank] = back;
  }
  if (up.includes(-1)) return null;
  const hub = up.map((link) => linkTarget[link]);
  return numbered(hub, up, down);
}

function numbered(hub: Int32Array, up: Int32Array, down: Int32Array): SwitchBoxes | null {
  const boxOf = new Map<number, number>();
  const ranks: number[][] = [];
  const place = new Int32Array(hub.length);
  const box = hub.map((node, rank) => {
    const known = boxOf.get(node) ?? ranks.push([]) - 1;
    boxOf.set(node, known);
    place[rank] = ranks[known].push(rank) - 1;
    return known;
  });
  return ranks.every(({ length }) => length === 1) ? null : { hub, up, down, box, place, ranks };
}
