import { InputError } from "../../base/errors.ts";
import {
  blockCount,
  blockOfInstructions,
  instructionCount,
  OPS,
  type Program,
  rankOfBlocks,
  VIA,
  WAIT_BARRIER,
  WAIT_EVENT,
} from "../../model/program/program.ts";
import { outLinks, type Topology } from "../../model/topology/topology.ts";
import { type Outcome, REPORT, type Setup, waiting, waitOn, wakeAll, wakeOne } from "./machine.ts";
import {
  ARRIVAL,
  enter,
  HEAD,
  KINDS,
  latencyOf,
  nextEvent,
  type ProgramNetwork,
  schedule,
  send,
  take,
} from "./network.ts";
import type { ProgramRoutes } from "./routes.ts";
import { piecesOf, sizeTable } from "./sizes.ts";

const RESUME = 2;
const WINDOW = 3;
const PIECE = 4;
const ISSUED = 5;
const SIGNAL = 6;

const PORT = VIA.indexOf("port");
const FLUSH = OPS.indexOf("flush");
const PUT_SIGNAL_FLUSH = OPS.indexOf("pwsf");

/**
 * Runs an mscclpp program: instructions of a window begin together, each when its waits are over; the block goes on when all of
 * them have read what they read and sent what they write. Through ports a block's puts and signals go one after another without
 * it, but for flush. O(log events) per message and link.
 */
export function runMscclpp(setup: Setup): Outcome {
  const machine = machineOf(setup);
  const { program, network, blockEndPs, onProgress } = machine;
  const blocks = blockCount(program);
  const count = instructionCount(program);
  for (let b = 0; b < blocks; b++) schedule(network, 0, WINDOW, b);
  const { queue } = network;
  for (let n = 1; nextEvent(network); n++) {
    happen(machine, queue.payload % KINDS, Math.floor(queue.payload / KINDS), queue.time);
    if (n % REPORT === 0) onProgress(machine.instructions, count);
  }
  return { blockEndPs, instructions: machine.instructions, stuck: stuckIn(machine) };
}

/** An mscclpp program while it runs. */
type Machine = ReturnType<typeof machineOf>;

function machineOf(setup: Setup) {
  const { program, topology, npuOfRank, adds, sizes, network, routes, timeline, localPsPerByte, onProgress } = setup;
  const blocks = blockCount(program);
  const count = instructionCount(program);
  const packets = packetsOf(program);
  // resources to wait for: events, then barriers, packets, and the flushes of blocks
  const barriersAt = program.eventInitial.length;
  const packetsAt = barriersAt + program.barrierId.length;
  const flushesAt = packetsAt + packets.count;
  return {
    program,
    topology,
    npuOfRank,
    adds,
    sizes,
    network,
    routes,
    timeline,
    onProgress,
    packets,
    barriersAt,
    packetsAt,
    flushesAt,
    waiters: waiting(flushesAt + blocks, count),
    rankOfBlock: rankOfBlocks(program),
    blockOf: blockOfInstructions(program),
    windowEnd: windowEnds(program),
    tokens: Float64Array.from(program.eventInitial),
    tickets: new Float64Array(program.barrierId.length),
    packetThere: new Uint8Array(packets.count),
    signals: signalsOf(network, program.rankCount, SIGNAL),
    /** [blocks] first instruction of its window, and how many of the window are not complete. */
    at: Int32Array.from(program.instructionOffset.subarray(0, blocks)),
    open: new Int32Array(blocks),
    /** [instructions] waits that are over. */
    waited: new Int32Array(count),
    done: new Uint8Array(count),
    blockEndPs: new Float64Array(blocks),
    /** [blocks] port instructions that have not left, in order; the first is under way. */
    ports: Array.from({ length: blocks }, (): number[] => []),
    /** [blocks] how many have not left or not landed. */
    portOpen: new Int32Array(blocks),
    /** [instructions] of these: leaving and landing. */
    ahead: new Uint8Array(count),
    rowOf: sizeTable(program, sizes, network),
    chunkPs: sizes.bytesOfChunk * localPsPerByte,
    /** [instructions] of those whose data is on its way. */
    transfers: new Array<Transfer | null>(count).fill(null),
    /** By message. */
    stretchOf: [] as (Stretch | null)[],
    /** How many are complete. */
    instructions: 0,
  };
}

function happen(machine: Machine, kind: number, index: number, now: number): void {
  if (kind === HEAD) enter(machine.network, index, now);
  else if (kind === ARRIVAL) arrive(machine, index, now);
  else if (kind === RESUME) resume(machine, index, now);
  else if (kind === WINDOW) startWindow(machine, index, now);
  else if (kind === PIECE) nextPiece(machine, index, now);
  else if (kind === ISSUED) issue(machine, index, now);
  else if (kind === SIGNAL) addToken(machine, index, now);
}

const wake = ({ waiters, network }: Machine, resource: number, now: number): void =>
  wakeAll(waiters, resource, (i) => schedule(network, now, RESUME, i));

function addToken({ tokens, waiters, network }: Machine, event: number, now: number): void {
  tokens[event]++;
  wakeOne(waiters, event, (i) => schedule(network, now, RESUME, i));
}

function startWindow(machine: Machine, b: number, now: number): void {
  const { program, at, open, windowEnd } = machine;
  if (at[b] === program.instructionOffset[b + 1]) return;
  const [from, to] = [at[b], windowEnd[at[b]]];
  open[b] = to - from;
  for (let i = from; i < to; i++) resume(machine, i, now);
}

function complete(machine: Machine, i: number, now: number): void {
  const { done, blockOf, blockEndPs, open, at, windowEnd } = machine;
  if (done[i] === 1) return;
  const b = blockOf[i];
  done[i] = 1;
  machine.instructions++;
  blockEndPs[b] = now;
  if (--open[b] > 0) return;
  at[b] = windowEnd[i];
  schedule(machine.network, now, WINDOW, b);
}

/** Returns the resource for which an instruction has to wait, -1 where it may go on. */
function obstacle(machine: Machine, i: number, now: number): number {
  const { program, waited, tokens, tickets, packets, packetThere, barriersAt, packetsAt, flushesAt } = machine;
  const { waitOffset, waitKind, waitOn: awaited, operandOffset, sourceCount, operandPacket, chunks, op } = program;
  for (; waited[i] < waitOffset[i + 1] - waitOffset[i]; waited[i]++) {
    const wait = waitOffset[i] + waited[i];
    const on = awaited[wait];
    if (waitKind[wait] === WAIT_EVENT) {
      if (tokens[on] <= 0) return on;
      tokens[on]--;
    } else if (waitKind[wait] === WAIT_BARRIER) {
      if (++tickets[on] % Math.max(1, program.barrierBlocks[on]) !== 0) {
        waited[i]++;
        return barriersAt + on;
      }
      wake(machine, barriersAt + on, now);
    }
  }
  for (let o = operandOffset[i]; o < operandOffset[i] + sourceCount[i]; o++) {
    if (operandPacket[o] === 0) continue;
    for (let k = 0; k < chunks[i]; k++) {
      const packet = packets.numberOf(o, k);
      if (packetThere[packet] === 0) return packetsAt + packet;
    }
  }
  const b = machine.blockOf[i];
  return op[i] === FLUSH && machine.adds.ports && machine.portOpen[b] > 0 ? flushesAt + b : -1;
}

function resume(machine: Machine, i: number, now: number): void {
  const { via, op, chunks, postOffset } = machine.program;
  const resource = obstacle(machine, i, now);
  if (resource >= 0) {
    waitOn(machine.waiters, resource, i);
    return;
  }
  if (via[i] !== PORT || op[i] === FLUSH || (chunks[i] === 0 && postOffset[i + 1] === postOffset[i])) {
    begin(machine, i, now);
    return;
  }
  const b = machine.blockOf[i];
  machine.portOpen[b]++;
  machine.ahead[i] = chunks[i] > 0 ? 2 : 1;
  if (machine.ports[b].push(i) === 1) begin(machine, i, now);
  if (!isFlushing(machine, i)) complete(machine, i, now);
}

/** Returns whether a block waits until what the instruction sends over a port has landed. */
const isFlushing = ({ program, adds }: Machine, i: number): boolean => adds.ports && program.op[i] === PUT_SIGNAL_FLUSH;

function begin(machine: Machine, i: number, now: number): void {
  const { program, network } = machine;
  if (program.chunks[i] > 0) beginTransfer(machine, i, now);
  else if (program.via[i] === PORT) schedule(network, now, ISSUED, i);
  else issue(machine, i, now);
}

/** Its data has left: it posts, and what comes behind it may go on. */
function issue(machine: Machine, i: number, now: number): void {
  const { operandOffset, sourceCount, operandRank, postOffset, postOn, via } = machine.program;
  const b = machine.blockOf[i];
  const rank = machine.rankOfBlock[b];
  for (let o = operandOffset[i] + sourceCount[i]; o < operandOffset[i + 1]; o++)
    if (operandRank[o] === rank) written(machine, o, i, now);
  for (let p = postOffset[i]; p < postOffset[i + 1]; p++) post(machine, postOn[p], rank, now);
  const port = machine.ports[b];
  if (via[i] === PORT && port[0] === i) {
    port.shift();
    settle(machine, i, now);
    if (port.length > 0) begin(machine, port[0], now);
  }
  if (via[i] !== PORT || !isFlushing(machine, i)) complete(machine, i, now);
}

function post(machine: Machine, event: number, rank: number, now: number): void {
  const { program, npuOfRank, routes, network, signals } = machine;
  const to = program.eventRank[event];
  if (to === rank || program.eventPeer[event] === to) {
    addToken(machine, event, now);
    return;
  }
  const there = npuOfRank[to];
  const route = routes.between(npuOfRank[rank], there, there);
  signals.signal(rank, to, event, now, machine.adds.signals ? now + latencyOf(network, route) : now);
}

/** A port instruction has left, or landed. */
function settle(machine: Machine, i: number, now: number): void {
  const { program, ahead, portOpen, flushesAt } = machine;
  if (program.via[i] !== PORT || --ahead[i] > 0) return;
  const b = machine.blockOf[i];
  if (--portOpen[b] === 0) wake(machine, flushesAt + b, now);
  if (isFlushing(machine, i)) complete(machine, i, now);
}

/** All data of an instruction has arrived. */
function land(machine: Machine, i: number, now: number): void {
  machine.transfers[i] = null;
  settle(machine, i, now);
}

/** All that an instruction writes to a destination is there. */
function written(machine: Machine, operand: number, i: number, now: number): void {
  const { program, packets, packetThere, packetsAt } = machine;
  if (program.operandPacket[operand] === 0) return;
  for (let k = 0; k < program.chunks[i]; k++) {
    const packet = packets.numberOf(operand, k);
    packetThere[packet] = 1;
    wake(machine, packetsAt + packet, now);
  }
}

/** Returns the instructions of unfinished windows that are not done. */
function stuckIn({ program, at, windowEnd, done }: Machine): number[] {
  const stuck: number[] = [];
  at.forEach((from, b) => {
    if (from === program.instructionOffset[b + 1]) return;
    for (let i = from; i < windowEnd[from]; i++) if (done[i] === 0) stuck.push(i);
  });
  return stuck;
}

const NOP = OPS.indexOf("nop");

/**
 * Returns [instructions] where the window that an instruction of an mscclpp program is in ends. Instructions of a window run
 * side by side; a nop ends one, and a barrier is one of its own. O(instructions).
 */
function windowEnds(program: Program): Int32Array {
  const { instructionOffset, op } = program;
  const end = new Int32Array(instructionCount(program));
  const alone = (i: number): boolean => op[i] === NOP || meetsBarrier(program, i);
  for (let b = 0; b < blockCount(program); b++) {
    const last = instructionOffset[b + 1];
    for (let i = last - 1; i >= instructionOffset[b]; i--)
      end[i] = i + 1 === last || alone(i) || alone(i + 1) ? i + 1 : end[i + 1];
  }
  return end;
}

function meetsBarrier({ waitOffset, waitKind }: Program, i: number): boolean {
  for (let w = waitOffset[i]; w < waitOffset[i + 1]; w++) if (waitKind[w] === WAIT_BARRIER) return true;
  return false;
}

/** Chunks that are written and read as packets, which carry their own flag. */
interface Packets {
  /** Returns the number of a packet; k-th chunk of an operand. */
  readonly numberOf: (operand: number, k: number) => number;
  readonly count: number;
}

const MOST_PACKETS = 10_000_000;

/** Returns the packets of a program. Throws InputError for more than 1e7. O(chunks of operands that are packets). */
function packetsOf(program: Program): Packets {
  const { operandOffset, operandPacket, operandRank, operandBuffer, operandIndex, chunks } = program;
  const numbers = new Map<number, number>();
  const key = (o: number, k: number): number => (operandRank[o] * 3 + operandBuffer[o]) * 2 ** 32 + operandIndex[o] + k;
  let total = 0;
  for (let i = 0; i < instructionCount(program); i++)
    for (let o = operandOffset[i]; o < operandOffset[i + 1]; o++) {
      if (operandPacket[o] === 0) continue;
      total += chunks[i];
      if (total > MOST_PACKETS)
        throw new InputError(program.name, `at most ${MOST_PACKETS} chunks in packets`, total).as("out-of-range");
      for (let k = 0; k < chunks[i]; k++) if (!numbers.has(key(o, k))) numbers.set(key(o, k), numbers.size);
    }
  return { numberOf: (o, k) => numbers.get(key(o, k)) ?? 0, count: numbers.size };
}

interface Way {
  readonly route: Int32Array;
  readonly rank: number;
  readonly operand: number;
}

const NONE_AWAITED = new Int32Array(0);
const NO_TAILS = new Float64Array(0);
const NO_WAYS: readonly Way[] = [];

/** The data of an instruction on its way. */
interface Transfer {
  readonly rank: number;
  readonly reads: readonly Way[];
  readonly writes: readonly Way[];
  readonly load: SwitchWays | null;
  readonly store: SwitchWays | null;
  readonly size: number;
  readonly pieces: number;
  /** [pieces], where something must: messages that must come before it can be written, and when the last byte of them is at the switch. */
  readonly awaited: Int32Array;
  readonly tailPs: Float64Array;
  readonly stretches: (readonly Stretch[])[];
  begun: number;
  unsent: number;
  inFlight: number;
  sentPs: number;
}

/** Roles of messages; WRITE + k: to the k-th destination. */
const READ = 0;
const LOAD_HEAD = 1;
const STORE_HEAD = 2;
const WRITE = 3;

const SWITCH = VIA.indexOf("switch");

/**
 * Begins to move the data of an instruction. It is cut into pieces; a piece is written when it has been read, and the next one
 * begins when links have begun this one, so instructions take turns on a link.
 */
function beginTransfer(machine: Machine, i: number, now: number): void {
  const { program, npuOfRank, network, routes, rankOfBlock, blockOf } = machine;
  const rank = rankOfBlock[blockOf[i]];
  const turn = Math.max(0, program.blockId[blockOf[i]]);
  const transfer = transferOf(machine, i, rank, turn, now);
  machine.transfers[i] = transfer;
  const { reads, writes, load, store } = transfer;
  if (reads.length + writes.length === 0 && load === null && store === null) {
    schedule(network, transfer.sentPs, ISSUED, i);
    land(machine, i, now);
    return;
  }
  // a request goes out before data comes back
  let delay = 0;
  for (const { rank: from } of machine.adds.requests ? reads : []) {
    const route = routes.between(npuOfRank[rank], npuOfRank[from], npuOfRank[from] + turn);
    delay = Math.max(delay, latencyOf(network, route));
  }
  if (delay > 0) schedule(network, now + delay, PIECE, i);
  else nextPiece(machine, i, now);
}

function transferOf(machine: Machine, i: number, rank: number, turn: number, now: number): Transfer {
  const { program, topology, npuOfRank, routes, sizes, chunkPs } = machine;
  const { operandOffset, sourceCount, operandRank, chunks, via } = program;
  const [first, middle, end] = [operandOffset[i], operandOffset[i] + sourceCount[i], operandOffset[i + 1]];
  const npu = npuOfRank[rank];
  const group = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, k) => ({ npu: npuOfRank[operandRank[from + k]], operand: from + k }));
  const loads = via[i] === SWITCH && middle - first > 1;
  const stores = via[i] === SWITCH && (loads || end - middle > 1);
  const bySwitch = via[i] === SWITCH;
  const pieces = piecesOf(sizes, chunks[i], bySwitch);
  const reads = loads ? NO_WAYS : waysOf(machine, rank, turn, first, middle, true);
  const isAwaited = loads || reads.length > 0;
  return {
    rank,
    reads,
    writes: stores ? NO_WAYS : waysOf(machine, rank, turn, middle, end, false),
    load: loads ? loadWays(topology, routes, npu, group(first, middle)) : null,
    store: stores ? storeWays(topology, routes, npu, group(middle, end), group(first, middle)) : null,
    size: machine.rowOf(chunks[i], true, isPacket(program, i), bySwitch),
    pieces,
    awaited: isAwaited ? new Int32Array(pieces) : NONE_AWAITED,
    tailPs: isAwaited ? new Float64Array(pieces) : NO_TAILS,
    stretches: [],
    begun: 0,
    unsent: pieces,
    inFlight: 0,
    // what goes over a port is moved by the proxy of the GPU
    sentPs: via[i] === PORT ? now : now + Math.round(chunkPs * chunks[i]),
  };
}

/** Returns the ways between a rank and the others that some operands name. */
function waysOf(
  { program, npuOfRank, routes }: Machine,
  rank: number,
  turn: number,
  from: number,
  to: number,
  inwards: boolean,
): Way[] {
  const npu = npuOfRank[rank];
  const list: Way[] = [];
  for (let operand = from; operand < to; operand++) {
    const other = program.operandRank[operand];
    if (other === rank) continue;
    const there = npuOfRank[other];
    const route = inwards ? routes.between(there, npu, npu + turn) : routes.between(npu, there, there + turn);
    list.push({ route, rank: other, operand });
  }
  return list;
}

/** What a piece's message is for, and which way it goes. */
interface Errand {
  readonly route: Int32Array;
  readonly piece: number;
  readonly role: number;
  readonly early?: boolean;
}

const rolesOf = ({ writes, store }: Transfer): number => WRITE + Math.max(writes.length, store?.down.length ?? 0);

/** Sends a message; returns its number. `row`: of the timeline. */
function launch(
  network: ProgramNetwork,
  i: number,
  transfer: Transfer,
  { route, piece, role, early = false }: Errand,
  now: number,
  row: number,
  tailPs = 0,
): number {
  const part = piece * rolesOf(transfer) + role;
  return send(network, now, { route, size: transfer.size, owner: i, part, early, row, tailPs });
}

/** Sends the next piece of an instruction's data, or for it. */
function nextPiece(machine: Machine, i: number, now: number): void {
  const { network, timeline } = machine;
  const transfer = machine.transfers[i] as Transfer;
  const { reads, load, rank } = transfer;
  const piece = transfer.begun++;
  let startPs = now;
  if (load !== null) {
    transfer.awaited[piece] = load.up.length;
    for (const route of load.up) {
      launch(network, i, transfer, { route, piece, role: LOAD_HEAD, early: true }, now, -1);
      startPs = Math.max(startPs, network.startPs);
    }
  } else if (reads.length > 0) {
    transfer.awaited[piece] = reads.length;
    for (const { route, rank: from } of reads) {
      launch(network, i, transfer, { route, piece, role: READ }, now, timeline.begin(now, from, rank, i));
      startPs = Math.max(startPs, network.startPs);
    }
  } else startPs = write(machine, i, transfer, piece, now);
  if (transfer.begun < transfer.pieces) schedule(network, startPs, PIECE, i);
}

/** Sends a piece to its destinations; returns when links have begun it. */
function write(machine: Machine, i: number, transfer: Transfer, piece: number, now: number): number {
  const { network, timeline, signals, stretchOf, program } = machine;
  const { rank, writes, store } = transfer;
  let startPs = now;
  for (let k = 0; k < writes.length; k++) {
    const { route, rank: to } = writes[k];
    const row = timeline.begin(now, rank, to, i);
    const message = launch(network, i, transfer, { route, piece, role: WRITE + k }, now, row);
    stretchOf[message] = signals.begin(rank, to);
    transfer.inFlight++;
    if (network.inTurn) transfer.sentPs = Math.max(transfer.sentPs, network.sentPs);
    startPs = Math.max(startPs, network.startPs);
  }
  if (store !== null) {
    transfer.stretches[piece] = store.down.map(({ operand }) => signals.begin(rank, program.operandRank[operand]));
    transfer.inFlight += store.down.length;
    launch(network, i, transfer, { route: store.up[0], piece, role: STORE_HEAD, early: true }, now, -1);
    if (network.inTurn) transfer.sentPs = Math.max(transfer.sentPs, network.sentPs);
    startPs = network.startPs;
  }
  if (--transfer.unsent === 0) {
    schedule(network, Math.max(transfer.sentPs, now), ISSUED, i);
    if (transfer.inFlight === 0) land(machine, i, now);
  }
  return startPs;
}

/** A message has arrived. */
function arrive(machine: Machine, number: number, now: number): void {
  const { network, timeline, program, signals, stretchOf } = machine;
  const stretch = stretchOf[number] ?? null;
  stretchOf[number] = null;
  const { messages } = network;
  take(network, number);
  const owner = messages.owner[number];
  const part = messages.part[number];
  const tailPs = messages.tailPs[number];
  timeline.end(messages.row[number], now);
  const transfer = machine.transfers[owner] as Transfer;
  const roles = rolesOf(transfer);
  const [piece, role] = [Math.floor(part / roles), part % roles];
  if (stretch !== null) {
    const { operand } = (transfer.store?.down ?? transfer.writes)[role - WRITE];
    signals.arrive(stretch, transfer.rank, program.operandRank[operand], now);
  }
  arriveAs(machine, owner, transfer, piece, role, now, tailPs);
}

function arriveAs(
  machine: Machine,
  i: number,
  transfer: Transfer,
  piece: number,
  role: number,
  now: number,
  tailPs: number,
): void {
  const { network, timeline, program, stretchOf } = machine;
  const { rank, load, store, writes } = transfer;
  if (role === READ) {
    if (--transfer.awaited[piece] === 0) write(machine, i, transfer, piece, now);
  } else if (role === LOAD_HEAD) {
    transfer.tailPs[piece] = Math.max(transfer.tailPs[piece], tailPs);
    if (--transfer.awaited[piece] > 0) return;
    transfer.awaited[piece] = 1;
    const { route } = (load as SwitchWays).down[0];
    const row = timeline.begin(now, rank, rank, i);
    launch(network, i, transfer, { route, piece, role: READ }, now, row, transfer.tailPs[piece]);
  } else if (role === STORE_HEAD) {
    (store as SwitchWays).down.forEach(({ route, operand }, k) => {
      const row = timeline.begin(now, rank, program.operandRank[operand], i);
      const message = launch(network, i, transfer, { route, piece, role: WRITE + k }, now, row, tailPs);
      stretchOf[message] = transfer.stretches[piece][k];
    });
  } else {
    const { operand } = (store?.down ?? writes)[role - WRITE];
    if (piece === transfer.pieces - 1) written(machine, operand, i, now);
    if (--transfer.inFlight === 0 && transfer.unsent === 0) land(machine, i, now);
  }
}

/** Returns whether an instruction sends packets, or reads them elsewhere. */
function isPacket({ operandOffset, operandPacket }: Program, i: number): boolean {
  for (let o = operandOffset[i]; o < operandOffset[i + 1]; o++) if (operandPacket[o] === 1) return true;
  return false;
}

/** Ways of an operation of a switch: every link is loaded once. */
interface SwitchWays {
  /** From the sources to the switch; of a store, one. */
  readonly up: readonly Int32Array[];
  /** From the switch; of a load, one, to who asks. `operand`: which of the operands it serves. */
  readonly down: readonly { readonly route: Int32Array; readonly operand: number }[];
}

interface Group {
  readonly npu: number;
  readonly operand: number;
}

/**
 * Returns the ways of a load-reduce: everyone's data goes up to the switch, the sum comes down to `reader`. Throws InputError
 * where what lies between is no switch that reduces.
 */
function loadWays(topology: Topology, routes: ProgramRoutes, reader: number, group: readonly Group[]): SwitchWays {
  const once = onceOnly();
  const others = group.filter(({ npu }) => npu !== reader).map(({ npu }) => routes.between(npu, reader, 0));
  const last = others[0][others[0].length - 1];
  const hub = topology.linkSource[last];
  if (topology.nodeTraits[hub].aggregation !== true) throw unable(topology, hub, "reduces (aggregation)");
  const own = others.length < group.length ? [linkBetween(topology, reader, hub)] : [];
  const up = [...others.map((way) => once(way.subarray(0, -1))), ...own.map(once)].filter((way) => way.length > 0);
  return { up, down: [{ route: Int32Array.of(last), operand: -1 }] };
}

/**
 * Returns the ways of a store: the data goes up to the switch once, and down to everyone; what a rank stores to itself only, through
 * the switch from which it came. Throws InputError where what lies between is no switch that duplicates.
 */
function storeWays(
  topology: Topology,
  routes: ProgramRoutes,
  writer: number,
  group: readonly Group[],
  loaded: readonly Group[],
): SwitchWays {
  const once = onceOnly();
  const remote = [...group, ...loaded].find(({ npu }) => npu !== writer) as Group;
  const first = routes.between(writer, remote.npu, 0)[0];
  const hub = topology.linkTarget[first];
  if (group.length > 1 && topology.nodeTraits[hub].multicast !== true)
    throw unable(topology, hub, "duplicates (multicast)");
  const wayTo = (npu: number): Int32Array =>
    npu === writer ? linkBetween(topology, hub, writer) : routes.between(writer, npu, 0).subarray(1);
  const down = group.map(({ npu, operand }) => ({ route: once(wayTo(npu)), operand }));
  return { up: [Int32Array.of(first)], down: down.filter(({ route }) => route.length > 0) };
}

/** Returns a function that drops links it has seen before. */
function onceOnly(): (way: Int32Array) => Int32Array {
  const seen = new Set<number>();
  return (way) => way.filter((link) => !seen.has(link) && seen.add(link) !== undefined);
}

function linkBetween(topology: Topology, from: number, to: number): Int32Array {
  const out = outLinks(topology);
  const links = out.links.subarray(out.offset[from], out.offset[from + 1]);
  return links.filter((link) => topology.linkTarget[link] === to).subarray(0, 1);
}

const unable = (topology: Topology, node: number, does: string): InputError =>
  new InputError(`the network ${topology.name}`, `a switch that ${does}`, topology.nodeNames[node]);

/** Data between two signals from one rank to another: how much of it is on its way, and the signal that ends it. */
interface Stretch {
  inFlight: number;
  event: number;
  earliestPs: number;
}

/** Signals from rank to rank: none overtakes data that its rank had begun to send to the same one. */
interface Signals {
  /** Returns the stretch to which data sent now belongs. */
  readonly begin: (from: number, to: number) => Stretch;
  /** Data of a stretch has arrived. */
  readonly arrive: (stretch: Stretch, from: number, to: number, nowPs: number) => void;
  /** Sends a signal, which arrives no earlier than at `earliestPs`. */
  readonly signal: (from: number, to: number, event: number, nowPs: number, earliestPs: number) => void;
}

/** Returns the signals of a program; they are announced by events of this kind with the event's number. */
function signalsOf(network: ProgramNetwork, rankCount: number, kind: number): Signals {
  const stretches = new Map<number, Stretch[]>();
  const of = (from: number, to: number): Stretch[] => {
    const key = from * rankCount + to;
    let list = stretches.get(key);
    if (list === undefined) {
      list = [{ inFlight: 0, event: -1, earliestPs: 0 }];
      stretches.set(key, list);
    }
    return list;
  };
  const settle = (list: Stretch[], nowPs: number): void => {
    while (list[0].event >= 0 && list[0].inFlight === 0) {
      schedule(network, Math.max(nowPs, list[0].earliestPs), kind, list[0].event);
      list.shift();
    }
  };
  return {
    begin(from, to) {
      const list = of(from, to);
      const stretch = list[list.length - 1];
      stretch.inFlight++;
      return stretch;
    },
    arrive(stretch, from, to, nowPs) {
      stretch.inFlight--;
      settle(of(from, to), nowPs);
    },
    signal(from, to, event, nowPs, earliestPs) {
      const list = of(from, to);
      const open = list[list.length - 1];
      open.event = event;
      open.earliestPs = earliestPs;
      list.push({ inFlight: 0, event: -1, earliestPs: 0 });
      settle(list, nowPs);
    },
  };
}
