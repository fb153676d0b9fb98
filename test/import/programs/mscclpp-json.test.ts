import { describe, expect, it } from "vitest";
import { looksLikeMscclppJson, programFromPlan, readMscclppJson } from "../../../src/import/programs/mscclpp-json.ts";
import { parseJson } from "../../../src/import/text/json.ts";
import { blockCount, instructionCount, OPS } from "../../../src/model/program/program.ts";
import { unexpected } from "../../support/refusals.ts";
import { hasSharedData, sharedFiles, sharedText } from "../../support/shared-data.ts";
import {
  allGather,
  BY_MEMORY,
  behindSwitch,
  block,
  gpu,
  local,
  memory,
  move,
  nop,
  OWN_PLANS,
  type Plan,
  peerBuffer,
  pipelinedCopy,
  plan,
  portAllGather,
  remote,
  sharedCopy,
  switchAllReduce,
  toPeers,
  wordsOf,
} from "../mscclpp-json-plans.ts";

const read = (value: Plan) => readMscclppJson(JSON.stringify(value), "p.json");

/** Two gpus; gpu 0 has one block with these operations, three memory channels to gpu 1 and its three buffers. */
const withOperations = (...ops: unknown[]): Plan =>
  plan([
    gpu(0, [4, 4, 4], [block(0, ops, [0, 1, 2], [0, 1, 2])], {
      channels: [toPeers(1, 1, 1)],
      remote_buffers: [peerBuffer(1, "i"), peerBuffer(1, "o"), peerBuffer(1, "s")],
    }),
    gpu(1, [4, 4, 4], [], { channels: [toPeers(0, 0, 0)] }),
  ]);
const wordsOfOperations = (...ops: unknown[]): string[] => wordsOf(read(withOperations(...ops)), 0);

describe("readMscclppJson", () => {
  it("reads header, buffers, blocks and instructions of an all-gather", () => {
    const program = read({ ...allGather(), min_message_size: 32, max_message_size: 1024 });
    expect(program).toMatchObject({
      name: "a plan",
      machine: "mscclpp",
      collective: "allgather",
      rankCount: 2,
      protocol: "Simple",
      inPlace: true,
      outOfPlace: false,
      minBytes: 32,
      maxBytes: 1024,
      loopChunks: 2,
      finer: 1,
      channelCount: 1,
    });
    expect([...program.inputChunks, ...program.outputChunks, ...program.scratchChunks]).toEqual([1, 1, 2, 2, 0, 0]);
    expect(blockCount(program)).toBe(2);
    expect(wordsOf(program, 1)).toEqual([
      "rlxsignal by memory posts 1>0#0 memory",
      "rlxwait by memory waits 0>1#0 memory",
      "nop",
      "put by memory 1.o[1+1] -> 0.o[1+1]",
      "nop",
      "signal by memory posts 1>0#0 memory",
      "wait by memory waits 0>1#0 memory",
      "nop",
    ]);
    expect([...program.step.subarray(0, 8)]).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it("takes no bound on sizes from absent keys and from the greatest 64-bit number", () => {
    expect(read(allGather())).toMatchObject({ minBytes: null, maxBytes: null });
    const text = JSON.stringify({ ...allGather(), min_message_size: 0, max_message_size: 1 });
    const greatest = text.replace('"max_message_size":1', '"max_message_size":18446744073709551615');
    expect(readMscclppJson(greatest, "p.json")).toMatchObject({ minBytes: 0, maxBytes: null });
  });

  it("counts the chunks of what nccl-tests calls the size", () => {
    const chunks = (collective: string, input: number, output: number): number =>
      read(
        plan(
          [0, 1].map((id) => gpu(id, [input, output, 0], [])),
          { collective },
        ),
      ).loopChunks;
    expect(chunks("allgather", 3, 6)).toBe(6);
    expect(chunks("allgather", 3, 0)).toBe(6);
    expect(chunks("reducescatter", 6, 3)).toBe(6);
    expect(chunks("reducescatter", 0, 3)).toBe(6);
    expect(chunks("allreduce", 4, 0)).toBe(4);
    expect(chunks("alltoall", 4, 4)).toBe(4);
    expect(chunks("gather", 1, 2)).toBe(2);
    expect(chunks("scatter", 2, 1)).toBe(2);
    expect(chunks("sendrecv", 0, 5)).toBe(5);
  });

  it("takes collectives without a definition of ours as custom", () => {
    expect(read(plan([gpu(0, [1, 1, 0], [])], { collective: "sendrecv" })).collective).toBe("custom");
  });

  it("pairs the k-th channel to a peer with the peer's k-th channel back, whatever lies between", () => {
    const signals = [memory("signal", 0), memory("wait", 0), memory("signal", 1), memory("signal", 2)];
    const program = read(
      plan([
        gpu(0, [1, 1, 0], [block(0, signals, [3, 1, 0])], { channels: [toPeers(1, 2), toPeers(1, 1)] }),
        gpu(1, [1, 1, 0], [block(0, [memory("wait", 0)], [2])], { channels: [toPeers(0, 0, 0)] }),
        gpu(2, [1, 1, 0], []),
      ]),
    );
    expect(wordsOf(program, 0)).toEqual([
      "signal by memory posts 0>1#2 memory",
      "wait by memory waits 1>0#2 memory",
      "signal by memory posts 0>2#0 memory",
      "signal by memory posts 0>1#0 memory",
    ]);
    expect(wordsOf(program, 1)).toEqual(["wait by memory waits 0>1#2 memory"]);
    expect(program.channelCount).toBe(3);
  });

  it("makes one post or wait for each of several channels", () => {
    expect(wordsOfOperations(memory("signal", 0, 2), memory("wait", 2, 1))).toEqual([
      "signal by memory posts 0>1#0 memory, 0>1#2 memory",
      "wait by memory waits 1>0#2 memory, 1>0#1 memory",
    ]);
  });

  it("makes an instruction of one step for each pair of a put", () => {
    const program = read(
      withOperations(
        nop,
        move("put", [local("i", 0), local("i", 2, 2)], [remote(1, 3), remote(2, 0, 2)], BY_MEMORY),
        nop,
      ),
    );
    expect(wordsOf(program, 0)).toEqual([
      "nop",
      "put by memory 0.i[0+1] -> 1.o[3+1]",
      "put by memory 0.i[2+2] -> 1.s[0+2]",
      "nop",
    ]);
    expect([...program.step]).toEqual([0, 1, 1, 2]);
  });

  it("posts after each put over a port, whose channels say where it goes", () => {
    const program = read(portAllGather());
    expect(wordsOf(program, 2)).toEqual([
      "signal by port posts 1>0#0 port",
      "wait by port waits 0>1#0 port",
      "nop",
      "pws by port 1.i[0+1] -> 0.o[1+1] posts 1>0#0 port",
      "flush by port",
      "wait by port waits 0>1#0 port",
      "nop",
      "sem_acquire waits 1>1#0 local",
    ]);
    expect(wordsOf(program, 3)).toEqual(["copy 1.i[0+1] -> 1.o[1+1]", "nop", "sem_release posts 1>1#0 local"]);
  });

  it("reads every kind of copy and reduction", () => {
    const [i0, s1, o2] = [local("i", 0), local("s", 1), local("o", 2)];
    const cases: [unknown, string][] = [
      [move("get", [remote(0, 3)], [s1], BY_MEMORY), "get by memory 1.i[3+1] -> 0.s[1+1]"],
      [move("copy", [i0], [s1]), "copy 0.i[0+1] -> 0.s[1+1]"],
      [move("re", [i0, s1, o2], [o2]), "re 0.i[0+1] + 0.s[1+1] + 0.o[2+1] -> 0.o[2+1]"],
      [move("rre", [i0, remote(2, 1)], [o2], BY_MEMORY), "rre by memory 0.i[0+1] + 1.s[1+1] -> 0.o[2+1]"],
      [move("res", [i0, s1], [o2, remote(1, 2)], BY_MEMORY), "res by memory 0.i[0+1] + 0.s[1+1] -> 0.o[2+1], 1.o[2+1]"],
      [
        move("rres", [i0, remote(0, 0)], [i0, remote(0, 0)], BY_MEMORY),
        "rres by memory 0.i[0+1] + 1.i[0+1] -> 0.i[0+1], 1.i[0+1]",
      ],
      [move("cpkt", [i0], [s1]), "cpkt 0.i[0+1] -> 0.s[1+1]p"],
      [move("upkt", [s1], [o2]), "upkt 0.s[1+1]p -> 0.o[2+1]"],
      [move("ppkt", [i0], [remote(2, 1)], BY_MEMORY), "ppkt by memory 0.i[0+1] -> 1.s[1+1]p"],
      [
        move("rppkt", [s1], [remote(2, 1), remote(2, 2)], BY_MEMORY),
        "rppkt by memory 0.s[1+1]p -> 1.s[1+1]p, 1.s[2+1]p",
      ],
      [move("repkt", [i0, s1], [o2]), "repkt 0.i[0+1] + 0.s[1+1]p -> 0.o[2+1]"],
      [
        move("respkt", [i0, s1], [i0, remote(2, 3)], BY_MEMORY),
        "respkt by memory 0.i[0+1] + 0.s[1+1]p -> 0.i[0+1], 1.s[3+1]p",
      ],
      [move("recpkt", [i0, s1], [o2, s1]), "recpkt 0.i[0+1] + 0.s[1+1]p -> 0.o[2+1], 0.s[1+1]p"],
      [
        move("recspkt", [i0, s1], [i0, local("s", 2), remote(2, 3)], BY_MEMORY),
        "recspkt by memory 0.i[0+1] + 0.s[1+1]p -> 0.i[0+1], 0.s[2+1]p, 1.s[3+1]p",
      ],
    ];
    for (const [operation, words] of cases) expect(wordsOfOperations(operation)).toEqual([words]);
  });

  it("sends packets on over a port as they lie there, without waiting for their flags", () => {
    const value = portAllGather();
    for (const { threadblocks } of value.gpus) threadblocks[0].ops[3].name = "ppkt";
    expect(wordsOf(read(value), 0)).toContain("ppkt by port 0.i[0+1] -> 1.o[0+1]p");
  });

  it("reads and writes all ranks of a group through a switch, and meets at barriers", () => {
    const program = read(switchAllReduce(3));
    expect(wordsOf(program, 3)).toEqual([
      "barrier waits barrier 0",
      "glres by switch 0.i[1+1] + 1.i[1+1] + 2.i[1+1] -> 0.i[1+1], 1.i[1+1], 2.i[1+1]",
      "barrier waits barrier 0",
    ]);
    expect([...program.barrierRank]).toEqual([0, 1, 2]);
    expect([...program.barrierBlocks]).toEqual([2, 2, 2]);
    for (const name of ["gstore", "gstorepkt"]) {
      const value = switchAllReduce();
      const source = { ...local("i", 0), rank: 1 };
      value.gpus[1].threadblocks[1].ops[1] = move(name, [source], [behindSwitch(0, 0)], { channel_type: "switch" });
      const packet = name === "gstore" ? "" : "p";
      expect(wordsOf(read(value), 3)[1]).toBe(`${name} by switch 1.i[0+1] -> 0.i[0+1]${packet}, 1.i[0+1]${packet}`);
    }
  });

  it("takes the buffer of a switch channel from the key `buff` of older files", () => {
    const value = switchAllReduce();
    for (const { channels } of value.gpus) {
      channels[1].buff = channels[1].buffer_type;
      delete channels[1].buffer_type;
    }
    expect(read(value)).toEqual(read(switchAllReduce()));
  });

  it("starts semaphores at their count", () => {
    const program = read(pipelinedCopy(1024, 1, 5));
    expect([...program.eventInitial]).toEqual([5, 0]);
    expect([...program.eventId]).toEqual([0, 1]);
  });

  it("knows the lines of blocks and operations where the text has lines", () => {
    const value = switchAllReduce();
    const program = readMscclppJson(JSON.stringify(value, null, 1), "p.json");
    const lines = JSON.stringify(value, null, 1).split("\n");
    for (let i = 0; i < instructionCount(program); i++) {
      expect(lines[program.line[i]]).toContain(`"name": "${OPS[program.op[i]]}"`);
    }
    for (let b = 0; b < blockCount(program); b++) {
      expect(lines[program.blockLine[b]]).toContain(`"id": ${program.blockId[b]}`);
    }
    expect(new Set(read(value).line)).toEqual(new Set([0]));
    expect(programFromPlan(value, "p.json")).toEqual(read(value));
  });
});

describe("thread blocks that share an operation", () => {
  it("cut chunks as fine as their parts need and do one part each", () => {
    const program = read(sharedCopy(3, 2));
    expect(program).toMatchObject({ finer: 3, loopChunks: 6 });
    expect([0, 1, 2].flatMap((b) => wordsOf(program, b))).toEqual([
      "copy 0.i[0+2] -> 0.s[0+2]",
      "copy 0.i[2+2] -> 0.s[2+2]",
      "copy 0.i[4+2] -> 0.s[4+2]",
    ]);
  });

  it("leave chunks whole that they can deal out", () => {
    expect(read(sharedCopy(2, 4)).finer).toBe(1);
    expect(read(sharedCopy(4, 6)).finer).toBe(2);
  });
});

describe("pipelines", () => {
  it("run twice for a chunk, each time for the next half", () => {
    const program = read(pipelinedCopy(1024, 1, 2));
    expect(program.finer).toBe(2);
    expect(wordsOf(program, 0)).toEqual([
      "sem_acquire waits 0>0#0 local",
      "nop",
      "copy 0.i[0+1] -> 0.s[0+1]",
      "nop",
      "sem_release posts 0>0#1 local",
      "sem_acquire waits 0>0#0 local",
      "nop",
      "copy 0.i[1+1] -> 0.s[1+1]",
      "nop",
      "sem_release posts 0>0#1 local",
    ]);
    expect([...program.step.subarray(0, 10)]).toEqual([1, 2, 3, 4, 5, 1, 2, 3, 4, 5]);
  });

  it("use scratch again from its start where resources are reused", () => {
    // 2 scratch chunks of 32 MiB each have room for 2 units.
    const program = read(pipelinedCopy(2 ** 24, 2, 2, { reuse_resources: true }));
    expect(program.finer).toBe(3);
    const copies = wordsOf(program, 0).filter((words) => words.startsWith("copy"));
    expect(copies).toEqual([0, 1, 2, 3, 4, 5].map((i) => `copy 0.i[${i}+1] -> 0.s[${i % 2}+1]`));
  });

  it("do not use scratch again where that would take too many iterations, or units do not divide it", () => {
    for (const unit of [16, 3000]) {
      expect(read(pipelinedCopy(unit, 1, 2, { reuse_resources: true })).finer).toBe(2);
    }
  });

  it("of different units take a chunk that all of them divide", () => {
    const value = pipelinedCopy(1000, 1, 2);
    value.gpus[0].threadblocks[1].ops[0].iter_context.unit_size = 1500;
    const program = read(value);
    expect(program.finer).toBe(12);
    const copies = (b: number) => wordsOf(program, b).filter((words) => words.startsWith("copy"));
    expect(copies(0)).toEqual([0, 2, 4, 6, 8, 10].map((at) => `copy 0.i[${at}+2] -> 0.s[${at}+2]`));
    expect(copies(1)).toEqual([0, 3, 6, 9].map((at) => `copy 0.s[${at}+3] -> 0.o[${at}+3]`));
  });

  it("move nothing once an operand ends, and packets whole every time", () => {
    const value = pipelinedCopy(1024, 2, 2);
    const { ops } = value.gpus[0].threadblocks[0].ops[0];
    ops[2] = move("copy", [local("i", 0)], [local("s", 0)]);
    ops[3] = move("cpkt", [local("i", 0)], [local("s", 1)]);
    const words = wordsOf(read(value), 0).filter((text) => /^c/.test(text));
    expect(words).toEqual([
      ...["copy 0.i[0+1] -> 0.s[0+1]", "cpkt 0.i[0+2] -> 0.s[2+2]p", "copy 0.i[1+1] -> 0.s[1+1]"],
      ...["cpkt 0.i[0+2] -> 0.s[2+2]p", "copy", "cpkt 0.i[0+2] -> 0.s[2+2]p"],
      ...["copy 0.i[3+1] -> 0.s[3+1]", "cpkt 0.i[0+2] -> 0.s[2+2]p"],
    ]);
  });
});

describe("looksLikeMscclppJson", () => {
  it("knows plans of any age from other JSON", () => {
    for (const make of Object.values(OWN_PLANS)) expect(looksLikeMscclppJson(make())).toBe(true);
    for (const value of [null, [], {}, { gpus: 3 }, { gpus: [null, {}] }])
      expect(looksLikeMscclppJson(value)).toBe(false);
  });
});

/** File: ranks, blocks, instructions, operands, events, barriers, finer, chunks of the size. */
const REAL: Readonly<Record<string, readonly number[]>> = {
  "allgather_2.json": [2, 2, 20, 4, 2, 0, 1, 2],
  "allgather_nvls_zero_copy_8.json": [8, 64, 704, 576, 448, 0, 1, 64],
  "allreduce_8.json": [8, 64, 704, 1024, 448, 0, 1, 64],
  "allreduce_pkt_8.json": [8, 64, 176, 1248, 56, 0, 1, 64],
  "alltoall_8.json": [8, 112, 1232, 448, 112, 0, 1, 16],
  "default_allreduce_multinode_2x4.json": [8, 32, 160, 400, 32, 8, 3, 24],
  "mn_allgather_2x4.json": [8, 8, 192, 112, 32, 0, 1, 8],
  "mn_reducescatter_2x4.json": [8, 8, 168, 120, 32, 0, 1, 8],
  "test-allreduce.json": [2, 16, 112, 64, 16, 0, 1, 16],
  "test-allreduce_pipeline.json": [4, 12, 3564, 3168, 36, 0, 33, 132],
  "test-reduce_nvls.json": [2, 2, 22, 8, 2, 0, 1, 2],
  "test-reduce_pack.json": [2, 6, 6, 17, 2, 0, 1, 2],
  "test-reduce_tbg.json": [2, 4, 62, 42, 4, 0, 2, 8],
};

describe.skipIf(!hasSharedData)("real plans", () => {
  it("are all read but the legacy one", () => {
    const names = sharedFiles("mscclpp-json/").filter((name) => !name.startsWith("legacy"));
    const facts = names.map((name) => {
      const text = sharedText(`mscclpp-json/${name}`);
      expect(looksLikeMscclppJson(parseJson(text, name))).toBe(true);
      const program = readMscclppJson(text, name);
      const counts = [program.rankCount, blockCount(program), instructionCount(program), program.operandRank.length];
      const others = [program.eventRank.length, program.barrierRank.length, program.finer, program.loopChunks];
      return [name, [...counts, ...others]];
    });
    expect(Object.fromEntries(facts)).toEqual(REAL);
  });

  it("of the format until 0.7 are refused with the reason and what to do", () => {
    const text = sharedText("mscclpp-json/legacy-allreduce.json");
    expect(looksLikeMscclppJson(parseJson(text, "l.json"))).toBe(true);
    expect(() => readMscclppJson(text, "l.json")).toThrow(
      unexpected("l.json: gpus[0]", "inputChunks, as the format had it until 0.7"),
    );
  });
});
