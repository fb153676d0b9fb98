import { format, multiply, parseRational, type Rational, rational } from "../model/numbers/rational.ts";
import { BYTES_PER_GB, PS_PER_US } from "../model/numbers/units.ts";
import { aboutOf, type BoundReport, type Report } from "./result.ts";

/** What schedule files claim of themselves, for others to check (FORMATS.md, "Claims"). */

/** A limit with all that it follows from. */
interface LimitClaim {
  /** Exact picoseconds, "8005" or "24015/3". */
  readonly ps: string;
  readonly kind: string;
  readonly witness: Readonly<Record<string, unknown>>;
}

/** Of a report, what is the same whoever makes it, exactly. */
export interface Claims {
  readonly time: { readonly ps: number; readonly model: string; readonly pieces?: number };
  readonly limit: LimitClaim;
  readonly classLimit: (LimitClaim & { readonly of: string; readonly holdsFor: string }) | null;
  /** Of trees: what they carry with ever more pieces. */
  readonly throughput?: { readonly bytesPerSecond: string };
}

type Claimed = Pick<Report, "time" | "limit" | "classLimit" | "throughput" | "schedule">;

const scaled = (text: string, factor: number): string =>
  format(multiply(parseRational(text) as Rational, rational(factor)));

/** What witnesses say in words and rounded; all else is checked. */
const TOLD = ["demand", "exitGBps", "usedGBps", "totalGBps", "networkGBps", "lags"];

const limitClaim = ({ exact, kind, witness }: BoundReport): LimitClaim => ({
  ps: scaled(exact, PS_PER_US),
  kind,
  witness: Object.fromEntries(Object.entries(witness).filter(([key]) => !TOLD.includes(key))),
});

/** Returns what a report claims of its schedule. */
export function claimsOf({ time, limit, classLimit, throughput, schedule: { pieces } }: Claimed): Claims {
  return {
    time: { ps: time.ps, model: time.model, ...(pieces === undefined ? {} : { pieces }) },
    limit: limitClaim(limit),
    classLimit:
      classLimit === null ? null : { of: classLimit.of, holdsFor: classLimit.holdsFor, ...limitClaim(classLimit) },
    ...(throughput === undefined ? {} : { throughput: { bytesPerSecond: scaled(throughput.exact, BYTES_PER_GB) } }),
  };
}

/** Returns what a schedule file says besides its schedule: of its making, and what it claims. */
export const toldOf = (report: Claimed & Pick<Report, "algorithm" | "synthesis">) => ({
  about: aboutOf(report),
  claims: { ...claimsOf(report) },
});
