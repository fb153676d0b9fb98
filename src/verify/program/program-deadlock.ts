import { blockCount, type Program } from "../../model/program/program.ts";
import { eventWords } from "./program-form.ts";
import { packetCells } from "./program-packets.ts";
import {
  FOR_BARRIER,
  FOR_EVENT,
  FOR_INSTRUCTION,
  FOR_MESSAGE,
  FOR_PACKETS,
  FOR_SLOT,
  type Run,
} from "./program-run.ts";
import type { Wiring } from "./program-wiring.ts";
import { blockWords, instructionWords } from "./program-words.ts";

/** Waits of a cycle that are told one by one. */
const TOLD = 8;
/** Waits that are followed in search of a cycle. */
const FOLLOWED = 10_000;

/** Returns which blocks of a course that got stuck wait for each other in a cycle, or for one that has ended: blocks in order. */
export function stuckBlocks(program: Program, wiring: Wiring, course: Run): readonly number[] {
  const packets = packetCells(program);
  const goesOn = (blocks: readonly number[]): number => {
    for (const block of blocks) if (course.at[block] >= 0) return block;
    return -1;
  };
  const waitedFor = (block: number): number => {
    const on = course.waitsOn[block];
    switch (course.waitsFor[block]) {
      case FOR_MESSAGE:
        return goesOn(wiring.connections[on].senders);
      case FOR_SLOT:
        return goesOn(wiring.connections[on].receivers);
      case FOR_INSTRUCTION:
        return goesOn([wiring.blockOf[on]]);
      case FOR_EVENT:
        return goesOn(
          wiring.posters[on].filter((i) => i >= course.at[wiring.blockOf[i]]).map((i) => wiring.blockOf[i]),
        );
      case FOR_BARRIER:
        return goesOn(wiring.comers[on].filter((b) => course.waitsFor[b] !== FOR_BARRIER || course.waitsOn[b] !== on));
      default:
        return goesOn(packets.writers(on).map((i) => wiring.blockOf[i]));
    }
  };
  const place = new Map<number, number>();
  const path: number[] = [];
  for (let block = firstStuck(program, course); block >= 0 && path.length < FOLLOWED; block = waitedFor(block)) {
    const seen = place.get(block);
    if (seen !== undefined) return path.slice(seen);
    place.set(block, path.length);
    path.push(block);
  }
  return path.slice(-1);
}

function firstStuck(program: Program, { at }: Run): number {
  for (let b = 0; b < blockCount(program); b++) if (at[b] >= 0) return b;
  return -1;
}

/** Returns the waits of those blocks in words: "gpu 0, thread block 1, step 2: r waits for a message from gpu 3; ...". */
export function waitWords(program: Program, wiring: Wiring, course: Run, blocks: readonly number[]): string {
  const told = blocks.slice(0, TOLD).map((block) => {
    const at = instructionWords(program, wiring, course.at[block]);
    return `${at} waits for ${thingWords(program, wiring, course, block)}`;
  });
  if (blocks.length > TOLD) told.push(`${blocks.length - TOLD} more`);
  return told.join("; ");
}

function thingWords(program: Program, wiring: Wiring, { waitsFor, waitsOn }: Run, block: number): string {
  const on = waitsOn[block];
  switch (waitsFor[block]) {
    case FOR_MESSAGE: {
      const { from, channel, senders } = wiring.connections[on];
      const sender = senders.length > 0 ? ` (${blockWords(program, wiring, senders[0])})` : "";
      return `a message from gpu ${from} on channel ${channel}${sender}`;
    }
    case FOR_SLOT: {
      const { to, channel, receivers } = wiring.connections[on];
      const receiver = receivers.length > 0 ? ` (${blockWords(program, wiring, receivers[0])})` : "";
      return `room in the connection to gpu ${to} on channel ${channel}${receiver}`;
    }
    case FOR_INSTRUCTION:
      return instructionWords(program, wiring, on);
    case FOR_EVENT:
      return eventWords(program, on);
    case FOR_BARRIER:
      return `barrier ${program.barrierId[on]}`;
    case FOR_PACKETS:
      return "packets that are not written";
    default:
      return "nothing";
  }
}
