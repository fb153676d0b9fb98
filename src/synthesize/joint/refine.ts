import { boundOf } from "../../model/bounds/bounds.ts";
import { tenantSchedule } from "../../model/joint/joint-schedule.ts";
import { ceil } from "../../model/numbers/rational.ts";
import { routeTimes } from "../../model/routes/routes.ts";
import { makespanOf, transfersOf } from "../../model/steps/schedule.ts";
import type { Synthesis, SynthesisContext, SynthesisRequest } from "../synthesizer.ts";
import { searchTable, tableProblem } from "./table-search.ts";

/** Array cells that repairs may read: less than a second; in proportion where the caller asks for other trials. */
const MOST_STEPS = 5e7;
const USUAL_TRIALS = 64;
/** Longer schedules are left as they are. */
const MOST_TRANSFERS = 1e5;

/** Returns how many array cells the repairs of tables may read, for so many trials. */
export const stepsFor = (most: number, trials: number | null): number =>
  Math.floor(most * Math.min(1, (trials ?? USUAL_TRIALS) / USUAL_TRIALS));

/**
 * Returns a shorter schedule than the one found where that misses its bound, all slots are equal and a table of cells is
 * small enough to be negotiated (`negotiate.ts`); the one found otherwise. What gains: groups whose chunks pass outsiders,
 * all-to-all, all-reduce where few chunks go far, tori of odd sizes.
 */
export async function refined(
  found: Synthesis,
  request: SynthesisRequest,
  context: SynthesisContext,
): Promise<Synthesis> {
  const { topology, collective, trials, seed } = request;
  const { routes } = found.schedule;
  if (request.policy !== null || transfersOf(found.schedule) > MOST_TRANSFERS) return found;
  const endPs = makespanOf(found.schedule);
  const times = routeTimes(topology, routes, collective.chunkBytes);
  const boundPs = Number(ceil(boundOf(topology, collective, routes, times).ps));
  if (endPs <= boundPs) return found;
  const problem = tableProblem(topology, routes, [collective], endPs);
  if (problem === null || !problem.exact) return found;
  const range = { low: Math.ceil(boundPs / problem.unitPs), high: Math.ceil(endPs / problem.unitPs) };
  const { joint, cells, tries } = await searchTable(problem, range, seed, stepsFor(MOST_STEPS, trials), async (done) =>
    context.onProgress?.({ phase: "negotiating", done, total: done + 1 }),
  );
  if (joint === null) return { ...found, trials: found.trials + tries };
  return { schedule: tenantSchedule(joint, 0), policy: `negotiated in ${cells} slots`, trials: found.trials + tries };
}
