import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { automorphismsOf } from "../../src/model/automorphisms.ts";
import { without } from "../../src/model/modify.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { routesOf } from "../../src/model/routing.ts";
import { type SymmetryGroup, symmetryGroupOf } from "../../src/model/symmetry-group.ts";
import { linkNames, type Topology } from "../../src/model/topology.ts";
import { random } from "../../src/random.ts";
import { shuffle } from "../support/draws.ts";

/** A network of equal routes, as pairs [source, target]. */
interface Plain {
  readonly npus: number;
  readonly pairs: readonly (readonly [number, number])[];
}

const plainOf = (topology: Topology): Plain => {
  const { source, target } = routesOf(topology, 1);
  return { npus: topology.npuCount, pairs: Array.from(source, (from, r) => [from, target[r]]) };
};
const preset = (expression: string): Plain => plainOf(presetTopology(expression));

const columns = ({ npus, pairs }: Plain): [number, Int32Array, Int32Array] => [
  npus,
  Int32Array.from(pairs, ([from]) => from),
  Int32Array.from(pairs, ([, to]) => to),
];
const groupOf = (plain: Plain): SymmetryGroup | null => symmetryGroupOf(...columns(plain));

/** Returns the network with its NPUs renumbered and its routes in another order. */
function scrambled({ npus, pairs }: Plain, seed: number): Plain {
  const draws = random(seed, 5);
  const name = Array.from({ length: npus }, (_, v) => v);
  const moved = pairs.map(([from, to]): [number, number] => [from, to]);
  shuffle(name, draws);
  shuffle(moved, draws);
  return { npus, pairs: moved.map(([from, to]) => [name[from], name[to]]) };
}

/** Returns the multiset of routes, each end taken by the map. */
const routesUnder = ({ npus, pairs }: Plain, map: ArrayLike<number>): Float64Array =>
  Float64Array.from(pairs, ([from, to]) => map[from] * npus + map[to]).sort();

const identity = (npus: number): number[] => Array.from({ length: npus }, (_, v) => v);

/** Returns the NPUs that a map other than the identity (the first) fixes. */
const fixedBy = (maps: readonly ArrayLike<number>[], npus: number): number[] =>
  identity(npus).filter((v) => maps.some((map, g) => g > 0 && map[v] === v));

/** Returns the number of routes into least NPUs of orbits from others. */
function crossing({ npus, pairs }: Plain, maps: readonly ArrayLike<number>[]): number {
  const least = identity(npus).map((v) => maps.every((map) => map[v] >= v));
  return pairs.filter(([from, to]) => least[to] && !least[from]).length;
}

/** Fails unless the maps are a group that keeps the routes, with these representatives and elements. */
function expectGroup(plain: Plain, { maps, representative, element }: SymmetryGroup): void {
  const { npus } = plain;
  const routes = routesUnder(plain, identity(npus));
  const known = new Set(maps.map((map) => map.join()));
  expect([2, 4, 8]).toContain(known.size);
  expect(maps.length).toBe(known.size);
  expect([...maps[0]]).toEqual(identity(npus));
  for (const map of maps) {
    expect(new Set(map).size).toBe(npus);
    expect(routesUnder(plain, map)).toEqual(routes);
    expect(maps.some((back) => map.every((image, v) => back[image] === v))).toBe(true);
    for (const then of maps) expect(known.has(map.map((image) => then[image]).join())).toBe(true);
  }
  const orbit = (v: number): number[] => maps.map((map) => map[v]);
  expect([...representative]).toEqual(identity(npus).map((v) => Math.min(...orbit(v))));
  expect([...element]).toEqual(identity(npus).map((v) => orbit(representative[v]).indexOf(v)));
}

/** Returns all permutations of 0 .. n - 1, the identity first. */
function permutations(n: number): number[][] {
  let all: number[][] = [[]];
  for (let k = 0; k < n; k++) {
    all = all.flatMap((start) => identity(n).flatMap((v) => (start.includes(v) ? [] : [[...start, v]])));
  }
  return all;
}

/** Returns all maps of the network onto itself, by trying every permutation. */
function everyAutomorphism(plain: Plain): number[][] {
  const routes = routesUnder(plain, identity(plain.npus)).join();
  return permutations(plain.npus).filter((map) => routesUnder(plain, map).join() === routes);
}

/** Returns all groups of at most 8 of the maps, each with the identity first. */
function everySubgroup(maps: readonly number[][]): number[][][] {
  const known = new Map<string, number[][]>([[`${maps[0]}`, [maps[0]]]]);
  for (const group of known.values()) {
    for (const map of maps) {
      const larger = new Map([...group, map].map((element) => [`${element}`, element]));
      for (const f of larger.values()) {
        for (const g of [...larger.values()]) {
          const both = [f.map((v) => g[v]), g.map((v) => f[v])];
          for (const product of both) larger.set(`${product}`, product);
        }
        if (larger.size > 8) break;
      }
      if (larger.size <= 8) known.set([...larger.keys()].sort().join(" "), [...larger.values()]);
    }
  }
  return [...known.values()];
}

/** Returns [order, fixed NPUs, crossing routes] of the best group that may be returned for at most 199 NPUs, or null. */
function bestFigures(plain: Plain, maps: readonly number[][]): number[] | null {
  const allowed = everySubgroup(maps).filter((group) => {
    const fixed = fixedBy(group, plain.npus);
    const ported = fixed.every((v) => {
      const fixing = group.filter((map) => map[v] === v);
      return plain.pairs.filter(([from, to]) => to === v && fixing.some((map) => map[from] !== from)).length >= 2;
    });
    return [2, 4, 8].includes(group.length) && fixed.length <= (group.length === 8 ? 0 : 1) && ported;
  });
  const figures = allowed.map((group) => [group.length, fixedBy(group, plain.npus).length, crossing(plain, group)]);
  figures.sort(([order, fixed, cross], [order2, fixed2, cross2]) => order2 - order || fixed - fixed2 || cross - cross2);
  return figures[0] ?? null;
}

/** Generates networks of 2 to `most` NPUs, many of them made symmetric under a random permutation. */
const anySmall = (most: number): fc.Arbitrary<Plain> =>
  fc
    .record({
      npus: fc.integer({ min: 2, max: most }),
      ends: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 9 }),
      both: fc.boolean(),
      turns: fc.nat(4),
      seed: fc.nat(1e6),
    })
    .map(({ npus, ends, both, turns, seed }) => {
      const image = identity(npus);
      shuffle(image, random(seed, 3));
      let pairs = ends
        .map(([from, to]): [number, number] => [from % npus, to % npus])
        .filter(([from, to]) => from !== to);
      if (both) pairs = pairs.flatMap(([from, to]) => [[from, to] as [number, number], [to, from] as [number, number]]);
      const all = [...pairs];
      for (let turn = 0; turn < turns; turn++) {
        pairs = pairs.map(([from, to]) => [image[from], image[to]]);
        all.push(...pairs);
      }
      return { npus, pairs: all };
    });

describe("automorphismsOf", () => {
  it("returns all maps of small networks, or none", () => {
    let answered = 0;
    fc.assert(
      fc.property(anySmall(6), (plain) => {
        const found = automorphismsOf(...columns(plain));
        if (found === null) return;
        const { maps, product } = found;
        answered++;
        expect(maps.map((map) => map.join()).sort()).toEqual(
          everyAutomorphism(plain)
            .map((map) => map.join())
            .sort(),
        );
        expect([...maps[0]]).toEqual(identity(plain.npus));
        maps.forEach((f, i) => {
          maps.forEach((g, j) => {
            expect(g.map((v) => f[v])).toEqual(maps[product[i * maps.length + j]]);
          });
        });
      }),
      { seed: 1, numRuns: 300 },
    );
    expect(answered).toBeGreaterThan(100);
  });

  it.each([
    ["mesh:8x8", 8],
    ["mesh:7x9", 4],
    ["mesh:3x3x3", 48],
    ["mesh:4x5x5", 16],
    ["line:9", 2],
    ["ring:8", 16],
    ["ring:3*line:4", 12],
  ])("finds all maps of %s", (expression, count) => {
    expect(automorphismsOf(...columns(preset(expression)))?.maps.length).toBe(count);
  });
});

describe("symmetryGroupOf", () => {
  it("returns the best group of small networks, where it finds their maps", () => {
    const orders = new Set<number>();
    fc.assert(
      fc.property(anySmall(7), (plain) => {
        const group = groupOf(plain);
        if (group !== null) expectGroup(plain, group);
        if (automorphismsOf(...columns(plain)) === null) return;
        const maps = group?.maps ?? [];
        orders.add(maps.length);
        const figures = group && [maps.length, fixedBy(maps, plain.npus).length, crossing(plain, maps)];
        expect(figures).toEqual(bestFigures(plain, everyAutomorphism(plain)));
      }),
      { seed: 2, numRuns: 250 },
    );
    expect([...orders].sort()).toEqual([0, 2, 4]);
  });

  // columns: order, NPUs that a map fixes, routes into representatives from others
  it.each([
    ["line:2", 2, 0, 1],
    ["line:8", 2, 0, 1],
    ["line:9", 2, 1, 1],
    ["mesh:2x2", 4, 0, 2],
    ["mesh:3x4", 2, 0, 3],
    ["mesh:5x5", 4, 1, 9],
    ["mesh:8x8", 4, 0, 8],
    ["mesh:6x10", 4, 0, 8],
    ["mesh:3x3x3", 2, 1, 13],
    ["mesh:4x4x4", 8, 0, 12],
    ["mesh:6x4x8", 8, 0, 26],
    ["mesh:15x15x15", 4, 15, 254],
    ["ring:4*line:5", 4, 0, 8],
    ["mesh:15x15", 4, 1, 29],
  ])("finds the group of %s", (expression, order, fixed, cross) => {
    const plain = preset(expression);
    const group = groupOf(plain) as SymmetryGroup;
    expectGroup(plain, group);
    expect([group.maps.length, fixedBy(group.maps, plain.npus).length, crossing(plain, group.maps)]).toEqual([
      order,
      fixed,
      cross,
    ]);
  });

  it("flips both axes of a mesh of 200 x 200, which fixes no NPU", () => {
    const { maps } = groupOf(preset("mesh:200x200")) as SymmetryGroup;
    const at = (x: number, y: number): number => x + 200 * y;
    expect(maps.map((map) => map[at(3, 50)])).toEqual([at(3, 50), at(196, 50), at(3, 149), at(196, 149)]);
    expect(fixedBy(maps, 40_000)).toEqual([]);
  });

  it("flips both axes where both sizes are odd and differ, once what they fix is one NPU in 100", () => {
    for (const [expression, order, fixed] of [
      ["mesh:199x201", 4, 399],
      ["mesh:197x199", 2, 1],
    ] as const) {
      const plain = preset(expression);
      const { maps } = groupOf(plain) as SymmetryGroup;
      expect([maps.length, fixedBy(maps, plain.npus).length]).toEqual([order, fixed]);
    }
  });

  it("turns a grid of 35 x 35 x 35 by quarters with a flip: only the NPUs of one axis are fixed", () => {
    const plain = preset("grid:35x35x35");
    const { maps, representative } = groupOf(plain) as SymmetryGroup;
    expect(maps.length).toBe(4);
    expect(fixedBy(maps, plain.npus).length).toBe(35);
    expect(representative.filter((r, v) => r === v).length).toBe(10_728);
    expect(
      maps
        .slice(1)
        .map((map) => fixedBy([maps[0], map], plain.npus).length)
        .sort(),
    ).toEqual([1, 1, 35]);
  });

  it.each(["mesh:8x8", "mesh:6x6x6", "mesh:9x9", "ring:4*line:5"])(
    "finds as good a group of %s renumbered",
    (expression) => {
      const expected = groupOf(preset(expression)) as SymmetryGroup;
      for (let seed = 0; seed < 3; seed++) {
        const plain = scrambled(preset(expression), seed);
        const group = groupOf(plain) as SymmetryGroup;
        expectGroup(plain, group);
        expect(group.maps.length).toBe(expected.maps.length);
        expect(fixedBy(group.maps, plain.npus).length).toBe(fixedBy(expected.maps, plain.npus).length);
      }
    },
  );

  it("does not depend on the order of routes", () => {
    const plain = preset("mesh:6x6");
    const pairs = plain.pairs.map(([from, to]): [number, number] => [from, to]);
    shuffle(pairs, random(1, 1));
    expect(groupOf({ ...plain, pairs })).toEqual(groupOf(plain));
  });

  it("follows routes one way: around a ring of 4 there are turns but no flips", () => {
    const ring: Plain = {
      npus: 4,
      pairs: [
        [0, 1],
        [1, 2],
        [2, 3],
        [3, 0],
      ],
    };
    const group = groupOf(ring) as SymmetryGroup;
    expectGroup(ring, group);
    expect(group.maps.map((map) => [...map])).toEqual([
      [0, 1, 2, 3],
      [1, 2, 3, 0],
      [2, 3, 0, 1],
      [3, 0, 1, 2],
    ]);
    const chain: Plain = {
      npus: 4,
      pairs: [
        [0, 1],
        [1, 2],
        [2, 3],
      ],
    };
    expect(groupOf(chain)).toBeNull();
  });

  it("counts parallel routes", () => {
    const { npus, pairs } = preset("line:6");
    expect(groupOf({ npus, pairs: [...pairs, [0, 1]] })).toBeNull();
    expect(groupOf({ npus, pairs: [...pairs, [0, 1], [5, 4]] })?.maps.length).toBe(2);
    expect(groupOf({ npus, pairs: [...pairs, [0, 1], [4, 5]] })).toBeNull();
  });

  it("finds none where every map fixes an NPU without two moved ports, or too many", () => {
    // NPUs 1 and 2 may change places, 0 takes from neither of them and 3 only from 0
    const fork: Plain = {
      npus: 4,
      pairs: [
        [0, 1],
        [0, 2],
        [1, 2],
        [2, 1],
        [0, 3],
        [3, 0],
      ],
    };
    expect(everyAutomorphism(fork).length).toBe(2);
    expect(groupOf(fork)).toBeNull();
    const mesh = presetTopology("mesh:8x8");
    const corner = linkNames(mesh).filter((_, link) => mesh.linkSource[link] === 0 || mesh.linkTarget[link] === 0);
    expect(corner.length).toBe(4);
    expect(groupOf(plainOf(without(mesh, corner)))).toBeNull();
  });

  it("finds none of a mesh once any link is gone", () => {
    const mesh = presetTopology("mesh:5x6");
    for (const name of linkNames(mesh)) expect(groupOf(plainOf(without(mesh, [name])))).toBeNull();
  });

  it.each(["torus:6x6", "ring:20", "fc:8", "hypercube:5", "dragonfly:4x5", "fc:1", "mesh:6x6x6x6"])(
    "gives up on %s",
    (expression) => {
      expect(groupOf(preset(expression))).toBeNull();
    },
  );

  it("gives up where there are no NPUs, no routes, or NPUs that routes do not tell apart", () => {
    expect(groupOf({ npus: 0, pairs: [] })).toBeNull();
    expect(groupOf({ npus: 1, pairs: [] })).toBeNull();
    expect(groupOf({ npus: 30, pairs: [] })).toBeNull();
    const spokes = Array.from({ length: 20 }, (_, v): [number, number] => [0, v + 1]);
    expect(groupOf({ npus: 21, pairs: [...spokes, [1, 0], [2, 0]] })).toBeNull();
  });
});
