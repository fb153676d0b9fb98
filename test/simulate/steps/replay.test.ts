import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { collective } from "../../../src/model/collective/collective.ts";
import type { StepSchedule } from "../../../src/model/steps/step-schedule.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import type { Simulation, Switching } from "../../../src/simulate/simulation.ts";
import { simulateJoint, simulateSchedule, utilisation } from "../../../src/simulate/steps/replay.ts";
import { anySchedule } from "../../support/any-schedule.ts";
import { missing, type Refusal, unexpected } from "../../support/refusals.ts";
import { ringSchedule } from "../../support/ring-schedule.ts";
import { runs, seen } from "../../support/runs.ts";

const MODES: readonly Switching[] = ["cut-through", "store-and-forward"];

/** Returns a - s - b with two NPUs more behind the switch: routes a>b, a>c, d>b, each direction 1 byte/ps, 5 ps latency. */
function starSchedule(
  share: number,
  rows: readonly (readonly [chunk: number, route: number, start: number])[],
): StepSchedule {
  const builder = topologyBuilder("star");
  for (const name of ["a", "b", "c", "d"]) builder.addNpu(name);
  builder.addSwitch("s");
  for (let npu = 0; npu < 4; npu++) builder.addDuplex(npu, 4, 1e12, 5);
  const slot = 10 * share + 10;
  return {
    topology: builder.build(),
    collective: collective({
      kind: "alltoall",
      groups: [Int32Array.of(0, 1, 2, 3)],
      sizeBytes: 40,
      chunksPerNpu: 1,
      rootRank: 0,
    }),
    routes: {
      source: Int32Array.of(0, 0, 3),
      target: Int32Array.of(1, 2, 1),
      linkOffset: Int32Array.of(0, 2, 4, 6),
      links: Int32Array.of(0, 3, 0, 5, 6, 3),
      shareNum: new Float64Array(6).fill(1),
      shareDen: new Float64Array(6).fill(share),
    },
    chunk: Uint8Array.from(rows, (row) => row[0]),
    route: Uint8Array.from(rows, (row) => row[1]),
    startPs: Float64Array.from(rows, (row) => row[2]),
    endPs: Float64Array.from(rows, (row) => row[2] + slot),
    op: new Uint8Array(rows.length),
  };
}

const times = (schedule: StepSchedule, switching: Switching): Required<Pick<Simulation, "startPs" | "endPs">> => {
  const { startPs, endPs } = simulateSchedule(schedule, { switching, timeline: true });
  if (startPs === undefined || endPs === undefined) throw new Error("no timeline");
  return { startPs, endPs };
};

describe("replay of small schedules", () => {
  it("does not let latency occupy a link", () => {
    const schedule = starSchedule(1, [
      [1, 0, 0],
      [2, 1, 20],
      [13, 2, 20],
    ]);
    // a>s is free after 10, s>b too
    expect(times(schedule, "cut-through")).toEqual({
      startPs: Float64Array.of(0, 10, 10),
      endPs: Float64Array.of(20, 30, 30),
    });
  });

  it("carries transfers side by side while their shares fit, none past an earlier one", () => {
    const schedule = starSchedule(2, [
      [1, 0, 0],
      [2, 1, 0],
      [13, 2, 0],
      [1, 0, 30],
    ]);
    expect(times(schedule, "cut-through")).toEqual({
      startPs: Float64Array.of(0, 0, 0, 20),
      endPs: Float64Array.of(30, 30, 30, 50),
    });
    const { linkBusyPs } = simulateSchedule(schedule);
    expect([...linkBusyPs]).toEqual([30, 0, 0, 30, 0, 10, 10, 0]);
  });

  it("forwards hop by hop, first come first served, in store-and-forward", () => {
    const schedule = starSchedule(1, [
      [1, 0, 0],
      [2, 1, 20],
      [13, 2, 20],
    ]);
    const { startPs, endPs, hopStartPs } = simulateSchedule(schedule, {
      switching: "store-and-forward",
      timeline: true,
    });
    expect(startPs).toEqual(Float64Array.of(0, 10, 0));
    // both reach the switch at 15; the one that was scheduled first goes to b first
    expect(hopStartPs).toEqual(Float64Array.of(0, 15, 10, 25, 0, 25));
    expect(endPs).toEqual(Float64Array.of(30, 40, 40));
  });

  it.each(MODES)("replays a homogeneous ring all-gather at its own time without latency (%s)", (switching) => {
    const { ps, linkBusyPs, model } = simulateSchedule(ringSchedule(), { switching });
    expect({ ps, model, busy: [...linkBusyPs] }).toEqual({
      ps: 2e9,
      model: `network/${switching}`,
      busy: [2e9, 2e9, 2e9],
    });
    expect(utilisation(ringSchedule().topology, ps, linkBusyPs)).toEqual({
      mean: 1,
      max: 1,
      bottleneck: { link: 0, name: "a>b" },
    });
  });

  it.each(MODES)("takes no time for an empty schedule (%s)", (switching) => {
    const simulation = simulateSchedule(starSchedule(1, []), { switching });
    expect(simulation.ps).toBe(0);
    expect(utilisation(starSchedule(1, []).topology, 0, simulation.linkBusyPs).bottleneck).toBe(null);
  });

  it.each(MODES)(
    "waits in a reduction for every contribution planned to be there, in either order (%s)",
    (switching) => {
      // c and d bring contributions to a; a sends on after both in the plan; the links into a are swapped in speed
      const builder = topologyBuilder("tree");
      for (const name of ["a", "b", "c", "d"]) builder.addNpu(name);
      builder.addLink(2, 0, 1e12, 0);
      builder.addLink(3, 0, 1e11, 0);
      builder.addLink(0, 1, 1e12, 0);
      const base = {
        topology: builder.build(),
        collective: collective({
          kind: "reduce",
          groups: [Int32Array.of(0, 1, 2, 3)],
          sizeBytes: 10,
          chunksPerNpu: 1,
          rootRank: 1,
        }),
        routes: {
          source: Int32Array.of(2, 3, 0),
          target: Int32Array.of(0, 0, 1),
          linkOffset: Int32Array.of(0, 1, 2, 3),
          links: Int32Array.of(0, 1, 2),
          shareNum: new Float64Array(3).fill(1),
          shareDen: new Float64Array(3).fill(1),
        },
        chunk: new Uint8Array(3),
        route: Uint8Array.of(0, 1, 2),
        op: new Uint8Array(3).fill(1),
      };
      const after = { ...base, startPs: Float64Array.of(0, 0, 150), endPs: Float64Array.of(10, 100, 160) };
      expect([...times(after, switching).startPs]).toEqual([0, 0, 100]);
      const between = { ...base, startPs: Float64Array.of(0, 0, 50), endPs: Float64Array.of(10, 100, 60) };
      expect([...times(between, switching).startPs]).toEqual([0, 0, 10]);
      const before = { ...base, startPs: Float64Array.of(0, 0, 5), endPs: Float64Array.of(10, 100, 15) };
      expect([...times(before, switching).startPs]).toEqual([0, 0, 0]);
    },
  );
});

describe("replay of a chunk that comes twice", () => {
  it.each(MODES)("goes by the first of the planned copies, also when a later one has come since (%s)", (switching) => {
    // a sends chunk 0 to b over a fast and a middling link; b passes on chunk 1 first, which comes over a slow one
    const builder = topologyBuilder("twice");
    for (const name of ["a", "b", "c"]) builder.addNpu(name);
    for (const bytesPerSecond of [1e12, 5e11, 1e11]) builder.addLink(0, 1, bytesPerSecond, 0);
    builder.addLink(1, 2, 1e12, 0);
    const schedule: StepSchedule = {
      topology: builder.build(),
      collective: collective({
        kind: "allgather",
        groups: [Int32Array.of(0, 1, 2)],
        sizeBytes: 60,
        chunksPerNpu: 2,
        rootRank: 0,
      }),
      routes: {
        source: Int32Array.of(0, 0, 0, 1),
        target: Int32Array.of(1, 1, 1, 2),
        linkOffset: Int32Array.of(0, 1, 2, 3, 4),
        links: Int32Array.of(0, 1, 2, 3),
        shareNum: new Float64Array(4).fill(1),
        shareDen: new Float64Array(4).fill(1),
      },
      chunk: Uint8Array.of(0, 1, 0, 1, 0),
      route: Uint8Array.of(0, 2, 1, 3, 3),
      startPs: Float64Array.of(0, 0, 90, 100, 110),
      endPs: Float64Array.of(10, 100, 300, 110, 120),
      op: new Uint8Array(5),
    };
    expect([...times(schedule, switching).startPs]).toEqual([0, 0, 0, 100, 110]);
  });
});

describe("replay of schedules that are not valid", () => {
  const broken = (change: Partial<StepSchedule>): StepSchedule => ({ ...ringSchedule(), ...change });
  it.each<[string, StepSchedule, Refusal]>([
    [
      "a chunk that is never at the source",
      broken({ chunk: Uint8Array.of(0, 1, 2, 1, 0, 1) }),
      missing("transfer 3 (simulate needs a valid schedule)", 1000000000),
    ],
    [
      "rows out of order",
      broken({ startPs: Float64Array.of(0, 0, 5, 1, 5, 5) }),
      unexpected("transfer 3 (simulate needs a valid schedule)", 1, 5),
    ],
    [
      "an end before the start",
      broken({ endPs: new Float64Array(6) }),
      unexpected("transfer 0 (simulate needs a valid schedule)", 0),
    ],
    [
      "no number for a time",
      broken({ startPs: new Float64Array(6).fill(Number.NaN) }),
      unexpected("transfer 0 (simulate needs a valid schedule)", NaN),
    ],
    [
      "a chunk that does not exist",
      broken({ chunk: new Uint8Array(6).fill(3) }),
      unexpected("transfer 0 (simulate needs a valid schedule)", 3, 3),
    ],
    [
      "a route that does not exist",
      broken({ route: new Uint8Array(6).fill(9) }),
      unexpected("transfer 0 (simulate needs a valid schedule)", 9, 3),
    ],
  ])("names the transfer: %s", (_, schedule, sentence) => {
    for (const switching of MODES) {
      expect(() => simulateSchedule(schedule, { switching })).toThrow(InputError);
      expect(() => simulateSchedule(schedule, { switching })).toThrow(sentence);
    }
  });

  it.each(MODES)("refuses a chunk that is another tenant's (%s)", (switching) => {
    const tenant = starSchedule(1, [[1, 0, 0]]);
    const joint = (chunk: number) => {
      const other = { ...tenant, chunk: Int32Array.of(chunk) };
      return { topology: tenant.topology, routes: tenant.routes, tenants: [tenant, other, tenant] };
    };
    expect(simulateJoint(joint(1), { switching }).ps).toBeGreaterThan(0);
    for (const chunk of [1 - 16, -1, 16, 1 + 16])
      expect(() => simulateJoint(joint(chunk), { switching })).toThrow(
        unexpected("transfer 1 (simulate needs a valid schedule)", -1, 48),
      );
  });

  it("refuses a share above 1 and an unknown mode", () => {
    const schedule = ringSchedule();
    const shareNum = Float64Array.of(1, 1, 2);
    expect(() => simulateSchedule({ ...schedule, routes: { ...schedule.routes, shareNum } })).toThrow(
      unexpected("a route over link c>a", "2/1"),
    );
    expect(() => simulateSchedule(schedule, { switching: "wormhole" as Switching })).toThrow(
      unexpected("options.switching", "wormhole"),
    );
  });

  it("ends with a time or an InputError on any columns", () => {
    let ended = 0;
    fc.assert(
      fc.property(anySchedule(), fc.constantFrom(...MODES), (schedule, switching) => {
        try {
          const { ps } = simulateSchedule(schedule, { switching });
          expect(Number.isSafeInteger(ps)).toBe(true);
          ended++;
        } catch (error) {
          expect(error).toBeInstanceOf(InputError);
        }
      }),
      { seed: 3, numRuns: runs(400) },
    );
    expect(ended).toBeGreaterThan(seen(20));
  });
});
