import { InputError } from "../../base/errors.ts";
import {
  blockCount,
  blockOfInstructions,
  instructionCount,
  type Program,
  rankOfBlocks,
} from "../../model/program/program.ts";
import { type Outcome, REPORT, type Setup, waiting, waitOn, wakeAll } from "./machine.ts";
import { ARRIVAL, enter, HEAD, KINDS, latencyOf, nextEvent, schedule, send, take } from "./network.ts";
import { messagesOf, sizeTable } from "./sizes.ts";

/** Slots of all connections. */
const MOST_ROOM = 2 ** 25;
const RUN = 2;
const DONE = 3;

/**
 * Runs an msccl program: every block carries out its instructions, pass by pass. A message is begun when what it forwards has
 * come and the connection has a free slot; the block goes on when its first link has sent it; the slot from which it was
 * received is free again, and the sender knows one latency later. O(log events) per message and link.
 */
export function runMsccl(setup: Setup): Outcome {
  const machine = machineOf(setup);
  const { network, timeline, waiters, arrived, at, pass, blockEndPs, onProgress } = machine;
  const total = machine.count * setup.sizes.passes;
  for (let b = 0; b < at.length; b++) run(machine, b, 0);
  const { queue, messages } = network;
  for (let events = 1; nextEvent(network); events++) {
    const index = Math.floor(queue.payload / KINDS);
    const kind = queue.payload % KINDS;
    if (kind === HEAD) enter(network, index, queue.time);
    else if (kind === RUN) run(machine, index, queue.time);
    else if (kind === DONE) {
      finish(machine, index, at[index], queue.time);
      run(machine, index, queue.time);
    } else if (kind === ARRIVAL) {
      take(network, index);
      const owner = messages.owner[index];
      timeline.end(messages.row[index], queue.time);
      arrived[owner]++;
      wakeAll(waiters, owner, (waiter) => run(machine, waiter, queue.time));
    }
    if (events % REPORT === 0) onProgress(machine.instructions, total);
  }
  const stuck = Array.from(at).filter((_, b) => pass[b] < setup.sizes.passes);
  return { blockEndPs, instructions: machine.instructions, stuck };
}

/** An msccl program while it runs. */
type Machine = ReturnType<typeof machineOf>;

function machineOf(setup: Setup) {
  const { program, adds, sizes, network, timeline, localPsPerByte, onProgress } = setup;
  const { slots } = sizes;
  const blocks = blockCount(program);
  const { sendsInto, receivesFrom, source, target, route, latencyPs } = connectionsOf(setup, rankOfBlocks(program));
  const links = source.length;
  if (adds.slots && links * slots > MOST_ROOM)
    throw new InputError("slots", `at most ${Math.floor(MOST_ROOM / links)} for ${links} connections`, slots).as(
      "out-of-range",
    );
  // field by field: objects that are spread into are slower to read from
  return {
    program,
    adds,
    sizes,
    network,
    timeline,
    localPsPerByte,
    onProgress,
    sendsInto,
    receivesFrom,
    source,
    target,
    route,
    latencyPs,
    count: instructionCount(program),
    blockOf: blockOfInstructions(program),
    rowOf: sizeTable(program, sizes, network),
    // resources to wait for: arrivals of connections, then room in them, and what blocks publish
    roomAt: links,
    publishedAt: 2 * links,
    waiters: waiting(2 * links + blocks, blocks),
    /** [connections] messages. */
    arrived: new Float64Array(links),
    taken: new Float64Array(links),
    sent: new Float64Array(links),
    /** [connections x slots] when the sender knows that its slot is free again. */
    freeAt: new Float64Array(adds.slots ? links * slots : 0),
    /** [blocks] last instruction published, over all passes: pass x instructions + instruction. */
    published: new Float64Array(blocks).fill(-1),
    /** [blocks] where it is: pass, instruction, waits that are over, message of the instruction. */
    pass: new Float64Array(blocks),
    at: Int32Array.from(program.instructionOffset.subarray(0, blocks)),
    waited: new Int32Array(blocks),
    piece: new Int32Array(blocks),
    blockEndPs: new Float64Array(blocks),
    /** How many are complete, over all passes. */
    instructions: 0,
  };
}

/** Lets a block go on until it has to wait. */
function run(machine: Machine, b: number, now: number): void {
  const { program, sizes, pass, at } = machine;
  const [first, last] = [program.instructionOffset[b], program.instructionOffset[b + 1]];
  while (pass[b] < sizes.passes) {
    if (at[b] === last) {
      at[b] = first;
      pass[b] = first === last ? sizes.passes : pass[b] + 1;
      continue;
    }
    const end = advance(machine, b, at[b], now);
    if (end < 0) return;
    if (end > now) {
      schedule(machine.network, end, DONE, b);
      return;
    }
    finish(machine, b, at[b], now);
  }
}

/** Begins the block's next message or step; returns when it is done, -1 where it has to wait. */
function advance(machine: Machine, b: number, i: number, now: number): number {
  const { program, sizes, network, pass, piece, sent, freeAt, source, target, route } = machine;
  const from = program.receives[i] === 1 ? machine.receivesFrom[b] : -1;
  const into = program.sends[i] === 1 ? machine.sendsInto[b] : -1;
  if (mustWait(machine, b, i, from, into, now)) return -1;
  const moved = travels(program, i) ? chunksOfMessage(machine, i, piece[b]) / sizes.cuts : program.chunks[i];
  const end = now + Math.round(machine.localPsPerByte * moved * bytesInPass(machine, pass[b]));
  if (into < 0) return end;
  if (machine.adds.slots) freeAt[into * sizes.slots + (sent[into] % sizes.slots)] = Number.POSITIVE_INFINITY;
  sent[into]++;
  const row = machine.timeline.begin(now, source[into], target[into], i);
  const size = machine.rowOf(chunksOfMessage(machine, i, piece[b]), pass[b] === sizes.passes - 1, false);
  send(network, now, { route: route[into], size, owner: into, part: 0, early: false, row });
  return network.inTurn ? Math.max(end, network.sentPs) : end;
}

/** Returns whether a block has to wait before its next message, after seeing to it that it is woken. */
function mustWait(machine: Machine, b: number, i: number, from: number, into: number, now: number): boolean {
  const { program, sizes, waiters, waited, published, blockOf, pass, arrived, taken, sent, freeAt } = machine;
  const { waitOffset, waitOn: awaited } = program;
  for (; waited[b] < waitOffset[i + 1] - waitOffset[i]; waited[b]++) {
    const on = awaited[waitOffset[i] + waited[b]];
    if (published[blockOf[on]] >= pass[b] * machine.count + on || hasPiece(machine, b, i, on)) continue;
    waitOn(waiters, machine.publishedAt + blockOf[on], b);
    return true;
  }
  if (from >= 0 && arrived[from] <= taken[from]) {
    waitOn(waiters, from, b);
    return true;
  }
  if (into < 0 || sent[into] < sizes.slots) return false;
  const free = freeAt[into * sizes.slots + (sent[into] % sizes.slots)];
  if (free <= now) return false;
  if (free < Number.POSITIVE_INFINITY) schedule(machine.network, free, RUN, b);
  else waitOn(waiters, machine.roomAt + into, b);
  return true;
}

/**
 * Returns whether the piece that a block is about to move of an instruction is there already: plans for MPI wait piece by piece for
 * an instruction of the same chunks.
 */
function hasPiece({ program, at, piece, blockOf }: Machine, b: number, i: number, on: number): boolean {
  const { mpi, chunks } = program;
  if (mpi === undefined || at[blockOf[on]] !== on || !travels(program, i)) return false;
  return mpi.chunk[i] === mpi.chunk[on] && chunks[i] === chunks[on] && piece[blockOf[on]] > piece[b];
}

const travels = ({ receives, sends }: Program, i: number): boolean => receives[i] + sends[i] > 0;

const bytesInPass = ({ sizes }: Machine, pass: number): number =>
  pass < sizes.passes - 1 ? sizes.sliceBytes : sizes.bytesOfChunk - (sizes.passes - 1) * sizes.sliceBytes;

const chunksOfMessage = ({ program, sizes }: Machine, i: number, part: number): number =>
  Math.min(sizes.chunksPerMessage, program.chunks[i] - Math.floor(part / sizes.cuts) * sizes.chunksPerMessage);

/** Ends what `advance` began. */
function finish(machine: Machine, b: number, i: number, now: number): void {
  const { program, sizes, network, waiters, pass, at, waited, piece, taken, freeAt } = machine;
  const from = program.receives[i] === 1 ? machine.receivesFrom[b] : -1;
  if (from >= 0) {
    const known = now + machine.latencyPs[from];
    if (machine.adds.slots) freeAt[from * sizes.slots + (taken[from] % sizes.slots)] = known;
    taken[from]++;
    wakeAll(waiters, machine.roomAt + from, (waiter) => schedule(network, known, RUN, waiter));
  }
  machine.blockEndPs[b] = now;
  if (++piece[b] < (travels(program, i) ? messagesOf(sizes, program.chunks[i]) : 1)) {
    if (program.mpi === undefined) return;
    waited[b] = 0;
    if (program.publishes[i] === 1)
      wakeAll(waiters, machine.publishedAt + b, (waiter) => schedule(network, now, RUN, waiter));
    return;
  }
  piece[b] = 0;
  waited[b] = 0;
  at[b]++;
  machine.instructions++;
  if (program.publishes[i] === 0) return;
  machine.published[b] = pass[b] * machine.count + i;
  wakeAll(waiters, machine.publishedAt + b, (waiter) => schedule(network, now, RUN, waiter));
}

/** FIFO connections of an msccl program: (sender, receiver, channel). */
interface Connections {
  /** [blocks] connection into which it sends, and from which it receives; -1: none. */
  readonly sendsInto: Int32Array;
  readonly receivesFrom: Int32Array;
  /** [connections] ranks */
  readonly source: Int32Array;
  readonly target: Int32Array;
  /** [connections] */
  readonly route: readonly Int32Array[];
  readonly latencyPs: Float64Array;
}

/** Returns the connections; those of two ranks are spread over equal ways between them. O(blocks + links of routes). */
function connectionsOf({ program, npuOfRank, routes, network }: Setup, rankOfBlock: Int32Array): Connections {
  const { sendPeer, recvPeer, channel, rankCount } = program;
  const numbers = new Map<string, number>();
  const ofPair = new Map<number, number>();
  const source: number[] = [];
  const target: number[] = [];
  const route: Int32Array[] = [];
  const numberOf = (from: number, to: number, through: number): number => {
    if (from < 0 || to < 0 || from >= rankCount || to >= rankCount || from === to) return -1;
    const key = `${from} ${to} ${through}`;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    const pair = from * rankCount + to;
    const ordinal = ofPair.get(pair) ?? 0;
    ofPair.set(pair, ordinal + 1);
    numbers.set(key, source.length);
    target.push(to);
    route.push(routes.between(npuOfRank[from], npuOfRank[to], npuOfRank[to] + ordinal));
    return source.push(from) - 1;
  };
  const sendsInto = Int32Array.from(rankOfBlock, (rank, b) => numberOf(rank, sendPeer[b], channel[b]));
  const receivesFrom = Int32Array.from(rankOfBlock, (rank, b) => numberOf(recvPeer[b], rank, channel[b]));
  return {
    sendsInto,
    receivesFrom,
    source: Int32Array.from(source),
    target: Int32Array.from(target),
    route,
    latencyPs: Float64Array.from(route, (links) => latencyOf(network, links)),
  };
}
