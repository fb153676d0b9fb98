import { InputError } from "../../base/errors.ts";
import type { RelayProblem } from "../../engine/contract/kernels.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { reversedRoutes } from "../../model/routes/routes.ts";
import type { SynthesisContext, SynthesisRequest } from "../synthesizer.ts";
import { endOf } from "./assemble.ts";
import { type Attempt, type Network, outcome } from "./attempt.ts";
import { allTimes, serviceOrder } from "./distances.ts";
import { tenNetwork } from "./network.ts";
import type { Phase } from "./phases.ts";
import { unicastTrial } from "./trials.ts";

/** The kernel keeps a distance, an order and a queue for every pair of NPUs: 24 bytes. */
const MOST_NPUS = 6000;

/** Returns the attempt for trial k of a phase in which every chunk has one source and one target. */
export function unicastAttempts(
  phase: Phase,
  networks: readonly Network[],
  request: SynthesisRequest,
  context: SynthesisContext,
) {
  const { collective } = phase;
  const npus = request.topology.npuCount;
  if (npus > MOST_NPUS) {
    throw new InputError("the topology", `at most ${MOST_NPUS} NPUs for a gather, scatter or all-to-all`, npus);
  }
  const single = (placement: Collective["pre"]): Int32Array => (placement as { npu: Int32Array }).npu;
  const source = single(collective.pre);
  const target = single(collective.post);
  const bothWays = collective.kind === "custom" && !phase.reversed && !isFan(source) && !isFan(target);
  const variants = networks.flatMap((network) =>
    (bothWays ? [false, true] : [false]).map((turned) => ({ network, turned })),
  );
  const prepared = variants.map(
    () => null as null | { problem: Omit<RelayProblem, "order" | "seed">; demand: Float64Array },
  );
  const orders = new Map<string, Int32Array>();
  const prepare = (index: number) => {
    const { network, turned } = variants[index] as (typeof variants)[number];
    const routes = turned ? reversedRoutes(network.routes) : network.routes;
    const { timePs: distancePs, hops } = allTimes(routes, network.times.slotPs, npus);
    const [from, to] = turned ? [target, source] : [source, target];
    const demand = new Float64Array(npus * npus);
    let maxTransfers = from.length;
    for (let c = 0; c < from.length; c++) {
      demand[from[c] * npus + to[c]]++;
      maxTransfers += hops[from[c] * npus + to[c]];
    }
    const ten = tenNetwork(request.topology, routes, network.times);
    return { problem: { network: ten, chunkSource: from, chunkTarget: to, distancePs, maxTransfers }, demand };
  };
  return (k: number): Attempt => {
    const trial = unicastTrial(k, request.seed, request.policy, variants.length);
    return async () => {
      const { network, turned } = variants[trial.variant] as (typeof variants)[number];
      const routes = turned ? reversedRoutes(network.routes) : network.routes;
      prepared[trial.variant] ??= prepare(trial.variant);
      const { problem, demand } = prepared[trial.variant] as ReturnType<typeof prepare>;
      const key = `${trial.variant}:${trial.order}`;
      let order = orders.get(key);
      if (order === undefined) {
        order = serviceOrder(trial.order, routes, network.times.slotPs, problem.distancePs, demand);
        orders.set(key, order);
      }
      let room = problem.maxTransfers;
      let found = await context.runner.relay({ ...problem, order, seed: trial.seed });
      while (found === null) {
        room *= 2;
        found = await context.runner.relay({ ...problem, maxTransfers: room, order, seed: trial.seed });
      }
      const labels = [trial.name, network.label, turned ? "time-reversed" : ""];
      return outcome(phase, network, turned ? turnedBack(found, network.times.slotPs) : found, labels);
    };
  };
}

/** Returns whether all chunks meet in one NPU. */
const isFan = (npus: Int32Array): boolean => npus.every((npu) => npu === npus[0]);

/** Returns the transfers of the reversed network run backwards in time, in order of their ends. */
function turnedBack(found: { chunk: Int32Array; route: Int32Array; startPs: Float64Array }, slotPs: Float64Array) {
  const end = endOf({ ...found, slotPs });
  const count = found.chunk.length;
  const startPs = new Float64Array(count);
  for (let i = 0; i < count; i++) startPs[i] = end - found.startPs[i] - slotPs[found.route[i]];
  return { chunk: found.chunk, route: found.route, startPs };
}
