import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundOf } from "../../src/model/bounds/bounds.ts";
import type { NamedCollective } from "../../src/model/collective/collective.ts";
import { ceil } from "../../src/model/numbers/rational.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { reversedRoutes, routeTimes } from "../../src/model/routes/routes.ts";
import { routesOf } from "../../src/model/routes/routing.ts";
import type { SwitchDegree } from "../../src/model/routes/switch-degrees.ts";
import { makespanPs } from "../../src/model/steps/step-schedule.ts";
import { translationsOf } from "../../src/model/symmetry/translation.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { assemble } from "../../src/synthesize/tacos/assemble.ts";
import { invariantTransfers } from "../../src/synthesize/tacos/multicast.ts";
import { tenNetwork } from "../../src/synthesize/tacos/network.ts";
import { verifySchedule } from "../../src/verify/steps/schedule.ts";
import { anyCayley, cayleyNetwork, isConnected } from "../support/cayley.ts";
import { runs } from "../support/runs.ts";
import { wholeCollective } from "../support/synthesis.ts";

/** Synthesizes towards the bound and judges every transfer; returns times over the bound, trials, and null where nothing is found. */
function judged(
  topology: Topology,
  chunksPerNpu: number,
  { kind = "allgather" as NamedCollective, degree = "ports" as SwitchDegree, sizeBytes = 1e9, seed = 1 } = {},
) {
  const collective = wholeCollective(topology, kind, sizeBytes, chunksPerNpu);
  const routes = routesOf(topology, degree);
  const times = routeTimes(topology, routes, collective.chunkBytes);
  const sizes = translationsOf(topology, routes);
  if (sizes === null) throw new Error(`${topology.name} is not invariant`);
  const reversed = kind === "reducescatter";
  const directed = reversed ? reversedRoutes(routes) : routes;
  const network = tenNetwork(topology, directed, times);
  const targetPs = Number(ceil(boundOf(topology, collective, routes, times).ps));
  const found = invariantTransfers(topology, directed, network, sizes, chunksPerNpu, { seed, targetPs });
  if (found === null) return null;
  const { slotPs } = times;
  const schedule = assemble(topology, collective, [{ ...found, slotPs, routes, reversed, reduces: reversed }]);
  expect(verifySchedule(schedule).violations).toEqual([]);
  expect(makespanPs(schedule)).toBe(found.endPs);
  expect(found.endPs).toBeGreaterThanOrEqual(targetPs);
  return { ratio: found.endPs / targetPs, trials: found.trials };
}

describe("invariantTransfers", () => {
  it.each([
    ["ring:2*fc:4*switch:2@200,100,50GB/s", [1, 2, 4, 8]],
    ["ring:2*fc:4*switch:4@200,100,50GB/s", [1, 4]],
    ["ring:2*fc:4*switch:8@200,100,50GB/s", [1, 2]],
    ["switch:16@50GB/s", [1, 2, 4]],
    ["switch:8*switch:4@300,25GB/s", [1, 4]],
    ["torus:4x4@50,75GB/s", [1, 2]],
    ["torus:10x10@50,75GB/s", [1, 2]],
    ["torus:4x4x4@50,75,100GB/s", [1, 4]],
    ["ring:16*ring:8@100,25GB/s", [1, 2]],
    ["fc:4*ring:6@10,100GB/s", [1, 2, 4, 8]],
    ["torus:5x5", [1, 2]],
    ["dgx-h100:4", [1, 4]],
    ["dgx-a100:2", [1, 4]],
    ["p4d:2", [2]],
  ])("meets the bound on %s with %j chunks per NPU, every transfer judged", (expression, chunks) => {
    for (const chunksPerNpu of chunks) {
      expect([chunksPerNpu, judged(presetTopology(expression), chunksPerNpu)]).toMatchObject([
        chunksPerNpu,
        { ratio: 1 },
      ]);
    }
  });

  it("serves reduce-scatter on reversed routes", () => {
    for (const expression of ["ring:2*fc:4*switch:2@200,100,50GB/s", "torus:4x5@50,75GB/s", "switch:9"]) {
      expect(judged(presetTopology(expression), 2, { kind: "reducescatter" })).toMatchObject({ ratio: 1 });
    }
    const oneWay = cayleyNetwork({ sizes: [9], offsets: [1, 2], gbps: [1, 2] });
    expect(judged(oneWay, 2, { kind: "reducescatter" })).not.toBeNull();
  });

  it("uses unwound switches as what they are: routes that never wait", () => {
    for (const degree of [1, 2, 3]) expect(judged(presetTopology("switch:8"), 2, { degree })).not.toBeNull();
  });

  it("gives correct schedules for links of three speeds in any group", () => {
    const speeds = fc.array(fc.constantFrom(1, 2, 5), { minLength: 5, maxLength: 5 });
    const chunks = fc.integer({ min: 1, max: 3 });
    fc.assert(
      fc.property(anyCayley(20), speeds, chunks, fc.nat(1000), (cayley, gbps, chunksPerNpu, seed) => {
        fc.pre(isConnected(cayley));
        const topology = cayleyNetwork({ ...cayley, gbps }, seed);
        expect(judged(topology, chunksPerNpu, { sizeBytes: 1e6, seed })).not.toBeNull();
      }),
      { numRuns: runs(40) },
    );
  });

  it("returns null where all NPUs of a box share one link, which no translation leaves free", () => {
    const builder = topologyBuilder("two boxes of two, a link between them");
    for (let v = 0; v < 4; v++) builder.addNpu(`${v}`);
    const switches = [builder.addSwitch("a"), builder.addSwitch("b")];
    for (let v = 0; v < 4; v++) builder.addDuplex(v, switches[v >> 1], 1e9, 0);
    builder.addDuplex(switches[0], switches[1], 1e9, 0);
    expect(judged(builder.build({ shape: [2, 2] }), 1)).toBeNull();
  });

  it("repeats itself for a seed and keeps to the number of trials", () => {
    const topology = presetTopology("ring:4*torus:3x3@10,50,200GB/s");
    const routes = routesOf(topology, 1);
    const collective = wholeCollective(topology, "allgather", 1e9);
    const network = tenNetwork(topology, routes, routeTimes(topology, routes, collective.chunkBytes));
    const run = (trials: number) =>
      invariantTransfers(topology, routes, network, [4, 3, 3], 1, { seed: 3, targetPs: 1, trials });
    expect(run(9)).toEqual(run(9));
    expect(run(9)?.trials).toBe(9);
    expect(run(1)?.trials).toBe(1);
    expect(run(9)?.endPs).toBeLessThanOrEqual(run(1)?.endPs as number);
  });
});
