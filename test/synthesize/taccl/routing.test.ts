import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MilpRunner } from "../../../src/engine/contract/programs.ts";
import { readTacclTopology } from "../../../src/import/networks/taccl-topology.ts";
import { readSketch } from "../../../src/import/sketches/taccl-sketch.ts";
import { type Collective, collective, type NamedCollective } from "../../../src/model/collective/collective.ts";
import { rational } from "../../../src/model/numbers/rational.ts";
import { sketchNetwork } from "../../../src/model/sketch/network.ts";
import type { Sketch, SketchNetwork } from "../../../src/model/sketch/sketch.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { deadlineIn } from "../../../src/synthesize/deadline.ts";
import { routeChunks } from "../../../src/synthesize/taccl/routing.ts";
import type { NoRouting, Routing } from "../../../src/synthesize/taccl/stages.ts";
import { connectedTopology } from "../../support/connected-topology.ts";
import { milpHere } from "../../support/milp-here.ts";
import { leastRoutingTime, routingFaults, routingTimes } from "../../support/routing-oracle.ts";
import { runs } from "../../support/runs.ts";
import { hasSharedData, sharedText } from "../../support/shared-data.ts";
import { flatSketch, onlyBetween, onlyInside, sharedNics } from "../../support/sketches.ts";

const MIB = 2 ** 20;
const US = 1e6;

/** Returns a collective in which every chunk has so many bytes. */
function of(kind: NamedCollective, npus: number, chunksPerNpu = 1, bytes = MIB): Collective {
  const groups = [Int32Array.from({ length: npus }, (_, npu) => npu)];
  const whole = collective({ kind, groups, sizeBytes: npus * bytes, chunksPerNpu, rootRank: 0 });
  return { ...whole, chunkBytes: rational(BigInt(bytes)) };
}

async function route(network: SketchNetwork, whole: Collective, milp?: MilpRunner): Promise<Routing | NoRouting> {
  const context = { runner: undefined as never, milp: milp ?? (await milpHere()) };
  return routeChunks({ network, collective: whole, deadline: deadlineIn(20_000), seed: 1 }, context);
}

async function routed(network: SketchNetwork, whole: Collective, milp?: MilpRunner): Promise<Routing> {
  const routing = await route(network, whole, milp);
  if ("conflict" in routing) throw new Error(routing.conflict.join("; "));
  expect(routingFaults(network, whole, routing.sends)).toEqual([]);
  return routing;
}

/** Returns max(busiest link, longest way) in picoseconds. */
const timeOf = (network: SketchNetwork, whole: Collective, { sends }: Routing): number => {
  const { busiestPs, lastPs } = routingTimes(network, whole, sends);
  return Math.max(busiestPs, lastPs);
};

/** Two-way links (a, b, GB/s). */
function networkOf(npus: number, links: readonly (readonly [number, number, number])[]): Topology {
  const builder = topologyBuilder("hand-made");
  for (let npu = 0; npu < npus; npu++) builder.addNpu(`${npu}`);
  for (const [a, b, gbps] of links) builder.addDuplex(a, b, gbps * 1e9, 500_000);
  return builder.build({});
}

const ring = (npus: number): Topology =>
  networkOf(
    npus,
    Array.from({ length: npus }, (_, npu) => [npu, (npu + 1) % npus, 50] as const),
  );

const COPIES = ["allgather", "broadcast", "gather", "scatter", "alltoall"] as const;

describe("routing", () => {
  it("makes trees that reach all targets, takes at least the bound, and always the same sends", async () => {
    const milp = await milpHere();
    await fc.assert(
      fc.asyncProperty(
        connectedTopology(5),
        fc.constantFrom(...COPIES),
        fc.integer({ min: 1, max: 2 }),
        async (topology, kind, chunks) => {
          const network = sketchNetwork(topology, flatSketch(topology.npuCount));
          const whole = of(kind, topology.npuCount, chunks);
          const routing = await routed(network, whole, milp);
          const { mergedPs, lastPs } = routingTimes(network, whole, routing.sends);
          expect(routing.boundPs).toBeLessThanOrEqual(Math.max(mergedPs, lastPs));
          expect(Number.isSafeInteger(routing.boundPs)).toBe(true);
          expect((await routed(network, whole, milp)).sends).toEqual(routing.sends);
        },
      ),
      { numRuns: runs(25) },
    );
  });

  const small: readonly (readonly [string, Topology, NamedCollective])[] = [
    ["a ring of 4, all-gather", ring(4), "allgather"],
    ["a ring of 4, all-to-all", ring(4), "alltoall"],
    ["a ring of 5, scatter", ring(5), "scatter"],
    ["a ring of 5, gather", ring(5), "gather"],
    [
      "a star of 4, all-gather",
      networkOf(4, [
        [0, 1, 50],
        [0, 2, 50],
        [0, 3, 25],
      ]),
      "allgather",
    ],
    [
      "a quick way round a slow link",
      networkOf(4, [
        [0, 1, 100],
        [1, 2, 100],
        [2, 3, 100],
        [0, 3, 25],
      ]),
      "allgather",
    ],
    [
      "two slow links and a quick one",
      networkOf(3, [
        [0, 1, 100],
        [1, 2, 100],
        [0, 2, 45],
      ]),
      "alltoall",
    ],
    [
      "full mesh of 4 unlike links",
      networkOf(4, [
        [0, 1, 50],
        [0, 2, 25],
        [0, 3, 50],
        [1, 2, 50],
        [1, 3, 25],
        [2, 3, 50],
      ]),
      "allgather",
    ],
  ];
  it.each(small)("is as short as the best of all trees, within 1%%: %s", async (_, topology, kind) => {
    const network = sketchNetwork(topology, flatSketch(topology.npuCount));
    const whole = of(kind, topology.npuCount);
    const least = leastRoutingTime(network, whole);
    const time = timeOf(network, whole, await routed(network, whole));
    expect(time).toBeGreaterThanOrEqual(least);
    expect(time).toBeLessThanOrEqual(least * 1.01);
  });

  it("proves no more than the best of all trees takes", async () => {
    const milp = await milpHere();
    await fc.assert(
      fc.asyncProperty(connectedTopology(3), fc.constantFrom(...COPIES), async (topology, kind) => {
        const network = sketchNetwork(topology, flatSketch(topology.npuCount));
        if (network.routes.source.length > 10) return;
        const whole = of(kind, topology.npuCount);
        const routing = await routed(network, whole, milp);
        expect(routing.boundPs).toBeLessThanOrEqual(leastRoutingTime(network, whole));
      }),
      { numRuns: runs(25) },
    );
  });

  it("routes images alike, and says which rotations a broadcast cannot have", async () => {
    const rotated = flatSketch(6, { symmetries: [{ offset: 1, period: 6 }] });
    const network = sketchNetwork(ring(6), rotated);
    const whole = of("alltoall", 6);
    const { sends } = await routed(network, whole);
    const all = new Set(Array.from(sends.chunk, (chunk, i) => `${chunk}:${sends.route[i]}`));
    const { npuTo, routeTo } = network.symmetries[0];
    sends.chunk.forEach((chunk, i) => {
      const image = npuTo[Math.floor(chunk / 6)] * 6 + npuTo[chunk % 6];
      expect(all.has(`${image}:${routeTo[sends.route[i]]}`)).toBe(true);
    });
    const broadcast = await routed(network, of("broadcast", 6));
    expect(broadcast.stages[0].note).toContain(
      "symmetry_offsets [1, 6] is not used: it is no symmetry of the collective",
    );
  });

  it("uses fewer connections of a switch with uc-min than with uc-max, and loads no link more", async () => {
    const whole = of("broadcast", 4, 6);
    const outcome = async (policy: "uc-min" | "uc-max") => {
      const intranode = {
        strategy: "switch",
        switches: [[0, 1, 2, 3]],
        policies: [policy],
        connections: null,
      } as const;
      const network = sketchNetwork(sharedNics(1), flatSketch(4, { intranode }));
      const { sends } = await routed(network, whole);
      return { used: new Set(sends.route).size, busiest: routingTimes(network, whole, sends).busiestPs };
    };
    const least = await outcome("uc-min");
    const most = await outcome("uc-max");
    expect(least.used).toBeLessThan(most.used);
    expect(least.busiest).toBe(most.busiest);
  });

  it("answers with the greedy routing where the solver has no room", async () => {
    const network = sketchNetwork(
      networkOf(4, [
        [0, 1, 50],
        [1, 2, 50],
        [2, 3, 50],
        [0, 2, 20],
      ]),
      flatSketch(4),
    );
    const whole = of("alltoall", 4);
    const cramped = { ...(await milpHere()), maxBytes: 1 };
    const { stages } = await routed(network, whole, cramped);
    expect(stages.map(({ status, note }) => [status, note])).toContainEqual(["skipped", "the program would not fit"]);
    const none = await routeChunks(
      { network, collective: whole, deadline: deadlineIn(1000), seed: 1 },
      { runner: undefined as never },
    );
    expect("stages" in none && none.stages[0].note).toBe("no solver");
  });
});

describe("a sketch in which chunks cannot be routed", () => {
  const only = (from: number, to: number) => new Map([[from, [to]]]);
  const toRank = (rank: number) => new Map([0, 1, 2, 3].map((owner) => [owner, [rank]] as const));
  const cases: readonly (readonly [string, Partial<Sketch>, RegExp])[] = [
    [
      "a relay out of reach",
      {
        intranode: onlyInside([1, [0]], [0, [1]], [2, [0, 3]], [3, [2]]),
        internode: onlyBetween(
          new Map([
            [1, [0, 2]],
            [2, [2]],
          ]),
          toRank(2),
        ),
      },
      /^gpus_to_sender_rev_map: chunks of GPU 0 may leave node 0 only through GPU 2, which they cannot reach by intranode_sketch$/,
    ],
    [
      "an entry from where nothing leads on",
      {
        intranode: onlyInside([0, [1]], [1, [2]], [2, [3]], [3, [1]]),
        internode: onlyBetween(only(1, 1), null),
      },
      /^intranode_sketch: no connections lead from GPU 1 to GPU 0$/,
    ],
    [
      "senders out of reach",
      {
        intranode: onlyInside([1, [0]], [0, [2]], [2, [3]], [3, [0]]),
        internode: onlyBetween(only(1, 1), null),
      },
      /intranode_sketch: no connections lead from GPU 0 to the senders of node 0 in internode_conn, GPU 1$/,
    ],
  ];
  it.each(cases)("is told in words of the sketch: %s", async (_, changes, expected) => {
    const network = sketchNetwork(sharedNics(), flatSketch(4, { boxes: 2, ...changes }));
    const routing = await route(network, of("allgather", 8));
    expect("conflict" in routing && routing.conflict.some((sentence) => expected.test(sentence))).toBe(true);
  });
});

describe.skipIf(!hasSharedData)("TACCL's own files", () => {
  // (profile, boxes, sketch, collective, most time of the busiest link or longest way in us)
  const cases: readonly (readonly [string, number, string, NamedCollective, number])[] = [
    ["ndv2-1MB", 1, "sk1-ndv2-n1", "allgather", 69.9],
    ["ndv2-1MB", 1, "sk1-ndv2-n1", "alltoall", 138.9],
    ["ndv2-1MB", 2, "sk1-ndv2-n2", "allgather", 842.600008],
    ["ndv2-1MB", 4, "sk1-ndv2-n4", "allgather", 2527.800024],
    ["dgx2-1KB", 1, "sk1-dgx2-n1", "allgather", 4.65],
    ["dgx2-1KB", 2, "sk2-dgx2-n2", "allgather", 9.3],
    ["dgx2-1MB", 2, "sk1-dgx2-n2", "allgather", 514.6],
    ["dgx2-1MB", 2, "sk1-dgx2-n2", "alltoall", 3362.600032],
  ];
  it.each(cases)("%s, %i boxes, %s, %s: at most %d us", async (profile, nodes, name, kind, mostUs) => {
    const topology = readTacclTopology(sharedText(`taccl/topo/topo-${profile}.json`), profile, { nodes });
    const sketch = readSketch(sharedText(`taccl/sketch/${name}.json`), name, topology);
    const network = sketchNetwork(topology, sketch);
    const bytes = profile.endsWith("1KB") ? 1024 : MIB;
    const whole = of(kind, topology.npuCount, kind === "alltoall" ? 1 : sketch.chunksPerNpu, bytes);
    const routing = await routed(network, whole);
    expect(timeOf(network, whole, routing)).toBeLessThanOrEqual(mostUs * US + 10);
  });
});
