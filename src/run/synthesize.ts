import { InputError } from "../base/errors.ts";
import { optionName } from "../base/option-names.ts";
import type { Engine } from "../engine/types.ts";
import type { Verdict } from "../kinds/kind.ts";
import { kindOf } from "../kinds/kinds.ts";
import { COLLECTIVE_KINDS } from "../model/collective/collective.ts";
import type { AnySchedule } from "../model/steps/schedule.ts";
import type { Topology } from "../model/topology/topology.ts";
import { withBounds } from "../report/chain.ts";
import type { Report } from "../report/result.ts";
import { refuseUntaken, withSketchSize } from "../request/maker-options.ts";
import { checkOptions, type SynthesizeOptions } from "../request/options.ts";
import { blameSize } from "../request/problem.ts";
import { type Algorithm, AUTO, algorithmNamed, checkPolicy, USUAL_ALGORITHM } from "../synthesize/catalog.ts";
import { synthesizeBest } from "./auto/auto.ts";
import { refuseInapplicable } from "./auto/candidates.ts";
import { limitsBy } from "./bottleneck.ts";
import { judgeBy } from "./judge.ts";
import { type MadePhases, makePhases } from "./make/phases.ts";
import { makeSteps } from "./make/steps.ts";
import { makeTrees } from "./make/trees.ts";
import { boundsOf, type Made, reportOnMade } from "./report-on.ts";

export interface SynthesizeResult {
  /**
   * Large ones in which everyone gets everything are kept as arrival logs (expandSlots lists their transfers); algorithms that
   * pack trees give tree flows (stepsOfTrees lists their transfers), those that make phases within dimensions give phases where
   * these have too many transfers (stepsOfPhases lists them).
   */
  readonly schedule: AnySchedule;
  readonly report: Report;
  /** The algorithm's policy left something out that could make it better. */
  readonly couldBeBetter?: boolean;
}

/** Throws InputError for a collective that the algorithm does not make. */
function refuseCollective({ name, collectives }: Algorithm, { collective }: SynthesizeOptions): void {
  const kind = typeof collective === "string" ? collective : collective.kind;
  // a name that nobody knows is left to problemOf, which says what was meant
  const isKnown = typeof collective !== "string" || COLLECTIVE_KINDS.some((known) => known === kind);
  if (!isKnown || collectives.includes(kind)) return;
  throw new InputError(optionName("collective"), `one that ${name} makes (${collectives.join(", ")})`, kind).as(
    "not-applicable",
  );
}

/** Returns what the maker makes, by what it makes. */
function madeBy(
  engine: Engine,
  topology: Topology,
  options: SynthesizeOptions,
  maker: Algorithm,
  asked: SynthesizeOptions,
): Promise<Made<AnySchedule> & Pick<MadePhases, "ofPhases">> {
  switch (maker.makes) {
    case "steps":
      return makeSteps(engine, topology, options, maker, asked);
    case "trees":
      return makeTrees(engine, topology, options, maker);
    case "phases":
      return makePhases(engine, topology, options, maker);
  }
}

/**
 * Returns a schedule for a collective on a network, with its report: synthesized, verified by the independent judge of its
 * kind, simulated under congestion, and compared with proved bounds. Where it is one of several that are compared it need not be
 * `bounded`: the bound of its transfers can take as long as all the rest, and the limit then stands in its place
 * (`boundedResult` finds it afterwards). Throws InputError (bad request), InfeasibleError (no schedule exists), CancelledError;
 * InternalError should a schedule not pass the verifier.
 */
export async function synthesize(
  engine: Engine,
  topology: Topology,
  asked: SynthesizeOptions,
  bounded = true,
): Promise<SynthesizeResult> {
  const options = withSketchSize(asked);
  const { algorithm = USUAL_ALGORITHM, onProgress } = options;
  checkOptions(options);
  if (algorithm === AUTO) {
    refuseUntaken(options);
    const best = await synthesizeBest(topology, options, (one) => synthesize(engine, topology, one, false));
    return bounded ? boundedResult(engine, best, onProgress) : best;
  }
  const maker = algorithmNamed(algorithm, [AUTO]);
  // callers of the API may hand these to every algorithm of steps
  refuseUntaken(options, maker.makes === "steps" ? ["trials", "switchDegree"] : []);
  refuseCollective(maker, options);
  checkPolicy(maker, options.policy);
  refuseInapplicable(maker, topology, options);
  try {
    const made = await madeBy(engine, topology, options, maker, asked);
    const { schedule, couldBeBetter = false, ofPhases = {} } = made;
    const report = await reportOnMade(kindOf(schedule), made, {
      ...options,
      replay: engine.kernels.replay,
      judge: judgeBy(engine.kernels, () => engine.pool().threads),
      limitFor: limitsBy(engine.kernels),
      bounded,
    });
    return { schedule, report: { ...report, ...ofPhases }, couldBeBetter };
  } catch (error) {
    return blameSize(error, options);
  }
}

/** The verdict on what was judged when it was made. */
const CORRECT: Verdict = { violations: [], violationCount: 0, truncated: false };

/** Returns a result that was made without the limit of its class, with it; others have theirs from the start. */
export function boundedResult(
  engine: Engine,
  result: SynthesizeResult,
  onProgress?: SynthesizeOptions["onProgress"],
): SynthesizeResult {
  const { schedule, report } = result;
  const kind = kindOf(schedule);
  if (!kind.boundsLate) return result;
  onProgress?.({ phase: "bound", done: 0, total: 1 });
  const { topology, collective } = schedule;
  const bounds = boundsOf(kind, CORRECT, report.time.model, limitsBy(engine.kernels));
  return { ...result, report: withBounds(report, { topology, sizeBytes: collective.sizeBytes }, bounds) };
}
