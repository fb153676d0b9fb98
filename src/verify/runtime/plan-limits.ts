import type { Program } from "../../model/program/program.ts";
import { MSCCLPP_RUNTIME } from "../../model/program/runtimes.ts";
import type { ProgramViolation } from "../program/program-violation.ts";
import { checkBlocks } from "./plan-limits-blocks.ts";
import { checkPackets } from "./plan-limits-packets.ts";
import { type LimitReport, limitReport } from "./program-limits-report.ts";

/** How many output chunks a rank has, and how many input chunks, in units of one rank's part. Others may have any. */
const PARTS: Readonly<Partial<Record<Program["collective"], (ranks: number) => readonly [number, number]>>> = {
  allgather: (ranks) => [1, ranks],
  reducescatter: (ranks) => [ranks, 1],
  allreduce: () => [1, 1],
  alltoall: () => [1, 1],
  broadcast: () => [1, 1],
  reduce: () => [1, 1],
};

/**
 * Returns what keeps the executor of MSCCL++ (microsoft/mscclpp, src/core/executor and execution_kernel.hpp) from running a
 * program as a plan, or from running it right. What a program computes is judged by verifyProgram. O(size of the program).
 */
export function planLimitViolations(program: Program): readonly ProgramViolation[] {
  const report = limitReport();
  if (program.machine !== "mscclpp") {
    report.error("machine", "the program is for thread blocks with FIFOs (MSCCL), which MSCCL++ does not have");
    return report.violations;
  }
  if (program.collective === "custom")
    report.warning("collective", "no NCCL call selects a plan of a collective of its own: a caller must name the plan");
  checkChunks(program, report);
  checkSizes(program, report);
  checkBlocks(program, report);
  checkPackets(program, report);
  return report.violations;
}

/** The executor divides by both counts of chunks, and wants equal bytes per chunk (checkMessageSize, getSizeAndChunks). */
function checkChunks(program: Program, report: LimitReport): void {
  const { inputChunks, outputChunks, rankCount, collective, finer } = program;
  const parts = PARTS[collective]?.(rankCount);
  for (let rank = 0; rank < rankCount; rank++) {
    const input = inputChunks[rank] / finer;
    const output = outputChunks[rank] / finer;
    if (input === 0 || output === 0) {
      report.error(
        "chunks",
        `gpu ${rank} has no ${input === 0 ? "input" : "output"} chunks, by which MSCCL++ divides`,
        { rank },
      );
    } else if (parts !== undefined && input * parts[1] !== output * parts[0]) {
      const wanted = parts[0] === parts[1] ? "as many" : `${parts[1]} to ${parts[0]}`;
      const message = `gpu ${rank} has ${output} output chunks to ${input} input chunks, where ${collective} needs ${wanted}`;
      report.error("chunks", message, { rank });
    } else if (inputChunks[rank] !== inputChunks[0] && parts !== undefined) {
      const message = `gpu ${rank} cuts its input into ${input} chunks, but gpu 0 into ${inputChunks[0] / finer}`;
      report.error("chunks", message, { rank });
    }
  }
}

/** Sizes are multiples of chunks times the alignment, and no offset is beyond 32 bits. */
function checkSizes({ minBytes, maxBytes, loopChunks, finer }: Program, report: LimitReport): void {
  const { alignmentBytes, reachBytes } = MSCCLPP_RUNTIME;
  const chunks = loopChunks / finer;
  const step = chunks * alignmentBytes;
  const least = Math.max(minBytes ?? 0, step);
  const most = Math.min(maxBytes ?? reachBytes, reachBytes);
  if (Math.floor(most / step) * step >= least) return;
  const range = `${minBytes ?? 0} to ${maxBytes ?? "any"} bytes`;
  const message = `no size of ${range} within 4 GiB is a multiple of ${step}, ${alignmentBytes} for each of ${chunks} chunks`;
  report.error("sizes", message);
}
