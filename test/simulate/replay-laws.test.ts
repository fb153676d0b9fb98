import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Placement } from "../../src/model/collective/collective.ts";
import { routeTimes } from "../../src/model/routes/routes.ts";
import { makespanPs, type StepSchedule } from "../../src/model/steps/step-schedule.ts";
import type { Simulation, Switching } from "../../src/simulate/simulation.ts";
import { simulateSchedule } from "../../src/simulate/steps/replay.ts";
import { make, network, row, task } from "../support/hand-made-schedules.ts";
import { mergedSchedule } from "../support/merged-schedules.ts";
import { runs, seen } from "../support/runs.ts";
import { anyPlan } from "./any-plan.ts";

const MODES: readonly Switching[] = ["cut-through", "store-and-forward"];

const one = (chunks: number, npu: number): Placement => ({ kind: "one", npu: new Int32Array(chunks).fill(npu) });

const times = (schedule: StepSchedule, switching: Switching): Required<Pick<Simulation, "startPs" | "endPs">> => {
  const { startPs, endPs } = simulateSchedule(schedule, { switching, timeline: true });
  if (startPs === undefined || endPs === undefined) throw new Error("no timeline");
  return { startPs, endPs };
};

describe("laws of the replay", () => {
  const general = { direct: false, reductions: true };

  it("cut-through starts and ends every transfer when a replay by time steps does", () => {
    fc.assert(
      fc.property(anyPlan(general), (schedule) => {
        const { startPs, endPs } = times(schedule, "cut-through");
        const expected = steppedCutThrough(schedule);
        expect({ start: [...startPs], end: [...endPs] }).toEqual(expected);
      }),
      { seed: 5, numRuns: runs(600) },
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
      { seed: 6, numRuns: runs(300) },
    );
  });

  it("merged sends are never replayed later than planned, whatever else shares their links", () => {
    let [merged, shared, direct] = [0, 0, 0];
    for (let seed = 0; seed < 300; seed++) {
      const schedule = mergedSchedule(seed);
      const { startPs, endPs } = times(schedule, "cut-through");
      expect([...endPs.keys()].filter((i) => endPs[i] > schedule.endPs[i])).toEqual([]);
      const { serialPs, slotPs } = routeTimes(schedule.topology, schedule.routes, schedule.collective.chunkBytes);
      const inTurn = new Map<string, number>();
      schedule.route.forEach((route, i) => {
        const key = `${route}@${schedule.startPs[i]}`;
        const before = inTurn.get(key) ?? 0;
        expect(startPs[i]).toBeLessThanOrEqual(schedule.startPs[i] + before * serialPs[route]);
        expect(endPs[i] - startPs[i]).toBe(slotPs[route]);
        inTurn.set(key, before + 1);
        if (before > 0) merged++;
        if (before > 0 && schedule.routes.shareDen[schedule.routes.linkOffset[route]] > 1) shared++;
      });
      const stored = simulateSchedule(schedule, { switching: "store-and-forward", timeline: true });
      let hop = 0;
      schedule.route.forEach((route, i) => {
        expect(stored.hopStartPs?.[hop]).toBe(stored.startPs?.[i]);
        hop += schedule.routes.linkOffset[route + 1] - schedule.routes.linkOffset[route];
      });
      const { links, source, shareNum, shareDen } = schedule.routes;
      if (links.length > source.length || shareNum.some((num, p) => num < shareDen[p])) continue;
      direct++;
      expect(stored.endPs?.filter((end, i) => end > schedule.endPs[i])).toEqual(new Float64Array(0));
    }
    expect(direct).toBeGreaterThan(seen(20));
    expect(merged).toBeGreaterThan(seen(500));
    expect(shared).toBeGreaterThan(seen(100));
  });

  it("what is planned beside a merged send on another share does not wait for its last chunk", () => {
    // four chunks of 1,000 bytes over half of 1 GB/s: 0.5 + 4 x 2 us, and one over the other half
    const topology = network(2, [[0, 1]]);
    const routes = [
      { links: [0], share: [1, 2] as const },
      { links: [0], share: [1, 2] as const },
    ];
    const goal = { ...task("scatter", 2), chunkCount: 5, pre: one(5, 0), post: one(5, 1) };
    const rows = [...[0, 1, 2, 3].map((chunk) => row(chunk, 0, 0, 0, 8.5)), row(4, 1, 0, 0, 2.5)];
    const schedule = make(topology, goal, rows, routes);
    const { startPs, endPs, ps } = simulateSchedule(schedule, { timeline: true });
    expect([...(startPs ?? [])]).toEqual([0, 2e6, 4e6, 6e6, 0]);
    expect([...(endPs ?? [])]).toEqual([2.5e6, 4.5e6, 6.5e6, 8.5e6, 2.5e6]);
    expect(ps).toBe(8.5e6);
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
      { seed: 7, numRuns: runs(300) },
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
      { seed: 8, numRuns: runs(300) },
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
      { seed: 9, numRuns: runs(300) },
    );
    expect(slower).toBeGreaterThan(seen(100));
  });

  it("store-and-forward serves every link first come, first served and never idles", () => {
    fc.assert(
      fc.property(anyPlan(general), (schedule) => {
        expect(brokenStoreAndForward(schedule)).toEqual([]);
      }),
      { seed: 10, numRuns: runs(400) },
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
      { seed: 12, numRuns: runs(100) },
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
