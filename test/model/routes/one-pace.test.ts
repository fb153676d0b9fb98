import { describe, expect, it } from "vitest";
import { boundOf } from "../../../src/model/bounds/bounds.ts";
import { ceil } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { routeTimes } from "../../../src/model/routes/routes.ts";
import { atOnePace, routesOf } from "../../../src/model/routes/routing.ts";
import { makespanPs } from "../../../src/model/steps/step-schedule.ts";
import { verifySchedule } from "../../../src/verify/steps/schedule.ts";
import { availableKernels } from "../../support/backends.ts";
import { synthesizeWith, wholeCollective } from "../../support/synthesis.ts";

const OVERSUBSCRIBED = "fat-tree:4x4,leaf=1,oversub=2";

describe("routes at one pace", () => {
  it("carry through each set of switches what its slowest carries, over the same links", () => {
    const topology = presetTopology(OVERSUBSCRIBED);
    const routes = routesOf(topology, "ports");
    const paced = atOnePace(topology, routes);
    expect(paced).toMatchObject({ source: routes.source, target: routes.target, links: routes.links });
    const rates = new Map<string, Set<number>>();
    routes.source.forEach((_, route) => {
      const first = routes.linkOffset[route];
      const through = topology.nodeNames[topology.linkTarget[routes.links[first]]].replace(/\d/g, "");
      for (let i = first; i < routes.linkOffset[route + 1]; i++) {
        const share = (paced?.shareNum[i] ?? 0) / (paced?.shareDen[i] ?? 1);
        const rate = share * topology.linkBytesPerSecond[routes.links[i]];
        rates.set(through, (rates.get(through) ?? new Set()).add(rate / 1e9));
      }
    });
    expect([...rates].map(([through, found]) => [through, [...found]])).toEqual([
      ["box-sw", [50]],
      ["leaf", [25]],
    ]);
  });

  it.each(["dgx-a100:2", "switch:8", "mesh:3x3", "dgx-h100:2"])("are none of their own on %s", (expression) => {
    const topology = presetTopology(expression);
    expect(atOnePace(topology, routesOf(topology, "ports"))).toBeNull();
  });

  it("let what stays under a leaf fill ports beside what crosses narrow spines: an all-gather takes no more than its bound", async () => {
    const topology = presetTopology(OVERSUBSCRIBED);
    const collective = wholeCollective(topology, "allgather", 2 ** 28, 4);
    const [kernels] = await availableKernels();
    const { schedule, policy } = await synthesizeWith(kernels, { topology, collective });
    expect(policy).toContain("ports at one pace");
    expect(verifySchedule(schedule).violations).toEqual([]);
    const routes = routesOf(topology, "ports");
    const bound = boundOf(topology, collective, routes, routeTimes(topology, routes, collective.chunkBytes));
    expect(makespanPs(schedule)).toBeLessThanOrEqual(1.001 * Number(ceil(bound.ps)));
  });
});
