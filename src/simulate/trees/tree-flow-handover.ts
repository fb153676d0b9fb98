import { InputError } from "../../base/errors.ts";
import { orbitsOf } from "../../model/symmetry/network-maps.ts";
import { type Forest, groupOrder, type TreeFlow } from "../../model/trees/tree-flow.ts";

/**
 * Where in-trees hand over to out-trees at their roots, as columns: `count[i]` copies of a root, one after the other, lie
 * from place `inPlace[i]` on among the copies of in-tree `inTree[i]` and from `outPlace[i]` on among those of `outTree[i]`.
 */
export interface Handover {
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
export function handoverOf(flow: TreeFlow): Handover {
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
        "different numbers",
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
  throw new InputError("the symmetry", `at most ${MOST_PAIRED} images of trees at the roots listed`, paired);
}

/** Returns the trees at each place in the order of their copies, each as often as it has images there. */
function queues({ root }: Forest, { of, images }: Places): number[][] {
  const at: number[][] = Array.from(images, () => []);
  root.forEach((npu, tree) => {
    for (let image = 0; image < images[of[npu]]; image++) at[of[npu]].push(tree);
  });
  return at;
}
