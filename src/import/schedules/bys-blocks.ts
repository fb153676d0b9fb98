import { DamagedFileError, InputError } from "../../base/errors.ts";
import {
  BYS_MAGIC,
  BYS_VERSION,
  END_BYTES,
  ENDS,
  FRAME_BYTES,
  LITTLE_ENDIAN,
  LOGS,
  MOST_HEADER,
  MOST_PAYLOAD,
  PREFIX_BYTES,
  ROWS,
} from "../../model/files/bys-format.ts";
import { crc32 } from "../../model/files/checksum.ts";
import { parseJson } from "../text/json-text.ts";
import { refuse } from "../text/json-value.ts";

/** A file, or bytes in memory, that is read in parts. */
export interface ByteSource {
  readonly size: number;
  /** Returns `length` bytes from `offset` on, in memory that nobody writes to again; fewer where the file has become shorter. */
  read(offset: number, length: number): Uint8Array;
}

/** Returns the source of bytes in memory. */
export const bytesSource = (bytes: Uint8Array): ByteSource => ({
  size: bytes.length,
  read: (offset, length) => bytes.slice(offset, offset + length),
});

/** A block whose frame is checked, and its payload not yet. */
export interface BysBlock {
  readonly number: number;
  readonly type: number;
  /** First row or NPU, and how many. */
  readonly first: number;
  readonly count: number;
  /** Of the payload. */
  readonly offset: number;
  readonly length: number;
  readonly checksum: number;
}

/** More blocks than this are refused: 16 TiB of blocks as our writer makes them. */
const MOST_BLOCKS = 2 ** 20;

/**
 * Returns whether a file begins like a `.bys` file, or like one that was damaged by a transfer that took it for text (7 bits a
 * character, or another encoding).
 */
export function looksLikeBys(head: Uint8Array): boolean {
  return [0x89, 0x09, 0xc2, 0xef].includes(head[0]) && String.fromCharCode(...head.subarray(1, 6)).includes("BYS");
}

/** Returns the header of a `.bys` file as parsed JSON, and where the blocks begin. Throws InputError, DamagedFileError. */
export function bysHeader(source: ByteSource, fileName: string): { readonly value: unknown; readonly end: number } {
  if (!LITTLE_ENDIAN) throw new InputError("this machine", "one with little-endian numbers to read .bys files");
  const prefix = source.read(0, Math.min(PREFIX_BYTES, source.size));
  if (!BYS_MAGIC.every((byte, i) => i >= prefix.length || prefix[i] === byte) || prefix.length === 0) {
    if (looksLikeBys(prefix)) throw new DamagedFileError(fileName, "its first bytes are those of a transfer as text");
    refuse(fileName, "a .bys schedule file", prefix.length === 0 ? undefined : "another kind of file");
  }
  if (prefix.length < PREFIX_BYTES) throw new DamagedFileError(fileName, `it ends after ${source.size} bytes`);
  const view = viewOf(prefix);
  const version = view.getUint32(8, true);
  if (version !== BYS_VERSION) {
    throw new InputError(`${fileName}: version`, `version ${BYS_VERSION}, the only one this program reads,`, version);
  }
  const length = view.getUint32(12, true);
  const end = PREFIX_BYTES + length;
  if (end > source.size || length > MOST_HEADER) {
    throw new DamagedFileError(fileName, `it ends within its header, after ${source.size} bytes`);
  }
  const json = source.read(PREFIX_BYTES, length);
  if (json.length !== length || crc32(json, crc32(prefix.subarray(0, 16))) !== view.getUint32(16, true)) {
    throw new DamagedFileError(`the header of ${fileName}`, "its checksum does not match");
  }
  return { value: parseJson(new TextDecoder().decode(json), fileName), end };
}

/**
 * Returns the blocks from `from` on, all of them of `type`, one after the other without a gap. Only frames are read: what they
 * say is checked by their checksums, against the file's size and against the end block. Throws DamagedFileError for a file
 * that is cut short or changed, InputError for one whose writer was wrong. O(blocks).
 */
export function bysBlocks(source: ByteSource, fileName: string, from: number, type: number): readonly BysBlock[] {
  const blocks: BysBlock[] = [];
  let offset = from;
  let items = 0;
  let frames = 0;
  for (;;) {
    const { frame, block } = readFrame(source, fileName, offset, blocks.length);
    const place = `block ${block.number} of ${fileName}`;
    offset = block.offset + block.length;
    if (block.first !== items) throw new InputError(place, `what follows ${items}`, block.first);
    if (block.type === ENDS) {
      checkEnd(source, fileName, block, blocks.length, frames);
      return blocks;
    }
    if (block.type !== type) throw new InputError(place, `type ${nameOf(type)}`, nameOf(block.type));
    if (block.count < 1) throw new InputError(place, "at least one row or NPU", block.count);
    if (blocks.length === MOST_BLOCKS) throw new InputError(fileName, `at most ${MOST_BLOCKS} blocks`, "more");
    items += block.count;
    frames = crc32(frame, frames);
    blocks.push(block);
  }
}

/**
 * Returns the payload of a block, its checksum checked: at every call, because what is read again may have changed. Throws
 * DamagedFileError.
 */
export function bysPayload(source: ByteSource, fileName: string, block: BysBlock): Uint8Array<ArrayBuffer> {
  const bytes = source.read(block.offset, block.length);
  if (bytes.length !== block.length) {
    throw new DamagedFileError(describe(block, fileName), `the file has ended at byte ${block.offset + bytes.length}`);
  }
  if (crc32(bytes) !== block.checksum) {
    throw new DamagedFileError(describe(block, fileName), "its checksum does not match");
  }
  // Columns are views, which must begin at multiples of 8.
  return (
    bytes.byteOffset % 8 === 0 && bytes.buffer instanceof ArrayBuffer ? bytes : bytes.slice()
  ) as Uint8Array<ArrayBuffer>;
}

/** Returns "block 12 of big.bys (NPUs 4470 to 5214)". */
export function describe({ number, type, first, count }: BysBlock, fileName: string): string {
  const items = type === LOGS ? "NPU" : type === ROWS ? "row" : "";
  if (items === "") return `block ${number} of ${fileName}`;
  return `block ${number} of ${fileName} (${count === 1 ? `${items} ${first}` : `${items}s ${first} to ${first + count - 1}`})`;
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

const nameOf = (type: number): string =>
  String.fromCharCode(type & 255, (type >>> 8) & 255, (type >>> 16) & 255, type >>> 24);

function readFrame(
  source: ByteSource,
  fileName: string,
  offset: number,
  number: number,
): { readonly frame: Uint8Array; readonly block: BysBlock } {
  const frame = source.read(offset, Math.max(0, Math.min(FRAME_BYTES, source.size - offset)));
  if (frame.length < FRAME_BYTES) {
    throw new DamagedFileError(fileName, `it ends after ${source.size} bytes, before its end block`);
  }
  const place = `block ${number} of ${fileName}`;
  const view = viewOf(frame);
  if (crc32(frame.subarray(0, 28)) !== view.getUint32(28, true)) {
    throw new DamagedFileError(place, "the checksum of its frame does not match");
  }
  const written = view.getUint32(4, true);
  if (written !== number) throw new DamagedFileError(place, `it is block ${written}`);
  const block: BysBlock = {
    number,
    type: view.getUint32(0, true),
    first: Number(view.getBigUint64(8, true)),
    count: view.getUint32(16, true),
    offset: offset + FRAME_BYTES,
    length: view.getUint32(20, true),
    checksum: view.getUint32(24, true),
  };
  if (block.length > MOST_PAYLOAD) throw new InputError(place, `at most ${MOST_PAYLOAD} bytes`, block.length);
  if (block.offset + block.length > source.size) {
    throw new DamagedFileError(fileName, `it ends after ${source.size} bytes, within ${describe(block, "it")}`);
  }
  return { frame, block };
}

/** Checks the end block against what came before it. */
function checkEnd(source: ByteSource, fileName: string, end: BysBlock, blocks: number, frames: number): void {
  if (end.length !== END_BYTES) throw new InputError(`the end of ${fileName}`, `${END_BYTES} bytes`, end.length);
  const view = viewOf(bysPayload(source, fileName, end));
  const fileEnd = end.offset + end.length;
  const right =
    end.count === 0 &&
    view.getBigUint64(0, true) === BigInt(end.first) &&
    view.getBigUint64(8, true) === BigInt(fileEnd) &&
    view.getUint32(16, true) === blocks &&
    view.getUint32(20, true) === frames;
  if (!right) throw new DamagedFileError(fileName, "its blocks are not those that its end block counts");
  if (fileEnd !== source.size) {
    throw new DamagedFileError(fileName, `${source.size - fileEnd} bytes follow its end block`);
  }
}
