import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { distancesFrom, graph } from "../../model/graph/graph.ts";
import { nodeCount, type Topology } from "../../model/topology/topology.ts";
import { allReduceFrom } from "../forestcoll/blink.ts";
import { PACK_POLICIES } from "../forestcoll/packing.ts";
import { refuseSeveralGroups } from "../forestcoll/requests.ts";
import { TREE_OPTIONS, type TreeMaker } from "../tree-maker.ts";

const NEEDED = "a 2D mesh of 3x3 or more, all of its NPUs or all but one corner, for tto";

/** Where trees start, and the corner without one: an NPU that takes part, one that only forwards, or none. */
interface Roots {
  readonly npus: readonly number[];
  readonly fourth: { readonly npu: number; readonly takesPart: boolean } | null;
}

/**
 * TTO (three tree overlap; Laskar et al., HPCA 2024, recalled; TACOS 2024, VII names it as Blink made for 2D meshes, with three
 * spanning trees from NPUs at the rim): an all-reduce by three trees of a mesh, rooted at three of its corners, over different
 * links. The fourth corner is left out of the work, and only forwards.
 *
 * That much follows from cuts. A corner has two links in, so where all four take part no more than two of three equal trees can
 * enter the fourth at full rate; a root needs only the two that are not its own. The two NPUs beside the fourth corner have
 * three links in, one of them from that corner: without its links they are the bottleneck. Rates are those of an exact packing,
 * so three trees are at full rate where they can be, and all other cases (no fourth corner, unequal links) are as fast as
 * three corners allow. Which edges the paper's trees have is not known here. A reduction and a broadcast follow each other or
 * run side by side, whatever is faster.
 */
export const tto: TreeMaker = {
  name: "tto",
  makes: "trees",
  description: "three trees from three corners of a 2D mesh over different links (TTO)",
  collectives: ["allreduce"],
  policies: PACK_POLICIES,
  options: TREE_OPTIONS,
  refuses: (topology, collective) => (rootsOf(topology, collective) === null ? NEEDED : null),
  async make(request, context) {
    const { topology, collective } = request;
    refuseSeveralGroups(collective, "tto packs the trees of one mesh");
    const roots = rootsOf(topology, collective);
    if (roots === null) throw new InputError("the topology", NEEDED, topology.name);
    const weight = Float64Array.from(collective.groupMembers, (npu) => (roots.npus.includes(npu) ? 1 : 0));
    const found = await allReduceFrom(request, context, weight);
    const name = (npu: number): string => topology.nodeNames[npu];
    return {
      ...found,
      policy: `roots ${roots.npus.map(name).join(", ")}, ${found.policy}`,
      notes: [...found.notes, ...noteOf(roots, name)],
    };
  },
};

function rootsOf(topology: Topology, { groupCount, groupSize, groupMembers }: Collective): Roots | null {
  const mesh = groupCount === 1 && groupSize >= topology.npuCount - 1 ? meshOf(topology) : null;
  if (mesh === null) return null;
  const { corners } = mesh;
  const isMember = new Set(groupMembers);
  const outside = corners.filter((npu) => !isMember.has(npu));
  if (groupSize + outside.length !== topology.npuCount) return null;
  if (corners.length === 3) return outside.length === 0 ? { npus: corners, fourth: null } : null;
  const takesPart = outside.length === 0;
  const npu = takesPart ? corners[3] : outside[0];
  return { npus: corners.filter((corner) => corner !== npu), fourth: { npu, takesPart } };
}

function noteOf({ fourth }: Roots, name: (npu: number) => string): string[] {
  if (fourth === null) {
    return [
      `the two NPUs beside the missing corner have two links each, which three trees share; a corner that only forwards (${optionName("group")} without it) would help`,
    ];
  }
  if (!fourth.takesPart) return [];
  return [
    `corner ${name(fourth.npu)} takes part, over two links that three trees share; the others alone (${optionName("group")} without it) would be faster`,
  ];
}

/** A 2D mesh that was found in a network. */
interface Mesh {
  /** NPUs at its corners, ascending: four, or three where the fourth is not there. */
  readonly corners: readonly number[];
  readonly sides: readonly [number, number];
}

/** Neighbours of each NPU, `items[offset[v] .. offset[v + 1]]` ascending. */
interface Neighbours {
  readonly offset: Int32Array;
  readonly items: Int32Array;
}

/** Corners, and where one is missing the two NPUs beside it, have two neighbours: this many at most. */
const MOST_ENDS = 5;

/**
 * Returns the corners and sides of a network that is a mesh of 3x3 or more, whole or without one corner, recognized by its links alone,
 * whatever its NPUs are numbered and however many parallel links there are; else null.
 *
 * From corner c and corner d at the other end of the side of c, w away, an NPU at column x and row y is x + y and w - x + y away:
 * so two rows of distances tell all places, which must be those of a mesh with all its links. O(links) for each of at most 20
 * pairs of NPUs with two neighbours.
 */
export function meshOf(topology: Topology): Mesh | null {
  const { npuCount } = topology;
  if (npuCount < 8 || nodeCount(topology) !== npuCount) return null;
  const near = neighboursOf(topology);
  const ends = [...Array(npuCount).keys()].filter((v) => near.offset[v + 1] - near.offset[v] === 2);
  if (ends.length > MOST_ENDS) return null;
  const sources = Int32Array.from(near.items.keys(), () => 0);
  for (let v = 0; v < npuCount; v++) sources.fill(v, near.offset[v], near.offset[v + 1]);
  const hops = graph(npuCount, sources, near.items, new Float64Array(near.items.length).fill(1));
  const distance = ends.map((end) => distancesFrom(hops, [end]));
  for (let c = 0; c < ends.length; c++) {
    for (let d = 0; d < ends.length; d++) {
      const mesh = c === d ? null : meshFrom(near, distance[c], distance[d], distance[c][ends[d]]);
      if (mesh !== null) return mesh;
    }
  }
  return null;
}

function neighboursOf({ npuCount, linkSource, linkTarget }: Topology): Neighbours {
  const pairs = Float64Array.from(linkSource, (from, link) => from * npuCount + linkTarget[link]).sort();
  const items: number[] = [];
  const offset = new Int32Array(npuCount + 1);
  for (let i = 0; i < pairs.length; i++) {
    if (i > 0 && pairs[i] === pairs[i - 1]) continue;
    items.push(pairs[i] % npuCount);
    offset[Math.floor(pairs[i] / npuCount) + 1] = items.length;
  }
  for (let v = 0; v < npuCount; v++) offset[v + 1] = Math.max(offset[v + 1], offset[v]);
  return { offset, items: Int32Array.from(items) };
}

/** Returns the mesh with two corners of one side, from which the NPUs are so far; null where that is none. */
function meshFrom(
  { offset, items }: Neighbours,
  fromFirst: Float64Array,
  fromSecond: Float64Array,
  apart: number,
): Mesh | null {
  const npus = fromFirst.length;
  const width = apart + 1;
  const height = Math.ceil(npus / width);
  const missing = width * height - npus;
  if (!(width >= 3 && height >= 3 && missing <= 1)) return null;
  const x = fromFirst.map((first, v) => (first - fromSecond[v] + apart) / 2);
  const y = fromFirst.map((first, v) => first - x[v]);
  const npuAt = new Int32Array(width * height).fill(-1);
  for (let v = 0; v < npus; v++) {
    const inside = Number.isInteger(x[v]) && x[v] >= 0 && x[v] < width && y[v] >= 0 && y[v] < height;
    if (!inside || npuAt[x[v] + width * y[v]] >= 0) return null;
    npuAt[x[v] + width * y[v]] = v;
  }
  const corners = [0, width - 1, width * (height - 1), width * height - 1].map((cell) => npuAt[cell]);
  if (missing === 1 && corners[3] >= 0) return null;
  for (let v = 0; v < npus; v++) {
    for (let i = offset[v]; i < offset[v + 1]; i++) {
      if (Math.abs(x[v] - x[items[i]]) + Math.abs(y[v] - y[items[i]]) !== 1) return null;
    }
  }
  const cables = width * (height - 1) + height * (width - 1) - 2 * missing;
  if (items.length !== 2 * cables) return null;
  return { corners: corners.filter((npu) => npu >= 0).sort((a, b) => a - b), sides: [width, height] };
}
