/** Returns the greatest common divisor of exact integers at or above 0; that of 0 and x is x. */
export function gcd(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y !== 0) [x, y] = [y, x % y];
  return x;
}

/** Returns the least common multiple of positive exact integers. */
export const lcm = (a: number, b: number): number => (a / gcd(a, b)) * b;

/** Returns the greatest common divisor of exact integers at or above 0; 0 where there are none or all are 0. */
export function commonDivisor(values: ArrayLike<number>): number {
  let divisor = 0;
  for (let i = 0; i < values.length && divisor !== 1; i++) divisor = gcd(values[i], divisor);
  return divisor;
}

/** Returns whether an integer from 1 to 2^31 - 1 is a power of two. */
export const isPowerOfTwo = (value: number): boolean => (value & (value - 1)) === 0;

/** Returns the greatest common divisor of integers of any size and sign: at or above 0; that of 0 and x is |x|. */
export function bigGcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a < 0n ? -a : a, b < 0n ? -b : b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

/** Returns the least common multiple of positive integers of any size. */
export const bigLcm = (a: bigint, b: bigint): bigint => (a % b === 0n ? a : (a / bigGcd(a, b)) * b);

/** Returns the sum of integers of any size. */
export function bigSum(values: Iterable<bigint>): bigint {
  let sum = 0n;
  for (const value of values) sum += value;
  return sum;
}
