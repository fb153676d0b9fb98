import { InputError, InternalError } from "../../base/errors.ts";
import { jsonText } from "../../base/visible.ts";
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
import {
  edgeEnds,
  isPeriodSchedule,
  mostEnds,
  type PeriodSchedule,
  tickPsOf,
  treesOf,
} from "../../model/periods/period-schedule.ts";
import { routeCount } from "../../model/routes/routes.ts";
import { standingFor } from "../../model/slots/folded-rows.ts";
import { type ArrivalLog, isSlotSchedule, type Schedule, type SlotSchedule } from "../../model/slots/slot-schedule.ts";
import { type StepSchedule, transferCount } from "../../model/steps/step-schedule.ts";
import { periodFields } from "./periods-json.ts";
import { scheduleHeaderParts } from "./schedule-header.ts";

/** Rows per block, and bytes of logs: small enough to be read at once, large enough to be read fast. */
const BLOCK_ROWS = 2 ** 19;
const BLOCK_BYTES = 2 ** 24;

/** A block before it is framed. */
interface Block {
  readonly type: number;
  /** First row, NPU or tree, and how many. */
  readonly first: number;
  readonly count: number;
  readonly payload: Uint8Array;
}

/**
 * Yields the parts of a `.bys` file (version 1, FORMATS.md) that reads back to the same schedule, each at most 64 MiB, to be
 * written one after the other. Of a slot schedule with a symmetry only the logs are written that stand for all. `about` is for
 * people. Rows of a slot schedule are asked for in ascending order of NPU. Throws what `row` throws. O(transfers + route links).
 */
export function* scheduleBysParts(
  schedule: Schedule | PeriodSchedule,
  about?: Readonly<Record<string, unknown>>,
): Generator<Uint8Array<ArrayBuffer>> {
  if (!LITTLE_ENDIAN) throw new InputError("this machine", "one with little-endian numbers to write .bys files");
  const { body, parts } = contentOf(schedule);
  const header = headerBytes(schedule, body, about);
  yield header;
  let bytes = header.length;
  let blocks = 0;
  let items = 0;
  let frames = 0;
  const framed = ({ type, first, count, payload }: Block): Uint8Array<ArrayBuffer> => {
    const frame = frameOf(type, blocks++, first, count, payload);
    frames = crc32(frame, frames);
    bytes += frame.length + payload.length;
    items += count;
    return frame;
  };
  for (const block of parts) {
    yield framed(block);
    yield block.payload as Uint8Array<ArrayBuffer>;
  }
  const end = new Uint8Array(END_BYTES);
  const view = new DataView(end.buffer);
  view.setBigUint64(0, BigInt(items), true);
  view.setBigUint64(8, BigInt(bytes + FRAME_BYTES + END_BYTES), true);
  view.setUint32(16, blocks, true);
  view.setUint32(20, frames, true);
  yield frameOf(ENDS, blocks, items, 0, end);
  yield end;
}

/** Returns all before the first block; blanks after the JSON make its length a multiple of 8. */
function headerBytes(
  schedule: Schedule | PeriodSchedule,
  body: string,
  about?: Readonly<Record<string, unknown>>,
): Uint8Array<ArrayBuffer> {
  const text = [...scheduleHeaderParts(schedule, { about }), body, "}\n"].join("");
  const json = new TextEncoder().encode(text);
  const length = padded(PREFIX_BYTES + json.length) - PREFIX_BYTES;
  if (length > MOST_HEADER)
    throw new InputError("the schedule", `a network that ${MOST_HEADER} bytes describe`, length);
  const bytes = new Uint8Array(PREFIX_BYTES + length).fill(0x20);
  bytes.set(BYS_MAGIC);
  bytes.set(json, PREFIX_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint32(8, BYS_VERSION, true);
  view.setUint32(12, length, true);
  view.setUint32(16, crc32(bytes.subarray(PREFIX_BYTES), crc32(bytes.subarray(0, 16))), true);
  return bytes;
}

/** Returns what the header says of the blocks, and the blocks. */
function contentOf(schedule: Schedule | PeriodSchedule): { readonly body: string; readonly parts: Iterable<Block> } {
  if (isPeriodSchedule(schedule)) return periodContent(schedule);
  if (isSlotSchedule(schedule)) {
    const npus = standingFor(schedule);
    return { body: slotsBody(schedule, npus.length < schedule.topology.npuCount), parts: logBlocks(schedule, npus) };
  }
  return { body: `  "transfers": { "count": ${transferCount(schedule)} }\n`, parts: rowBlocks(schedule) };
}

function slotsBody(schedule: SlotSchedule, compact: boolean): string {
  const { slotPs, slots, passes, symmetry, origin } = schedule;
  const fields = [
    `"slotPs": ${slotPs}`,
    `"count": ${slots}`,
    `"passes": [${passes.map(({ reversed, reduces }) => `{ "reversed": ${reversed}, "reduces": ${reduces} }`).join(", ")}]`,
    `"symmetry": ${compact ? symmetryText(symmetry) : "null"}`,
    `"origin": [${origin.join(",")}]`,
  ];
  return `  "slots": {\n${fields.map((field) => `    ${field}`).join(",\n")}\n  }\n`;
}

const symmetryText = (symmetry: SlotSchedule["symmetry"]): string =>
  symmetry !== null && "generators" in symmetry
    ? `{ "maps": [${symmetry.generators.map((map) => `[${map.join(",")}]`).join(", ")}] }`
    : jsonText(symmetry);

function frameOf(
  type: number,
  number: number,
  first: number,
  count: number,
  payload: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(FRAME_BYTES);
  const view = new DataView(frame.buffer);
  view.setUint32(0, type, true);
  view.setUint32(4, number, true);
  view.setBigUint64(8, BigInt(first), true);
  view.setUint32(16, count, true);
  view.setUint32(20, payload.length, true);
  view.setUint32(24, crc32(payload), true);
  view.setUint32(28, crc32(frame.subarray(0, 28)), true);
  return frame;
}

function* rowBlocks(schedule: StepSchedule): Generator<Block> {
  const lastChunk = schedule.collective.chunkCount - 1;
  const lastRoute = routeCount(schedule.routes) - 1;
  const total = transferCount(schedule);
  for (let first = 0; first < total; first += BLOCK_ROWS) {
    const count = Math.min(BLOCK_ROWS, total - first);
    const at = rowsLayout(count, widthFor(lastChunk), widthFor(lastRoute));
    const buffer = new ArrayBuffer(at.length);
    const end = first + count;
    new Float64Array(buffer, 0, count).set(schedule.startPs.subarray(first, end));
    new Float64Array(buffer, at.endPs, count).set(schedule.endPs.subarray(first, end));
    indexView(buffer, at.chunk, count, lastChunk).set(schedule.chunk.subarray(first, end));
    indexView(buffer, at.route, count, lastRoute).set(schedule.route.subarray(first, end));
    new Uint8Array(buffer, at.op, count).set(schedule.op.subarray(first, end));
    yield { type: ROWS, first, count, payload: new Uint8Array(buffer) };
  }
}

function periodContent(schedule: PeriodSchedule) {
  const tickPs = tickPsOf(schedule);
  const lastTick = schedule.startPs.reduce((last, ps) => Math.max(last, ps), 0) / tickPs;
  const fields = [
    ...periodFields(schedule, tickPs),
    `    "trees": ${treesOf(schedule)}`,
    `    "lastTick": ${lastTick}`,
  ];
  return { body: `  "periods": {\n${fields.join(",\n")}\n  }\n`, parts: treeBlocks(schedule, tickPs, lastTick) };
}

/**
 * Yields trees; a root has starts of 0 and a port that no NPU has. Throws InputError for an edge that is not at its NPU, which has no
 * port there.
 */
function* treeBlocks(schedule: PeriodSchedule, tickPs: number, lastTick: number): Generator<Block> {
  const { topology, routes, there, entry, startPs } = schedule;
  const { npuCount } = topology;
  const { offset, items } = edgeEnds(schedule);
  const root = mostEnds({ offset, items });
  /** [2 edges] which port of its NPU an end is. */
  const portOf = new Int32Array(items.length);
  for (let npu = 0; npu < npuCount; npu++)
    for (let k = offset[npu]; k < offset[npu + 1]; k++) portOf[items[k]] = k - offset[npu];
  const total = treesOf(schedule);
  const bytes = treesLayout(npuCount, widthFor(root), lastTick).length;
  if (bytes > MOST_PAYLOAD) throw new InputError("the schedule", `trees of at most ${MOST_PAYLOAD} bytes`, bytes);
  const atOnce = Math.max(1, Math.floor(BLOCK_BYTES / bytes));
  for (let first = 0; first < total; first += atOnce) {
    const count = Math.min(atOnce, total - first);
    const [from, places] = [first * npuCount, count * npuCount];
    const at = treesLayout(places, widthFor(root), lastTick);
    const buffer = new ArrayBuffer(at.length);
    const ticks = ticksView(buffer, 0, 2 * places, lastTick);
    for (let i = 0; i < ticks.length; i++) ticks[i] = Math.max(0, startPs[2 * from + i]) / tickPs;
    const port = indexView(buffer, at.port, places, root);
    for (let i = 0; i < places; i++) {
      const edge = entry[from + i];
      const npu = i % npuCount;
      const begins = routes.source[there[edge]] === npu;
      if (edge >= 0 && !begins && routes.target[there[edge]] !== npu)
        throw new InputError(`the edge of tree ${(from + i - npu) / npuCount}`, `one at NPU ${npu}`, edge);
      port[i] = edge < 0 ? root : portOf[2 * edge + (begins ? 0 : 1)];
    }
    yield { type: TREE, first, count, payload: new Uint8Array(buffer) };
  }
}

/** Yields the logs of NPUs; a block counts them as they are written. */
function* logBlocks(schedule: SlotSchedule, npus: Int32Array): Generator<Block> {
  const { chunkCount } = schedule.collective;
  const chunkBytes = chunkCount * widthFor(chunkCount - 1);
  let logs: ArrivalLog[] = [];
  let bytes = 0;
  for (const [i, npu] of npus.entries()) {
    const log = schedule.row(npu);
    if (log.chunk.length !== chunkCount)
      throw new InternalError(`a log of ${log.chunk.length} of ${chunkCount} chunks`);
    const own = 4 + chunkBytes + log.ports.length;
    if (bytes + own > BLOCK_BYTES && logs.length > 0) {
      yield logBlock(logs, i - logs.length, chunkCount);
      logs = [];
      bytes = 0;
    }
    logs.push(log);
    bytes += own;
  }
  if (logs.length > 0) yield logBlock(logs, npus.length - logs.length, chunkCount);
}

function logBlock(logs: readonly ArrivalLog[], first: number, chunkCount: number): Block {
  const count = logs.length;
  const at = logsLayout(count, chunkCount, widthFor(chunkCount - 1));
  const length = padded(at.ports + logs.reduce((sum, { ports }) => sum + ports.length, 0));
  if (length > MOST_PAYLOAD)
    throw new InputError("the schedule", `logs of at most ${MOST_PAYLOAD} bytes an NPU`, length);
  const buffer = new ArrayBuffer(length);
  const payload = new Uint8Array(buffer);
  const portBytes = new Uint32Array(buffer, 0, count);
  const chunk = indexView(buffer, at.chunk, count * chunkCount, chunkCount - 1);
  let end = at.ports;
  logs.forEach((log, i) => {
    portBytes[i] = log.ports.length;
    chunk.set(log.chunk, i * chunkCount);
    payload.set(log.ports, end);
    end += log.ports.length;
  });
  return { type: LOGS, first, count, payload };
}
