import type { JointSchedule } from "../../model/joint/joint-schedule.ts";
import { collectiveParts, routeParts, scheduleTopParts } from "./schedule-header.ts";
import { transferParts } from "./schedule-json.ts";

/**
 * Yields the parts of a `banyan-schedule` file (version 2) that reads back to the same joint schedule: network and routes as
 * in version 1, then for each tenant its collective, chunks and transfers as there. O(transfers + route links).
 */
export function* jointScheduleJsonParts(
  joint: JointSchedule,
  about?: Readonly<Record<string, unknown>>,
): Generator<string> {
  const { topology, routes, tenants } = joint;
  yield* scheduleTopParts(topology, 2, about);
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
