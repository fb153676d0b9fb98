import { SaxesParser } from "saxes";
import { InputError } from "../../base/errors.ts";

/** An element of an XML file. Text between elements is dropped. */
export interface XmlElement {
  readonly name: string;
  /** Of the opening tag, from 1. */
  readonly line: number;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
}

/** Bounds that no sensible file meets; what goes beyond is refused before it takes memory. */
export interface XmlLimits {
  readonly characters: number;
  readonly elements: number;
  readonly depth: number;
}
const LIMITS: XmlLimits = { characters: 256e6, elements: 4e6, depth: 64 };

/** Text goes to the parser in parts, so that a mistake ends the work soon. */
const PART = 2 ** 16;

/** Returns where the text stands, for a message. */
export const xmlPlace = (fileName: string, { line }: { readonly line: number }): string => `${fileName} line ${line}`;

/**
 * Returns the root element of an XML text. Entities beyond the five of XML cannot be declared (no DTD), so nothing expands.
 * Throws InputError with the line for text that is not well-formed, that has a DTD, or that goes beyond the limits. O(text).
 */
export function readXml(text: string, fileName: string, limits: XmlLimits = LIMITS): XmlElement {
  if (text.length > limits.characters) {
    throw new InputError(fileName, `an XML file of at most ${limits.characters} characters`, text.length);
  }
  const parser = new SaxesParser({ position: true, fragment: false });
  const open: {
    readonly name: string;
    readonly line: number;
    readonly attributes: Map<string, string>;
    readonly children: XmlElement[];
  }[] = [];
  let root: XmlElement | undefined;
  let elements = 0;
  let tagLine = 1;
  let isAtEnd = false;
  const refuse = (expected: string, received: unknown): never => {
    throw new InputError(`${fileName} line ${parser.line}`, expected, received);
  };
  parser.on("error", (error) => {
    const place = `${fileName} line ${parser.line}`;
    const why = error.message.replace(/^\S*?:?\d+:\d+: /, "").replace(/\.$/, "");
    const inside = open.at(-1)?.name;
    throw new InputError(place, "well-formed XML", why).saying(
      isAtEnd
        ? `${place} is where the XML ends too early${inside === undefined ? "" : `, inside of <${inside}>`}: the file is cut off`
        : `${place} is no well-formed XML: ${why}`,
    );
  });
  parser.on("doctype", () => refuse("XML without a document type (DTD)", "<!DOCTYPE"));
  parser.on("opentagstart", () => {
    tagLine = parser.line;
  });
  parser.on("opentag", ({ name, attributes }) => {
    elements++;
    if (elements > limits.elements) refuse(`at most ${limits.elements} elements`, elements);
    if (open.length >= limits.depth) refuse(`elements at most ${limits.depth} deep`, name);
    const element = { name, line: tagLine, attributes: new Map(Object.entries(attributes)), children: [] };
    open.at(-1)?.children.push(element);
    root ??= element;
    open.push(element);
  });
  parser.on("closetag", () => {
    open.pop();
  });
  const body = text.startsWith("\ufeff") ? text.slice(1) : text;
  for (let at = 0; at < body.length; at += PART) parser.write(body.slice(at, at + PART));
  isAtEnd = true;
  parser.close();
  if (root === undefined) throw new InputError(fileName, "an XML element");
  return root;
}

/** Returns an attribute's text. Throws InputError, which names element and line, where it is missing. */
export function attributeOf(element: XmlElement, name: string, fileName: string): string {
  const value = element.attributes.get(name);
  if (value !== undefined) return value;
  throw new InputError(`attribute ${name} of <${element.name}> at ${xmlPlace(fileName, element)}`, "a value");
}

/** Returns an attribute as a whole number in a range. Throws InputError. */
export function integerAttribute(
  element: XmlElement,
  name: string,
  fileName: string,
  [least, most]: readonly [number, number] = [0, 2 ** 31 - 1],
): number {
  const text = attributeOf(element, name, fileName);
  const value = /^\s*[+-]?\d+\s*$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  const range = most >= 2 ** 31 - 1 ? `${least} or more` : `${least} to ${most}`;
  throw new InputError(
    `attribute ${name} of <${element.name}> at ${xmlPlace(fileName, element)}`,
    `a whole number, ${range},`,
    text,
  ).as("out-of-range");
}
