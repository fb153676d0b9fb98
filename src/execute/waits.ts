import { type Program, placeOfInstruction } from "../model/program/program.ts";
import type { Layout } from "./layout.ts";
import type { Resources } from "./machine.ts";
import type { Wiring } from "./wiring.ts";

/** Returns who waits for what, in words. */
export function waitText(
  program: Program,
  wiring: Wiring,
  layout: Layout,
  resources: Resources,
  instruction: number,
  resource: number,
): string {
  const block = wiring.blockOfInstruction[instruction];
  const rank = wiring.rankOfBlock[block];
  return `${placeOfInstruction(program, instruction, block, rank)} waits ${awaited(program, wiring, layout, resources, resource)}`;
}

function awaited(program: Program, wiring: Wiring, layout: Layout, resources: Resources, resource: number): string {
  if (resource >= resources.packet) {
    const chunk = resource - resources.packet;
    let rank = 0;
    while (layout.rankStart[rank + 1] <= chunk) rank++;
    return `for packets in the memory of gpu ${rank} (chunk ${chunk - layout.rankStart[rank]} of all)`;
  }
  if (resource >= resources.barrier) {
    const barrier = resource - resources.barrier;
    return `at barrier ${program.barrierId[barrier]} for ${program.barrierBlocks[barrier]} thread blocks`;
  }
  if (resource >= resources.event) {
    const event = resource - resources.event;
    const [own, peer] = [program.eventRank[event], program.eventPeer[event]];
    return own === peer ? `for semaphore ${program.eventId[event]}` : `for a signal from gpu ${peer}`;
  }
  if (resource >= resources.published) {
    const block = resource - resources.published;
    return `for thread block ${program.blockId[block]}`;
  }
  if (resource >= resources.room) {
    const connection = resource - resources.room;
    return `until gpu ${wiring.targetRank[connection]} receives what it sent before`;
  }
  return `for data from gpu ${wiring.sourceRank[resource]}`;
}
