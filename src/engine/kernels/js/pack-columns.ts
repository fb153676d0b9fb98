/** Columns that grow: the twin of Reserve in native/kernels/pack_net.h. */

type Column = Int32Array | Float64Array | Uint8Array;

/** Returns the column, or when it is shorter than `size` a longer one that begins with it and goes on with zeros. */
export function reserve<T extends Column>(column: T, size: number): T {
  if (size <= column.length) return column;
  const larger = new (column.constructor as new (length: number) => T)(Math.max(size, 2 * column.length));
  larger.set(column);
  return larger;
}
