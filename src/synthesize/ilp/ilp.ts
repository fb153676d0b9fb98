import { boundOf } from "../../model/bounds/bounds.ts";
import type { Bound } from "../../model/bounds/witness.ts";
import { COLLECTIVE_KINDS, type Collective } from "../../model/collective/collective.ts";
import { ceil } from "../../model/numbers/rational.ts";
import { type RouteSet, routeTimes } from "../../model/routes/routes.ts";
import { routesOf } from "../../model/routes/routing.ts";
import { leastTransfers } from "../../model/steps/estimate.ts";
import { makespanOf, transfersOf } from "../../model/steps/schedule.ts";
import { deadlineIn, USUAL_SOLVE_MS } from "../deadline.ts";
import type { Synthesis, SynthesisContext, SynthesisRequest, Synthesizer } from "../synthesizer.ts";
import { tacos } from "../tacos/tacos.ts";
import { byTermination, byWindows } from "./by-phases.ts";
import { boundBy, contains, degreeFor, gap, MOST_TRANSFERS, skipped, TRYING, WHOLE_CHUNKS } from "./facts.ts";
import { flowsOf } from "./problem.ts";
import { scheduleOf } from "./schedule.ts";
import { type Shortened, shortened } from "./shorten.ts";
import { stagesOf } from "./stages.ts";

/** Of the time, for programs of whole schedules; the rest for early termination. */
const SEARCH_SHARE = 0.8;
/** Limits below this leave time for fewer trials of the matching than this. */
const LIMIT_FOR_ALL_MS = 20_000;
const MOST_TRIALS = 64;

/** Returns the matching's trials, fewer where time is short, so that programs have some; null: as many as it finds right. */
const trialsFor = (collective: Collective, limitMs: number): number | null =>
  limitMs >= LIMIT_FOR_ALL_MS || leastTransfers(collective) > MOST_TRANSFERS
    ? null
    : Math.max(1, Math.ceil((MOST_TRIALS * limitMs) / LIMIT_FOR_ALL_MS));

/**
 * Returns a schedule of least time where the solver proves one in the time it is given, and the best found else. First the
 * matching of TACOS: one that meets the bound needs no program. Then programs for less time (run/search/search.ts).
 */
async function synthesize(request: SynthesisRequest, context: SynthesisContext): Promise<Synthesis> {
  const { topology, collective, switchDegree, timeLimitMs } = request;
  const limitMs = timeLimitMs ?? USUAL_SOLVE_MS;
  const deadline = deadlineIn(limitMs);
  const trials = request.trials ?? trialsFor(collective, limitMs);
  const greedy = await tacos.synthesize({ ...request, policy: null, trials }, context);
  const highPs = makespanOf(greedy.schedule);
  const routes = routesOf(topology, degreeFor(topology, switchDegree));
  const boundFor = (set: RouteSet): Bound =>
    boundOf(topology, collective, set, routeTimes(topology, set, collective.chunkBytes));
  const own = contains(routes, greedy.schedule.routes);
  const lowPs = Number(ceil(boundFor(routes).ps));
  const greedyLowPs = Number(ceil(boundFor(greedy.schedule.routes).ps));
  const met = highPs <= greedyLowPs;
  const known = (proved: boolean, notes: readonly string[]): Synthesis => ({
    ...greedy,
    policy: `matching: ${greedy.policy}`,
    solver: { proved, model: WHOLE_CHUNKS, stages: [] },
    ...(notes.length === 0 ? {} : { notes }),
  });
  if ((own || met) && highPs <= lowPs) return known(true, []);
  if (context.milp === undefined) return known(met, ["no solver of integer programs is at hand"]);
  const transfers = transfersOf(greedy.schedule);
  if (transfers > MOST_TRANSFERS) {
    const note = `no program was tried: ${transfers} transfers, and programs are for at most ${MOST_TRANSFERS}`;
    return known(met, [note]);
  }
  const durations = [routeTimes(topology, routes, collective.chunkBytes).slotPs];
  const flows = flowsOf(collective);
  const given = { topology, collective, routes, durations };
  const windows = request.policy === "clustered";
  // trees through one meeting place are not all that an all-reduce can be
  const describesAll = flows.every(({ kind }) => kind !== "both");
  const stages = stagesOf(context.milp, deadline.part(windows || !describesAll ? 1 : SEARCH_SHARE), context);
  const trying = TRYING[request.policy ?? ""] ?? "all";
  const found: Shortened = windows
    ? { moves: await byWindows(given, highPs, stages), how: "windows", proof: null, model: "short windows", notes: [] }
    : await shortened({ topology, routes, durations, flows, lowPs, highPs, trying }, stages);
  const last = stagesOf(context.milp, deadline, context);
  const open = found.moves === null && !windows && describesAll && (found.proof?.ps ?? 0) < highPs;
  const moves = open ? await byTermination(given, highPs, last) : found.moves;
  const made = moves === null ? null : scheduleOf(topology, collective, routes, durations[0], moves);
  const schedule = made !== null && makespanOf(made) < highPs ? made : null;
  const endPs = schedule === null ? highPs : makespanOf(schedule);
  const proof = describesAll && (schedule !== null || own) ? found.proof : null;
  // a schedule over other routes is held against their bound
  const least = Math.max(schedule !== null || own ? lowPs : greedyLowPs, proof?.ps ?? 0);
  const list = [...stages.list, ...last.list];
  const notes = [...found.notes, ...skipped(list), ...gap(endPs, least, describesAll)];
  return {
    ...(schedule === null ? greedy : { schedule, trials: greedy.trials }),
    policy:
      schedule === null ? `matching: ${greedy.policy}` : `program: ${open ? "most deliveries, completed" : found.how}`,
    solver: { proved: endPs <= least, model: found.model, stages: list },
    ...(proof === null || proof.ps <= lowPs ? {} : { bound: boundBy(proof, found.model) }),
    ...(notes.length === 0 ? {} : { notes }),
    ...(stages.timedOut() || last.timedOut() ? { deterministic: false } : {}),
  };
}

/** TACOS-ILP: the time-expanded network as a binary program (TACOS 2023, section V). */
export const tacosIlp: Synthesizer = {
  name: "tacos-ilp",
  description: "binary program on the time-expanded network, from the bound upwards: proved optimal, or with its gap",
  collectives: [...COLLECTIVE_KINDS, "custom"],
  policies: ["exact", "symmetric", "clustered"],
  solves: true,
  heeds: ["trials", "switchDegree"],
  plans: true,
  synthesize,
};
