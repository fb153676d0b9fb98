import type { Collective } from "../../model/collective/collective.ts";
import { doubleBinaryTree, fromTheRoot } from "../../model/graph/double-binary-tree.ts";
import { type Messages, messages } from "../../model/messages/messages.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";
import { toNumber } from "../../model/numbers/rational.ts";
import { PS_PER_SECOND } from "../../model/numbers/units.ts";
import { shortestRoutes } from "../../model/routes/list-routes.ts";
import { channelRings, channelTrees } from "../../model/routes/rings.ts";
import { linkCount, type Topology } from "../../model/topology/topology.ts";
import { doubleBinaryTrees } from "./double-binary-tree.ts";
import { boxes, ncclRings, ncclTree } from "./nccl.ts";
import { ring, rings, ringsOf, shiftedOrders, shiftedRings } from "./rings.ts";
import { bruck, parallelAggregatedTrees, type RoundSteps, recursiveHalvingDoubling, roundSteps } from "./rounds.ts";

/**
 * What baselines take where they have too many messages to list: coarse models of their time on a network, from one message of
 * each kind and what links carry. No schedule is made, so none is verified.
 */
export interface CoarseTime {
  readonly ps: number;
  /** How the algorithm is set, as its schedules say it: "natural order, both ways". */
  readonly policy: string;
  /** By what it was counted: "8190 rounds alike, by one of them". */
  readonly by: string;
}

/** Messages of all members: what their ways take, and what links carry of them. */
interface Flights {
  readonly count: number;
  /** [messages] */
  readonly latencyPs: Float64Array;
  /** Returns how long the busiest link is busy with messages `from` to `to`, without the last, of so many bytes each; equal links share them. */
  busiestPs(from: number, to: number, bytes: number): number;
  /** Returns how long a message of so many bytes takes alone. */
  alonePs(message: number, bytes: number): number;
}

/** Returns messages on shortest ways, as the schedules of baselines have them. O(message hops + targets x links). */
function flightsOf(topology: Topology, list: Messages): Flights {
  const { routes, routeOf, alternatives } = shortestRoutes(topology, list);
  const { linkLatencyPs, linkBytesPerSecond } = topology;
  const eachLink = (route: number, visit: (link: number) => void): void => {
    for (let k = routes.linkOffset[route]; k < routes.linkOffset[route + 1]; k++) visit(routes.links[k]);
  };
  const latencyPs = new Float64Array(list.count);
  const psPerByte = new Float64Array(list.count);
  for (let i = 0; i < list.count; i++) {
    eachLink(routeOf[i], (link) => {
      latencyPs[i] += linkLatencyPs[link];
      psPerByte[i] = Math.max(psPerByte[i], PS_PER_SECOND / linkBytesPerSecond[link]);
    });
  }
  return {
    count: list.count,
    latencyPs,
    busiestPs(from, to, bytes) {
      const load = new Float64Array(linkCount(topology));
      for (let i = from; i < to; i++) {
        const ways = alternatives[routeOf[i]] as number;
        for (let way = 0; way < ways; way++)
          eachLink(routeOf[i] + way, (link) => {
            load[link] += 1 / ways;
          });
      }
      return busiestPs(topology, load, bytes);
    },
    alonePs: (message, bytes) => latencyPs[message] + psPerByte[message] * bytes,
  };
}

/** Returns how long the busiest link is busy with so many messages on each. */
const busiestPs = ({ linkBytesPerSecond }: Topology, load: Float64Array, bytes: number): number =>
  load.reduce((most, count, link) => Math.max(most, (count * bytes * PS_PER_SECOND) / linkBytesPerSecond[link]), 0);

const longest = (ps: Float64Array): number => ps.reduce((most, one) => Math.max(most, one), 0);

const bytesOf = ({ chunkBytes, chunksPerNpu }: Collective): number => toNumber(chunkBytes) * chunksPerNpu;
const phasesOf = ({ kind }: Collective): number => (kind === "allreduce" ? 2 : 1);

/** Pieces into which what goes round a ring is cut where its maker does: then the next member need not wait for all of it. */
const RING_PIECES = [1, 2, 4, 8];
/** A piece keeps its links for this part of their latency besides, as where numbers of chunks are chosen. */
const OVERHEAD_PARTS = 64;

/**
 * Returns what rings take, each with an equal part of every block, all rounds alike: as long as the busiest link carries what it
 * must, or a part takes through all members, whichever is longer (the greatest cycle mean of who waits for whom). O(members x links).
 */
function ringTime(
  topology: Topology,
  collective: Collective,
  orders: readonly ArrayLike<number>[],
  cuts: readonly number[],
): [number, string] {
  const size = collective.groupSize;
  const list = messages();
  for (const order of orders)
    for (let place = 0; place < size; place++) list.add(0, order[place], order[(place + 1) % size], false);
  const flights = flightsOf(topology, list);
  const share = bytesOf(collective) / orders.length;
  const lapPs = (bytes: number): number => {
    const laps = orders.map((_, lane) =>
      indicesBelow(size).reduce((sum, place) => sum + flights.alonePs(lane * size + place, bytes), 0),
    );
    return Math.max(...laps);
  };
  const rounds = (size - 1) * phasesOf(collective);
  const by = `${rounds} rounds alike, by one of them`;
  if (collective.kind === "alltoall") {
    const carried = flights.busiestPs(0, flights.count, (share * size * (size - 1)) / 2);
    return [carried + (lapPs(0) * rounds) / size, by];
  }
  const busyPs = flights.busiestPs(0, flights.count, share);
  const overheadPs = longest(flights.latencyPs) / OVERHEAD_PARTS;
  const tried = cuts.map((pieces) => {
    const perRound = Math.max(busyPs + (pieces - 1) * overheadPs, lapPs(share / pieces) / size);
    return rounds * perRound + ((pieces - 1) * busyPs) / pieces;
  });
  return [Math.min(...tried), by];
}

/** Returns the time of the faster one of some settings of rings. */
const ringsOfPolicies =
  (
    policies: (
      topology: Topology,
      collective: Collective,
    ) => readonly { orders: readonly ArrayLike<number>[]; policy: string }[],
    cuts = RING_PIECES,
  ) =>
  (topology: Topology, collective: Collective): CoarseTime =>
    fastest(
      policies(topology, collective).map(({ orders, policy }) => {
        const [ps, by] = ringTime(topology, collective, orders, cuts);
        return { ps, policy, by };
      }),
    );

const fastest = (times: readonly CoarseTime[]): CoarseTime => times.reduce((a, b) => (b.ps < a.ps ? b : a));

/**
 * Returns what an algorithm of rounds takes, one round after the other: each as long as its busiest link is busy, and its longest
 * way. O(messages of a block each + members x links).
 */
function roundsTime(topology: Topology, collective: Collective, { rounds, to }: RoundSteps): [number, string] {
  const { groupSize, groupMembers } = collective;
  const list = messages();
  const ends = rounds.map(({ step }) => {
    for (let rank = 0; rank < groupSize; rank++)
      list.add(0, groupMembers[rank], groupMembers[((to(rank, step) % groupSize) + groupSize) % groupSize], false);
    return list.count;
  });
  const flights = flightsOf(topology, list);
  const block = bytesOf(collective);
  const ps = rounds.reduce((sum, { blocks }, round) => {
    const [from, until] = [ends[round - 1] ?? 0, ends[round] as number];
    return sum + flights.busiestPs(from, until, blocks * block) + longest(flights.latencyPs.subarray(from, until));
  }, 0);
  const phases = phasesOf(collective);
  return [phases * ps, `${phases * rounds.length} rounds one after the other, each by its busiest link`];
}

/** Pieces into which what goes through a tree is cut. */
const MOST_PIECES = 2 ** 14;

/**
 * Returns what an all-reduce over trees of NPUs ([NPUs] parents, -1 at the root) takes, each with an equal part of the data, in pieces
 * that follow each other up and down: the busiest link carries what it must after the first piece has been through the highest
 * tree and back. The number of pieces is the best power of two. O(NPUs x links).
 */
function treeTime(topology: Topology, collective: Collective, trees: readonly Int32Array[]): [number, string] {
  const list = messages();
  const depthOf: { readonly up: number; readonly down: number; readonly parent: number }[][] = [];
  for (const parent of trees) {
    const hops: (typeof depthOf)[number] = [];
    for (const node of fromTheRoot(parent)) {
      if (parent[node] < 0) continue;
      hops[node] = { up: list.count, down: list.count + 1, parent: parent[node] };
      list.add(0, node, parent[node], true);
      list.add(0, parent[node], node, false);
    }
    depthOf.push(hops);
  }
  const flights = flightsOf(topology, list);
  const share = collective.sizeBytes / trees.length;
  const busyPs = flights.busiestPs(0, flights.count, share);
  const overheadPs = longest(flights.latencyPs) / OVERHEAD_PARTS;
  const fillPs = (bytes: number): number => {
    let most = 0;
    for (const [tree, parent] of trees.entries()) {
      const hops = depthOf[tree] as (typeof depthOf)[number];
      const through = new Float64Array(parent.length);
      for (const node of fromTheRoot(parent)) {
        const hop = hops[node];
        if (hop === undefined) continue;
        through[node] = through[hop.parent] + flights.alonePs(hop.up, bytes) + flights.alonePs(hop.down, bytes);
        most = Math.max(most, through[node]);
      }
    }
    return most;
  };
  let best = Number.POSITIVE_INFINITY;
  for (let pieces = 1; pieces <= Math.min(MOST_PIECES, share); pieces *= 2)
    best = Math.min(best, busyPs * (1 - 1 / pieces) + pieces * overheadPs + fillPs(share / pieces));
  return [best, `${trees.length} trees in pieces, by the busiest link and the longest way up and down`];
}

const named = ([ps, by]: [number, string], policy: string): CoarseTime => ({ ps, by, policy });

const RINGS: readonly string[] = ["allgather", "reducescatter", "allreduce"];

/** The models, by the names of the algorithms. */
const MODELS: Readonly<Record<string, (topology: Topology, collective: Collective) => CoarseTime>> = {
  [ring.name]: ringsOfPolicies((_, { groupMembers }) => {
    const there = Array.from(groupMembers);
    return [
      { orders: [there, there.toReversed()], policy: "natural order, both ways" },
      { orders: [there], policy: "natural order, one way" },
    ];
  }),
  [rings.name]: ringsOfPolicies((topology) => {
    const orders = ringsOf(topology);
    return [{ orders, policy: orders.length === 1 ? "1 ring" : `${orders.length} rings` }];
  }),
  [ncclRings.name]: ringsOfPolicies((topology) => {
    const orders = channelRings(boxes(topology));
    return [{ orders, policy: orders.length === 1 ? "1 channel" : `${orders.length} channels` }];
  }),
  [shiftedRings.name]: ringsOfPolicies(
    (topology) => {
      const orders = shiftedOrders(topology);
      return [{ orders, policy: orders.length === 1 ? "1 ring" : `${orders.length} rings` }];
    },
    [1],
  ),
  [ncclTree.name]: (topology, collective) => {
    const trees = channelTrees(boxes(topology), doubleBinaryTree(boxes(topology).npus.length));
    return named(treeTime(topology, collective, trees), `${trees.length} trees`);
  },
  [doubleBinaryTrees.name]: (topology, collective) => {
    const { groupMembers } = collective;
    const trees = doubleBinaryTree(collective.groupSize).map((parent) => {
      const own = new Int32Array(topology.npuCount).fill(-1);
      parent.forEach((above, rank) => {
        own[groupMembers[rank]] = above < 0 ? -1 : groupMembers[above];
      });
      return own;
    });
    return named(treeTime(topology, collective, trees), "two trees");
  },
  [recursiveHalvingDoubling.name]: roundsModel("rhd"),
  [bruck.name]: roundsModel("bruck"),
  [parallelAggregatedTrees.name]: roundsModel("pat"),
};

function roundsModel(name: Parameters<typeof roundSteps>[0]) {
  return (topology: Topology, collective: Collective): CoarseTime =>
    fastest(roundSteps(name, collective).map((steps) => named(roundsTime(topology, collective, steps), steps.policy)));
}

/** Whether an algorithm that makes a collective, and applies, has a coarse model of it. */
export const hasCoarseTime = (algorithm: string, { kind, groupCount }: Collective): boolean =>
  groupCount === 1 && MODELS[algorithm] !== undefined && (kind === "alltoall" || RINGS.includes(kind));

/** Returns what an algorithm that has a coarse model takes by it, and how it is set. O(members x links) at most. */
export const coarseTime = (algorithm: string, topology: Topology, collective: Collective): CoarseTime =>
  (MODELS[algorithm] as (typeof MODELS)[string])(topology, collective);
