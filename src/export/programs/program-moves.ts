import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import type { NamedCollective } from "../../model/collective/collective.ts";
import { heldOperand, messagesOf } from "../../model/program/messages.ts";
import {
  blockOfInstructions,
  INPUT,
  instructionCount,
  OPS,
  OUTPUT,
  type Program,
  SCRATCH,
} from "../../model/program/program.ts";

/** What both languages, of msccl-tools and of MSCCL++, call the collectives that they have; buffers with a block for each rank. */
const COLLECTIVES: Readonly<
  Partial<Record<NamedCollective | "custom", readonly [name: string, blocked: readonly number[]]>>
> = {
  allgather: ["AllGather", [OUTPUT]],
  reducescatter: ["ReduceScatter", [INPUT]],
  allreduce: ["AllReduce", [INPUT, OUTPUT]],
  alltoall: ["AllToAll", [INPUT, OUTPUT]],
};

/** Returns a collective's name in a language, and its buffers that have a block for each rank. Throws InputError for others. */
export function languageCollective(collective: Program["collective"], format: string) {
  const known = COLLECTIVES[collective];
  if (known !== undefined) return known;
  const names = Object.keys(COLLECTIVES).join(", ");
  throw new InputError(optionName("to", ` ${format}`), `one of ${names}`, collective).as("unknown-name");
}

/** Chunks that go from a place to another, of the same rank or of a peer, and are added there or replace what is there. */
export interface ProgramMove {
  readonly source: number;
  readonly sourceBuffer: number;
  readonly sourceIndex: number;
  readonly target: number;
  readonly targetBuffer: number;
  readonly targetIndex: number;
  readonly chunks: number;
  readonly adds: boolean;
}

/** A place in the memory of a rank, whatever it is called in place. */
type Operand = Pick<ProgramMove, "source" | "sourceBuffer" | "sourceIndex">;

/**
 * Returns what a correct msccl program moves, in rounds: a move is in the round after the last one of which it needs the data or the
 * place, so those of a round may happen in any order. A message is one move, of a step that passes on what it receives, too, which
 * then keeps it. In place, buffers that are the same memory have one name: input, but for all-gather output. Throws InputError for moves that must happen at once, such as two ranks
 * that exchange what they have in place. O(instructions + chunks moved).
 */
export function programMoves(program: Program): readonly (readonly ProgramMove[])[] {
  const moves: ProgramMove[] = [];
  const needs: Set<number>[] = [];
  const cells = cellsOf(program);
  const begin = (move: ProgramMove): number => {
    needs.push(new Set());
    return moves.push(move) - 1;
  };
  const uses = (move: number, rank: number, buffer: number, index: number, writes: boolean): void => {
    for (let k = 0; k < moves[move].chunks; k++) {
      const cell = cells.of(rank, buffer, index + k);
      const needed = writes ? [...cell.readers, cell.writer] : [cell.writer];
      for (const other of needed) if (other >= 0 && other !== move) needs[move].add(other);
      if (writes) [cell.writer, cell.readers] = [move, []];
      else cell.readers.push(move);
    }
  };
  const local = (from: Operand, to: Operand, chunks: number, adds: boolean): void => {
    const { source: target, sourceBuffer: targetBuffer, sourceIndex: targetIndex } = to;
    const move = begin({ ...from, target, targetBuffer, targetIndex, chunks, adds });
    uses(move, from.source, from.sourceBuffer, from.sourceIndex, false);
    uses(move, target, targetBuffer, targetIndex, true);
  };
  const { receiveOf } = messagesOf(program);
  const messageInto = new Map<number, number>();
  for (const i of instructionOrder(program)) {
    const operand = (at: number): Operand => cells.place(program, at);
    const first = program.operandOffset[i];
    const held = heldOperand(program, i);
    const [chunks, sources] = [program.chunks[i], program.sourceCount[i]];
    if (held === undefined) continue;
    const to = operand(held);
    if (program.receives[i] === 1) {
      if (sources > 0 && first !== held && !isSame(operand(first), to)) local(operand(first), to, chunks, false);
      const message = messageInto.get(i);
      if (message !== undefined) uses(message, to.source, to.sourceBuffer, to.sourceIndex, true);
    } else if (program.sends[i] === 0) {
      const added = OPS[program.op[i]] === "re";
      for (let s = first; s < first + sources; s++)
        if (!added || !isSame(operand(s), to)) local(operand(s), to, chunks, added);
    }
    const receive = receiveOf[i];
    const there = heldOperand(program, receive);
    if (program.sends[i] === 0 || there === undefined) continue;
    const { source: target, sourceBuffer: targetBuffer, sourceIndex: targetIndex } = operand(there);
    const adds = program.sourceCount[receive] > 0;
    const message = begin({ ...to, target, targetBuffer, targetIndex, chunks, adds });
    uses(message, to.source, to.sourceBuffer, to.sourceIndex, false);
    messageInto.set(receive, message);
  }
  return inRounds(moves, needs);
}

const isSame = (a: Operand, b: Operand): boolean =>
  a.source === b.source && a.sourceBuffer === b.sourceBuffer && a.sourceIndex === b.sourceIndex;

/** Who wrote a chunk of memory last, and who has read it since. */
interface Cell {
  writer: number;
  readers: number[];
}

/** Returns the chunks of memory of a program, and what places are called: in place, input and output are one memory. */
function cellsOf(program: Program) {
  const { collective, rankCount, loopChunks, outOfPlace } = program;
  const part = loopChunks / rankCount;
  const cells: Map<number, Cell>[] = Array.from({ length: rankCount }, () => new Map());
  return {
    of(rank: number, buffer: number, index: number): Cell {
      const key = index * 3 + buffer;
      const known = cells[rank].get(key);
      const cell = known ?? { writer: -1, readers: [] };
      if (known === undefined) cells[rank].set(key, cell);
      return cell;
    },
    place({ operandRank, operandBuffer, operandIndex }: Program, at: number): Operand {
      const [source, buffer, index] = [operandRank[at], operandBuffer[at], operandIndex[at]];
      if (outOfPlace || buffer === SCRATCH) return { source, sourceBuffer: buffer, sourceIndex: index };
      if (collective === "allgather")
        return { source, sourceBuffer: OUTPUT, sourceIndex: buffer === INPUT ? source * part + index : index };
      const shift = collective === "reducescatter" && buffer === OUTPUT ? source * part : 0;
      return { source, sourceBuffer: INPUT, sourceIndex: shift + index };
    },
  };
}

/** Returns instructions in an order in which they can happen one after the other. O(instructions + waits). */
function instructionOrder(program: Program): readonly number[] {
  const { waitOffset, waitOn, instructionOffset } = program;
  const count = instructionCount(program);
  const { sendOf, receiveOf } = messagesOf(program);
  const blockOf = blockOfInstructions(program);
  const missing = new Int32Array(count);
  const waiters: number[][] = Array.from({ length: count }, () => []);
  for (let i = 0; i < count; i++) {
    if (i > instructionOffset[blockOf[i]]) missing[i]++;
    if (sendOf[i] >= 0) missing[i]++;
    for (let w = waitOffset[i]; w < waitOffset[i + 1]; w++) {
      missing[i]++;
      waiters[waitOn[w]].push(i);
    }
  }
  const order: number[] = [];
  for (let i = 0; i < count; i++) if (missing[i] === 0) order.push(i);
  const release = (i: number): void => {
    if (--missing[i] === 0) order.push(i);
  };
  for (let at = 0; at < order.length; at++) {
    const i = order[at];
    if (i + 1 < instructionOffset[blockOf[i] + 1]) release(i + 1);
    if (receiveOf[i] >= 0) release(receiveOf[i]);
    for (const waiter of waiters[i]) release(waiter);
  }
  return order;
}

/** Returns moves in rounds. Throws InputError where some need each other. O(moves + needs). */
function inRounds(moves: readonly ProgramMove[], needs: readonly ReadonlySet<number>[]): ProgramMove[][] {
  const missing = Int32Array.from(needs, ({ size }) => size);
  const neededBy: number[][] = moves.map(() => []);
  needs.forEach((others, move) => {
    for (const other of others) neededBy[other].push(move);
  });
  const rounds: ProgramMove[][] = [];
  let now = moves.flatMap((_, move) => (missing[move] === 0 ? [move] : []));
  let done = 0;
  while (now.length > 0) {
    rounds.push(now.map((move) => moves[move]));
    done += now.length;
    const next: number[] = [];
    for (const move of now) for (const other of neededBy[move]) if (--missing[other] === 0) next.push(other);
    now = next.sort((a, b) => a - b);
  }
  if (done === moves.length) return rounds;
  throw new InputError(
    "a program to be written move by move",
    "moves that can happen one after the other",
    inWords("an exchange in place"),
  );
}

/**
 * Returns the least number s of ranks such that every rank r + s (mod ranks) does what rank r does with all ranks shifted by s; as
 * many as there are ranks where there is none smaller. `textOf(rank, shift)` says what a rank does, with ranks counted from `shift`
 * on. O(ranks x divisors of ranks x text).
 */
export function leastShift(rankCount: number, textOf: (rank: number, shift: number) => string): number {
  const texts = Array.from({ length: rankCount }, (_, rank) => textOf(rank, 0));
  for (let shift = 1; shift < rankCount; shift++) {
    if (rankCount % shift !== 0) continue;
    if (texts.every((text, rank) => textOf((rank + shift) % rankCount, shift) === text)) return shift;
  }
  return rankCount;
}
