import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../src/engine/types.ts";
import { readCollectiveJson } from "../../src/import/collectives/collective.ts";
import type { CallPlacement } from "../../src/lower/msccl/buffers.ts";
import { lowerToMsccl } from "../../src/lower/msccl/lower.ts";
import { collective } from "../../src/model/collective/collective.ts";
import { BUFFER_LETTERS, blockCount, OPS, type Program } from "../../src/model/program/program.ts";
import type { MscclRuntime } from "../../src/model/program/runtimes.ts";
import type { StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { loweredOf } from "../../src/run/programs/programs.ts";
import { synthesize } from "../../src/run/synthesize.ts";
import { direct, network, ring, row, task } from "../support/hand-made-schedules.ts";
import { type LoweringCase, plainEngine, scheduleOf } from "../support/lowering-cases.ts";
import { outOfRange, unexpected } from "../support/refusals.ts";
import { routeSet, scheduleOfRows } from "../support/schedule-rows.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await plainEngine();
});
afterAll(() => engine.close());

/** Returns a rank's thread blocks as lines: peers, then steps with their places and what they wait for. */
function linesOf(program: Program, rank: number): string[] {
  const lines: string[] = [];
  for (let b = program.blockOffset[rank]; b < program.blockOffset[rank + 1]; b++) {
    const steps: string[] = [];
    for (let i = program.instructionOffset[b]; i < program.instructionOffset[b + 1]; i++) {
      const places: string[] = [];
      for (let o = program.operandOffset[i]; o < program.operandOffset[i + 1]; o++)
        places.push(`${BUFFER_LETTERS[program.operandBuffer[o]]}${program.operandIndex[o]}`);
      const waits = [...program.waitOn.subarray(program.waitOffset[i], program.waitOffset[i + 1])].map((on) => {
        for (let other = program.blockOffset[rank]; ; other++)
          if (on < program.instructionOffset[other + 1])
            return ` after ${program.blockId[other]}.${on - program.instructionOffset[other]}`;
      });
      const many = program.chunks[i] > 1 ? `x${program.chunks[i]}` : "";
      steps.push([OPS[program.op[i]] + many, ...places].join(" ") + waits.join(""));
    }
    lines.push(`${program.recvPeer[b]}>${program.sendPeer[b]}: ${steps.join(", ")}`);
  }
  return lines;
}

const lowered = async (what: LoweringCase, placement: CallPlacement, runtime: MscclRuntime["name"] = "msccl") =>
  lowerToMsccl(await scheduleOf(engine, what), { runtime, placement });

const handMade = (schedule: StepSchedule, placement: CallPlacement, runtime: MscclRuntime["name"] = "msccl") =>
  lowerToMsccl(schedule, { runtime, placement });

describe("lowerToMsccl", () => {
  it("cuts the circle of a ring at one rank, and passes on everywhere else", async () => {
    const what = {
      network: "ring:4",
      collective: "allgather",
      algorithm: "ring",
      chunks: 4,
      policy: "natural",
    } as const;
    const program = await lowered(what, "in");
    // Its 4 chunks of each rank go the same way, so they are one.
    expect(program.loopChunks).toBe(4);
    const fused = [0, 1, 2, 3].map((rank) => linesOf(program, rank).join("; ").match(/rcs/g)?.length ?? 0);
    expect(fused.sort()).toEqual([0, 2, 2, 2]);
  });

  const relay = (runtime: MscclRuntime["name"], placement: CallPlacement) => {
    const topology = network(3, [
      [0, 1],
      [1, 2],
    ]);
    const rows = [row(0, 0, 0), row(0, 1, 1.5)];
    return handMade(
      scheduleOfRows(topology, task("broadcast", 3), routeSet(topology, direct(topology)), rows),
      placement,
      runtime,
    );
  };

  it("passes a chunk on in the instruction that receives it, or in the next where the runtime has none", () => {
    expect([0, 1, 2].flatMap((rank) => linesOf(relay("msccl", "in"), rank))).toEqual([
      "-1>1: s o0",
      "0>2: rcs o0",
      "1>-1: r o0",
    ]);
    expect(linesOf(relay("rccl", "in"), 1)).toEqual(["0>2: r o0, s o0"]);
    expect(linesOf(relay("msccl", "out"), 0)).toEqual(["-1>1: s i0", "-1>-1: cpy i0 o0"]);
  });

  it("waits for a copy that shares its memory with what is sent, if the call may be in place", () => {
    expect(linesOf(relay("msccl", "both"), 0)).toEqual(["-1>-1: cpy i0 o0", "-1>1: s i0 after 0.0"]);
  });

  const sums = (runtime: MscclRuntime["name"]) => {
    const topology = network(4, [
      [0, 2],
      [1, 2],
      [2, 3],
    ]);
    const rows = [row(0, 0, 0, 1), row(0, 1, 0, 1), row(0, 2, 1.5, 1)];
    return handMade(
      scheduleOfRows(topology, task("reduce", 4, 3), routeSet(topology, direct(topology)), rows),
      "out",
      runtime,
    );
  };

  it("adds what arrives in scratch memory, and passes the last sum on without keeping it", () => {
    expect(linesOf(sums("msccl"), 2)).toEqual(["0>-1: rrc i0 s0", "1>3: rrs s0 after 0.0"]);
    expect(sums("msccl").scratchChunks[2]).toBe(1);
  });

  it("adds in two steps where the runtime has no fused ones", () => {
    expect(linesOf(sums("rccl"), 2)).toEqual(["0>-1: r s0, re s0 i0 s0", "1>3: r s1, re s0 s1 s0 after 0.1, s s0"]);
    expect(linesOf(sums("rccl"), 3)).toEqual(["2>-1: r o0, re o0 i0 o0"]);
  });

  it("puts all but one of the things that a step waits for on nops before it", async () => {
    const program = await lowered({ network: "switch:5", collective: "alltoall", algorithm: "direct" }, "in");
    const text = [0, 1, 2, 3, 4].flatMap((rank) => linesOf(program, rank)).join("\n");
    expect(text).toMatch(/nop after \d+\.\d+, cpy s\d+ i\d+ after/);
    for (let i = 0; i < program.op.length; i++) {
      const waits = program.waitOffset[i + 1] - program.waitOffset[i];
      expect(waits).toBeLessThanOrEqual(1);
      if (OPS[program.op[i]] === "nop") expect([waits, program.publishes[i]]).toEqual([1, 0]);
      if (OPS[program.op[i]] === "nop") expect(program.waitOffset[i + 2] - program.waitOffset[i + 1]).toBe(1);
    }
  });

  it("gives each tree a lane of its own, of as many chunks as it has copies", async () => {
    const program = await lowered({ network: "ring:5", collective: "allgather", algorithm: "forestcoll" }, "in");
    for (let b = 0; b < blockCount(program); b++)
      expect(program.instructionOffset[b + 1] - program.instructionOffset[b]).toBe(1);
  });

  it.each(["allgather", "reducescatter", "allreduce"] as const)(
    "fits %s of trees on two boxes into as many blocks as there may be",
    async (kind) => {
      for (const runtime of ["msccl", "azure", "rccl"] as const) {
        const program = await lowered(
          { network: "dgx-a100:2", collective: kind, algorithm: "forestcoll" },
          "out",
          runtime,
        );
        for (let r = 0; r < program.rankCount; r++)
          expect(program.blockOffset[r + 1] - program.blockOffset[r]).toBeLessThanOrEqual(
            runtime === "rccl" ? 64 : 100,
          );
      }
    },
  );

  it("cuts chunks into instances with blocks and channels of their own", async () => {
    const schedule = await scheduleOf(engine, { network: "ring:4", collective: "allreduce", algorithm: "ring" });
    const one = lowerToMsccl(schedule, { runtime: "azure", placement: "in" });
    const three = lowerToMsccl(schedule, { runtime: "azure", placement: "in", instances: 3 });
    expect(three.loopChunks).toBe(3 * one.loopChunks);
    expect(three.channelCount).toBe(3 * one.channelCount);
    expect(blockCount(three)).toBe(3 * blockCount(one));
    expect(three.op.length).toBe(3 * one.op.length);
  });

  it("takes a custom collective's chunks in order from the input and to the output, out of place", async () => {
    const topology = ring(4);
    const chunks = [
      { pre: [0], post: [2, 0] },
      { pre: [1], post: [0] },
      { pre: [0], post: [3] },
    ];
    const text = JSON.stringify({ format: "banyan-collective", version: 1, chunkBytes: 1000, chunks });
    const table = readCollectiveJson(text, "table.json", topology);
    const made = await synthesize(engine, topology, { collective: table, algorithm: "tacos", trials: 1 });
    const schedule = loweredOf(made.schedule);
    const program = lowerToMsccl(schedule, { runtime: "msccl", placement: "out" });
    // as many as a call's data has, where there are any: the runtime asks for that
    expect([...program.inputChunks]).toEqual([2, 2, 0, 0]);
    expect([...program.outputChunks]).toEqual([2, 0, 2, 2]);
    expect(linesOf(program, 0).join("; ")).toContain("cpy i0 o0");
    expect(linesOf(program, 3).join("; ")).toContain("o0");
    expect(() => lowerToMsccl(schedule, { runtime: "msccl", placement: "in" })).toThrow(unexpected("placement", "in"));
    expect(() => lowerToMsccl(schedule, { runtime: "azure", placement: "out" })).toThrow(
      unexpected("the collective", "custom"),
    );
  });

  it("says which limit is not met, what is needed and what would help", async () => {
    const many = await scheduleOf(engine, { network: "ring:3", collective: "gather", algorithm: "direct" });
    expect(() => lowerToMsccl(many, { runtime: "msccl", placement: "in" })).toThrow(
      unexpected("the collective", "gather"),
    );
    expect(() => lowerToMsccl(many, { runtime: "rccl", placement: "in", instances: 0 })).toThrow(
      outOfRange("instances", 0, 128),
    );
    const large = await scheduleOf(engine, {
      network: "torus:4x4",
      collective: "alltoall",
      algorithm: "tacos",
      chunks: 16,
    });
    expect(() => lowerToMsccl(large, { runtime: "azure", placement: "in", instances: 16 })).toThrow(
      outOfRange("the schedule as a program for Azure's MSCCL executor", "more", 32, "--k"),
    );
  });

  it("asks for transfers within the group", () => {
    const topology = ring(4);
    const request = { kind: "allgather", sizeBytes: 2000, chunksPerNpu: 1, rootRank: 0 } as const;
    const relayed = collective({ ...request, groups: [Int32Array.of(0, 2)] });
    const outside = scheduleOfRows(topology, relayed, routeSet(topology, direct(topology)), [
      row(0, 0, 0),
      row(0, 1, 1.5),
    ]);
    expect(() => handMade(outside, "in")).toThrow(unexpected("a schedule to be lowered", "one at g1", "--outsiders"));
  });
});
