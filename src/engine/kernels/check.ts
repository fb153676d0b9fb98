import type {
  ArborescenceProblem,
  BalanceProblem,
  ConcurrentProblem,
  MatchProblem,
  PackProblem,
  PlaceProblem,
  RateProblem,
  RelayProblem,
  SpreadProblem,
  SweepProblem,
  TenNetwork,
} from "../contract/kernels.ts";
import { exactSum } from "./exact-sum.ts";
import { STATUS, throwForStatus } from "./status.ts";

/**
 * The kernels' door on the JavaScript side. `...Shapes` compares the arrays' lengths with the counts: the C ABI sees
 * pointers only. `...Values` is the twin of the checks in native/abi.cpp, for the JavaScript kernels.
 */

export const INT32_MAX = 2 ** 31 - 1;
/** Products and quotients of three numbers from here to 2^53 are neither infinite nor 0. */
const LEAST_FLOW = 2 ** -53;

export function require(condition: boolean): void {
  if (!condition) throwForStatus(STATUS.badArgument, 0, 0);
}

export const isInteger = (value: number, low: number, high: number): boolean =>
  Number.isInteger(value) && value >= low && value <= high;

function checkNetworkShapes(network: TenNetwork): void {
  const routes = network.routeSource.length;
  const uses = network.useResource.length;
  require(isInteger(network.npuCount, 1, INT32_MAX));
  require(routes < INT32_MAX && uses < INT32_MAX && network.capacity.length < INT32_MAX);
  require(network.routeTarget.length === routes && network.slotPs.length === routes);
  require(network.useOffset.length === routes + 1 && network.useUnits.length === uses);
}

/** Throws when a length of a match problem does not fit the others. O(1). */
export function checkMatchShapes(problem: MatchProblem): void {
  const { network, chunkCount, policy } = problem;
  checkNetworkShapes(network);
  require(isInteger(chunkCount, 0, INT32_MAX) && problem.heldChunk.length <= INT32_MAX - chunkCount);
  require(problem.heldOffset.length === network.npuCount + 1);
  const words = Math.ceil(chunkCount / 32);
  require(problem.wanted === null || problem.wanted.length === network.npuCount * words);
  require(problem.maps === null || (problem.maps.length > 0 && problem.maps.length % network.npuCount === 0));
  require(isInteger(policy.seed, 0, 2 ** 32 - 1));
  for (const value of [policy.choice, policy.window, policy.lateLimit, policy.novelty, policy.overtaking]) {
    require(isInteger(value, 0, INT32_MAX));
  }
}

/** Throws when a length of a spread problem does not fit the others. O(1). */
export function checkSpreadShapes(problem: SpreadProblem): void {
  const { npuCount, chunkCount, policy, wanted } = problem;
  require(isInteger(npuCount, 1, INT32_MAX) && isInteger(chunkCount, 0, INT32_MAX));
  require(problem.routeSource.length < INT32_MAX && problem.routeTarget.length === problem.routeSource.length);
  require(problem.heldOffset.length === npuCount + 1 && problem.heldChunk.length < INT32_MAX);
  require(wanted === null || wanted.length === npuCount * Math.ceil(chunkCount / 32));
  require(problem.maps === null || (problem.maps.length > 0 && problem.maps.length % npuCount === 0));
  require(isInteger(policy.seed, 0, 2 ** 32 - 1));
  for (const value of [policy.choice, policy.window, policy.lateLimit, problem.threads, problem.maxSlots]) {
    require(isInteger(value, 0, INT32_MAX));
  }
}

/** Throws when a length of a relay problem does not fit the others. O(1). */
export function checkRelayShapes(problem: RelayProblem): void {
  const { network, chunkSource, seed } = problem;
  checkNetworkShapes(network);
  const pairs = network.npuCount * network.npuCount;
  require(chunkSource.length < INT32_MAX && problem.chunkTarget.length === chunkSource.length);
  require(problem.distancePs.length === pairs && problem.order.length === pairs);
  require(isInteger(seed, 0, 2 ** 32 - 1) && isInteger(problem.maxTransfers, 0, Number.MAX_SAFE_INTEGER));
}

/** Throws when a length of a place problem does not fit the others. O(1). */
export function checkPlaceShapes(problem: PlaceProblem): void {
  checkNetworkShapes(problem.network);
  const transfers = problem.route.length;
  require(transfers < INT32_MAX && problem.successor.length < INT32_MAX);
  require(problem.successorOffset.length === transfers + 1 && problem.key.length === transfers);
}

/** Throws when a length of a rate problem does not fit the others. O(1). */
export function checkRateShapes(problem: RateProblem): void {
  const links = problem.linkSource.length;
  require(isInteger(problem.npuCount, 1, INT32_MAX) && isInteger(problem.nodeCount, problem.npuCount, INT32_MAX));
  require(links <= INT32_MAX / 2 && problem.linkTarget.length === links && problem.capacity.length === links);
  require(problem.weight.length === problem.npuCount);
}

/** Throws when a length or a setting of a pack problem does not fit the others. O(1). */
export function checkPackShapes(problem: PackProblem): void {
  const links = problem.linkSource.length;
  const { npuCount, nodeCount } = problem;
  require(isInteger(npuCount, 1, INT32_MAX) && isInteger(nodeCount, npuCount, INT32_MAX - 1));
  require(links <= Math.floor(INT32_MAX / 2) - npuCount && problem.linkTarget.length === links);
  require(problem.capacity.length === links && problem.copies.length === npuCount);
  require(isInteger(problem.depthPrice, 0, 1000) && isInteger(problem.loadPrice, 0, 1000));
  require(isInteger(problem.seed, 0, 2 ** 32 - 1) && typeof problem.scheduled === "boolean");
  for (const value of [problem.repairs, problem.enoughHeight, problem.maxTrees])
    require(isInteger(value, 0, INT32_MAX));
  require(isInteger(problem.maxLinks, 0, Number.MAX_SAFE_INTEGER));
}

/** Throws when a length of a sweep problem does not fit the others. O(1). */
export function checkSweepShapes(problem: SweepProblem): void {
  const links = problem.linkSource.length;
  require(isInteger(problem.nodeCount, 1, INT32_MAX) && problem.sinks.length < INT32_MAX);
  require(links <= INT32_MAX / 2 && problem.linkTarget.length === links && problem.capacity.length === links);
  require(problem.supply.length === problem.nodeCount);
}

/** Throws when a length of an arborescence problem does not fit the others. O(1). */
export function checkArborescenceShapes(problem: ArborescenceProblem): void {
  const arcs = problem.arcSource.length;
  require(isInteger(problem.nodeCount, 1, Math.floor(INT32_MAX / 2)) && arcs < INT32_MAX);
  require(isInteger(problem.root, 0, problem.nodeCount - 1));
  require(problem.arcTarget.length === arcs && problem.cost.length === arcs);
}

/** Throws when a length or a setting of a balance problem does not fit the others. O(1). */
export function checkBalanceShapes(problem: BalanceProblem): void {
  const { nodeCount, parts, maxRows } = problem;
  require(isInteger(nodeCount, 1, INT32_MAX - 1) && problem.inOffset.length === nodeCount + 1);
  require(problem.inSource.length < INT32_MAX && problem.targets.length < INT32_MAX);
  require(isInteger(parts, 0, 32767) && nodeCount * Math.max(parts, 1) <= INT32_MAX);
  require(isInteger(problem.wantsShares, 0, parts === 0 ? 0 : 1) && isInteger(problem.threads, 1, INT32_MAX));
  require(isInteger(problem.maxSteps, 0, 65535) && isInteger(maxRows, 0, Number.MAX_SAFE_INTEGER));
}

/** Throws when a length or a setting of a concurrent problem does not fit the others. O(1). */
export function checkConcurrentShapes(problem: ConcurrentProblem): void {
  const { nodeCount, arcTarget, capacity, sources, demand } = problem;
  require(isInteger(nodeCount, 1, INT32_MAX - 1) && problem.arcOffset.length === nodeCount + 1);
  require(arcTarget.length < INT32_MAX && problem.arcClass.length === arcTarget.length);
  require(capacity.length < INT32_MAX && sources.length < INT32_MAX && sources.length > 0);
  require(problem.sourceWeight.length === sources.length && problem.terminals.length === nodeCount);
  require(demand === null || demand.length === sources.length * nodeCount);
  require(problem.gap > 0 && isInteger(problem.maxRounds, 0, INT32_MAX) && isInteger(problem.wantsFlow, 0, 1));
}

export function inRange(values: Int32Array, below: number): boolean {
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

export function ascending(offset: Int32Array, end: number): boolean {
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
