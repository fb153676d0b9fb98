import { deliveriesOf, type MatchProblem, type TenNetwork } from "../kernels.ts";
import {
  ArrivalQueue,
  find,
  group,
  type Lists,
  NONE,
  Resources,
  range,
  type SlotRanks,
  slotRanks,
  type Touched,
  touched,
  unite,
} from "./ten.ts";

/** What the multicast matching works on; the twin of the members of Matcher in native/kernels/match.cpp. */
export interface MatchState {
  readonly problem: MatchProblem;
  readonly words: number;
  readonly ranks: SlotRanks;
  /** Routes without resources into each NPU, fastest first; out of each NPU; all routes into each NPU. */
  readonly directIn: Lists;
  readonly directOut: Lists;
  readonly allIn: Lists;
  readonly neighbours: Lists;
  /** [npus][words] held, under way or not wanted. */
  readonly hi: Uint32Array;
  /** [npus][words] arrived; empty without overtaking. */
  readonly holds: Uint32Array;
  readonly levels: number;
  readonly levelOfRank: Int32Array;
  /** [levels][npus] row of `novel`. */
  readonly component: Int32Array;
  readonly novel: Uint32Array;
  readonly log: Int32Array;
  readonly logBegin: Float64Array;
  readonly logLength: Int32Array;
  readonly pointer: Int32Array;
  readonly missing: Int32Array;
  readonly copies: Int32Array;
  readonly carried: Int32Array;
  readonly start: Float64Array;
  readonly departureLength: Int32Array;
  readonly generation: Int32Array;
  readonly duplicate: Uint8Array;
  readonly overtaken: Uint8Array;
  readonly queue: ArrivalQueue;
  readonly resources: Resources;
  readonly ports: PortState;
  readonly nodes: Touched;
  readonly groups: Touched;
  slowUnderWay: number;
  serves: number;
  delivered: number;
  readonly expected: number;
}

/** Groups of routes that contend for resources, with their sending and receiving ports (first and last resource). */
export interface PortState {
  readonly groupOfResource: Int32Array;
  readonly portRoutes: Lists;
  readonly groupPorts: Lists;
  readonly nodeGroups: Lists;
  readonly groupRank: Int32Array;
  readonly tick: Uint32Array;
  readonly matched: Int32Array;
  readonly chosen: Int32Array;
  readonly rotation: Int32Array;
  readonly visited: Int32Array;
  readonly open: Int32Array;
  stamp: number;
}

const MAX_LEVELS = 8;

export const switched = (network: TenNetwork, route: number): boolean =>
  network.useOffset[route] < network.useOffset[route + 1];
export const sendPort = (network: TenNetwork, route: number): number => network.useResource[network.useOffset[route]];
export const receivePort = (network: TenNetwork, route: number): number =>
  network.useResource[network.useOffset[route + 1] - 1];

function sortByRank(lists: Lists, rank: Int32Array): void {
  const { offset, items } = lists;
  for (let list = 0; list + 1 < offset.length; list++) {
    for (let i = offset[list] + 1; i < offset[list + 1]; i++) {
      const route = items[i];
      let j = i;
      for (; j > offset[list] && rank[items[j - 1]] > rank[route]; j--) items[j] = items[j - 1];
      items[j] = route;
    }
  }
}

function buildPorts(network: TenNetwork, ranks: SlotRanks): PortState {
  const resources = network.capacity.length;
  const routes = network.slotPs.length;
  const parent = range(resources);
  for (let r = 0; r < routes; r++) {
    for (let i = network.useOffset[r]; i < network.useOffset[r + 1]; i++) {
      unite(parent, sendPort(network, r), network.useResource[i]);
    }
  }
  const groupOfResource = new Int32Array(resources);
  const receives = new Uint8Array(resources);
  let groups = 0;
  for (let i = 0; i < resources; i++) {
    const root = find(parent, i);
    groupOfResource[i] = root === i ? groups++ : groupOfResource[root];
  }
  const keys = new Int32Array(routes).fill(NONE);
  const groupRank = new Int32Array(groups);
  for (let r = 0; r < routes; r++) {
    if (!switched(network, r)) continue;
    keys[r] = receivePort(network, r);
    receives[keys[r]] = 1;
    const g = groupOfResource[sendPort(network, r)];
    if (ranks.rank[r] > groupRank[g]) groupRank[g] = ranks.rank[r];
  }
  return {
    groupOfResource,
    portRoutes: group(keys, resources),
    groupPorts: group(
      groupOfResource.map((g, i) => (receives[i] !== 0 ? g : NONE)),
      groups,
    ),
    nodeGroups: buildNodeGroups(network, groupOfResource, groups),
    groupRank,
    tick: new Uint32Array(groups),
    matched: new Int32Array(resources),
    chosen: new Int32Array(resources),
    rotation: new Int32Array(resources),
    visited: new Int32Array(resources),
    open: new Int32Array(resources),
    stamp: 0,
  };
}

/** The groups that each NPU sends into. */
function buildNodeGroups(network: TenNetwork, groupOfResource: Int32Array, groups: number): Lists {
  const npus = network.npuCount;
  const seen = new Int32Array(groups);
  const out = group(
    network.routeSource.map((v, r) => (switched(network, r) ? v : NONE)),
    npus,
  );
  const offset = new Int32Array(npus + 1);
  const items: number[] = [];
  for (let v = 0; v < npus; v++) {
    for (let i = out.offset[v]; i < out.offset[v + 1]; i++) {
      const g = groupOfResource[sendPort(network, out.items[i])];
      if (seen[g] === v + 1) continue;
      seen[g] = v + 1;
      items.push(g);
    }
    offset[v + 1] = items.length;
  }
  return { offset, items: Int32Array.from(items) };
}

/** Novelty levels: the components under routes of lower rank; see BuildLevels in native/kernels/match.cpp. */
function buildLevels(network: TenNetwork, ranks: SlotRanks, novelty: number) {
  const npus = network.npuCount;
  const levelOfRank = new Int32Array(ranks.slot.length);
  const component = new Int32Array(MAX_LEVELS * npus);
  let levels = 1;
  let rows = 0;
  if (novelty !== 0) {
    const byRank = group(ranks.rank, ranks.slot.length);
    const parent = range(npus);
    let components = npus;
    for (let rank = 1; rank < ranks.slot.length; rank++) {
      const before = components;
      for (let i = byRank.offset[rank - 1]; i < byRank.offset[rank]; i++) {
        const a = find(parent, network.routeSource[byRank.items[i]]);
        const b = find(parent, network.routeTarget[byRank.items[i]]);
        if (a === b) continue;
        unite(parent, a, b);
        components--;
      }
      if (components < before && components > 1 && levels < MAX_LEVELS) {
        const row = component.subarray(levels * npus, (levels + 1) * npus);
        for (let v = 0; v < npus; v++) {
          const root = find(parent, v);
          row[v] = root === v ? rows++ : row[root];
        }
        levels++;
      }
      levelOfRank[rank] = levels - 1;
    }
  }
  return { levels, levelOfRank, component, rows };
}

/** The NPUs that each NPU reaches over one direct route, without repeats. */
function buildNeighbours(network: TenNetwork, directOut: Lists): Lists {
  const offset = new Int32Array(network.npuCount + 1);
  const items = new Int32Array(directOut.items.length);
  let count = 0;
  for (let v = 0; v < network.npuCount; v++) {
    const first = count;
    for (let i = directOut.offset[v]; i < directOut.offset[v + 1]; i++) {
      const target = network.routeTarget[directOut.items[i]];
      if (items.subarray(first, count).indexOf(target) < 0) items[count++] = target;
    }
    offset[v + 1] = count;
  }
  return { offset, items };
}

/** Sets the bits of what each NPU holds or does not want; fills logs, counts and component sets. */
function fillHoldings(state: MatchState): void {
  const { problem, words, hi, missing, logBegin, component, novel, levels, copies, log, logLength, holds } = state;
  const { chunkCount, heldOffset, heldChunk, wanted } = problem;
  const npus = problem.network.npuCount;
  for (let v = 0; v < npus; v++) {
    const begin = heldOffset[v];
    const end = heldOffset[v + 1];
    for (let i = begin; i < end; i++) {
      const c = heldChunk[i];
      const word = c >>> 5;
      const bit = 1 << (c & 31);
      log[logBegin[v] + logLength[v]++] = c;
      copies[c]++;
      if (holds.length > 0) holds[v * words + word] |= bit;
      for (let level = 1; level < levels; level++) novel[component[level * npus + v] * words + word] |= bit;
      if ((hi[v * words + word] & bit) === 0) missing[v]--;
      hi[v * words + word] |= bit;
    }
    if (wanted === null) missing[v] += chunkCount;
  }
}

/** Returns the state before time 0. */
export function buildMatchState(problem: MatchProblem): MatchState {
  const { network, chunkCount, heldOffset, heldChunk, wanted, policy } = problem;
  const npus = network.npuCount;
  const routes = network.slotPs.length;
  const words = (chunkCount + 31) >>> 5;
  const ranks = slotRanks(network);
  const directIn = group(
    network.routeTarget.map((v, r) => (switched(network, r) ? NONE : v)),
    npus,
  );
  sortByRank(directIn, ranks.rank);
  const directOut = group(
    network.routeSource.map((v, r) => (switched(network, r) ? NONE : v)),
    npus,
  );
  const { levels, levelOfRank, component, rows } = buildLevels(network, ranks, policy.novelty);
  const ports = buildPorts(network, ranks);

  const hi = new Uint32Array(npus * words);
  const missing = new Int32Array(npus);
  const logBegin = new Float64Array(npus + 1);
  for (let v = 0; v < npus; v++) {
    let wants = chunkCount;
    let extra = 0;
    if (wanted !== null) {
      wants = 0;
      for (let c = 0; c < chunkCount; c++) {
        if ((wanted[v * words + (c >>> 5)] >>> (c & 31)) & 1) wants++;
        else hi[v * words + (c >>> 5)] |= 1 << (c & 31);
      }
      missing[v] = wants;
      for (let i = heldOffset[v]; i < heldOffset[v + 1]; i++) {
        const c = heldChunk[i];
        extra += (hi[v * words + (c >>> 5)] >>> (c & 31)) & 1;
      }
    }
    logBegin[v + 1] = logBegin[v] + wants + extra;
  }
  const state: MatchState = {
    problem,
    words,
    ranks,
    directIn,
    directOut,
    allIn: group(network.routeTarget, npus),
    neighbours: buildNeighbours(network, directOut),
    hi,
    holds: new Uint32Array(policy.overtaking !== 0 ? npus * words : 0),
    levels,
    levelOfRank,
    component,
    novel: new Uint32Array(rows * words),
    log: new Int32Array(logBegin[npus]),
    logBegin,
    logLength: new Int32Array(npus),
    pointer: new Int32Array(routes * levels),
    missing,
    copies: new Int32Array(chunkCount),
    carried: new Int32Array(routes).fill(NONE),
    start: new Float64Array(routes),
    departureLength: new Int32Array(routes),
    generation: new Int32Array(routes),
    duplicate: new Uint8Array(routes),
    overtaken: new Uint8Array(routes),
    queue: new ArrivalQueue(ranks.slot.length),
    resources: new Resources(network),
    ports,
    nodes: touched(npus),
    groups: touched(ports.tick.length),
    slowUnderWay: 0,
    serves: 0,
    delivered: 0,
    expected: deliveriesOf(problem),
  };
  fillHoldings(state);
  return state;
}
