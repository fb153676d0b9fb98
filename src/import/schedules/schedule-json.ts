import { InputError } from "../../base/errors.ts";
import type { GivenSchedule, JointSchedule, Tenant } from "../../model/joint/joint-schedule.ts";
import { routeCount } from "../../model/routes/routes.ts";
import type { ScheduleHeader } from "../../model/steps/schedule.ts";
import { indexColumn, inRowOrder, OP_REDUCE, type StepSchedule } from "../../model/steps/step-schedule.ts";
import { asList, asObject, fillIntegers, type JsonFields, parseJson, placeIn, refuse } from "../text/json.ts";
import { isPeriodsJson, periodsFromJson } from "./periods-json.ts";
import { isPhasesJson, phasesFromJson } from "./phases-json.ts";
import {
  collectiveSections,
  type ReadScheduleOptions,
  routesFromJson,
  scheduleHeaderFromJson,
  scheduleTopology,
} from "./schedule-header.ts";
import { isTreeFlowJson, treeFlowFromJson } from "./tree-flow-json.ts";

type JointFields = JsonFields<"version" | "routes" | "tenants">;

interface TenantFields {
  readonly transfers?: unknown;
}

/**
 * Returns the schedule of a `banyan-phases` file, or of a `banyan-schedule` file: of one collective (version 1), transfer by transfer, as trees or
 * in periods, or of several at once (version 2), checked as `readSchedule`, `readTreeFlow` and `readPeriods` do. Throws InputError with the place in the file. O(text).
 */
export function readAnySchedule(text: string, fileName: string, options: ReadScheduleOptions = {}): GivenSchedule {
  const value = parseJson(text, fileName);
  if (typeof value === "object" && value !== null && "claims" in value) options.onClaims?.();
  if (isPhasesJson(value)) return phasesFromJson(value, fileName, options);
  if (isTreeFlowJson(value)) return treeFlowFromJson(value, fileName, options);
  if (isPeriodsJson(value)) return periodsFromJson(value, fileName, options);
  const isJoint = typeof value === "object" && value !== null && (value as JointFields).version === 2;
  return isJoint ? jointScheduleFromJson(value, fileName, options) : scheduleFromJson(value, fileName, options);
}

function jointScheduleFromJson(value: unknown, fileName: string, options: ReadScheduleOptions): JointSchedule {
  const topology = scheduleTopology(value, fileName, options);
  const fields = value as JointFields;
  const routes = routesFromJson(fields.routes, fileName, topology);
  const list = asList(fields.tenants, placeIn(fileName, "tenants"), "a list of collectives with their transfers");
  if (list.length === 0)
    throw new InputError(placeIn(fileName, "tenants"), "at least one collective", list).as("out-of-range");
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

type TransferFields = JsonFields<"count" | "chunk" | "route" | "startPs" | "endPs" | "op">;

/**
 * Returns the schedule of a `banyan-schedule` file (version 1), on the network inside the file. Everything that a schedule
 * is made of is checked (indices, lengths, whole numbers, hashes); whether it does its work is the verifier's question.
 * Rows out of order are sorted. Throws InputError with the place in the file. O(text), O(n log n) for unsorted rows.
 */
export function readSchedule(text: string, fileName: string, options: ReadScheduleOptions = {}): StepSchedule {
  return scheduleFromJson(parseJson(text, fileName), fileName, options);
}

/** Returns the schedule of a parsed file. */
function scheduleFromJson(value: unknown, fileName: string, options: ReadScheduleOptions): StepSchedule {
  const header = scheduleHeaderFromJson(value, fileName, options);
  return transfersFromJson((value as { readonly transfers?: unknown }).transfers, fileName, header);
}

/** Returns the schedule of a header and its transfers. Throws InputError with the place in the file. */
function transfersFromJson(value: unknown, fileName: string, header: ScheduleHeader): StepSchedule {
  const { collective, routes } = header;
  const at = (key: string): string => placeIn(fileName, `transfers.${key}`);
  const fields = asObject<TransferFields>(value, placeIn(fileName, "transfers"));
  const length = asList(fields.chunk, at("chunk")).length;
  if (fields.count !== undefined && fields.count !== length)
    refuse(at("count"), `${length}, the length of the columns,`, fields.count);
  const filled = <Column extends { [index: number]: number }>(
    key: "chunk" | "route" | "startPs" | "endPs" | "op",
    column: Column,
    high: number,
  ): Column => {
    const list = asList(fields[key], at(key));
    if (list.length !== length) throw new InputError(at(key), `${length} numbers, as in transfers.chunk,`, list.length);
    fillIntegers(list, column, at(key), 0, high);
    return column;
  };
  const lastChunk = collective.chunkCount - 1;
  const lastRoute = routeCount(routes) - 1;
  const chunk = filled("chunk", indexColumn(length, lastChunk), lastChunk);
  const route = filled("route", indexColumn(length, lastRoute), lastRoute);
  const startPs = filled("startPs", new Float64Array(length), Number.MAX_SAFE_INTEGER);
  const endPs = filled("endPs", new Float64Array(length), Number.MAX_SAFE_INTEGER);
  const op = filled("op", new Uint8Array(length), OP_REDUCE);
  for (let i = 0; i < length; i++) {
    if (endPs[i] < startPs[i])
      throw new InputError(at(`endPs[${i}]`), `a time at or after startPs (${startPs[i]})`, endPs[i]);
  }
  return inRowOrder({ ...header, chunk, route, startPs, endPs, op });
}
