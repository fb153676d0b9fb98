import { InputError } from "../../base/errors.ts";
import { demandExactPs } from "../../model/numbers/exact-ps.ts";
import { toNumber } from "../../model/numbers/rational.ts";
import { formatSize, PS_PER_SECOND } from "../../model/numbers/units.ts";
import {
  blockCount,
  blockOfInstructions,
  instructionCount,
  type Program,
  placeOfInstruction,
  rankOfBlocks,
} from "../../model/program/program.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type Outcome, REPORT, type Setup } from "./program-machine.ts";
import { runMscclpp } from "./program-mscclpp.ts";
import {
  ARRIVAL,
  enter,
  HEAD,
  KINDS,
  latencyOf,
  type ProgramNetwork,
  programNetwork,
  schedule,
  send,
  take,
} from "./program-network.ts";
import { type ProgramRoutes, programRoutes } from "./program-routes.ts";
import { type Cutting, messagesOf, type Sizes, sizesOf, sizeTable } from "./program-sizes.ts";
import { type ProgramTimeline, timelineDraft } from "./program-timeline.ts";
import { waiting, waitOn, wakeAll } from "./program-waiting.ts";

export interface ProgramSimulationOptions extends Partial<Cutting> {
  /** As nccl-tests count it. */
  readonly sizeBytes: number;
  /** [ranks] NPU of each rank; default: rank r is NPU r. */
  readonly rankToNpu?: ArrayLike<number>;
  /** Bytes per second that a thread block copies or adds; default: that takes no time. */
  readonly localBytesPerSecond?: number;
  /** Keep when every message was sent and arrived. */
  readonly timeline?: boolean;
  /** Called now and then with the instructions carried out. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** What a program does in the congestion-aware network. Times are exact integers in picoseconds. */
export interface ProgramSimulation {
  /** When the last block has ended and the last byte has arrived. */
  readonly ps: number;
  /** What is modelled, in words. */
  readonly model: string;
  /** [links] how long the link was held. */
  readonly linkBusyPs: Float64Array;
  /** Carried out, over all passes. */
  readonly instructions: number;
  readonly messages: number;
  /** [blocks] */
  readonly blockEndPs: Float64Array;
  /** How messages were cut; `grown`: slices had to be larger than the runtime's, for there would be too many messages. */
  readonly cutting: Cutting & { readonly grown: boolean };
  /** Pairs of ranks that reach each other only through other NPUs, which then forward like switches. */
  readonly relayedPairs: number;
  readonly timeline?: ProgramTimeline;
}

/**
 * Returns the program carried out on a network. Messages between ranks take the widest way through switches, of these the
 * nearest, through other NPUs only where there is no other; connections of a pair are spread over equal ways. Links serve
 * messages first come first served with cut-through (see ProgramNetwork); a msccl program is carried out slice by slice with
 * connections of few slots, as runtimes do.
 *
 * Throws InputError where the network has too few NPUs or a switch cannot do what the program wants of it, for sizes that are no
 * positive integers, times that leave 2^53 ps, and where the program comes to a stop before its end; InfeasibleError where a rank cannot reach another. O(log messages) per message and link.
 */
export function simulateProgram(
  program: Program,
  topology: Topology,
  options: ProgramSimulationOptions,
): ProgramSimulation {
  const { sizeBytes, localBytesPerSecond, timeline = false, onProgress = () => {}, ...rest } = options;
  const npuOfRank = npusOf(program, topology, options.rankToNpu);
  if (localBytesPerSecond !== undefined && !(localBytesPerSecond > 0))
    throw new InputError("localBytesPerSecond", "a positive number", localBytesPerSecond);
  const { sliceBytes, cuts, slots } = rest;
  const sizes = sizesOf(program, sizeBytes, {
    ...(sliceBytes === undefined ? {} : { sliceBytes }),
    ...(cuts === undefined ? {} : { cuts }),
    ...(slots === undefined ? {} : { slots }),
  });
  const network = programNetwork(topology);
  const routes = programRoutes(topology);
  const draft = timelineDraft(timeline);
  const localPsPerByte = localBytesPerSecond === undefined ? 0 : PS_PER_SECOND / localBytesPerSecond;
  const setup: Setup = {
    program,
    topology,
    npuOfRank,
    sizes,
    network,
    routes,
    timeline: draft,
    localPsPerByte,
    onProgress,
  };
  const { blockEndPs, instructions, stuck } = program.machine === "msccl" ? runMsccl(setup) : runMscclpp(setup);
  if (stuck.length > 0) throw stopped(program, sizes, sizeBytes, stuck);
  const ps = blockEndPs.reduce((last, end) => Math.max(last, end), network.lastArrivalPs);
  demandExactPs(ps, "the simulated time");
  const columns = draft.columns();
  const relayedPairs = routes.relayedPairs();
  return {
    ps,
    model: wordsOf(program, sizes, relayedPairs),
    linkBusyPs: network.linkBusyPs,
    instructions,
    messages: network.sent,
    blockEndPs,
    cutting: { sliceBytes: sizes.sliceBytes, cuts: sizes.cuts, slots: sizes.slots, grown: sizes.grown },
    relayedPairs,
    ...(columns === undefined ? {} : { timeline: columns }),
  };
}

/** Returns [ranks] their NPUs. */
function npusOf({ rankCount }: Program, { name, npuCount }: Topology, asked?: ArrayLike<number>): Int32Array {
  if (asked === undefined) {
    if (rankCount > npuCount)
      throw new InputError(`the network ${name}`, `at least ${rankCount} NPUs, one for each rank`, npuCount);
    return Int32Array.from({ length: rankCount }, (_, rank) => rank);
  }
  if (asked.length !== rankCount) throw new InputError("rankToNpu", `${rankCount} NPUs`, asked.length);
  const seen = new Set<number>();
  for (let rank = 0; rank < rankCount; rank++) {
    const npu = asked[rank];
    if (!Number.isInteger(npu) || npu < 0 || npu >= npuCount || seen.has(npu))
      throw new InputError(`rankToNpu[${rank}]`, `an NPU in 0 .. ${npuCount - 1} of its own`, npu);
    seen.add(npu);
  }
  return Int32Array.from(asked);
}

function stopped(program: Program, { slots }: Sizes, sizeBytes: number, stuck: readonly number[]): InputError {
  const i = stuck.find((one) => program.sends[one] + program.receives[one] > 0) ?? stuck[0];
  const block = blockOfInstructions(program)[i];
  const where = placeOfInstruction(program, i, block, rankOfBlocks(program)[block]);
  const room = program.machine === "msccl" ? ` with ${slots} messages in a connection` : "";
  return new InputError(
    `${program.name} at ${formatSize(sizeBytes)}`,
    `a program that comes to its end${room}`,
    `${where} that waits for ever, of ${stuck.length} such`,
  );
}

const FLAGS = { Simple: "", LL: " (a flag beside every 4 bytes)", LL128: " (a flag beside every 120 bytes)" } as const;

function wordsOf({ machine, protocol }: Program, sizes: Sizes, relayedPairs: number): string {
  const { sliceBytes, cuts, slots, grown } = sizes;
  const links = "links serve messages first come first served, cut-through";
  const most = `${formatSize(sliceBytes)}${grown ? " (grown to bound the number of messages)" : ""}`;
  const relayed = relayedPairs > 0 ? `; pairs of ranks with no way but through other NPUs: ${relayedPairs}` : "";
  if (machine === "mscclpp") return `program/mscclpp: ${links}, in turns of at most ${most}${relayed}`;
  const parts = cuts > 1 ? ` in ${cuts} parts` : "";
  const cut = `messages of at most ${most}${parts}, ${slots} in a connection`;
  return `program/msccl ${protocol}${FLAGS[protocol]}: ${links}; ${cut}${relayed}`;
}

/** Slots of all connections. */
const MOST_ROOM = 2 ** 25;
const RUN = 2;
const DONE = 3;

/**
 * Runs an msccl program: every block carries out its instructions, pass by pass. A message is begun when what it forwards has
 * come and the connection has a free slot; the block goes on when its first link has sent it; the slot from which it was
 * received is free again, and the sender knows one latency later. O(log events) per message and link.
 */
function runMsccl(setup: Setup): Outcome {
  const { program, npuOfRank, sizes, network, routes, timeline, localPsPerByte, onProgress } = setup;
  const { instructionOffset, waitOffset, waitOn: awaited, chunks, sends, receives, publishes } = program;
  const { passes, chunksPerMessage, cuts, slots } = sizes;
  const blocks = blockCount(program);
  const count = instructionCount(program);
  const rankOfBlock = rankOfBlocks(program);
  const blockOf = blockOfInstructions(program);
  const connections = connectionsOf(program, rankOfBlock, npuOfRank, routes, network);
  const { sendsInto, receivesFrom, source, target, route, latencyPs } = connections;
  const rowOf = sizeTable(program, sizes, network);
  const bytesOfChunk = toNumber(sizes.chunkBytes);

  const links = source.length;
  /** [connections] messages. */
  const arrived = new Float64Array(links);
  const taken = new Float64Array(links);
  const sent = new Float64Array(links);
  if (links * slots > MOST_ROOM)
    throw new InputError("slots", `at most ${Math.floor(MOST_ROOM / links)} for ${links} connections`, slots);
  /** [connections x slots] when the sender knows that its slot is free again. */
  const freeAt = new Float64Array(links * slots);
  const [ROOM, PUBLISHED] = [links, 2 * links];
  const waiters = waiting(2 * links + blocks, blocks);
  /** [blocks] last instruction published, over all passes: pass x instructions + instruction. */
  const published = new Float64Array(blocks).fill(-1);

  /** [blocks] where it is: pass, instruction, waits that are over, message of the instruction. */
  const pass = new Float64Array(blocks);
  const at = Int32Array.from(instructionOffset.subarray(0, blocks));
  const waited = new Int32Array(blocks);
  const piece = new Int32Array(blocks);
  const blockEndPs = new Float64Array(blocks);
  let instructions = 0;

  const run = (b: number, now: number): void => {
    while (pass[b] < passes) {
      if (at[b] === instructionOffset[b + 1]) {
        at[b] = instructionOffset[b];
        pass[b] = at[b] === instructionOffset[b + 1] ? passes : pass[b] + 1;
        continue;
      }
      const end = advance(b, at[b], now);
      if (end < 0) return;
      if (end > now) {
        schedule(network, end, DONE, b);
        return;
      }
      finish(b, at[b], now);
    }
  };

  /** Begins the block's next message or step; returns when it is done, -1 where it has to wait. */
  const advance = (b: number, i: number, now: number): number => {
    while (waited[b] < waitOffset[i + 1] - waitOffset[i]) {
      const on = awaited[waitOffset[i] + waited[b]];
      if (published[blockOf[on]] < pass[b] * count + on) {
        waitOn(waiters, PUBLISHED + blockOf[on], b);
        return -1;
      }
      waited[b]++;
    }
    const from = receives[i] === 1 ? receivesFrom[b] : -1;
    const into = sends[i] === 1 ? sendsInto[b] : -1;
    if (from >= 0 && arrived[from] <= taken[from]) {
      waitOn(waiters, from, b);
      return -1;
    }
    if (into >= 0 && sent[into] >= slots) {
      const free = freeAt[into * slots + (sent[into] % slots)];
      if (free > now) {
        if (free < Number.POSITIVE_INFINITY) schedule(network, free, RUN, b);
        else waitOn(waiters, ROOM + into, b);
        return -1;
      }
    }
    const moved = travels(i) ? chunksOfMessage(i, piece[b]) / cuts : chunks[i];
    let end = now + Math.round(localPsPerByte * moved * bytesInPass(pass[b]));
    if (into >= 0) {
      freeAt[into * slots + (sent[into] % slots)] = Number.POSITIVE_INFINITY;
      sent[into]++;
      const row = timeline.begin(now, source[into], target[into], i);
      const size = rowOf(chunksOfMessage(i, piece[b]), pass[b] === passes - 1, false);
      send(network, now, { route: route[into], size, owner: into, part: 0, early: false, row });
      end = Math.max(end, network.sentPs);
    }
    return end;
  };

  const travels = (i: number): boolean => receives[i] + sends[i] > 0;
  const bytesInPass = (k: number): number =>
    k < passes - 1 ? sizes.sliceBytes : bytesOfChunk - (passes - 1) * sizes.sliceBytes;
  const chunksOfMessage = (i: number, part: number): number =>
    Math.min(chunksPerMessage, chunks[i] - Math.floor(part / cuts) * chunksPerMessage);

  /** Ends what `advance` began. */
  const finish = (b: number, i: number, now: number): void => {
    const from = receives[i] === 1 ? receivesFrom[b] : -1;
    if (from >= 0) {
      const known = now + latencyPs[from];
      freeAt[from * slots + (taken[from] % slots)] = known;
      taken[from]++;
      wakeAll(waiters, ROOM + from, (waiter) => schedule(network, known, RUN, waiter));
    }
    blockEndPs[b] = now;
    if (++piece[b] < (travels(i) ? messagesOf(sizes, chunks[i]) : 1)) return;
    piece[b] = 0;
    waited[b] = 0;
    at[b]++;
    instructions++;
    if (publishes[i] === 0) return;
    published[b] = pass[b] * count + i;
    wakeAll(waiters, PUBLISHED + b, (waiter) => schedule(network, now, RUN, waiter));
  };

  for (let b = 0; b < blocks; b++) run(b, 0);
  const { queue } = network;
  for (let events = 1; queue.next(); events++) {
    const index = Math.floor(queue.payload / KINDS);
    const kind = queue.payload % KINDS;
    if (kind === HEAD) enter(network, index, queue.time);
    else if (kind === RUN) run(index, queue.time);
    else if (kind === DONE) {
      finish(index, at[index], queue.time);
      run(index, queue.time);
    } else if (kind === ARRIVAL) {
      const { owner, row } = take(network, index);
      timeline.end(row, queue.time);
      arrived[owner]++;
      wakeAll(waiters, owner, (waiter) => run(waiter, queue.time));
    }
    if (events % REPORT === 0) onProgress(instructions, count * passes);
  }
  const stuck = Array.from(at).filter((_, b) => pass[b] < passes);
  return { blockEndPs, instructions, stuck };
}

/** FIFO connections of an msccl program: (sender, receiver, channel). */
interface Connections {
  /** [blocks] connection into which it sends, and from which it receives; -1: none. */
  readonly sendsInto: Int32Array;
  readonly receivesFrom: Int32Array;
  /** [connections] ranks */
  readonly source: Int32Array;
  readonly target: Int32Array;
  /** [connections] */
  readonly route: readonly Int32Array[];
  readonly latencyPs: Float64Array;
}

/** Returns the connections; those of two ranks are spread over equal ways between them. O(blocks + links of routes). */
function connectionsOf(
  program: Program,
  rankOfBlock: Int32Array,
  npuOfRank: Int32Array,
  routes: ProgramRoutes,
  network: ProgramNetwork,
): Connections {
  const { sendPeer, recvPeer, channel, rankCount } = program;
  const numbers = new Map<string, number>();
  const ofPair = new Map<number, number>();
  const source: number[] = [];
  const target: number[] = [];
  const route: Int32Array[] = [];
  const numberOf = (from: number, to: number, through: number): number => {
    if (from < 0 || to < 0 || from >= rankCount || to >= rankCount || from === to) return -1;
    const key = `${from} ${to} ${through}`;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    const pair = from * rankCount + to;
    const ordinal = ofPair.get(pair) ?? 0;
    ofPair.set(pair, ordinal + 1);
    numbers.set(key, source.length);
    target.push(to);
    route.push(routes.between(npuOfRank[from], npuOfRank[to], npuOfRank[to] + ordinal));
    return source.push(from) - 1;
  };
  const sendsInto = Int32Array.from(rankOfBlock, (rank, b) => numberOf(rank, sendPeer[b], channel[b]));
  const receivesFrom = Int32Array.from(rankOfBlock, (rank, b) => numberOf(recvPeer[b], rank, channel[b]));
  return {
    sendsInto,
    receivesFrom,
    source: Int32Array.from(source),
    target: Int32Array.from(target),
    route,
    latencyPs: Float64Array.from(route, (links) => latencyOf(network, links)),
  };
}
