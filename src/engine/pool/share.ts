type Column = Int32Array | Uint32Array | Float64Array | Uint8Array | Uint16Array;

function shareColumn<T extends Column>(column: T): T {
  if (column.buffer instanceof SharedArrayBuffer) return column;
  const Kind = column.constructor as new (buffer: SharedArrayBuffer) => T;
  const copy = new Kind(new SharedArrayBuffer(column.byteLength));
  copy.set(column);
  return copy;
}

/**
 * Returns a copy of a plain value whose typed arrays lie in shared memory; those that do already are kept. The value
 * itself where there is no shared memory (a page without cross-origin isolation).
 */
export function shareColumns<T>(value: T): T {
  if (typeof SharedArrayBuffer === "undefined" || typeof value !== "object" || value === null) return value;
  if (ArrayBuffer.isView(value)) return shareColumn(value as unknown as Column) as unknown as T;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, shareColumns(part)])) as T;
}
