import { DamagedFileError, InputError, inWords } from "../../base/errors.ts";
import {
  BYS_MAGIC,
  BYS_VERSION,
  END_BYTES,
  ENDS,
  FRAME_BYTES,
  indexView,
  LITTLE_ENDIAN,
  LOGS,
  logsLayout,
  MOST_HEADER,
  MOST_PAYLOAD,
  PREFIX_BYTES,
  padded,
  ROWS,
  rowsLayout,
  TREE,
  ticksView,
  treesLayout,
  widthFor,
} from "../../model/files/bys-format.ts";
import { crc32 } from "../../model/files/checksum.ts";
import { edgeEnds, mostEnds, type PeriodSchedule } from "../../model/periods/period-schedule.ts";
import { routeCount } from "../../model/routes/routes.ts";
import { foldedRows } from "../../model/slots/folded-rows.ts";
import {
  type ArrivalLog,
  mirrorRoutes,
  portBytes,
  portsOf,
  type Schedule,
  type SlotPass,
  type SlotSchedule,
} from "../../model/slots/slot-schedule.ts";
import type { ScheduleHeader } from "../../model/steps/schedule.ts";
import { indexColumn, inRowOrder, OP_REDUCE, type StepSchedule } from "../../model/steps/step-schedule.ts";
import { groupOf, leastNpus, mostMaps } from "../../model/symmetry/fold.ts";
import { isTranslationInvariant, translatedSchedule } from "../../model/symmetry/translation.ts";
import type { Topology } from "../../model/topology/topology.ts";
import {
  asInteger,
  asList,
  asObject,
  fillIntegers,
  type JsonFields,
  parseJson,
  placeIn,
  refuse,
} from "../text/json.ts";
import { periodFrame } from "./periods-json.ts";
import { embeddedTopology, type ReadScheduleOptions, scheduleHeaderFromJson } from "./schedule-header.ts";

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
interface BysBlock {
  readonly number: number;
  readonly type: number;
  /** First row, NPU or tree, and how many. */
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
function bysHeader(source: ByteSource, fileName: string): { readonly value: unknown; readonly end: number } {
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
function bysBlocks(source: ByteSource, fileName: string, from: number, type: number): readonly BysBlock[] {
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
    if (block.count < 1) throw new InputError(place, "at least one row, NPU or tree", block.count).as("out-of-range");
    if (blocks.length === MOST_BLOCKS)
      throw new InputError(fileName, `at most ${MOST_BLOCKS} blocks`, inWords("more")).as("out-of-range");
    items += block.count;
    frames = crc32(frame, frames);
    blocks.push(block);
  }
}

/**
 * Returns the payload of a block, its checksum checked: at every call, because what is read again may have changed. Throws
 * DamagedFileError.
 */
function bysPayload(source: ByteSource, fileName: string, block: BysBlock): Uint8Array<ArrayBuffer> {
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

/** Returns "block 12 of big.bys (logs 4470 to 5214)". */
function describe({ number, type, first, count }: BysBlock, fileName: string): string {
  const items = type === LOGS ? "log" : type === ROWS ? "row" : type === TREE ? "tree" : "";
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
  if (block.length > MOST_PAYLOAD)
    throw new InputError(place, `at most ${MOST_PAYLOAD} bytes`, block.length).as("out-of-range");
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

interface ReadBysOptions extends ReadScheduleOptions {
  /** Blocks of arrival logs of about this many bytes are kept in memory; 1 GiB without it. */
  readonly cacheBytes?: number;
}

/**
 * Returns the schedule of a `.bys` file (version 1, FORMATS.md), on the network inside the file. Rows of a step schedule
 * and trees of periods are read at once; logs of a slot schedule when they are asked for, so the source must stay open. Everything that a schedule is
 * made of is checked, lengths before anything is allocated; whether it does its work is the verifier's question. Throws
 * InputError with the place in the file, and DamagedFileError where a checksum does not match or the file is cut short.
 */
export function readBys(source: ByteSource, fileName: string, options: ReadBysOptions = {}): Schedule | PeriodSchedule {
  const { value, end } = bysHeader(source, fileName);
  const header = scheduleHeaderFromJson(value, fileName, options);
  const { slots, transfers, periods } = value as JsonFields<"slots" | "transfers" | "periods">;
  if (periods !== undefined) return periodsFromBlocks(source, fileName, end, header, periods);
  return slots === undefined
    ? stepsFromBlocks(source, fileName, end, header, transfers)
    : slotsFromBlocks(source, fileName, end, header, slots, options.cacheBytes ?? 2 ** 30);
}

/** Returns the network inside a `.bys` file, whose blocks are not looked at. Throws InputError, DamagedFileError. */
export function readBysTopology(source: ByteSource, fileName: string): Topology {
  return embeddedTopology(bysHeader(source, fileName).value, fileName);
}

/** Returns the step schedule whose rows are in the blocks from `from` on. Throws InputError, DamagedFileError. O(rows). */
function stepsFromBlocks(
  source: ByteSource,
  fileName: string,
  from: number,
  header: ScheduleHeader,
  transfers: unknown,
): StepSchedule {
  const place = placeIn(fileName, "transfers");
  const count = asInteger(asObject<{ count?: unknown }>(transfers, place).count, `${place}.count`, 0);
  const lastChunk = header.collective.chunkCount - 1;
  const lastRoute = routeCount(header.routes) - 1;
  const blocks = bysBlocks(source, fileName, from, ROWS);
  // Before anything of that size is built: every block is as long as its rows, and all lie within the file.
  for (const block of blocks) {
    const { length } = rowsLayout(block.count, widthFor(lastChunk), widthFor(lastRoute));
    if (block.length !== length) {
      throw new InputError(`block ${block.number} of ${fileName}`, `${length} bytes for its rows`, block.length);
    }
  }
  const rows = blocks.reduce((sum, block) => sum + block.count, 0);
  if (rows !== count) refuse(`${place}.count`, `${rows}, the rows of the blocks,`, count);

  const chunk = indexColumn(rows, lastChunk);
  const route = indexColumn(rows, lastRoute);
  const startPs = new Float64Array(rows);
  const endPs = new Float64Array(rows);
  const op = new Uint8Array(rows);
  for (const block of blocks) {
    const { buffer, byteOffset: at } = bysPayload(source, fileName, block);
    const lies = rowsLayout(block.count, widthFor(lastChunk), widthFor(lastRoute));
    startPs.set(new Float64Array(buffer, at, block.count), block.first);
    endPs.set(new Float64Array(buffer, at + lies.endPs, block.count), block.first);
    chunk.set(indexView(buffer, at + lies.chunk, block.count, lastChunk), block.first);
    route.set(indexView(buffer, at + lies.route, block.count, lastRoute), block.first);
    op.set(new Uint8Array(buffer, at + lies.op, block.count), block.first);
  }
  const schedule: StepSchedule = { ...header, chunk, route, startPs, endPs, op };
  checkRows(schedule, placeIn(fileName, "transfers"), lastChunk, lastRoute);
  return inRowOrder(schedule);
}

/** Checks every number of the columns, as the reader of JSON does. Throws InputError that names the first wrong one. */
function checkRows(schedule: StepSchedule, place: string, lastChunk: number, lastRoute: number): void {
  const { chunk, route, startPs, endPs, op } = schedule;
  for (let i = 0; i < chunk.length; i++) {
    const start = startPs[i];
    const end = endPs[i];
    const right =
      chunk[i] >= 0 &&
      chunk[i] <= lastChunk &&
      route[i] >= 0 &&
      route[i] <= lastRoute &&
      op[i] <= OP_REDUCE &&
      start >= 0 &&
      end >= start &&
      Number.isSafeInteger(start) &&
      Number.isSafeInteger(end);
    if (right) continue;
    asInteger(chunk[i], `${place}.chunk[${i}]`, 0, lastChunk);
    asInteger(route[i], `${place}.route[${i}]`, 0, lastRoute);
    asInteger(op[i], `${place}.op[${i}]`, 0, OP_REDUCE);
    asInteger(start, `${place}.startPs[${i}]`, 0);
    asInteger(end, `${place}.endPs[${i}]`, 0);
    throw new InputError(`${place}.endPs[${i}]`, `a time at or after startPs (${start})`, end);
  }
}

/** Returns the periods whose trees are in the blocks from `from` on. Throws InputError, DamagedFileError. O(places). */
function periodsFromBlocks(
  source: ByteSource,
  fileName: string,
  from: number,
  header: ScheduleHeader,
  value: unknown,
): PeriodSchedule {
  const { tickPs, ...frame } = periodFrame(header, value, fileName);
  const { trees, lastTick: last } = value as JsonFields<"trees" | "lastTick">;
  const at = (key: string): string => placeIn(fileName, `periods.${key}`);
  const count = asInteger(trees, at("trees"), 1);
  const lastTick = asInteger(last, at("lastTick"), 0, Math.floor(Number.MAX_SAFE_INTEGER / tickPs));
  const { npuCount } = header.topology;
  const { offset, items } = edgeEnds({ ...header, ...frame });
  const root = mostEnds({ offset, items });
  const blocks = bysBlocks(source, fileName, from, TREE);
  // before anything of that size is built
  for (const block of blocks) {
    const { length } = treesLayout(block.count * npuCount, widthFor(root), lastTick);
    if (block.length !== length)
      throw new InputError(describe(block, fileName), `${length} bytes for its trees`, block.length);
  }
  const found = blocks.reduce((sum, block) => sum + block.count, 0);
  if (found !== count) refuse(at("trees"), `${found}, the trees of the blocks,`, count);
  const entry = new Int32Array(count * npuCount);
  const startPs = new Float64Array(2 * entry.length);
  for (const block of blocks) {
    const { buffer, byteOffset } = bysPayload(source, fileName, block);
    const places = block.count * npuCount;
    const ticks = ticksView(buffer, byteOffset, 2 * places, lastTick);
    const port = indexView(buffer, byteOffset + treesLayout(places, widthFor(root), lastTick).port, places, root);
    for (let i = 0; i < places; i++) {
      const npu = i % npuCount;
      const place = block.first * npuCount + i;
      const isRoot = port[i] === root;
      const own = (): string => `${describe(block, fileName)}, tree ${(place - npu) / npuCount}, NPU ${npu}`;
      const end = offset[npu] + port[i];
      if (!isRoot && !(port[i] >= 0 && end < offset[npu + 1]))
        throw new InputError(own(), `a port below ${offset[npu + 1] - offset[npu]}, or ${root}`, port[i]);
      entry[place] = isRoot ? -1 : items[end] >> 1;
      for (const job of [2 * i - npu, 2 * i - npu + npuCount]) {
        const most = isRoot ? 0 : lastTick;
        if (!(ticks[job] >= 0 && ticks[job] <= most && Number.isInteger(ticks[job])))
          throw new InputError(
            own(),
            isRoot ? "starts of 0 ticks, as of a root," : `starts of 0 to ${most} ticks`,
            ticks[job],
          );
        startPs[2 * block.first * npuCount + job] = isRoot ? -1 : ticks[job] * tickPs;
      }
    }
  }
  return { ...header, ...frame, entry, startPs };
}

type SlotFields = JsonFields<"slotPs" | "count" | "passes" | "symmetry" | "origin">;

/** What the header says of the logs. */
interface SlotHeader extends ScheduleHeader {
  readonly slotPs: number;
  readonly slots: number;
  readonly passes: readonly SlotPass[];
  readonly symmetry: SlotSchedule["symmetry"];
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
function slotsFromBlocks(
  source: ByteSource,
  fileName: string,
  from: number,
  header: ScheduleHeader,
  slots: unknown,
  cacheBytes: number,
): SlotSchedule {
  const given = slotHeader(header, slots, fileName);
  const blocks = bysBlocks(source, fileName, from, LOGS);
  const npus = npusOfLogs(given);
  const found = blocks.reduce((sum, { count }) => sum + count, 0);
  if (found !== npus.length) throw new InputError(`the blocks of ${fileName}`, `${npus.length} arrival logs`, found);
  const { collective, routes, topology } = given;
  const width = widthFor(collective.chunkCount - 1);
  for (const block of blocks) {
    const least = logsLayout(block.count, collective.chunkCount, width).ports;
    if (block.length < least) {
      throw new InputError(describe(block, fileName), `at least ${least} bytes for its logs`, block.length).as(
        "out-of-range",
      );
    }
  }
  if (given.passes.some(({ reversed }) => reversed) && mirrorRoutes(routes, topology.npuCount) === null) {
    throw new InputError(
      placeIn(fileName, "slots.passes"),
      "no reversed pass where a route has no mirror",
      inWords("one"),
    );
  }
  const { symmetry, origin, ...time } = given;
  const row = rowReader(source, fileName, given, { npus, blocks }, cacheBytes);
  if (symmetry === null) return { kind: "slots", ...given, row };
  if ("generators" in symmetry) {
    const folded = foldedRows(given, symmetry.generators, row);
    if (folded !== null) return { kind: "slots", ...given, row: folded };
    const expected = `maps of ${topology.name} onto itself, with the same chunks at all images of an NPU,`;
    throw new InputError(placeIn(fileName, "slots.symmetry.maps"), expected, inWords("others"));
  }
  const chunksPerNpu = collective.chunkCount / topology.npuCount;
  return translatedSchedule({ topology, routes, sizes: symmetry, chunksPerNpu, row: row(0) }, collective, time);
}

/** Returns the NPUs whose logs are in the blocks, in their order. */
function npusOfLogs({ symmetry, topology }: SlotHeader): Int32Array {
  const { npuCount } = topology;
  if (symmetry !== null && "generators" in symmetry) return leastNpus(groupOf(symmetry.generators, npuCount), npuCount);
  return Int32Array.from({ length: symmetry === null ? npuCount : 1 }, (_, npu) => npu);
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
  if (!Array.isArray(fields.symmetry)) {
    const generators = mapsFrom(fields.symmetry, at("symmetry"), topology.npuCount);
    return { topology, collective, routes, slotPs, slots, passes, origin, symmetry: { generators } };
  }
  const symmetry = asList(fields.symmetry, at("symmetry")).map((size, i) =>
    asInteger(size, at(`symmetry[${i}]`), 1, topology.npuCount),
  );
  if (!isTranslationInvariant(topology, routes, symmetry)) {
    throw new InputError(at("symmetry"), `sizes under whose translations ${topology.name} does not change`, symmetry);
  }
  const perNpu = collective.chunkCount / topology.npuCount;
  if (!Number.isInteger(perNpu) || origin.some((npu, c) => npu !== Math.floor(c / perNpu))) {
    throw new InputError(
      at("origin"),
      `${perNpu} chunks at each NPU in their order, as a symmetry needs,`,
      inWords("others"),
    );
  }
  return { topology, collective, routes, slotPs, slots, passes, origin, symmetry };
}

/** Returns maps of NPUs, each a permutation of them; few enough together that they make up no large group. */
function mapsFrom(value: unknown, place: string, npuCount: number): readonly Int32Array[] {
  if (typeof value !== "object") refuse(place, "null, a list of sizes, or maps", value);
  const { maps } = asObject<{ maps?: unknown }>(value, place);
  const read = asList(maps, `${place}.maps`).map((entry, i) => {
    const at = `${place}.maps[${i}]`;
    const list = asList(entry, at);
    if (list.length !== npuCount) throw new InputError(at, `${npuCount} NPUs`, list.length);
    const map = new Int32Array(npuCount);
    fillIntegers(list, map, at, 0, npuCount - 1);
    if (new Set(map).size !== npuCount) throw new InputError(at, "every NPU once", inWords("some twice"));
    return map;
  });
  const most = mostMaps(npuCount);
  // each map of a few that is none of the group of those before at least doubles it
  if (2 ** read.length > most || groupOf(read, npuCount) === null) {
    throw new InputError(`${place}.maps`, `maps that make up a group of at most ${most}`, inWords("more"));
  }
  return read;
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
  { npus, blocks }: { readonly npus: Int32Array; readonly blocks: readonly BysBlock[] },
  cacheBytes: number,
): (npu: number) => ArrivalLog {
  const { topology, collective, routes, slots } = header;
  const { chunkCount } = collective;
  const width = widthFor(chunkCount - 1);
  const ports = portsOf(routes, topology.npuCount);
  const portCount = (npu: number): number => ports.offset[npu + 1] - ports.offset[npu];
  const held = new Int32Array(topology.npuCount);
  for (const npu of header.origin) held[npu]++;
  /** Blocks by the place of a log in the file, and these places by NPU. */
  const blockOf = new Int32Array(npus.length);
  for (const { first, count, number } of blocks) blockOf.fill(number, first, first + count);
  const placeOf = new Int32Array(topology.npuCount);
  for (const [at, npu] of npus.entries()) placeOf[npu] = at;
  /** In order of last use. */
  const kept = new Map<number, LogBlock>();
  let bytes = 0;

  const logAt = ({ payload, ports: begin }: LogBlock, { first, count }: BysBlock, at: number): ArrivalLog => {
    const from = payload.byteOffset + logsLayout(count, chunkCount, width).chunk + (at - first) * chunkCount * width;
    const chunk = indexView(payload.buffer, from, chunkCount, chunkCount - 1);
    return { chunk, ports: payload.subarray(begin[at - first], begin[at - first + 1]) };
  };

  const load = (block: BysBlock): LogBlock => {
    const payload = bysPayload(source, fileName, block);
    const place = describe(block, fileName);
    const lengths = new Uint32Array(payload.buffer, payload.byteOffset, block.count);
    const begin = new Uint32Array(block.count + 1);
    let end = logsLayout(block.count, chunkCount, width).ports;
    for (let i = 0; i < block.count; i++) {
      const npu = npus[block.first + i];
      const most = slots * portBytes(portCount(npu));
      if (lengths[i] > Math.min(most, payload.length - end)) {
        throw new InputError(`${place}, NPU ${npu}`, `ports of at most ${most} bytes`, lengths[i]);
      }
      begin[i] = end;
      end += lengths[i];
    }
    begin[block.count] = end;
    if (padded(end) !== payload.length) throw new InputError(place, `${padded(end)} bytes`, payload.length);
    const loaded = { payload, ports: begin };
    for (let at = block.first; at < block.first + block.count; at++) {
      const npu = npus[at];
      const mistake = mistakeIn(logAt(loaded, block, at), chunkCount, held[npu], portCount(npu));
      if (mistake !== null) throw new InputError(`${place}, NPU ${npu}`, mistake.expected, mistake.received);
    }
    return loaded;
  };

  return (npu) => {
    const at = placeOf[npu];
    const block = blocks[blockOf[at]];
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
    return logAt(loaded, block, at);
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
