import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { jsKernels } from "../../src/engine/kernels/js/kernels.ts";
import type { Engine } from "../../src/engine/types.ts";
import { executeProgram } from "../../src/execute/execute.ts";
import { readAlltoallv } from "../../src/import/collectives/collective.ts";
import { asJoint, ranksOf } from "../../src/lower/any-moves.ts";
import { lowerToMsccl } from "../../src/lower/msccl/lower.ts";
import { lowerToPlan } from "../../src/lower/mscclpp/plan.ts";
import { type Collective, membersOf } from "../../src/model/collective/collective.ts";
import { byGroup } from "../../src/model/joint/by-group.ts";
import type { JointSchedule } from "../../src/model/joint/joint-schedule.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import type { Program } from "../../src/model/program/program.ts";
import { holdersOf, type ProgramTable } from "../../src/model/program/table.ts";
import type { Schedule } from "../../src/model/slots/slot-schedule.ts";
import type { AnySchedule } from "../../src/model/steps/schedule.ts";
import type { TreeFlow } from "../../src/model/trees/tree-flow.ts";
import { synthesizeJoint } from "../../src/run/joint.ts";
import { besideEngine } from "../../src/run/programs/beside.ts";
import { fastestProgram } from "../../src/run/programs/fastest.ts";
import { callOf, loweredOf, programOf, programUs } from "../../src/run/programs/programs.ts";
import { synthesize } from "../../src/run/synthesize.ts";
import { verifyProgram } from "../../src/verify/program/program.ts";
import { verifySchedule } from "../../src/verify/steps/schedule.ts";
import { combineBytes, dispatchBytes, matrixText } from "../support/expert-routing.ts";
import { engineOf, type TenantAsked, tenantSets } from "../support/joint-schedules.ts";
import { plainEngine } from "../support/lowering-cases.ts";
import { unexpected } from "../support/refusals.ts";
import { runs, triesAll } from "../support/runs.ts";
import { someOrder } from "../support/some-order.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await plainEngine();
});
afterAll(() => engine.close());
const plain = engineOf(jsKernels);

/** Returns what each output holds, in words: "2@5" is chunk 5 of rank 2's input, sums are joined by "+". */
function outputsOf(table: ProgramTable): string[][] {
  const { offset, rank, at } = holdersOf(table);
  return Array.from({ length: table.outputOffset.length - 1 }, (_, r) =>
    Array.from(table.outputChunk.subarray(table.outputOffset[r], table.outputOffset[r + 1]), (chunk) =>
      Array.from(
        { length: offset[chunk + 1] - offset[chunk] },
        (_, h) => `${rank[offset[chunk] + h]}@${at[offset[chunk] + h]}`,
      )
        .sort()
        .join(table.sums[chunk] === 1 ? "+" : "|"),
    ),
  );
}

/** Returns the same of MPI_Alltoallv with displacements that leave no gaps, `parts` chunks to each `unit` of bytes. */
function alltoallvOutputs(bytes: readonly (readonly number[])[], unit: number, parts: number): string[][] {
  const chunks = (from: number, to: number): number => (from === to ? 0 : (bytes[from][to] / unit) * parts);
  const displacement = (from: number, to: number): number =>
    Array.from({ length: to }, (_, j) => chunks(from, j)).reduce((sum, many) => sum + many, 0);
  return bytes.map((_, to) =>
    bytes.flatMap((_row, from) =>
      Array.from({ length: chunks(from, to) }, (_, k) => `${from}@${displacement(from, to) + k}`),
    ),
  );
}

/** Expects a program to be right: by the verifier, and on real buffers in some orders. */
function expectRight(program: Program, seeds = 2): void {
  expect(verifyProgram(program).violations).toEqual([]);
  for (let seed = 0; seed < seeds; seed++) {
    const order = someOrder(program, seed);
    const sizeBytes = program.loopChunks * 8;
    const ran = executeProgram(program, { type: "i32", sizeBytes, placement: "out", seed, order });
    expect([ran.outcome, ran.faults, ran.waits, ran.differences]).toEqual(["correct", [], [], []]);
    expect(ran.inputsOverwritten).toEqual([]);
  }
}

async function served(network: string, bytes: readonly (readonly number[])[], algorithm: string): Promise<AnySchedule> {
  const topology = presetTopology(network);
  const table = readAlltoallv(matrixText(bytes), "bytes.txt", topology);
  const { schedule } = await synthesize(engine, topology, { collective: table, algorithm, trials: 1 });
  return schedule;
}

describe("all-to-all-v as a program", () => {
  const NETWORKS = ["ring:4", "mesh:2x3", "switch:5", "hypercube:3", "dgx-a100:1"] as const;

  it.each(NETWORKS)("dispatch and combine on %s lie as MPI_Alltoallv has them, and arrive", async (network) => {
    const ranks = presetTopology(network).npuCount;
    const dispatch = dispatchBytes({ ranks, experts: 4 * ranks, tokensPerRank: 24, tokenBytes: 512, seed: ranks });
    for (const bytes of [dispatch, combineBytes(dispatch)]) {
      const schedule = loweredOf(await served(network, bytes, "tacos")) as Schedule | TreeFlow;
      const unit = Number(schedule.collective.chunkBytes.num);
      const xml = lowerToMsccl(schedule, { runtime: "msccl", placement: "out", instances: 2 });
      expect(outputsOf(xml.table as ProgramTable)).toEqual(alltoallvOutputs(bytes, unit, xml.loopChunks === 0 ? 0 : 2));
      expectRight(xml);
      const plan = lowerToPlan(schedule, { placement: "out", instances: 1 });
      expect(outputsOf(plan.table as ProgramTable)).toEqual(alltoallvOutputs(bytes, unit, 1));
      expectRight(plan);
    }
  });

  it("sends what goes from one rank to another as few messages of many chunks", async () => {
    const bytes = [
      [0, 40 * 512, 512],
      [30 * 512, 0, 0],
      [0, 7 * 512, 0],
    ];
    const schedule = loweredOf(await served("switch:3", bytes, "tacos"));
    const program = lowerToMsccl(schedule, { runtime: "msccl", placement: "out", parts: 1 });
    const sent = [...program.sends.keys()].filter((i) => program.sends[i] === 1).map((i) => program.chunks[i]);
    expect(sent.sort((a, b) => a - b)).toEqual([1, 7, 30, 40]);
    expect([...program.inputChunks]).toEqual([47, 47, 47]);
    expect([...program.outputChunks]).toEqual([47, 47, 47]);
    expect(program.loopChunks).toBe(47);
  });

  it.each([
    ["dgx-a100:1", "mcf", 8, 64, 8],
    ["dgx-a100:1", "mcf", 8, 64, 256],
    ...(triesAll
      ? ([
          ["dgx-h100:1", "mcf", 8, 64, 256],
          // relayed parts wait for each other in thread blocks that they share
          ["dgx-a100:2", "direct", 16, 64, 64],
        ] as const)
      : []),
  ] as const)(
    "is as fast as the schedule on %s by %s with %i ranks, %i experts, %i tokens",
    async (network, algorithm, ranks, experts, tokens) => {
      const bytes = dispatchBytes({ ranks, experts, tokensPerRank: tokens * 8, tokenBytes: 1024, seed: 7 });
      const topology = presetTopology(network);
      const table = readAlltoallv(matrixText(bytes), "bytes.txt", topology);
      const { schedule, report } = await synthesize(engine, topology, { collective: table, algorithm });
      const most = Math.max(...bytes.flat());
      const { made } = await fastestProgram(schedule, { runtime: "msccl" }, besideEngine(engine));
      expect(programUs(made.program, schedule) / report.time.us).toBeLessThan(most <= 65_536 ? 1.25 : 1.1);
    },
  );

  it("is refused where the runtime has no custom collectives, or in place, and for too many chunks", async () => {
    const bytes = [
      [0, 40_000, 1],
      [1, 0, 1],
      [1, 1, 0],
    ];
    const schedule = await served("switch:3", bytes, "mcf");
    expect(() => programOf(schedule, { runtime: "rccl" })).toThrow(unexpected("the collective", "custom"));
    expect(() => programOf(schedule, { runtime: "mscclpp", placement: "in" })).toThrow(unexpected("placement", "in"));
    expect(() => programOf(schedule, { runtime: "msccl" })).toThrow(/32768.*multiples of 2, rounded up/);
  });
});

/** Returns what outputs hold after all collectives, by their definition: inputs and outputs one after the other. */
function jointOutputs(joint: JointSchedule, parts: readonly number[]): string[][] {
  const ranks = ranksOf(joint);
  const rankOf = new Map(Array.from(ranks, (npu, rank) => [npu, rank]));
  const before = Array.from(ranks, () => 0);
  const outputs: string[][] = Array.from(ranks, () => []);
  joint.tenants.forEach(({ collective }, t) => {
    const has = new Map<string, number>();
    for (let c = 0; c < collective.chunkCount; c++)
      for (const npu of membersOf(collective, collective.pre, c)) {
        const rank = rankOf.get(npu) as number;
        has.set(`${rank} ${c}`, before[rank]);
        before[rank] += parts[t];
      }
    for (let c = 0; c < collective.chunkCount; c++)
      for (const npu of membersOf(collective, collective.post, c))
        for (let k = 0; k < parts[t]; k++)
          outputs[rankOf.get(npu) as number].push(
            Array.from(membersOf(collective, collective.pre, c), (holder) => {
              const rank = rankOf.get(holder) as number;
              return `${rank}@${(has.get(`${rank} ${c}`) as number) + k}`;
            })
              .sort()
              .join(collective.reduces ? "+" : "|"),
          );
  });
  return outputs;
}

const collectivesAsked = (tenants: readonly TenantAsked[]) => tenants.map((tenant) => ({ ...tenant }));

describe("several collectives and several groups as a program", () => {
  it("is right for all of them at once, by the verifier and on real buffers", async () => {
    let lowered = 0;
    await fc.assert(
      fc.asyncProperty(tenantSets(), async ({ topology, tenants, seed }) => {
        const { schedule } = await synthesizeJoint(plain, topology, {
          collectives: collectivesAsked(tenants.map((tenant) => ({ ...tenant, sizeBytes: 3 * 5 * 7 * 8 * 1024 }))),
          seed,
          trials: 1,
        });
        if (ranksOf(schedule).length < 2) return;
        const sizes = schedule.tenants.map(({ collective: { chunkBytes } }) => chunkBytes);
        const common = lowerToMsccl(schedule, { runtime: "msccl", placement: "out" });
        const chunks = (common.table as ProgramTable).sums.length;
        const all = schedule.tenants.reduce((sum, { collective }) => sum + bytesOf(collective), 0);
        const parts = sizes.map(({ num, den }) => Math.round((Number(num) / Number(den) / all) * chunks));
        expect(outputsOf(common.table as ProgramTable)).toEqual(jointOutputs(schedule, parts));
        // of so few bytes all chunks of an instruction are one message
        expectRight({ ...common, maxBytes: common.loopChunks * 64 }, 1);
        expectRight(lowerToPlan(schedule, { placement: "out", instances: 1 }), 1);
        lowered++;
      }),
      { numRuns: runs(40) },
    );
    expect(lowered).toBeGreaterThan(0);
  });

  it("groups of a collective run at once, or each as a program of its own", async () => {
    const topology = presetTopology("dgx-a100:1");
    for (const collective of ["allgather", "allreduce", "alltoall", "reducescatter"] as const) {
      const { schedule } = await synthesize(engine, topology, {
        collective,
        group: "0,1,2,3;4,5,6,7",
        sizeBytes: 2 ** 20,
      });
      const { made } = await fastestProgram(schedule, { runtime: "msccl" }, besideEngine(engine));
      expectRight(made.program);
      expect(callOf(made.program, schedule).sizeBytes).toBe(2 ** 20);
      const groups = byGroup(asJoint(schedule as Schedule));
      expect(groups.length).toBe(2);
      for (const { schedule: own } of groups) {
        expect(verifySchedule(own).violations).toEqual([]);
        const { program } = programOf(own, { runtime: "rccl" });
        expect([program.collective, program.rankCount]).toEqual([collective, 4]);
      }
    }
  });

  it("is judged: a chunk in a wrong place, a contribution too few or too many is found by both judges", async () => {
    const { schedule } = await synthesizeJoint(plain, presetTopology("ring:4"), {
      collectives: [
        { collective: "allreduce", sizeBytes: 4096 },
        { collective: "allgather", sizeBytes: 8192, group: "1,3" },
      ],
      trials: 1,
    });
    const program = lowerToMsccl(schedule, { runtime: "msccl", placement: "out" });
    const table = program.table as ProgramTable;
    const wrong = (change: (column: Int32Array) => void, name: "inputChunk" | "outputChunk"): void => {
      const column = table[name].slice();
      change(column);
      const other = { ...program, table: { ...table, [name]: column } };
      expect(verifyProgram(other).violationCount).toBeGreaterThan(0);
      const ran = executeProgram(other, { type: "i32", sizeBytes: program.loopChunks * 4, placement: "out", seed: 1 });
      expect(ran.outcome).toBe("wrong");
    };
    wrong((column) => column.subarray(0, 2).reverse(), "outputChunk");
    wrong((column) => column.subarray(0, 2).reverse(), "inputChunk");
    wrong((column) => column.fill(column[0], 0, 2), "outputChunk");
  });

  it("says which sizes have too small a common part", async () => {
    const { schedule } = await synthesizeJoint(plain, presetTopology("ring:4"), {
      collectives: [
        { collective: "broadcast", sizeBytes: 10_000_019 },
        { collective: "broadcast", sizeBytes: 10_000_079 },
      ],
      trials: 1,
    });
    expect(() => programOf(schedule, { runtime: "msccl" })).toThrow(/equal parts/);
  });
});

/** Returns the bytes of all chunks. */
const bytesOf = ({ chunkBytes, chunkCount }: Collective): number =>
  (Number(chunkBytes.num) / Number(chunkBytes.den)) * chunkCount;
