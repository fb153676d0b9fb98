import { expect, it } from "vitest";
import { PRECISIONS } from "../../src/model/workload/accelerators.ts";
import { RECOMPUTATIONS } from "../../src/model/workload/operations.ts";
import { PASS_KINDS } from "../../src/model/workload/transformer/options.ts";
import { TRAINING_ROWS } from "../../src/request/training-rows.ts";

/** The page has the table of options without the model, so their words are written there once more. */
it.each([
  ["precision", PRECISIONS],
  ["recompute", RECOMPUTATIONS],
  ["pass", PASS_KINDS],
] as const)("--%s takes what the model knows", (option, known) => {
  expect([...TRAINING_ROWS[option].parse.words].sort()).toEqual([...known].sort());
});
