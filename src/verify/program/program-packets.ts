import { instructionCount, type Program } from "../../model/program/program.ts";

/** The chunks that some instruction reads as packets, and which of them were written as packets so far. */
export interface PacketCells {
  readonly count: number;
  /** Returns a cell that the instruction reads and nobody wrote yet, or -1. */
  readonly unwritten: (instruction: number) => number;
  /** Marks what the instruction writes; `each` is told the cells that somebody reads. */
  readonly write: (instruction: number, each: (cell: number) => void) => void;
  /** Returns the instructions that write a cell as packets. */
  readonly writers: (cell: number) => readonly number[];
}

const NONE: PacketCells = { count: 0, unwritten: () => -1, write: () => {}, writers: () => [] };

/** Returns the packets of a program; nothing is allocated where it has none. O(operands + chunks of packets). */
export function packetCells(program: Program): PacketCells {
  if (!program.operandPacket.includes(1)) return NONE;
  const cells = new Map<string, number>();
  const reads: number[][] = [];
  const key = (operand: number, chunk: number): string =>
    `${program.operandRank[operand]} ${program.operandBuffer[operand]} ${program.operandIndex[operand] + chunk}`;
  forPackets(program, "read", (i, operand, chunk) => {
    const name = key(operand, chunk);
    const cell = cells.get(name) ?? cells.size;
    cells.set(name, cell);
    reads[i] ??= [];
    reads[i].push(cell);
  });
  const writes: number[][] = [];
  const writers: number[][] = Array.from({ length: cells.size }, () => []);
  forPackets(program, "write", (i, operand, chunk) => {
    const cell = cells.get(key(operand, chunk));
    if (cell === undefined) return;
    writes[i] ??= [];
    writes[i].push(cell);
    writers[cell].push(i);
  });
  const written = new Uint8Array(cells.size);
  const seen = new Int32Array(instructionCount(program));
  return {
    count: cells.size,
    unwritten(i) {
      const wanted = reads[i] ?? [];
      while (seen[i] < wanted.length && written[wanted[seen[i]]] === 1) seen[i]++;
      return seen[i] < wanted.length ? wanted[seen[i]] : -1;
    },
    write(i, each) {
      for (const cell of writes[i] ?? []) {
        written[cell] = 1;
        each(cell);
      }
    },
    writers: (cell) => writers[cell],
  };
}

/** Calls `each` for every chunk that is read or written as packets, instruction by instruction. */
export function forPackets(
  program: Program,
  side: "read" | "write",
  each: (instruction: number, operand: number, chunk: number) => void,
): void {
  for (let i = 0; i < instructionCount(program); i++) {
    const middle = program.operandOffset[i] + program.sourceCount[i];
    const from = side === "read" ? program.operandOffset[i] : middle;
    const to = side === "read" ? middle : program.operandOffset[i + 1];
    for (let operand = from; operand < to; operand++)
      if (program.operandPacket[operand] === 1) for (let k = 0; k < program.chunks[i]; k++) each(i, operand, k);
  }
}
