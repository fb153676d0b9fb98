import { InputError } from "../../base/errors.ts";
import { BUFFER_LETTERS } from "../../model/program/program.ts";
import { attributeOf, type XmlElement, xmlPlace } from "../text/xml.ts";

export const INT32: readonly [number, number] = [-(2 ** 31), 2 ** 31 - 1];
export const COUNT: readonly [number, number] = [0, 2 ** 31 - 1];

/** Returns how a message names an attribute. */
const attributePlace = (element: XmlElement, name: string, fileName: string): string =>
  `attribute ${name} of <${element.name}> at ${xmlPlace(fileName, element)}`;

/** Returns the number that C's strtoll makes of a text with base 0 (0x10 is 16, 010 is 8); NaN where it is not all number. */
function parsed(text: string): number {
  const [, sign, digits] = /^\s*([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)\s*$/.exec(text) ?? [];
  if (digits === undefined) return Number.NaN;
  const size = /^0[0-7]/.test(digits) ? Number.parseInt(digits, 8) : Number(digits);
  return sign === "-" && size > 0 ? -size : size;
}

/** Returns an attribute as the whole number that runtimes read. Throws InputError outside the range. */
export function numberOf(
  element: XmlElement,
  name: string,
  fileName: string,
  [least, most]: readonly [number, number] = COUNT,
): number {
  const text = attributeOf(element, name, fileName);
  const value = parsed(text);
  if (value >= least && value <= most) return value;
  const range = most >= 2 ** 31 - 1 ? `a whole number of ${least} or more` : `a whole number from ${least} to ${most}`;
  throw new InputError(attributePlace(element, name, fileName), range, text);
}

/** Returns so many times a bound in bytes, null where there is none. Beyond exact integers it is as good as no bound: 2^53 - 1. */
export function bytesOf(element: XmlElement, name: string, times: number, fileName: string): number | null {
  if (!element.attributes.has(name)) return null;
  return Math.min(times * numberOf(element, name, fileName, [0, 2 ** 63]), Number.MAX_SAFE_INTEGER);
}

/** Returns what a table says of an attribute's text. Throws InputError, which lists the table, for any other. */
export function oneOf<T>(element: XmlElement, name: string, table: ReadonlyMap<string, T>, fileName: string): T {
  const text = attributeOf(element, name, fileName);
  const value = table.get(text);
  if (value !== undefined) return value;
  throw new InputError(attributePlace(element, name, fileName), `one of ${[...table.keys()].join(", ")}`, text);
}

const BUFFERS: ReadonlyMap<string, number> = new Map(BUFFER_LETTERS.map((letter, i) => [letter, i]));

/** Returns the number of a buffer: i, o or s. */
export const bufferOf = (element: XmlElement, name: string, fileName: string): number =>
  oneOf(element, name, BUFFERS, fileName);

/** Returns true for 1, false for 0. */
export const flagOf = (element: XmlElement, name: string, fileName: string): boolean =>
  numberOf(element, name, fileName, [0, 1]) === 1;

/** Returns the elements by their ids, which must be 0, 1, 2 ... in any order. Throws InputError with the line of the first that is not. */
export function byId(elements: readonly XmlElement[], fileName: string): readonly XmlElement[] {
  const placed: XmlElement[] = new Array(elements.length);
  for (const element of elements) {
    const id = numberOf(element, "id", fileName, [0, elements.length - 1]);
    const other = placed[id];
    if (other !== undefined) {
      throw new InputError(
        attributePlace(element, "id", fileName),
        `an id that no other <${element.name}> has (line ${other.line})`,
        id,
      );
    }
    placed[id] = element;
  }
  return placed;
}

/** Returns the children of a name. */
export const childrenNamed = (element: XmlElement, name: string): readonly XmlElement[] =>
  element.children.filter((child) => child.name === name);
