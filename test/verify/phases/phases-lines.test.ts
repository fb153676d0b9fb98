import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import type { LineAlgorithm, LineKind, NetworkDimension } from "../../../src/model/dimensions/dimensions.ts";
import { type LineSteps, lineSteps, partsOf } from "../../../src/model/phases/phase-times.ts";
import { lineFault } from "../../../src/verify/phases/phases.ts";

const LINES: readonly (readonly [LineKind, LineAlgorithm])[] = [
  ["ring", "ring"],
  ["line", "line"],
  ["fc", "direct"],
  ["switch", "ring"],
  ["switch", "direct"],
  ["switch", "halving-doubling"],
];
const SIZES = [2, 3, 4, 5, 8, 13, 16, 33, 64];

const fits = (algorithm: LineAlgorithm, size: number): boolean =>
  algorithm !== "halving-doubling" || [2, 4, 8, 16, 64].includes(size);

const stepsOf = (kind: LineKind, size: number, algorithm: LineAlgorithm): LineSteps => {
  const dimension: NetworkDimension = { kind, size, bytesPerSecond: 1, stepPs: 0, inNetwork: false };
  return lineSteps(algorithm, size, partsOf(dimension, algorithm));
};

/** Returns whether messages make a reduce-scatter, and backwards an all-gather: with a set for each position and block. */
function works(size: number, { steps, parts, firstRow, from, to, block, part }: LineSteps): boolean {
  const step = [...from.keys()].map((i) => firstRow.findIndex((first) => first > i) - 1);
  for (let wanted = 0; wanted < size; wanted++) {
    for (let half = 0; half < parts; half++) {
      const rows = [...from.keys()].filter((i) => block[i] === wanted && part[i] === half);
      let sums = Array.from({ length: size }, (_, x) => [x]);
      for (let now = 0; now < steps; now++) {
        const next = sums.map((sum) => [...sum]);
        for (const i of rows.filter((row) => step[row] === now)) next[to[i]]?.push(...(sums[from[i]] as number[]));
        sums = next;
        if (sums.some((sum) => new Set(sum).size < sum.length)) return false;
      }
      if (sums[wanted]?.length !== size) return false;
      const has = new Set([wanted]);
      for (let now = steps - 1; now >= 0; now--) {
        const own = rows.filter((row) => step[row] === now);
        if (own.some((i) => !has.has(to[i]))) return false;
        for (const i of own) {
          if (has.has(from[i])) return false;
          has.add(from[i]);
        }
      }
      if (has.size < size) return false;
    }
  }
  return true;
}

describe("lines carried out", () => {
  it.each(LINES)("accepts a %s by %s", (kind, algorithm) => {
    for (const size of SIZES.filter((own) => fits(algorithm, own)))
      expect(lineFault({ kind, size }, algorithm, stepsOf(kind, size, algorithm))).toBeNull();
  });

  it("agrees with sets about changed messages", () => {
    let broken = 0;
    for (let seed = 0; seed < 800; seed++) {
      const draws = random(seed);
      const [kind, algorithm] = LINES[draws.below(LINES.length)] as (typeof LINES)[number];
      const sizes = SIZES.filter((own) => own < 9 && fits(algorithm, own));
      const size = sizes[draws.below(sizes.length)] as number;
      const good = stepsOf(kind, size, algorithm);
      const name = (["from", "to", "block"] as const)[draws.below(3)] as "from" | "to" | "block";
      const column = good[name].slice();
      column[draws.below(column.length)] = draws.below(size);
      const steps = { ...good, [name]: column };
      if (steps.from.some((x, i) => x === steps.to[i])) continue;
      const right = works(size, steps);
      if (!right) broken++;
      // on a switch every message has a way, and a message more or less in a step is a matter of time
      const fault = lineFault({ kind: "switch", size }, algorithm, steps);
      expect(fault === null || fault.startsWith("takes the time")).toBe(right);
    }
    expect(broken).toBeGreaterThan(200);
  });

  it("refuses what does not arrive, messages past neighbours, and slow ones", () => {
    const ring = stepsOf("ring", 5, "ring");
    expect(lineFault({ kind: "line", size: 5 }, "ring", ring)).toBe("sends from 0 to 4, no neighbours");
    expect(lineFault({ kind: "ring", size: 5 }, "ring", stepsOf("switch", 5, "ring"))).toBe(
      "takes the time of 8 blocks, more than 4",
    );
    expect(lineFault({ kind: "fc", size: 4 }, "direct", stepsOf("switch", 4, "ring"))).toBe("takes 3 steps");
    const block = ring.block.slice();
    block[0] = (block[0] + 1) % 5;
    const cut = { ...ring, block };
    expect(lineFault({ kind: "ring", size: 5 }, "ring", cut)).toMatch(/^leaves block \d without what position \d has/);
    expect(lineFault({ kind: "ring", size: 5 }, "ring", { ...ring, to: ring.from })).toBe("has no message 0");
  });
});
