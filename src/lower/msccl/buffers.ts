import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import type { CollectiveKind } from "../../model/collective/collective.ts";
import { INPUT, OUTPUT } from "../../model/program/program.ts";
import { blockOfChunk, customPlaces } from "../custom.ts";
import type { UnequalBlocks } from "../moves.ts";
import type { Parts } from "./parts.ts";

/** For which calls a program is: input and output in the same memory, in different ones, or either. */
export type CallPlacement = "in" | "out" | "both";

/** Where the parts are at the start and at the end. Places are chunks: [rank * parts + part], -1: it has none there. */
export interface Buffers {
  /** [ranks] chunks of the buffers of the program; 0: unused. */
  readonly inputChunks: Int32Array;
  readonly outputChunks: Int32Array;
  /** Buffer and place of what a rank has at the start, and of what it must have at the end. */
  readonly startBuffer: Uint8Array;
  readonly startAt: Int32Array;
  readonly endBuffer: Uint8Array;
  readonly endAt: Int32Array;
  /** [ranks + 1] memory cells of a rank: one for each chunk of its buffers, one for two chunks that may share memory. */
  readonly cellOffset: Int32Array;
  /** [ranks * 2] cell of place 0 of INPUT and of OUTPUT. */
  readonly cellOf: Int32Array;
  /** Places of different parts may share memory. */
  readonly mixes: boolean;
}

/** Chunks of a rank's input and output, and where the smaller begins in the larger where they share memory. */
interface Shape {
  readonly input: number;
  readonly output: number;
  readonly inputShift: number;
  readonly outputShift: number;
}

/**
 * Returns the buffers of a collective (FORMATS: all-gather i = own block, o = all; reduce-scatter the reverse; all-to-all block
 * of the target in i, of the source in o). A call in place needs one of the two buffers only, the larger; of equals the input,
 * but the output of a broadcast, for only the root must have an input. A custom collective has its chunks of the precondition in
 * i and those of the postcondition in o, in order. Throws InputError for one in place. O(ranks x parts).
 */
export function buffersOf(parts: Parts, placement: CallPlacement): Buffers {
  const { ranks } = parts;
  const { kind } = parts.moves.collective;
  const count = parts.first.length;
  const placesAt = placesOf(parts, placement);
  const startAt = new Int32Array(ranks * count);
  const endAt = new Int32Array(ranks * count);
  const startBuffer = new Uint8Array(ranks * count).fill(INPUT);
  const endBuffer = new Uint8Array(ranks * count).fill(OUTPUT);
  const inputChunks = new Int32Array(ranks);
  const outputChunks = new Int32Array(ranks);
  const cellOffset = new Int32Array(ranks + 1);
  const cellOf = new Int32Array(ranks * 2);
  for (let r = 0; r < ranks; r++) {
    const { shape, single, start, end } = placesAt(r);
    const { input, output, inputShift, outputShift } = shape;
    inputChunks[r] = single === OUTPUT ? 0 : input;
    outputChunks[r] = single === INPUT ? 0 : output;
    const shared = placement !== "out";
    cellOf[2 * r + INPUT] = cellOffset[r] + (single < 0 && shared ? inputShift : 0);
    cellOf[2 * r + OUTPUT] = cellOffset[r] + (single < 0 ? (shared ? outputShift : input) : 0);
    cellOffset[r + 1] = cellOffset[r] + (shared ? Math.max(input + inputShift, output + outputShift) : input + output);
    for (let p = 0; p < count; p++) {
      startAt[r * count + p] = start(p);
      endAt[r * count + p] = end(p);
      if (single >= 0) startBuffer[r * count + p] = endBuffer[r * count + p] = single;
    }
  }
  const mixes = kind === "alltoall" && placement !== "out";
  return { inputChunks, outputChunks, startBuffer, startAt, endBuffer, endAt, cellOffset, cellOf, mixes };
}

/** What says where parts are. */
export type Placed = Pick<Parts, "moves" | "first" | "chunksPerBlock" | "chunkCount" | "blocks">;

/** Where a rank has parts. */
interface PlacesOfRank {
  readonly shape: Shape;
  /** The only buffer that it uses; -1: it uses both. */
  readonly single: number;
  /** First chunk of a part in its buffer, -1: it has none there. */
  readonly start: (part: number) => number;
  readonly end: (part: number) => number;
}

/** Returns where each rank has parts at the start and at the end; see buffersOf, also for what it throws. */
export function placesOf(parts: Placed, placement: CallPlacement): (rank: number) => PlacesOfRank {
  const { kind } = parts.moves.collective;
  if (kind === "custom" && placement !== "out")
    throw new InputError(optionName("placement"), "out of place for a custom collective", placement);
  const places = kind === "custom" ? placesOfTable(parts) : namedPlaces(parts, kind);
  return (rank) => {
    const shape = places.sizes(rank);
    const { input, output } = shape;
    const single =
      placement === "in" ? (input > output || (input === output && kind !== "broadcast") ? INPUT : OUTPUT) : -1;
    const startShift = single === OUTPUT ? shape.inputShift : 0;
    const endShift = single === INPUT ? shape.outputShift : 0;
    const shifted = (place: number, by: number): number => (place < 0 ? -1 : place + by);
    return {
      shape,
      single,
      start: (part) => shifted(places.start(rank, part), startShift),
      end: (part) => shifted(places.end(rank, part), endShift),
    };
  };
}

function shapeOf(kind: CollectiveKind, rank: number, ranks: number, root: number, block: number, all: number): Shape {
  const shape = (input: number, output: number): Shape => ({
    input,
    output,
    inputShift: input > 0 && input < output ? rank * block : 0,
    outputShift: output > 0 && output < input ? rank * block : 0,
  });
  const isRoot = rank === root;
  switch (kind) {
    case "allgather":
      return shape(block, all);
    case "reducescatter":
      return shape(all, block);
    case "broadcast":
      return shape(isRoot ? all : 0, all);
    case "reduce":
      return shape(all, isRoot ? all : 0);
    case "gather":
      return shape(block, isRoot ? all : 0);
    case "scatter":
      return shape(isRoot ? all : 0, block);
    case "alltoall":
      return shape(ranks * block, ranks * block);
    default:
      return shape(all, all);
  }
}

interface Places {
  readonly start: (rank: number, part: number) => number;
  readonly end: (rank: number, part: number) => number;
  readonly sizes: (rank: number) => Shape;
}

function namedPlaces(parts: Placed, kind: CollectiveKind): Places {
  const { rankCount: n, rootRank: root } = parts.moves;
  const { first, chunksPerBlock: block } = parts;
  const blockOf = (p: number): number => Math.floor(first[p] / block);
  const within = (p: number): number => first[p] % block;
  const whole = (p: number): number => first[p];
  const own = (r: number, p: number): number => (blockOf(p) === r ? within(p) : -1);
  const atRoot = (r: number, p: number): number => (r === root ? first[p] : -1);
  const everywhere = (_: number, p: number): number => whole(p);
  const sizes = (r: number): Shape => shapeOf(kind, r, n, root, block, parts.chunkCount);
  switch (kind) {
    case "allgather":
      return { start: own, end: everywhere, sizes };
    case "reducescatter":
      return { start: everywhere, end: own, sizes };
    case "broadcast":
      return { start: atRoot, end: everywhere, sizes };
    case "reduce":
      return { start: everywhere, end: atRoot, sizes };
    case "gather":
      return { start: own, end: atRoot, sizes };
    case "scatter":
      return { start: atRoot, end: own, sizes };
    case "alltoall":
      return {
        start: (r, p) => (Math.floor(blockOf(p) / n) === r ? (blockOf(p) % n) * block + within(p) : -1),
        end: (r, p) => (blockOf(p) % n === r ? Math.floor(blockOf(p) / n) * block + within(p) : -1),
        sizes,
      };
    default:
      return { start: everywhere, end: everywhere, sizes };
  }
}

/** Chunks of a table in order. */
function placesOfTable({ moves, first, blocks }: Placed): Places {
  const { start, sums } = blocks as UnequalBlocks;
  const { startAt, endAt, input, output } = customPlaces(moves, { start, sums });
  const block = first.map((chunk) => blockOfChunk({ start, sums }, chunk));
  const placeIn = (at: Int32Array) => (rank: number, part: number) => {
    const place = at[rank * sums.length + block[part]];
    return place < 0 ? -1 : place + first[part] - start[block[part]];
  };
  return {
    start: placeIn(startAt),
    end: placeIn(endAt),
    sizes: (r) => ({ input: input[r], output: output[r], inputShift: 0, outputShift: 0 }),
  };
}

/** The hop sends what its rank had at the start. */
export const FROM_START = -1;

/** What becomes of parts at ranks. Every arrival makes a new version of the parts at its rank. */
export interface Versions {
  /** [hops x their parts] arrival that made what the hop carries, FROM_START for none. */
  readonly carries: Int32Array;
  /** [hops] of the hops that carry just what its arrival made the one that most depends on, -1 for none. */
  readonly onward: Int32Array;
  /** [hops] 1: each part of what its arrival makes is sent once, and needed for nothing else. */
  readonly passesOn: Uint8Array;
  /** [ranks * parts] last arrival, FROM_START: none. */
  readonly last: Int32Array;
  /** [ranks * parts] events of the part at the rank. */
  readonly events: Int32Array;
}

/** Returns the versions of all parts; throws InputError where a hop sends what its rank does not have. O(hops + ranks x parts). */
export function versionsOf(parts: Parts, buffers: Buffers): Versions {
  const { source, target, hopFrom, hopParts, comingParts, events, first, ranks } = parts;
  const hops = source.length;
  const count = first.length;
  const last = new Int32Array(ranks * count).fill(FROM_START);
  const many = new Int32Array(ranks * count);
  const carries = new Int32Array(hopParts.length);
  const departures = new Int32Array(hops);
  const onward = new Int32Array(hops).fill(-1);
  const passesOn = new Uint8Array(hops).fill(1);
  for (const event of events) {
    const hop = event >> 1;
    const rank = event % 2 === 0 ? source[hop] : target[hop];
    const called = event % 2 === 0 ? hopParts : comingParts;
    for (let k = hopFrom[hop]; k < hopFrom[hop + 1]; k++) {
      const at = rank * count + called[k];
      many[at]++;
      if (event % 2 === 1) {
        if (parts.reduces[hop] === 1 && last[at] !== FROM_START) passesOn[last[at]] = 0;
        last[at] = hop;
        continue;
      }
      carries[k] = last[at];
      if (last[at] !== FROM_START) departures[last[at]]++;
      else if (buffers.startAt[at] < 0)
        throw new InputError(
          "a schedule to be lowered",
          "transfers of chunks that their source has",
          inWords(`one that rank ${source[hop]} has not`),
        );
    }
  }
  const weight = new Int32Array(hops).fill(1);
  const partsOf = (hop: number): number => hopFrom[hop + 1] - hopFrom[hop];
  for (let i = events.length - 1; i >= 0; i--) {
    const hop = events[i] >> 1;
    if (events[i] % 2 === 1) continue;
    const from = carries[hopFrom[hop]];
    let isSame = from !== FROM_START && partsOf(from) === partsOf(hop);
    for (let k = hopFrom[hop]; k < hopFrom[hop + 1]; k++) if (carries[k] !== from) isSame = false;
    if (!isSame) continue;
    weight[from] += weight[hop];
    if (onward[from] < 0 || weight[hop] >= weight[onward[from]]) onward[from] = hop;
  }
  for (let at = 0; at < last.length; at++)
    if (last[at] !== FROM_START && buffers.endAt[at] >= 0) passesOn[last[at]] = 0;
  for (let hop = 0; hop < hops; hop++) if (departures[hop] !== partsOf(hop) || onward[hop] < 0) passesOn[hop] = 0;
  return { carries, onward, passesOn, last, events: many };
}
