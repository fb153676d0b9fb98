import { describe, expect, it } from "vitest";
import { mscclppJsonParts } from "../../../src/export/programs/mscclpp-json.ts";
import { readMscclppJson } from "../../../src/import/programs/mscclpp-json.ts";
import { INPUT, OUTPUT, type Program, SCRATCH, WAIT_BARRIER, WAIT_EVENT } from "../../../src/model/program/program.ts";
import { type ProgramHeader, programBuilder } from "../../../src/model/program/program-builder.ts";
import { programHeader } from "../../support/program-header.ts";
import { unexpected } from "../../support/refusals.ts";
import { hasSharedData, sharedFiles, sharedText } from "../../support/shared-data.ts";

const textOf = (program: Program, options = {}): string => [...mscclppJsonParts(program, options)].join("");
const jsonOf = (program: Program, options = {}) => JSON.parse(textOf(program, options));

const header = (more: Partial<ProgramHeader> = {}): ProgramHeader =>
  programHeader("mscclpp", "allreduce", 2, 4, { name: "small", scratchChunks: Int32Array.of(2, 0), ...more });

/** Two ranks that use every kind of operation once; what they compute is nonsense. */
function everyOperation(more: Partial<ProgramHeader> = {}): Program {
  const builder = programBuilder();
  const own = (buffer: number, index: number) => ({ rank: 0, buffer, index });
  const peer = (buffer: number, index: number) => ({ rank: 1, buffer, index });
  const memory = builder.addEvent({ rank: 0, peer: 1, id: 0, via: "memory" });
  const memoryBack = builder.addEvent({ rank: 1, peer: 0, id: 0, via: "memory" });
  const port = builder.addEvent({ rank: 0, peer: 1, id: 0, via: "port" });
  const portBack = builder.addEvent({ rank: 1, peer: 0, id: 1, via: "port" });
  const semaphore = builder.addEvent({ initial: 1, rank: 0, peer: 0, id: 1, via: "local" });
  const barrier = builder.addBarrier({ rank: 0, id: 3, blocks: 2 });
  const wait = (on: number) => ({ kind: WAIT_EVENT, on });
  builder.addRank();
  builder.addBlock({ id: 0 });
  builder.add({ op: "rlxsignal", via: "memory", posts: [memoryBack] });
  builder.add({ op: "rlxwait", via: "memory", waits: [wait(memory)] });
  builder.add({ op: "nop" });
  const put = { op: "put", via: "memory", chunks: 2, step: 3 } as const;
  builder.add({ ...put, sources: [own(INPUT, 0)], destinations: [peer(OUTPUT, 0)] });
  builder.add({ ...put, sources: [own(SCRATCH, 0)], destinations: [peer(INPUT, 2)] });
  const sum = { op: "rre", via: "memory", chunks: 1, step: 4 } as const;
  builder.add({ ...sum, sources: [own(INPUT, 1), peer(INPUT, 1)], destinations: [own(OUTPUT, 1)] });
  builder.add({
    op: "re",
    chunks: 1,
    step: 5,
    sources: [own(INPUT, 2), own(SCRATCH, 1)],
    destinations: [own(INPUT, 2)],
  });
  const store = { op: "gstore", via: "switch", chunks: 1, step: 6 } as const;
  builder.add({ ...store, sources: [own(OUTPUT, 3)], destinations: [own(OUTPUT, 3), peer(OUTPUT, 3)] });
  const both = [own(INPUT, 3), peer(INPUT, 3)];
  builder.add({ op: "glres", via: "switch", chunks: 1, step: 7, sources: both, destinations: both });
  builder.addBlock({ id: 1 });
  builder.add({ op: "barrier", waits: [{ kind: WAIT_BARRIER, on: barrier }] });
  builder.add({ op: "sem_acquire", waits: [wait(semaphore)] });
  builder.add({ op: "sem_release", posts: [semaphore] });
  const send = { via: "port", chunks: 1, sources: [own(INPUT, 0)], destinations: [peer(SCRATCH, 0)] } as const;
  builder.add({ op: "put", ...send });
  builder.add({ op: "pws", ...send, posts: [portBack] });
  builder.add({ op: "flush", via: "port" });
  builder.add({ op: "wait", via: "port", waits: [wait(port)] });
  builder.addRank();
  builder.addBlock({ id: 0 });
  builder.add({ op: "wait", via: "port", waits: [wait(portBack)] });
  return builder.build(header(more));
}

describe("mscclppJsonParts", () => {
  it("writes every operation with its keys in their order", () => {
    const [gpu] = jsonOf(everyOperation()).gpus;
    expect(gpu.threadblocks[0].ops.map((op: object) => JSON.stringify(op))).toEqual([
      '{"name":"rlxsignal","channel_ids":[0],"channel_type":"memory"}',
      '{"name":"rlxwait","channel_ids":[0],"channel_type":"memory"}',
      '{"name":"nop"}',
      '{"name":"put","src_buff":[{"type":"i","index":0,"size":2},{"type":"s","index":0,"size":2}],"dst_buff":[{"buffer_id":0,"index":0,"size":2},{"buffer_id":1,"index":2,"size":2}],"channel_type":"memory"}',
      '{"name":"rre","src_buff":[{"type":"i","index":1,"size":1},{"buffer_id":1,"index":1,"size":1}],"dst_buff":[{"type":"o","index":1,"size":1}],"channel_type":"memory","reduce_op":"sum"}',
      '{"name":"re","src_buff":[{"type":"i","index":2,"size":1},{"type":"s","index":1,"size":1}],"dst_buff":[{"type":"i","index":2,"size":1}],"reduce_op":"sum"}',
      '{"name":"gstore","src_buff":[{"rank":0,"type":"o","index":3,"size":1}],"dst_buff":[{"switch_channel_id":0,"index":3,"size":1}],"channel_type":"switch"}',
      '{"name":"glres","src_buff":[{"switch_channel_id":1,"index":3,"size":1}],"dst_buff":[{"switch_channel_id":1,"index":3,"size":1}],"channel_type":"switch","reduce_op":"sum"}',
    ]);
    expect(gpu.threadblocks[1].ops.map((op: object) => JSON.stringify(op))).toEqual([
      '{"name":"barrier","barrier_id":3,"num_threadblocks":2}',
      '{"name":"sem_acquire","semaphore_ids":[1]}',
      '{"name":"sem_release","semaphore_ids":[1]}',
      '{"name":"put","src_buff":[{"type":"i","index":0,"size":1}],"dst_buff":[{"buffer_id":0,"index":0,"size":1}],"channel_ids":[0],"channel_type":"port"}',
      '{"name":"pws","src_buff":[{"type":"i","index":0,"size":1}],"dst_buff":[{"buffer_id":0,"index":0,"size":1}],"channel_ids":[0],"channel_type":"port"}',
      '{"name":"flush","channel_ids":[0,1],"channel_type":"port"}',
      '{"name":"wait","channel_ids":[1],"channel_type":"port"}',
    ]);
  });

  it("lists of a GPU: a channel to an entry, remote buffers in order of use, all semaphores up to the last", () => {
    const [gpu, other] = jsonOf(everyOperation()).gpus;
    const ranks = [{ size: 2, ranks: [0, 1] }];
    expect(gpu.channels).toEqual([
      { channel_type: "memory", connected_to: [1] },
      { channel_type: "port", connected_to: [1, 1] },
      { channel_type: "switch", buffer_type: "o", rank_groups: ranks },
      { channel_type: "switch", buffer_type: "i", rank_groups: ranks },
    ]);
    expect(gpu.remote_buffers).toEqual([
      { rank: 1, type: "o", access_channel_types: ["memory"] },
      { rank: 1, type: "i", access_channel_types: ["memory"] },
      { rank: 1, type: "s", access_channel_types: ["port"] },
    ]);
    expect(gpu.semaphores).toEqual([{ init_value: 0 }, { init_value: 1 }]);
    expect(gpu.threadblocks[1].channels).toEqual([{ channel_type: "port", channel_ids: [1, 0] }]);
    expect(gpu.threadblocks[1].remote_buffer_refs).toEqual([{ access_channel_type: "port", remote_buffer_ids: [2] }]);
    expect(other.channels).toEqual([
      { channel_type: "memory", connected_to: [0] },
      { channel_type: "port", connected_to: [0, 0] },
      { channel_type: "switch", buffer_type: "o", rank_groups: ranks },
      { channel_type: "switch", buffer_type: "i", rank_groups: ranks },
    ]);
  });

  it("writes sizes as options, else the program, say them; the greatest exactly", () => {
    const range = (program: Program, options = {}) => textOf(program, options).match(/"m\w+_message_size": \d+/g);
    expect(range(everyOperation())).toEqual(['"min_message_size": 0', '"max_message_size": 18446744073709551615']);
    const bounded = everyOperation({ minBytes: 1024, maxBytes: 4096 });
    expect(range(bounded)).toEqual(['"min_message_size": 1024', '"max_message_size": 4096']);
    expect(range(bounded, { maxBytes: 2048 })).toEqual(['"min_message_size": 1024', '"max_message_size": 2048']);
  });

  it.each([
    [{ machine: "msccl" }, unexpected("the machine of an MSCCL++ plan", "msccl")],
    [{ protocol: "LL128" }, unexpected("the protocol of an MSCCL++ plan", "LL128")],
  ] as const)("refuses %o", (more, message) => {
    expect(() => textOf(everyOperation(more))).toThrow(message);
  });

  it("refuses instructions of MSCCL", () => {
    const builder = programBuilder();
    builder.addRank();
    builder.addBlock({ id: 0 });
    builder.add({ op: "rrc", line: 7 });
    builder.addRank();
    expect(() => textOf(builder.build(header()))).toThrow(unexpected("gpu 0, thread block 0, step 0 (line 7)", "rrc"));
  });
});

interface Block {
  readonly channels?: unknown;
}

/** The fields that differ between a plan and its program: threads of a block, reuse of scratch, channels of no use to a block. */
interface Plan {
  readonly reuse_resources?: unknown;
  readonly num_threads_per_block?: unknown;
  readonly protocol: string;
  readonly gpus: readonly { readonly threadblocks: readonly Block[] }[];
}

/** Returns a plan without what its program does not keep. */
function kept({ reuse_resources, num_threads_per_block, ...plan }: Plan) {
  const withoutChannels = ({ channels, ...block }: Block): Block => block;
  if (plan.protocol !== "LL") return plan;
  return { ...plan, gpus: plan.gpus.map((gpu) => ({ ...gpu, threadblocks: gpu.threadblocks.map(withoutChannels) })) };
}

describe.skipIf(!hasSharedData)("real plans, read and written", () => {
  const files = sharedFiles("mscclpp-json").filter((file) => file.endsWith(".json") && !file.includes("legacy"));

  it.each(files)("%s: as it was, where operations are not cut", (file) => {
    const text = sharedText(`mscclpp-json/${file}`);
    const program = readMscclppJson(text, file);
    const written = textOf(program);
    if (program.finer === 1) expect(kept(JSON.parse(written))).toEqual(kept(JSON.parse(text)));
    expect(textOf(readMscclppJson(written, file))).toBe(written);
  });
});
