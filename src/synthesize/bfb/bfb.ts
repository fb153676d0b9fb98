import { InputError, inWords } from "../../base/errors.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { commCollective, directionsOf, refuseListing } from "../../model/comm/collective.ts";
import { type CommSchedule, commTimes, directNetworkOf } from "../../model/comm/schedule.ts";
import { arcCount, type DirectNetwork } from "../../model/direct/digraph.ts";
import { directFacts } from "../../model/direct/facts.ts";
import { commonValue } from "../../model/graph/graph.ts";
import { add, compare, multiply, type Rational, rational, toNumber } from "../../model/numbers/rational.ts";
import { toUs } from "../../model/numbers/units.ts";
import { reversed, switchCount } from "../../model/topology/topology.ts";
import type { Synthesis, SynthesisContext, SynthesisRequest, Synthesizer } from "../synthesizer.ts";
import {
  affordableParts,
  bestParts,
  bfbLoads,
  bfbSchedule,
  groupRefusal,
  MOST_LOGGED,
  passesOf,
  refuseGroups,
  refuseParts,
} from "./broadcast.ts";
import { unevenBroadcast } from "./uneven.ts";

/** Transfers that parts of shards may lead to where the user does not say how many, and one log stands for all. */
const MOST_SYMMETRIC = 4e9;
/** Shards that nodes may receive altogether where none stands for the others. */
const MOST_SHARDS = 1.5e8;
/** Sets of ports over unequal links are found for this many pairs of node and arc. */
const MOST_UNEVEN = 2e7;
/** Parts of a shard that are tried over unequal links. */
const UNEVEN_PARTS = [1, 2, 3, 4, 6, 8, 12, 16];

const DIRECT = "a network of direct links between NPUs, without switches";

/** The networks on which a collective needs an all-gather: this one, and the one with every link turned around. */
interface Networks {
  readonly forward: DirectNetwork | null;
  readonly backward: DirectNetwork | null;
  /** All links have the same bandwidth and latency. */
  readonly even: boolean;
}

/** Throws InputError for what breadth-first broadcast does not do. */
function networksOf({ topology, collective }: Pick<SynthesisRequest, "topology" | "collective">): Networks {
  const network = directNetworkOf(topology);
  if (network === null) {
    throw new InputError("bfb", `${DIRECT},`, inWords(`${topology.name}, which has switches`));
  }
  refuseGroups("bfb", { topology, collective });
  const even = commonValue(topology.linkBytesPerSecond) !== null && commonValue(topology.linkLatencyPs) !== null;
  const { nodes, translations } = network.graph;
  const pairs = (translations === null ? nodes : 1) * arcCount(network.graph);
  if (!even && pairs > MOST_UNEVEN) {
    const few = `links of one bandwidth and latency, or so few that NPUs times links is at most ${MOST_UNEVEN},`;
    throw new InputError("bfb", few, inWords(`${nodes} NPUs and ${arcCount(network.graph)} links`));
  }
  if (translations === null && nodes * nodes > MOST_SHARDS) {
    const fewer = `at most ${Math.floor(Math.sqrt(MOST_SHARDS))} NPUs, or a network that translations leave as it is,`;
    throw new InputError("bfb", fewer, inWords(`${nodes} NPUs`));
  }
  refuseListing("bfb", topology, collective);
  const { forward, backward } = directionsOf(topology, collective);
  return {
    forward: forward ? network : null,
    backward: backward ? directNetworkOf(reversed(topology)) : null,
    even,
  };
}

const both = ({ forward, backward }: Networks): DirectNetwork[] =>
  [backward, forward].filter((network) => network !== null);

const shardBytes = ({ chunkBytes, chunksPerNpu }: Collective): Rational => multiply(chunkBytes, rational(chunksPerNpu));

/** Returns the parts of a shard of the optimal schedule; fewer where there would be too many transfers (A.5.2). */
async function ownChunks(request: SynthesisRequest, { runner }: SynthesisContext): Promise<number> {
  const networks = networksOf(request);
  const { collective } = request;
  const isSymmetric = both(networks).every(({ graph }) => graph.translations !== null);
  const affordable = affordableParts(request, isSymmetric ? MOST_SYMMETRIC : MOST_LOGGED);
  if (networks.even) {
    const loads: Rational[] = [];
    for (const { graph } of both(networks)) loads.push(...(await bfbLoads(graph, runner.balance)));
    return bestParts(loads, affordable);
  }
  const broadcasts = both(networks).map((network) => unevenBroadcast(network, shardBytes(collective)));
  const psOf = (parts: number | null): Rational => broadcasts.map((one) => one.psOf(parts)).reduce(add);
  const least = psOf(null);
  let best = 1;
  let bestPs: Rational | null = null;
  for (const parts of UNEVEN_PARTS) {
    if (parts > affordable || (bestPs !== null && compare(bestPs, least) === 0)) break;
    const ps = psOf(parts);
    if (bestPs === null || compare(ps, bestPs) < 0) [best, bestPs] = [parts, ps];
  }
  return best;
}

/** An all-gather on one of the networks. */
interface Broadcast extends DirectNetwork {
  readonly schedule: CommSchedule;
  /** Over unequal links: how long its comm steps take, and would take were shards cut anywhere. */
  readonly uneven: { readonly ps: Rational; readonly leastPs: Rational } | null;
}

async function broadcastOn(
  network: DirectNetwork,
  even: boolean,
  collective: Collective,
  { runner }: SynthesisContext,
): Promise<Broadcast> {
  const parts = collective.chunksPerNpu;
  if (even) return { ...network, schedule: await bfbSchedule(network.graph, parts, runner.balance), uneven: null };
  const { psOf, schedule } = unevenBroadcast(network, shardBytes(collective));
  const found = schedule(parts);
  return { ...network, schedule: found.schedule, uneven: { ps: found.ps, leastPs: psOf(null) } };
}

/** Returns how the runs were made, in words. */
function policyOf(runs: readonly Broadcast[], parts: number): string {
  const whose = runs.every(({ schedule }) => schedule.symmetry !== null) ? "one NPU for all" : "every NPU for itself";
  const cut = parts === 1 ? "whole shards" : `shards in ${parts} parts`;
  const uneven = runs.flatMap(({ uneven }) => {
    if (uneven === null) return [];
    const [us, least] = [uneven.ps, uneven.leastPs].map((ps) => toUs(toNumber(ps)).toFixed(3));
    return [`comm steps take ${us} us (${least} were shards cut anywhere)`];
  });
  return [`breadth-first, ${whose}, ${cut}`, ...new Set(uneven)].join("; ");
}

async function synthesize(request: SynthesisRequest, context: SynthesisContext): Promise<Synthesis> {
  const { topology, collective } = request;
  const { chunksPerNpu } = collective;
  refuseParts("bfb", collective);
  const networks = networksOf(request);
  const run = async (network: DirectNetwork | null): Promise<Broadcast | null> =>
    network === null ? null : broadcastOn(network, networks.even, collective, context);
  const backward = await run(networks.backward);
  const forward = await run(networks.forward);
  const runs = [backward, forward].filter((one) => one !== null);
  const found = {
    schedule: commCollective(topology, collective, { forward, backward }),
    policy: policyOf(runs, chunksPerNpu),
    trials: 1,
  };
  if (!networks.even) return found;
  const times = runs.map(({ schedule }) => commTimes(schedule));
  const link = { bytesPerSecond: topology.linkBytesPerSecond[0], latencyPs: topology.linkLatencyPs[0] };
  const [{ graph }] = runs as [Broadcast];
  return { ...found, direct: directFacts(graph, passesOf(collective, times), link, collective.sizeBytes) };
}

/** Breadth-first broadcast with balanced links (Zhao 2026, 3.6): for networks of direct links. */
export const bfb: Synthesizer = {
  name: "bfb",
  makes: "steps",
  description: "breadth-first broadcast with balanced links, on networks of direct links (Zhao 2026)",
  collectives: ["allgather", "reducescatter", "allreduce"],
  policies: [],
  makesLogs: true,
  traits: { promising: 4 },
  refuses: (topology, collective) => (switchCount(topology) > 0 ? DIRECT : groupRefusal({ topology, collective })),
  ownChunks,
  synthesize,
};
