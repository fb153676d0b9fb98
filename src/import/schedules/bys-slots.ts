import { InputError } from "../../base/errors.ts";
import { indexView, LOGS, logsLayout, padded, widthFor } from "../../model/files/bys-format.ts";
import {
  type ArrivalLog,
  mirrorRoutes,
  portBytes,
  portsOf,
  type SlotPass,
  type SlotSchedule,
} from "../../model/slots/slot-schedule.ts";
import type { ScheduleHeader } from "../../model/steps/schedule.ts";
import { translatedSchedule } from "../../model/symmetry/translated-rows.ts";
import { isTranslationInvariant } from "../../model/symmetry/translation.ts";
import { asInteger, asList, asObject, fillIntegers, placeIn, refuse } from "../text/json-value.ts";
import { type BysBlock, type ByteSource, bysBlocks, bysPayload, describe } from "./bys-blocks.ts";

interface SlotFields {
  readonly slotPs?: unknown;
  readonly count?: unknown;
  readonly passes?: unknown;
  readonly symmetry?: unknown;
  readonly origin?: unknown;
}

/** What the header says of the logs. */
interface SlotHeader extends ScheduleHeader {
  readonly slotPs: number;
  readonly slots: number;
  readonly passes: readonly SlotPass[];
  readonly symmetry: readonly number[] | null;
  readonly origin: Int32Array;
}

/** More slots or passes than this are refused: consumers keep numbers for each. A log of a slot a byte is no longer. */
const MOST_SLOTS = 2 ** 26;
const MOST_PASSES = 16;

/**
 * Returns the slot schedule whose arrival logs are in the blocks from `from` on. `row` reads them block by block and keeps
 * blocks of about `cacheBytes` in all; those used last stay, and what was handed out stays valid. Throws InputError and
 * DamagedFileError, here for what the header and the frames show, later from `row` for what is in a block.
 */
export function slotsFromBlocks(
  source: ByteSource,
  fileName: string,
  from: number,
  header: ScheduleHeader,
  slots: unknown,
  cacheBytes: number,
): SlotSchedule {
  const given = slotHeader(header, slots, fileName);
  const blocks = bysBlocks(source, fileName, from, LOGS);
  const npus = given.symmetry === null ? given.topology.npuCount : 1;
  const found = blocks.reduce((sum, { count }) => sum + count, 0);
  if (found !== npus) throw new InputError(`the blocks of ${fileName}`, `${npus} arrival logs`, found);
  const { collective, routes, topology } = given;
  const width = widthFor(collective.chunkCount - 1);
  for (const block of blocks) {
    const least = logsLayout(block.count, collective.chunkCount, width).ports;
    if (block.length < least) {
      throw new InputError(describe(block, fileName), `at least ${least} bytes for its logs`, block.length);
    }
  }
  if (given.passes.some(({ reversed }) => reversed) && mirrorRoutes(routes, topology.npuCount) === null) {
    throw new InputError(placeIn(fileName, "slots.passes"), "no reversed pass where a route has no mirror", "one");
  }
  const { symmetry, origin, ...time } = given;
  const row = rowReader(source, fileName, given, blocks, cacheBytes);
  if (symmetry === null) return { kind: "slots", ...given, row };
  const chunksPerNpu = collective.chunkCount / topology.npuCount;
  return translatedSchedule({ topology, routes, sizes: symmetry, chunksPerNpu, row: row(0) }, collective, time);
}

function slotHeader(header: ScheduleHeader, value: unknown, fileName: string): SlotHeader {
  const { topology, collective, routes } = header;
  const at = (key: string): string => placeIn(fileName, `slots.${key}`);
  const fields = asObject<SlotFields>(value, placeIn(fileName, "slots"));
  const slots = asInteger(fields.count, at("count"), 0, MOST_SLOTS);
  const passes = asList(fields.passes, at("passes")).map((entry, i): SlotPass => {
    const { reversed, reduces } = asObject<{ reversed?: unknown; reduces?: unknown }>(entry, at(`passes[${i}]`));
    if (typeof reversed !== "boolean") refuse(at(`passes[${i}].reversed`), "true or false", reversed);
    if (typeof reduces !== "boolean") refuse(at(`passes[${i}].reduces`), "true or false", reduces);
    return { reversed, reduces };
  });
  if (passes.length < 1 || passes.length > MOST_PASSES) {
    throw new InputError(at("passes"), `1 to ${MOST_PASSES} passes`, passes.length);
  }
  const most = Math.floor(Number.MAX_SAFE_INTEGER / Math.max(1, slots * passes.length));
  const slotPs = asInteger(fields.slotPs, at("slotPs"), 1, most);
  const list = asList(fields.origin, at("origin"));
  if (list.length !== collective.chunkCount) {
    throw new InputError(at("origin"), `${collective.chunkCount} NPUs, one a chunk,`, list.length);
  }
  const origin = new Int32Array(list.length);
  fillIntegers(list, origin, at("origin"), 0, topology.npuCount - 1);
  if (fields.symmetry === null) return { topology, collective, routes, slotPs, slots, passes, origin, symmetry: null };
  const symmetry = asList(fields.symmetry, at("symmetry"), "null or a list of sizes").map((size, i) =>
    asInteger(size, at(`symmetry[${i}]`), 1, topology.npuCount),
  );
  if (!isTranslationInvariant(topology, routes, symmetry)) {
    throw new InputError(at("symmetry"), `sizes under whose translations ${topology.name} does not change`, symmetry);
  }
  const perNpu = collective.chunkCount / topology.npuCount;
  if (!Number.isInteger(perNpu) || origin.some((npu, c) => npu !== Math.floor(c / perNpu))) {
    throw new InputError(at("origin"), `${perNpu} chunks at each NPU in their order, as a symmetry needs,`, "others");
  }
  return { topology, collective, routes, slotPs, slots, passes, origin, symmetry };
}

/** A block in memory. */
interface LogBlock {
  readonly payload: Uint8Array<ArrayBuffer>;
  /** [count + 1] where the ports of each NPU begin in the payload. */
  readonly ports: Uint32Array;
}

function rowReader(
  source: ByteSource,
  fileName: string,
  header: SlotHeader,
  blocks: readonly BysBlock[],
  cacheBytes: number,
): (npu: number) => ArrivalLog {
  const { topology, collective, routes, slots } = header;
  const { chunkCount } = collective;
  const width = widthFor(chunkCount - 1);
  const ports = portsOf(routes, topology.npuCount);
  const portCount = (npu: number): number => ports.offset[npu + 1] - ports.offset[npu];
  const held = new Int32Array(topology.npuCount);
  for (const npu of header.origin) held[npu]++;
  const blockOf = new Int32Array(topology.npuCount);
  for (const { first, count, number } of blocks) blockOf.fill(number, first, first + count);
  /** In order of last use. */
  const kept = new Map<number, LogBlock>();
  let bytes = 0;

  const logAt = ({ payload, ports: begin }: LogBlock, { first, count }: BysBlock, npu: number): ArrivalLog => {
    const from = payload.byteOffset + logsLayout(count, chunkCount, width).chunk + (npu - first) * chunkCount * width;
    const chunk = indexView(payload.buffer, from, chunkCount, chunkCount - 1);
    return { chunk, ports: payload.subarray(begin[npu - first], begin[npu - first + 1]) };
  };

  const load = (block: BysBlock): LogBlock => {
    const payload = bysPayload(source, fileName, block);
    const place = describe(block, fileName);
    const lengths = new Uint32Array(payload.buffer, payload.byteOffset, block.count);
    const begin = new Uint32Array(block.count + 1);
    let end = logsLayout(block.count, chunkCount, width).ports;
    for (let i = 0; i < block.count; i++) {
      const most = slots * portBytes(portCount(block.first + i));
      if (lengths[i] > Math.min(most, payload.length - end)) {
        throw new InputError(`${place}, NPU ${block.first + i}`, `ports of at most ${most} bytes`, lengths[i]);
      }
      begin[i] = end;
      end += lengths[i];
    }
    begin[block.count] = end;
    if (padded(end) !== payload.length) throw new InputError(place, `${padded(end)} bytes`, payload.length);
    const loaded = { payload, ports: begin };
    for (let npu = block.first; npu < block.first + block.count; npu++) {
      const mistake = mistakeIn(logAt(loaded, block, npu), chunkCount, held[npu], portCount(npu));
      if (mistake !== null) throw new InputError(`${place}, NPU ${npu}`, mistake.expected, mistake.received);
    }
    return loaded;
  };

  return (npu) => {
    const block = blocks[blockOf[npu]];
    const found = kept.get(block.number);
    const loaded = found ?? load(block);
    if (found !== undefined) kept.delete(block.number);
    else bytes += block.length;
    kept.set(block.number, loaded);
    for (const oldest of kept.keys()) {
      if (bytes <= cacheBytes || oldest === block.number) break;
      kept.delete(oldest);
      bytes -= blocks[oldest].length;
    }
    return logAt(loaded, block, npu);
  };
}

/**
 * Returns what is wrong with the form of a log: chunks that do not exist, ports that do not exist, more or fewer arrivals than
 * chunks, empty slots at the end. Whether it does its work is the verifier's question. O(chunks + slots).
 */
function mistakeIn(
  { chunk, ports }: ArrivalLog,
  chunkCount: number,
  held: number,
  portCount: number,
): { readonly expected: string; readonly received: number } | null {
  for (let i = 0; i < chunk.length; i++) {
    if (chunk[i] < chunkCount && chunk[i] >= 0) continue;
    return { expected: `chunks below ${chunkCount}`, received: chunk[i] };
  }
  const bytes = portBytes(portCount);
  if (ports.length === 0) {
    return held === chunkCount ? null : { expected: `${chunkCount - held} arrivals`, received: 0 };
  }
  if (ports.length % bytes !== 0) return { expected: `whole slots of ${bytes} bytes`, received: ports.length };
  let arrivals = 0;
  let last = 0;
  const most = portCount % 8 === 0 ? 255 : (1 << (portCount % 8)) - 1;
  for (let i = 0, b = 0; i < ports.length; i++) {
    const bits = ports[i];
    if (++b === bytes) {
      b = 0;
      if (bits > most)
        return { expected: `ports below ${portCount}`, received: 31 - Math.clz32(bits) + (bytes - 1) * 8 };
    }
    arrivals += ONES[bits];
    if (bits !== 0) last = i;
  }
  if (arrivals !== chunkCount - held) return { expected: `${chunkCount - held} arrivals`, received: arrivals };
  if (last < ports.length - bytes) return { expected: "an arrival in the last slot", received: 0 };
  return null;
}

/** [256] ones in a byte. */
const ONES = new Uint8Array(256);
for (let byte = 1; byte < 256; byte++) ONES[byte] = ONES[byte >>> 1] + (byte & 1);
