import { InputError, inWords } from "../../base/errors.ts";
import { BYS_MAGIC } from "../../model/files/bys-format.ts";

/** Characters before a wrong byte that a message shows. */
const MOST_SHOWN = 20;

/** Bytes that tell text in UTF-16 from what is no text. */
export const HEAD_BYTES = 1024;
/** The least byte of a text. */
const TAB = 9;

/** Whether bytes are of UTF-16: they begin with its mark, or one in two of the first is zero, always the same one, as for ASCII. */
function isUtf16(bytes: Uint8Array): boolean {
  const [first = 1, second = 1] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  const head = bytes.subarray(0, Math.min(HEAD_BYTES, bytes.length & ~1));
  return head.length > 0 && [0, 1].some((side) => head.every((byte, i) => (i % 2 === side ? byte === 0 : byte >= TAB)));
}

/** Throws InputError where the first bytes of a file show that it is no text in UTF-8. */
export function refuseNoText(bytes: Uint8Array, name: string): void {
  if (isUtf16(bytes))
    throw new InputError(name, "a text in UTF-8 (`iconv -f UTF-16 -t UTF-8` makes one)", inWords("UTF-16"));
  if (bytes[0] === 0x1f && bytes[1] === 0x8b)
    throw new InputError(name, "a text in UTF-8", inWords("compressed by gzip")).saying(
      `${name} is compressed by gzip; \`gunzip\` makes a file of it that can be read`,
    );
  if (BYS_MAGIC.every((byte, i) => bytes[i] === byte))
    throw new InputError(name, "a text in UTF-8", inWords("a .bys file")).saying(
      `${name} is a .bys file, and a text is wanted; \`banyan export ${name} --to json\` writes it as one`,
    );
  if (bytes.subarray(0, HEAD_BYTES).includes(0))
    throw new InputError(name, "a text in UTF-8", inWords("bytes that are no text"));
}

/** Returns the text that bytes are. `name` is the file's, for messages. Throws InputError where they are not UTF-8. */
export function utf8Text(bytes: Uint8Array, name: string): string {
  refuseNoText(bytes, name);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    const lines = text.slice(0, text.indexOf("\ufffd")).split("\n");
    const before = (lines.at(-1) as string).slice(-MOST_SHOWN);
    throw new InputError(`${name} line ${lines.length}`, "a text in UTF-8", `${before}\ufffd, not UTF-8`);
  }
}
