import { describe, expect, it } from "vitest";
import { withGradients } from "../../../src/model/tensor-graph/backward.ts";
import { transformerGraph } from "../../../src/model/tensor-graph/models/transformer.ts";
import { coarserMeshes, fineAxes, finerChoice } from "../../../src/model/tensor-plan/coarser.ts";
import { meshOf } from "../../../src/model/tensor-plan/mesh.ts";
import { MOVE_KINDS, type MoveKind } from "../../../src/model/tensor-plan/patterns.ts";
import { planTotals } from "../../../src/model/tensor-plan/problem.ts";
import { planProblem, trafficOf } from "../../../src/model/tensor-plan/problem-of.ts";
import type { Computation } from "../../../src/model/workload/layer-work.ts";
import { plansByHand } from "../../../src/synthesize/plan/by-dimensions.ts";
import { SMALL_EXPERTS, SMALL_LLAMA, TERMS } from "../../support/small-plans.ts";

const MESH = meshOf([2, 4, 2]);

describe("a plan of a mesh in which two axes are one", () => {
  it.each([SMALL_LLAMA, SMALL_EXPERTS])(
    "takes the same time, traffic and memory as a plan of the finer mesh ($name)",
    (config) => {
      const graph = withGradients(
        transformerGraph(
          { ...config, heads: 8, kvHeads: 8, hidden: 16, vocabulary: 16, ffn: 16 },
          { batch: 16, sequence: 16, precision: "bf16" },
        ),
      );
      const computationPs = ({ flops, bytes }: Computation): number => 1 + flops + 3 * bytes;
      const movePs = (kind: MoveKind, axes: number, bytes: number): number =>
        (2 + MOVE_KINDS.indexOf(kind)) * axes * bytes + axes;
      const fine = planProblem(graph, MESH, { computationPs, movePs }, TERMS);
      let tried = 0;
      for (const coarser of coarserMeshes(MESH)) {
        const rough = planProblem(
          graph,
          coarser.mesh,
          { computationPs, movePs: (kind, axes, bytes) => movePs(kind, fineAxes(coarser, axes), bytes) },
          TERMS,
        );
        for (const { choice, hand } of plansByHand(graph, rough)) {
          const finer = finerChoice(coarser, rough, fine, choice);
          if (finer === null) throw new Error(`no finer plan for ${JSON.stringify(hand)}`);
          const [before, after] = [planTotals(rough.problem, choice), planTotals(fine.problem, finer)];
          if (before === null || after === null) throw new Error("no plan");
          expect(after.ps).toBeCloseTo(before.ps, 3);
          expect(after.totals[0]).toBe(before.totals[0]);
          expect(after.totals.at(-1)).toBe(before.totals.at(-1));
          coarser.partOf.forEach((at, j) => {
            expect(after.totals[trafficOf(j)]).toBe(before.totals[trafficOf(at)]);
          });
          tried++;
        }
      }
      expect(tried).toBeGreaterThan(100);
    },
  );
});
