import { type Program, SCRATCH, VIA } from "../../model/program/program.ts";
import { cellOf, isIdentity } from "./program-bounds.ts";
import type { ProgramMemory } from "./program-memory.ts";
import { givenChunks } from "./program-task.ts";
import type { Wiring } from "./program-wiring.ts";
import { chunkWords, type Findings, instructionWords } from "./program-words.ts";

const PORT = VIA.indexOf("port");

/** Of a cell: nothing was ever written to it. */
export const UNWRITTEN = -1;

/**
 * What the memory holds. A cell is the sum of the contributions of some ranks to one chunk of their inputs: `chunk` and, in
 * `words` 32-bit words per cell, the set of the ranks; or UNWRITTEN; or, as -2 - instruction, something that no correct
 * result contains: a contribution twice, contributions to different chunks, or what was never written.
 */
export interface ProgramValues {
  readonly chunk: Int32Array;
  readonly ranks: Int32Array;
  readonly words: number;
  /** [cells] instruction that wrote last, -1: none. */
  readonly writer: Int32Array;
  /** Of instructions that spoilt what they wrote: how. */
  readonly spoilt: ReadonlyMap<number, { readonly kind: "twice" | "mixed" | "unwritten"; readonly words: string }>;
}

/**
 * Returns what the memory holds after the instructions ran in the given order, and records reads of what was never written.
 * Without data races every order that respects the waits gives the same values. O(chunks of operands x ranks / 32).
 */
export function valuesOf(
  program: Program,
  wiring: Wiring,
  memory: ProgramMemory,
  order: Int32Array,
  found: Findings,
): ProgramValues {
  const { operandOffset, sourceCount, operandPacket, chunks, receives, sends } = program;
  const words = Math.max(1, Math.ceil(program.rankCount / 32));
  const chunk = new Int32Array(memory.cells).fill(UNWRITTEN);
  const ranks = new Int32Array(memory.cells * words);
  const writer = new Int32Array(memory.cells).fill(-1);
  const asPacket = new Uint8Array(program.operandPacket.includes(1) ? memory.cells : 0);
  const spoilt = new Map<number, { kind: "twice" | "mixed" | "unwritten"; words: string }>();
  const messages = new Map<number, Int32Array>();
  const stride = 1 + words;
  const sum = new Int32Array(words);

  givenChunks(program, memory, (cell, rank, index) => {
    chunk[cell] = index;
    ranks[cell * words + (rank >> 5)] = 1 << (rank & 31);
  });

  const spoil = (i: number, kind: "twice" | "mixed" | "unwritten", why: string): number => {
    if (!spoilt.has(i)) spoilt.set(i, { kind, words: why });
    return -2 - i;
  };
  /** Adds a value to what was gathered (-1: nothing yet) and returns the chunk of both. */
  const add = (i: number, gathered: number, value: number, set: Int32Array, at: number): number => {
    if (gathered < UNWRITTEN) return gathered;
    if (gathered === UNWRITTEN || value < UNWRITTEN) {
      for (let w = 0; w < words; w++) sum[w] = set[at + w];
      return value;
    }
    if (gathered !== value) return spoil(i, "mixed", `adds chunk ${value} of the input to chunk ${gathered}`);
    for (let w = 0; w < words; w++) {
      const twice = sum[w] & set[at + w];
      if (twice !== 0)
        return spoil(
          i,
          "twice",
          `adds the contribution of gpu ${32 * w + 31 - Math.clz32(twice)} to chunk ${value} again`,
        );
      sum[w] |= set[at + w];
    }
    return gathered;
  };
  /** Records a read of nothing; returns the value that stands for it. */
  const unwritten = (i: number, operand: number, k: number, wrongKind: boolean, holds: number): number => {
    const { operandRank, operandBuffer, operandIndex } = program;
    const name = chunkWords(operandRank[operand], operandBuffer[operand], operandIndex[operand] + k);
    if (!spoilt.has(i))
      found.error(
        wrongKind ? "packets" : "unwritten",
        () =>
          wrongKind
            ? `${instructionWords(program, wiring, i)} reads ${name} as ${holds === 1 ? "plain data, but it holds packets" : "packets, but it holds plain data"}`
            : `${instructionWords(program, wiring, i)} reads ${name}, ${whyUnwritten(program, operand)}`,
        i,
      );
    return spoil(i, "unwritten", `reads ${name}, which holds nothing`);
  };

  /** A proxy moves packets as they lie: their flags are not looked at, but they must be there (mscclpp's handlePutPackets). */
  const movesPackets = (i: number): boolean =>
    program.via[i] === PORT && operandPacket[operandOffset[i + 1] - 1] === 1 && operandOffset[i + 1] > operandOffset[i];

  for (const i of order) {
    if (chunks[i] === 0 || isIdentity(program, memory, i)) continue;
    const first = operandOffset[i];
    const middle = first + sourceCount[i];
    const last = operandOffset[i + 1];
    const packets = asPacket.length > 0 && movesPackets(i);
    const message = receives[i] === 1 ? messages.get(wiring.sendOf[i]) : undefined;
    const sent = sends[i] === 1 ? new Int32Array(chunks[i] * stride) : null;
    for (let k = 0; k < chunks[i]; k++) {
      let value = UNWRITTEN;
      if (message !== undefined) value = add(i, value, message[k * stride], message, k * stride + 1);
      for (let operand = first; operand < middle; operand++) {
        const cell = cellOf(program, memory, operand) + k;
        const wrongKind =
          asPacket.length > 0 && chunk[cell] !== UNWRITTEN && asPacket[cell] !== (packets ? 1 : operandPacket[operand]);
        if (chunk[cell] === UNWRITTEN || wrongKind) value = unwritten(i, operand, k, wrongKind, asPacket[cell]);
        else value = add(i, value, chunk[cell], ranks, cell * words);
      }
      for (let operand = middle; operand < last; operand++) {
        const cell = cellOf(program, memory, operand) + k;
        chunk[cell] = value;
        for (let w = 0; w < words; w++) ranks[cell * words + w] = sum[w];
        writer[cell] = i;
        if (asPacket.length > 0) asPacket[cell] = operandPacket[operand];
      }
      if (sent !== null) {
        sent[k * stride] = value;
        sent.set(sum, k * stride + 1);
      }
    }
    if (sent !== null) messages.set(i, sent);
    if (message !== undefined) messages.delete(wiring.sendOf[i]);
  }
  return { chunk, ranks, words, writer, spoilt };
}

function whyUnwritten(program: Program, operand: number): string {
  return program.operandBuffer[operand] === SCRATCH
    ? "where nothing was written before"
    : "where nothing was given or written before";
}
