import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../src/engine/types.ts";
import { lowerToMsccl } from "../../src/lower/msccl/lower.ts";
import type { NamedCollective } from "../../src/model/collective/collective.ts";
import { OPS, type Program } from "../../src/model/program/program.ts";
import { isTreeFlow, type TreeFlow } from "../../src/model/trees/tree-flow.ts";
import { synthesize } from "../../src/run/synthesize.ts";
import { topology } from "../../src/run/verbs.ts";
import { simulateProgram } from "../../src/simulate/program/program.ts";
import { treeFlowClock } from "../../src/simulate/trees/tree-flow.ts";
import { plainEngine } from "../support/lowering-cases.ts";
import { outOfRange, unexpected } from "../support/refusals.ts";

const GIB = 2 ** 30;

let engine: Engine;
beforeAll(async () => {
  engine = await plainEngine();
});
afterAll(() => engine.close());

async function treesOf(network: string, collective: NamedCollective, k?: number): Promise<TreeFlow> {
  const options = { collective, algorithm: "forestcoll", sizeBytes: GIB, ...(k === undefined ? {} : { k }) };
  const { schedule } = await synthesize(engine, topology(network), options);
  if (!isTreeFlow(schedule)) throw new Error("no trees");
  return schedule;
}

const mostBlocks = ({ rankCount, blockOffset }: Program): number =>
  Array.from({ length: rankCount }, (_, r) => blockOffset[r + 1] - blockOffset[r]).reduce((a, b) => Math.max(a, b), 0);

const mostSteps = ({ instructionOffset }: Program): number =>
  Array.from(instructionOffset.subarray(1), (to, b) => to - instructionOffset[b]).reduce((a, b) => Math.max(a, b), 0);

/** Returns how many times as long as the trees' closed form the program takes, simulated. */
function slowness(flow: TreeFlow, program: Program): number {
  const { ps } = simulateProgram(program, flow.topology, { sizeBytes: GIB });
  return ps / treeFlowClock(flow)(4096, GIB);
}

describe("the pace of lowered trees", () => {
  it.each(["allgather", "reducescatter"] as const)(
    "%s of trees of unequal weights takes little longer than the trees, on every runtime",
    async (kind) => {
      const flow = await treesOf("dgx-a100:2", kind);
      for (const runtime of ["azure", "rccl"] as const)
        expect(slowness(flow, lowerToMsccl(flow, { runtime, placement: "out" }))).toBeLessThan(1.1);
    },
  );

  it("cuts what a tree carries into parts, each an instruction", async () => {
    const flow = await treesOf("dgx-a100:2", "reducescatter");
    const copies = flow.forests[0].copies.reduce((a, b) => Math.max(a, b), 0);
    const program = lowerToMsccl(flow, { runtime: "azure", placement: "out" });
    const largest = program.chunks.reduce(
      (most, chunks, i) => (OPS[program.op[i]] === "cpy" ? most : Math.max(most, chunks)),
      0,
    );
    expect(copies).toBeGreaterThan(6);
    expect(largest).toBe(Math.ceil(copies / 6));
  });

  it("gives trees blocks of their own up to the blocks that a GPU may have, and lets them share above", async () => {
    const flow = await treesOf("dgx-h100:4", "allreduce", 1);
    const usual = lowerToMsccl(flow, { runtime: "azure", placement: "in" });
    const more = lowerToMsccl(flow, { runtime: "azure", placement: "in", threadBlocks: 132 });
    const fewer = lowerToMsccl(flow, { runtime: "azure", placement: "in", threadBlocks: 40 });
    expect(mostBlocks(usual)).toBeLessThanOrEqual(100);
    expect(mostSteps(more)).toBe(1);
    expect(mostBlocks(more)).toBeLessThanOrEqual(132);
    expect(mostBlocks(fewer)).toBeLessThanOrEqual(40);
    expect(slowness(flow, more)).toBeLessThan(1.05);
    expect(slowness(flow, more)).toBeLessThan(slowness(flow, usual));
    expect(() => lowerToMsccl(flow, { runtime: "azure", placement: "in", threadBlocks: 0 })).toThrow(
      unexpected("threadBlocks", 0),
    );
  });

  it("cuts chunks where trees that share blocks have too few, by powers of two", async () => {
    const flow = await treesOf("dgx-h100:4", "allreduce", 1);
    const inParts = (parts: number) => lowerToMsccl(flow, { runtime: "azure", placement: "in", parts });
    const whole = inParts(1);
    for (const parts of [2, 6, 12]) {
      const cut = inParts(parts);
      const finer = 2 ** Math.floor(Math.log2(parts));
      expect(cut.loopChunks).toBe(whole.loopChunks * finer);
      expect(mostBlocks(cut)).toBe(mostBlocks(whole));
      expect(mostSteps(cut)).toBe(mostSteps(whole) * finer);
    }
    expect(slowness(flow, inParts(12))).toBeLessThan(slowness(flow, whole));
    expect(() => inParts(0)).toThrow(outOfRange("parts", 0, 64));
    expect(() => inParts(65)).toThrow(outOfRange("parts", 65, 64));
  });

  it("sends all contributions before any sum where blocks take turns among trees", async () => {
    const flow = await treesOf("dgx-h100:4", "allreduce");
    const program = lowerToMsccl(flow, { runtime: "azure", placement: "in" });
    const reduces = new Set(["rrs", "rrc", "rrcs"]);
    const brings = new Set(["r", "rcs"]);
    for (let b = 0; b + 1 < program.instructionOffset.length; b++) {
      const ops = Array.from(
        program.op.subarray(program.instructionOffset[b], program.instructionOffset[b + 1]),
        (op) => OPS[op],
      );
      const firstSum = ops.findIndex((op) => brings.has(op));
      if (firstSum >= 0) expect(ops.slice(firstSum).some((op) => reduces.has(op))).toBe(false);
    }
    expect(slowness(flow, program)).toBeLessThan(2.1);
  });
});
