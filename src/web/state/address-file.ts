import { InputError } from "../../base/errors.ts";
import type { GivenFile } from "../protocol.ts";

/** A file within an address: packed where it is small, else by what tells it from others. */

/** Characters of packed data that an address takes; mail and chat cut longer links. */
const MOST_PACKED = 12 * 1024;
/** Bytes that may be packed or unpacked: a small packed text can stand for gigabytes. */
const MOST_BYTES = 8 * 2 ** 20;
/** Bytes of a file that are hashed at once: the page stays awake between. */
const HASHED_AT_ONCE = 2 ** 20;

/** Marks what is not data: "." is no digit of base64url. */
const KEPT = "kept.";

/** What an address says of a file: all of it, or which it is. */
export type FileMention = { readonly given: GivenFile } | { readonly name: string; readonly fingerprint: string };

const packs = new WeakMap<Blob, Promise<string>>();

/** Returns a file as it stands in an address: "NAME~DATA", or "NAME~kept.FINGERPRINT" where it is too large. */
export function packFile({ name, content }: GivenFile): Promise<string> {
  let tail = packs.get(content);
  if (tail === undefined) {
    tail = tailOf(content);
    packs.set(content, tail);
  }
  return tail.then((text) => `${name}~${text}`);
}

/** Whether a packed file holds only the fingerprint. */
export const isOnlyMentioned = (packed: string): boolean => packed.includes(`~${KEPT}`);

async function tailOf(content: Blob): Promise<string> {
  if (content.size <= MOST_BYTES && "CompressionStream" in globalThis) {
    const bytes = await bytesOf(content.stream().pipeThrough(new CompressionStream("deflate-raw")), MOST_PACKED);
    if (bytes !== null) {
      const text = textOfBytes(bytes);
      if (text.length <= MOST_PACKED) return text;
    }
  }
  return KEPT + (await fingerprintOf(content));
}

/** Returns what an address says of a file. Throws InputError. */
export async function unpackFile(packed: string): Promise<FileMention> {
  const cut = packed.lastIndexOf("~");
  const [name, data] = [packed.slice(0, cut), packed.slice(cut + 1)];
  const refuse = (expected: string): never => {
    throw new InputError("the file of the address", expected, packed);
  };
  if (cut < 1 || data === "") return refuse('a name, "~" and data');
  if (data.startsWith(KEPT)) return { name, fingerprint: data.slice(KEPT.length) };
  const whole = "undamaged data (a link that was cut short?)";
  const bytes = bytesOfText(data) ?? refuse(whole);
  if (!("DecompressionStream" in globalThis)) return refuse("a browser that unpacks it");
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const content = await bytesOf(unpacked, MOST_BYTES).catch(() => refuse(whole));
  return { given: { name, content: new Blob([content ?? refuse(`at most ${MOST_BYTES / 2 ** 20} MiB`)]) } };
}

/** Returns what tells a file from others of its name: its length and a hash of its bytes, "4f2-9a0c3d17". */
export async function fingerprintOf(content: Blob): Promise<string> {
  let hash = 0x811c9dc5;
  for (let at = 0; at < content.size; at += HASHED_AT_ONCE) {
    const bytes = new Uint8Array(await content.slice(at, at + HASHED_AT_ONCE).arrayBuffer());
    for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  }
  return `${content.size.toString(16)}-${(hash >>> 0).toString(16).padStart(8, "0")}`;
}

/** Returns all bytes of a stream; null where there are more than `most`. */
async function bytesOf(stream: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array<ArrayBuffer> | null> {
  const reader = stream.getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      void reader.cancel().catch(() => undefined);
      return null;
    }
    parts.push(value as Uint8Array<ArrayBuffer>);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

function textOfBytes(bytes: Uint8Array): string {
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function bytesOfText(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[\w-]+$/.test(text) || text.length % 4 === 1) return null;
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (letter) => letter.charCodeAt(0));
}
