import { InternalError } from "../../../base/errors.ts";

/** GF(q): elements are 0 .. q - 1, the digits to the base p being coefficients of a polynomial; 0 and 1 are themselves. */
export interface FiniteField {
  readonly q: number;
  readonly add: (a: number, b: number) => number;
  readonly subtract: (a: number, b: number) => number;
  readonly multiply: (a: number, b: number) => number;
  /** [q] [0] is 0. */
  readonly inverse: Int32Array;
}

/** Returns the prime p and k of q = p^k, or null where q is no prime power. O(sqrt(q)). */
export function primePower(q: number): { readonly prime: number; readonly exponent: number } | null {
  if (q < 2) return null;
  let prime = 2;
  while (q % prime !== 0) prime = prime * prime > q ? q : prime + 1;
  let exponent = 0;
  let rest = q;
  for (; rest % prime === 0; rest /= prime) exponent++;
  return rest === 1 ? { prime, exponent } : null;
}

/** Returns GF(q). Throws InternalError unless q is a prime power: parameters are checked before. */
export function fieldOf(q: number): FiniteField {
  const found = finiteField(q);
  if (found === null) throw new InternalError(`no field of ${q} elements`);
  return found;
}

/** Returns GF(q) for a prime power q, or null for other numbers. O(q^2) at most, O(q) in memory. */
export function finiteField(q: number): FiniteField | null {
  const power = primePower(q);
  if (power === null) return null;
  const { prime, exponent } = power;
  const top = prime ** (exponent - 1);
  /** Returns a + times * b, digit by digit. */
  const combined = (a: number, b: number, times: number): number => {
    let sum = 0;
    for (let place = 1; place < q; place *= prime) {
      sum += ((Math.floor(a / place) + times * Math.floor(b / place)) % prime) * place;
    }
    return sum;
  };
  // the powers of x, where x^k = -lowest, for the first lowest that makes them all elements but 0
  const powers = new Int32Array(q - 1);
  const logarithm = new Int32Array(q);
  for (let lowest = 1; lowest < q; lowest++) {
    let element = 1;
    let order = 0;
    do {
      powers[order] = element;
      logarithm[element] = order++;
      const carry = Math.floor(element / top);
      element = combined((element % top) * prime, lowest, carry * (prime - 1));
    } while (element !== 1 && order < q - 1 && element !== 0);
    if (order < q - 1 || element !== 1) continue;
    const inverse = Int32Array.from({ length: q }, (_, a) => (a === 0 ? 0 : powers[(q - 1 - logarithm[a]) % (q - 1)]));
    return {
      q,
      add: exponent === 1 ? (a, b) => (a + b) % q : (a, b) => combined(a, b, 1),
      subtract: exponent === 1 ? (a, b) => (a - b + q) % q : (a, b) => combined(a, b, prime - 1),
      multiply: (a, b) => (a === 0 || b === 0 ? 0 : powers[(logarithm[a] + logarithm[b]) % (q - 1)]),
      inverse,
    };
  }
  return null;
}
