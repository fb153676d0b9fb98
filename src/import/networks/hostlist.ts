import { InputError } from "../../base/errors.ts";

/** No file may name more hosts than this. */
export const MAX_HOSTS = 1_000_000;

/** A host name has at most 253 characters (RFC 1035). */
const MAX_NAME = 253;

/** Names that a bracket stands for: `from` .. `to`, zero-padded to `width` characters. */
interface Range {
  readonly from: number;
  readonly to: number;
  readonly width: number;
}

/**
 * Returns the names of a Slurm hostlist in its order: `a[1-3,7],b2`, zero padding as in `n[08-12]`, several brackets in one
 * name (`rack[0-1]n[0-3]`, the last one fastest). Throws InputError for a malformed list, a name of more than 253 characters
 * and for more than `limit` names, before they are made. O(text + names).
 */
export function expandHostlist(text: string, place: string, limit = MAX_HOSTS): string[] {
  const names: string[] = [];
  for (const item of itemsOf(text, place)) {
    const parts = partsOf(item, place);
    const count = parts.reduce((product, part) => product * (typeof part === "string" ? 1 : sizeOf(part)), 1);
    if (names.length + count > limit) throw new InputError(place, `at most ${limit} names in all`, item);
    let made = [""];
    for (const part of parts) {
      const next = typeof part === "string" ? [part] : part.flatMap(numbersOf);
      made = made.flatMap((name) => next.map((text) => name + text));
      if ((made[0] as string).length > MAX_NAME) {
        throw new InputError(place, `names of at most ${MAX_NAME} characters`, item);
      }
    }
    for (const name of made) names.push(name);
  }
  return names;
}

/** Returns the parts between commas that stand outside brackets. */
function itemsOf(text: string, place: string): string[] {
  const items: string[] = [];
  let start = 0;
  let inside = false;
  for (let at = 0; at <= text.length; at++) {
    const mark = text[at];
    if (mark === "[" || mark === "]") {
      if (inside === (mark === "[")) throw new InputError(place, "brackets in pairs, such as n[0-3]", text);
      inside = mark === "[";
    } else if (mark === undefined || (mark === "," && !inside)) {
      items.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  if (inside || items.some((item) => item === "" || /\s/.test(item))) {
    throw new InputError(place, "a list of hosts such as n[0-3],m7", text);
  }
  return items;
}

function partsOf(item: string, place: string): (string | Range[])[] {
  return item
    .split(/(\[[^\]]*\])/)
    .filter((part) => part !== "")
    .map((part) =>
      part.startsWith("[")
        ? part
            .slice(1, -1)
            .split(",")
            .map((range) => rangeOf(range, item, place))
        : part,
    );
}

function rangeOf(text: string, item: string, place: string): Range {
  const match = /^\s*(\d{1,15})(?:-(\d{1,15}))?\s*$/.exec(text);
  const expected = "ranges such as [0-3,7] or [08-12]";
  if (match === null) throw new InputError(place, expected, item);
  const [, low, high = low] = match as unknown as [string, string, string?];
  const [from, to] = [Number(low), Number(high)];
  if (to < from) throw new InputError(place, `${expected}, ascending,`, item);
  return { from, to, width: low.length };
}

const sizeOf = (ranges: readonly Range[]): number => ranges.reduce((sum, { from, to }) => sum + (to - from + 1), 0);

const numbersOf = ({ from, to, width }: Range): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => String(from + i).padStart(width, "0"));
