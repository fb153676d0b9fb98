/**
 * Texts from outside (names, sources, paths, options) in lines for people. What ends a line, moves a cursor, turns the order of
 * letters around or cannot be seen is written as its escape, in the way of JSON: `\n`, `\u001b`, `\u202e`, `\udb40\udc41`.
 */

/** Controls, formats (bidirectional marks, byte order marks, tags), separators of lines, fillers, halves of characters, noncharacters. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu;
/** The same but for line breaks. */
const HIDDEN_INSIDE = new RegExp(`(?!\\n)${HIDDEN.source}`, HIDDEN.flags);

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const FOUR_DIGITS = 4;

/** Returns a text with every hidden character replaced by what `write` says for it. */
export const replaceHidden = (text: string, write: (character: string) => string): string =>
  text.replace(HIDDEN, write);

/** Returns a hidden character's escape. */
export const escapeOf = (character: string): string =>
  SHORT[character] ??
  character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(FOUR_DIGITS, "0")}`)
    .join("");

/** Returns a text as it may stand within a line; what it returns stays as it is when this is done again. */
export const visible = (text: string): string => replaceHidden(text, escapeOf);

/** Most lines: to look for these only is ten times as fast. */
const PLAIN_LINES = /^[\n -~]*$/;

/** Returns a text of several lines, its line breaks kept. */
export const visibleLines = (text: string): string =>
  PLAIN_LINES.test(text) ? text : text.replace(HIDDEN_INSIDE, escapeOf);

/** Returns a value as JSON, hidden characters of its texts escaped: the same value to every reader. */
export const jsonText = (value: unknown, indent?: number): string =>
  visibleLines(JSON.stringify(value, null, indent) ?? "null");

const COMBINING = /[\p{Mn}\p{Me}]/u;
/** East Asian wide and full-width characters, and pictures. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** Returns how many columns of a terminal a visible text takes. O(text). */
export function textWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += COMBINING.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return width;
}
