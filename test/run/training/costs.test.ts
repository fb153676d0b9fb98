import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openEngine } from "../../../src/engine/engine.ts";
import type { Engine } from "../../../src/engine/types.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { meshGroups, meshOf } from "../../../src/model/tensor-plan/mesh.ts";
import { askedCollective } from "../../../src/model/workload/asked-collective.ts";
import { isOwnFailure } from "../../../src/run/auto/candidates.ts";
import { synthesize } from "../../../src/run/synthesize.ts";
import { communicationCosts, leastCosts } from "../../../src/run/training/costs.ts";
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
