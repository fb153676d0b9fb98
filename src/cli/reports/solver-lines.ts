import { count, timeText } from "../../report/amounts.ts";
import type { HalvesFacts, SolverFacts, SolverStage } from "../../synthesize/solver-facts.ts";
import { labelled } from "./text.ts";

const STATUS: Readonly<Record<SolverStage["status"], string>> = {
  optimal: "solved",
  enough: "good enough",
  infeasible: "no solution",
  unbounded: "unbounded",
  limit: "stopped",
  memory: "out of memory",
  failed: "failed",
  skipped: "not needed",
};

/** Stages beyond this many are summed up. */
const MOST_LISTED = 6;

/** Returns one solve in words: "routing: 1,204 columns, 866 rows, solved in 0.3 s (17 nodes)". */
function stageText({ name, columns, rows, status, nodes, ms, note }: SolverStage): string {
  const about = note === undefined ? "" : `; ${note}`;
  if (status === "skipped") return `${name}: ${note ?? STATUS.skipped}`;
  const searched = nodes > 1 ? ` (${count(nodes, "node")})` : "";
  return `${name}: ${count(columns, "column")}, ${count(rows, "row")}, ${STATUS[status]} in ${timeText(ms * 1000)}${searched}${about}`;
}

/** Returns what is proved of reduce-scatters followed by all-gathers in words. */
function halvesText({ leastUs, us, met }: HalvesFacts): string {
  const known =
    us <= leastUs
      ? `takes ${timeText(us)}, proved optimal of these`
      : `takes at least ${timeText(leastUs)}, ${timeText(us)} found`;
  return `a reduce-scatter followed by an all-gather ${known}${met ? "; this schedule is as short as any of these" : ""}`;
}

/** Returns the lines that say what integer programs did for a schedule. */
export function solverLines({ proved, model, stages, halves }: SolverFacts): string[] {
  const lines = [labelled("solver", `${proved ? "proved optimal" : "not proved optimal"} for ${model}`)];
  if (halves !== undefined) lines.push(labelled("", halvesText(halves)));
  for (const stage of stages.slice(0, MOST_LISTED)) lines.push(labelled("", stageText(stage)));
  const rest = stages.slice(MOST_LISTED);
  if (rest.length > 0) {
    const ms = rest.reduce((sum, stage) => sum + stage.ms, 0);
    lines.push(labelled("", `and ${count(rest.length, "further solve")} in ${timeText(ms * 1000)}`));
  }
  return lines;
}
