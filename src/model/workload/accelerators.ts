import { InputError } from "../../base/errors.ts";
import type { Place } from "../../base/option-names.ts";
import { TERA } from "../numbers/units.ts";
import { spelt, unknownName } from "../topology/closest.ts";

/** Number formats of the factors of products. */
export const PRECISIONS = ["fp32", "tf32", "bf16", "fp16", "fp8", "fp4"] as const;
export type Precision = (typeof PRECISIONS)[number];

/** Bytes of one number in memory. */
export const BYTES_OF: Readonly<Record<Precision, number>> = { fp32: 4, tf32: 4, bf16: 2, fp16: 2, fp8: 1, fp4: 0.5 };

/** What one NPU computes with. */
export interface Accelerator {
  readonly name: string;
  /** Additions and multiplications a second, dense (no sparsity); absent where it has no units for the format. */
  readonly peak: { readonly [P in Precision]?: number };
  /** Of the main memory: bytes a second, and bytes. */
  readonly memoryBandwidth: number;
  readonly memoryBytes: number;
  /** Where the figures are printed. */
  readonly source: string;
}

interface Known extends Accelerator {
  readonly aliases: readonly string[];
}

const MIB = 2 ** 20;
const GB = 1e9;

/** Returns peaks from TFLOP/s; bf16 and fp16 are equal in all tensor units but the first. */
const peaks = (fp32: number, tf32: number, half: number, fp8 = 0, fp4 = 0): Accelerator["peak"] => ({
  fp32: fp32 * TERA,
  tf32: tf32 * TERA,
  bf16: half * TERA,
  fp16: half * TERA,
  ...(fp8 > 0 ? { fp8: fp8 * TERA } : {}),
  ...(fp4 > 0 ? { fp4: fp4 * TERA } : {}),
});

/** Memory of NVIDIA's: what the driver reports, MiB, as in MLPerf training v5.0 and v5.1 systems' files; else as sold. */
const KNOWN: readonly Known[] = [
  {
    name: "v100",
    aliases: ["v100-32", "v100-sxm2"],
    peak: { fp32: 15.7 * TERA, fp16: 125 * TERA },
    memoryBandwidth: 900 * GB,
    memoryBytes: 32768 * MIB,
    source: "NVIDIA V100 SXM2 data sheet",
  },
  {
    name: "a100",
    aliases: ["a100-80", "a100-80gb", "a100-sxm-80gb"],
    peak: peaks(19.5, 156, 312),
    memoryBandwidth: 2039 * GB,
    memoryBytes: 81920 * MIB,
    source: "NVIDIA A100 80GB SXM data sheet",
  },
  {
    name: "a100-40",
    aliases: ["a100-40gb", "a100-sxm-40gb"],
    peak: peaks(19.5, 156, 312),
    memoryBandwidth: 1555 * GB,
    memoryBytes: 40960 * MIB,
    source: "NVIDIA A100 40GB data sheet",
  },
  {
    name: "h100",
    aliases: ["h100-sxm", "h100-80", "h100-80gb"],
    peak: peaks(66.9, 494.7, 989.4, 1978.9),
    memoryBandwidth: 3350 * GB,
    memoryBytes: 81559 * MIB,
    source: "NVIDIA H100 data sheet (SXM), half of its figures with sparsity",
  },
  {
    name: "h200",
    aliases: ["h200-sxm", "h200-141gb"],
    peak: peaks(66.9, 494.7, 989.4, 1978.9),
    memoryBandwidth: 4800 * GB,
    memoryBytes: 143771 * MIB,
    source: "NVIDIA H200 data sheet, half of its figures with sparsity",
  },
  {
    name: "b200",
    aliases: ["b200-sxm", "hgx-b200"],
    peak: peaks(75, 1125, 2250, 4500, 9000),
    memoryBandwidth: 7700 * GB,
    memoryBytes: 183359 * MIB,
    source: "NVIDIA HGX B200 (1,000 W)",
  },
  {
    name: "gb200",
    aliases: ["gb200-nvl72"],
    peak: peaks(80, 1250, 2500, 5000, 10000),
    memoryBandwidth: 8000 * GB,
    memoryBytes: 189471 * MIB,
    source: "NVIDIA GB200 NVL72, of one GPU (1,200 W)",
  },
  {
    name: "b300",
    aliases: ["b300-sxm", "hgx-b300"],
    peak: peaks(75, 1125, 2250, 4500, 13500),
    memoryBandwidth: 8000 * GB,
    memoryBytes: 284208 * MIB,
    source: "NVIDIA HGX B300",
  },
  {
    name: "gb300",
    aliases: ["gb300-nvl72"],
    peak: peaks(80, 1250, 2500, 5000, 15000),
    memoryBandwidth: 8000 * GB,
    memoryBytes: 284208 * MIB,
    source: "NVIDIA GB300 NVL72, of one GPU",
  },
  {
    name: "mi250x",
    aliases: [],
    peak: { fp32: 95.7 * TERA, bf16: 383 * TERA, fp16: 383 * TERA },
    memoryBandwidth: 3276.8 * GB,
    memoryBytes: 131072 * MIB,
    source: "AMD Instinct MI250X data sheet, both dies",
  },
  {
    name: "mi250x-gcd",
    aliases: ["mi250x-die"],
    peak: { fp32: 47.85 * TERA, bf16: 191.5 * TERA, fp16: 191.5 * TERA },
    memoryBandwidth: 1638.4 * GB,
    memoryBytes: 65536 * MIB,
    source: "AMD Instinct MI250X data sheet, one of its two dies, which programs see as a GPU",
  },
  {
    name: "mi300x",
    aliases: [],
    peak: peaks(163.4, 653.7, 1307.4, 2614.9),
    memoryBandwidth: 5300 * GB,
    memoryBytes: 196608 * MIB,
    source: "AMD Instinct MI300X data sheet",
  },
];

export const ACCELERATOR_NAMES: readonly string[] = KNOWN.map(({ name }) => name);

/** Returns the accelerator of a name. Throws InputError, with the nearest name, for one that is unknown. */
export function acceleratorNamed(name: string, place: Place = "the accelerator"): Accelerator {
  const all = KNOWN.flatMap((known) => [known.name, ...known.aliases]);
  const meant = spelt(name, all);
  if (meant === undefined) throw unknownName(place, name, all);
  return KNOWN.find((known) => known.name === meant || known.aliases.includes(meant)) as Accelerator;
}

/** What may be said of an accelerator in place of its own figures. */
export interface AcceleratorFigures {
  /** Operations a second at the precision in use. */
  readonly peak?: number;
  /** Bytes a second. */
  readonly memoryBandwidth?: number;
  /** Bytes. */
  readonly memory?: number;
}

/**
 * Returns an accelerator with figures of its own, of another (`base`) or, with all three, of none. Throws InputError for one that
 * is missing or no positive number.
 */
export function customAccelerator(
  { peak, memoryBandwidth, memory }: AcceleratorFigures,
  precision: Precision,
  base: Accelerator | null,
): Accelerator {
  const figure = (what: string, given: number | undefined, known: number | undefined): number => {
    const value = given ?? known;
    if (value === undefined) {
      throw new InputError(what, "a positive number").saying(
        `${what} is missing: an accelerator without a name needs its peak, memory bandwidth and memory`,
      );
    }
    if (!(value > 0 && value < Number.POSITIVE_INFINITY)) throw new InputError(what, "a positive number", value);
    return value;
  };
  const own = [peak, memoryBandwidth, memory].some((value) => value !== undefined);
  return {
    name: base === null ? "custom" : own ? `${base.name} with other figures` : base.name,
    peak: {
      ...base?.peak,
      [precision]: figure("the peak", peak ?? (base === null ? undefined : peakOf(base, precision)), undefined),
    },
    memoryBandwidth: figure("the memory bandwidth", memoryBandwidth, base?.memoryBandwidth),
    memoryBytes: figure("the memory", memory, base?.memoryBytes),
    source: own ? "given" : (base?.source ?? "given"),
  };
}

/** Returns operations a second at a precision. Throws InputError where the accelerator has none, with those that it has. */
export function peakOf({ name, peak }: Accelerator, precision: Precision): number {
  const flops = peak[precision];
  if (flops === undefined) {
    const has = PRECISIONS.filter((one) => peak[one] !== undefined).join(", ");
    throw new InputError("the precision", `among those that ${name} computes in: ${has}`, precision).as("not-together");
  }
  return flops;
}
