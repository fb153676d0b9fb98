import type { CommSchedule } from "../../model/comm/schedule.ts";
import { type CommTimes, commTimes, degreeOf, timesOfLoads } from "../../model/comm/times.ts";
import type { Digraph } from "../../model/direct/digraph.ts";
import { type DirectLink, predictedUs } from "../../model/direct/facts.ts";
import { type Base, innermost, predict } from "../../model/direct/predict.ts";
import { ceil, compare, format, multiply, type Rational, rational } from "../../model/numbers/rational.ts";
import { bestParts } from "../bfb/parts.ts";
import { type Bases, graphOfBase } from "./bases.ts";
import { gatherOf } from "./gather.ts";
import { granularity, ownParts } from "./parts.ts";

/** `expansion`: what the theorems give; `bfb`: breadth-first broadcast on the same graph. */
export type Policy = "expansion" | "bfb";
export const POLICIES: readonly Policy[] = ["expansion", "bfb"];

/** An all-gather that is wanted: on the graph of a construction or of its transpose, for links and a size. */
export interface Side {
  readonly base: Base;
  readonly link: DirectLink;
  readonly sizeBytes: number;
  /** null: whichever takes less, T_L + T_B. */
  readonly policy: Policy | null;
}

export interface Chosen {
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

/** Returns the times of BFB with so many parts: the busiest arc of a step carries its load rounded up (Zhao 2026, A.11). */
async function broadcastTimes(base: Base, parts: number | null, bases: Bases): Promise<CommTimes> {
  const loads = await bases.loads(base);
  const whole = (load: Rational): Rational =>
    parts === null ? load : rational(ceil(multiply(load, rational(parts))), BigInt(parts));
  return timesOfLoads(graphOfBase(base), loads.map(whole));
}

/** Returns the parts of a shard with which the side does best, by the times that theorems predict; `most` where possible. */
export async function partsOf(side: Side, bases: Bases, most: number): Promise<number> {
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

/** Returns the all-gather with so many parts of a shard. Throws as gatherOf, the network being too large for its rows included. */
export async function chosen(side: Side, parts: number, bases: Bases): Promise<Chosen> {
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
