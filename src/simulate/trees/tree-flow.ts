import { InputError, inWords } from "../../base/errors.ts";
import { multiply, rational, toNumber } from "../../model/numbers/rational.ts";
import { demandExactPs } from "../../model/numbers/units.ts";
import { linkOrbits, orbitsOf } from "../../model/symmetry/network-maps.ts";
import { linkCount, type Topology } from "../../model/topology/topology.ts";
import {
  type Forest,
  groupOrder,
  type NetworkSymmetry,
  type TreeFlow,
  treeCount,
} from "../../model/trees/tree-flow.ts";
import { multicastSkips } from "../../model/trees/tree-multicast.ts";
import {
  checkPieces,
  chunkSerial,
  dataBytesOf,
  fillPs,
  type Pace,
  paceOf,
  type Reach,
  reachOf,
} from "../../model/trees/tree-times.ts";
import type { Simulation } from "../simulation.ts";

/**
 * Tells the time of a tree flow: picoseconds from the number of pieces that each copy's part of the data is cut into, the
 * collective's size in bytes (default: the flow's).
 */
export type TreeFlowClock = (pieces: number, sizeBytes?: number) => number;

/**
 * Returns the clock of a flow: what replaying its steps (model/trees/tree-steps.ts) in the congestion-aware network with cut-through
 * switching takes, in closed form. Shares of a link fit side by side, so a chunk waits only for data and for the chunk before
 * it on its route, and a chunk of a tree takes the same time s on all its edges.
 *
 * A tree of c copies and C pieces sends c C chunks back to back. A member h edges from the root, with latency L on the way,
 * has chunk j at (j + h) s + L, so the tree is done at (c C - 1) s + max (h s + L). An in-tree is its mirror image in time
 * and takes as long; members send as soon as they can. The forests of an all-reduce follow each other with a barrier between
 * them, which a replay of the steps does not know: it takes at most this time. Where they run side by side, chunk j is
 * broadcast when it is complete at the root and chunk j - 1 is sent; the last of J chunks leaves at the greatest of
 * complete(j) + (J - 1 - j) s, which lies at the first or last piece of the first or last of the copies that one in-tree hands
 * to one out-tree, as both times grow evenly with either.
 *
 * Switches that duplicate or sum (`inNetwork`) do so as data comes, over links on which the tree holds c copies once: hops and
 * latencies are those of the way that the data takes (reachOf), nothing else changes. No steps can say it, so there is no replay
 * of these.
 *
 * Of trees that are images of each other one is looked at: all take the same time. O(links of all listed edges) once, then
 * O(different trees) a call, side by side O(handovers). The clock throws InputError for times that leave 2^53 ps.
 */
export function treeFlowClock(flow: TreeFlow): TreeFlowClock {
  const forests = flow.forests.map((forest) => forestClock(flow, forest));
  const handover = flow.concurrent ? handoverOf(flow) : null;
  const alone = flow.collective.groupSize < 2;
  return (pieces, sizeBytes = flow.collective.sizeBytes) => {
    checkPieces(pieces);
    if (alone) return 0;
    const serials = forests.map(({ serialsOf }) => serialsOf(pieces, sizeBytes));
    const ps =
      handover === null
        ? forests.reduce((sum, forest, f) => sum + phasePs(forest, serials[f], pieces), 0)
        : sideBySidePs(forests, serials, handover, pieces);
    demandExactPs(ps, "the simulated time");
    return ps;
  };
}

/** Returns the simulation of a tree flow, each copy's part cut into this many pieces; see treeFlowClock. */
export function simulateTreeFlow(flow: TreeFlow, pieces: number): Simulation {
  const ps = treeFlowClock(flow)(pieces);
  return { model: "network/cut-through", ps, linkBusyPs: linkBusyPs(flow, pieces) };
}

interface ForestClock {
  readonly forest: Forest;
  readonly reach: Reach;
  /** Trees of which no two have the same copies and reach. */
  readonly different: Int32Array;
  /** Returns [trees] how long a chunk takes on an edge. */
  readonly serialsOf: (pieces: number, sizeBytes: number) => Float64Array;
}

function forestClock(flow: TreeFlow, forest: Forest): ForestClock {
  const pace = paceOf(flow.topology, forest);
  const reach = reachOf(flow, forest);
  const { classOf, values } = classesOf(forest.copies);
  const serialsOf = (pieces: number, sizeBytes: number): Float64Array => {
    const serialOf = serialsAt(flow, forest, pace, sizeBytes);
    const serials = values.map((copies) => serialOf(copies, pieces));
    return Float64Array.from(classOf, (k) => serials[k]);
  };
  return { forest, reach, different: differentTrees(forest, reach), serialsOf };
}

/** Returns the serialisation of a chunk where the collective has another size than the flow's. */
function serialsAt(flow: TreeFlow, forest: Forest, pace: Pace, sizeBytes: number): ReturnType<typeof chunkSerial> {
  const scale = rational(sizeBytes, flow.collective.sizeBytes);
  return chunkSerial(flow, forest, pace, multiply(dataBytesOf(flow), scale));
}

/** Returns the different values of a column, as they come, and the number of each element's. */
function classesOf(column: Float64Array): { readonly classOf: Int32Array; readonly values: number[] } {
  const known = new Map<number, number>();
  const values: number[] = [];
  const classOf = Int32Array.from(column, (value) => {
    let k = known.get(value);
    if (k === undefined) {
      k = values.push(value) - 1;
      known.set(value, k);
    }
    return k;
  });
  return { classOf, values };
}

function differentTrees({ copies }: Forest, { offset, hops, latencyPs }: Reach): Int32Array {
  const seen = new Set<string>();
  return Int32Array.from(copies.keys()).filter((tree) => {
    const [from, to] = [offset[tree], offset[tree + 1]];
    const key = `${copies[tree]};${hops.subarray(from, to)};${latencyPs.subarray(from, to)}`;
    return !seen.has(key) && seen.add(key);
  });
}

function phasePs({ forest, reach, different }: ForestClock, serials: Float64Array, pieces: number): number {
  let last = 0;
  for (const tree of different) {
    const serial = serials[tree];
    last = Math.max(last, (forest.copies[tree] * pieces - 1) * serial + fillPs(reach, tree, serial));
  }
  return last;
}

function sideBySidePs(
  [inwards, outwards]: readonly ForestClock[],
  [inSerials, outSerials]: readonly Float64Array[],
  { inTree, outTree, inPlace, outPlace, count }: Handover,
  pieces: number,
): number {
  let last = 0;
  for (let i = 0; i < count.length; i++) {
    const [from, to] = [inTree[i], outTree[i]];
    const [inCopies, outCopies] = [inwards.forest.copies[from], outwards.forest.copies[to]];
    const [inSerial, outSerial] = [inSerials[from], outSerials[to]];
    let lastDeparture = 0;
    for (const piece of [0, pieces - 1]) {
      for (const copy of [0, count[i] - 1]) {
        const complete = (piece * inCopies + inPlace[i] + copy) * inSerial;
        const behind = outCopies * pieces - 1 - (piece * outCopies + outPlace[i] + copy);
        lastDeparture = Math.max(lastDeparture, complete + behind * outSerial);
      }
    }
    const filled = fillPs(inwards.reach, from, inSerial) + fillPs(outwards.reach, to, outSerial);
    last = Math.max(last, lastDeparture + filled);
  }
  return last;
}

/** Returns [links] how long each link is held, times the share that is; links that maps take to each other are held alike. */
function linkBusyPs(flow: TreeFlow, pieces: number): Float64Array {
  const { topology, symmetry, collective } = flow;
  const links = linkCount(topology);
  const busy = new Float64Array(links);
  const edges = collective.groupSize - 1;
  for (const forest of flow.forests) {
    const pace = paceOf(topology, forest);
    const serialOf = serialsAt(flow, forest, pace, collective.sizeBytes);
    const held = new Float64Array(links);
    const skips = flow.inNetwork === true ? multicastSkips(flow, forest) : null;
    for (let tree = 0; tree < treeCount(forest); tree++) {
      const copies = forest.copies[tree];
      const each = copies * pieces * serialOf(copies, pieces) * copies;
      for (let edge = tree * edges; edge < (tree + 1) * edges; edge++) {
        const from = forest.linkOffset[edge] + (skips === null ? 0 : skips[edge]);
        for (let i = from; i < forest.linkOffset[edge + 1]; i++) held[forest.links[i]] += each;
      }
    }
    const rate = toNumber(pace.bytesPerSecond);
    for (let link = 0; link < links; link++) busy[link] += (held[link] * rate) / topology.linkBytesPerSecond[link];
  }
  return symmetry === null ? busy : sharedAlike(busy, topology, symmetry);
}

/** Returns what each link has when what is listed on its orbit is repeated by every element and falls evenly. */
function sharedAlike(busy: Float64Array, topology: Topology, symmetry: NetworkSymmetry): Float64Array {
  const { of, size } = linkOrbits(topology, symmetry);
  const order = groupOrder(symmetry);
  const sum = new Float64Array(size.length);
  for (let link = 0; link < busy.length; link++) sum[of[link]] += busy[link];
  return busy.map((_, link) => (sum[of[link]] * order) / size[of[link]]);
}

/**
 * Where in-trees hand over to out-trees at their roots, as columns: `count[i]` copies of a root, one after the other, lie
 * from place `inPlace[i]` on among the copies of in-tree `inTree[i]` and from `outPlace[i]` on among those of `outTree[i]`.
 */
interface Handover {
  readonly inTree: number[];
  readonly outTree: number[];
  readonly inPlace: number[];
  readonly outPlace: number[];
  readonly count: number[];
}

/** So many trees of a forest are paired with those of the other, images at the same root included. */
const MOST_PAIRED = 4e6;

/**
 * Returns the handovers of the two forests of an all-reduce: at each root both number its copies in the order in which trees
 * are listed, images of a tree one behind the other (expandTrees). Of roots that maps take to each other one stands for all.
 * Throws InputError where the forests differ in the copies of a root, and where maps repeat trees too often.
 * O(trees x images of one at the same root + NPUs).
 */
function handoverOf(flow: TreeFlow): Handover {
  const [inwards, outwards] = flow.forests;
  const places = placesOf(flow);
  for (const forest of flow.forests) refuseTooMany(forest, places);
  const [from, to] = [queues(inwards, places), queues(outwards, places)];
  const handover: Handover = { inTree: [], outTree: [], inPlace: [], outPlace: [], count: [] };
  for (let place = 0; place < places.images.length; place++) {
    const [giver, taker] = [from[place], to[place]];
    let [i, o, inPlace, outPlace] = [0, 0, 0, 0];
    while (i < giver.length && o < taker.length) {
      const [inTree, outTree] = [giver[i], taker[o]];
      const count = Math.min(inwards.copies[inTree] - inPlace, outwards.copies[outTree] - outPlace);
      handover.inTree.push(inTree);
      handover.outTree.push(outTree);
      handover.inPlace.push(inPlace);
      handover.outPlace.push(outPlace);
      handover.count.push(count);
      inPlace += count;
      outPlace += count;
      if (inPlace === inwards.copies[inTree]) [i, inPlace] = [i + 1, 0];
      if (outPlace === outwards.copies[outTree]) [o, outPlace] = [o + 1, 0];
    }
    if (i < giver.length || o < taker.length) {
      throw new InputError(
        `copies at root ${flow.topology.nodeNames[places.of.indexOf(place)]}`,
        "as many in both forests",
        inWords("different numbers"),
      );
    }
  }
  return handover;
}

interface Places {
  /** [NPUs] the orbit of each. */
  readonly of: Int32Array;
  /** [orbits] images of a tree at each of its roots. */
  readonly images: Float64Array;
}

function placesOf({ topology, symmetry }: TreeFlow): Places {
  const { of, size } = orbitsOf(topology.npuCount, symmetry?.steps ?? []);
  const order = groupOrder(symmetry);
  return { of, images: Float64Array.from(size, (npus) => order / npus) };
}

/** Throws InputError for a symmetry whose elements take the trees of a root to the same root again and again. */
function refuseTooMany({ root }: Forest, { of, images }: Places): void {
  const paired = root.reduce((sum, npu) => sum + images[of[npu]], 0);
  if (paired <= MOST_PAIRED) return;
  throw new InputError("the symmetry", `at most ${MOST_PAIRED} images of trees at the roots listed`, paired).as(
    "out-of-range",
  );
}

/** Returns the trees at each place in the order of their copies, each as often as it has images there. */
function queues({ root }: Forest, { of, images }: Places): number[][] {
  const at: number[][] = Array.from(images, () => []);
  root.forEach((npu, tree) => {
    for (let image = 0; image < images[of[npu]]; image++) at[of[npu]].push(tree);
  });
  return at;
}
