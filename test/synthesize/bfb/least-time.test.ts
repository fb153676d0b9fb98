import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { LpSolver } from "../../../src/engine/contract/programs.ts";
import { openHighs } from "../../../src/engine/milp/highs.ts";
import { compare, type Rational, rational, toNumber } from "../../../src/model/numbers/rational.ts";
import { leastTime, type Port, type ShardClass } from "../../../src/synthesize/bfb/uneven.ts";
import { runs } from "../../support/runs.ts";

let lp: LpSolver;
beforeAll(async () => {
  lp = await openHighs();
});

interface Case {
  readonly ports: readonly Port[];
  readonly classes: readonly ShardClass[];
}

const cases = (mostShards: number): fc.Arbitrary<Case> =>
  fc
    .array(
      fc.record({
        latency: fc.integer({ min: 0, max: 12 }),
        num: fc.integer({ min: 1, max: 9 }),
        den: fc.integer({ min: 1, max: 4 }),
      }),
      {
        minLength: 1,
        maxLength: 4,
      },
    )
    .chain((links) =>
      fc.record({
        ports: fc.constant(
          links.map(({ latency, num, den }) => ({ latencyPs: BigInt(latency), shardPs: rational(num, den) })),
        ),
        classes: fc.array(
          fc.record({
            shards: fc.integer({ min: 1, max: mostShards }),
            ports: fc.subarray([...links.keys()], { minLength: 1 }),
          }),
          { minLength: 1, maxLength: 3 },
        ),
      }),
    );

/** Returns the value of (A.12) with these ports only, all of whose latencies count; Infinity where a class has none of them. */
function programValue({ ports, classes }: Case, used: readonly number[]): number {
  const pairs = classes.flatMap((shards, c) => shards.ports.filter((p) => used.includes(p)).map((p) => ({ c, p })));
  if (classes.some((_, c) => pairs.every((pair) => pair.c !== c))) return Number.POSITIVE_INFINITY;
  const rows = [
    ...used.map((p) => ({
      lower: Number.NEGATIVE_INFINITY,
      upper: -Number(ports[p].latencyPs),
      entries: [
        ...pairs.flatMap((pair, i) => (pair.p === p ? [[i, toNumber(ports[p].shardPs)] as const] : [])),
        [pairs.length, -1] as const,
      ],
    })),
    ...classes.map(({ shards }, c) => ({
      lower: shards,
      upper: shards,
      entries: pairs.flatMap((pair, i) => (pair.c === c ? [[i, 1] as const] : [])),
    })),
  ];
  const offset = [0];
  for (const { entries } of rows) offset.push((offset[offset.length - 1] as number) + entries.length);
  const columns = pairs.length + 1;
  const found = lp.solve({
    objective: new Float64Array(columns).fill(-1, columns - 1),
    lower: new Float64Array(columns),
    upper: new Float64Array(columns).fill(Number.POSITIVE_INFINITY),
    rows: {
      lower: Float64Array.from(rows, (row) => row.lower),
      upper: Float64Array.from(rows, (row) => row.upper),
      offset: Int32Array.from(offset),
      column: Int32Array.from(rows.flatMap(({ entries }) => entries.map(([column]) => column))),
      value: Float64Array.from(rows.flatMap(({ entries }) => entries.map(([, value]) => value))),
    },
  });
  expect(found.status).toBe("optimal");
  return -found.objective;
}

const subsets = (count: number): number[][] =>
  Array.from({ length: 2 ** count - 1 }, (_, i) => [...Array(count).keys()].filter((p) => ((i + 1) >> p) & 1));

/** Returns the least time by trying all ways to share out the parts, class by class. */
function byTrying({ ports, classes }: Case, parts: number): Rational {
  let best: Rational | null = null;
  const load = ports.map(() => 0);
  const share = (c: number, k: number, left: number): void => {
    if (c === classes.length) {
      const ps = ports
        .map(({ latencyPs, shardPs }, p) =>
          load[p] === 0
            ? rational(0)
            : rational(
                latencyPs * shardPs.den * BigInt(parts) + BigInt(load[p]) * shardPs.num,
                shardPs.den * BigInt(parts),
              ),
        )
        .reduce((a, b) => (compare(a, b) < 0 ? b : a));
      if (best === null || compare(ps, best) < 0) best = ps;
      return;
    }
    const own = classes[c].ports;
    const next = classes[c + 1];
    if (k === own.length - 1) {
      load[own[k] as number] += left;
      share(c + 1, 0, next === undefined ? 0 : next.shards * parts);
      load[own[k] as number] -= left;
      return;
    }
    for (let taken = 0; taken <= left; taken++) {
      load[own[k] as number] += taken;
      share(c, k + 1, left - taken);
      load[own[k] as number] -= taken;
    }
  };
  share(0, 0, classes[0].shards * parts);
  return best as unknown as Rational;
}

describe("least time of a step over unequal links", () => {
  it("is the value of (A.12) with the best set of links in use, so far ones drop out by themselves", () => {
    fc.assert(
      fc.property(cases(20), (given) => {
        const { ps } = leastTime(given.classes, given.ports, null);
        const best = Math.min(...subsets(given.ports.length).map((used) => programValue(given, used)));
        expect(toNumber(ps)).toBeCloseTo(best, 6);
      }),
      { numRuns: runs(60) },
    );
  });

  it("is the least of all ways to share out whole parts", () => {
    fc.assert(
      fc.property(cases(2), fc.integer({ min: 1, max: 3 }), (given, parts) => {
        const plan = leastTime(given.classes, given.ports, parts);
        expect(plan.ps).toEqual(byTrying(given, parts));
        given.classes.forEach(({ shards }, c) => {
          expect(plan.parts[c].reduce((a, b) => a + b, 0)).toBe(shards * parts);
        });
      }),
      { numRuns: runs(150) },
    );
  });

  it("shares out parts so that no link ends later", () => {
    fc.assert(
      fc.property(cases(30), fc.integer({ min: 1, max: 12 }), (given, parts) => {
        const plan = leastTime(given.classes, given.ports, parts);
        given.ports.forEach(({ latencyPs, shardPs }, p) => {
          let load = 0;
          given.classes.forEach(({ ports }, c) => {
            const k = ports.indexOf(p);
            if (k >= 0) load += plan.parts[c][k] as number;
          });
          const end = rational(
            latencyPs * shardPs.den * BigInt(parts) + BigInt(load) * shardPs.num,
            shardPs.den * BigInt(parts),
          );
          if (load > 0) expect(compare(end, plan.ps)).toBeLessThanOrEqual(0);
        });
        expect(compare(leastTime(given.classes, given.ports, null).ps, plan.ps)).toBeLessThanOrEqual(0);
      }),
    );
  });

  it("uses no link that is farther than the answer", () => {
    const near = { latencyPs: 0n, shardPs: rational(1) };
    const far = { latencyPs: 100n, shardPs: rational(1, 1000) };
    expect(leastTime([{ shards: 3, ports: [0, 1] }], [near, far], 1)).toEqual({ ps: rational(3), parts: [[3, 0]] });
    expect(leastTime([{ shards: 3, ports: [0, 1] }], [near, far], null).ps).toEqual(rational(3));
  });
});
