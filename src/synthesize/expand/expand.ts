import { InputError } from "../../base/errors.ts";
import { type CommRun, commCollective, directionsOf, refuseListing } from "../../model/comm/collective.ts";
import { type CommSchedule, type CommTimes, commTimes, degreeOf, timesOfLoads } from "../../model/comm/schedule.ts";
import { constructionText, graphOf } from "../../model/direct/construction.ts";
import { type Digraph, linksOfArcs, transposedArcs } from "../../model/direct/digraph.ts";
import { type DirectLink, directFacts, predictedUs } from "../../model/direct/facts.ts";
import { type Base, innermost, predict } from "../../model/direct/predict.ts";
import { commonValue } from "../../model/graph/graph.ts";
import { lcm } from "../../model/numbers/integers.ts";
import { ceil, compare, format, multiply, type Rational, rational } from "../../model/numbers/rational.ts";
import { constructionOf } from "../../model/presets/construction.ts";
import { affordableParts, bestParts, groupRefusal, passesOf, refuseGroups, refuseParts } from "../bfb/broadcast.ts";
import type { Synthesis, SynthesisContext, SynthesisRequest, Synthesizer } from "../synthesizer.ts";
import { type Bases, basesOf, granularity, graphOfBase, ownParts, refuseRows } from "./bases.ts";
import { gatherOf } from "./gather.ts";

/** `expansion`: what the theorems give; `bfb`: breadth-first broadcast on the same graph. */
type Policy = "expansion" | "bfb";
const POLICIES: readonly Policy[] = ["expansion", "bfb"];

/** An all-gather that is wanted: on the graph of a construction or of its transpose, for links and a size. */
interface Side {
  readonly base: Base;
  readonly link: DirectLink;
  readonly sizeBytes: number;
  /** null: whichever takes less, T_L + T_B. */
  readonly policy: Policy | null;
}

interface Chosen {
  readonly schedule: CommSchedule;
  readonly times: CommTimes;
  readonly words: string;
}

/** Whether the construction is a graph whose schedule BFB makes anyhow. */
const isBroadcast = (base: Base, bases: Bases): boolean =>
  (base.construction.kind === "family" || base.construction.kind === "product") && bases.tabulated(base) === null;

/** Returns how long the times are for the side's links and size. */
const usOf = (side: Side, graph: Digraph, times: CommTimes): Rational =>
  predictedUs(times, degreeOf(graph), side.link, side.sizeBytes);

/** Returns the times of BFB with this many parts: the busiest arc of a step carries its load rounded up (Zhao 2026, A.11). */
async function broadcastTimes(base: Base, parts: number | null, bases: Bases): Promise<CommTimes> {
  const loads = await bases.loads(base);
  const whole = (load: Rational): Rational =>
    parts === null ? load : rational(ceil(multiply(load, rational(parts))), BigInt(parts));
  return timesOfLoads(graphOfBase(base), loads.map(whole));
}

/** Returns the parts of a shard with which the side does best, by the times that theorems predict; `most` where possible. */
async function partsOf(side: Side, bases: Bases, most: number): Promise<number> {
  const { base, policy } = side;
  const broadcast = async (): Promise<number> => bestParts(await bases.loads(base), most);
  if (isBroadcast(base, bases) || policy === "bfb") return broadcast();
  if (policy === "expansion") return ownParts(base, bases, most);
  const graph = graphOfBase(base);
  const [ofBroadcast, ofExpansion] = [await broadcastTimes(base, null, bases), await predictedTimes(base, bases)];
  const isFaster = compare(usOf(side, graph, ofBroadcast), usOf(side, graph, ofExpansion)) < 0;
  return isFaster ? broadcast() : ownParts(base, bases, most);
}

/** Returns the times of the expansions, shards cut anywhere. */
async function predictedTimes(base: Base, bases: Bases): Promise<CommTimes> {
  const inner = innermost(base);
  const graph = graphOfBase(inner);
  const tabulated = bases.tabulated(inner);
  const times = tabulated === null ? await broadcastTimes(inner, null, bases) : commTimes(tabulated);
  return predict(base.construction, { nodes: graph.nodes, degree: degreeOf(graph), ...times });
}

/** Returns the all-gather with this many parts of a shard. Throws as gatherOf, the network being too large for its rows included. */
async function chosen(side: Side, parts: number, bases: Bases): Promise<Chosen> {
  const { base, policy } = side;
  const broadcast = async (): Promise<Chosen> =>
    described(await bases.broadcast(base, parts), "breadth-first broadcast");
  if (isBroadcast(base, bases) || policy === "bfb") return broadcast();
  if (policy === null && parts % granularity(base, bases) !== 0) return broadcast();
  const expanded = described(await gatherOf(base, parts, bases), "expansion");
  if (policy === "expansion") return expanded;
  const { graph } = expanded.schedule;
  const other = await broadcastTimes(base, parts, bases);
  const isFaster = compare(usOf(side, graph, other), usOf(side, graph, expanded.times)) < 0;
  const best = isFaster ? await broadcast() : expanded;
  const [left, its] = isFaster ? ["the expansion", expanded.times] : ["breadth-first broadcast", other];
  return { ...best, words: `${best.words}, faster here than ${left} (${timesText(its)})` };
}

function described(schedule: CommSchedule, how: string): Chosen {
  return { schedule, times: commTimes(schedule), words: how };
}

const timesText = ({ steps, bandwidth }: CommTimes): string => `${steps} steps, T_B ${format(bandwidth)} M/B`;

const CONSTRUCTED = 'a network given by its construction, such as "L3(C(16,{3,4}))"';

/** What a request asks for. */
interface Plan {
  readonly name: string;
  readonly graph: Digraph;
  /** The all-gather on the network, and the one on its transpose that turns into a reduce-scatter; null: not needed. */
  readonly forward: Side | null;
  readonly backward: Side | null;
}

/** Throws InputError for networks that are no constructions or too large, and for groups. */
function planOf({ topology, collective, policy }: SynthesisRequest): Plan {
  const construction = constructionOf(topology);
  const bytesPerSecond = commonValue(topology.linkBytesPerSecond);
  const latencyPs = commonValue(topology.linkLatencyPs);
  if (construction === null || bytesPerSecond === null || latencyPs === null) {
    throw new InputError("expand", `${CONSTRUCTED} (bfb takes any network of direct links),`, topology.name);
  }
  refuseGroups("expand", { topology, collective });
  const graph = graphOf(construction);
  if (graph.translations === null) refuseRows(graph.nodes * (graph.nodes - 1));
  refuseListing("expand", topology, collective);
  const needed = directionsOf(topology, collective);
  const side = (turned: boolean): Side => ({
    base: { construction, turned },
    link: { bytesPerSecond, latencyPs },
    sizeBytes: collective.sizeBytes,
    policy: policy as Policy | null,
  });
  return {
    name: constructionText(construction),
    graph,
    forward: needed.forward ? side(false) : null,
    backward: needed.backward ? side(true) : null,
  };
}

/** Returns the parts of a shard that suit all that the collective is made of, if transfers stay few enough. */
async function ownChunks(request: SynthesisRequest, { runner }: SynthesisContext): Promise<number> {
  const bases = basesOf(runner.balance);
  const { forward, backward } = planOf(request);
  const most = affordableParts(request);
  let parts = 1;
  for (const side of [backward, forward]) if (side !== null) parts = lcm(parts, await partsOf(side, bases, most));
  return parts;
}

async function synthesize(request: SynthesisRequest, { runner }: SynthesisContext): Promise<Synthesis> {
  const { topology, collective } = request;
  const parts = collective.chunksPerNpu;
  refuseParts("expand", collective);
  const { name, graph, ...sides } = planOf(request);
  const bases = basesOf(runner.balance);
  const made = async (side: Side | null): Promise<Chosen | null> => (side === null ? null : chosen(side, parts, bases));
  const backward = await made(sides.backward);
  const forward = await made(sides.forward);
  const links = linksOfArcs(graph);
  const runOf = (one: Chosen | null, linkOfArc: Int32Array): Omit<CommRun, "backward"> | null =>
    one === null ? null : { schedule: one.schedule, linkOfArc };
  const runs = {
    forward: runOf(forward, links),
    backward: runOf(
      backward,
      transposedArcs(graph).map((arc) => links[arc]),
    ),
  };
  const used = [backward, forward].filter((one) => one !== null);
  const times = passesOf(
    collective,
    used.map((one) => one.times),
  );
  const link = (sides.forward ?? sides.backward)?.link as Side["link"];
  const words = [...new Set(used.map((one) => one.words))].join("; backwards ");
  return {
    schedule: commCollective(topology, collective, runs),
    policy: `${words} of ${name}, shards in ${parts} ${parts === 1 ? "part" : "parts"}`,
    trials: used.length,
    direct: directFacts(graph, times, link, collective.sizeBytes),
  };
}

/** The schedule that comes with a construction: its expansions applied to the schedule of what they start with (Zhao 2026, 3.5). */
export const expand: Synthesizer = {
  name: "expand",
  makes: "steps",
  description: "the schedule of a network's construction: expansions of base schedules (Zhao 2026)",
  collectives: ["allgather", "reducescatter", "allreduce"],
  policies: POLICIES,
  makesLogs: true,
  traits: { promising: 5 },
  refuses: (topology, collective) =>
    constructionOf(topology) === null ? CONSTRUCTED : groupRefusal({ topology, collective }),
  ownChunks,
  synthesize,
};
