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
        entries.sort(([a], [b]) => a - b);
        const key = `${entries};${least};${most}`;
        if (known.has(key)) return;
        known.add(key);
      }
      rows.add(least, most, entries);
    },
    impossible: () => impossible,
    lpRows: rows.lpRows,
  };
}
