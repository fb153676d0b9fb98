import { CancelledError } from "../../../base/errors.ts";
import { shuffle } from "../../../base/random.ts";
import { type Fold, fixes } from "../../../model/symmetry/fold.ts";
import { type CancelFlag, CHOICE, type SpreadLogs, type SpreadProblem } from "../../contract/kernels.ts";
import { allocateLogs } from "../outputs.ts";
import { STATUS, throwForStatus } from "../status.ts";
import { buildFold } from "./fold.ts";
import { group, groupSecond, groupTargets, type Lists, NONE } from "./lists.ts";

/** The matching in slots; native/kernels/spread.h explains it and is its twin. One thread. */

const MOST_SCORED = 32;

interface SpreadState {
  readonly problem: SpreadProblem;
  readonly out: SpreadLogs;
  readonly words: number;
  readonly portOffset: Int32Array;
  readonly portSource: Int32Array;
  readonly pointer: Int32Array;
  /** NPUs one route away. */
  readonly neighbours: Lists;
  /** NPUs two routes away, not one; only for the choice that scores them. */
  readonly around: Lists;
  readonly hi: Uint32Array;
  /** [2][npus] what every log held when the slot began, and what it will hold. */
  readonly length: readonly [Int32Array, Int32Array];
  readonly missing: Int32Array;
  readonly copies: Int32Array;
  readonly order: Int32Array;
  readonly taken: Int32Array;
  readonly fold: Fold | null;
  /** Of representatives that a map leaves in place: the log as others read it, and [chunks] what is in it. */
  readonly shown: ReadonlyMap<number, { readonly log: Int32Array; readonly holds: Uint8Array }>;
  /** [routes] the map that takes the source's log to what the port reads; all 0 where nothing is folded. */
  readonly portMap: Int32Array;
  expected: number;
}

function buildSpread(problem: SpreadProblem, out: SpreadLogs): SpreadState {
  const { npuCount, chunkCount, routeSource, routeTarget } = problem;
  const words = (chunkCount + 31) >>> 5;
  const into = group(routeTarget, npuCount);
  const neighbours = groupTargets(group(routeSource, npuCount), routeTarget);
  let mostPorts = 0;
  for (let v = 0; v < npuCount; v++) mostPorts = Math.max(mostPorts, into.offset[v + 1] - into.offset[v]);
  const fold = problem.maps === null ? null : buildFold({ ...problem, maps: problem.maps, slotPs: null }, into);
  const portSource = into.items.map((route) => routeSource[route]);
  const state: SpreadState = {
    problem,
    out,
    words,
    portOffset: into.offset,
    portSource: fold === null ? portSource : portSource.map((source) => fold.representative[source]),
    portMap: portSource.map((source) => fold?.element[source] ?? 0),
    fold,
    shown: shownLogs(fold, chunkCount),
    pointer: new Int32Array(routeSource.length),
    neighbours,
    around: buildAround(problem, neighbours),
    hi: new Uint32Array(npuCount * words),
    length: [new Int32Array(npuCount), new Int32Array(npuCount)],
    missing: new Int32Array(npuCount),
    copies: new Int32Array(chunkCount),
    order: new Int32Array(mostPorts),
    taken: new Int32Array(mostPorts).fill(NONE),
    expected: 0,
  };
  fillSpread(state);
  return state;
}

function shownLogs(fold: Fold | null, chunkCount: number) {
  const shown = new Map<number, { log: Int32Array; holds: Uint8Array }>();
  fold?.fixedRow.forEach((row, npu) => {
    if (row !== NONE) shown.set(npu, { log: new Int32Array(chunkCount), holds: new Uint8Array(chunkCount) });
  });
  return shown;
}

/** Only the choice that scores what is two routes away needs to know it. */
function buildAround({ policy, npuCount }: SpreadProblem, neighbours: Lists): Lists {
  if (policy.choice === CHOICE.around) return groupSecond(neighbours, MOST_SCORED);
  return { offset: new Int32Array(npuCount + 1), items: new Int32Array(0) };
}

function fillSpread(state: SpreadState): void {
  const { problem, out, words, hi, length, missing, copies } = state;
  const { npuCount, chunkCount, heldOffset, heldChunk, wanted } = problem;
  for (let v = 0; v < npuCount; v++) {
    if (state.fold !== null && state.fold.representative[v] !== v) continue;
    const row = v * words;
    let lacking = chunkCount;
    for (let c = 0; wanted !== null && c < chunkCount; c++) {
      if ((wanted[row + (c >>> 5)] >>> (c & 31)) & 1) continue;
      hi[row + (c >>> 5)] |= 1 << (c & 31);
      lacking--;
    }
    let held = 0;
    for (let i = heldOffset[v]; i < heldOffset[v + 1]; i++) {
      const chunk = heldChunk[i];
      if (((hi[row + (chunk >>> 5)] >>> (chunk & 31)) & 1) === 0) lacking--;
      hi[row + (chunk >>> 5)] |= 1 << (chunk & 31);
      out.chunk[out.logOffset[v] + held++] = chunk;
      copies[chunk]++;
    }
    const shown = showArrivals(state, v, 0, held, 0);
    length[0][v] = shown;
    length[1][v] = shown;
    missing[v] = lacking;
    state.expected += lacking;
  }
}

/**
 * Shows the others entries from .. from + count - 1 of the NPU's log, which have just arrived. Where maps leave the NPU in
 * place, a chunk is shown as soon as all its images under them are there. Returns how many are shown, behind `before`.
 */
function showArrivals(state: SpreadState, npu: number, from: number, count: number, before: number): number {
  const { fold, out, words, hi } = state;
  const own = state.shown.get(npu);
  if (fold === null || own === undefined) return count;
  const { chunkCount } = state.problem;
  let written = 0;
  for (let i = from; i < from + count; i++) {
    const chunk = out.chunk[out.logOffset[npu] + i];
    let complete = own.holds[chunk] === 0;
    for (let g = 1; g < fold.mapCount && complete; g++) {
      const image = fold.chunkMaps[g * chunkCount + chunk];
      if (fixes(fold, g, npu)) complete = ((hi[npu * words + (image >>> 5)] >>> (image & 31)) & 1) === 1;
    }
    for (let g = 0; g < fold.mapCount && complete; g++) {
      const image = fold.chunkMaps[g * chunkCount + chunk];
      if (!fixes(fold, g, npu) || own.holds[image] === 1) continue;
      own.holds[image] = 1;
      own.log[before + written++] = image;
    }
  }
  return written;
}

const isPlain = ({ problem, missing, portOffset }: SpreadState, npu: number): boolean =>
  problem.policy.choice === CHOICE.oldest ||
  problem.choosers?.[npu] === 0 ||
  missing[npu] - (portOffset[npu + 1] - portOffset[npu]) > problem.policy.lateLimit;

/** Returns the rarest of the next `window` candidates between entries `first` and `end` of `out.chunk`. */
function rarestFrom(state: SpreadState, npu: number, first: number, end: number): number {
  const { problem, out, words, hi, neighbours, around, copies } = state;
  const row = npu * words;
  const begin = neighbours.offset[npu];
  let last = neighbours.offset[npu + 1];
  const scored = problem.policy.choice === CHOICE.neighbour || problem.policy.choice === CHOICE.around;
  if (!scored || last - begin > MOST_SCORED) last = begin;
  let best = NONE;
  let bestScore = 0;
  let bestFar = 0;
  let bestCopies = 0;
  let seen = 0;
  for (let i = first; i < end && seen < problem.policy.window; i++) {
    const chunk = out.chunk[i];
    const word = chunk >>> 5;
    if ((hi[row + word] >>> (chunk & 31)) & 1) continue;
    seen++;
    let score = 0;
    for (let j = begin; j < last; j++) score += (hi[neighbours.items[j] * words + word] >>> (chunk & 31)) & 1;
    if (best !== NONE && score > bestScore) continue;
    let far = 0;
    for (let j = around.offset[npu]; j < around.offset[npu + 1]; j++) {
      far += (hi[around.items[j] * words + word] >>> (chunk & 31)) & 1;
    }
    const tied = score === bestScore;
    if (best === NONE || !tied || far < bestFar || (far === bestFar && copies[chunk] < bestCopies)) {
      best = chunk;
      bestScore = score;
      bestFar = far;
      bestCopies = copies[chunk];
    }
  }
  return best;
}

function chooseFrom(state: SpreadState, npu: number, first: number, end: number): number {
  if (state.problem.policy.choice !== CHOICE.newest) return rarestFrom(state, npu, first, end);
  const { out, hi, words } = state;
  let i = end - 1;
  while ((hi[npu * words + (out.chunk[i] >>> 5)] >>> (out.chunk[i] & 31)) & 1) i--;
  return out.chunk[i];
}

/** Serves the ports of an NPU that lacks chunks; returns the number of arrivals. */
function serve(state: SpreadState, npu: number, slot: number, plain: boolean, length: Int32Array): number {
  const { problem, out, portOffset, portSource, portMap, pointer, hi, order, taken, fold } = state;
  const { chunk: logs, logOffset } = out;
  const first = portOffset[npu];
  const count = portOffset[npu + 1] - first;
  for (let p = 0; p < count; p++) order[p] = p;
  shuffle(order, 0, count, problem.policy.seed, slot, npu);
  const row = npu * state.words;
  const before = state.missing[npu];
  let missing = before;
  for (let i = 0; i < count && missing > 0; i++) {
    const port = order[i];
    const source = portSource[first + port];
    const shown = fold === null ? undefined : state.shown.get(source);
    const read = shown === undefined ? logs : shown.log;
    const begin = shown === undefined ? logOffset[source] : 0;
    const end = begin + length[source];
    let at = begin + pointer[first + port];
    const map = fold === null ? 0 : portMap[first + port] * problem.chunkCount;
    const chunkMaps = fold === null || map === 0 ? null : fold.chunkMaps;
    let chunk = NONE;
    for (; at < end; at++) {
      chunk = chunkMaps === null ? read[at] : chunkMaps[map + read[at]];
      if (((hi[row + (chunk >>> 5)] >>> (chunk & 31)) & 1) === 0) break;
    }
    pointer[first + port] = at - begin;
    if (at === end) continue;
    if (!plain) chunk = chooseFrom(state, npu, at, end);
    hi[row + (chunk >>> 5)] |= 1 << (chunk & 31);
    taken[port] = chunk;
    missing--;
  }
  if (missing === before) return 0;
  state.missing[npu] = missing;
  let entry = logOffset[npu + 1] - before;
  const bits = out.portOffset[npu] + slot * ((count + 7) >>> 3);
  for (let p = 0; p < count; p++) {
    if (taken[p] === NONE) continue;
    logs[entry++] = taken[p];
    state.copies[taken[p]]++;
    out.ports[bits + (p >>> 3)] |= 1 << (p & 7);
    taken[p] = NONE;
  }
  out.slots[npu] = slot + 1;
  return before - missing;
}

/** Serves the NPUs of `active` in one slot and keeps those that still lack chunks; returns how many are kept and arrivals. */
function serveAll(
  state: SpreadState,
  slot: number,
  active: Int32Array,
  activeCount: number,
  deferred: Int32Array,
): { kept: number; arrivals: number } {
  const length = state.length[(slot & 1) as 0 | 1];
  const next = state.length[((slot + 1) & 1) as 0 | 1];
  let kept = 0;
  let later = 0;
  let arrivals = 0;
  for (let i = 0; i < activeCount; i++) {
    const npu = active[i];
    next[npu] = length[npu];
    if (state.missing[npu] === 0) continue; // its last arrivals are now in both lengths
    active[kept++] = npu;
    if (!isPlain(state, npu)) {
      deferred[later++] = npu;
      continue;
    }
    const count = serve(state, npu, slot, true, length);
    const { logOffset } = state.out;
    const arrived = logOffset[npu + 1] - logOffset[npu] - state.missing[npu] - count;
    next[npu] += showArrivals(state, npu, arrived, count, length[npu]);
    arrivals += count;
  }
  for (let i = 0; i < later; i++) {
    const count = serve(state, deferred[i], slot, false, length);
    next[deferred[i]] += count;
    arrivals += count;
  }
  return { kept, arrivals };
}

function throwUnreachable({ missing, hi, words }: SpreadState): void {
  const npu = missing.findIndex((count) => count > 0);
  let chunk = 0;
  while ((hi[npu * words + (chunk >>> 5)] >>> (chunk & 31)) & 1) chunk++;
  throwForStatus(STATUS.unreachable, npu, chunk);
}

/** Returns the arrival logs of a checked problem, or null when maxSlots was too small. */
export function spreadJs(problem: SpreadProblem, cancel?: CancelFlag): SpreadLogs | null {
  const out = allocateLogs(problem);
  const state = buildSpread(problem, out);
  const active = Int32Array.from({ length: problem.npuCount }, (_, v) => v).filter((v) => state.missing[v] > 0);
  const deferred = new Int32Array(active.length);
  let activeCount = active.length;
  let delivered = 0;
  for (let slot = 0; delivered < state.expected; slot++) {
    if (cancel !== undefined && cancel.length > 1) {
      Atomics.store(cancel, 1, Math.floor((delivered * 1000) / state.expected));
    }
    if (slot === problem.maxSlots) return null;
    if ((slot & 15) === 0 && cancel !== undefined && Atomics.load(cancel, 0) !== 0) throw new CancelledError();
    const { kept, arrivals } = serveAll(state, slot, active, activeCount, deferred);
    activeCount = kept;
    if (arrivals === 0) throwUnreachable(state);
    delivered += arrivals;
  }
  if (state.fold !== null) unfoldLogs(state.fold, problem, state.portOffset, out);
  return out;
}

/**
 * Writes the logs of all NPUs that are not matched and have room, as images of their representatives'; the twin of
 * native/kernels/spread_unfold.h.
 */
function unfoldLogs(
  { chunkMaps, representative, element, imagePort }: Fold,
  { npuCount, chunkCount, heldOffset }: SpreadProblem,
  portOffset: Int32Array,
  out: SpreadLogs,
): void {
  for (let npu = 0; npu < npuCount; npu++) {
    const of = representative[npu];
    if (of === npu || out.logOffset[npu] === out.logOffset[npu + 1]) continue;
    const first = portOffset[npu];
    const count = portOffset[npu + 1] - first;
    const map = chunkMaps.subarray(element[npu] * chunkCount, (element[npu] + 1) * chunkCount);
    const taken = new Int32Array(count).fill(NONE);
    const stride = (count + 7) >>> 3;
    let from = out.logOffset[of];
    let to = out.logOffset[npu];
    for (let i = heldOffset[of]; i < heldOffset[of + 1]; i++) out.chunk[to++] = map[out.chunk[from++]];
    for (let slot = 0; slot < out.slots[of]; slot++) {
      const bits = out.portOffset[of] + slot * stride;
      const imageBits = out.portOffset[npu] + slot * stride;
      for (let p = 0; p < count; p++) {
        if (((out.ports[bits + (p >> 3)] >> (p & 7)) & 1) === 1) taken[imagePort[first + p]] = map[out.chunk[from++]];
      }
      for (let p = 0; p < count; p++) {
        if (taken[p] === NONE) continue;
        out.chunk[to++] = taken[p];
        out.ports[imageBits + (p >> 3)] |= 1 << (p & 7);
        taken[p] = NONE;
      }
    }
    out.slots[npu] = out.slots[of];
  }
}
