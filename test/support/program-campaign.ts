import { type Random, random } from "../../src/base/random.ts";
import { executeProgram } from "../../src/execute/execute.ts";
import type { CallPlacement } from "../../src/execute/layout.ts";
import { RANDOM_ORDER, type Room } from "../../src/execute/machine.ts";
import type { Program } from "../../src/model/program/program.ts";
import { verifyProgram } from "../../src/verify/program/program.ts";
import { pick } from "./draws.ts";
import { mutantsOf } from "./program-mutants.ts";
import { someOrder } from "./some-order.ts";

export interface NamedProgram {
  readonly name: string;
  readonly program: Program;
}

/** What became of the mutants of one kind. */
export interface Tally {
  mutants: number;
  /** Some interleaving made another result, did not end, or read what nothing had written. */
  changed: number;
  /** Of the changed ones, by the verifier. */
  rejected: number;
  /** Not seen to go wrong, but rejected. */
  conservative: number;
  /** Changed and accepted. */
  missed: number;
}

export interface Missed {
  readonly name: string;
  readonly what: string;
  readonly mutant: number;
  readonly how: string;
}

/** Returns the kinds of calls that a program is for. */
export const placementsOf = ({ inPlace, outOfPlace }: Program): CallPlacement[] => [
  ...(inPlace ? ["in" as const] : []),
  ...(outOfPlace ? ["out" as const] : []),
];

const LONGER = 8;
/** Elements of a chunk: more than one, so that elements of a chunk cannot be confused. */
const CHUNK_ELEMENTS = 2;

/** Returns how a program goes wrong under one of so many interleavings, in words; null where it does under none. */
export function wrongUnder(program: Program, interleavings: number, seed: number, room: Room): string | null {
  for (let turn = 0; turn < interleavings; turn++) {
    for (const placement of placementsOf(program)) {
      const ran = executeProgram(program, {
        type: turn % 2 === 0 ? "i32" : "f32",
        sizeBytes: program.loopChunks * CHUNK_ELEMENTS * 4,
        placement,
        seed: seed + turn,
        room,
        order: turn === 0 ? RANDOM_ORDER : someOrder(program, seed + turn),
      });
      if (ran.outcome === "correct" || ran.outcome === "ran") continue;
      return `${placement}, turn ${turn}, ${ran.outcome}: ${[...ran.faults, ...ran.waits, ...ran.differences.map((d) => JSON.stringify(d))][0]}`;
    }
  }
  return null;
}

/** Of so many programs drawn the smallest is changed: small ones are judged quickly, large ones have their turn. */
const DRAWN = 3;

function drawn(programs: readonly NamedProgram[], draws: Random): NamedProgram {
  let smallest = pick(programs, draws);
  for (let more = 1; more < DRAWN; more++) {
    const other = pick(programs, draws);
    if (other.program.op.length < smallest.program.op.length) smallest = other;
  }
  return smallest;
}

/** What a tally is of: the runtime, and one mutation or that there are two. */
const kindOf = (machine: Program["machine"], what: string): string =>
  `${machine}: ${what.includes(", then ") ? "two mutations" : what}`;

export interface CampaignOptions {
  readonly count: number;
  readonly interleavings: number;
  readonly seed: number;
  /** Number of the first mutant; mutant k is the same in every campaign of its seed. */
  readonly from?: number;
}

/** Returns what became of mutants of the programs, by kind, and those that the verifier should have rejected. */
export function campaign(
  programs: readonly NamedProgram[],
  { count, interleavings, seed, from = 0 }: CampaignOptions,
  onMutant: (done: number) => void = () => {},
): { readonly kinds: Map<string, Tally>; readonly missed: readonly Missed[] } {
  const kinds = new Map<string, Tally>();
  const missed: Missed[] = [];
  const ofMachine = (["msccl", "mscclpp"] as const)
    .map((machine) => programs.filter(({ program }) => program.machine === machine))
    .filter((alike) => alike.length > 0);
  for (let mutant = from; mutant < from + count; mutant++) {
    const draws = random(seed, mutant);
    const { name, program } = drawn(pick(ofMachine, draws), draws);
    const { what, program: changed } = mutantsOf(program, draws);
    const { violationCount, facts } = verifyProgram(changed, { limit: 1 });
    const room = { messages: facts.capacity, chunks: facts.messageChunks };
    // What it accepts is tried longer: a mutant that it should have rejected is among these.
    const turns = violationCount > 0 ? interleavings : LONGER * interleavings;
    const how = wrongUnder(changed, turns, draws.next(), room);
    const kind = kindOf(program.machine, what);
    const tally = kinds.get(kind) ?? { mutants: 0, changed: 0, rejected: 0, conservative: 0, missed: 0 };
    kinds.set(kind, tally);
    tally.mutants++;
    if (how !== null) tally.changed++;
    if (how !== null && violationCount > 0) tally.rejected++;
    if (how === null && violationCount > 0) tally.conservative++;
    if (how !== null && violationCount === 0) {
      tally.missed++;
      missed.push({ name, what, mutant, how });
    }
    onMutant(mutant + 1 - from);
  }
  return { kinds, missed };
}
