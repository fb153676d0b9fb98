import { CancelledError, InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { endingIn } from "../../base/stopping.ts";
import { formatTime, PS_PER_US } from "../../model/numbers/units.ts";
import { leastTransfers } from "../../model/steps/estimate.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { chained } from "../../report/chain.ts";
import type { LeftOut, Report } from "../../report/result.ts";
import type { SynthesizeOptions } from "../../request/options.ts";
import { problemOf, refuseTinyChunks } from "../../request/problem.ts";
import { catalogueIndex, isBetter, lessSent, usOf } from "./best.ts";
import { type Algorithm, candidatesFor, isOwnFailure, SOLVERS_SHARE, seldomWins, trialOrder } from "./candidates.ts";
import { contender } from "./chunk-trials.ts";

const DEFAULT_BUDGET_MS = 10_000;

/** Throws InputError for a policy, which only one algorithm has. */
function refusePolicy({ policy }: SynthesizeOptions): void {
  if (policy !== undefined)
    throw new InputError(
      optionName("policy"),
      `nothing beside ${optionName("algorithm")} auto, whose algorithms choose their own,`,
      policy,
    ).as("not-together");
}

/** What is asked of the result of a trial. */
interface Tried {
  readonly report: Report;
  /** Its policy left something out that could make it better. */
  readonly couldBeBetter?: boolean;
}

/** What trials have found so far. */
interface Trials<Result> {
  /** One of each algorithm. */
  readonly reports: Report[];
  readonly leftOut: LeftOut[];
  best: Result | null;
  /** What the size asked for made impossible: no algorithm is to blame. */
  ofSize: Error | null;
  /** The time was over before all were tried. */
  cut: boolean;
}

const OUT_OF_TIME = "not tried: the time limit was reached";

/** An algorithm to be tried, or to be made in full where `quick` was made of it. */
interface Attempt {
  readonly algorithm: Algorithm;
  readonly quick?: Report;
}

/** Runs the candidates in order until the time is over or one meets the limit. */
async function trials<Result extends Tried>(
  candidates: readonly Algorithm[],
  transfers: number,
  topology: Topology,
  options: SynthesizeOptions,
  budgetMs: number,
  make: (options: SynthesizeOptions) => Promise<Result>,
): Promise<Trials<Result>> {
  const { onProgress, signal } = options;
  const deadline = performance.now() + budgetMs;
  const found: Trials<Result> = { reports: [], leftOut: [], best: null, ofSize: null, cut: false };
  const attempts: Attempt[] = candidates.map((algorithm) => ({ algorithm }));
  for (const [i, { algorithm, quick }] of attempts.entries()) {
    const { name } = algorithm;
    const leaveOut = (reason: string): void => {
      const what = quick === undefined ? "" : "in full: ";
      found.leftOut.push({ algorithm: name, reason: `${what}${reason}` });
    };
    const remaining = deadline - performance.now();
    if (found.best?.report.ofLimit === 1) {
      if (quick === undefined) leaveOut(`not tried: ${found.best.report.algorithm} meets the limit`);
      continue;
    }
    if (found.best !== null && remaining <= 0) {
      found.cut = true;
      leaveOut(OUT_OF_TIME);
      continue;
    }
    onProgress?.({ phase: `try ${name}`, done: i, total: attempts.length });
    try {
      const stopped = found.best === null ? {} : { signal: endingIn(remaining, signal) };
      const rivalUs = found.best === null ? undefined : usOf(found.best.report);
      const quickPolicy = quick === undefined ? algorithm.traits?.quickPolicy : undefined;
      const asked = {
        ...options,
        ...stopped,
        ...(algorithm.traits?.solves === true && { timeLimitMs: SOLVERS_SHARE * Math.max(0, remaining) }),
        ...(quickPolicy !== undefined && { policy: quickPolicy }),
      };
      const result = await contender(algorithm, topology, asked, make, rivalUs);
      if (result.isCut === true) found.cut = true;
      const { report } = result;
      if (quickPolicy !== undefined && result.couldBeBetter === true) {
        const next = attempts.findIndex((one, at) => at > i && seldomWins(one.algorithm, transfers));
        attempts.splice(next < 0 ? attempts.length : next, 0, { algorithm, quick: report });
      }
      if (quick === undefined) found.reports.push(report);
      else if (usOf(report) > usOf(quick)) continue;
      else found.reports.splice(found.reports.indexOf(quick), 1, report);
      if (found.best === null || found.best.report === quick || isBetter(report, found.best.report))
        found.best = result;
    } catch (error) {
      const isLate = error instanceof CancelledError && found.best !== null && signal?.aborted !== true;
      if (!isLate && !isOwnFailure(error)) throw error;
      if (isLate) found.cut = true;
      if (error instanceof InputError && error.option === "sizeBytes") found.ofSize = error;
      leaveOut(isLate ? "stopped: the time limit was reached" : error.message);
    }
  }
  return found;
}

/** Returns a report with a limit that is at least as great as its own. */
const withLimit = (report: Report, limit: Report["limit"]): Report =>
  limit.us <= report.limit.us ? report : chained({ ...report, limit });

const percentMore = (us: number, best: number): string => `${Number(((us / best - 1) * 100).toPrecision(2))} %`;

/** Returns why the best was chosen: "the fastest of 5 in simulated time; multitree takes 1.6 % longer (414.98 us)". */
function reasonFor(best: Report, reports: readonly Report[]): string {
  const others = reports.filter((report) => report !== best).sort((a, b) => usOf(a) - usOf(b));
  const [second] = others;
  if (second === undefined) return "the only one that was tried";
  const longer =
    usOf(second) === usOf(best)
      ? `takes as long and ${lessSent(best, second) < 0 ? "sends more" : "comes later in the list"}`
      : `takes ${usOf(best) > 0 ? `${percentMore(usOf(second), usOf(best))} longer` : "longer"} (${formatTime(usOf(second) * PS_PER_US)})`;
  return `the fastest of ${reports.length} in simulated time; ${second.algorithm} ${longer}`;
}

/**
 * Returns what the best algorithm makes of a request: those that apply are tried, cheap and promising ones first, and the one of
 * least simulated time is kept (among equals what sends least, then the first in the catalogue). The first is always tried to
 * its end; after `timeLimitMs` (10 s) no further one is, and the result says that it depends on the clock. Throws as synthesize
 * does where none can do it.
 */
export async function synthesizeBest<Result extends Tried>(
  topology: Topology,
  options: SynthesizeOptions,
  make: (options: SynthesizeOptions) => Promise<Result>,
): Promise<Result> {
  refusePolicy(options);
  const { timeLimitMs: budgetMs = DEFAULT_BUDGET_MS, ...asked } = options;
  const { chunks } = asked;
  const { collective } = problemOf(topology, { ...asked, chunks: typeof chunks === "number" ? chunks : 1 });
  refuseTinyChunks(collective);
  const { candidates, leftOut } = candidatesFor(topology, asked);
  const transfers = leastTransfers(collective);
  const found = await trials(trialOrder(candidates, transfers), transfers, topology, asked, budgetMs, make);
  if (found.best === null)
    throw (
      found.ofSize ??
      new InputError(optionName("algorithm"), `one that can do it (${found.leftOut[0]?.reason})`, "auto")
    );
  const { best, reports } = found;
  const limit = reports.map((report) => report.limit).reduce((a, b) => (b.us > a.us ? b : a));
  const inOrder = [...reports].sort((a, b) => catalogueIndex(a) - catalogueIndex(b));
  const report: Report = chained({
    ...withLimit(best.report, limit),
    deterministic: best.report.deterministic && !found.cut,
    auto: {
      budgetMs,
      tried: inOrder.map((one) => ({
        algorithm: one.algorithm,
        us: usOf(one),
        ofLimit: withLimit(one, limit).ofLimit ?? 1,
        synthesisMs: one.synthesis.ms,
      })),
      leftOut: [...leftOut, ...found.leftOut],
      because: reasonFor(best.report, reports),
    },
  });
  return { ...best, report };
}
