import { InputError } from "../../base/errors.ts";
import type { JudgeSteps } from "../../model/replay/steps-problem.ts";
import { routeCount, routeTimes } from "../../model/routes/routes.ts";
import { type StepSchedule, transferCount } from "../../model/steps/step-schedule.ts";
import { type Describer, describer } from "../describe.ts";
import { type Recorder, recorder, type Violation } from "../violation.ts";
import { checkForm } from "../well-formed.ts";
import { checkContributions } from "./contributions.ts";
import { checkDelivery } from "./delivery.ts";
import { amongMerged, checkOccupancy, messagesOf } from "./occupancy.ts";
import { isShown } from "./shown.ts";

/** The verdict on a schedule: it is correct when `violationCount` is 0. */
export interface Verification {
  /** The first violations found, in a fixed order: times, routes and links, then chunk by chunk. */
  readonly violations: readonly Violation[];
  readonly violationCount: number;
  /** There were more violations than were kept. */
  readonly truncated: boolean;
}

const CORRECT: Verification = { violations: [], violationCount: 0, truncated: false };

export interface StepVerifyOptions {
  /** Violations kept; 100 by default. */
  readonly limit?: number;
  /** Hears of links that are judged, where there are many messages. What it throws ends the verification. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Looks first, and where it shows that all is right nothing more is done: the kernel of that name of an engine. */
  readonly judge?: JudgeSteps | undefined;
}

/**
 * Returns everything that is wrong with a schedule, by the rules of the link-busy model and nothing that its maker says:
 *
 * 0. it is well-formed; where it is not, nothing further is judged;
 * 1. a transfer takes at least the latencies of its route and the serialisation at its bottleneck, a merged send (rows of
 *    equal route, start and end) the latencies once and the serialisation of each of its chunks;
 * 2. what a transfer carries is at its source when it departs, arrivals at that very time included;
 * 3. on every physical link, at all times, the shares in use sum to at most 1; a route carries one transfer or
 *    merged send at a time, and no chunk twice in it;
 * 4. the postcondition holds at the end, and in reductions each contribution is in each sum exactly once.
 *
 * Rows may come in any order. Throws InputError for a limit that is no whole number, and what `onProgress` throws; never
 * for a schedule, however wrong. About linear in the transfers. Memory: 4 bytes a transfer, O(NPUs + route links + chunks), 28 bytes for each of at most 4e6
 * transfers (or of the chunk that has more), and in reductions about 40 bytes for each transfer of the chunk that has most.
 */
export function verifySchedule(schedule: StepSchedule, options: StepVerifyOptions = {}): Verification {
  const limit = options.limit ?? 100;
  if (!Number.isSafeInteger(limit) || limit < 0)
    throw new InputError("options.limit", "a whole number, 0 or more", limit).as("out-of-range");
  if (options.judge !== undefined && isShown(schedule, options.judge)) return CORRECT;
  const found = recorder(limit);
  if (checkForm(schedule, found)) {
    const words = describer(schedule);
    const messages = messagesOf(schedule, routeCount(schedule.routes));
    checkDurations(schedule, messages.chunks, found, words);
    checkOccupancy(schedule, messages, found, words, undefined, options.onProgress);
    if (schedule.collective.reduces) checkContributions(schedule, found, words);
    else checkDelivery(schedule, found, words);
  }
  const violationCount = found.count();
  return { violations: found.kept, violationCount, truncated: violationCount > found.kept.length };
}

/**
 * Records messages that are over too soon, at their first rows; `chunks` as in Messages. A time beyond 2^53 is rounded, but
 * above any duration all the same.
 */
export function checkDurations(
  schedule: StepSchedule,
  chunks: Int32Array | null,
  found: Recorder,
  words: Describer,
): void {
  const { topology, collective, routes, route, startPs, endPs } = schedule;
  const { slotPs, serialPs } = routeTimes(topology, routes, collective.chunkBytes);
  const count = transferCount(schedule);
  for (let row = 0; row < count; row++) {
    let leastPs = slotPs[route[row]];
    if (chunks !== null) {
      if (chunks[row] === 0) continue;
      leastPs += (chunks[row] - 1) * serialPs[route[row]];
    }
    if (endPs[row] - startPs[row] >= leastPs) continue;
    found.record(() => {
      const taken = words.time(endPs[row] - startPs[row]);
      const merged = amongMerged(chunks, row);
      return words.departure(
        "too-fast",
        row,
        `${merged} and takes ${taken}, less than the ${words.time(leastPs)} ${merged === "" ? "it needs" : "they need"}`,
      );
    });
  }
}
