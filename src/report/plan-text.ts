import { percent, roundedSize, timeText } from "./amounts.ts";
import type { AxisStrategy, PlanRow } from "./tensor-plan.ts";

/** What is said of plans of tensor states, on the command line and the page. */

/** Returns stages and the mesh of each: "4 stages of 2x8"; of one stage its mesh. */
export function meshText({
  mesh,
  stages,
}: Pick<PlanRow, "mesh"> & { readonly stages: { readonly length: number } }): string {
  const own = mesh.map(({ size }) => size).join("x");
  return stages.length === 1 ? own : `${stages.length} stages of ${own}`;
}

/** Returns what an axis is used for: "8 data, parameters shared (FSDP)", with shares where there are several. */
export function axisText({ size, uses }: AxisStrategy): string {
  if (uses.length === 0) return `${size} the same on all`;
  const parts = uses.map(({ name, share }) => (uses.length === 1 ? name : `${name} ${percent(share)}`));
  return `${size} ${parts.join(" + ")}`;
}

/** Returns what a stage does on its axes. */
export const axesText = ({ strategies }: Pick<PlanRow, "strategies">): string => strategies.map(axisText).join("; ");

/** Returns what a plan is called: "4 stages, 8 data"; where stages differ, what the first does. */
export function strategyText(row: Pick<PlanRow, "strategies" | "stages">): string {
  const { length } = row.stages;
  const differs = row.stages.some((stage) => axesText(stage) !== axesText(row));
  return length === 1 ? axesText(row) : `${length} stages, ${axesText(row)}${differs ? " in the first" : ""}`;
}

/** Returns what the search proved, and how near the plan is to it. */
export function boundText(
  { boundUs, leftFreeBytes, gap }: { readonly boundUs: number; readonly leftFreeBytes: number; readonly gap: number },
  { countedUs, stages }: Pick<PlanRow, "countedUs" | "stages">,
): string {
  const free = leftFreeBytes > 0 ? ` that leaves ${roundedSize(leftFreeBytes)} free` : "";
  const [bound, own] = [boundUs, countedUs].map(timeText);
  const isNone = gap <= 1e-6;
  if (stages.length === 1) {
    const near = isNone ? "none is faster" : `at most ${percent(gap)} faster`;
    return `${bound} for any plan of this mesh and number of passes${free}, ${own} counted for this one: ${near}`;
  }
  // stages wait for each other less than is counted
  const near = isNone ? "none counts less" : `at most ${percent(gap)} less`;
  return `${bound} counted for any plan of these stages and number of passes${free}, ${own} for this one: ${near}`;
}

/** So many runners-up are told. */
const MOST_RUNNERS_UP = 5;

/** Returns the first plans that are called otherwise than the best, each name once, the first of them. */
export function runnersUp(best: PlanRow, others: readonly PlanRow[]): PlanRow[] {
  const key = (row: PlanRow): string => `${strategyText(row)} on ${meshText(row)}`;
  const seen = new Set([key(best)]);
  return others.filter((row) => !seen.has(key(row)) && seen.add(key(row))).slice(0, MOST_RUNNERS_UP);
}
