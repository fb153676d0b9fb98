import { describe, expect, test } from "vitest";
import { OUTPUT, SCRATCH, WAIT_INSTRUCTION } from "../../../src/model/program/program.ts";
import { programBuilder } from "../../../src/model/program/program-builder.ts";
import { verifyProgram } from "../../../src/verify/program/program.ts";
import { type PlainProgram, plainProgram, programOfPlain } from "../../support/plain-programs.ts";
import {
  allPairsAllReduce,
  allToAll,
  barrierReduce,
  direct,
  packetAllReduceInPlace,
  packetsThroughPort,
  programCases,
  readReduceSend,
  ringAllGatherEither,
  roundTrip,
  semaphoreAllGather,
  treeAllReduce,
} from "../../support/program-cases.ts";
import { outOfRange } from "../../support/refusals.ts";

/** Returns what is said of a program after a change, without lines. */
function said(program: Parameters<typeof plainProgram>[0], change: (plain: PlainProgram) => void, limit = 100) {
  const plain = plainProgram(program);
  change(plain);
  return verifyProgram(programOfPlain(plain), { limit });
}

const messages = (verdict: ReturnType<typeof verifyProgram>): string[] =>
  verdict.violations.map(({ message }) => message);

describe("verifyProgram", () => {
  test.each(programCases())("accepts: $name", ({ program }) => {
    const { violations, violationCount, truncated, modes, warnings } = verifyProgram(program);
    expect(violations).toEqual([]);
    expect({ violationCount, truncated }).toEqual({ violationCount: 0, truncated: false });
    expect(modes).toEqual([...(program.inPlace ? ["in place"] : []), ...(program.outOfPlace ? ["out of place"] : [])]);
    expect(warnings).toEqual([]);
  });

  test("counts what a program has", () => {
    expect(verifyProgram(allPairsAllReduce(4, 2)).facts).toEqual({
      instructions: 68,
      blocks: 16,
      mostBlocksPerRank: 4,
      mostStepsPerBlock: 5,
      mostScratchChunks: 6,
      capacity: 8,
      messageChunks: 1,
      leastCapacity: 2,
    });
  });

  test("tells how far it is, rank by rank, for each kind of call", () => {
    const seen: string[] = [];
    verifyProgram(ringAllGatherEither(3, 1), { onProgress: (done, total) => seen.push(`${done}/${total}`) });
    expect(seen).toEqual(["1/6", "2/6", "3/6", "4/6", "5/6", "6/6"]);
  });

  test("counts all violations and keeps as many as asked for", () => {
    const verdict = said(allToAll(3), ({ blocks }) => blocks[0].instructions.splice(0, 1), 0);
    expect(verdict).toMatchObject({ violationCount: 1, truncated: true, violations: [] });
  });

  test("says what a custom program ends with instead of comparing", () => {
    const { violations, results, collective } = verifyProgram({ ...treeAllReduce(3, 2), collective: "custom" });
    expect({ violations, collective }).toEqual({ violations: [], collective: "custom" });
    expect(results).toEqual([0, 1, 2].map((rank) => ({ rank, index: 0, chunks: 2, inputChunk: 0, from: [0, 1, 2] })));
  });

  test.each([
    ["limit", -1],
    ["fifoSlots", 0],
    ["fifoSlots", 1.5],
  ])("refuses the option %s out of range: %d", (option, value) => {
    expect(() => verifyProgram(allToAll(2), { [option]: value })).toThrow(outOfRange(`options.${option}`, value));
  });
});

describe("a program is refused that", () => {
  test("is for no kind of call", () => {
    const verdict = verifyProgram({ ...allToAll(2), outOfPlace: false });
    expect(messages(verdict)).toEqual(["the program is neither for calls in place nor for calls out of place"]);
    expect(verdict.modes).toEqual([]);
  });

  test("claims more chunks than can be judged, without allocating them", () => {
    const program = { ...allToAll(2), loopChunks: 2 ** 31 - 2 };
    expect(messages(verifyProgram(program))[0]).toMatch(/\b8589934584 chunks; at most \d+\b/);
    const verdict = said(allToAll(2), ({ blocks }) => {
      blocks[0].instructions[0].chunks = 2 ** 30;
    });
    expect(verdict.violations.map(({ kind }) => kind)).toEqual(["too-large"]);
  });

  test("has more thread blocks than can be told apart, at once", () => {
    const builder = programBuilder();
    for (let rank = 0; rank < 2; rank++) {
      builder.addRank();
      for (let id = 0; id < 20_000; id++) builder.addBlock({ id });
      builder.add({
        op: "cpy",
        chunks: 1,
        sources: [{ rank, buffer: 0, index: 0 }],
        destinations: [{ rank, buffer: 1, index: 0 }],
      });
    }
    const [message] = messages(verifyProgram(builder.build(allToAll(2))));
    expect(message).toBe("too many thread blocks touch the same memory to be judged for data races");
  });

  test("has chunks that its ranks cannot share", () => {
    const [message] = messages(verifyProgram({ ...allToAll(3), loopChunks: 4 }));
    expect(message).toBe("4 chunks cannot be shared equally by 3 gpus, as alltoall wants");
  });

  test("sends more than is received", () => {
    const verdict = said(allToAll(3), ({ blocks }) => blocks[1].instructions.splice(1, 1));
    expect(messages(verdict)).toEqual([
      "from gpu 1 to gpu 0 on channel 0 1 messages are sent and 0 received; gpu 1, thread block 2, step 0: s has no counterpart",
    ]);
    expect(verdict.violations[0]).toMatchObject({ kind: "unmatched", severity: "error", rank: 1, block: 5 });
  });

  test("sends other counts than are received", () => {
    const verdict = said(ringAllGatherEither(3, 1), ({ blocks }) => {
      blocks[0].instructions[0].chunks = 2;
    });
    expect(messages(verdict)).toEqual([
      "message 0 from gpu 0 to gpu 1 on channel 0 has 2 chunks when sent (gpu 0, thread block 0, step 0: s) and 1 when received (gpu 1, thread block 0, step 1: rcs)",
    ]);
  });

  test("sends from two blocks into one connection", () => {
    const verdict = said(allToAll(2), ({ blocks }) => {
      blocks[0].block = { ...blocks[0].block, sendPeer: 1 };
      blocks[0].instructions.push({ ...blocks[1].instructions[0], step: 1 });
    });
    expect(messages(verdict)).toEqual([
      "from gpu 0 to gpu 1 on channel 0 2 thread blocks send, where one may: gpu 0, thread block 0; gpu 0, thread block 1",
    ]);
  });

  test("sends to itself or to nobody", () => {
    for (const sendPeer of [0, -1, 2]) {
      const verdict = said(allToAll(2), ({ blocks }) => {
        blocks[1].block = { ...blocks[1].block, sendPeer };
      });
      expect(messages(verdict)[0]).toBe(`gpu 0, thread block 1, step 0: s has no peer: gpu ${sendPeer}`);
    }
    const verdict = said(allToAll(2), ({ blocks }) => {
      blocks[1].block = { ...blocks[1].block, recvPeer: 0 };
    });
    expect(messages(verdict)).toContain("gpu 0, thread block 1, step 1: r has no peer: gpu 0");
  });

  test("waits for what is never told", () => {
    const verdict = said(treeAllReduce(3, 1), ({ blocks }) => {
      blocks[0].instructions[0].publishes = false;
    });
    expect(messages(verdict)).toEqual([
      "gpu 0, thread block 1, step 0: rrc waits for gpu 0, thread block 0, step 0: rrc, but neither that step nor a later one of its block tells others",
    ]);
  });

  test("waits in a circle: every wait of it is named", () => {
    const verdict = said(treeAllReduce(3, 1), ({ blocks }) => {
      const [first, second] = [blocks[0].instructions[0], blocks[1].instructions[0]];
      first.waits.push({ kind: WAIT_INSTRUCTION, on: second });
    });
    expect(messages(verdict)).toEqual([
      "in a circle, gpu 0, thread block 0, step 0: rrc waits for gpu 0, thread block 1, step 0: rrc; gpu 0, thread block 1, step 0: rrc waits for gpu 0, thread block 0, step 0: rrc",
    ]);
    expect(verdict.facts.leastCapacity).toBeNull();
  });

  test("needs more room in a connection than there is", () => {
    const program = ringAllGatherEither(3, 3);
    expect(verifyProgram(program, { fifoSlots: 4 }).violations).toEqual([]);
    const { violations, facts } = verifyProgram(program, { fifoSlots: 1 });
    expect(facts.leastCapacity).toBe(4);
    expect(violations.map(({ message }) => message)).toEqual([
      "in a circle, gpu 0, thread block 0, step 0: s waits for room in the connection to gpu 1 on channel 0 (gpu 1, thread block 0); gpu 1, thread block 0, step 0: s waits for room in the connection to gpu 2 on channel 0 (gpu 2, thread block 0); gpu 2, thread block 0, step 0: s waits for room in the connection to gpu 0 on channel 0 (gpu 0, thread block 0); the program needs connections that hold 4 messages, where the runtime's hold 1",
    ]);
  });

  test.each([
    ["Simple", null, 2, 1],
    ["LL", null, 8, 1],
    ["LL128", 2 ** 20, 8, 4],
    ["Simple", 2 ** 20, 2, 16],
    ["Simple", 1024, 2, 71],
    ["Simple", 2 ** 40, 2, 1],
    ["LL", 0, 8, 1],
  ] as const)(
    "%s up to %o bytes has connections of %i messages of %i chunks",
    (protocol, maxBytes, capacity, chunks) => {
      const program = { ...ringAllGatherEither(4, 2), protocol, maxBytes };
      expect(verifyProgram(program).facts).toMatchObject({ capacity, messageChunks: chunks });
    },
  );

  test("uses chunks that its buffers do not have", () => {
    const verdict = said(ringAllGatherEither(3, 1), ({ blocks }) => {
      blocks[0].instructions[2].destinations[0] = { rank: 0, buffer: OUTPUT, index: 3 };
    });
    expect(messages(verdict)).toEqual([
      "gpu 0, thread block 0, step 2: r uses o[3] of gpu 0, but the file gives that buffer 3 chunks",
    ]);
    expect(verdict).toMatchObject({ violationCount: 1, modes: ["in place", "out of place"] });
  });

  test("has buffers larger than the collective's", () => {
    const verdict = verifyProgram({ ...allToAll(3), loopChunks: 3, inputChunks: new Int32Array(3).fill(9) });
    expect(verdict.violations).toEqual([]);
    const wide = said({ ...allToAll(3), inputChunks: new Int32Array(3).fill(9) }, ({ blocks }) => {
      blocks[0].instructions[0].sources[0] = { rank: 0, buffer: 0, index: 5 };
    });
    expect(messages(wide)).toEqual([
      "gpu 0, thread block 0, step 0: cpy uses i[5] of gpu 0, but that buffer of gpu 0 of 3 in alltoall out of place with 3 chunks has 3",
    ]);
  });

  test("uses the output of a rank that has none", () => {
    const verdict = verifyProgram({ ...direct("reduce", 3, 1), rootRank: 2 });
    expect(messages(verdict)).toContain(
      "gpu 1, thread block 0, step 0: cpy uses o[0..2) of gpu 1, but gpu 1 of 3 in reduce out of place with 2 chunks has no such buffer",
    );
  });

  test("uses memory of a gpu that there is not, or less than no chunks", () => {
    const nobody = said(allToAll(2), ({ blocks }) => {
      blocks[0].instructions[0].sources[0] = { rank: 7, buffer: 0, index: 0 };
    });
    expect(messages(nobody)).toEqual([
      "gpu 0, thread block 0, step 0: cpy uses i[0] of gpu 7, but there is no such gpu",
    ]);
    const negative = said(allToAll(2), ({ blocks }) => {
      blocks[0].instructions[0].chunks = -1;
    });
    expect(messages(negative)).toEqual(["gpu 0, thread block 0, step 0: cpy moves -1 chunks"]);
  });

  test("reads chunks that the same instruction writes for others", () => {
    const verdict = said(allPairsAllReduce(2, 2), ({ blocks }) => {
      blocks[1].instructions[0].sources[0] = { rank: 0, buffer: 0, index: 1 };
    });
    expect(messages(verdict)[0]).toBe(
      "gpu 0, thread block 1, step 0: re writes i[0..2) of gpu 0 and reads i[1..3) of gpu 0, which overlap",
    );
  });

  test("reads what was never written", () => {
    const verdict = said(allPairsAllReduce(2, 1), ({ blocks }) => {
      blocks[0].instructions[1].destinations[0] = { rank: 0, buffer: 0, index: 1 };
    });
    expect(messages(verdict)).toContain(
      "gpu 0, thread block 1, step 0: re reads s[0] of gpu 0, where nothing was written before",
    );
  });

  test("overwrites what another block still reads", () => {
    const verdict = said(allPairsAllReduce(3, 1), ({ blocks }) => {
      blocks[0].instructions[2].waits = [];
    });
    expect(messages(verdict)[0]).toBe(
      "gpu 0, thread block 2, step 1: re writes i[0] of gpu 0, which gpu 0, thread block 0, step 2: s reads: nothing says which comes first",
    );
    expect(verdict.violations[0].kind).toBe("race");
  });

  test("writes back chunks of a message before all of them were read", () => {
    const program = roundTrip(3, 3);
    const shifted = { ...program, inputChunks: new Int32Array(3).fill(4), loopChunks: 4 };
    const verdict = said(shifted, ({ blocks }) => {
      const back = blocks[1].instructions[0];
      back.destinations[0] = { rank: 0, buffer: 0, index: 1 };
    });
    expect(verdict.violations.map(({ kind }) => kind)).toContain("race");
    const later = said(shifted, ({ blocks }) => {
      blocks[0].instructions[0].sources[0] = { rank: 0, buffer: 0, index: 1 };
    });
    expect(later.violations.map(({ kind }) => kind)).not.toContain("race");
  });

  test("adds a contribution twice", () => {
    const verdict = said(allPairsAllReduce(3, 1), ({ blocks }) => {
      blocks[2].instructions[2].sources[1] = { rank: 0, buffer: SCRATCH, index: 0 };
    });
    expect(messages(verdict)[0]).toBe(
      "i[0] of gpu 0 is wrong in the end in place: gpu 0, thread block 2, step 2: re adds the contribution of gpu 1 to chunk 0 again",
    );
  });

  test("leaves a contribution out", () => {
    const verdict = said(allPairsAllReduce(3, 1), ({ blocks }) => {
      blocks[2].instructions[1].sources.splice(1, 1);
    });
    expect(messages(verdict)[0]).toBe(
      "i[0] of gpu 0 lacks the contribution of gpu 1 in the end in place, last written by gpu 0, thread block 2, step 2: re",
    );
  });

  test("adds chunks of different places", () => {
    const verdict = said(allPairsAllReduce(2, 1), ({ blocks }) => {
      blocks[0].instructions[0].sources[0] = { rank: 0, buffer: 0, index: 0 };
    });
    expect(messages(verdict)).toContain(
      "i[1] of gpu 1 is wrong in the end in place: gpu 1, thread block 1, step 0: re adds chunk 0 of the input to chunk 1",
    );
  });

  test("puts data of one rank in the place of another's, or none", () => {
    const swapped = said(allToAll(3), ({ blocks }) => {
      blocks[1].instructions[1].destinations[0] = { rank: 0, buffer: OUTPUT, index: 2 };
      blocks[2].instructions[1].destinations[0] = { rank: 0, buffer: OUTPUT, index: 1 };
    });
    expect(messages(swapped)).toEqual([
      "o[1] of gpu 0 holds the data of gpu 2 in the end out of place, not that of gpu 1, last written by gpu 0, thread block 2, step 1: r",
      "o[2] of gpu 0 holds the data of gpu 1 in the end out of place, not that of gpu 2, last written by gpu 0, thread block 1, step 1: r",
    ]);
    const dropped = said(allToAll(3), ({ blocks }) => blocks[0].instructions.splice(0, 1));
    expect(messages(dropped)).toEqual(["o[0] of gpu 0 holds nothing in the end out of place, not chunk 0 of gpu 0"]);
  });

  test("of MSCCL++, posts before its data is there", () => {
    const verdict = said(readReduceSend(2), ({ blocks }) => blocks[0].instructions.splice(5, 1));
    expect(verdict.violations.map(({ kind }) => kind)).toEqual([]);
    const early = said(semaphoreAllGather(2), ({ blocks }) => blocks[0].instructions.splice(1, 1));
    expect(messages(early)).toEqual([
      "gpu 0, thread block 1, step 2: pws reads s[0] of gpu 0, which gpu 0, thread block 0, step 0: copy writes: nothing says which comes first",
    ]);
  });

  test("of MSCCL++, does not let its threads meet after a wait", () => {
    const verdict = said(semaphoreAllGather(2), ({ blocks }) => blocks[1].instructions.splice(1, 1));
    expect(verdict.violations.map(({ kind }) => kind)).toEqual(["race"]);
  });

  test("of MSCCL++, signals more often than it waits, or less", () => {
    const verdict = said(readReduceSend(2), ({ blocks }) => blocks[0].instructions[2].waits.splice(0, 1));
    expect(messages(verdict)).toEqual([
      "channel 0 from gpu 1 to gpu 0 is posted 2 times and waited for 1 times; gpu 1, thread block 0, step 6: signal is the last of them",
    ]);
    const fewer = said(semaphoreAllGather(2), ({ blocks }) => {
      blocks[0].instructions[2].posts = [];
    });
    expect(messages(fewer)).toEqual([
      "semaphore 0 of gpu 0 is posted 0 times and waited for 1 times; gpu 0, thread block 1, step 0: sem_acquire is the last of them",
    ]);
  });

  test("of MSCCL++, misses a block at a barrier", () => {
    const verdict = said(barrierReduce(3), ({ blocks }) => {
      blocks[2].instructions = blocks[2].instructions.filter(({ op }) => op !== "barrier");
    });
    expect(messages(verdict)).toEqual(["barrier 0 of gpu 0 is for 3 thread blocks, but 2 come to it"]);
    const once = said(barrierReduce(3), ({ blocks }) => blocks[2].instructions.splice(2, 1));
    expect(messages(once)[0]).toMatch(/^for ever, .* waits for barrier 0$/);
  });

  test("of MSCCL++, confuses packets", () => {
    const twice = said(packetAllReduceInPlace(2, 1), ({ blocks }) => {
      blocks[1].instructions[0].destinations.push({ rank: 0, buffer: SCRATCH, index: 1, packet: true });
    });
    expect(messages(twice)[0]).toMatch(
      /writes packets to s\[1\] of gpu 0, as .* does: a reader cannot tell them apart$/,
    );
    const plain = said(packetAllReduceInPlace(2, 1), ({ blocks }) => {
      blocks[0].instructions[2].sources[0] = { rank: 0, buffer: SCRATCH, index: 1 };
    });
    expect(plain.violations.map(({ kind }) => kind)).toContain("race");
    const moved = said(packetsThroughPort(), ({ blocks }) => {
      blocks[0].instructions[2].sources[0] = { rank: 0, buffer: 0, index: 0 };
    });
    expect(messages(moved)).toEqual([
      "gpu 0, thread block 0, step 2: ppkt reads i[0] of gpu 0 as packets, but it holds plain data",
    ]);
    const missing = said(packetAllReduceInPlace(2, 1), ({ blocks }) => {
      blocks[1].instructions[0].destinations[0] = { rank: 0, buffer: SCRATCH, index: 0 };
    });
    expect(messages(missing).join()).toMatch(/waits for packets that are not written/);
  });
});
