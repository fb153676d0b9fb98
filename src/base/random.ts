/**
 * Banyan's own random numbers, specified bit by bit so that C++, WASM and JavaScript draw the same.
 * All arithmetic is on unsigned 32-bit integers modulo 2^32.
 *
 *   mix(x):  x ^= x >> 16; x *= 0x7feb352d; x ^= x >> 15; x *= 0x846ca68b; x ^= x >> 16
 *   draw(seed, a, b) = mix(mix(mix(seed + 0x9e3779b9) ^ a) + b)
 *
 * `draw` is counter-based: it has no state, so the order in which numbers are asked for does not matter.
 */

/** Returns 32 bits in which every bit of a 32-bit integer tells on every other. */
export function mix(value: number): number {
  let x = value | 0;
  x ^= x >>> 16;
  x = Math.imul(x, 0x7feb352d);
  x ^= x >>> 15;
  x = Math.imul(x, 0x846ca68b);
  x ^= x >>> 16;
  return x >>> 0;
}

/** Returns the 32-bit random number at counter (a, b) of the stream `seed`. */
export function draw(seed: number, a: number, b: number): number {
  return mix(mix(mix(seed + 0x9e3779b9) ^ a) + b);
}

/** Returns an integer in [0, bound) from a random one in [0, 2^32), bound in [1, 2^32]: the high half of their product, exactly. */
export function below(drawn: number, bound: number): number {
  const low = Math.floor(((drawn & 0xffff) * bound) / 65536);
  return Math.floor(((drawn >>> 16) * bound + low) / 65536);
}

/** A generator with state for sequential use: the n-th call returns draw(seed, stream, n). */
export interface Random {
  /** Returns the next integer in [0, 2^32). */
  next(): number;
  /** Returns an integer in [0, bound), bound in [1, 2^32]: `below` of the next. */
  below(bound: number): number;
}

/** Returns a generator that walks the counters 0, 1, 2 ... of (seed, stream). */
export function random(seed: number, stream = 0): Random {
  let counter = 0;
  const next = (): number => draw(seed, stream, counter++);
  return {
    next,
    below: (bound) => below(next(), bound),
  };
}

/**
 * Shuffles items[from .. from + count] in place (Fisher-Yates, highest index first). The first step uses the draw at counter
 * (a, b), each further one x <- 0x9e3779b1 x + 0x7f4a7c15 of it. The twin of Shuffle in native/kernels/random.h.
 */
export function shuffle(
  items: { [index: number]: number },
  from: number,
  count: number,
  seed: number,
  a: number,
  b = 0,
): void {
  let x = draw(seed, a, b);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor((x * (i + 1)) / 4294967296);
    const kept = items[from + i];
    items[from + i] = items[from + j];
    items[from + j] = kept;
    x = (Math.imul(x, 0x9e3779b1) + 0x7f4a7c15) >>> 0;
  }
}
