import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commSlots, commSteps } from "../../../src/model/comm/collective.ts";
import {
  type CommRows,
  commSchedule,
  commTimes,
  directNetworkOf,
  stepLoads,
  unfolded,
} from "../../../src/model/comm/schedule.ts";
import { type DirectNetwork, transpose } from "../../../src/model/direct/digraph.ts";
import { format } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { routeTimes } from "../../../src/model/routes/routes.ts";
import { expandSlots } from "../../../src/model/slots/slot-schedule.ts";
import { makespanPs } from "../../../src/model/steps/step-schedule.ts";
import { reversed } from "../../../src/model/topology/topology.ts";
import { bfbSchedule } from "../../../src/synthesize/bfb/broadcast.ts";
import { balance, faults, graph, networkOfGraph, regularDigraphs } from "../../support/breadth-first.ts";
import { anyCayley, cayleyNetwork, isConnected } from "../../support/cayley.ts";
import { runs } from "../../support/runs.ts";
import { wholeCollective } from "../../support/synthesis.ts";

/** Figure 3.1 of Zhao 2026: K(2,2) with a = 0, b = 1 against c = 2, d = 3. */
const k22 = () => {
  const of = graph("K(2,2)");
  const arcOf = (from: number, to: number): number =>
    [0, 1].map((k) => of.offset[from] + k).find((arc) => of.target[arc] === to) as number;
  const rows = {
    step: [] as number[],
    source: [] as number[],
    arc: [] as number[],
    from: [] as number[],
    to: [] as number[],
  };
  const add = (step: number, source: number, arc: number, from: number, to: number): void => {
    for (const [key, value] of Object.entries({ step, source, arc, from, to }))
      rows[key as keyof typeof rows].push(value);
  };
  for (let v = 0; v < 4; v++) {
    const [twin, others] = v < 2 ? [1 - v, [2, 3]] : [5 - v, [0, 1]];
    for (const [k, w] of others.entries()) {
      add(1, v, arcOf(w, twin), k, k + 1);
      add(0, v, arcOf(v, w), 0, 2);
    }
  }
  return commSchedule({ graph: of, steps: 2, parts: 2, symmetry: null }, rows);
};

const networkOf = (topology: Parameters<typeof directNetworkOf>[0]): DirectNetwork =>
  directNetworkOf(topology) as DirectNetwork;

describe("schedules in comm steps", () => {
  it("take 2 alpha and 3/4 M/B on K(2,2)", () => {
    const times = commTimes(k22());
    expect({ ...times, bandwidth: format(times.bandwidth) }).toEqual({ steps: 2, bandwidth: "3/4" });
    expect([...stepLoads(k22())]).toEqual([2, 1]);
  });

  it("list their rows in order of step, arc, source and part", () => {
    const { step, arc, source, from } = k22();
    const keys = Array.from(step, (t, i) => ((t * 64 + arc[i]) * 64 + source[i]) * 64 + from[i]);
    expect(keys).toEqual([...keys].sort((a, b) => a - b));
    expect(keys).toHaveLength(16);
  });

  it("are never later as transfers than with a barrier between steps, both ways", async () => {
    await fc.assert(
      fc.asyncProperty(regularDigraphs(12), fc.integer({ min: 1, max: 4 }), async (of, parts) => {
        const topology = networkOfGraph(of);
        const network = networkOf(topology);
        const turned = networkOf(reversed(topology));
        const schedule = await bfbSchedule(network.graph, parts, balance);
        const back = await bfbSchedule(turned.graph, parts, balance);
        const collective = wholeCollective(topology, "allreduce", 1e6, parts);
        const steps = commSteps(topology, collective, [
          { schedule: back, linkOfArc: turned.linkOfArc, backward: true },
          { schedule, linkOfArc: network.linkOfArc, backward: false },
        ]);
        expect(faults(steps)).toEqual([]);
        const loads = [...stepLoads(schedule), ...stepLoads(back)].reduce((a, b) => a + b, 0);
        expect(makespanPs(steps)).toBeLessThanOrEqual(
          loads * routeTimes(topology, steps.routes, collective.chunkBytes).slotPs[0],
        );
      }),
      { numRuns: runs(50) },
    );
  });

  it("serve NPUs in the order of their ranks", async () => {
    const topology = presetTopology("ring:5");
    const { graph: of, linkOfArc } = networkOf(topology);
    const whole = wholeCollective(topology, "allgather", 1e6);
    const members = Int32Array.of(3, 1, 4, 0, 2);
    const collective = { ...whole, groupMembers: members, pre: { kind: "one" as const, npu: members } };
    const schedule = await bfbSchedule(of, 1, balance);
    expect(faults(commSteps(topology, collective, [{ schedule, linkOfArc, backward: false }]))).toEqual([]);
  });

  it.each(["torus:4x3", "hypercube:3", "circulant:9,1,2", "ring:6"])(
    "are sound as logs of one NPU on %s",
    async (name) => {
      const topology = presetTopology(name);
      const { graph: of, linkOfArc } = networkOf(topology);
      expect(of.translations).not.toBeNull();
      const schedule = await bfbSchedule(of, 2, balance);
      for (const kind of ["allgather", "reducescatter", "allreduce"] as const) {
        const slots = commSlots(topology, wholeCollective(topology, kind, 1e6, 2), { schedule, linkOfArc });
        expect(faults(slots)).toEqual([]);
        expect(faults(expandSlots(slots))).toEqual([]);
        expect(slots.slots).toBe(stepLoads(schedule).reduce((a, b) => a + b, 0));
      }
    },
  );

  it("are sound as logs of every NPU", async () => {
    await fc.assert(
      fc.asyncProperty(regularDigraphs(10), fc.integer({ min: 1, max: 3 }), async (of, parts) => {
        const topology = networkOfGraph(of);
        const { graph: arcs, linkOfArc } = networkOf(topology);
        const schedule = await bfbSchedule({ ...arcs, translations: null }, parts, balance);
        const collective = wholeCollective(topology, "allgather", 1e6, parts);
        expect(faults(commSlots(topology, collective, { schedule, linkOfArc }))).toEqual([]);
      }),
      { numRuns: runs(40) },
    );
  });

  it("come merged from the kernel's rows as a sort would have them", async () => {
    await fc.assert(
      fc.asyncProperty(regularDigraphs(12), fc.integer({ min: 1, max: 5 }), async (of, parts) => {
        const schedule = await bfbSchedule(of, parts, balance);
        const { step, source, arc, from, to } = schedule;
        const [steps, sources, arcs, starts, ends] = [step, source, arc, from, to].map((column) =>
          [...column].reverse(),
        );
        const rows = { step: steps, source: sources, arc: arcs, from: starts, to: ends } as CommRows;
        expect(schedule).toEqual(commSchedule(schedule, rows));
      }),
      { numRuns: runs(60) },
    );
  });

  it("unfold to sound ones with the same times, where translations act on arcs", async () => {
    await fc.assert(
      fc.asyncProperty(anyCayley(24).filter(isConnected), fc.nat(1000), async (cayley, seed) => {
        const topology = cayleyNetwork(cayley, seed);
        const { graph: of, linkOfArc } = networkOf(topology);
        const schedule = await bfbSchedule(of, 2, balance);
        const all = unfolded(schedule);
        expect(commTimes(all)).toEqual(commTimes(schedule));
        const collective = wholeCollective(topology, "allgather", 1e6, 2);
        expect(faults(commSteps(topology, collective, [{ schedule, linkOfArc, backward: false }]))).toEqual([]);
      }),
      { numRuns: runs(40) },
    );
  });

  it("turn every link of a network round with its arcs", () => {
    const of = graph("DC(12,{1,5})");
    const { graph: back } = networkOf(reversed(networkOfGraph(of)));
    const arcs = (g: typeof of): string[] =>
      Array.from({ length: g.nodes }, (_, v) => [...g.target.subarray(g.offset[v], g.offset[v + 1])].sort().join());
    expect(arcs(back)).toEqual(arcs(transpose(of)));
    expect(arcs(back)).not.toEqual(arcs(of));
  });

  it("need a network without switches", () => {
    expect(directNetworkOf(presetTopology("switch:4"))).toBeNull();
  });
});
