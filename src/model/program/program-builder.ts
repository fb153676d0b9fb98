import { growingInt32, growingUint8 } from "../numbers/column.ts";
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
  | "table"
  | "mpi"
  | "skipped"
  | "farEnds"
>;

const NOTHING: readonly never[] = [];
const OP_NUMBER = new Map<Op, number>(OPS.map((op, i) => [op, i]));

/** Returns the number of an instruction's name. */
export const opNumber = (op: Op): number => OP_NUMBER.get(op) as number;

/** Columns of a program that grow with its blocks and instructions. */
const COLUMNS = {
  blockOffset: growingInt32,
  blockId: growingInt32,
  sendPeer: growingInt32,
  recvPeer: growingInt32,
  channel: growingInt32,
  blockLine: growingInt32,
  instructionOffset: growingInt32,
  op: growingUint8,
  step: growingInt32,
  line: growingInt32,
  chunks: growingInt32,
  via: growingUint8,
  receives: growingUint8,
  sends: growingUint8,
  publishes: growingUint8,
  operandOffset: growingInt32,
  sourceCount: growingInt32,
  operandRank: growingInt32,
  operandBuffer: growingUint8,
  operandIndex: growingInt32,
  operandPacket: growingUint8,
  waitOffset: growingInt32,
  waitKind: growingUint8,
  waitOn: growingInt32,
  postOffset: growingInt32,
  postOn: growingInt32,
} as const;
type ColumnName = keyof typeof COLUMNS;
const NAMES = Object.keys(COLUMNS) as ColumnName[];

/** Returns a builder of a program. O(1) amortised per call. */
export const programBuilder = (): ProgramBuilder => new ProgramBuilder();

/** Collects a program rank by rank, block by block, instruction by instruction. */
export class ProgramBuilder {
  private readonly columns = Object.fromEntries(NAMES.map((name) => [name, COLUMNS[name]()])) as {
    [Name in ColumnName]: ReturnType<(typeof COLUMNS)[Name]>;
  };
  private readonly events: ProgramEvent[] = [];
  private readonly barriers: ProgramBarrier[] = [];

  /** Begins the next rank: 0, 1, 2 ... */
  addRank(): void {
    this.columns.blockOffset.push(this.columns.blockId.length);
  }

  /** Begins a block of the current rank; returns its index among all blocks. */
  addBlock({ id, sendPeer = -1, recvPeer = -1, channel = 0, line = 0 }: Block): number {
    const { columns } = this;
    columns.sendPeer.push(sendPeer);
    columns.recvPeer.push(recvPeer);
    columns.channel.push(channel);
    columns.blockLine.push(line);
    columns.instructionOffset.push(columns.op.length);
    return columns.blockId.push(id);
  }

  /** Adds an instruction to the current block; returns its index among all. A WAIT_INSTRUCTION may name a later one. */
  add(instruction: Instruction): number {
    const { sources = NOTHING, destinations = NOTHING, waits = NOTHING, posts = NOTHING } = instruction;
    const { columns } = this;
    const { op, instructionOffset } = columns;
    op.push(opNumber(instruction.op));
    columns.step.push(instruction.step ?? op.length - 1 - instructionOffset.values[instructionOffset.length - 1]);
    columns.line.push(instruction.line ?? 0);
    columns.chunks.push(instruction.chunks ?? 0);
    columns.via.push(VIA.indexOf(instruction.via ?? "local"));
    columns.receives.push(instruction.receives === true ? 1 : 0);
    columns.sends.push(instruction.sends === true ? 1 : 0);
    columns.publishes.push(instruction.publishes === true ? 1 : 0);
    columns.operandOffset.push(columns.operandRank.length);
    columns.sourceCount.push(sources.length);
    this.addOperands(sources);
    this.addOperands(destinations);
    columns.waitOffset.push(columns.waitOn.length);
    for (const { kind, on } of waits) {
      columns.waitKind.push(kind);
      columns.waitOn.push(on);
    }
    columns.postOffset.push(columns.postOn.length);
    for (const event of posts) columns.postOn.push(event);
    return op.length - 1;
  }

  private addOperands(operands: readonly Operand[]): void {
    const { operandRank, operandBuffer, operandIndex, operandPacket } = this.columns;
    for (const { rank, buffer, index, packet } of operands) {
      operandRank.push(rank);
      operandBuffer.push(buffer);
      operandIndex.push(index);
      operandPacket.push(packet === true ? 1 : 0);
    }
  }

  /** Returns the index of a new event. Events and barriers may be added at any time. */
  addEvent(event: ProgramEvent): number {
    return this.events.push(event) - 1;
  }

  addBarrier(barrier: ProgramBarrier): number {
    return this.barriers.push(barrier) - 1;
  }

  /** Returns how many instructions there are: the index of the next. */
  instructions(): number {
    return this.columns.op.length;
  }

  build(header: ProgramHeader): Program {
    const { columns, events, barriers } = this;
    const ends: Partial<Record<ColumnName, number>> = {
      blockOffset: columns.blockId.length,
      instructionOffset: columns.op.length,
      operandOffset: columns.operandRank.length,
      waitOffset: columns.waitOn.length,
      postOffset: columns.postOn.length,
    };
    const whole = NAMES.map((name) => [name, columns[name].whole(ends[name])]);
    return {
      ...header,
      ...(Object.fromEntries(whole) as Pick<Program, ColumnName>),
      eventInitial: Int32Array.from(events, ({ initial }) => initial ?? 0),
      eventRank: Int32Array.from(events, ({ rank }) => rank),
      eventPeer: Int32Array.from(events, ({ peer }) => peer),
      eventId: Int32Array.from(events, ({ id }) => id),
      eventVia: Uint8Array.from(events, ({ via }) => VIA.indexOf(via)),
      barrierRank: Int32Array.from(barriers, ({ rank }) => rank),
      barrierId: Int32Array.from(barriers, ({ id }) => id),
      barrierBlocks: Int32Array.from(barriers, ({ blocks }) => blocks),
    };
  }
}
