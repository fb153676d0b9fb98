import { BUFFER_LETTERS, type Program, placeOfInstruction } from "../model/program/program.ts";
import type { Layout } from "./layout.ts";
import type { Wiring } from "./wiring.ts";

interface Where {
  readonly rank: number;
  readonly block: number;
  readonly instruction: number;
}

/**
 * Something that no right program does, whatever the result. `unwritten`: it read a chunk that nothing had written. `count`: it
 * received a chunk of an instruction that sent another number of chunks (0: nobody counted). `outside`: an operand lies outside
 * its buffer. `unconnected`: it sends or receives without a peer, or writes a value that is made of nothing. `left`: chunks were
 * sent and never received. `posted`: an event's count is not what it was at the start, so the next call would go wrong.
 */
export type Fault =
  | (Where & { readonly kind: "unwritten" | "outside"; readonly operand: number; readonly chunk: number })
  | (Where & { readonly kind: "count"; readonly chunks: number })
  | (Where & { readonly kind: "unconnected" })
  | { readonly kind: "left"; readonly rank: number; readonly peer: number; readonly chunks: number }
  | { readonly kind: "posted"; readonly event: number; readonly count: number };

/** Returns a fault in words. */
export function faultText(program: Program, fault: Fault): string {
  if (fault.kind === "left")
    return `gpu ${fault.peer} never receives ${fault.chunks} chunks that gpu ${fault.rank} sends to it`;
  if (fault.kind === "posted") {
    const [rank, peer] = [program.eventRank[fault.event], program.eventPeer[fault.event]];
    const what = rank === peer ? `semaphore ${program.eventId[fault.event]}` : `the signals from gpu ${peer}`;
    return `gpu ${rank} ends with a count of ${fault.count} for ${what}, not with the ${program.eventInitial[fault.event]} of the start`;
  }
  const place = placeOfInstruction(program, fault.instruction, fault.block, fault.rank);
  if (fault.kind === "unconnected") return `${place} sends or receives without a peer, or has nothing to write`;
  if (fault.kind === "count") {
    const own = program.chunks[fault.instruction];
    return `${place} receives ${own} chunks and finds those of an instruction that sends ${fault.chunks}`;
  }
  const buffer = BUFFER_LETTERS[program.operandBuffer[fault.operand]];
  const owner = program.operandRank[fault.operand];
  const what = `${buffer}[${fault.chunk}]${owner === fault.rank ? "" : ` of gpu ${owner}`}`;
  return fault.kind === "unwritten"
    ? `${place} reads ${what}, which nothing has written`
    : `${place} uses ${what}, which does not exist`;
}

/** Returns why the program cannot be run at all; none where it can. O(operands). */
export function faultsBeforehand(program: Program, wiring: Wiring, layout: Layout): Fault[] {
  const { operandOffset, operandRank, operandBuffer, operandIndex, sourceCount, chunks } = program;
  const faults: Fault[] = [];
  for (let i = 0; i < program.op.length; i++) {
    const block = wiring.blockOfInstruction[i];
    const where = { rank: wiring.rankOfBlock[block], block, instruction: i };
    const alone =
      (program.sends[i] === 1 && wiring.sendsInto[block] < 0) ||
      (program.receives[i] === 1 && wiring.receivesFrom[block] < 0);
    const valueless = program.receives[i] === 0 && sourceCount[i] === 0 && chunks[i] > 0;
    if (alone || valueless) faults.push({ kind: "unconnected", ...where });
    for (let o = operandOffset[i]; o < operandOffset[i + 1]; o++) {
      const first = operandIndex[o];
      const exists = operandRank[o] >= 0 && operandRank[o] < program.rankCount;
      const size = exists ? layout.bufferChunks[3 * operandRank[o] + operandBuffer[o]] : 0;
      if (chunks[i] > 0 && (first < 0 || first + chunks[i] > size))
        faults.push({ kind: "outside", ...where, operand: o, chunk: first < 0 ? first : first + chunks[i] - 1 });
    }
  }
  return faults;
}
