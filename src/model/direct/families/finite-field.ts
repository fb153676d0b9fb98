/** GF(q): elements are 0 .. q - 1, the digits to the base p being coefficients; 0 and 1 are themselves. */
export interface FiniteField {
  readonly q: number;
  readonly characteristic: number;
  readonly add: (a: number, b: number) => number;
  readonly subtract: (a: number, b: number) => number;
  readonly multiply: (a: number, b: number) => number;
  /** [q] [0] is 0. */
  readonly inverse: Int32Array;
}

/** Returns the prime p and k of q = p^k, or null where q is no prime power. */
export function primePower(q: number): { readonly prime: number; readonly exponent: number } | null {
  if (q < 2) return null;
  let prime = 2;
  while (q % prime !== 0) prime = prime * prime > q ? q : prime + 1;
  let exponent = 0;
  let rest = q;
  for (; rest % prime === 0; rest /= prime) exponent++;
  return rest === 1 ? { prime, exponent } : null;
}

/** Returns GF(q) with its tables for a prime power q, or null for other numbers. O(q^2) in memory: q is small. */
export function finiteField(q: number): FiniteField | null {
  const power = primePower(q);
  if (power === null) return null;
  const { prime, exponent } = power;
  const digits = (value: number): number[] =>
    Array.from({ length: exponent }, (_, i) => Math.floor(value / prime ** i) % prime);
  const value = (list: readonly number[]): number => list.reduceRight((sum, digit) => sum * prime + digit, 0);
  const combined = (a: number, b: number, sign: number): number => {
    const other = digits(b);
    return value(digits(a).map((digit, i) => (digit + sign * other[i] + prime) % prime));
  };
  const add = table(q, (a, b) => combined(a, b, 1));
  const subtract = table(q, (a, b) => combined(a, b, -1));
  // x^k = -lowest(x) for the first lowest that makes every element but 0 invertible
  for (let lowest = 0; lowest < q; lowest++) {
    const tail = digits(lowest);
    const timesX = (a: number): number => {
      const list = digits(a);
      const carry = list[exponent - 1];
      return value(list.map((_, i) => ((i === 0 ? 0 : list[i - 1]) + (prime - tail[i]) * carry) % prime));
    };
    const multiply =
      exponent === 1
        ? table(q, (a, b) => (a * b) % q)
        : table(q, (a, b) => {
            let sum = 0;
            let shifted = a;
            for (const digit of digits(b)) {
              for (let i = 0; i < digit; i++) sum = add[sum * q + shifted];
              shifted = timesX(shifted);
            }
            return sum;
          });
    const inverse = new Int32Array(q);
    for (let a = 1; a < q; a++) for (let b = 1; b < q; b++) if (multiply[a * q + b] === 1) inverse[a] = b;
    if (inverse.subarray(1).includes(0)) continue;
    const at = (rows: Int32Array) => (a: number, b: number) => rows[a * q + b];
    return { q, characteristic: prime, add: at(add), subtract: at(subtract), multiply: at(multiply), inverse };
  }
  return null;
}

function table(q: number, of: (a: number, b: number) => number): Int32Array {
  const rows = new Int32Array(q * q);
  for (let a = 0; a < q; a++) for (let b = 0; b < q; b++) rows[a * q + b] = of(a, b);
  return rows;
}
