import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { timesOfLoads } from "../../../src/model/comm/schedule.ts";
import { arcSources, type Digraph, diameter, product } from "../../../src/model/direct/digraph.ts";
import { leastBandwidthTime, mooreSteps } from "../../../src/model/direct/facts.ts";
import { bestCirculant } from "../../../src/model/direct/families/rings.ts";
import { gcd } from "../../../src/model/numbers/integers.ts";
import { format } from "../../../src/model/numbers/rational.ts";
import { bfbLoads } from "../../../src/synthesize/bfb/broadcast.ts";
import { balance, distancesTo, graph } from "../../support/breadth-first.ts";
import { unexpected } from "../../support/refusals.ts";
import { runs, seen } from "../../support/runs.ts";

const timesOf = async (of: Digraph) => timesOfLoads(of, await bfbLoads(of, balance));
const isOptimal = async (of: Digraph): Promise<boolean> =>
  format((await timesOf(of)).bandwidth) === format(leastBandwidthTime(of.nodes));

/** Returns C(n, offsets), one target for all. */
const circulant = (n: number, offsets: readonly number[]): Digraph => ({
  nodes: n,
  offset: Int32Array.from({ length: n + 1 }, (_, v) => 2 * offsets.length * v),
  target: Int32Array.from({ length: 2 * offsets.length * n }, (_, arc) => {
    const v = Math.floor(arc / (2 * offsets.length));
    const k = arc % (2 * offsets.length);
    const by = offsets[k >> 1] as number;
    return (v + (k % 2 === 0 ? by : n - by)) % n;
  }),
  translations: [n],
});

/** Returns whether two of N_x, a_x, b_x are constant at every distance, counted by themselves (theorem 18). */
function meetsTheorem18(of: Digraph): boolean {
  const distance = Array.from({ length: of.nodes }, (_, u) => distancesTo(of, u));
  const tail = arcSources(of);
  const far = Math.max(...distance.flat());
  for (let x = 1; x <= far; x++) {
    const n = new Set(distance.map((from) => from.filter((d) => d === x).length));
    const a = new Set(
      Array.from(of.target, (u, arc) => {
        const w = tail[arc];
        return distance[u].filter((d, v) => d === x && distance[w][v] === x - 1).length;
      }),
    );
    const b = new Set<number>();
    for (let u = 0; u < of.nodes; u++) {
      for (let v = 0; v < of.nodes; v++) {
        if (distance[u][v] !== x) continue;
        let ways = 0;
        for (let arc = of.offset[u]; arc < of.offset[u + 1]; arc++) if (distance[of.target[arc]][v] === x - 1) ways++;
        b.add(ways);
      }
    }
    if ([n, a, b].filter(({ size }) => size === 1).length < 2) return false;
  }
  return true;
}

describe("theorem 13: products of bandwidth-optimal graphs", () => {
  const factors = [
    "UniRing(1,3)",
    "BiRing(2,4)",
    "BiRing(2,5)",
    "K(3)",
    "K(4)",
    "C(7,{2,3})",
    "K(2,2)",
    "Q(2)",
    "DC(5,{1,2})",
  ];
  it("are bandwidth-optimal", async () => {
    for (const text of factors) expect(await isOptimal(graph(text)), text).toBe(true);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...factors), { minLength: 2, maxLength: 3 }), async (names) => {
        const graphs = names.map(graph);
        fc.pre(graphs.reduce((nodes, of) => nodes * of.nodes, 1) <= 150);
        expect(await isOptimal(product(graphs))).toBe(true);
      }),
      { numRuns: runs(30) },
    );
  });

  it("hold for tori of any dimensions, where one of 2 is one link", async () => {
    for (const text of ["Torus(3,3,2)", "Torus(2,2,2)", "Torus(5,4,3)", "Torus(7,2)", "Torus(6,6)"]) {
      const of = graph(text);
      expect(await isOptimal(of), text).toBe(true);
    }
  });
});

describe("theorem 18: two of three constants", () => {
  it.each(["J(5,2)", "Odd(3)", "H(3,3)", "Q(4)", "Paley(13)", "K(3,3)", "Crown(5)"])(
    "hold for %s, which is bandwidth-optimal",
    async (text) => {
      const of = graph(text);
      expect(meetsTheorem18(of)).toBe(true);
      expect(await isOptimal(of)).toBe(true);
    },
  );

  it("make random circulants bandwidth-optimal where they hold", async () => {
    let held = 0;
    for (let n = 5; n <= 16; n++) {
      for (let a = 1; 2 * a < n; a++) {
        for (let b = a + 1; 2 * b < n; b++) {
          if (gcd(gcd(n, a), b) !== 1) continue;
          const of = circulant(n, [a, b]);
          if (!meetsTheorem18(of)) continue;
          held++;
          expect(await isOptimal(of)).toBe(true);
        }
      }
    }
    expect(held).toBeGreaterThan(seen(10));
  });
});

describe("theorem 21: generalized Kautz graphs", () => {
  it("take at most one comm step more than the Moore bound", async () => {
    for (const d of [2, 3, 4]) {
      for (let m = d + 1; m <= 60; m++) {
        const { steps } = await timesOf(graph(`Pi(${d},${m})`));
        expect(steps).toBeLessThanOrEqual(mooreSteps(m, d) + 1);
      }
    }
  });
});

describe("theorem 22: circulants with two offsets", () => {
  it("have diameter m up to 2,000 nodes", () => {
    for (let n = 7; n <= 2000; n++) {
      const [m, next] = bestCirculant(n);
      expect(next).toBe(m + 1);
      // the least integer at or above (sqrt(2n - 1) - 1) / 2
      expect((2 * m + 1) ** 2 >= 2 * n - 1 && (2 * m - 1) ** 2 < 2 * n - 1).toBe(true);
      expect(reach(n, [m, m + 1])).toBe(m);
    }
  });

  it("have the least diameter up to 60 nodes", () => {
    for (let n = 5; n <= 60; n++) {
      let least = Number.POSITIVE_INFINITY;
      for (let a = 1; 2 * a <= n; a++) for (let b = a; 2 * b <= n; b++) least = Math.min(least, reach(n, [a, b]));
      expect(reach(n, bestCirculant(n)), `${n}`).toBe(least);
    }
  });

  it("need 5 nodes", () => {
    expect(bestCirculant(5)).toEqual([1, 2]);
    expect(() => bestCirculant(4)).toThrow(unexpected("a circulant of degree 4", 4, 5));
  });

  it("measures as distances do", () => {
    for (const n of [7, 16, 33]) expect(reach(n, bestCirculant(n))).toBe(diameter(circulant(n, bestCirculant(n))));
  });
});

/** Returns the distance of the farthest node from 0, Infinity where some are out of reach. */
function reach(n: number, offsets: readonly number[]): number {
  const distance = new Int32Array(n).fill(-1);
  const queue = [0];
  distance[0] = 0;
  for (const v of queue) {
    for (const by of offsets) {
      for (const to of [(v + by) % n, (v + n - by) % n]) {
        if (distance[to] >= 0) continue;
        distance[to] = distance[v] + 1;
        queue.push(to);
      }
    }
  }
  return queue.length < n ? Number.POSITIVE_INFINITY : distance[queue[queue.length - 1] as number];
}

describe("rings", () => {
  it("take half as many comm steps as once round, at the optimum", async () => {
    for (let n = 3; n <= 40; n++) {
      const of = graph(`BiRing(2,${n})`);
      expect((await timesOf(of)).steps).toBe(Math.floor(n / 2));
      expect(await isOptimal(of)).toBe(true);
    }
  });
});

describe("conjecture 1, that circulants are bandwidth-optimal,", () => {
  it("holds for all with two offsets up to 40 nodes", async () => {
    for (let n = 5; n <= 40; n++) {
      for (let a = 1; 2 * a < n; a++) {
        for (let b = a + 1; 2 * b < n; b++) {
          if (gcd(gcd(n, a), b) === 1) expect(await isOptimal(circulant(n, [a, b])), `C(${n},{${a},${b}})`).toBe(true);
        }
      }
    }
  });

  it("fails with three: shards 3, 8 and 13 reach node 0 of C(15,{1,4,5}) over two of its six links", async () => {
    const of = circulant(15, [1, 4, 5]);
    const distance = distancesTo(of, 0);
    const near = (v: number): number[] => [1, 4, 5].flatMap((by) => [(v + by) % 15, (v + 15 - by) % 15]);
    expect(distance.filter((d) => d === 2)).toHaveLength(8);
    const over = [3, 8, 13].flatMap((v) => near(v).filter((w) => distance[w] === 1 && distance[v] === 2));
    // theorem 19: 3 shards for 2 links, more than 8 for 6
    expect([...new Set(over)].sort((a, b) => a - b)).toEqual([4, 14]);
    expect((await bfbLoads(of, balance)).map(format)).toEqual(["1", "3/2"]);
    expect(format((await timesOf(of)).bandwidth)).toBe("1");
  });

  it("has no smaller counterexample with three", async () => {
    for (let n = 7; n <= 15; n++) {
      const broken: string[] = [];
      for (let a = 1; 2 * a < n; a++) {
        for (let b = a + 1; 2 * b < n; b++) {
          for (let c = b + 1; 2 * c < n; c++) {
            if ([a, b, c].reduce((all, by) => gcd(all, by), n) !== 1) continue;
            if (!(await isOptimal(circulant(n, [a, b, c])))) broken.push(`${a},${b},${c}`);
          }
        }
      }
      // those of 15 nodes are two up to multiplication by units
      expect(broken).toEqual(n < 15 ? [] : ["1,4,5", "1,5,6", "2,3,5", "2,5,7", "3,5,7", "4,5,6"]);
    }
  });
});
