import { OPS, type Program, VIA } from "../../model/program/program.ts";

/**
 * What a runtime adds to the messages of a schedule, in the order in which it is counted:
 *
 * `order` thread blocks send one message after the other and links serve them as they come, switches holding what waits; without it,
 * of a schedule whose messages a program keeps, links are taken as its replay takes them. `routes` messages take the program's ways,
 * not those of the schedule. `messages` chunks of an instruction travel as one message, not one by one. `slices` what is longer than
 * a slice is cut, and passed on piece by piece. `switches` loads and stores through switches take turns. `slots` connections hold so
 * many messages, not all. `flags` beside the data. `copying` the rate of a thread block, where one is given. `requests` of reads take
 * a latency. `signals` take one. `ports` a flush waits until what went over a port has landed.
 */
export const MECHANISMS = [
  "order",
  "routes",
  "messages",
  "slices",
  "switches",
  "slots",
  "flags",
  "copying",
  "requests",
  "signals",
  "ports",
] as const;
export type Mechanism = (typeof MECHANISMS)[number];

/** Which of them a simulation has. */
export type Adds = Readonly<Record<Mechanism, boolean>>;

/** Returns all of them but these. */
export const allBut = (without: readonly Mechanism[] = []): Adds =>
  Object.fromEntries(MECHANISMS.map((name) => [name, !without.includes(name)])) as Record<Mechanism, boolean>;

const FLUSHES: readonly number[] = [OPS.indexOf("flush"), OPS.indexOf("pwsf")];
const SWITCH = VIA.indexOf("switch");

/**
 * Returns those that a program may have, beside the order and routes of a schedule; of blocks without a rate of their own nothing is
 * said of copying. O(instructions).
 */
export function mechanismsOf(program: Program, localBytesPerSecond?: number): Mechanism[] {
  const isPlan = program.machine === "mscclpp";
  const has: Partial<Adds> = {
    messages: program.chunks.some((chunks) => chunks > 1),
    slices: true,
    switches: program.via.includes(SWITCH),
    slots: !isPlan,
    flags: program.protocol !== "Simple" || program.operandPacket.includes(1),
    copying: localBytesPerSecond !== undefined,
    requests: isPlan && readsElsewhere(program),
    signals: program.postOn.length > 0,
    ports: program.op.some((op) => FLUSHES.includes(op)),
  };
  return MECHANISMS.filter((name) => has[name] === true);
}

/** Returns whether an instruction reads what other ranks have, itself. */
function readsElsewhere({
  operandOffset,
  sourceCount,
  operandRank,
  rankCount,
  blockOffset,
  instructionOffset,
}: Program) {
  for (let rank = 0; rank < rankCount; rank++) {
    const end = instructionOffset[blockOffset[rank + 1]];
    for (let i = instructionOffset[blockOffset[rank]]; i < end; i++)
      for (let o = operandOffset[i]; o < operandOffset[i] + sourceCount[i]; o++)
        if (operandRank[o] !== rank) return true;
  }
  return false;
}
