import { growingInt32 } from "../model/numbers/column.ts";

/** Which instructions of a rank must wait for which, in blocks that run side by side. */
export interface AccessOrder {
  /** Returns a new memory cell that nobody has used. */
  addCell(): number;
  /** Begins instruction number `instruction`: the next one, at the end of `block`. */
  begin(instruction: number, block: number): void;
  /** The instruction that has begun reads, or writes, a cell. All reads of an instruction precede its writes. */
  reads(cell: number): void;
  writes(cell: number): void;
  /** Returns what the instruction that has begun must wait for, the latest first, without what these have waited for. */
  end(): readonly number[];
  /** Returns whether all uses of a cell are over when the next instruction of a block begins. */
  isOver(cell: number, block: number): boolean;
}

/**
 * Returns an order of accesses: a reader waits for the last writer, a writer for this and for all readers since, unless they are
 * of the same block or known to be over: a block knows of the others what it has waited for, and what those knew. Blocks of
 * different ranks never meet in a cell. O(1) per access amortised; a wait costs O(blocks of the rank).
 *
 * @param numberInRank [blocks] of a block among those of its rank; may grow while instructions are added
 */
export function accessOrder(numberInRank: readonly number[]): AccessOrder {
  const writer = growingInt32();
  const readers = growingInt32();
  const nextReader = growingInt32();
  const readerOf = growingInt32();
  const blockOf = growingInt32();
  const place = growingInt32();
  const length: number[] = [];
  /** Rows: place of the last instruction that is known to be over, for each block of the rank, as far as there is one; -1: none. */
  const rows = growingInt32();
  const rowFrom = growingInt32();
  rowFrom.push(0);
  const widthOf = (row: number): number => rowFrom.values[row + 1] - rowFrom.values[row];
  /** [blocks] and [instructions] row; 0 is empty. */
  const known: number[] = [];
  const knownAt = growingInt32();
  const nothing: readonly number[] = [];
  rowFrom.push(0);
  let now = -1;
  let here = -1;
  const needed: number[] = [];

  const knows = (block: number, other: number): boolean => {
    const of = blockOf.values[other];
    if (of === block) return true;
    const row = known[block] ?? 0;
    const column = numberInRank[of];
    return column < widthOf(row) && rows.values[rowFrom.values[row] + column] >= place.values[other];
  };
  /** Returns a row that knows what two know, and that an instruction is over. */
  const learned = (one: number, two: number, other: number): number => {
    const column = numberInRank[blockOf.values[other]];
    const width = Math.max(widthOf(one), widthOf(two), column + 1);
    const row = rowFrom.length - 1;
    const from = rows.grow(width);
    const { values } = rows;
    const mineFrom = rowFrom.values[one];
    values.copyWithin(from, mineFrom, mineFrom + widthOf(one));
    values.fill(-1, from + widthOf(one), from + width);
    const theirsFrom = rowFrom.values[two];
    const theirs = widthOf(two);
    for (let b = 0; b < theirs; b++) {
      const later = values[theirsFrom + b];
      if (later > values[from + b]) values[from + b] = later;
    }
    values[from + column] = place.values[other];
    rowFrom.push(rows.length);
    return row;
  };
  const need = (other: number): void => {
    if (other >= 0 && other !== now && !knows(here, other)) needed.push(other);
  };
  return {
    addCell() {
      readers.push(-1);
      return writer.push(-1);
    },
    begin(instruction, block) {
      now = instruction;
      here = block;
      needed.length = 0;
      blockOf.push(block);
      place.push(length[block] ?? 0);
      length[block] = (length[block] ?? 0) + 1;
    },
    reads(cell) {
      need(writer.values[cell]);
      readerOf.push(now);
      readers.values[cell] = nextReader.push(readers.values[cell]);
    },
    writes(cell) {
      need(writer.values[cell]);
      for (let at = readers.values[cell]; at >= 0; at = nextReader.values[at]) need(readerOf.values[at]);
      readers.values[cell] = -1;
      writer.values[cell] = now;
    },
    end() {
      if (needed.length === 0) {
        knownAt.push(known[here] ?? 0);
        return nothing;
      }
      const waits: number[] = [];
      for (const other of needed.sort((a, b) => b - a)) {
        if (knows(here, other)) continue;
        waits.push(other);
        known[here] = learned(known[here] ?? 0, knownAt.values[other], other);
      }
      knownAt.push(known[here] ?? 0);
      return waits;
    },
    isOver(cell, block) {
      if (writer.values[cell] >= 0 && !knows(block, writer.values[cell])) return false;
      for (let at = readers.values[cell]; at >= 0; at = nextReader.values[at])
        if (!knows(block, readerOf.values[at])) return false;
      return true;
    },
  };
}
