import { InputError } from "../../base/errors.ts";
import type { Replayed, ReplayOutcome } from "../../model/replay/problem.ts";
import { routeCount } from "../../model/routes/routes.ts";
import type { Rows } from "./rows.ts";

/** Returns why a row is of no valid plan: out of order, ended too soon or late, of no chunk or route, or never ready. */
function refusal(rows: Rows, row: number): InputError {
  const { chunk, route, startPs, endPs } = rows;
  const place = `transfer ${row} (simulate needs a valid schedule)`;
  const start = startPs[row];
  const end = endPs[row];
  const before = row === 0 ? 0 : startPs[row - 1];
  const chunkCount = rows.firstChunk.at(-1) as number;
  const routes = routeCount(rows.routes);
  if (!(start >= before)) return new InputError(place, `a start at or after ${before} ps`, start);
  if (!(end > start && end <= Number.MAX_SAFE_INTEGER)) {
    return new InputError(place, `an end after its start at ${start} ps and below 2^53 ps`, end);
  }
  if (!(chunk[row] < chunkCount && chunk[row] >= 0)) {
    return new InputError(place, `a chunk below ${chunkCount}`, chunk[row]);
  }
  if (!(route[row] < routes && route[row] >= 0)) return new InputError(place, `a route below ${routes}`, route[row]);
  const npu = rows.topology.nodeNames[rows.routes.source[route[row]]];
  return new InputError(place, `chunk ${chunk[row]} at NPU ${npu} by ${start} ps`);
}

/** Returns what a replay found. Throws InputError where it refused a row, or where a time would leave 2^53 - 1. */
export function accepted(rows: Rows, outcome: ReplayOutcome): Replayed {
  if (outcome.kind === "refused") throw refusal(rows, outcome.row);
  if (outcome.kind === "late") {
    throw new InputError("the simulated time", "less than 2^53 ps (2.5 hours)", "longer times");
  }
  return outcome;
}
