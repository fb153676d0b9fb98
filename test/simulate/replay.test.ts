import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../src/errors.ts";
import { collective } from "../../src/model/collective.ts";
import { routeTimes } from "../../src/model/routes.ts";
import { makespanPs, type StepSchedule } from "../../src/model/step-schedule.ts";
import { topologyBuilder } from "../../src/model/topology-builder.ts";
import { type Simulation, type Switching, simulateSchedule } from "../../src/simulate/replay.ts";
import { utilisation } from "../../src/simulate/utilisation.ts";
import { anySchedule } from "../support/any-schedule.ts";
import { ringSchedule } from "../support/ring-schedule.ts";
import { anyPlan } from "./any-plan.ts";

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
  it.each<[string, StepSchedule, string]>([
    [
      "a chunk that is never at the source",
      broken({ chunk: Uint8Array.of(0, 1, 2, 1, 0, 1) }),
      "expected chunk 1 at NPU a by 1000000000 ps for transfer 3 (simulate needs a valid schedule) but received nothing",
    ],
    ["rows out of order", broken({ startPs: Float64Array.of(0, 0, 5, 1, 5, 5) }), "expected a start at or after 5 ps"],
    [
      "an end before the start",
      broken({ endPs: new Float64Array(6) }),
      "expected an end after its start at 0 ps and below 2^53 ps",
    ],
    [
      "no number for a time",
      broken({ startPs: new Float64Array(6).fill(Number.NaN) }),
      "expected a start at or after 0 ps",
    ],
    ["a chunk that does not exist", broken({ chunk: new Uint8Array(6).fill(3) }), "expected a chunk below 3"],
    ["a route that does not exist", broken({ route: new Uint8Array(6).fill(9) }), "expected a route below 3"],
  ])("names the transfer: %s", (_, schedule, sentence) => {
    for (const switching of MODES) {
      expect(() => simulateSchedule(schedule, { switching })).toThrow(InputError);
      expect(() => simulateSchedule(schedule, { switching })).toThrow(sentence);
    }
  });

  it("refuses a share above 1 and an unknown mode", () => {
    const schedule = ringSchedule();
    const shareNum = Float64Array.of(1, 1, 2);
    expect(() => simulateSchedule({ ...schedule, routes: { ...schedule.routes, shareNum } })).toThrow(
      'expected a share in (0, 1] for a route over link c>a but received "2/1"',
    );
    expect(() => simulateSchedule(schedule, { switching: "wormhole" as Switching })).toThrow("options.switching");
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
      { seed: 3, numRuns: 400 },
    );
    expect(ended).toBeGreaterThan(20);
  });
});

describe("laws of the replay", () => {
  const general = { direct: false, reductions: true };

  it("cut-through starts and ends every transfer when a replay by time steps does", () => {
    fc.assert(
      fc.property(anyPlan(general), (schedule) => {
        const { startPs, endPs } = times(schedule, "cut-through");
        const expected = steppedCutThrough(schedule);
        expect({ start: [...startPs], end: [...endPs] }).toEqual(expected);
      }),
      { seed: 5, numRuns: 600 },
    );
  });

  it("cut-through never starts a transfer later than planned", () => {
    fc.assert(
      fc.property(anyPlan(general), (schedule) => {
        const { startPs } = times(schedule, "cut-through");
        startPs.forEach((start, i) => {
          expect(start).toBeLessThanOrEqual(schedule.startPs[i]);
        });
        expect(simulateSchedule(schedule).ps).toBeLessThanOrEqual(makespanPs(schedule));
      }),
      { seed: 6, numRuns: 300 },
    );
  });

  it("on direct links both modes are the same", () => {
    fc.assert(
      fc.property(anyPlan({ direct: true, reductions: true }), (schedule) => {
        const stored = simulateSchedule(schedule, { switching: "store-and-forward", timeline: true });
        const through = simulateSchedule(schedule, { timeline: true });
        expect(stored.endPs).toEqual(through.endPs);
        expect(stored.linkBusyPs).toEqual(through.linkBusyPs);
        expect(stored.ps).toBeLessThanOrEqual(makespanPs(schedule));
      }),
      { seed: 7, numRuns: 300 },
    );
  });

  it("no link is busy for longer than the whole takes, and nothing is faster than its way", () => {
    fc.assert(
      fc.property(anyPlan(general), fc.constantFrom(...MODES), (schedule, switching) => {
        const { ps, linkBusyPs, startPs, endPs } = simulateSchedule(schedule, { switching, timeline: true });
        for (const busy of linkBusyPs) expect(busy).toBeLessThanOrEqual(ps);
        if (startPs === undefined || endPs === undefined) throw new Error("no timeline");
        expect(ps).toBe(Math.max(0, ...endPs));
        const { slotPs } = routeTimes(schedule.topology, schedule.routes, schedule.collective.chunkBytes);
        if (switching === "cut-through") {
          startPs.forEach((start, i) => {
            expect(endPs[i] - start).toBe(slotPs[schedule.route[i]]);
          });
        }
      }),
      { seed: 8, numRuns: 300 },
    );
  });

  it("cut-through is monotone: a slower or farther link never ends sooner", () => {
    let slower = 0;
    fc.assert(
      fc.property(anyPlan(general), fc.nat(), fc.boolean(), (schedule, pick, farther) => {
        const { topology } = schedule;
        const link = pick % topology.linkSource.length;
        const linkBytesPerSecond = topology.linkBytesPerSecond.map((b, l) => (l === link && !farther ? b / 2 : b));
        const linkLatencyPs = topology.linkLatencyPs.map((ps, l) => (l === link && farther ? ps + 7 : ps));
        const changed = { ...schedule, topology: { ...topology, linkBytesPerSecond, linkLatencyPs } };
        const [before, after] = [times(schedule, "cut-through"), times(changed, "cut-through")];
        after.endPs.forEach((end, i) => {
          expect(end).toBeGreaterThanOrEqual(before.endPs[i]);
          if (end > before.endPs[i]) slower++;
        });
      }),
      { seed: 9, numRuns: 300 },
    );
    expect(slower).toBeGreaterThan(100);
  });

  it("store-and-forward serves every link first come, first served and never idles", () => {
    fc.assert(
      fc.property(anyPlan(general), (schedule) => {
        expect(brokenStoreAndForward(schedule)).toEqual([]);
      }),
      { seed: 10, numRuns: 400 },
    );
  });

  it("gives the same answer for coarse denominators as for small ones", () => {
    fc.assert(
      fc.property(anyPlan(general), (schedule) => {
        // one route more, never used, over all links: a share whose denominator makes the common one leave 2^53
        const { routes, topology } = schedule;
        const all = Int32Array.from(topology.linkSource.keys());
        const odd = new Float64Array(all.length).fill(2 ** 53 - 111);
        const many = {
          ...routes,
          source: Int32Array.of(...routes.source, 0),
          target: Int32Array.of(...routes.target, 1),
          linkOffset: Int32Array.of(...routes.linkOffset, routes.links.length + all.length),
          links: Int32Array.of(...routes.links, ...all),
          shareNum: Float64Array.of(...routes.shareNum, ...new Float64Array(all.length).fill(1)),
          shareDen: Float64Array.of(...routes.shareDen, ...odd),
        };
        expect(times({ ...schedule, routes: many }, "cut-through")).toEqual(times(schedule, "cut-through"));
      }),
      { seed: 12, numRuns: 100 },
    );
  });
});

/** Which arrivals the plan has at the source of each transfer by its departure. */
function plannedArrivals({ chunk, route, routes, startPs, endPs }: StepSchedule): number[][] {
  const rows = [...chunk.keys()];
  return rows.map((i) =>
    rows.filter(
      (j) => chunk[j] === chunk[i] && routes.target[route[j]] === routes.source[route[i]] && endPs[j] <= startPs[i],
    ),
  );
}

/** Returns when the chunk of each transfer is ready given arrival times; infinity where it is not known yet. */
function readyTime(
  schedule: StepSchedule,
  arrivals: readonly number[],
  i: number,
  endOf: (row: number) => number,
): number {
  const { pre, reduces } = schedule.collective;
  if (pre.kind !== "sets") throw new Error("the generator makes sets");
  const c = schedule.chunk[i];
  const initial = pre.members
    .subarray(pre.offset[c], pre.offset[c + 1])
    .includes(schedule.routes.source[schedule.route[i]]);
  if (arrivals.length === 0 || (initial && !reduces)) return initial ? 0 : Number.POSITIVE_INFINITY;
  return reduces ? Math.max(...arrivals.map(endOf)) : Math.min(...arrivals.map(endOf));
}

/** Replays by trying every transfer at every picosecond, straight from the words of the definition. */
function steppedCutThrough(schedule: StepSchedule): { start: number[]; end: number[] } {
  const { route, routes, topology, collective } = schedule;
  const count = route.length;
  const linksOf = (i: number): number[] => [
    ...routes.links.subarray(routes.linkOffset[route[i]], routes.linkOffset[route[i] + 1]),
  ];
  const bytes = Number(collective.chunkBytes.num) / Number(collective.chunkBytes.den);
  const hopsOf = (i: number): number[] => linksOf(i).map((_, k) => routes.linkOffset[route[i]] + k);
  const serialOf = (i: number): number =>
    Math.max(
      ...hopsOf(i).map((p) => {
        const psPerByte = 1e12 / topology.linkBytesPerSecond[routes.links[p]];
        return Math.ceil((bytes * Math.round(psPerByte) * routes.shareDen[p]) / routes.shareNum[p] - 1e-9);
      }),
    );
  const latencyOf = (i: number): number => linksOf(i).reduce((sum, link) => sum + topology.linkLatencyPs[link], 0);
  const start: number[] = Array(count).fill(Number.POSITIVE_INFINITY);
  const end: number[] = Array(count).fill(Number.POSITIVE_INFINITY);
  const arrivals = plannedArrivals(schedule);
  const rows = [...start.keys()];
  for (let now = 0; start.includes(Number.POSITIVE_INFINITY); now++) {
    if (now > 100_000) throw new Error("stuck");
    for (const i of rows) {
      if (start[i] <= now || readyTime(schedule, arrivals[i], i, (j) => end[j]) > now) continue;
      const inFlight = rows.filter((j) => start[j] <= now && now < start[j] + serialOf(j));
      const overtaken = rows.some(
        (j) => j < i && start[j] > now && linksOf(j).some((link) => linksOf(i).includes(link)),
      );
      const full = hopsOf(i).some((p) => {
        const others = inFlight.flatMap(hopsOf).filter((q) => routes.links[q] === routes.links[p]);
        const sixths = [p, ...others].reduce((sum, q) => sum + (6 * routes.shareNum[q]) / routes.shareDen[q], 0);
        return sixths > 6;
      });
      if (overtaken || full || inFlight.some((j) => route[j] === route[i])) continue;
      start[i] = now;
      end[i] = now + serialOf(i) + latencyOf(i);
    }
  }
  return { start, end };
}

/** Returns the broken laws of a store-and-forward timeline. */
function brokenStoreAndForward(schedule: StepSchedule): string[] {
  const { route, routes, topology, collective } = schedule;
  const { startPs, endPs, hopStartPs } = simulateSchedule(schedule, { switching: "store-and-forward", timeline: true });
  if (startPs === undefined || endPs === undefined || hopStartPs === undefined) return ["no timeline"];
  const bytes = Number(collective.chunkBytes.num) / Number(collective.chunkBytes.den);
  const broken: string[] = [];
  const arrivals = plannedArrivals(schedule);
  const visits: { link: number; enter: number; start: number; end: number; row: number }[] = [];
  const enteredFirst = new Map<number, number>();
  let at = 0;
  for (let i = 0; i < route.length; i++) {
    const first = routes.links[routes.linkOffset[route[i]]];
    const ready = readyTime(schedule, arrivals[i], i, (j) => endPs[j]);
    let enter = Math.max(ready, enteredFirst.get(first) ?? 0);
    enteredFirst.set(first, enter);
    if (hopStartPs[at] !== startPs[i]) broken.push(`start of ${i}`);
    for (let p = routes.linkOffset[route[i]]; p < routes.linkOffset[route[i] + 1]; p++, at++) {
      const link = routes.links[p];
      const serial = Math.ceil(bytes * Math.round(1e12 / topology.linkBytesPerSecond[link]));
      visits.push({ link, enter, start: hopStartPs[at], end: hopStartPs[at] + serial, row: i });
      enter = hopStartPs[at] + serial + topology.linkLatencyPs[link];
    }
    if (endPs[i] !== enter) broken.push(`arrival of ${i}`);
  }
  for (const a of visits) {
    const others = visits.filter((b) => b !== a && b.link === a.link);
    if (a.start < a.enter) broken.push(`${a.row} starts before it is there`);
    if (others.some((b) => a.start < b.end && b.start < a.end)) broken.push(`${a.row} shares link ${a.link}`);
    if (others.some((b) => b.enter < a.enter && b.start > a.start)) broken.push(`${a.row} jumps the queue`);
    if (a.start > a.enter && !others.some((b) => b.end === a.start)) broken.push(`${a.row} waits for nothing`);
  }
  return broken;
}
