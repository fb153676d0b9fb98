import { DamagedFileError, InputError } from "../../base/errors.ts";
import { WIRE } from "../../model/files/protobuf.ts";

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Bytes of a file. */
export interface Source {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/** Returns the error for bytes that no writer writes. */
export const damaged = ({ name }: Source, byte: number, why: string): InputError =>
  new DamagedFileError(name, `${why} (byte ${byte})`);

export const at = ({ name }: Source, byte: number): string => `${name}: byte ${byte}`;

/**
 * Calls `visit` with every field of a message: its number, how it is written, and where its value is, which lies within the
 * message. Throws InputError where it does not, or is written as no field is.
 */
export function fieldsOf(
  source: Source,
  from: number,
  to: number,
  visit: (field: number, wire: number, start: number, end: number) => void,
): void {
  for (let next = from; next < to; ) {
    const tag = unsigned(source, next);
    const field = Math.floor(tag / 8);
    const wire = tag % 8;
    const place = next;
    let start = afterVarint(source, next, to);
    if (wire === WIRE.varint) next = afterVarint(source, start, to);
    else if (wire === WIRE.eight) next = start + 8;
    else if (wire === WIRE.four) next = start + 4;
    else if (wire === WIRE.bytes) {
      const length = unsigned(source, start);
      start = afterVarint(source, start, to);
      next = start + length;
    } else throw damaged(source, place, `no field is written as kind ${wire}`);
    if (field === 0) throw damaged(source, place, "no field has number 0");
    if (next > to) throw damaged(source, place, "a value goes on behind the end of its message");
    visit(field, wire, start, next);
  }
}

/** Returns `start`. Throws InputError where the value there is written in another way than its field. */
export function demand(source: Source, wire: number, expected: number, start: number): number {
  if (wire === expected) return start;
  throw damaged(source, start, `a value is written as kind ${wire} instead of ${expected}`);
}

/** Returns numbers of a list, packed or one by one. */
export function numbers(source: Source, wire: number, start: number, end: number): number[] {
  if (wire === WIRE.varint) return [unsigned(source, start)];
  demand(source, wire, WIRE.bytes, start);
  const all: number[] = [];
  for (let next = start; next < end; next = afterVarint(source, next, end)) all.push(unsigned(source, next));
  return all;
}

const MOST_VARINT = 10;

/** Returns where a varint ends. Throws InputError where it does not end before `to`, or is longer than any. */
export function afterVarint(source: Source, from: number, to: number): number {
  for (let next = from; next < to && next < from + MOST_VARINT; next++) if (source.bytes[next] < 128) return next + 1;
  throw damaged(source, from, "a number does not end");
}

/** Returns the two halves of a varint of 64 bits. */
export function varint(source: Source, from: number): { high: number; low: number } {
  let high = 0;
  let low = 0;
  for (let i = 0; i < MOST_VARINT; i++) {
    const byte = source.bytes[from + i];
    const bits = byte & 127;
    if (i < 4) low |= bits << (7 * i);
    else if (i === 4) {
      low |= bits << 28;
      high |= bits >> 4;
    } else high |= bits << (7 * i - 32);
    if (byte < 128 || byte === undefined) break;
  }
  return { high: high >>> 0, low: low >>> 0 };
}

/** Returns a varint that is no negative number. Throws InputError above 2^53 - 1, and where it does not end. */
export function unsigned(source: Source, from: number): number {
  afterVarint(source, from, source.bytes.length);
  const { high, low } = varint(source, from);
  return exact(source, from, high, low);
}

/** Returns a number of two halves. Throws InputError where a double does not hold it. */
export function exact(source: Source, place: number, high: number, low: number): number {
  const value = high * 2 ** 32 + low;
  if (Number.isSafeInteger(value)) return value;
  throw new InputError(at(source, place), "a whole number of at most 2^53 - 1", value).as("out-of-range");
}

export function text(source: Source, from: number, to: number): string {
  try {
    return UTF8.decode(source.bytes.subarray(from, to));
  } catch {
    throw damaged(source, from, "a text is not UTF-8");
  }
}
