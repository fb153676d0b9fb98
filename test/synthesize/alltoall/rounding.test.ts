import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InfeasibleError } from "../../../src/base/errors.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { linkCount, outLinks, type Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { balanced } from "../../../src/synthesize/alltoall/alltoall.ts";
import { type Messages, messagesOf, type Paths, pathsAlong } from "../../../src/synthesize/alltoall/paths.ts";
import { connectedTopology } from "../../support/connected-topology.ts";
import { runs } from "../../support/runs.ts";
import { wholeCollective } from "../../support/synthesis.ts";
import { equalSplit } from "./flows.ts";

const ones = (topology: Topology): Float64Array => new Float64Array(linkCount(topology)).fill(1);

function problem(topology: Topology, chunks = 1) {
  const messages = messagesOf(wholeCollective(topology, "alltoall", 2 ** 20, chunks), topology.npuCount);
  return { messages, ...pathsAlong(topology, messages, (s) => equalSplit(topology, () => chunks, s), 1) };
}

function busiest(topology: Topology, paths: Paths, costPs: Float64Array): number {
  const busy = new Float64Array(linkCount(topology));
  for (const path of paths) for (const link of path) busy[link] += costPs[link];
  return Math.max(...busy);
}

/** Returns all paths without circles from one node to another. */
function waysBetween(topology: Topology, source: number, target: number): number[][] {
  const out = outLinks(topology);
  const ways: number[][] = [];
  const walk = (node: number, way: number[], seen: readonly number[]): void => {
    if (node === target) {
      ways.push(way);
      return;
    }
    for (const link of out.links.subarray(out.offset[node], out.offset[node + 1])) {
      const next = topology.linkTarget[link];
      if (!seen.includes(next)) walk(next, [...way, link], [...seen, next]);
    }
  };
  walk(source, [], [source]);
  return ways;
}

/** Returns the least time of the busiest link over all choices of paths. */
function bruteForce(topology: Topology, { source, target }: Messages, costPs: Float64Array): number {
  const busy = new Float64Array(linkCount(topology));
  let best = Number.POSITIVE_INFINITY;
  const choose = (m: number): void => {
    if (m === source.length) {
      best = Math.min(best, Math.max(...busy));
      return;
    }
    for (const way of waysBetween(topology, source[m], target[m])) {
      for (const link of way) busy[link] += costPs[link];
      if (Math.max(...busy) < best) choose(m + 1);
      for (const link of way) busy[link] -= costPs[link];
    }
  };
  choose(0);
  return best;
}

describe("balanced", () => {
  it("answers what its paths load, and never more than before", () => {
    const networks = fc.tuple(connectedTopology(8), fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 30 }));
    fc.assert(
      fc.property(networks, ([topology, chunks, target]) => {
        const { messages, paths } = problem(topology, chunks);
        const costPs = topology.linkBytesPerSecond.map((rate) => 300e9 / rate);
        const before = busiest(topology, paths, costPs);
        const after = balanced(topology, messages, paths, costPs, target);
        expect(after).toBeCloseTo(busiest(topology, paths, costPs), 9);
        expect(after).toBeLessThanOrEqual(before + 1e-9);
      }),
      { numRuns: runs(60), seed: 3 },
    );
  });

  it("finds what trying all paths finds on small networks", () => {
    const outcomes: number[] = [];
    fc.assert(
      fc.property(connectedTopology(4), (topology) => {
        const { messages, paths } = problem(topology);
        const least = bruteForce(topology, messages, ones(topology));
        const found = balanced(topology, messages, paths, ones(topology), least);
        expect(found).toBeGreaterThanOrEqual(least);
        outcomes.push(found - least);
      }),
      { numRuns: runs(40), seed: 4 },
    );
    expect(outcomes.filter((excess) => excess > 0)).toEqual([]);
  });

  it.each([
    ["ring:8", 1, 8],
    ["mesh:4x4", 1, 16],
    ["torus:5x6", 1, 23],
    ["hypercube:5", 2, 32],
  ])("meets the least load that links of %s can have with %i chunks: %i", (name, chunks, least) => {
    const topology = presetTopology(name);
    const { messages, paths } = problem(topology, chunks);
    expect(balanced(topology, messages, paths, ones(topology), least)).toBe(least);
  });

  it.each([
    ["hypercube:6", 32],
    ["torus:8x8", 64],
    ["torus:4x4x4", 32],
  ])("comes within a message of it on %s: %i", (name, least) => {
    const topology = presetTopology(name);
    const { messages, paths } = problem(topology);
    expect(balanced(topology, messages, paths, ones(topology), least)).toBeLessThanOrEqual(least + 1);
  });

  it("refuses a message without a way", () => {
    const builder = topologyBuilder("one way");
    builder.addNpu("a");
    builder.addNpu("b");
    builder.addLink(0, 1, 50e9, 0);
    const topology = builder.build();
    const messages = messagesOf(wholeCollective(topology, "alltoall", 2 ** 20), 2);
    const paths = Array.from(messages.chunk, () => new Int32Array(0));
    expect(() => balanced(topology, messages, paths, ones(topology), 1)).toThrow(InfeasibleError);
  });
});
