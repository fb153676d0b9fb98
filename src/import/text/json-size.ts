import { InputError } from "../../base/errors.ts";

/**
 * What a JSON text may hold. Nothing that is written here comes near it; what goes beyond would need gigabytes once it is
 * parsed, or end the process: a table of 2^25 keys is more than the engine makes.
 */
const MOST = { levels: 1000, containers: 2 ** 24, members: 2 ** 20, values: 2 ** 27 };

const [QUOTE, BACKSLASH, COMMA, COLON] = [34, 92, 44, 58];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];

/** Returns the offset of the quotation mark that ends a string, or the text's length. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start); end >= 0; end = text.indexOf('"', end + 1)) {
    let marks = 0;
    while (text.charCodeAt(end - 1 - marks) === BACKSLASH) marks++;
    if (marks % 2 === 0) return end;
  }
  return text.length;
}

/**
 * Throws InputError for a text that, as JSON, has more than 1,000 levels, 2^24 lists and objects, 2^27 values, or 2^20
 * members in one object, before it is parsed. Whether it is JSON is the parser's question. O(text), without recursion.
 */
export function refuseHugeJson(text: string, fileName: string): void {
  /** [levels] members of each object that is open. */
  const members = new Int32Array(MOST.levels + 1);
  let level = 0;
  let containers = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at + 1);
    else if (code === COMMA) values++;
    else if (code === COLON) {
      if (++members[level] > MOST.members)
        throw new InputError(fileName, `JSON with at most ${MOST.members} members in an object`, "more");
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      if (++level > MOST.levels) throw new InputError(fileName, `JSON of at most ${MOST.levels} levels`, "more");
      members[level] = 0;
      if (++containers > MOST.containers)
        throw new InputError(fileName, `JSON with at most ${MOST.containers} lists and objects`, "more");
    } else if ((code === CLOSE_LIST || code === CLOSE_OBJECT) && level > 0) level--;
    else continue;
    if (values > MOST.values) throw new InputError(fileName, `JSON with at most ${MOST.values} values`, "more");
  }
}
