/** Sentences of refusals: first what is wrong, then what would be right. */

/** Names in places that are more than one thing. */
const PLURAL =
  /^(?:the )?(?:arrivals|bandwidths|blocks|chunks|collectives|edges|elements|groups|lengths|links|nodes|offsets|pairs|phases|slots|steps|TE-CCL matrices|thread blocks|trees)\b(?![.:])/;
/** "2 cells", "4 or more parameters", "at most 64 sizes": how many of something there are to be, and not "1 to 8" nor "one of". */
const COUNT =
  /^(?:at (least|most) )?(?:\d[\d.e+]*(?: or more| to \d+)?|one|two|three) (?!(?:of|for|to|or|in|as|\d)\b)[a-z]/i;
/** What a thing is to have rather than to be. */
const PARTS = /^(?:every|each|no|columns|the columns|brackets|fields|the keys|names of at most)\b(?! such as)/;
/** The nearest name, in what would be right. */
const MEANT = / \(did you mean ("[^"]*")\?\)/;
/** How many there are, with or without of what; what else was given is not what a place has. */
const HAD = /^(?:\d[\d.e+]*(?: [a-z].*)?$|(?:no|none|about|more|another)\b)/;

/** What a refusal is about. */
interface Refused {
  readonly place: string;
  /** The place is an option, whose value was typed. */
  readonly isOption: boolean;
  /** What would have been right, a noun phrase. */
  readonly expected: string;
  /** The offending value as it is shown; null where nothing was given. */
  readonly shown: string | null;
  /** The option means something only beside something else. */
  readonly alone: boolean;
}

/**
 * Returns one sentence that begins with what is wrong: "--k is 0; it must be at least 1", "--outsiders needs --group beside it",
 * "file: links[0] is missing; it must be 2 numbers".
 */
export function refusalSentence({ place, isOption, expected, shown, alone }: Refused): string {
  const [, meant] = MEANT.exec(expected) ?? [];
  const right = expected.replace(MEANT, "").replace(/,$/, "");
  const [be, have, they] = PLURAL.test(place) ? ["are", "have", "they"] : ["is", "has", "it"];
  const [, beside] = /^nothing beside (.+)$/.exec(right) ?? [];
  if (beside !== undefined) return `${place} ${they === "it" ? "does" : "do"} not go with ${beside}`;
  const [, without] = /^nothing without (.+)$/.exec(right) ?? [];
  if (without !== undefined) return `${place} needs ${without}`;
  if (/ (?:beside it|in place of) ?/.test(right) && (alone || shown === null)) return `${place} needs ${right}`;
  if (shown === null) {
    if (isOption) return `${place} is missing: it must be ${right}`;
    return place.includes(": ") ? `${place} is missing; it must be ${right}` : `${place} lacks ${right}`;
  }
  const value = isOption ? shown.replace(/^"(-?\d[\d.e+]*)"$/, "$1").replace(/^""$/, "empty") : shown;
  const [, rest] = /^nothing\b(.*)$/.exec(right) ?? [];
  if (rest !== undefined) return `${place} ${be} ${value}; leave ${they === "it" ? "it" : "them"} out${rest}`;
  if (/ beside it\b/.test(right)) return `${place} needs ${right}, not ${value}`;
  if (meant !== undefined)
    return `${place} ${be} ${value}${/^(?:one of|fields among|the keys) /.test(right) ? "" : `, not ${right}`}; did you mean ${meant}?`;
  const count = COUNT.exec(right);
  if (count !== null && !isOption) {
    const most = count[1] === "most" ? "may have" : they === "it" ? "needs" : "need";
    return `${place} ${HAD.test(value) ? have : be} ${value}; ${they} ${most} ${right}`;
  }
  if (PARTS.test(right)) return `${place} ${have} ${value}; ${they} must have ${right}`;
  return `${place} ${be} ${value}; ${they} must be ${right}`;
}
