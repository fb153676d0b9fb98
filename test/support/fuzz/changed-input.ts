import type { Random } from "../../../src/base/random.ts";
import { pick } from "../draws.ts";
import { mutatedText } from "../mutated-text.ts";

/** Changes of inputs: of lines and values (mutated-text.ts), of JSON by its structure, of single characters and words. */

/** What an input may be made of. */
export interface Material {
  /** Words of the reader's own code. */
  readonly words: readonly string[];
  /** Other inputs. */
  readonly others: readonly string[];
}

type Change = (input: string, draws: Random, material: Material) => string;

const NUMBERS = [
  ...[0, 1, 2, 3, -1, 7, 8, 15, 16, 31, 32, 63, 64, 100, 127, 128, 255, 256, 1000, 4096, 65535, 65536, 1e6, 1e9],
  ...[0.5, -0.5, 1e-9, 1e21, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 32, 2 ** 53 - 1, 2 ** 53, 1e300],
];
/** Names that every object has without being asked. */
const NAMES = ["__proto__", "constructor", "prototype", "toString", "valueOf", "hasOwnProperty", "length", "then", ""];
const LETTERS = "\0\t\n\r \"'#%&()*+,-./0123456789:;<=>?@[\\]^_`{|}~aexNÿ\u2028\ufeff\ud800";
const MOST_LENGTH = 2 ** 14;

const wordOf = (draws: Random, { words }: Material): string =>
  words.length > 0 && draws.below(4) > 0 ? pick(words, draws) : pick(NAMES, draws);

const CHARACTERS: readonly Change[] = [
  (input, draws) => {
    const at = draws.below(input.length + 1);
    return input.slice(0, at) + pick([...LETTERS], draws) + input.slice(at + draws.below(2));
  },
  (input, draws) => {
    const at = draws.below(input.length + 1);
    return input.slice(0, at) + input.slice(at + 1 + draws.below(draws.below(16) + 1));
  },
  (input, draws) => {
    const [at, from] = [draws.below(input.length + 1), draws.below(input.length + 1)];
    return input.slice(0, at) + input.slice(from, from + 1 + draws.below(32)) + input.slice(at);
  },
  (input, draws) => {
    if (input === "") return input;
    const at = draws.below(input.length);
    const code = (input.charCodeAt(at) ^ (1 << draws.below(8))) & 0xffff;
    return input.slice(0, at) + String.fromCharCode(code) + input.slice(at + 1);
  },
];

const WORDS: readonly Change[] = [
  (input, draws, material) => {
    const at = draws.below(input.length + 1);
    return input.slice(0, at) + wordOf(draws, material) + input.slice(at);
  },
  (input, draws, material) => {
    const found = [...input.matchAll(/[A-Za-z_][\w-]*|\d+(?:\.\d+)?/g)];
    if (found.length === 0) return input;
    const { 0: word, index } = pick(found, draws);
    const put = /\d/.test(word) && draws.below(2) === 0 ? String(pick(NUMBERS, draws)) : wordOf(draws, material);
    return input.slice(0, index) + put + input.slice(index + word.length);
  },
  (input, draws, { others }) => {
    if (others.length === 0) return input;
    const other = pick(others, draws);
    const [at, from] = [draws.below(input.length + 1), draws.below(other.length + 1)];
    return input.slice(0, at) + (draws.below(2) === 0 ? other.slice(from) : other.slice(from, from + draws.below(80)));
  },
];

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
interface Slot {
  readonly holder: Json[] | { [key: string]: Json };
  readonly key: string;
}

/** Returns every place in a value that holds another. */
function slotsOf(value: Json): Slot[] {
  const slots: Slot[] = [];
  const waiting: Json[] = [value];
  for (let holder = waiting.pop(); holder !== undefined; holder = waiting.pop()) {
    if (typeof holder !== "object" || holder === null) continue;
    for (const key of Object.keys(holder)) {
      slots.push({ holder, key });
      waiting.push((holder as { [key: string]: Json })[key] as Json);
    }
  }
  return slots;
}

/** Sets a key as JSON.parse does: "__proto__" is one like any other. */
const put = (holder: object, key: string, value: Json): void =>
  void Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });

const anyValue = (draws: Random, material: Material): Json =>
  pick<Json>([null, true, pick(NUMBERS, draws), wordOf(draws, material), [], {}, [[]], "1", "0"], draws);

function changeSlot(root: Json, draws: Random, material: Material): void {
  const slots = slotsOf(root);
  if (slots.length === 0) {
    if (typeof root === "object" && root !== null) put(root, Array.isArray(root) ? "0" : wordOf(draws, material), 0);
    return;
  }
  const { holder, key } = pick(slots, draws);
  const list = Array.isArray(holder) ? holder : null;
  const value = (holder as { [key: string]: Json })[key] as Json;
  switch (draws.below(8)) {
    case 0:
      if (list !== null) list.splice(Number(key), 1 + draws.below(2));
      else delete (holder as { [key: string]: Json })[key];
      return;
    case 1:
      if (list !== null) list.splice(Number(key), 0, structuredClone(value));
      else put(holder, wordOf(draws, material), value);
      return;
    case 2:
      if (list === null) {
        delete (holder as { [key: string]: Json })[key];
        put(holder, wordOf(draws, material), value);
      } else list.push(anyValue(draws, material));
      return;
    case 3: {
      const other = pick(slots, draws);
      put(holder, key, structuredClone((other.holder as { [key: string]: Json })[other.key] as Json));
      return;
    }
    default:
      put(holder, key, otherValue(value, draws, material));
  }
}

function otherValue(value: Json, draws: Random, material: Material): Json {
  switch (draws.below(4)) {
    case 0:
      return draws.below(2) === 0 ? [value] : { [wordOf(draws, material)]: value };
    case 1:
      if (typeof value === "number") return value + draws.below(5) - 2;
      return typeof value === "string" ? changedOnce(value, draws, material) : anyValue(draws, material);
    default:
      return typeof value === "number" ? pick(NUMBERS, draws) : anyValue(draws, material);
  }
}

/** Changes a JSON text by its structure; others as they are, by their words. */
const jsonChange: Change = (input, draws, material) => {
  if (!/^\s*[[{]/.test(input)) return pick(WORDS, draws)(input, draws, material);
  try {
    const root = JSON.parse(input) as Json;
    changeSlot(root, draws, material);
    return JSON.stringify(root);
  } catch {
    return pick(WORDS, draws)(input, draws, material);
  }
};

const changedOnce = (input: string, draws: Random, material: Material): string =>
  pick(draws.below(2) === 0 ? CHARACTERS : WORDS, draws)(input, draws, material);

/** Returns an input with one to four changes. */
export function changedInput(input: string, draws: Random, material: Material): string {
  let changed = input;
  for (let more = draws.below(4); more >= 0; more--) {
    const kind = draws.below(8);
    if (kind < 3) changed = jsonChange(changed, draws, material);
    else if (kind < 6) changed = changedOnce(changed, draws, material);
    else changed = mutatedText(changed, material.others.length === 0 ? "" : pick(material.others, draws), draws);
  }
  return changed.slice(0, MOST_LENGTH);
}
