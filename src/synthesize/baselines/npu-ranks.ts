import type { Collective } from "../../model/collective/collective.ts";

/** Returns the rank of every NPU in a group of all NPUs. */
function rankOfNpu({ groupMembers }: Collective): Int32Array {
  const rank = new Int32Array(groupMembers.length);
  groupMembers.forEach((npu, i) => {
    rank[npu] = i;
  });
  return rank;
}

/** Returns orders of NPUs as orders of the ranks of a group of all NPUs. */
export function ordersOfRanks(collective: Collective, orders: readonly ArrayLike<number>[]): Int32Array[] {
  const rank = rankOfNpu(collective);
  return orders.map((order) => Int32Array.from(order, (npu) => rank[npu]));
}

/** Returns trees of NPUs ([NPUs] parents, -1 at the root) as trees of the ranks of a group of all NPUs. */
export function parentsOfRanks(collective: Collective, trees: readonly Int32Array[]): Int32Array[] {
  const rank = rankOfNpu(collective);
  return trees.map((parent) =>
    Int32Array.from(collective.groupMembers, (npu) => (parent[npu] < 0 ? -1 : rank[parent[npu]])),
  );
}
