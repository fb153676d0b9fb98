import { describe, expect, it } from "vitest";
import { unlessRefused } from "../../../src/base/errors.ts";
import { random } from "../../../src/base/random.ts";
import { anyMovesOf } from "../../../src/lower/any-moves.ts";
import { movesOf } from "../../../src/lower/moves.ts";
import { layoutFor } from "../../../src/lower/mscclpp/custom-layout.ts";
import { dealt, levelsOf, type Problem, turnsOf, unitsOf } from "../../../src/lower/mscclpp/layout.ts";
import { leastOperationsOf } from "../../../src/lower/mscclpp/least-operations.ts";
import { sliceOpsOf } from "../../../src/lower/mscclpp/slices.ts";
import { ringSchedule } from "../../support/ring-schedule.ts";
import { runs } from "../../support/runs.ts";
import { simpleSchedule } from "../../support/simple-schedules.ts";

const CUT = { pieces: 4, mostChunks: Number.POSITIVE_INFINITY };
const WAYS = [true, false].flatMap((reads) => [true, false].map((coarse) => ({ reads, coarse })));

describe("leastOperationsOf", () => {
  it("is never more than the thread blocks of that rank have", () => {
    let [known, exact] = [0, 0];
    for (let seed = 0; seed < runs(150); seed++) {
      const draws = random(seed, 0x1ea57);
      const moves = unlessRefused(() => anyMovesOf(simpleSchedule(seed), CUT));
      // no plan is made of it
      if (moves === null) continue;
      const boxes = 1 + draws.below(3);
      const boxOf = (rank: number): number => rank % boxes;
      for (const inPlace of moves.blocks === undefined ? [true, false] : [false])
        for (const { reads, coarse } of WAYS) {
          const layout = layoutFor(moves, inPlace);
          const problem: Problem = {
            ...{ moves, layout, reads, spread: false, levels: levelsOf(moves), turn: turnsOf(moves.rankCount, boxOf) },
            via: (rank, peer) => (boxOf(rank) === boxOf(peer) ? "memory" : "port"),
          };
          const leastOf = leastOperationsOf(problem);
          if (leastOf === null) continue;
          const units = unitsOf(moves, layout, coarse);
          const slices = 1 + draws.below(Math.max(1, units.count));
          const deal = dealt(units, slices, draws.below(2) === 0);
          const { need, rank } = leastOf(deal, slices);
          const made = sliceOpsOf(problem, deal, slices)?.ops ?? [];
          const has = made
            .flatMap((slice) => slice.get(rank) ?? [])
            .reduce((most, ops) => Math.max(most, ops.length), 0);
          expect({ seed, inPlace, reads, coarse, slices, need: Math.min(need, has) }).toMatchObject({ seed, need });
          known++;
          if (need === has) exact++;
        }
    }
    // a bound of nothing would hold as well
    expect(known).toBeGreaterThan(100);
    expect(exact / known).toBeGreaterThan(0.05);
  });

  it("knows nothing of blocks that share a rank's work", () => {
    const moves = movesOf(ringSchedule());
    const base = {
      moves,
      layout: layoutFor(moves, true),
      levels: levelsOf(moves),
      turn: turnsOf(moves.rankCount, () => 0),
    };
    expect(leastOperationsOf({ ...base, via: () => "memory", reads: true, spread: true })).toBeNull();
  });
});
