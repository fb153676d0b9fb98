import { InputError } from "../../base/errors.ts";
import { ceil, divide, multiply, type Rational, rational, subtract, toNumber } from "../../model/numbers/rational.ts";
import { PS_PER_SECOND } from "../../model/numbers/units.ts";
import type { MpiPlan } from "../../model/program/mpi-plan.ts";
import { instructionCount, type Program } from "../../model/program/program.ts";
import { CONNECTIONS, MSCCL_RUNTIMES } from "../../model/program/runtimes.ts";
import { type Adds, allBut } from "./mechanisms.ts";
import type { ProgramNetwork } from "./network.ts";

/** How a runtime cuts what it sends. */
export interface Cutting {
  /** Bytes of every chunk that one pass over the program moves, and of a message at most; mscclpp: of a message at most. */
  readonly sliceBytes: number;
  /** Parts of a message that travel, and are passed on, one by one. */
  readonly cuts: number;
  /** Such parts in a connection before its sender has to wait. */
  readonly slots: number;
}

/** Simple cuts a message in two, which travel one by one (MSCCL_SLICESTEPS of microsoft/msccl). */
const cuttingOf = (protocol: Program["protocol"]): Cutting => {
  const { messageBytes, messages } = CONNECTIONS[protocol];
  const cuts = protocol === "Simple" ? 2 : 1;
  return { sliceBytes: messageBytes, cuts, slots: messages * cuts };
};

/** MSCCL++ has no slices; links take turns among the messages of an instruction by so much. */
const PLAN_CUTTING: Cutting = { sliceBytes: 1_048_576, cuts: 1, slots: 1 };

/** What links carry for a byte of data: LL sends 4 bytes of flag with 4 of data, LL128 8 with 120. */
const ON_THE_WIRE: Readonly<Record<Program["protocol"], Rational>> = {
  Simple: rational(1),
  LL: rational(2),
  LL128: rational(16, 15),
};
const PACKETS = rational(2);

const MOST_CHUNKS = MSCCL_RUNTIMES.msccl.chunksPerStep;
/** Parts of a message, and of what is in a connection. */
const MOST_PARTS = 1024;
/** Messages and instructions of a simulation; beyond, slices grow. */
const MOST_MESSAGES = 4_000_000;
const MOST_INSTRUCTIONS = 16_000_000;

/** Sizes of messages in a call. */
export interface Sizes extends Cutting {
  /** Slices had to grow, for there would be too many. */
  readonly grown: boolean;
  readonly chunkBytes: Rational;
  readonly bytesOfChunk: number;
  /** msccl: how often the program is carried out. */
  readonly passes: number;
  /** msccl: chunks of an instruction that travel as one message. */
  readonly chunksPerMessage: number;
  readonly adds: Adds;
}

/**
 * Returns the sizes of messages in a call of `sizeBytes`, as nccl-tests count them. Throws InputError for sizes that are no
 * positive integers. O(instructions).
 */
export function sizesOf(program: Program, sizeBytes: number, asked: Partial<Cutting>, adds: Adds = allBut()): Sizes {
  positive("the size", sizeBytes);
  const { sliceBytes: slice = 1, cuts: parts = 1, slots: room = 1 } = asked;
  positive("sliceBytes", slice);
  for (const [name, value] of [["cuts", parts] as const, ["slots", room] as const])
    if (!(Number.isSafeInteger(value) && value >= 1 && value <= MOST_PARTS))
      throw new InputError(name, `an integer in 1 .. ${MOST_PARTS}`, value).as("out-of-range");
  if (program.mpi !== undefined) return sizesOfPlan(program, program.mpi, sizeBytes, asked, adds);
  const usual = program.machine === "msccl" ? cuttingOf(program.protocol) : PLAN_CUTTING;
  const cuts = adds.slices ? (asked.cuts ?? usual.cuts) : 1;
  const slots = adds.slots ? (asked.slots ?? usual.slots) : Number.POSITIVE_INFINITY;
  const chunkBytes = rational(BigInt(sizeBytes), BigInt(program.loopChunks));
  const bytesOfChunk = toNumber(chunkBytes);
  let sliceBytes = adds.slices ? (asked.sliceBytes ?? usual.sliceBytes) : sizeBytes;
  let grown = false;
  for (;;) {
    const sizes = {
      sliceBytes,
      cuts,
      slots,
      grown,
      chunkBytes,
      bytesOfChunk,
      adds,
      ...passesOf(program, chunkBytes, sliceBytes, adds),
    };
    const work = workOf(program, sizes);
    const most = program.machine === "msccl" && sizes.passes === 1;
    if (most || (work.messages <= MOST_MESSAGES && work.instructions <= MOST_INSTRUCTIONS)) return sizes;
    if (work.messages <= work.least) return sizes;
    sliceBytes *= 2;
    grown = true;
  }
}

/** Pieces of a message under way on a connection of MPI. */
const PIECES_UNDER_WAY = 8;

/** Returns the sizes of messages of a plan for MPI: each goes in pieces that are passed on one by one. */
function sizesOfPlan(
  program: Program,
  { segmentBytes }: MpiPlan,
  sizeBytes: number,
  asked: Partial<Cutting>,
  adds: Adds,
): Sizes {
  const chunkBytes = rational(BigInt(sizeBytes), BigInt(program.loopChunks));
  const bytesOfChunk = toNumber(chunkBytes);
  let sliceBytes = adds.slices ? (asked.sliceBytes ?? (segmentBytes === 0 ? sizeBytes : segmentBytes)) : sizeBytes;
  for (let grown = false; ; grown = true) {
    const sizes = {
      sliceBytes,
      cuts: (adds.slices ? asked.cuts : 1) ?? Math.max(1, Math.ceil(bytesOfChunk / sliceBytes)),
      slots: adds.slots ? (asked.slots ?? PIECES_UNDER_WAY) : Number.POSITIVE_INFINITY,
      grown,
      chunkBytes,
      bytesOfChunk,
      passes: 1,
      chunksPerMessage: adds.messages ? Math.max(1, Math.floor(sliceBytes / bytesOfChunk)) : 1,
      adds,
    };
    if (sliceBytes >= sizeBytes || workOf(program, sizes).messages <= MOST_MESSAGES) return sizes;
    sliceBytes *= 2;
  }
}

function passesOf({ machine }: Program, chunkBytes: Rational, sliceBytes: number, adds: Adds) {
  if (machine === "mscclpp") return { passes: 1, chunksPerMessage: 1 };
  return {
    passes: Number(ceil(divide(chunkBytes, rational(sliceBytes)))),
    chunksPerMessage: adds.messages
      ? Math.max(1, Math.min(MOST_CHUNKS, Math.floor(sliceBytes / Number(ceil(chunkBytes)))))
      : 1,
  };
}

/** Returns the messages of an instruction in a pass, cut. */
export const messagesOf = (sizes: Sizes, chunks: number): number =>
  Math.ceil(chunks / sizes.chunksPerMessage) * sizes.cuts;

/**
 * What is loaded or stored through a switch takes turns of this many bytes, for every part of it waits for links of all ranks: a thread
 * block moves 16 KiB at once. At most this many turns.
 */
const SWITCH_TURN_BYTES = 65_536;
const MOST_SWITCH_TURNS = 64;

/** Returns the pieces in which an mscclpp instruction moves its data, itself or by a switch. */
export function piecesOf({ bytesOfChunk, sliceBytes, adds }: Sizes, chunks: number, bySwitch: boolean): number {
  const bytes = bytesOfChunk * chunks;
  const turns = bySwitch && adds.switches ? Math.min(MOST_SWITCH_TURNS, Math.ceil(bytes / SWITCH_TURN_BYTES)) : 1;
  return Math.max(1, turns, adds.messages ? Math.ceil(bytes / sliceBytes) : chunks);
}

/** Returns how many messages a call of a program is, as the runtime cuts them. Throws as sizesOf does. O(instructions). */
export const messagesIn = (program: Program, sizeBytes: number): number =>
  workOf(program, sizesOf(program, sizeBytes, {})).messages;

function workOf(program: Program, sizes: Sizes) {
  let messages = 0;
  let least = 0;
  for (let i = 0; i < instructionCount(program); i++) {
    if (program.machine === "msccl") {
      if (program.sends[i] === 1) messages += messagesOf(sizes, program.chunks[i]);
      continue;
    }
    const operands = program.operandOffset[i + 1] - program.operandOffset[i];
    messages += operands * piecesOf(sizes, program.chunks[i], false);
    least += operands;
  }
  return { messages: messages * sizes.passes, instructions: instructionCount(program) * sizes.passes, least };
}

/** Returns the row of a size of message in the network's table of serialisations; made when first asked for. */
export type RowOf = (chunks: number, last: boolean, packets: boolean, bySwitch?: boolean) => number;

/**
 * Returns the sizes of messages as rows of the network's table: `chunks` chunks of one pass (`last`: of the last one, which moves
 * the rest) cut as the runtime cuts them. Times are rounded up to the picosecond.
 */
export function sizeTable(program: Program, sizes: Sizes, network: ProgramNetwork): RowOf {
  const rows = new Map<number, number>();
  const { chunkBytes, sliceBytes, passes, cuts, adds } = sizes;
  const full = passes === 1 ? chunkBytes : rational(sliceBytes);
  const rest = subtract(chunkBytes, multiply(full, rational(passes - 1)));
  return (chunks, last, packets, bySwitch = false) => {
    const key = 8 * chunks + (bySwitch ? 4 : 0) + (last ? 2 : 0) + (packets ? 1 : 0);
    const known = rows.get(key);
    if (known !== undefined) return known;
    const parts = program.machine === "msccl" ? cuts : piecesOf(sizes, chunks, bySwitch);
    const wire = adds.flags ? wireOf(program, packets) : rational(1);
    const bytes = multiply(multiply(last ? rest : full, rational(chunks, parts)), wire);
    const times = network.bandwidths.map((bandwidth) =>
      Number(ceil(divide(multiply(bytes, rational(PS_PER_SECOND)), rational(BigInt(bandwidth))))),
    );
    const row = rows.size;
    rows.set(key, row);
    network.serialPs = Float64Array.from([...network.serialPs, ...times]);
    return row;
  };
}

const wireOf = ({ machine, protocol }: Program, packets: boolean): Rational =>
  packets ? PACKETS : machine === "msccl" ? ON_THE_WIRE[protocol] : rational(1);

function positive(place: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 1) throw new InputError(place, "a positive integer", value);
}
