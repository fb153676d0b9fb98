import type { AccessOrder } from "./access-order.ts";

/** So many of the slots that were given back last are tried before a new one is made. */
const TRIED = 8;

/** Scratch memory of the ranks, in slots of the size of a part. */
export interface Scratch {
  /** [ranks] chunks in use at most. */
  readonly chunks: number[];
  /** Returns the first chunk of a slot whose last use is over when the next instruction of `block` begins. */
  take(rank: number, size: number, block: number): number;
  giveBack(rank: number, size: number, at: number): void;
  /** Returns the memory cell of a slot. */
  cellOf(rank: number, at: number): number;
}

/** Returns scratch memory that nobody uses. A slot is only used again where nobody has to wait for that. */
export function freshScratch(ranks: number, order: AccessOrder): Scratch {
  const chunks = new Array<number>(ranks).fill(0);
  const cells: number[][] = Array.from({ length: ranks }, () => []);
  const free: Map<number, number[]>[] = Array.from({ length: ranks }, () => new Map());
  return {
    chunks,
    take(rank, size, block) {
      const slots = free[rank].get(size) ?? [];
      for (let i = slots.length - 1; i >= Math.max(0, slots.length - TRIED); i--)
        if (order.isOver(cells[rank][slots[i]], block)) return slots.splice(i, 1)[0];
      const at = chunks[rank];
      chunks[rank] += size;
      cells[rank][at] = order.addCell();
      return at;
    },
    giveBack(rank, size, at) {
      const slots = free[rank].get(size);
      if (slots === undefined) free[rank].set(size, [at]);
      else slots.push(at);
    },
    cellOf: (rank, at) => cells[rank][at],
  };
}
