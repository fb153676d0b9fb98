import type { Bound } from "../../model/bounds/witness.ts";
import { boundOf } from "../../model/bounds.ts";
import { COLLECTIVE_KINDS } from "../../model/collective.ts";
import { unitedRoutes } from "../../model/joint-schedule.ts";
import { ceil, rational } from "../../model/rational.ts";
import { type RouteSet, routeCount, routeTimes } from "../../model/routes.ts";
import { portRouteCount, routesOf, type SwitchDegree } from "../../model/routing.ts";
import { makespanOf, transfersOf } from "../../model/schedule.ts";
import { switchCount, type Topology } from "../../model/topology.ts";
import type { Synthesis, SynthesisContext, SynthesisRequest, Synthesizer } from "../synthesizer.ts";
import { tacos } from "../tacos/tacos.ts";
import { flowsOf } from "./problem.ts";
import { scheduleOf } from "./schedule.ts";
import type { Trying } from "./search.ts";
import { type Proof, shortened } from "./shorten.ts";
import { stagesOf } from "./stages.ts";

/** Above so many routes through switches a ring of them is taken instead of all pairs. */
const MOST_PORT_ROUTES = 4096;
/** Larger schedules are left as they are: their programs have more columns than any solver takes. */
const MOST_TRANSFERS = 20_000;
const DEFAULT_LIMIT_MS = 60_000;

const TRYING: Readonly<Record<string, Trying>> = { exact: "whole", symmetric: "symmetric" };

/** Returns the degree of unwinding whose routes a program takes. */
export function degreeFor(topology: Topology, wanted: SwitchDegree | null): SwitchDegree {
  if (wanted !== null || switchCount(topology) === 0) return wanted ?? 1;
  return portRouteCount(topology) <= MOST_PORT_ROUTES ? "ports" : 1;
}

/**
 * Returns a schedule of least time where the solver proves one in the time it is given, and the best found else. First the
 * matching of TACOS: one that meets the bound needs no program. Then programs for less time (search.ts).
 */
async function synthesize(request: SynthesisRequest, context: SynthesisContext): Promise<Synthesis> {
  const { topology, collective, switchDegree, timeLimitMs } = request;
  const greedy = await tacos.synthesize({ ...request, policy: null }, context);
  const highPs = makespanOf(greedy.schedule);
  const routes = routesOf(topology, degreeFor(topology, switchDegree));
  const boundFor = (set: RouteSet): Bound =>
    boundOf(topology, collective, set, routeTimes(topology, set, collective.chunkBytes));
  const own = contains(routes, greedy.schedule.routes);
  const lowPs = Number(ceil(boundFor(routes).ps));
  const met = highPs <= Number(ceil(boundFor(greedy.schedule.routes).ps));
  const known = (proved: boolean, model: string, notes: readonly string[]): Synthesis => ({
    ...greedy,
    policy: `matching: ${greedy.policy}`,
    solver: { proved, model, stages: [] },
    ...(notes.length === 0 ? {} : { notes }),
  });
  if (own && highPs <= lowPs) return known(true, "its bound, without a program", []);
  if (!own && met && highPs <= lowPs) return known(true, "its bound, without a program", []);
  if (context.milp === undefined) return known(met, "its bound", ["no solver of integer programs is at hand"]);
  const transfers = transfersOf(greedy.schedule);
  if (transfers > MOST_TRANSFERS) {
    const note = `no program was tried: ${transfers} transfers, and programs are for at most ${MOST_TRANSFERS}`;
    return known(met, "its bound", [note]);
  }
  const stages = stagesOf(context.milp, timeLimitMs ?? DEFAULT_LIMIT_MS);
  const trying = TRYING[request.policy ?? ""] ?? "all";
  const durations = [routeTimes(topology, routes, collective.chunkBytes).slotPs];
  const flows = flowsOf(collective);
  const found = await shortened({ topology, routes, durations, flows, lowPs, highPs, trying }, stages);
  const schedule = found.moves === null ? null : scheduleOf(topology, collective, routes, durations[0], found.moves);
  const endPs = schedule === null ? highPs : makespanOf(schedule);
  // trees through one meeting place are not all that an all-reduce can be
  const describesAll = flows.every(({ kind }) => kind !== "both");
  const proof = describesAll && (schedule !== null || own) ? found.proof : null;
  const least = Math.max(lowPs, proof?.ps ?? 0);
  const notes = [...found.notes, ...skipped(stages.list), ...gap(endPs, least, describesAll)];
  return {
    ...(schedule === null ? greedy : { schedule, trials: greedy.trials }),
    policy: schedule === null ? `matching: ${greedy.policy}` : `program: ${stages.list.at(-1)?.name}`,
    solver: { proved: endPs <= least, model: found.model, stages: stages.list },
    ...(proof === null || proof.ps <= lowPs ? {} : { bound: boundBy(proof, found.model) }),
    ...(notes.length === 0 ? {} : { notes }),
    ...(stages.timedOut() ? { deterministic: false } : {}),
  };
}

/** Returns whether all of the second routes are among the first. */
function contains(all: RouteSet, some: RouteSet): boolean {
  return all === some || routeCount(unitedRoutes([all, some]).routes) === routeCount(all);
}

const boundBy = ({ ps, slots, refutation }: Proof, model: string): Bound => {
  const { columns, rows, nodes } = refutation;
  return { ps: rational(ps), witness: { kind: "program", model, slots, columns, rows, nodes } };
};

const skipped = (list: readonly { readonly name: string; readonly note?: string }[]): string[] => {
  const first = list.find(({ note }) => note !== undefined);
  return first === undefined ? [] : [`the program for ${first.name} was not built: ${first.note}`];
};

const gap = (endPs: number, leastPs: number, describesAll: boolean): string[] => {
  if (endPs <= leastPs) return [];
  const percent = Number((100 * (endPs / leastPs - 1)).toPrecision(3));
  const why = describesAll ? "" : "; programs of all-reduce cannot raise it, as they are of trees through one place";
  return [`not proved optimal: at most ${percent} % longer than the bound${why}`];
};

/** TACOS-ILP: the time-expanded network as a binary program (TACOS 2023, section V). */
export const tacosIlp: Synthesizer = {
  name: "tacos-ilp",
  description: "binary program on the time-expanded network, from the bound upwards: proved optimal, or with its gap",
  collectives: [...COLLECTIVE_KINDS, "custom"],
  policies: ["exact", "symmetric"],
  solves: true,
  plans: true,
  synthesize,
};
