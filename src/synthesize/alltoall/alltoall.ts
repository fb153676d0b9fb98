import { InputError } from "../../base/errors.ts";
import { lengthsBound } from "../../model/bounds/lengths.ts";
import type { Bound } from "../../model/bounds/witness.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { commonDivisor } from "../../model/numbers/integers.ts";
import { rational, toNumber } from "../../model/numbers/rational.ts";
import { PS_PER_SECOND } from "../../model/numbers/units.ts";
import { linkCount, type Topology } from "../../model/topology/topology.ts";
import type { Synthesis, SynthesisContext, SynthesisRequest, Synthesizer } from "../synthesizer.ts";
import { type AllToAllFlow, allToAllFlow } from "./flow.ts";
import { MOST_LP_COLUMNS } from "./flow-lp.ts";
import { demandMatrix, type Messages, messagesOf } from "./messages.ts";
import { unicastSchedule } from "./unicast-schedule.ts";

/** How far below the optimum flows may be. */
const GAP = 0.005;
/** More chunks must be so much faster. */
const WORTH_MORE = 0.99;
/** Most chunks per NPU, and messages in all, where the number is not asked for. */
const MOST_OWN_CHUNKS = 16;
const MOST_OWN_MESSAGES = 150_000;

/** What is to be sent in units of chunks, as flows know it. */
interface Demand {
  /** [npus * npus]; null: one unit from everyone to everyone. */
  readonly matrix: Float64Array | null;
  /** Chunks of one unit. */
  readonly unit: number;
}

function demandOf(messages: Messages, npuCount: number): Demand {
  const matrix = demandMatrix(messages, npuCount);
  const unit = commonDivisor(matrix);
  const isUniform = matrix.every((chunks, pair) => chunks === (pair % (npuCount + 1) === 0 ? 0 : unit));
  return { matrix: isUniform ? null : matrix.map((chunks) => chunks / unit), unit };
}

const known = new WeakMap<Topology, AllToAllFlow>();

/** Returns the flow of a demand; that of everyone to everyone is found once for a network, whatever the number of chunks. */
async function flowFor(
  topology: Topology,
  { matrix }: Demand,
  { runner, lp }: Pick<SynthesisContext, "runner" | "lp">,
): Promise<AllToAllFlow> {
  const before = matrix === null ? known.get(topology) : undefined;
  if (before !== undefined) return before;
  const solver = lp !== undefined && linkCount(topology) <= MOST_LP_COLUMNS ? await lp() : null;
  const flow = await allToAllFlow(topology, matrix, GAP, runner, solver);
  if (matrix === null) known.set(topology, flow);
  return flow;
}

/** Returns the bound that a flow's lengths prove of the collective. */
const boundBy = ({ lengths, bound }: AllToAllFlow, { unit }: Demand, { chunkBytes: { num, den } }: Collective): Bound =>
  lengthsBound(lengths, bound, rational(num * BigInt(unit), den));

/** Returns the bound that the flow of a collective proves; null where nothing is sent. Throws as allToAllFlow does. */
export async function flowBound(
  topology: Topology,
  collective: Collective,
  context: Pick<SynthesisContext, "runner" | "lp">,
): Promise<Bound | null> {
  const messages = messagesOf(collective, topology.npuCount);
  if (messages.chunk.length === 0) return null;
  const demand = demandOf(messages, topology.npuCount);
  return boundBy(await flowFor(topology, demand, context), demand, collective);
}

interface Task {
  readonly messages: Messages;
  readonly demand: Demand;
  /** null: there is nothing to send. */
  readonly flow: AllToAllFlow | null;
}

async function taskOf(request: SynthesisRequest, context: SynthesisContext): Promise<Task> {
  const { topology, collective, switchDegree } = request;
  if (switchDegree !== null && switchDegree !== "ports")
    throw new InputError("--switch-degree", '"ports", for flows share the ports of switches,', switchDegree);
  const messages = messagesOf(collective, topology.npuCount);
  const demand = demandOf(messages, topology.npuCount);
  const flow = messages.chunk.length === 0 ? null : await flowFor(topology, demand, context);
  return { messages, demand, flow };
}

async function synthesize(request: SynthesisRequest, context: SynthesisContext): Promise<Synthesis> {
  const { topology, collective, seed, trials } = request;
  const { messages, demand, flow } = await taskOf(request, context);
  const nowhere = new Float64Array(linkCount(topology));
  const flowOf = (source: number): Float64Array => flow?.flow(source).map((units) => units * demand.unit) ?? nowhere;
  const { schedule, fractionPs, busiestPs, tries } = await unicastSchedule(topology, collective, messages, flowOf, {
    seed,
    trials,
    runner: context.runner,
    progress: (done, total) => context.onProgress?.({ phase: "slots", done, total }),
  });
  if (flow === null) return { schedule, policy: "nothing to send", trials: 0 };
  const rounded = (busiestPs / fractionPs).toFixed(3);
  return {
    schedule,
    policy: `${flow.method}; whole chunks ${rounded} of the flow's busiest link`,
    trials: tries,
    limit: boundBy(flow, demand, collective),
  };
}

/**
 * Returns the number of chunks per NPU for which the time is least as far as the busiest link tells: so many whole chunks as
 * the flow has for it and one more, each with its latency.
 */
async function ownChunks(request: SynthesisRequest, context: SynthesisContext): Promise<number> {
  const { topology, collective } = request;
  const { messages, flow } = await taskOf(request, context);
  if (flow === null || collective.kind === "custom") return 1;
  const { linkBytesPerSecond, linkLatencyPs } = topology;
  const total = new Float64Array(linkCount(topology));
  for (let source = 0; source < topology.npuCount; source++) {
    if (messages.bySource[source] === messages.bySource[source + 1]) continue;
    const sent = flow.flow(source);
    for (let link = 0; link < total.length; link++) total[link] += sent[link];
  }
  const bytes = toNumber(collective.chunkBytes);
  const timeOf = (chunks: number): number =>
    total.reduce((most, units, link) => {
      const slotPs = linkLatencyPs[link] + ((bytes / chunks) * PS_PER_SECOND) / linkBytesPerSecond[link];
      return Math.max(most, units === 0 ? 0 : (units * chunks + 1) * slotPs);
    }, 0);
  let best = 1;
  for (let chunks = 2; chunks <= MOST_OWN_CHUNKS && messages.chunk.length * chunks <= MOST_OWN_MESSAGES; chunks *= 2) {
    if (timeOf(chunks) < WORTH_MORE * timeOf(best)) best = chunks;
  }
  return best;
}

/** All-to-all(v) along a maximum concurrent flow (Zhao 2026, A.1.5): flows to paths, paths to chunks, chunks to slots. */
export const mcf: Synthesizer = {
  name: "mcf",
  description: "all-to-all(v) along a maximum concurrent flow with a proved bound, one path per chunk",
  collectives: ["alltoall", "custom"],
  policies: [],
  heeds: ["trials", "switchDegree"],
  ownChunks,
  synthesize,
};
