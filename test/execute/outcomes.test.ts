import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Execution, type ExecutionRequest, executeProgram, planOf } from "../../src/execute/execute.ts";
import type { Program } from "../../src/model/program/program.ts";
import {
  directReduceScatter,
  packetAllReduce,
  putAllGather,
  ringAllGather,
  ringAllReduce,
  smallPrograms,
} from "../support/executable-programs.ts";
import { type PlainProgram, plainProgram, programOfPlain } from "../support/plain-programs.ts";
import { placementsOf } from "../support/program-campaign.ts";
import { refusalFrom, unexpected } from "../support/refusals.ts";
import { runs } from "../support/runs.ts";
import { someOrder } from "../support/some-order.ts";

const changed = (program: Program, change: (plain: PlainProgram) => void): Program => {
  const plain = plainProgram(program);
  change(plain);
  return programOfPlain(plain);
};

const run = (program: Program, more: Partial<ExecutionRequest> = {}): Execution =>
  executeProgram(program, {
    type: "i32",
    sizeBytes: program.loopChunks * 8,
    placement: placementsOf(program)[0],
    seed: 1,
    ...more,
  });

const first = ({ faults, waits }: Execution): string => [...faults, ...waits][0];

describe("what comes of wrong programs", () => {
  it("a step left out in one block of a ring: its neighbour waits for data", () => {
    const broken = changed(ringAllReduce(4), ({ blocks }) => void blocks[1].instructions.pop());
    const ran = run(broken);
    expect(ran.outcome).toBe("faulty");
    expect(first(ran)).toBe("gpu 1 never receives 1 chunks that gpu 0 sends to it");
  });

  it("a send left out: those that wait are named, with what they wait for", () => {
    const broken = changed(ringAllGather(3), ({ blocks }) => {
      blocks[0].instructions[1].sends = false;
    });
    const ran = run(broken);
    expect(ran.outcome).toBe("stuck");
    expect(ran.waits).toContain("gpu 1, thread block 0, step 3 waits for data from gpu 0");
  });

  it("every rank sends more than a connection holds before it receives", () => {
    const ring = ringAllReduce(3, 4);
    expect(run(ring, { room: { messages: 4, chunks: 1 } }).waits).toEqual(
      [0, 1, 2].map(
        (r) => `gpu ${r}, thread block 0, step 1 waits until gpu ${(r + 1) % 3} receives what it sent before`,
      ),
    );
    expect(run(ring, { room: { messages: 2, chunks: 4 } }).outcome).toBe("correct");
  });

  it("a wait left out: some orders read scratch that nothing has written", () => {
    const broken = changed(directReduceScatter(3), ({ blocks }) => {
      blocks[2].instructions[1].waits = [];
    });
    const outcomes = Array.from({ length: 30 }, (_, seed) => run(broken, { seed, order: someOrder(broken, seed) }));
    expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(["correct", "faulty"]));
    const fault = outcomes.find(({ outcome }) => outcome === "faulty") as Execution;
    expect(first(fault)).toBe("gpu 0, thread block 2, step 1 reads s[0], which nothing has written");
  });

  it("two blocks that add to one chunk without order: some orders lose an update", () => {
    const broken = changed(directReduceScatter(3), ({ blocks }) => {
      const [, last] = blocks[2].instructions.splice(1, 2);
      blocks.push({ rank: 0, block: { id: 3 }, instructions: [last] });
      last.waits = [...last.waits];
    });
    const outcomes = Array.from({ length: 60 }, (_, seed) => run(broken, { seed }).outcome);
    expect(outcomes).toContain("wrong");
  });

  it("a receive of another count than the send", () => {
    const broken = changed(ringAllReduce(3, 2), ({ blocks }) => {
      blocks[1].instructions[1].chunks = 1;
    });
    expect(first(run(broken))).toMatch(/^gpu 1, .* receives 1 chunks and finds those of an instruction that sends 2$/);
  });

  it("an operand outside its buffer", () => {
    const broken = changed(ringAllGather(3), ({ blocks }) => {
      blocks[2].instructions[0].sources[0] = { rank: 2, buffer: 0, index: 1 };
    });
    expect(first(run(broken))).toBe("gpu 2, thread block 0, step 0 uses i[1], which does not exist");
  });

  it("a send without a peer", () => {
    const broken = changed(ringAllGather(3), ({ blocks }) => {
      blocks[1].block = { ...blocks[1].block, sendPeer: -1 };
    });
    expect(first(run(broken))).toBe(
      "gpu 1, thread block 0, step 1 sends or receives without a peer, or has nothing to write",
    );
  });

  it("a wrong offset: the elements that differ, by rank", () => {
    const broken = changed(ringAllReduce(4), ({ blocks }) => {
      const step = blocks[2].instructions[5];
      step.destinations[0] = { ...step.destinations[0], index: (step.destinations[0].index + 1) % 4 };
    });
    const ran = run(broken);
    expect(ran.outcome).toBe("wrong");
    expect(ran.differenceCount).toBeGreaterThan(0);
    expect(ran.differences[0].rank).toBe(2);
  });

  it("a signal too many, which the next call would take for its own", () => {
    const broken = changed(putAllGather(3), ({ blocks }) => void blocks[0].instructions.pop());
    expect(first(run(broken))).toBe(
      "gpu 0 ends with a count of 1 for the signals from gpu 1, not with the 0 of the start",
    );
  });

  it("a barrier to which one block does not come", () => {
    const broken = changed(packetAllReduce(3, 1), ({ blocks }) => void blocks[1].instructions.pop());
    expect(first(run(broken))).toBe("gpu 0, thread block 0, step 1 waits at barrier 0 for 2 thread blocks");
  });

  it("packets that nobody sends", () => {
    const broken = changed(packetAllReduce(3, 1), ({ blocks }) => void blocks[2].instructions.shift());
    expect(run(broken).waits.join()).toMatch(/waits for packets in the memory of gpu/);
  });

  it("an input overwritten though the call is out of place is told, and no fault", () => {
    const ring = { ...ringAllReduce(3), inPlace: false, outOfPlace: true, outputChunks: Int32Array.of(3, 3, 3) };
    const copying = changed(ring, ({ blocks }) => {
      for (const { rank, instructions } of blocks) {
        const operand = (buffer: number, index: number) => [{ rank, buffer, index }];
        const copy = { ...instructions[0], op: "cpy" as const, sends: false, waits: [], posts: [] };
        for (let k = 0; k < 3; k++) instructions.push({ ...copy, sources: operand(0, k), destinations: operand(1, k) });
      }
    });
    const ran = run(copying);
    expect([ran.outcome, ran.inputsOverwritten]).toEqual(["correct", [0, 1, 2]]);
  });

  it("a custom program is run, and nothing is expected of it", () => {
    const { differences, outcome } = run({
      ...ringAllReduce(3),
      collective: "custom",
      outputChunks: Int32Array.of(3, 3, 3),
    });
    expect([outcome, differences]).toEqual(["ran", []]);
  });
});

describe("sizes", () => {
  it("refuses those that chunks do not divide, and names the nearest that they do", () => {
    const running = (sizeBytes: number) => () => run(ringAllReduce(3), { sizeBytes });
    expect(running(100)).toThrow(unexpected("the size", 100, 12, 3, 4));
    expect(running(5)).toThrow(unexpected("the size", 5, 12, 3, 4));
    for (const sizeBytes of [0, -12, 1.5, Number.NaN])
      expect(refusalFrom(running(sizeBytes))).toMatchObject({ place: "the size", received: sizeBytes });
  });

  it("refuses chunks that ranks do not share equally", () => {
    expect(() => run({ ...ringAllGather(3), loopChunks: 4 })).toThrow(unexpected("the chunks of this allgather", 4, 3));
  });

  it("cuts large chunks, runs once for every part, and gives the same", () => {
    for (const { program } of smallPrograms()) {
      const ran = run(program, { sizeBytes: program.loopChunks * 4 * 40_000, type: "f32" });
      expect([ran.outcome, ran.instructions]).toEqual(["correct", 3 * program.op.length]);
    }
  });

  it("predicts memory before it is taken, for any claim of a file", () => {
    const huge = { ...ringAllReduce(3), scratchChunks: Int32Array.of(2 ** 31 - 1, 2 ** 31 - 1, 2 ** 31 - 1) };
    expect(planOf(huge, "in", 12 * 2 ** 20).bytes).toBeGreaterThan(2 ** 50);
  });

  it("counts the bytes between ranks: 2 (n - 1) / n of the buffer per rank in a ring", () => {
    const bytes = 4 * 3 * 1000;
    expect(run(ringAllReduce(4), { sizeBytes: bytes * 4 }).bytes).toBe(4 * 6 * bytes);
  });
});

describe("reproducibility", () => {
  it("gives the same for the same seed, whatever happens", () => {
    const broken = changed(directReduceScatter(4), ({ blocks }) => {
      for (const { instructions } of blocks) for (const instruction of instructions) instruction.waits = [];
    });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 }), (seed) => {
        const order = someOrder(broken, seed);
        expect(run(broken, { seed, order })).toEqual(run(broken, { seed, order }));
      }),
      { numRuns: runs(30) },
    );
  });
});
