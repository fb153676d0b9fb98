import type { Report } from "../../report/result.ts";
import { ALGORITHMS } from "../../synthesize/catalog.ts";

/** Which of several results for one collective is the best. */

/** Returns the microseconds by which results are compared. */
export const usOf = ({ time }: Report): number => time.us;

export const catalogueIndex = ({ algorithm }: Report): number => ALGORITHMS.findIndex(({ name }) => name === algorithm);

/** What NPUs send of a collective in all, in chunks of one per NPU; null for trees and phases, whose pieces differ in size. */
function sentOf({ schedule, collective }: Report): number | null {
  const isEven = schedule.kind === "steps" || schedule.kind === "slots";
  return isEven && schedule.transfers !== null ? schedule.transfers / collective.chunksPerNpu : null;
}

/** Returns a number below 0 where the first sends less, above 0 where the second does, 0 where neither does or one is unknown. */
export function lessSent(a: Report, b: Report): number {
  const [ofA, ofB] = [sentOf(a), sentOf(b)];
  return ofA === null || ofB === null ? 0 : ofA - ofB;
}

/** Returns whether the first is faster, or as fast with less to send, or else earlier in the catalogue. */
export const isBetter = (a: Report, b: Report): boolean =>
  (usOf(a) - usOf(b) || lessSent(a, b) || catalogueIndex(a) - catalogueIndex(b)) < 0;
