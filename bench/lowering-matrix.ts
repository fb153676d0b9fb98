import { openEngine } from "../src/engine/engine.ts";
import { openHighs } from "../src/engine/milp/highs.ts";
import { lowered, loweringCases, scheduleFor, TARGETS } from "../test/support/lowering-matrix.ts";

/** Every synthesizer and collective on 2 to 32 GPUs, odd numbers too: boxes with a switch, rings, fully connected. */
const NETWORKS = [
  ...[2, 3, 4, 5, 7, 8, 16, 32].map((npus) => `switch:${npus}`),
  ...[2, 3, 5, 8, 16].map((npus) => `ring:${npus}`),
  ...["fc:7", "mesh:3x3", "dgx-a100:2", "dgx-h100:4", "mi250:1"],
];

/** What is loaded on first use cannot be loaded once `runnerImport` has returned. */
await openHighs();

/** Yields what became of every case for every runtime; of these algorithms only, where some are named. */
export async function* outcomes(algorithms: readonly string[]) {
  const engine = await openEngine();
  try {
    for (const found of loweringCases(NETWORKS)) {
      if (algorithms.length > 0 && !algorithms.includes(found.algorithm)) continue;
      const result = await scheduleFor(engine, found);
      if (result === null) continue;
      for (const target of TARGETS) yield lowered(found, result, target);
    }
  } finally {
    await engine.close();
  }
}
