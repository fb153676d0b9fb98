import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openEngine } from "../../../../src/engine/engine.ts";
import type { Engine } from "../../../../src/engine/types.ts";
import { toGBps } from "../../../../src/model/numbers/units.ts";
import { presetTopology } from "../../../../src/model/presets/preset.ts";
import type { SynthesizeOptions } from "../../../../src/request/options.ts";
import { synthesize } from "../../../../src/run/synthesize.ts";
import { crossingClasses, crossingsOf, proofsOf } from "../../../../src/web/views/bound/witness.ts";
import { networkView } from "../../../../src/web/worker/network-view.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 0, backend: "js" });
});
afterAll(() => engine.close());

async function proved(preset: string, options: SynthesizeOptions) {
  const topology = presetTopology(preset);
  const { report } = await synthesize(engine, topology, options);
  return { network: networkView(topology), report };
}

const CUTS: [string, SynthesizeOptions][] = [
  ["dgx-a100:2", { collective: "allgather", sizeBytes: 2 ** 28 }],
  ["dgx-a100:2", { collective: "reducescatter", sizeBytes: 2 ** 28 }],
  ["mesh:4x4", { collective: "allgather", sizeBytes: 2 ** 28 }],
  ["fat-tree:4x2", { collective: "allgather", sizeBytes: 2 ** 28 }],
];

describe("what proves a limit", () => {
  it.each(CUTS)("is a cut of %s whose crossing links have the bandwidth that it tells", async (preset, options) => {
    const { network, report } = await proved(preset, options);
    const [proof] = proofsOf(network, report.limit);
    if (proof?.kind !== "cut") throw new Error(`expected a cut, received ${report.limit.kind}`);
    const crossings = crossingsOf(network, proof.nodes, proof.direction);
    const across = crossings.reduce((sum, { bytesPerSecond }) => sum + bytesPerSecond, 0);
    expect(toGBps(across)).toBeCloseTo(Number(report.limit.witness["exitGBps"]), 6);
    const classes = crossingClasses(crossings);
    expect(classes.reduce((sum, { total }) => sum + total, 0)).toBe(across);
    expect(classes.reduce((sum, { count }) => sum + count, 0)).toBe(crossings.length);
  });

  it.each([
    ["dgx-h100:4", "nvls"],
    ["mi250:1", "forestcoll"],
    ["fat-tree:4x2", "forestcoll"],
  ])("is a partition of %s whose borders have the bandwidth that it tells", async (preset, algorithm) => {
    const { network, report } = await proved(preset, { collective: "allreduce", sizeBytes: 2 ** 30, algorithm });
    const [proof] = proofsOf(network, report.limit);
    if (proof?.kind !== "partition") throw new Error(`expected a partition, received ${report.limit.kind}`);
    const { forward, backward } = network.wires;
    const across = proof.steps.reduce((sum, one) => sum + (one.forward ? forward : backward)[one.wire], 0);
    expect(across).toBe(Number(report.limit.witness["bytesPerSecond"]));
  });

  it("is a way from one NPU to another where latency decides", async () => {
    const { network } = await proved("ring:6", { collective: "allgather", sizeBytes: 6 });
    const limit = { witness: { kind: "latency", from: "1", to: "4" } } as never;
    const [proof] = proofsOf(network, limit);
    if (proof?.kind !== "path") throw new Error("expected a path");
    expect(proof.steps).toHaveLength(3);
    expect(proof.latencyPs).toBe(3 * network.linkLatencyPs[0]);
    let at = 1;
    for (const { wire, forward } of proof.steps) {
      const { a, b } = network.wires;
      expect(forward ? a[wire] : b[wire]).toBe(at);
      at = forward ? b[wire] : a[wire];
    }
    expect(at).toBe(4);
  });

  it("is several cuts, or lengths of links", async () => {
    const { network } = await proved("ring:4", { collective: "allgather", sizeBytes: 64 });
    const cuts = [
      { nodes: ["0"], direction: "in", weight: "1/2" },
      { nodes: ["1", "2"], direction: "out", weight: "1" },
    ];
    expect(proofsOf(network, { witness: { kind: "dual", cuts } } as never)).toEqual([
      { kind: "cut", nodes: [0], direction: "in", weight: "1/2" },
      { kind: "cut", nodes: [1, 2], direction: "out", weight: "1" },
    ]);
    const lengths = Array.from(network.linkSource, (_, link) => (link === 2 ? 4 : 0));
    const [proof] = proofsOf(network, { witness: { kind: "lengths", lengths } } as never);
    if (proof?.kind !== "lengths") throw new Error("expected lengths");
    expect(proof.used).toBe(1);
    expect([...proof.ofWire].filter((share) => share > 0)).toEqual([1]);
    expect(proof.ofWire[network.wires.ofLink[2]]).toBe(1);
  });

  it("is not drawn from a list of nodes that was cut short, nor from words", async () => {
    const { network } = await proved("ring:4", { collective: "allgather", sizeBytes: 64 });
    const witness = { kind: "cut", nodes: ["0", "1"], nodeCount: 3, direction: "in" };
    expect(proofsOf(network, { witness } as never)).toEqual([]);
    expect(proofsOf(network, { witness: { kind: "work", demand: "8 chunks" } } as never)).toEqual([]);
  });
});
