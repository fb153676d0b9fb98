import { goesWithPrevious, hasMergedSends } from "../../model/steps/merged-sends.ts";
import { OP_COPY, type StepSchedule } from "../../model/steps/step-schedule.ts";

/**
 * Returns for each transfer whether it may count as arrived at once where it departs, [transfers]; null where none need be.
 * It is asked of the chunks of a merged send but the last, so that they follow each other on one connection: messages of a
 * runtime are of neighbouring chunks, and one at a time is under way. (Neighbours that always go together are made one chunk
 * later; see `partsOf`.)
 *
 * A copy may always come early: nobody's copies change. In a reduction nothing else may happen meanwhile to what the target
 * holds of the chunk, but for contributions of others. O(transfers), times those of a chunk at a rank in reductions.
 */
export function mayArriveAtOnce(schedule: StepSchedule, source: Int32Array, target: Int32Array): Uint8Array | null {
  if (!hasMergedSends(schedule)) return null;
  const { collective, chunk, op, startPs, endPs } = schedule;
  const atOnce = new Uint8Array(chunk.length);
  for (let i = 1; i < chunk.length; i++) if (goesWithPrevious(schedule, i)) atOnce[i - 1] = 1;
  if (!collective.reduces) return atOnce;

  const visits = new Map<number, number[]>();
  const keyOf = (rank: number, row: number): number => rank * collective.chunkCount + chunk[row];
  const visit = (rank: number, row: number): void => {
    const known = visits.get(keyOf(rank, row));
    if (known === undefined) visits.set(keyOf(rank, row), [row]);
    else known.push(row);
  };
  for (let i = 0; i < chunk.length; i++) {
    visit(source[i], i);
    visit(target[i], i);
  }
  return atOnce.map((asked, i) => {
    if (asked === 0) return 0;
    const rank = target[i];
    const isInTheWay = (other: number): boolean => {
      if (other === i) return false;
      if (source[other] === rank) return startPs[other] >= startPs[i] && startPs[other] < endPs[i];
      const both = op[other] !== OP_COPY && op[i] !== OP_COPY;
      return !both && endPs[other] >= startPs[i] && endPs[other] <= endPs[i];
    };
    return visits.get(keyOf(rank, i))?.some(isInTheWay) ? 0 : 1;
  });
}
