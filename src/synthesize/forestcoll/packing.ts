import { InputError, inWords } from "../../base/errors.ts";
import type { PackedTrees, PackOutcome } from "../../engine/contract/kernels.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import { nodeCount, type Topology } from "../../model/topology/topology.ts";
import type { Forest } from "../../model/trees/tree-flow.ts";
import type { Heights } from "../../model/trees/tree-times.ts";
import type { TreeKernels } from "../tree-maker.ts";

/** How paths are chosen while trees grow: what an edge costs for each edge above it, and a full link. */
interface Setting {
  readonly name: string;
  readonly depthPrice: number;
  readonly loadPrice: number;
  readonly scheduled: boolean;
}

/** Shallow trees wherever links have room to spare; trees that spread load evenly where they have not. */
const SETTINGS: readonly Setting[] = [
  { name: "shallow", depthPrice: 10, loadPrice: 2, scheduled: false },
  { name: "even", depthPrice: 10, loadPrice: 40, scheduled: true },
];
/** All settings in turn, and no tree is repacked to make it lower: that takes nearly all of the time. */
export const QUICK = "quick";
/** All settings too; on symmetric networks trees in which NPUs send to few others, which are higher. */
export const FEW_PEERS = "few-peers";
export const PACK_POLICIES: readonly string[] = [...SETTINGS.map(({ name }) => name), QUICK];

/** Whether a policy leaves the settings to the packing. */
export const triesAll = (policy: string | null): boolean => policy === null || [QUICK, FEW_PEERS].includes(policy);

/** Work of all repairs of one packing: an attempt costs about NPUs x NPUs. */
const REPAIR_WORK = 8e6;
const MOST_REPAIRS = 8000;
/** Above this many NPUs repairs take longer than they are worth; up to so few both settings are repaired. */
const MOST_REPAIRED = 256;
const FEW = 32;

/** Edges of trees that find place in memory, with their links about 20 bytes each. */
const MOST_EDGES = 1e8;

export interface Packed {
  readonly trees: PackedTrees;
  readonly policy: string;
  readonly trials: number;
  /** Its highest trees were not repacked, as QUICK asks. */
  readonly couldBeLower: boolean;
}

/** A packing, a cut of the network that has less capacity than copies start in it, or null where the search got stuck. */
export type Outcome = Packed | { readonly cut: Uint8Array } | null;

export interface PackOptions {
  readonly seed: number;
  /** One of PACK_POLICIES; null: all settings in turn until trees are as low as can be. */
  readonly policy: string | null;
  /** Trees that are too high are not repacked. */
  readonly hasty?: boolean;
}

interface Measured {
  readonly trees: PackedTrees;
  readonly setting: Setting;
  readonly heights: Heights;
}

/**
 * Returns the lowest forest that the settings give; of equally low ones the one of least mean height, then the first. In
 * small networks its deepest trees are then repacked, with others to make room (native/kernels/pack_repair.h). Settings
 * are tried side by side where kernels can run so; the answer does not depend on that.
 */
export async function packTrees(
  network: PackingNetwork,
  capacity: Float64Array,
  copies: Float64Array,
  kernels: TreeKernels,
  { seed, policy, hasty = false }: PackOptions,
): Promise<Outcome> {
  refuseVast(network, copies);
  const least = leastHeight(network, copies);
  const settings = SETTINGS.filter(({ name }) => triesAll(policy) || name === policy).slice(0, hasty ? 1 : undefined);
  const pack = (setting: Setting, repairs: number): Promise<PackOutcome> =>
    packOnce(network, capacity, copies, kernels, { setting, seed, repairs, enoughHeight: least });
  const atOnce = kernels.width(copies, network.npuCount) > 1 ? settings.map((setting) => pack(setting, 0)) : [];
  // none is left running when another fails or is cancelled
  await Promise.allSettled(atOnce);
  let best: Measured | null = null;
  let trials = 0;
  for (const [i, setting] of settings.entries()) {
    const outcome = await (atOnce[i] ?? pack(setting, 0));
    trials++;
    if (outcome.kind === "violated") return { cut: outcome.cut };
    if (outcome.kind === "stuck") continue;
    const found = measured(network, outcome.trees, setting);
    if (best === null || isLower(found, best)) best = found;
    if (best.heights.greatest <= least) break;
  }
  if (best === null) return null;
  const repairs = Math.min(MOST_REPAIRS, Math.floor(REPAIR_WORK / network.npuCount ** 2));
  const repaired = hasty || network.npuCount > MOST_REPAIRED ? [] : network.npuCount > FEW ? [best.setting] : settings;
  for (const setting of repaired) {
    if (best.heights.greatest <= least) break;
    if (policy === QUICK)
      return { trees: best.trees, policy: `${best.setting.name}, not repacked`, trials, couldBeLower: true };
    const outcome = await pack(setting, repairs);
    trials++;
    if (outcome.kind !== "packed") continue;
    const found = measured(network, outcome.trees, setting);
    if (isLower(found, best)) best = found;
  }
  return { trees: best.trees, policy: best.setting.name, trials, couldBeLower: false };
}

/** Throws InputError where the edges of all trees would not fit in memory. */
function refuseVast({ npuCount }: PackingNetwork, copies: Float64Array): void {
  const roots = rootCount(copies);
  if (roots * npuCount <= MOST_EDGES) return;
  const expected = `at most ${MOST_EDGES} edges of trees on a network where no root stands for all`;
  throw new InputError("the topology", expected, inWords(`${roots} roots of ${npuCount} NPUs`));
}

const measured = (network: PackingNetwork, trees: PackedTrees, setting: Setting): Measured => ({
  trees,
  setting,
  heights: heightsOf(network, trees),
});

const isLower = ({ heights: a }: Measured, { heights: b }: Measured): boolean =>
  a.greatest < b.greatest || (a.greatest === b.greatest && a.mean < b.mean);

/** Room that small networks get, so that nothing is left out for want of it. */
const SPARE_TREES = 256;
const AMPLE_LINKS = 4e6;

interface Call {
  readonly setting: Setting;
  readonly seed: number;
  readonly repairs: number;
  readonly enoughHeight: number;
}

/** Calls the kernel with more room until all trees find place. */
async function packOnce(
  { nodeCount, npuCount, linkSource, linkTarget }: PackingNetwork,
  capacity: Float64Array,
  copies: Float64Array,
  kernels: TreeKernels,
  { setting, seed, repairs, enoughHeight }: Call,
): Promise<PackOutcome> {
  const all = copies.reduce((sum, count) => sum + count, 0);
  const roots = rootCount(copies);
  const { depthPrice, loadPrice, scheduled } = setting;
  const perEdge = nodeCount > npuCount ? 3 : 1;
  const linksOf = (trees: number): number => trees * (npuCount - 1) * perEdge;
  // repairs put new trees beside those that they may replace
  let maxTrees = Math.min(all, 2 * roots + npuCount + linkSource.length) + (repairs > 0 ? SPARE_TREES : 0);
  let maxLinks = Math.min(linksOf(maxTrees), Math.max(AMPLE_LINKS, linksOf(2 * roots)));
  for (;;) {
    const outcome = await kernels.pack({
      nodeCount,
      npuCount,
      linkSource,
      linkTarget,
      capacity,
      copies,
      depthPrice,
      loadPrice,
      scheduled,
      seed,
      repairs,
      enoughHeight,
      maxTrees,
      maxLinks,
    });
    if (outcome !== null) return outcome;
    maxTrees *= 2;
    maxLinks *= 2;
  }
}

/** Above this many NPUs only one root is looked at. */
const MOST_ROOTS = 2048;

/** Returns the edges from the root of each tree to its farthest member. O(links of all edges). */
function treeHeights({ npuCount, linkSource, linkTarget }: PackingNetwork, trees: PackedTrees): Int32Array {
  const { root, linkOffset, links } = trees;
  const depth = new Int32Array(npuCount);
  return root.map((start, t) => {
    depth[start] = 0;
    let height = 0;
    for (let e = t * (npuCount - 1); e < (t + 1) * (npuCount - 1); e++) {
      const own = depth[linkSource[links[linkOffset[e]]]] + 1;
      depth[linkTarget[links[linkOffset[e + 1] - 1]]] = own;
      if (own > height) height = own;
    }
    return height;
  });
}

/** Returns the heights of packed trees, the mean over copies. O(links of all edges). */
function heightsOf(network: PackingNetwork, trees: PackedTrees): Heights {
  let [greatest, sum, copies] = [0, 0, 0];
  treeHeights(network, trees).forEach((height, t) => {
    greatest = Math.max(greatest, height);
    sum += height * trees.copies[t];
    copies += trees.copies[t];
  });
  return { greatest, mean: sum / copies };
}

/**
 * Returns a lower bound of the height of trees that span all NPUs: the most edges between NPUs (paths through nodes that only
 * forward) from a root to its farthest NPU. Above 2,048 NPUs of the first root only. O(roots x links).
 */
function leastHeight({ nodeCount, npuCount, linkSource, linkTarget }: PackingNetwork, copies: Float64Array): number {
  const { offset, items } = groupedBy(linkSource, nodeCount);
  const depth = new Int32Array(nodeCount);
  const roots: number[] = [];
  for (let v = 0; v < npuCount && roots.length < (npuCount > MOST_ROOTS ? 1 : npuCount); v++) {
    if (copies[v] > 0) roots.push(v);
  }
  let most = 0;
  for (const root of roots) {
    depth.fill(-1);
    depth[root] = 0;
    let level = [root];
    for (let height = 1; level.length > 0; height++) {
      const next: number[] = [];
      // what only forwards costs no edge, so it is passed at once
      const passed = [...level];
      for (let i = 0; i < passed.length; i++) {
        for (let j = offset[passed[i]]; j < offset[passed[i] + 1]; j++) {
          const to = linkTarget[items[j]];
          if (depth[to] >= 0) continue;
          depth[to] = height;
          if (to < npuCount) {
            next.push(to);
            if (height > most) most = height;
          } else passed.push(to);
        }
      }
      level = next;
    }
  }
  return most;
}

/** A network as the kernels of trees see it: members first, everything else only forwards. */
export interface PackingNetwork {
  readonly nodeCount: number;
  /** Members: nodes 0 .. npuCount - 1, in rank order. */
  readonly npuCount: number;
  /** [links kept] ends in these numbers; turned around for trees of the reversed network. */
  readonly linkSource: Int32Array;
  readonly linkTarget: Int32Array;
  /** [links kept] bytes per second, exact integers >= 1. */
  readonly bandwidth: Float64Array;
  /** [links kept] their numbers in the topology, ascending. */
  readonly link: Int32Array;
  /** [nodes] their numbers in the topology. */
  readonly node: Int32Array;
}

/**
 * Returns the network for trees that span `members` [in rank order]: links with nothing usable are left out; "in": every link
 * is turned around. O(nodes + links).
 */
export function packingNetwork(
  topology: Topology,
  members: Int32Array,
  usable: Float64Array,
  direction: "out" | "in",
): PackingNetwork {
  const nodes = nodeCount(topology);
  const number = new Int32Array(nodes).fill(-1);
  const node = new Int32Array(nodes);
  let next = 0;
  const give = (v: number): void => {
    number[v] = next;
    node[next++] = v;
  };
  members.forEach(give);
  for (let v = 0; v < nodes; v++) if (number[v] < 0) give(v);
  const kept = usable.reduce((count, bandwidth) => count + (bandwidth > 0 ? 1 : 0), 0);
  const link = new Int32Array(kept);
  for (let e = 0, i = 0; e < usable.length; e++) if (usable[e] > 0) link[i++] = e;
  const { linkSource, linkTarget } = topology;
  const [from, to] = direction === "out" ? [linkSource, linkTarget] : [linkTarget, linkSource];
  return {
    nodeCount: nodes,
    npuCount: members.length,
    linkSource: link.map((e) => number[from[e]]),
    linkTarget: link.map((e) => number[to[e]]),
    bandwidth: Float64Array.from(link, (e) => usable[e]),
    link,
    node,
  };
}

/** Returns what links are called by their numbers: themselves where all keep theirs. O(links). */
export function renumbered(links: Int32Array, numberOf: Int32Array): Int32Array {
  if (numberOf.every((to, from) => to === from)) return links;
  const found = new Int32Array(links.length);
  for (let i = 0; i < links.length; i++) found[i] = numberOf[links[i]];
  return found;
}

/** Returns packed trees in the numbers of the topology. */
export function forestFrom(
  { link }: PackingNetwork,
  { root, copies, linkOffset, links }: PackedTrees,
  direction: "out" | "in",
  copyBytesPerSecond: Forest["copyBytesPerSecond"],
  members: Int32Array,
): Forest {
  return {
    direction,
    root: root.map((rank) => members[rank]),
    copies,
    linkOffset,
    links: renumbered(links, link),
    copyBytesPerSecond,
  };
}

/** Returns how many NPUs have copies of trees rooted at them. */
export const rootCount = (copies: Float64Array): number => copies.reduce((count, own) => count + (own > 0 ? 1 : 0), 0);
