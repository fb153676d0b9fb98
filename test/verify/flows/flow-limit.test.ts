import { describe, expect, it } from "vitest";
import type { Bound } from "../../../src/model/bounds/witness.ts";
import { add, compare, format, rational } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { linkCount } from "../../../src/model/topology/topology.ts";
import { greaterLimit } from "../../../src/run/all-to-all.ts";
import { provenLimitPs } from "../../../src/verify/flows/flow-limit.ts";
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
