import type { NamedCollective } from "../../model/collective/collective.ts";
import { INPUT, type Op, OUTPUT, type Program, WAIT_INSTRUCTION } from "../../model/program/program.ts";
import {
  type Instruction,
  type Operand,
  type ProgramBuilder,
  programBuilder,
  type Wait,
} from "../../model/program/program-builder.ts";

/**
 * What NCCL's own kernels do (src/device/all_reduce.h and its neighbours: runRing, runTreeSplit, and for one GPU a box what trees
 * of ranks do), as programs of MSCCL's machine, which is NCCL's with another interpreter: a channel of a ring is one thread block of
 * each GPU with one connection in and one out; a tree's receives from and sends to several peers, here a thread block for each of them.
 */

/** Collectives that rings are for. */
export type RingKind = "allreduce" | "allgather" | "reducescatter" | "broadcast" | "reduce";

interface Call {
  readonly collective: RingKind;
  readonly rootRank?: number;
  readonly protocol: Program["protocol"];
}

/** Returns a program's fields that are no columns; `parts`: chunks of a rank's part, or of all data where there are no parts. */
function headerOf(
  { collective, rootRank = 0, protocol }: Call,
  algorithm: string,
  ranks: number,
  channels: number,
  loopChunks: number,
) {
  const perRank = (chunks: number): Int32Array => new Int32Array(ranks).fill(chunks);
  return {
    name: `NCCL's ${algorithm}`,
    machine: "msccl",
    collective: collective as NamedCollective,
    rootRank,
    rankCount: ranks,
    protocol,
    inPlace: true,
    outOfPlace: true,
    minBytes: null,
    maxBytes: null,
    loopChunks,
    finer: 1,
    inputChunks: perRank(collective === "allgather" ? channels : loopChunks),
    outputChunks: perRank(collective === "reducescatter" ? channels : loopChunks),
    scratchChunks: perRank(0),
    channelCount: channels,
  } as const;
}

/** What a rank does with a chunk: `from` where its own part comes from, `to` where the result goes; -1: none. */
type Step = readonly [op: Op, from: number, to: number];

const RECEIVES: ReadonlySet<Op> = new Set(["r", "rcs", "rrs", "rrc", "rrcs"]);
const SENDS: ReadonlySet<Op> = new Set(["s", "rcs", "rrs", "rrcs"]);

function instruction(rank: number, [op, from, to]: Step, more: Partial<Instruction> = {}, source = INPUT): Instruction {
  const operand = (buffer: number, index: number): Operand[] => (index < 0 ? [] : [{ rank, buffer, index }]);
  return {
    op,
    chunks: 1,
    receives: RECEIVES.has(op),
    sends: SENDS.has(op),
    sources: operand(source, from),
    destinations: operand(OUTPUT, to),
    ...more,
  };
}

/** Returns what the rank at a place of a ring does, in order; `chunk` is that of a place, `own` that of this one's part alone. */
function ringSteps(
  kind: RingKind,
  ranks: number,
  place: number,
  root: number,
  chunk: (place: number) => number,
  own: number,
): Step[] {
  const at = (back: number): number => chunk((place - back + 2 * ranks) % ranks);
  const between = (step: (chunk: number) => Step, first: number): Step[] =>
    Array.from({ length: ranks - 2 }, (_, i) => step(at(first + i)));
  const reduced: Step[] = [["s", at(1), -1], ...between((one) => ["rrs", one, -1], 2)];
  const passed: Step[] = [...between((one) => ["rcs", -1, one], 1), ["r", -1, at(ranks - 1)]];
  switch (kind) {
    case "allreduce":
      return [...reduced, ["rrcs", at(0), at(0)], ...passed];
    case "reducescatter":
      return [...reduced, ["rrc", at(0), own]];
    case "allgather":
      return [["s", own, at(0)], ...passed];
    case "broadcast":
      if (place === root) return [["s", own, own]];
      return [[(place + 1) % ranks === root ? "r" : "rcs", -1, own]];
    case "reduce":
      if (place === root) return [["rrc", own, own]];
      return [[(place + ranks - 1) % ranks === root ? "s" : "rrs", own, -1]];
  }
}

/**
 * Returns the program of NCCL's rings: `orders` are [channels] the ranks in ring order; every channel has an equal share of the data.
 * O(channels x ranks^2).
 */
export function ringProgram(call: Call, orders: readonly Int32Array[]): Program {
  const { collective, rootRank = 0 } = call;
  const channels = orders.length;
  const ranks = (orders[0] as Int32Array).length;
  const places = orders.map((order) => Int32Array.from({ length: ranks }, (_, rank) => order.indexOf(rank)));
  const hasParts = collective !== "broadcast" && collective !== "reduce";
  const builder = programBuilder();
  for (let rank = 0; rank < ranks; rank++) {
    builder.addRank();
    orders.forEach((order, channel) => {
      const place = (places[channel] as Int32Array)[rank] as number;
      const root = (places[channel] as Int32Array)[rootRank] as number;
      // all-reduce has a part for each place of the ring, the others one for each rank
      const chunk = (at: number): number =>
        collective === "allreduce" ? channel * ranks + at : (order[at] as number) * channels + channel;
      const steps = ringSteps(collective, ranks, place, root, chunk, channel);
      const [sends, receives] = [steps.some(([op]) => SENDS.has(op)), steps.some(([op]) => RECEIVES.has(op))];
      builder.addBlock({
        id: channel,
        channel,
        ...(sends ? { sendPeer: order[(place + 1) % ranks] as number } : {}),
        ...(receives ? { recvPeer: order[(place + ranks - 1) % ranks] as number } : {}),
      });
      for (const step of steps) builder.add(instruction(rank, step));
    });
  }
  return builder.build(headerOf(call, "ring", ranks, channels, hasParts ? channels * ranks : channels));
}

/** Returns [ranks] the children of each. */
function childrenOf(parent: Int32Array): number[][] {
  const children: number[][] = Array.from(parent, () => []);
  parent.forEach((up, rank) => {
    if (up >= 0) (children[up] as number[]).push(rank);
  });
  return children;
}

/**
 * Returns the program of NCCL's trees for an all-reduce: `parents` are [channels] the parent of each rank, -1 at the root; every
 * channel has an equal share of the data, which goes up and down chunk by chunk. O(channels x ranks).
 */
export function treeProgram(protocol: Program["protocol"], parents: readonly Int32Array[]): Program {
  const channels = parents.length;
  const ranks = (parents[0] as Int32Array).length;
  const children = parents.map(childrenOf);
  const builder = programBuilder();
  for (let rank = 0; rank < ranks; rank++) {
    builder.addRank();
    let id = 0;
    parents.forEach((parent, channel) => {
      id = addTreeRank(
        builder,
        { rank, channel, id },
        parent[rank] as number,
        (children[channel] as number[][])[rank] as number[],
      );
    });
  }
  return builder.build(headerOf({ collective: "allreduce", protocol }, "tree", ranks, channels, channels));
}

/** Adds the blocks of a rank in a channel's tree: up from each child, the last on to the parent, then down; returns the next number. */
function addTreeRank(
  builder: ProgramBuilder,
  { rank, channel, id }: { readonly rank: number; readonly channel: number; readonly id: number },
  parent: number,
  children: readonly number[],
): number {
  let next = id;
  const isRoot = parent < 0;
  const block = (peers: { sendPeer?: number; recvPeer?: number }): void =>
    void builder.addBlock({ id: next++, channel, ...peers });
  let before: readonly Wait[] = [];
  /** Where what was added up so far is. */
  let sum = INPUT;
  const add = (step: Step, publishes: boolean): void => {
    const index = builder.add(instruction(rank, step, { waits: before, publishes }, sum));
    before = [{ kind: WAIT_INSTRUCTION, on: index }];
  };
  children.forEach((child, i) => {
    const isLast = i === children.length - 1;
    if (!isLast || isRoot) {
      const downTo = isLast ? { sendPeer: child } : {};
      block({ recvPeer: child, ...downTo });
      add([isLast ? "rrcs" : "rrc", channel, channel], true);
      sum = OUTPUT;
      return;
    }
    block({ recvPeer: child, sendPeer: parent });
    add(["rrs", channel, -1], false);
  });
  if (children.length === 0) {
    block({ sendPeer: parent });
    add(["s", channel, -1], false);
  }
  // down: the first child hears from the block that receives, the root's last from the one that has the sum
  before = isRoot ? before : [];
  const [first, ...others] = isRoot ? [undefined, ...children.slice(0, -1)] : children;
  if (!isRoot) {
    block({ recvPeer: parent, ...(first === undefined ? {} : { sendPeer: first }) });
    add([first === undefined ? "r" : "rcs", -1, channel], others.length > 0);
  }
  const received = before;
  for (const child of others) {
    block({ sendPeer: child as number });
    builder.add(instruction(rank, ["s", channel, -1], { waits: received }, OUTPUT));
  }
  return next;
}
