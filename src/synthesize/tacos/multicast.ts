import { CHOICE, type MatchPolicy, type TenNetwork, type Transfers } from "../../engine/contract/kernels.ts";
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
import { foldingMaps } from "./folding.ts";
import { invariantAttempts } from "./invariant-attempts.ts";
import { isSlotted, spreadLogs, transfersOfLogs } from "./logs.ts";
import { tenNetwork } from "./network.ts";
import type { Phase } from "./phases.ts";
import { type MulticastTrial, multicastTrial } from "./trials.ts";

/** From so many deliveries on the symmetries of a network are looked for: before that a trial takes milliseconds. */
const FOLD_FROM = 200_000;

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
  const matched = async (
    ten: TenNetwork,
    wantedRows: Uint32Array | null,
    policy: MatchPolicy,
    maps: Int32Array | null,
  ): Promise<Transfers> => {
    const { chunkCount } = collective;
    const demand = { chunkCount, heldOffset: held.offset, heldChunk: held.chunk, wanted: wantedRows, policy, maps };
    if (!isSlotted(ten)) return context.runner.match({ network: ten, ...demand });
    const { npuCount, routeSource, routeTarget, slotPs } = ten;
    const logs = await spreadLogs(context.runner, { npuCount, routeSource, routeTarget, ...demand });
    return transfersOfLogs(logs, ten, held.offset, slotPs[0]);
  };
  const trialOf = (k: number): MulticastTrial => {
    const slots = (variants[k % variants.length] as (typeof variants)[number]).network.times.slotPs;
    return multicastTrial(k, {
      seed: request.seed,
      wanted: request.policy,
      variants: variants.length,
      npuCount: npus,
      chunkCount: collective.chunkCount,
      oneSource,
      heterogeneous: slots.some((slot) => slot !== slots[0]),
    });
  };
  /** The same under all maps of the network onto itself, where there are some. */
  const foldedAttempts = (): Attempt[] => {
    const { network, ten } = variants[0] as (typeof variants)[number];
    const trial = trialOf(0);
    if (trial.policy.choice !== CHOICE.oldest || ten.useResource.length > 0) return [];
    const maps = foldingMaps({ ...network.routes, slotPs: ten.slotPs }, held, npus);
    if (maps === null) return [];
    const labels = [trial.name, `${maps.length / npus} symmetries`, network.label];
    return [async () => outcome(phase, network, await matched(ten, null, trial.policy, maps), labels)];
  };
  const invariant = all ? invariantAttempts(phase, variants, request, targetPs) : [];
  const large = all && collective.chunkCount * (npus - 1) >= FOLD_FROM;
  const first = large && invariant.length === 0 ? foldedAttempts() : invariant;
  const wanted = variants.map(() => undefined as Uint32Array | null | undefined);
  return (attempt: number): Attempt => {
    const k = attempt - first.length;
    if (k < 0) return first[attempt] as Attempt;
    const trial = trialOf(k);
    const variant = variants[trial.variant] as (typeof variants)[number];
    return async () => {
      if (wanted[trial.variant] === undefined) wanted[trial.variant] = wantedOf(variant);
      const { network, mode, ten } = variant;
      const found = await matched(ten, wanted[trial.variant] as Uint32Array | null, trial.policy, null);
      const kept = members === null ? found : pruned(found, network.routes, members, collective.chunkCount);
      const labels = [trial.name, network.label, mode === "members" ? "" : `relays: ${mode}`];
      return outcome(phase, network, kept, labels);
    };
  };
}
