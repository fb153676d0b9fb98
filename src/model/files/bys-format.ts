import { type IndexColumn, indexColumn } from "../steps/step-schedule.ts";

/**
 * What writer and reader of `.bys` files share (FORMATS.md): numbers of the format, and where the columns of a block lie. All
 * numbers are little-endian, columns start at multiples of 8 bytes.
 *
 * file  = magic [8], version u32, length of header u32, CRC-32 of all before and of the header u32, header (JSON), blocks
 * block = frame [32], payload; frame = type u32, block number u32, first row, NPU or tree u64, how many u32, length of payload u32,
 *         CRC-32 of payload u32, CRC-32 of the 28 bytes before u32
 * The last block is of type "ENDS": rows, NPUs or trees u64, bytes of the file u64, blocks before u32, CRC-32 of their frames u32.
 */
export const BYS_MAGIC: readonly number[] = [0x89, 0x42, 0x59, 0x53, 0x0d, 0x0a, 0x1a, 0x0a];
export const BYS_VERSION = 1;
/** Before the header. */
export const PREFIX_BYTES = 20;
export const FRAME_BYTES = 32;
export const END_BYTES = 24;
/** Longest payload. */
export const MOST_PAYLOAD = 2 ** 26;
/** Longest header: what a JavaScript text can hold. */
export const MOST_HEADER = 2 ** 29 - 25;

/** Four letters as they stand in the file. */
const letters = (text: string): number => [...text].reduce((sum, c, i) => sum + c.charCodeAt(0) * 256 ** i, 0);
/** Rows of a step schedule. */
export const ROWS = letters("ROWS");
/** Arrival logs of consecutive NPUs. */
export const LOGS = letters("LOGS");
/** Consecutive trees of periods. */
export const TREE = letters("TREE");
export const ENDS = letters("ENDS");

/** Typed arrays are the file's bytes only on such a machine. */
export const LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Returns bytes with what fills them up to a multiple of 8. */
export const padded = (bytes: number): number => Math.ceil(bytes / 8) * 8;

/** Returns the bytes of a number in a column for 0 .. maximum. */
export const widthFor = (maximum: number): number => indexColumn(0, maximum).BYTES_PER_ELEMENT;

/** Returns where the columns of a ROWS payload begin: startPs, endPs, chunk, route, op; `length` is where it ends. */
export function rowsLayout(
  rows: number,
  chunkWidth: number,
  routeWidth: number,
): { endPs: number; chunk: number; route: number; op: number; length: number } {
  const endPs = rows * 8;
  const chunk = endPs + rows * 8;
  const route = chunk + padded(rows * chunkWidth);
  const op = route + padded(rows * routeWidth);
  return { endPs, chunk, route, op, length: op + padded(rows) };
}

/** Returns where the columns of a LOGS payload begin: bytes of ports of each NPU (u32), chunks, ports. */
export function logsLayout(npus: number, chunkCount: number, chunkWidth: number): { chunk: number; ports: number } {
  const chunk = padded(npus * 4);
  return { chunk, ports: chunk + padded(npus * chunkCount * chunkWidth) };
}

/** Returns whether starts of so many ticks are kept in 4 bytes each (u32), and not in 8 (f64). */
export const areShortTicks = (lastTick: number): boolean => lastTick < 2 ** 32;

/** Returns where the ports of a TREE payload begin, behind two starts a place (ticks); `length` is where it ends. */
export function treesLayout(places: number, portWidth: number, lastTick: number): { port: number; length: number } {
  const port = 2 * places * (areShortTicks(lastTick) ? 4 : 8);
  return { port, length: padded(port + places * portWidth) };
}

/** Returns a view of `length` starts in ticks. `at` must be a multiple of 8 in the buffer. */
export const ticksView = (
  buffer: ArrayBufferLike,
  at: number,
  length: number,
  lastTick: number,
): Uint32Array | Float64Array =>
  areShortTicks(lastTick) ? new Uint32Array(buffer, at, length) : new Float64Array(buffer, at, length);

/** Returns a view of `length` numbers of a column for 0 .. maximum. `at` must be a multiple of 4 in the buffer. */
export function indexView(buffer: ArrayBufferLike, at: number, length: number, maximum: number): IndexColumn {
  switch (widthFor(maximum)) {
    case 1:
      return new Uint8Array(buffer, at, length);
    case 2:
      return new Uint16Array(buffer, at, length);
    default:
      return new Int32Array(buffer, at, length);
  }
}
