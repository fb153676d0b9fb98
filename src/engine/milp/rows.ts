import type { LpRows } from "./lp.ts";

/** Returns the rows of these numbers, in their order. */
export function withRows(rows: LpRows, chosen: Int32Array): LpRows {
  const { lower, upper, offset, column, value } = rows;
  const starts = new Int32Array(chosen.length + 1);
  chosen.forEach((row, i) => {
    starts[i + 1] = (starts[i] as number) + (offset[row + 1] as number) - (offset[row] as number);
  });
  const size = starts[chosen.length] as number;
  const columns = new Int32Array(size);
  const values = new Float64Array(size);
  chosen.forEach((row, i) => {
    columns.set(column.subarray(offset[row], offset[row + 1]), starts[i]);
    values.set(value.subarray(offset[row], offset[row + 1]), starts[i]);
  });
  return {
    lower: Float64Array.from(chosen, (row) => lower[row] as number),
    upper: Float64Array.from(chosen, (row) => upper[row] as number),
    offset: starts,
    column: columns,
    value: values,
  };
}
