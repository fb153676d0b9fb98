import type { Collective } from "../../model/collective/collective.ts";
import { isSlotSchedule } from "../../model/slots/slot-schedule.ts";
import { emptyRows, makespanPs, type StepSchedule } from "../../model/steps/step-schedule.ts";
import { switchCount } from "../../model/topology/topology.ts";
import type { Synthesis, SynthesisContext, SynthesisRequest, Synthesizer } from "../synthesizer.ts";
import { type Network, targetPs } from "./attempt.ts";
import type { Phase } from "./phases.ts";

/** Most transfers of a round: some thirty tries to let its halves overlap. */
const MOST_TRANSFERS = 2e5;

/** Returns the least number of rounds, all with equally many chunks per NPU, that keeps each small; null for no division. */
function roundsFor(transfers: number, chunksPerNpu: number): number | null {
  if (transfers <= MOST_TRANSFERS) return null;
  for (let rounds = Math.ceil(transfers / MOST_TRANSFERS); rounds <= chunksPerNpu; rounds++) {
    if (chunksPerNpu % rounds === 0) return rounds;
  }
  return null;
}

/** Returns the collective on every `rounds`-th part of the chunks of each block. */
function partOf(collective: Collective, rounds: number): Collective {
  return {
    ...collective,
    sizeBytes: collective.sizeBytes / rounds,
    chunksPerNpu: collective.chunksPerNpu / rounds,
    chunkCount: collective.chunkCount / rounds,
  };
}

/** Returns the schedule of one round after the other, each with the next chunks of every block. O(transfers). */
function repeated(round: StepSchedule, collective: Collective, rounds: number): StepSchedule {
  const { topology, routes } = round;
  const rows = round.chunk.length;
  const lengthPs = makespanPs(round);
  const perRound = collective.chunksPerNpu / rounds;
  const schedule = emptyRows(topology, collective, routes, rows * rounds);
  const first = Int32Array.from({ length: collective.chunkCount / rounds }, (_, c) => {
    const block = Math.floor(c / perRound);
    return block * collective.chunksPerNpu + (c - block * perRound);
  });
  for (let k = 0; k < rounds; k++) {
    const at = k * rows;
    schedule.route.set(round.route, at);
    schedule.op.set(round.op, at);
    for (let i = 0; i < rows; i++) {
      schedule.chunk[at + i] = first[round.chunk[i]] + k * perRound;
      schedule.startPs[at + i] = round.startPs[i] + k * lengthPs;
      schedule.endPs[at + i] = round.endPs[i] + k * lengthPs;
    }
  }
  return schedule;
}

/**
 * Returns an all-reduce of many chunks as rounds of fewer, one after the other, where that is no longer than its halves one
 * after the other could be; else null. Tries to let the halves overlap are cheap on a round and too dear on the whole, which
 * gains little more: 10x10 mesh, 64 chunks per NPU: 18,371 us after three tries on the whole, 16,964 in eight rounds. Networks
 * with switches are left out: halves that contend for their ports gain nothing from overlapping.
 */
export async function inRounds(
  request: SynthesisRequest,
  phases: readonly Phase[],
  networksOfPhase: (phase: Phase) => readonly Network[],
  context: SynthesisContext,
  synthesize: Synthesizer["synthesize"],
): Promise<Synthesis | null> {
  const { topology, collective } = request;
  if (collective.kind !== "allreduce" || switchCount(topology) > 0) return null;
  const transfers = phases.length * (collective.groupSize - 1) * collective.chunkCount;
  const rounds = roundsFor(transfers, collective.chunksPerNpu);
  if (rounds === null) return null;
  const found = await synthesize({ ...request, collective: partOf(collective, rounds) }, context);
  if (isSlotSchedule(found.schedule)) return null;
  const leastPs = phases.reduce((sum, phase) => sum + targetPs(topology, phase, networksOfPhase(phase)), 0);
  if (makespanPs(found.schedule) * rounds > leastPs) return null;
  const policy = `${found.policy}, ${rounds} rounds of ${collective.chunksPerNpu / rounds} chunks per NPU`;
  return { ...found, schedule: repeated(found.schedule, collective, rounds), policy };
}
