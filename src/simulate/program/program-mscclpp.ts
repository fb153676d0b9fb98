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
import { type Outcome, REPORT, type Setup } from "./program-machine.ts";
import { ARRIVAL, enter, HEAD, KINDS, latencyOf, schedule } from "./program-network.ts";
import { signalsOf } from "./program-signals.ts";
import { transfersOf } from "./program-transfers.ts";
import { waiting, waitOn, wakeAll, wakeOne } from "./program-waiting.ts";

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
  const { program, npuOfRank, network, routes, onProgress } = setup;
  const { instructionOffset, waitOffset, waitKind, waitOn: awaited, postOffset, postOn, via, op, chunks } = program;
  const { operandOffset, sourceCount, operandPacket, eventRank, eventPeer } = program;
  const blocks = blockCount(program);
  const count = instructionCount(program);
  const rankOfBlock = rankOfBlocks(program);
  const blockOf = blockOfInstructions(program);
  const windowEnd = windowEnds(program);
  const packets = packetsOf(program);
  const events = program.eventInitial.length;
  const [BARRIERS, PACKETS] = [events, events + program.barrierId.length];
  const FLUSHES = PACKETS + packets.count;
  const waiters = waiting(FLUSHES + blocks, count);
  const tokens = Float64Array.from(program.eventInitial);
  const tickets = new Float64Array(program.barrierId.length);
  const packetThere = new Uint8Array(packets.count);
  const signals = signalsOf(network, program.rankCount, SIGNAL);

  /** [blocks] first instruction of its window, and how many of the window are not complete. */
  const at = Int32Array.from(instructionOffset.subarray(0, blocks));
  const open = new Int32Array(blocks);
  /** [instructions] waits that are over. */
  const waited = new Int32Array(count);
  const done = new Uint8Array(count);
  const blockEndPs = new Float64Array(blocks);
  /** [blocks] port instructions that have not left, in order; the first is under way. */
  const ports = Array.from({ length: blocks }, (): number[] => []);
  /** [blocks] how many have not left or not landed. */
  const portOpen = new Int32Array(blocks);
  /** [instructions] of these: leaving and landing. */
  const ahead = new Uint8Array(count);
  let instructions = 0;

  const wake = (resource: number, now: number): void =>
    wakeAll(waiters, resource, (i) => schedule(network, now, RESUME, i));

  const addToken = (event: number, now: number): void => {
    tokens[event]++;
    wakeOne(waiters, event, (i) => schedule(network, now, RESUME, i));
  };

  const startWindow = (b: number, now: number): void => {
    if (at[b] === instructionOffset[b + 1]) return;
    const [from, to] = [at[b], windowEnd[at[b]]];
    open[b] = to - from;
    for (let i = from; i < to; i++) resume(i, now);
  };

  const complete = (i: number, now: number): void => {
    if (done[i] === 1) return;
    const b = blockOf[i];
    done[i] = 1;
    instructions++;
    blockEndPs[b] = now;
    if (--open[b] > 0) return;
    at[b] = windowEnd[i];
    schedule(network, now, WINDOW, b);
  };

  /** Returns the resource for which an instruction has to wait, -1 where it may go on. */
  const obstacle = (i: number, now: number): number => {
    for (; waited[i] < waitOffset[i + 1] - waitOffset[i]; waited[i]++) {
      const wait = waitOffset[i] + waited[i];
      const on = awaited[wait];
      if (waitKind[wait] === WAIT_EVENT) {
        if (tokens[on] <= 0) return on;
        tokens[on]--;
      } else if (waitKind[wait] === WAIT_BARRIER) {
        if (++tickets[on] % Math.max(1, program.barrierBlocks[on]) !== 0) {
          waited[i]++;
          return BARRIERS + on;
        }
        wake(BARRIERS + on, now);
      }
    }
    for (let o = operandOffset[i]; o < operandOffset[i] + sourceCount[i]; o++) {
      if (operandPacket[o] === 0) continue;
      for (let k = 0; k < chunks[i]; k++) {
        const packet = packets.numberOf(o, k);
        if (packetThere[packet] === 0) return PACKETS + packet;
      }
    }
    return op[i] === FLUSH && portOpen[blockOf[i]] > 0 ? FLUSHES + blockOf[i] : -1;
  };

  const resume = (i: number, now: number): void => {
    const resource = obstacle(i, now);
    if (resource >= 0) {
      waitOn(waiters, resource, i);
      return;
    }
    const b = blockOf[i];
    if (via[i] !== PORT || op[i] === FLUSH || (chunks[i] === 0 && postOffset[i + 1] === postOffset[i])) {
      begin(i, now);
      return;
    }
    portOpen[b]++;
    ahead[i] = chunks[i] > 0 ? 2 : 1;
    if (ports[b].push(i) === 1) begin(i, now);
    if (op[i] !== PUT_SIGNAL_FLUSH) complete(i, now);
  };

  const begin = (i: number, now: number): void => {
    const b = blockOf[i];
    if (chunks[i] > 0) transfers.begin(i, rankOfBlock[b], Math.max(0, program.blockId[b]), now);
    else if (via[i] === PORT) schedule(network, now, ISSUED, i);
    else issue(i, now);
  };

  /** Its data has left: it posts, and what comes behind it may go on. */
  const issue = (i: number, now: number): void => {
    const b = blockOf[i];
    for (let o = operandOffset[i] + sourceCount[i]; o < operandOffset[i + 1]; o++)
      if (program.operandRank[o] === rankOfBlock[b]) written(o, i, now);
    for (let p = postOffset[i]; p < postOffset[i + 1]; p++) post(postOn[p], rankOfBlock[b], now);
    if (via[i] === PORT && ports[b][0] === i) {
      ports[b].shift();
      settle(i, now);
      if (ports[b].length > 0) begin(ports[b][0], now);
    }
    if (via[i] !== PORT || op[i] !== PUT_SIGNAL_FLUSH) complete(i, now);
  };

  const post = (event: number, rank: number, now: number): void => {
    const to = eventRank[event];
    if (to === rank || eventPeer[event] === to) {
      addToken(event, now);
      return;
    }
    const there = npuOfRank[to];
    const route = routes.between(npuOfRank[rank], there, there);
    signals.signal(rank, to, event, now, now + latencyOf(network, route));
  };

  /** A port instruction has left, or landed. */
  const settle = (i: number, now: number): void => {
    if (via[i] !== PORT || --ahead[i] > 0) return;
    const b = blockOf[i];
    if (--portOpen[b] === 0) wake(FLUSHES + b, now);
    if (op[i] === PUT_SIGNAL_FLUSH) complete(i, now);
  };

  const written = (operand: number, i: number, now: number): void => {
    if (operandPacket[operand] === 0) return;
    for (let k = 0; k < chunks[i]; k++) {
      const packet = packets.numberOf(operand, k);
      packetThere[packet] = 1;
      wake(PACKETS + packet, now);
    }
  };

  const transfers = transfersOf(setup, signals, PIECE, {
    issued: (i, atPs) => schedule(network, atPs, ISSUED, i),
    landed: settle,
    written,
  });

  for (let b = 0; b < blocks; b++) schedule(network, 0, WINDOW, b);
  const { queue } = network;
  for (let n = 1; queue.next(); n++) {
    const index = Math.floor(queue.payload / KINDS);
    const now = queue.time;
    switch (queue.payload % KINDS) {
      case HEAD:
        enter(network, index, now);
        break;
      case ARRIVAL:
        transfers.arrive(index, now);
        break;
      case RESUME:
        resume(index, now);
        break;
      case WINDOW:
        startWindow(index, now);
        break;
      case PIECE:
        transfers.nextPiece(index, now);
        break;
      case ISSUED:
        issue(index, now);
        break;
      case SIGNAL:
        addToken(index, now);
        break;
    }
    if (n % REPORT === 0) onProgress(instructions, count);
  }
  return { blockEndPs, instructions, stuck: stuckIn(at, instructionOffset, windowEnd, done) };
}

/** Returns the instructions of unfinished windows that are not done. */
function stuckIn(at: Int32Array, offset: Int32Array, windowEnd: Int32Array, done: Uint8Array): number[] {
  const stuck: number[] = [];
  at.forEach((from, b) => {
    if (from === offset[b + 1]) return;
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
      if (total > MOST_PACKETS) throw new InputError(program.name, `at most ${MOST_PACKETS} chunks in packets`, total);
      for (let k = 0; k < chunks[i]; k++) if (!numbers.has(key(o, k))) numbers.set(key(o, k), numbers.size);
    }
  return { numberOf: (o, k) => numbers.get(key(o, k)) ?? 0, count: numbers.size };
}
