import type { Random } from "../base/random.ts";
import { AGAIN, advance, DONE } from "./advance.ts";
import type { Machine } from "./machine.ts";
import { CLASSES, type Order } from "./order.ts";

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
