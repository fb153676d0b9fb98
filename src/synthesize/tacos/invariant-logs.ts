import type { Collective } from "../../model/collective/collective.ts";
import type { RouteSet } from "../../model/routes/routes.ts";
import { translationsOf } from "../../model/symmetry/translation.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { SynthesisRequest } from "../synthesizer.ts";
import { type InvariantAllGather, invariantAllGather } from "./invariant.ts";

/** Returns how many chunks each NPU owns, where NPU v owns the v-th so many; null where it is otherwise. */
function evenShare({ pre, chunkCount }: Collective, npuCount: number): number | null {
  if (pre.kind !== "one" || chunkCount % npuCount !== 0) return null;
  const share = chunkCount / npuCount;
  return pre.npu.every((npu, chunk) => npu === Math.floor(chunk / share)) ? share : null;
}

/** The translations that leave a network as it is, and how many chunks each NPU owns. */
export interface InvariantShare {
  readonly sizes: readonly number[];
  readonly chunksPerNpu: number;
}

/**
 * Returns what an all-gather that is the same for every NPU needs; null where the routes are not translation-invariant, the
 * collective is not an all-gather in order of ids, or a policy was asked for.
 */
export function invariantShare(
  topology: Topology,
  routes: RouteSet,
  collective: Collective,
  { policy }: Pick<SynthesisRequest, "policy">,
): InvariantShare | null {
  const chunksPerNpu = evenShare(collective, topology.npuCount);
  if (chunksPerNpu === null || policy !== null) return null;
  const sizes = translationsOf(topology, routes);
  return sizes === null ? null : { sizes, chunksPerNpu };
}

/**
 * Returns the invariant all-gather over routes that are equally long and never in each other's way; null as
 * invariantShare.
 */
export function invariantLogs(
  topology: Topology,
  routes: RouteSet,
  collective: Collective,
  request: Pick<SynthesisRequest, "seed" | "trials" | "policy">,
): (InvariantAllGather & InvariantShare) | null {
  const share = invariantShare(topology, routes, collective, request);
  if (share === null) return null;
  const found = invariantAllGather(routes, topology.npuCount, share.sizes, share.chunksPerNpu, request);
  return found === null ? null : { ...found, ...share };
}

/** What reports call it. */
export const invariantLabel = (policy: string): string => `invariant: ${policy}`;
