import { disjointSets, type NumberedSets, numberedSets } from "../../model/graph/graph.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";
import {
  blockCount,
  instructionCount,
  type Program,
  WAIT_BARRIER,
  WAIT_INSTRUCTION,
} from "../../model/program/program.ts";
import { isNop } from "./form.ts";
import { cellOf, isIdentity, type ProgramMemory } from "./memory.ts";
import { type Phases, phasesOf } from "./phases.ts";
import { clocksFit, KEPT, touchersOf, type Wiring, WRITTEN } from "./wiring.ts";
import { chunkWords, type Findings, instructionWords } from "./words.ts";

/** Whether chunk `chunkOfA` of an earlier instruction is over when chunk `chunk` of the visited one begins, in every course. */
type Before = (a: number, chunkOfA: number, chunk: number) => boolean;
type Visit = (instruction: number, before: Before) => void;

/**
 * Records data races: two accesses to a chunk of memory, one of them at least a write, of which either may come first. Rank by
 * rank; per chunk the last write is kept and the reads since, which suffices for the first race on every chunk (Flanagan and
 * Freund, FastTrack, 2009). `order` is one course; `progress` is called after each rank.
 *
 * Nearly always what the blocks that touch a rank's memory tell each other orders all accesses to it. That is looked at first:
 * an order of fewer things, so what it puts in order is in order. Only where it leaves something open all blocks of all ranks are
 * asked, through which the order may come. O(instructions x blocks that touch a rank), and that times the ranks of the second kind.
 */
export function checkRaces(
  program: Program,
  wiring: Wiring,
  memory: ProgramMemory,
  order: Int32Array,
  found: Findings,
  progress: (rank: number) => void,
): void {
  const walks =
    program.machine === "msccl" ? walksOfMsccl(program, wiring, order) : walksOfPlan(program, wiring, order);
  // What copies memory onto itself undoes the writes of others that come in between, and is in nobody else's way: a read.
  const onlyReads = new Uint8Array(instructionCount(program));
  for (let i = 0; i < onlyReads.length; i++) onlyReads[i] = isIdentity(program, memory, i) ? 1 : 0;
  const look = (rank: number, walk: (visit: Visit) => void, race: Race): void => {
    const low = memory.rankStart[rank];
    const access = accessesOf(memory.rankStart[rank + 1] - low, race);
    walk((i, before) => {
      const first = program.operandOffset[i];
      const middle = first + program.sourceCount[i];
      const last = onlyReads[i] === 1 ? middle : program.operandOffset[i + 1];
      for (let o = first; o < last; o++) {
        if (program.operandRank[o] !== rank) continue;
        const cell = cellOf(program, memory, o) - low;
        for (let k = 0; k < program.chunks[i]; k++) access(i, o, cell + k, k, o >= middle, before);
      }
    });
  };
  const fits = clocksFit(program);
  let written = 0;
  for (let rank = 0; rank < program.rankCount; rank++) {
    const near = walks.near(rank);
    written += near.words;
    let open = near.words > KEPT || written > WRITTEN ? 1 : 0;
    if (open === 0) look(rank, near.walk, () => open++);
    if (open > 0 && !fits) {
      found.error("too-large", () => "too many thread blocks touch the same memory to be judged for data races");
      return;
    }
    if (open > 0) look(rank, walks.far(rank), reporter(program, wiring, found));
    progress(rank);
  }
}

/** Walks over what touches a rank's memory: with what those blocks tell each other, and with what all blocks do. */
interface Walks {
  /** `words`: of clocks that it writes at most, and keeps. */
  readonly near: (rank: number) => { readonly words: number; readonly walk: (visit: Visit) => void };
  readonly far: (rank: number) => (visit: Visit) => void;
}

/** Told of a race between two instructions, `a` the earlier one, about a chunk of an operand of `b`. */
type Race = (a: number, aWrites: boolean, b: number, operand: number, chunk: number, bWrites: boolean) => void;

/** Returns what records races, each pair of instructions once. */
function reporter(program: Program, wiring: Wiring, found: Findings): Race {
  const told = new Set<number>();
  return (a, aWrites, b, operand, chunk, bWrites) => {
    const pair = a * instructionCount(program) + b;
    if (told.has(pair)) return;
    told.add(pair);
    const { operandRank, operandBuffer, operandIndex } = program;
    found.error(
      "race",
      () =>
        `${instructionWords(program, wiring, b)} ${bWrites ? "writes" : "reads"} ${chunkWords(operandRank[operand], operandBuffer[operand], operandIndex[operand] + chunk)}, which ${instructionWords(program, wiring, a)} ${aWrites ? "writes" : "reads"}: nothing says which comes first`,
      b,
    );
  };
}

/** Returns what takes in the accesses to one rank's memory, of `cells` chunks. */
function accessesOf(cells: number, race: Race) {
  const writeBy = new Int32Array(cells).fill(-1);
  const writeChunk = new Int32Array(cells);
  const reads = new Int32Array(cells).fill(-1);
  const by: number[] = [];
  const chunkOf: number[] = [];
  const next: number[] = [];
  return (i: number, operand: number, cell: number, chunk: number, writes: boolean, before: Before): void => {
    const writer = writeBy[cell];
    if (writer >= 0 && writer !== i && !before(writer, writeChunk[cell], chunk))
      race(writer, true, i, operand, chunk, writes);
    const head = reads[cell];
    if (!writes) {
      if (head >= 0 && before(by[head], chunkOf[head], chunk)) {
        chunkOf[head] = chunk;
        by[head] = i;
        return;
      }
      by.push(i);
      chunkOf.push(chunk);
      next.push(head);
      reads[cell] = by.length - 1;
      return;
    }
    for (let read = head; read >= 0; read = next[read])
      if (by[read] !== i && !before(by[read], chunkOf[read], chunk)) race(by[read], false, i, operand, chunk, true);
    reads[cell] = -1;
    writeBy[cell] = i;
    writeChunk[cell] = chunk;
  };
}

function walksOfMsccl(program: Program, wiring: Wiring, order: Int32Array): Walks {
  const own = byRank(program, wiring, order);
  return {
    near(rank) {
      const blocks = program.blockOffset[rank + 1] - program.blockOffset[rank];
      const words = (own(rank).length + blocks) * blocks;
      return { words, walk: (visit) => walkWaits(program, wiring, own(rank), rank, visit) };
    },
    far: (rank) => (visit) => walkMsccl(program, wiring, order, rank, visit),
  };
}

/** Returns a function that returns the instructions of a rank in the order given. O(instructions) in all. */
function byRank(program: Program, { blockOf, rankOf }: Wiring, order: Int32Array): (rank: number) => Int32Array {
  const { blockOffset, instructionOffset, rankCount } = program;
  const startOf = (rank: number): number => instructionOffset[blockOffset[rank]];
  const next = Int32Array.from({ length: rankCount }, (_, rank) => startOf(rank));
  const sorted = new Int32Array(order.length);
  for (const i of order) sorted[next[rankOf[blockOf[i]]]++] = i;
  return (rank) => sorted.subarray(startOf(rank), startOf(rank + 1));
}

/**
 * Calls `visit` for every instruction of a rank of msccl, in the order given, with what is certain to have happened before it by the
 * blocks' own order and their waits for each other, messages left aside. O(instructions of the rank x its blocks).
 */
function walkWaits(
  program: Program,
  { blockOf, publisher }: Wiring,
  own: Int32Array,
  rank: number,
  visit: Visit,
): void {
  const { instructionOffset, waitOffset, blockOffset } = program;
  const low = blockOffset[rank];
  const lanes = blockOffset[rank + 1] - low;
  if (lanes < 2) return;
  const first = instructionOffset[low];
  const isAwaited = new Uint8Array(own.length);
  for (const i of own) for (let w = waitOffset[i]; w < waitOffset[i + 1]; w++) isAwaited[publisher[w] - first] = 1;
  const known = new Int32Array(lanes * lanes);
  const kept = slots(lanes);
  const ofStep = new Int32Array(own.length);
  let row = 0;
  const before: Before = (a) => known[row + blockOf[a] - low] > a - instructionOffset[blockOf[a]];
  for (const i of own) {
    const lane = blockOf[i] - low;
    row = lane * lanes;
    for (let w = waitOffset[i]; w < waitOffset[i + 1]; w++)
      raise(known, row, kept.data(), ofStep[publisher[w] - first], lanes);
    visit(i, before);
    known[row + lane] = i - instructionOffset[low + lane] + 1;
    if (isAwaited[i - first] === 0) continue;
    ofStep[i - first] = kept.take();
    put(kept.data(), ofStep[i - first], known, row, lanes);
  }
}

/**
 * Calls `visit` for every instruction of a rank, in the order given, with what is certain to have happened before it, among
 * the instructions of that rank. A clock tells of each block of the rank how many of its instructions are complete. What an
 * instruction knows when it begins comes from the one before it, from those it waits for, and from what the sender knew when
 * it began; the chunks of a message come one by one, so of the sender and what it follows chunk by chunk only as many chunks
 * are known to be complete as have come: `aligned`. A message does not tell the sender anything: that there was room again
 * depends on the room. A single block is in order anyway: nothing is visited. O(instructions x blocks of the rank).
 */
function walkMsccl(program: Program, wiring: Wiring, order: Int32Array, rank: number, visit: Visit): void {
  const { instructionOffset, waitOffset, waitKind, receives, sends } = program;
  const { blockOf, rankOf, publisher, sendOf, receiveOf } = wiring;
  const low = program.blockOffset[rank];
  const lanes = program.blockOffset[rank + 1] - low;
  if (lanes < 2) return;
  // Where messages are of one chunk, nothing is known of a part of them: one clock does.
  const whole = chunksOfMessages(program) <= 1;
  const known = new Int32Array(blockCount(program) * lanes);
  const aligned = new Int32Array(whole ? 0 : lanes);
  const kept = slots(whole ? lanes : 2 * lanes);
  const complete = whole ? 0 : lanes;
  const ofMessage = new Int32Array(instructionCount(program)).fill(-1);
  const ofStep = new Int32Array(instructionCount(program)).fill(-1);
  const readers = new Int32Array(instructionCount(program));
  for (let w = 0; w < publisher.length; w++) if (waitKind[w] === WAIT_INSTRUCTION) readers[publisher[w]]++;
  let row = 0;

  const before = (a: number, chunkOfA: number, chunk: number): boolean => {
    const block = blockOf[a];
    const index = a - instructionOffset[block];
    const lane = block - low;
    return known[row + lane] > index || (!whole && aligned[lane] > index && chunkOfA <= chunk);
  };
  for (const i of order) {
    const block = blockOf[i];
    row = block * lanes;
    for (let w = waitOffset[i]; w < waitOffset[i + 1]; w++) {
      const from = ofStep[publisher[w]];
      raise(known, row, kept.data(), from + complete, lanes);
      if (--readers[publisher[w]] === 0) kept.give(from);
    }
    const message = receives[i] === 1 ? ofMessage[sendOf[i]] : -1;
    if (message >= 0) raise(known, row, kept.data(), message, lanes);
    if (!whole) {
      put(aligned, 0, known, row, lanes);
      if (message >= 0) raise(aligned, 0, kept.data(), message + lanes, lanes);
    }
    if (message >= 0) kept.give(message);
    const forMessage = sends[i] === 1 && receiveOf[i] >= 0;
    const told = forMessage || readers[i] > 0;
    const at = told ? kept.take() : -1;
    if (told && !whole) put(kept.data(), at, known, row, lanes);
    if (rankOf[block] === rank) {
      visit(i, before);
      (whole ? known : aligned)[whole ? row + block - low : block - low] = i - instructionOffset[block] + 1;
    }
    if (!whole) put(known, row, aligned, 0, lanes);
    if (told) put(kept.data(), at + complete, known, row, lanes);
    if (forMessage) ofMessage[i] = at;
    if (readers[i] > 0) ofStep[i] = forMessage ? copy(at) : at;
  }

  function copy(of: number): number {
    const at = kept.take();
    put(kept.data(), at, kept.data(), of, complete + lanes);
    return at;
  }
}

/** Returns the most chunks of a message. */
function chunksOfMessages({ sends, chunks }: Program): number {
  let most = 0;
  for (let i = 0; i < sends.length; i++) if (sends[i] === 1) most = Math.max(most, chunks[i]);
  return most;
}

/**
 * Calls `visit` for every instruction that touches a rank's memory, in the order given, with what is certain to have happened
 * before it. A block is a row of phases, cut at nops and barriers: all of a phase is over before the next begins, and within
 * one nothing is ordered, for the threads of the block run apart. So a wait orders the phases after its own, and a post tells
 * of the phases before its own, and of the data of its own instruction (a put with signal). A packet tells its reader, chunk
 * by chunk, of what was before the chunk that wrote it, and of that chunk. A clock holds, for each block that touches the
 * memory, how many of its phases are over, then a bit for each chunk that is reported singly. Relaxed signals order as others do:
 * the runtime's own plans use them to tell that data is there. O(instructions x words of a clock).
 */
function walkMscclpp(scope: Scope, order: Int32Array, visit: Visit): void {
  const walk = walkOf(scope);
  const { program, wiring, phases, ofPost, row, givesBack } = scope;
  const { clock, words, begun, next, own, kept, postReaders, reached } = walk;
  const { waitOffset, waitKind, waitOn, instructionOffset } = program;
  const before: Before = (a, chunkOfA, chunk) => isBefore(walk, a, chunkOfA, chunk);
  for (const i of order) {
    const block = wiring.blockOf[i];
    walk.visited = block;
    const at = row[block] * words;
    for (let w = waitOffset[i]; w < waitOffset[i + 1]; w++)
      if (waitKind[w] === WAIT_BARRIER) meet(walk, i, waitOn[w], wiring.generation[w]);
    const waits = waitOffset[i + 1] > waitOffset[i];
    walk.known = waits ? own : begun;
    walk.knownAt = waits ? 0 : at;
    if (waits) put(own, 0, begun, at, words);
    for (let p = phases.postOffset[waitOffset[i]]; p < phases.postOffset[waitOffset[i + 1]]; p++) {
      const post = phases.posts[p];
      if (ofPost[post] < 0) continue;
      if (phases.postBringsData[p] === 1) join(clock, own, 0, kept.data(), ofPost[post]);
      else raise(own, 0, kept.data(), ofPost[post], clock.lanes);
      if (givesBack && --postReaders[post] === 0) kept.give(ofPost[post]);
    }
    if (waits) join(clock, next, at, own, 0);
    takePackets(walk, i, at);
    if (scope.lane[block] >= 0) visit(i, before);
    tell(walk, i);
    if (isNop(program, i)) endPhase(walk, block, phases.phase[i] + 1);
    reached[row[block]] = Math.min(i + 1, instructionOffset[block + 1] - 1);
  }
}

/** Which blocks a walk over what touches a rank's memory listens to. */
interface Scope {
  readonly program: Program;
  readonly wiring: Wiring;
  readonly phases: Phases;
  /** Blocks listened to: how many; [blocks] the place of each among them, -1: its posts, packets and meetings are left aside. */
  readonly rows: number;
  readonly row: Int32Array;
  /** [rows] block. */
  readonly blocks: ArrayLike<number>;
  /** [blocks] a number, within its group, for those that touch the memory, -1 for others; how many there are at most. */
  readonly lane: Int32Array;
  readonly lanes: number;
  /** [blocks] group: blocks of different ones tell each other nothing. */
  readonly group: Int32Array;
  /** [instructions] a number, within its group, for the first chunk of each that touches the memory and is told of singly, -1 for others; how many chunks at most. */
  readonly firstBit: Int32Array;
  readonly bits: number;
  /** [instructions], [singles] where their clocks are, -1: nowhere. */
  readonly ofPost: Int32Array;
  readonly ofSingle: Int32Array;
  /** All that read a clock are listened to, so its place can be given back after the last of them. */
  readonly givesBack: boolean;
}

const wordsOf = ({ lanes, bits }: Pick<Scope, "lanes" | "bits">): number => lanes + Math.ceil(bits / 32);

/** Returns the walks of an mscclpp program. What walks use by instruction and by block is made once, for there are many ranks. */
function walksOfPlan(program: Program, wiring: Wiring, order: Int32Array): Walks {
  const phases = phasesOf(program, wiring);
  const touchers = touchersOf(program);
  const blocks = blockCount(program);
  const count = instructionCount(program);
  const places = new Int32Array(count);
  order.forEach((i, place) => {
    places[i] = place;
  });
  const row = new Int32Array(blocks).fill(-1);
  const firstBit = new Int32Array(count).fill(-1);
  const ofPost = new Int32Array(count).fill(-1);
  const ofSingle = new Int32Array(phases.singles).fill(-1);
  const shared = { program, wiring, phases, firstBit, ofPost, ofSingle };
  const group = new Int32Array(blocks);
  const lane = new Int32Array(blocks).fill(-1);
  const touchersAt = (rank: number): Int32Array =>
    touchers.blocks.subarray(touchers.offset[rank], touchers.offset[rank + 1]);
  /** Undoes what the walk before has written here. */
  let forget = (): void => {};
  const forgetLater = (instructions: Int32Array, near: Int32Array): void => {
    forget = () => forgetThese(instructions, near);
  };
  const forgetThese = (instructions: Int32Array, near: Int32Array): void => {
    for (const i of instructions) {
      firstBit[i] = -1;
      ofPost[i] = -1;
      const single = phases.single[i];
      if (single >= 0) ofSingle.fill(-1, single, single + program.chunks[i]);
    }
    for (const block of near) {
      row[block] = -1;
      lane[block] = -1;
      group[block] = 0;
    }
  };
  return {
    near(rank) {
      forget();
      const near = touchersAt(rank);
      const own = instructionsOf(
        program,
        near,
        (i) => phases.speaks[i] === 1 || touches(program, i, rank),
        places,
        order,
      );
      forgetLater(own, near);
      near.forEach((block, k) => {
        row[block] = k;
      });
      const sets = groupsOf(program, wiring, phases, near.length, row, own);
      const members = new Int32Array(sets.size.length);
      near.forEach((block, k) => {
        group[block] = sets.of[k];
        lane[block] = members[sets.of[k]]++;
      });
      const lanes = sets.size.reduce((most, many) => Math.max(most, many), 0);
      const groupOf = (i: number): number => group[wiring.blockOf[i]];
      const bits = numberBits(program, phases.single, own, rank, firstBit, groupOf, members.length);
      const scope = { ...shared, rows: near.length, row, blocks: near, lane, lanes, group, bits, givesBack: false };
      return {
        words: (own.length + 2 * near.length) * wordsOf(scope),
        walk: (visit) => walkMscclpp(scope, own, visit),
      };
    },
    far: (rank) => (visit) => {
      forget();
      const near = touchersAt(rank);
      forgetLater(order, near);
      near.forEach((block, k) => {
        lane[block] = k;
      });
      const bits = numberBits(program, phases.single, order, rank, firstBit, () => 0, 1);
      const all = indicesBelow(blocks);
      const scope = { ...shared, rows: blocks, row: all, blocks: all, lane, lanes: near.length, group, bits };
      walkMscclpp({ ...scope, givesBack: true }, order, visit);
    },
  };
}

/** Returns the groups of blocks that tell each other something, by rows, by what those of them do. O(instructions + posts). */
function groupsOf(
  { waitOffset, waitKind, waitOn }: Program,
  { blockOf, comers }: Wiring,
  { postOffset, posts, packetOffset, packetFrom, singleBy }: Phases,
  rows: number,
  row: Int32Array,
  instructions: Int32Array,
): NumberedSets {
  const sets = disjointSets(rows);
  const join = (block: number, other: number): void => {
    if (row[other] >= 0) sets.join(row[block], row[other]);
  };
  for (const i of instructions) {
    const block = blockOf[i];
    for (let w = waitOffset[i]; w < waitOffset[i + 1]; w++) {
      for (let p = postOffset[w]; p < postOffset[w + 1]; p++) join(block, blockOf[posts[p]]);
      if (waitKind[w] === WAIT_BARRIER) for (const other of comers[waitOn[w]]) join(block, other);
    }
    for (let p = packetOffset[i]; p < packetOffset[i + 1]; p++)
      if (packetFrom[p] >= 0) join(block, blockOf[singleBy[packetFrom[p]]]);
  }
  return numberedSets(rows, sets.least);
}

/** Returns those instructions of some blocks that count, in the order of their places in `order`. O(n log n). */
function instructionsOf(
  { instructionOffset }: Program,
  blocks: Int32Array,
  counts: (instruction: number) => boolean,
  places: Int32Array,
  order: Int32Array,
): Int32Array {
  const many = blocks.reduce((sum, b) => sum + instructionOffset[b + 1] - instructionOffset[b], 0);
  const own = new Int32Array(many);
  let kept = 0;
  for (const b of blocks)
    for (let i = instructionOffset[b]; i < instructionOffset[b + 1]; i++) if (counts(i)) own[kept++] = places[i];
  return own
    .subarray(0, kept)
    .sort()
    .map((place) => order[place]);
}

/** Returns whether an instruction reads or writes memory of a rank. */
function touches({ operandOffset, operandRank }: Program, i: number, rank: number): boolean {
  for (let o = operandOffset[i]; o < operandOffset[i + 1]; o++) if (operandRank[o] === rank) return true;
  return false;
}

/** A walk over the instructions that touch the memory of a rank. */
type Walk = ReturnType<typeof walkOf>;

function walkOf(scope: Scope) {
  const { program, phases, rows, blocks, lanes, givesBack } = scope;
  const words = wordsOf(scope);
  return {
    ...scope,
    words,
    clock: { lanes, words },
    /** [rows] clocks when the phase that it is in began, and what the next one will know. */
    begun: new Int32Array(rows * words),
    next: new Int32Array(rows * words),
    /** [rows] the instruction that comes next, or the last one. */
    reached: Int32Array.from({ length: rows }, (_, k) => program.instructionOffset[blocks[k]]),
    kept: slots(words),
    /** [instructions], [singles] who has still to read their clocks. */
    postReaders: givesBack ? phases.postReaders.slice() : phases.postReaders,
    packetReaders: givesBack ? phases.packetReaders.slice() : phases.packetReaders,
    meetings: new Map<string, { readonly at: number; left: number }>(),
    /**
     * Of the instruction that is visited: its block, where its clock is (of one that waits `own`, else that of its phase), and where
     * it reads packets one for each of its chunks.
     */
    visited: -1,
    own: new Int32Array(words),
    known: new Int32Array(0),
    knownAt: 0,
    byChunk: new Int32Array(0),
    hasChunks: false,
  };
}

function isBefore(walk: Walk, a: number, chunkOfA: number, chunk: number): boolean {
  const { hasChunks, words, firstBit } = walk;
  const block = walk.wiring.blockOf[a];
  if (walk.group[block] !== walk.group[walk.visited]) return false;
  const clock = hasChunks ? walk.byChunk : walk.known;
  const at = hasChunks ? chunk * words : walk.knownAt;
  if (clock[at + walk.lane[block]] > walk.phases.phase[a]) return true;
  if (firstBit[a] < 0) return false;
  const bit = firstBit[a] + chunkOfA;
  return ((clock[at + walk.clock.lanes + (bit >> 5)] >> (bit & 31)) & 1) === 1;
}

/** Ends the phase of a block: what it waited for, and all of the phase, is known from now on. */
function endPhase({ lane, row, words, begun, next }: Walk, block: number, over: number): void {
  const at = row[block] * words;
  if (lane[block] >= 0) next[at + lane[block]] = over;
  put(begun, at, next, at, words);
}

function meet(walk: Walk, i: number, barrier: number, number: number): void {
  const { phases, wiring, row, clock, words, begun, next, kept, meetings, reached } = walk;
  const name = `${barrier} ${number}`;
  let meeting = meetings.get(name);
  if (meeting === undefined) {
    const comers = wiring.comers[barrier].filter((block) => row[block] >= 0);
    meeting = { at: kept.take(), left: comers.length };
    meetings.set(name, meeting);
    kept.data().fill(0, meeting.at, meeting.at + words);
    for (const block of comers) {
      endPhase(walk, block, phases.phase[reached[row[block]]]);
      join(clock, kept.data(), meeting.at, begun, row[block] * words);
    }
  }
  const block = wiring.blockOf[i];
  join(clock, next, row[block] * words, kept.data(), meeting.at);
  endPhase(walk, block, phases.phase[i] + 1);
  if (--meeting.left > 0) return;
  kept.give(meeting.at);
  meetings.delete(name);
}

/** Sets the clocks of the chunks of an instruction that reads packets. */
function takePackets(walk: Walk, i: number, at: number): void {
  const { phases, clock, words, next, known, knownAt, kept, ofSingle, packetReaders } = walk;
  const first = phases.packetOffset[i];
  const last = phases.packetOffset[i + 1];
  walk.hasChunks = last > first;
  if (!walk.hasChunks) return;
  const chunks = walk.program.chunks[i];
  if (walk.byChunk.length < chunks * words) walk.byChunk = new Int32Array(chunks * words);
  const { byChunk } = walk;
  for (let k = 0; k < chunks; k++) put(byChunk, k * words, known, knownAt, words);
  for (let p = first; p < last; p++) {
    const from = phases.packetFrom[p];
    if (ofSingle[from] < 0) continue;
    join(clock, byChunk, phases.packetChunk[p] * words, kept.data(), ofSingle[from]);
    if (walk.givesBack && --packetReaders[from] === 0) kept.give(ofSingle[from]);
  }
  for (let k = 0; k < chunks; k++) join(clock, next, at, byChunk, k * words);
}

/** Keeps what an instruction tells others, by packets and by its posts. */
function tell(walk: Walk, i: number): void {
  const { program, phases, words, known, knownAt, byChunk, hasChunks, ofSingle, packetReaders, ofPost, postReaders } =
    walk;
  const single = phases.single[i];
  for (let k = 0; single >= 0 && k < program.chunks[i]; k++) {
    if (packetReaders[single + k] === 0) continue;
    ofSingle[single + k] = keep(walk, hasChunks ? byChunk : known, hasChunks ? k * words : knownAt);
    mark(walk, ofSingle[single + k], i, k);
  }
  if (postReaders[i] === 0) return;
  ofPost[i] = keep(walk, known, knownAt);
  if (single >= 0) for (let k = 0; k < program.chunks[i]; k++) mark(walk, ofPost[i], i, k);
}

function keep({ kept, words }: Walk, from: Int32Array, fromAt: number): number {
  const at = kept.take();
  put(kept.data(), at, from, fromAt, words);
  return at;
}

function mark({ firstBit, kept, clock }: Walk, at: number, i: number, chunk: number): void {
  if (firstBit[i] < 0) return;
  const bit = firstBit[i] + chunk;
  kept.data()[at + clock.lanes + (bit >> 5)] |= 1 << (bit & 31);
}

/** The form of a clock: words of lanes, then bits. */
interface ClockForm {
  readonly lanes: number;
  readonly words: number;
}

/** Raises `into[at ..]` to what both know. */
function join({ lanes, words }: ClockForm, into: Int32Array, at: number, from: Int32Array, fromAt: number): void {
  raise(into, at, from, fromAt, lanes);
  for (let w = lanes; w < words; w++) into[at + w] |= from[fromAt + w];
}

/**
 * Numbers, in `first`, the first chunks of instructions that touch a rank's memory and are reported singly, in each group on its
 * own; returns the most chunks of a group.
 */
function numberBits(
  program: Program,
  single: Int32Array,
  instructions: Int32Array,
  rank: number,
  first: Int32Array,
  groupOf: (instruction: number) => number,
  groups: number,
): number {
  const bits = new Int32Array(groups);
  for (const i of instructions) {
    if (single[i] < 0 || !touches(program, i, rank)) continue;
    first[i] = bits[groupOf(i)];
    bits[groupOf(i)] += program.chunks[i];
  }
  return bits.reduce((most, many) => Math.max(most, many), 0);
}

/** Clocks that are kept until all who wait for them have read them. */
interface Slots {
  /** Returns where a new clock begins in `data()`; its words are undefined. */
  readonly take: () => number;
  /** Gives a clock's place back. */
  readonly give: (at: number) => void;
  /** The words of all clocks; another array after every `take`. */
  readonly data: () => Int32Array;
}

/** Returns an empty store of clocks of `stride` words. Memory: the most clocks kept at a time. */
function slots(stride: number): Slots {
  let words = new Int32Array(64 * stride);
  let used = 0;
  const free: number[] = [];
  return {
    take() {
      const again = free.pop();
      if (again !== undefined) return again;
      if (used + stride > words.length) {
        const more = new Int32Array(2 * words.length);
        more.set(words);
        words = more;
      }
      used += stride;
      return used - stride;
    },
    give: (at) => {
      free.push(at);
    },
    data: () => words,
  };
}

/** Raises `into[at ..]` to the greater of both, word by word. */
function raise(into: Int32Array, at: number, from: Int32Array, fromAt: number, words: number): void {
  for (let w = 0; w < words; w++) {
    // without a branch, which would be guessed wrong as often as not; counts are from 0
    const less = into[at + w] - from[fromAt + w];
    into[at + w] -= less & (less >> 31);
  }
}

/** Copies words of a clock. */
function put(into: Int32Array, at: number, from: Int32Array, fromAt: number, words: number): void {
  for (let w = 0; w < words; w++) into[at + w] = from[fromAt + w];
}
