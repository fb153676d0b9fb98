import { InputError } from "../../base/errors.ts";
import { jsonText } from "../../base/visible.ts";
import {
  BUFFER_LETTERS,
  OPS,
  type Op,
  type Program,
  placeOfInstruction,
  rankOfBlocks,
  VIA,
  type Via,
  WAIT_BARRIER,
  WAIT_EVENT,
} from "../../model/program/program.ts";
import { MSCCLPP_RUNTIME } from "../../model/program/runtimes.ts";

/** Sizes as nccl-tests counts them, bytes; where left out, those of the program. */
export interface MscclppJsonOptions {
  readonly minBytes?: number;
  readonly maxBytes?: number;
}

const THREADS_PER_BLOCK = 1024;
const ALIGNMENT = 16;
const GREATEST_SIZE = 2n ** 64n - 1n;

/**
 * Yields the text of an execution plan of MSCCL++ (schema of its version 0.8), GPU by GPU, an operation to a line. Keys and
 * their order are those of the files that MSCCL++'s own language writes.
 *
 * Throws InputError for a program of another machine, for LL128, which plans have not, for names of collectives that they do
 * not know, and for instructions of MSCCL. O(program).
 */
export function* mscclppJsonParts(program: Program, options: MscclppJsonOptions = {}): Generator<string> {
  if (program.machine !== "mscclpp")
    throw new InputError("the machine of an MSCCL++ plan", '"mscclpp"', program.machine);
  if (program.protocol === "LL128")
    throw new InputError("the protocol of an MSCCL++ plan", '"Simple" or "LL"', "LL128");
  const collective = MSCCLPP_RUNTIME.collectives[program.collective];
  if (collective === undefined) {
    const known = Object.values(MSCCLPP_RUNTIME.collectives).join(", ");
    throw new InputError("the collective of an MSCCL++ plan", `one of ${known}`, program.collective).as("unknown-name");
  }
  const packets = program.protocol === "LL";
  yield "{\n";
  yield fields("  ", {
    name: program.name,
    collective,
    protocol: program.protocol,
    inplace: program.inPlace,
    reuse_resources: false,
  });
  yield '  "gpus": [';
  for (const gpu of gpuTables(program)) {
    yield gpu.rank === 0 ? "\n" : ",\n";
    yield* gpuParts(program, gpu);
  }
  yield "\n  ],\n";
  yield fields("  ", {
    num_threads_per_block: THREADS_PER_BLOCK,
    use_double_scratch_buffer: packets,
    buffer_alignment: ALIGNMENT,
  });
  yield `  "min_message_size": ${sizeText(options.minBytes ?? program.minBytes ?? 0)},\n`;
  yield `  "max_message_size": ${sizeText(options.maxBytes ?? program.maxBytes ?? Number.POSITIVE_INFINITY)}\n}\n`;
}

function sizeText(bytes: number): string {
  if (bytes >= Number(GREATEST_SIZE)) return GREATEST_SIZE.toString();
  return BigInt(Math.max(0, Math.floor(bytes))).toString();
}

function fields(indent: string, values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(([key, value]) => `${indent}"${key}": ${jsonText(value)},\n`)
    .join("");
}

function* gpuParts(program: Program, gpu: GpuTables): Generator<string> {
  const { rank } = gpu;
  yield "    {\n";
  yield fields("      ", {
    id: rank,
    input_chunks: program.inputChunks[rank],
    output_chunks: program.outputChunks[rank],
    scratch_chunks: program.scratchChunks[rank],
  });
  yield '      "threadblocks": [';
  const [from, to] = [program.blockOffset[rank], program.blockOffset[rank + 1]];
  for (let block = from; block < to; block++) {
    yield block === from ? "\n" : ",\n";
    yield blockText(program, gpu, block);
  }
  yield to > from ? "\n      ],\n" : "],\n";
  yield `      "channels": ${list(channelObjects(gpu))},\n`;
  const remotes = gpu.remotes.map(({ rank: other, buffer, vias }) => ({
    rank: other,
    type: BUFFER_LETTERS[buffer],
    access_channel_types: PEER_VIAS.filter((via) => vias.has(via)),
  }));
  yield `      "remote_buffers": ${list(remotes)},\n`;
  yield `      "semaphores": ${list(gpu.semaphores.map((init_value) => ({ init_value })))}\n    }`;
}

function channelObjects({ channels, switches }: GpuTables): object[] {
  const peers = PEER_VIAS.filter((via) => channels[via].peers.length > 0);
  return [
    ...peers.map((via) => ({ channel_type: via, connected_to: channels[via].peers })),
    ...switches.map(({ buffer, ranks }) => ({
      channel_type: "switch",
      buffer_type: BUFFER_LETTERS[buffer],
      rank_groups: [{ size: ranks.length, ranks }],
    })),
  ];
}

function blockText(program: Program, gpu: GpuTables, block: number): string {
  const tables = blockTables(program, gpu, block);
  const operations = [...operationsOf(program, gpu, tables, block)];
  const channels = [
    ...named(tables.channels).map(([via, ids]) => ({ channel_type: via, channel_ids: ids })),
    ...(tables.switches.length > 0 ? [{ channel_type: "switch", channel_ids: tables.switches }] : []),
  ];
  const remotes = named(tables.remotes).map(([via, ids]) => ({ access_channel_type: via, remote_buffer_ids: ids }));
  return `        {
          "id": ${program.blockId[block]},
          "ops": ${list(operations, "          ")},
          "channels": ${jsonText(channels)},
          "remote_buffer_refs": ${jsonText(remotes)}
        }`;
}

function named(tables: BlockTables["channels"]): [PeerVia, number[]][] {
  return PEER_VIAS.filter((via) => tables[via].size > 0).map((via) => [via, [...tables[via].keys()]]);
}

/** Returns a list with an element to a line; all texts in them are of plans, so none needs to be escaped. */
function list(elements: readonly object[], indent = "      "): string {
  if (elements.length === 0) return "[]";
  const lines = elements.map((element) => `${indent}  ${JSON.stringify(element)}`);
  return `[\n${lines.join(",\n")}\n${indent}]`;
}

/** An operation of a plan, keys in the order of MSCCL++'s own files. */
type Operation = Readonly<Record<string, unknown>>;

interface Context {
  readonly program: Program;
  readonly gpu: GpuTables;
  readonly tables: BlockTables;
  readonly block: number;
}

const REDUCING: ReadonlySet<Op> = new Set<Op>([
  ...(["re", "rre", "res", "rres", "glres"] as const),
  ...(["repkt", "respkt", "recpkt", "recspkt"] as const),
]);

/** What only executors of MSCCL have. */
const FOREIGN: ReadonlySet<Op> = new Set<Op>(["s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy"]);

/**
 * Yields the operations of a block: one for each step, of which several instructions of one name are the parallel operands.
 * Throws InputError for an instruction that plans have no name for. O(its operands).
 */
function* operationsOf(program: Program, gpu: GpuTables, tables: BlockTables, block: number): Generator<Operation> {
  const { instructionOffset, op, step } = program;
  const context = { program, gpu, tables, block };
  const end = instructionOffset[block + 1];
  for (let i = instructionOffset[block]; i < end; ) {
    let next = i + 1;
    while (next < end && op[next] === op[i] && step[next] === step[i]) next++;
    yield operation(context, i, next);
    i = next;
  }
}

function operation(context: Context, from: number, to: number): Operation {
  const { program, gpu, block } = context;
  const name = OPS[program.op[from]];
  if (FOREIGN.has(name))
    throw new InputError(placeOfInstruction(program, from, block, gpu.rank), "an instruction of MSCCL++", name);
  switch (name) {
    case "nop":
      return { name };
    case "barrier":
      return { name, ...barrier(program, from) };
    case "sem_acquire":
      return { name, semaphore_ids: waitedEvents(program, from).map((event) => program.eventId[event]) };
    case "sem_release":
      return { name, semaphore_ids: postedEvents(program, from).map((event) => program.eventId[event]) };
    case "signal":
    case "rlxsignal":
      return { name, ...channelsOf(context, postedEvents(program, from)) };
    case "wait":
    case "rlxwait":
      return { name, ...channelsOf(context, waitedEvents(program, from)) };
    case "flush":
      return { name, channel_ids: [...context.tables.channels.port.values()], channel_type: "port" };
    default:
      return dataOperation(context, name, from, to);
  }
}

function barrier(program: Program, instruction: number): Operation {
  const { waitOffset, waitKind, waitOn, barrierId, barrierBlocks } = program;
  for (let w = waitOffset[instruction]; w < waitOffset[instruction + 1]; w++) {
    if (waitKind[w] === WAIT_BARRIER) {
      return { barrier_id: barrierId[waitOn[w]], num_threadblocks: barrierBlocks[waitOn[w]] };
    }
  }
  return {};
}

function waitedEvents({ waitOffset, waitKind, waitOn }: Program, instruction: number): number[] {
  const events: number[] = [];
  for (let w = waitOffset[instruction]; w < waitOffset[instruction + 1]; w++) {
    if (waitKind[w] === WAIT_EVENT) events.push(waitOn[w]);
  }
  return events;
}

const postedEvents = ({ postOffset, postOn }: Program, instruction: number): number[] =>
  Array.from(postOn.subarray(postOffset[instruction], postOffset[instruction + 1]));

function channelsOf({ program, gpu, tables }: Context, events: readonly number[]): Operation {
  const via = events.length === 0 ? "memory" : VIA[program.eventVia[events[0]]];
  const own = tables.channels[via as PeerVia];
  return { channel_ids: events.map((event) => own.get(channelPosition(program, gpu, event))), channel_type: via };
}

function dataOperation(context: Context, name: Op, from: number, to: number): Operation {
  const { program } = context;
  const via = VIA[program.via[from]];
  const instructions = Array.from({ length: to - from }, (_, k) => from + k);
  const channels =
    isPeerVia(via) && namesChannel(program.op[from], via)
      ? { channel_ids: instructions.flatMap((i) => channelsOfTransfer(context, i, via)) }
      : {};
  return {
    name,
    src_buff: instructions.flatMap((i) => operands(context, i, false)),
    dst_buff: instructions.flatMap((i) => operands(context, i, true)),
    ...channels,
    ...(via === "local" ? {} : { channel_type: via }),
    ...(REDUCING.has(name) ? { reduce_op: "sum" } : {}),
  };
}

/** Returns the channels of a transfer in the block's list: that of its post, else one to each of its peers. */
function channelsOfTransfer({ program, gpu, tables }: Context, instruction: number, via: PeerVia): number[] {
  const [event] = postedEvents(program, instruction);
  if (event !== undefined) return [tables.channels[via].get(channelPosition(program, gpu, event)) as number];
  const { operandOffset, operandRank } = program;
  const ranks = operandRank.subarray(operandOffset[instruction], operandOffset[instruction + 1]);
  return Array.from(
    ranks.filter((rank) => rank !== gpu.rank),
    (rank) => channelToPeer(gpu, tables, via, rank),
  );
}

function operands({ program, gpu, tables }: Context, instruction: number, destinations: boolean): Operation[] {
  const { operandOffset, sourceCount, operandRank, operandBuffer, operandIndex } = program;
  const via = VIA[program.via[instruction]];
  const size = program.chunks[instruction];
  const middle = operandOffset[instruction] + sourceCount[instruction];
  const from = destinations ? middle : operandOffset[instruction];
  const to = destinations ? operandOffset[instruction + 1] : middle;
  if (isGroup(program, instruction, destinations)) {
    const own = tables.switchPosition.get(switchKey(switchChannel(program, from, to)));
    return [{ switch_channel_id: own, index: operandIndex[from], size }];
  }
  const list: Operation[] = [];
  for (let k = from; k < to; k++) {
    const [rank, type, index] = [operandRank[k], BUFFER_LETTERS[operandBuffer[k]], operandIndex[k]];
    if (via === "switch") list.push({ rank, type, index, size });
    else if (rank === gpu.rank || !isPeerVia(via)) list.push({ type, index, size });
    else {
      const position = gpu.remotePosition.get(`${rank} ${operandBuffer[k]}`) as number;
      list.push({ buffer_id: tables.remotes[via].get(position), index, size });
    }
  }
  return list;
}

/** What a thread block names of its rank's tables: position there -> position in the block's own list, in order of first use. */
interface BlockTables {
  readonly channels: Readonly<Record<PeerVia, Map<number, number>>>;
  readonly remotes: Readonly<Record<PeerVia, Map<number, number>>>;
  /** Positions of its switch channels among the rank's. */
  readonly switches: number[];
  /** Position in that list, by buffer and ranks. */
  readonly switchPosition: Map<string, number>;
}

/** Returns the tables of a block; remote buffers and switch channels that are new are entered in the rank's. O(its operands). */
function blockTables(program: Program, gpu: GpuTables, block: number): BlockTables {
  const tables: BlockTables = {
    channels: { memory: new Map(), port: new Map() },
    remotes: { memory: new Map(), port: new Map() },
    switches: [],
    switchPosition: new Map(),
  };
  const { instructionOffset, waitOffset, postOffset, waitKind, waitOn, postOn, eventVia } = program;
  const enterChannel = (event: number): void => {
    const via = VIA[eventVia[event]];
    if (isPeerVia(via)) enter(tables.channels[via], channelPosition(program, gpu, event));
  };
  const [from, to] = [instructionOffset[block], instructionOffset[block + 1]];
  for (let i = from; i < to; i++) {
    for (let w = waitOffset[i]; w < waitOffset[i + 1]; w++) if (waitKind[w] === WAIT_EVENT) enterChannel(waitOn[w]);
    for (let p = postOffset[i]; p < postOffset[i + 1]; p++) enterChannel(postOn[p]);
    enterOperands(program, gpu, tables, i);
  }
  for (let i = from; i < to; i++) enterUnsignalled(program, gpu, tables, i);
  return tables;
}

/** Returns the position, among the channels of its kind of one of its two ranks, of the channel of an event. */
function channelPosition(program: Program, gpu: GpuTables, event: number): number {
  const { eventRank, eventPeer, eventId, eventVia } = program;
  const peer = eventRank[event] === gpu.rank ? eventPeer[event] : eventRank[event];
  const { position } = gpu.channels[VIA[eventVia[event]] as PeerVia];
  return position.get(`${peer} ${eventId[event]}`) as number;
}

function enterOperands(program: Program, gpu: GpuTables, tables: BlockTables, instruction: number): void {
  const { operandOffset, operandRank, operandBuffer, sourceCount } = program;
  const via = VIA[program.via[instruction]];
  const [from, to] = [operandOffset[instruction], operandOffset[instruction + 1]];
  if (via === "switch") {
    const middle = from + sourceCount[instruction];
    if (isGroup(program, instruction, false)) enterSwitch(gpu, tables, switchChannel(program, from, middle));
    if (isGroup(program, instruction, true)) enterSwitch(gpu, tables, switchChannel(program, middle, to));
  }
  if (!isPeerVia(via)) return;
  for (let k = from; k < to; k++) {
    if (operandRank[k] !== gpu.rank) enterRemote(gpu, tables, operandRank[k], operandBuffer[k], via);
  }
}

function enterRemote(gpu: GpuTables, tables: BlockTables, rank: number, buffer: number, via: PeerVia): void {
  const key = `${rank} ${buffer}`;
  let position = gpu.remotePosition.get(key);
  if (position === undefined) {
    position = gpu.remotes.push({ rank, buffer, vias: new Set() }) - 1;
    gpu.remotePosition.set(key, position);
  }
  gpu.remotes[position].vias.add(via);
  enter(tables.remotes[via], position);
}

/** Returns whether a side of an instruction is a buffer of all ranks behind a switch: all but what is stored is. */
const isGroup = ({ via, op }: Program, instruction: number, destinations: boolean): boolean =>
  VIA[via[instruction]] === "switch" && (destinations || OPS[op[instruction]] === "glres");

/** Returns the switch channel of the operands from .. to - 1, which are one in each rank. */
function switchChannel(program: Program, from: number, to: number): SwitchChannel {
  const ranks = Array.from(program.operandRank.subarray(from, to)).sort((a, b) => a - b);
  return { buffer: program.operandBuffer[from], ranks };
}

const switchKey = ({ buffer, ranks }: SwitchChannel): string => `${buffer} ${ranks.join(" ")}`;

function enterSwitch(gpu: GpuTables, tables: BlockTables, channel: SwitchChannel): void {
  const key = switchKey(channel);
  if (tables.switchPosition.has(key)) return;
  const turn = gpu.switchUsers.get(key) ?? 0;
  gpu.switchUsers.set(key, turn + 1);
  const positions = Array.from(gpu.switches.keys()).filter((at) => switchKey(gpu.switches[at]) === key);
  tables.switchPosition.set(key, tables.switches.push(positions[turn]) - 1);
}

/**
 * Enters the switch channels in the tables of all their ranks, in one order: they make them together, also those that only listen.
 * Of each there are as many as blocks of a rank use it, at most: one for each of them.
 */
function enterSwitches(program: Program, gpus: readonly GpuTables[]): void {
  const { operandOffset, sourceCount, instructionOffset } = program;
  const made = new Map<string, number>();
  rankOfBlocks(program).forEach((rank, block) => {
    const used = new Set<string>();
    for (let i = instructionOffset[block]; i < instructionOffset[block + 1]; i++) {
      const middle = operandOffset[i] + sourceCount[i];
      for (const stores of [false, true]) {
        if (!isGroup(program, i, stores)) continue;
        const [from, to] = stores ? [middle, operandOffset[i + 1]] : [operandOffset[i], middle];
        const channel = switchChannel(program, from, to);
        const key = switchKey(channel);
        if (used.has(key)) continue;
        used.add(key);
        const users = (gpus[rank].switchUsers.get(key) ?? 0) + 1;
        gpus[rank].switchUsers.set(key, users);
        if (users <= (made.get(key) ?? 0)) continue;
        made.set(key, users);
        for (const one of channel.ranks) gpus[one].switches.push(channel);
      }
    }
  });
  for (const { switchUsers } of gpus) switchUsers.clear();
}

/** Returns whether an instruction that moves data names its channel: over ports all do, over memory only `get`. */
const namesChannel = (op: number, via: PeerVia): boolean => via === "port" || OPS[op] === "get";

/** A transfer that posts nothing may take any channel to its peer: one that the block has, else the first. */
function enterUnsignalled(program: Program, gpu: GpuTables, tables: BlockTables, instruction: number): void {
  const { operandOffset, operandRank, op } = program;
  const via = VIA[program.via[instruction]];
  if (!isPeerVia(via) || !namesChannel(op[instruction], via)) return;
  for (let k = operandOffset[instruction]; k < operandOffset[instruction + 1]; k++) {
    const peer = operandRank[k];
    if (peer === gpu.rank || channelToPeer(gpu, tables, via, peer) >= 0) continue;
    const position = gpu.channels[via].position.get(`${peer} 0`);
    if (position !== undefined) enter(tables.channels[via], position);
  }
}

/** Returns the position in the block's list of its first channel to a peer; -1: none. O(its channels). */
function channelToPeer(gpu: GpuTables, { channels }: BlockTables, via: PeerVia, peer: number): number {
  for (const [position, own] of channels[via]) if (gpu.channels[via].peers[position] === peer) return own;
  return -1;
}

function enter(positions: Map<number, number>, position: number): void {
  if (!positions.has(position)) positions.set(position, positions.size);
}

/** Kinds of channels between two ranks, in the order of a plan. */
const PEER_VIAS = ["memory", "port"] as const;
type PeerVia = (typeof PEER_VIAS)[number];

/** Returns whether what lies in another rank is reached over a channel between the two ranks. */
const isPeerVia = (via: Via): via is PeerVia => via === "memory" || via === "port";

/** A buffer of another rank, and the kinds of channels over which it is reached. */
interface RemoteBuffer {
  readonly rank: number;
  readonly buffer: number;
  readonly vias: Set<PeerVia>;
}

/** A buffer of all of some ranks, which a switch loads from or stores to at once. */
interface SwitchChannel {
  readonly buffer: number;
  readonly ranks: readonly number[];
}

/** The tables of one kind of channels of a rank. */
interface Channels {
  /** Peers, one entry per channel: the k-th entry of a peer is channel k between the two. */
  readonly peers: number[];
  /** Position of channel k to a peer, by "peer k". */
  readonly position: Map<string, number>;
}

/** Tables of a rank, of which its thread blocks name entries. */
interface GpuTables {
  readonly rank: number;
  readonly channels: Readonly<Record<PeerVia, Channels>>;
  readonly remotes: RemoteBuffer[];
  /** Position of a remote buffer, by "rank buffer". */
  readonly remotePosition: Map<string, number>;
  readonly switches: SwitchChannel[];
  /** How many blocks use a switch channel, of those that are entered. */
  readonly switchUsers: Map<string, number>;
  /** Initial counts. */
  readonly semaphores: number[];
}

/** Returns the tables of all ranks with their channels and semaphores; blocks enter the rest. O(events). */
function gpuTables(program: Program): GpuTables[] {
  const gpus = Array.from({ length: program.rankCount }, (_, rank) => ({
    rank,
    channels: { memory: noChannels(), port: noChannels() },
    remotes: [],
    remotePosition: new Map<string, number>(),
    switches: [],
    switchUsers: new Map<string, number>(),
    semaphores: [] as number[],
  }));
  const { eventRank, eventPeer, eventId, eventVia, eventInitial } = program;
  const all = Array.from(eventRank.keys());
  const between = all.filter((event) => isPeerVia(VIA[eventVia[event]]));
  const reach = (rank: number, peer: number, event: number): void =>
    addChannels(gpus[rank].channels[VIA[eventVia[event]] as PeerVia], peer, eventId[event]);
  // A rank's channels come in the order in which it waits on them, then those on which it only posts.
  for (const event of between) reach(eventRank[event], eventPeer[event], event);
  for (const event of between) reach(eventPeer[event], eventRank[event], event);
  for (const event of all) {
    if (VIA[eventVia[event]] !== "local") continue;
    const { semaphores } = gpus[eventRank[event]];
    while (semaphores.length <= eventId[event]) semaphores.push(0);
    semaphores[eventId[event]] = eventInitial[event];
  }
  enterSwitches(program, gpus);
  return gpus;
}

const noChannels = (): Channels => ({ peers: [], position: new Map() });

/** Adds what is missing of the channels 0 .. id to a peer. */
function addChannels({ peers, position }: Channels, peer: number, id: number): void {
  for (let k = id; k >= 0 && !position.has(`${peer} ${k}`); k--) position.set(`${peer} ${k}`, -1);
  for (let k = 0; k <= id; k++) {
    if (position.get(`${peer} ${k}`) === -1) position.set(`${peer} ${k}`, peers.push(peer) - 1);
  }
}
