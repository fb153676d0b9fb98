import { CHOICE, type TenNetwork, type Transfers } from "../../engine/contract/kernels.ts";
import { disjointSets } from "../../model/graph/graph.ts";
import type { RouteSet } from "../../model/routes/routes.ts";
import { portsOf } from "../../model/slots/slot-schedule.ts";
import { portTranslation, translateAll, translatedRows } from "../../model/symmetry/translation.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { SynthesisContext, SynthesisRequest } from "../synthesizer.ts";
import { pruned } from "./assemble.ts";
import { choosersOf } from "./choosers.ts";
import {
  everyoneWantsAll,
  foldingMaps,
  holdingsOf,
  type RelayMode,
  spreadsAmongMembers,
  wantedBits,
  wantedWithPaths,
} from "./demand.ts";
import { type LaneProblem, type LaneSpread, spreadOverLanes } from "./invariant-events.ts";
import { invariantLabel, invariantLogs, invariantShare } from "./invariant-logs.ts";
import { type Phase, tenNetwork } from "./network.ts";
import { isSlotted, spreadLogs, transfersOfLogs } from "./slots.ts";
import { type Attempt, type MulticastTrial, multicastTrial, type Network, outcome } from "./trials.ts";

/** From this many deliveries on the symmetries of a network are looked for: before that a trial takes milliseconds. */
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
  const large = all && collective.chunkCount * (npus - 1) >= FOLD_FROM;
  const choosers =
    large && variants.length === 1 ? choosersOf((variants[0] as (typeof variants)[number]).ten, held) : null;
  /** Runs the kernel for slots where time moves in slots, else the event-driven one. */
  const matched = async (
    ten: TenNetwork,
    wantedRows: Uint32Array | null,
    { policy, who }: Pick<MulticastTrial, "policy" | "who">,
    maps: Int32Array | null,
  ): Promise<Transfers> => {
    const { chunkCount } = collective;
    const asked = { wanted: wantedRows, choosers: choosers?.of(who) ?? null, policy, maps };
    const demand = { chunkCount, heldOffset: held.offset, heldChunk: held.chunk, ...asked };
    if (!isSlotted(ten)) return context.runner.match({ network: ten, ...demand });
    const { npuCount, routeSource, routeTarget, slotPs } = ten;
    const logs = await spreadLogs(context.runner, { npuCount, routeSource, routeTarget, ...demand, folded: false });
    return transfersOfLogs(logs, ten, held.offset, slotPs[0]);
  };
  const trialOf = (k: number, tight = choosers !== null): MulticastTrial => {
    const slots = (variants[k % variants.length] as (typeof variants)[number]).network.times.slotPs;
    return multicastTrial(k, {
      seed: request.seed,
      wanted: request.policy,
      variants: variants.length,
      npuCount: npus,
      chunkCount: collective.chunkCount,
      oneSource,
      heterogeneous: slots.some((slot) => slot !== slots[0]),
      tight,
    });
  };
  /** The same under all maps of the network onto itself, where there are some. */
  const foldedAttempts = (): Attempt[] => {
    const { network, ten } = variants[0] as (typeof variants)[number];
    const trial = trialOf(0, false);
    if (trial.policy.choice !== CHOICE.oldest || ten.useResource.length > 0) return [];
    const maps = foldingMaps({ ...network.routes, slotPs: ten.slotPs }, held, npus);
    if (maps === null) return [];
    const labels = [trial.name, `${maps.length / npus} symmetries`, network.label];
    return [async () => outcome(phase, network, await matched(ten, null, trial, maps), labels)];
  };
  const invariant = all ? invariantAttempts(phase, variants, request, targetPs) : [];
  const first = large && invariant.length === 0 ? foldedAttempts() : invariant;
  const wanted = variants.map(() => undefined as Uint32Array | null | undefined);
  const attemptOf = (attempt: number): Attempt => {
    const k = attempt - first.length;
    if (k < 0) return first[attempt] as Attempt;
    const trial = trialOf(k);
    const variant = variants[trial.variant] as (typeof variants)[number];
    return async () => {
      if (wanted[trial.variant] === undefined) wanted[trial.variant] = wantedOf(variant);
      const { network, mode, ten } = variant;
      const found = await matched(ten, wanted[trial.variant] as Uint32Array | null, trial, null);
      const kept = members === null ? found : pruned(found, network.routes, members, collective.chunkCount);
      const labels = [trial.name, network.label, mode === "members" ? "" : `relays: ${mode}`];
      return outcome(phase, network, kept, labels);
    };
  };
  return (attempt: number): Attempt =>
    async () => {
      const found = await attemptOf(attempt)();
      if (attempt > 0 || choosers === null) return found;
      const { route, startPs, slotPs } = found.transfers;
      const { routeTarget } = (variants[0] as (typeof variants)[number]).ten;
      const endPs = new Float64Array(npus);
      for (let i = 0; i < route.length; i++) {
        endPs[routeTarget[route[i]]] = Math.max(endPs[routeTarget[route[i]]], startPs[i] + slotPs[route[i]]);
      }
      choosers.keepLate((npu) => endPs[npu], targetPs);
      return found;
    };
}

/** Above this many transfers, networks of several speeds are left to the kernels. */
const MOST_TRANSFERS = 1e6;

interface Variant {
  readonly network: Network;
  readonly ten: TenNetwork;
}

/**
 * Returns the attempts with an all-gather that is the same for every NPU, one for each of the networks that translations leave
 * as it is; `targetPs` is a bound on the time.
 */
function invariantAttempts(
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

/** Trials that must end by the target; then this many halvings of what is left, of this many trials each. */
const TRIALS_AT_TARGET = 16;
const HALVINGS = 8;
const TRIALS_PER_HALVING = 4;
/** Visits of elements that all trials together may take, beyond the first two. */
const MOST_WORK = 1e8;

/** An all-gather that is the same for every NPU, transfer by transfer. */
interface InvariantTransfers {
  /** In order of ends. */
  readonly chunk: Int32Array;
  readonly route: Int32Array;
  readonly startPs: Float64Array;
  readonly endPs: number;
  readonly trials: number;
}

/**
 * Returns an all-gather in which every NPU does the same, on a network whose routes are invariant under translations by
 * `sizes` (translation.ts), of any lengths, also where they share links; NPU v owns chunks v * chunksPerNpu onwards. Null
 * when the orbits that fit their links do not reach everyone.
 *
 * All translations of a route are used at once: through a switch that is a rotation, which fills every port in both
 * directions. So one NPU is synthesized (spreadOverLanes). Trials may not end after a limit: first none, then `targetPs` (a
 * lower bound), then by halving the gap that is left. Beyond the TACOS papers. O(transfers) for the result.
 */
export function invariantTransfers(
  topology: Topology,
  routes: RouteSet,
  network: TenNetwork,
  sizes: readonly number[],
  chunksPerNpu: number,
  options: { readonly seed: number; readonly targetPs: number; readonly trials?: number | null },
): InvariantTransfers | null {
  const orbits = orbitsOf(topology, routes, network, sizes);
  if (orbits === null) return null;
  const { lanes, kept, laneOf, slotPs } = lanesOf(network, orbits);
  const { npuCount } = network;
  const shifted = new Int32Array(kept.length * npuCount);
  kept.forEach((orbit, i) => {
    translateAll(sizes, routes.source[orbit[0]], shifted.subarray(i * npuCount, (i + 1) * npuCount));
  });
  const problem = { npuCount, chunksPerNpu, lanes, laneOf, slotPs, shifted };
  const affordable = 2 + Math.floor(MOST_WORK / (npuCount * chunksPerNpu * (kept.length + 16 * lanes)));
  const searched = search(problem, options, options.trials ?? affordable);
  if (searched === null) return null;
  return { ...everywhere(searched.best, kept, sizes, chunksPerNpu), ...searched };
}

/** Returns the shortest spread that the trials find; the first that ends by the target ends the search. */
function search(
  problem: LaneProblem,
  { seed, targetPs }: { readonly seed: number; readonly targetPs: number },
  most: number,
): { best: LaneSpread; endPs: number; trials: number } | null {
  let trials = 1;
  let best = spreadOverLanes(problem, seed, Number.POSITIVE_INFINITY);
  if (best === null) return null;
  const improve = (limitPs: number, tries: number): boolean => {
    for (let i = 0; i < tries && trials < most; i++) {
      const found = spreadOverLanes(problem, (seed + trials++) >>> 0, limitPs);
      if (found === null) continue;
      best = found;
      return true;
    }
    return false;
  };
  if (best.endPs > targetPs && !improve(targetPs, TRIALS_AT_TARGET)) {
    let failedPs = targetPs;
    for (let halving = 0; halving < HALVINGS && trials < most; halving++) {
      const limitPs = Math.floor((failedPs + best.endPs) / 2);
      if (limitPs <= failedPs || !improve(limitPs, TRIALS_PER_HALVING)) failedPs = limitPs;
    }
  }
  return { best, endPs: best.endPs, trials };
}

/** Returns for each port of NPU 0 its route and the translations of it: [v] is the one into NPU v. */
function orbitsOf(
  topology: Topology,
  routes: RouteSet,
  { npuCount }: TenNetwork,
  sizes: readonly number[],
): Int32Array[] | null {
  const translation = portTranslation(topology, routes, sizes);
  if (translation === null) return null;
  const { offset, items } = portsOf(routes, npuCount);
  const orbits = Array.from({ length: translation.ports }, () => new Int32Array(npuCount));
  const port = new Int32Array(translation.ports);
  for (let v = 0; v < npuCount; v++) {
    if (!translation.portsAt(v, port)) return null;
    for (let p = 0; p < orbits.length; p++) orbits[p][v] = items[offset[v] + port[p]];
  }
  return orbits;
}

/** Returns the orbits whose routes can all be used at once, those with a link in common on one lane. O(route links). */
function lanesOf(network: TenNetwork, orbits: readonly Int32Array[]) {
  const { useOffset, useResource, useUnits, capacity } = network;
  const load = new Float64Array(capacity.length);
  const kept = orbits.filter((orbit) => {
    let fits = true;
    for (const route of orbit) {
      for (let i = useOffset[route]; i < useOffset[route + 1]; i++) {
        load[useResource[i]] += useUnits[i];
        if (load[useResource[i]] > capacity[useResource[i]]) fits = false;
      }
    }
    for (const route of orbit) for (let i = useOffset[route]; i < useOffset[route + 1]; i++) load[useResource[i]] = 0;
    return fits;
  });
  const shared = disjointSets(capacity.length);
  const firstResource = kept.map((orbit) => {
    let first = -1;
    for (const route of orbit) {
      for (let i = useOffset[route]; i < useOffset[route + 1]; i++) {
        if (first < 0) first = useResource[i];
        else shared.join(first, useResource[i]);
      }
    }
    return first;
  });
  const numbered = new Map<number, number>();
  let lanes = 0;
  const laneOf = Int32Array.from(firstResource, (resource) => {
    if (resource < 0) return lanes++;
    const lane = numbered.get(shared.least(resource)) ?? lanes++;
    numbered.set(shared.least(resource), lane);
    return lane;
  });
  return { lanes, kept, laneOf, slotPs: Float64Array.from(kept, (orbit) => network.slotPs[orbit[0]]) };
}

/** Returns the transfers into all NPUs. */
function everywhere(
  { element, orbit, startPs }: LaneSpread,
  orbits: readonly Int32Array[],
  sizes: readonly number[],
  chunksPerNpu: number,
): Pick<InvariantTransfers, "chunk" | "route" | "startPs"> {
  const npus = sizes.reduce((product, size) => product * size, 1);
  const rows = element.length * npus;
  const all = { chunk: new Int32Array(rows), route: new Int32Array(rows), startPs: new Float64Array(rows) };
  const image = new Int32Array(npus);
  for (let i = 0, row = 0; i < element.length; i++) {
    translateAll(sizes, Math.floor(element[i] / chunksPerNpu), image);
    for (let v = 0; v < npus; v++, row++) {
      all.chunk[row] = image[v] * chunksPerNpu + (element[i] % chunksPerNpu);
      all.route[row] = orbits[orbit[i]][v];
      all.startPs[row] = startPs[i];
    }
  }
  return all;
}
