import { OPS, type Op, type Program, VIA, type Via } from "./program.ts";

/** A range of chunks in a buffer of a rank; how many is said by the instruction. */
export interface Operand {
  readonly rank: number;
  /** INPUT, OUTPUT or SCRATCH. */
  readonly buffer: number;
  readonly index: number;
  readonly packet?: boolean;
}

export interface Wait {
  /** WAIT_INSTRUCTION, WAIT_EVENT or WAIT_BARRIER. */
  readonly kind: number;
  readonly on: number;
}

/** What an instruction is made of; everything but the name may be left out. */
export interface Instruction {
  readonly op: Op;
  readonly step?: number;
  readonly line?: number;
  readonly chunks?: number;
  readonly via?: Via;
  readonly receives?: boolean;
  readonly sends?: boolean;
  readonly publishes?: boolean;
  readonly sources?: readonly Operand[];
  readonly destinations?: readonly Operand[];
  readonly waits?: readonly Wait[];
  readonly posts?: readonly number[];
}

export interface Block {
  readonly id: number;
  readonly sendPeer?: number;
  readonly recvPeer?: number;
  readonly channel?: number;
  readonly line?: number;
}

export interface ProgramEvent {
  readonly initial?: number;
  /** Rank that waits. */
  readonly rank: number;
  /** Rank that posts. */
  readonly peer: number;
  readonly id: number;
  readonly via: Via;
}

export interface ProgramBarrier {
  readonly rank: number;
  readonly id: number;
  readonly blocks: number;
}

/** The fields of a program that are no columns of blocks, instructions, events and barriers. */
export type ProgramHeader = Pick<
  Program,
  | "name"
  | "machine"
  | "collective"
  | "rootRank"
  | "rankCount"
  | "protocol"
  | "inPlace"
  | "outOfPlace"
  | "minBytes"
  | "maxBytes"
  | "loopChunks"
  | "finer"
  | "inputChunks"
  | "outputChunks"
  | "scratchChunks"
  | "channelCount"
  | "skipped"
>;

/** Collects a program rank by rank, block by block, instruction by instruction. */
export interface ProgramBuilder {
  /** Begins the next rank: 0, 1, 2 ... */
  addRank(): void;
  /** Begins a block of the current rank; returns its index among all blocks. */
  addBlock(block: Block): number;
  /** Adds an instruction to the current block; returns its index among all. A WAIT_INSTRUCTION may name a later one. */
  add(instruction: Instruction): number;
  /** Returns the index of a new event. Events and barriers may be added at any time. */
  addEvent(event: ProgramEvent): number;
  addBarrier(barrier: ProgramBarrier): number;
  /** Returns how many instructions there are: the index of the next. */
  instructions(): number;
  build(header: ProgramHeader): Program;
}

const NOTHING: readonly never[] = [];
const OP_NUMBER = new Map<Op, number>(OPS.map((op, i) => [op, i]));

/** Returns the number of an instruction's name. */
export const opNumber = (op: Op): number => OP_NUMBER.get(op) as number;

/** Returns a builder of a program. O(1) amortised per call. */
export function programBuilder(): ProgramBuilder {
  const blockOffset: number[] = [];
  const blocks = {
    id: [] as number[],
    send: [] as number[],
    recv: [] as number[],
    channel: [] as number[],
    line: [] as number[],
  };
  const first: number[] = [];
  const op: number[] = [];
  const step: number[] = [];
  const line: number[] = [];
  const chunks: number[] = [];
  const via: number[] = [];
  const receives: number[] = [];
  const sends: number[] = [];
  const publishes: number[] = [];
  const operandOffset = [0];
  const sourceCount: number[] = [];
  const operandRank: number[] = [];
  const operandBuffer: number[] = [];
  const operandIndex: number[] = [];
  const operandPacket: number[] = [];
  const waitOffset = [0];
  const waitKind: number[] = [];
  const waitOn: number[] = [];
  const postOffset = [0];
  const postOn: number[] = [];
  const events: ProgramEvent[] = [];
  const barriers: ProgramBarrier[] = [];

  const addOperands = (operands: readonly Operand[]): void => {
    for (const { rank, buffer, index, packet } of operands) {
      operandRank.push(rank);
      operandBuffer.push(buffer);
      operandIndex.push(index);
      operandPacket.push(packet === true ? 1 : 0);
    }
  };

  return {
    addRank: () => {
      blockOffset.push(blocks.id.length);
    },
    addBlock({ id, sendPeer = -1, recvPeer = -1, channel = 0, line: at = 0 }) {
      blocks.id.push(id);
      blocks.send.push(sendPeer);
      blocks.recv.push(recvPeer);
      blocks.channel.push(channel);
      blocks.line.push(at);
      first.push(op.length);
      return blocks.id.length - 1;
    },
    add(instruction) {
      const { sources = NOTHING, destinations = NOTHING, waits = NOTHING, posts = NOTHING } = instruction;
      const begun = first[first.length - 1];
      op.push(opNumber(instruction.op));
      step.push(instruction.step ?? op.length - 1 - begun);
      line.push(instruction.line ?? 0);
      chunks.push(instruction.chunks ?? 0);
      via.push(VIA.indexOf(instruction.via ?? "local"));
      receives.push(instruction.receives === true ? 1 : 0);
      sends.push(instruction.sends === true ? 1 : 0);
      publishes.push(instruction.publishes === true ? 1 : 0);
      sourceCount.push(sources.length);
      addOperands(sources);
      addOperands(destinations);
      operandOffset.push(operandRank.length);
      for (const { kind, on } of waits) {
        waitKind.push(kind);
        waitOn.push(on);
      }
      waitOffset.push(waitOn.length);
      for (const event of posts) postOn.push(event);
      postOffset.push(postOn.length);
      return op.length - 1;
    },
    addEvent: (event) => events.push(event) - 1,
    addBarrier: (barrier) => barriers.push(barrier) - 1,
    instructions: () => op.length,
    build: (header) => ({
      ...header,
      blockOffset: Int32Array.from([...blockOffset, blocks.id.length]),
      blockId: Int32Array.from(blocks.id),
      sendPeer: Int32Array.from(blocks.send),
      recvPeer: Int32Array.from(blocks.recv),
      channel: Int32Array.from(blocks.channel),
      blockLine: Int32Array.from(blocks.line),
      instructionOffset: Int32Array.from([...first, op.length]),
      op: Uint8Array.from(op),
      step: Int32Array.from(step),
      line: Int32Array.from(line),
      chunks: Int32Array.from(chunks),
      via: Uint8Array.from(via),
      receives: Uint8Array.from(receives),
      sends: Uint8Array.from(sends),
      publishes: Uint8Array.from(publishes),
      operandOffset: Int32Array.from(operandOffset),
      sourceCount: Int32Array.from(sourceCount),
      operandRank: Int32Array.from(operandRank),
      operandBuffer: Uint8Array.from(operandBuffer),
      operandIndex: Int32Array.from(operandIndex),
      operandPacket: Uint8Array.from(operandPacket),
      waitOffset: Int32Array.from(waitOffset),
      waitKind: Uint8Array.from(waitKind),
      waitOn: Int32Array.from(waitOn),
      postOffset: Int32Array.from(postOffset),
      postOn: Int32Array.from(postOn),
      eventInitial: Int32Array.from(events, ({ initial }) => initial ?? 0),
      eventRank: Int32Array.from(events, ({ rank }) => rank),
      eventPeer: Int32Array.from(events, ({ peer }) => peer),
      eventId: Int32Array.from(events, ({ id }) => id),
      eventVia: Uint8Array.from(events, ({ via: by }) => VIA.indexOf(by)),
      barrierRank: Int32Array.from(barriers, ({ rank }) => rank),
      barrierId: Int32Array.from(barriers, ({ id }) => id),
      barrierBlocks: Int32Array.from(barriers, ({ blocks: many }) => many),
    }),
  };
}
