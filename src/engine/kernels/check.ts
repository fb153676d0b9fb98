import { badRow } from "../../model/replay/plan.ts";
import { hopCountOf, type ReplayProblem, TOO_LATE } from "../../model/replay/problem.ts";
import type {
  ArborescenceProblem,
  BalanceProblem,
  ConcurrentProblem,
  MatchProblem,
  PackProblem,
  PartitionProblem,
  PeriodProblem,
  PlaceProblem,
  RateProblem,
  RelayProblem,
  SpreadProblem,
  SweepProblem,
  TenNetwork,
} from "../contract/kernels.ts";
import { STATUS, throwForStatus } from "./status.ts";

/** The twin of the checks in native/abi.cpp, for the JavaScript kernels; lengths have been checked (`problems.ts`). */

export const INT32_MAX = 2 ** 31 - 1;
/** Products and quotients of three numbers from here to 2^53 are neither infinite nor 0. */
const LEAST_FLOW = 2 ** -53;

/** Throws as for an argument out of range. */
export function require(condition: boolean): void {
  if (!condition) throwForStatus(STATUS.badArgument, 0, 0);
}

export const isInteger = (value: number, low: number, high: number): boolean =>
  Number.isInteger(value) && value >= low && value <= high;

function inRange(values: Int32Array, below: number): boolean {
  for (let i = 0; i < values.length; i++) if (values[i] < 0 || values[i] >= below) return false;
  return true;
}

/** Returns whether every row of `count` values has each of 0 .. count - 1. */
function arePermutations(rows: Int32Array, count: number): boolean {
  if (!inRange(rows, count)) return false;
  const lastRow = new Int32Array(count);
  for (let i = 0; i < rows.length; i++) {
    const row = Math.floor(i / count) + 1;
    if (lastRow[rows[i]] === row) return false;
    lastRow[rows[i]] = row;
  }
  return true;
}

function ascending(offset: Int32Array, end: number): boolean {
  if (offset[0] !== 0 || offset[offset.length - 1] !== end) return false;
  for (let i = 1; i < offset.length; i++) if (offset[i - 1] > offset[i]) return false;
  return true;
}

function checkNetworkValues(network: TenNetwork): void {
  const { npuCount, routeSource, routeTarget, slotPs, useOffset, useResource, useUnits, capacity } = network;
  require(inRange(routeSource, npuCount) && inRange(routeTarget, npuCount));
  require(ascending(useOffset, useResource.length) && inRange(useResource, capacity.length));
  require(capacity.every((units) => units >= 1));
  for (let i = 0; i < useUnits.length; i++) require(useUnits[i] >= 1 && useUnits[i] <= capacity[useResource[i]]);
  for (let r = 0; r < slotPs.length; r++) {
    require(Number.isSafeInteger(slotPs[r]) && slotPs[r] >= 1 && routeSource[r] !== routeTarget[r]);
    for (let i = useOffset[r]; i < useOffset[r + 1]; i++) {
      for (let j = useOffset[r]; j < i; j++) require(useResource[i] !== useResource[j]);
    }
  }
}

/** Throws when an index or a value of a match problem is out of range; the shapes have been checked. */
export function checkMatchValues(problem: MatchProblem): void {
  const { heldOffset, heldChunk, chunkCount, policy } = problem;
  checkNetworkValues(problem.network);
  require(ascending(heldOffset, heldChunk.length) && inRange(heldChunk, chunkCount));
  require(policy.choice <= 4 && policy.window >= 1 && policy.novelty <= 1 && policy.overtaking <= 1);
  checkMapValues(problem.maps, problem.network.npuCount, problem);
  require(problem.maps === null || problem.network.useResource.length === 0);
}

/** Throws when an index or a value of a spread problem is out of range; the shapes have been checked. */
export function checkSpreadValues(problem: SpreadProblem): void {
  const { npuCount, chunkCount, routeSource, routeTarget, heldOffset, heldChunk, policy } = problem;
  require(inRange(routeSource, npuCount) && inRange(routeTarget, npuCount));
  require(ascending(heldOffset, heldChunk.length) && inRange(heldChunk, chunkCount));
  for (let v = 0; v < npuCount; v++) {
    for (let i = heldOffset[v] + 1; i < heldOffset[v + 1]; i++) require(heldChunk[i - 1] < heldChunk[i]);
  }
  require(routeSource.every((source, r) => source !== routeTarget[r]));
  require(policy.choice <= 4 && policy.window >= 1 && problem.threads >= 1);
  checkMapValues(problem.maps, npuCount, problem);
}

/** Everyone wants everything, and the oldest first. */
function checkMapValues(
  maps: Int32Array | null,
  npuCount: number,
  { policy, wanted }: Pick<SpreadProblem, "policy" | "wanted">,
): void {
  if (maps === null) return;
  require(policy.choice === 0 && wanted === null && arePermutations(maps, npuCount));
  for (let v = 0; v < maps.length && v < npuCount; v++) require(maps[v] === v);
}

/** Throws when an index or a value of a relay problem is out of range; the shapes have been checked. */
export function checkRelayValues(problem: RelayProblem): void {
  const { network, distancePs, order } = problem;
  checkNetworkValues(network);
  require(inRange(problem.chunkSource, network.npuCount) && inRange(problem.chunkTarget, network.npuCount));
  require(arePermutations(order, network.npuCount) && distancePs.every((time) => time >= 0));
}

/** Throws when an index or a key of a place problem is out of range; the shapes have been checked. */
export function checkPlaceValues(problem: PlaceProblem): void {
  const { network, route, successorOffset, successor, key } = problem;
  checkNetworkValues(network);
  require(inRange(route, network.slotPs.length) && inRange(successor, route.length));
  require(ascending(successorOffset, successor.length));
  for (let i = 0; i < key.length; i++) require(Number.isSafeInteger(key[i]));
}

/** Throws when an index or a time of a period problem is out of range; the shapes have been checked. */
export function checkPeriodValues(problem: PeriodProblem): void {
  const { npuCount, treeCount, tail, head, serialPs, latencyPs, used, periodPs, shakePs } = problem;
  const isTime = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
  require(npuCount - 1 <= tail.length);
  require(isTime(shakePs) && isTime(periodPs) && periodPs >= 1);
  require(inRange(tail, npuCount) && inRange(head, npuCount) && tail.every((npu, e) => npu !== head[e]));
  require(serialPs.every((time) => isTime(time) && time >= 1) && latencyPs.every(isTime));
  require(treeCount * tail.length <= INT32_MAX && used.every((use) => use <= 1));
  require(serialPs.reduce((cells, slot) => cells + 2 * (Math.floor(periodPs / slot) + 1), 0) <= INT32_MAX);
}

function checkLinkValues(linkSource: Int32Array, linkTarget: Int32Array, nodeCount: number): void {
  require(inRange(linkSource, nodeCount) && inRange(linkTarget, nodeCount));
  require(linkSource.every((source, i) => source !== linkTarget[i]));
}

/** Throws when an index or a value of a rate problem is out of range; the shapes have been checked. */
export function checkRateValues(problem: RateProblem): void {
  const { capacity, weight } = problem;
  checkLinkValues(problem.linkSource, problem.linkTarget, problem.nodeCount);
  require(capacity.every((value) => Number.isSafeInteger(value) && value >= 1));
  require(weight.every((value) => Number.isSafeInteger(value) && value >= 0));
  const weights = exactSum(weight);
  require(weights >= 1n && weights <= BigInt(Number.MAX_SAFE_INTEGER));
  require(exactSum(capacity) * weights < 2n ** 126n);
}

/** Throws when an index or a value of a partition problem is out of range; the shapes have been checked. */
export function checkPartitionValues(problem: PartitionProblem): void {
  const { nodeCount, capacity, start } = problem;
  checkLinkValues(problem.linkSource, problem.linkTarget, nodeCount);
  require(nodeCount - start.length <= 2 * capacity.length);
  require(capacity.every((value) => Number.isSafeInteger(value) && value >= 1));
  require(start.length >= 1 && inRange(start, start.length));
  require(exactSum(capacity) * BigInt(start.length) < 2n ** 124n);
}

/** Throws when an index or a value of a pack problem is out of range; the shapes have been checked. */
export function checkPackValues({ nodeCount, linkSource, linkTarget, capacity, copies }: PackProblem): void {
  checkLinkValues(linkSource, linkTarget, nodeCount);
  require(capacity.every((value) => Number.isSafeInteger(value) && value >= 0));
  require(copies.every((value) => Number.isSafeInteger(value) && value >= 0));
  require(exactSum(capacity) + exactSum(copies) <= BigInt(Number.MAX_SAFE_INTEGER));
}

/** Throws when an index or a value of a sweep problem is out of range; the shapes have been checked. */
export function checkSweepValues(problem: SweepProblem): void {
  const { nodeCount, capacity, supply } = problem;
  checkLinkValues(problem.linkSource, problem.linkTarget, nodeCount);
  require(inRange(problem.sinks, nodeCount));
  require(capacity.every((value) => Number.isSafeInteger(value) && value >= 0));
  require(supply.every((value) => Number.isSafeInteger(value) && value >= 0));
  require(exactSum(capacity) + exactSum(supply) <= BigInt(Number.MAX_SAFE_INTEGER));
}

/** Throws when an index or a cost of an arborescence problem is out of range; the shapes have been checked. */
export function checkArborescenceValues(problem: ArborescenceProblem): void {
  const { nodeCount, arcSource, arcTarget, cost } = problem;
  require(inRange(arcSource, nodeCount) && inRange(arcTarget, nodeCount));
  const most = Math.floor(Number.MAX_SAFE_INTEGER / nodeCount);
  require(cost.every((value) => Number.isSafeInteger(value) && value >= 0 && value <= most));
}

/** Throws when an index or a value of a concurrent problem is out of range; the shapes have been checked. */
export function checkConcurrentValues(problem: ConcurrentProblem): void {
  const { nodeCount, arcTarget, arcClass, capacity, sources, demand, terminals } = problem;
  require(ascending(problem.arcOffset, arcTarget.length) && inRange(arcTarget, nodeCount));
  require(inRange(arcClass, capacity.length) && new Set(arcClass).size === capacity.length);
  require(inRange(sources, nodeCount) && terminals.every((terminal) => terminal <= 1));
  const positive = (value: number): boolean => value >= LEAST_FLOW && value <= Number.MAX_SAFE_INTEGER;
  require(capacity.every(positive) && problem.sourceWeight.every(positive));
  require(demand === null || demand.every((value) => value === 0 || positive(value)));
  const terminalCount = terminals.reduce((sum, terminal) => sum + terminal, 0);
  const wants = (source: number, s: number): boolean =>
    demand === null
      ? terminalCount > terminals[source]
      : demand.subarray(s * nodeCount, (s + 1) * nodeCount).some((value, v) => v !== source && value > 0);
  require(sources.some(wants));
}

/** Throws when an index of a balance problem is out of range; the shapes have been checked. */
export function checkBalanceValues({ nodeCount, inOffset, inSource, targets }: BalanceProblem): void {
  require(ascending(inOffset, inSource.length) && inRange(inSource, nodeCount) && inRange(targets, nodeCount));
  for (let i = 0; i < targets.length; i++) {
    require(i === 0 || targets[i - 1] < targets[i]);
    require(inOffset[targets[i] + 1] - inOffset[targets[i]] <= 65535);
  }
}

function areTimes(times: Float64Array): boolean {
  for (let i = 0; i < times.length; i++) {
    if (!(Number.isInteger(times[i]) && times[i] >= 0 && times[i] <= TOO_LATE)) return false;
  }
  return true;
}

/** Throws when an index or a value of a replay problem is out of range, rows aside; the shapes have been checked. */
export function checkReplayValues(problem: ReplayProblem): void {
  const { npuCount, routeSource, linkOffset, links, cost, capacity, setOffset, setMembers } = problem;
  require(inRange(routeSource, npuCount) && inRange(problem.routeTarget, npuCount));
  require(ascending(linkOffset, links.length) && inRange(links, problem.linkCount));
  for (let r = 0; r < routeSource.length; r++) require(linkOffset[r] < linkOffset[r + 1]);
  require(ascending(problem.firstChunk, problem.holders.length) && problem.reduces.every((flag) => flag <= 1));
  require(areTimes(problem.serial) && areTimes(problem.delay));
  for (let i = 0; i < capacity.length; i++) require(isInteger(capacity[i], 1, Number.MAX_SAFE_INTEGER));
  for (let p = 0; p < cost.length; p++) require(isInteger(cost[p], 1, capacity[links[p]]));
  require(inRange(problem.holders, setOffset.length - 1));
  require(ascending(setOffset, setMembers.length) && inRange(setMembers, npuCount));
  for (let set = 0; set < setOffset.length - 1; set++) {
    for (let i = setOffset[set] + 1; i < setOffset[set + 1]; i++) require(setMembers[i - 1] < setMembers[i]);
  }
  require(badRow(problem) >= 0 || hopCountOf(problem) <= INT32_MAX);
}

/** Returns the sum of exact integers >= 0. O(values), nearly all of it in doubles. */
export function exactSum(values: Iterable<number>): bigint {
  let whole = 0n;
  let part = 0;
  for (const value of values) {
    if (part + value > Number.MAX_SAFE_INTEGER) {
      whole += BigInt(part);
      part = 0;
    }
    part += value;
  }
  return whole + BigInt(part);
}
