import fc from "fast-check";

/** A stretch of a text that is replaced. */
export interface TextChange {
  readonly at: number;
  readonly length: number;
  readonly put: string;
}

const ODD = ["", "0", "-1", "1e999", "9007199254740993", "null", "[]", "{}", '""', '"', ",", "[", "}", "1/0"];

/** Changes of a JSON text: odd values, short texts, and what more is given. */
export const anyTextChange = (...more: readonly fc.Arbitrary<string>[]): fc.Arbitrary<TextChange> =>
  fc.record({
    at: fc.nat(),
    length: fc.nat(20),
    put: fc.oneof(fc.constantFrom(...ODD), fc.string({ maxLength: 4 }), ...more),
  });

/**
 * Returns a JSON text after a change: of a stretch anywhere, or, with `valuesAfter`, of a whole value behind that place, where
 * there is one, which leaves the JSON well-formed.
 */
export function changedText(text: string, { at, length, put }: TextChange, valuesAfter: number | null): string {
  const values = valuesAfter === null ? [] : [...text.matchAll(/(?<=[:[,] ?)(?:-?\d+|"[^"]*"(?!:))/g)];
  const own = values.filter(({ index }) => index > (valuesAfter as number));
  const value = own.length > 0 ? own[at % own.length] : undefined;
  const from = value?.index ?? at % text.length;
  return text.slice(0, from) + put + text.slice(from + (value?.[0].length ?? length));
}
