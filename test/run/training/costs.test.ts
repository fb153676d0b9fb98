import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openEngine } from "../../../src/engine/engine.ts";
import type { Engine } from "../../../src/engine/types.ts";
import type { Collective } from "../../../src/model/collective/collective.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { wholeRoutes } from "../../../src/model/routes/routes.ts";
import { inRowOrder, type StepSchedule } from "../../../src/model/steps/step-schedule.ts";
import { groupSize, meshGroups, meshOf } from "../../../src/model/tensor-plan/mesh.ts";
import { MOVE_KINDS } from "../../../src/model/tensor-plan/patterns.ts";
import { alikePieces } from "../../../src/model/topology/pieces.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { askedCollective } from "../../../src/model/workload/asked-collective.ts";
import { problemOf } from "../../../src/request/problem.ts";
import { isOwnFailure } from "../../../src/run/auto/candidates.ts";
import { judge } from "../../../src/run/judge.ts";
import { synthesize } from "../../../src/run/synthesize.ts";
import { communicationCosts, leastCosts } from "../../../src/run/training/costs.ts";
import { simulate, switchingFor } from "../../../src/simulate/simulate.ts";
import { ALGORITHMS } from "../../../src/synthesize/catalog.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 0 });
});
afterAll(async () => engine.close());

const KINDS = ["allgather", "allreduce", "alltoall"] as const;
const SIZES = [2 ** 14, 2 ** 28];

describe("costs of communications by libraries", () => {
  it.each([
    ["dgx-h100:2", [16]],
    ["torus:4x4", [16]],
    ["mesh:3x3", [9]],
  ] as const)(
    "are those of the fastest of all that libraries have, whom nothing passes over; near the limit without all of them (%s)",
    async (name, sizes) => {
      const topology = presetTopology(name);
      const groups = { size: topology.npuCount, members: meshGroups(meshOf(sizes), 1) };
      const all = communicationCosts(engine, topology).by({ algorithm: "library" });
      const near = communicationCosts(engine, topology).by({ algorithm: "library", untilNear: true });
      const leastOf = leastCosts(topology);
      for (const kind of KINDS) {
        for (const bytes of SIZES) {
          const asked = askedCollective(topology.npuCount, kind, groups, bytes);
          const made: number[] = [];
          for (const { name: algorithm, traits, collectives } of ALGORITHMS) {
            if (traits?.library === undefined || !collectives.includes(kind)) continue;
            try {
              const { report } = await synthesize(engine, topology, { ...asked, algorithm }, false);
              made.push(report.time.us);
            } catch (error) {
              if (!isOwnFailure(error)) throw error;
            }
          }
          const where = `${kind} ${bytes}`;
          const { ps } = await all(kind, groups, bytes);
          expect(ps / 1e6, where).toBeCloseTo(Math.min(...made), 3);
          const nearPs = (await near(kind, groups, bytes)).ps;
          expect(nearPs, where).toBeGreaterThanOrEqual(ps);
          if (nearPs > ps)
            expect(nearPs, where).toBeLessThanOrEqual(1.01 * leastOf(kind, groups, asked.sizeBytes) * (1 + 1e-9));
        }
      }
    },
  );
});

describe("costs of one collective in many sizes", () => {
  it.each(["torus:3x4", "switch:3*switch:2@900,50GB/s,0.5us"])(
    "are what they are without what other sizes took (%s)",
    async (name) => {
      const topology = presetTopology(name);
      const groups = { size: topology.npuCount, members: meshGroups(meshOf([topology.npuCount]), 1) };
      const options = { algorithm: "library", untilNear: true, byPieces: true } as const;
      const sizes = [14, 26, 20, 23].map((power) => 2 ** power);
      for (const kind of KINDS) {
        const together = communicationCosts(engine, topology).by(options);
        for (const bytes of sizes) {
          const alone = await communicationCosts(engine, topology).by(options)(kind, groups, bytes);
          const cost = await together(kind, groups, bytes);
          expect(cost.ps, `${kind} ${bytes}`).toBe(alone.ps);
          expect(cost.algorithm, `${kind} ${bytes}`).toBe(alone.algorithm);
        }
      }
    },
  );
});

/** Returns the schedule of one group's part of a network, done by all groups at the same time. */
function byAllGroups(part: StepSchedule, topology: Topology, collective: Collective, links: readonly Int32Array[]) {
  const { routes, collective: own } = part;
  const { members, size } = { members: collective.groupMembers, size: collective.groupSize };
  const count = routes.source.length;
  const all = links.flatMap((image, g) => {
    const npu = (rank: number) => members[g * size + rank];
    return Array.from({ length: count }, (_, r) => ({
      source: npu(routes.source[r]),
      target: npu(routes.target[r]),
      links: [...routes.links.subarray(routes.linkOffset[r], routes.linkOffset[r + 1])].map((link) => image[link]),
    }));
  });
  const offsets = [0];
  for (const one of all) offsets.push((offsets.at(-1) as number) + one.links.length);
  const rows = [...part.chunk].flatMap((chunk, row) =>
    links.map((_, g) => ({ row, chunk: g * own.chunkCount + chunk, route: g * count + part.route[row] })),
  );
  return inRowOrder({
    topology,
    collective,
    routes: wholeRoutes(
      all.map(({ source }) => source),
      all.map(({ target }) => target),
      offsets,
      all.flatMap((one) => one.links),
    ),
    chunk: Int32Array.from(rows, ({ chunk }) => chunk),
    route: Int32Array.from(rows, ({ route }) => route),
    startPs: Float64Array.from(rows, ({ row }) => part.startPs[row]),
    endPs: Float64Array.from(rows, ({ row }) => part.endPs[row]),
    op: Uint8Array.from(rows, ({ row }) => part.op[row]),
  });
}

describe("costs of groups that share no link", () => {
  it.each([
    ["torus:4x4", [4, 4], [0b01, 0b10]],
    ["torus:3x2x4", [4, 2, 3], [0b001, 0b101, 0b110]],
    ["dgx-h100:3", [3, 8], [0b01, 0b10]],
    ["switch:6*switch:2@900,50GB/s,0.5us", [2, 3, 2], [0b001, 0b010, 0b101]],
  ] as const)("are what all groups take that do at the same time what one does (%s)", async (name, sizes, sets) => {
    const topology = presetTopology(name);
    const mesh = meshOf(sizes);
    const leastOf = leastCosts(topology);
    const table = communicationCosts(engine, topology);
    const library = table.by({ algorithm: "library", byPieces: true });
    let done = 0;
    for (const set of sets) {
      const groups = { size: groupSize(mesh, set), members: meshGroups(mesh, set) };
      const pieces = alikePieces(topology, groups.members, groups.size);
      if (pieces === null) throw new Error("no pieces");
      const one = { size: groups.size, members: Int32Array.from({ length: groups.size }, (_, rank) => rank) };
      for (const kind of MOVE_KINDS) {
        for (const bytes of SIZES) {
          const where = `${set} ${kind} ${bytes}`;
          const cost = await library(kind, groups, bytes);
          expect(cost.ps, where).toBeGreaterThanOrEqual(leastOf(kind, groups, bytes));
          const asked = { ...askedCollective(groups.size, kind, one, bytes), algorithm: cost.algorithm };
          const { schedule } = await synthesize(engine, pieces.topology, asked, false);
          if (!("route" in schedule)) continue;
          const { chunksPerNpu } = schedule.collective;
          const { collective } = problemOf(topology, {
            ...askedCollective(topology.npuCount, kind, groups, bytes),
            chunks: chunksPerNpu,
          });
          const all = byAllGroups(schedule, topology, collective, pieces.links);
          expect(judge(all).violationCount, where).toBe(0);
          const { ps, linkBusyPs } = simulate(all, { switching: switchingFor(all) });
          expect(ps, where).toBe(cost.ps);
          cost.use.forEach((share, link) => {
            expect(share * ps, where).toBeCloseTo(linkBusyPs[link], 3);
          });
          done++;
        }
      }
    }
    expect(done).toBeGreaterThan(4);
  });

  it.each([
    ["torus:4x4", [4, 4], [0b01, 0b10]],
    ["dgx-h100:3", [3, 8], [0b01, 0b10]],
    ["switch:6*switch:2@900,50GB/s,0.5us", [2, 3, 2], [0b001, 0b010, 0b101]],
  ] as const)("are those of rings that are made for all groups (%s)", async (name, sizes, sets) => {
    const topology = presetTopology(name);
    const mesh = meshOf(sizes);
    const table = communicationCosts(engine, topology);
    const [whole, pieces] = [table.by({ algorithm: "ring" }), table.by({ algorithm: "ring", byPieces: true })];
    for (const set of sets) {
      const groups = { size: groupSize(mesh, set), members: meshGroups(mesh, set) };
      for (const kind of MOVE_KINDS) {
        for (const bytes of SIZES) {
          const [all, one] = [await whole(kind, groups, bytes), await pieces(kind, groups, bytes)];
          expect(one.ps, `${set} ${kind} ${bytes}`).toBe(all.ps);
        }
      }
    }
  });

  it("are at most those of libraries among all NPUs, and rings on planes of a torus less", async () => {
    const topology = presetTopology("torus:4x4x3");
    const mesh = meshOf([3, 4, 4]);
    const table = communicationCosts(engine, topology);
    const [whole, pieces] = [table.by({ algorithm: "library" }), table.by({ algorithm: "library", byPieces: true })];
    const groups = { size: 16, members: meshGroups(mesh, 0b110) };
    for (const kind of KINDS) {
      const [all, one] = [await whole(kind, groups, 2 ** 28), await pieces(kind, groups, 2 ** 28)];
      expect(one.ps, kind).toBeLessThanOrEqual(all.ps);
      if (kind !== "alltoall") expect(one.ps, kind).toBeLessThan(0.6 * all.ps);
    }
  });
});
