import type { Bound } from "../model/bounds/witness.ts";
import { type Rational, toNumber } from "../model/numbers/rational.ts";
import { toGBps, toUs } from "../model/numbers/units.ts";
import type { PhaseSchedule } from "../model/phases/phase-schedule.ts";
import { phaseTransfers } from "../model/phases/phase-steps.ts";
import { withOptimism } from "../model/steps/schedule.ts";
import type { PhaseSimulation } from "../simulate/phases/phases.ts";
import {
  boundReport,
  collectiveSummary,
  type PerDimension,
  type Report,
  ratio,
  referenceReport,
  timingOf,
  topologySummary,
} from "./result.ts";

/** Returns how busy the dimensions of a schedule of phases are, replayed dimension by dimension. */
export function perDimensionOf(
  { dimensions, algorithms }: PhaseSchedule,
  { ps, utilisation, dimensions: uses }: PhaseSimulation,
): PerDimension {
  return {
    us: toUs(ps),
    utilisation: toNumber(utilisation),
    dimensions: dimensions.map(({ kind, size, bytesPerSecond }, d) => ({
      kind,
      size,
      algorithm: algorithms[d],
      GBps: toGBps(bytesPerSecond),
      utilisation: toNumber(uses[d].utilisation),
    })),
  };
}

/** A schedule of phases with what its judges said. */
export interface JudgedPhases {
  readonly schedule: PhaseSchedule;
  readonly algorithm: string;
  readonly bound: Bound;
  readonly limit: Bound;
  readonly reference: Rational | null;
  readonly simulated: PhaseSimulation;
  readonly verified: boolean;
  readonly notes: readonly string[];
  readonly synthesis: Report["synthesis"];
}

/** Returns the report of a judged schedule of phases. */
export function phasesReport(judged: JudgedPhases): Report {
  const { schedule, bound, limit, simulated } = judged;
  const { topology, collective } = schedule;
  const transfers = phaseTransfers(schedule);
  const notes = withOptimism(schedule, judged.notes);
  const timing = { ...timingOf(collective, simulated.ps), model: simulated.model };
  return {
    schema: "banyan/result@1",
    topology: topologySummary(topology),
    collective: collectiveSummary(topology, collective),
    algorithm: judged.algorithm,
    schedule: {
      kind: "phases",
      transfers: Number.isFinite(transfers) ? transfers : null,
      file: null,
      phases: schedule.chunk.length,
    },
    time: timing,
    simulated: timing,
    perDimension: perDimensionOf(schedule, simulated),
    bound: boundReport(topology, collective, bound),
    limit: boundReport(topology, collective, limit),
    reference: referenceReport(judged.reference),
    optimality: ratio(bound.ps, simulated.ps),
    ofLimit: ratio(limit.ps, simulated.ps),
    verified: judged.verified,
    deterministic: true,
    ...(notes.length === 0 ? {} : { notes }),
    synthesis: judged.synthesis,
  };
}
