import { OPS, type Op, type Program, VIA } from "../../model/program/program.ts";
import { MSCCLPP_RUNTIME } from "../../model/program/runtimes.ts";
import { atInstruction, type LimitReport } from "./program-limits-report.ts";

const PAIRED: ReadonlySet<Op> = new Set<Op>(["put", "pws", "pwsf", "get", "ppkt"]);

/** Returns whether several instructions of one step are the parallel operands of one operation. */
export const isPaired = (op: Op): boolean => PAIRED.has(op);

/**
 * Reports what the executor does not do of an operation, whose instructions are from .. to - 1: too many operands or channels,
 * and what it does wrongly. Iterations of a pipeline that is nothing but one put count as one operation. O(operands).
 */
export function checkOperation(
  program: Program,
  rank: number,
  block: number,
  from: number,
  to: number,
  report: LimitReport,
): void {
  const { channelsPerOp, operandsPerSide } = MSCCLPP_RUNTIME;
  const { waitOffset, postOffset } = program;
  const name = OPS[program.op[from]];
  const by = VIA[program.via[from]];
  const { place, where } = atInstruction(program, from, block, rank);
  const [sources, destinations] = operandCounts(program, from, to);
  const most = by === "port" ? channelsPerOp : operandsPerSide;
  for (const [side, count] of [
    ["sources", sources],
    ["destinations", destinations],
  ] as const) {
    if (count > most) report.error("operands", `${place}: ${name} has ${count} ${side}, ${most} are the most`, where);
  }
  const events = waitOffset[to] - waitOffset[from] + postOffset[to] - postOffset[from];
  if (isOnChannels(name) && events > channelsPerOp)
    report.error(
      "channels of an operation",
      `${place}: ${name} has ${events} channels, ${channelsPerOp} are the most`,
      where,
    );
  if (isOnSemaphores(name) && events > MSCCLPP_RUNTIME.semaphoresPerGpu) {
    const message = `${place}: ${name} has ${events} semaphores, ${MSCCLPP_RUNTIME.semaphoresPerGpu} are the most`;
    report.error("semaphores of an operation", message, where);
  }
  if (name === "pwsf") {
    const message = `${place}: pwsf reads from a wrong offset, as the executor passes an address in its place; pws does not`;
    report.warning("pwsf", message, where);
  }
  if (name === "get") checkGet(program, from, to, place, where, report);
  if ((name === "put" || name === "ppkt") && by === "memory") checkPut(program, from, to, place, where, report);
}

const isOnChannels = (op: Op): boolean => op === "signal" || op === "wait" || op === "rlxsignal" || op === "rlxwait";
const isOnSemaphores = (op: Op): boolean => op === "sem_acquire" || op === "sem_release";

/** Returns the sources and destinations of an operation; all ranks behind a switch are one. */
function operandCounts(program: Program, from: number, to: number): [number, number] {
  const { operandOffset, sourceCount, via } = program;
  let sources = 0;
  for (let i = from; i < to; i++) sources += sourceCount[i];
  const all = operandOffset[to] - operandOffset[from];
  return VIA[via[from]] === "switch" ? [Math.min(sources, 1), Math.min(all - sources, 1)] : [sources, all - sources];
}

type Where = Parameters<LimitReport["error"]>[2];

/** handleGet adds the offset of the destination to the address of the source, and the other way round. */
function checkGet(program: Program, from: number, to: number, place: string, where: Where, report: LimitReport): void {
  const { operandOffset, operandIndex } = program;
  for (let i = from; i < to; i++) {
    const first = operandOffset[i];
    if (operandOffset[i + 1] - first < 2 || operandIndex[first] === operandIndex[first + 1]) continue;
    const chunks = `chunk ${operandIndex[first]} to chunk ${operandIndex[first + 1]}`;
    const message = `${place}: get from ${chunks}, but the executor swaps the two offsets`;
    report.error("get", message, where);
    return;
  }
}

/** handlePut and handlePutPackets take all sources from the buffer of the first. */
function checkPut(program: Program, from: number, to: number, place: string, where: Where, report: LimitReport): void {
  const { operandOffset, operandBuffer } = program;
  for (let i = from + 1; i < to; i++) {
    if (operandBuffer[operandOffset[i]] === operandBuffer[operandOffset[from]]) continue;
    report.error(
      "put",
      `${place}: sources of different buffers, but the executor takes all from that of the first`,
      where,
    );
    return;
  }
}
