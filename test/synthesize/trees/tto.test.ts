import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { rational, toNumber } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { without } from "../../../src/model/topology/modify.ts";
import { linkCount, type Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { copiesOnLinks } from "../../../src/model/trees/tree-multicast.ts";
import { meshOf, tto } from "../../../src/synthesize/trees/tto.ts";
import { judgeCertificate, throughputOf } from "../../../src/verify/trees/certificate.ts";
import { verifyTreeFlow } from "../../../src/verify/trees/tree-flow.ts";
import { availableKernels } from "../../support/backends.ts";
import { shuffle } from "../../support/draws.ts";
import { unexpected } from "../../support/refusals.ts";
import { runs } from "../../support/runs.ts";
import { treeContext, treeRequest, type Wish } from "../../support/tree-requests.ts";

const [kernels] = await availableKernels();
const context = treeContext(kernels);

async function made(network: Topology | string, wish?: Wish) {
  const synthesis = await tto.make(treeRequest(network, "allreduce", wish), context);
  expect(verifyTreeFlow(synthesis.flow).violations).toEqual([]);
  expect(judgeCertificate(synthesis.flow).violations).toEqual([]);
  return synthesis;
}

const allBut = (npus: number, left: number): number[] => [...Array(npus).keys()].filter((npu) => npu !== left);

/** A mesh under other numbers, with links twice where `twice`, without its last corner where `cut`. */
function someMesh(width: number, height: number, cut: boolean, twice: boolean, seed: number): Topology {
  const npus = width * height - (cut ? 1 : 0);
  const npuAt = Int32Array.from({ length: npus }, (_, i) => i);
  shuffle(npuAt, random(seed));
  const builder = topologyBuilder("a mesh under other numbers");
  for (let v = 0; v < npus; v++) builder.addNpu(`${v}`);
  for (let cell = 0; cell < npus; cell++) {
    const beside = [...((cell + 1) % width === 0 ? [] : [cell + 1]), cell + width];
    for (const other of beside.filter((one) => one < npus)) {
      for (let i = 0; i < (twice ? 2 : 1); i++) builder.addDuplex(npuAt[cell], npuAt[other], 10e9, 500_000);
    }
  }
  return builder.build();
}

describe("the mesh of a network", () => {
  it("is found by its links, whole or without a corner, under any numbers", () => {
    const side = fc.integer({ min: 3, max: 7 });
    fc.assert(
      fc.property(side, side, fc.boolean(), fc.boolean(), fc.nat(), (width, height, cut, twice, seed) => {
        const mesh = meshOf(someMesh(width, height, cut, twice, seed));
        expect(mesh?.corners.length).toBe(cut ? 3 : 4);
        expect([...(mesh?.sides ?? [])].sort()).toEqual([width, height].sort());
      }),
      { numRuns: runs(200) },
    );
  });

  it("is not found where any link is missing, or one is too many", () => {
    const side = fc.integer({ min: 3, max: 6 });
    fc.assert(
      fc.property(side, side, fc.boolean(), fc.nat(), (width, height, cut, seed) => {
        const whole = someMesh(width, height, cut, false, seed);
        const gone = seed % linkCount(whole);
        const kept = <T extends Int32Array | Float64Array>(column: T): T =>
          column.filter((_, link) => link !== gone) as T;
        const fewer = {
          ...whole,
          linkSource: kept(whole.linkSource),
          linkTarget: kept(whole.linkTarget),
          linkBytesPerSecond: kept(whole.linkBytesPerSecond),
          linkLatencyPs: kept(whole.linkLatencyPs),
        };
        expect(meshOf(fewer)).toBeNull();
        const others = [...Array(whole.npuCount).keys()].filter(
          (v) =>
            v !== 0 &&
            ![...whole.linkSource.keys()].some((l) => whole.linkSource[l] === 0 && whole.linkTarget[l] === v),
        );
        const more = { ...whole, linkSource: whole.linkSource.slice(), linkTarget: whole.linkTarget.slice() };
        more.linkSource[gone] = 0;
        more.linkTarget[gone] = others[seed % others.length];
        expect(meshOf(more)).toBeNull();
      }),
      { numRuns: runs(200) },
    );
  });

  it.each(["torus:4x4", "ring:9", "mesh:2x5", "mesh:3x3x3", "switch:9", "fc:8", "line:9", "hypercube:4"])(
    "is not found in %s",
    (name) => {
      expect(meshOf(presetTopology(name))).toBeNull();
    },
  );
});

describe("tto", () => {
  it.each([
    ["mesh:4x4", 15],
    ["mesh:3x3", 8],
    ["mesh:5x4", 0],
    ["mesh:6x6", 5],
  ])("packs on %s three trees at the full rate of a link where corner %i only forwards", async (name, corner) => {
    const topology = presetTopology(name);
    const { flow, notes } = await made(topology, { members: allBut(topology.npuCount, corner) });
    expect(notes).toEqual([]);
    expect(new Set(flow.forests[1].root).size).toBe(3);
    // 50 GB/s links: three trees down at 150 GB/s, and as many up before it
    expect(throughputOf(flow)).toEqual(rational(75e9));
  });

  it("shares no link between trees of a 4x4 mesh whose corner only forwards", async () => {
    const { flow } = await made("mesh:4x4", { members: allBut(16, 15) });
    for (const forest of flow.forests) {
      expect([...forest.copies].every((copies) => copies === 1)).toBe(true);
      expect(forest.root.length).toBe(3);
      const loads = copiesOnLinks(forest, 14, linkCount(flow.topology));
      expect(loads.every((load) => load <= 1n)).toBe(true);
    }
  });

  /** 50 GB/s links: two thirds of them in phases are 50 GB/s, side by side more where sums and results load other links. */
  const expectTwoThirds = (flow: Parameters<typeof throughputOf>[0]): void => {
    const gbps = toNumber(throughputOf(flow)) / 1e9;
    expect(gbps).toBeGreaterThanOrEqual(50);
    expect(gbps).toBeLessThan(75);
  };

  it.each(["mesh:4x4", "mesh:5x5", "mesh:3x6"])("on %s with all its NPUs is slower, and says why", async (name) => {
    const { flow, notes } = await made(name);
    expectTwoThirds(flow);
    expect(notes.join()).toMatch(/^corner .* takes part/);
  });

  it.each(["mesh:3x3", "mesh:4x4", "mesh:6x4"])(
    "on %s that has lost a corner carries what its neighbours' two links let in",
    async (name) => {
      const whole = presetTopology(name);
      const { flow, notes } = await made(without(whole, [whole.nodeNames[whole.npuCount - 1]]));
      expectTwoThirds(flow);
      expect(notes.join()).toMatch(/^the two NPUs beside the missing corner/);
    },
  );

  it("takes unequal sides as they are", async () => {
    const { flow } = await made("mesh:5x4@80,35GB/s");
    expect(judgeCertificate(flow).proof).not.toBeNull();
  });

  it.each(["torus:4x4", "mesh:2x4", "ring:8", "dgx1"])("refuses %s", async (name) => {
    const topology = presetTopology(name);
    expect(tto.refuses?.(topology, treeRequest(topology, "allreduce").collective)).not.toBeNull();
    await expect(made(topology)).rejects.toThrow(unexpected("the topology", name, "3x3"));
  });

  it("refuses groups that lack more than a corner", async () => {
    await expect(made("mesh:4x4", { members: allBut(16, 5) })).rejects.toThrow(unexpected("the topology", "mesh:4x4"));
    await expect(made("mesh:4x4", { members: allBut(15, 0) })).rejects.toThrow(unexpected("the topology", "mesh:4x4"));
  });
});
