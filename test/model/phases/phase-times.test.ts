import { describe, expect, it } from "vitest";
import type { NetworkDimension } from "../../../src/model/dimensions/dimensions.ts";
import { rational } from "../../../src/model/numbers/rational.ts";
import { PHASE_ALL_GATHER, PHASE_REDUCE_SCATTER } from "../../../src/model/phases/phase-schedule.ts";
import { phaseLane, phaseTimes } from "../../../src/model/phases/phase-times.ts";

const dimension: NetworkDimension = { kind: "ring", size: 8, bytesPerSecond: 7e9, stepPs: 500_000, inNetwork: true };
const MB = rational(1_000_000);

describe("phaseTimes", () => {
  it("sends (P-1)/P of the chunk and waits A_K = steps x latency of a step (4.4, footnote 7)", () => {
    const ring = phaseTimes(dimension, "ring", PHASE_REDUCE_SCATTER, MB);
    expect(ring).toEqual({ bytesSent: rational(875_000), serialPs: 125_000_000, latencyPs: 3_500_000 });
    expect(phaseTimes(dimension, "direct", PHASE_ALL_GATHER, MB)).toEqual({ ...ring, latencyPs: 500_000 });
    expect(phaseTimes(dimension, "halving-doubling", PHASE_ALL_GATHER, MB)).toEqual({ ...ring, latencyPs: 1_500_000 });
  });

  it("rounds serialisation up to the picosecond", () => {
    const { bytesSent, serialPs } = phaseTimes(dimension, "ring", PHASE_REDUCE_SCATTER, rational(1, 3));
    expect(bytesSent).toEqual(rational(7, 24));
    expect(serialPs).toBe(42); // 41.67
  });

  it("lets both directions of a switch that sums carry all of one op and 1/P of the other, at one step's latency", () => {
    const up = phaseTimes(dimension, "offload", PHASE_REDUCE_SCATTER, MB);
    const down = phaseTimes(dimension, "offload", PHASE_ALL_GATHER, MB);
    expect(up).toEqual({ bytesSent: MB, serialPs: Math.ceil((1e6 * 9e12) / 8 / 7e9), latencyPs: 500_000 });
    expect(down).toEqual({ ...up, bytesSent: rational(125_000) });
    expect([phaseLane("offload", PHASE_REDUCE_SCATTER), phaseLane("offload", PHASE_ALL_GATHER)]).toEqual([0, 1]);
    expect([phaseLane("ring", PHASE_REDUCE_SCATTER), phaseLane("ring", PHASE_ALL_GATHER)]).toEqual([0, 0]);
  });
});
