import { InputError } from "../../errors.ts";
import { aboutBytes } from "../../model/estimate.ts";
import type { GivenFile } from "../protocol.ts";

/** Larger files are for the command line, which reads them in parts. */
const MOST_BYTES = 2 ** 28;

/** Returns the bytes of a file. Throws InputError for one that is too large or cannot be read. */
export async function bytesOf({ name, content }: GivenFile): Promise<Uint8Array> {
  if (content.size > MOST_BYTES) {
    const most = `a file of at most ${aboutBytes(MOST_BYTES)} (the command line reads larger ones)`;
    throw new InputError(name, most, aboutBytes(content.size));
  }
  try {
    return new Uint8Array(await content.arrayBuffer());
  } catch (error) {
    throw new InputError(name, "a file that can be read", (error as Error).message);
  }
}

/** Whether bytes are of UTF-16: they begin with its mark, or with one zero in two bytes. */
function isUtf16([first = 1, second = 1]: Uint8Array): boolean {
  return (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff) || (first === 0) !== (second === 0);
}

/** Returns the text that bytes are. Throws InputError, which names the place, where they are not UTF-8. */
export function textIn(bytes: Uint8Array, name: string): string {
  if (isUtf16(bytes)) throw new InputError(name, "a text in UTF-8", "UTF-16");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    const lines = text.slice(0, text.indexOf("\ufffd")).split("\n");
    const before = (lines.at(-1) as string).slice(-20);
    throw new InputError(`${name} line ${lines.length}`, "a text in UTF-8", `${before}\ufffd, not UTF-8`);
  }
}

/** Returns a file's text. Throws InputError as bytesOf and textIn do. */
export const textOfFile = async (file: GivenFile): Promise<string> => textIn(await bytesOf(file), file.name);
