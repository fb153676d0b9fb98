import { BUFFER_LETTERS, OPS, type Program, VIA, WAIT_BARRIER } from "../../src/model/program/program.ts";

/** Plans of our own, as values that a test may change. */
// biome-ignore lint/suspicious/noExplicitAny: the tests break them in every way
export type Plan = any;
type Fields = Record<string, unknown>;

export const local = (type: string, index: number, size = 1) => ({ type, index, size });
export const remote = (buffer_id: number, index: number, size = 1) => ({ buffer_id, index, size });
export const behindSwitch = (switch_channel_id: number, index: number, size = 1) => ({
  switch_channel_id,
  index,
  size,
});
export const nop = { name: "nop" };
export const memory = (name: string, ...channel_ids: number[]) => ({ name, channel_ids, channel_type: "memory" });
export const port = (name: string, ...channel_ids: number[]) => ({ name, channel_ids, channel_type: "port" });
/** An operation that moves data; `more` has its channel type, where it has one. */
export const move = (name: string, src_buff: unknown[], dst_buff: unknown[], more: Fields = {}) => ({
  name,
  src_buff,
  dst_buff,
  ...more,
});
export const BY_MEMORY = { channel_type: "memory" };

/** A thread block with its lists of channels and remote buffers by kind. */
export const block = (id: number, ops: unknown[], memoryChannels: number[] = [], memoryBuffers: number[] = []) => ({
  id,
  ops,
  channels: memoryChannels.length === 0 ? [] : [{ channel_type: "memory", channel_ids: memoryChannels }],
  remote_buffer_refs:
    memoryBuffers.length === 0 ? [] : [{ access_channel_type: "memory", remote_buffer_ids: memoryBuffers }],
});

export const gpu = (id: number, chunks: [number, number, number], threadblocks: unknown[], more: Fields = {}) => ({
  id,
  input_chunks: chunks[0],
  output_chunks: chunks[1],
  scratch_chunks: chunks[2],
  threadblocks,
  channels: [],
  remote_buffers: [],
  semaphores: [],
  ...more,
});

export const plan = (gpus: unknown[], more: Fields = {}): Plan => ({
  name: "a plan",
  collective: "allreduce",
  protocol: "Simple",
  inplace: true,
  gpus,
  ...more,
});

export const peerBuffer = (rank: number, type: string, kind = "memory") => ({
  rank,
  type,
  access_channel_types: [kind],
});
export const toPeers = (...connected_to: number[]) => ({ channel_type: "memory", connected_to });

/** All-gather between two: each puts its part into the other's output. */
export const allGather = (): Plan =>
  plan(
    [0, 1].map((rank) =>
      gpu(
        rank,
        [1, 2, 0],
        [
          block(
            0,
            [
              memory("rlxsignal", 0),
              memory("rlxwait", 0),
              nop,
              move("put", [local("o", rank)], [remote(0, rank)], BY_MEMORY),
              nop,
              memory("signal", 0),
              memory("wait", 0),
              nop,
            ],
            [0],
            [0],
          ),
        ],
        { channels: [toPeers(1 - rank)], remote_buffers: [peerBuffer(1 - rank, "o")] },
      ),
    ),
    { collective: "allgather" },
  );

/** All-reduce between two by packets: each sends all of its input, sums what comes, and unpacks nothing. */
export const packetAllReduce = (): Plan =>
  plan(
    [0, 1].map((rank) =>
      gpu(
        rank,
        [2, 2, 2],
        [
          block(
            0,
            [
              move("ppkt", [local("i", 0, 2)], [remote(0, 0, 2)], BY_MEMORY),
              nop,
              move("repkt", [local("i", 0, 2), local("s", 0, 2)], [local("i", 0, 2)], { reduce_op: "sum" }),
            ],
            [0],
            [0],
          ),
        ],
        { channels: [toPeers(1 - rank)], remote_buffers: [peerBuffer(1 - rank, "s")] },
      ),
    ),
    { protocol: "LL", use_double_scratch_buffer: true },
  );

/** All-reduce among `ranks` behind a switch: rank r sums and stores chunk r. Two blocks meet at a barrier. */
export const switchAllReduce = (ranks = 2): Plan =>
  plan(
    Array.from({ length: ranks }, (_, rank) => {
      const peers = Array.from({ length: ranks }, (_, r) => r).filter((r) => r !== rank);
      const all = peers.map((_, k) => k);
      const handshake = [memory("rlxsignal", ...all), memory("rlxwait", ...all)];
      const barrier = () => ({ name: "barrier", barrier_id: 0, num_threadblocks: 2 });
      const sum = move("glres", [behindSwitch(0, rank)], [behindSwitch(0, rank)], { channel_type: "switch" });
      const withSwitch = {
        ...block(1, [barrier(), sum, barrier()]),
        channels: [{ channel_type: "switch", channel_ids: [0] }],
      };
      return gpu(
        rank,
        [ranks, ranks, 0],
        [block(0, [...handshake, barrier(), barrier(), ...handshake], all), withSwitch],
        {
          channels: [
            toPeers(...peers),
            {
              channel_type: "switch",
              buffer_type: "i",
              rank_groups: [{ size: ranks, ranks: [0, ...all.map((k) => k + 1)] }],
            },
          ],
        },
      );
    }),
  );

/** All-gather between two boxes of one, out of place, over a port; two blocks share the local copy by a semaphore. */
export const portAllGather = (): Plan =>
  plan(
    [0, 1].map((rank) => {
      const send = {
        ...block(0, [
          port("signal", 0),
          port("wait", 0),
          nop,
          move("pws", [local("i", 0)], [remote(0, rank)], { channel_type: "port", channel_ids: [0] }),
          port("flush", 0),
          port("wait", 0),
          nop,
          { name: "sem_acquire", semaphore_ids: [0] },
        ]),
        channels: [{ channel_type: "port", channel_ids: [0] }],
        remote_buffer_refs: [{ access_channel_type: "port", remote_buffer_ids: [0] }],
      };
      const copy = block(1, [
        move("copy", [local("i", 0)], [local("o", rank)]),
        nop,
        { name: "sem_release", semaphore_ids: [0] },
      ]);
      return gpu(rank, [1, 2, 0], [send, copy], {
        channels: [{ channel_type: "port", connected_to: [1 - rank] }],
        remote_buffers: [peerBuffer(1 - rank, "o", "port")],
        semaphores: [{ init_value: 0 }],
      });
    }),
    { collective: "allgather", inplace: false },
  );

/** A gpu alone whose `parts` blocks share a copy of `size` chunks. */
export const sharedCopy = (parts: number, size: number): Plan =>
  plan([
    gpu(
      0,
      [size, size, size],
      Array.from({ length: parts }, (_, part) =>
        block(part, [
          move("copy", [local("i", 0, size)], [local("s", 0, size)], { tbg_info: { tb_id: part, tbg_size: parts } }),
        ]),
      ),
    ),
  ]);

/** A gpu alone that copies in a pipeline to scratch and from there; `ahead` units may wait in scratch. */
export const pipelinedCopy = (unit_size: number, chunks: number, ahead: number, more: Fields = {}): Plan => {
  const pipeline = (...ops: unknown[]) => ({
    name: "pipeline",
    iter_context: { unit_size, num_chunks: chunks },
    ops,
  });
  const acquire = (id: number) => ({ name: "sem_acquire", semaphore_ids: [id] });
  const release = (id: number) => ({ name: "sem_release", semaphore_ids: [id] });
  const fill = move("copy", [local("i", 0, chunks)], [local("s", 0, chunks)]);
  const drain = move("copy", [local("s", 0, chunks)], [local("o", 0, chunks)]);
  return plan(
    [
      gpu(
        0,
        [chunks, chunks, chunks],
        [
          block(0, [pipeline(acquire(0), nop, fill, nop, release(1))]),
          block(1, [pipeline(acquire(1), nop, drain, nop, release(0))]),
        ],
        { semaphores: [{ init_value: ahead }, { init_value: 0 }] },
      ),
    ],
    { inplace: false, ...more },
  );
};

export const OWN_PLANS: Readonly<Record<string, () => Plan>> = {
  allGather,
  packetAllReduce,
  switchAllReduce,
  portAllGather,
  sharedCopy: () => sharedCopy(3, 2),
  pipelinedCopy: () => pipelinedCopy(1024, 1, 2),
};

/** Returns the instructions of a block in words: name, channel kind, operands, then what it waits for and posts. */
export function wordsOf(program: Program, block: number): string[] {
  const { operandOffset, operandRank, operandBuffer, operandIndex, operandPacket, sourceCount, chunks } = program;
  const event = (e: number): string =>
    `${program.eventPeer[e]}>${program.eventRank[e]}#${program.eventId[e]} ${VIA[program.eventVia[e]]}`;
  const operand = (k: number, i: number): string =>
    `${operandRank[k]}.${BUFFER_LETTERS[operandBuffer[k]]}[${operandIndex[k]}+${chunks[i]}]${operandPacket[k] === 1 ? "p" : ""}`;
  const words: string[] = [];
  for (let i = program.instructionOffset[block]; i < program.instructionOffset[block + 1]; i++) {
    const middle = operandOffset[i] + sourceCount[i];
    const sources = [];
    for (let k = operandOffset[i]; k < middle; k++) sources.push(operand(k, i));
    const destinations = [];
    for (let k = middle; k < operandOffset[i + 1]; k++) destinations.push(operand(k, i));
    const waits = [];
    for (let w = program.waitOffset[i]; w < program.waitOffset[i + 1]; w++) {
      const on = program.waitOn[w];
      waits.push(program.waitKind[w] === WAIT_BARRIER ? `barrier ${program.barrierId[on]}` : event(on));
    }
    const posts = Array.from(program.postOn.subarray(program.postOffset[i], program.postOffset[i + 1]), event);
    const parts = [OPS[program.op[i]], VIA[program.via[i]] === "local" ? "" : `by ${VIA[program.via[i]]}`];
    if (sources.length + destinations.length > 0) parts.push(`${sources.join(" + ")} -> ${destinations.join(", ")}`);
    if (waits.length > 0) parts.push(`waits ${waits.join(", ")}`);
    if (posts.length > 0) parts.push(`posts ${posts.join(", ")}`);
    words.push(parts.filter((part) => part !== "").join(" "));
  }
  return words;
}
