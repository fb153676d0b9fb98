/**
 * Double binary trees (Sanders, Speck and Traeff, 2009; as NCCL numbers them): two trees over ranks 0 .. N - 1, so that a rank
 * with children in one is a leaf of the other where N is even, and at most one rank has children in both where it is odd.
 */

/** Returns the parent of each rank, -1 at the root, in the tree that reads ranks in order. O(N). */
function inOrderTree(ranks: number): Int32Array {
  const parent = new Int32Array(ranks).fill(-1);
  for (let rank = 1; rank < ranks; rank++) {
    const lowest = rank & -rank;
    const up = (rank ^ lowest) | (lowest << 1);
    parent[rank] = up < ranks ? up : rank ^ lowest;
  }
  return parent;
}

/** Returns the parents in both trees, -1 at the roots: [ranks] each. The second mirrors the first, or shifts it by one where N is odd. O(N). */
export function doubleBinaryTree(ranks: number): readonly [Int32Array, Int32Array] {
  const first = inOrderTree(ranks);
  const image = (rank: number): number => (ranks % 2 === 0 ? ranks - 1 - rank : (rank + 1) % ranks);
  const second = new Int32Array(ranks);
  first.forEach((parent, rank) => {
    second[image(rank)] = parent < 0 ? -1 : image(parent);
  });
  return [first, second];
}

/** Returns the nodes of a tree, parents before children and ascending among those of one depth. O(N). */
export function fromTheRoot(parent: Int32Array): Int32Array {
  const children: number[][] = Array.from(parent, () => []);
  const order: number[] = [];
  parent.forEach((up, rank) => {
    if (up < 0) order.push(rank);
    else (children[up] as number[]).push(rank);
  });
  for (let i = 0; i < order.length; i++) order.push(...(children[order[i] as number] as number[]));
  return Int32Array.from(order);
}
