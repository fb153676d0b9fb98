/**
 * Returns the buffers of all columns in a plain value, to be moved instead of copied. Columns that the worker keeps for itself
 * must be copied before they are put into an answer.
 */
export function buffersOf(value: unknown, found = new Set<ArrayBuffer>()): ArrayBuffer[] {
  if (ArrayBuffer.isView(value)) {
    if (value.buffer instanceof ArrayBuffer) found.add(value.buffer);
  } else if (Array.isArray(value)) {
    // lists of names are long and hold no columns
    if (typeof value[0] === "object") for (const part of value) buffersOf(part, found);
  } else if (typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype) {
    for (const part of Object.values(value)) buffersOf(part, found);
  }
  return [...found];
}
