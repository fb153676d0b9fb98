import type { NetworkDimension } from "./dimensions.ts";
import type { Topology } from "./topology.ts";

/** Returns the dimensions of a hierarchical network; null where it is none. O(links). */
export function dimensionsOf(_topology: Topology): readonly NetworkDimension[] | null {
  return null;
}
