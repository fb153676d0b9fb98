import { InputError } from "../errors.ts";

/** Characters before a wrong byte that a message shows. */
const MOST_SHOWN = 20;

/** Whether bytes are of UTF-16: they begin with its mark, or with one zero in two bytes. */
function isUtf16([first = 1, second = 1]: Uint8Array): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) || (first === 0) !== (second === 0);
}

/** Returns the text that bytes are. `name` is the file's, for messages. Throws InputError where they are not UTF-8. */
export function utf8Text(bytes: Uint8Array, name: string): string {
  if (isUtf16(bytes)) throw new InputError(name, "a text in UTF-8 (`iconv -f UTF-16 -t UTF-8` makes one)", "UTF-16");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    const lines = text.slice(0, text.indexOf("\ufffd")).split("\n");
    const before = (lines.at(-1) as string).slice(-MOST_SHOWN);
    throw new InputError(`${name} line ${lines.length}`, "a text in UTF-8", `${before}\ufffd, not UTF-8`);
  }
}
