import { OPS, type Program, VIA, WAIT_EVENT } from "../../model/program/program.ts";
import { type GpuTables, isPeerVia, type PeerVia, type SwitchChannel } from "./mscclpp-json-gpus.ts";

/** What a thread block names of its rank's tables: position there -> position in the block's own list, in order of first use. */
export interface BlockTables {
  readonly channels: Readonly<Record<PeerVia, Map<number, number>>>;
  readonly remotes: Readonly<Record<PeerVia, Map<number, number>>>;
  /** Positions of its switch channels among the rank's. */
  readonly switches: number[];
  /** Position in that list, by buffer and ranks. */
  readonly switchPosition: Map<string, number>;
}

/** Returns the tables of a block; remote buffers and switch channels that are new are entered in the rank's. O(its operands). */
export function blockTables(program: Program, gpu: GpuTables, block: number): BlockTables {
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
export function channelPosition(program: Program, gpu: GpuTables, event: number): number {
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
    if (middle - from > 1) enterSwitch(gpu, tables, switchChannel(program, from, middle));
    if (to - middle > 1) enterSwitch(gpu, tables, switchChannel(program, middle, to));
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

/** Returns the switch channel of the operands from .. to - 1, which are one in each rank. */
export function switchChannel(program: Program, from: number, to: number): SwitchChannel {
  const ranks = Array.from(program.operandRank.subarray(from, to)).sort((a, b) => a - b);
  return { buffer: program.operandBuffer[from], ranks };
}

export const switchKey = ({ buffer, ranks }: SwitchChannel): string => `${buffer} ${ranks.join(" ")}`;

function enterSwitch(gpu: GpuTables, tables: BlockTables, channel: SwitchChannel): void {
  const key = switchKey(channel);
  if (tables.switchPosition.has(key)) return;
  tables.switchPosition.set(key, tables.switches.push(gpu.switches.push(channel) - 1) - 1);
}

/** Returns whether an instruction that moves data names its channel: over ports all do, over memory only `get`. */
export const namesChannel = (op: number, via: PeerVia): boolean => via === "port" || OPS[op] === "get";

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
export function channelToPeer(gpu: GpuTables, { channels }: BlockTables, via: PeerVia, peer: number): number {
  for (const [position, own] of channels[via]) if (gpu.channels[via].peers[position] === peer) return own;
  return -1;
}

function enter(positions: Map<number, number>, position: number): void {
  if (!positions.has(position)) positions.set(position, positions.size);
}
