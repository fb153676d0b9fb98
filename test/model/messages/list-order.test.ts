import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { listSchedule, orderOfReadiness, quickerOrder } from "../../../src/model/messages/list-schedule.ts";
import { type Messages, messages } from "../../../src/model/messages/messages.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { simulateSchedule } from "../../../src/simulate/steps/replay.ts";
import { runs } from "../../support/runs.ts";
import { wholeCollective } from "../../support/synthesis.ts";

/** Returns messages that pass chunks on, each from an NPU that has the chunk to one that lacks it. */
function passedOn(npus: number, draws: readonly (readonly [chunk: number, from: number, to: number])[]): Messages {
  const holders = Array.from({ length: npus }, (_, npu) => [npu]);
  const list = messages();
  for (const [draw, from, to] of draws) {
    const chunk = draw % npus;
    const has = holders[chunk] as number[];
    const lacks = [...Array(npus).keys()].filter((npu) => !has.includes(npu));
    if (lacks.length === 0) continue;
    const target = lacks[to % lacks.length] as number;
    list.add(chunk, has[from % has.length] as number, target, false);
    has.push(target);
  }
  return list;
}

function inOrder(list: Messages, order: ArrayLike<number>): Messages {
  const ordered = messages();
  for (const i of Array.from(order)) {
    ordered.add(list.chunk[i] as number, list.source[i] as number, list.target[i] as number, list.reduce[i] === 1);
  }
  return ordered;
}

const cases = fc.record({
  topology: fc.constantFrom("switch:6", "fc:5", "dgx-a100:2", "mi300x").map(presetTopology),
  draws: fc.array(fc.tuple(fc.nat(63), fc.nat(), fc.nat()), { minLength: 1, maxLength: 80 }),
  sizeBytes: fc.constantFrom(1024, 2 ** 20, 2 ** 28),
});

describe("messages in the order in which they are ready", () => {
  it("are all there, and the simulation finds their chunks at their sources in that order, and ends when told", () => {
    const property = fc.property(cases, ({ topology, draws, sizeBytes }) => {
      const collective = wholeCollective(topology, "allgather", sizeBytes);
      const list = passedOn(topology.npuCount, draws);
      const { order, ps } = orderOfReadiness(topology, collective, list);
      expect([...order].sort((a, b) => a - b)).toEqual([...Array(list.count).keys()]);

      const schedule = listSchedule(topology, collective, inOrder(list, order));
      const simulation = simulateSchedule(schedule, { timeline: true });
      expect(simulation.ps).toBe(ps);
      const there = new Map<string, number>();
      const { routes, route, chunk } = schedule;
      route.forEach((r, row) => {
        there.set(`${chunk[row]} ${routes.target[r]}`, simulation.endPs?.[row] as number);
      });
      const ready = [...order].map((i) => there.get(`${list.chunk[i]} ${list.source[i]}`) ?? 0);
      ready.forEach((readyPs, place) => {
        if (place === 0) return;
        expect(readyPs).toBeGreaterThanOrEqual(ready[place - 1] as number);
        if (readyPs === ready[place - 1]) expect(order[place]).toBeGreaterThan(order[place - 1] as number);
      });
    });
    fc.assert(property, { numRuns: runs(200), seed: 4 });
  });

  it("are taken where the simulation ends sooner, else those issued", () => {
    let reordered = 0;
    const property = fc.property(cases, ({ topology, draws, sizeBytes }) => {
      const collective = wholeCollective(topology, "allgather", sizeBytes);
      const list = passedOn(topology.npuCount, draws);
      const quicker = quickerOrder(topology, collective, list);
      const [issuedPs, quickerPs] = [list, quicker].map(
        (one) => simulateSchedule(listSchedule(topology, collective, one)).ps,
      ) as [number, number];
      if (quicker === list) return;
      expect(quickerPs).toBeLessThan(issuedPs);
      reordered++;
    });
    fc.assert(property, { numRuns: runs(200), seed: 5 });
    expect(reordered).toBeGreaterThan(0);
  });

  it("do not wait behind one that comes late", () => {
    const topology = presetTopology("dgx-a100:2");
    const collective = wholeCollective(topology, "allgather", 1024);
    const list = messages();
    // chunk 8 comes from the other box, then both go from 0 to 1
    list.add(8, 8, 0, false);
    list.add(8, 0, 1, false);
    list.add(0, 0, 1, false);
    list.add(0, 1, 2, false);
    const { order } = orderOfReadiness(topology, collective, list);
    expect([...order]).toEqual([0, 2, 3, 1]);
  });

  it("sums wait for every contribution issued before them", () => {
    const topology = presetTopology("switch:4");
    const collective = wholeCollective(topology, "reduce", 2 ** 20);
    const list = messages();
    list.add(0, 2, 1, true);
    list.add(0, 3, 1, true);
    list.add(0, 1, 0, true);
    const { order, ps } = orderOfReadiness(topology, collective, list);
    expect([...order]).toEqual([0, 1, 2]);
    const simulated = simulateSchedule(listSchedule(topology, collective, list));
    expect(ps).toBe(simulated.ps);
  });
});
