import { percent, roundedSize, timeText } from "./amounts.ts";
import type { AxisStrategy, PlanRow } from "./tensor-plan.ts";

/** What is said of plans of tensor states, on the command line and the page. */

/** Returns the sizes of a plan's axes: "2x8". */
export const meshText = ({ mesh }: Pick<PlanRow, "mesh">): string => mesh.map(({ size }) => size).join("x");

/** Returns what an axis is used for: "8 data, parameters shared (FSDP)", with shares where there are several. */
export function axisText({ size, uses }: AxisStrategy): string {
  if (uses.length === 0) return `${size} the same on all`;
  const parts = uses.map(({ name, share }) => (uses.length === 1 ? name : `${name} ${percent(share)}`));
  return `${size} ${parts.join(" + ")}`;
}

/** Returns what a plan is called, an axis after the other. */
export const strategyText = ({ strategies }: Pick<PlanRow, "strategies">): string =>
  strategies.map(axisText).join("; ");

/** Returns what the search proved, and how near the plan is to it. */
export function boundText(
  { boundUs, leftFreeBytes, gap }: { readonly boundUs: number; readonly leftFreeBytes: number; readonly gap: number },
  { countedUs }: Pick<PlanRow, "countedUs">,
): string {
  const free = leftFreeBytes > 0 ? ` that leaves ${roundedSize(leftFreeBytes)} free` : "";
  const near = gap <= 1e-6 ? "none is faster" : `at most ${percent(gap)} faster`;
  return `${timeText(boundUs)} for any plan of this mesh and number of passes${free}, ${timeText(countedUs)} counted for this one: ${near}`;
}

/** Returns the plans that are called otherwise than the best, each name once, the first of them. */
export function runnersUp(best: PlanRow, others: readonly PlanRow[]): PlanRow[] {
  const key = (row: PlanRow): string => `${strategyText(row)} on ${meshText(row)}`;
  const seen = new Set([key(best)]);
  return others.filter((row) => !seen.has(key(row)) && seen.add(key(row)));
}
