import { describe, expect, it } from "vitest";
import { readMscclppJson } from "../../../src/import/programs/mscclpp-json.ts";
import { INPUT, OUTPUT, type Program, SCRATCH, WAIT_BARRIER, WAIT_EVENT } from "../../../src/model/program/program.ts";
import { type Instruction, type ProgramHeader, programBuilder } from "../../../src/model/program/program-builder.ts";
import { MSCCLPP_RUNTIME } from "../../../src/model/program/runtimes.ts";
import { planLimitViolations } from "../../../src/verify/runtime/plan-limits.ts";
import { programHeader } from "../../support/program-header.ts";
import { hasSharedData, sharedFiles, sharedText } from "../../support/shared-data.ts";

const { opsPerBlock, channelsPerOp, operandsPerSide, blocksPerGpu, barriersPerGpu, semaphoresPerGpu } = MSCCLPP_RUNTIME;

const at = (rank: number, buffer: number, index = 0, packet = false) => ({ rank, buffer, index, packet });
const list = <Item>(count: number, item: (k: number) => Item): Item[] =>
  Array.from({ length: count }, (_, k) => item(k));

interface Case {
  readonly header?: Partial<ProgramHeader>;
  readonly ranks?: number;
  /** Instructions of the blocks of rank 0. */
  readonly blocks?: readonly (readonly Instruction[])[];
  readonly chunks?: readonly [number, number];
  /** Channels from rank 0 to 1 by memory and by port, semaphores and barriers of rank 0. */
  readonly memory?: number;
  readonly port?: number;
  readonly semaphores?: number;
  readonly barriers?: number;
}

/**
 * Returns a program whose events are, in this order: of each memory channel, then of each port channel, the one on which rank 0
 * waits and the one on which rank 1 does; then semaphores.
 */
function programOf({ header, ranks = 2, blocks = [], chunks = [2, 2], ...counts }: Case): Program {
  const { memory = 0, port = 0, semaphores = 0, barriers = 0 } = counts;
  const builder = programBuilder();
  for (const [via, count] of [
    ["memory", memory],
    ["port", port],
  ] as const) {
    for (let id = 0; id < count; id++) {
      builder.addEvent({ rank: 0, peer: 1, id, via });
      builder.addEvent({ rank: 1, peer: 0, id, via });
    }
  }
  for (let id = 0; id < semaphores; id++) builder.addEvent({ rank: 0, peer: 0, id, via: "local" });
  for (let id = 0; id < barriers; id++) builder.addBarrier({ rank: 0, id, blocks: 1 });
  for (let rank = 0; rank < ranks; rank++) {
    builder.addRank();
    if (rank > 0) continue;
    blocks.forEach((instructions, id) => {
      builder.addBlock({ id, line: id + 1 });
      for (const instruction of instructions) builder.add(instruction);
    });
  }
  const scratchChunks = new Int32Array(ranks).fill(2);
  const outputChunks = new Int32Array(ranks).fill(chunks[1]);
  const more = { name: "p", outputChunks, scratchChunks, channelCount: memory + port, ...header };
  return builder.build(programHeader("mscclpp", "allreduce", ranks, chunks[0], more));
}

const LL = { header: { protocol: "LL" } } as const;
const event = (on: number) => ({ kind: WAIT_EVENT, on });
const wait = (count: number, from = 0): Instruction => ({
  op: "wait",
  via: "memory",
  waits: list(count, (k) => event(2 * (from + k))),
});
const put = (via: "memory" | "port", buffer: number, step: number): Instruction => ({
  op: "put",
  via,
  step,
  chunks: 1,
  sources: [at(0, buffer)],
  destinations: [at(1, OUTPUT)],
});
const reduce = (sources: number): Instruction => ({
  op: "re",
  chunks: 1,
  sources: list(sources, () => at(0, INPUT)),
  destinations: [at(0, INPUT)],
});
const throughSwitch = (ranks: number): Instruction => ({
  op: "glres",
  via: "switch",
  chunks: 1,
  sources: list(ranks, (rank) => at(rank, INPUT)),
  destinations: list(ranks, (rank) => at(rank, INPUT)),
});

/** Rule, a program at its edge, a program beyond, the sentence. */
const RULES: readonly (readonly [string, Case, Case, string])[] = [
  [
    "thread blocks",
    { blocks: list(blocksPerGpu, () => []) },
    { blocks: list(blocksPerGpu + 1, () => []) },
    "gpu 0 has 109 thread blocks, 108 at most can wait for each other",
  ],
  [
    "operations",
    { blocks: [list(opsPerBlock, () => ({ op: "nop" }) as const)] },
    { blocks: [list(opsPerBlock + 1, () => ({ op: "nop" }) as const)] },
    "gpu 0, thread block 0 (line 1) has 65 operations, 64 are the most",
  ],
  [
    "operation",
    { blocks: [[throughSwitch(2)]] },
    { blocks: [[{ op: "nop" }, { op: "gstorepkt", line: 9 }]] },
    "gpu 0, thread block 0, step 1 (line 9): the executor of MSCCL++ has no operation gstorepkt",
  ],
  [
    "memory channels",
    { memory: 16, blocks: [[wait(8), wait(8, 8)]] },
    { memory: 17, blocks: [[wait(8), wait(8, 8), wait(1, 16)]] },
    "gpu 0, thread block 0 (line 1) uses 17 memory channels, 16 are the most",
  ],
  [
    "port channels",
    { port: 16, blocks: [list(16, (k) => ({ op: "signal", via: "port", posts: [2 * k + 1] }) as const)] },
    { port: 17, blocks: [list(17, (k) => ({ op: "signal", via: "port", posts: [2 * k + 1] }) as const)] },
    "gpu 0, thread block 0 (line 1) uses 17 port channels, 16 are the most",
  ],
  [
    "remote buffers by memory",
    {
      ranks: 17,
      blocks: [list(16, (k): Instruction => ({ ...put("memory", INPUT, k), destinations: [at(k + 1, OUTPUT)] }))],
    },
    {
      ranks: 18,
      blocks: [list(17, (k): Instruction => ({ ...put("memory", INPUT, k), destinations: [at(k + 1, OUTPUT)] }))],
    },
    "gpu 0, thread block 0 (line 1) uses 17 remote buffers by memory, 16 are the most",
  ],
  [
    "switch channels",
    { ranks: 20, blocks: [list(16, (k) => throughSwitch(k + 2))] },
    { ranks: 20, blocks: [list(17, (k) => throughSwitch(k + 2))] },
    "gpu 0, thread block 0 (line 1) uses 17 switch channels, 16 are the most",
  ],
  [
    "channels of an operation",
    { memory: 16, blocks: [[wait(channelsPerOp)]] },
    { memory: 16, blocks: [[wait(channelsPerOp + 1)]] },
    "gpu 0, thread block 0, step 0: wait has 9 channels, 8 are the most",
  ],
  [
    "semaphores of an operation",
    { semaphores: 16, blocks: [[{ op: "sem_acquire", waits: list(16, event) }]] },
    { semaphores: 16, blocks: [[{ op: "sem_acquire", waits: list(17, (k) => event(k % 16)) }]] },
    "gpu 0, thread block 0, step 0: sem_acquire has 17 semaphores, 16 are the most",
  ],
  [
    "operands",
    { blocks: [[reduce(operandsPerSide)]] },
    { blocks: [[reduce(operandsPerSide + 1)]] },
    "gpu 0, thread block 0, step 0: re has 11 sources, 10 are the most",
  ],
  [
    "operands",
    { ranks: 20, blocks: [[throughSwitch(20)]] },
    { blocks: [list(11, () => put("memory", INPUT, 3))] },
    "gpu 0, thread block 0, step 3: put has 11 sources, 10 are the most",
  ],
  [
    "operands",
    { blocks: [list(8, () => put("port", INPUT, 0))] },
    { blocks: [list(9, () => put("port", INPUT, 0))] },
    "gpu 0, thread block 0, step 0: put has 9 destinations, 8 are the most",
  ],
  [
    "barriers",
    { barriers: barriersPerGpu, blocks: [[{ op: "barrier", waits: [{ kind: WAIT_BARRIER, on: 15 }] }]] },
    { barriers: barriersPerGpu + 1 },
    "gpu 0 has a barrier 16, 15 is the last",
  ],
  [
    "semaphores",
    { semaphores: semaphoresPerGpu },
    { semaphores: semaphoresPerGpu + 1 },
    "gpu 0 has a semaphore 16, MSCCL++ promises 16",
  ],
  [
    "get",
    {
      blocks: [
        [{ op: "get", via: "memory", chunks: 1, sources: [at(1, OUTPUT, 1)], destinations: [at(0, OUTPUT, 1)] }],
      ],
    },
    {
      blocks: [
        [{ op: "get", via: "memory", chunks: 1, sources: [at(1, OUTPUT, 1)], destinations: [at(0, OUTPUT, 0)] }],
      ],
    },
    "gpu 0, thread block 0, step 0: get from chunk 1 to chunk 0, but the executor swaps the two offsets",
  ],
  [
    "put",
    { blocks: [[put("memory", INPUT, 0), put("memory", OUTPUT, 1), put("port", INPUT, 2), put("port", SCRATCH, 2)]] },
    { blocks: [[put("memory", INPUT, 0), put("memory", OUTPUT, 0)]] },
    "gpu 0, thread block 0, step 0: sources of different buffers, but the executor takes all from that of the first",
  ],
  [
    "receipt",
    { port: 1, blocks: [[put("port", INPUT, 0), wait(1)]] },
    { port: 1, blocks: [[wait(1), put("port", INPUT, 1)]] },
    "gpu 0, thread block 0, step 1: nothing waits until gpu 1 has what is put: it may be overwritten once the call is over",
  ],
  [
    "receipt",
    { blocks: [[put("port", INPUT, 0), { op: "barrier", step: 1 }]] },
    { blocks: [[{ op: "barrier", step: 0 }, put("port", INPUT, 1)]] },
    "gpu 0, thread block 0, step 1: nothing waits until gpu 1 has what is put: it may be overwritten once the call is over",
  ],
  [
    "pwsf",
    { blocks: [[{ ...put("port", INPUT, 0), op: "pws" }]] },
    { blocks: [[{ ...put("port", INPUT, 0), op: "pwsf" }]] },
    "gpu 0, thread block 0, step 0: pwsf reads from a wrong offset in MSCCL++ up to 0.9, whose executor passes an address in its place; pws does not",
  ],
  [
    "packets",
    { ...LL, blocks: [[{ op: "upkt", chunks: 1, sources: [at(0, SCRATCH, 0, true)], destinations: [at(0, OUTPUT)] }]] },
    { ...LL, blocks: [[{ op: "cpkt", chunks: 1, sources: [at(0, INPUT)], destinations: [at(0, OUTPUT, 0, true)] }]] },
    "gpu 0, thread block 0, step 0: packets are in scratch only, not in another buffer",
  ],
  [
    "packets",
    { blocks: [[{ op: "copy", chunks: 1, sources: [at(0, INPUT)], destinations: [at(0, SCRATCH)] }]] },
    { blocks: [[{ op: "cpkt", chunks: 1, sources: [at(0, INPUT)], destinations: [at(0, SCRATCH, 0, true)] }]] },
    "gpu 0, thread block 0, step 0: packets need protocol LL, for which scratch is twice as large",
  ],
  [
    "packets",
    {
      ...LL,
      blocks: [
        [
          { op: "cpkt", chunks: 1, sources: [at(0, INPUT)], destinations: [at(0, SCRATCH, 0, true)] },
          { op: "ppkt", via: "port", chunks: 1, sources: [at(0, SCRATCH)], destinations: [at(1, SCRATCH, 0, true)] },
        ],
      ],
    },
    {
      ...LL,
      blocks: [
        [
          { op: "cpkt", chunks: 1, sources: [at(0, INPUT)], destinations: [at(0, SCRATCH, 0, true)] },
          { op: "copy", chunks: 1, sources: [at(0, SCRATCH, 1)], destinations: [at(0, INPUT)] },
        ],
      ],
    },
    "gpu 0, thread block 0, step 1: plain data in scratch of gpu 0, whose packets begin at twice their offset and overlap it",
  ],
  ["chunks", { chunks: [2, 2] }, { chunks: [2, 0] }, "gpu 0 has no output chunks, by which MSCCL++ divides"],
  [
    "chunks",
    { header: { collective: "allgather" }, chunks: [1, 2] },
    { header: { collective: "allgather" }, chunks: [2, 2] },
    "gpu 0 has 2 output chunks to 2 input chunks, where allgather needs 2 to 1",
  ],
  [
    "chunks",
    { header: { collective: "reducescatter" }, chunks: [2, 1] },
    { header: { collective: "alltoall" }, chunks: [2, 1] },
    "gpu 0 has 1 output chunks to 2 input chunks, where alltoall needs as many",
  ],
  [
    "chunks",
    { header: { collective: "gather", inputChunks: Int32Array.of(1, 2), outputChunks: Int32Array.of(1, 2) } },
    { header: { inputChunks: Int32Array.of(1, 2), outputChunks: Int32Array.of(1, 2) } },
    "gpu 1 cuts its input into 2 chunks, but gpu 0 into 1",
  ],
  [
    "sizes",
    { header: { minBytes: 33, maxBytes: 64 } },
    { header: { minBytes: 33, maxBytes: 63 } },
    "no size of 33 to 63 bytes within 4 GiB is a multiple of 32, 16 for each of 2 chunks",
  ],
  [
    "sizes",
    { header: { maxBytes: 2 ** 32 } },
    { header: { maxBytes: 2 ** 32 + 32 } },
    "it is offered for calls of more than 4 GiB, where 32-bit offsets begin again at 0: max_message_size",
  ],
  [
    "sizes",
    { header: { minBytes: 2 ** 32 } },
    { header: { minBytes: 2 ** 32 + 1 } },
    "no size of 4294967297 to any bytes within 4 GiB is a multiple of 32, 16 for each of 2 chunks",
  ],
  [
    "collective",
    { header: { collective: "scatter" } },
    { header: { collective: "custom" } },
    "no NCCL call selects a plan of a collective of its own: a caller must name the plan",
  ],
  [
    "machine",
    {},
    { header: { machine: "msccl" } },
    "the program is for thread blocks with FIFOs (MSCCL), which MSCCL++ does not have",
  ],
];
const WARNINGS = new Set(["pwsf", "semaphores", "collective", "receipt"]);
/** What is offered for more than offsets reach is right for the rest. */
const isWarning = (kind: string, message: string): boolean => WARNINGS.has(kind) || message.includes("is offered for");

describe("planLimitViolations", () => {
  it.each(RULES)("allows up to the limit and names what is beyond: %s", (kind, edge, beyond, message) => {
    const others = kind === "receipt" ? [] : ["receipt"];
    expect(planLimitViolations(programOf(edge)).filter((violation) => !others.includes(violation.kind))).toEqual([]);
    const found = planLimitViolations(programOf(beyond)).filter((violation) => violation.kind === kind);
    expect(found.map((violation) => violation.message)).toContain(message);
    for (const { severity, message: said } of found) expect(severity).toBe(isWarning(kind, said) ? "warning" : "error");
  });

  it("says rank, block, instruction and line of what breaks a rule", () => {
    const instructions = [
      { op: "nop", line: 3 },
      { ...reduce(11), line: 4 },
    ] as const;
    const [violation] = planLimitViolations(programOf({ blocks: [[], instructions] }));
    expect(violation).toMatchObject({ kind: "operands", rank: 0, block: 1, instruction: 1, line: 4 });
  });

  it("counts the operations that a plan lists, not what shared blocks and pipelines make of them", () => {
    const header = {
      finer: 6,
      loopChunks: 12,
      inputChunks: Int32Array.of(12, 12),
      outputChunks: Int32Array.of(12, 12),
    };
    const steps = list(300, (k): Instruction => ({ op: "nop", step: k % 64 }));
    expect(
      planLimitViolations(programOf({ header: { ...header, minBytes: 32, maxBytes: 32 }, blocks: [steps] })),
    ).toEqual([]);
  });

  it.skipIf(!hasSharedData)("finds nothing in real plans but what their executor does wrong", () => {
    const names = sharedFiles("mscclpp-json/").filter((name) => !name.startsWith("legacy"));
    const found = names.flatMap((name) => {
      const kinds = planLimitViolations(readMscclppJson(sharedText(`mscclpp-json/${name}`), name)).map(
        ({ kind }) => kind,
      );
      return kinds.length > 0 ? [[name, kinds.length, ...new Set(kinds)]] : [];
    });
    expect(found).toEqual([
      ["mn_allgather_2x4.json", 8, "pwsf"],
      ["test-allreduce_pipeline.json", 4, "chunks"],
    ]);
  });
});
