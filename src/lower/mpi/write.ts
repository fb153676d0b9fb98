import { InputError, inWords } from "../../base/errors.ts";
import { plansTakeInPlace } from "../../model/program/mpi-places.ts";
import { INPUT, type Op, OUTPUT, SCRATCH, WAIT_INSTRUCTION } from "../../model/program/program.ts";
import { type Operand, type ProgramBuilder, programBuilder } from "../../model/program/program-builder.ts";
import { type AccessOrder, accessOrder } from "../access-order.ts";
import { placesOf } from "../msccl/buffers.ts";
import { bufferOf, NOWHERE, type Place, placeIn } from "../msccl/code.ts";
import type { PlanParts } from "./parts.ts";

/** A program that still lacks its header. */
export interface WrittenPlan {
  readonly builder: ProgramBuilder;
  /** [instructions] */
  readonly chunk: Int32Array;
  /** [ranks] */
  readonly scratchChunks: Int32Array;
  readonly laneCount: number;
}

/** Places in a table of ranks x parts. */
const MOST_CELLS = 2 ** 26;

const TO = 0;
const FROM = 1;
const LOCAL = 2;

/** A block that grows. */
interface GrowingBlock {
  readonly rank: number;
  readonly kind: number;
  readonly peer: number;
  readonly lane: number;
  readonly instructions: number[];
}

/** Instructions in the order in which they can happen one after the other, as columns. */
interface Lines {
  readonly op: Op[];
  readonly block: number[];
  readonly part: number[];
  readonly chunks: number[];
  readonly source: Place[];
  readonly destination: Place[];
  readonly waits: (readonly number[])[];
}

/** Returns the instructions of all ranks; see lowerToMpi. Throws InputError where a rank sends what it does not have. */
export function writePlan(parts: PlanParts, lanes: number): WrittenPlan {
  const writing = writingOf(parts, lanes);
  const { events, source, target, part, reduces } = parts;
  const { count, held, leaves } = writing;
  copyOwn(writing, arrivalsOf(parts));
  for (const event of events) {
    const hop = event >> 1;
    if (event % 2 === 0) {
      const at = source[hop] * count + part[hop];
      if (held[at] === NOWHERE)
        throw new InputError(
          "a schedule to be lowered",
          "transfers of chunks that their source has",
          inWords(`one that rank ${source[hop]} has not`),
        );
      leaves[hop] = held[at];
      pend(writing, at, held[at], 1);
      continue;
    }
    const from = source[hop] * count + part[hop];
    add(writing, "s", blockOf(writing, source[hop], TO, target[hop], part[hop]), part[hop], leaves[hop], NOWHERE);
    pend(writing, from, leaves[hop], -1);
    const at = target[hop] * count + part[hop];
    const block = blockOf(writing, target[hop], FROM, source[hop], part[hop]);
    const isSum = reduces[hop] === 1 && held[at] !== NOWHERE;
    const place = roomFor(writing, at, isSum ? held[at] : NOWHERE);
    add(writing, isSum ? "rrc" : "r", block, part[hop], isSum ? held[at] : NOWHERE, place);
    held[at] = place;
  }
  bringHome(writing);
  return built(writing);
}

function writingOf(parts: PlanParts, lanes: number) {
  const { moves, first } = parts;
  const { rankCount, collective } = moves;
  const count = first.length;
  if (rankCount * count > MOST_CELLS)
    throw new InputError("a schedule to be lowered", `at most ${MOST_CELLS} parts at all ranks`, rankCount * count).as(
      "out-of-range",
    );
  const shares = plansTakeInPlace(collective.kind);
  const placesAt = placesOf(parts, shares ? "both" : "out");
  const start = new Int32Array(rankCount * count).fill(NOWHERE);
  const home = new Int32Array(rankCount * count).fill(NOWHERE);
  for (let r = 0; r < rankCount; r++) {
    const places = placesAt(r);
    for (let p = 0; p < count; p++) {
      const [from, to] = [places.start(p), places.end(p)];
      if (from >= 0) start[r * count + p] = placeIn(INPUT, from);
      if (to >= 0) home[r * count + p] = placeIn(OUTPUT, to);
    }
  }
  const numberInRank: number[] = [];
  const order: AccessOrder = accessOrder(numberInRank);
  const lines: Lines = { op: [], block: [], part: [], chunks: [], source: [], destination: [], waits: [] };
  return {
    parts,
    lanes,
    count,
    /** Input and output may be the same memory. */
    shares,
    /** [ranks * parts] where a rank has a part at the start, must have it at the end, and has it now. */
    start,
    home,
    held: start.slice(),
    /** [hops] place that a hop sends, once it has departed. */
    leaves: new Int32Array(parts.source.length),
    order,
    numberInRank,
    lines,
    blocks: [] as GrowingBlock[],
    blockNumber: new Map<string, number>(),
    blocksOfRank: new Int32Array(rankCount),
    /** [ranks * parts] memory cell of its home, -1: not used yet; and [cells] messages that have yet to leave it. */
    homeCell: new Int32Array(rankCount * count).fill(-1),
    pending: [] as number[],
    /** Scratch memory of a part at a rank: its cells by their places. */
    slots: new Map<number, { readonly place: Place; readonly cell: number }[]>(),
    scratchChunks: new Int32Array(rankCount),
  };
}

type Writing = ReturnType<typeof writingOf>;

/** Returns the block of a rank that sends to a peer, or receives from it, on the lane of a part. */
function blockOf(writing: Writing, rank: number, kind: number, peer: number, part: number): number {
  const { blocks, blockNumber, numberInRank, blocksOfRank, lanes } = writing;
  const lane = kind === LOCAL ? 0 : part % lanes;
  const key = `${rank} ${kind} ${peer} ${lane}`;
  const known = blockNumber.get(key);
  if (known !== undefined) return known;
  numberInRank.push(blocksOfRank[rank]++);
  blockNumber.set(key, blocks.length);
  return blocks.push({ rank, kind, peer, lane, instructions: [] }) - 1;
}

function newCell({ order, pending }: Writing): number {
  pending.push(0);
  return order.addCell();
}

/** Returns the memory cell of a place of a part; -1: it is never written. */
function cellOf(writing: Writing, at: number, place: Place): number {
  const { home, homeCell, slots, shares } = writing;
  if (bufferOf(place) === SCRATCH) return slots.get(at)?.find((slot) => slot.place === place)?.cell ?? -1;
  if (bufferOf(place) === INPUT && !(shares && home[at] !== NOWHERE)) return -1;
  if (homeCell[at] < 0) homeCell[at] = newCell(writing);
  return homeCell[at];
}

function pend(writing: Writing, at: number, place: Place, many: number): void {
  const cell = cellOf(writing, at, place);
  if (cell >= 0) writing.pending[cell] += many;
}

/**
 * Returns where a part that arrives is put: its home, unless what is there has yet to leave; else where it is in scratch memory
 * (`own`, of a sum), or other scratch memory of the part.
 */
function roomFor(writing: Writing, at: number, own: Place): Place {
  const { home, pending, slots, scratchChunks, count, parts } = writing;
  const isFree = (place: Place): boolean => pending[cellOf(writing, at, place)] === 0;
  if (home[at] !== NOWHERE && isFree(home[at])) return home[at];
  if (own !== NOWHERE && bufferOf(own) === SCRATCH && isFree(own)) return own;
  const mine = slots.get(at) ?? [];
  const free = mine.find(({ place }) => isFree(place));
  if (free !== undefined) return free.place;
  const rank = Math.floor(at / count);
  const place = placeIn(SCRATCH, scratchChunks[rank]);
  scratchChunks[rank] += parts.size[at % count];
  mine.push({ place, cell: newCell(writing) });
  slots.set(at, mine);
  return place;
}

/** Adds an instruction to a block. Without `isOrdered` nobody else uses what it does. */
function add(
  writing: Writing,
  op: Op,
  block: number,
  part: number,
  source: Place,
  destination: Place,
  chunks = writing.parts.size[part],
  isOrdered = true,
): void {
  const { lines, order, blocks, count } = writing;
  const at = blocks[block].rank * count + part;
  const number = lines.op.length;
  order.begin(number, block);
  if (isOrdered) {
    const [read, written] = [source, destination].map((place) => (place === NOWHERE ? -1 : cellOf(writing, at, place)));
    if (read >= 0) order.reads(read);
    if (written >= 0) order.writes(written);
  }
  lines.op.push(op);
  lines.block.push(block);
  lines.part.push(part);
  lines.chunks.push(chunks);
  lines.source.push(source);
  lines.destination.push(destination);
  lines.waits.push(order.end());
  blocks[block].instructions.push(number);
}

/** Returns how many arrivals each part has at each rank, [ranks * parts]. */
function arrivalsOf({ target, part, first, moves }: PlanParts): Int32Array {
  const arrivals = new Int32Array(moves.rankCount * first.length);
  for (let hop = 0; hop < target.length; hop++) arrivals[target[hop] * first.length + part[hop]]++;
  return arrivals;
}

/**
 * Copies what a rank has at the start and keeps: neighbours of one block at once. Nobody waits for it: what is sent of it is sent
 * from the input, and nothing else is written there.
 */
function copyOwn(writing: Writing, arrivals: Int32Array): void {
  const { start, home, count, parts } = writing;
  const blockOfPart = (p: number): number => Math.floor(parts.first[p] / parts.chunksPerBlock);
  for (let r = 0; r < parts.moves.rankCount; r++) {
    let run = -1;
    let chunks = 0;
    const flush = (): void => {
      if (run < 0) return;
      const at = r * count + run;
      add(writing, "cpy", blockOf(writing, r, LOCAL, -1, 0), run, start[at], home[at], chunks, false);
      run = -1;
    };
    for (let p = 0; p < count; p++) {
      const at = r * count + p;
      const stays = home[at] !== NOWHERE && arrivals[at] === 0;
      if (!stays || (run >= 0 && blockOfPart(p) !== blockOfPart(run))) flush();
      if (!stays) continue;
      if (start[at] === NOWHERE)
        throw new InputError(
          "a schedule to be lowered",
          "chunks that arrive wherever they are wanted",
          inWords(`none at rank ${r}`),
        );
      if (run < 0) [run, chunks] = [p, 0];
      chunks += parts.size[p];
    }
    flush();
  }
}

/** Copies what is elsewhere in the end to where it must be. */
function bringHome(writing: Writing): void {
  const { held, home, start, count } = writing;
  for (let at = 0; at < held.length; at++) {
    if (home[at] === NOWHERE || held[at] === home[at] || held[at] === start[at]) continue;
    const rank = Math.floor(at / count);
    add(writing, "cpy", blockOf(writing, rank, LOCAL, -1, 0), at % count, held[at], home[at]);
  }
}

/** Returns the program: blocks that send, blocks that receive, then the one without a peer. */
function built({ lines, blocks, parts, scratchChunks }: Writing): WrittenPlan {
  const awaited = new Uint8Array(lines.op.length);
  for (const waits of lines.waits) for (const on of waits) awaited[on] = 1;
  const ranks = Array.from({ length: parts.moves.rankCount }, () => [] as GrowingBlock[]);
  for (const block of blocks) ranks[block.rank].push(block);
  for (const own of ranks) own.sort((a, b) => a.kind - b.kind || a.peer - b.peer || a.lane - b.lane);
  const index = new Int32Array(lines.op.length);
  let next = 0;
  for (const { instructions } of ranks.flat()) for (const i of instructions) index[i] = next++;
  const chunk = new Int32Array(lines.op.length);
  const builder = programBuilder();
  ranks.forEach((own, rank) => {
    builder.addRank();
    own.forEach(({ kind, peer, lane, instructions }, id) => {
      builder.addBlock({
        id,
        channel: lane,
        ...(kind === TO ? { sendPeer: peer } : kind === FROM ? { recvPeer: peer } : {}),
      });
      for (const i of instructions) {
        chunk[index[i]] = parts.first[lines.part[i]];
        builder.add({
          op: lines.op[i],
          chunks: lines.chunks[i],
          receives: kind === FROM,
          sends: kind === TO,
          publishes: awaited[i] === 1,
          sources: operandAt(rank, lines.source[i]),
          destinations: operandAt(rank, lines.destination[i]),
          waits: lines.waits[i].map((on) => ({ kind: WAIT_INSTRUCTION, on: index[on] })),
        });
      }
    });
  });
  const laneCount = blocks.reduce((most, { lane }) => Math.max(most, lane + 1), 1);
  return { builder, chunk, scratchChunks, laneCount };
}

const operandAt = (rank: number, place: Place): readonly Operand[] =>
  place === NOWHERE ? [] : [{ rank, buffer: bufferOf(place), index: Math.floor(place / 3) }];
