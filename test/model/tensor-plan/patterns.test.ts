import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Mesh, type MeshAxis, meshOf } from "../../../src/model/tensor-plan/mesh.ts";
import {
  axesWhere,
  type Move,
  movesBetween,
  PARTIAL,
  type Pattern,
  patternOf,
  patternsOf,
  REPLICATED,
  shardAlong,
  shardedAt,
  stateOn,
  withState,
} from "../../../src/model/tensor-plan/patterns.ts";
import { isFree } from "../../../src/model/tensor-plan/problem.ts";

const meshes = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 3 }).map((sizes) => meshOf(sizes));
const shapes = fc.array(fc.constantFrom(1, 2, 3, 4, 6, 8, 12, 24), { maxLength: 3 });

/** A mesh, a tensor's sizes, and two patterns of it. */
const moved = fc
  .record({ mesh: meshes, sizes: shapes, one: fc.nat(), other: fc.nat() })
  .map(({ mesh, sizes, one, other }) => {
    const all = patternsOf(mesh, sizes, true);
    const at = (draw: number): Pattern => all[draw % all.length] as Pattern;
    return { mesh, sizes, from: at(one), to: at(other) };
  });

/** Returns every way to say something of each axis that there is, by trying all. */
function allPatterns({ axes }: Mesh, sizes: readonly number[], partial: boolean): Pattern[] {
  const states = [REPLICATED, ...(partial ? [PARTIAL] : []), ...sizes.map((_, at) => shardAlong(at))];
  let lists: number[][] = [[]];
  for (const _ of axes) lists = lists.flatMap((list) => states.map((state) => [...list, state]));
  const isPossible = (list: readonly number[]): boolean =>
    list.every((state, j) => axes[j]?.size !== 1 || state === REPLICATED) &&
    sizes.every((size, at) => {
      const parts = list.reduce(
        (all, state, j) => (state === shardAlong(at) ? all * (axes[j] as MeshAxis).size : all),
        1,
      );
      return size % parts === 0;
    });
  return lists
    .filter(isPossible)
    .map(patternOf)
    .sort((a, b) => a - b);
}

/** Returns the part of a tensor that an NPU has: one over the NPUs along which it is dealt. */
const partOf = ({ axes }: Mesh, pattern: Pattern): number =>
  axes.reduce((part, { size }, j) => (shardedAt(stateOn(pattern, j)) >= 0 ? part / size : part), 1);

/** Returns what an axis does in a collective of a kind. */
const isOfKind = (kind: Move["kind"], before: number, after: number): boolean => {
  const [was, is] = [shardedAt(before) >= 0, shardedAt(after) >= 0];
  switch (kind) {
    case "reducescatter":
      return before === PARTIAL && is;
    case "allreduce":
      return before === PARTIAL && after === REPLICATED;
    case "allgather":
      return was && after === REPLICATED;
    case "alltoall":
      return was && is && before !== after;
  }
};

describe("patterns", () => {
  it("are all those that deal each dimension evenly, each once, in order", () => {
    fc.assert(
      fc.property(meshes, shapes, fc.boolean(), (mesh, sizes, partial) => {
        expect(patternsOf(mesh, sizes, partial)).toEqual(allPatterns(mesh, sizes, partial));
      }),
      { numRuns: 300 },
    );
  });
});

describe("moves between patterns", () => {
  it("are none exactly where something becomes partial, and no more than slices exactly where that is free", () => {
    let impossible = 0;
    fc.assert(
      fc.property(moved, ({ mesh, sizes, from, to }) => {
        const becomes = mesh.axes.some((_, j) => stateOn(to, j) === PARTIAL && stateOn(from, j) !== PARTIAL);
        const moves = movesBetween(mesh, sizes, from, to);
        expect(moves === null).toBe(becomes);
        if (moves === null) impossible++;
        else expect(moves.length === 0).toBe(isFree(mesh, from, to));
      }),
      { numRuns: 2000 },
    );
    expect(impossible).toBeGreaterThan(100);
  });

  it("end in the pattern but for parts that are taken, change each axis once by what their kind does, and stay even", () => {
    let [seen, waited] = [0, 0];
    fc.assert(
      fc.property(moved, ({ mesh, sizes, from, to }) => {
        const moves = movesBetween(mesh, sizes, from, to);
        if (moves === null) return;
        const even = new Set(patternsOf(mesh, sizes, true));
        let now = from;
        let done = 0;
        for (const { kind, axes, parts, to: next } of moves) {
          seen++;
          expect(axes & done).toBe(0);
          expect(axes).not.toBe(0);
          done |= axes;
          expect(even.has(next)).toBe(true);
          let sliced = now;
          mesh.axes.forEach((_, j) => {
            const [before, after] = [stateOn(now, j), stateOn(next, j)];
            if ((axes >> j) & 1) expect(isOfKind(kind, before, after)).toBe(true);
            else if (before !== after) {
              expect(before).toBe(REPLICATED);
              expect(shardedAt(after)).toBeGreaterThanOrEqual(0);
              sliced = withState(sliced, j, after);
            }
          });
          expect(parts).toBe(Math.round(1 / partOf(mesh, kind === "allgather" ? next : sliced)));
          now = next;
        }
        expect(isFree(mesh, now, to)).toBe(true);
        if (moves.length > 0 && now !== to) waited++;
        // those of one kind are one
        expect(new Set(moves.map(({ kind }) => kind)).size).toBe(moves.length);
      }),
      { numRuns: 3000 },
    );
    expect(seen).toBeGreaterThan(1000);
    expect(waited).toBeGreaterThan(5);
  });

  it("of a sum that is dealt and gathered again have the buffers of its all-reduce", () => {
    let seen = 0;
    fc.assert(
      fc.property(moved, ({ mesh, sizes, to: dealt, from }) => {
        // where the one is dealt the sum may be meant, elsewhere all stays as it is
        const axes = axesWhere(mesh, dealt, (state) => shardedAt(state) >= 0) & (from & 7);
        if (axes === 0) return;
        const set = (state: number): Pattern =>
          mesh.axes.reduce((all, _, j) => ((axes >> j) & 1 ? withState(all, j, state) : all), dealt);
        const [partial, whole] = [set(PARTIAL), set(REPLICATED)];
        const sum = movesBetween(mesh, sizes, partial, whole);
        const both = [movesBetween(mesh, sizes, partial, dealt), movesBetween(mesh, sizes, dealt, whole)].flat();
        expect(sum?.map(({ kind }) => kind)).toEqual(["allreduce"]);
        expect(both.map((move) => move?.kind)).toEqual(["reducescatter", "allgather"]);
        for (const one of both) expect(one).toMatchObject({ axes, parts: sum?.[0]?.parts });
        seen++;
      }),
      { numRuns: 5000 },
    );
    expect(seen).toBeGreaterThan(200);
  });
});
