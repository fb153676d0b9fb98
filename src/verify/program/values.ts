import { addTo } from "../../model/numbers/ordering.ts";
import { INPUT, OUTPUT, type Program, SCRATCH, VIA } from "../../model/program/program.ts";
import { holdersOf, type ProgramTable } from "../../model/program/table.ts";
import { cellOf, isIdentity, type ProgramMemory } from "./memory.ts";
import type { Wiring } from "./wiring.ts";
import { chunkWords, type Findings, instructionWords } from "./words.ts";

const PORT = VIA.indexOf("port");

/** Of a cell: nothing was ever written to it. */
export const UNWRITTEN = -1;
/** In place of the one rank whose contribution a value is: of several. */
const SEVERAL = -1;

/**
 * What the memory holds. A cell is the sum of the contributions of some ranks to one chunk of their inputs: `chunk`, and the
 * rank (`alone`) or, where they are several, in `words` 32-bit words per cell, the set of the ranks; or UNWRITTEN; or, as
 * -2 - instruction, something that no correct result contains: a contribution twice, contributions to different chunks, or what
 * was never written.
 */
export interface ProgramValues {
  readonly chunk: Int32Array;
  readonly alone: Int32Array;
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
  const machine = machineOf(program, wiring, memory, found);
  const { chunk, alone, ranks, words, writer, spoilt } = machine;
  givenChunks(program, memory, (cell, rank, _, index) => {
    chunk[cell] = index;
    alone[cell] = rank;
  });
  for (const i of order) if (program.chunks[i] > 0 && !isIdentity(program, memory, i)) carryOut(machine, i);
  return { chunk, alone, ranks, words, writer, spoilt };
}

/** Returns the set of the ranks whose contributions a cell holds, in words of 32 bits. */
export function ranksIn({ alone, ranks, words }: ProgramValues, cell: number): Int32Array {
  if (alone[cell] === SEVERAL) return ranks.subarray(cell * words, (cell + 1) * words);
  const set = new Int32Array(words);
  set[alone[cell] >> 5] = 1 << (alone[cell] & 31);
  return set;
}

type Machine = ReturnType<typeof machineOf>;

function machineOf(program: Program, wiring: Wiring, memory: ProgramMemory, found: Findings) {
  const words = Math.max(1, Math.ceil(program.rankCount / 32));
  return {
    program,
    wiring,
    memory,
    found,
    words,
    chunk: new Int32Array(memory.cells).fill(UNWRITTEN),
    alone: new Int32Array(memory.cells),
    ranks: new Int32Array(memory.cells * words),
    writer: new Int32Array(memory.cells).fill(-1),
    /** [cells] 1: holds packets; none where no instruction knows packets. */
    asPacket: new Uint8Array(program.operandPacket.includes(1) ? memory.cells : 0),
    spoilt: new Map<number, { kind: "twice" | "mixed" | "unwritten"; words: string }>(),
    messages: messagesUnderWay(words, program.op.length),
    /** What is gathered for a chunk: of one rank, or of several. */
    sumOf: SEVERAL,
    sum: new Int32Array(words),
  };
}

/** Messages that were sent and not received: for each chunk a value, its rank, and its ranks. Places that were given back are used again. */
function messagesUnderWay(words: number, instructions: number) {
  /** [instructions] place of the first chunk of the message that it sends, -1: nowhere. */
  const at = new Int32Array(instructions).fill(-1);
  const free = new Map<number, number[]>();
  let values = new Int32Array(2 * 1024);
  let sets = new Int32Array(words * 1024);
  let used = 0;
  return {
    /** [2 x places], [words x places]; other arrays after some calls of `send`. */
    values: () => values,
    sets: () => sets,
    /** Returns the place of the message of an instruction, -1: it is not under way. */
    of: (instruction: number): number => (instruction < 0 ? -1 : at[instruction]),
    send(instruction: number, chunks: number): number {
      const again = free.get(chunks)?.pop();
      if (again === undefined) {
        while (2 * (used + chunks) > values.length) {
          values = twiceAsLong(values);
          sets = twiceAsLong(sets);
        }
        at[instruction] = used;
        used += chunks;
      } else at[instruction] = again;
      return at[instruction];
    },
    take(instruction: number, chunks: number): void {
      addTo(free, chunks, at[instruction]);
      at[instruction] = -1;
    },
  };
}

function twiceAsLong(column: Int32Array): Int32Array<ArrayBuffer> {
  const more = new Int32Array(2 * column.length);
  more.set(column);
  return more;
}

/** Gathers what an instruction reads, chunk by chunk, and leaves it where it writes. */
function carryOut(machine: Machine, i: number): void {
  const { program, wiring, memory, chunk, alone, ranks, words, writer, asPacket, messages, sum } = machine;
  const { operandOffset, sourceCount, operandPacket, chunks, receives, sends } = program;
  const first = operandOffset[i];
  const middle = first + sourceCount[i];
  const last = operandOffset[i + 1];
  const packets = asPacket.length > 0 && movesPackets(program, i);
  const message = receives[i] === 1 ? messages.of(wiring.sendOf[i]) : -1;
  const sent = sends[i] === 1 ? messages.send(i, chunks[i]) : -1;
  const [under, sets] = [messages.values(), messages.sets()];
  for (let k = 0; k < chunks[i]; k++) {
    let value = UNWRITTEN;
    const part = message + k;
    if (message >= 0) value = add(machine, i, value, under[2 * part], under[2 * part + 1], sets, part * words);
    for (let operand = first; operand < middle; operand++) {
      const cell = cellOf(program, memory, operand) + k;
      const wrongKind =
        asPacket.length > 0 && chunk[cell] !== UNWRITTEN && asPacket[cell] !== (packets ? 1 : operandPacket[operand]);
      if (chunk[cell] === UNWRITTEN || wrongKind) value = unwritten(machine, i, operand, k, wrongKind, asPacket[cell]);
      else value = add(machine, i, value, chunk[cell], alone[cell], ranks, cell * words);
    }
    const { sumOf } = machine;
    for (let operand = middle; operand < last; operand++) {
      const cell = cellOf(program, memory, operand) + k;
      chunk[cell] = value;
      alone[cell] = sumOf;
      if (sumOf === SEVERAL) for (let w = 0; w < words; w++) ranks[cell * words + w] = sum[w];
      writer[cell] = i;
      if (asPacket.length > 0) asPacket[cell] = operandPacket[operand];
    }
    if (sent >= 0) {
      const at = sent + k;
      under[2 * at] = value;
      under[2 * at + 1] = sumOf;
      if (sumOf === SEVERAL) sets.set(sum, at * words);
    }
  }
  if (message >= 0) messages.take(wiring.sendOf[i], chunks[wiring.sendOf[i]]);
}

/** A proxy moves packets as they lie: their flags are not looked at, but they must be there (mscclpp's handlePutPackets). */
const movesPackets = ({ via, operandOffset, operandPacket }: Program, i: number): boolean =>
  via[i] === PORT && operandPacket[operandOffset[i + 1] - 1] === 1 && operandOffset[i + 1] > operandOffset[i];

/** Adds a value, of one rank or of the set at a place, to what was gathered (-1: nothing yet) and returns the chunk of both. */
function add(
  machine: Machine,
  i: number,
  gathered: number,
  value: number,
  rank: number,
  set: Int32Array,
  at: number,
): number {
  const { words, sum } = machine;
  if (gathered < UNWRITTEN) return gathered;
  if (gathered === UNWRITTEN || value < UNWRITTEN) {
    machine.sumOf = rank;
    if (rank === SEVERAL) for (let w = 0; w < words; w++) sum[w] = set[at + w];
    return value;
  }
  if (gathered !== value) return spoil(machine, i, "mixed", `adds chunk ${value} of the input to chunk ${gathered}`);
  const before = machine.sumOf;
  if (before !== SEVERAL) {
    sum.fill(0);
    sum[before >> 5] = 1 << (before & 31);
    machine.sumOf = SEVERAL;
  }
  const [from, to] = rank === SEVERAL ? [0, words] : [rank >> 5, (rank >> 5) + 1];
  for (let w = from; w < to; w++) {
    const more = rank === SEVERAL ? set[at + w] : 1 << (rank & 31);
    const twice = sum[w] & more;
    if (twice !== 0) {
      const gpu = 32 * w + 31 - Math.clz32(twice);
      return spoil(machine, i, "twice", `adds the contribution of gpu ${gpu} to chunk ${value} again`);
    }
    sum[w] |= more;
  }
  return gathered;
}

function spoil({ spoilt }: Machine, i: number, kind: "twice" | "mixed" | "unwritten", why: string): number {
  if (!spoilt.has(i)) spoilt.set(i, { kind, words: why });
  return -2 - i;
}

/** Records a read of nothing; returns the value that stands for it. */
function unwritten(machine: Machine, i: number, operand: number, k: number, wrongKind: boolean, holds: number): number {
  const { program, wiring, spoilt, found } = machine;
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
  return spoil(machine, i, "unwritten", `reads ${name}, which holds nothing`);
}

function whyUnwritten(program: Program, operand: number): string {
  return program.operandBuffer[operand] === SCRATCH
    ? "where nothing was written before"
    : "where nothing was given or written before";
}

/**
 * Calls `each` for every cell that holds input when a call begins, with its rank, its place in the input, and which chunk it is:
 * its place again, but for programs with a table its chunk there. Of custom programs all inputs. O(chunks of inputs).
 */
export function givenChunks(
  program: Program,
  memory: ProgramMemory,
  each: (cell: number, rank: number, place: number, chunk: number) => void,
): void {
  const { collective, rankCount, rootRank, table } = program;
  const ofRoot = collective === "broadcast" || collective === "scatter";
  for (let r = 0; r < rankCount; r++) {
    if (ofRoot && r !== rootRank) continue;
    const at = 3 * r + INPUT;
    const first = table?.inputOffset[r] ?? 0;
    for (let k = 0; k < memory.to[at]; k++) each(memory.start[at] + k, r, k, table?.inputChunk[first + k] ?? k);
  }
}

/** In place of the rank whose data a cell must hold: the sum over all who have the chunk, and what any one of them has. */
export const FROM_ALL = -1;
export const FROM_ANY = -2;

/** What a cell must hold in the end: contributions to one chunk of the inputs, of one rank, FROM_ALL or FROM_ANY. */
type EachDue = (cell: number, rank: number, outputChunk: number, chunk: number, from: number) => void;

/**
 * Calls `each` for every cell of an output that a collective defines, rank by rank; of a custom program those of its table.
 * O(chunks of outputs).
 */
export function dueChunks(program: Program, memory: ProgramMemory, each: EachDue): void {
  if (program.table !== undefined) {
    dueOfTable(program.table, memory, each);
    return;
  }
  const { collective, rankCount, rootRank, loopChunks: whole } = program;
  const { part } = memory;
  const rootOnly = collective === "gather" || collective === "reduce";
  for (let r = 0; r < rankCount; r++) {
    if (rootOnly && r !== rootRank) continue;
    const chunks = collective === "reducescatter" || collective === "scatter" ? part : whole;
    for (let k = 0; k < chunks; k++) {
      const cell = memory.start[3 * r + OUTPUT] + k;
      switch (collective) {
        case "allgather":
        case "gather":
          each(cell, r, k, k % part, Math.floor(k / part));
          break;
        case "alltoall":
          each(cell, r, k, r * part + (k % part), Math.floor(k / part));
          break;
        case "scatter":
          each(cell, r, k, r * part + k, rootRank);
          break;
        case "broadcast":
          each(cell, r, k, k, rootRank);
          break;
        case "reducescatter":
          each(cell, r, k, r * part + k, FROM_ALL);
          break;
        default:
          each(cell, r, k, k, FROM_ALL);
      }
    }
  }
}

function dueOfTable(table: ProgramTable, memory: ProgramMemory, each: EachDue): void {
  const { sums, outputOffset, outputChunk } = table;
  const { offset, rank } = holdersOf(table);
  for (let r = 0; r + 1 < outputOffset.length; r++) {
    const first = outputOffset[r];
    for (let k = 0; k < outputOffset[r + 1] - first; k++) {
      const chunk = outputChunk[first + k];
      const single = offset[chunk + 1] - offset[chunk] === 1;
      const from = single ? rank[offset[chunk]] : sums[chunk] === 1 ? FROM_ALL : FROM_ANY;
      each(memory.start[3 * r + OUTPUT] + k, r, k, chunk, from);
    }
  }
}
