import { random } from "../base/random.ts";
import { faultsOf, leftIn, type Plan } from "./execute.ts";
import type { Fault } from "./fault.ts";
import { interleaver, type Neighbours } from "./interleave.ts";
import { type Judgement, judge } from "./judge.ts";
import { beginMachine, type Machine, machineOf, RANDOM_ORDER, waitText } from "./machine.ts";
import { beginPass, contentsOf, type ElementType, fillRank, type Memory } from "./memory.ts";

/** What one of several threads that run a program together is started with. */
export interface ThreadSetup {
  /** In shared memory, as all of its columns. */
  readonly plan: Plan;
  readonly memory: Memory;
  readonly type: ElementType;
  readonly seed: number;
  readonly thread: number;
  readonly threads: number;
  /** [controlLength(threads)] shared. */
  readonly control: Int32Array;
}

/** What a thread did and saw. */
export interface ThreadReport {
  readonly instructions: number;
  readonly bytes: number;
  readonly faults: readonly Fault[];
  readonly waits: readonly string[];
  /** Of its share of the outputs; null where the program did not end well. */
  readonly judgement: Judgement | null;
}

/** Words of `control`: 1 once all must stop; 1 once someone saw a fault; threads that ended the pass; passes begun. */
const STOP = 0;
const FAULTY = 1;
const ARRIVED = 2;
const PASS = 3;
/** For every thread: how often others rang, and 1 + the rings after which it found nothing to do (-1: its pass has ended). */
const BELL = 4;

/** Threads look up so often when nobody rings. */
const LOOK_UP_MS = 100;

export const controlLength = (threads: number): number => BELL + 2 * threads;

/** Returns which thread runs a rank. */
const threadOf = (rank: number, threads: number): number => rank % threads;

/**
 * Runs a thread's ranks side by side with the other threads, pass by pass; returns what came of it. Blocks that wait sleep until
 * another thread does what may set them free. When every thread has found that nothing of its own can go on, after the last ring
 * of any other, the program is stuck and all return.
 */
export function runThread(setup: ThreadSetup): ThreadReport {
  const { plan, memory, type, seed, thread, threads, control } = setup;
  const { program, layout, wiring, room } = plan;
  const ranks = Array.from({ length: program.rankCount }, (_, r) => r).filter((r) => threadOf(r, threads) === thread);
  const machine = machineOf(program, wiring, layout, memory, room, ranks);
  const contents = contentsOf(program, type, seed);
  for (const r of ranks) fillRank(program, layout, memory, contents, r);
  const faults = faultsOf(machine);
  const draws = random(seed, 0x04de + thread);
  const run = interleaver(machine, ranks, RANDOM_ORDER, draws, neighboursOf(setup, machine));
  const report = (waits: readonly string[], judgement: Judgement | null): ThreadReport => {
    const { instructions, bytes } = machine;
    return { instructions, bytes, faults, waits, judgement };
  };

  meet(setup, machine, faults, () => beginPass(program, layout, wiring, memory));
  for (let from = 0; from < layout.chunkElements; from += layout.sliceElements) {
    beginMachine(machine, from, Math.min(layout.sliceElements, layout.chunkElements - from));
    const waiting = run();
    if (waiting.length > 0) {
      const words = waiting.map((w) => waitText(program, wiring, layout, machine.resources, w.instruction, w.resource));
      return report(words, null);
    }
    if (faults.length > 0) Atomics.store(control, FAULTY, 1);
    meet(setup, machine, faults, () => beginPass(program, layout, wiring, memory));
    if (Atomics.load(control, STOP) === 1) return report([], null);
  }
  return report([], judge(program, layout, memory, contents, thread, threads));
}

/** Waits until all threads have come here; the last one looks for what was left over and then prepares what follows. */
function meet({ control, threads, thread }: ThreadSetup, machine: Machine, faults: Fault[], prepare: () => void): void {
  const pass = Atomics.load(control, PASS);
  Atomics.store(control, BELL + 2 * thread + 1, -1);
  if (Atomics.add(control, ARRIVED, 1) + 1 === threads) {
    faults.push(...leftIn(machine));
    if (faults.length > 0 || Atomics.load(control, FAULTY) === 1) Atomics.store(control, STOP, 1);
    prepare();
    Atomics.store(control, ARRIVED, 0);
    for (let t = 0; t < threads; t++) Atomics.store(control, BELL + 2 * t + 1, 0);
    Atomics.add(control, PASS, 1);
    Atomics.notify(control, PASS);
    return;
  }
  while (Atomics.load(control, PASS) === pass) {
    // Others may be stuck, and then never come.
    if (isStuck(control, threads)) return void Atomics.store(control, STOP, 1);
    Atomics.wait(control, PASS, pass, LOOK_UP_MS);
  }
}

function neighboursOf({ plan, control, thread, threads }: ThreadSetup, machine: Machine): Neighbours {
  const threadsOf = waitingThreads(plan, machine, threads);
  const bell = BELL + 2 * thread;
  let seen = -1;
  const ringAt = (other: number): void => {
    Atomics.add(control, BELL + 2 * other, 1);
    Atomics.notify(control, BELL + 2 * other);
  };
  return {
    ring(resource) {
      const other = threadsOf(resource);
      if (other >= 0 && other !== thread) ringAt(other);
      else if (other < 0) for (let t = 0; t < threads; t++) if (t !== thread) ringAt(t);
    },
    // All that waits here was tried after `seen` was read, so it has to wait at least until the next ring.
    idle() {
      while (Atomics.load(control, bell) === seen) {
        Atomics.store(control, bell + 1, seen + 1);
        if (isStuck(control, threads)) return false;
        Atomics.wait(control, bell, seen, LOOK_UP_MS);
      }
      Atomics.store(control, bell + 1, 0);
      seen = Atomics.load(control, bell);
      return true;
    },
  };
}

/**
 * Returns whether no thread can ever go on: some are idle, the others have ended, and since each looked nobody rang. Two equal
 * looks, for behind the first a thread may ring and then fall idle.
 */
function isStuck(control: Int32Array, threads: number): boolean {
  let rings = -1;
  for (let look = 0; look < 2; look++) {
    let sum = 0;
    let idle = 0;
    for (let t = 0; t < threads; t++) {
      const state = Atomics.load(control, BELL + 2 * t + 1);
      const bell = Atomics.load(control, BELL + 2 * t);
      sum += bell;
      if (state === -1) continue;
      if (state !== bell + 1) return false;
      idle++;
    }
    if (idle === 0 || (look > 0 && sum !== rings)) return false;
    rings = sum;
  }
  return true;
}

/** Returns a function that says which thread may wait for a resource; -1: any. */
function waitingThreads({ program, wiring, layout }: Plan, { resources }: Machine, threads: number) {
  const rankOf = (resource: number): number => {
    if (resource < resources.room) return wiring.targetRank[resource];
    if (resource < resources.published) return wiring.sourceRank[resource - resources.room];
    if (resource < resources.event) return wiring.rankOfBlock[resource - resources.published];
    if (resource < resources.barrier) return program.eventRank[resource - resources.event];
    if (resource < resources.packet) return program.barrierRank[resource - resources.barrier];
    return -1;
  };
  const fixed = Int32Array.from({ length: resources.packet }, (_, resource) => threadOf(rankOf(resource), threads));
  const readElsewhere = packetsReadElsewhere(program, wiring.blockOfInstruction, wiring.rankOfBlock);
  const { rankStart } = layout;
  const ownerOf = (chunk: number): number => {
    let low = 0;
    let high = program.rankCount;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (rankStart[middle] <= chunk) low = middle;
      else high = middle;
    }
    return low;
  };
  return (resource: number): number => {
    if (resource < resources.packet) return fixed[resource];
    return readElsewhere ? -1 : threadOf(ownerOf(resource - resources.packet), threads);
  };
}

/** Returns whether a rank reads packets in the memory of another. */
function packetsReadElsewhere(program: Plan["program"], blockOf: Int32Array, rankOfBlock: Int32Array): boolean {
  for (let i = 0; i < program.op.length; i++) {
    const first = program.operandOffset[i];
    for (let o = first; o < first + program.sourceCount[i]; o++)
      if (program.operandPacket[o] === 1 && program.operandRank[o] !== rankOfBlock[blockOf[i]]) return true;
  }
  return false;
}
