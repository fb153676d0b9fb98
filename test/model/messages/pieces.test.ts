import { describe, expect, it } from "vitest";
import { membersOf } from "../../../src/model/collective/collective.ts";
import { type Pieces, piecesOf } from "../../../src/model/messages/pieces.ts";
import { roundsOf } from "../../../src/model/messages/rounds.ts";
import { OP_COPY, type StepSchedule } from "../../../src/model/steps/step-schedule.ts";
import { doubling, make, ring, ringAllReduce, ringSteps, task } from "../../support/hand-made-schedules.ts";
import { simpleSchedule } from "../../support/simple-schedules.ts";

const cut = (schedule: StepSchedule, chunksPerBlock: number): Pieces =>
  piecesOf(schedule, roundsOf(schedule), chunksPerBlock);

/** Returns how often each NPU's contribution is in what each NPU has of each piece at the end; without reductions 1 where it is. */
function played(schedule: StepSchedule, { first, rounds }: Pieces, chunksPerBlock: number): Map<string, bigint> {
  const { collective } = schedule;
  const held = new Map<string, bigint>();
  for (let block = 0; block + 1 < first.length; block++)
    for (let piece = first[block]; piece < first[block + 1]; piece++)
      for (const npu of membersOf(collective, collective.pre, block * chunksPerBlock))
        held.set(`${piece}@${npu}`, collective.reduces ? 1n << BigInt(64 * npu) : 1n);
  for (const messages of rounds) {
    const before = new Map(held);
    for (const { source, target, stored, added } of messages) {
      for (const piece of stored) held.set(`${piece}@${target}`, before.get(`${piece}@${source}`) ?? 0n);
      for (const piece of added) {
        const place = `${piece}@${target}`;
        held.set(place, (held.get(place) ?? 0n) + (before.get(`${piece}@${source}`) ?? 0n));
      }
    }
  }
  return held;
}

describe("pieces", () => {
  it("bring every block, whole, to all that want it", () => {
    let cutCoarsely = 0;
    for (let seed = 0; seed < 300; seed++) {
      const schedule = simpleSchedule(seed);
      const { collective } = schedule;
      if (collective.groupCount !== 1) continue;
      const whole = ["allreduce", "broadcast", "reduce"].includes(collective.kind);
      const chunksPerBlock = collective.kind === "custom" ? 1 : whole ? collective.chunkCount : collective.chunksPerNpu;
      const pieces = cut(schedule, chunksPerBlock);
      const { first, chunks } = pieces;
      const held = played(schedule, pieces, chunksPerBlock);
      for (let block = 0; block + 1 < first.length; block++) {
        const ofBlock = chunks.subarray(first[block], first[block + 1]);
        expect(ofBlock.reduce((a, b) => a + b)).toBe(chunksPerBlock);
        if (ofBlock.length < chunksPerBlock) cutCoarsely++;
        const all = [...membersOf(collective, collective.pre, block * chunksPerBlock)].map(
          (npu) => 1n << BigInt(64 * npu),
        );
        const wanted = collective.reduces ? all.reduce((a, b) => a + b) : 1n;
        for (let piece = first[block]; piece < first[block + 1]; piece++)
          for (const npu of membersOf(collective, collective.post, block * chunksPerBlock))
            expect(held.get(`${piece}@${npu}`), `seed ${seed}`).toBe(wanted);
      }
      for (const messages of pieces.rounds) {
        const pairs = messages.map(({ source, target }) => source * 1e6 + target);
        expect(pairs).toEqual([...new Set(pairs)].sort((a, b) => a - b));
        for (const { stored, added } of messages)
          for (const numbers of [stored, added]) expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
      }
    }
    expect(cutCoarsely).toBeGreaterThan(20);
  });

  it.each([
    ["a ring's all-gather", make(ring(6), task("allgather", 6), ringSteps(6, OP_COPY, 0)), 1, 6],
    ["a ring's all-reduce", make(ring(5), task("allreduce", 5), ringAllReduce(5)), 5, 5],
    ["recursive doubling, 8 chunks that go together", doubling(3), 8, 1],
  ])("are few: %s", (_, schedule, chunksPerBlock, expected) => {
    expect(cut(schedule, chunksPerBlock).chunks.length).toBe(expected);
  });
});
