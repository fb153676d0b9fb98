import { InputError } from "../../base/errors.ts";
import type { PhaseSchedule } from "../../model/phases/phase-schedule.ts";
import { NO_ROUTES } from "../../model/routes/routes.ts";
import type { Verification } from "../steps/schedule.ts";
import { recorder } from "../violation.ts";
import { checkParts } from "../well-formed.ts";
import { phaseFaults } from "./phases-form.ts";
import { checkLines } from "./phases-lines.ts";
import { checkProduct } from "./phases-network.ts";
import { checkPhases } from "./phases-times.ts";

/**
 * Returns everything that is wrong with a schedule of phases, by nothing that its maker says:
 *
 * 0. it is well-formed; where it is not, nothing further is judged;
 * 1. the network has the dimensions that it states: their links, at their rates and latencies;
 * 2. the algorithm of every dimension's lines does its work in its time: its messages are carried out;
 * 3. every chunk passes through the phases of its collective, one after the other, reduce-scatters before all-gathers;
 * 4. a phase takes at least its serialisation and latency, and no dimension serialises two at once.
 *
 * Throws InputError for a limit that is no whole number; never for a schedule, however wrong. O(links * dimensions + phases).
 */
export function verifyPhases(schedule: PhaseSchedule, options: { readonly limit?: number } = {}): Verification {
  const limit = options.limit ?? 100;
  if (!Number.isSafeInteger(limit) || limit < 0)
    throw new InputError("options.limit", "a whole number, 0 or more", limit);
  const found = recorder(limit);
  const { topology, collective, dimensions, algorithms } = schedule;
  if (checkParts({ topology, collective, routes: NO_ROUTES }, () => phaseFaults(schedule), found)) {
    checkProduct(schedule, found);
    checkLines(dimensions, algorithms, found);
    checkPhases(schedule, found);
  }
  const violationCount = found.count();
  return { violations: found.kept, violationCount, truncated: violationCount > found.kept.length };
}
