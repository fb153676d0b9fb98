import { disjointSets } from "../graph/disjoint-sets.ts";
import { isNpu, linkCount, type Topology } from "./topology.ts";

/**
 * Returns the rails of a set of switches that joins boxes: rail r has the r-th of the set's NPUs of every box, in the order of the
 * boxes. Null where that is not a division that keeps the network together: NPUs without boxes, boxes with unequal numbers, a
 * single box, one NPU of each box, or boxes whose NPUs only meet in these switches. `npus`: those of every set of switches,
 * of which the one asked for is number `own`. O(NPUs of the set), and O(links + NPUs of the sets) where there may be rails.
 */
export function railsOf(
  topology: Topology,
  npus: readonly (readonly number[])[],
  own: number,
): readonly (readonly number[])[] | null {
  const boxes = new Map<string, number[]>();
  for (const npu of npus[own]) {
    const { group } = topology.nodeTraits[npu];
    if (group === undefined) return null;
    const box = boxes.get(group);
    if (box === undefined) boxes.set(group, [npu]);
    else box.push(npu);
  }
  const lists = [...boxes.values()];
  const rails = lists[0]?.length ?? 0;
  if (lists.length < 2 || rails < 2 || lists.some((box) => box.length !== rails)) return null;
  const joined = disjointSets(topology.npuCount);
  for (let link = 0; link < linkCount(topology); link++) {
    const [a, b] = [topology.linkSource[link], topology.linkTarget[link]];
    if (isNpu(topology, a) && isNpu(topology, b)) joined.join(a, b);
  }
  npus.forEach((set, other) => {
    if (other !== own) for (const npu of set) joined.join(npu, set[0]);
  });
  if (lists.some((box) => box.some((npu) => joined.least(npu) !== joined.least(box[0])))) return null;
  return Array.from({ length: rails }, (_, rail) => lists.map((box) => box[rail]));
}
