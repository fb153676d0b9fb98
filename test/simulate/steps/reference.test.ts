import { existsSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { collective } from "../../../src/model/collective/collective.ts";
import type { StepSchedule } from "../../../src/model/steps/step-schedule.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { type Message, simulateMessages, simulateReference } from "../../../src/simulate/steps/reference.ts";
import { outOfRange, type Refusal, unexpected } from "../../support/refusals.ts";
import { runs, seen } from "../../support/runs.ts";
import { type Network, referenceMessages, referenceNetwork } from "../reference-cases.ts";

const lastArrival = (kind: Network, algorithm: string, npus: number, bytes: number, gibps: number, ns: number) => {
  const topology = referenceNetwork(kind, npus, gibps, ns);
  const messages = referenceMessages(algorithm, kind, topology, bytes);
  return { messages: messages.length, ns: simulateMessages(topology, messages).lastArrivalNs };
};

const MIB = 2 ** 20;

describe("reference model", () => {
  it.each([
    ["Ring", "ring_ag", 8, MIB, 50, 500, 140217],
    ["Ring", "direct_rot", 8, MIB, 50, 500, 196310],
    ["Ring", "bcast0", 16, 1024, 50, 500, 4285],
    ["FullyConnected", "direct_naive", 8, MIB, 50, 500, 20031],
    ["Switch", "direct_naive", 8, MIB, 50, 500, 274434],
    ["Switch", "direct_rot", 8, MIB, 50, 500, 157248],
    ["Switch", "biring_ag", 16, MIB, 300, 1000, 80437],
    ["Ring", "biring_ag", 8, MIB, 12.5, 0, 273434],
  ] as const)("%s, %s of %i, %i bytes at %d GiB/s and %i ns ends at %i ns", (kind, name, npus, bytes, bw, ns, last) => {
    expect(lastArrival(kind, name, npus, bytes, bw, ns).ns).toBe(last);
  });

  const cases = new URL("../../../../shared/data/network-model/cases.csv", import.meta.url);
  it.skipIf(!existsSync(cases))("is exact on every row of cases.csv (skipped where the file is absent)", () => {
    const rows = readFileSync(cases, "utf8").trim().split("\n").slice(1);
    expect(rows.length).toBe(189);
    for (const row of rows) {
      const [kind, algorithm, ...figures] = row.split(",");
      const [npus, bytes, gibps, latencyNs, messages, last, finalEvent] = figures.map(Number);
      const got = lastArrival(kind as Network, algorithm, npus, bytes, gibps, latencyNs);
      expect({ row, ...got }).toEqual({ row, messages, ns: last });
      expect(finalEvent).toBe(last);
    }
  });

  it("agrees with an event simulator written with closures, ties included", () => {
    let ties = 0;
    fc.assert(
      fc.property(anyTraffic(), ({ topology, messages }) => {
        const expected = naiveArrivals(topology, messages);
        const got = simulateMessages(topology, messages);
        expect([...got.arrivalNs]).toEqual(expected);
        expect(got.lastArrivalNs).toBe(Math.max(0, ...expected));
        if (new Set(expected).size < expected.length) ties++;
      }),
      { numRuns: runs(500), seed: 11 },
    );
    expect(ties).toBeGreaterThan(seen(100));
  });

  it("truncates the two delays separately", () => {
    const builder = topologyBuilder("line");
    builder.addNpu("a");
    builder.addNpu("b");
    builder.addLink(0, 1, 1e9, 1700); // 1 byte/ns, 1.7 ns
    builder.addLink(1, 0, 3e9, 700); // 3 bytes/ns
    const topology = builder.build();
    const two = (link: number, bytes: number) => [
      ...simulateMessages(topology, [
        { links: [link], bytes },
        { links: [link], bytes },
      ]).arrivalNs,
    ];
    expect(two(0, 10)).toEqual([11, 21]);
    // 10/3 = 3.33 ns: free after 3; 3.33 + 0.7 = 4.03: there after 4
    expect(two(1, 10)).toEqual([4, 7]);
  });

  it("reads GB/s as GiB/s when asked to", () => {
    const builder = topologyBuilder("pair");
    builder.addNpu("a");
    builder.addNpu("b");
    builder.addLink(0, 1, 50e9, 500_000);
    const message = [{ links: [0], bytes: MIB }];
    expect(simulateMessages(builder.build(), message).lastArrivalNs).toBe(21471);
    expect(simulateMessages(builder.build(), message, { gigabytesAreGibibytes: true }).lastArrivalNs).toBe(20031);
  });

  it.each<[string, Message, Refusal]>([
    ["no link", { links: [], bytes: 1 }, outOfRange("messages[0].links", "none")],
    ["an unknown link", { links: [99], bytes: 1 }, unexpected("messages[0].links[0]", 99, 8)],
    ["a jump", { links: [0, 0], bytes: 1 }, unexpected("messages[0].links[1]", 0)],
    ["half a byte", { links: [0], bytes: 0.5 }, unexpected("messages[0].bytes", 0.5)],
    ["a negative release", { links: [0], bytes: 1, releaseNs: -1 }, unexpected("messages[0].releaseNs", -1)],
    ["itself as predecessor", { links: [0], bytes: 1, after: 0 }, unexpected("messages[0].after", 0)],
  ])("refuses a message with %s", (_, message, sentence) => {
    const act = () => simulateMessages(referenceNetwork("Ring", 4, 1, 0), [message]);
    expect(act).toThrow(InputError);
    expect(act).toThrow(sentence);
  });
});

describe("a schedule in the reference model", () => {
  it("gives the figure of the ring all-gather", () => {
    const { ns, linkBusyNs, endNs } = simulateReference(ringAllGather(8, 50, 500));
    expect(ns).toBe(140217);
    expect(Math.max(...endNs)).toBe(140217);
    expect([...linkBusyNs].filter((busy) => busy > 0)).toEqual(Array(8).fill(7 * 19531));
  });

  it("lets links serve first come, first served, whatever was planned", () => {
    // chunk 0 comes from a over s to c, chunk 1 starts at s later in the plan although it is there from the start
    const builder = topologyBuilder("line");
    for (const name of ["a", "s", "c"]) builder.addNpu(name);
    builder.addLink(0, 1, 1e9, 0);
    builder.addLink(1, 2, 1e9, 0);
    const schedule: StepSchedule = {
      topology: builder.build(),
      collective: {
        ...collective({
          kind: "gather",
          groups: [Int32Array.of(0, 1, 2)],
          sizeBytes: 3000,
          chunksPerNpu: 1,
          rootRank: 2,
        }),
      },
      routes: {
        source: Int32Array.of(0, 1),
        target: Int32Array.of(1, 2),
        linkOffset: Int32Array.of(0, 1, 2),
        links: Int32Array.of(0, 1),
        shareNum: Float64Array.of(1, 1),
        shareDen: Float64Array.of(1, 1),
      },
      chunk: Uint8Array.of(0, 0, 1),
      route: Uint8Array.of(0, 1, 1),
      startPs: Float64Array.of(0, 1e6, 2e6),
      endPs: Float64Array.of(1e6, 2e6, 3e6),
      op: new Uint8Array(3),
    };
    const { ns, startNs } = simulateReference(schedule);
    expect([...startNs]).toEqual([0, 1000, 0]);
    expect(ns).toBe(2000);
  });
});

/** Returns the all-gather in which every NPU passes on what it got, upwards; planned in equal slots. */
function ringAllGather(npus: number, gibps: number, latencyNs: number): StepSchedule {
  const topology = referenceNetwork("Ring", npus, gibps, latencyNs);
  const count = npus * (npus - 1);
  const all = Int32Array.from({ length: npus }, (_, npu) => npu);
  return {
    topology,
    collective: collective({ kind: "allgather", groups: [all], sizeBytes: npus * MIB, chunksPerNpu: 1, rootRank: 0 }),
    routes: {
      source: all,
      target: all.map((npu) => (npu + 1) % npus),
      linkOffset: Int32Array.from({ length: npus + 1 }, (_, npu) => npu),
      links: all.map((npu) => 2 * npu),
      shareNum: new Float64Array(npus).fill(1),
      shareDen: new Float64Array(npus).fill(1),
    },
    chunk: Uint8Array.from({ length: count }, (_, i) => (i + (npus - 1) * Math.floor(i / npus)) % npus),
    route: Uint8Array.from({ length: count }, (_, i) => i % npus),
    startPs: Float64Array.from({ length: count }, (_, i) => Math.floor(i / npus) * 1e9),
    endPs: Float64Array.from({ length: count }, (_, i) => (Math.floor(i / npus) + 1) * 1e9),
    op: new Uint8Array(count),
  };
}

/** Generates traffic with few different times, so that many events coincide. */
function anyTraffic(): fc.Arbitrary<{ topology: Topology; messages: Message[] }> {
  const nodes = 4;
  return fc
    .tuple(
      fc.array(fc.tuple(fc.nat(nodes - 1), fc.nat(nodes - 1), fc.integer({ min: 1, max: 3 }), fc.nat(2)), {
        minLength: 4,
        maxLength: 12,
      }),
      fc.array(
        fc.tuple(fc.nat(), fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 4 }), fc.nat(), fc.nat(9)),
        {
          minLength: 1,
          maxLength: 25,
        },
      ),
    )
    .map(([links, wishes]) => {
      const builder = topologyBuilder("any");
      for (let npu = 0; npu < nodes; npu++) builder.addNpu(`${npu}`);
      for (const [a, b, perNs, ns] of links) builder.addLink(a, a === b ? (b + 1) % nodes : b, perNs * 1e9, ns * 1000);
      const topology = builder.build();
      const messages = wishes.map(([pick, hops, bytes, dependency, kind], index): Message => {
        const way = [pick % links.length];
        for (let hop = 1; hop < hops; hop++) {
          const at = topology.linkTarget[way[hop - 1]];
          const options = [...topology.linkSource.keys()].filter((link) => topology.linkSource[link] === at);
          if (options.length === 0) break;
          way.push(options[(pick >> hop) % options.length]);
        }
        if (index > 0 && kind < 5) return { links: way, bytes, after: dependency % index };
        return { links: way, bytes, releaseNs: kind === 9 ? dependency % 5 : 0 };
      });
      return { topology, messages };
    });
}

/** Returns arrival times by a list of closures sorted at every step; each link's freeing is an event of its own. */
function naiveArrivals(topology: Topology, messages: readonly Message[]): number[] {
  const agenda: { time: number; turn: number; run: () => void }[] = [];
  let turn = 0;
  let now = 0;
  const at = (time: number, run: () => void): void => {
    agenda.push({ time, turn: turn++, run });
  };
  const busy = new Set<number>();
  const waiting = new Map<number, (() => void)[]>();
  const arrivals: number[] = [];
  const hop = (index: number, k: number): void => {
    const { links, bytes } = messages[index];
    if (k === links.length) {
      arrivals[index] = now;
      messages.forEach((other, i) => {
        if (other.after === index) hop(i, 0);
      });
      return;
    }
    const link = links[k];
    const go = (): void => {
      busy.add(link);
      const serial = bytes / (topology.linkBytesPerSecond[link] / 1e9);
      at(now + Math.floor(serial + topology.linkLatencyPs[link] / 1000), () => hop(index, k + 1));
      at(now + Math.floor(serial), () => {
        busy.delete(link);
        waiting.get(link)?.shift()?.();
      });
    };
    if (!busy.has(link)) go();
    else if (waiting.has(link)) waiting.get(link)?.push(go);
    else waiting.set(link, [go]);
  };
  messages.forEach(({ after, releaseNs = 0 }, i) => {
    if (after === undefined && releaseNs === 0) hop(i, 0);
    if (after === undefined && releaseNs > 0) at(releaseNs, () => hop(i, 0));
  });
  while (agenda.length > 0) {
    agenda.sort((a, b) => a.time - b.time || a.turn - b.turn);
    const event = agenda.shift();
    now = event?.time ?? now;
    event?.run();
  }
  return arrivals;
}
