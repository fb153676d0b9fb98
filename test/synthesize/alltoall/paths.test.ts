import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { linkCount, type Topology } from "../../../src/model/topology/topology.ts";
import { balanced } from "../../../src/synthesize/alltoall/alltoall.ts";
import { type Messages, messagesOf, type Paths, pathsAlong } from "../../../src/synthesize/alltoall/paths.ts";
import { connectedTopology } from "../../support/connected-topology.ts";
import { runs } from "../../support/runs.ts";
import { wholeCollective } from "../../support/synthesis.ts";
import { demandMatrix, equalSplit } from "./flows.ts";

/** Returns an all-to-all's messages with the flow that splits them equally. */
function problem(topology: Topology, chunks: number) {
  const { npuCount } = topology;
  const messages = messagesOf(wholeCollective(topology, "alltoall", 2 ** 20, chunks), npuCount);
  const demand = demandMatrix(messages, npuCount);
  const flowOf = (s: number): Float64Array => equalSplit(topology, (t) => demand[s * npuCount + t], s);
  return { messages, flowOf };
}

function loadsOf(topology: Topology, paths: Paths): Int32Array {
  const load = new Int32Array(linkCount(topology));
  for (const path of paths) for (const link of path) load[link]++;
  return load;
}

/** Fails unless every message has a path from its source to its target that visits no node twice. */
function expectPaths({ linkSource, linkTarget }: Topology, { source, target }: Messages, paths: Paths): void {
  expect(paths).toHaveLength(source.length);
  for (const [m, path] of paths.entries()) {
    const nodes = [source[m], ...[...path].map((link) => linkTarget[link])];
    expect([...path].map((link) => linkSource[link])).toEqual(nodes.slice(0, -1));
    expect(nodes.at(-1)).toBe(target[m]);
    expect(new Set(nodes).size).toBe(nodes.length);
  }
}

const networks = fc.tuple(connectedTopology(8), fc.integer({ min: 1, max: 5 }), fc.nat(1000));

describe("pathsAlong", () => {
  it("leads every message to its target, over links that its source's flow uses", () => {
    fc.assert(
      fc.property(networks, ([topology, chunks, seed]) => {
        const { messages, flowOf } = problem(topology, chunks);
        const { paths } = pathsAlong(topology, messages, flowOf, seed);
        expectPaths(topology, messages, paths);
        for (const [m, path] of paths.entries()) {
          const flow = flowOf(messages.source[m]);
          for (const link of path) expect(flow[link]).toBeGreaterThan(0);
        }
      }),
      { numRuns: runs(60), seed: 1 },
    );
  });

  it("conserves the flow: as much leaves every node's sources as its messages need, and loads sum up to it", () => {
    fc.assert(
      fc.property(networks, ([topology, chunks, seed]) => {
        const { messages, flowOf } = problem(topology, chunks);
        const { paths, total } = pathsAlong(topology, messages, flowOf, seed);
        const load = loadsOf(topology, paths);
        const sum = (column: ArrayLike<number>): number => Array.from(column).reduce((a, b) => a + b, 0);
        // Paths of fewest links are all equally long, so whole messages need as many hops as the flow.
        expect(sum(load)).toBeCloseTo(sum(total), 6);
      }),
      { numRuns: runs(60), seed: 2 },
    );
  });

  it.each(["torus:8x8", "hypercube:6", "mesh:6x6", "ring:9"])("keeps loads near the flow: %s", (name) => {
    const topology = presetTopology(name);
    const { messages, flowOf } = problem(topology, 4);
    const { paths, total } = pathsAlong(topology, messages, flowOf, 1);
    const load = loadsOf(topology, paths);
    const worst = Math.max(...load) / Math.max(...total);
    expect(worst).toBeGreaterThanOrEqual(1 - 1e-9);
    expect(worst).toBeLessThan(1.06);
  });

  it("leaves a message without a path where the flow does not reach", () => {
    const topology = presetTopology("ring:4");
    const { messages } = problem(topology, 1);
    const { paths } = pathsAlong(topology, messages, () => new Float64Array(linkCount(topology)), 1);
    expect(paths.every((path) => path.length === 0)).toBe(true);
    balanced(topology, messages, paths, new Float64Array(linkCount(topology)).fill(1), 2);
    expectPaths(topology, messages, paths);
  });
});
