import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { MilpRunner } from "../../../src/engine/contract/programs.ts";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { toUs } from "../../../src/model/numbers/units.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { type RouteSet, routeTimes } from "../../../src/model/routes/routes.ts";
import { routesOf, tableDegree } from "../../../src/model/routes/routing.ts";
import { makespanPs } from "../../../src/model/steps/step-schedule.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { deadlineIn } from "../../../src/synthesize/deadline.ts";
import { scheduleOf } from "../../../src/synthesize/ilp/found-rows.ts";
import { halvesOf } from "../../../src/synthesize/ilp/halves.ts";
import { stagesOf } from "../../../src/synthesize/ilp/stages.ts";
import { verifySchedule } from "../../../src/verify/steps/schedule.ts";
import { milpHere } from "../../support/milp-here.ts";
import { optimalUnits } from "../../support/optimum.ts";
import { runs, seen } from "../../support/runs.ts";
import { inlineRunner, wholeCollective } from "../../support/synthesis.ts";

let milp: MilpRunner;
beforeAll(async () => {
  milp = await milpHere();
});

const UNIT = 1000;
const RATE = 1e12;

/** Returns what is known of all-reduces in halves, as verified, with chunks of so many bytes. */
async function halves(topology: Topology, chunkBytes: number, solves = true) {
  const collective = wholeCollective(topology, "allreduce", chunkBytes * topology.npuCount);
  const request = { topology, collective, seed: 1, trials: 1, policy: null, switchDegree: null };
  const routes = routesOf(topology, tableDegree(topology, null));
  const stages = stagesOf(milp, deadlineIn(60_000));
  const scope = { routes, slotPs: null, trying: "all" as const };
  const both = solves ? ([stages, stages] as const) : null;
  const found = await halvesOf(request, { runner: inlineRunner(jsKernels) }, scope, both);
  if (found === null) throw new Error("the matching takes other routes");
  const { slotPs } = routeTimes(topology, routes, collective.chunkBytes);
  const schedule = scheduleOf(topology, collective, routes, slotPs, found.moves);
  expect(verifySchedule(schedule).violations).toEqual([]);
  expect(toUs(makespanPs(schedule))).toBe(found.facts.us);
  return { ...found, routes, slotPs, stages: stages.list };
}

/** Returns the least time of both halves one after the other, by exhaustive search; null where that is too long. */
function leastUnits(topology: Topology, routes: RouteSet, slotPs: Float64Array): number | null {
  const slots = Array.from(slotPs, (ps) => ps / UNIT);
  const [scatter, gather] = (["reducescatter", "allgather"] as const).map((kind) =>
    optimalUnits(wholeCollective(topology, kind, UNIT * topology.npuCount), topology.npuCount, routes, slots, 300_000),
  );
  return scatter === null || gather === null ? null : scatter + gather;
}

describe("reduce-scatters followed by all-gathers", () => {
  it("are proved optimal by the bounds of their halves where matching meets these (TACOS 2023, table I)", async () => {
    // 7 chunks: six over three links in two turns, the seventh over the ring meanwhile
    const { facts, stages, how } = await halves(presetTopology("ring:2*fc:4@200,100GB/s,0.5us"), 125e6, false);
    expect([facts, stages, how]).toEqual([{ leastUs: 5002, us: 5002 }, [], null]);
  });

  it("are shortened and proved by programs of one half where the network is its own reverse", async () => {
    const { facts, stages } = await halves(presetTopology("dgx1"), 2 ** 21);
    expect(facts.leastUs).toBe(facts.us);
    expect(stages.length).toBeGreaterThan(0);
    for (const { name } of stages) expect(name).toMatch(/^all-gather by /);
  });

  const directed = fc.record({
    npus: fc.integer({ min: 2, max: 3 }),
    lag: fc.array(fc.integer({ min: 0, max: 1 }), { minLength: 8, maxLength: 8 }),
    extra: fc.array(fc.tuple(fc.nat(3), fc.nat(3)), { maxLength: 3 }),
  });

  it("take as long as exhaustive search says, also where links are of one direction", {
    timeout: 120_000,
  }, async () => {
    let compared = 0;
    const property = fc.asyncProperty(directed, async ({ npus, lag, extra }) => {
      const b = topologyBuilder("tiny");
      for (let v = 0; v < npus; v++) b.addNpu(`${v}`);
      const taken = new Set<string>();
      const ring = Array.from({ length: npus }, (_, v): [number, number] => [v, (v + 1) % npus]);
      for (const [u, v] of [...ring, ...extra]) {
        if (u >= npus || v >= npus || u === v || taken.has(`${u}>${v}`)) continue;
        b.addLink(u, v, RATE, UNIT * lag[taken.size]);
        taken.add(`${u}>${v}`);
      }
      const topology = b.build();
      const { facts, routes, slotPs } = await halves(topology, UNIT);
      const units = leastUnits(topology, routes, slotPs);
      if (units === null) return;
      compared++;
      expect(facts).toEqual({ leastUs: toUs(units * UNIT), us: toUs(units * UNIT) });
    });
    await fc.assert(property, { numRuns: runs(12), seed: 7 });
    expect(compared).toBeGreaterThan(seen(6));
  });
});
