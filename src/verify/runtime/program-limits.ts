import type { Program } from "../../model/program/program.ts";
import { MSCCL_RUNTIMES, type MscclRuntime } from "../../model/program/runtimes.ts";
import type { ProgramViolation } from "../program/program-violation.ts";
import { reportBlock, reportConnections, reportUnusedChannels } from "./program-limits-blocks.ts";
import { reportFile } from "./program-limits-file.ts";
import { reportFusion } from "./program-limits-fusion.ts";
import { reportInstructions } from "./program-limits-instructions.ts";
import { limitReport } from "./program-limits-report.ts";
import { executorSteps } from "./program-limits-steps.ts";
import { reportText } from "./program-limits-text.ts";

/**
 * Returns what keeps a runtime from loading or running an msccl program as it is meant, beside what the program computes; at most a
 * hundred violations of a kind. `text` is the file, where there is one: it is looked at with the eyes of the runtime's own
 * parser. What a program was read from, or what was written from it, both will do. O(text + instructions).
 */
export function mscclLimitViolations(
  program: Program,
  runtimeName: MscclRuntime["name"],
  text: string | null,
): readonly ProgramViolation[] {
  const runtime = MSCCL_RUNTIMES[runtimeName];
  const report = limitReport();
  if (program.machine !== "msccl") {
    report.error("machine", `the program is for ${program.machine}, but ${runtime.title} runs MSCCL programs`);
    return report.violations;
  }
  const algo = text === null ? null : reportText(text, runtime, report);
  const steps = executorSteps(program);
  reportFile(program, runtime, algo, steps.perBlock, report);
  reportUnusedChannels(program, report);
  for (let rank = 0; rank < program.rankCount; rank++) {
    for (let block = program.blockOffset[rank]; block < program.blockOffset[rank + 1]; block++) {
      if (program.blockId[block] < 0) continue;
      const view = { program, runtime, rank, block, steps, report };
      reportBlock(view);
      reportInstructions(view);
      reportFusion(view);
    }
    reportConnections(program, runtime, rank, report);
  }
  return report.violations;
}
