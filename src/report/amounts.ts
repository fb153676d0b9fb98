import { formatTime, PS_PER_US } from "../model/numbers/units.ts";

export { formatShare as percent } from "../model/numbers/units.ts";

/** Numbers with their units, as reports and notes write them. */

/** Returns a number with `digits` significant digits at most, never in exponential form. */
export const significant = (value: number, digits = 4): string =>
  value >= 10 ** digits ? String(Math.round(value)) : String(Number(value.toPrecision(digits)));

/** Returns "1.234 ms" for a time in microseconds. */
export const timeText = (us: number): string => formatTime(us * PS_PER_US);

/** Returns "107.4 GB/s"; "-" where there is no bandwidth because nothing took any time. */
export const gbpsText = (gbps: number | null): string => (gbps === null ? "-" : `${significant(gbps)} GB/s`);

/** Returns a size with four significant digits in the binary unit that suits. */
export function roundedSize(bytes: number): string {
  const power = Math.min(4, Math.max(0, Math.floor(Math.log2(bytes) / 10)));
  return `${significant(bytes / 1024 ** power)} ${["B", "KiB", "MiB", "GiB", "TiB"][power]}`;
}

/** Returns "12,345" for a whole number, without what a first `toLocaleString` loads: 25 ms of a slow start. */
export const grouped = (number: number): string => String(number).replace(/\B(?=(?:\d{3})+$)/g, ",");

/** Returns "1 switch", "3 switches". */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** Returns "64 trees, 154 pieces a copy": all trees, also those that symmetry spares a file. */
export function treeCounts({
  schedule: { trees, pieces },
  throughput,
}: {
  readonly schedule: { readonly trees?: number | undefined; readonly pieces?: number | undefined };
  readonly throughput?: { readonly distinctTrees: number } | undefined;
}): string {
  const [all, parts] = [throughput?.distinctTrees ?? trees ?? 0, pieces ?? 1];
  return `${grouped(all)} ${all === 1 ? "tree" : "trees"}, ${grouped(parts)} ${parts === 1 ? "piece" : "pieces"} a copy`;
}
