import { describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { movesOf } from "../../src/lower/moves.ts";
import { lowerToMsccl } from "../../src/lower/msccl/lower.ts";
import { lowerToPlan } from "../../src/lower/mscclpp/plan.ts";
import {
  COLLECTIVE_KINDS,
  type Collective,
  collective,
  type NamedCollective,
} from "../../src/model/collective/collective.ts";
import type { Program } from "../../src/model/program/program.ts";
import { routesOf } from "../../src/model/routes/routing.ts";
import { hasMergedSends, type StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { verifyProgram } from "../../src/verify/program/program.ts";
import { verifySchedule } from "../../src/verify/steps/schedule.ts";
import { everyone } from "../support/everyone.ts";
import { line, make, network, row } from "../support/hand-made-schedules.ts";
import { mergedScheduleOf } from "../support/merged-schedules.ts";
import { unexpected } from "../support/refusals.ts";
import { simpleTopology } from "../support/simple-schedules.ts";

/** Returns a schedule with merged sends of a whole network, of every kind in turn. */
function schedule(seed: number): StepSchedule {
  const draws = random(seed, 11);
  const topology = simpleTopology(draws);
  const kind = COLLECTIVE_KINDS[seed % COLLECTIVE_KINDS.length];
  const size = { sizeBytes: 2 ** 12, chunksPerNpu: 1 + draws.below(6), rootRank: draws.below(topology.npuCount) };
  const goal = collective({ kind, groups: [everyone(topology.npuCount)], ...size });
  return mergedScheduleOf(topology, goal, routesOf(topology, "ports"), draws);
}

/** Returns a collective of chunks of 1,000 bytes. */
const named = (kind: NamedCollective, npus: number, chunksPerNpu: number): Collective => {
  const sizeBytes = 1000 * chunksPerNpu * (kind === "broadcast" ? 1 : npus);
  return collective({ kind, groups: [everyone(npus)], sizeBytes, chunksPerNpu, rootRank: 0 });
};

describe("merged sends", () => {
  it("become programs that do the collective's work, on every runtime", () => {
    let programs = 0;
    for (let seed = 0; seed < 90; seed++) {
      const steps = schedule(seed);
      if (!hasMergedSends(steps)) continue;
      const lowered: (() => Program)[] = [
        () => lowerToMsccl(steps, { runtime: "msccl", placement: "both" }),
        () => lowerToMsccl(steps, { runtime: "rccl", placement: "in" }),
        () => lowerToPlan(steps, { placement: "out" }),
      ];
      for (const lower of lowered) {
        let program: Program;
        try {
          program = lower();
        } catch (error) {
          expect(error).toEqual(unexpected("the collective", steps.collective.kind));
          continue;
        }
        expect(verifyProgram(program).violations, `seed ${seed}`).toEqual([]);
        programs++;
      }
    }
    expect(programs).toBeGreaterThan(100);
  });

  it("of more chunks than there are channels go over one connection", () => {
    // even chunks reach g2 through g1, odd ones by themselves: no neighbours take the same course
    const triangle = network(3, [
      [0, 1],
      [1, 2],
      [0, 2],
    ]);
    const goal = named("broadcast", 3, 40);
    const sent = (route: number, start: number, which: (chunk: number) => boolean) => {
      const chunks = [...Array(40).keys()].filter(which);
      return chunks.map((chunk) => row(chunk, route, start, 0, 0.5 + chunks.length));
    };
    const even = (chunk: number): boolean => chunk % 2 === 0;
    const rows = [...sent(0, 0, () => true), ...sent(2, 0, (chunk) => !even(chunk)), ...sent(1, 40.5, even)];
    const steps = make(triangle, goal, rows);
    expect(verifySchedule(steps).violations).toEqual([]);
    const program = lowerToMsccl(steps, { runtime: "msccl", placement: "both" });
    expect(program.channelCount).toBe(1);
    expect(verifyProgram(program).violations).toEqual([]);
  });

  it("keep what they carry where two NPUs exchange their sums", () => {
    const rows = [0, 2].flatMap((route) => [0, 1, 2, 3].map((chunk) => row(chunk, route, 0, 1, 4.5)));
    const pair = make(line, named("allreduce", 2, 2), rows);
    const moves = movesOf(pair);
    expect(Math.max(...moves.departsAt)).toBeLessThan(Math.min(...moves.arrivesAt));
    expect(verifyProgram(lowerToMsccl(pair, { runtime: "msccl", placement: "both" })).violations).toEqual([]);
  });
});
