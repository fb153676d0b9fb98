import { describe, expect, it } from "vitest";
import { withGradients } from "../../../src/model/tensor-graph/backward.ts";
import { transformerGraph } from "../../../src/model/tensor-graph/models/transformer.ts";
import { meshOf } from "../../../src/model/tensor-plan/mesh.ts";
import { planTotals } from "../../../src/model/tensor-plan/problem.ts";
import { planOf, planProblem } from "../../../src/model/tensor-plan/problem-of.ts";
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

  it.each([SMALL_LLAMA, SMALL_EXPERTS])("are the same of what is stated plainly, which has fewer choices", (config) => {
    const graph = withGradients(transformerGraph(config, { batch: 8, sequence: 8, precision: "bf16" }));
    const costs = {
      computationPs: ({ bytes }: { bytes: number }) => 1 + bytes,
      movePs: (_: string, axes: number) => 3 + axes,
    };
    const told = (isPlain: boolean) => {
      const stated = planProblem(graph, meshOf([2, 2], ["A", "B"]), costs, { ...TERMS, isPlain });
      const hands = plansByHand(graph, stated);
      const choices = stated.problem.choosers.reduce((all, one) => all + one.choices.length, 0);
      const plans = hands.map(({ choice }) => planOf(graph, stated, choice).nodes);
      return { choices, hands: hands.map(({ hand, ps, fits }) => ({ hand, ps, fits })), plans };
    };
    const [plain, all] = [told(true), told(false)];
    expect(plain.choices).toBeLessThan(0.8 * all.choices);
    expect(plain.hands).toEqual(all.hands);
    expect(plain.plans).toEqual(all.plans);
  });
});
