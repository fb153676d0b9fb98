import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { perfettoTrace } from "../../../src/export/schedules/perfetto.ts";
import { rational } from "../../../src/model/numbers/rational.ts";
import type { StepSchedule } from "../../../src/model/steps/step-schedule.ts";
import { simulateSchedule } from "../../../src/simulate/steps/replay.ts";
import { anyPlan } from "../../simulate/any-plan.ts";
import { unexpected } from "../../support/refusals.ts";
import { ringSchedule } from "../../support/ring-schedule.ts";
import { runs, seen } from "../../support/runs.ts";

interface TraceEvent {
  readonly ph: "M" | "X" | "C";
  readonly pid: number;
  readonly tid: number;
  readonly name: string;
  readonly ts: number;
  readonly dur: number;
  readonly args: { readonly name?: string; readonly links: number; readonly route: number };
}

const parse = (parts: Iterable<string>): TraceEvent[] => {
  const trace = JSON.parse([...parts].join(""));
  expect(trace.displayTimeUnit).toBe("ns");
  return trace.traceEvents;
};
const planned = (schedule: StepSchedule): TraceEvent[] =>
  parse(perfettoTrace(schedule, schedule.startPs, schedule.endPs));
const ps = (us: number): number => Math.round(us * 1e6);

describe("a trace", () => {
  it("has a process per sender, a thread per link and a slice per transfer", () => {
    const events = planned(ringSchedule());
    const named = (name: string) => events.filter((event) => event.name === name);
    expect(named("process_name").map(({ pid, args }) => [pid, args.name])).toEqual([
      [1, "NPU a"],
      [2, "NPU b"],
      [3, "NPU c"],
    ]);
    expect(named("thread_name").map(({ pid, tid, args }) => [pid, tid, args.name])).toEqual([
      [1, 1, "link a>b"],
      [2, 2, "link b>c"],
      [3, 3, "link c>a"],
    ]);
    const slices = events.filter((event) => event.ph === "X");
    expect(slices.length).toBe(6);
    expect(slices[3]).toEqual({
      ph: "X",
      pid: 1,
      tid: 1,
      ts: 1000,
      dur: 1000,
      name: "chunk 2",
      cat: "copy",
      args: { chunk: 2, route: 0, op: "copy", bytes: 1_000_000, transfer: 3, arrivesUs: 2000 },
    });
    expect(events.filter((event) => event.ph === "C").map(({ ts, args }) => [ts, args.links])).toEqual([
      [0, 3],
      [2000, 0],
    ]);
  });

  it("writes fractions of bytes as text and escapes names", () => {
    const schedule = ringSchedule();
    const odd: StepSchedule = {
      ...schedule,
      topology: { ...schedule.topology, nodeNames: ['"a"\n', "b\\", "\u{1F333}"] },
      collective: { ...schedule.collective, chunkBytes: rational(10, 3) },
      op: new Uint8Array(6).fill(1),
    };
    const events = planned(odd);
    expect(events[0].args.name).toBe('NPU "a"\n');
    expect(events.find((event) => event.name === "thread_name")?.args.name).toBe('link "a"\n>b\\');
    expect(events.find((event) => event.ph === "X")?.args).toMatchObject({ bytes: "10/3", op: "reduce" });
  });

  it("is valid for an empty schedule and refuses columns of another length", () => {
    const schedule = ringSchedule();
    const none = new Float64Array(0);
    const empty = { ...schedule, chunk: new Uint8Array(0), route: new Uint8Array(0), startPs: none, endPs: none };
    expect(planned(empty).filter((event) => event.ph !== "M")).toEqual([]);
    const act = () => [...perfettoTrace(schedule, none, schedule.endPs)];
    expect(act).toThrow(InputError);
    expect(act).toThrow(unexpected("startPs", 0, 6));
    const hops = () => [...perfettoTrace(schedule, schedule.startPs, schedule.endPs, { hopStartPs: none })];
    expect(hops).toThrow(unexpected("hopStartPs", 0, 6));
  });

  it("comes in parts of moderate size", () => {
    const schedule = ringSchedule();
    const times = 500;
    const repeated = <Column extends Uint8Array | Float64Array>(column: Column, add: number): Column => {
      const long = new (column.constructor as new (length: number) => Column)(6 * times);
      for (let i = 0; i < long.length; i++) long[i] = column[i % 6] + add * Math.floor(i / 6);
      return long;
    };
    const long: StepSchedule = {
      ...schedule,
      chunk: repeated(schedule.chunk as Uint8Array, 0),
      route: repeated(schedule.route as Uint8Array, 0),
      op: repeated(schedule.op, 0),
      startPs: repeated(schedule.startPs, 2e9),
      endPs: repeated(schedule.endPs, 2e9),
    };
    const parts = [...perfettoTrace(long, long.startPs, long.endPs)];
    expect(parts.length).toBeGreaterThan(3);
    expect(Math.max(...parts.map((part) => part.length))).toBeLessThan(70_000);
    expect(parse(parts).filter((event) => event.ph === "X").length).toBe(6 * times);
  });

  it("has slices that sum to the busy time of each link, one at a time on each thread", () => {
    let shared = 0;
    fc.assert(
      fc.property(anyPlan({ direct: false, reductions: true }), fc.boolean(), (schedule, stored) => {
        const simulation = simulateSchedule(schedule, {
          switching: stored ? "store-and-forward" : "cut-through",
          timeline: true,
        });
        const { startPs, endPs, linkBusyPs, hopStartPs } = simulation;
        if (startPs === undefined || endPs === undefined) throw new Error("no timeline");
        const events = parse(
          perfettoTrace(
            schedule,
            startPs,
            endPs,
            hopStartPs === undefined ? { occupancy: "serialisation" } : { hopStartPs },
          ),
        );
        const { routes } = schedule;
        const links = linkBusyPs.length;
        const busy = new Float64Array(links);
        const threadFree = new Map<number, number>();
        /** Every picosecond of every link in use. */
        const inUse = new Set<string>();
        for (const event of events) {
          if (event.ph !== "X") continue;
          const link = (event.tid - 1) % links;
          expect(event.pid).toBe(schedule.topology.linkSource[link] + 1);
          const route = event.args.route;
          const p = routes.links.indexOf(link, routes.linkOffset[route]);
          busy[link] += (ps(event.dur) * (stored ? 1 : routes.shareNum[p])) / (stored ? 1 : routes.shareDen[p]);
          expect(ps(event.ts)).toBeGreaterThanOrEqual(threadFree.get(event.tid) ?? 0);
          threadFree.set(event.tid, ps(event.ts) + ps(event.dur));
          if (event.tid > links) shared++;
          for (let at = ps(event.ts); at < ps(event.ts) + ps(event.dur); at++) inUse.add(`${link}:${at}`);
        }
        linkBusyPs.forEach((expected, link) => {
          expect(busy[link]).toBeCloseTo(expected, 6);
        });
        const counters = events.filter((event) => event.ph === "C");
        expect(counters.at(-1)?.args.links ?? 0).toBe(0);
        const area = counters.reduce(
          (sum, { ts, args }, i) => sum + (ps(counters[i + 1]?.ts ?? ts) - ps(ts)) * args.links,
          0,
        );
        expect(area).toBe(inUse.size);
      }),
      { seed: 4, numRuns: runs(200) },
    );
    expect(shared).toBeGreaterThan(seen(20));
  });
});
