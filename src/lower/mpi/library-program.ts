import type { NamedCollective } from "../../model/collective/collective.ts";
import { bufferChunks } from "../../model/program/mpi-places.ts";
import { INPUT, OUTPUT, type Program, SCRATCH, WAIT_INSTRUCTION } from "../../model/program/program.ts";
import { type Instruction, type Operand, programBuilder } from "../../model/program/program-builder.ts";
import type { CellMessage, LibraryRun } from "./library-messages.ts";

/** What ranks send in a library's algorithm, as a program. */
export interface LibraryCall {
  readonly name: string;
  readonly collective: NamedCollective;
  readonly ranks: number;
  readonly rootRank: number;
  /** Its messages count ranks from the root on. */
  readonly fromRoot: boolean;
}

/** What a rank sends to a peer, receives from it, or (no peer) copies. */
interface GrowingBlock {
  readonly kind: "sends" | "receives" | "copies";
  readonly peer: number;
  readonly lines: Line[];
}
interface Line {
  readonly what: Pick<Instruction, "op" | "chunks" | "sources" | "destinations">;
  readonly waits: readonly Line[];
}

/** A rank while its instructions are collected. */
interface Rank {
  readonly self: number;
  readonly blocks: Map<string, GrowingBlock>;
  /** What all of the round waits for, and what each block did last in it. */
  before: readonly Line[];
  now: Map<GrowingBlock, Line>;
  round: number;
  /** Of the round, by cell: what sends it, and what last wrote it. */
  sending: Map<number, Line[]>;
  written: Map<number, Line>;
}

const BEFORE_ALL = -1;
const AFTER_ALL = Number.POSITIVE_INFINITY;

const newRank = (self: number): Rank => ({
  self,
  blocks: new Map(),
  before: [],
  now: new Map(),
  round: BEFORE_ALL,
  sending: new Map(),
  written: new Map(),
});

const operand = (rank: number, buffer: number, index: number): readonly Operand[] => [{ rank, buffer, index }];

function blockOf({ blocks }: Rank, kind: GrowingBlock["kind"], peer = -1): GrowingBlock {
  const key = `${kind} ${peer}`;
  const known = blocks.get(key);
  if (known !== undefined) return known;
  const block = { kind, peer, lines: [] };
  blocks.set(key, block);
  return block;
}

function add(rank: Rank, block: GrowingBlock, what: Line["what"], more: readonly Line[] = []): Line {
  const line = { what, waits: [...new Set([...rank.before, ...more])] };
  block.lines.push(line);
  rank.now.set(block, line);
  return line;
}

/** Begins a round of a rank, if it is not in it: it waits for all of what it did before. */
function enter(rank: Rank, round: number): void {
  if (rank.round === round) return;
  const last = [...rank.now.values()];
  rank.round = round;
  rank.sending = new Map();
  rank.written = new Map();
  if (last.length === 0) return;
  rank.before = last;
  // of many, one for all
  if (last.length > 1) rank.before = [add(rank, blockOf(rank, "copies"), { op: "nop", chunks: 0 })];
  rank.now = new Map();
}

const cellsFrom = (first: number, cells: number): number[] => Array.from({ length: cells }, (_, i) => first + i);

function send(rank: Rank, peer: number, { first, cells }: CellMessage): void {
  const what = { op: "s", chunks: cells, sources: operand(rank.self, SCRATCH, first) } as const;
  const line = add(rank, blockOf(rank, "sends", peer), what);
  for (const cell of cellsFrom(first, cells)) rank.sending.set(cell, [...(rank.sending.get(cell) ?? []), line]);
}

/** What comes is put, or added, where nothing is still to be sent in the round, after what came there before. */
function receive(rank: Rank, peer: number, { landing, cells, sums }: CellMessage): void {
  const range = cellsFrom(landing, cells);
  const place = operand(rank.self, SCRATCH, landing);
  const earlier = range.flatMap((cell) => [...(rank.sending.get(cell) ?? []), rank.written.get(cell) ?? []].flat());
  const what = { op: sums ? "rrc" : "r", chunks: cells, sources: sums ? place : [], destinations: place } as const;
  const line = add(rank, blockOf(rank, "receives", peer), what, earlier);
  for (const cell of range) rank.written.set(cell, line);
}

/** Copies [from, to] one by one, neighbours at once. */
function copy(rank: Rank, pairs: readonly (readonly [from: number, to: number])[], from: number, to: number): void {
  for (let at = 0, end = 0; at < pairs.length; at = end) {
    const [source, target] = pairs[at] as (typeof pairs)[0];
    for (end = at + 1; end < pairs.length; end++) {
      const [nextSource, nextTarget] = pairs[end] as (typeof pairs)[0];
      if (nextSource !== source + end - at || nextTarget !== target + end - at) break;
    }
    add(rank, blockOf(rank, "copies"), {
      op: "cpy",
      chunks: end - at,
      sources: operand(rank.self, from, source),
      destinations: operand(rank.self, to, target),
    });
  }
}

/** Returns where ranks have what they give, and where what they take: [index in the buffer, cell]. */
function homesOf({ collective, ranks, rootRank, fromRoot }: LibraryCall, { cells, start, end }: LibraryRun) {
  const per = cells / ranks;
  const all = cellsFrom(0, cells);
  const place = (rank: number): number => (fromRoot ? (rank - rootRank + ranks) % ranks : rank);
  const blocks = cellsFrom(0, ranks);
  const own = (rank: number) => cellsFrom(0, per).map((i) => [i, place(rank) * per + i] as const);
  const each = all.map((i) => [i, place(Math.floor(i / per)) * per + (i % per)] as const);
  const whole = all.map((i) => [i, i] as const);
  const atRoot = (rank: number, pairs: typeof whole) => (rank === rootRank ? pairs : []);
  switch (collective) {
    case "alltoall":
      return {
        given: (rank: number) => blocks.map((block) => [block, start?.(rank, block) as number] as const),
        taken: (rank: number) => blocks.map((block) => [block, end?.(rank, block) as number] as const),
      };
    case "allreduce":
      return { given: () => whole, taken: () => whole };
    case "broadcast":
      return { given: (rank: number) => atRoot(rank, whole), taken: () => whole };
    case "reduce":
      return { given: () => whole, taken: (rank: number) => atRoot(rank, whole) };
    case "allgather":
      return { given: own, taken: () => each };
    case "gather":
      return { given: own, taken: (rank: number) => atRoot(rank, each) };
    case "scatter":
      return { given: (rank: number) => atRoot(rank, each), taken: own };
    case "reducescatter":
      return { given: () => each, taken: own };
  }
}

/**
 * Returns the program of a library's algorithm: each rank copies what it gives into its cells, sends and receives round by round,
 * and copies what it takes. Messages are not cut. O(cells of all messages and ranks).
 */
export function libraryProgram(call: LibraryCall, run: LibraryRun): Program {
  const { name, collective, ranks: count, rootRank, fromRoot } = call;
  const ranks = cellsFrom(0, count).map(newRank);
  const { given, taken } = homesOf(call, run);
  const rankAt = (v: number): number => (fromRoot ? (v + rootRank) % count : v);
  for (const rank of ranks) copy(rank, given(rank.self), INPUT, SCRATCH);
  run.rounds.forEach((round, number) => {
    for (const one of round) {
      const rank = ranks[rankAt(one.from)] as Rank;
      enter(rank, number);
      send(rank, rankAt(one.to), one);
    }
    for (const one of round) {
      const rank = ranks[rankAt(one.to)] as Rank;
      enter(rank, number);
      receive(rank, rankAt(one.from), one);
    }
  });
  for (const rank of ranks) {
    enter(rank, AFTER_ALL);
    copy(
      rank,
      taken(rank.self).map(([index, cell]) => [cell, index]),
      SCRATCH,
      OUTPUT,
    );
  }
  const loopChunks = collective === "alltoall" ? count : run.cells;
  const shape = { collective, rankCount: count, rootRank, loopChunks };
  const chunksOf = (buffer: number): Int32Array =>
    Int32Array.from({ length: count }, (_, rank) => bufferChunks(shape, rank, buffer));
  const { builder, instructions } = built(ranks);
  return builder.build({
    ...shape,
    name,
    machine: "msccl",
    protocol: "Simple",
    inPlace: false,
    outOfPlace: true,
    minBytes: null,
    maxBytes: null,
    finer: 1,
    inputChunks: chunksOf(INPUT),
    outputChunks: chunksOf(OUTPUT),
    scratchChunks: new Int32Array(count).fill(run.cells),
    channelCount: 1,
    mpi: { segmentBytes: 0, chunk: new Int32Array(instructions), group: null, hosts: null, ops: null, unequal: false },
  });
}

function built(ranks: readonly Rank[]) {
  const index = new Map<Line, number>();
  const awaited = new Set<Line>();
  for (const { blocks } of ranks)
    for (const { lines } of blocks.values())
      for (const line of lines) {
        index.set(line, index.size);
        for (const on of line.waits) awaited.add(on);
      }
  const builder = programBuilder();
  for (const { blocks } of ranks) {
    builder.addRank();
    [...blocks.values()].forEach(({ kind, peer, lines }, id) => {
      builder.addBlock({
        id,
        ...(kind === "sends" ? { sendPeer: peer } : kind === "receives" ? { recvPeer: peer } : {}),
      });
      for (const line of lines)
        builder.add({
          ...line.what,
          sends: kind === "sends",
          receives: kind === "receives",
          publishes: awaited.has(line),
          waits: line.waits.map((on) => ({ kind: WAIT_INSTRUCTION, on: index.get(on) as number })),
        });
    });
  }
  return { builder, instructions: index.size };
}
