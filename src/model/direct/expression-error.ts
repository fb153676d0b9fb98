import { InputError } from "../../base/errors.ts";
import { replaceHidden, textWidth } from "../../base/visible.ts";

/** Characters of an expression that are shown before and after the place of a mistake. */
const AROUND = 50;

/**
 * A malformed expression. The message's first line says what was expected and where; the next two show the expression with a
 * caret under the place.
 */
export class ExpressionError extends InputError {
  /** The two lines with the caret. */
  readonly excerpt: string;

  constructor(text: string, at: number, expected: string) {
    const place = `character ${at + 1} of the topology`;
    if (at < text.length) super(place, expected, text.slice(at));
    else super("the end of the topology", expected);
    this.name = "ExpressionError";
    this.excerpt = caretUnder(text, at);
    this.message = `${this.message}\n${this.excerpt}`;
  }

  /** Returns another error's sentence with the place in the expression that it is about. */
  static from(error: Error, text: string, at: number): ExpressionError {
    const placed = new ExpressionError(text, at, "");
    placed.message = `${error.message}\n${placed.excerpt}`;
    return placed;
  }
}

/** Returns the expression, cut around the place, and a line with a caret below it. */
function caretUnder(text: string, at: number): string {
  const from = Math.max(0, at - AROUND);
  const to = Math.min(text.length, at + AROUND);
  const before = from > 0 ? "..." : "";
  const blank = (part: string): string => replaceHidden(part, () => " ").replace(/\s/g, " ");
  const [left, right] = [blank(text.slice(from, at)), blank(text.slice(at, to))];
  const after = to < text.length ? "..." : "";
  return `  ${before}${left}${right}${after}\n  ${" ".repeat(before.length + textWidth(left))}^`;
}
