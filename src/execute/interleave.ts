import type { Random } from "../random.ts";
import { AGAIN, advance, DONE, type Machine } from "./machine.ts";
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

/**
 * Runs all ranks of a machine on this thread, one bit of an instruction at a time in the given order, until nothing can go on.
 * Returns the instructions that still wait; none where the program is complete. O(instructions x chunks) bits.
 */
export function interleave(machine: Machine, order: Order, draws: Random): Waiting[] {
  const { program, wiring, resources, memory } = machine;
  const { instructionOffset } = program;
  const { windowEnd, blockOfInstruction } = wiring;
  const blocks = program.blockId.length;
  const { pick, classOfBlock } = order;

  const room = roomFor(wiring.widths);
  const classes: Ready[] = Array.from({ length: classOfBlock === null ? 1 : CLASSES }, () => ({
    items: new Int32Array(room),
    first: 0,
    count: 0,
  }));
  const push = (i: number): void => {
    const ready = classes[classOfBlock === null ? 0 : classOfBlock[blockOfInstruction[i]]];
    ready.items[(ready.first + ready.count++) & (room - 1)] = i;
  };
  const pop = (): number => {
    for (const ready of classes) {
      if (ready.count === 0) continue;
      const { items } = ready;
      if (pick === "oldest") {
        const i = items[ready.first];
        ready.first = (ready.first + 1) & (room - 1);
        ready.count--;
        return i;
      }
      const last = (ready.first + --ready.count) & (room - 1);
      if (pick === "newest") return items[last];
      const at = (ready.first + draws.below(ready.count + 1)) & (room - 1);
      const i = items[at];
      items[at] = items[last];
      return i;
    }
    return -1;
  };

  const waiters = new Int32Array(resources.packet + memory.packets.length).fill(-1);
  const nextWaiter = new Int32Array(program.op.length);
  machine.wake = (resource) => {
    for (let i = waiters[resource]; i >= 0; i = nextWaiter[i]) push(i);
    waiters[resource] = -1;
  };

  /** [blocks] instructions of the current window that are not complete. */
  const left = new Int32Array(blocks);
  const open = (block: number, from: number): void => {
    if (from === instructionOffset[block + 1]) return;
    left[block] = windowEnd[from] - from;
    for (let i = from; i < windowEnd[from]; i++) push(i);
  };
  for (let b = 0; b < blocks; b++) open(b, instructionOffset[b]);

  for (let i = pop(); i >= 0; i = pop()) {
    const resource = advance(machine, i);
    if (resource === AGAIN) push(i);
    else if (resource === DONE) {
      const block = blockOfInstruction[i];
      if (--left[block] === 0) open(block, windowEnd[i]);
    } else {
      nextWaiter[i] = waiters[resource];
      waiters[resource] = i;
    }
  }

  const waiting: Waiting[] = [];
  waiters.forEach((first, resource) => {
    for (let i = first; i >= 0; i = nextWaiter[i]) waiting.push({ instruction: i, resource });
  });
  return waiting.sort((a, b) => a.instruction - b.instruction);
}

/** Returns a power of two above the number of instructions that can be ready together. */
function roomFor(widths: Int32Array): number {
  const most = widths.reduce((sum, width) => sum + width, 1);
  return 2 ** Math.ceil(Math.log2(most + 1));
}
