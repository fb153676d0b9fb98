import { CHOICE, type MatchProblem } from "../../contract/kernels.ts";
import {
  find,
  group,
  groupSecond,
  groupTargets,
  type Lists,
  NONE,
  range,
  type Touched,
  touched,
  unite,
} from "./lists.ts";
import { type FoldedNetwork, foldedNetwork } from "./match-fold.ts";
import { buildPorts, type PortState } from "./match-port-state.ts";
import { ArrivalQueue, groupRoutes, Resources, type SlotRanks, slotRanks } from "./ten.ts";

/** What the multicast matching works on; the twin of native/kernels/match_state.h, function by function. */
export interface MatchState {
  readonly problem: MatchProblem;
  readonly folded: FoldedNetwork | null;
  /** 32-bit words per row of chunks. */
  readonly words: number;
  readonly ranks: SlotRanks;
  /** Routes without resources into each NPU, fastest first; out of each NPU; all routes into each NPU. */
  readonly directIn: Lists;
  readonly directOut: Lists;
  readonly allIn: Lists;
  /** NPUs one direct route away. */
  readonly neighbours: Lists;
  /** NPUs two direct routes away, not one; only for the choice that scores them. */
  readonly around: Lists;

  /** [npus][words] held, under way or not wanted. */
  readonly hi: Uint32Array;
  /** [npus][words] arrived; empty without overtaking. */
  readonly holds: Uint32Array;
  /** Novelty levels; level 0 asks what the target itself lacks. */
  readonly levels: number;
  /** [ranks] highest novelty level of a rank. */
  readonly levelOfRank: Int32Array;
  /** [levels][npus] row of `novel`. */
  readonly component: Int32Array;
  /** [component rows][words] held by or under way to the component. */
  readonly novel: Uint32Array;
  /** Chunks in order of arrival, NPU by NPU: v's are log[logBegin[v] .. logBegin[v] + logLength[v]]. */
  readonly log: Int32Array;
  readonly logBegin: Float64Array;
  readonly logLength: Int32Array;
  /** [routes][levels] */
  readonly pointer: Int32Array;
  /** [npus] wanted, not held, not under way. */
  readonly missing: Int32Array;
  /** [chunks] NPUs that hold it or are being sent it. */
  readonly copies: Int32Array;

  /** [routes] chunk under way, or NONE; when it departed; length of the source's log then. */
  readonly carried: Int32Array;
  readonly start: Float64Array;
  readonly departureLength: Int32Array;
  /** [routes] counts the transfers that have ended or were dropped. */
  readonly generation: Int32Array;
  /** [routes] this transfer overtakes another; is being overtaken. */
  readonly duplicate: Uint8Array;
  readonly overtaken: Uint8Array;
  readonly queue: ArrivalQueue;
  readonly resources: Resources;
  readonly ports: PortState;
  /** NPUs and groups of ports to serve at this instant. */
  readonly nodes: Touched;
  readonly groups: Touched;
  /** [routes] scratch: idle routes into the NPU being served. */
  readonly idle: Int32Array;

  /** Transfers under way on routes that are not of the fastest rank. */
  slowUnderWay: number;
  /** Shuffles so far. */
  serves: number;
  delivered: number;
  expected: number;
}

const MAX_LEVELS = 8;
/** Beyond that the neighbour choices fall back to the rarest. */
export const MAX_SCORED_NEIGHBOURS = 32;

/** Returns where the NPU's component at this level >= 1 begins in `novel`. */
export const novelRow = (state: MatchState, level: number, npu: number): number =>
  state.component[level * state.problem.network.npuCount + npu] * state.words;

/** The chunk has arrived at the NPU. */
export function appendToLog(state: MatchState, npu: number, chunk: number): void {
  state.log[state.logBegin[npu] + state.logLength[npu]++] = chunk;
  if (state.problem.policy.overtaking !== 0) state.holds[npu * state.words + (chunk >>> 5)] |= 1 << (chunk & 31);
}

/** The components of the NPU have the chunk or are being sent it. */
function claimForComponents(state: MatchState, npu: number, chunk: number): void {
  for (let level = 1; level < state.levels; level++) {
    state.novel[novelRow(state, level, npu) + (chunk >>> 5)] |= 1 << (chunk & 31);
  }
}

/** The chunk is under way to the NPU. */
export function claim(state: MatchState, npu: number, chunk: number): void {
  const { folded, hi, words, levels, missing, copies } = state;
  hi[npu * words + (chunk >>> 5)] |= 1 << (chunk & 31);
  claimForComponents(state, npu, chunk);
  if (folded !== null && levels > 1) {
    const { fold, orbit, given } = folded;
    for (let i = orbit.offset[npu] + 1; i < orbit.offset[npu + 1]; i++) {
      const image = orbit.items[i];
      claimForComponents(state, image, fold.chunkMaps[fold.element[image] * given.chunkCount + chunk]);
    }
  }
  missing[npu]--;
  copies[chunk]++;
}

/** Insertion sort: lists are short, and equal ranks keep their order. */
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

/** Only the choice that scores what is two steps away needs to know it. */
function buildAround({ network, policy }: MatchProblem, neighbours: Lists): Lists {
  if (policy.choice === CHOICE.around) return groupSecond(neighbours, MAX_SCORED_NEIGHBOURS);
  return { offset: new Int32Array(network.npuCount + 1), items: new Int32Array(0) };
}

/**
 * Level k >= 1 of a rank: the components under routes of lower rank. Levels with one component say nothing new, and neither do
 * levels equal to the one before.
 */
function buildLevels({ network, policy }: MatchProblem, words: number, stride: number) {
  const npus = network.npuCount;
  const ranks = slotRanks(network);
  const levelOfRank = new Int32Array(ranks.slot.length);
  const component = new Int32Array(MAX_LEVELS * stride);
  let levels = 1;
  if (policy.novelty === 0) return { levels, levelOfRank, component, novel: new Uint32Array(0) };
  const byRank = group(ranks.rank, ranks.slot.length);
  const parent = range(npus);
  let components = npus;
  let rows = 0;
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
      const row = component.subarray(levels * stride, levels * stride + npus);
      for (let v = 0; v < npus; v++) {
        const root = find(parent, v);
        row[v] = root === v ? rows++ : row[root];
      }
      levels++;
    }
    levelOfRank[rank] = levels - 1;
  }
  return { levels, levelOfRank, component, novel: new Uint32Array(rows * words) };
}

/** Marks what each NPU holds or does not want, and gives its log room for what it will ever hold. */
function buildHoldings({ network, chunkCount, heldOffset, heldChunk, wanted, policy }: MatchProblem, words: number) {
  const npus = network.npuCount;
  const hi = new Uint32Array(npus * words);
  const missing = new Int32Array(npus);
  const logBegin = new Float64Array(npus + 1);
  for (let v = 0; v < npus; v++) {
    const row = v * words;
    let entries = chunkCount;
    for (let c = 0; wanted !== null && c < chunkCount; c++) {
      if ((wanted[row + (c >>> 5)] >>> (c & 31)) & 1) continue;
      hi[row + (c >>> 5)] |= 1 << (c & 31);
      entries--;
    }
    for (let i = heldOffset[v]; i < heldOffset[v + 1]; i++) {
      const c = heldChunk[i];
      entries += (hi[row + (c >>> 5)] >>> (c & 31)) & 1; // held, but not wanted
      hi[row + (c >>> 5)] |= 1 << (c & 31);
    }
    missing[v] = entries;
    logBegin[v + 1] = logBegin[v] + entries;
  }
  return {
    hi,
    holds: new Uint32Array(policy.overtaking !== 0 ? npus * words : 0),
    log: new Int32Array(logBegin[npus]),
    logBegin,
    logLength: new Int32Array(npus),
    missing,
    copies: new Int32Array(chunkCount),
  };
}

function fillHoldings(state: MatchState): void {
  const { problem, folded, hi, words, missing, copies } = state;
  const { network, heldOffset, heldChunk } = problem;
  for (let v = 0; v < network.npuCount; v++) {
    const isCopy = folded !== null && v >= folded.given.network.npuCount;
    for (let i = heldOffset[v]; i < heldOffset[v + 1]; i++) {
      const chunk = heldChunk[i];
      appendToLog(state, v, chunk);
      hi[v * words + (chunk >>> 5)] |= 1 << (chunk & 31);
      if (!isCopy) claimForComponents(state, v, chunk);
      missing[v]--;
      copies[chunk]++;
    }
    if (folded !== null && (isCopy || folded.fold.representative[v] !== v)) missing[v] = 0;
    const images = folded === null || isCopy ? 1 : folded.orbit.offset[v + 1] - folded.orbit.offset[v];
    state.expected += missing[v] * images;
  }
}

/** Returns the state before time 0. */
export function buildMatchState(given: MatchProblem): MatchState {
  const folded = given.maps === null ? null : foldedNetwork(given, given.maps);
  const problem = folded?.problem ?? given;
  const { network, chunkCount } = problem;
  const routes = network.slotPs.length;
  const words = (chunkCount + 31) >>> 5;
  const ranks = slotRanks(network);
  const directOut = groupRoutes(network, network.routeSource, false);
  const neighbours = groupTargets(directOut, network.routeTarget);
  const levels = buildLevels(given, words, network.npuCount);
  const ports = buildPorts(network, ranks);
  const state: MatchState = {
    problem,
    folded,
    words,
    ranks,
    directIn: groupRoutes(network, network.routeTarget, false),
    directOut,
    allIn: group(network.routeTarget, network.npuCount),
    neighbours,
    around: buildAround(problem, neighbours),
    ...levels,
    ...buildHoldings(problem, words),
    pointer: new Int32Array(routes * levels.levels),
    carried: new Int32Array(routes).fill(NONE),
    start: new Float64Array(routes),
    departureLength: new Int32Array(routes),
    generation: new Int32Array(routes),
    duplicate: new Uint8Array(routes),
    overtaken: new Uint8Array(routes),
    queue: new ArrivalQueue(ranks.slot.length),
    resources: new Resources(network),
    ports,
    nodes: touched(network.npuCount),
    groups: touched(ports.tick.length),
    idle: new Int32Array(routes),
    slowUnderWay: 0,
    serves: 0,
    delivered: 0,
    expected: 0,
  };
  sortByRank(state.directIn, ranks.rank);
  fillHoldings(state);
  return state;
}
