import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { random } from "../../../src/base/random.ts";
import type { NamedCollective } from "../../../src/model/collective/collective.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { simulateSchedule } from "../../../src/simulate/steps/replay.ts";
import { synthesizerNamed } from "../../../src/synthesize/catalog.ts";
import { verifySchedule } from "../../../src/verify/steps/schedule.ts";
import { baselineSchedule, refusal } from "../../support/baselines.ts";
import { connectedTopology } from "../../support/connected-topology.ts";
import { shuffle } from "../../support/draws.ts";
import { runs } from "../../support/runs.ts";

const BASELINES = [
  "ring",
  "rings",
  "nccl-rings",
  "nccl-tree",
  "direct",
  "rhd",
  "bruck",
  "pat",
  "shifted-rings",
  "dbt",
] as const;

const NAMED = ["dgx1", "dgx-a100", "dgx-a100:2", "dgx-h100:3", "p4d:2", "mi250:2", "ndv2:2", "ndv2:3", "mi300x"];
const count = (most: number) => fc.integer({ min: 2, max: most });
const networks: fc.Arbitrary<Topology> = fc.oneof(
  { weight: 3, arbitrary: connectedTopology(9) },
  {
    weight: 4,
    arbitrary: fc
      .oneof(
        count(17).map((n) => `ring:${n}`),
        count(17).map((n) => `switch:${n}`),
        count(12).map((n) => `fc:${n}`),
        fc.tuple(count(4), count(4)).map(([x, y]) => `mesh:${x}x${y}`),
      )
      .map(presetTopology),
  },
  { weight: 2, arbitrary: fc.constantFrom(...NAMED).map(presetTopology) },
);

const cases = fc.record({
  topology: networks,
  sizeBytes: fc.constantFrom(1, 1000, 2 ** 20, 2 ** 26),
  chunks: fc.integer({ min: 1, max: 5 }),
  policy: fc.nat(),
  root: fc.nat(),
  groups: fc.integer({ min: 1, max: 3 }),
  seed: fc.nat(2 ** 31),
});

/** Returns the first groups x size NPUs of a random order, cut into groups. */
function drawn(npus: number, groups: number, seed: number): Int32Array[] {
  const order = Array.from({ length: npus }, (_, npu) => npu);
  shuffle(order, random(seed, 3));
  const size = Math.floor(npus / groups);
  return Array.from({ length: groups }, (_, g) => Int32Array.from(order.slice(g * size, (g + 1) * size)));
}

describe.each(BASELINES)("the baseline %s", (algorithm) => {
  const { collectives, policies } = synthesizerNamed(algorithm);

  it("is verified and simulated on any network, or says what it needs", async () => {
    let made = 0;
    for (const kind of collectives.filter((one): one is NamedCollective => one !== "custom")) {
      const property = fc.asyncProperty(cases, async ({ topology, sizeBytes, chunks, policy, root, groups, seed }) => {
        const many = Math.min(groups, Math.floor(topology.npuCount / 2));
        const among = drawn(topology.npuCount, many, seed);
        const rootRank = root % (among[0] as Int32Array).length;
        const asked = { algorithm, network: topology, kind, chunks, sizeBytes, groups: among, rootRank };
        const chosen = { ...asked, policy: policies[policy % policies.length] ?? null };
        if (refusal(chosen) !== null) {
          await expect(baselineSchedule(chosen)).rejects.toThrow(InputError);
          return;
        }
        const schedule = await baselineSchedule(chosen);
        expect(verifySchedule(schedule).violations).toEqual([]);
        expect(simulateSchedule(schedule, { switching: "store-and-forward" }).ps).toBeGreaterThan(0);
        made++;
      });
      // few random networks have boxes
      await fc.assert(property, { numRuns: algorithm.startsWith("nccl-") ? 40 : runs(40), seed: 8 });
    }
    expect(made).toBeGreaterThan(0);
  });

  it("chooses chunks with which it is verified", async () => {
    for (const network of ["switch:8", "dgx1", "dgx-a100:2", "ring:8"]) {
      for (const kind of collectives.filter((one): one is NamedCollective => one !== "custom")) {
        const asked = { algorithm, network, kind, sizeBytes: 2 ** 22 };
        if (refusal(asked) !== null) continue;
        expect(verifySchedule(await baselineSchedule(asked)).violations).toEqual([]);
      }
    }
  });
});

describe("refusals", () => {
  it.each([
    ["rhd", "ring:6", "a number of NPUs that is a power of two for rhd"],
    ["rings", "mesh:3x3", "a network with a ring of links through all NPUs, each once, for rings"],
    [
      "rings",
      "mesh:5x5",
      "2 to 16 NPUs with direct links, up to 2,048 with a cycle of links both ways through all that is found, or switches that all NPUs are linked to, for rings",
    ],
    ["nccl-rings", "switch:8", "boxes with equally many NPUs each, such as those of dgx-a100:2, for nccl-rings"],
    ["nccl-tree", "mesh:3x3", "boxes with equally many NPUs each, such as those of dgx-a100:2, for nccl-tree"],
    ["shifted-rings", "mesh:3x3", "a network in which links from every NPU i to i + a make a ring"],
  ])("%s on %s: %s", (algorithm, network, reason) => {
    expect(refusal({ algorithm, network, kind: "allreduce" })).toContain(reason);
  });

  it("name groups where an algorithm needs all NPUs", () => {
    const groups = [Int32Array.of(0, 1, 2, 3), Int32Array.of(4, 5, 6, 7)];
    for (const [algorithm, network] of [
      ["rings", "dgx1"],
      ["nccl-rings", "dgx1"],
      ["nccl-tree", "dgx1"],
      ["shifted-rings", "ring:8"],
    ] as const) {
      const reason = `one group of all NPUs for ${algorithm}`;
      expect(refusal({ algorithm, network, kind: "allreduce", groups })).toBe(reason);
    }
    expect(refusal({ algorithm: "rhd", network: "ring:8", kind: "allreduce", groups })).toBeNull();
  });
});
