import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import type { Engine } from "../../src/engine/types.ts";
import { executeProgram } from "../../src/execute/execute.ts";
import { eventsInOrder, joinedMoves, retimed } from "../../src/lower/messages.ts";
import { type Moves, movesOf } from "../../src/lower/moves.ts";
import { lowerToMsccl } from "../../src/lower/msccl/lower.ts";
import { COLLECTIVE_KINDS, collective } from "../../src/model/collective/collective.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import type { Program } from "../../src/model/program/program.ts";
import { routesOf } from "../../src/model/routes/routing.ts";
import type { StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { isTreeFlow } from "../../src/model/trees/tree-flow.ts";
import { besideEngine } from "../../src/run/programs/beside.ts";
import { fastestProgram } from "../../src/run/programs/fastest.ts";
import { loweredOf } from "../../src/run/programs/programs.ts";
import { synthesize } from "../../src/run/synthesize.ts";
import { verifyProgram } from "../../src/verify/program/program.ts";
import { everyone } from "../support/everyone.ts";
import { make, network, row, SLOT_US } from "../support/hand-made-schedules.ts";
import { plainEngine } from "../support/lowering-cases.ts";
import { mergedScheduleOf } from "../support/merged-schedules.ts";
import { placementsOf } from "../support/program-campaign.ts";
import { runs } from "../support/runs.ts";
import { simpleTopology } from "../support/simple-schedules.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await plainEngine();
});
afterAll(() => engine.close());

/** Returns a random schedule of a random network, of every kind that all runtimes know in turn. */
function schedule(seed: number): StepSchedule {
  const draws = random(seed, 22);
  const topology = simpleTopology(draws);
  const kinds = COLLECTIVE_KINDS.filter((kind) => kind !== "gather" && kind !== "scatter");
  const kind = kinds[seed % kinds.length] as (typeof kinds)[number];
  const size = { sizeBytes: 2 ** 12, chunksPerNpu: 1 + draws.below(5), rootRank: draws.below(topology.npuCount) };
  const goal = collective({ kind, groups: [everyone(topology.npuCount)], ...size });
  return mergedScheduleOf(topology, goal, routesOf(topology, "ports"), draws);
}

/**
 * Plays moves with the contributions that every rank holds of every chunk, and returns what each carries, and what all hold in the
 * end. A reduction adds up, a copy replaces.
 */
function played(moves: Moves): { readonly carried: string[]; readonly held: string[] } {
  const { rankCount, chunkCount, source, target, chunk, reduces } = moves;
  const held = Array.from({ length: rankCount * chunkCount }, (_, at) => [Math.floor(at / chunkCount)]);
  const carried: number[][] = [];
  for (const event of eventsInOrder(moves)) {
    const m = event >> 1;
    if (event % 2 === 0) carried[m] = held[(source[m] as number) * chunkCount + (chunk[m] as number)] as number[];
    else {
      const at = (target[m] as number) * chunkCount + (chunk[m] as number);
      const there = reduces[m] === 1 ? (held[at] as number[]) : [];
      held[at] = [...there, ...(carried[m] as number[])].sort((a, b) => a - b);
    }
  }
  return { carried: carried.map(String), held: held.map(String) };
}

describe("moves in another order", () => {
  it("carry what they carried, whatever the times", () => {
    for (let seed = 0; seed < runs(200); seed++) {
      const moves = movesOf(schedule(seed));
      const draws = random(seed, 5);
      const times = { startPs: new Float64Array(moves.source.length), endPs: new Float64Array(moves.source.length) };
      for (const column of Object.values(times)) column.set(column.map(() => draws.below(50)));
      expect(played(retimed(moves, times)), `seed ${seed}`).toEqual(played(moves));
    }
  });

  it("carry what they carried as messages, and those of one depart and arrive together", () => {
    let gathered = 0;
    for (let seed = 0; seed < runs(200); seed++) {
      const moves = movesOf(schedule(seed));
      for (const joining of ["under way", "ready"] as const) {
        const joined = joinedMoves(moves, joining);
        const message = joined.message as Int32Array;
        // chunks have other numbers, and so other places in what all hold
        expect(played(joined).carried, `seed ${seed}`).toEqual(played(moves).carried);
        const seen = new Set<number>();
        let before = -1;
        for (const event of eventsInOrder(joined)) {
          const one = 2 * (message[event >> 1] as number) + (event % 2);
          if (one !== before) expect(seen.has(one), `seed ${seed}, message ${one >> 1}`).toBe(false);
          seen.add(one);
          before = one;
        }
        if (seen.size < 2 * message.length) gathered++;
      }
    }
    expect(gathered).toBeGreaterThan(runs(200) / 2);
  });

  it("carry what they carried where two ranks exchange contributions, of which one could join an earlier message", () => {
    const goal = collective({
      kind: "allreduce",
      groups: [everyone(2)],
      sizeBytes: 2000,
      chunksPerNpu: 1,
      rootRank: 0,
    });
    const pair = network(2, [
      [0, 1],
      [1, 0],
    ]);
    const exchange = [0, 1].map((route) => row(1, route, 3 * SLOT_US, 1));
    const moves = movesOf(make(pair, goal, [row(0, 0, 0, 1), row(0, 1, SLOT_US, 0), ...exchange]));
    for (const joining of ["under way", "ready"] as const)
      expect(played(joinedMoves(moves, joining)).carried).toEqual(played(moves).carried);
  });

  it("numbers every chunk of a block anew, once", () => {
    for (let seed = 0; seed < runs(60); seed++) {
      const moves = movesOf(schedule(seed));
      const { chunk } = joinedMoves(moves, "apart");
      const numbers = new Map<number, number>();
      moves.chunk.forEach((old, m) => {
        expect(numbers.get(old) ?? chunk[m]).toBe(chunk[m]);
        numbers.set(old, chunk[m] as number);
        expect(Math.floor((chunk[m] as number) / moves.chunksPerBlock)).toBe(Math.floor(old / moves.chunksPerBlock));
      });
      expect(new Set(numbers.values()).size).toBe(numbers.size);
    }
  });
});

describe("a program of messages", () => {
  it("is right on every runtime, in every placement, for sizes at which its judge says that it ends", () => {
    let whole = 0;
    for (let seed = 0; seed < runs(300); seed++) {
      const draws = random(seed, 9);
      const steps = schedule(seed);
      const program: Program = lowerToMsccl(steps, {
        runtime: (["msccl", "azure", "rccl"] as const)[draws.below(3)] as "msccl",
        placement: (["in", "out", "both"] as const)[draws.below(3)] as "in",
        joining: (["apart", "under way", "ready"] as const)[draws.below(3)] as "ready",
        passing: draws.below(2) === 0,
        instances: 1 + draws.below(2),
        protocol: (["Simple", "LL", "LL128"] as const)[draws.below(3)] as "LL",
        times: { startPs: steps.startPs, endPs: steps.endPs.map((end) => end + draws.below(5)) },
      });
      const { violations } = verifyProgram({ ...program, maxBytes: program.loopChunks * 64 });
      expect(violations, `seed ${seed}`).toEqual([]);
      if (program.chunks.some((many) => many > 1)) whole++;
      for (const placement of placementsOf(program)) {
        const call = { type: "i32", sizeBytes: program.loopChunks * 64, placement, seed } as const;
        expect(executeProgram(program, call).outcome, `seed ${seed}`).toBe("correct");
      }
    }
    expect(whole).toBeGreaterThan(runs(300) / 4);
  });

  it.each([
    ["K(4,4)@25Gbps,13.33us", "allgather", "bfb", 4],
    ["K(4,4)@25Gbps,13.33us", "allreduce", "bfb", 4],
    ["Torus(3,3,2)@25Gbps,13.33us", "allreduce", "bfb", 4],
    ["dgx-a100:2", "alltoall", "ring", undefined],
    ["C(12,{2,3})@25Gbps,13.33us", "allreduce", "forestcoll", undefined],
  ] as const)("keeps the time of the schedule at 1 KiB: %s %s by %s", async (name, kind, algorithm, chunks) => {
    const asked = { collective: kind, algorithm, sizeBytes: 1024, ...(chunks === undefined ? {} : { chunks }) };
    const { schedule: made, report } = await synthesize(engine, presetTopology(name), asked);
    const { us, made: found } = await fastestProgram(made, { runtime: "azure" }, besideEngine(engine));
    expect(us).toBeLessThan(1.1 * report.time.us);
    expect(found.verification.violationCount).toBe(0);
  });

  it("of trees without lanes of their own goes level by level", async () => {
    const asked = { collective: "allreduce", algorithm: "forestcoll", sizeBytes: 2 ** 20 } as const;
    const { schedule: made } = await synthesize(engine, presetTopology("Torus(3,2)"), asked);
    const trees = loweredOf(made);
    expect(isTreeFlow(trees)).toBe(true);
    for (const joining of ["apart", "ready"] as const) {
      const program = lowerToMsccl(trees, { runtime: "azure", placement: "both", lanes: false, joining });
      expect(verifyProgram({ ...program, maxBytes: program.loopChunks * 64 }).violations).toEqual([]);
    }
  });
});
