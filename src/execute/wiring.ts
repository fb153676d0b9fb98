import {
  blockCount,
  blockOfInstructions,
  instructionCount,
  type Program,
  rankOfBlocks,
  WAIT_BARRIER,
} from "../model/program/program.ts";

/**
 * What the interpretation needs besides the program: its connections, and its windows: instructions of a block that run side by
 * side. A window of an msccl block is one instruction. One of an mscclpp block ends before the next nop, and a barrier is a
 * window of its own, for all threads of the block come together before and after it (mscclpp's DeviceSyncer).
 */
export interface Wiring {
  readonly rankOfBlock: Int32Array;
  readonly blockOfInstruction: Int32Array;
  /** [instructions] where the window that begins or goes on here ends. */
  readonly windowEnd: Int32Array;
  /** [blocks] connection into which it sends, and from which it receives; -1: none. */
  readonly sendsInto: Int32Array;
  readonly receivesFrom: Int32Array;
  readonly connectionCount: number;
  /** [connections] */
  readonly sourceRank: Int32Array;
  readonly targetRank: Int32Array;
  /** [blocks] instructions of its widest window. */
  readonly widthOfBlock: Int32Array;
}

const NOP = 0;

/** Returns the wiring of a program. O(instructions + blocks). */
export function wiringOf(program: Program): Wiring {
  const rankOfBlock = rankOfBlocks(program);
  const windowEnd = windowEnds(program);
  const widthOfBlock = new Int32Array(blockCount(program));
  for (let b = 0; b < blockCount(program); b++) {
    const end = program.instructionOffset[b + 1];
    for (let i = program.instructionOffset[b]; i < end; i = windowEnd[i])
      widthOfBlock[b] = Math.max(widthOfBlock[b], windowEnd[i] - i);
  }
  return {
    rankOfBlock,
    blockOfInstruction: blockOfInstructions(program),
    windowEnd,
    widthOfBlock,
    ...connectionsOf(program, rankOfBlock),
  };
}

function windowEnds(program: Program): Int32Array {
  const { instructionOffset, waitOffset, waitKind, op, machine } = program;
  const windowEnd = new Int32Array(instructionCount(program));
  const alone = (i: number): boolean => {
    if (machine === "msccl" || op[i] === NOP) return true;
    for (let w = waitOffset[i]; w < waitOffset[i + 1]; w++) if (waitKind[w] === WAIT_BARRIER) return true;
    return false;
  };
  for (let b = 0; b < blockCount(program); b++) {
    const end = instructionOffset[b + 1];
    for (let i = end - 1; i >= instructionOffset[b]; i--)
      windowEnd[i] = i + 1 === end || alone(i) || alone(i + 1) ? i + 1 : windowEnd[i + 1];
  }
  return windowEnd;
}

function connectionsOf(program: Program, rankOfBlock: Int32Array) {
  const { sendPeer, recvPeer, channel } = program;
  const numbers = new Map<string, number>();
  const source: number[] = [];
  const target: number[] = [];
  const numberOf = (from: number, to: number, through: number): number => {
    const key = `${from} ${to} ${through}`;
    let number = numbers.get(key);
    if (number === undefined) {
      number = numbers.size;
      numbers.set(key, number);
      source.push(from);
      target.push(to);
    }
    return number;
  };
  const isRank = (peer: number): boolean => peer >= 0 && peer < program.rankCount;
  const sendsInto = Int32Array.from(rankOfBlock, (r, b) =>
    isRank(sendPeer[b]) ? numberOf(r, sendPeer[b], channel[b]) : -1,
  );
  const receivesFrom = Int32Array.from(rankOfBlock, (r, b) =>
    isRank(recvPeer[b]) ? numberOf(recvPeer[b], r, channel[b]) : -1,
  );
  return {
    sendsInto,
    receivesFrom,
    connectionCount: numbers.size,
    sourceRank: Int32Array.from(source),
    targetRank: Int32Array.from(target),
  };
}
