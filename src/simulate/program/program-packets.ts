import { InputError } from "../../base/errors.ts";
import { instructionCount, type Program } from "../../model/program/program.ts";

/** Chunks that are written and read as packets, which carry their own flag. */
export interface Packets {
  /** Returns the number of a packet; k-th chunk of an operand. */
  readonly numberOf: (operand: number, k: number) => number;
  readonly count: number;
}

const MOST_PACKETS = 10_000_000;

/** Returns the packets of a program. Throws InputError for more than 1e7. O(chunks of operands that are packets). */
export function packetsOf(program: Program): Packets {
  const { operandOffset, operandPacket, operandRank, operandBuffer, operandIndex, chunks } = program;
  const numbers = new Map<number, number>();
  const key = (o: number, k: number): number => (operandRank[o] * 3 + operandBuffer[o]) * 2 ** 32 + operandIndex[o] + k;
  let total = 0;
  for (let i = 0; i < instructionCount(program); i++)
    for (let o = operandOffset[i]; o < operandOffset[i + 1]; o++) {
      if (operandPacket[o] === 0) continue;
      total += chunks[i];
      if (total > MOST_PACKETS) throw new InputError(program.name, `at most ${MOST_PACKETS} chunks in packets`, total);
      for (let k = 0; k < chunks[i]; k++) if (!numbers.has(key(o, k))) numbers.set(key(o, k), numbers.size);
    }
  return { numberOf: (o, k) => numbers.get(key(o, k)) ?? 0, count: numbers.size };
}
