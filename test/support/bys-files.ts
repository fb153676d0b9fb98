import { expect } from "vitest";
import { scheduleBysParts } from "../../src/export/schedules/bys.ts";
import { bytesSource, readBys } from "../../src/import/schedules/bys.ts";
import { ENDS, FRAME_BYTES, PREFIX_BYTES } from "../../src/model/files/bys-format.ts";
import { crc32 } from "../../src/model/files/checksum.ts";
import type { PeriodSchedule } from "../../src/model/periods/period-schedule.ts";
import type { Schedule, SlotSchedule } from "../../src/model/slots/slot-schedule.ts";

/** `.bys` files in memory: made, read, and changed in ways that a writer would not. */

/** Returns the file of a schedule. */
export function joined(schedule: Schedule | PeriodSchedule, about?: Readonly<Record<string, unknown>>): Uint8Array {
  const parts = [...scheduleBysParts(schedule, about)];
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
/** Returns the schedule of a file called s.bys. */
export const read = (bytes: Uint8Array, options = {}): Schedule =>
  readBys(bytesSource(bytes), "s.bys", options) as Schedule;

/** Returns all that a slot schedule says, its rows decoded. */
export function contents({ row, ...rest }: SlotSchedule): unknown {
  return { ...rest, rows: Array.from({ length: rest.topology.npuCount }, (_, npu) => row(npu)) };
}

/** Reads a file to its end. */
export function readAll(bytes: Uint8Array): unknown {
  const schedule = read(bytes);
  return "slotPs" in schedule ? contents(schedule) : schedule;
}

/** A block, by its frame. */
export interface Found {
  readonly type: number;
  readonly at: number;
  readonly first: number;
  readonly count: number;
  readonly offset: number;
  readonly length: number;
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

/** Returns the blocks of a file as its frames have them, as far as they go. */
export function blocksOf(bytes: Uint8Array): Found[] {
  const view = viewOf(bytes);
  const found: Found[] = [];
  for (let at = PREFIX_BYTES + view.getUint32(12, true); at + FRAME_BYTES <= bytes.length; ) {
    const offset = at + FRAME_BYTES;
    const length = view.getUint32(at + 20, true);
    const first = Number(view.getBigUint64(at + 8, true));
    found.push({ type: view.getUint32(at, true), at, first, count: view.getUint32(at + 16, true), offset, length });
    at = offset + length;
  }
  return found;
}
/** Returns where the frame of a block begins. */
export const frameAt = (bytes: Uint8Array, number: number): number => blocksOf(bytes)[number].at;

/** Returns the file with one byte, number or time replaced. */
export function put(bytes: Uint8Array, at: number, value: number): Uint8Array {
  const changed = bytes.slice();
  changed[at] = value;
  return changed;
}
export function put32(bytes: Uint8Array, at: number, value: number): Uint8Array {
  const changed = bytes.slice();
  viewOf(changed).setUint32(at, value, true);
  return changed;
}
export function putTime(bytes: Uint8Array, at: number, value: number): Uint8Array {
  const changed = bytes.slice();
  viewOf(changed).setFloat64(at, value, true);
  return changed;
}
/** Returns the file with its first block once more. */
export function twice(bytes: Uint8Array): Uint8Array {
  const [{ at, offset, length }] = blocksOf(bytes);
  return Uint8Array.from([...bytes.slice(0, offset + length), ...bytes.slice(at)]);
}

/** Returns the file with a text of its header replaced. */
export function text(bytes: Uint8Array, from: string | RegExp, to: string): Uint8Array {
  const [{ at }] = blocksOf(bytes);
  const before = new TextDecoder().decode(bytes.subarray(PREFIX_BYTES, at));
  const after = before.replace(from, to);
  expect(after).not.toBe(before);
  const header = new TextEncoder().encode(after);
  const changed = Uint8Array.from([...bytes.subarray(0, PREFIX_BYTES), ...header, ...bytes.subarray(at)]);
  return put32(changed, 12, header.length);
}

/** Returns the file with all checksums, block numbers and the end block made right, as far as its frames can be followed. */
export function resealed(bytes: Uint8Array): Uint8Array {
  const sealed = bytes.slice();
  if (sealed.length < PREFIX_BYTES) return sealed;
  const view = viewOf(sealed);
  const end = PREFIX_BYTES + view.getUint32(12, true);
  if (end > sealed.length) return sealed;
  view.setUint32(16, crc32(sealed.subarray(PREFIX_BYTES, end), crc32(sealed.subarray(0, 16))), true);
  let frames = 0;
  let items = 0;
  for (const [number, { type, at, count, offset, length }] of blocksOf(sealed).entries()) {
    view.setUint32(at + 4, number, true);
    if (type === ENDS && offset + 24 <= sealed.length) {
      view.setBigUint64(at + 8, BigInt(items), true);
      view.setBigUint64(offset, BigInt(items), true);
      view.setBigUint64(offset + 8, BigInt(sealed.length), true);
      view.setUint32(offset + 16, number, true);
      view.setUint32(offset + 20, frames, true);
    }
    items += count;
    view.setUint32(at + 24, crc32(sealed.subarray(offset, offset + length)), true);
    view.setUint32(at + 28, crc32(sealed.subarray(at, at + 28)), true);
    frames = crc32(sealed.subarray(at, at + FRAME_BYTES), frames);
  }
  return sealed;
}
