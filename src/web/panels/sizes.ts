import { parseSize } from "../../model/numbers/units.ts";

/** The slider's ends, as powers of two: 1 KiB and 4 GiB. */
export const LEAST = 10;
export const MOST = 32;
const SUFFIX = ["", "KiB", "MiB", "GiB"];

/** Returns 2^power bytes as an option's text: "256MiB". */
export const sizeOfPower = (power: number): string => `${2 ** (power % 10)}${SUFFIX[Math.floor(power / 10)]}`;

/** Returns the power of two that is nearest to a size, within the slider; null for a text that is no size. */
export function powerOfSize(text: string): number | null {
  try {
    return Math.min(MOST, Math.max(LEAST, Math.round(Math.log2(parseSize(text)))));
  } catch {
    return null;
  }
}
