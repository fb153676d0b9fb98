import { describe, expect, it } from "vitest";
import { executeProgram } from "../../src/execute/execute.ts";
import type { Program } from "../../src/model/program/program.ts";
import {
  directReduceScatter,
  packetAllReduce,
  putAllGather,
  ringAllGather,
  ringAllReduce,
} from "../support/executable-programs.ts";
import { someOrder } from "../support/some-order.ts";

const PROGRAMS: readonly (readonly [name: string, program: Program])[] = [
  ["ring all-gather", ringAllGather(5)],
  ["ring all-reduce", ringAllReduce(4)],
  ["ring all-reduce of several chunks", ringAllReduce(3, 4)],
  ["direct reduce-scatter", directReduceScatter(4)],
  ["all-gather by puts", putAllGather(4)],
  ["all-reduce by packets", packetAllReduce(4, 3)],
];

describe("executor", () => {
  it.each(PROGRAMS)("%s is correct in every order, in both types, with little or much room", (_, program) => {
    const placement = program.inPlace ? "in" : "out";
    const sizeBytes = program.loopChunks * 12;
    for (let seed = 0; seed < 40; seed++)
      for (const type of ["i32", "f32"] as const)
        for (const room of [
          { messages: 2, chunks: 4 },
          // Four chunks are then a full message and one that is not.
          { messages: 3, chunks: 3 },
          { messages: 8, chunks: 1 },
        ]) {
          const order = someOrder(program, seed);
          const ran = executeProgram(program, { type, sizeBytes, placement, seed, order, room });
          expect([ran.outcome, ran.faults, ran.waits, ran.differences]).toEqual(["correct", [], [], []]);
          expect(ran.instructions).toBe(program.op.length);
        }
  });
});
