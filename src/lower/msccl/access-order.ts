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
  const writer: number[] = [];
  const readers: number[] = [];
  const nextReader: number[] = [];
  const readerOf: number[] = [];
  const blockOf: number[] = [];
  const place: number[] = [];
  const length: number[] = [];
  /** [blocks] and [instructions] place of the last instruction that is known to be over, for each block of the rank. */
  const known: (readonly number[])[] = [];
  const knownAt: (readonly number[])[] = [];
  const nothing: readonly number[] = [];
  let now = -1;
  let here = -1;
  let needed: number[] = [];

  const knows = (block: number, other: number): boolean =>
    blockOf[other] === block || ((known[block] ?? nothing)[numberInRank[blockOf[other]]] ?? -1) >= place[other];
  const need = (other: number): void => {
    if (other >= 0 && other !== now && !knows(here, other)) needed.push(other);
  };
  return {
    addCell() {
      readers.push(-1);
      return writer.push(-1) - 1;
    },
    begin(instruction, block) {
      now = instruction;
      here = block;
      needed = [];
      blockOf[now] = block;
      place[now] = length[block] ?? 0;
      length[block] = place[now] + 1;
    },
    reads(cell) {
      need(writer[cell]);
      readerOf.push(now);
      readers[cell] = nextReader.push(readers[cell]) - 1;
    },
    writes(cell) {
      need(writer[cell]);
      for (let at = readers[cell]; at >= 0; at = nextReader[at]) need(readerOf[at]);
      readers[cell] = -1;
      writer[cell] = now;
    },
    end() {
      const waits: number[] = [];
      for (const other of needed.sort((a, b) => b - a)) {
        if (knows(here, other)) continue;
        waits.push(other);
        const mine = (known[here] ?? nothing).slice();
        const theirs = knownAt[other] ?? nothing;
        for (let b = 0; b < theirs.length; b++) if ((theirs[b] ?? -1) > (mine[b] ?? -1)) mine[b] = theirs[b];
        mine[numberInRank[blockOf[other]]] = place[other];
        for (let b = 0; b < mine.length; b++) mine[b] ??= -1;
        known[here] = mine;
      }
      if (known[here] !== undefined) knownAt[now] = known[here];
      return waits;
    },
    isOver(cell, block) {
      if (writer[cell] >= 0 && !knows(block, writer[cell])) return false;
      for (let at = readers[cell]; at >= 0; at = nextReader[at]) if (!knows(block, readerOf[at])) return false;
      return true;
    },
  };
}
