import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { InputError, inWords } from "../../base/errors.ts";

/** Plain values of a YAML text, and where each stands. */
export interface Yaml {
  readonly value: unknown;
  /** Returns how an error sentence names an entry of a list or mapping of the text: `file.yml line 4: key`. O(1). */
  readonly at: (container: object, key: string | number) => string;
  /** Returns where an entry begins: `file.yml line 4`. O(1). */
  readonly lineAt: (container: object, key: string | number) => string;
  /** Returns where the value of an entry stands: `file.yml line 4, column 7`. O(1). */
  readonly valueAt: (container: object, key: string | number) => string;
}

/** Longer texts are refused: the parser takes some seconds for this many characters, and a kilobyte for each value. */
const MAX_CHARACTERS = 2 * 2 ** 20;
const MAX_DEPTH = 32;
const MAX_ALIASES = 100;

/** By entry: its line, and line and column of its value. */
type Lines = Map<string | number, { readonly line: number; readonly value: Position }>;

interface Position {
  readonly line: number;
  readonly column: number;
}

interface Conversion {
  readonly document: Document;
  readonly fileName: string;
  readonly lineOf: (node: unknown) => number | null;
  readonly positionOf: (node: unknown) => Position | null;
  readonly lines: WeakMap<object, Lines>;
  /** By anchored node, so that aliases share a value; null while it is made. */
  readonly made: Map<Node, unknown>;
  aliases: number;
}

/**
 * Returns the first document of a YAML 1.2 text as plain objects, lists, texts, numbers, flags and nulls. Throws InputError
 * with the line for a mistake, a repeated key, a key that is not a text or number, more than 32 levels, more than 100
 * aliases, a value inside itself, or a text of more than 2 Mi characters. O(text).
 */
export function parseYaml(text: string, fileName: string): Yaml {
  if (text.length > MAX_CHARACTERS) {
    throw new InputError(fileName, `at most ${MAX_CHARACTERS} characters of YAML`, inWords(`${text.length}`)).as(
      "out-of-range",
    );
  }
  refuseDepth(text, fileName);
  const counter = new LineCounter();
  const lineAt = (offset: number): number => counter.linePos(offset).line;
  const document = parsed(text, fileName, counter);
  const [mistake] = document.errors;
  if (mistake !== undefined) {
    const [sentence] = mistake.message.split("\n", 1) as [string];
    throw new InputError(`${fileName} line ${lineAt(mistake.pos[0])}`, "valid YAML", sentence);
  }
  const positionOf = (node: unknown): Position | null => {
    const range = (node as Partial<Node> | null)?.range;
    if (range === undefined || range === null) return null;
    const { line, col } = counter.linePos(range[0]);
    return { line, column: col };
  };
  const lineOf = (node: unknown): number | null => positionOf(node)?.line ?? null;
  const lines = new WeakMap<object, Lines>();
  const conversion: Conversion = { document, fileName, lineOf, positionOf, lines, made: new Map(), aliases: 0 };
  const value = plain(conversion, document.contents as Node | null, 0);
  return {
    value,
    at: (container, key) => {
      const line = lines.get(container)?.get(key)?.line;
      return `${fileName}${line === undefined ? "" : ` line ${line}`}: ${key}`;
    },
    lineAt: (container, key) => {
      const line = lines.get(container)?.get(key)?.line;
      return line === undefined ? fileName : `${fileName} line ${line}`;
    },
    valueAt: (container, key) => {
      const value = lines.get(container)?.get(key)?.value;
      return value === undefined ? fileName : `${fileName} line ${value.line}, column ${value.column}`;
    },
  };
}

/**
 * Refuses brackets a thousand deep, and as many list marks one behind another, before the parser, which takes quadratic time
 * for them, sees them, and more keys within keys than levels. Brackets in texts and comments count as well.
 */
function refuseDepth(text: string, fileName: string): void {
  let open = 0;
  let marks = 0;
  /** Of them, those of keys that are maps themselves: the parser's text of such a key doubles with each level. */
  let keys = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 91 || code === 123) open++;
    else if ((code === 93 || code === 125) && open > 0) open--;
    if (code === 45 || code === 63 || code === 58) marks++;
    else if (code !== 32) marks = 0;
    keys = marks === 0 ? 0 : keys + (code === 63 ? 1 : 0);
    if (open >= 1000 || marks >= 1000 || keys > MAX_DEPTH)
      throw new InputError(fileName, `at most ${MAX_DEPTH} levels of YAML`);
  }
}

/** The library's own check of repeated keys compares all pairs, so it is switched off and done here. */
function parsed(text: string, fileName: string, lineCounter: LineCounter): Document {
  try {
    return parseDocument(text.replace(/^\ufeff/, ""), {
      lineCounter,
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: "silent",
    }) as Document;
  } catch (error) {
    if (error instanceof RangeError) throw new InputError(fileName, "YAML of fewer levels");
    throw new InputError(fileName, "valid YAML", (error as Error).message);
  }
}

function plain(conversion: Conversion, node: Node | null, depth: number): unknown {
  const { fileName, lineOf, made } = conversion;
  const here = (): string => `${fileName} line ${node === null ? 1 : (lineOf(node) ?? 1)}`;
  if (depth > MAX_DEPTH) throw new InputError(here(), `at most ${MAX_DEPTH} levels of YAML`);
  if (isAlias(node)) {
    if (++conversion.aliases > MAX_ALIASES) throw new InputError(here(), `at most ${MAX_ALIASES} aliases`);
    const target = node.resolve(conversion.document);
    if (target === undefined) throw new InputError(here(), "an alias of an anchor above it", node.source);
    if (made.get(target) === null) throw new InputError(here(), "a value that does not contain itself", node.source);
    return made.get(target) ?? plain(conversion, target, depth);
  }
  if (isScalar(node)) return node.value;
  if (!isSeq(node) && !isMap(node)) return node === null ? null : undefined;
  if (node.anchor !== undefined) made.set(node, null);
  const lines: Lines = new Map();
  const value = isSeq(node)
    ? listOf(conversion, node.items, lines, depth)
    : objectOf(conversion, node.items, lines, depth);
  conversion.lines.set(value, lines);
  if (node.anchor !== undefined) made.set(node, value);
  return value;
}

function listOf(conversion: Conversion, items: readonly unknown[], lines: Lines, depth: number): unknown[] {
  return items.map((item, index) => {
    const value = conversion.positionOf(item);
    if (value !== null) lines.set(index, { line: value.line, value });
    return plain(conversion, item as Node, depth + 1);
  });
}

function objectOf(
  conversion: Conversion,
  items: readonly { readonly key: unknown; readonly value: unknown }[],
  lines: Lines,
  depth: number,
): object {
  const { fileName, lineOf } = conversion;
  const entries: [string, unknown][] = items.map(({ key, value }) => {
    const name = isScalar(key) ? key.value : key;
    const line = lineOf(key) ?? 1;
    if (typeof name !== "string" && typeof name !== "number") {
      throw new InputError(`${fileName} line ${line}`, "a key that is a text", String(name));
    }
    if (lines.has(String(name))) throw new InputError(`${fileName} line ${line}`, "a key not used before", name);
    lines.set(String(name), { line, value: conversion.positionOf(value) ?? { line, column: 1 } });
    return [String(name), plain(conversion, value as Node | null, depth + 1)];
  });
  return Object.fromEntries(entries);
}
