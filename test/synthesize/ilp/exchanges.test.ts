import { beforeAll, describe, expect, it } from "vitest";
import type { MilpRunner } from "../../../src/engine/contract/programs.ts";
import { collective } from "../../../src/model/collective/collective.ts";
import { routeTimes } from "../../../src/model/routes/routes.ts";
import { routesOf } from "../../../src/model/routes/routing.ts";
import { deadlineIn } from "../../../src/synthesize/deadline.ts";
import { earliest, endOfMoves, neededMoves, scheduleOf } from "../../../src/synthesize/ilp/found-rows.ts";
import { type FlowProblem, flowsOf, oppositeRoutes, resourcesOf } from "../../../src/synthesize/ilp/problem.ts";
import { shortened } from "../../../src/synthesize/ilp/shorten.ts";
import { stagesOf } from "../../../src/synthesize/ilp/stages.ts";
import { verifySchedule } from "../../../src/verify/steps/schedule.ts";
import { network } from "../../support/bound-cases.ts";
import { everyone } from "../../support/everyone.ts";
import { milpHere } from "../../support/milp-here.ts";

let milp: MilpRunner;
beforeAll(async () => {
  milp = await milpHere();
});

/** Returns an all-reduce of one chunk per NPU of which programs see only the first `count` chunks. */
function problemOf(name: string, count: number) {
  const topology = network(name);
  const npus = topology.npuCount;
  const task = collective({
    kind: "allreduce",
    groups: [everyone(npus)],
    sizeBytes: 1000 * npus,
    chunksPerNpu: 1,
    rootRank: 0,
  });
  const routes = routesOf(topology, 1);
  const durations = [routeTimes(topology, routes, task.chunkBytes).slotPs];
  const problem: FlowProblem = { npuCount: npus, routes, durations, flows: flowsOf(task).slice(0, count) };
  return { topology, task, problem };
}

describe("exchanges of sums", () => {
  // through one place the first three take a unit more
  it.each([
    ["line:2", 1],
    ["line:4", 3],
    ["mesh:2x2", 3],
    ["line:3", 2],
  ])("one chunk of an all-reduce on %s takes %d units", async (name, units) => {
    const { topology, problem } = problemOf(`${name}@1000GB/s,0us`, 1);
    const { routes, durations, flows } = problem;
    const stages = stagesOf(milp, deadlineIn(120_000));
    const request = {
      topology,
      routes,
      durations,
      slotPs: null,
      flows,
      lowPs: 0,
      highPs: 12_000,
      trying: "all" as const,
    };
    const { moves } = await shortened(request, stages);
    expect(endOfMoves(problem, moves ?? [])).toBe(1000 * units);
    expect(moves).toHaveLength(2 * (topology.npuCount - 1));
  });

  it("are one sum only where one of the two has nothing", () => {
    const { problem } = problemOf("line:2@1000GB/s,0us", 1);
    const [there, back] = [0, oppositeRoutes(problem)[0]];
    const only = problem.routes.source.slice(there, there + 1);
    const flows = [{ ...problem.flows[0], from: only }];
    const moves = [there, back].map((route) => ({ flow: 0, route, start: 0, reduces: true }));
    expect(neededMoves({ ...problem, flows }, moves)).toEqual([moves[0]]);
    expect(neededMoves(problem, moves)).toEqual(moves);
  });

  it("are sums that the verifier accepts", () => {
    const { topology, task, problem } = problemOf("line:2@1000GB/s,0us", 2);
    const [there, back] = [0, oppositeRoutes(problem)[0]];
    const moves = [0, 1].flatMap((flow) =>
      [there, back].map((route) => ({ flow, route, start: 1000 * flow, reduces: true })),
    );
    const schedule = scheduleOf(topology, task, problem.routes, problem.durations[0], moves);
    expect(verifySchedule(schedule).violations).toEqual([]);
  });

  it("start together when they are timed anew, also where one link is free before the other", () => {
    const { problem } = problemOf("line:2@1000GB/s,0us", 2);
    const [there, back] = [0, oppositeRoutes(problem)[0]];
    const { resources } = resourcesOf(problem.routes);
    const timed = earliest(problem, resources, [
      { flow: 0, route: there, start: 0, reduces: true },
      { flow: 1, route: there, start: 5000, reduces: true },
      { flow: 1, route: back, start: 5000, reduces: true },
      { flow: 0, route: back, start: 9000, reduces: false },
    ]);
    expect(timed.map(({ flow, route, start }) => [flow, route, start])).toEqual(
      [
        [0, there, 0],
        [1, there, 1000],
        [1, back, 1000],
        [0, back, 2000],
      ].sort(([, a, s], [, b, t]) => s - t || a - b),
    );
  });
});
