import { describe, expect, test } from "vitest";
import { random } from "../../src/base/random.ts";
import { verifyTreeFlow } from "../../src/verify/trees/tree-flow.ts";
import type { Violation } from "../../src/verify/violation.ts";
import { builtTrees } from "../support/plain-trees.ts";
import { drawnFlows } from "../support/tree-flow-cases.ts";
import { treeMutant } from "../support/tree-flow-mutants.ts";
import { judgeTrees } from "../support/tree-flow-oracle.ts";

const FLOWS = drawnFlows(150);
const MUTANTS_EACH = 18;

const keysOf = (
  violations: readonly Violation[],
  kinds: readonly string[],
  key: (v: Violation) => unknown,
): Set<unknown> => new Set(violations.filter((v) => kinds.includes(v.kind)).map(key));

describe("verifyTreeFlow and a brute-force oracle", () => {
  test("find nothing wrong with correct flows", () => {
    for (const [number, flow] of FLOWS.entries()) {
      expect(verifyTreeFlow(builtTrees(flow)).violations, `flow ${number}`).toEqual([]);
      expect(judgeTrees(flow).valid, `flow ${number}`).toBe(true);
    }
    expect(FLOWS.filter(({ symmetry }) => symmetry !== null).length).toBeGreaterThan(60);
    expect(FLOWS.filter(({ topology, collective }) => collective.groupSize < topology.npuCount).length).toBeGreaterThan(
      30,
    );
  });

  test(`agree on ${FLOWS.length * MUTANTS_EACH} mutants of them, which break every rule`, () => {
    const seen = new Map<string, number>();
    for (const [number, flow] of FLOWS.entries()) {
      const draws = random(number, 48);
      for (let m = 0; m < MUTANTS_EACH; m++) {
        const { name, flow: changed } = treeMutant(flow, draws);
        const opinion = judgeTrees(changed);
        const { violations, violationCount } = verifyTreeFlow(builtTrees(changed), { limit: Number.MAX_SAFE_INTEGER });
        const label = `flow ${number}, mutant ${m}: ${name}; ${violations[0]?.message}`;
        expect(violationCount, label).toBe(violations.length);
        expect(violationCount === 0, label).toBe(opinion.valid);
        expect(keysOf(violations, ["wrong-forests"], () => 0).size > 0, label).toBe(opinion.wrongForests);
        expect(keysOf(violations, ["false-symmetry"], () => 0).size > 0, label).toBe(opinion.falseSymmetry);
        const trees = keysOf(violations, ["broken-path", "not-a-tree"], (v) => `${v.forest} ${v.tree}`);
        expect(trees, label).toEqual(opinion.badTrees);
        expect(
          keysOf(violations, ["wrong-copies"], (v) => v.npu),
          label,
        ).toEqual(opinion.wrongRoots);
        const loads = keysOf(
          violations,
          ["link-overload"],
          (v) => (v.forest === undefined ? "" : `${v.forest} `) + v.link,
        );
        expect(loads, label).toEqual(opinion.overloaded);
        for (const { message } of violations) expect(message, label).not.toMatch(/undefined|NaN/);
        const kinds = new Set(violations.map((v) => v.kind));
        for (const kind of kinds.size === 0 ? ["none"] : kinds) seen.set(kind, (seen.get(kind) ?? 0) + 1);
      }
    }
    const kinds = [
      "wrong-forests",
      "false-symmetry",
      "broken-path",
      "not-a-tree",
      "wrong-copies",
      "link-overload",
      "none",
    ];
    for (const kind of kinds) expect(seen.get(kind) ?? 0, kind).toBeGreaterThan(100);
  });
});
