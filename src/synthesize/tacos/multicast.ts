import type { MatchPolicy, TenNetwork, Transfers } from "../../engine/kernels/kernels.ts";
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
import { invariantAttempts } from "./invariant-attempts.ts";
import { isSlotted, spreadLogs, transfersOfLogs } from "./logs.ts";
import { tenNetwork } from "./network.ts";
import type { Phase } from "./phases.ts";
import { multicastTrial } from "./trials.ts";

/** Returns the attempt for trial k of a phase whose chunks may go to many NPUs; `targetPs` is a bound on its time. */
export function multicastAttempts(
  phase: Phase,
  networks: readonly Network[],
  request: SynthesisRequest,
  context: SynthesisContext,
  targetPs: number,
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
    const logs = await spreadLogs(context.runner, { npuCount, routeSource, routeTarget, ...demand, maps: null });
    return transfersOfLogs(logs, ten, held.offset, slotPs[0]);
  };
  const first = all ? invariantAttempts(phase, variants, request, targetPs) : [];
  const wanted = variants.map(() => undefined as Uint32Array | null | undefined);
  return (attempt: number): Attempt => {
    const k = attempt - first.length;
    if (k < 0) return first[attempt] as Attempt;
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
