import { escapeOf, replaceHidden, visible } from "./visible.ts";

/** What no shell takes for anything but itself. */
const PLAIN = /^[\w@%+=:,./-]+$/;

/** Returns a hidden character as bash and zsh have it between $' and '. */
const shellEscape = (character: string): string =>
  character.length > 1 ? `\\U${character.codePointAt(0)?.toString(16).padStart(8, "0")}` : escapeOf(character);

/** Returns a word as a shell takes it, hidden characters as escapes: what is pasted must not end the line. */
export function shellWord(word: string): string {
  if (PLAIN.test(word)) return word;
  if (visible(word) === word) return `'${word.replaceAll("'", "'\\''")}'`;
  return `$'${replaceHidden(word.replace(/['\\]/g, "\\$&"), shellEscape)}'`;
}
