import type { Random } from "../../src/base/random.ts";
import { changedText } from "./changed-text.ts";
import { garbled } from "./garbled.ts";

/** What stands in no good file, or in one of another format. */
const ODD = [
  ..."0 -1 1 2 65536 2147483647 2147483648 -2147483649 9007199254740993 1e999 0x10 007 1.5 NaN null true".split(" "),
  ...'|"|\'|""|<|>|/>|</|&|&amp;|&lol;|&#0;|<!--|-->|<![CDATA[|<!DOCTYPE a [|<?xml|[|]|{|}|[]|{}|:|,|=|#|-|*|\\|\\u0000'.split(
    "|",
  ),
  ..."\t|\r\n|\r|\n|\0|\ufffd|\ufeff|\u2028|\x1b[4m|\ud800|é| |   ".split("|"),
  ..."GPU0|NV18|NODE|SYS|X|n[0-99999999]|n[3-1]|[[|*a|&a|<<: *a|- - -|SwitchName=s|400Gbps|__proto__|constructor|gpu|custom".split(
    "|",
  ),
];

const pick = <Item>(items: readonly Item[], draws: Random): Item => items[draws.below(items.length)] as Item;

/** Returns a text with one thing about it changed. */
type Mutation = (text: string, draws: Random, other: string) => string;

/** A change of one line: of the lines before, of, and after it. */
const onLines =
  (change: (lines: string[], at: number, draws: Random) => void): Mutation =>
  (text, draws) => {
    const lines = text.split("\n");
    change(lines, draws.below(lines.length), draws);
    return lines.join("\n");
  };

/** Longest repetition, and the longest text that comes of one. */
const MOST_TIMES = 2000;
const MOST_LENGTH = 2 ** 18;

function repeated(text: string, draws: Random): string {
  const at = draws.below(text.length + 1);
  const part = text.slice(at, at + 1 + draws.below(60));
  const times = Math.min(draws.below(MOST_TIMES), Math.floor(MOST_LENGTH / (part.length + 1)));
  return text.slice(0, at) + part.repeat(times) + text.slice(at);
}

function otherNumber(text: string, draws: Random): string {
  const numbers = [...text.matchAll(/-?\d+(?:\.\d+)?/g)];
  const found = numbers[draws.below(Math.max(1, numbers.length))];
  if (found === undefined) return text;
  const value = draws.below(3) === 0 ? pick(ODD, draws) : String(Number(found[0]) + draws.below(5) - 2);
  return text.slice(0, found.index) + value + text.slice(found.index + found[0].length);
}

function oddJson(text: string, draws: Random): string {
  try {
    return JSON.stringify(garbled(JSON.parse(text), draws, 8));
  } catch {
    return text;
  }
}

const stretch = (text: string, draws: Random, valuesAfter: number | null): string =>
  text === ""
    ? pick(ODD, draws)
    : changedText(text, { at: draws.next(), length: draws.below(21), put: pick(ODD, draws) }, valuesAfter);

/** Those that leave much as it is, which readers get far with. */
const GENTLE: readonly Mutation[] = [
  (text, draws) => stretch(text, draws, null),
  (text, draws) => stretch(text, draws, 0),
  otherNumber,
  otherNumber,
  oddJson,
  onLines((lines, at) => void lines.splice(at, 1)),
  onLines((lines, at) => void lines.splice(at, 0, lines[at] as string)),
  onLines((lines, at, draws) => void lines.splice(draws.below(lines.length), 0, ...lines.splice(at, 1))),
];

const ROUGH: readonly Mutation[] = [
  repeated,
  onLines((lines, at, draws) => void lines.splice(at, draws.below(20), pick(ODD, draws))),
  (text, draws) => text.slice(0, draws.below(text.length + 1)),
  (text, draws) => text.slice(draws.below(text.length + 1)),
  (text) => text.replaceAll("\n", "\r\n"),
  (text) => text.replaceAll(" ", "\t"),
  (text, draws) => text.replaceAll(pick(['"', " ", "0", "1", "\n", "<", ":"], draws), pick(ODD, draws)),
  (text, draws, other) => {
    const [at, from] = [draws.below(text.length + 1), draws.below(other.length + 1)];
    return text.slice(0, at) + other.slice(from, from + draws.below(400)) + text.slice(at + draws.below(400));
  },
];

/** Returns the text with one to four mutations, one in three of them rough; `other` is what a part may be taken from. */
export function mutatedText(text: string, other: string, draws: Random): string {
  let mutated = text;
  for (let more = Math.max(0, draws.below(7) - 3); more >= 0; more--)
    mutated = pick(draws.below(3) === 0 ? ROUGH : GENTLE, draws)(mutated, draws, other);
  return mutated;
}
