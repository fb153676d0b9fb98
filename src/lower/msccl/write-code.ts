import { InputError } from "../../base/errors.ts";
import { SCRATCH } from "../../model/program/program.ts";
import type { MscclRuntime } from "../../model/program/runtimes.ts";
import type { Blocks, Wires } from "./blocks.ts";
import { type Buffers, FROM_START, type Versions } from "./buffers.ts";
import { bufferOf, type Code, codeWriter, NOWHERE, type Place, placeIn } from "./code.ts";
import type { Parts } from "./parts.ts";

/**
 * Returns the instructions of all ranks in the order of events: copies of what a rank has and must have, then hop by hop a
 * receiving instruction, which sends on where wires say so, and a sending one where they do not, then copies of what had no place.
 *
 * No deadlock, even if a connection holds one chunk: this order is one in which all instructions can happen one after the other.
 * Waits and the order in a block follow it by construction; the receiver of a message is the first of its connection to come
 * after the sender, because hops that share a connection arrive before the next departs (stepWires sees to it, events of lanes
 * are such). So when it is an instruction's turn, all before it are complete, its message is there and its connection is empty.
 * That is for one chunk to an instruction, as schedules of steps have. Parts of trees may have more, which go one by one through
 * a chain of blocks at once: there parts follow each other, or their ways up and then their ways down, and within one the chains of a
 * tree do, those towards its root first (mayFuse), so the same holds with a chain for an instruction.
 *
 * Input is never written in a call out of place. O(hops + ranks x parts) and what the order of accesses costs.
 */
export function writeCode(
  parts: Parts,
  versions: Versions,
  wires: Wires,
  blocks: Blocks,
  buffers: Buffers,
  runtime: MscclRuntime,
): Code {
  const writing = writingOf(parts, versions, wires, blocks, buffers, runtime);
  const { events } = parts;
  const { source, add, size, part, held, count, reduces, target, fuses, late, writer, isFused } = writing;
  const { copy } = writer;
  for (let hop = 0; hop < source.length; hop++) sent(writing, hop, 1);

  copyOwn(parts, versions, buffers, runtime.chunksPerStep, copy);
  for (const event of events) {
    const hop = event >> 1;
    if (event % 2 === 0) {
      if (isFused[hop] === 1) continue;
      add("s", blocks.sender[hop], size[part[hop]], held[source[hop] * count + part[hop]], NOWHERE);
      sent(writing, hop, -1);
      used(writing, source[hop], part[hop], 1);
    } else {
      const isSum = reduces[hop] === 1 && held[target[hop] * count + part[hop]] !== NOWHERE;
      if (!isSum) receive(writing, hop);
      else if (fuses) receiveAndAdd(writing, hop);
      else receiveThenAdd(writing, hop);
      used(writing, target[hop], part[hop], wires.fused[hop] >= 0 ? 2 : 1);
    }
  }
  for (const at of late) copy(Math.floor(at / count), size[at % count], held[at], endPlace(buffers, at));
  return writer.code;
}

/** Returns what is known while code is written. */
function writingOf(
  parts: Parts,
  versions: Versions,
  wires: Wires,
  blocks: Blocks,
  buffers: Buffers,
  runtime: MscclRuntime,
) {
  const { source, first, moves } = parts;
  const { departures, isAddedTo, isLast, carries } = versions;
  const count = first.length;
  const writer = codeWriter(blocks, buffers, runtime.stepsPerBlock);
  const remaining = versions.events.slice();
  const isFused = new Uint8Array(source.length);
  for (const on of wires.fused) if (on >= 0) isFused[on] = 1;
  return {
    ...parts,
    ...{ departures, isAddedTo, isLast, carries },
    count,
    wires,
    blocks,
    buffers,
    writer,
    add: writer.add,
    fuses: (["rcs", "rrs", "rrc", "rrcs"] as const).every((op) => runtime.ops.has(op)),
    remaining,
    isFused,
    /** [ranks * parts] where the rank has the part; it has not: NOWHERE. */
    held: startPlaces(buffers),
    /** [cells] hops that have yet to send what was there at the start; only where places of different parts share memory. */
    pending: new Int32Array(buffers.mixes ? buffers.cellOffset[moves.rankCount] : 0),
    late: [] as number[],
  };
}

type Writing = ReturnType<typeof writingOf>;

function startPlaces(buffers: Buffers): Float64Array {
  const held = new Float64Array(buffers.startAt.length);
  for (let at = 0; at < held.length; at++) held[at] = startPlace(buffers, at);
  return held;
}

/** Returns where a rank has a part at the start. */
function startPlace(buffers: Buffers, at: number): Place {
  return buffers.startAt[at] < 0 ? NOWHERE : placeIn(buffers.startBuffer[at], buffers.startAt[at]);
}

/** Returns where a rank must have a part at the end. */
function endPlace(buffers: Buffers, at: number): Place {
  return buffers.endAt[at] < 0 ? NOWHERE : placeIn(buffers.endBuffer[at], buffers.endAt[at]);
}

function sent(writing: Writing, hop: number, many: number): void {
  const { buffers, carries, pending, writer, source, count, part } = writing;
  if (!buffers.mixes || carries[hop] !== FROM_START) return;
  pending[writer.cellOf(source[hop], startPlace(buffers, source[hop] * count + part[hop]))] += many;
}

function receive(writing: Writing, hop: number): void {
  const { target, part, count, blocks, buffers, pending, writer, held, size, wires, add, fuses } = writing;
  const [rank, p] = [target[hop], part[hop]];
  const at = rank * count + p;
  const block = blocks.receiver[hop];
  const home = endPlace(buffers, at);
  const isFree = home !== NOWHERE && (!buffers.mixes || pending[writer.cellOf(rank, home)] === 0);
  if (isFree) keep(writing, at, home);
  else if (held[at] === NOWHERE || bufferOf(held[at]) !== SCRATCH) held[at] = writer.takeScratch(rank, size[p], block);
  const goesOn = wires.fused[hop] >= 0;
  add(goesOn && fuses ? "rcs" : "r", block, size[p], NOWHERE, held[at]);
  if (goesOn && !fuses) add("s", block, size[p], held[at], NOWHERE);
}

function receiveAndAdd(writing: Writing, hop: number): void {
  const { target, part, count, blocks, wires, departures, isAddedTo, isLast, add, size, held } = writing;
  const [rank, p] = [target[hop], part[hop]];
  const at = rank * count + p;
  const block = blocks.receiver[hop];
  const on = wires.fused[hop];
  if (on >= 0 && departures[hop] === 1 && isAddedTo[hop] === 0 && isLast[hop] === 0) {
    add("rrs", block, size[p], held[at], NOWHERE);
    return;
  }
  const sum = sumPlace(writing, at, rank, p, block);
  add(on >= 0 ? "rrcs" : "rrc", block, size[p], held[at], sum);
  keep(writing, at, sum);
}

/** Without fused instructions: what arrives goes where the sum will be, if what is there already is not part of it. */
function receiveThenAdd(writing: Writing, hop: number): void {
  const { target, part, count, blocks, held, writer, add, size, isLast, wires } = writing;
  const [rank, p] = [target[hop], part[hop]];
  const at = rank * count + p;
  const block = blocks.receiver[hop];
  const from = held[at];
  const sum = sumPlace(writing, at, rank, p, block);
  if (!writer.isSame(rank, from, sum)) {
    add("r", block, size[p], NOWHERE, sum);
    add("re", block, size[p], from, sum);
    keep(writing, at, sum);
  } else {
    const other = writer.takeScratch(rank, size[p], block);
    add("r", block, size[p], NOWHERE, other);
    if (from === sum) {
      add("re", block, size[p], other, sum);
      writer.giveBack(rank, size[p], other);
    } else {
      add("re", block, size[p], from, other);
      held[at] = other;
      if (isLast[hop] === 1) {
        add("cpy", block, size[p], other, sum);
        keep(writing, at, sum);
      }
    }
  }
  if (wires.fused[hop] >= 0) add("s", block, size[p], held[at], NOWHERE);
}

function sumPlace(writing: Writing, at: number, rank: number, p: number, block: number): Place {
  const { buffers, held, writer, size } = writing;
  const home = endPlace(buffers, at);
  if (home !== NOWHERE) return home;
  return bufferOf(held[at]) === SCRATCH ? held[at] : writer.takeScratch(rank, size[p], block);
}

/** From now on the rank has the part there. */
function keep(writing: Writing, at: number, place: Place): void {
  const { held, writer, count, size } = writing;
  const before = held[at];
  held[at] = place;
  if (before !== NOWHERE && before !== place && bufferOf(before) === SCRATCH)
    writer.giveBack(Math.floor(at / count), size[at % count], before);
}

/** After the last use of a part at a rank: brings it to where it must be, and gives scratch memory back. */
function used(writing: Writing, rank: number, p: number, many: number): void {
  const { buffers, count, remaining, held, late, writer, size } = writing;
  const at = rank * count + p;
  remaining[at] -= many;
  if (remaining[at] > 0 || bufferOf(held[at]) !== SCRATCH) return;
  const home = endPlace(buffers, at);
  if (home !== NOWHERE) late.push(at);
  else writer.giveBack(rank, size[p], held[at]);
}

/** Copies what a rank has at the start and must have elsewhere at the end, runs of parts at once. */
function copyOwn(
  { first, size, moves }: Parts,
  { last }: Versions,
  buffers: Buffers,
  mostChunks: number,
  copy: (rank: number, chunks: number, from: Place, to: Place, offsets: readonly number[]) => void,
): void {
  const count = first.length;
  for (let rank = 0; rank < moves.rankCount; rank++) {
    let [from, to, chunks]: [Place, Place, number] = [NOWHERE, NOWHERE, 0];
    let offsets: number[] = [];
    const flush = (): void => {
      if (chunks > 0) copy(rank, chunks, from, to, offsets);
      chunks = 0;
      offsets = [];
    };
    for (let p = 0; p < count; p++) {
      const at = rank * count + p;
      const [start, end] = [startPlace(buffers, at), endPlace(buffers, at)];
      if (end === NOWHERE || last[at] !== FROM_START) continue;
      if (start === NOWHERE)
        throw new InputError(
          "a schedule to be lowered",
          "chunks that arrive wherever they are wanted",
          `none at rank ${rank}`,
        );
      if (start === end) continue;
      const goesOn = start === from + 3 * chunks && end === to + 3 * chunks;
      if (!goesOn || chunks + size[p] > mostChunks) flush();
      if (chunks === 0) [from, to] = [start, end];
      offsets.push(chunks);
      chunks += size[p];
    }
    flush();
  }
}
