/// <reference lib="es2024.arraybuffer" />
/// <reference lib="es2024.sharedmemory" />
import { types } from "node:util";
import type { Random } from "../../src/base/random.ts";

export type Column = Int32Array | Uint32Array | Float64Array | Uint8Array | Uint16Array;

/** Memory that outlives a call: what another thread writes to, and a WebAssembly memory. */
export interface Memories {
  readonly shared: SharedArrayBuffer;
  readonly wasm: WebAssembly.Memory;
}

interface ColumnKind {
  readonly BYTES_PER_ELEMENT: number;
  new (length: number): Column;
  new (buffer: ArrayBufferLike, offset?: number, length?: number): Column;
}

const KINDS = [Int32Array, Uint32Array, Float64Array, Uint8Array, Uint16Array] as const;
const FOREIGN = [
  ...[Int8Array, Uint8ClampedArray, Int16Array, Float32Array, BigInt64Array, BigUint64Array, ...KINDS],
] as readonly (new (
  length: number,
) => ArrayBufferView)[];

/** Returns whether it is a column as kernels take them, of whatever memory. */
export const isColumn = (value: unknown): value is Column =>
  types.isTypedArray(value) && KINDS.some((Kind) => Object.getPrototypeOf(value) === Kind.prototype);
const kindOf = (column: Column): ColumnKind => KINDS.find((Kind) => column instanceof Kind) as unknown as ColumnKind;

const NUMBERS = [
  ...[-1, -0, 0, 1, 2, 3, 7, 32, 33, 64, 65_535, 65_536, 0.5, 1.5, 1e300, -1e300, 5e-324, 2 ** 30],
  ...[2 ** 31 - 2, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 32 - 1, 2 ** 32, 2 ** 52, 2 ** 53 - 1, 2 ** 53, -(2 ** 53)],
  ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
];

const thrower = (): never => {
  throw new Error("a getter was called");
};
const THROWING = {
  valueOf: thrower,
  toString: thrower,
  [Symbol.toPrimitive]: thrower,
  get length(): number {
    return thrower();
  },
  get buffer(): ArrayBuffer {
    return thrower();
  },
};
class OddColumn extends Int32Array {
  override get length(): number {
    return thrower();
  }
  override get buffer(): ArrayBuffer {
    return thrower();
  }
}
function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable(new Int32Array(4), {});
  revoke();
  return proxy;
}

/** Values of every kind of JavaScript. */
const VALUES: readonly (() => unknown)[] = [
  ...[undefined, null, true, false, "", "x", "3", 1n, 2n ** 64n, Symbol("s")].map((value) => () => value),
  ...[() => ({}), () => [], () => [1, 2], () => thrower, () => new Date(3), () => /x/, () => new Map(), () => THROWING],
  ...[() => new Number(3), () => new ArrayBuffer(64), () => new SharedArrayBuffer(64), () => Promise.resolve(1)],
  ...[() => new DataView(new ArrayBuffer(64), 3), () => Buffer.from("hostile"), () => new OddColumn(3), revoked],
  ...[() => new Proxy(new Int32Array(4), {}), () => Object.setPrototypeOf(new Int32Array(2), null) as unknown],
  ...[() => ({ __proto__: Int32Array.prototype, length: 4 }), () => globalThis, () => thrower.bind(null)],
];

const pick = <T>(items: readonly T[], draws: Random): T => items[draws.below(items.length)] as T;

/** Returns the column in other memory, from a byte on. */
function placed(column: Column, buffer: ArrayBufferLike, offset: number): Column {
  const copy = new (kindOf(column))(buffer, offset, column.length);
  copy.set(column);
  return copy;
}

/** Other memory for a column, or other lengths of it. */
const MOVES: readonly ((column: Column, draws: Random, memories: Memories) => unknown)[] = [
  (column, draws) => column.slice(0, draws.below(column.length + 1)),
  (column, draws) => {
    const longer = new (kindOf(column))(column.length + 1 + draws.below(3));
    longer.set(column);
    return longer;
  },
  (column, draws) => {
    const size = column.BYTES_PER_ELEMENT;
    const before = size * (1 + draws.below(9));
    return placed(column, new ArrayBuffer(before + column.byteLength + draws.below(9)), before);
  },
  (column, draws, { shared }) => {
    const size = column.BYTES_PER_ELEMENT;
    const room = Math.floor((shared.byteLength - column.byteLength) / size);
    return room <= 0 ? column : placed(column, shared, size * draws.below(room));
  },
  (column, draws, { wasm }) => {
    const size = column.BYTES_PER_ELEMENT;
    const room = Math.floor((wasm.buffer.byteLength - column.byteLength) / size);
    return room <= 0 ? column : placed(column, wasm.buffer, size * draws.below(room));
  },
  (column) => {
    const pooled = Buffer.allocUnsafe(column.byteLength + 8);
    return placed(column, pooled.buffer, Math.ceil(pooled.byteOffset / 8) * 8);
  },
  (column, draws) => {
    const buffer = new ArrayBuffer(column.byteLength, { maxByteLength: 2 * column.byteLength + 64 });
    const tracking = new (kindOf(column))(buffer);
    tracking.set(column);
    if (draws.below(2) === 0) buffer.resize(draws.below(buffer.maxByteLength + 1));
    return tracking;
  },
  (column, draws) => {
    const buffer = new ArrayBuffer(column.byteLength, { maxByteLength: column.byteLength + 64 });
    const fixed = placed(column, buffer, 0);
    buffer.resize(draws.below(column.byteLength + 1));
    return fixed;
  },
  (column, draws) => {
    const most = 2 * column.byteLength + 64;
    const buffer = new SharedArrayBuffer(column.byteLength, { maxByteLength: most });
    const tracking = new (kindOf(column))(buffer);
    tracking.set(column);
    if (draws.below(2) === 0) buffer.grow(column.byteLength + 8 * draws.below(8));
    return tracking;
  },
  (column) => {
    const detached = column.slice();
    structuredClone(detached.buffer, { transfer: [detached.buffer] });
    return detached;
  },
  (column, draws) => new (pick(FOREIGN, draws))(column.length),
  (column) => Object.setPrototypeOf(column.slice(), null) as unknown,
];

function withOddElements(column: Column, draws: Random): Column {
  const odd = column.slice() as Float64Array;
  for (let i = 1 + draws.below(3); i > 0 && odd.length > 0; i--) {
    const at = draws.below(odd.length);
    const swapped = odd[draws.below(odd.length)] as number;
    const near = (odd[at] as number) + draws.below(3) - 1;
    odd[at] = pick([pick(NUMBERS, draws), swapped, near], draws);
  }
  return odd;
}

/** Puts two columns into one buffer, so that they overlap or not. */
function overlap(args: unknown[], at: number, draws: Random): void {
  const column = args[at] as Column;
  const others = args.flatMap((arg, i) => (i !== at && isColumn(arg) && arg.byteLength > 0 ? [i] : []));
  if (others.length === 0) return;
  const i = pick(others, draws);
  const other = args[i] as Column;
  const offset = other.BYTES_PER_ELEMENT * draws.below(Math.ceil(column.byteLength / other.BYTES_PER_ELEMENT) + 2);
  const bytes = Math.max(column.byteLength, offset + other.byteLength);
  const buffer = draws.below(4) === 0 ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes);
  [args[i], args[at]] = [placed(other, buffer, offset), placed(column, buffer, 0)];
}

function change(args: unknown[], at: number, draws: Random, memories: Memories): void {
  const arg = args[at];
  const kind = draws.below(16);
  if (kind === 0) {
    args[at] = pick(VALUES, draws)();
  } else if (kind === 1) {
    args[at] = pick(NUMBERS, draws);
  } else if (typeof arg === "number") {
    args[at] = pick([arg + 1, arg - 1, draws.below(9), pick(NUMBERS, draws)], draws);
  } else if (!isColumn(arg)) {
    args[at] = pick([null, arg], draws);
  } else if (arg.length === 0) {
    args[at] = new (kindOf(arg))(draws.below(4)); // perhaps detached or cut off: there is nothing to copy
  } else if (kind < 5) {
    args[at] = pick(MOVES, draws)(arg, draws, memories);
  } else if (kind < 9) {
    overlap(args, at, draws);
  } else {
    args[at] = withOddElements(arg, draws);
  }
}

/** Returns the arguments, of which columns may be changed in place, with up to four things wrong. */
export function hostile(args: readonly unknown[], draws: Random, memories: Memories): unknown[] {
  const own = [...args];
  for (let i = draws.below(5); i > 0 && own.length > 0; i--) {
    const at = draws.below(own.length);
    const kind = draws.below(60);
    if (kind === 0) own.length = at;
    else if (kind === 1) own.splice(at, 1);
    else if (kind === 2) own.push(...own.slice(0, at + 1));
    else if (kind === 3) own.reverse();
    else if (kind < 6) [own[0], own[at]] = [own[at], own[0]];
    else change(own, at, draws, memories);
  }
  return own;
}
