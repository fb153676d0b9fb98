import { fileTargets } from "./file-targets.ts";
import { pageTargets } from "./page-targets.ts";
import { probeTargets } from "./probe-targets.ts";
import { resultsTargets } from "./results-targets.ts";
import { serverTargets } from "./server-targets.ts";
import { sweepTargets } from "./sweep-targets.ts";
import type { FuzzTarget } from "./target.ts";
import { tensorGraphTargets } from "./tensor-graph-targets.ts";
import { wordTargets } from "./word-targets.ts";
import { workloadTargets } from "./workload-targets.ts";

/** Returns a target for every reader. */
export const fuzzTargets = (): FuzzTarget[] => [
  ...fileTargets(),
  ...wordTargets(),
  ...pageTargets(),
  ...serverTargets(),
  ...workloadTargets(),
  ...resultsTargets(),
  ...sweepTargets(),
  ...probeTargets(),
  ...tensorGraphTargets(),
];
