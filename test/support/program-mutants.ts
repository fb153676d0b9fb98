import type { Random } from "../../src/base/random.ts";
import { type Program, SCRATCH, WAIT_INSTRUCTION } from "../../src/model/program/program.ts";
import type { Operand } from "../../src/model/program/program-builder.ts";
import { pick } from "./draws.ts";
import {
  type PlainBlock,
  type PlainInstruction,
  type PlainProgram,
  plainProgram,
  programOfPlain,
} from "./plain-programs.ts";

/** Changes a program, or returns false where there is nothing of its kind to change. */
type Mutation = (program: PlainProgram, draws: Random) => boolean;

interface Place {
  readonly block: PlainBlock;
  readonly at: number;
  readonly instruction: PlainInstruction;
}

/** Returns a random instruction for which the test holds; null where there is none. */
function some({ blocks }: PlainProgram, draws: Random, holds: (i: PlainInstruction) => boolean): Place | null {
  const places = blocks.flatMap((block) =>
    block.instructions.flatMap((instruction, at) => (holds(instruction) ? [{ block, at, instruction }] : [])),
  );
  return places.length === 0 ? null : pick(places, draws);
}

const operandsOf = ({ sources, destinations }: PlainInstruction): readonly Operand[] => [...sources, ...destinations];

/** Puts another operand in the place of a random one. */
function changeOperand(instruction: PlainInstruction, draws: Random, change: (operand: Operand) => Operand): boolean {
  const at = draws.below(operandsOf(instruction).length);
  const { sources, destinations } = instruction;
  const list = at < sources.length ? sources : destinations;
  const k = at < sources.length ? at : at - sources.length;
  list[k] = change(list[k]);
  return true;
}

const hasOperands = (instruction: PlainInstruction): boolean => operandsOf(instruction).length > 0;

/** Swaps two instructions of a block that both do the same to a connection. */
function swapOrder(program: PlainProgram, draws: Random, of: (i: PlainInstruction) => boolean): boolean {
  const place = some(program, draws, of);
  if (place === null) return false;
  const { instructions } = place.block;
  const other = instructions.findIndex((instruction, k) => k > place.at && of(instruction));
  if (other < 0) return false;
  [instructions[place.at], instructions[other]] = [instructions[other], instructions[place.at]];
  return true;
}

export const PROGRAM_MUTATIONS: Readonly<Record<string, Mutation>> = {
  "dropped dependency": (program, draws) => {
    const place = some(program, draws, ({ waits }) => waits.length > 0);
    place?.instruction.waits.splice(draws.below(place.instruction.waits.length), 1);
    return place !== null;
  },
  "dependency on an earlier step": (program, draws) => {
    const place = some(program, draws, ({ waits }) => waits.some(({ kind }) => kind === WAIT_INSTRUCTION));
    if (place === null) return false;
    const wait = pick(
      place.instruction.waits.filter(({ kind }) => kind === WAIT_INSTRUCTION),
      draws,
    );
    for (const { instructions } of program.blocks) {
      const at = instructions.indexOf(wait.on as PlainInstruction);
      if (at <= 0) continue;
      wait.on = instructions[at - 1];
      wait.on.publishes = true;
      return true;
    }
    return false;
  },
  "dropped step": (program, draws) => {
    const place = some(program, draws, () => true);
    if (place === null) return false;
    const { instructions } = place.block;
    instructions.splice(place.at, 1);
    // Who waited for it waits for the one before it.
    const before = instructions[place.at - 1];
    if (before !== undefined) before.publishes ||= place.instruction.publishes;
    for (const block of program.blocks)
      for (const instruction of block.instructions)
        instruction.waits = instruction.waits.flatMap((wait) =>
          wait.on !== place.instruction ? [wait] : before === undefined ? [] : [{ ...wait, on: before }],
        );
    return true;
  },
  "unpublished step": (program, draws) => {
    const place = some(program, draws, ({ publishes }) => publishes);
    if (place !== null) place.instruction.publishes = false;
    return place !== null;
  },
  "dropped post": (program, draws) => {
    const place = some(program, draws, ({ posts }) => posts.length > 0);
    place?.instruction.posts.splice(draws.below(place.instruction.posts.length), 1);
    return place !== null;
  },
  "shifted offset": (program, draws) => {
    const place = some(program, draws, hasOperands);
    if (place === null) return false;
    const by = draws.below(2) === 0 ? 1 : -1;
    return changeOperand(place.instruction, draws, (operand) => ({ ...operand, index: operand.index + by }));
  },
  "offset of another step": (program, draws) => {
    const place = some(program, draws, hasOperands);
    const other = some(program, draws, hasOperands);
    if (place === null || other === null) return false;
    const { index } = pick(operandsOf(other.instruction), draws);
    return changeOperand(place.instruction, draws, (operand) => ({ ...operand, index }));
  },
  "another buffer": (program, draws) => {
    const place = some(program, draws, hasOperands);
    if (place === null) return false;
    return changeOperand(place.instruction, draws, (operand) => ({
      ...operand,
      buffer: (operand.buffer + 1 + draws.below(2)) % (SCRATCH + 1),
    }));
  },
  "another count": (program, draws) => {
    const place = some(program, draws, ({ chunks }) => chunks > 0);
    if (place === null) return false;
    place.instruction.chunks += draws.below(2) === 0 || place.instruction.chunks === 1 ? 1 : -1;
    return true;
  },
  "a source less": (program, draws) => {
    // rrc to r, rrcs to rcs, re to cpy
    const place = some(program, draws, ({ sources, receives }) => sources.length > (receives ? 0 : 1));
    place?.instruction.sources.splice(draws.below(place.instruction.sources.length), 1);
    return place !== null;
  },
  "a source more": (program, draws) => {
    // r to rrc, rcs to rrcs, cpy to re
    const place = some(program, draws, ({ destinations, sources }) => destinations.length > 0 && sources.length < 2);
    place?.instruction.sources.push(place.instruction.destinations[0]);
    return place !== null;
  },
  "nothing stored": (program, draws) => {
    // rrcs to rrs
    const place = some(program, draws, ({ destinations }) => destinations.length > 0);
    place?.instruction.destinations.splice(draws.below(place.instruction.destinations.length), 1);
    return place !== null;
  },
  "nothing sent": (program, draws) => {
    // rcs to r, rrcs to rrc
    const place = some(program, draws, ({ sends }) => sends);
    if (place !== null) place.instruction.sends = false;
    return place !== null;
  },
  "nothing received": (program, draws) => {
    const place = some(program, draws, ({ receives, sources }) => receives && sources.length > 0);
    if (place !== null) place.instruction.receives = false;
    return place !== null;
  },
  "swapped sends": (program, draws) => swapOrder(program, draws, ({ sends }) => sends),
  "swapped receives": (program, draws) => swapOrder(program, draws, ({ receives }) => receives),
  "swapped steps": (program, draws) => {
    const place = some(program, draws, () => true);
    if (place === null || place.at === 0) return false;
    const { instructions } = place.block;
    [instructions[place.at - 1], instructions[place.at]] = [instructions[place.at], instructions[place.at - 1]];
    return true;
  },
  "another channel": (program, draws) => {
    const block = pick(program.blocks, draws);
    if (program.program.machine === "mscclpp") return false;
    const [own = 0, other = 0] = [block.block.channel, pick(program.blocks, draws).block.channel];
    block.block = { ...block.block, channel: own === other ? own + 1 : other };
    return true;
  },
  "another rank's memory": (program, draws) => {
    if (program.program.machine === "msccl") return false;
    const place = some(program, draws, hasOperands);
    if (place === null) return false;
    const rank = draws.below(program.program.rankCount);
    return changeOperand(place.instruction, draws, (operand) => ({ ...operand, rank }));
  },
};

export interface ProgramMutant {
  readonly what: string;
  readonly program: Program;
}

/** Returns a program with one random change. O(operands). */
export function mutantOf(program: Program, draws: Random): ProgramMutant {
  const plain = plainProgram(program);
  for (;;) {
    const what = pick(Object.keys(PROGRAM_MUTATIONS), draws);
    if (PROGRAM_MUTATIONS[what](plain, draws)) return { what, program: programOfPlain(plain) };
  }
}

/** Returns a program with one random change, or, one time in four, with two. */
export function mutantsOf(program: Program, draws: Random): ProgramMutant {
  const first = mutantOf(program, draws);
  if (draws.below(4) > 0) return first;
  const second = mutantOf(first.program, draws);
  return { what: `${first.what}, then ${second.what}`, program: second.program };
}
