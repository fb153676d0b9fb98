/** Parts are joined to about this many characters per write. */
const BLOCK_LENGTH = 2 ** 20;

/** Yields the texts joined to blocks of about a megabyte, and bytes as they are. */
export function* blocks<Part extends string | Uint8Array>(
  parts: Iterable<Part>,
): Generator<string | Exclude<Part, string>> {
  let held: string[] = [];
  let length = 0;
  for (const part of parts) {
    if (typeof part !== "string") {
      if (length > 0) yield held.join("");
      held = [];
      length = 0;
      yield part as Exclude<Part, string>;
      continue;
    }
    held.push(part);
    length += part.length;
    if (length < BLOCK_LENGTH) continue;
    yield held.join("");
    held = [];
    length = 0;
  }
  if (length > 0) yield held.join("");
}
