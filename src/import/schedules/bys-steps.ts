import { InputError } from "../../base/errors.ts";
import { indexView, ROWS, rowsLayout, widthFor } from "../../model/files/bys-format.ts";
import { routeCount } from "../../model/routes/routes.ts";
import { inRowOrder } from "../../model/steps/row-order.ts";
import type { ScheduleHeader } from "../../model/steps/schedule.ts";
import { indexColumn, OP_REDUCE, type StepSchedule } from "../../model/steps/step-schedule.ts";
import { asInteger, asObject, placeIn, refuse } from "../text/json-value.ts";
import { type ByteSource, bysBlocks, bysPayload } from "./bys-blocks.ts";

/** Returns the step schedule whose rows are in the blocks from `from` on. Throws InputError, DamagedFileError. O(rows). */
export function stepsFromBlocks(
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
