import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import type { Moves } from "../../../src/lower/moves.ts";
import { levelsOf } from "../../../src/lower/mscclpp/layout.ts";
import { planOf } from "../../../src/lower/mscclpp/plan.ts";
import { collective } from "../../../src/model/collective/collective.ts";
import { verifyProgram } from "../../../src/verify/program/program.ts";
import { shuffle } from "../../support/draws.ts";
import { runPlan } from "../../support/plan-run.ts";
import { runs } from "../../support/runs.ts";

/** Moves of an all-reduce of one chunk: source, target, and whether they add; `order` lists departures (m) and arrivals (-m - 1). */
function movesOfOne(ranks: number, list: readonly (readonly [number, number])[], order: readonly number[]): Moves {
  const at = (event: number): number => order.indexOf(event);
  const members = Int32Array.from({ length: ranks }, (_, r) => r);
  const request = { groups: [members], sizeBytes: 64, chunksPerNpu: 1, rootRank: 0 };
  return {
    collective: collective({ kind: "allreduce", ...request }),
    rankCount: ranks,
    rootRank: 0,
    chunksPerBlock: 1,
    chunkCount: 1,
    source: Int32Array.from(list, ([from]) => from),
    target: Int32Array.from(list, ([, to]) => to),
    chunk: new Int32Array(list.length),
    chunks: new Int32Array(list.length).fill(1),
    reduces: new Uint8Array(list.length).fill(1),
    lane: new Int32Array(list.length).fill(-1),
    departsAt: Int32Array.from(list, (_, m) => at(m)),
    arrivesAt: Int32Array.from(list, (_, m) => at(-m - 1)),
  };
}

const RANKS = 4;
const anyMoves = fc
  .tuple(fc.array(fc.tuple(fc.nat(RANKS - 1), fc.nat(RANKS - 2)), { minLength: 1, maxLength: 10 }), fc.nat(2 ** 31 - 1))
  .map(([pairs, seed]) => {
    const list = pairs.map(([from, to]) => [from, to < from ? to : to + 1] as const);
    const order = list.flatMap((_, m) => [m, -m - 1]);
    shuffle(order, random(seed, 1));
    const seen = new Set<number>();
    const inOrder = order.map((event) => {
      const move = event < 0 ? -event - 1 : event;
      const second = seen.has(move);
      seen.add(move);
      return second ? -move - 1 : move;
    });
    return movesOfOne(RANKS, list, inOrder);
  });

describe("levelsOf", () => {
  it("keeps the order of what arrives at and departs from a rank", () => {
    fc.assert(
      fc.property(anyMoves, (moves) => {
        const { sent, received } = levelsOf(moves);
        for (let m = 0; m < moves.source.length; m++) {
          expect(received[m]).toBeGreaterThanOrEqual(sent[m]);
          for (let other = 0; other < moves.source.length; other++) {
            if (moves.target[m] !== moves.source[other]) continue;
            if (moves.arrivesAt[m] < moves.departsAt[other]) expect(received[m]).toBeLessThan(sent[other]);
            else expect(received[m]).toBeGreaterThanOrEqual(sent[other]);
          }
        }
      }),
      { numRuns: runs(2000) },
    );
  });
});

describe("planOf", () => {
  it("exchanges sums that are not complete yet: recursive doubling", () => {
    const rounds = [
      [0, 1, 2, 3],
      [0, 2, 1, 3],
    ].flatMap(([a, b, c, d]) => [[a, b] as const, [b, a] as const, [c, d] as const, [d, c] as const]);
    const order = [0, 1, 2, 3, -1, -2, -3, -4, 4, 5, 6, 7, -5, -6, -7, -8];
    const moves = movesOfOne(4, rounds, order);
    for (const placement of ["in", "out"] as const) {
      for (const nodeOf of [() => 0, (rank: number) => rank]) {
        const plan = planOf(moves, { placement, instances: 2 }, nodeOf);
        expect(verifyProgram(plan).violations).toEqual([]);
        for (let seed = 0; seed < 20; seed++) expect(runPlan(plan, random(seed, 5))).toBeNull();
      }
    }
  });
});
