import { InputError } from "../../base/errors.ts";
import { busFactor, COLLECTIVE_KINDS, type NamedCollective } from "../../model/collective/collective.ts";

/** Programs of nccl-tests and rccl-tests. */
const PROGRAMS: readonly (readonly [word: RegExp, collective: NamedCollective])[] = [
  [/all_?reduce/i, "allreduce"],
  [/all_?gather/i, "allgather"],
  [/reduce_?scatter/i, "reducescatter"],
  [/all_?to_?all(?!v)/i, "alltoall"],
  [/broadcast/i, "broadcast"],
  [/scatter/i, "scatter"],
  [/gather/i, "gather"],
  [/reduce/i, "reduce"],
];

/** Returns the collective that a program's or a file's name tells; null where it tells none. */
export const collectiveIn = (name: string): NamedCollective | null =>
  PROGRAMS.find(([word]) => word.test(name))?.[1] ?? null;

/** Least and greatest busbw / algbw that printed figures allow. */
export interface BusRatio {
  readonly low: number;
  readonly high: number;
}

export const ANY_RATIO: BusRatio = { low: 0, high: Number.POSITIVE_INFINITY };
/** Of busbw, beside what printing takes away. */
const ROUNDING = 1e-3;
const MANY_RANKS = 2 ** 40;

/** Returns a unit of the last digit of a printed number. */
function lastDigit(cell: string): number {
  const [mantissa = "", exponent = "0"] = cell.toLowerCase().split("e");
  const decimals = mantissa.split(".")[1]?.length ?? 0;
  return Number(`1e${Number(exponent) - decimals}`);
}

/** Returns the ratio that a row's figures allow too, as printed. */
export function narrowed({ low, high }: BusRatio, algbw: string, busbw: string): BusRatio {
  const [least, most] = [Number(algbw) - lastDigit(algbw), Number(algbw) + lastDigit(algbw)];
  return {
    low: Math.max(low, (Number(busbw) - lastDigit(busbw)) / most),
    high: least > 0 ? Math.min(high, (Number(busbw) + lastDigit(busbw)) / least) : high,
  };
}

/** Returns the collectives whose factor the rows of a log have; all where the rows do not agree, or fit none. */
function collectivesWith({ low, high }: BusRatio, ranks: number | null): readonly NamedCollective[] {
  const fitting = COLLECTIVE_KINDS.filter(
    (kind) =>
      busFactor(kind, ranks ?? MANY_RANKS) >= low * (1 - ROUNDING) &&
      busFactor(kind, ranks ?? 2) <= high * (1 + ROUNDING),
  );
  return fitting.length > 0 ? fitting : COLLECTIVE_KINDS;
}

/** What is known of a log's collective. */
interface CollectiveHints {
  /** What the program's name in the log tells. */
  readonly program: NamedCollective | null;
  /** What the caller says. */
  readonly asked: NamedCollective | null;
  readonly ratio: BusRatio;
  readonly ranks: number | null;
}

/**
 * Returns the collective that a log is of: what it says itself, else what was asked for, the file's name, or busbw / algbw (the
 * factor of nccl-tests) tell, and a remark where the last did. Throws InputError where the factor contradicts, or leaves several.
 */
export function collectiveOf(
  { program, asked, ratio, ranks }: CollectiveHints,
  fileName: string,
): { readonly collective: NamedCollective; readonly remarks: readonly string[] } {
  if (program !== null) return { collective: program, remarks: [] };
  const fitting = collectivesWith(ratio, ranks);
  const choice = `${fitting.length > 1 ? "one of " : ""}${fitting.join(", ")}`;
  const about = Number(((ratio.low + ratio.high) / 2).toPrecision(3));
  if (asked !== null) {
    if (fitting.includes(asked)) return { collective: asked, remarks: [] };
    throw new InputError("--collective", `${choice} (in ${fileName} busbw is ${about} times algbw)`, asked);
  }
  const named = collectiveIn(fileName.split(/[\\/]/).at(-1) as string);
  if (named !== null && fitting.includes(named)) return { collective: named, remarks: [] };
  const [only, ...others] = fitting as [NamedCollective, ...NamedCollective[]];
  if (others.length > 0) throw new InputError("--collective", `${choice} (${fileName} does not say which)`);
  return { collective: only, remarks: [`${fileName} is taken as ${only}: its busbw is ${about} times algbw`] };
}
