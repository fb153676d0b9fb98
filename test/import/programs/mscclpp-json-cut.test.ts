import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { programFromPlan } from "../../../src/import/programs/mscclpp-json.ts";
import { OPS, SCRATCH } from "../../../src/model/program/program.ts";
import { verifyProgram } from "../../../src/verify/program/program.ts";
import { pipelinedCopy, sharedCopy } from "../mscclpp-json-plans.ts";

/** Returns how often each chunk of an operand is moved: sources of copies in one buffer. */
function timesMoved(
  program: ReturnType<typeof programFromPlan>,
  side: "source" | "destination",
  buffer: number,
): number[] {
  const times: number[] = new Array(program.scratchChunks[0]).fill(0);
  program.op.forEach((op, i) => {
    if (OPS[op] !== "copy" || program.chunks[i] === 0) return;
    const k = program.operandOffset[i] + (side === "source" ? 0 : 1);
    if (program.operandBuffer[k] !== buffer) return;
    for (let c = 0; c < program.chunks[i]; c++) times[program.operandIndex[k] + c] += 1;
  });
  return times;
}

describe("a plan cut finer", () => {
  it("has every chunk of a shared copy moved once, by one of the blocks", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 40 }), (parts, size) => {
        const program = programFromPlan(sharedCopy(parts, size), "p.json");
        expect(program.inputChunks[0]).toBe(size * program.finer);
        expect(timesMoved(program, "destination", SCRATCH)).toEqual(new Array(size * program.finer).fill(1));
      }),
    );
  });

  it("has every chunk of a pipelined copy moved once, in units of all pipelines", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 5 }),
        (one, other, chunks) => {
          const plan = pipelinedCopy(16 * one, chunks, 1);
          plan.gpus[0].threadblocks[1].ops[0].iter_context.unit_size = 16 * other;
          const program = programFromPlan(plan, "p.json");
          const once = new Array(chunks * program.finer).fill(1);
          expect(timesMoved(program, "destination", SCRATCH)).toEqual(once);
          expect(timesMoved(program, "source", SCRATCH)).toEqual(once);
        },
      ),
    );
  });

  it("reuses each unit of scratch in turn, in step for all blocks, where scratch holds a few units", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 20, max: 25 }),
        fc.boolean(),
        (log, unit, doubled) => {
          const chunks = 2 ** (log - 1);
          const more = { reuse_resources: true, use_double_scratch_buffer: doubled };
          const program = programFromPlan(pipelinedCopy(2 ** unit, chunks, 1, more), "p.json");
          const bytes = 2 ** 26 / chunks / (doubled ? 2 : 1);
          const slots = bytes / 2 ** unit;
          if (slots < 1) return;
          expect(program.finer).toBe(slots + 1);
          const filled = timesMoved(program, "destination", SCRATCH);
          expect(timesMoved(program, "source", SCRATCH)).toEqual(filled);
          expect(filled.slice(slots).every((times) => times === 0)).toBe(true);
          expect(filled.reduce((a, b) => a + b, 0)).toBe(chunks * (slots + 1));
          expect(Math.max(...filled) - Math.min(...filled.slice(0, slots))).toBeLessThanOrEqual(1);
        },
      ),
    );
  });

  it("shows a semaphore that lets a pipeline overtake the reader of scratch that is used again", () => {
    const violations = (ahead: number): number =>
      verifyProgram(programFromPlan(pipelinedCopy(2 ** 24, 2, ahead, { reuse_resources: true }), "p.json"))
        .violationCount;
    expect([violations(1), violations(2)]).toEqual([0, 0]);
    expect(violations(3)).toBeGreaterThan(0);
  });
});
