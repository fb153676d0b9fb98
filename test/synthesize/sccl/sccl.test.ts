import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { COLLECTIVE_KINDS, collective } from "../../../src/model/collective/collective.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { makespanPs, type StepSchedule } from "../../../src/model/steps/step-schedule.ts";
import { without } from "../../../src/model/topology/modify.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { sccl } from "../../../src/synthesize/sccl/sccl.ts";
import type { SynthesisRequest } from "../../../src/synthesize/synthesizer.ts";
import { verify } from "../../../src/verify/verify.ts";
import { connectedTopology } from "../../support/connected-topology.ts";
import { milpHere } from "../../support/milp-here.ts";
import { infeasible, unexpected } from "../../support/refusals.ts";
import { runs, triesAll } from "../../support/runs.ts";
import { columnsOf, inlineRunner, wholeCollective } from "../../support/synthesis.ts";

type Request = Pick<SynthesisRequest, "topology" | "collective"> & Partial<SynthesisRequest>;
const complete = (request: Request): SynthesisRequest => ({
  seed: 1,
  trials: null,
  policy: null,
  switchDegree: null,
  ...request,
});
const make = async (request: Request) => {
  const found = await sccl.synthesize(complete(request), { runner: inlineRunner(jsKernels), milp: await milpHere() });
  return { ...found, schedule: found.schedule as StepSchedule };
};
const on = (name: string, kind: (typeof COLLECTIVE_KINDS)[number], size: number, chunks: number): Request => {
  const topology = presetTopology(name);
  return { topology, collective: wholeCollective(topology, kind, size, chunks) };
};

describe("sccl", () => {
  it("makes what the judge accepts on any small network, through switches and over unequal links", async () => {
    const task = fc.record({
      topology: connectedTopology(5),
      kind: fc.constantFrom(...COLLECTIVE_KINDS),
      chunks: fc.integer({ min: 1, max: 2 }),
      policy: fc.constantFrom(null, "latency", "bandwidth"),
      switchDegree: fc.constantFrom(null, 1, 2, "ports" as const),
      size: fc.integer({ min: 1, max: 2 ** 30 }),
    });
    await fc.assert(
      fc.asyncProperty(task, async ({ topology, kind, chunks, size, ...rest }) => {
        const request = { topology, collective: wholeCollective(topology, kind, size, chunks), timeLimitMs: 500 };
        const { schedule } = await make({ ...request, ...rest });
        expect(verify(schedule, {}).violations).toEqual([]);
      }),
      { numRuns: runs(40), seed: 11 },
    );
  });

  it.each(COLLECTIVE_KINDS)("makes %s on a mesh without a link", async (kind) => {
    const topology = without(presetTopology("mesh:2x3"), ["0>1"]);
    const { schedule, solver } = await make({ topology, collective: wholeCollective(topology, kind, 2 ** 20, 2) });
    expect(verify(schedule, {}).violations).toEqual([]);
    expect(solver?.proved).toBe(true);
  });

  it.runIf(triesAll)(
    "trades steps for rounds: of 6 chunks on DGX-1, 2 steps of 9 rounds or 3 of 7, as the size asks",
    async () => {
      const policies = async (size: number) => {
        const names = [null, "latency", "bandwidth"];
        const found = names.map(async (policy) => (await make({ ...on("dgx1", "allgather", size, 6), policy })).policy);
        return Promise.all(found);
      };
      const [few, fast] = ["2 steps of 9 rounds", "3 steps of 7 rounds"];
      expect(await policies(48_000)).toEqual([few, few, fast]);
      expect(await policies(48_000_000)).toEqual([fast, few, fast]);
    },
  );

  it("ends each step before the next and pays latency once for what a link carries in it", async () => {
    const { schedule } = await make({ ...on("ring:4@25GB/s,1us", "allgather", 400_000, 2), policy: "latency" });
    // 50,000 bytes are 2 us: the neighbours' 2 chunks in one message, then one over each side
    const lengths = new Set(
      [...schedule.startPs].map((start, i) => `${start}+${(schedule.endPs[i] as number) - start}`),
    );
    expect([...lengths]).toEqual(["0+5000000", "5000000+3000000"]);
    expect(makespanPs(schedule)).toBe(8_000_000);
  });

  it("solves both halves of an all-reduce at once where the network equals its reverse", async () => {
    const { solver, schedule } = await make(on("dgx1", "allreduce", 2 ** 20, 2));
    expect(verify(schedule, {}).violations).toEqual([]);
    expect(solver?.stages.map(({ name }) => name)).toEqual(["reduce-scatter, 2 steps, alike under 4 maps"]);
  });

  it("proves nothing of a point that is fastest on these routes and does not cost least in whole rounds", async () => {
    const b = topologyBuilder("unequal");
    for (let v = 0; v < 4; v++) b.addNpu(`${v}`);
    b.addLink(0, 1, 250e9, 1000);
    for (const [from, to] of [
      [1, 2],
      [3, 0],
    ] as const)
      b.addLink(from, to, 500e9, from === 1 ? 5000 : 1000);
    for (const [from, to] of [
      [2, 3],
      [3, 1],
    ] as const)
      b.addLink(from, to, 1e12, from === 2 ? 5000 : 1000);
    b.addLink(3, 2, 500e9, 1000);
    const topology = b.build();
    const { policy, notes, solver } = await make({
      topology,
      collective: wholeCollective(topology, "allgather", 12_000, 3),
    });
    expect(policy).toBe("3 steps of 7 rounds");
    // steps of 5 ns and rounds of 4 ns: 40 ns in whole rounds, and 43 for what was chosen
    expect(notes?.join()).toContain("4 steps of 5 rounds");
    expect(solver?.proved).toBe(false);
  });

  it("proves an all-reduce half by half only: two NPUs may exchange all that they have in one step", async () => {
    const { solver } = await make(on("line:2", "allreduce", 2 ** 20, 1));
    expect(solver?.model).toContain(", reduce-scatter and then all-gather");
    const { solver: ofHalf } = await make(on("line:2", "allgather", 2 ** 20, 1));
    expect(ofHalf?.model).not.toContain("then");
  });

  it("lets outsiders of process groups pass data on", async () => {
    const topology = presetTopology("ring:6");
    const groups = [Int32Array.of(0, 3), Int32Array.of(5, 2)];
    const request = { kind: "allgather", groups, sizeBytes: 2 ** 20, chunksPerNpu: 2, rootRank: 0 } as const;
    const { schedule } = await make({ topology, collective: collective(request) });
    expect(verify(schedule, {}).violations).toEqual([]);
  });

  it("makes the same schedule twice", async () => {
    const [one, two] = [
      await make(on("mesh:3x3", "allgather", 900, 2)),
      await make(on("mesh:3x3", "allgather", 900, 2)),
    ];
    expect(columnsOf(one.schedule)).toEqual(columnsOf(two.schedule));
  });

  it.each([
    ["dgx1", 2 ** 30, 6],
    ["dgx1", 1000, 1],
    ["ring:8", 2 ** 30, 2],
  ])("cuts the data of %s, %i bytes, in %i", async (name, size, chunks) => {
    const context = { runner: inlineRunner(jsKernels) };
    expect(await sccl.ownChunks?.(complete(on(name, "allgather", size, 1)), context)).toBe(chunks);
  });

  it("refuses networks that are too large in words, and says which way there is none", async () => {
    for (const [name, refusal] of [
      ["torus:20x20", unexpected("the topology", "torus:20x20, 400 NPUs", 256)],
      ["torus:15x16", unexpected("the topology", "torus:15x16, 240 NPUs", 200000, 223)],
    ] as const) {
      const large = on(name, "allgather", 400, 1);
      expect(sccl.refuses?.(large.topology, large.collective)).not.toBeNull();
      await expect(make(large)).rejects.toThrow(refusal);
    }
    const topology = without(presetTopology("mesh:1x3"), ["0>1"]);
    const reduce = wholeCollective(topology, "reduce", 400, 1, 2);
    await expect(make({ topology, collective: reduce })).rejects.toThrow(infeasible({ from: 0, to: 2 }));
  });
});
