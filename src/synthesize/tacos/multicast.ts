import type { MatchPolicy, TenNetwork, Transfers } from "../../engine/kernels/kernels.ts";
import { translatedRows } from "../../model/translated-rows.ts";
import type { SynthesisContext, SynthesisRequest } from "../synthesizer.ts";
import { pruned } from "./assemble.ts";
import { type Attempt, type Network, outcome } from "./attempt.ts";
import {
  everyoneWantsAll,
  holdingsOf,
  type RelayMode,
  spreadsAmongMembers,
  wantedBits,
  wantedWithPaths,
} from "./demand.ts";
import { invariantLabel, invariantLogs } from "./invariant-logs.ts";
import { isSlotted, spreadLogs, transfersOfLogs } from "./logs.ts";
import { tenNetwork } from "./network.ts";
import type { Phase } from "./phases.ts";
import { multicastTrial } from "./trials.ts";

/** Returns the attempt for trial k of a phase whose chunks may go to many NPUs. */
export function multicastAttempts(
  phase: Phase,
  networks: readonly Network[],
  request: SynthesisRequest,
  context: SynthesisContext,
) {
  const { collective } = phase;
  const npus = request.topology.npuCount;
  const all = everyoneWantsAll(collective, npus);
  const members = all ? null : wantedBits(collective, npus);
  const held = holdingsOf(collective, npus);
  const oneSource = held.offset.some((end, v) => v > 0 && end - held.offset[v - 1] === held.chunk.length);
  const variants = networks.flatMap((network) => {
    const modes: RelayMode[] = all
      ? ["members"]
      : [...(spreadsAmongMembers(collective, network.routes, npus) ? (["members"] as const) : []), "paths", "all"];
    const ten = tenNetwork(request.topology, network.routes, network.times);
    return modes.map((mode) => ({ network, mode, ten }));
  });
  const wantedOf = (variant: (typeof variants)[number]): Uint32Array | null => {
    if (members === null || variant.mode === "all") return null;
    if (variant.mode === "members") return members;
    return wantedWithPaths(collective, variant.network.routes, variant.network.times.slotPs, npus);
  };
  /** Runs the kernel for slots where time moves in slots, else the event-driven one. */
  const matched = async (ten: TenNetwork, wantedRows: Uint32Array | null, policy: MatchPolicy): Promise<Transfers> => {
    const { chunkCount } = collective;
    const demand = { chunkCount, heldOffset: held.offset, heldChunk: held.chunk, wanted: wantedRows, policy };
    if (!isSlotted(ten)) return context.runner.match({ network: ten, ...demand });
    const { npuCount, routeSource, routeTarget, slotPs } = ten;
    const logs = await spreadLogs(context.runner, { npuCount, routeSource, routeTarget, ...demand });
    return transfersOfLogs(logs, ten, held.offset, slotPs[0]);
  };
  const first = all ? invariantAttempt(phase, variants, request) : null;
  const wanted = variants.map(() => undefined as Uint32Array | null | undefined);
  return (attempt: number): Attempt => {
    if (first !== null && attempt === 0) return first;
    const k = first === null ? attempt : attempt - 1;
    const heterogeneousVariant = variants[k % variants.length] as (typeof variants)[number];
    const slots = heterogeneousVariant.network.times.slotPs;
    const trial = multicastTrial(k, {
      seed: request.seed,
      wanted: request.policy,
      variants: variants.length,
      chunkCount: collective.chunkCount,
      oneSource,
      heterogeneous: slots.some((slot) => slot !== slots[0]),
    });
    const variant = variants[trial.variant] as (typeof variants)[number];
    return async () => {
      if (wanted[trial.variant] === undefined) wanted[trial.variant] = wantedOf(variant);
      const { network, mode, ten } = variant;
      const found = await matched(ten, wanted[trial.variant] as Uint32Array | null, trial.policy);
      const kept = members === null ? found : pruned(found, network.routes, members, collective.chunkCount);
      const labels = [trial.name, network.label, mode === "members" ? "" : `relays: ${mode}`];
      return outcome(phase, network, kept, labels);
    };
  };
}

/** Returns the attempt with an all-gather that is the same for every NPU; null where that does not apply. */
function invariantAttempt(
  phase: Phase,
  variants: readonly { readonly network: Network; readonly ten: TenNetwork }[],
  request: SynthesisRequest,
): Attempt | null {
  const { network, ten } = variants[0] as (typeof variants)[number];
  if (variants.length > 1 || !isSlotted(ten)) return null;
  const { topology } = request;
  const { routes } = network;
  const found = invariantLogs(topology, routes, phase.collective, request);
  if (found === null) return null;
  const heldOffset = Int32Array.from({ length: topology.npuCount + 1 }, (_, v) => v * found.chunksPerNpu);
  return async () => {
    const logs = { row: translatedRows({ topology, routes, ...found }), slots: found.slots };
    return outcome(phase, network, transfersOfLogs(logs, ten, heldOffset, ten.slotPs[0]), [invariantLabel(found)]);
  };
}
