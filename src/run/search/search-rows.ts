import { InputError } from "../../base/errors.ts";
import type { Engine } from "../../engine/types.ts";
import type { Construction } from "../../model/direct/construction.ts";
import { constructionText } from "../../model/direct/construction-text.ts";
import { networkOf } from "../../model/direct/digraph.ts";
import { diameter } from "../../model/direct/distances.ts";
import { graphOf } from "../../model/direct/graph-of.ts";
import {
  compare,
  divide,
  format,
  parseRational,
  type Rational,
  rational,
  toNumber,
} from "../../model/numbers/rational.ts";
import { constructionTopology } from "../../model/presets/construction.ts";
import { bySimplicity, type Candidate } from "../../synthesize/finder/candidate.ts";
import { meanDistances } from "../../synthesize/finder/mean-distances.ts";
import { allToAllOn } from "../all-to-all.ts";
import { synthesize } from "../pipeline.ts";

/** What is computed for single networks of a search: diameter, all-to-all, and whether the prediction holds. */

/** Breadth-first searches from all nodes may look at so many arcs. */
const MOST_VISITS = 2e8;

/** Returns the diameter of a candidate's graph; of very large ones what theorems say, which is never less. */
export function diameterOf(candidate: Candidate): number {
  const { nodes, degree, construction } = candidate;
  const searched = construction.kind === "family" ? 1 : nodes;
  return searched * nodes * degree <= MOST_VISITS ? diameter(graphOf(construction)) : candidate.diameter;
}

/** The all-to-all on links of bandwidth 1: f of (A.1), and what no flow beats. */
export interface RowFlow {
  readonly rate: string;
  readonly rateValue: number;
  readonly bound: string;
  readonly boundValue: number;
}

/** Links of the network that flows are found on. */
const LINK_BYTES_PER_SECOND = 1_000_000;
/** Flows are proved to be as near to the optimum as this; those that only tell which network to look at closely, this. */
const GAP = 0.01;
const COARSE_GAP = 0.05;

/** Returns the rate of an all-to-all on a construction, at most `gap` below the proved bound where the flow gets there. */
export async function rowFlow(
  engine: Engine,
  construction: Construction,
  signal: AbortSignal | undefined,
  gap = GAP,
): Promise<RowFlow> {
  const link = { bytesPerSecond: LINK_BYTES_PER_SECOND, latencyPs: 0 };
  const graph = graphOf(construction);
  const about = { shape: graph.translations ?? [] };
  const { topology } = networkOf(graph, constructionText(construction), link, about);
  const { rate, bound } = await allToAllOn(engine, topology, {
    gap,
    ...(signal === undefined ? {} : { signal }),
  });
  const ofOne = (value: Rational): Rational => divide(value, rational(LINK_BYTES_PER_SECOND));
  return {
    rate: format(ofOne(rate)),
    rateValue: toNumber(ofOne(rate)),
    bound: format(ofOne(bound)),
    boundValue: toNumber(ofOne(bound)),
  };
}

/** Flows that only tell which network to look at closely visit so many arcs a round in all, and are so many at most. */
const MOST_FLOW_VISITS = 5e7;
const MOST_COARSE = 12;
const MOST_FINE = 3;

export interface Flowing {
  readonly candidate: Candidate;
  readonly flow: RowFlow;
}

/**
 * Returns the network with the greatest rate of an all-to-all among candidates; null where none is above `least`. Those with the
 * least distances get a rough flow, the best of these a good one; none that its bound, or that of its distances, rules out.
 */
export async function bestForAllToAll(
  engine: Engine,
  candidates: readonly Candidate[],
  least: number,
  signal: AbortSignal | undefined,
  onProgress: (what: string) => void,
): Promise<Flowing | null> {
  const ranked = candidates
    .map((candidate) => ({
      candidate,
      most: candidate.degree / (meanDistances(candidate) ?? Number.POSITIVE_INFINITY),
    }))
    .sort((a, b) => b.most - a.most || bySimplicity(a.candidate, b.candidate));
  const solved = async (candidate: Candidate, gap: number): Promise<Flowing> => {
    onProgress(constructionText(candidate.construction));
    return { candidate, flow: await rowFlow(engine, candidate.construction, signal, gap) };
  };
  let reached = least;
  const rough: Flowing[] = [];
  for (const { candidate, most } of ranked) {
    const { nodes, degree } = candidate;
    const enough = Math.min(MOST_COARSE, Math.max(1, Math.floor(MOST_FLOW_VISITS / (nodes * nodes * degree))));
    if (most <= reached || rough.length === enough) break;
    rough.push(await solved(candidate, COARSE_GAP));
    reached = Math.max(reached, (rough.at(-1) as Flowing).flow.rateValue);
  }
  rough.sort((a, b) => b.flow.rateValue - a.flow.rateValue || bySimplicity(a.candidate, b.candidate));
  let best: Flowing | null = null;
  for (const { candidate, flow } of rough.slice(0, MOST_FINE)) {
    if (flow.boundValue <= (best?.flow.rateValue ?? least)) continue;
    const fine = await solved(candidate, GAP);
    if (fine.flow.rateValue > (best?.flow.rateValue ?? least)) best = fine;
  }
  return best;
}

/** What came of making and judging a row's all-gather. */
export interface RowVerdict {
  /** as predicted, or with less T_L or T_B; worse; or no schedule was made. */
  readonly outcome: "as predicted" | "better" | "worse" | "not made";
  readonly steps: number | null;
  readonly bandwidth: string | null;
  /** Why no schedule was made. */
  readonly reason: string | null;
}

/**
 * Returns how the all-gather of a row, made and judged like any other schedule, compares with its prediction: that of the
 * expansions, or, where it takes more, that of BFB on the same graph, by which some line graphs were evaluated. A schedule that
 * is wrong is an error of the pipeline.
 */
export async function rowVerdict(
  engine: Engine,
  candidate: Candidate,
  signal: AbortSignal | undefined,
): Promise<RowVerdict> {
  try {
    const expanded = await verdictOf(engine, candidate, "expansion", signal);
    return expanded.outcome === "worse" ? await verdictOf(engine, candidate, "bfb", signal) : expanded;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { outcome: "not made", steps: null, bandwidth: null, reason: error.message };
  }
}

async function verdictOf(
  engine: Engine,
  { construction, steps, bandwidth }: Candidate,
  policy: "expansion" | "bfb",
  signal: AbortSignal | undefined,
): Promise<RowVerdict> {
  const { report } = await synthesize(engine, constructionTopology(constructionText(construction)), {
    collective: "allgather",
    algorithm: "expand",
    policy,
    simulate: false,
    ...(signal === undefined ? {} : { signal }),
  });
  const { direct } = report;
  if (direct === undefined) return { outcome: "not made", steps: null, bandwidth: null, reason: "no comm steps" };
  const made = parseRational(direct.bandwidth) as Rational;
  const order = compare(made, bandwidth);
  const worse = direct.steps > steps || order > 0;
  const outcome = worse ? "worse" : direct.steps < steps || order < 0 ? "better" : "as predicted";
  return { outcome, steps: direct.steps, bandwidth: direct.bandwidth, reason: null };
}
