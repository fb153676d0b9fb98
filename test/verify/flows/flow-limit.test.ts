import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Bound } from "../../../src/model/bounds/witness.ts";
import {
  add,
  compare,
  divide,
  format,
  multiply,
  type Rational,
  rational,
} from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { networkSymmetry } from "../../../src/model/symmetry/network-symmetry.ts";
import { linkCount, nodeCount, type Topology } from "../../../src/model/topology/topology.ts";
import { greaterLimit } from "../../../src/run/all-to-all.ts";
import { provenLimitPs, provenRate } from "../../../src/verify/flows/flow-limit.ts";
import { connectedTopology } from "../../support/connected-topology.ts";
import { runs, seen } from "../../support/runs.ts";
import { wholeCollective } from "../../support/synthesis.ts";

const ring = presetTopology("ring:4@1GB/s,0us");
const allToAll = wholeCollective(ring, "alltoall", 16_000, 2);
const equal = (length: number): Int32Array => new Int32Array(linkCount(ring)).fill(length);

describe("the limit that lengths prove", () => {
  it("is that of the hops on a ring, whatever the unit of length", () => {
    // 12 pairs of 4,000 bytes, 16 hops of them in all, over 8 links of 1 byte in 1,000 ps
    for (const length of [1, 7]) expect(format(provenLimitPs(ring, allToAll, equal(length)) as never)).toBe("8000000");
  });

  it("is nothing where no link has a length", () => {
    expect(provenLimitPs(ring, allToAll, equal(0))).toBeNull();
  });

  it("is taken where it is the greater one and proved, and refused where it says more than its lengths", () => {
    const proven = provenLimitPs(ring, allToAll, equal(1)) as never;
    const cut = (ps: number): Bound => ({ ps: rational(ps), witness: { kind: "nothing" } });
    const flow = (ps: Bound["ps"]): Bound => ({ ps, witness: { kind: "lengths", lengths: [...equal(1)] } });
    expect(greaterLimit(ring, allToAll, cut(1), flow(proven)).witness.kind).toBe("lengths");
    expect(compare(greaterLimit(ring, allToAll, cut(9e6), flow(proven)).ps, rational(9e6))).toBe(0);
    expect(() => greaterLimit(ring, allToAll, cut(1), flow(add(proven, rational(1))))).toThrow("do not prove");
  });
});

/** Returns what lengths prove by distances of Floyd and Warshall, all in whole numbers without end; null: nothing. */
function provenByAllPairs(
  { npuCount, ...topology }: Topology,
  demand: Float64Array,
  lengths: Int32Array,
): Rational | null {
  const { linkSource, linkTarget, linkBytesPerSecond } = topology;
  const nodes = nodeCount({ npuCount, ...topology });
  const far: (bigint | null)[][] = Array.from({ length: nodes }, (_, v) =>
    Array.from({ length: nodes }, (_, w) => (v === w ? 0n : null)),
  );
  const offer = (v: number, w: number, length: bigint): void => {
    const known = far[v][w];
    if (known === null || length < known) far[v][w] = length;
  };
  let offered = 0n;
  lengths.forEach((length, link) => {
    offer(linkSource[link], linkTarget[link], BigInt(length));
    offered += BigInt(length) * BigInt(linkBytesPerSecond[link]);
  });
  for (let k = 0; k < nodes; k++) {
    for (let v = 0; v < nodes; v++) {
      for (let w = 0; w < nodes; w++) {
        const [first, second] = [far[v][k], far[k][w]];
        if (first !== null && second !== null) offer(v, w, first + second);
      }
    }
  }
  let spent = 0n;
  for (let v = 0; v < npuCount; v++) {
    for (let w = 0; w < npuCount; w++) {
      if (v === w || demand[v * npuCount + w] === 0) continue;
      const distance = far[v][w];
      if (distance === null) return null;
      spent += BigInt(demand[v * npuCount + w]) * distance;
    }
  }
  return spent === 0n ? null : rational(offered, spent);
}

const units = fc.oneof(fc.nat(3), fc.constantFrom(0, 2 ** 26 - 1, 2 ** 31, 2 ** 45 + 1, Number.MAX_SAFE_INTEGER));
const length = fc.oneof(fc.nat(9), fc.constantFrom(0, 2 ** 30, 2 ** 30 - 1, 123_456_789));

describe("the rate that lengths prove", () => {
  it("is that of all pairs' distances to the last digit, with demands up to 2^53 and lengths up to 2^30", () => {
    fc.assert(
      fc.property(
        connectedTopology(6),
        fc.array(units, { minLength: 36, maxLength: 36 }),
        fc.array(length, { minLength: 8, maxLength: 40 }),
        (topology, drawn, lengthsDrawn) => {
          const { npuCount } = topology;
          const demand = Float64Array.from(drawn.slice(0, npuCount * npuCount));
          const lengths = Int32Array.from(topology.linkSource, (_, i) => lengthsDrawn[i % lengthsDrawn.length]);
          const expected = provenByAllPairs(topology, demand, lengths);
          expect(provenRate(topology, demand, lengths)).toEqual(expected);
          const fill = (npu: number, row: Float64Array): void =>
            row.set(demand.subarray(npu * npuCount, (npu + 1) * npuCount));
          expect(provenRate(topology, fill, lengths)).toEqual(expected);
        },
      ),
      { numRuns: runs(100) },
    );
  });

  it("of changed lengths is another one, and no greater limit passes with them", () => {
    const cut: Bound = { ps: rational(1), witness: { kind: "nothing" } };
    let caught = 0;
    fc.assert(
      fc.property(connectedTopology(6), fc.nat(), fc.constantFrom(-1, 1, 7, 1000), (topology, which, more) => {
        const collective = wholeCollective(topology, "alltoall", 2 ** 20);
        const honest = new Int32Array(linkCount(topology)).fill(1000);
        const ps = provenLimitPs(topology, collective, honest) as Rational;
        const changed = honest.with(which % honest.length, 1000 + more);
        const ones = new Float64Array(topology.npuCount ** 2).fill(1);
        const rate = provenByAllPairs(topology, ones, changed) as Rational;
        const says = divide(multiply(collective.chunkBytes, rational(1e12)), rate);
        const claim: Bound = { ps, witness: { kind: "lengths", lengths: [...changed] } };
        if (compare(says, ps) >= 0) {
          expect(greaterLimit(topology, collective, cut, claim)).toBe(claim);
          return;
        }
        caught++;
        expect(() => greaterLimit(topology, collective, cut, claim)).toThrow("do not prove");
      }),
      { numRuns: runs(60) },
    );
    expect(caught).toBeGreaterThan(seen(15));
  });

  it("is the same by one NPU for all on a symmetric network", () => {
    const torus = presetTopology("torus:4x6@1GB/s,0us");
    const collective = wholeCollective(torus, "alltoall", 2 ** 20, 3);
    const lengths = new Int32Array(linkCount(torus)).fill(5);
    const symmetry = networkSymmetry(torus);
    expect(symmetry).not.toBeNull();
    expect(provenLimitPs(torus, collective, lengths, symmetry)).toEqual(provenLimitPs(torus, collective, lengths));
  });
});
