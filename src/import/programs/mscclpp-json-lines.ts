const QUOTE = 34;
const BACKSLASH = 92;
const NEW_LINE = 10;

/**
 * Returns, for every object that is directly in a list under one of the `keys`, the line (from 1) of its brace, in the order
 * of the text: one list for each key. The text must be valid JSON. O(text), without recursion.
 */
export function linesOfObjects<Key extends string>(text: string, keys: readonly Key[]): Record<Key, number[]> {
  const lines = Object.fromEntries(keys.map((key) => [key, []])) as unknown as Record<Key, number[]>;
  const wanted: ReadonlySet<string> = new Set(keys);
  /** Keys under which the open lists and objects are; those in lists are under none. */
  const open: { readonly list: boolean; readonly key: string }[] = [];
  let line = 1;
  let key = "";
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === NEW_LINE) line++;
    else if (code === QUOTE) {
      const end = closingQuote(text, at);
      key = text.slice(at + 1, end);
      at = end;
    } else if (code === 91 /* [ */) {
      const inside = open.at(-1);
      open.push({ list: true, key: inside === undefined || inside.list ? "" : key });
    } else if (code === 123 /* { */) {
      const inside = open.at(-1);
      if (inside?.list === true && wanted.has(inside.key)) lines[inside.key as Key].push(line);
      open.push({ list: false, key: "" });
    } else if (code === 93 /* ] */ || code === 125 /* } */) open.pop();
  }
  return lines;
}

/** Returns the place of the quote that ends a string which begins at `start`. */
function closingQuote(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
