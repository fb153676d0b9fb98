import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError, unlessRefused } from "../../../src/base/errors.ts";
import { random } from "../../../src/base/random.ts";
import { executeProgram } from "../../../src/execute/execute.ts";
import { mpiPlanParts } from "../../../src/export/programs/mpi-plan.ts";
import { readMpiPlan } from "../../../src/import/programs/mpi-plan.ts";
import { lowerToMpi } from "../../../src/lower/mpi/lower.ts";
import { COLLECTIVE_KINDS } from "../../../src/model/collective/collective.ts";
import type { Program } from "../../../src/model/program/program.ts";
import { verifyProgram } from "../../../src/verify/program/program.ts";
import { mpiLimitViolations } from "../../../src/verify/runtime/mpi-limits.ts";
import { sealed } from "../../import/mpi-plans.ts";
import { plainEngine, scheduleOf } from "../../support/lowering-cases.ts";
import { inPieces } from "../../support/plan-pieces.ts";
import { placementsOf, wrongUnder } from "../../support/program-campaign.ts";
import { runs } from "../../support/runs.ts";

const textOf = (program: Program): string => [...mpiPlanParts(program)].join("");

/** Returns the first thing that judges say of a plan; null: nothing. */
function verdict(program: Program): string | null {
  const { violations } = verifyProgram(program, { limit: 1 });
  const limits = mpiLimitViolations(program).filter(({ severity }) => severity === "error");
  return violations[0]?.message ?? limits[0]?.message ?? null;
}

const room = (program: Program) => ({
  messages: 1,
  chunks: program.chunks.reduce((most, chunks) => Math.max(most, chunks), 1),
});

const NETWORKS = ["ring:3", "mesh:2x2", "switch:5", "hypercube:3"] as const;
const CASES = fc.record({
  network: fc.constantFrom(...NETWORKS),
  collective: fc.constantFrom(...COLLECTIVE_KINDS),
  algorithm: fc.constantFrom("tacos", "direct"),
  chunks: fc.integer({ min: 1, max: 5 }),
  pieces: fc.integer({ min: 1, max: 6 }),
  lanes: fc.integer({ min: 1, max: 3 }),
});

describe("a plan for MPI", () => {
  it("is right whole and in pieces that wait for each other, and its text is read as it was written", async () => {
    const engine = await plainEngine();
    try {
      await fc.assert(
        fc.asyncProperty(CASES, async ({ pieces, lanes, ...what }) => {
          const schedule = await scheduleOf(engine, what);
          const program = lowerToMpi(schedule, { pieces, lanes });
          expect(verdict(program)).toBeNull();
          const cut = inPieces(program);
          expect(verdict(cut)).toBeNull();
          for (const placement of placementsOf(program)) {
            const call = { type: "f32", sizeBytes: program.loopChunks * 8, placement, seed: 3 } as const;
            for (const one of [program, cut]) expect(executeProgram(one, call).outcome).toBe("correct");
          }
          const text = textOf(program);
          expect(textOf(readMpiPlan(text, "a.plan"))).toBe(text);
        }),
        { numRuns: runs(60) },
      );
    } finally {
      await engine.close();
    }
  });

  it("that is changed is refused, found wrong, or still right", async () => {
    const engine = await plainEngine();
    const seen = { refused: 0, wrong: 0, right: 0 };
    try {
      await fc.assert(
        fc.asyncProperty(CASES, fc.nat(), async ({ pieces, lanes, ...what }, seed) => {
          const lines = textOf(lowerToMpi(await scheduleOf(engine, what), { pieces, lanes }))
            .split("\n")
            .slice(0, -2);
          const changed = sealed(mutated(lines, seed));
          const program = unlessRefused(() => readMpiPlan(changed, "a.plan"));
          if (program === null) {
            seen.refused++;
            return;
          }
          if (verdict(program) !== null) {
            seen.wrong++;
            return;
          }
          seen.right++;
          expect(wrongUnder(program, 6, seed, room(program))).toBeNull();
          const cut = inPieces(program);
          expect(verdict(cut)).toBeNull();
          expect(wrongUnder(cut, 6, seed, room(cut))).toBeNull();
        }),
        { numRuns: runs(300) },
      );
    } finally {
      await engine.close();
    }
    expect(seen.wrong).toBeGreaterThan(seen.right);
    expect(seen.refused).toBeGreaterThan(0);
  });

  it("of a custom collective or of several groups is refused in one sentence", async () => {
    const engine = await plainEngine();
    const schedule = await scheduleOf(engine, { network: "ring:3", collective: "allgather", algorithm: "tacos" });
    await engine.close();
    const custom = { ...schedule, collective: { ...schedule.collective, kind: "custom" } } as typeof schedule;
    expect(() => lowerToMpi(custom)).toThrow(InputError);
    expect(() => lowerToMpi(custom)).toThrow("custom collectives, tables, several groups and several collectives");
  });
});

/** Returns the lines of a plan with one of them changed: a number, a wait less, a line less, two lines in the other order. */
function mutated(lines: readonly string[], seed: number): string[] {
  const draws = random(seed, 7);
  const changed = [...lines];
  const first = lines.indexOf("rank 0");
  const at = first + draws.below(lines.length - first);
  const line = changed[at] as string;
  switch (draws.below(4)) {
    case 0: {
      const words = line.split(" ");
      const numbers = words.flatMap((word, k) => (/^\d+$/.test(word) ? [k] : []));
      if (numbers.length === 0) return changed;
      const k = numbers[draws.below(numbers.length)] as number;
      words[k] = `${Math.max(0, Number(words[k]) + 1 - 2 * draws.below(2))}`;
      changed[at] = words.join(" ");
      return changed;
    }
    case 1:
      changed[at] = line.replace(/ @\d+:\d+/, "");
      return changed;
    case 2:
      changed.splice(at, 1);
      return changed;
    default:
      if (at + 1 < changed.length) [changed[at], changed[at + 1]] = [changed[at + 1] as string, line];
      return changed;
  }
}
