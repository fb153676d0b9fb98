import { WrongScheduleError } from "../../base/errors.ts";
import { phaseTransfersOrNull } from "../../kinds/expand.ts";
import type { PhaseSchedule } from "../../model/phases/phase-schedule.ts";
import { perDimensionOf } from "../../report/phases-result.ts";
import { collectiveSummary, timingOf, topologySummary } from "../../report/result.ts";
import { networkText, phasesText, sizedText } from "../../report/subject-text.ts";
import { simulatePhases } from "../../simulate/phases/phases.ts";
import { verifyPhases } from "../../verify/phases/phases.ts";
import { type Context, outJson, outLines } from "../context.ts";
import { dimensionLines } from "../reports/dimension-lines.ts";
import { labelled, labelledTable, timingCells } from "../reports/text.ts";
import { wrongText } from "./verdict.ts";

/** `banyan simulate FILE` for a file of phases: dimension by dimension. */
export function simulatePhasesFile(context: Context, file: string, schedule: PhaseSchedule): number {
  const { json, style } = context;
  const { topology, collective } = schedule;
  context.progress({ what: "verifying" });
  const { violationCount } = verifyPhases(schedule, { limit: 0 });
  if (violationCount > 0) throw new WrongScheduleError(wrongText("these phases are", violationCount, file));
  context.progress({ what: "simulating" });
  const found = simulatePhases(schedule);
  const simulated = { ...timingOf(collective, found.ps), model: found.model };
  const perDimension = perDimensionOf(schedule, found);
  if (json) {
    outJson(context, {
      schema: "banyan/simulation@1",
      file,
      topology: topologySummary(topology),
      collective: collectiveSummary(topology, collective),
      transfers: phaseTransfersOrNull(schedule),
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
    labelled("collective", sizedText(topology, collective)),
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
