import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arrivalTable, issuedPs, listSchedule } from "../../../src/model/messages/list-schedule.ts";
import { messages } from "../../../src/model/messages/messages.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { shortestRoutes } from "../../../src/model/routes/list-routes.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { simulateSchedule } from "../../../src/simulate/steps/replay.ts";
import { connectedTopology } from "../../support/connected-topology.ts";
import { outOfRange } from "../../support/refusals.ts";
import { runs } from "../../support/runs.ts";
import { wholeCollective } from "../../support/synthesis.ts";

/** Hops from every node to a target by repeated relaxation, an oracle without queues. */
function hopsTo({ linkSource, linkTarget, nodeNames }: Topology, target: number): number[] {
  const hops = new Array<number>(nodeNames.length).fill(Number.POSITIVE_INFINITY);
  hops[target] = 0;
  for (let pass = 0; pass < nodeNames.length; pass++) {
    linkSource.forEach((from, link) => {
      hops[from] = Math.min(hops[from] as number, 1 + (hops[linkTarget[link] as number] as number));
    });
  }
  return hops;
}

describe("routes of messages", () => {
  it("have fewest hops, at every node on to the lowest node over the lowest link", () => {
    const property = fc.property(connectedTopology(8), (topology) => {
      const list = messages();
      for (let a = 0; a < topology.npuCount; a++) for (let b = 0; b < topology.npuCount; b++) list.add(0, a, b, false);
      const { routes, routeOf } = shortestRoutes(topology, list);
      for (let i = 0; i < list.count; i++) {
        const hops = hopsTo(topology, list.target[i] as number);
        const [from, to] = [routes.linkOffset[routeOf[i] as number], routes.linkOffset[(routeOf[i] as number) + 1]];
        const links = [...routes.links.subarray(from, to)];
        let node = list.source[i] as number;
        expect(links.length).toBe(hops[node]);
        for (const link of links) {
          const nearer = [...topology.linkSource.keys()].filter(
            (one) =>
              topology.linkSource[one] === node &&
              hops[topology.linkTarget[one] as number] === (hops[node] as number) - 1,
          );
          const lowest = Math.min(...nearer.map((one) => topology.linkTarget[one] as number));
          expect(link).toBe(nearer.find((one) => topology.linkTarget[one] === lowest));
          node = lowest;
        }
        expect(node).toBe(list.target[i]);
      }
    });
    fc.assert(property, { numRuns: runs(60), seed: 2 });
  });

  it("count equal links between two NPUs side by side, and use them in turns", () => {
    const topology = presetTopology("ring:4");
    const doubled: Topology = {
      ...topology,
      linkSource: Int32Array.from([...topology.linkSource, ...topology.linkSource]),
      linkTarget: Int32Array.from([...topology.linkTarget, ...topology.linkTarget]),
      linkBytesPerSecond: Float64Array.from([...topology.linkBytesPerSecond, ...topology.linkBytesPerSecond]),
      linkLatencyPs: Float64Array.from([...topology.linkLatencyPs, ...topology.linkLatencyPs]),
    };
    const list = messages();
    for (let chunk = 0; chunk < 4; chunk++) list.add(chunk, 0, 1, false);
    expect(shortestRoutes(doubled, list).alternatives).toEqual([2, 2]);
    const collective = wholeCollective(doubled, "allgather", 4000, 4);
    const schedule = listSchedule(doubled, collective, list);
    expect(new Set(schedule.route).size).toBe(2);
    const alone = listSchedule(topology, wholeCollective(topology, "allgather", 4000, 4), list);
    expect(Math.max(...alone.endPs)).toBe(2 * Math.max(...schedule.endPs));
  });
});

describe("arrivals", () => {
  it("are the greatest of each pair, in a table and hashed", () => {
    const pairs = fc.array(fc.tuple(fc.nat(2000), fc.nat(2000), fc.nat(1e6)), { maxLength: 200 });
    const property = fc.property(pairs, (arrivals) => {
      const known = new Map<string, number>();
      const tables = [arrivalTable(2001, 2001, arrivals.length), arrivalTable(2001, 2001, 1e6)];
      for (const [chunk, npu, ps] of arrivals) {
        known.set(`${chunk} ${npu}`, Math.max(ps, known.get(`${chunk} ${npu}`) ?? 0));
        for (const table of tables) table.raise(chunk, npu, ps);
      }
      for (const [chunk, npu] of arrivals) {
        for (const table of tables) expect(table.at(chunk, npu)).toBe(known.get(`${chunk} ${npu}`));
      }
      for (const table of tables) expect(table.at(2000, 2000)).toBe(known.get("2000 2000") ?? 0);
    });
    fc.assert(property, { numRuns: runs(20), seed: 3 });
  });
});

describe("the estimate of issued messages", () => {
  it("is what the simulation says, but for a 64th of the latency where messages follow each other", () => {
    const ranks = 8;
    for (const size of [8, 2 ** 16, 2 ** 24]) {
      for (const [network, reach] of [
        ["ring:8", 1],
        ["switch:8", 7],
      ] as const) {
        const topology = presetTopology(network);
        const collective = wholeCollective(topology, "allgather", size);
        const list = messages();
        // all that is known goes one on, or straight to all others
        for (let step = 1; step < ranks; step++) {
          for (let npu = 0; npu < ranks; npu++) {
            if (reach === 1) list.add((npu + ranks + 1 - step) % ranks, npu, (npu + 1) % ranks, false);
            else list.add(npu, npu, (npu + step) % ranks, false);
          }
        }
        const { ps } = simulateSchedule(listSchedule(topology, collective, list));
        const latencyPs = topology.linkLatencyPs[0] * (reach === 1 ? 1 : 2);
        const charged = reach === 1 ? 0 : (reach - 1) * Math.floor(latencyPs / 64);
        expect(issuedPs(topology, collective, list)).toBe(ps + charged);
      }
    }
  });

  it("stores messages at NPUs on their way", () => {
    const topology = presetTopology("ring:8");
    const collective = wholeCollective(topology, "allgather", 2 ** 20);
    const list = messages();
    list.add(0, 0, 3, false);
    const { ps } = simulateSchedule(listSchedule(topology, collective, list), { switching: "store-and-forward" });
    expect(issuedPs(topology, collective, list)).toBe(ps);
  });
});

describe("lists of messages", () => {
  it("grow, and leave out what an NPU would send to itself", () => {
    const list = messages();
    for (let i = 0; i < 5000; i++) list.add(i, i % 3, 2, i % 2 === 0);
    expect(list.count).toBe(3334);
    expect([list.chunk[3333], list.source[3333], list.target[3333], list.reduce[3333]]).toEqual([4999, 1, 2, 0]);
  });

  it("end at 5e7, in a sentence", () => {
    const list = messages();
    const fill = (): void => {
      for (let i = 0; i <= 5e7; i++) list.add(0, 0, 1, false);
    };
    expect(fill).toThrow(outOfRange("the messages of the schedule", 50000001, 50000000));
  });
});
