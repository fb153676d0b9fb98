import { OPS, type Op, type Program, VIA, WAIT_EVENT } from "../../model/program/program.ts";
import { MSCCLPP_RUNTIME } from "../../model/program/runtimes.ts";
import { checkOperation, isPaired } from "./plan-limits-operations.ts";
import { atInstruction, type LimitReport, placeOfBlock, whereOfBlock } from "./program-limits-report.ts";

/** Reports thread blocks, operations, channels, buffers, barriers and semaphores that are too many. O(operands). */
export function checkBlocks(program: Program, report: LimitReport): void {
  const { blocksPerGpu } = MSCCLPP_RUNTIME;
  const { blockOffset, rankCount } = program;
  for (let rank = 0; rank < rankCount; rank++) {
    const blocks = blockOffset[rank + 1] - blockOffset[rank];
    if (blocks > blocksPerGpu) {
      const message = `gpu ${rank} has ${blocks} thread blocks, ${blocksPerGpu} at most can wait for each other`;
      report.error("thread blocks", message, { rank });
    }
    for (let block = blockOffset[rank]; block < blockOffset[rank + 1]; block++)
      checkBlock(program, rank, block, report);
  }
  checkNumbers(program, report);
}

function checkBlock(program: Program, rank: number, block: number, report: LimitReport): void {
  const { instructionOffset, step, op } = program;
  const { ops, opsPerBlock, channelsPerBlock } = MSCCLPP_RUNTIME;
  const place = placeOfBlock(program, block, rank);
  const where = whereOfBlock(program, block, rank);
  let steps = 0;
  const end = instructionOffset[block + 1];
  for (let i = instructionOffset[block], next = i; i < end; i = next) {
    while (next < end && step[next] === step[i] && op[next] === op[i]) next++;
    const name: Op = OPS[op[i]];
    if (!ops.has(name)) {
      const at = atInstruction(program, i, block, rank);
      report.error("operation", `${at.place}: the executor of MSCCL++ has no operation ${name}`, at.where);
    }
    for (let k = i; k < next; k = isPaired(name) ? next : k + 1)
      checkOperation(program, rank, block, k, isPaired(name) ? next : k + 1, report);
    steps = Math.max(steps, step[i] + 1);
  }
  if (steps > opsPerBlock)
    report.error("operations", `${place} has ${steps} operations, ${opsPerBlock} are the most`, where);
  for (const [what, count] of namedByBlock(program, rank, block)) {
    if (count <= channelsPerBlock) continue;
    report.error(what, `${place} uses ${count} ${what}, ${channelsPerBlock} are the most`, where);
  }
}

/** Yields how many entries of each of the tables of a thread block it needs. */
function* namedByBlock(program: Program, rank: number, block: number): Iterable<[string, number]> {
  const { instructionOffset, operandOffset, operandRank, operandBuffer, sourceCount, via } = program;
  const named = new Map<string, Set<string>>();
  const name = (table: string, entry: string): void => {
    const entries = named.get(table);
    if (entries === undefined) named.set(table, new Set([entry]));
    else entries.add(entry);
  };
  const from = instructionOffset[block];
  const to = instructionOffset[block + 1];
  nameChannels(program, rank, from, to, name);
  for (let i = from; i < to; i++) {
    const by = VIA[via[i]];
    const [first, end] = [operandOffset[i], operandOffset[i + 1]];
    const middle = first + sourceCount[i];
    if (by === "switch") {
      for (const [a, b] of [
        [first, middle],
        [middle, end],
      ] as const)
        if (b - a > 1) name("switch channels", `${operandBuffer[a]} ${operandRank.subarray(a, b).join()}`);
    } else if (by !== "local") {
      for (let k = first; k < end; k++)
        if (operandRank[k] !== rank) name(`remote buffers by ${by}`, `${operandRank[k]} ${operandBuffer[k]}`);
    }
  }
  for (const [table, entries] of named) yield [table, entries.size];
}

function nameChannels(
  { waitOffset, waitOn, waitKind, postOffset, postOn, eventRank, eventPeer, eventId, eventVia }: Program,
  rank: number,
  from: number,
  to: number,
  name: (table: string, entry: string) => void,
): void {
  const add = (event: number): void => {
    const by = VIA[eventVia[event]];
    if (by === "local") return;
    const peer = eventRank[event] === rank ? eventPeer[event] : eventRank[event];
    name(`${by} channels`, `${peer} ${eventId[event]}`);
  };
  for (let w = waitOffset[from]; w < waitOffset[to]; w++) if (waitKind[w] === WAIT_EVENT) add(waitOn[w]);
  for (let p = postOffset[from]; p < postOffset[to]; p++) add(postOn[p]);
}

/** Barriers are a table of the executor; semaphores are allocated today, but 16 is what its headers promise. */
function checkNumbers(program: Program, report: LimitReport): void {
  const { barriersPerGpu, semaphoresPerGpu } = MSCCLPP_RUNTIME;
  const { barrierId, barrierRank, eventId, eventRank, eventVia } = program;
  barrierId.forEach((id, barrier) => {
    const rank = barrierRank[barrier];
    if (id < barriersPerGpu) return;
    report.error("barriers", `gpu ${rank} has a barrier ${id}, ${barriersPerGpu - 1} is the last`, { rank });
  });
  eventId.forEach((id, event) => {
    const rank = eventRank[event];
    if (id < semaphoresPerGpu || VIA[eventVia[event]] !== "local") return;
    report.warning("semaphores", `gpu ${rank} has a semaphore ${id}, MSCCL++ promises ${semaphoresPerGpu}`, { rank });
  });
}
