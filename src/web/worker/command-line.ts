import { escapeOf, replaceHidden, visible } from "../../base/visible.ts";
import type { Options } from "../../request/option-texts.ts";
import type { MakeWish } from "../protocol.ts";

/** What no shell takes for anything but itself. */
const PLAIN = /^[\w@%+=:,./-]+$/;

/** Returns a hidden character as bash and zsh have it between $' and '. */
const shellEscape = (character: string): string =>
  character.length > 1 ? `\\U${character.codePointAt(0)?.toString(16).padStart(8, "0")}` : escapeOf(character);

/** Returns a word as a shell takes it, hidden characters as escapes: what is pasted must not end the line. */
function quoted(word: string): string {
  if (PLAIN.test(word)) return word;
  if (visible(word) === word) return `'${word.replaceAll("'", "'\\''")}'`;
  return `$'${replaceHidden(word.replace(/['\\]/g, "\\$&"), shellEscape)}'`;
}

/** "timeLimit" is --time-limit. */
const optionName = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

function wordsOf(options: Options): string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    if (value === undefined || value === "") return [];
    if (value === true) return [optionName(name)];
    if (value === false) return [`--no-${optionName(name).slice(2)}`];
    return value.startsWith("-") ? [`${optionName(name)}=${value}`] : [optionName(name), value];
  });
}

/** Returns the command line that makes the schedule of a wish and writes it to a file, for a shell. */
export function commandOf({ network, options }: MakeWish, file: string): string {
  const name = network.file?.name ?? network.topology.trim();
  const topology = name.startsWith("-") ? `./${name}` : name;
  const asked = { ...options, collective: options["collective"] ?? "allgather" };
  const words = ["banyan", "synth", topology, ...wordsOf(network.options), ...wordsOf(asked), "-o", file];
  return words.map(quoted).join(" ");
}
