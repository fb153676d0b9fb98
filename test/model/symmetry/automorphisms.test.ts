import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { routesOf } from "../../../src/model/routes/routing.ts";
import { automorphismsOf } from "../../../src/model/symmetry/automorphisms.ts";
import { without } from "../../../src/model/topology/modify.ts";
import { linkNames, type Topology } from "../../../src/model/topology/topology.ts";
import { shuffle } from "../../support/draws.ts";
import { runs, seen } from "../../support/runs.ts";

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

const mapsOf = ({ npus, pairs }: Plain): readonly Int32Array[] | null =>
  automorphismsOf(
    npus,
    Int32Array.from(pairs, ([from]) => from),
    Int32Array.from(pairs, ([, to]) => to),
  );
/** Returns [maps][npus] in an order that does not depend on how they were found. */
const listed = (maps: readonly ArrayLike<number>[] | null): string[] | undefined =>
  maps?.map((map) => Array.from(map).join()).sort();

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

/** Fails unless the maps are a group that keeps the routes, the identity first. */
function expectGroup(plain: Plain, maps: readonly Int32Array[]): void {
  const routes = routesUnder(plain, identity(plain.npus));
  const known = new Set(maps.map((map) => map.join()));
  expect(known.size).toBe(maps.length);
  expect([...maps[0]]).toEqual(identity(plain.npus));
  for (const map of maps) {
    expect(new Set(map).size).toBe(plain.npus);
    expect(routesUnder(plain, map)).toEqual(routes);
    expect(maps.every((then) => known.has(map.map((image) => then[image]).join()))).toBe(true);
  }
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

/** Returns lines of so many NPUs, in both directions, that meet in NPU 0. */
function star(lines: number, length: number): Plain {
  const pairs = Array.from({ length: lines * length }, (_, v): [number, number] => [
    v < lines ? 0 : v + 1 - lines,
    v + 1,
  ]);
  return { npus: lines * length + 1, pairs: [...pairs, ...pairs.map(([from, to]): [number, number] => [to, from])] };
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
  it("returns all maps of small networks, the identity first and closed under composition, or none", () => {
    let answered = 0;
    let symmetric = 0;
    fc.assert(
      fc.property(anySmall(6), (plain) => {
        const maps = mapsOf(plain);
        if (maps === null) return;
        answered++;
        if (maps.length > 1) symmetric++;
        expectGroup(plain, maps);
        expect(listed(maps)).toEqual(listed(everyAutomorphism(plain)));
      }),
      { seed: 1, numRuns: runs(300) },
    );
    expect(answered).toBeGreaterThan(seen(100));
    expect(symmetric).toBeGreaterThan(seen(50));
  });

  it.each([
    ["line:2", 2],
    ["line:9", 2],
    ["mesh:2x2", 8],
    ["mesh:8x8", 8],
    ["mesh:7x9", 4],
    ["mesh:46x46", 8],
    ["mesh:3x3x3", 48],
    ["mesh:4x5x5", 16],
    ["mesh:6x4x8", 8],
    ["grid:35x35x35", 48],
    ["mesh:200x200", 8],
    ["mesh:6x6x6x6", 384],
    ["ring:8", 16],
    ["ring:3*line:4", 12],
  ])("finds all maps of %s", (expression, count) => {
    expect(mapsOf(preset(expression))?.length).toBe(count);
  });

  it("turns and flips a mesh of 200 x 200", () => {
    const maps = mapsOf(preset("mesh:200x200")) as Int32Array[];
    const at = (x: number, y: number): number => x + 200 * y;
    const images = [
      [3, 50],
      [196, 50],
      [3, 149],
      [196, 149],
    ].flatMap(([x, y]) => [at(x, y), at(y, x)]);
    expect(maps.map((map) => map[at(3, 50)]).sort()).toEqual(images.sort());
  });

  it.each(["mesh:8x8", "mesh:6x6x6", "mesh:9x9", "ring:4*line:5"])("finds all maps of %s renumbered", (expression) => {
    const expected = mapsOf(preset(expression))?.length;
    for (let seed = 0; seed < 3; seed++) {
      const plain = scrambled(preset(expression), seed);
      const maps = mapsOf(plain) as Int32Array[];
      expectGroup(plain, maps);
      expect(maps.length).toBe(expected);
    }
  });

  it("finds the 384 maps of a mesh of four dimensions, however its NPUs are numbered", () => {
    const plain = preset("mesh:3x3x3x3");
    for (let seed = 0; seed < 20; seed++) {
      const maps = mapsOf(scrambled(plain, seed)) as Int32Array[];
      expect(new Set(listed(maps)).size).toBe(384);
    }
  });

  it("does not depend on the order of routes", () => {
    const plain = preset("mesh:6x6");
    const pairs = plain.pairs.map(([from, to]): [number, number] => [from, to]);
    shuffle(pairs, random(1, 1));
    expect(mapsOf({ ...plain, pairs })).toEqual(mapsOf(plain));
  });

  it("follows routes one way: around a ring of 4 there are turns but no flips", () => {
    const pairs = [
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 0],
    ] as const;
    expect(listed(mapsOf({ npus: 4, pairs }))).toEqual(["0,1,2,3", "1,2,3,0", "2,3,0,1", "3,0,1,2"]);
    expect(listed(mapsOf({ npus: 4, pairs: pairs.slice(0, 3) }))).toEqual(["0,1,2,3"]);
  });

  it("counts parallel routes", () => {
    const { npus, pairs } = preset("line:6");
    const countWith = (...more: [number, number][]): number | undefined =>
      mapsOf({ npus, pairs: [...pairs, ...more] })?.length;
    expect(countWith([0, 1], [5, 4])).toBe(2);
    expect(countWith([1, 2], [3, 4], [4, 3], [2, 1])).toBe(2);
    expect(countWith([1, 2], [2, 1])).toBe(1);
  });

  it("finds the maps that failed links leave", () => {
    const mesh = presetTopology("mesh:8x8");
    const corner = linkNames(mesh).filter((_, link) => mesh.linkSource[link] === 0 || mesh.linkTarget[link] === 0);
    expect(corner.length).toBe(4);
    const maps = mapsOf(plainOf(without(mesh, corner))) as Int32Array[];
    expect(maps.map((map) => map[1])).toEqual([1, 8]);
    const small = presetTopology("mesh:5x6");
    const isInMiddle = (v: number): boolean => v % 5 === 2;
    linkNames(small).forEach((name, link) => {
      const onMirror = isInMiddle(small.linkSource[link]) && isInMiddle(small.linkTarget[link]);
      expect(mapsOf(plainOf(without(small, [name])))?.length).toBe(onMirror ? 2 : 1);
    });
  });

  it.each(["torus:6x6", "ring:20", "fc:8", "hypercube:5", "dragonfly:4x5", "fc:1", "mesh:3x3x3x3x3"])(
    "gives up on %s",
    (expression) => {
      expect(mapsOf(preset(expression))).toBeNull();
    },
  );

  it("gives up where there are too many maps, or too many permutations to search or to check", () => {
    expect(mapsOf(star(5, 1))?.length).toBe(120);
    expect(mapsOf(star(6, 1))).toBeNull();
    expect(mapsOf(star(16, 1))).toBeNull();
    const uneven = (length: number): Plain => {
      const { npus, pairs } = star(6, length);
      return { npus, pairs: [...pairs, [0, 1]] };
    };
    expect(mapsOf(uneven(100))?.length).toBe(120);
    expect(mapsOf(uneven(12_000))).toBeNull();
  });

  it("gives up where there are no NPUs, no routes, or NPUs that routes do not tell apart", () => {
    expect(mapsOf({ npus: 0, pairs: [] })).toBeNull();
    expect(mapsOf({ npus: 1, pairs: [] })).toBeNull();
    expect(mapsOf({ npus: 30, pairs: [] })).toBeNull();
    const spokes = Array.from({ length: 20 }, (_, v): [number, number] => [0, v + 1]);
    expect(mapsOf({ npus: 21, pairs: [...spokes, [1, 0], [2, 0]] })).toBeNull();
  });
});
