import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messages } from "../../../src/model/messages/messages.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import {
  evenRoutes,
  longestShortestPs,
  type MessageRoutes,
  shortestRoutes,
} from "../../../src/model/routes/list-routes.ts";
import { linkCount, type Topology } from "../../../src/model/topology/topology.ts";
import { connectedTopology } from "../../support/connected-topology.ts";

/** Returns a message from each NPU to each other one. */
function everyPair({ npuCount }: Topology) {
  const list = messages();
  for (let from = 0; from < npuCount; from++)
    for (let to = 0; to < npuCount; to++) if (from !== to) list.add(0, from, to, false);
  return list;
}

/** Returns for how long the busiest link is busy, a message on the slowest link taking 1. */
function busiest(topology: Topology, { routes, routeOf }: MessageRoutes): number {
  const slowest = Math.min(...topology.linkBytesPerSecond);
  const busy = new Float64Array(linkCount(topology));
  for (const route of routeOf) {
    for (const link of routes.links.subarray(routes.linkOffset[route], routes.linkOffset[route + 1])) {
      busy[link] += slowest / (topology.linkBytesPerSecond[link] as number);
    }
  }
  return Math.max(...busy);
}

describe("longestShortestPs", () => {
  /** Returns the links of all ways of the fewest links from a node. */
  function waysOf(topology: Topology, hops: readonly number[], node: number): number[][] {
    if (hops[node] === 0) return [[]];
    const { linkSource, linkTarget } = topology;
    const next = [...linkSource.keys()].filter(
      (link) => linkSource[link] === node && hops[linkTarget[link] as number] === (hops[node] as number) - 1,
    );
    return next.flatMap((link) => waysOf(topology, hops, linkTarget[link] as number).map((links) => [link, ...links]));
  }

  it("is the longest latency of all ways of the fewest hops", () => {
    fc.assert(
      fc.property(connectedTopology(8), (topology) => {
        const { npuCount, linkSource, linkTarget, linkLatencyPs, nodeNames } = topology;
        let latencyPs = 0;
        for (let to = 0; to < npuCount; to++) {
          const hops = nodeNames.map((_, node) => (node === to ? 0 : Number.POSITIVE_INFINITY));
          for (let pass = 0; pass < hops.length; pass++)
            linkSource.forEach((from, link) => {
              hops[from] = Math.min(hops[from] as number, (hops[linkTarget[link] as number] as number) + 1);
            });
          for (let from = 0; from < npuCount; from++)
            for (const links of waysOf(topology, hops, from)) {
              latencyPs = Math.max(
                latencyPs,
                links.reduce((sum, link) => sum + (linkLatencyPs[link] as number), 0),
              );
            }
        }
        expect(
          longestShortestPs(
            topology,
            Int32Array.from({ length: npuCount }, (_, npu) => npu),
          ),
        ).toBe(latencyPs);
      }),
    );
  });
});

describe("evenRoutes", () => {
  it.each([
    // Two NPUs share each port of a rail: 8 messages each, 14 on the first of them where nobody looks at loads.
    ["p4d:2", 14, 8],
    ["fat-tree:8x8,tiers=3", 256, 56],
    ["dgx-h100:2", 8, 8],
  ])("load %s for %d to %d messages", (name, before, after) => {
    const topology = presetTopology(name);
    const list = everyPair(topology);
    const shortest = shortestRoutes(topology, list);
    const even = evenRoutes(topology, shortest);
    expect(busiest(topology, shortest)).toBeCloseTo(before, 9);
    expect(busiest(topology, even)).toBeCloseTo(after, 9);
  });

  it.each([
    // 16 chunks leave each NPU of a box through its NIC; pairs inside far apart in xGMI need not take it
    ["mi250:2", [24, 17, 16]],
    ["mi250:4", [56, 49, 48]],
    ["p4d:2", [8, 8, 8]],
  ])("relieve links of %s by detours", (name, loads) => {
    const topology = presetTopology(name);
    const list = everyPair(topology);
    let ways = shortestRoutes(topology, list);
    for (const [i, load] of loads.entries()) {
      ways = evenRoutes(topology, ways, 2 * i);
      expect(busiest(topology, ways)).toBeCloseTo(load, 9);
    }
  });

  it("have at most as many hops more as they may, and pass no node twice", () => {
    for (const [name, detour] of [
      ["mi250:2", 1],
      ["mi250:2", 3],
      ["dragonfly:3x4", 2],
    ] as const) {
      const topology = presetTopology(name);
      const list = everyPair(topology);
      const shortest = shortestRoutes(topology, list);
      const { routes, routeOf } = evenRoutes(topology, shortest, detour);
      for (let i = 0; i < list.count; i++) {
        const r = routeOf[i] as number;
        const way = [...routes.links.subarray(routes.linkOffset[r], routes.linkOffset[r + 1])];
        const nodes = [list.source[i] as number, ...way.map((link) => topology.linkTarget[link] as number)];
        expect(way.map((link) => topology.linkSource[link])).toEqual(nodes.slice(0, -1));
        expect(nodes.at(-1)).toBe(list.target[i]);
        expect(new Set(nodes).size).toBe(nodes.length);
        const s = shortest.routeOf[i] as number;
        const fewest = (shortest.routes.linkOffset[s + 1] as number) - (shortest.routes.linkOffset[s] as number);
        expect(way.length).toBeLessThanOrEqual(fewest + detour);
      }
    }
  });

  it("lead from source to target in as few hops", () => {
    const topology = presetTopology("dragonfly:3x4");
    const list = everyPair(topology);
    const shortest = shortestRoutes(topology, list);
    const even = evenRoutes(topology, shortest);
    const hops = ({ routes }: MessageRoutes, r: number): number => routes.linkOffset[r + 1] - routes.linkOffset[r];
    for (let i = 0; i < list.count; i++) {
      const [r, links] = [even.routeOf[i] as number, even.routes.links];
      expect(hops(even, r)).toBe(hops(shortest, shortest.routeOf[i] as number));
      let node = list.source[i] as number;
      for (let k = even.routes.linkOffset[r] as number; k < (even.routes.linkOffset[r + 1] as number); k++) {
        expect(topology.linkSource[links[k] as number]).toBe(node);
        node = topology.linkTarget[links[k] as number] as number;
      }
      expect(node).toBe(list.target[i]);
    }
  });
});
