import { count, timeText } from "../../report/amounts.ts";
import type { SolverFacts, SolverStage } from "../../synthesize/solver-facts.ts";
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

/** Returns the lines that say what integer programs did for a schedule. */
export function solverLines({ proved, model, stages }: SolverFacts): string[] {
  const lines = [labelled("solver", `${proved ? "proved optimal" : "not proved optimal"} for ${model}`)];
  for (const stage of stages.slice(0, MOST_LISTED)) lines.push(labelled("", stageText(stage)));
  const rest = stages.slice(MOST_LISTED);
  if (rest.length > 0) {
    const ms = rest.reduce((sum, stage) => sum + stage.ms, 0);
    lines.push(labelled("", `and ${count(rest.length, "further solve")} in ${timeText(ms * 1000)}`));
  }
  return lines;
}
