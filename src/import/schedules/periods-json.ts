import { InputError } from "../../base/errors.ts";
import type { PeriodSchedule } from "../../model/periods/period-schedule.ts";
import { routeCount } from "../../model/routes/routes.ts";
import type { ScheduleHeader } from "../../model/steps/schedule.ts";
import {
  asInteger,
  asList,
  asObject,
  fillIntegers,
  type JsonFields,
  parseJson,
  placeIn,
  refuse,
} from "../text/json.ts";
import { type ReadScheduleOptions, scheduleHeaderFromJson } from "./schedule-header.ts";

type PeriodFields = JsonFields<"periodPs" | "tickPs" | "there" | "back" | "trees">;

type TreeFields = JsonFields<"edge" | "up" | "down">;

/** Returns whether a parsed file is one of periods. */
export const isPeriodsJson = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "periods" in value;

/**
 * Returns the schedule of a `banyan-schedule` file (version 1) of periods, on the network inside the file. Everything that it is made
 * of is checked (ranges, lengths, whole numbers, the hash); whether it does its work is the verifier's question. Throws InputError
 * with the place in the file. O(text).
 */
export function readPeriods(text: string, fileName: string, options: ReadScheduleOptions = {}): PeriodSchedule {
  return periodsFromJson(parseJson(text, fileName), fileName, options);
}

/** Returns the schedule of a parsed file. Throws InputError. */
export function periodsFromJson(value: unknown, fileName: string, options: ReadScheduleOptions): PeriodSchedule {
  const header = scheduleHeaderFromJson(value, fileName, options);
  const { periods } = value as { readonly periods?: unknown };
  const { tickPs, ...frame } = periodFrame(header, periods, fileName);
  const { npuCount } = header.topology;
  const place = placeIn(fileName, "periods.trees");
  const trees = asList((periods as PeriodFields).trees, place, "a list of trees");
  if (trees.length === 0) throw new InputError(place, "at least one tree", trees).as("out-of-range");
  const entry = new Int32Array(trees.length * npuCount);
  const startPs = new Float64Array(2 * entry.length);
  for (const [tree, one] of trees.entries()) {
    const at = `${place}[${tree}]`;
    const fields = asObject<TreeFields>(one, at);
    const fill = (key: keyof TreeFields, column: Int32Array | Float64Array, high: number): void => {
      const list = asList(fields[key], `${at}.${key}`);
      if (list.length !== npuCount)
        throw new InputError(`${at}.${key}`, `${npuCount} numbers, one an NPU,`, list.length);
      fillIntegers(list, column, `${at}.${key}`, -1, high);
    };
    const lastTick = Math.floor(Number.MAX_SAFE_INTEGER / tickPs);
    const starts = startPs.subarray(2 * tree * npuCount, 2 * (tree + 1) * npuCount);
    const edges = entry.subarray(tree * npuCount, (tree + 1) * npuCount);
    fill("edge", edges, frame.there.length - 1);
    fill("up", starts.subarray(0, npuCount), lastTick);
    fill("down", starts.subarray(npuCount), lastTick);
    for (let npu = 0; npu < npuCount; npu++) {
      for (const [key, job] of [
        ["up", npu],
        ["down", npu + npuCount],
      ] as const) {
        if (starts[job] < 0 !== edges[npu] < 0)
          refuse(
            `${at}.${key}[${npu}]`,
            edges[npu] < 0 ? "-1, as of a root," : "a start, not that of a root,",
            starts[job],
          );
        if (starts[job] > 0) starts[job] *= tickPs;
      }
    }
  }
  return { ...header, ...frame, entry, startPs };
}

/**
 * Returns what a file says of its periods beside the trees, and its tick in picoseconds; JSON files and headers of `.bys` files say
 * the same. Throws InputError.
 */
export function periodFrame({ routes }: ScheduleHeader, value: unknown, fileName: string) {
  const place = placeIn(fileName, "periods");
  const fields = asObject<PeriodFields>(value, place);
  const [there, back] = (["there", "back"] as const).map((key) => {
    const list = asList(fields[key], `${place}.${key}`);
    const column = new Int32Array(list.length);
    fillIntegers(list, column, `${place}.${key}`, 0, routeCount(routes) - 1);
    return column;
  }) as [Int32Array, Int32Array];
  if (back.length !== there.length)
    throw new InputError(`${place}.back`, `${there.length} routes, as in ${place}.there,`, back.length);
  const periodPs = asInteger(fields.periodPs, `${place}.periodPs`, 1);
  return {
    kind: "periods" as const,
    there,
    back,
    periodPs,
    tickPs: asInteger(fields.tickPs, `${place}.tickPs`, 1, periodPs),
  };
}
