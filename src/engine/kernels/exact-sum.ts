/** Returns the sum of exact integers >= 0. O(values), nearly all of it in doubles. */
export function exactSum(values: Iterable<number>): bigint {
  let whole = 0n;
  let part = 0;
  for (const value of values) {
    if (part + value > Number.MAX_SAFE_INTEGER) {
      whole += BigInt(part);
      part = 0;
    }
    part += value;
  }
  return whole + BigInt(part);
}
