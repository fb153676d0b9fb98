import { InputError, inWords } from "../../base/errors.ts";
import { type Op, SCRATCH } from "../../model/program/program.ts";
import type { MscclRuntime } from "../../model/program/runtimes.ts";
import type { Blocks, Wires } from "./blocks.ts";
import { type Buffers, FROM_START, type Versions } from "./buffers.ts";
import { bufferOf, type Code, codeWriter, NOWHERE, type Place, placeIn } from "./code.ts";
import type { FixedScratch } from "./neighbours.ts";
import type { Parts } from "./parts.ts";

/**
 * Returns the instructions of all ranks in the order of events: copies of what a rank has and must have, then hop by hop a
 * receiving instruction, which sends on where wires say so, and a sending one where they do not, then copies of what had no place.
 *
 * No deadlock, even if a connection holds one chunk: this order is one in which all instructions can happen one after the other.
 * Waits and the order in a block follow it by construction; the receiver of a message is the first of its connection to come
 * after the sender, because hops that share a connection arrive before the next departs (stepWires sees to it, events of lanes
 * are such). So when it is an instruction's turn, all before it are complete, its message is there and its connection is empty.
 * Hops that are queued may wait for each other's room in a circle, so code with such is only taken where it `ends`.
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
  scratch: FixedScratch | null,
  runtime: MscclRuntime,
): Code {
  const writing = writingOf(parts, versions, wires, blocks, buffers, scratch, runtime);
  const { events } = parts;
  const { source, held, count, reduces, target, fuses, late, writer, isFused, hopFrom, hopParts, comingParts } =
    writing;
  for (let hop = 0; hop < source.length; hop++) sent(writing, hop, 1);

  const home = (at: number): Place => endPlace(buffers, at);
  copyRuns(writing, runtime.chunksPerStep, ownParts(parts, versions, buffers), (at) => startPlace(buffers, at), home);
  for (const event of events) {
    const hop = event >> 1;
    if (event % 2 === 0) {
      if (isFused[hop] === 1) continue;
      const from = held[source[hop] * count + hopParts[hopFrom[hop]]];
      addHop(writing, "s", hop, blocks.sender[hop], from, NOWHERE);
      sent(writing, hop, -1);
      used(writing, source[hop], hop, hopParts, 1);
    } else {
      const isSum = reduces[hop] === 1 && held[arrival(writing, hop)] !== NOWHERE;
      if (!isSum) receive(writing, hop);
      else if (fuses) receiveAndAdd(writing, hop);
      else receiveThenAdd(writing, hop);
      used(writing, target[hop], hop, comingParts, wires.fused[hop] >= 0 ? 2 : 1);
    }
  }
  late.sort((a, b) => Math.floor(a / count) - Math.floor(b / count) || held[a] - held[b]);
  copyRuns(writing, runtime.chunksPerStep, late, (at) => held[at], home);
  return writer.code;
}

/** Adds an instruction for all parts of a hop. */
function addHop(writing: Writing, op: Op, hop: number, block: number, from: Place, to: Place): void {
  const { hopFrom, hopParts, size, chunks, writer } = writing;
  const offsets = [0];
  for (let k = hopFrom[hop]; k < hopFrom[hop + 1] - 1; k++)
    offsets.push(offsets[offsets.length - 1] + size[hopParts[k]]);
  writer.add(op, block, chunks[hop], from, to, offsets);
}

/** Returns which part comes to which rank with a hop: [rank * parts + part], of the first, for they lie side by side. */
const arrival = ({ target, count, hopFrom, comingParts }: Writing, hop: number): number =>
  target[hop] * count + comingParts[hopFrom[hop]];

/** Returns what is known while code is written. */
function writingOf(
  parts: Parts,
  versions: Versions,
  wires: Wires,
  blocks: Blocks,
  buffers: Buffers,
  scratch: FixedScratch | null,
  runtime: MscclRuntime,
) {
  const { source, first, size } = parts;
  const { passesOn, carries } = versions;
  const count = first.length;
  const writer = codeWriter(blocks, buffers, scratch, size, runtime.stepsPerBlock);
  const remaining = versions.events.slice();
  const isFused = new Uint8Array(source.length);
  for (const on of wires.fused) if (on >= 0) isFused[on] = 1;
  return {
    ...parts,
    ...{ passesOn, carries, scratch },
    count,
    wires,
    blocks,
    buffers,
    writer,
    fuses: fusesSums(runtime),
    remaining,
    isFused,
    /** [ranks * parts] where the rank has the part; it has not: NOWHERE. */
    held: startPlaces(buffers),
    /** [cells] hops that have yet to send what was there at the start; only where places of different parts share memory. */
    pending: new Int32Array(buffers.mixes ? buffers.cellOffset[parts.ranks] : 0),
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

/** Returns whether a runtime has instructions that add what they receive, or send it on. */
export const fusesSums = ({ ops }: MscclRuntime): boolean =>
  (["rcs", "rrs", "rrc", "rrcs"] as const).every((op) => ops.has(op));

function sent(writing: Writing, hop: number, many: number): void {
  const { buffers, carries, pending, writer, source, count, hopFrom, hopParts } = writing;
  if (!buffers.mixes) return;
  for (let k = hopFrom[hop]; k < hopFrom[hop + 1]; k++) {
    if (carries[k] !== FROM_START) continue;
    pending[writer.cellOf(source[hop], startPlace(buffers, source[hop] * count + hopParts[k]))] += many;
  }
}

function receive(writing: Writing, hop: number): void {
  const { target, blocks, buffers, pending, writer, wires, fuses } = writing;
  const rank = target[hop];
  const block = blocks.receiver[hop];
  const home = endPlace(buffers, arrival(writing, hop));
  const isFree = home !== NOWHERE && (!buffers.mixes || pending[writer.cellOf(rank, home)] === 0);
  const held = writing.held[arrival(writing, hop)];
  const stays = !isFree && held !== NOWHERE && bufferOf(held) === SCRATCH;
  const place = isFree ? home : stays ? held : takeScratch(writing, hop, block);
  if (!stays) keep(writing, hop, place);
  const goesOn = wires.fused[hop] >= 0;
  addHop(writing, goesOn && fuses ? "rcs" : "r", hop, block, NOWHERE, place);
  if (goesOn && !fuses) addHop(writing, "s", hop, block, place, NOWHERE);
}

function receiveAndAdd(writing: Writing, hop: number): void {
  const { blocks, wires, passesOn } = writing;
  const block = blocks.receiver[hop];
  const held = writing.held[arrival(writing, hop)];
  const goesOn = wires.fused[hop] >= 0;
  if (goesOn && passesOn[hop] === 1) {
    addHop(writing, "rrs", hop, block, held, NOWHERE);
    return;
  }
  const sum = sumPlace(writing, hop, block);
  addHop(writing, goesOn ? "rrcs" : "rrc", hop, block, held, sum);
  keep(writing, hop, sum);
}

/** Without fused instructions: what arrives goes where the sum will be, if what is there already is not part of it. */
function receiveThenAdd(writing: Writing, hop: number): void {
  const { target, blocks, writer, wires } = writing;
  const rank = target[hop];
  const block = blocks.receiver[hop];
  const from = writing.held[arrival(writing, hop)];
  const sum = sumPlace(writing, hop, block);
  if (!writer.isSame(rank, from, sum)) {
    addHop(writing, "r", hop, block, NOWHERE, sum);
    addHop(writing, "re", hop, block, from, sum);
    keep(writing, hop, sum);
  } else if (from === sum) {
    const other = writer.takeScratch(rank, writing.chunks[hop], block);
    addHop(writing, "r", hop, block, NOWHERE, other);
    addHop(writing, "re", hop, block, other, sum);
    writer.giveBack(rank, writing.chunks[hop], other);
  } else {
    const other = takeScratch(writing, hop, block);
    addHop(writing, "r", hop, block, NOWHERE, other);
    addHop(writing, "re", hop, block, from, other);
    keep(writing, hop, other);
  }
  if (wires.fused[hop] >= 0) addHop(writing, "s", hop, block, writing.held[arrival(writing, hop)], NOWHERE);
}

function sumPlace(writing: Writing, hop: number, block: number): Place {
  const home = endPlace(writing.buffers, arrival(writing, hop));
  if (home !== NOWHERE) return home;
  const held = writing.held[arrival(writing, hop)];
  return bufferOf(held) === SCRATCH ? held : takeScratch(writing, hop, block);
}

/** Returns room for the parts that come with a hop: their own, where scratch memory is laid out, else what is free. */
function takeScratch(writing: Writing, hop: number, block: number): Place {
  const { scratch, chunks, target, writer } = writing;
  if (scratch === null) return writer.takeScratch(target[hop], chunks[hop], block);
  return placeIn(SCRATCH, scratch.at[arrival(writing, hop)]);
}

/** From now on the target has the parts of a hop there. */
function keep(writing: Writing, hop: number, place: Place): void {
  const { held, scratch, writer, count, size, target, hopFrom, comingParts } = writing;
  const rank = target[hop];
  let next = place;
  for (let k = hopFrom[hop]; k < hopFrom[hop + 1]; k++) {
    const at = rank * count + comingParts[k];
    const before = held[at];
    held[at] = next;
    if (scratch === null && before !== NOWHERE && before !== next && bufferOf(before) === SCRATCH)
      writer.giveBack(rank, size[comingParts[k]], before);
    next += placeIn(0, size[comingParts[k]]);
  }
}

/** After the last use of parts at a rank: brings them to where they must be, and gives scratch memory back. */
function used(writing: Writing, rank: number, hop: number, called: Int32Array, many: number): void {
  const { buffers, count, remaining, held, late, scratch, writer, size, hopFrom } = writing;
  for (let k = hopFrom[hop]; k < hopFrom[hop + 1]; k++) {
    const at = rank * count + called[k];
    remaining[at] -= many;
    if (remaining[at] > 0 || bufferOf(held[at]) !== SCRATCH) continue;
    if (endPlace(buffers, at) !== NOWHERE) late.push(at);
    else if (scratch === null) writer.giveBack(rank, size[called[k]], held[at]);
  }
}

/** Returns what a rank has at the start and must have elsewhere at the end: [rank * parts + part]. */
function ownParts({ first, ranks }: Parts, { last }: Versions, buffers: Buffers): number[] {
  const own: number[] = [];
  for (let at = 0; at < ranks * first.length; at++) {
    if (buffers.endAt[at] < 0 || last[at] !== FROM_START) continue;
    if (buffers.startAt[at] < 0)
      throw new InputError(
        "a schedule to be lowered",
        "chunks that arrive wherever they are wanted",
        inWords(`none at rank ${Math.floor(at / first.length)}`),
      );
    if (startPlace(buffers, at) !== endPlace(buffers, at)) own.push(at);
  }
  return own;
}

/** Copies parts of ranks from place to place, at once what are neighbours at all ranks. */
function copyRuns(
  { count, size, first, unit, writer }: Writing,
  mostChunks: number,
  ats: readonly number[],
  fromOf: (at: number) => Place,
  toOf: (at: number) => Place,
): void {
  let rank = -1;
  let [from, to, chunks]: [Place, Place, number] = [NOWHERE, NOWHERE, 0];
  let offsets: number[] = [];
  let last = -1;
  const unitOf = (at: number): number => Math.floor(first[at % count] / unit);
  const flush = (): void => {
    if (chunks > 0) writer.copy(rank, chunks, from, to, offsets);
    chunks = 0;
    offsets = [];
  };
  for (const at of ats) {
    const here = Math.floor(at / count);
    const parts = size[at % count];
    const isNext = fromOf(at) === from + placeIn(0, chunks) && toOf(at) === to + placeIn(0, chunks);
    const goesOn = here === rank && isNext && unitOf(at) === unitOf(last);
    if (!goesOn || chunks + parts > mostChunks) flush();
    if (chunks === 0) [rank, from, to] = [here, fromOf(at), toOf(at)];
    offsets.push(chunks);
    chunks += parts;
    last = at;
  }
  flush();
}
