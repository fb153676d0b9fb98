import { describe, expect, it } from "vitest";
import { readProgram } from "../../../src/import/programs/program.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { WAIT_INSTRUCTION } from "../../../src/model/program/program.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { simulateProgram } from "../../../src/simulate/program/program.ts";
import { chain, GB, input, line, output, star, written } from "../../support/program-sim.ts";
import { infeasible, outOfRange, refusalFrom, refused, unexpected } from "../../support/refusals.ts";
import { hasSharedData, sharedFiles, sharedText } from "../../support/shared-data.ts";

const whole = { cuts: 1, slots: 64 };

describe("one message", () => {
  it("takes its bytes over the bandwidth and one latency", () => {
    const { ps, messages, instructions, linkBusyPs } = simulateProgram(chain(2), line(2, 700), { sizeBytes: 1000 });
    // cut in 2 parts that follow each other
    expect([ps, messages, instructions]).toEqual([1_000_700, 2, 2]);
    expect([...linkBusyPs]).toEqual([1_000_000, 0]);
  });

  it("passes a switch as it comes in: bytes once, latencies twice", () => {
    expect(simulateProgram(chain(2), star(2, 700), { sizeBytes: 1000, ...whole }).ps).toBe(1_001_400);
  });

  it("is held up by the narrow link, before or behind the wide one", () => {
    for (const [first, last] of [
      [GB, 4 * GB],
      [4 * GB, GB],
    ]) {
      const builder = topologyBuilder("two widths");
      builder.addNpu("a");
      builder.addNpu("b");
      const hub = builder.addSwitch("s");
      builder.addLink(0, hub, first, 50);
      builder.addLink(hub, 1, last, 50);
      const { ps, linkBusyPs } = simulateProgram(chain(2), builder.build(), { sizeBytes: 1000, ...whole });
      expect(ps).toBe(1_000_100);
      expect([...linkBusyPs].sort((a, b) => a - b)).toEqual([250_000, 1_000_000]);
    }
  });

  it("carries flags with LL and LL128", () => {
    const at = (protocol: "LL" | "LL128") =>
      simulateProgram(chain(2, protocol), line(2, 0), { sizeBytes: 1200, ...whole }).ps;
    expect([at("LL"), at("LL128")]).toEqual([2_400_000, 1_280_000]);
  });

  it("waits for nothing but takes its time to be copied, where a rate is given", () => {
    const program = written("msccl", 1, 2, (builder) => {
      builder.addRank();
      builder.addBlock({ id: 0 });
      builder.add({ op: "cpy", chunks: 1, sources: [input(0)], destinations: [output(0)] });
    });
    const topology = presetTopology("ring:3");
    expect(simulateProgram(program, topology, { sizeBytes: 4000 }).ps).toBe(0);
    expect(simulateProgram(program, topology, { sizeBytes: 4000, localBytesPerSecond: 2 * GB }).ps).toBe(1_000_000);
  });
});

it("waits for what a thread block can move, where that is less than its link", () => {
  // two halves of 2 us on the link, 4 us in either block: sent at 0 and 4, there at 2 and 6, taken out at 6 and 10 us
  const options = { sizeBytes: 4000, cuts: 2, slots: 64, localBytesPerSecond: GB / 2 };
  const { ps, blockEndPs, linkBusyPs } = simulateProgram(chain(2), line(2, 0), options);
  expect([ps, ...blockEndPs, linkBusyPs[0]]).toEqual([10_000_000, 8_000_000, 10_000_000, 4_000_000]);
});

describe("chains of a program", () => {
  it("move slice behind slice: (slices + hops - 1) x slice + latencies", () => {
    for (const slices of [1, 2, 8, 50]) {
      const sliceBytes = 100_000 / slices;
      const { ps, instructions } = simulateProgram(chain(5), line(5, 10), { sizeBytes: 100_000, sliceBytes, ...whole });
      expect(ps).toBe((slices + 3) * sliceBytes * 1000 + 4 * 10);
      expect(instructions).toBe(5 * slices);
    }
  });

  it("wait for room: with one slot a message leaves when the one before is received and that is known", () => {
    const options = { sizeBytes: 4000, sliceBytes: 1000, cuts: 1, slots: 1 };
    expect(simulateProgram(chain(2), line(2, 750_000), options).ps).toBe(4 * 1_750_000 + 3 * 750_000);
    expect(simulateProgram(chain(2), line(2, 750_000), { ...options, slots: 2 }).ps).toBe(5_250_000);
    expect(simulateProgram(chain(2), line(2, 750_000), { ...options, slots: 4 }).ps).toBe(4_750_000);
  });

  it("share a link in turns", () => {
    // two connections 0 > 1, each with one chunk in 4 slices: their slices alternate, and both end with the last
    const program = written("msccl", 2, 2, (builder) => {
      for (const r of [0, 1]) {
        builder.addRank();
        for (const channel of [0, 1]) {
          builder.addBlock({ id: channel, channel, sendPeer: r === 0 ? 1 : -1, recvPeer: r === 0 ? -1 : 0 });
          if (r === 0) builder.add({ op: "s", chunks: 1, sends: true, sources: [input(0, channel)] });
          else builder.add({ op: "r", chunks: 1, receives: true, destinations: [output(1, channel)] });
        }
      }
    });
    const { blockEndPs, timeline, ps } = simulateProgram(program, line(2, 0), {
      sizeBytes: 8000,
      sliceBytes: 1000,
      ...whole,
      timeline: true,
    });
    expect([...blockEndPs]).toEqual([7_000_000, 8_000_000, 7_000_000, 8_000_000]);
    expect([...(timeline?.instruction ?? [])]).toEqual([0, 1, 0, 1, 0, 1, 0, 1]);
    expect(Math.max(...(timeline?.endPs ?? []))).toBe(ps);
  });

  it("go on when an instruction of the same pass is complete", () => {
    const program = written("msccl", 3, 1, (builder) => {
      builder.addRank();
      builder.addBlock({ id: 0, sendPeer: 1 });
      builder.add({ op: "s", chunks: 1, sends: true, sources: [input(0)] });
      builder.addRank();
      builder.addBlock({ id: 0, recvPeer: 0 });
      const r = builder.add({ op: "r", chunks: 1, receives: true, publishes: true, destinations: [output(1)] });
      builder.addBlock({ id: 1, sendPeer: 2 });
      const waits = [{ kind: WAIT_INSTRUCTION, on: r }];
      builder.add({ op: "s", chunks: 1, sends: true, sources: [output(1)], waits });
      builder.addRank();
      builder.addBlock({ id: 0, recvPeer: 1 });
      builder.add({ op: "r", chunks: 1, receives: true, destinations: [output(2)] });
    });
    const { ps } = simulateProgram(program, line(3, 0), { sizeBytes: 5000, sliceBytes: 1000, ...whole });
    expect(ps).toBe(6_000_000);
  });
});

describe("ways between ranks", () => {
  const twoWays = (relay: boolean) => {
    const builder = topologyBuilder("two ways");
    for (const name of ["a", "b", "c"]) builder.addNpu(name);
    if (relay) {
      builder.addLink(0, 2, 8 * GB, 0);
      builder.addLink(2, 1, 8 * GB, 0);
      return builder.build();
    }
    const [far, wide, narrow] = ["far", "wide", "narrow"].map((name) => builder.addSwitch(name));
    for (const [hub, bandwidth, latency] of [
      [far, 2 * GB, 900],
      [wide, 2 * GB, 100],
      [narrow, GB, 0],
    ]) {
      builder.addLink(0, hub, bandwidth, latency);
      builder.addLink(hub, 1, bandwidth, latency);
    }
    return builder.build();
  };

  it("are the widest, of these the nearest", () => {
    const { ps, relayedPairs } = simulateProgram(chain(2), twoWays(false), { sizeBytes: 2000, ...whole });
    expect([ps, relayedPairs]).toEqual([1_000_200, 0]);
  });

  it("lead through NPUs only where there is no other, which is told", () => {
    const { ps, relayedPairs, model } = simulateProgram(chain(2), twoWays(true), { sizeBytes: 8000, ...whole });
    expect([ps, relayedPairs]).toEqual([1_000_000, 1]);
    expect(model).toMatch(/; pairs of ranks with no way but through other NPUs: 1$/);
  });

  it("are shared out among the connections of a pair where links are parallel", () => {
    const builder = topologyBuilder("parallel");
    builder.addNpu("a");
    builder.addNpu("b");
    for (let i = 0; i < 3; i++) builder.addLink(0, 1, GB, 0);
    const program = written("msccl", 2, 3, (b) => {
      for (const r of [0, 1]) {
        b.addRank();
        for (const channel of [0, 1, 2]) {
          b.addBlock({ id: channel, channel: 2 * channel, sendPeer: r === 0 ? 1 : -1, recvPeer: r - 1 });
          if (r === 0) b.add({ op: "s", chunks: 1, sends: true, sources: [input(0, channel)] });
          else b.add({ op: "r", chunks: 1, receives: true, destinations: [output(1, channel)] });
        }
      }
    });
    expect(simulateProgram(program, builder.build(), { sizeBytes: 3000, ...whole }).ps).toBe(1_000_000);
  });

  it("start at the NPUs that ranks are told to be", () => {
    const options = { sizeBytes: 1000, ...whole };
    expect(simulateProgram(chain(2), line(3, 5), { ...options, rankToNpu: [2, 1] }).ps).toBe(1_000_005);
    expect(simulateProgram(chain(2), line(3, 5), { ...options, rankToNpu: [2, 0] }).ps).toBe(1_000_010);
  });
});

describe("refuses", () => {
  const simulate = (options: object, topology = line(2, 0)) =>
    refusalFrom(() => simulateProgram(chain(2), topology, { sizeBytes: 1000, ...options }));

  it.each([
    [{ sizeBytes: 0 }, unexpected("the size", 0)],
    [{ sizeBytes: 1.5 }, unexpected("the size", 1.5)],
    [{ sliceBytes: -1 }, unexpected("sliceBytes", -1)],
    [{ cuts: 0 }, outOfRange("cuts", 0, 1024)],
    [{ slots: 5000 }, outOfRange("slots", 5000, 1024)],
    [{ localBytesPerSecond: 0 }, unexpected("localBytesPerSecond", 0)],
    [{ rankToNpu: [0] }, unexpected("rankToNpu", 1, 2)],
    [{ rankToNpu: [0, 0] }, unexpected("rankToNpu[1]", 0)],
    [{ rankToNpu: [0, 7] }, unexpected("rankToNpu[1]", 7)],
  ])("%j", (options, refusal) => expect(simulate(options)).toEqual(refusal));

  it("networks that are too small, and ranks that cannot reach each other", () => {
    const small = outOfRange("the network line", 2, 3);
    expect(refusalFrom(() => simulateProgram(chain(3), line(2, 0), { sizeBytes: 1000 }))).toEqual(small);
    const builder = topologyBuilder("apart");
    builder.addNpu("a");
    builder.addNpu("b");
    expect(simulate({}, builder.build())).toEqual(infeasible({ from: 0, to: 1 }));
  });

  it("times beyond 2^53 ps", () => {
    expect(simulate({ sizeBytes: 2 ** 50 })).toEqual(refused("too-long", "the simulated time", 1125899906842624000));
  });

  it("programs that stop: both send more than a connection holds before they receive", () => {
    const program = written("msccl", 2, 4, (builder) => {
      for (const r of [0, 1]) {
        builder.addRank();
        builder.addBlock({ id: 0, sendPeer: 1 - r, recvPeer: 1 - r });
        builder.add({ op: "s", chunks: 4, sends: true, sources: [input(r)] });
        builder.add({ op: "r", chunks: 4, receives: true, destinations: [output(r)] });
      }
    });
    const run = (slots: number) =>
      simulateProgram(program, line(2, 0), { sizeBytes: 4000, sliceBytes: 1000, cuts: 1, slots });
    expect(run(4).ps).toBe(4_000_000);
    expect(() => run(3)).toThrow(
      unexpected("by hand at 4 KB", "gpu 0, thread block 0, step 0 that waits for ever, of 2 such", 3),
    );
  });
});

it("lets slices grow where there would be too many messages, and says so", () => {
  const { cutting, model, messages } = simulateProgram(chain(2), line(2, 0), { sizeBytes: 2 ** 33, sliceBytes: 256 });
  expect(cutting).toEqual({ sliceBytes: 8192, cuts: 2, slots: 4, grown: true });
  expect(messages).toBe(2 ** 21);
  expect(model).toBe(
    "program/msccl Simple: links serve messages first come first served, cut-through; " +
      "messages of at most 8 KiB (grown to bound the number of messages) in 2 parts, 4 in a connection",
  );
});

it("reports its progress", () => {
  const seen: [number, number][] = [];
  const onProgress = (done: number, total: number) => seen.push([done, total]);
  simulateProgram(chain(2), line(2, 0), { sizeBytes: 2 ** 28, sliceBytes: 4096, onProgress });
  expect(seen.length).toBeGreaterThan(1);
  for (const [done, total] of seen) expect([done > 0 && done <= total, total]).toEqual([true, 2 ** 17]);
});

describe.skipIf(!hasSharedData)("files of others", () => {
  const files = sharedFiles("msccl-xml").filter((name) => name.endsWith(".xml"));

  it.each(files)("%s: comes to its end, later for more data", (name) => {
    const program = readProgram(sharedText(`msccl-xml/${name}`), name);
    const topology = presetTopology(`switch:${program.rankCount}@300GB/s`);
    const [small, large] = [2 ** 20, 2 ** 26].map((sizeBytes) => simulateProgram(program, topology, { sizeBytes }).ps);
    expect(small).toBeGreaterThan(0);
    expect(large).toBeGreaterThan(small);
  });

  it("one that is made for 0.5 to 11 MiB stops at 1 GiB: both sides send 4 messages before they receive", () => {
    const name = "rccl-allreduce-allpairs-8n-simple.xml";
    const program = readProgram(sharedText(`msccl-xml/${name}`), name);
    const run = (slots: number) => simulateProgram(program, presetTopology("mi300x"), { sizeBytes: 2 ** 30, slots });
    expect(() => run(4)).toThrow(
      unexpected(
        "allreduce_pairs at 1 GiB",
        "gpu 0, thread block 8, step 0 (line 124) that waits for ever, of 512 such",
        4,
      ),
    );
    expect(run(16).ps).toBeGreaterThan(0);
  });
});
