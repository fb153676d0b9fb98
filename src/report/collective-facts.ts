import type { Collective } from "../model/collective/collective.ts";
import { deliveryCount } from "../model/collective/collective-definition.ts";
import { format } from "../model/numbers/rational.ts";
import type { Topology } from "../model/topology/topology.ts";
import { type CollectiveSummary, collectiveSummary } from "./result.ts";

/** Returns what is said of a collective that was judged. O(chunks) for custom ones. */

export function collectiveFacts(topology: Topology, collective: Collective): CollectiveFacts {
  const { kind, chunkCount, chunkBytes, reduces, groupCount, groupSize, groupMembers } = collective;
  return {
    ...collectiveSummary(topology, collective),
    chunks: chunkCount,
    chunkBytes: format(chunkBytes),
    reduces,
    groups: groupCount,
    groupSize,
    participants: new Set(groupMembers).size,
    ...(kind === "custom" ? { deliveries: deliveryCount(collective) } : {}),
  };
}

/** What a collective was proved to be. */
export interface CollectiveFacts extends CollectiveSummary {
  readonly chunks: number;
  /** Exact bytes of a chunk, "1048576" or "2400/7". */
  readonly chunkBytes: string;
  readonly reduces: boolean;
  readonly groups: number;
  readonly groupSize: number;
  /** Members over all groups. */
  readonly participants: number;
  /** Custom: (chunk, NPU) pairs that need something from elsewhere. */
  readonly deliveries?: number;
}
