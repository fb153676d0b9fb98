import type { TenNetwork } from "../../engine/contract/kernels.ts";
import { translatedRows } from "../../model/symmetry/translated-rows.ts";
import type { SynthesisRequest } from "../synthesizer.ts";
import { type Attempt, type Network, outcome } from "./attempt.ts";
import { invariantTransfers } from "./invariant-lanes.ts";
import { invariantLabel, invariantLogs, invariantShare } from "./invariant-logs.ts";
import { isSlotted, transfersOfLogs } from "./logs.ts";
import type { Phase } from "./phases.ts";

/** Above so many transfers, networks of several speeds are left to the kernels. */
const MOST_TRANSFERS = 1e6;

interface Variant {
  readonly network: Network;
  readonly ten: TenNetwork;
}

/**
 * Returns the attempts with an all-gather that is the same for every NPU, one for each of the networks that translations leave
 * as it is; `targetPs` is a bound on the time.
 */
export function invariantAttempts(
  phase: Phase,
  variants: readonly Variant[],
  request: SynthesisRequest,
  targetPs: number,
): Attempt[] {
  return variants.flatMap((variant) => {
    const attempt = isSlotted(variant.ten)
      ? slottedAttempt(phase, variant, request)
      : mixedAttempt(phase, variant, request, targetPs);
    return attempt === null ? [] : [attempt];
  });
}

function slottedAttempt(phase: Phase, { network, ten }: Variant, request: SynthesisRequest): Attempt | null {
  const { topology } = request;
  const { routes } = network;
  const found = invariantLogs(topology, routes, phase.collective, request);
  if (found === null) return null;
  const heldOffset = Int32Array.from({ length: topology.npuCount + 1 }, (_, v) => v * found.chunksPerNpu);
  return async () => {
    const logs = { row: translatedRows({ topology, routes, ...found }), slots: found.slots };
    const transfers = transfersOfLogs(logs, ten, heldOffset, ten.slotPs[0]);
    return outcome(phase, network, transfers, [invariantLabel(found.policy), network.label]);
  };
}

function mixedAttempt(
  phase: Phase,
  { network, ten }: Variant,
  request: SynthesisRequest,
  targetPs: number,
): Attempt | null {
  const { topology, seed, trials } = request;
  const share = invariantShare(topology, network.routes, phase.collective, request);
  if (share === null || (topology.npuCount - 1) * phase.collective.chunkCount > MOST_TRANSFERS) return null;
  const options = { seed, trials, targetPs };
  const found = invariantTransfers(topology, network.routes, ten, share.sizes, share.chunksPerNpu, options);
  if (found === null) return null;
  return async () => outcome(phase, network, found, [invariantLabel("novelty"), network.label]);
}
