import { describe, expect, test } from "vitest";
import { random } from "../../src/base/random.ts";
import type { Program } from "../../src/model/program/program.ts";
import { verifyProgram } from "../../src/verify/program/program.ts";
import { programCases } from "../support/program-cases.ts";
import { interpret, type Orders, type Verdict } from "../support/program-interleavings.ts";
import { mutantOf } from "../support/program-mutants.ts";

const CAPACITIES = [1, 2, 8];
const MUTANTS = 40;
const INTERLEAVINGS = 25;

const placements = ({ inPlace, outOfPlace }: Program): ("in" | "out")[] => [
  ...(inPlace ? ["in" as const] : []),
  ...(outOfPlace ? ["out" as const] : []),
];

/** Returns how the interleavings went, each once, for each kind of call. */
function verdicts(program: Program, capacity: number, orders?: Orders): readonly (readonly Verdict[])[] {
  return placements(program).map((placement) => {
    const seen = new Set<Verdict>();
    for (let seed = 0; seed < INTERLEAVINGS; seed++) seen.add(interpret(program, placement, capacity, seed, orders));
    return [...seen];
  });
}

const isRight = (seen: readonly Verdict[]): boolean => seen.every((verdict) => verdict === "right");

/** Kinds that say what an instruction does, whether or not the result suffers. */
const STRICT = ["unmatched", "count", "connection", "peer", "wait", "bounds", "overlap", "barrier", "packets"];

describe.each(programCases())("$name", ({ name, program }) => {
  test.each(CAPACITIES)("is right, or hangs, with room for %i as the interpreter finds", (capacity) => {
    const { violations, facts } = verifyProgram(program, { fifoSlots: capacity });
    const hangs = facts.leastCapacity !== null && facts.leastCapacity > capacity;
    expect(violations.map(({ kind }) => kind)).toEqual(hangs ? ["deadlock"] : []);
    for (const seen of verdicts(program, capacity)) expect(seen).toEqual([hangs ? "hangs" : "right"]);
  });

  test(`of ${MUTANTS} mutants those that go wrong in some interleaving are refused, and no others`, () => {
    const draws = random(11, name.length * 100 + program.op.length);
    for (let number = 0; number < MUTANTS; number++) {
      const { what, program: mutant } = mutantOf(program, draws);
      const capacity = 8 >> draws.below(3);
      const { violations } = verifyProgram(mutant, { fifoSlots: capacity });
      const label = `mutant ${number}, ${what}, room for ${capacity}: ${violations[0]?.message ?? "accepted"}`;
      if (violations.length > 0 && violations.some(({ kind }) => STRICT.includes(kind))) continue;
      const orders: Orders = new Set();
      const seen = verdicts(mutant, capacity, orders);
      if (violations.length === 0) {
        expect(seen.every(isRight), label).toBe(true);
        continue;
      }
      const racy = violations.filter(({ kind }) => kind === "race");
      if (racy.length === 0 && mutant.machine === "msccl") {
        expect(
          seen.some((each) => !each.includes("right")),
          label,
        ).toBe(true);
        continue;
      }
      const eitherWay = racy.some(({ instruction }) =>
        [...orders].some((order) => {
          const [first, second] = order.split(" ");
          return Number(second) === instruction && orders.has(`${second} ${first}`);
        }),
      );
      expect(eitherWay || !seen.every(isRight), label).toBe(true);
    }
  });
});
