import type { Random } from "../base/random.ts";
import { WAIT_BARRIER, WAIT_EVENT } from "../model/program/program.ts";
import { CLASSES, type Machine, type Order } from "./machine.ts";
import type { Elements } from "./memory.ts";

/** An instruction that waits for a resource for ever. */
export interface Waiting {
  readonly instruction: number;
  readonly resource: number;
}

/** Instructions that can go on, of one class: a ring of places. */
interface Ready {
  readonly items: Int32Array;
  first: number;
  count: number;
}

/** What the threads of a program say to each other; a program on one thread has none. */
export interface Neighbours {
  /** A resource may have become free for others. */
  ring(resource: number): void;
  /** Nothing can go on here. Returns true once something may have become free, false where nothing ever will. */
  idle(): boolean;
}

const ALONE: Neighbours = { ring: () => {}, idle: () => false };

/**
 * Returns a function that runs the given ranks of a machine once, one bit of an instruction at a time in the given order, until
 * nothing can go on, and returns the instructions that still wait; none where they are complete. O(instructions x chunks) bits.
 */
export function interleaver(
  machine: Machine,
  ranks: readonly number[],
  order: Order,
  draws: Random,
  neighbours: Neighbours = ALONE,
): () => Waiting[] {
  const { program, wiring, resources, memory } = machine;
  const { instructionOffset, blockOffset } = program;
  const { windowEnd, blockOfInstruction } = wiring;
  const { classOfBlock } = order;
  let width = 0;
  for (const r of ranks) for (let b = blockOffset[r]; b < blockOffset[r + 1]; b++) width += wiring.widthOfBlock[b];
  const queue = queueOf(order, draws, width, classOfBlock === null ? 1 : CLASSES);
  const push = (i: number): void => queue.push(i, classOfBlock === null ? 0 : classOfBlock[blockOfInstruction[i]]);

  const waiters = new Int32Array(resources.packet + memory.packets.length).fill(-1);
  const nextWaiter = new Int32Array(program.op.length);
  let waitingCount = 0;
  const release = (resource: number): void => {
    for (let i = waiters[resource]; i >= 0; i = nextWaiter[i]) {
      waitingCount--;
      push(i);
    }
    waiters[resource] = -1;
  };
  machine.wake = (resource) => {
    if (waiters[resource] >= 0) release(resource);
    neighbours.ring(resource);
  };

  /** [blocks] instructions of the current window that are not complete. */
  const left = new Int32Array(program.blockId.length);
  const open = (block: number, from: number): void => {
    if (from === instructionOffset[block + 1]) return;
    left[block] = windowEnd[from] - from;
    for (let i = from; i < windowEnd[from]; i++) push(i);
  };

  return () => {
    for (const r of ranks) for (let b = blockOffset[r]; b < blockOffset[r + 1]; b++) open(b, instructionOffset[b]);
    for (;;) {
      for (let i = queue.pop(); i >= 0; i = queue.pop()) {
        const resource = advance(machine, i);
        if (resource === AGAIN) push(i);
        else if (resource === DONE) {
          const block = blockOfInstruction[i];
          if (--left[block] === 0) open(block, windowEnd[i]);
        } else {
          nextWaiter[i] = waiters[resource];
          waiters[resource] = i;
          waitingCount++;
        }
      }
      if (waitingCount === 0 || !neighbours.idle()) break;
      for (let resource = 0; waitingCount > 0; resource++) if (waiters[resource] >= 0) release(resource);
    }
    return waitingIn(waiters, nextWaiter);
  };
}

function waitingIn(waiters: Int32Array, nextWaiter: Int32Array): Waiting[] {
  const waiting: Waiting[] = [];
  waiters.forEach((first, resource) => {
    for (let i = first; i >= 0; i = nextWaiter[i]) waiting.push({ instruction: i, resource });
  });
  return waiting.sort((a, b) => a.instruction - b.instruction);
}

interface Queue {
  push(item: number, queueClass: number): void;
  /** Returns the next item, -1 where there is none. */
  pop(): number;
}

/** Returns a queue of up to `most` items. */
function queueOf({ pick }: Order, draws: Random, most: number, classCount: number): Queue {
  const room = 2 ** Math.ceil(Math.log2(most + 1));
  const mask = room - 1;
  const classes: Ready[] = Array.from({ length: classCount }, () => ({
    items: new Int32Array(room),
    first: 0,
    count: 0,
  }));
  return {
    push(item, queueClass) {
      const ready = classes[queueClass];
      ready.items[(ready.first + ready.count++) & mask] = item;
    },
    pop() {
      for (const ready of classes) {
        if (ready.count === 0) continue;
        const { items } = ready;
        ready.count--;
        if (pick === "oldest") {
          const item = items[ready.first];
          ready.first = (ready.first + 1) & mask;
          return item;
        }
        const last = (ready.first + ready.count) & mask;
        if (pick === "newest") return items[last];
        const at = (ready.first + draws.below(ready.count + 1)) & mask;
        const item = items[at];
        items[at] = items[last];
        return item;
      }
      return -1;
    },
  };
}

/** `advance`: the instruction is complete; it has more to do. Else the resource that it waits for. */
const DONE = -1;
const AGAIN = -2;

/**
 * Does the next bit of an instruction: ends a wait, reads a chunk, or writes the chunk that was read. Returns DONE, AGAIN, or
 * the resource that it has to wait for, and then has changed nothing. Other instructions may come in between any two bits, so
 * unordered accesses are seen in every order, updates are lost, and chunks of one instruction arrive one by one.
 */
function advance(machine: Machine, i: number): number {
  const { program, waited, moved } = machine;
  const waits = program.waitOffset[i + 1] - program.waitOffset[i];
  if (waited[i] < waits) {
    const resource = waitFor(machine, i, program.waitOffset[i] + waited[i]);
    if (resource >= 0) return resource;
    waited[i]++;
    if (waited[i] < waits || program.chunks[i] > 0) return AGAIN;
  } else if (program.chunks[i] > 0) {
    const resource = machine.holding[i] === 0 ? readChunk(machine, i) : writeChunk(machine, i);
    if (resource >= 0) return resource;
    if (machine.holding[i] === 1 || moved[i] < program.chunks[i]) return AGAIN;
  }
  complete(machine, i);
  return DONE;
}

function waitFor(machine: Machine, i: number, wait: number): number {
  const { program, wiring, counters, resources } = machine;
  const count = machine.memory.counters;
  const on = program.waitOn[wait];
  if (program.waitKind[wait] === WAIT_EVENT) {
    const at = counters.event + on;
    for (;;) {
      const now = Atomics.load(count, at);
      if (now <= 0) return resources.event + on;
      if (Atomics.compareExchange(count, at, now, now - 1) === now) return -1;
    }
  }
  if (program.waitKind[wait] === WAIT_BARRIER) {
    const at = counters.barrier + on;
    if (machine.ticket[i] < 0) {
      machine.ticket[i] = Atomics.add(count, at, 1);
      machine.wake(resources.barrier + on);
    }
    const blocks = Math.max(1, program.barrierBlocks[on]);
    const needed = (Math.floor(machine.ticket[i] / blocks) + 1) * blocks;
    return Atomics.load(count, at) >= needed ? -1 : resources.barrier + on;
  }
  const block = wiring.blockOfInstruction[on];
  return Atomics.load(count, counters.published + block) > on ? -1 : resources.published + block;
}

/** Reads the next chunk of everything that the value is made of into the instruction's register. */
function readChunk(machine: Machine, i: number): number {
  const { program, wiring, layout, memory, counters, resources, from, length } = machine;
  const { operandRank, operandPacket } = program;
  const block = wiring.blockOfInstruction[i];
  const rank = wiring.rankOfBlock[block];
  const k = machine.moved[i];
  const firstSource = program.operandOffset[i];
  const endOfSources = firstSource + program.sourceCount[i];
  const receiving = program.receives[i] === 1 ? wiring.receivesFrom[block] : -1;
  if (receiving >= 0 && outstanding(machine, receiving) <= 0) return resources.arrival + receiving;
  if (program.sends[i] === 1 && isFull(machine, wiring.sendsInto[block], k))
    return resources.room + wiring.sendsInto[block];
  for (let o = firstSource; o < endOfSources; o++) {
    if (operandPacket[o] === 0) continue;
    const chunk = chunkOf(machine, o, k);
    if (Atomics.load(memory.packets, chunk) === 0) return resources.packet + chunk;
  }

  const register = registerStart(machine, i, block);
  let empty = true;
  if (receiving >= 0) {
    const taken = Atomics.load(memory.counters, counters.received + receiving);
    const slot = receiving * machine.slots + (taken % machine.slots);
    if (memory.slotChunk[2 * slot] !== program.chunks[i] || memory.slotChunk[2 * slot + 1] !== k)
      machine.fault({ kind: "count", rank, block, instruction: i, chunks: memory.slotChunk[2 * slot] });
    move(machine.registers, register, memory.slots, slot * layout.sliceElements, length);
    Atomics.store(memory.counters, counters.received + receiving, taken + 1);
    if ((k + 1) % machine.room.chunks === 0 || k + 1 === program.chunks[i]) {
      Atomics.add(memory.counters, counters.ended + receiving, 1);
      machine.wake(resources.room + receiving);
    }
    empty = false;
  }
  for (let o = firstSource; o < endOfSources; o++) {
    const chunk = chunkOf(machine, o, k);
    const owner = operandRank[o];
    if (memory.written[chunk] === 0)
      machine.fault({ kind: "unwritten", rank, block, instruction: i, operand: o, chunk: program.operandIndex[o] + k });
    const at = (chunk - layout.rankStart[owner]) * layout.chunkElements + from;
    if (empty) move(machine.registers, register, memory.data[owner], at, length);
    else add(machine.registers, register, memory.data[owner], at, length);
    empty = false;
    if (owner !== rank) machine.bytes += 4 * length;
  }
  machine.holding[i] = 1;
  return -1;
}

/** Writes the chunk in the instruction's register to its destinations, and sends it. */
function writeChunk(machine: Machine, i: number): number {
  const { program, wiring, layout, memory, counters, resources, from, length } = machine;
  const { operandRank, operandPacket } = program;
  const block = wiring.blockOfInstruction[i];
  const rank = wiring.rankOfBlock[block];
  const k = machine.moved[i];
  const register = registerStart(machine, i, block);
  if (program.sends[i] === 1) {
    const into = wiring.sendsInto[block];
    if (isFull(machine, into, k)) return resources.room + into;
    if (k % machine.room.chunks === 0) Atomics.add(memory.counters, counters.begun + into, 1);
    const given = Atomics.load(memory.counters, counters.sent + into);
    const slot = into * machine.slots + (given % machine.slots);
    move(memory.slots, slot * layout.sliceElements, machine.registers, register, length);
    memory.slotChunk[2 * slot] = program.chunks[i];
    memory.slotChunk[2 * slot + 1] = k;
    Atomics.store(memory.counters, counters.sent + into, given + 1);
    machine.wake(resources.arrival + into);
    machine.bytes += 4 * length;
  }
  for (let o = program.operandOffset[i] + program.sourceCount[i]; o < program.operandOffset[i + 1]; o++) {
    const chunk = chunkOf(machine, o, k);
    const owner = operandRank[o];
    const at = (chunk - layout.rankStart[owner]) * layout.chunkElements + from;
    move(memory.data[owner], at, machine.registers, register, length);
    memory.written[chunk] = 1;
    if (operandPacket[o] === 1) {
      Atomics.store(memory.packets, chunk, 1);
      machine.wake(resources.packet + chunk);
    }
    if (owner !== rank) machine.bytes += 4 * length;
  }
  machine.holding[i] = 0;
  machine.moved[i]++;
  return -1;
}

function complete(machine: Machine, i: number): void {
  const { program, wiring, memory, counters, resources } = machine;
  for (let p = program.postOffset[i]; p < program.postOffset[i + 1]; p++) {
    Atomics.add(memory.counters, counters.event + program.postOn[p], 1);
    machine.wake(resources.event + program.postOn[p]);
  }
  if (program.publishes[i] === 1) {
    const block = wiring.blockOfInstruction[i];
    const at = counters.published + block;
    Atomics.store(memory.counters, at, Math.max(Atomics.load(memory.counters, at), i + 1));
    machine.wake(resources.published + block);
  }
  machine.instructions++;
}

/** Returns the chunks in a connection. */
function outstanding({ memory, counters }: Machine, connection: number): number {
  const count = memory.counters;
  return Atomics.load(count, counters.sent + connection) - Atomics.load(count, counters.received + connection);
}

/** Returns whether the k-th chunk of an instruction begins a message for which a connection has no room. */
function isFull({ memory, counters, room }: Machine, connection: number, k: number): boolean {
  if (k % room.chunks > 0) return false;
  const count = memory.counters;
  const held = Atomics.load(count, counters.begun + connection) - Atomics.load(count, counters.ended + connection);
  return held >= room.messages;
}

/** Returns the chunk, among those of all ranks, that is the k-th of an operand. */
function chunkOf({ program, layout }: Machine, operand: number, k: number): number {
  const rank = program.operandRank[operand];
  const start = layout.rankStart[rank] + layout.bufferStart[3 * rank + program.operandBuffer[operand]];
  return start + program.operandIndex[operand] + k;
}

function registerStart({ wiring, layout, registerOf }: Machine, i: number, block: number): number {
  return (registerOf[block] + wiring.windowEnd[i] - 1 - i) * layout.sliceElements;
}

/** Below this many elements a loop is faster than `set`. */
const FEW = 48;

function move(target: Elements, t: number, source: Elements, s: number, count: number): void {
  if (count > FEW) target.set(source.subarray(s, s + count), t);
  else for (let e = 0; e < count; e++) target[t + e] = source[s + e];
}

function add(target: Elements, t: number, source: Elements, s: number, count: number): void {
  for (let e = 0; e < count; e++) target[t + e] += source[s + e];
}
