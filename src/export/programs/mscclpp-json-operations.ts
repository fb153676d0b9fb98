import { InputError } from "../../base/errors.ts";
import {
  BUFFER_LETTERS,
  OPS,
  type Op,
  type Program,
  placeOfInstruction,
  VIA,
  WAIT_BARRIER,
  WAIT_EVENT,
} from "../../model/program/program.ts";
import {
  type BlockTables,
  channelPosition,
  channelToPeer,
  namesChannel,
  switchChannel,
  switchKey,
} from "./mscclpp-json-blocks.ts";
import { type GpuTables, isPeerVia, type PeerVia } from "./mscclpp-json-gpus.ts";

/** An operation of a plan, keys in the order of MSCCL++'s own files. */
export type Operation = Readonly<Record<string, unknown>>;

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
export function* operationsOf(
  program: Program,
  gpu: GpuTables,
  tables: BlockTables,
  block: number,
): Generator<Operation> {
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
      ? { channel_ids: instructions.map((i) => channelOfTransfer(context, i, via)) }
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

/** Returns the channel of a transfer in the block's list: that of its post, else one to the same peer. */
function channelOfTransfer({ program, gpu, tables }: Context, instruction: number, via: PeerVia): number {
  const [event] = postedEvents(program, instruction);
  if (event !== undefined) return tables.channels[via].get(channelPosition(program, gpu, event)) as number;
  const { operandOffset, operandRank } = program;
  for (let k = operandOffset[instruction]; k < operandOffset[instruction + 1]; k++) {
    if (operandRank[k] !== gpu.rank) return channelToPeer(gpu, tables, via, operandRank[k]);
  }
  return -1;
}

function operands({ program, gpu, tables }: Context, instruction: number, destinations: boolean): Operation[] {
  const { operandOffset, sourceCount, operandRank, operandBuffer, operandIndex } = program;
  const via = VIA[program.via[instruction]];
  const size = program.chunks[instruction];
  const middle = operandOffset[instruction] + sourceCount[instruction];
  const from = destinations ? middle : operandOffset[instruction];
  const to = destinations ? operandOffset[instruction + 1] : middle;
  if (via === "switch" && to - from > 1) {
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
