import { random } from "../../src/base/random.ts";
import { CLASSES, type Order, RANDOM_ORDER } from "../../src/execute/machine.ts";
import type { Program } from "../../src/model/program/program.ts";

/**
 * Returns an order drawn by `seed`: plainly random for 0 and every fourth, else one that goes to an extreme: newest or oldest
 * first, a block or a rank that goes on only when nothing else can, or blocks with priorities. O(blocks).
 */
export function someOrder(program: Program, seed: number): Order {
  if (seed % 4 === 0) return RANDOM_ORDER;
  const draws = random(seed, 0x0de2);
  const pick = (["random", "newest", "oldest"] as const)[draws.below(3)];
  const blocks = program.blockId.length;
  const classOfBlock = new Uint8Array(blocks);
  switch (draws.below(4)) {
    case 0:
      return { pick, classOfBlock: null };
    case 1:
      if (blocks > 0) classOfBlock[draws.below(blocks)] = 1;
      break;
    case 2: {
      const rank = draws.below(program.rankCount);
      classOfBlock.fill(1, program.blockOffset[rank], program.blockOffset[rank + 1]);
      break;
    }
    default:
      for (let b = 0; b < blocks; b++) classOfBlock[b] = draws.below(CLASSES);
  }
  return { pick, classOfBlock };
}
