import { PairMap } from "../../model/numbers/pairs.ts";
import type { Wires } from "./blocks.ts";
import { type Code, type Numbering, RECEIVES, SENDS } from "./code.ts";
import type { Parts } from "./parts.ts";

/**
 * Returns whether code comes to its end where a connection holds `room` messages, an instruction's chunks being one. Blocks run as far
 * as they can, turn by turn: which of them get stuck does not depend on their order (Kahn 1974, see `verify/program/run.ts`). Where
 * rank 0 stands for all, all do the same at once. O(blocks x turns + instructions).
 */
export function ends(
  { pair }: Parts,
  { channel }: Wires,
  { blocks, op, waits }: Code,
  { instructions }: Numbering,
  room: number,
): boolean {
  const connections = new PairMap();
  const into = new Int32Array(instructions.length).fill(-1);
  const from = into.slice();
  channel.forEach((c, hop) => {
    const connection = connections.number(c, pair[hop]);
    into[blocks.sender[hop]] = connection;
    from[blocks.receiver[hop]] = connection;
  });
  const held = new Int32Array(connections.size);
  const done = new Uint8Array(op.length);
  const at = new Int32Array(instructions.length);
  const mayRun = (b: number, i: number): boolean =>
    waits[i].every((on) => done[on] === 1) &&
    (!RECEIVES.has(op[i]) || held[from[b]] > 0) &&
    (!SENDS.has(op[i]) || held[into[b]] < room);
  let left = op.length;
  for (let before = left + 1; left < before; ) {
    before = left;
    instructions.forEach((own, b) => {
      for (; at[b] < own.length && mayRun(b, own[at[b]]); at[b]++) {
        const i = own[at[b]];
        if (RECEIVES.has(op[i])) held[from[b]]--;
        if (SENDS.has(op[i])) held[into[b]]++;
        done[i] = 1;
        left--;
      }
    });
  }
  return left === 0;
}
