import { describe, expect, it } from "vitest";
import { withGradients } from "../../../src/model/tensor-graph/backward.ts";
import { transformerGraph } from "../../../src/model/tensor-graph/models/transformer.ts";
import { meshOf } from "../../../src/model/tensor-plan/mesh.ts";
import { planTotals } from "../../../src/model/tensor-plan/problem.ts";
import { planProblem } from "../../../src/model/tensor-plan/problem-of.ts";
import { plansByHand } from "../../../src/synthesize/plan/by-dimensions.ts";
import { COSTS, SMALL_EXPERTS, SMALL_LLAMA, TERMS } from "../../support/small-plans.ts";

describe("plans by hand", () => {
  it.each([SMALL_LLAMA, SMALL_EXPERTS])("keep and make again only what is taken in the backward pass", (config) => {
    const graph = withGradients(transformerGraph(config, { batch: 8, sequence: 8, precision: "bf16" }));
    const { problem, index } = planProblem(graph, meshOf([2, 2], ["A", "B"]), COSTS, TERMS);
    const made = plansByHand(graph, { problem, index });
    expect(made.length).toBeGreaterThan(50);
    let again = 0;
    for (const { choice } of made) {
      problem.choosers.forEach(({ choices }, v) => {
        const meanings = index.meanings[v] ?? [];
        const { rule, retention } = meanings[choice.choices[v] as number] ?? {};
        if (!rule || retention === "dropped") return;
        if (retention === "again") again++;
        const dropped = Int32Array.from(choice.choices);
        dropped[v] = choices.findIndex((_, c) => meanings[c]?.rule === rule && meanings[c]?.retention === "dropped");
        // somebody is left without it
        expect(planTotals(problem, { ...choice, choices: dropped })).toBeNull();
      });
    }
    expect(again).toBeGreaterThan(100);
  });
});
