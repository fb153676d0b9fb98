import { describe, expect, it } from "vitest";
import { collective } from "../../../src/model/collective/collective.ts";
import { type RouteSet, routeTimes } from "../../../src/model/routes/routes.ts";
import { routesOf } from "../../../src/model/routes/routing.ts";
import { without } from "../../../src/model/topology/modify.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { symmetriesOf } from "../../../src/synthesize/ilp/flow-maps.ts";
import { type Move, neededMoves, scheduleOf } from "../../../src/synthesize/ilp/found-rows.ts";
import {
  type FlowProblem,
  flowsOf,
  oppositeRoutes,
  resourcesOf,
  slotTicks,
} from "../../../src/synthesize/ilp/problem.ts";
import { type SpaceTimeMap, spaceTimeGroups } from "../../../src/synthesize/ilp/space-time.ts";
import { areTrees, treeNegotiation } from "../../../src/synthesize/ilp/tree-negotiation.ts";
import { columnsOf } from "../../../src/synthesize/ilp/windows.ts";
import { verifySchedule } from "../../../src/verify/steps/schedule.ts";
import { network } from "../../support/bound-cases.ts";
import { everyone } from "../../support/everyone.ts";

const UNIT = 1000;

/** Returns an all-reduce of one chunk per NPU whose durations are counted in units, and the maps of its network. */
function allReduce(given: string | Topology, count = Number.POSITIVE_INFINITY) {
  const topology = network(given);
  const npus = topology.npuCount;
  const task = collective({
    kind: "allreduce",
    groups: [everyone(npus)],
    sizeBytes: UNIT * npus,
    chunksPerNpu: 1,
    rootRank: 0,
  });
  const routes = routesOf(topology, 1);
  const { slotPs } = routeTimes(topology, routes, task.chunkBytes);
  const problem: FlowProblem = {
    npuCount: npus,
    routes,
    durations: [slotPs.map((ps) => ps / UNIT)],
    flows: flowsOf(task).slice(0, count),
  };
  const { resources } = resourcesOf(routes);
  const maps = symmetriesOf(topology, problem, resources);
  return {
    topology,
    task,
    routes,
    slotPs,
    problem,
    resources,
    maps,
    groups: spaceTimeGroups(problem, resources, maps),
  };
}

type AllReduce = ReturnType<typeof allReduce>;

const alone = ({ maps }: AllReduce): SpaceTimeMap[] => [{ map: maps[0], backwards: false }];

/** Returns what a negotiation finds within so many steps; null where nothing can meet in time, or nothing is found. */
function negotiated(given: AllReduce, units: number, group: readonly SpaceTimeMap[], most: number, seed = 1) {
  const { problem, resources } = given;
  const columns = columnsOf(problem, slotTicks(units), units, () => true);
  const negotiation = treeNegotiation({ problem, resources, columns, group, seed });
  if (negotiation === null) return null;
  for (let step = 0; step < most; step++) {
    const moves = negotiation.step();
    if (moves !== null) return moves;
  }
  return null;
}

/** Returns when a schedule of all chunks ends, in units, once it is judged. */
function judged({ topology, task, routes, slotPs, problem }: AllReduce, moves: readonly Move[]): number {
  const needed = neededMoves(problem, moves).map((move) => ({ ...move, start: move.start * UNIT }));
  const schedule = scheduleOf(topology, task, routes, slotPs, needed);
  expect(verifySchedule(schedule).violations).toEqual([]);
  return Math.max(...schedule.endPs) / UNIT;
}

/** Returns transfers without their chunks, one text each, sorted. */
const transfers = (moves: readonly Move[], of: (move: Move) => [route: number, start: number, reduces: boolean]) =>
  moves.map((move) => of(move).join()).sort();

const LINE = (npus: number): string => `line:${npus}@1000GB/s,0us`;
const MESH = (shape: string): string => `mesh:${shape}@1000GB/s,0us`;

describe("negotiated trees", () => {
  // as programs over all trees through one place or two neighbours: exchanges.test.ts
  it.each([
    [LINE(2), 1],
    [LINE(3), 2],
    [LINE(4), 3],
    [MESH("2x2"), 3],
  ])("bring one chunk of an all-reduce on %s to all in %d units, and no sooner", (name, units) => {
    const given = allReduce(name, 1);
    const moves = negotiated(given, units, alone(given), 1000) ?? [];
    expect(Math.max(...moves.map(({ start }) => start + 1))).toBe(units);
    expect(negotiated(given, units - 1, alone(given), 1000)).toBeNull();
  });

  it("reach the bound on the mesh without 7 and 9 of TACOS 2023, table III: 19 slots", () => {
    const given = allReduce(without(network(MESH("4x4")), ["7", "9"]));
    expect(judged(given, negotiated(given, 19, alone(given), 2000) ?? [])).toBe(19);
  });

  it("reach the bound on the 4x4 mesh under maps some of which are played backwards: 13 slots", () => {
    const given = allReduce(MESH("4x4"));
    expect(judged(given, negotiated(given, 13, given.groups[0], 1000) ?? [])).toBe(13);
  });

  it("are right under every group, and taken onto themselves by each of its maps", () => {
    const given = allReduce(MESH("4x4"));
    const opposite = oppositeRoutes(given.problem);
    let found = 0;
    for (const group of given.groups) {
      const moves = negotiated(given, 16, group, 500);
      if (moves === null) continue;
      found++;
      expect(judged(given, moves)).toBeLessThanOrEqual(16);
      const all = transfers(moves, ({ route, start, reduces }) => [route, start, reduces]);
      for (const { map, backwards } of group) {
        const images = transfers(moves, ({ route, start, reduces }) =>
          backwards
            ? [opposite[map.routeTo[route]], 15 - start, !reduces || isExchange(moves, given.routes, { route, start })]
            : [map.routeTo[route], start, reduces],
        );
        expect(images).toEqual(all);
      }
    }
    expect(found).toBe(given.groups.length);
  });

  it("are not for other collectives, nor for chunks of several sizes", () => {
    const { problem } = allReduce(LINE(3));
    const [first] = problem.flows;
    expect(areTrees(problem)).toBe(true);
    expect(areTrees({ ...problem, flows: [first, { ...first, kind: "copy" }] })).toBe(false);
    expect(areTrees({ ...problem, flows: [first, { ...first, size: 1 }] })).toBe(false);
  });
});

/** Returns whether a sum meets one the other way of the same chunk, which backwards in time are two sums again. */
function isExchange(
  moves: readonly Move[],
  { source, target }: RouteSet,
  at: { route: number; start: number },
): boolean {
  const between = (u: number, v: number) =>
    moves.filter(
      ({ route, start, reduces }) => reduces && start === at.start && source[route] === u && target[route] === v,
    );
  const [u, v] = [source[at.route], target[at.route]];
  return between(u, v).some(({ flow }) => between(v, u).some((other) => other.flow === flow));
}

describe("groups of maps in space and time", () => {
  it.each([MESH("4x4"), MESH("2x2"), "ring:6@1000GB/s,0us"])(
    "of %s are groups whose orders divide the chunks",
    (name) => {
      const { problem, groups } = allReduce(name);
      const text = ({ map, backwards }: SpaceTimeMap): string => `${map.npuTo};${backwards}`;
      expect(groups.length).toBeGreaterThan(0);
      for (const group of groups) {
        expect(problem.flows.length % group.length).toBe(0);
        expect(text(group[0])).toBe(`${[...everyone(problem.npuCount)]};false`);
        const members = new Set(group.map(text));
        expect(members.size).toBe(group.length);
        for (const a of group) {
          for (const b of group) {
            const npuTo = b.map.npuTo.map((v) => a.map.npuTo[v]);
            expect(members).toContain(`${npuTo};${a.backwards !== b.backwards}`);
          }
        }
      }
    },
  );
});
