import { type ProgramRows, programRows } from "../program-rows.ts";

/** Takes the rows of a program one after the other: entries first, then the sides. */
export interface RowSink {
  add(column: number, value: number): void;
  end(lower: number, upper: number): void;
}

/** Returns a sink that only counts, for the size of a program that is not built. */
export function countingSink(): RowSink & { readonly size: { rows: number; entries: number } } {
  const size = { rows: 0, entries: 0 };
  return {
    size,
    add: () => {
      size.entries++;
    },
    end: () => {
      size.rows++;
    },
  };
}

/** Smallest part of a coefficient that is told from another: shares of links have small denominators. */
const COEFFICIENT_UNIT = 1 / 720_720;

/**
 * Returns 64 bits and a count that rows of equal entries have alike, in any order. Should two unlike rows have them alike, the
 * second is left out, which leaves more points: what has none still has none, and a point that breaks the row is found out when
 * its moves are timed and judged. O(entries).
 */
function fingerprint(entries: readonly (readonly [column: number, value: number])[]): string {
  let first = 0;
  let second = 0;
  for (const [column, value] of entries) {
    const units = Math.round(value / COEFFICIENT_UNIT) | 0;
    let mixed = Math.imul(column + 0x9e3779b9, 0x85ebca6b) ^ Math.imul(units, 0xc2b2ae35);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
    mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
    mixed ^= mixed >>> 15;
    first = (first + mixed) | 0;
    second = (second + Math.imul(mixed, mixed | 1) + Math.imul(mixed >>> 7, 0x9e3779b1)) | 0;
  }
  return `${entries.length}:${first}:${second}`;
}

/**
 * Returns a sink that keeps rows. `orbit` [columns], where given, is the column that stands for each: entries of one row that
 * fall on the same column add up, and equal rows are kept once. `impossible`: a row without entries asked for more than 0.
 */
export function keepingSink(
  orbit: Int32Array | null,
): RowSink & Pick<ProgramRows, "lpRows"> & { impossible(): boolean } {
  const rows = programRows();
  const known = new Set<string>();
  const row = new Map<number, number>();
  let impossible = false;
  return {
    add: (at, coefficient) => {
      const key = orbit === null ? at : orbit[at];
      row.set(key, (row.get(key) ?? 0) + coefficient);
    },
    end: (least, most) => {
      const entries = [...row].filter(([, coefficient]) => coefficient !== 0);
      row.clear();
      if (entries.length === 0) {
        impossible ||= least > 0 || most < 0;
        return;
      }
      if (orbit !== null) {
        const key = `${fingerprint(entries)};${least};${most}`;
        if (known.has(key)) return;
        known.add(key);
        entries.sort(([a], [b]) => a - b);
      }
      rows.add(least, most, entries);
    },
    impossible: () => impossible,
    lpRows: rows.lpRows,
  };
}
