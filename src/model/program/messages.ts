import { blockCount, instructionCount, type Program, rankOfBlocks } from "./program.ts";

/**
 * Returns the operand where an instruction has what it sends or puts what it receives, which is the same place: its destination,
 * or its source where it keeps nothing; undefined without one, and for instruction -1.
 */
export function heldOperand({ operandOffset, sourceCount }: Program, instruction: number): number | undefined {
  if (instruction < 0 || operandOffset[instruction] === operandOffset[instruction + 1]) return undefined;
  return Math.min(operandOffset[instruction] + sourceCount[instruction], operandOffset[instruction + 1] - 1);
}

/** The two ends of the messages that go through FIFO connections. */
export interface Messages {
  /** [instructions] the instruction that receives what it sends; -1: it sends nothing, or nobody receives that. */
  readonly receiveOf: Int32Array;
  /** [instructions] the instruction that sends what it receives; -1: it receives nothing, or nobody sends that. */
  readonly sendOf: Int32Array;
}

/**
 * Returns the messages of a program: the k-th that is sent into a connection (rank, peer, channel) is the k-th that is received from
 * it. Where several blocks share an end of a connection, which is wrong, they count one after the other. O(instructions).
 */
export function messagesOf(program: Program): Messages {
  const { instructionOffset, sends, receives, sendPeer, recvPeer, channel } = program;
  const receiveOf = new Int32Array(instructionCount(program)).fill(-1);
  const sendOf = new Int32Array(instructionCount(program)).fill(-1);
  const rankOf = rankOfBlocks(program);
  const sent = new Map<string, number[]>();
  const received = new Map<string, number[]>();
  const collect = (into: Map<string, number[]>, key: string, does: Uint8Array, block: number): void => {
    const list = into.get(key) ?? [];
    into.set(key, list);
    for (let i = instructionOffset[block]; i < instructionOffset[block + 1]; i++) if (does[i] === 1) list.push(i);
  };
  for (let b = 0; b < blockCount(program); b++) {
    if (sendPeer[b] >= 0) collect(sent, `${rankOf[b]} ${sendPeer[b]} ${channel[b]}`, sends, b);
    if (recvPeer[b] >= 0) collect(received, `${recvPeer[b]} ${rankOf[b]} ${channel[b]}`, receives, b);
  }
  for (const [key, from] of sent) {
    const to = received.get(key) ?? [];
    for (let k = 0; k < Math.min(from.length, to.length); k++) {
      receiveOf[from[k]] = to[k];
      sendOf[to[k]] = from[k];
    }
  }
  return { receiveOf, sendOf };
}
