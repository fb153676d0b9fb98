import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { MilpRunner } from "../../../src/engine/contract/programs.ts";
import { COLLECTIVE_KINDS, collective, type NamedCollective } from "../../../src/model/collective/collective.ts";
import { routeTimes } from "../../../src/model/routes/routes.ts";
import { routesOf } from "../../../src/model/routes/routing.ts";
import type { SwitchDegree } from "../../../src/model/routes/switch-degrees.ts";
import { makespanPs } from "../../../src/model/steps/step-schedule.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { deadlineIn } from "../../../src/synthesize/deadline.ts";
import { scheduleOf } from "../../../src/synthesize/ilp/found-rows.ts";
import { flowsOf } from "../../../src/synthesize/ilp/problem.ts";
import type { Trying } from "../../../src/synthesize/ilp/search.ts";
import { shortened } from "../../../src/synthesize/ilp/shorten.ts";
import { stagesOf } from "../../../src/synthesize/ilp/stages.ts";
import { verifySchedule } from "../../../src/verify/steps/schedule.ts";
import { network } from "../../support/bound-cases.ts";
import { everyone } from "../../support/everyone.ts";
import { milpHere } from "../../support/milp-here.ts";
import { optimalUnits } from "../../support/optimum.ts";
import { runs, seen } from "../../support/runs.ts";

let milp: MilpRunner;
beforeAll(async () => {
  milp = await milpHere();
});

/** A unit of time is 1000 ps: a chunk of 1000 bytes at 1e12 bytes/s. */
const UNIT = 1000;
const RATE = 1e12;

/** Returns what programs alone find and prove, from time 0 upwards, beside the optimum by exhaustive search. */
async function both(
  topology: Topology,
  kind: NamedCollective,
  chunks: number,
  degree: SwitchDegree = "ports",
  root = 0,
  trying: Trying = "all",
  slotPs: number | null = null,
) {
  const npus = topology.npuCount;
  const share = kind === "broadcast" || kind === "reduce" ? 1 : npus;
  const task = collective({
    kind,
    groups: [everyone(npus)],
    sizeBytes: 1000 * chunks * share,
    chunksPerNpu: chunks,
    rootRank: root % npus,
  });
  const routes = routesOf(topology, degree);
  const durations = [routeTimes(topology, routes, task.chunkBytes).slotPs];
  const slots = Array.from(durations[0], (ps) => ps / UNIT);
  const longest = slots.reduce((most, slot) => Math.max(most, slot), 0);
  const highPs = UNIT * longest * 16;
  const stages = stagesOf(milp, deadlineIn(120_000));
  const found = await shortened(
    { topology, routes, durations, slotPs, flows: flowsOf(task), lowPs: 0, highPs, trying },
    stages,
  );
  const schedule = found.moves === null ? null : scheduleOf(topology, task, routes, durations[0], found.moves);
  return {
    units: schedule === null ? null : makespanPs(schedule) / UNIT,
    violations: schedule === null ? [] : verifySchedule(schedule).violations,
    proof: found.proof === null ? null : found.proof.ps / UNIT,
    optimum: () => optimalUnits(task, npus, routes, slots, 20_000),
    stages,
  };
}

describe("programs against exhaustive search", () => {
  const known: [string, NamedCollective, number, number][] = [
    ["ring:3", "allgather", 1, 1],
    ["ring:4", "allgather", 1, 2],
    ["line:4", "allgather", 1, 3],
    ["mesh:2x2", "allgather", 1, 2],
    ["mesh:2x3", "allgather", 1, 3],
    ["ring:3", "reducescatter", 1, 1],
    ["ring:3", "allreduce", 1, 2],
    ["line:3", "broadcast", 3, 4],
    ["ring:4", "broadcast", 2, 2],
    ["line:3", "reduce", 3, 4],
    ["ring:4", "scatter", 1, 2],
    ["line:4", "gather", 1, 3],
    ["line:3", "alltoall", 1, 2],
    ["switch:3", "allgather", 1, 4],
    ["switch:3", "alltoall", 1, 4],
  ];
  it.each(known)("%s %s in %d chunks takes %d units, and no fewer", async (shape, kind, chunks, units) => {
    const t = network(`${shape}@1000GB/s,${shape.startsWith("switch") ? "0.5ns" : "0us"}`);
    const found = await both(t, kind, chunks);
    expect(found.violations).toEqual([]);
    expect(found.units).toBe(units);
    if (kind !== "allreduce") expect(found.proof).toBe(units);
    expect(found.stages.timedOut()).toBe(false);
  });

  const anyTiny = fc
    .record({
      npus: fc.integer({ min: 2, max: 4 }),
      kind: fc.constantFrom(...COLLECTIVE_KINDS),
      chunks: fc.integer({ min: 1, max: 2 }),
      root: fc.nat(3),
      lag: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 12, maxLength: 12 }),
      extra: fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { maxLength: 4 }),
      hub: fc.boolean(),
    })
    .map(({ npus, lag, extra, hub, ...rest }) => {
      const b = topologyBuilder("tiny");
      for (let v = 0; v < npus; v++) b.addNpu(`${v}`);
      const taken = new Set<number>();
      const link = (u: number, v: number): void => {
        if (u >= npus || v >= npus || u === v || taken.has(u * npus + v)) return;
        taken.add(u * npus + v);
        b.addLink(u, v, RATE, UNIT * lag[taken.size - 1]);
      };
      for (let v = 0; v < npus; v++) link(v, (v + 1) % npus);
      for (const [u, v] of extra) link(u, v);
      if (hub) {
        const s = b.addSwitch("s");
        for (let v = 0; v < Math.min(3, npus); v++) b.addDuplex(v, s, RATE, 0);
      }
      return { topology: b.build(), ...rest };
    });

  it("find the optimum of any tiny network, and prove it where the program describes all schedules", {
    timeout: 180_000,
  }, async () => {
    let compared = 0;
    const property = fc.asyncProperty(anyTiny, async ({ topology, kind, chunks, root }) => {
      const found = await both(topology, kind, chunks, "ports", root);
      expect(found.violations).toEqual([]);
      const optimum = found.optimum();
      if (optimum === null) return;
      compared++;
      if (kind !== "allreduce") {
        expect(found.units).toBe(optimum);
        expect(found.proof).toBe(optimum);
      } else expect(found.units).toBeGreaterThanOrEqual(optimum);
    });
    await fc.assert(property, { numRuns: runs(24), seed: 11 });
    expect(compared).toBeGreaterThan(seen(15));
  });
});
