import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  aligned,
  atomsNow,
  freshAtom,
  keepApart,
  letter,
  namesOfAtoms,
  noAtoms,
  reshaped,
  sizeOfAxis,
  unite,
} from "../../../src/model/tensor-graph/dimension-solver.ts";
import { runs } from "../../support/runs.ts";

const axesOf = (atoms: ReturnType<typeof noAtoms>, sizes: readonly number[]) =>
  sizes.map((size) => [freshAtom(atoms, size)]);

/** Whether row-major indices of one shape are, axis by axis, those of products of neighbours of the other: by their prefixes. */
function hasCommonRefinement(one: readonly number[], other: readonly number[]): boolean {
  const prefixes = (sizes: readonly number[]): number[] => {
    let all = 1;
    return sizes.map((size) => {
      all *= size;
      return all;
    });
  };
  const marks = [...new Set([...prefixes(one), ...prefixes(other)])].sort((a, b) => a - b);
  return marks.every((mark, i) => i === 0 || mark % (marks[i - 1] as number) === 0);
}

describe("reshaped", () => {
  const sizes = fc.array(fc.constantFrom<number[]>(1, 2, 3, 4, 6), { minLength: 0, maxLength: 4 });

  it("divides where shapes have a common refinement, and refuses exactly the others", () => {
    fc.assert(
      fc.property(sizes, fc.array(fc.nat(23), { maxLength: 3 }), (from, cuts) => {
        const all = from.reduce((a, b) => a * b, 1);
        // any shape of as many elements: by divisors of what is left
        let left = all;
        const to = cuts.map((cut) => {
          const divisors = Array.from({ length: left }, (_, i) => i + 1).filter((one) => left % one === 0);
          const size = divisors[cut % divisors.length] as number;
          left /= size;
          return size;
        });
        to.push(left);
        const atoms = noAtoms();
        const axes = axesOf(atoms, from);
        const view = reshaped(atoms, axes, to);
        expect(view !== null).toBe(hasCommonRefinement(from, to));
        if (view === null) return;
        expect(view.map((axis) => sizeOfAxis(atoms, axis))).toEqual(to);
        const wide = (list: readonly number[]): number[] => list.filter((atom) => atoms.sizes[atom] !== 1);
        // the same atoms in the same order, whatever has size 1
        expect(wide(view.flat())).toEqual(wide(atomsNow(atoms, axes.flat())));
      }),
      { numRuns: runs(300) },
    );
  });

  it("divides an atom in every tensor that has it", () => {
    const atoms = noAtoms();
    const [tokens, hidden] = axesOf(atoms, [16, 64]) as [number[], number[]];
    expect(reshaped(atoms, [tokens, hidden], [16, 8, 8])?.length).toBe(3);
    expect(atomsNow(atoms, hidden).map((atom) => atoms.sizes[atom])).toEqual([8, 8]);
    expect(reshaped(atoms, [hidden], [4, 16])?.map((axis) => axis.length)).toEqual([1, 2]);
  });
});

describe("unite", () => {
  it("never makes one of two that a node sees together, whatever is united and divided before", () => {
    const deeds = fc.array(fc.tuple(fc.constantFrom("unite", "divide", "see"), fc.nat(99), fc.nat(99)), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(deeds, (all) => {
        const atoms = noAtoms();
        const seen: number[][] = [];
        for (let i = 0; i < 4; i++) freshAtom(atoms, 12);
        for (const [deed, a, b] of all) {
          const [one, other] = [a, b].map((k) => k % atoms.sizes.length) as [number, number];
          if (deed === "see") {
            const both = atomsNow(atoms, [one, other]);
            if (new Set(both).size < both.length) continue;
            seen.push([one, other]);
            keepApart(atoms, both);
          } else if (deed === "divide") reshaped(atoms, [[one]], [2, (atoms.sizes[one] as number) / 2].map(Math.ceil));
          else {
            const pair = atoms.sizes[one] === atoms.sizes[other] ? aligned(atoms, [one], [other]) : null;
            pair?.[0].forEach((atom, i) => {
              const now = atomsNow(atoms, [atom, pair[1][i] as number]) as [number, number];
              if (now.length === 2) unite(atoms, ...now);
            });
          }
        }
        for (const pair of seen) {
          const now = atomsNow(atoms, pair);
          expect(new Set(now).size).toBe(now.length);
          expect(now.reduce((size, atom) => size * (atoms.sizes[atom] as number), 1)).toBe(sizeOfAxis(atoms, pair));
        }
      }),
      { numRuns: runs(300) },
    );
  });

  it("unites what nobody sees together", () => {
    const atoms = noAtoms();
    const [a, b, c] = [5, 5, 5].map((size) => freshAtom(atoms, size)) as [number, number, number];
    keepApart(atoms, [a, b]);
    expect(unite(atoms, b, c)).toBe(true);
    expect(unite(atoms, a, atomsNow(atoms, [c])[0] as number)).toBe(false);
    expect(atomsNow(atoms, [c])).toEqual([b]);
  });
});

describe("aligned", () => {
  it("is null where factors of one do not divide those of the other", () => {
    const atoms = noAtoms();
    const [a, b, c, d] = [4, 6, 6, 4].map((size) => freshAtom(atoms, size)) as [number, number, number, number];
    expect(aligned(atoms, [a, b], [c, d])).toBeNull();
    const pair = aligned(atoms, [b, a], [a, b]);
    expect(pair).toBeNull();
    const [e, f] = [2, 12].map((size) => freshAtom(atoms, size)) as [number, number];
    expect(aligned(atoms, [a, b], [e, f])?.map((side) => side.map((atom) => atoms.sizes[atom]))).toEqual([
      [2, 2, 6],
      [2, 2, 6],
    ]);
  });
});

describe("names", () => {
  it("are letters, then letters with numbers", () => {
    expect([0, 25, 26, 51, 52].map(letter)).toEqual(["a", "z", "a1", "z1", "a2"]);
  });

  it("come as axes show them; an axis of several has one of its own", () => {
    expect([...namesOfAtoms([[7], [3, 7], [3], [3, 7], [9]])]).toEqual([
      [7, "a"],
      [3, "c"],
      [9, "d"],
    ]);
  });
});
