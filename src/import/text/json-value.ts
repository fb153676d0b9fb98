import { InputError } from "../../base/errors.ts";

/** Returns how an error sentence names a place in a file: `topo.json: links[3].from`, or the file where the path is empty. */
export const placeIn = (fileName: string, path: string): string => (path === "" ? fileName : `${fileName}: ${path}`);

/** Returns the path of a member below a path: `links[3]` and `from` give `links[3].from`. */
export const below = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

/** Throws the InputError for a value that is missing (undefined) or not what was expected. */
export function refuse(place: string, expected: string, value: unknown): never {
  throw value === undefined ? new InputError(place, expected) : new InputError(place, expected, value);
}

/** Returns the value as an object whose fields are all still unknown. Throws InputError for anything else. */
export function asObject<Fields extends { readonly [Key in keyof Fields]?: unknown }>(
  value: unknown,
  place: string,
): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) refuse(place, "an object", value);
  return value as Fields;
}

/** Returns the value as a list. Throws InputError for anything else. */
export function asList(value: unknown, place: string, expected = "a list"): readonly unknown[] {
  if (!Array.isArray(value)) refuse(place, expected, value);
  return value;
}

/** Returns the value as a text that is not empty. Throws InputError for anything else. */
export function asText(value: unknown, place: string, expected = "a text"): string {
  if (typeof value !== "string" || value === "") refuse(place, expected, value);
  return value;
}

/** Returns the value as an integer in low .. high. Throws InputError for anything else. */
export function asInteger(value: unknown, place: string, low: number, high = Number.MAX_SAFE_INTEGER): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < low || value > high) {
    const range = high === Number.MAX_SAFE_INTEGER ? `of ${low} or more` : `in ${low} .. ${high}`;
    refuse(place, `an integer ${range}`, value);
  }
  return value;
}

/** Returns true or false; false when the value is missing. Throws InputError for anything else. */
export function asFlag(value: unknown, place: string): boolean {
  if (value === undefined) return false;
  if (typeof value !== "boolean") refuse(place, "true or false", value);
  return value;
}

/**
 * Writes a list of integers in low .. high into `column`, whose length must be the list's. Throws InputError that names
 * the first wrong entry.
 */
export function fillIntegers(
  list: readonly unknown[],
  column: { [index: number]: number },
  place: string,
  low: number,
  high: number,
): void {
  for (let i = 0; i < list.length; i++) {
    const value = list[i];
    if (typeof value !== "number" || !Number.isSafeInteger(value) || value < low || value > high) {
      asInteger(value, `${place}[${i}]`, low, high);
    }
    column[i] = value as number;
  }
}

interface Header {
  readonly format?: unknown;
  readonly version?: unknown;
  readonly schema?: unknown;
}

/** Returns what an object says that it is: by `format` and `version`, or, as `topology --json` does too, by its `schema`. */
export function headerOf(value: Header): Pick<Header, "format" | "version"> {
  if (value.format !== undefined || value.schema !== "banyan/topology@1") return value;
  return { format: "banyan-topology", version: 1 };
}

/**
 * Checks the `format` and `version` of one of our own files; versions 1 .. newest are known. Throws InputError for another
 * format or version.
 */
export function checkHeader(value: unknown, fileName: string, path: string, format: string, newest = 1): void {
  const header = headerOf(asObject<Header>(value, placeIn(fileName, path)));
  if (header.format !== format) refuse(placeIn(fileName, below(path, "format")), `"${format}"`, header.format);
  if (!Number.isInteger(header.version) || (header.version as number) < 1 || (header.version as number) > newest) {
    const known = newest === 1 ? "version 1, the only one" : `version 1 to ${newest}, the only ones`;
    refuse(placeIn(fileName, below(path, "version")), `${known} this program reads,`, header.version);
  }
}
