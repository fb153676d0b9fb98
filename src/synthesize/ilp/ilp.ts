import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { boundOf } from "../../model/bounds/bounds.ts";
import type { Bound } from "../../model/bounds/witness.ts";
import { COLLECTIVE_KINDS } from "../../model/collective/collective.ts";
import { ceil } from "../../model/numbers/rational.ts";
import { formatTime, PS_PER_US } from "../../model/numbers/units.ts";
import { type RouteSet, routeTimes } from "../../model/routes/routes.ts";
import { routesOf, tableDegree } from "../../model/routes/routing.ts";
import { makespanOf, transfersOf } from "../../model/steps/schedule.ts";
import { type Deadline, deadlineIn, USUAL_SOLVE_MS } from "../deadline.ts";
import type { SolverFacts } from "../solver-facts.ts";
import type { Synthesis, SynthesisContext, SynthesisRequest, Synthesizer } from "../synthesizer.ts";
import { synthesizeListed, tacos } from "../tacos/tacos.ts";
import { boundBy, contains, gap, MOST_TRANSFERS, skipped, TRYING, WHOLE_CHUNKS } from "./facts.ts";
import { scheduleOf } from "./found-rows.ts";
import { halvesOf } from "./halves.ts";
import { byWindows, shortenedOrCompleted, together } from "./partial.ts";
import { flowsOf } from "./problem.ts";
import type { Shortened } from "./shorten.ts";
import { type Stages, stagesOf } from "./stages.ts";

/** Of the limit; the rest is for solvers that end late, and for the judge. */
const FOR_SYNTHESIS = 0.95;
/** Of the time, for programs of whole schedules; the rest for early termination. */
const SEARCH_SHARE = 0.8;
/** Of the time, for the halves of an all-reduce. */
const HALVES_SHARE = 0.5;
/** Limits below this leave time for fewer trials of the matching than this. */
const LIMIT_FOR_ALL_MS = 20_000;
const MOST_TRIALS = 64;

/** Returns the matching's trials, fewer where time is short, so that programs have some; null: as many as it finds right. */
const trialsFor = (limitMs: number): number | null =>
  limitMs >= LIMIT_FOR_ALL_MS ? null : Math.max(1, Math.ceil((MOST_TRIALS * limitMs) / LIMIT_FOR_ALL_MS));

/** Until the end of the schedule known, where slots are asked for. */
const MOST_SLOTS_ASKED = 1000;

/** Returns the length of a slot that was asked for, the discretization factor of TACOS 2023, section IV-C; null without. */
function slotOf({ own }: SynthesisRequest, endPs: number): number | null {
  if (own?.discretizationUs === undefined) return null;
  const slotPs = Math.round(own.discretizationUs * PS_PER_US);
  if (slotPs * MOST_SLOTS_ASKED < endPs) {
    const least = formatTime(Math.ceil(endPs / MOST_SLOTS_ASKED));
    throw new InputError(
      optionName("discretizationUs"),
      `at least ${least}, a ${MOST_SLOTS_ASKED}th of the schedule known`,
      formatTime(slotPs),
    ).as("out-of-range");
  }
  return slotPs;
}

/**
 * Returns a schedule of least time where the solver proves one in the time it is given, and the best found else. First the
 * matching of TACOS: one that meets the bound needs no program. Then programs for less time (run/search/search.ts), of an
 * all-reduce first for its halves.
 */
async function synthesize(asked: SynthesisRequest, context: SynthesisContext): Promise<Synthesis> {
  const { topology, collective, switchDegree, timeLimitMs, policy } = asked;
  const limitMs = timeLimitMs ?? USUAL_SOLVE_MS;
  const deadline = deadlineIn(FOR_SYNTHESIS * limitMs);
  const request = { ...asked, trials: asked.trials ?? trialsFor(limitMs), policy: null };
  const greedy = await synthesizeListed(request, context);
  const matchingMs = FOR_SYNTHESIS * limitMs - deadline.leftMs();
  const greedyPs = makespanOf(greedy.schedule);
  const routes = routesOf(topology, tableDegree(topology, switchDegree));
  const boundFor = (set: RouteSet): Bound =>
    boundOf(topology, collective, set, routeTimes(topology, set, collective.chunkBytes));
  const own = contains(routes, greedy.schedule.routes);
  const lowPs = Number(ceil(boundFor(routes).ps));
  const greedyLowPs = Number(ceil(boundFor(greedy.schedule.routes).ps));
  const durations = [routeTimes(topology, routes, collective.chunkBytes).slotPs];
  const slotPs = slotOf(asked, greedyPs);
  const given = { topology, collective, routes, durations, slotPs };
  const trying = TRYING[policy ?? ""] ?? "all";
  const small = transfersOf(greedy.schedule) <= MOST_TRANSFERS;
  /** Returns stages of programs of whole schedules, and those of partial ones afterwards. */
  const inParts = (until: Deadline, share: number): [Stages, Stages] | null =>
    context.milp === undefined || !small
      ? null
      : [stagesOf(context.milp, until.part(share), context), stagesOf(context.milp, until, context)];
  const forHalves = inParts(deadline.part(HALVES_SHARE), SEARCH_SHARE);
  const solved = (own || greedyPs <= greedyLowPs) && greedyPs <= lowPs;
  // that of a half takes no longer
  const halves =
    solved || !own || !deadline.allows(matchingMs)
      ? null
      : await halvesOf(request, context, { routes, slotPs, trying }, forHalves);
  const inHalves =
    halves === null ? null : scheduleOf(topology, collective, routes, durations[0], together(given, halves.moves));
  const isShorter = inHalves !== null && makespanOf(inHalves) < greedyPs;
  const best: Synthesis = isShorter
    ? { ...greedy, schedule: inHalves, policy: halves?.how ?? `matching: ${greedy.policy}` }
    : { ...greedy, policy: `matching: ${greedy.policy}` };
  const highPs = makespanOf(best.schedule);
  const met = highPs <= (isShorter ? lowPs : greedyLowPs);
  const factsOf = (endPs: number, facts: SolverFacts): SolverFacts => ({
    ...facts,
    stages: [...(forHalves ?? []).flatMap(({ list }) => list), ...facts.stages],
    ...(halves === null ? {} : { halves: { ...halves.facts, met: endPs <= halves.leastPs } }),
  });
  const known = (proved: boolean, notes: readonly string[]): Synthesis => ({
    ...best,
    solver: factsOf(highPs, { proved, model: WHOLE_CHUNKS, stages: [] }),
    ...(notes.length === 0 ? {} : { notes }),
    ...(deadline.struck() ? { deterministic: false } : {}),
  });
  if ((own || met) && highPs <= lowPs) return known(true, []);
  if (context.milp === undefined) return known(met, ["no solver of integer programs is at hand"]);
  const flows = flowsOf(collective);
  const windows = policy === "clustered";
  // trees through one meeting place are not all that an all-reduce can be
  const describesAll = flows.every(({ kind }) => kind !== "both");
  const stages = inParts(deadline, windows || !describesAll ? 1 : SEARCH_SHARE);
  if (stages === null) {
    const note = `no program was tried: ${transfersOf(greedy.schedule)} transfers, and programs are for at most ${MOST_TRANSFERS}`;
    return known(met, [note]);
  }
  const asProgram = { topology, routes, durations, slotPs, flows, lowPs, highPs, trying };
  const found: Shortened = windows
    ? {
        moves: await byWindows(given, lowPs, stages[0]),
        how: "program: windows",
        proof: null,
        model: "short windows",
        notes: [],
      }
    : await shortenedOrCompleted(asProgram, collective, stages);
  const made = found.moves === null ? null : scheduleOf(topology, collective, routes, durations[0], found.moves);
  const schedule = made !== null && makespanOf(made) < highPs ? made : null;
  const endPs = schedule === null ? highPs : makespanOf(schedule);
  const proof = describesAll && (schedule !== null || own) ? found.proof : null;
  // a schedule over other routes is held against their bound
  const least = Math.max(schedule !== null || own ? lowPs : greedyLowPs, proof?.ps ?? 0);
  const list = stages.flatMap((one) => one.list);
  const notes = [...found.notes, ...skipped(list), ...gap(endPs, least, describesAll)];
  return {
    ...best,
    ...(schedule === null ? {} : { schedule, policy: found.how }),
    solver: factsOf(endPs, { proved: endPs <= least, model: found.model, stages: list }),
    ...(proof === null || proof.ps <= lowPs ? {} : { bound: boundBy(proof, found.model) }),
    ...(notes.length === 0 ? {} : { notes }),
    ...(deadline.struck() || [...(forHalves ?? []), ...stages].some((one) => one.timedOut())
      ? { deterministic: false }
      : {}),
  };
}

/** TACOS-ILP: the time-expanded network as a binary program (TACOS 2023, section V). */
export const tacosIlp: Synthesizer = {
  name: "tacos-ilp",
  makes: "steps",
  description: "binary program on the time-expanded network, from the bound upwards: proved optimal, or with its gap",
  collectives: [...COLLECTIVE_KINDS, "custom"],
  policies: ["exact", "symmetric", "clustered"],
  options: ["trials", "switchDegree", "timeLimitMs", "discretizationUs"],
  traits: { solves: true },
  plans: true,
  // the matching goes first
  ...(tacos.refuses === undefined ? {} : { refuses: tacos.refuses }),
  synthesize,
};
