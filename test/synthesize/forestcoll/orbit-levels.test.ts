import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { linkOrbits } from "../../../src/model/symmetry/network-maps.ts";
import { networkSymmetry } from "../../../src/model/symmetry/network-symmetry.ts";
import type { NetworkSymmetry } from "../../../src/model/trees/tree-flow.ts";
import { growTree, levelsOf } from "../../../src/synthesize/forestcoll/orbit-nested.ts";
import { orbitBudgets } from "../../../src/synthesize/forestcoll/orbit-shares.ts";
import { optimumOf } from "../../support/forest-of-orbits.ts";

function budgetsOf(preset: string) {
  const topology = presetTopology(preset);
  const { k, U } = optimumOf(topology);
  const orbits = linkOrbits(topology, networkSymmetry(topology) as NetworkSymmetry);
  return { topology, budgets: orbitBudgets(topology, orbits, k, U) };
}

describe("levelsOf", () => {
  it.each([
    ["fat-tree:32x4,leaf=2,tiers=3,oversub=2@450,50GB/s", [4, 16, 32, 128]],
    ["fat-tree:16x4,leaf=4,tiers=2,oversub=2@450,50GB/s", [4, 16, 64]],
    ["dgx-a100:4", [4, 32]],
    ["switch:8", [8]],
    ["torus:4x5@100,25GB/s", [5, 20]],
  ])("splits %s into components: %j", (preset, groups) => {
    const { topology, budgets } = budgetsOf(preset);
    expect(levelsOf(topology, budgets, true).map((level) => level.groups)).toEqual(groups);
  });

  it("finds servers also where their links are as wide as those of NICs", () => {
    const { topology, budgets } = budgetsOf("fat-tree:16x3,leaf=4,tiers=2");
    expect(levelsOf(topology, budgets, true).map((level) => level.groups)).toContain(16);
  });
});

describe("growTree", () => {
  it("enters every box once, and is null where one way into boxes is missing", () => {
    const { topology, budgets } = budgetsOf("dgx-a100:4");
    const levels = levelsOf(topology, budgets, true);
    const price = budgets.budget.map(() => 1);
    const grown = (left: Float64Array) =>
      growTree(topology, { link: [], before: [] }, levels, { orbit: budgets.orbit, left, price }, 2, true);
    expect(grown(budgets.budget.slice())?.height).toBe(2);
    const scarce = Math.min(...budgets.budget);
    expect(scarce).toBe(3);
    expect(grown(budgets.budget.map((uses) => (uses === scarce ? uses - 1 : uses)))).toBeNull();
  });
});
