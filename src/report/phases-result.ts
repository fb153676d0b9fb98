import { toNumber } from "../model/numbers/rational.ts";
import { toGBps, toUs } from "../model/numbers/units.ts";
import type { PhaseSchedule } from "../model/phases/phase-schedule.ts";
import { phaseTransfers } from "../model/phases/phase-steps.ts";
import { withOptimism } from "../model/steps/schedule.ts";
import type { PhaseSimulation } from "../simulate/phases/phases.ts";
import { type JudgedFigures, reportWith } from "./chain.ts";
import { collectiveSummary, type PerDimension, type Report, timingOf } from "./result.ts";

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

/** Returns the report of a judged schedule of phases. */
export function phasesReport(schedule: PhaseSchedule, simulated: PhaseSimulation, judged: JudgedFigures): Report {
  const { topology, collective } = schedule;
  const transfers = phaseTransfers(schedule);
  const notes = withOptimism(schedule, judged.notes ?? []);
  const timing = (ps: number) => timingOf(collective, ps);
  return reportWith(
    {
      collective: collectiveSummary(topology, collective),
      schedule: {
        kind: "phases",
        transfers: Number.isFinite(transfers) ? transfers : null,
        file: null,
        phases: schedule.chunk.length,
      },
      perDimension: perDimensionOf(schedule, simulated),
    },
    { topology, sizeBytes: collective.sizeBytes, timing, plannedPs: null },
    { ...judged, notes },
  );
}
