import { InputError } from "../../base/errors.ts";
import type { JointSchedule, Tenant } from "../../model/joint/joint-schedule.ts";
import type { PhaseSchedule } from "../../model/phases/phase-schedule.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import type { TreeFlow } from "../../model/trees/tree-flow.ts";
import { parseJson } from "../text/json-text.ts";
import { asList, asObject, placeIn } from "../text/json-value.ts";
import { isPhasesJson, phasesFromJson } from "./phases-json.ts";
import { collectiveSections, type ReadScheduleOptions, scheduleTopology } from "./schedule-header.ts";
import { scheduleFromJson, transfersFromJson } from "./schedule-json.ts";
import { routesFromJson } from "./schedule-routes.ts";
import { isTreeFlowJson, treeFlowFromJson } from "./tree-flow-json.ts";

interface JointFields {
  readonly version?: unknown;
  readonly routes?: unknown;
  readonly tenants?: unknown;
}

interface TenantFields {
  readonly transfers?: unknown;
}

/**
 * Returns the schedule of a `banyan-phases` file, or of a `banyan-schedule` file: of one collective (version 1), transfer by transfer or as trees, or of
 * several at once (version 2), checked as `readSchedule` and `readTreeFlow` do. Throws InputError with the place in the file. O(text).
 */
export function readAnySchedule(
  text: string,
  fileName: string,
  options: ReadScheduleOptions = {},
): StepSchedule | JointSchedule | TreeFlow | PhaseSchedule {
  const value = parseJson(text, fileName);
  if (isPhasesJson(value)) return phasesFromJson(value, fileName, options);
  if (isTreeFlowJson(value)) return treeFlowFromJson(value, fileName, options);
  const isJoint = typeof value === "object" && value !== null && (value as JointFields).version === 2;
  return isJoint ? jointScheduleFromJson(value, fileName, options) : scheduleFromJson(value, fileName, options);
}

function jointScheduleFromJson(value: unknown, fileName: string, options: ReadScheduleOptions): JointSchedule {
  const topology = scheduleTopology(value, fileName, options);
  const fields = value as JointFields;
  const routes = routesFromJson(fields.routes, fileName, topology);
  const list = asList(fields.tenants, placeIn(fileName, "tenants"), "a list of collectives with their transfers");
  if (list.length === 0) throw new InputError(placeIn(fileName, "tenants"), "at least one collective", list);
  const tenants = list.map((entry, t): Tenant => {
    const place = placeIn(fileName, `tenants[${t}]`);
    const { transfers } = asObject<TenantFields>(entry, place);
    const collective = collectiveSections(entry, place, topology);
    const {
      topology: _,
      routes: __,
      ...tenant
    } = transfersFromJson(transfers, place, { topology, collective, routes });
    return tenant;
  });
  return { topology, routes, tenants };
}
