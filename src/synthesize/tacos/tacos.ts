import { boundOf } from "../../model/bounds/bounds.ts";
import { COLLECTIVE_KINDS } from "../../model/collective/collective.ts";
import { ceil } from "../../model/numbers/rational.ts";
import { routeTimes } from "../../model/routes/routes.ts";
import { portRouteCount, routesOf, type SwitchDegree } from "../../model/routes/routing.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import { switchCount, type Topology } from "../../model/topology/topology.ts";
import { refined } from "../joint/refine.ts";
import type { Synthesis, SynthesisContext, SynthesisRequest, Synthesizer } from "../synthesizer.ts";
import { assemble, type PhaseTransfers } from "./assemble.ts";
import { networksOf, targetPs } from "./attempt.ts";
import { bestOf } from "./best-of.ts";
import { assembleInPlace } from "./in-place.ts";
import { mirrored, mirrorsPhase } from "./mirror.ts";
import { multicastAttempts } from "./multicast.ts";
import { tenNetwork } from "./network.ts";
import { overlapped } from "./overlap.ts";
import { type Phase, phasesOf } from "./phases.ts";
import { inRounds } from "./rounds.ts";
import { slotSynthesis } from "./slots.ts";
import { checkPolicy, defaultTrials, MULTICAST_POLICIES, RELAY_POLICIES } from "./trials.ts";
import { unicastAttempts } from "./unicast.ts";

/** Above so many routes through switches, ports are not tried unless asked for. */
const MOST_PORT_ROUTES = 65_536;

/** Returns the degrees of unwinding worth trying: ports first, then a ring (and only that where there are too many pairs). */
function degreesToTry(topology: Topology, wanted: SwitchDegree | null): readonly SwitchDegree[] {
  if (wanted !== null || switchCount(topology) === 0) return [wanted ?? 1];
  return portRouteCount(topology) <= MOST_PORT_ROUTES ? ["ports", 1] : [1];
}

async function synthesize(request: SynthesisRequest, context: SynthesisContext): Promise<Synthesis> {
  return refined(await synthesizeByMatching(request, context), request, context);
}

/** Returns the schedule of matching alone, phase by phase. */
export async function synthesizeByMatching(request: SynthesisRequest, context: SynthesisContext): Promise<Synthesis> {
  const { topology, collective } = request;
  const phases = phasesOf(collective);
  checkPolicy(request.policy, phases);
  const inSlots = await slotSynthesis(request, phases, context);
  if (inSlots !== null) return inSlots;
  const degrees = degreesToTry(topology, request.switchDegree);
  const routeSets = degrees.map((degree) => ({ degree, routes: routesOf(topology, degree) }));
  const networksOfPhase = (phase: Phase) => networksOf(topology, collective, phase, routeSets);
  const rounds = await inRounds(request, phases, networksOfPhase, context, synthesizeByMatching);
  if (rounds !== null) return rounds;
  const done: PhaseTransfers[] = [];
  const labels: string[] = [];
  let trials = 0;
  for (const [index, phase] of phases.entries()) {
    const same = index > 0 && mirrorsPhase(phases[0] as Phase, phase) ? mirrored(done[0] as PhaseTransfers) : null;
    if (same !== null) {
      done.push(same);
      continue;
    }
    const networks = networksOfPhase(phase);
    const target = targetPs(topology, phase, networks);
    const attempts = (phase.unicast ? unicastAttempts : multicastAttempts)(phase, networks, request, context, target);
    const { best, ran } = await bestOf(
      attempts,
      (first) =>
        request.trials ??
        defaultTrials(first.transfers.chunk.length, {
          npuCount: phase.unicast ? Number.POSITIVE_INFINITY : topology.npuCount,
          chunkCount: phase.collective.chunkCount,
        }),
      target,
      context.runner.width,
      (count, total) => context.onProgress?.({ phase: phase.name, done: count, total }),
    );
    trials += ran;
    done.push(best.transfers);
    labels.push(best.label);
  }
  const alone = done.length === 1 ? assembleInPlace(topology, collective, done[0] as PhaseTransfers) : null;
  const schedule = alone ?? assemble(topology, collective, done);
  const policy = labels.every((label) => label === labels[0]) ? (labels[0] as string) : labels.join("; ");
  if (done.length === 1) return { schedule, policy, trials };
  return overlap({ schedule, policy, trials }, request, context);
}

/** Lets the phases of an all-reduce overlap where that is shorter. */
async function overlap(
  found: Synthesis & { readonly schedule: StepSchedule },
  request: SynthesisRequest,
  context: SynthesisContext,
): Promise<Synthesis> {
  const { topology, collective, routes } = found.schedule;
  const times = routeTimes(topology, routes, collective.chunkBytes);
  const { schedule, tries, how } = await overlapped(found.schedule, tenNetwork(topology, routes, times), {
    targetPs: Number(ceil(boundOf(topology, collective, routes, times).ps)),
    seed: request.seed,
    trials: request.trials,
    runner: context.runner,
    progress: (done, total) => context.onProgress?.({ phase: "overlap", done, total }),
  });
  const policy = how === null ? found.policy : `${found.policy}, halves overlapped (${how})`;
  return { schedule, policy, trials: found.trials + tries };
}

/** TACOS: greedy matching of chunks to links on the time-expanded network (TACOS 2024, Algorithms 1 and 2). */
export const tacos: Synthesizer = {
  name: "tacos",
  description: "greedy matching on the time-expanded network, best of several seeded trials",
  collectives: [...COLLECTIVE_KINDS, "custom"],
  policies: [...MULTICAST_POLICIES, ...RELAY_POLICIES],
  makesLogs: true,
  heeds: ["trials", "switchDegree"],
  plans: true,
  synthesize,
};
