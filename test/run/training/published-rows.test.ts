import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { KORTHIKANTI, publishedRows } from "../../../bench/training-published-cases.mjs";
import { predictor } from "../../../bench/training-published-steps.mjs";
import { openEngine } from "../../../src/engine/engine.ts";
import type { Engine } from "../../../src/engine/types.ts";
import { boxTopology } from "../../../src/model/presets/boxes.ts";
import { acceleratorNamed } from "../../../src/model/workload/accelerators.ts";
import { modelNamed } from "../../../src/model/workload/models.ts";
import { ALONE } from "../../../src/model/workload/parallelism.ts";
import { placedStep } from "../../../src/model/workload/placed-tasks.ts";
import { ATTENTION_SHARES, computationPs, DEFAULT_EFFICIENCIES } from "../../../src/model/workload/roofline.ts";
import { defaultOptions } from "../../../src/model/workload/transformer/options.ts";
import { transformerStep } from "../../../src/model/workload/transformer.ts";
import { communicationCosts } from "../../../src/run/training/costs.ts";
import { simulateTraining } from "../../../src/run/training/train.ts";
import { sharedFiles, sharedText } from "../../support/shared-data.ts";

const LIBRARY = {
  ...{ boxTopology, acceleratorNamed, modelNamed, ALONE, ATTENTION_SHARES, computationPs, DEFAULT_EFFICIENCIES },
  ...{ defaultOptions, transformerStep, communicationCosts, placedStep, simulateTraining },
};

/** Rows as the bench has them, which is JavaScript. */
interface Row {
  readonly group: string;
  readonly model: string;
  readonly gpus: number;
  readonly seconds: number;
}

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 0 });
});
afterAll(async () => engine.close());

/** Resolves to the middle of the errors' sizes. */
async function medianError(rows: readonly Row[]): Promise<number> {
  const { predict } = predictor(LIBRARY, engine);
  const errors: number[] = [];
  for (const row of rows) errors.push(Math.abs((await predict(row)).seconds / row.seconds - 1));
  errors.sort((a, b) => a - b);
  return errors[Math.floor(errors.length / 2)] as number;
}

describe("steps that others published", () => {
  it("are those that the efficiencies were fitted on", async () => {
    const fitted = (KORTHIKANTI as readonly Row[]).filter(({ gpus }) => gpus <= 64);
    expect(await medianError(fitted)).toBeLessThan(0.05);
  });

  const isThere = sharedFiles("measured").includes("training.csv");
  it.skipIf(!isThere)("are each once, with all that a step is made of", () => {
    const rows: readonly Row[] = publishedRows(sharedText("measured/training.csv"));
    const counts: Record<string, number> = {};
    for (const { group } of rows) counts[group] = (counts[group] ?? 0) + 1;
    expect(counts).toEqual({ "Bridge, experts": 27, "Bridge, dense": 18, "llm-foundry": 144, MLPerf: 25 });
  });

  it.skipIf(!isThere)("and were not fitted on come within 15 % in the middle, where they are quick", async () => {
    const rows: readonly Row[] = publishedRows(sharedText("measured/training.csv"));
    const quick = rows.filter(({ group, gpus }) => group === "MLPerf" && gpus <= 16);
    expect(quick).toHaveLength(5);
    expect(await medianError(quick)).toBeLessThan(0.15);
  });
});
