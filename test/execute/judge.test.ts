import { describe, expect, it } from "vitest";
import { planOf } from "../../src/execute/execute.ts";
import { judge } from "../../src/execute/judge.ts";
import type { CallPlacement } from "../../src/execute/layout.ts";
import { bufferOf, contentsOf, fillRank, memoryOf } from "../../src/execute/memory.ts";
import { COLLECTIVE_KINDS, type NamedCollective } from "../../src/model/collective/collective.ts";
import { INPUT, OUTPUT, type Program } from "../../src/model/program/program.ts";
import { ringAllReduce } from "../support/executable-programs.ts";

const RANKS = 3;
const PART = 5;
const ROOT = 1;

/** What NCCL's documentation says that element e of a rank's output is, of all inputs; null where it is nobody's business. */
function definition(
  kind: NamedCollective,
  rank: number,
  e: number,
  inputs: readonly (readonly number[])[],
): number | null {
  const block = Math.floor(e / PART);
  const sum = (at: number): number => inputs.reduce((total, input) => (total + input[at]) | 0, 0);
  switch (kind) {
    case "allreduce":
      return sum(e);
    case "reduce":
      return rank === ROOT ? sum(e) : null;
    case "broadcast":
      return inputs[ROOT][e];
    case "allgather":
      return inputs[block][e % PART];
    case "gather":
      return rank === ROOT ? inputs[block][e % PART] : null;
    case "reducescatter":
      return sum(rank * PART + e);
    case "scatter":
      return inputs[ROOT][rank * PART + e];
    case "alltoall":
      return inputs[block][rank * PART + (e % PART)];
  }
}

function callOf(kind: NamedCollective, placement: CallPlacement) {
  const program: Program = { ...ringAllReduce(RANKS), collective: kind, rootRank: ROOT };
  const { layout, wiring, room } = planOf(program, placement, 4 * RANKS * PART);
  const memory = memoryOf(program, layout, wiring, room.messages, "i32", false);
  const contents = contentsOf(program, "i32", 5);
  for (let r = 0; r < RANKS; r++) fillRank(program, layout, memory, contents, r);
  const inputs = Array.from({ length: RANKS }, (_, r) => Array.from(bufferOf(layout, memory, r, INPUT)));
  const verdict = () => judge(program, layout, memory, contents);
  const output = (rank: number) => bufferOf(layout, memory, rank, OUTPUT);
  return { inputs, verdict, output };
}

describe.each(COLLECTIVE_KINDS)("%s", (kind) => {
  it.each(["in", "out"] as const)("is judged by its definition, %s place", (placement) => {
    const { inputs, verdict, output } = callOf(kind, placement);
    const matters: (readonly [rank: number, element: number, value: number])[] = [];
    for (let rank = 0; rank < RANKS; rank++)
      for (let e = 0; e < output(rank).length; e++) {
        const value = definition(kind, rank, e, inputs);
        if (value !== null) matters.push([rank, e, value]);
      }
    expect(verdict().differenceCount).toBeGreaterThan(0);
    for (const [rank, e, value] of matters) output(rank)[e] = value;
    expect(verdict()).toEqual({ differences: [], differenceCount: 0, inputsOverwritten: [] });
    for (const [rank, element, expected] of matters) {
      output(rank)[element] = expected ^ 1;
      expect(verdict().differences).toEqual([{ rank, element, got: expected ^ 1, expected }]);
      output(rank)[element] = expected;
    }
  });
});
