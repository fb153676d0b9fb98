import type { Highs } from "highs";

/** What a model came to, as HiGHS numbers it (HighsModelStatus); "empty" is one without rows and columns. */
export const MODEL_STATUS = {
  empty: 6,
  optimal: 7,
  infeasible: 8,
  unboundedOrInfeasible: 9,
  unbounded: 10,
  objectiveBound: 11,
  objectiveTarget: 12,
  timeLimit: 13,
  iterationLimit: 14,
  solutionLimit: 16,
  interrupted: 17,
} as const satisfies Partial<Highs["constants"]["modelStatus"]>;
