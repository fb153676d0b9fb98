import type { Collective } from "../../model/collective.ts";
import type { RouteSet } from "../../model/routes.ts";
import type { Topology } from "../../model/topology.ts";
import { translationsOf } from "../../model/translation.ts";
import type { SynthesisRequest } from "../synthesizer.ts";
import { type InvariantAllGather, invariantAllGather } from "./invariant.ts";

/** An all-gather that is the same for every NPU, and the translations that take one NPU to the others. */
export interface InvariantLogs extends InvariantAllGather {
  readonly sizes: readonly number[];
  readonly chunksPerNpu: number;
}

/** Returns how many chunks each NPU owns, where NPU v owns the v-th so many; null where it is otherwise. */
function evenShare({ pre, chunkCount }: Collective, npuCount: number): number | null {
  if (pre.kind !== "one" || chunkCount % npuCount !== 0) return null;
  const share = chunkCount / npuCount;
  return pre.npu.every((npu, chunk) => npu === Math.floor(chunk / share)) ? share : null;
}

/**
 * Returns the invariant all-gather over routes that are equally long and never in each other's way; null where the routes are
 * not translation-invariant, the collective is not an all-gather in order of ids, or a policy was asked for.
 */
export function invariantLogs(
  topology: Topology,
  routes: RouteSet,
  collective: Collective,
  { seed, trials, policy }: Pick<SynthesisRequest, "seed" | "trials" | "policy">,
): InvariantLogs | null {
  const chunksPerNpu = evenShare(collective, topology.npuCount);
  if (chunksPerNpu === null || policy !== null) return null;
  const sizes = translationsOf(topology, routes);
  if (sizes === null) return null;
  const found = invariantAllGather(routes, topology.npuCount, sizes, chunksPerNpu, { seed, trials });
  return found === null ? null : { ...found, sizes, chunksPerNpu };
}

/** What reports call it. */
export const invariantLabel = ({ policy }: InvariantLogs): string => `invariant: ${policy}`;
