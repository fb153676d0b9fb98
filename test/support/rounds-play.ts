import { type Collective, membersOf } from "../../src/model/collective/collective.ts";
import { type Rounds, roundCount } from "../../src/model/messages/rounds.ts";
import { OP_COPY, type StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { rowsOf } from "./schedule-rows.ts";

/**
 * What each transfer carried, and what NPUs hold of chunks at the end ("chunk@npu"): how often each NPU's contribution is in
 * it, 64 bits for each. Without reductions a chunk is 1 where it is, whoever had it.
 */
export interface Played {
  readonly carried: readonly bigint[];
  readonly held: ReadonlyMap<string, bigint>;
}

const at = (chunk: number, npu: number): string => `${chunk}@${npu}`;

function atStart(collective: Collective): Map<string, bigint> {
  const held = new Map<string, bigint>();
  for (let chunk = 0; chunk < collective.chunkCount; chunk++)
    for (const npu of membersOf(collective, collective.pre, chunk))
      held.set(at(chunk, npu), collective.reduces ? 1n << BigInt(64 * npu) : 1n);
  return held;
}

/** Lets what a transfer carried arrive. */
function arrive({ routes, chunk, route, op }: StepSchedule, i: number, held: Map<string, bigint>, cargo: bigint): void {
  const place = at(chunk[i], routes.target[route[i]]);
  held.set(place, op[i] === OP_COPY ? cargo : (held.get(place) ?? 0n) + cargo);
}

const look = ({ routes, chunk, route }: StepSchedule, i: number, held: ReadonlyMap<string, bigint>): bigint =>
  held.get(at(chunk[i], routes.source[route[i]])) ?? 0n;

/** Plays a schedule moment by moment: at each, what arrives, then what departs. O(transfers^2). */
export function playInTime(schedule: StepSchedule): Played {
  const rows = rowsOf(schedule);
  const held = atStart(schedule.collective);
  const carried = rows.map(() => 0n);
  for (const now of [...new Set(rows.flatMap(({ start, end }) => [start, end]))].sort((a, b) => a - b)) {
    rows.forEach(({ end }, i) => {
      if (end === now) arrive(schedule, i, held, carried[i]);
    });
    rows.forEach(({ start }, i) => {
      if (start === now) carried[i] = look(schedule, i, held);
    });
  }
  return { carried, held };
}

/** Plays rounds: all look at what is there, then everything arrives. */
export function playRounds(schedule: StepSchedule, rounds: Rounds): Played {
  const held = atStart(schedule.collective);
  const carried: bigint[] = Array.from({ length: rounds.transfer.length }, () => 0n);
  for (let k = 0; k < roundCount(rounds); k++) {
    const transfers = rounds.transfer.subarray(rounds.offset[k], rounds.offset[k + 1]);
    for (const i of transfers) carried[i] = look(schedule, i, held);
    for (const i of transfers) arrive(schedule, i, held, carried[i]);
  }
  return { carried, held };
}
