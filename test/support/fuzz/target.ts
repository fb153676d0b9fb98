/** A reader, and what holds for anything that it is given. */
export interface FuzzTarget {
  /** Also the name of its corpus. */
  readonly name: string;
  /** Good inputs of our own making; bytes as characters 0 to 255. */
  seeds(): readonly string[];
  /** Reads an input and judges what it holds. Throws what readers throw, and LawBroken. */
  check(input: string): unknown;
}

/** A value was read that should not be, or is not read as it was written. */
export class LawBroken extends Error {
  constructor(message: string) {
    super(message);
    this.name = "LawBroken";
  }
}

/** Throws LawBroken unless two texts are the same. */
export function same(one: string, other: string, what: string): void {
  if (one === other) return;
  let at = 0;
  while (one[at] === other[at]) at++;
  const around = (text: string): string => JSON.stringify(text.slice(Math.max(0, at - 20), at + 40));
  throw new LawBroken(`${what} is not read as it was written: ${around(one)}, then ${around(other)}`);
}

/** Returns a text as bytes, a byte a character. */
export const bytesOf = (input: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(input, (letter) => letter.charCodeAt(0) & 255);

/** Returns bytes as a text, a character a byte. */
export function letters(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return text;
}
