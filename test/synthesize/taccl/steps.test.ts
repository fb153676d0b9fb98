import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { COLLECTIVE_KINDS, type NamedCollective } from "../../../src/model/collective/collective.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { sketchNetwork } from "../../../src/model/sketch/network.ts";
import { proposedSketches } from "../../../src/model/sketch/proposals.ts";
import type { Sketch, SketchNetwork } from "../../../src/model/sketch/sketch.ts";
import { makespanPs } from "../../../src/model/steps/step-schedule.ts";
import { stepsOfPlan, timing } from "../../../src/synthesize/taccl/scheduling.ts";
import { hopsOf, type Stepped, stepped } from "../../../src/synthesize/taccl/steps.ts";
import { phasesOf } from "../../../src/synthesize/tacos/network.ts";
import { verify } from "../../../src/verify/verify.ts";
import { wholeCollective } from "../../support/synthesis.ts";

const firstSketch = (name: string, kind: NamedCollective): Sketch =>
  proposedSketches(presetTopology(name), kind)[0] as Sketch;

function stepsOn(name: string, kind: NamedCollective, chunkBytes: number, sketch = firstSketch(name, kind)) {
  const topology = presetTopology(name);
  const network = sketchNetwork(topology, sketch);
  const collective = wholeCollective(topology, kind, chunkBytes * topology.npuCount, 1);
  return { network, collective, ...stepped(network, collective) };
}

/** Returns latency and serialisation of the first route. */
function costsOf(network: SketchNetwork, collective: ReturnType<typeof wholeCollective>) {
  const { times } = timing(network, collective);
  return { latencyPs: times.latencyPs[0] as number, serialPs: times.serialPs[0] as number };
}

describe("hops by digits", () => {
  it("lead to the rank, one for each digit that is not 0, the least first, the same after any rotation", () => {
    const numbering = fc.record({ radix: fc.integer({ min: 2, max: 9 }), xor: fc.constant(false) });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(), fc.nat(), fc.nat(), numbering, (n, a, b, turn, how) => {
        const hops = hopsOf(a % n, b % n, n, how);
        expect(hops.at(-1)?.[0] ?? a % n).toBe(b % n);
        const digits = [...(((b % n) - (a % n) + n) % n).toString(how.radix)].filter((digit) => digit !== "0");
        expect(hops.length).toBe(digits.length);
        expect(hops.every(([, place], i) => i === 0 || place > (hops[i - 1]?.[1] as number))).toBe(true);
        const turned = hopsOf((a + turn) % n, (b + turn) % n, n, how);
        const expected = hops.map(([rank, ...digit]) => [(rank - (a % n) + ((a + turn) % n) + n) % n, ...digit]);
        expect(turned.map((hop) => [...hop])).toEqual(a % n === b % n ? [] : expected);
      }),
    );
  });

  it("flip bits where offsets are bitwise", () => {
    expect(hopsOf(5, 3, 8, { radix: 2, xor: true })).toEqual([
      [7, 1, 1],
      [3, 2, 1],
    ]);
  });
});

describe("ways of few steps", () => {
  // what a port has doubles at most with every message, and n - 1 chunks must come through it
  it.each([2, 3, 4, 5, 7, 8, 12, 16])("all-gather behind a switch of %d ports in the least time there is", (n) => {
    const { network, collective, best } = stepsOn(`switch:${n}`, "allgather", 64);
    const { latencyPs, serialPs } = costsOf(network, collective);
    expect(best?.endPs).toBe(Math.ceil(Math.log2(n)) * latencyPs + (n - 1) * serialPs);
  });

  it.each([4, 8, 16])("all-to-all behind a switch of %d ports with half of all chunks in each step", (n) => {
    const { network, collective, best } = stepsOn(`switch:${n}`, "alltoall", 64);
    const { latencyPs, serialPs } = costsOf(network, collective);
    expect(best?.endPs).toBe(Math.log2(n) * (latencyPs + (n / 2) * serialPs));
  });

  it("send directly where chunks are large", () => {
    const { network, collective, best } = stepsOn("switch:8", "alltoall", 1 << 26);
    const { latencyPs, serialPs } = costsOf(network, collective);
    expect(best?.endPs).toBe(7 * (latencyPs + serialPs));
    expect(best?.name).toBe("in steps, by digits of offsets to base 8");
  });

  it.each(
    ["switch:6", "hypercube:3", "dgx-a100:2", "dgx-h100:3"].flatMap((name) =>
      COLLECTIVE_KINDS.map((kind) => ({ name, kind })),
    ),
  )("pass the judge: $kind on $name", ({ name, kind }) => {
    const topology = presetTopology(name);
    for (const sketch of proposedSketches(topology, kind)) {
      const network = sketchNetwork(topology, sketch);
      const whole = wholeCollective(topology, kind, 1024 * topology.npuCount, 1);
      for (const { collective, reversed } of phasesOf(whole)) {
        const { best } = stepped(network, collective);
        if (best === null || reversed) continue;
        const steps = stepsOfPlan(topology, collective, best.tasks, best.plan);
        expect(verify(steps).violations).toEqual([]);
        expect(makespanPs(steps)).toBe(best.endPs);
      }
    }
  });

  it("exist for boxes behind switches, in fewer latencies than there are NPUs", () => {
    for (const name of ["dgx-a100:2", "dgx-h100:3"]) {
      const { network, collective, best } = stepsOn(name, "allgather", 64);
      const { times } = timing(network, collective);
      const latencyPs = times.latencyPs.reduce((most, ps) => Math.max(most, ps), 0);
      expect((best as Stepped).endPs).toBeLessThan((latencyPs * network.topology.npuCount) / 2);
    }
  });

  it("are the same after the sketch's rotations, or left out with a note", () => {
    const sketch = { ...firstSketch("switch:6", "allgather"), symmetries: [{ offset: 1, period: 6 }] };
    expect(stepsOn("switch:6", "allgather", 64, sketch).note).toBeNull();
    const pairs = { ...sketch, symmetries: [{ offset: 1, period: 2 }] };
    const { best, note } = stepsOn("switch:6", "allgather", 64, pairs);
    expect(best?.name).toBe("in steps, by digits of offsets to base 6");
    expect(note).toBe("symmetry_offsets leave out ways in steps, by digits of offsets to base 2");
  });

  it("are none where digits have no routes", () => {
    expect(stepsOn("ring:5", "allgather", 64).best).toBeNull();
  });
});
