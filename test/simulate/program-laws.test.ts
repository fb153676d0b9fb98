import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { lowerToMsccl } from "../../src/lower/msccl/lower.ts";
import { lowerToPlan } from "../../src/lower/mscclpp/plan.ts";
import { limitOf } from "../../src/model/bounds/bounds.ts";
import { ceil } from "../../src/model/numbers/rational.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { blockCount, type Program } from "../../src/model/program/program.ts";
import { isTreeFlow, type TreeFlow } from "../../src/model/trees/tree-flow.ts";
import { simulateProgram } from "../../src/simulate/program/program.ts";
import { simulate } from "../../src/simulate/simulate.ts";
import { treeFlowClock } from "../../src/simulate/trees/tree-flow.ts";
import { smallPrograms } from "../support/executable-programs.ts";
import { plainEngine, STEP_CASES, scheduleOf, TREE_CASES, titleOf } from "../support/lowering-cases.ts";
import { mutantOf } from "../support/program-mutants.ts";
import { chain, line } from "../support/program-sim.ts";
import { runs, seen } from "../support/runs.ts";
import { simpleTopology } from "../support/simple-schedules.ts";
import { grownFlow } from "../support/tree-flows.ts";

/** Connections hold all, and every chunk is one message: what a step schedule is. */
const AS_STEPS = { sliceBytes: 2 ** 40, cuts: 1, slots: 1024 };
const programOf = (schedule: Parameters<typeof lowerToMsccl>[0], runtime: "msccl" | "rccl" = "msccl") =>
  lowerToMsccl(schedule, { runtime, placement: "in" });

describe("programs of step schedules, a message to a chunk", async () => {
  const engine = await plainEngine();
  const links = ["ring:2", "ring:3", "mesh:2x2", "hypercube:3"];
  const cases = STEP_CASES.filter(({ network, collective: kind, algorithm }) => {
    const neighbours =
      algorithm === "tacos"
        ? links.slice(0, 3)
        : algorithm === "ring"
          ? ["ring:2", "mesh:2x2", "switch:5"]
          : ["ring:2"];
    return neighbours.includes(network) && kind === "allgather";
  });
  const schedules: [string, Awaited<ReturnType<typeof scheduleOf>>][] = [];
  for (const what of cases) schedules.push([titleOf(what), await scheduleOf(engine, what)]);
  await engine.close();

  it.each(schedules)("%s: takes the schedule's time", (_, schedule) => {
    if (isTreeFlow(schedule)) throw new Error("no steps");
    const program = programOf(schedule);
    const { sizeBytes } = schedule.collective;
    const { ps } = simulateProgram(program, schedule.topology, { sizeBytes, ...AS_STEPS });
    // chunks that travel together are rounded up to the picosecond once
    const less = simulate(schedule).ps - ps;
    expect(less).toBeGreaterThanOrEqual(0);
    expect(less).toBeLessThan(schedule.collective.chunksPerNpu === 1 ? 1 : 10);
  });
});

/** Times of a program of trees whose connections hold enough, over those of the closed form with as many pieces. */
function ratio(flow: TreeFlow, program: Program, pieces: number): number {
  const sizeBytes = 2 ** 30;
  const sliceBytes = Math.ceil(sizeBytes / program.loopChunks / pieces);
  const { ps } = simulateProgram(program, flow.topology, { sizeBytes, sliceBytes, cuts: 1, slots: 4 });
  return ps / treeFlowClock(flow)(pieces, sizeBytes);
}

describe("programs of trees", async () => {
  const engine = await plainEngine();
  const flows: [string, TreeFlow][] = [];
  for (const what of TREE_CASES.filter(({ network }) => network === "ring:5" || network === "switch:8")) {
    const flow = await scheduleOf(engine, what);
    if (isTreeFlow(flow)) flows.push([titleOf(what), flow]);
  }
  await engine.close();

  it.each(flows)("%s: is as fast as the closed form, to a fiftieth at 64 slices", (_, flow) => {
    const { kind } = flow.collective;
    for (const runtime of ["msccl", "rccl"] as const) {
      const program = programOf(flow, runtime);
      expect(Math.abs(ratio(flow, program, 64) - 1)).toBeLessThan(0.02);
      // one tree: nothing is shared, and the closed form is exact
      if (kind !== "broadcast" && kind !== "reduce") continue;
      for (const pieces of [1, 4, 16]) expect(ratio(flow, program, pieces)).toBeCloseTo(1, 9);
    }
  });
});

describe("programs of every collective", async () => {
  const engine = await plainEngine();
  const schedules: [string, Awaited<ReturnType<typeof scheduleOf>>][] = [];
  const networks = ["mesh:2x2", "switch:5"];
  for (const what of STEP_CASES.filter(({ network, algorithm }) => algorithm !== "ring" && networks.includes(network)))
    schedules.push([titleOf(what), await scheduleOf(engine, what)]);
  await engine.close();

  it.each(schedules)("%s: is never faster than the proved limit", (_, schedule) => {
    const { topology, collective } = schedule;
    const limit = Number(ceil(limitOf(topology, collective).ps));
    const programs = [
      lowerToMsccl(schedule, { runtime: "azure", placement: "in" }),
      lowerToMsccl(schedule, { runtime: "rccl", placement: "out" }),
      lowerToPlan(schedule, { placement: "out" }),
    ];
    for (const program of programs)
      for (const sliceBytes of [8000, 2 ** 16, 2 ** 21]) {
        const { ps } = simulateProgram(program, topology, { sizeBytes: collective.sizeBytes, sliceBytes, slots: 3 });
        expect(ps).toBeGreaterThanOrEqual(limit);
      }
  });
});

const KINDS = ["allgather", "reducescatter", "allreduce", "broadcast", "reduce"] as const;
const drawn = fc.record({
  seed: fc.nat({ max: 2 ** 31 }),
  kind: fc.constantFrom(...KINDS),
  copies: fc.integer({ min: 1, max: 3 }),
  sizeBytes: fc.integer({ min: 1, max: 2_000 }).map((k) => k * 120),
});

/** Returns a tree flow of no quality on a random network. */
function anyFlow({ seed, kind, copies, sizeBytes }: typeof drawn extends fc.Arbitrary<infer T> ? T : never): TreeFlow {
  const draws = random(seed);
  return grownFlow(simpleTopology(draws), { kind, sizeBytes, copies }, draws);
}

const programsOf = (flow: TreeFlow): Program[] => [
  programOf(flow),
  programOf(flow, "rccl"),
  lowerToPlan(flow, { placement: "in" }),
];

describe("any trees on any network", () => {
  it("are never faster than the proved limit, whatever the slices", () => {
    fc.assert(
      fc.property(
        drawn,
        fc.integer({ min: 300, max: 1e5 }),
        fc.integer({ min: 1, max: 5 }),
        (shape, sliceBytes, slots) => {
          const flow = anyFlow(shape);
          const { sizeBytes } = flow.collective;
          const limit = Number(ceil(limitOf(flow.topology, flow.collective).ps));
          for (const program of programsOf(flow)) {
            const options = { sizeBytes, sliceBytes, slots, cuts: 1 + (sliceBytes % 2) };
            expect(simulateProgram(program, flow.topology, options).ps).toBeGreaterThanOrEqual(limit);
          }
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it("give the same answer again; every message ends, links are held for at most the time, blocks end by its end", () => {
    fc.assert(
      fc.property(drawn, (shape) => {
        const flow = anyFlow(shape);
        for (const program of programsOf(flow)) {
          const options = { sizeBytes: flow.collective.sizeBytes, sliceBytes: 10_000, timeline: true };
          const run = simulateProgram(program, flow.topology, options);
          expect(simulateProgram(program, flow.topology, options)).toEqual(run);
          expect(run.blockEndPs).toHaveLength(blockCount(program));
          expect(Math.max(0, ...run.blockEndPs, ...run.linkBusyPs)).toBeLessThanOrEqual(run.ps);
          const { startPs, endPs } = run.timeline ?? { startPs: [], endPs: [] };
          for (let m = 0; m < startPs.length; m++) expect(startPs[m]).toBeLessThan(endPs[m]);
        }
      }),
      { numRuns: runs(30) },
    );
  });

  it("take k times as long for k times the bytes in slices k times as large, where links have no latency", () => {
    fc.assert(
      fc.property(drawn, fc.integer({ min: 2, max: 9 }), (shape, k) => {
        const flow = anyFlow(shape);
        const { linkLatencyPs, linkBytesPerSecond } = flow.topology;
        const topology = {
          ...flow.topology,
          linkLatencyPs: linkLatencyPs.map(() => 0),
          // whole picoseconds a byte, and whole slices: what is rounded up can change who comes first
          linkBytesPerSecond: linkBytesPerSecond.map((bandwidth) => [1e9, 2e9, 4e9, 5e9][bandwidth % 4]),
        };
        for (const program of programsOf(flow)) {
          const sizeBytes = program.loopChunks * 1200 * (1 + (flow.collective.sizeBytes % 7));
          const one = simulateProgram(program, topology, { sizeBytes, sliceBytes: 1200 });
          const more = simulateProgram(program, topology, { sizeBytes: k * sizeBytes, sliceBytes: 1200 * k });
          expect(more.messages).toBe(one.messages);
          expect(more.ps).toBe(k * one.ps);
        }
      }),
      { numRuns: runs(30) },
    );
  });
});

it("changed programs end, or are told to wait for ever", () => {
  const programs = smallPrograms();
  const ends = { well: 0, stopped: 0 };
  fc.assert(
    fc.property(fc.nat({ max: programs.length - 1 }), fc.nat({ max: 2 ** 31 }), (k, seed) => {
      const { program } = mutantOf(programs[k].program, random(seed));
      const topology = presetTopology(`switch:${program.rankCount}`);
      try {
        expect(simulateProgram(program, topology, { sizeBytes: 2 ** 23 }).ps).toBeGreaterThanOrEqual(0);
        ends.well++;
      } catch (error) {
        expect(error).toMatchObject({
          mistake: "unexpected",
          received: expect.stringMatching(/^gpu \d+, thread block \d+/),
        });
        ends.stopped++;
      }
    }),
    { numRuns: runs(400) },
  );
  expect(Math.min(ends.well, ends.stopped)).toBeGreaterThan(seen(20));
});

it("a chain is never slower with more slots", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 6 }),
      fc.nat(3e6),
      fc.integer({ min: 1, max: 40 }),
      (ranks, latency, parts) => {
        let before = Number.POSITIVE_INFINITY;
        for (const slots of [1, 2, 3, 5, 9, 40]) {
          const options = { sizeBytes: 40_000, sliceBytes: Math.ceil(40_000 / parts), cuts: 1, slots };
          const { ps } = simulateProgram(chain(ranks), line(ranks, latency), options);
          expect(ps).toBeLessThanOrEqual(before);
          before = ps;
        }
      },
    ),
  );
});
