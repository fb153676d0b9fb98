import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { COLLECTIVE_KINDS, type NamedCollective } from "../../../src/model/collective/collective.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import type { StepSchedule } from "../../../src/model/steps/step-schedule.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { switchingFor } from "../../../src/simulate/simulate.ts";
import { simulateSchedule } from "../../../src/simulate/steps/replay.ts";
import { ring } from "../../../src/synthesize/baselines/rings.ts";
import { verifySchedule } from "../../../src/verify/steps/schedule.ts";
import { baselineSchedule } from "../../support/baselines.ts";
import { connectedTopology } from "../../support/connected-topology.ts";
import { runs, seen } from "../../support/runs.ts";
import { wholeCollective } from "../../support/synthesis.ts";

/** Links one way round, and shortcuts, each with one back if its flag says so. */
const circles: fc.Arbitrary<Topology> = fc
  .record({
    back: fc.array(fc.boolean(), { minLength: 3, maxLength: 10 }),
    shortcuts: fc.array(fc.record({ from: fc.nat(), to: fc.nat(), both: fc.boolean() }), { maxLength: 4 }),
  })
  .map(({ back, shortcuts }) => {
    const builder = topologyBuilder("a circle");
    for (const npu of back.keys()) builder.addNpu(`${npu}`);
    back.forEach((both, npu) => {
      const next = (npu + 1) % back.length;
      if (both) builder.addDuplex(npu, next, 50e9, 500_000);
      else builder.addLink(npu, next, 50e9, 500_000);
    });
    for (const { from, to, both } of shortcuts) {
      const [a, b] = [from % back.length, to % back.length];
      if (a === b) continue;
      if (both) builder.addDuplex(a, b, 50e9, 500_000);
      else builder.addLink(a, b, 50e9, 500_000);
    }
    return builder.build();
  });

const cases = fc.record({
  network: fc.oneof(circles, connectedTopology(9)),
  sizeBytes: fc.constantFrom(1, 1000, 2 ** 20, 2 ** 28),
  kind: fc.constantFrom(...(COLLECTIVE_KINDS as readonly NamedCollective[])),
});

/** Returns what the ring says that it did, with so many chunks per NPU. */
async function wordsOn(topology: Topology, chunks: number): Promise<string> {
  const collective = wholeCollective(topology, "allreduce", 2 ** 28, chunks);
  const request = { topology, collective, seed: 1, trials: null, policy: null, switchDegree: null };
  return (await ring.synthesize(request, {} as never)).policy;
}

const circle = (npus: number, hasBack: (npu: number) => boolean): Topology => {
  const builder = topologyBuilder("a circle");
  for (let npu = 0; npu < npus; npu++) builder.addNpu(`${npu}`);
  for (let npu = 0; npu < npus; npu++) {
    builder.addLink(npu, (npu + 1) % npus, 50e9, 500_000);
    if (hasBack(npu)) builder.addLink((npu + 1) % npus, npu, 50e9, 500_000);
  }
  return builder.build();
};

describe("a ring whose ways nobody chose", () => {
  it("is verified, and never slower than one way, on networks with and without links back", async () => {
    let quicker = 0;
    const property = fc.asyncProperty(cases, async (asked) => {
      const [free, natural] = await Promise.all(
        [null, "natural"].map((policy) => baselineSchedule({ ...asked, algorithm: "ring", policy })),
      );
      const [ways, oneWay] = [free, natural] as [StepSchedule, StepSchedule];
      expect(verifySchedule(ways).violations).toEqual([]);
      const [ps, oneWayPs] = [ways, oneWay].map((one) => simulateSchedule(one, { switching: switchingFor(one) }).ps);
      expect(ps).toBeLessThanOrEqual(oneWayPs as number);
      if ((ps as number) < 0.75 * (oneWayPs as number)) quicker++;
    });
    await fc.assert(property, { numRuns: runs(300), seed: 5 });
    expect(quicker).toBeGreaterThan(seen(15));
  });

  it("goes both ways where links do, and says why it does not", async () => {
    expect(await wordsOn(presetTopology("ring:8"), 2)).toBe("natural order, both ways");
    expect(await wordsOn(presetTopology("ring:8"), 1)).toBe("natural order, one way");
    expect(
      await wordsOn(
        circle(8, () => false),
        2,
      ),
    ).toBe("natural order, one way: not every link has one back");
    expect(
      await wordsOn(
        circle(8, (npu) => npu !== 3),
        2,
      ),
    ).toBe("natural order, one way: not every link has one back");
    expect(
      await wordsOn(
        circle(8, () => true),
        4,
      ),
    ).toBe("natural order, both ways");
  });
});
