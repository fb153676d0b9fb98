import {
  COLLECTIVE_KINDS,
  type Collective,
  type CollectiveKind,
  type NamedCollective,
} from "../../model/collective/collective.ts";
import { type Blocks, blocksOf, type Messages, messages } from "../../model/messages/messages.ts";
import { gcd } from "../../model/numbers/integers.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";
import { type RingDecomposition, ringDecomposition, whyNoRing } from "../../model/routes/rings.ts";
import { oppositeLinks } from "../../model/topology/link-classes.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { Effort } from "../maker.ts";
import { fromBaseline, ordersOfRanks, refuseGroups } from "./baseline.ts";

/** A chunk of these goes its way through, however many there are. */
const PASSED_ON: readonly CollectiveKind[] = ["gather", "scatter", "alltoall"];

/** Whether every link has one back. */
const isDuplex = ({ linkSource, linkTarget }: Topology): boolean => oppositeLinks(linkSource, linkTarget, []) !== null;

/**
 * One ring in rank order, each hop on the shortest way, lowest node first, as MPI libraries lay it on any network: with half of
 * every block each way, as footnote 3 of TACOS (2024) has its baseline and as libraries run channels in both directions of
 * duplex links; or one way, where that is quicker (links back are missing, slower or shared) or all of a block is one chunk.
 */
export const ring = fromBaseline({
  name: "ring",
  traits: { library: "in rank order", librariesOf: ["NCCL", "RCCL", "MPI"], effort: effortOfRing },
  description: "one ring in rank order, both ways or one, each hop on a shortest path (baseline)",
  collectives: COLLECTIVE_KINDS,
  policies: ["bidirectional", "natural"],
  usualPolicy: (topology) => (isDuplex(topology) ? "bidirectional" : "natural"),
  lanes: ({ policy }) => (policy === "bidirectional" ? 2 : 1),
  pipelines: (kind) => !PASSED_ON.includes(kind),
  issue({ collective, policy }) {
    const there = indicesBelow(collective.groupSize);
    return ringMessages(collective, policy === "bidirectional" ? [there, there.toReversed()] : [there]);
  },
  words({ topology, collective, policy }) {
    if (policy === "bidirectional" && collective.chunksPerNpu > 1) return "natural order, both ways";
    return `natural order, one way${isDuplex(topology) ? "" : ": not every link has one back"}`;
  },
});

/**
 * Returns what a ring of all ranks takes for a collective: a chunk goes to the farthest rank through all others, in an all-reduce
 * twice; an all-to-all sends every part through half of the ranks on average, others pass on one buffer.
 */
export function effortOfRing({ kind, groupSize, sizeBytes }: Collective): Effort {
  const chain = (groupSize - 1) * (kind === "allreduce" ? 2 : 1);
  const isEven = kind === "allgather" || kind === "reducescatter" || kind === "allreduce";
  return {
    chain,
    sentBytes: kind === "alltoall" ? (sizeBytes * chain) / 2 : isEven ? (sizeBytes * chain) / groupSize : 0,
  };
}

const found = new WeakMap<Topology, RingDecomposition>();

/** Returns the rings of a network, looked for once. */
export function ringsOf(topology: Topology): readonly Int32Array[] {
  const known = found.get(topology) ?? ringDecomposition(topology);
  found.set(topology, known);
  return known.rings;
}

/**
 * Rings over all NPUs that share no bandwidth, as many as are found, each with an equal part of the chunks: what the topology search
 * of NCCL and RCCL (graph/search.cc) makes of a box of direct links, a channel for every ring that bandwidth is left for, the
 * two directions of a link apart. Theirs gives up after a number of steps, so these are at least as many.
 */
export const rings = fromBaseline({
  name: "rings",
  traits: { library: "within a box", librariesOf: ["NCCL", "RCCL"] },
  description: "several rings that share no link, each with an equal part of the data (baseline)",
  collectives: ["allgather", "reducescatter", "allreduce", "broadcast", "reduce"],
  refuses: (topology, collective) => refuseGroups("rings", topology, collective) ?? whyNoRing(topology),
  lanes: ({ topology }) => ringsOf(topology).length,
  pipelines: () => true,
  issue: ({ topology, collective }) => ringMessages(collective, ordersOfRanks(collective, ringsOf(topology))),
  words({ topology, collective }) {
    const used = Math.min(ringsOf(topology).length, collective.chunksPerNpu);
    return used === 1 ? "1 ring" : `${used} rings`;
  },
});

/** Returns the steps a, ascending, for which every NPU i has a link to i + a and these links make one ring. O(links). */
export function shiftsOf(topology: Topology): number[] {
  const { npuCount, linkSource, linkTarget } = topology;
  const seen = new Map<number, Set<number>>();
  for (let link = 0; link < linkSource.length; link++) {
    if (linkSource[link] >= npuCount || linkTarget[link] >= npuCount) continue;
    const shift = (linkTarget[link] - linkSource[link] + npuCount) % npuCount;
    const from = seen.get(shift) ?? new Set();
    seen.set(shift, from.add(linkSource[link]));
  }
  const rings = [...seen].filter(([shift, from]) => from.size === npuCount && gcd(shift, npuCount) === 1);
  return rings.map(([shift]) => shift).sort((a, b) => a - b);
}

/** Returns the NPUs in the order of each of these rings. */
export const shiftedOrders = (topology: Topology): number[][] =>
  shiftsOf(topology).map((shift) =>
    Array.from({ length: topology.npuCount }, (_, i) => (i * shift) % topology.npuCount),
  );

/**
 * Rings i -> i + a side by side, one for every step a that has links everywhere and is prime to N, each with an equal part of the
 * chunks (the ShiftedRing of Zhao 2026, 3.8.2, where there are two such steps and their opposites).
 */
export const shiftedRings = fromBaseline({
  name: "shifted-rings",
  traits: { library: "within a box", librariesOf: ["NCCL", "RCCL"] },
  description: "rings i -> i + a side by side, for every step a the network has, both ways (baseline)",
  collectives: ["allgather", "reducescatter", "allreduce"],
  refuses(topology, collective) {
    if (shiftsOf(topology).length > 0) return refuseGroups("shifted-rings", topology, collective);
    return "a network in which links from every NPU i to i + a make a ring, such as ring:8, circulant:16,1,3";
  },
  lanes: ({ topology }) => shiftsOf(topology).length,
  issue({ topology, collective }) {
    return ringMessages(collective, ordersOfRanks(collective, shiftedOrders(topology)));
  },
  words({ topology, collective }) {
    const used = shiftsOf(topology).slice(0, collective.chunksPerNpu);
    return used.length === 1 ? `1 ring: step ${used[0]}` : `${used.length} rings: steps ${used.join(", ")}`;
  },
});

/** Directed rings through all ranks of a group: the k-th chunk of every block goes round ring k modulo their number. */
export interface Lanes {
  /** [lanes] ranks in order; the last sends to the first. */
  readonly orders: readonly ArrayLike<number>[];
  /** [lanes][rank] where a rank stands in the order. */
  readonly places: readonly Int32Array[];
  readonly chunksPerNpu: number;
}

interface Ring {
  readonly list: Messages;
  readonly blocks: Blocks;
  readonly lanes: Lanes;
  readonly group: number;
  readonly root: number;
}

function placesOf(order: ArrayLike<number>): Int32Array {
  const places = new Int32Array(order.length);
  for (let place = 0; place < order.length; place++) places[order[place]] = place;
  return places;
}

const rankAt = (order: ArrayLike<number>, place: number): number =>
  order[((place % order.length) + order.length) % order.length];

/**
 * N - 1 rounds; in round k the rank at place p passes on the block of the rank `back` + k places before it. Ring by ring within a
 * round, so that every rank sends to one and receives from one at a time.
 */
function rounds({ list, blocks, lanes, group }: Ring, reduce: boolean, back: number): void {
  const { orders, chunksPerNpu } = lanes;
  for (let round = 0; round < blocks.size - 1; round++) {
    for (let k = 0; k < chunksPerNpu; k++) {
      const order = orders[k % orders.length] as ArrayLike<number>;
      for (let place = 0; place < blocks.size; place++) {
        const chunk = blocks.chunk(group, rankAt(order, place - round - back), k);
        const [from, to] = [rankAt(order, place), rankAt(order, place + 1)];
        list.add(chunk, blocks.npu(group, from), blocks.npu(group, to), reduce);
      }
    }
  }
}

/** Passes the k-th chunk of a block along its ring from one rank to another. */
function passOn({ list, blocks, lanes, group }: Ring, block: number, k: number, from: number, to: number): void {
  const lane = k % lanes.orders.length;
  const order = lanes.orders[lane] as ArrayLike<number>;
  const places = lanes.places[lane] as Int32Array;
  const hops = (places[to] - places[from] + blocks.size) % blocks.size;
  for (let hop = 0; hop < hops; hop++) {
    const [sender, receiver] = [rankAt(order, places[from] + hop), rankAt(order, places[from] + hop + 1)];
    list.add(blocks.chunk(group, block, k), blocks.npu(group, sender), blocks.npu(group, receiver), false);
  }
}

/** The chunks of the buffer follow each other through all ranks, from the root or towards it, ring by ring at the same time. */
function pipeline({ list, blocks, lanes, group, root }: Ring, reduce: boolean): void {
  const { orders, places, chunksPerNpu } = lanes;
  const hops = blocks.size - 1;
  const last = Math.ceil(chunksPerNpu / orders.length) + hops;
  for (let beat = 0; beat < last; beat++) {
    for (let lane = 0; lane < orders.length; lane++) {
      const order = orders[lane] as ArrayLike<number>;
      const start = (places[lane] as Int32Array)[root] + (reduce ? 1 : 0);
      for (let hop = Math.min(hops - 1, beat); hop >= 0; hop--) {
        const k = (beat - hop) * orders.length + lane;
        if (k >= chunksPerNpu) break;
        const [from, to] = [rankAt(order, start + hop), rankAt(order, start + hop + 1)];
        list.add(blocks.chunk(group, 0, k), blocks.npu(group, from), blocks.npu(group, to), reduce);
      }
    }
  }
}

/** Calls `visit` with each k and the order of its ring. */
function eachChunk({ orders, chunksPerNpu }: Lanes, visit: (k: number, order: ArrayLike<number>) => void): void {
  for (let k = 0; k < chunksPerNpu; k++) visit(k, orders[k % orders.length] as ArrayLike<number>);
}

const ISSUES: Record<NamedCollective, (ring: Ring) => void> = {
  allgather: (ring) => rounds(ring, false, 0),
  reducescatter: (ring) => rounds(ring, true, 1),
  allreduce: (ring) => {
    rounds(ring, true, 1);
    rounds(ring, false, 0);
  },
  broadcast: (ring) => pipeline(ring, false),
  reduce: (ring) => pipeline(ring, true),
  gather: (ring) => {
    const { blocks, lanes, root } = ring;
    for (let rank = 0; rank < blocks.size; rank++) eachChunk(lanes, (k) => passOn(ring, rank, k, rank, root));
  },
  scatter: ({ blocks, lanes, root, ...rest }) => {
    for (let far = 1; far < blocks.size; far++) {
      eachChunk(lanes, (k, order) => {
        const place = (lanes.places[k % lanes.orders.length] as Int32Array)[root];
        const rank = rankAt(order, place - far);
        passOn({ blocks, lanes, root, ...rest }, rank, k, root, rank);
      });
    }
  },
  alltoall: (ring) => {
    const { blocks, lanes } = ring;
    for (let distance = blocks.size - 1; distance > 0; distance--) {
      for (let place = 0; place < blocks.size; place++) {
        eachChunk(lanes, (k, order) => {
          const [from, to] = [rankAt(order, place), rankAt(order, place + distance)];
          passOn(ring, from * blocks.size + to, k, from, to);
        });
      }
    }
  },
};

/** Returns the messages of a collective of any kind but custom over rings through the ranks of each group. O(messages). */
export function ringMessages(collective: Collective, orders: readonly ArrayLike<number>[]): Messages {
  const list = messages();
  const blocks = blocksOf(collective);
  const lanes = { orders, places: orders.map(placesOf), chunksPerNpu: collective.chunksPerNpu };
  for (let group = 0; group < blocks.groups; group++) {
    ISSUES[collective.kind as NamedCollective]({ list, blocks, lanes, group, root: collective.rootRank });
  }
  return list;
}
