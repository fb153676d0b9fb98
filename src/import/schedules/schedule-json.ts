import { InputError } from "../../base/errors.ts";
import { routeCount } from "../../model/routes/routes.ts";
import { inRowOrder } from "../../model/steps/row-order.ts";
import type { ScheduleHeader } from "../../model/steps/schedule.ts";
import { indexColumn, OP_REDUCE, type StepSchedule } from "../../model/steps/step-schedule.ts";
import { parseJson } from "../text/json-text.ts";
import { asList, asObject, fillIntegers, placeIn, refuse } from "../text/json-value.ts";
import { type ReadScheduleOptions, scheduleHeaderFromJson } from "./schedule-header.ts";

interface TransferFields {
  readonly count?: unknown;
  readonly chunk?: unknown;
  readonly route?: unknown;
  readonly startPs?: unknown;
  readonly endPs?: unknown;
  readonly op?: unknown;
}

/**
 * Returns the schedule of a `banyan-schedule` file (version 1), on the network inside the file. Everything that a schedule
 * is made of is checked (indices, lengths, whole numbers, hashes); whether it does its work is the verifier's question.
 * Rows out of order are sorted. Throws InputError with the place in the file. O(text), O(n log n) for unsorted rows.
 */
export function readSchedule(text: string, fileName: string, options: ReadScheduleOptions = {}): StepSchedule {
  return scheduleFromJson(parseJson(text, fileName), fileName, options);
}

/** Returns the schedule of a parsed file. */
export function scheduleFromJson(value: unknown, fileName: string, options: ReadScheduleOptions): StepSchedule {
  const header = scheduleHeaderFromJson(value, fileName, options);
  return transfersFromJson((value as { readonly transfers?: unknown }).transfers, fileName, header);
}

/** Returns the schedule of a header and its transfers. Throws InputError with the place in the file. */
export function transfersFromJson(value: unknown, fileName: string, header: ScheduleHeader): StepSchedule {
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
