import { InputError } from "../../base/errors.ts";
import type { SlotSchedule } from "../../model/slots/slot-schedule.ts";
import { names } from "../describe.ts";
import type { Verification } from "../steps/schedule.ts";
import { recorder } from "../violation.ts";
import { checkParts } from "../well-formed.ts";
import { arrivals } from "./slot-arrivals.ts";
import { checkLogs } from "./slot-causality.ts";
import { slotFaults } from "./slot-form.ts";
import { checkShares, checkSlotLength } from "./slot-links.ts";
import { logFrame } from "./slot-log.ts";
import { checkSymmetry, isSmall } from "./slot-symmetry.ts";

/** Memory for decoded logs unless the caller says otherwise. */
const CACHE_BYTES = 2 ** 29;

export interface SlotVerifyOptions {
  /** Violations kept; 100 by default. */
  readonly limit?: number;
  /** Memory for decoded logs, 512 MiB by default; at least two of them are held. */
  readonly cacheBytes?: number;
  /** Hears of NPUs whose logs are judged. What it throws ends the verification. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Returns everything that is wrong with a slot schedule, by the rules of verifySchedule and nothing that its maker says:
 *
 * 0. the network, the collective, routes and passes are well-formed, and the passes make the collective; else nothing
 *    further is judged;
 * 1. on every link the shares of all routes together are at most 1;
 * 2. each log is well-formed, and has each chunk once, the NPU's own first; one that is not is not judged further;
 * 3. a chunk that arrives is at the source of its route when the slot starts;
 * 4. a slot is as long as a chunk needs on every route in use, in the direction in which it is used.
 *
 * Why that is enough. Fix a chunk. By 2 every NPU but its origin receives it once, by 3 from one that received it in an
 * earlier slot or is the origin. So following senders back ends at the origin: the arrivals are the arcs of a tree away from
 * it, and a forward pass brings the chunk to everyone. In a reversed pass every NPU v but the origin sends once, to its
 * parent, in slot S - 1 - t where t is the slot of its arrival. Its children have slots above t, so they send below
 * S - 1 - t, and what they send is at v when v sends. By induction from the leaves, v sends the contributions of its subtree,
 * all and each once (subtrees of different children have nothing in common), and adds to it nothing afterwards. The origin
 * ends with everyone's. In an all-reduce the forward pass starts after that and replaces what the others hold before they
 * send it on. Faults are named in terms of the first pass.
 *
 * With `symmetry` the log of NPU 0 is judged and stands for all others (checkSymmetry). Of the logs that `row` returns it is
 * then guaranteed only up to 2 million arrivals that they are the same but for the translation, and each of them is also
 * judged by itself; beyond, 16 of them are compared. Readers derive them from the first one (translatedRows), never store them.
 *
 * Throws InputError for a limit or memory that is no whole number, and what `row` and `onProgress` throw; never for a
 * schedule, however wrong. O(chunks x NPUs + slots x NPUs + route links); about 10 bytes a chunk and route beside the cache.
 */
export function verifySlots(schedule: SlotSchedule, options: SlotVerifyOptions = {}): Verification {
  const limit = wholeNumber("options.limit", options.limit ?? 100);
  const cacheBytes = wholeNumber("options.cacheBytes", options.cacheBytes ?? CACHE_BYTES);
  const found = recorder(limit);
  if (checkParts(schedule, () => slotFaults(schedule), found)) {
    const words = names(schedule);
    checkShares(schedule, found, words);
    const frame = logFrame(schedule);
    const symmetric = schedule.symmetry !== null;
    const rows = arrivals(frame, cacheBytes);
    const one = symmetric && checkSymmetry(frame, rows, found, words);
    if (!symmetric || (one && isSmall(frame))) checkLogs(frame, rows, found, words, options.onProgress);
    checkSlotLength(schedule, rows.used, found, words);
  }
  const violationCount = found.count();
  return { violations: found.kept, violationCount, truncated: violationCount > found.kept.length };
}

function wholeNumber(place: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new InputError(place, "a whole number, 0 or more", value);
  return value;
}
