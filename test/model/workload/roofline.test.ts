import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ACCELERATOR_NAMES,
  acceleratorNamed,
  customAccelerator,
  PRECISIONS,
  peakOf,
} from "../../../src/model/workload/accelerators.ts";
import type { Computation } from "../../../src/model/workload/layer-work.ts";
import { computationPs, DEFAULT_EFFICIENCIES, matmulEfficiency } from "../../../src/model/workload/roofline.ts";
import { runs } from "../../support/runs.ts";

const IDEAL = { matmul: 1, matmulHalfSize: 0, sizeGrowth: 1, attention: 1, memory: 1, launchPs: 0 };
const product = (rows: number, inner: number, columns: number): Computation => ({
  name: "product",
  kind: "matmul",
  flops: 2 * rows * inner * columns,
  bytes: 2 * (rows * inner + inner * columns + rows * columns),
  shape: { rows, inner, columns },
});

describe("a computation", () => {
  const a100 = acceleratorNamed("a100");

  it("takes operations by the peak, or bytes by the bandwidth, whichever is longer", () => {
    expect(computationPs(a100, "bf16", product(8192, 8192, 8192), IDEAL)).toBe(Math.ceil((2 * 8192 ** 3) / 312));
    const thin = product(1, 8192, 8192);
    expect(computationPs(a100, "bf16", thin, IDEAL)).toBe(Math.ceil((thin.bytes / 2039e9) * 1e12));
    expect(computationPs(a100, "bf16", { ...thin, kind: "memory", flops: 1e18 }, IDEAL)).toBe(
      Math.ceil((thin.bytes / 2039e9) * 1e12),
    );
  });

  it("takes what was given, and nothing else", () => {
    expect(computationPs(a100, "fp8", { ...product(8, 8, 8), givenPs: 7 })).toBe(7);
  });

  it("wants larger products of faster units: half of the share at the size that is said, of A100", () => {
    const efficiencies = { ...IDEAL, matmulHalfSize: 1000, sizeGrowth: 0.5 };
    const share = (peak: number, size: number) =>
      matmulEfficiency(efficiencies, peak, { rows: size, inner: size, columns: size });
    expect(share(312e12, 1000)).toBeCloseTo(0.5, 12);
    expect(share(4 * 312e12, 2000)).toBeCloseTo(0.5, 12);
    expect(share(4 * 312e12, 1000)).toBeCloseTo(1 / 3, 12);
  });

  it("is behind its launch", () => {
    const { launchPs } = DEFAULT_EFFICIENCIES;
    expect(computationPs(a100, "bf16", { name: "barrier", kind: "memory", flops: 0, bytes: 0 })).toBe(launchPs);
  });

  it("stays in 16 bits where it is attention or says so, though products have 8", () => {
    const h100 = acceleratorNamed("h100");
    const big = product(8192, 8192, 8192);
    const [narrow, wide] = [
      computationPs(h100, "fp8", big, IDEAL),
      computationPs(h100, "fp8", { ...big, sixteenBits: true }, IDEAL),
    ];
    expect(wide / narrow).toBeCloseTo(2, 2);
    expect(computationPs(h100, "fp8", { ...big, kind: "attention" }, IDEAL)).toBe(wide);
  });

  it("is never faster with less of anything", () => {
    const size = fc.integer({ min: 1, max: 20000 });
    fc.assert(
      fc.property(size, size, size, fc.constantFrom(...ACCELERATOR_NAMES), (rows, inner, columns, name) => {
        const accelerator = acceleratorNamed(name);
        const ps = (r: number) => computationPs(accelerator, "fp16", product(r, inner, columns));
        expect(ps(rows + 1)).toBeGreaterThanOrEqual(ps(rows) * (1 - 1e-9));
        const share = matmulEfficiency(DEFAULT_EFFICIENCIES, peakOf(accelerator, "fp16"), { rows, inner, columns });
        expect(share).toBeGreaterThan(0);
        expect(share).toBeLessThan(DEFAULT_EFFICIENCIES.matmul);
      }),
      { numRuns: runs(200) },
    );
  });
});

describe("accelerators", () => {
  it("have dense peaks that do not fall with fewer bits, and memory that is filled in less than half a second", () => {
    for (const name of ACCELERATOR_NAMES) {
      const { peak, memoryBandwidth, memoryBytes } = acceleratorNamed(name);
      const known = PRECISIONS.map((precision) => peak[precision]).filter((flops) => flops !== undefined);
      expect(known).toEqual([...known].sort((a, b) => a - b));
      expect(memoryBytes / memoryBandwidth).toBeLessThan(0.5);
      expect(memoryBytes / memoryBandwidth).toBeGreaterThan(0.01);
    }
  });

  it("are known by several names", () => {
    expect(acceleratorNamed("A100-80GB").name).toBe("a100");
    expect(acceleratorNamed("H100 SXM").name).toBe("h100");
    expect(() => acceleratorNamed("h10")).toThrow(/the accelerator is "h10"; did you mean "h100"\?/);
  });

  it("say which precisions they have where one is asked that they have not", () => {
    expect(() => computationPs(acceleratorNamed("a100"), "fp8", product(8, 8, 8))).toThrow(
      'the precision is "fp8"; it must be among those that a100 computes in: fp32, tf32, bf16, fp16',
    );
  });

  it("may have other figures, or figures only", () => {
    const faster = customAccelerator({ peak: 400e12 }, "bf16", acceleratorNamed("a100"));
    expect(faster).toMatchObject({
      name: "a100 with other figures",
      memoryBandwidth: 2039e9,
      peak: { bf16: 400e12, tf32: 156e12 },
    });
    const own = customAccelerator({ peak: 1e14, memoryBandwidth: 1e12, memory: 1e10 }, "bf16", null);
    expect(own).toMatchObject({ name: "custom", peak: { bf16: 1e14 }, memoryBytes: 1e10 });
    expect(() => customAccelerator({ peak: 1e14 }, "bf16", null)).toThrow(
      "the memory bandwidth is missing: an accelerator without a name needs its peak, memory bandwidth and memory",
    );
    expect(() => customAccelerator({ memory: 1e9 }, "fp4", acceleratorNamed("h100"))).toThrow('the precision is "fp4"');
    expect(() => customAccelerator({ peak: 0 }, "bf16", acceleratorNamed("a100"))).toThrow(
      "the peak is 0; it must be a positive number",
    );
  });
});
