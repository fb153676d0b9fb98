import { jsonText } from "../../base/visible.ts";
import { format } from "../../model/numbers/rational.ts";
import type { PhaseSchedule } from "../../model/phases/phase-schedule.ts";
import { collectiveJson, scheduleTopParts, type Told } from "./schedule-header.ts";

/** Returns the text of a `banyan-phases` file that reads back to the same schedule. `about`: see Told. */
export function phasesToJson(schedule: PhaseSchedule, about?: Told["about"]): string {
  return [...phasesJsonParts(schedule, { about })].join("");
}

/**
 * Yields the parts of that text, so that a caller can write them as they come: network and collective as in other schedules,
 * the number of chunks, the dimensions with their lines' algorithms (bytes a second and picoseconds), then the phases as
 * columns of equal length (`op`: 0 reduce-scatter, 1 all-gather; times in picoseconds). O(nodes + links + phases).
 */
export function* phasesJsonParts(schedule: PhaseSchedule, told: Told = {}): Generator<string> {
  const { topology, collective, dimensions, algorithms, chunk, dimension, op, startPs, endPs } = schedule;
  yield* scheduleTopParts(topology, 1, told, "banyan-phases");
  yield `  "collective": ${collectiveJson(collective, "  ")},\n`;
  yield `  "chunks": { "count": ${collective.chunkCount}, "bytes": "${format(collective.chunkBytes)}" },\n`;
  const rows = dimensions.map(({ kind, size, bytesPerSecond, stepPs, inNetwork }, d) => {
    const line = { kind, size, bytesPerSecond, stepPs, inNetwork, algorithm: algorithms[d] };
    return `    ${jsonText(line)}`;
  });
  yield `  "dimensions": [\n${rows.join(",\n")}\n  ],\n  "phases": {\n    "count": ${chunk.length}`;
  for (const [name, column] of Object.entries({ chunk, dimension, op, startPs, endPs }))
    yield `,\n    "${name}": [${column.join(",")}]`;
  yield "\n  }\n}\n";
}
