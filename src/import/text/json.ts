import { InputError, inWords } from "../../base/errors.ts";

const VALUE_START = /[-0-9tfn"[{]/;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\r\n]*/y;

/**
 * Returns the value that a JSON text holds. Throws InputError with the line and column of the first mistake, and for a text
 * that would take too much memory (`refuseHugeJson`).
 */
export function parseJson(text: string, fileName: string): unknown {
  const body = text.startsWith("\ufeff") ? text.slice(1) : text;
  refuseHugeJson(body, fileName);
  try {
    return JSON.parse(body);
  } catch {
    const offset = firstMistake(body);
    const before = body.slice(0, offset);
    const line = before.split("\n").length;
    const column = offset - before.lastIndexOf("\n");
    const place = `${fileName} line ${line}, column ${column}`;
    if (offset >= body.length && body.trim() !== "")
      throw new InputError(place, "more JSON (the text stops too early)").saying(
        `${place}: the text stops too early, so the file is cut off; write or copy it once more, as a whole`,
      );
    if (offset >= body.length) throw new InputError(place, "more JSON (the text stops too early)");
    throw new InputError(place, "valid JSON", (body.slice(offset, offset + 24).split("\n")[0] as string).trimEnd());
  }
}

/** Returns the offset just after a JSON string that starts at `start`, or minus (the offset of its mistake) - 1. */
function afterString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) return at + 1;
    if (code < 32) return -at - 1;
    if (code === 92) {
      const mark = text[at + 1] ?? "";
      if (mark === "u") {
        if (!/^[0-9a-fA-F]{4}$/.test(text.slice(at + 2, at + 6)))
          return at + 6 > text.length ? -text.length - 1 : -at - 1;
        at += 5;
      } else if (mark !== "" && '"\\/bfnrt'.includes(mark)) at++;
      else return mark === "" ? -text.length - 1 : -at - 1;
    }
  }
  return -text.length - 1;
}

/**
 * Returns the offset of the first character that cannot stand where it is, or the text's length when it stops too early.
 * JSON.parse does not say where in every engine, so this walks the text again, without recursion. O(text).
 */
function firstMistake(text: string): number {
  const open: string[] = [];
  let want: "value" | "first item" | "key" | "first key" | "colon" | "next" = "value";
  let at = 0;
  for (;;) {
    SPACE.lastIndex = at;
    SPACE.test(text);
    at = SPACE.lastIndex;
    const c = text[at];
    if (c === undefined) return text.length;
    const inside = open.at(-1);
    if (want === "next") {
      if (inside === undefined) return at;
      if (c === ",") want = inside === "{" ? "key" : "value";
      else if (c === (inside === "{" ? "}" : "]")) open.pop();
      else return at;
      at++;
    } else if (want === "colon") {
      if (c !== ":") return at;
      want = "value";
      at++;
    } else if ((want === "first key" && c === "}") || (want === "first item" && c === "]")) {
      open.pop();
      want = "next";
      at++;
    } else if (want === "key" || want === "first key") {
      if (c !== '"') return at;
      const end = afterString(text, at);
      if (end < 0) return -end - 1;
      at = end;
      want = "colon";
    } else if (!VALUE_START.test(c)) {
      return at;
    } else if (c === "{" || c === "[") {
      open.push(c);
      want = c === "{" ? "first key" : "first item";
      at++;
    } else if (c === '"') {
      const end = afterString(text, at);
      if (end < 0) return -end - 1;
      at = end;
      want = "next";
    } else {
      SCALAR.lastIndex = at;
      if (!SCALAR.test(text)) return "-truefalsenull".includes(text.slice(at)) ? text.length : at;
      at = SCALAR.lastIndex;
      if (/\d/.test(text[at - 1] as string) && /^(?:\.|[eE][+-]?)$/.test(text.slice(at, at + 3))) return text.length;
      want = "next";
    }
  }
}

/**
 * What a JSON text may hold. Nothing that is written here comes near it; what goes beyond would need gigabytes once it is
 * parsed, or end the process: a table of 2^25 keys is more than the engine makes.
 */
const MOST = { levels: 1000, containers: 2 ** 24, members: 2 ** 20, values: 2 ** 27 };

const [QUOTE, BACKSLASH, COMMA, COLON] = [34, 92, 44, 58];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];

/** Returns the offset of the quotation mark that ends a string, or the text's length. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start); end >= 0; end = text.indexOf('"', end + 1)) {
    let marks = 0;
    while (text.charCodeAt(end - 1 - marks) === BACKSLASH) marks++;
    if (marks % 2 === 0) return end;
  }
  return text.length;
}

/**
 * Throws InputError for a text that, as JSON, has more than 1,000 levels, 2^24 lists and objects, 2^27 values, or 2^20
 * members in one object, before it is parsed. Whether it is JSON is the parser's question. O(text), without recursion.
 */
export function refuseHugeJson(text: string, fileName: string): void {
  /** [levels] members of each object that is open. */
  const members = new Int32Array(MOST.levels + 1);
  let level = 0;
  let containers = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at + 1);
    else if (code === COMMA) values++;
    else if (code === COLON) {
      if (++members[level] > MOST.members)
        throw new InputError(
          fileName,
          `JSON with at most ${MOST.members} members in an object`,
          inWords("JSON with more"),
        );
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      if (++level > MOST.levels)
        throw new InputError(fileName, `JSON of at most ${MOST.levels} levels`, inWords("deeper JSON"));
      members[level] = 0;
      if (++containers > MOST.containers)
        throw new InputError(
          fileName,
          `JSON with at most ${MOST.containers} lists and objects`,
          inWords("JSON with more"),
        );
    } else if ((code === CLOSE_LIST || code === CLOSE_OBJECT) && level > 0) level--;
    else continue;
    if (values > MOST.values)
      throw new InputError(fileName, `JSON with at most ${MOST.values} values`, inWords("JSON with more"));
  }
}

/** Returns how an error sentence names a place in a file: `topo.json: links[3].from`, or the file where the path is empty. */
export const placeIn = (fileName: string, path: string): string => (path === "" ? fileName : `${fileName}: ${path}`);

/** Returns the path of a member below a path: `links[3]` and `from` give `links[3].from`. */
export const below = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

/** Throws the InputError for a value that is missing (undefined) or not what was expected. */
export function refuse(place: string, expected: string, value: unknown): never {
  throw value === undefined ? new InputError(place, expected) : new InputError(place, expected, value);
}

/** An object with these fields, which may all be missing, or anything. */
export type JsonFields<Name extends string> = { readonly [Key in Name]?: unknown };

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

type Header = JsonFields<"format" | "version" | "schema">;

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
