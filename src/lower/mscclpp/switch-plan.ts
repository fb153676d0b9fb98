import { InputError, inWords } from "../../base/errors.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { type Op, type Program, SCRATCH, type Via, WAIT_EVENT } from "../../model/program/program.ts";
import {
  type Instruction,
  type Operand,
  type ProgramBuilder,
  programBuilder,
} from "../../model/program/program-builder.ts";
import { MSCCLPP_RUNTIME } from "../../model/program/runtimes.ts";
import { inLinks, isNpu, outLinks, type Topology } from "../../model/topology/topology.ts";
import { expandTrees } from "../../model/trees/tree-expansion.ts";
import type { Forest, TreeFlow } from "../../model/trees/tree-flow.ts";
import { trafficSaved } from "../../model/trees/tree-multicast.ts";
import { bufferOf, indexOf, layoutOf, place, type Shape } from "./layout.ts";
import { pieces } from "./operations.ts";
import { planHeader } from "./plan-program.ts";

/** What switches can do of trees: every box's switch sums or stores for all of the box. */
export interface SwitchWork {
  /** [boxes] ranks; ranks at one place of all boxes are on one rail. */
  readonly boxes: readonly (readonly number[])[];
  /** [ranks] how many of the data's equal chunks each rank loads and stores: in proportion to the copies of the trees rooted there. */
  readonly shares: Int32Array;
}

/**
 * Returns what switches can do of trees; null where they cannot: where a box has none that duplicates (and sums) and is linked to
 * all of it both ways, where that saves nothing, and over several boxes unless each rank is as often a root as any other and trees
 * leave a box for the ranks at the same place of the others. O(links of all edges of all images).
 */
export function switchWork(flow: TreeFlow, nodeOf: (rank: number) => unknown): SwitchWork | null {
  const { topology, collective } = flow;
  const { kind, groupMembers } = collective;
  const gathers = kind === "allgather" || kind === "broadcast";
  const sums = kind === "allreduce" || kind === "reducescatter";
  if (!gathers && !sums) return null;
  const boxes = boxesBy(groupMembers.length, nodeOf);
  // ranks do by themselves what they can as fast
  if ((boxes.length > 1 || kind === "reducescatter") && flow.inNetwork !== true) return null;
  const traits = [
    ...(kind === "reducescatter" ? [] : (["multicast"] as const)),
    ...(sums ? (["aggregation"] as const) : []),
  ];
  const able = (ranks: readonly number[]): boolean =>
    hasCommonSwitch(
      topology,
      ranks.map((rank) => groupMembers[rank]),
      traits,
    );
  if (!boxes.every(able) || trafficSaved(flow) === null) return null;
  const { forests } = expandTrees(flow);
  const rankOf = new Map(Array.from(groupMembers, (npu, rank) => [npu, rank]));
  const shares = new Int32Array(groupMembers.length);
  forests[0].root.forEach((npu, tree) => {
    shares[rankOf.get(npu) as number] += forests[0].copies[tree];
  });
  const divisor = shares.reduce(greatestDivisor, 0);
  const work = { boxes, shares: shares.map((many) => many / divisor) };
  if (boxes.length === 1) return kind === "reducescatter" && work.shares.some((share) => share !== 1) ? null : work;
  const equal = work.shares.every((share) => share === 1) && boxes.every(({ length }) => length === boxes[0].length);
  return equal && forests.every((forest) => keepsToRails(topology, forest, boxes, rankOf)) ? work : null;
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));

function boxesBy(ranks: number, nodeOf: (rank: number) => unknown): number[][] {
  const boxes = new Map<unknown, number[]>();
  for (let rank = 0; rank < ranks; rank++) {
    const known = boxes.get(nodeOf(rank));
    if (known === undefined) boxes.set(nodeOf(rank), [rank]);
    else known.push(rank);
  }
  return [...boxes.values()];
}

/** Returns whether every edge between two boxes is between ranks at the same place of them. */
function keepsToRails(
  { linkSource, linkTarget }: Topology,
  { direction, linkOffset, links }: Forest,
  boxes: SwitchWork["boxes"],
  rankOf: ReadonlyMap<number, number>,
): boolean {
  const [nearOf, farOf] = direction === "out" ? [linkSource, linkTarget] : [linkTarget, linkSource];
  const placeOf = new Map(boxes.flatMap((ranks, box) => ranks.map((rank, p) => [rank, [box, p] as const] as const)));
  for (let edge = 0; edge + 1 < linkOffset.length; edge++) {
    const from = rankOf.get(nearOf[links[linkOffset[edge]]]) as number;
    const to = rankOf.get(farOf[links[linkOffset[edge + 1] - 1]]) as number;
    const [[boxA, a], [boxB, b]] = [placeOf.get(from), placeOf.get(to)] as [
      readonly [number, number],
      readonly [number, number],
    ];
    if (boxA !== boxB && a !== b) return false;
  }
  return true;
}

/** Returns whether some switch with these traits has links from and to all members. O(links). */
function hasCommonSwitch(
  topology: Topology,
  members: readonly number[],
  traits: readonly ("multicast" | "aggregation")[],
): boolean {
  const { nodeTraits, linkSource, linkTarget } = topology;
  const [from, to] = [outLinks(topology), inLinks(topology)];
  return nodeTraits.some((own, node) => {
    if (isNpu(topology, node) || traits.some((trait) => own[trait] !== true)) return false;
    const sources = new Set(Array.from(to.links.subarray(to.offset[node], to.offset[node + 1]), (l) => linkSource[l]));
    const targets = new Set(
      Array.from(from.links.subarray(from.offset[node], from.offset[node + 1]), (l) => linkTarget[l]),
    );
    return members.every((npu) => sources.has(npu) && targets.has(npu));
  });
}

interface SwitchPlanOptions {
  readonly name: string;
  readonly inPlace: boolean;
  /** Thread blocks of each rank, which share its work equally. */
  readonly blocks: number;
}

/** One thread block of one rank, while it is written. */
interface Block {
  /** Adds an operation: of its parallel parts, one instruction each. */
  readonly add: (...parts: readonly Instruction[]) => void;
  readonly events: Events;
  readonly rank: number;
  readonly block: number;
  /** Ranks of its box. */
  readonly box: readonly number[];
}

/**
 * Returns the plan of what switches do. A thread block meets those with its number of the other ranks of its box, does its part, and
 * meets them again: of a collective in one box it stores its share to all ranks at once (gstore), or lets the switch sum it over all
 * ranks and store the sum to all, or to itself (glres).
 *
 * Over several boxes (`acrossBoxes`) what is summed in a box goes to the rank at the same place of the box that it is for,
 * over ports; what is complete goes back so, and every box's switch stores it to the box.
 *
 * Throws InputError where there are more boxes than a thread block has channels to. O(ranks * blocks * (ranks of a box + boxes)).
 */
export function switchPlan(collective: Collective, work: SwitchWork, options: SwitchPlanOptions): Program {
  const { boxes, shares } = work;
  const { name, inPlace, blocks } = options;
  const { channelsPerBlock } = MSCCLPP_RUNTIME;
  if (boxes.length - 1 > channelsPerBlock)
    throw new InputError(
      "an MSCCL++ plan of this schedule",
      `at most ${channelsPerBlock + 1} boxes, for a thread block has ${channelsPerBlock} port channels, one to each other box`,
      inWords(`${boxes.length}: fewer boxes, or another algorithm may fit`),
    ).as("out-of-range");
  const rankCount = shares.length;
  const all = shares.reduce((sum, share) => sum + share, 0);
  const parted = collective.kind === "allgather" || collective.kind === "reducescatter";
  const shape: Shape = {
    ...{ collective, rankCount, rootRank: collective.rootRank, chunkCount: all * blocks },
    chunksPerBlock: parted ? shares[0] * blocks : all * blocks,
  };
  const layout = layoutOf(shape, inPlace);
  const builder = programBuilder();
  const events = eventsOf(builder);
  const before = startsOf(shares);
  const boxOf = new Map(boxes.flatMap((ranks, b) => ranks.map((rank) => [rank, b] as const)));
  /** Place of a share at its rank's start and end, or at any rank's. */
  const sharePlace = (of: number, block: number, where: "start" | "end", rank: number): number => {
    const b = boxOf.get(of) as number;
    const p = boxes[b].indexOf(of);
    const turn = boxes.length === 1 ? before[of] : p * boxes.length + b; // shares of one rail are neighbours
    return layout[where](rank, parted ? (of * blocks + block) * shares[0] : block * all + turn);
  };
  const scratch = new Int32Array(rankCount);
  for (let rank = 0; rank < rankCount; rank++) {
    builder.addRank();
    const own = boxOf.get(rank) as number;
    for (let block = 0; block < blocks; block++) {
      builder.addBlock({ id: block });
      let step = 0;
      const add = (...parts: readonly Instruction[]): void => {
        for (const part of parts) builder.add({ ...part, step });
        step++;
      };
      const ground: Block = { add, events, rank, block, box: boxes[own] };
      meet(ground, "rlxsignal", "rlxwait");
      if (boxes.length > 1)
        scratch[rank] += acrossBoxes(ground, collective, boxes, own, scratch[rank], blocks, sharePlace);
      else if (shares[rank] > 0) {
        const at = (where: "start" | "end") => (r: number) => sharePlace(rank, block, where, r);
        const chunks = shares[rank];
        if (!collective.reduces) store(ground, at("start")(rank), at("end"), chunks);
        else if (collective.kind === "reducescatter") sum(ground, at("start"), [rank], at("end"), chunks);
        else sum(ground, at("start"), boxes[0], at("end"), chunks);
        add({ op: "nop" });
      }
      meet(ground, "signal", "wait");
    }
  }
  return builder.build({ ...planHeader(shape, layout, { inPlace, name }, scratch), channelCount: blocks });
}

/** Returns how many chunks come before each rank's share. */
function startsOf(shares: Int32Array): Int32Array {
  const starts = new Int32Array(shares.length);
  for (let rank = 1; rank < shares.length; rank++) starts[rank] = starts[rank - 1] + shares[rank - 1];
  return starts;
}

const operand = (rank: number, at: number): Operand => ({ rank, buffer: bufferOf(at), index: indexOf(at) });

/** The switch stores chunks of the rank to all of its box. */
function store({ add, rank, box }: Block, from: number, to: (rank: number) => number, chunks: number): void {
  add({
    ...{ op: "gstore", via: "switch", chunks, sources: [operand(rank, from)] },
    destinations: box.map((r) => operand(r, to(r))),
  });
}

/** The switch sums chunks of all of the box and stores the sum to some of it. */
function sum(
  { add, box }: Block,
  from: (rank: number) => number,
  targets: readonly number[],
  to: (rank: number) => number,
  chunks: number,
): void {
  add({
    ...{ op: "glres", via: "switch", chunks, sources: box.map((r) => operand(r, from(r))) },
    destinations: targets.map((r) => operand(r, to(r))),
  });
}

/** So many thread blocks of a rank sum at once: while the first send what they summed, the next sum. */
const WAVE = 4;
/** Thread blocks over several boxes, where it is not said: waves that fill rails and switches at the same time. */
export const BLOCKS_OVER_BOXES = 16;
/** What comes from other boxes is stored in this many turns at most: a thread block has room for few operations. */
const MOST_ARRIVALS = 6;

type SharePlace = (of: number, block: number, where: "start" | "end", rank: number) => number;

/** Adds what a thread block does between two meetings of its box; returns the chunks of scratch that it needs from `base` on. */
function acrossBoxes(
  ground: Block,
  { kind, reduces }: Collective,
  boxes: SwitchWork["boxes"],
  own: number,
  base: number,
  blocks: number,
  sharePlace: SharePlace,
): number {
  const { add, events, rank, block, box } = ground;
  const p = box.indexOf(rank);
  const rail = boxes.map((ranks) => ranks[p]);
  const count = boxes.length;
  const others = Array.from({ length: count - 1 }, (_, k) => rail[(own + 1 + k) % count]);
  const slot = (k: number): number => place(SCRATCH, base + k);
  const boxOf = (peer: number): number => rail.indexOf(peer);
  const nop = (): void => add({ op: "nop" });
  const waitForRail = (peers = others): void => {
    const waits = peers.map((peer) => ({ kind: WAIT_EVENT, on: events(rank, peer, block, "port") }));
    for (const piece of pieces(waits, MSCCLPP_RUNTIME.channelsPerOp)) add({ op: "wait", via: "port", waits: piece });
    nop();
  };
  /** Puts a chunk for each of the others of the rail, and tells them. */
  const put = (from: (peer: number) => number, to: (peer: number) => number): void => {
    for (const piece of pieces(others, MSCCLPP_RUNTIME.channelsPerOp)) {
      const parts = piece.map((peer) => ({
        ...({ op: "pws", via: "port", chunks: 1, posts: [events(peer, rank, block, "port")] } as const),
        sources: [operand(rank, from(peer))],
        destinations: [operand(peer, to(peer))],
      }));
      add(...parts);
    }
  };
  // peers are written to once they have begun
  for (const piece of pieces(others, MSCCLPP_RUNTIME.channelsPerOp))
    add({ op: "signal", via: "port", posts: piece.map((peer) => events(peer, rank, block, "port")) });
  let used = 0;
  let complete = (of: number): number => sharePlace(of, block, of === rank ? "start" : "end", rank);
  const end = (of: number) => (r: number) => sharePlace(of, block, "end", r);
  if (reduces) {
    const sums = slot(0);
    const neighbours = kind === "allreduce";
    if (block >= WAVE) {
      add({ op: "sem_acquire", waits: [{ kind: WAIT_EVENT, on: events(rank, rank, block - WAVE, "local") }] });
      nop();
    }
    for (const of of neighbours ? rail.slice(0, 1) : rail)
      sum(
        ground,
        (r) => sharePlace(of, block, "start", r),
        [rank],
        () => slot(boxOf(of)),
        neighbours ? count : 1,
      );
    waitForRail();
    if (block + WAVE < blocks) add({ op: "sem_release", posts: [events(rank, rank, block, "local")] });
    // what boxes sent lies in the order of boxes, without this one
    const arrived = (of: number, from: number): number => count + (from < of ? from : from - 1);
    put(
      (peer) => slot(boxOf(peer)),
      (peer) => slot(arrived(boxOf(peer), own)),
    );
    waitForRail();
    used = 2 * count - 1;
    const total = kind === "allreduce" ? slot(used + own) : end(rank)(rank);
    let first = sums + 4 * own;
    for (const piece of pieces(
      others.map((_, k) => slot(count + k)),
      MSCCLPP_RUNTIME.channelsPerOp,
    )) {
      add({
        ...{ op: "re", chunks: 1, sources: [first, ...piece].map((at) => operand(rank, at)) },
        destinations: [operand(rank, total)],
      });
      nop();
      first = total;
    }
    const finals = used;
    complete = (of) => slot(finals + boxOf(of));
    if (kind === "allreduce") used += count;
  } else waitForRail();
  if (kind !== "reducescatter") {
    const storeOwn = (): void => store(ground, complete(rank), end(rank), 1);
    // what is stored to its own place as well is not read at the same time
    const ownPlace = complete(rank) === end(rank)(rank);
    if (ownPlace) storeOwn();
    if (ownPlace) nop();
    put(
      () => complete(rank),
      (peer) => (reduces ? slot(used - count + own) : end(rank)(peer)),
    );
    if (!ownPlace) storeOwn();
    // those of whom this rank is the next come first
    for (const peers of pieces([...others].reverse(), Math.ceil(others.length / MOST_ARRIVALS))) {
      waitForRail(peers);
      for (const peer of peers) store(ground, complete(peer), end(peer), 1);
    }
  }
  // what was put may be written again once all of the rail have it
  for (const piece of pieces(others, MSCCLPP_RUNTIME.channelsPerOp))
    add({ op: "signal", via: "port", posts: piece.map((peer) => events(peer, rank, block, "port")) });
  waitForRail();
  return used;
}

/** Returns the event on which a rank waits for another, of a channel with this number. */
type Events = (rank: number, peer: number, id: number, via: Via) => number;

function eventsOf(builder: ProgramBuilder): Events {
  const events = new Map<string, number>();
  return (rank, peer, id, via) => {
    const key = `${via} ${rank} ${peer} ${id}`;
    const known = events.get(key) ?? builder.addEvent({ rank, peer, id, via });
    events.set(key, known);
    return known;
  };
}

/** Returns the distances at which ranks of a box signal each other: in rounds, of several operations each. */
function roundsOf(count: number): number[][][] {
  const { channelsPerBlock, channelsPerOp } = MSCCLPP_RUNTIME;
  const distances = Array.from({ length: count - 1 }, (_, k) => 1 + k);
  if (count - 1 <= channelsPerBlock) return [pieces(distances, channelsPerOp)];
  const rounds: number[][][] = [];
  for (let d = 1; d < count; d *= 2) rounds.push([[d]]);
  return rounds;
}

/**
 * Makes a block meet those of all ranks of its box with its number. Where a block has channels to all of them, they signal each
 * other; else, in round k, each signals the rank 2^k after it, so that the last has heard, by others, of all (Hensgen, Finkel and
 * Manber 1988: dissemination).
 */
function meet({ add, events, rank, block, box }: Block, signal: Op, wait: Op): void {
  const [own, count, via] = [box.indexOf(rank), box.length, "memory"] as const;
  for (const together of roundsOf(count)) {
    for (const piece of together) {
      add({ op: signal, via, posts: piece.map((d) => events(box[(own + d) % count], rank, block, via)) });
    }
    for (const piece of together) {
      const on = (d: number): number => events(rank, box[(own + count - d) % count], block, via);
      add({ op: wait, via, waits: piece.map((d) => ({ kind: WAIT_EVENT, on: on(d) })) });
    }
    add({ op: "nop" });
  }
}
