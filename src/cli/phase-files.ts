import { InputError } from "../errors.ts";
import { explainPhases } from "../explain/phases.ts";
import type { PhaseSchedule } from "../model/phase-schedule.ts";
import { phaseTransfers, stepsOfPhases } from "../model/phase-steps.ts";
import type { StepSchedule } from "../model/step-schedule.ts";
import { perDimensionOf } from "../phases-result.ts";
import { timingOf, topologySummary } from "../result.ts";
import { simulatePhases } from "../simulate/phases.ts";
import { verifyPhases } from "../verify/phases.ts";
import { type Context, outJson, outLines } from "./context.ts";
import { dimensionLines } from "./dimension-lines.ts";
import { networkText, sizedText } from "./synthesis-report.ts";
import { count, labelled, labelledTable, timingCells } from "./text.ts";
import { KEPT, writeVerdict } from "./verdict.ts";

/** Phases of more transfers are not written as steps. */
const MOST_EXPANDED = 4e6;

const phasesText = (schedule: PhaseSchedule): string =>
  `${count(schedule.chunk.length, "phase")} of ${count(schedule.collective.chunksPerNpu, "chunk")}`;

const collectiveFields = ({ collective: { kind, sizeBytes, chunksPerNpu } }: PhaseSchedule) => ({
  kind,
  sizeBytes,
  chunksPerNpu,
});

/** Returns how many transfers correct phases make; null where switches sum. */
function transfersOrNull(schedule: PhaseSchedule): number | null {
  const transfers = phaseTransfers(schedule);
  return Number.isFinite(transfers) ? transfers : null;
}

/** `banyan verify FILE` for a file of phases. */
export function verifyPhasesFile(context: Context, file: string, schedule: PhaseSchedule): number {
  context.progress({ what: "verifying" });
  const { topology, endPs } = schedule;
  const verification = verifyPhases(schedule, { limit: KEPT });
  const judged = {
    file,
    topology,
    about: { collective: collectiveFields(schedule), phases: schedule.chunk.length },
    what: `${sizedText(schedule.collective)} on ${topology.name}`,
    transfers: verification.violationCount === 0 ? transfersOrNull(schedule) : null,
    counted: phasesText(schedule),
    ps: endPs.reduce((last, end) => Math.max(last, end), 0),
  };
  return writeVerdict(context, judged, verification);
}

/** `banyan simulate FILE` for a file of phases: dimension by dimension. */
export function simulatePhasesFile(context: Context, file: string, schedule: PhaseSchedule): number {
  const { json, style } = context;
  const { topology, collective } = schedule;
  context.progress({ what: "verifying" });
  const { violationCount } = verifyPhases(schedule, { limit: 0 });
  if (violationCount > 0) {
    context.note(
      `these phases are wrong (${count(violationCount, "violation")}; \`banyan verify ${file}\` lists them)`,
    );
    return 1;
  }
  context.progress({ what: "simulating" });
  const found = simulatePhases(schedule);
  const simulated = { ...timingOf(collective, found.ps), model: found.model };
  const perDimension = perDimensionOf(schedule, found);
  if (json) {
    outJson(context, {
      schema: "banyan/simulation@1",
      file,
      topology: topologySummary(topology),
      collective: collectiveFields(schedule),
      transfers: transfersOrNull(schedule),
      phases: schedule.chunk.length,
      verified: true,
      simulated,
      perDimension,
      trace: null,
    });
    return 0;
  }
  const [head, ...rows] = labelledTable(
    [
      ["", "time", "algbw", "busbw", ""],
      ["simulated", ...timingCells(simulated), simulated.model],
    ],
    ["left", "right", "right", "right", "left"],
  );
  const lines = [
    "",
    labelled("topology", networkText(topologySummary(topology))),
    labelled("collective", sizedText(collective)),
    labelled("schedule", `${phasesText(schedule)}, ${style.good("verified")}`),
    "",
    ...dimensionLines(perDimension, style),
    "",
    style.dim(head as string),
    ...rows,
  ];
  outLines(
    context,
    lines.map((line) => `  ${line}`),
  );
  return 0;
}

/** Returns what a file of phases does, in words; of wrong phases what is wrong. */
export function phasesLines({ style }: Context, file: string, schedule: PhaseSchedule): string[] {
  const { violations, violationCount } = verifyPhases(schedule, { limit: 1 });
  if (violationCount === 0) return explainPhases(schedule);
  return [`${style.bad("wrong")}: ${violations[0]?.message} (\`banyan verify ${file}\` says all)`];
}

/** Returns phases transfer by transfer. Throws InputError, which names `place`, for wrong ones and for too many. */
export function stepsOfPhasesFile(schedule: PhaseSchedule, place: string): StepSchedule {
  const { violations, violationCount } = verifyPhases(schedule, { limit: 1 });
  if (violationCount > 0) throw new InputError(place, "correct phases", violations[0]?.message);
  const transfers = transfersOrNull(schedule);
  if (transfers === null)
    throw new InputError(place, "phases between NPUs (made without --offload)", "sums in switches");
  if (transfers > MOST_EXPANDED) {
    throw new InputError(place, `phases of at most ${MOST_EXPANDED.toExponential()} transfers`, transfers);
  }
  return stepsOfPhases(schedule);
}
