import { type PeriodSchedule, tickPsOf, treesOf } from "../../model/periods/period-schedule.ts";
import { scheduleHeaderParts, type Told } from "./schedule-header.ts";

/** Returns the text of a `banyan-schedule` file of periods that reads back to the same schedule. `about`: see Told. */
export function periodsToJson(schedule: PeriodSchedule, about?: Told["about"]): string {
  return [...periodsJsonParts(schedule, { about })].join("");
}

/**
 * Yields the parts of that text, so that a caller can write them as they come: the header of other schedules, then the period and
 * the edges, and for each tree, NPU by NPU, the edge up, and when it sends up and receives, in ticks (-1: the root). The schedule
 * must be well-formed. O(trees x NPUs + route links).
 */
export function* periodsJsonParts(schedule: PeriodSchedule, told: Told = {}): Generator<string> {
  const { topology, entry, startPs } = schedule;
  const { npuCount } = topology;
  const tickPs = tickPsOf(schedule);
  const ticks = (from: number): string =>
    startPs
      .subarray(from, from + npuCount)
      .map((ps) => (ps < 0 ? -1 : ps / tickPs))
      .join(",");
  yield* scheduleHeaderParts(schedule, told);
  yield `  "periods": {\n${periodFields(schedule, tickPs).join(",\n")},\n    "trees": [`;
  for (let tree = 0; tree < treesOf(schedule); tree++) {
    const edges = entry.subarray(tree * npuCount, (tree + 1) * npuCount).join(",");
    yield `${tree === 0 ? "" : ","}\n      { "edge": [${edges}],\n        "up": [${ticks(2 * tree * npuCount)}],`;
    yield `\n        "down": [${ticks((2 * tree + 1) * npuCount)}] }`;
  }
  yield "\n    ]\n  }\n}\n";
}

/** Returns what JSON and the header of a `.bys` file say of periods beside their trees, a field a line. */
export const periodFields = ({ periodPs, there, back }: PeriodSchedule, tickPs: number): string[] => [
  `    "periodPs": ${periodPs}`,
  `    "tickPs": ${tickPs}`,
  `    "there": [${there.join(",")}]`,
  `    "back": [${back.join(",")}]`,
];
