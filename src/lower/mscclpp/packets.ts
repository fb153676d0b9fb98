import { InputError, inWords } from "../../base/errors.ts";
import { SCRATCH } from "../../model/program/program.ts";
import { MSCCLPP_RUNTIME } from "../../model/program/runtimes.ts";
import { bufferOf, indexOf, NOWHERE, type PlanState, type Problem, place, planState } from "./layout.ts";
import { NOP, type PacketPart, type PeerVia, type PlanOp, pieces } from "./operations.ts";
import { byLevel, ordersOfSlices } from "./orders.ts";
import type { SliceOps } from "./plan-program.ts";
import { eachOwnCopy } from "./slices.ts";

/** A buffer of places that become plain scratch once it is known how many packets lie before them. */
const PARTIAL = 3;

const { channelsPerOp, operandsPerSide } = MSCCLPP_RUNTIME;
/** Places of packets that one operation adds to what the rank has. */
const MOST_ADDED = operandsPerSide - 1;

/**
 * Returns the operations of the thread blocks of every slice, and the scratch of every rank, where all data travels as packets:
 * each carries the flag that its reader waits for, so nobody signals, waits or shakes hands.
 *
 * What comes to a rank lands in scratch, each in a place of its own, and is sent on, added or unpacked from there. Sums are sent
 * as they are made. Proxies send only packets that lie in scratch, so what goes between boxes is copied there first. Sums that
 * have no place at the end lie in scratch behind the packets, which take two places each.
 *
 * Throws InputError where a move has nothing to carry. O(ranks * chunks + chunks of all moves).
 */
export function packetOpsOf(
  problem: Problem,
  sliceOfMove: Int32Array,
  slices: number,
): { ops: SliceOps[]; scratchChunks: Int32Array } {
  const state = planState(problem);
  const { rankCount, chunkCount } = problem.moves;
  const shared = { state, partials: new Int32Array(rankCount), kept: new Int32Array(rankCount * chunkCount).fill(-1) };
  const written = ordersOfSlices(problem, sliceOfMove, slices).map((moves): Slice => {
    const slice: Slice = { ...shared, ranks: new Map(), sums: new Map(), underWay: new Map(), unpacked: [] };
    byLevel(state, moves, {
      send: (level) => send(slice, level),
      receive: (level) => receive(slice, level),
    });
    return slice;
  });
  for (const slice of written) unpack(slice);
  const copies = written.map((): Run[] => []);
  eachOwnCopy(problem, sliceOfMove, slices, (slice, rank, from, to) => {
    addRun(copies[slice], { rank, chunk: 0, peer: rank, via: "memory", from, to, chunks: 1 });
  });
  copies.forEach((runs, s) => {
    for (const { rank, from, to, chunks } of runs)
      add(written[s], rank, "copy", "local", [{ ...NOTHING, own: [from], to, chunks }]);
  });
  const { scratchChunks } = state;
  const ops = written.map(({ ranks }) => {
    const blocks = [...ranks].map(([rank, { ops: own }]) => [rank, [settled(own, 2 * scratchChunks[rank])]] as const);
    return new Map(blocks);
  });
  // a writer finds the half of a call in the peer's scratch where it is in its own
  const most = scratchChunks.reduce((known, packets, rank) => {
    const plain = shared.partials[rank];
    return Math.max(known, plain === 0 ? packets : 2 * packets + plain);
  }, 0);
  return { ops, scratchChunks: scratchChunks.map(() => most) };
}

/** Chunks that go one way together: places of equally many neighbours. */
interface Run {
  readonly rank: number;
  readonly chunk: number;
  readonly peer: number;
  readonly via: PeerVia;
  readonly from: number;
  readonly to: number;
  chunks: number;
}

/** A part that may be given more to do as long as nothing has changed what it wrote. */
type OpenPart = { -readonly [Field in keyof PacketPart]: PacketPart[Field] } & { sent: { peer: number; at: number }[] };

interface Writing {
  readonly ops: PlanOp[];
  /** Plain places of its rank that were read and written since the threads last met. */
  readonly read: Set<number>;
  readonly written: Set<number>;
}

type OpenOp = { -readonly [Field in keyof PlanOp]: PlanOp[Field] };

/** A sum that was written, of these chunks. */
interface Sum {
  readonly op: OpenOp;
  readonly part: OpenPart;
  readonly chunk: number;
}

interface Slice {
  readonly state: PlanState;
  /** [ranks] plain places in scratch. */
  readonly partials: Int32Array;
  /** [ranks x chunks] place of the packets that hold what the rank has plain; NOWHERE: none. */
  readonly kept: Int32Array;
  readonly ranks: Map<number, Writing>;
  /** By rank and chunk: the sum that made what the rank has plain of it. */
  readonly sums: Map<number, Sum>;
  /** By move: what is on its way, chunk by chunk, and where it lands. */
  readonly underWay: Map<number, readonly (readonly [chunk: number, at: number])[]>;
  /** Ranks and chunks of which a copy came: rank * chunks + chunk. */
  readonly unpacked: number[];
}

const NOTHING = { own: [], read: [], to: NOWHERE, kept: NOWHERE, sent: [] };

const isPacket = (at: number): boolean => bufferOf(at) === SCRATCH;

/** Adds a run, to the last one where it goes on with it. */
function addRun(list: Run[], run: Run): void {
  const last = list[list.length - 1];
  const step = 4 * (last?.chunks ?? 0);
  const goesOn =
    last !== undefined &&
    last.rank === run.rank &&
    last.peer === run.peer &&
    last.via === run.via &&
    last.from + step === run.from &&
    last.to + step === run.to;
  if (goesOn) last.chunks += run.chunks;
  else list.push(run);
}

const scratchRun = ({ scratchChunks }: PlanState, rank: number, chunks: number): number => {
  scratchChunks[rank] += chunks;
  return place(SCRATCH, scratchChunks[rank] - chunks);
};

function writingOf({ ranks }: Slice, rank: number): Writing {
  const known = ranks.get(rank) ?? { ops: [], read: new Set(), written: new Set() };
  ranks.set(rank, known);
  return known;
}

const isPlain = (at: number): boolean => at !== NOWHERE && !isPacket(at);

function touches(places: ReadonlySet<number>, at: number, chunks: number): boolean {
  if (isPlain(at)) for (let k = 0; k < chunks; k++) if (places.has(at + 4 * k)) return true;
  return false;
}

function touch(places: Set<number>, at: number, chunks: number): void {
  if (isPlain(at)) for (let k = 0; k < chunks; k++) places.add(at + 4 * k);
}

/** Adds an operation; the threads meet before it where it reads what was written since they did, or writes what was touched. */
function add(slice: Slice, rank: number, op: PlanOp["op"], via: PlanOp["via"], packets: readonly PacketPart[]): OpenOp {
  const { ops, read, written } = writingOf(slice, rank);
  const waits = packets.some(
    ({ own, to, chunks }) =>
      own.some((at) => touches(written, at, chunks)) || touches(written, to, chunks) || touches(read, to, chunks),
  );
  if (waits) {
    ops.push(NOP);
    read.clear();
    written.clear();
  }
  for (const { own, to, chunks } of packets) {
    for (const at of own) touch(read, at, chunks);
    touch(written, to, chunks);
  }
  const added: OpenOp = { op, via, channels: [], parts: [], packets };
  ops.push(added);
  return added;
}

function send(slice: Slice, level: Int32Array): void {
  const { state } = slice;
  const { moves, at, given } = state;
  const runs: Run[] = [];
  for (const move of level) {
    const [from, to] = [moves.source[move], moves.target[move]];
    const landed: [number, number][] = [];
    const copies = moves.reduces[move] === 0;
    for (let chunk = moves.chunk[move]; chunk < moves.chunk[move] + moves.chunks[move]; chunk++) {
      const source = at[from * moves.chunkCount + chunk];
      if (source === NOWHERE)
        throw new InputError(
          "a schedule to be lowered",
          "chunks only from ranks that have them",
          inWords(`chunk ${chunk} from rank ${from}`),
        );
      if (copies && given[to * moves.chunkCount + chunk] === 1) continue;
      if (copies) given[to * moves.chunkCount + chunk] = 1;
      const landing = scratchRun(state, to, 1);
      landed.push([chunk, landing]);
      addRun(runs, { rank: from, chunk, peer: to, via: state.via(from, to), from: source, to: landing, chunks: 1 });
    }
    slice.underWay.set(move, landed);
  }
  const plain: Run[] = [];
  const packed: Run[] = [];
  for (const run of runs) {
    if (isPacket(run.from)) packed.push(run);
    else if (run.via === "port") packed.push({ ...run, from: keptOf(slice, run) });
    else if (!sentWithSum(slice, run)) plain.push(run);
  }
  // Sources of one operation are of one buffer and alike in length; those of packets that are sent on, the same packets.
  inGroups(
    plain,
    ({ rank, from, chunks }) => `${rank} ${bufferOf(from)} ${chunks}`,
    (group) => {
      const parts = group.map(({ peer, from, to, chunks }) => ({
        ...{ ...NOTHING, own: [from], chunks },
        sent: [{ peer, at: to }],
      }));
      add(slice, group[0].rank, "ppkt", "memory", parts);
    },
  );
  inGroups(
    packed,
    ({ rank, from, chunks, via }) => `${rank} ${from} ${chunks} ${via}`,
    (group) => {
      const [{ rank, from, chunks, via }] = group;
      const sent = group.map(({ peer, to }) => ({ peer, at: to }));
      add(slice, rank, "rppkt", via, [{ ...NOTHING, read: [from], sent, chunks }]);
    },
  );
}

/** Calls with the runs of each key, as many as an operation takes, in the order of the first ones. */
function inGroups(runs: readonly Run[], keyOf: (run: Run) => string, use: (group: readonly Run[]) => void): void {
  const groups = new Map<string, Run[]>();
  for (const run of runs) {
    const key = keyOf(run);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [run]);
    else known.push(run);
  }
  for (const group of groups.values()) for (const piece of pieces(group, channelsPerOp)) use(piece);
}

/** Returns the sum that made what a run carries, where it made just that. */
function sumOf({ sums, state }: Slice, { rank, chunk, from, chunks }: Run): Sum | undefined {
  const first = rank * state.moves.chunkCount + chunk;
  const sum = sums.get(first);
  if (sum?.part.to !== from || sum.part.chunks !== chunks || sum.chunk !== chunk) return undefined;
  for (let k = 1; k < chunks; k++) if (sums.get(first + k) !== sum) return undefined;
  return sum;
}

/** Lets the sum that made what a run carries send it too; returns whether that can be. */
function sentWithSum(slice: Slice, run: Run): boolean {
  const sum = sumOf(slice, run);
  if (sum === undefined || sum.part.sent.length === channelsPerOp) return false;
  sum.part.sent.push({ peer: run.peer, at: run.to });
  nameSum(sum);
  return true;
}

/** Returns where the rank has what a run carries as packets of its own; they are written if they are not there. */
function keptOf(slice: Slice, run: Run): number {
  const { state, kept } = slice;
  const { rank, chunk, from, chunks } = run;
  const first = rank * state.moves.chunkCount + chunk;
  const known = kept[first];
  const isKept = (_: unknown, k: number): boolean => kept[first + k] === known + 4 * k;
  if (known !== NOWHERE && Array.from({ length: chunks }).every(isKept)) return known;
  const at = scratchRun(state, rank, chunks);
  for (let k = 0; k < chunks; k++) kept[first + k] = at + 4 * k;
  const sum = sumOf(slice, run);
  if (sum !== undefined && sum.part.kept === NOWHERE) {
    sum.part.kept = at;
    nameSum(sum);
  } else add(slice, rank, "cpkt", "local", [{ ...NOTHING, own: [from], kept: at, chunks }]);
  return at;
}

/** Names a sum after what it does beside summing. */
function nameSum({ op, part }: Sum): void {
  const sends = part.sent.length > 0;
  op.op = part.kept === NOWHERE ? (sends ? "respkt" : "repkt") : sends ? "recspkt" : "recpkt";
  op.via = sends ? "memory" : "local";
}

interface PacketSum {
  readonly rank: number;
  readonly chunk: number;
  readonly own: number;
  readonly added: readonly number[];
  readonly to: number;
  chunks: number;
}

function receive(slice: Slice, level: Int32Array): void {
  const { state, kept, unpacked } = slice;
  const { moves, at } = state;
  const added = new Map<number, number[]>();
  for (const move of level) {
    const rank = moves.target[move];
    for (const [chunk, landing] of slice.underWay.get(move) ?? []) {
      const k = rank * moves.chunkCount + chunk;
      if (moves.reduces[move] === 1) {
        const known = added.get(k);
        if (known === undefined) added.set(k, [landing]);
        else known.push(landing);
        continue;
      }
      at[k] = landing;
      kept[k] = NOWHERE;
      unpacked.push(k);
    }
    slice.underWay.delete(move);
  }
  const sums: PacketSum[] = [];
  for (const k of [...added.keys()].sort((a, b) => a - b)) addSum(sums, sumAt(slice, k, added.get(k) ?? []));
  for (const sum of sums) writeSum(slice, sum);
}

function sumAt({ state, partials, kept }: Slice, k: number, added: readonly number[]): PacketSum {
  const { at, layout, moves } = state;
  const [rank, chunk] = [Math.floor(k / moves.chunkCount), k % moves.chunkCount];
  const own = at[k];
  const end = layout.end(rank, chunk);
  const to = end !== NOWHERE ? end : bufferOf(own) === PARTIAL ? own : place(PARTIAL, partials[rank]++);
  at[k] = to;
  kept[k] = NOWHERE;
  return { rank, chunk, own, added, to, chunks: 1 };
}

/** Adds a sum, to the last one where it goes on with it. */
function addSum(list: PacketSum[], sum: PacketSum): void {
  const last = list[list.length - 1];
  const step = 4 * (last?.chunks ?? 0);
  const goesOn =
    last !== undefined &&
    last.rank === sum.rank &&
    last.chunk + last.chunks === sum.chunk &&
    last.own + step === sum.own &&
    last.to + step === sum.to &&
    last.added.length === sum.added.length &&
    last.added.every((at, i) => at + step === sum.added[i]);
  if (goesOn) last.chunks++;
  else list.push(sum);
}

/** Writes a sum; one of more than an operation takes is made in several. What the rank has in packets only is unpacked first. */
function writeSum(slice: Slice, { rank, chunk, own, added, to, chunks }: PacketSum): void {
  if (isPacket(own)) add(slice, rank, "upkt", "local", [{ ...NOTHING, read: [own], to, chunks }]);
  let plain = isPacket(own) ? to : own;
  for (const read of pieces(added, MOST_ADDED)) {
    const part: OpenPart = { own: [plain], read, to, kept: NOWHERE, sent: [], chunks };
    const sum = { op: add(slice, rank, "repkt", "local", [part]), part, chunk };
    const first = rank * slice.state.moves.chunkCount + chunk;
    for (let k = first; k < first + chunks; k++) slice.sums.set(k, sum);
    plain = to;
  }
}

/** Brings what came as packets, or was summed elsewhere, to its place at the end. */
function unpack(slice: Slice): void {
  const { at, layout, moves } = slice.state;
  const runs: Run[] = [];
  for (const k of [...new Set(slice.unpacked)].sort((a, b) => a - b)) {
    const [rank, chunk] = [Math.floor(k / moves.chunkCount), k % moves.chunkCount];
    const end = layout.end(rank, chunk);
    if (end === NOWHERE || end === at[k]) continue;
    addRun(runs, { rank, chunk, peer: rank, via: "memory", from: at[k], to: end, chunks: 1 });
  }
  for (const { rank, from, to, chunks } of runs) {
    if (isPacket(from)) add(slice, rank, "upkt", "local", [{ ...NOTHING, read: [from], to, chunks }]);
    else add(slice, rank, "copy", "local", [{ ...NOTHING, own: [from], to, chunks }]);
  }
}

/** Returns operations whose plain places in scratch are behind this many places. */
function settled(ops: readonly PlanOp[], before: number): PlanOp[] {
  const isPartial = (at: number): boolean => at !== NOWHERE && bufferOf(at) === PARTIAL;
  const put = (at: number): number => (isPartial(at) ? place(SCRATCH, before + indexOf(at)) : at);
  const names = ({ own, to }: PacketPart): boolean => isPartial(to) || own.some(isPartial);
  return ops.map((op) =>
    op.packets?.some(names) !== true
      ? op
      : { ...op, packets: op.packets.map((part) => ({ ...part, own: part.own.map(put), to: put(part.to) })) },
  );
}
