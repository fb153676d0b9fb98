import { InputError } from "../../base/errors.ts";
import { linkCount, type Topology } from "../topology/topology.ts";
import type { Sketch } from "./sketch.ts";
import { sketchPlace } from "./sketch-check.ts";

/**
 * Returns how many boxes the groups of the NPUs make: equal, one after the other in the numbering of the NPUs, joined through
 * switches only. Null where there are no groups, or others (a dragonfly's are joined by links of single NPUs). O(NPUs + links).
 */
export function boxCount(topology: Topology): number | null {
  const { npuCount, nodeTraits, linkSource, linkTarget } = topology;
  const first = nodeTraits[0]?.group;
  let size = 0;
  while (size < npuCount && nodeTraits[size].group === first) size++;
  if (first === undefined || npuCount % size !== 0) return null;
  const seen = new Set<string>();
  for (let npu = 0; npu < npuCount; npu++) {
    const { group } = nodeTraits[npu];
    if (npu % size !== 0 ? group !== nodeTraits[npu - 1].group : group === undefined || seen.has(group)) return null;
    seen.add(group as string);
  }
  for (let link = 0; link < linkCount(topology); link++) {
    const [from, to] = [linkSource[link], linkTarget[link]];
    if (from < npuCount && to < npuCount && nodeTraits[from].group !== nodeTraits[to].group) return null;
  }
  return npuCount / size;
}

/** Returns why a network has no number of boxes (`boxCount`), to be said of it: "whose boxes have 7 and 8 NPUs". O(NPUs). */
export function whyNoBoxes({ npuCount, nodeTraits }: Topology): string {
  const sizes = new Map<string, number>();
  for (const { group } of nodeTraits.slice(0, npuCount))
    if (group !== undefined) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  if (sizes.size === 0) return "whose NPUs have no groups";
  const several = [...new Set(sizes.values())].sort((a, b) => a - b);
  if (several.length === 1) return "whose groups are no boxes joined through switches";
  const last = several.pop();
  return `whose boxes have ${several.join(", ")} and ${last} NPUs`;
}

/**
 * Returns each NPU's box. Throws InputError where the sketch has other numbers of boxes or NPUs than the network. A network
 * whose NPUs have no groups, or groups that are no boxes, is divided as the sketch says, and any network may be one box of
 * which all links are used.
 */
export function boxesOfSketch(topology: Topology, sketch: Sketch): Int32Array {
  const { boxes, npusPerBox } = sketch;
  const found = boxCount(topology);
  const whole = boxes === 1 && sketch.intranode.strategy === "none";
  if (found !== null && found !== boxes && !whole)
    throw new InputError(sketchPlace(sketch, "nnodes"), `${found}, the boxes of ${topology.name},`, boxes);
  if (boxes * npusPerBox !== topology.npuCount)
    throw new InputError(
      sketchPlace(sketch, "nnodes"),
      `nodes that make the ${topology.npuCount} NPUs of ${topology.name}`,
      `${boxes} of ${npusPerBox} GPUs`,
    );
  return Int32Array.from({ length: topology.npuCount }, (_, npu) => Math.floor(npu / npusPerBox));
}
