import type { JointSchedule } from "../../model/joint/joint-schedule.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import { collectiveParts, routeParts, scheduleHeaderParts, scheduleTopParts, type Told } from "./schedule-header.ts";

/** Numbers per part of a column. */
const BLOCK = 65_536;

/** Returns the text of a `banyan-schedule` file (version 1) that reads back to the same schedule. `about`: see Told. */
export function scheduleToJson(schedule: StepSchedule, about?: Told["about"]): string {
  return [...scheduleJsonParts(schedule, { about })].join("");
}

/**
 * Yields the parts of that text, each at most about a megabyte, so that a caller can write them as they come: the header
 * (scheduleHeaderParts), then the columns. `op` is 0 to copy, 1 to reduce. O(transfers + route links).
 */
export function* scheduleJsonParts(schedule: StepSchedule, told: Told = {}): Generator<string> {
  yield* scheduleHeaderParts(schedule, told);
  yield* transferParts(schedule);
  yield "\n}\n";
}

/** Yields the section `transfers`. */
function* transferParts(
  schedule: Pick<StepSchedule, "chunk" | "route" | "startPs" | "endPs" | "op">,
): Generator<string> {
  yield `  "transfers": {\n    "count": ${schedule.chunk.length}`;
  for (const name of ["chunk", "route", "startPs", "endPs", "op"] as const) {
    yield `,\n    "${name}": [`;
    const column = schedule[name];
    for (let from = 0; from < column.length; from += BLOCK) {
      yield `${from === 0 ? "" : ","}${column.subarray(from, from + BLOCK).join(",")}`;
    }
    yield "]";
  }
  yield "\n  }";
}

/**
 * Yields the parts of a `banyan-schedule` file (version 2) that reads back to the same joint schedule: network and routes as
 * in version 1, then for each tenant its collective, chunks and transfers as there. O(transfers + route links).
 */
export function* jointScheduleJsonParts(joint: JointSchedule, told: Told = {}): Generator<string> {
  const { topology, routes, tenants } = joint;
  yield* scheduleTopParts(topology, 2, told);
  yield* routeParts(topology, routes);
  yield '  "tenants": [';
  for (const [t, tenant] of tenants.entries()) {
    yield t === 0 ? "{\n" : ", {\n";
    yield* collectiveParts(tenant.collective);
    yield* transferParts(tenant);
    yield "\n  }";
  }
  yield "]\n}\n";
}
