import { InputError } from "../../base/errors.ts";
import { aboutBytes } from "../../model/steps/estimate.ts";
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
