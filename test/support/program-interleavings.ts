import { draw, random } from "../../src/base/random.ts";
import { OPS, type Program, WAIT_BARRIER, WAIT_EVENT, WAIT_INSTRUCTION } from "../../src/model/program/program.ts";
import { dueOf, givenOf, placeOf } from "./program-definition.ts";

/** How one interleaving went. */
export type Verdict = "right" | "wrong" | "hangs" | "unwritten" | "outside";

/** Pairs of instructions that met on a chunk of memory, one of them writing: "earlier later". */
export type Orders = Set<string>;

interface Task {
  readonly i: number;
  /** -1: what follows the last chunk, its posts. */
  readonly chunk: number;
  done: boolean;
}

interface RunningBlock {
  readonly b: number;
  readonly rank: number;
  readonly windows: readonly Task[][];
  at: number;
  /** Arrivals at the barrier where it is that let it go on; -1: it has not come to one. */
  goal: number;
}

/**
 * Runs a program on integers in one interleaving drawn by `seed`, by plain interpretation: a chunk of an instruction at a time,
 * of mscclpp all between two nops in any order; blocks by priorities that change now and then, so that some run far ahead.
 * Returns how it went; with `orders`, it also collects who came first on each chunk. Slow and simple.
 */
export function interpret(
  program: Program,
  placement: "in" | "out",
  capacity: number,
  seed: number,
  orders?: Orders,
): Verdict {
  const draws = random(seed, 77);
  const memory = new Map<string, number>();
  const accesses = new Map<string, { i: number; writes: boolean }[]>();
  const packets = new Set<string>();
  const fifos = new Map<string, number[]>();
  const events = [...program.eventInitial];
  const arrivals = Array.from(program.barrierRank, () => 0);
  const complete = new Set<number>();
  const begun = new Set<number>();
  let fault: Verdict | null = null;

  const token = (rank: number, chunk: number): number => draw(5, rank, chunk) % 2 ** 30;
  for (const { place, rank, chunk } of givenOf(program, placement)) memory.set(place, token(rank, chunk));

  const blocks = Array.from(program.blockId, (_, b): RunningBlock => {
    const rank = program.blockOffset.findIndex((offset) => offset > b) - 1;
    return { b, rank, windows: windowsOf(program, b), at: 0, goal: -1 };
  });
  const fifo = (from: number, to: number, channel: number): number[] => {
    const key = `${from} ${to} ${channel}`;
    const list = fifos.get(key) ?? [];
    fifos.set(key, list);
    return list;
  };
  const sendFifo = ({ b, rank }: RunningBlock) => fifo(rank, program.sendPeer[b], program.channel[b]);
  const receiveFifo = ({ b, rank }: RunningBlock) => fifo(program.recvPeer[b], rank, program.channel[b]);

  const published = (wanted: number): boolean => {
    const b = program.instructionOffset.findIndex((offset) => offset > wanted) - 1;
    for (let i = wanted; i < program.instructionOffset[b + 1]; i++)
      if (complete.has(i) && program.publishes[i] === 1) return true;
    return false;
  };
  const mayBegin = (block: RunningBlock, i: number): boolean => {
    if (begun.has(i)) return true;
    for (let w = program.waitOffset[i]; w < program.waitOffset[i + 1]; w++) {
      const on = program.waitOn[w];
      if (program.waitKind[w] === WAIT_INSTRUCTION && !published(on)) return false;
      if (program.waitKind[w] === WAIT_EVENT && events[on] < 1) return false;
      if (program.waitKind[w] === WAIT_BARRIER) {
        if (block.goal < 0) {
          arrivals[on]++;
          block.goal = Math.ceil(arrivals[on] / program.barrierBlocks[on]) * program.barrierBlocks[on];
        }
        if (arrivals[on] < block.goal) return false;
      }
    }
    return true;
  };
  const placesOf = (i: number, chunk: number, side: "sources" | "destinations") => {
    const middle = program.operandOffset[i] + program.sourceCount[i];
    const [first, last] =
      side === "sources" ? [program.operandOffset[i], middle] : [middle, program.operandOffset[i + 1]];
    const list: { place: string; packet: boolean }[] = [];
    for (let o = first; o < last; o++) {
      const index = program.operandIndex[o] + chunk;
      const place = placeOf(program, placement, program.operandRank[o], program.operandBuffer[o], index);
      if (place === null) fault = "outside";
      else list.push({ place, packet: program.operandPacket[o] === 1 });
    }
    return list;
  };
  const windowOf = (block: RunningBlock): readonly Task[] => block.windows[block.at] ?? [];
  const mayRun = (block: RunningBlock, task: Task): boolean => {
    const { i, chunk } = task;
    if (!mayBegin(block, i)) return false;
    if (chunk < 0) return windowOf(block).every((other) => other.i !== i || other.done || other === task);
    if (program.receives[i] === 1 && receiveFifo(block).length === 0) return false;
    if (program.sends[i] === 1 && sendFifo(block).length >= capacity) return false;
    return placesOf(i, chunk, "sources").every(({ place, packet }) => !packet || packets.has(place));
  };
  const note = (i: number, place: string, writes: boolean): void => {
    if (orders === undefined) return;
    const list = accesses.get(place) ?? [];
    accesses.set(place, list);
    for (const other of list) if (other.i !== i && (other.writes || writes)) orders.add(`${other.i} ${i}`);
    list.push({ i, writes });
  };
  const perform = (block: RunningBlock, task: Task): void => {
    const { i, chunk } = task;
    task.done = true;
    if (!begun.has(i))
      for (let w = program.waitOffset[i]; w < program.waitOffset[i + 1]; w++)
        if (program.waitKind[w] === WAIT_EVENT) events[program.waitOn[w]]--;
    begun.add(i);
    if (chunk < 0) {
      complete.add(i);
      block.goal = -1;
      for (let p = program.postOffset[i]; p < program.postOffset[i + 1]; p++) events[program.postOn[p]]++;
      return;
    }
    const sources = placesOf(i, chunk, "sources");
    const destinations = placesOf(i, chunk, "destinations");
    const parts = program.receives[i] === 1 ? [receiveFifo(block).shift() as number] : [];
    for (const { place } of sources) {
      note(i, place, false);
      const value = memory.get(place);
      if (value === undefined) fault ??= "unwritten";
      else parts.push(value);
    }
    const value = parts.reduce((sum, part) => sum + part, 0);
    for (const { place, packet } of destinations) {
      note(i, place, true);
      memory.set(place, value);
      if (packet) packets.add(place);
    }
    if (program.sends[i] === 1) sendFifo(block).push(value);
  };
  const choices = (block: RunningBlock): Task[] => {
    while (block.at < block.windows.length && windowOf(block).every(({ done }) => done)) block.at++;
    const open = windowOf(block).filter(({ done }) => !done);
    const inTurn = program.machine === "msccl" ? open.slice(0, 1) : open;
    return inTurn.filter((task) => mayRun(block, task));
  };

  const priority = blocks.map(() => draws.next());
  const steadiness = draws.below(20) + 1;
  for (let ran = true; ran && fault === null; ) {
    ran = false;
    for (const b of blocks.map((_, k) => k).sort((x, y) => priority[x] - priority[y])) {
      const tasks = choices(blocks[b]);
      if (tasks.length === 0) continue;
      perform(blocks[b], tasks[draws.below(tasks.length)]);
      if (draws.below(steadiness) === 0) priority[b] = draws.next();
      ran = true;
      break;
    }
  }
  if (fault !== null) return fault;
  if (blocks.some((block) => block.at < block.windows.length)) return "hangs";
  for (const { place, from } of dueOf(program, placement)) {
    const due = from.reduce((sum, [rank, chunk]) => sum + token(rank, chunk), 0);
    if (memory.get(place) !== due) return "wrong";
  }
  return "right";
}

/** Returns the tasks of a block, cut where all that precede must be over: of msccl after every instruction. */
function windowsOf(program: Program, b: number): Task[][] {
  const windows: Task[][] = [[]];
  for (let i = program.instructionOffset[b]; i < program.instructionOffset[b + 1]; i++) {
    let meets = program.machine === "msccl" || OPS[program.op[i]] === "nop";
    for (let w = program.waitOffset[i]; w < program.waitOffset[i + 1]; w++)
      if (program.waitKind[w] === WAIT_BARRIER) meets = true;
    if (meets) windows.push([]);
    const now = windows[windows.length - 1];
    const moves = program.operandOffset[i + 1] > program.operandOffset[i] || program.sends[i] + program.receives[i] > 0;
    for (let chunk = 0; moves && chunk < program.chunks[i]; chunk++) now.push({ i, chunk, done: false });
    now.push({ i, chunk: -1, done: false });
    if (meets) windows.push([]);
  }
  return windows.filter((tasks) => tasks.length > 0);
}
