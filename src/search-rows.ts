import { allToAllOn } from "./all-to-all.ts";
import type { Engine } from "./engine/types.ts";
import { InputError } from "./errors.ts";
import type { Construction } from "./model/direct/construction.ts";
import { constructionText } from "./model/direct/construction-text.ts";
import { networkOf } from "./model/direct/digraph.ts";
import { diameter } from "./model/direct/distances.ts";
import { graphOf } from "./model/direct/graph-of.ts";
import { constructionTopology } from "./model/presets/construction.ts";
import { compare, divide, format, parseRational, type Rational, rational, toNumber } from "./model/rational.ts";
import { synthesize } from "./pipeline.ts";
import type { Candidate } from "./synthesize/finder/candidate.ts";

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
/** Flows are proved to be as near to the optimum as this. */
const GAP = 0.01;

/** Returns the rate of an all-to-all on a construction, at most 1 % below the proved bound. */
export async function rowFlow(
  engine: Engine,
  construction: Construction,
  signal: AbortSignal | undefined,
): Promise<RowFlow> {
  const link = { bytesPerSecond: LINK_BYTES_PER_SECOND, latencyPs: 0 };
  const graph = graphOf(construction);
  const about = { shape: graph.translations ?? [] };
  const { topology } = networkOf(graph, constructionText(construction), link, about);
  const { rate, bound } = await allToAllOn(engine, topology, {
    gap: GAP,
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
 * Returns how the all-gather of a row, made and judged like any other schedule, compares with its prediction. A schedule that is
 * wrong is an error of the pipeline.
 */
export async function rowVerdict(
  engine: Engine,
  { construction, steps, bandwidth }: Candidate,
  signal: AbortSignal | undefined,
): Promise<RowVerdict> {
  try {
    const { report } = await synthesize(engine, constructionTopology(constructionText(construction)), {
      collective: "allgather",
      algorithm: "expand",
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
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { outcome: "not made", steps: null, bandwidth: null, reason: error.message };
  }
}
