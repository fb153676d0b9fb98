import { OPS, type Program, VIA, WAIT_INSTRUCTION } from "../../src/model/program/program.ts";
import { type Block, type Operand, programBuilder } from "../../src/model/program/program-builder.ts";

/** A wait for another instruction, as the instruction itself, or for an event or barrier by number. */
export interface PlainWait {
  kind: number;
  on: PlainInstruction | number;
}

export interface PlainInstruction {
  op: (typeof OPS)[number];
  step: number;
  chunks: number;
  via: (typeof VIA)[number];
  receives: boolean;
  sends: boolean;
  publishes: boolean;
  sources: Operand[];
  destinations: Operand[];
  waits: PlainWait[];
  posts: number[];
}

export interface PlainBlock {
  rank: number;
  block: Block;
  instructions: PlainInstruction[];
}

/** A program as objects, to be changed and written down again. */
export interface PlainProgram {
  readonly program: Program;
  readonly blocks: PlainBlock[];
}

/** Returns a program as objects. O(operands + waits). */
export function plainProgram(program: Program): PlainProgram {
  const operands = (from: number, to: number): Operand[] =>
    Array.from({ length: to - from }, (_, k) => ({
      rank: program.operandRank[from + k],
      buffer: program.operandBuffer[from + k],
      index: program.operandIndex[from + k],
      packet: program.operandPacket[from + k] === 1,
    }));
  const instructions = Array.from(program.op, (op, i): PlainInstruction => {
    const middle = program.operandOffset[i] + program.sourceCount[i];
    return {
      op: OPS[op],
      step: program.step[i],
      chunks: program.chunks[i],
      via: VIA[program.via[i]],
      receives: program.receives[i] === 1,
      sends: program.sends[i] === 1,
      publishes: program.publishes[i] === 1,
      sources: operands(program.operandOffset[i], middle),
      destinations: operands(middle, program.operandOffset[i + 1]),
      waits: [],
      posts: Array.from(program.postOn.subarray(program.postOffset[i], program.postOffset[i + 1])),
    };
  });
  instructions.forEach((instruction, i) => {
    for (let w = program.waitOffset[i]; w < program.waitOffset[i + 1]; w++) {
      const kind = program.waitKind[w];
      const on = program.waitOn[w];
      instruction.waits.push({ kind, on: kind === WAIT_INSTRUCTION ? instructions[on] : on });
    }
  });
  const blocks: PlainBlock[] = [];
  for (let rank = 0; rank < program.rankCount; rank++)
    for (let b = program.blockOffset[rank]; b < program.blockOffset[rank + 1]; b++)
      blocks.push({
        rank,
        block: {
          id: program.blockId[b],
          sendPeer: program.sendPeer[b],
          recvPeer: program.recvPeer[b],
          channel: program.channel[b],
        },
        instructions: instructions.slice(program.instructionOffset[b], program.instructionOffset[b + 1]),
      });
  return { program, blocks };
}

/** Returns the program that the objects say; its events, barriers and header are those of the original. */
export function programOfPlain({ program, blocks }: PlainProgram): Program {
  const builder = programBuilder();
  const index = new Map(blocks.flatMap(({ instructions }) => instructions).map((instruction, i) => [instruction, i]));
  for (let rank = 0; rank < program.rankCount; rank++) {
    builder.addRank();
    for (const { block, instructions } of blocks.filter((of) => of.rank === rank)) {
      builder.addBlock(block);
      for (const instruction of instructions) {
        const waits = instruction.waits.map(({ kind, on }) => ({
          kind,
          on: typeof on === "number" ? on : (index.get(on) as number),
        }));
        builder.add({ ...instruction, waits });
      }
    }
  }
  program.eventRank.forEach((rank, e) => {
    const initial = program.eventInitial[e];
    builder.addEvent({
      initial,
      rank,
      peer: program.eventPeer[e],
      id: program.eventId[e],
      via: VIA[program.eventVia[e]],
    });
  });
  program.barrierRank.forEach((rank, b) => {
    builder.addBarrier({ rank, id: program.barrierId[b], blocks: program.barrierBlocks[b] });
  });
  return builder.build(program);
}
