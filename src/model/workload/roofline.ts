import { PS_PER_SECOND } from "../numbers/units.ts";
import { type Accelerator, type Precision, peakOf } from "./accelerators.ts";
import type { Computation } from "./layer-work.ts";

/** What share of its peaks an accelerator gives, and what a computation costs besides. */
export interface Efficiencies {
  /** Of the peak, by a product of large matrices. */
  readonly matmul: number;
  /**
   * Size of a product at which it gives half of that, on an accelerator of `SIZE_PEAK`: its efficiency is matmul x s / (s + this),
   * s the harmonic mean of rows, columns and inner size (short sides leave units idle and pipelines unfilled).
   */
  readonly matmulHalfSize: number;
  /** That size grows with the peak to this power: faster units need larger products. */
  readonly sizeGrowth: number;
  /** Of the peak, by attention kernels. */
  readonly attention: number;
  /** Of the memory's bandwidth. */
  readonly memory: number;
  /** Before a computation begins to use units or memory, picoseconds. */
  readonly launchPs: number;
}

/**
 * Shares of the 16-bit peak that kernels of attention reach by their authors, for `attention` where it is known which ones run:
 * FlashAttention on A100 25 to 40 % (Dao 2023, abstract), here the middle; its second version on A100 50 to 73 % (same place) and on
 * H100 35 %, and its third on H100 75 % (Shah et al. 2024, abstract).
 */
export const ATTENTION_SHARES = {
  "flash-1 on a100": 0.325,
  "flash-2 on a100": 0.615,
  "flash-2 on h100": 0.35,
  "flash-3 on h100": 0.75,
} as const;

/** Operations a second of the accelerator that `matmulHalfSize` is said of: A100, 16 bits. */
const SIZE_PEAK = 312e12;

/**
 * Fitted on what Korthikanti et al. 2022 measured on A100, with communications as in the test that holds the fit
 * (test/model/workload/published.test.ts). The three shares: least squares of logarithms, by coordinate descent, over ten times of
 * one layer of 22B (table 4) and four steps of 22B and 175B (table 5). These cannot tell `matmulHalfSize`, which four steps of 530B
 * and 1T do: of 600, 900, 1300 and 1800 they are at most 9, 8, 6.5 and 5 % too long; 1800 would want a `matmul` of 1. All 18 times
 * are then within 6.5 %, half of them within 3 %. `sizeGrowth` no A100 can tell: operations for a byte of memory, which
 * large products are needed to feed, grew from it to H100 and GB200 with the peak to the power of 0.35 to 0.73. `attention` is of
 * products with a softmax of its own between them; kernels that do all at once were not measured there. `launchPs` is chosen.
 */
export const DEFAULT_EFFICIENCIES: Efficiencies = {
  matmul: 0.91,
  matmulHalfSize: 1300,
  sizeGrowth: 0.6,
  attention: 0.465,
  memory: 0.79,
  launchPs: 3_000_000,
};

/** Products in fewer bits than this leave attention, the head and what is like them in 16. */
const sixteenOf = (accelerator: Accelerator, precision: Precision): Precision =>
  precision !== "fp8" && precision !== "fp4" ? precision : accelerator.peak.bf16 === undefined ? precision : "bf16";

/** Returns the share of the peak that a product of matrices reaches; 1 or fewer rows are as one. */
export function matmulEfficiency(
  { matmul, matmulHalfSize, sizeGrowth }: Efficiencies,
  peak: number,
  { rows, columns, inner }: NonNullable<Computation["shape"]>,
): number {
  const size = 3 / (1 / Math.max(1, rows) + 1 / Math.max(1, columns) + 1 / Math.max(1, inner));
  return (matmul * size) / (size + matmulHalfSize * (peak / SIZE_PEAK) ** sizeGrowth);
}

/**
 * Returns how long a computation takes, whole picoseconds: the roofline (Williams et al. 2009), max(operations / (peak x
 * efficiency), bytes / (bandwidth x efficiency)), behind its launch; or what was given. Throws InputError for a precision that the
 * accelerator does not compute in.
 */
export function computationPs(
  accelerator: Accelerator,
  precision: Precision,
  computation: Computation,
  efficiencies: Efficiencies = DEFAULT_EFFICIENCIES,
): number {
  const { kind, flops, bytes, shape, givenPs, sixteenBits, isInside } = computation;
  if (givenPs !== undefined) return givenPs;
  const isWide = kind === "attention" || sixteenBits === true;
  const peak = peakOf(accelerator, isWide ? sixteenOf(accelerator, precision) : precision);
  const share =
    kind === "attention"
      ? efficiencies.attention
      : shape === undefined
        ? efficiencies.matmul
        : matmulEfficiency(efficiencies, peak, shape);
  const computing = kind === "memory" ? 0 : flops / (peak * share);
  const moving = bytes / (accelerator.memoryBandwidth * efficiencies.memory);
  return Math.ceil(Math.max(computing, moving) * PS_PER_SECOND) + (isInside === true ? 0 : efficiencies.launchPs);
}
