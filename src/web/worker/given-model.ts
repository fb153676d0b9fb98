import { utf8Text } from "../../import/text/utf8.ts";
import { readHuggingFace } from "../../import/workloads/hugging-face.ts";
import type { Model } from "../../model/workload/models.ts";

/** Returns the model of Hugging Face's config.json. Throws InputError for one that it does not know. */
export function configuredModel(bytes: Uint8Array, fileName: string): Model {
  const config = readHuggingFace(utf8Text(bytes, fileName), fileName);
  return { name: config.name, aliases: [], source: fileName, sizes: { kind: "transformer", config } };
}

/** Returns a number that tells a file from others of its name and length. O(bytes). */
export const fingerprintOf = (bytes: Uint8Array): number =>
  bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5) >>> 0;
