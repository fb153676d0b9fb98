import { describe, expect, it } from "vitest";
import { readProgram } from "../../src/import/programs/program.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { type Via, WAIT_BARRIER, WAIT_EVENT } from "../../src/model/program/program.ts";
import type { Instruction, ProgramBuilder } from "../../src/model/program/program-builder.ts";
import { simulateProgram } from "../../src/simulate/program/program.ts";
import { input, line, output, packet, star, written } from "../support/program-sim.ts";
import { unexpected } from "../support/refusals.ts";
import { hasSharedData, sharedFiles, sharedText } from "../support/shared-data.ts";

const nop: Instruction = { op: "nop" };

/** Rank 0 does `first`, then signals; rank 1 waits, then does `second`. */
function pair(first: readonly Instruction[], second: readonly Instruction[], via: Via = "memory") {
  return written("mscclpp", 2, 1, (builder) => {
    const signal = builder.addEvent({ rank: 1, peer: 0, id: 0, via });
    builder.addRank();
    builder.addBlock({ id: 0 });
    for (const instruction of [...first, { op: "signal", via, posts: [signal] } as const]) builder.add(instruction);
    builder.addRank();
    builder.addBlock({ id: 0 });
    builder.add({ op: "wait", via, waits: [{ kind: WAIT_EVENT, on: signal }] });
    for (const instruction of [nop, ...second]) builder.add(instruction);
  });
}

const put: Instruction = { op: "put", chunks: 1, via: "memory", sources: [input(0)], destinations: [output(1)] };
const back: Instruction = { op: "put", chunks: 1, via: "memory", sources: [output(1)], destinations: [output(0)] };
const time = (program: ReturnType<typeof pair>, sizeBytes = 1000, latencyPs = 700, sliceBytes?: number): number =>
  simulateProgram(program, line(2, latencyPs), { sizeBytes, ...(sliceBytes === undefined ? {} : { sliceBytes }) }).ps;

describe("puts, reads and signals", () => {
  it("a signal takes one latency", () => {
    expect(time(pair([], []))).toBe(700);
  });

  it("a signal does not overtake the data before it", () => {
    expect(time(pair([put, nop], []))).toBe(1_000_700);
    expect(time(pair([put, nop], [back]))).toBe(2_001_400);
  });

  it("a put through a port leaves its block alone, and its signal comes behind the data", () => {
    const byPort: Instruction = { ...put, via: "port" };
    const program = pair([byPort, nop], [back], "port");
    const { ps, blockEndPs } = simulateProgram(program, line(2, 700), { sizeBytes: 1000 });
    expect(ps).toBe(2_001_400);
    expect(blockEndPs[0]).toBe(0);
    const flushed = pair([byPort, nop, { op: "flush", via: "port" }, nop], [back], "port");
    expect(simulateProgram(flushed, line(2, 700), { sizeBytes: 1000 }).blockEndPs[0]).toBe(1_000_700);
  });

  it("where a block moves less than its link it is kept as long, but not by a port, whose proxy moves the data", () => {
    const ended = (via: Via): number | undefined =>
      simulateProgram(pair([{ ...put, via }, nop], [], via), line(2, 700), {
        sizeBytes: 1000,
        localBytesPerSecond: 1e8,
      }).blockEndPs[0];
    expect([ended("memory"), ended("port")]).toEqual([10_000_000, 0]);
  });

  it("a put with signal and flush keeps its block until the data is there", () => {
    const all: Instruction = { ...put, op: "pwsf", via: "port" };
    expect(simulateProgram(pair([all], [], "port"), line(2, 700), { sizeBytes: 1000 }).blockEndPs[0]).toBe(1_000_700);
  });

  it("ten thousand signals through a port go one after another", () => {
    const program = written("mscclpp", 2, 1, (builder) => {
      const event = builder.addEvent({ rank: 1, peer: 0, id: 0, via: "port" });
      builder.addRank();
      builder.addBlock({ id: 0 });
      builder.add({ ...put, via: "port" });
      for (let i = 0; i < 10_000; i++) builder.add({ op: "signal", via: "port", posts: [event] });
      builder.addRank();
      builder.addBlock({ id: 0 });
      for (let i = 0; i < 10_000; i++)
        builder.add({ op: "wait", via: "port", waits: [{ kind: WAIT_EVENT, on: event }] });
    });
    expect(simulateProgram(program, line(2, 700), { sizeBytes: 1000 }).ps).toBe(1_000_700);
  });

  it("a read asks and is answered: two latencies", () => {
    const get: Instruction = { op: "get", chunks: 1, via: "memory", sources: [input(0)], destinations: [output(1)] };
    expect(time(pair([], [get]))).toBe(700 + 1_400 + 1_000_000);
  });

  it("what is read, reduced and sent goes on piece by piece", () => {
    const program = written("mscclpp", 3, 1, (builder) => {
      builder.addRank();
      builder.addRank();
      builder.addBlock({ id: 0 });
      builder.add({
        op: "rres",
        chunks: 1,
        via: "memory",
        sources: [input(1), input(0)],
        destinations: [output(1), output(2)],
      });
      builder.addRank();
    });
    const at = (sliceBytes: number) => simulateProgram(program, line(3, 0), { sizeBytes: 100_000, sliceBytes }).ps;
    expect(at(100_000)).toBe(200_000_000);
    expect(at(1_000)).toBe(101_000_000);
  });

  it("puts of one window share a link in turns, puts behind a nop follow", () => {
    const program = (between: readonly Instruction[]) =>
      written("mscclpp", 2, 1, (builder) => {
        builder.addRank();
        for (const instruction of [put, ...between, put]) {
          if (builder.instructions() === 0) builder.addBlock({ id: 0 });
          builder.add(instruction);
        }
        builder.addRank();
      });
    const starts = (between: readonly Instruction[]) => {
      const options = { sizeBytes: 3000, sliceBytes: 1000, timeline: true };
      const { ps, timeline } = simulateProgram(program(between), line(2, 0), options);
      expect(ps).toBe(6_000_000);
      return [...(timeline?.instruction ?? [])];
    };
    expect(starts([])).toEqual([0, 1, 0, 1, 0, 1]);
    expect(starts([nop])).toEqual([0, 0, 0, 2, 2, 2]);
  });
});

describe("packets", () => {
  it("carry flags of their own size, and whoever reads them waits until they are there", () => {
    const program = written("mscclpp", 2, 1, (builder) => {
      builder.addRank();
      builder.addBlock({ id: 0 });
      builder.add({ op: "ppkt", chunks: 1, via: "memory", sources: [input(0)], destinations: [packet(1)] });
      builder.addRank();
      builder.addBlock({ id: 0 });
      builder.add({ op: "upkt", chunks: 1, sources: [packet(1)], destinations: [output(1)] });
    });
    const { ps, blockEndPs } = simulateProgram(program, line(2, 700), { sizeBytes: 1000 });
    expect([ps, blockEndPs[1]]).toEqual([2_000_700, 2_000_700]);
  });
});

describe("within a rank", () => {
  /** Two blocks put a chunk each to different ranks and meet; then the first puts another. */
  const meeting = (write: (builder: ProgramBuilder, block: number) => void) =>
    written("mscclpp", 3, 1, (builder) => {
      builder.addRank();
      for (const block of [0, 1]) {
        builder.addBlock({ id: block });
        const destinations = [output(block + 1)];
        builder.add({ op: "put", chunks: 1, via: "memory", sources: [input(0)], destinations });
        builder.add(nop);
        write(builder, block);
        builder.add(nop);
        if (block === 0) builder.add({ op: "put", chunks: 1, via: "memory", sources: [input(0)], destinations });
      }
      builder.addRank();
      builder.addRank();
    });
  // the only link out of rank 0 carries 1,000 bytes for each of the three puts
  it("blocks wait for each other at barriers and by semaphores", () => {
    const byBarrier = meeting((builder, block) => {
      if (block === 0) builder.addBarrier({ rank: 0, id: 0, blocks: 2 });
      builder.add({ op: "barrier", waits: [{ kind: WAIT_BARRIER, on: 0 }] });
    });
    const bySemaphore = meeting((builder, block) => {
      if (block === 0) builder.addEvent({ rank: 0, peer: 0, id: 0, via: "local" });
      builder.add(
        block === 0 ? { op: "sem_acquire", waits: [{ kind: WAIT_EVENT, on: 0 }] } : { op: "sem_release", posts: [0] },
      );
    });
    for (const program of [byBarrier, bySemaphore]) {
      const { timeline, ps } = simulateProgram(program, line(3, 0), { sizeBytes: 1000, timeline: true });
      expect([...(timeline?.startPs ?? [])]).toEqual([0, 0, 2_000_000]);
      expect(ps).toBe(3_000_000);
    }
  });
});

describe("operations of a switch", () => {
  const ranks = [0, 1, 2, 3];
  const program = written("mscclpp", 4, 1, (builder) => {
    for (const r of ranks) {
      builder.addRank();
      if (r > 0) continue;
      builder.addBlock({ id: 0 });
      const [sources, destinations] = [ranks.map((q) => input(q)), ranks.map((q) => output(q))];
      builder.add({ op: "glres", chunks: 1, via: "switch", sources, destinations });
    }
  });

  it("load every link of the group once up and once down for what is read, and once for what is written", () => {
    const run = simulateProgram(program, star(4, 0), { sizeBytes: 1000 });
    // links in pairs up, down: everyone's data goes up, the sum comes down to rank 0, goes up again and down to all
    expect([...run.linkBusyPs].map((busy) => busy / 1e6)).toEqual([2, 2, 1, 1, 1, 1, 1, 1]);
    expect(run.ps).toBe(2_000_000);
    expect(simulateProgram(program, star(4, 10), { sizeBytes: 1000 }).ps).toBe(2_000_040);
  });

  it("are refused where the switch cannot do them", () => {
    expect(() => simulateProgram(program, star(4, 0, false), { sizeBytes: 1000 })).toThrow(
      unexpected("the network star", "hub"),
    );
  });
});

it("says which plan waits for ever", () => {
  const program = written("mscclpp", 2, 1, (builder) => {
    builder.addRank();
    builder.addBlock({ id: 0 });
    const event = builder.addEvent({ rank: 0, peer: 1, id: 0, via: "memory" });
    builder.add({ op: "wait", via: "memory", waits: [{ kind: WAIT_EVENT, on: event }] });
    builder.addRank();
  });
  expect(() => simulateProgram(program, line(2, 0), { sizeBytes: 1000 })).toThrow(
    unexpected("by hand at 1 KB", "gpu 0, thread block 0, step 0 that waits for ever, of 1 such"),
  );
});

describe.skipIf(!hasSharedData)("plans of others", () => {
  const files = sharedFiles("mscclpp-json").filter((name) => !name.startsWith("legacy"));

  it.each(files)("%s: comes to its end, later for more data", (name) => {
    const program = readProgram(sharedText(`mscclpp-json/${name}`), name);
    const topology = presetTopology("dgx-h100");
    const [small, large] = [2 ** 20, 2 ** 26].map((sizeBytes) => simulateProgram(program, topology, { sizeBytes }).ps);
    expect(small).toBeGreaterThan(0);
    expect(large).toBeGreaterThan(small);
  });
});
