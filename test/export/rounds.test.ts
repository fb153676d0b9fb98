import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../src/base/errors.ts";
import { membersOf } from "../../src/model/collective/collective.ts";
import { type Rounds, roundCount, roundsOf } from "../../src/model/messages/rounds.ts";
import { stepsOf } from "../../src/model/steps/schedule.ts";
import { OP_COPY, OP_REDUCE, type StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { anySchedule } from "../support/any-schedule.ts";
import { doubling, make, network, ring, ringAllReduce, ringSteps, row, task } from "../support/hand-made-schedules.ts";
import {
  type LoweringCase,
  plainEngine,
  STEP_CASES,
  scheduleOf,
  TREE_CASES,
  titleOf,
} from "../support/lowering-cases.ts";
import { unexpected } from "../support/refusals.ts";
import { playInTime, playRounds } from "../support/rounds-play.ts";
import { runs } from "../support/runs.ts";
import { simpleSchedule } from "../support/simple-schedules.ts";

/** Expects every transfer once, in rounds that are not empty. */
function expectAll(schedule: StepSchedule, rounds: Rounds): void {
  const { offset, transfer } = rounds;
  expect([...transfer].sort((a, b) => a - b)).toEqual(Array.from(schedule.chunk, (_, i) => i));
  const source = Array.from(transfer, (i) => schedule.routes.source[schedule.route[i]]);
  for (let k = 0; k < roundCount(rounds); k++) {
    const ofRound = source.slice(offset[k], offset[k + 1]);
    expect(ofRound.length).toBeGreaterThan(0);
    expect(ofRound).toEqual([...ofRound].sort((a, b) => a - b));
  }
}

/** Returns rounds in which one transfer of round k goes in round k - 1. */
function sooner({ offset, transfer }: Rounds, k: number, place: number): Rounds {
  const others = [...transfer].filter((_, i) => i !== place);
  others.splice(offset[k], 0, transfer[place]);
  return { offset: offset.map((from, i) => (i === k ? from + 1 : from)), transfer: Int32Array.from(others) };
}

describe("rounds of valid schedules", () => {
  it("bring what the collective wants, each transfer with the payload of the schedule", () => {
    for (let seed = 0; seed < 300; seed++) {
      const schedule = simpleSchedule(seed);
      const rounds = roundsOf(schedule);
      expectAll(schedule, rounds);
      const played = playRounds(schedule, rounds);
      expect(played, `seed ${seed}`).toEqual(playInTime(schedule));
      const { collective } = schedule;
      for (let chunk = 0; chunk < collective.chunkCount; chunk++) {
        const all = [...membersOf(collective, collective.pre, chunk)].map((npu) => 1n << BigInt(64 * npu));
        const sum = all.reduce((a, b) => a + b);
        for (const npu of membersOf(collective, collective.post, chunk))
          expect(played.held.get(`${chunk}@${npu}`)).toBe(collective.reduces ? sum : 1n);
      }
    }
  });

  it("have no copy that could go a round earlier", () => {
    let tried = 0;
    for (let seed = 0; seed < 500; seed++) {
      const schedule = simpleSchedule(seed);
      if (schedule.collective.reduces) continue;
      const rounds = roundsOf(schedule);
      const played = playRounds(schedule, rounds);
      for (let k = 1; k < roundCount(rounds); k++) {
        for (let place = rounds.offset[k]; place < rounds.offset[k + 1]; place++) {
          expect(playRounds(schedule, sooner(rounds, k, place)), `seed ${seed}`).not.toEqual(played);
          tried++;
        }
      }
    }
    expect(tried).toBeGreaterThan(300);
  });

  const cases: readonly LoweringCase[] = [...STEP_CASES, ...TREE_CASES].filter(
    ({ network: name }) => !name.startsWith("dgx-h100"),
  );
  it.each(cases)("of $algorithm, $collective on $network", async (what) => {
    const schedule = stepsOf(await scheduleOf(await plainEngine(), what), 2);
    const rounds = roundsOf(schedule);
    expectAll(schedule, rounds);
    const { collective } = schedule;
    const { held } = playRounds(schedule, rounds);
    for (let chunk = 0; chunk < collective.chunkCount; chunk++) {
      const sum = [...membersOf(collective, collective.pre, chunk)].reduce(
        (a, npu) => a + (1n << BigInt(64 * npu)),
        0n,
      );
      for (const npu of membersOf(collective, collective.post, chunk))
        expect(held.get(`${chunk}@${npu}`), titleOf(what)).toBe(collective.reduces ? sum : 1n);
    }
  });
});

describe("rounds of any schedule that reduces", () => {
  it("carry the same in each transfer, or are refused", () => {
    let refused = 0;
    fc.assert(
      fc.property(anySchedule(), (any) => {
        const schedule: StepSchedule = {
          ...any,
          collective: { ...any.collective, reduces: true },
          endPs: any.endPs.map((end, i) => Math.max(end, any.startPs[i] + 1)),
        };
        let rounds: Rounds;
        try {
          rounds = roundsOf(schedule);
        } catch (error) {
          expect(error).toBeInstanceOf(InputError);
          refused++;
          return;
        }
        expectAll(schedule, rounds);
        expect(playRounds(schedule, rounds)).toEqual(playInTime(schedule));
      }),
      { numRuns: runs(500), seed: 1 },
    );
    expect(refused).toBeLessThan(200);
  });
});

describe("few rounds", () => {
  it.each([
    ["a ring's all-gather", make(ring(6), task("allgather", 6), ringSteps(6, OP_COPY, 0)), 5],
    ["a ring's all-reduce", make(ring(5), task("allreduce", 5), ringAllReduce(5)), 8],
    ["recursive doubling among 8, 8 chunks a step: all of a step in one round", doubling(3), 3],
    ["nothing to send", make(ring(3), task("allgather", 3), []), 0],
  ])("%s", (_, schedule, expected) => {
    expect(roundCount(roundsOf(schedule))).toBe(expected);
  });

  it("takes one for an all-to-all whose messages all start at once", () => {
    const n = 5;
    const pairs = Array.from({ length: n * n }, (_, k) => [Math.floor(k / n), k % n] as const).filter(
      ([a, b]) => a !== b,
    );
    const goal = task("alltoall", n);
    const rows = pairs.map(([a, b], route) => row(a * n + b, route, 0));
    expect(roundCount(roundsOf(make(network(n, pairs), goal, rows)))).toBe(1);
  });
});

describe("payloads", () => {
  it("lets a sum wait that would be there before what its target sends", () => {
    // NPU 1 passes on 2's contribution before 0's is there.
    const wires = network(4, [
      [0, 1],
      [2, 1],
      [1, 3],
    ]);
    const rows = [row(0, 0, 0, OP_REDUCE, 9), row(0, 1, 0, OP_REDUCE), row(0, 2, 1.5, OP_REDUCE)];
    const schedule = make(wires, task("reducescatter", 4), rows);
    const rounds = roundsOf(schedule);
    expect([...rounds.transfer]).toEqual([1, 0, 2]);
    expect([...rounds.offset]).toEqual([0, 1, 3]);
    expect(playRounds(schedule, rounds)).toEqual(playInTime(schedule));
  });

  it("lets three exchange all they have at once", () => {
    const pairs = [0, 1, 2].flatMap((a) => [0, 1, 2].filter((b) => b !== a).map((b) => [a, b] as const));
    const schedule = make(
      network(3, pairs),
      task("allreduce", 3),
      pairs.map((_, route) => row(0, route, 0, OP_REDUCE)),
    );
    const rounds = roundsOf(schedule);
    expect(roundCount(rounds)).toBe(1);
    expect(playRounds(schedule, rounds)).toEqual(playInTime(schedule));
  });

  it("refuses a message that comes after the sum that its target passes on, and left before what is in that sum", () => {
    const wires = network(4, [
      [0, 1],
      [2, 0],
      [1, 3],
    ]);
    const long = row(0, 0, 0, OP_REDUCE, 10);
    const rows = [long, row(0, 1, 0, OP_REDUCE, 1), row(0, 0, 1, OP_REDUCE, 1), row(0, 2, 2, OP_REDUCE, 1)];
    expect(() => roundsOf(make(wires, task("allreduce", 4), rows))).toThrow(
      unexpected("a schedule in rounds", "transfers that cross in flight: 0>1, 1>3, 0>1, 2>0 ..."),
    );
  });
});
