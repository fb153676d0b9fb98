import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { Kernels } from "../../src/engine/contract/kernels.ts";
import { boundOf } from "../../src/model/bounds/bounds.ts";
import { COLLECTIVE_KINDS, type NamedCollective } from "../../src/model/collective/collective.ts";
import { compare, rational } from "../../src/model/numbers/rational.ts";
import { routeTimes } from "../../src/model/routes/routes.ts";
import type { SwitchDegree } from "../../src/model/routes/switch-degrees.ts";
import { makespanPs } from "../../src/model/steps/step-schedule.ts";
import { simulateSchedule } from "../../src/simulate/steps/replay.ts";
import { verifySchedule } from "../../src/verify/steps/schedule.ts";
import { availableKernels } from "../support/backends.ts";
import { connectedTopology } from "../support/connected-topology.ts";
import { runs } from "../support/runs.ts";
import { columnsOf, synthesizeWith, wholeCollective } from "../support/synthesis.ts";

let backends: Kernels[];
beforeAll(async () => {
  backends = await availableKernels();
});

const requests = fc.record({
  topology: connectedTopology(),
  sizeBytes: fc.constantFrom(1, 1000, 2 ** 20, 2 ** 26),
  chunks: fc.integer({ min: 1, max: 3 }),
  root: fc.nat(),
  seed: fc.nat(2 ** 32 - 1),
  switchDegree: fc.constantFrom<SwitchDegree | null>(null, "ports", 1, 2, {}),
});

describe.each(COLLECTIVE_KINDS)("TACOS on random networks: %s", (kind: NamedCollective) => {
  it("is verified, at or above its bound, simulated, and the same on every backend", async () => {
    const property = fc.asyncProperty(requests, async ({ topology, sizeBytes, chunks, root, seed, switchDegree }) => {
      const collective = wholeCollective(topology, kind, sizeBytes, chunks, root % topology.npuCount);
      const request = { topology, collective, seed, switchDegree, trials: 3 };
      const [first, ...others] = await Promise.all(backends.map((kernels) => synthesizeWith(kernels, request)));
      const { schedule } = first as NonNullable<typeof first>;
      expect(verifySchedule(schedule).violations).toEqual([]);
      for (const other of others) expect(columnsOf(other.schedule)).toEqual(columnsOf(schedule));
      const bound = boundOf(
        topology,
        collective,
        schedule.routes,
        routeTimes(topology, schedule.routes, collective.chunkBytes),
      );
      expect(compare(bound.ps, rational(makespanPs(schedule)))).toBeLessThanOrEqual(0);
      expect(simulateSchedule(schedule).ps).toBeGreaterThan(0);
    });
    await fc.assert(property, { numRuns: runs(60), seed: 20_240 });
  });

  it("does not depend on how many trials run at once", async () => {
    const property = fc.asyncProperty(requests, async ({ topology, sizeBytes, chunks, seed }) => {
      const collective = wholeCollective(topology, kind, sizeBytes, chunks);
      const kernels = backends[0] as Kernels;
      const request = { topology, collective, seed, trials: 7 };
      const [one, three] = await Promise.all([1, 3].map((width) => synthesizeWith(kernels, request, { width })));
      expect(columnsOf(three?.schedule as never)).toEqual(columnsOf(one?.schedule as never));
    });
    await fc.assert(property, { numRuns: runs(15), seed: 7 });
  });
});

describe.each(["ring", "direct"])("the baseline %s on random networks", (algorithm) => {
  it.each(COLLECTIVE_KINDS)("makes a verified %s", async (kind) => {
    const property = fc.asyncProperty(requests, async ({ topology, sizeBytes, chunks, root }) => {
      const collective = wholeCollective(topology, kind, sizeBytes, chunks, root % topology.npuCount);
      const { schedule } = await synthesizeWith(backends[0] as Kernels, { topology, collective }, { algorithm });
      expect(verifySchedule(schedule).violations).toEqual([]);
      expect(simulateSchedule(schedule, { switching: "store-and-forward" }).ps).toBeGreaterThan(0);
    });
    await fc.assert(property, { numRuns: runs(25), seed: 3 });
  });
});
