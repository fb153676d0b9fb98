import { InputError } from "../../base/errors.ts";
import { toNumber } from "../../model/numbers/rational.ts";
import { blockCount, blockOfInstructions, instructionCount, rankOfBlocks } from "../../model/program/program.ts";
import { connectionsOf } from "./program-connections.ts";
import { type Outcome, REPORT, type Setup } from "./program-machine.ts";
import { ARRIVAL, enter, HEAD, KINDS, schedule, send, take } from "./program-network.ts";
import { messagesOf, sizeTable } from "./program-sizes.ts";
import { waiting, waitOn, wakeAll } from "./program-waiting.ts";

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
  const { program, npuOfRank, sizes, network, routes, timeline, localPsPerByte, onProgress } = setup;
  const { instructionOffset, waitOffset, waitOn: awaited, chunks, sends, receives, publishes } = program;
  const { passes, chunksPerMessage, cuts, slots } = sizes;
  const blocks = blockCount(program);
  const count = instructionCount(program);
  const rankOfBlock = rankOfBlocks(program);
  const blockOf = blockOfInstructions(program);
  const connections = connectionsOf(program, rankOfBlock, npuOfRank, routes, network);
  const { sendsInto, receivesFrom, source, target, route, latencyPs } = connections;
  const rowOf = sizeTable(program, sizes, network);
  const bytesOfChunk = toNumber(sizes.chunkBytes);

  const links = source.length;
  /** [connections] messages. */
  const arrived = new Float64Array(links);
  const taken = new Float64Array(links);
  const sent = new Float64Array(links);
  if (links * slots > MOST_ROOM)
    throw new InputError("slots", `at most ${Math.floor(MOST_ROOM / links)} for ${links} connections`, slots);
  /** [connections x slots] when the sender knows that its slot is free again. */
  const freeAt = new Float64Array(links * slots);
  const [ROOM, PUBLISHED] = [links, 2 * links];
  const waiters = waiting(2 * links + blocks, blocks);
  /** [blocks] last instruction published, over all passes: pass x instructions + instruction. */
  const published = new Float64Array(blocks).fill(-1);

  /** [blocks] where it is: pass, instruction, waits that are over, message of the instruction. */
  const pass = new Float64Array(blocks);
  const at = Int32Array.from(instructionOffset.subarray(0, blocks));
  const waited = new Int32Array(blocks);
  const piece = new Int32Array(blocks);
  const blockEndPs = new Float64Array(blocks);
  let instructions = 0;

  const run = (b: number, now: number): void => {
    while (pass[b] < passes) {
      if (at[b] === instructionOffset[b + 1]) {
        at[b] = instructionOffset[b];
        pass[b] = at[b] === instructionOffset[b + 1] ? passes : pass[b] + 1;
        continue;
      }
      const end = advance(b, at[b], now);
      if (end < 0) return;
      if (end > now) {
        schedule(network, end, DONE, b);
        return;
      }
      finish(b, at[b], now);
    }
  };

  /** Begins the block's next message or step; returns when it is done, -1 where it has to wait. */
  const advance = (b: number, i: number, now: number): number => {
    while (waited[b] < waitOffset[i + 1] - waitOffset[i]) {
      const on = awaited[waitOffset[i] + waited[b]];
      if (published[blockOf[on]] < pass[b] * count + on) {
        waitOn(waiters, PUBLISHED + blockOf[on], b);
        return -1;
      }
      waited[b]++;
    }
    const from = receives[i] === 1 ? receivesFrom[b] : -1;
    const into = sends[i] === 1 ? sendsInto[b] : -1;
    if (from >= 0 && arrived[from] <= taken[from]) {
      waitOn(waiters, from, b);
      return -1;
    }
    if (into >= 0 && sent[into] >= slots) {
      const free = freeAt[into * slots + (sent[into] % slots)];
      if (free > now) {
        if (free < Number.POSITIVE_INFINITY) schedule(network, free, RUN, b);
        else waitOn(waiters, ROOM + into, b);
        return -1;
      }
    }
    const moved = travels(i) ? chunksOfMessage(i, piece[b]) / cuts : chunks[i];
    let end = now + Math.round(localPsPerByte * moved * bytesInPass(pass[b]));
    if (into >= 0) {
      freeAt[into * slots + (sent[into] % slots)] = Number.POSITIVE_INFINITY;
      sent[into]++;
      const row = timeline.begin(now, source[into], target[into], i);
      const size = rowOf(chunksOfMessage(i, piece[b]), pass[b] === passes - 1, false);
      send(network, now, { route: route[into], size, owner: into, part: 0, early: false, row });
      end = Math.max(end, network.sentPs);
    }
    return end;
  };

  const travels = (i: number): boolean => receives[i] + sends[i] > 0;
  const bytesInPass = (k: number): number =>
    k < passes - 1 ? sizes.sliceBytes : bytesOfChunk - (passes - 1) * sizes.sliceBytes;
  const chunksOfMessage = (i: number, part: number): number =>
    Math.min(chunksPerMessage, chunks[i] - Math.floor(part / cuts) * chunksPerMessage);

  /** Ends what `advance` began. */
  const finish = (b: number, i: number, now: number): void => {
    const from = receives[i] === 1 ? receivesFrom[b] : -1;
    if (from >= 0) {
      const known = now + latencyPs[from];
      freeAt[from * slots + (taken[from] % slots)] = known;
      taken[from]++;
      wakeAll(waiters, ROOM + from, (waiter) => schedule(network, known, RUN, waiter));
    }
    blockEndPs[b] = now;
    if (++piece[b] < (travels(i) ? messagesOf(sizes, chunks[i]) : 1)) return;
    piece[b] = 0;
    waited[b] = 0;
    at[b]++;
    instructions++;
    if (publishes[i] === 0) return;
    published[b] = pass[b] * count + i;
    wakeAll(waiters, PUBLISHED + b, (waiter) => schedule(network, now, RUN, waiter));
  };

  for (let b = 0; b < blocks; b++) run(b, 0);
  const { queue } = network;
  for (let events = 1; queue.next(); events++) {
    const index = Math.floor(queue.payload / KINDS);
    const kind = queue.payload % KINDS;
    if (kind === HEAD) enter(network, index, queue.time);
    else if (kind === RUN) run(index, queue.time);
    else if (kind === DONE) {
      finish(index, at[index], queue.time);
      run(index, queue.time);
    } else if (kind === ARRIVAL) {
      const { owner, row } = take(network, index);
      timeline.end(row, queue.time);
      arrived[owner]++;
      wakeAll(waiters, owner, (waiter) => run(waiter, queue.time));
    }
    if (events % REPORT === 0) onProgress(instructions, count * passes);
  }
  const stuck = Array.from(at).filter((_, b) => pass[b] < passes);
  return { blockEndPs, instructions, stuck };
}
