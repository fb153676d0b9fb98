import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openEngine } from "../../../src/engine/engine.ts";
import type { Engine } from "../../../src/engine/types.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { groupSize, meshGroups, meshOf } from "../../../src/model/tensor-plan/mesh.ts";
import { MOVE_KINDS } from "../../../src/model/tensor-plan/patterns.ts";
import { moveCosts } from "../../../src/run/plan/move-costs.ts";
import { communicationCosts, leastCosts } from "../../../src/run/training/costs.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 0 });
});
afterAll(async () => engine.close());

const CASES = [
  ["dgx-h100:2", [2, 8]],
  ["torus:4x4", [4, 4]],
  ["switch:3*switch:4@450,50GB/s,0.5us", [4, 3]],
] as const;

describe("costs of moves", () => {
  it.each(CASES)(
    "are what any schedule takes at least until theirs is made: never more than that (%s)",
    async (name, sizes) => {
      const topology = presetTopology(name);
      const mesh = meshOf(sizes);
      let asked = 0;
      const library = communicationCosts(engine, topology).by({ algorithm: "library", untilNear: true });
      const costs = moveCosts(
        mesh,
        (...one) => {
          asked++;
          return library(...one);
        },
        leastCosts(topology),
      );
      const list = [0b01, 0b10, 0b11].flatMap((axes) =>
        MOVE_KINDS.flatMap((kind) => [3000, 5e6, 3e9].map((bytes) => ({ kind, axes, bytes }))),
      );
      const least = list.map(({ kind, axes, bytes }) => costs.movePs(kind, axes, bytes));
      expect(asked).toBe(0);
      const some = list.filter((_, i) => i % 5 === 0);
      expect(await costs.make(some)).toBe(some.length);
      expect(await costs.make([...some, ...some])).toBe(0);
      expect(asked).toBe(some.length);
      for (const [i, { kind, axes, bytes }] of list.entries()) {
        const ps = costs.movePs(kind, axes, bytes);
        const where = `${kind} ${axes} ${bytes}`;
        if (i % 5 !== 0) {
          expect(ps, where).toBe(least[i]);
          continue;
        }
        const groups = { size: groupSize(mesh, axes), members: meshGroups(mesh, axes) };
        expect(ps, where).toBe((await library(kind, groups, bytes)).ps);
        expect(least[i], where).toBeGreaterThan(0);
        expect(least[i], where).toBeLessThanOrEqual(ps);
      }
    },
  );

  it.each(CASES)("grow with bytes, but not by the byte, where they are what is taken at least (%s)", (name, sizes) => {
    const mesh = meshOf(sizes);
    const leastOf = leastCosts(presetTopology(name));
    for (const axes of [0b01, 0b10, 0b11]) {
      const groups = { size: groupSize(mesh, axes), members: meshGroups(mesh, axes) };
      for (const kind of MOVE_KINDS) {
        const bytes = [1, 40, 4e3, 1e5, 1e6, 3e7, 2e9].map((parts) => parts * groups.size);
        const ps = bytes.map((size) => leastOf(kind, groups, size));
        for (let i = 1; i < ps.length; i++) {
          const where = `${kind} ${axes} ${bytes[i]}`;
          expect(ps[i], where).toBeGreaterThanOrEqual(ps[i - 1] as number);
          const [before, now] = [i - 1, i].map((at) => (ps[at] as number) / (bytes[at] as number)) as [number, number];
          expect(now, where).toBeLessThanOrEqual(before * (1 + 1e-12));
        }
      }
    }
  });
});
