import { openEngine } from "../../../src/engine/engine.browser.ts";
import { milpRunner } from "../../../src/run/threads/milp-runner.ts";
import { knapsacks } from "../../support/milp-problems.ts";

/** Returns what the browser's engine makes of integer programs, as plain data: on a page as in Node. */
export async function solveProgramsHere(): Promise<unknown> {
  const engine = await openEngine({ backend: "js" });
  const runner = milpRunner(engine, undefined);
  const { status, primal, objective, bound, nodes } = await runner.solve(knapsacks(25, 5, 1));
  const limited = await runner.solve(knapsacks(90, 25, 2), { timeLimitMs: 500 });
  const cancelled = await milpRunner(engine, AbortSignal.abort())
    .solve(knapsacks(25, 5, 1))
    .catch((error: Error) => error.name);
  return {
    solved: { status, primal: Array.from(primal), objective, bound, nodes },
    limited: limited.status,
    cancelled,
  };
}

Object.assign(globalThis, { solveProgramsHere });
