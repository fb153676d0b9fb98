import { describe, expect, it } from "vitest";
import { CancelledError } from "../../src/base/errors.ts";
import { runProgram } from "../../src/cli/programs/run-program.ts";
import { planOf } from "../../src/execute/execute.ts";
import { roomChunks } from "../../src/execute/machine.ts";
import { memoryOf } from "../../src/execute/memory.ts";
import { controlLength, runThread, type ThreadReport } from "../../src/execute/thread.ts";
import type { Program } from "../../src/model/program/program.ts";
import { putAllGather, ringAllReduce, smallPrograms } from "../support/executable-programs.ts";
import { plainProgram, programOfPlain } from "../support/plain-programs.ts";
import { placementsOf } from "../support/program-campaign.ts";
import { unexpected } from "../support/refusals.ts";

const never = new AbortController().signal;

/** Returns what a program's only thread reports; here, without a worker. */
function alone(program: Program, sizeBytes: number): ThreadReport {
  const plan = planOf(program, placementsOf(program)[0], sizeBytes);
  const memory = memoryOf(program, plan.layout, plan.wiring, roomChunks(plan.room), "i32", true);
  const control = new Int32Array(new SharedArrayBuffer(4 * controlLength(1)));
  return runThread({ plan, memory, type: "i32", seed: 1, thread: 0, threads: 1, control });
}

const withoutSend = (): Program => {
  const plain = plainProgram(ringAllReduce(4));
  plain.blocks[2].instructions[2].sends = false;
  return programOfPlain(plain);
};

describe("a program on threads", () => {
  it.each(smallPrograms().map(({ name, program }) => [name, program] as const))("%s, one thread", (_, program) => {
    const { judgement, faults, waits, instructions } = alone(program, program.loopChunks * 80_000);
    expect([judgement?.differenceCount, faults, waits]).toEqual([0, [], []]);
    expect(instructions).toBe(2 * program.op.length);
  });

  it("that is stuck ends, and says who waits", () => {
    const { judgement, waits } = alone(withoutSend(), 4 * 4);
    expect(judgement).toBeNull();
    expect(waits).toEqual(["gpu 3, thread block 0, step 6 waits for data from gpu 2"]);
  });

  it.each(smallPrograms().map(({ name, program }) => [name, program] as const))(
    "%s, a worker per rank",
    async (_, program) => {
      const sizeBytes = program.loopChunks * 80_000;
      const placement = placementsOf(program)[0];
      const ran = await runProgram(program, { type: "f32", sizeBytes, placement, seed: 3, threads: 64 }, never);
      expect([ran.outcome, ran.faults, ran.waits, ran.differences]).toEqual(["correct", [], [], []]);
      expect(ran.instructions).toBe(2 * program.op.length);
    },
  );

  it("several ranks per worker", async () => {
    const request = { type: "i32", sizeBytes: 4 * 7 * 100, placement: "in", seed: 1, threads: 3 } as const;
    expect((await runProgram(ringAllReduce(7), request, never)).outcome).toBe("correct");
  });

  it("ends where workers wait for each other, with who waits for what", async () => {
    const request = { type: "i32", sizeBytes: 64, placement: "in", seed: 1, threads: 4 } as const;
    const ran = await runProgram(withoutSend(), request, never);
    expect([ran.outcome, ran.waits]).toEqual(["stuck", ["gpu 3, thread block 0, step 6 waits for data from gpu 2"]]);
  });

  it("tells faults that workers saw", async () => {
    const plain = plainProgram(putAllGather(3));
    plain.blocks[0].instructions.pop();
    const request = { type: "i32", sizeBytes: 3 * 400_000, placement: "in", seed: 1, threads: 3 } as const;
    const ran = await runProgram(programOfPlain(plain), request, never);
    expect([ran.outcome, ran.faultCount]).toEqual(["faulty", 1]);
  });

  it("is cancelled", async () => {
    const request = { type: "i32", sizeBytes: 4 * 4 * 2 ** 20, placement: "in", seed: 1, threads: 4 } as const;
    const running = runProgram(ringAllReduce(4), request, AbortSignal.abort());
    await expect(running).rejects.toThrow(CancelledError);
  });

  it("is refused where its buffers do not fit in memory", async () => {
    const request = { type: "i32", sizeBytes: 2 ** 46, placement: "in", seed: 1, threads: 4 } as const;
    const refusal = runProgram(ringAllReduce(4), request, never);
    await expect(refusal).rejects.toThrow(unexpected("the size", "buffers of 256 TiB"));
  });
});
