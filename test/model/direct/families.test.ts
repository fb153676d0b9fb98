import { describe, expect, it } from "vitest";
import type { Digraph } from "../../../src/model/direct/digraph.ts";
import { regularDegree } from "../../../src/model/direct/digraph.ts";
import { diameter, distancesFrom } from "../../../src/model/direct/distances.ts";
import { DISTANCE_REGULAR_SIZES } from "../../../src/model/direct/families/distance-regular.ts";
import { family } from "../../../src/model/direct/families.ts";

const graph = (name: string, ...parameters: number[]): Digraph => {
  family(name).size(parameters);
  return family(name).build(parameters);
};

/** The numbers of definition 17 by counting, or null where they depend on more than the distance. */
function isDistanceRegular(g: Digraph): boolean {
  const distance = Array.from({ length: g.nodes }, (_, v) => distancesFrom(g, v));
  const most = Math.max(...distance[0]) + 1;
  const known = new Map<number, string>();
  for (let x = 0; x < g.nodes; x++) {
    for (let y = 0; y < g.nodes; y++) {
      const counts = new Int32Array(most * most);
      for (let z = 0; z < g.nodes; z++) counts[distance[x][z] * most + distance[y][z]]++;
      const text = counts.join();
      const h = distance[x][y];
      if ((known.get(h) ?? text) !== text) return false;
      known.set(h, text);
    }
  }
  return true;
}

describe("table A.2", () => {
  const diameters = [2, 2, 3, 3, 3, 4, 3, 3, 4, 3, 4, 7, 4, 6, 6];
  it.each(DISTANCE_REGULAR_SIZES.map((nodes, i) => [nodes, diameters[i]]))(
    "DistReg(4,%i) is distance-regular of degree 4 with diameter %i",
    (nodes, steps) => {
      const g = graph("DistReg", 4, nodes);
      expect(g.nodes).toBe(nodes);
      expect(regularDegree(g)).toBe(4);
      expect(diameter({ ...g, translations: null })).toBe(steps);
      if (nodes < 300) expect(isDistanceRegular(g)).toBe(true);
    },
  );
});
