import { CancelledError, InternalError } from "../../../base/errors.ts";
import { shuffle } from "../../../base/random.ts";
import type { CancelFlag, MatchProblem, Transfers } from "../../contract/kernels.ts";
import { STATUS, throwForStatus } from "../status.ts";
import { NONE, touch } from "./lists.ts";
import { completes, type FoldedNetwork, imageRoute, shows } from "./match-fold.ts";
import { departChosen, departOvertaking, firstCandidate, mayOvertake } from "./match-moves.ts";
import { sendPort } from "./match-port-state.ts";
import { servePorts } from "./match-ports.ts";
import { appendToLog, buildMatchState, claim, type MatchState } from "./match-state.ts";
import { LATEST, shared } from "./ten.ts";

function tryDepart(state: MatchState, route: number, now: number): boolean {
  for (let level = state.levelOfRank[state.ranks.rank[route]]; level >= 0; level--) {
    if (departChosen(state, route, level, now)) return true;
  }
  return false;
}

function serveNode(state: MatchState, target: number, now: number): void {
  const { missing, directIn, carried, ranks, idle } = state;
  const { policy } = state.problem;
  if (missing[target] === 0 && !mayOvertake(state)) return;
  let count = 0;
  for (let i = directIn.offset[target]; i < directIn.offset[target + 1]; i++) {
    if (carried[directIn.items[i]] === NONE) idle[count++] = directIn.items[i];
  }
  let run = 0;
  while (run < count) {
    const rank = ranks.rank[idle[run]];
    let end = run + 1;
    while (end < count && ranks.rank[idle[end]] === rank) end++;
    if (end - run > 1) shuffle(idle, run, end - run, policy.seed, state.serves++);
    run = end;
  }
  for (let i = 0; i < count; i++) {
    if (missing[target] > 0 && tryDepart(state, idle[i], now)) continue;
    if (mayOvertake(state)) departOvertaking(state, idle[i], now);
  }
}

function free(state: MatchState, route: number): void {
  const { network } = state.problem;
  state.carried[route] = NONE;
  state.duplicate[route] = 0;
  state.overtaken[route] = 0;
  state.generation[route]++;
  if (state.ranks.rank[route] > 0) state.slowUnderWay--;
  if (shared(network, route)) {
    state.resources.release(route);
    touch(state.groups, state.ports.groupOfResource[sendPort(network, route)]);
  } else {
    touch(state.nodes, network.routeTarget[route]);
  }
}

/** The overtaken transfer of this chunk takes another chunk that its source held when it departed, or is dropped. */
function outdate(state: MatchState, target: number, chunk: number): void {
  const { allIn, carried, departureLength, overtaken, log, logBegin, problem } = state;
  for (let i = allIn.offset[target]; i < allIn.offset[target + 1]; i++) {
    const route = allIn.items[i];
    if (carried[route] !== chunk) continue;
    const found = firstCandidate(state, route, 0);
    if (found === NONE || found >= departureLength[route]) {
      free(state, route);
      continue;
    }
    const other = log[logBegin[problem.network.routeSource[route]] + found];
    claim(state, target, other);
    carried[route] = other;
    overtaken[route] = 0;
  }
}

/** The log of the NPU, or of a copy, has grown: its readers are served. */
function touchReaders(state: MatchState, npu: number): void {
  const { problem, carried, directOut, missing, ports } = state;
  for (let i = directOut.offset[npu]; i < directOut.offset[npu + 1]; i++) {
    const next = directOut.items[i];
    const reader = problem.network.routeTarget[next];
    if (carried[next] === NONE && (missing[reader] > 0 || mayOvertake(state))) touch(state.nodes, reader);
  }
  const { nodeGroups } = ports;
  for (let i = nodeGroups.offset[npu]; i < nodeGroups.offset[npu + 1]; i++) touch(state.groups, nodeGroups.items[i]);
}

/** Appends the chunk to the copies of a representative, each through its map. */
function appendToCopies(
  state: MatchState,
  { given, fold, copies, copyMap }: FoldedNetwork,
  npu: number,
  chunk: number,
) {
  for (let i = copies.offset[npu]; i < copies.offset[npu + 1]; i++) {
    const node = given.network.npuCount + copies.items[i];
    const image = fold.chunkMaps[copyMap[copies.items[i]] * given.chunkCount + chunk];
    appendToLog(state, node, image);
    state.hi[node * state.words + (image >>> 5)] |= 1 << (image & 31);
    touchReaders(state, node);
  }
}

/** What maps leave in place shows a chunk once all its images under them have arrived. */
function followArrival(state: MatchState, folded: FoldedNetwork, npu: number, chunk: number): void {
  const { given, fold, copies } = folded;
  if (copies.offset[npu] === copies.offset[npu + 1]) return;
  if (fold.fixedRow[npu] === NONE) {
    appendToCopies(state, folded, npu, chunk);
  } else if (completes(folded, npu, chunk)) {
    for (let g = 0; g < fold.mapCount; g++) {
      const image = fold.chunkMaps[g * given.chunkCount + chunk];
      if (shows(folded, g, npu, image)) appendToCopies(state, folded, npu, image);
    }
  }
}

/** Writes the transfer, at every NPU of its target's orbit. */
function write(state: MatchState, out: Transfers, route: number, chunk: number): void {
  const { folded, problem } = state;
  const startPs = state.start[route];
  const writeRow = (image: number, through: number): void => {
    const row = state.delivered++;
    out.chunk[row] = image;
    out.route[row] = through;
    out.startPs[row] = startPs;
  };
  if (folded === null) {
    writeRow(chunk, route);
    return;
  }
  const { orbit, fold, given } = folded;
  const target = problem.network.routeTarget[route];
  for (let i = orbit.offset[target]; i < orbit.offset[target + 1]; i++) {
    const npu = orbit.items[i];
    writeRow(fold.chunkMaps[fold.element[npu] * given.chunkCount + chunk], imageRoute(folded, route, npu));
  }
}

function arrive(state: MatchState, out: Transfers, route: number): void {
  const target = state.problem.network.routeTarget[route];
  const chunk = state.carried[route];
  const overtook = state.duplicate[route] !== 0;
  write(state, out, route, chunk);
  free(state, route);
  appendToLog(state, target, chunk);
  touchReaders(state, target);
  if (state.folded !== null) followArrival(state, state.folded, target, chunk);
  if (overtook) outdate(state, target, chunk);
}

function serveTouched(state: MatchState, now: number): void {
  const { nodes, groups } = state;
  for (let i = 0; i < nodes.count; i++) {
    nodes.marks[nodes.list[i]] = 0;
    serveNode(state, nodes.list[i], now);
  }
  nodes.count = 0;
  for (let i = 0; i < groups.count; i++) {
    groups.marks[groups.list[i]] = 0;
    servePorts(state, groups.list[i], now);
  }
  groups.count = 0;
}

function throwUnreachable(state: MatchState): never {
  const { missing, hi, words, problem } = state;
  const npu = missing.findIndex((count) => count > 0);
  let chunk = 0;
  while (chunk < problem.chunkCount && (hi[npu * words + (chunk >>> 5)] >>> (chunk & 31)) & 1) chunk++;
  throwForStatus(STATUS.unreachable, npu, chunk);
  throw new InternalError("an unreachable chunk was not reported");
}

/** The event-driven loop: serve what has changed, go on to the next arrivals. */
function runEvents(state: MatchState, out: Transfers, cancel: CancelFlag | undefined): void {
  const { queue, generation, problem } = state;
  for (let v = 0; v < problem.network.npuCount; v++) touch(state.nodes, v);
  for (let g = 0; g < state.ports.tick.length; g++) touch(state.groups, g);
  let now = 0;
  for (let polls = 0; ; polls++) {
    serveTouched(state, now);
    if ((polls & 63) === 0 && cancel !== undefined && Atomics.load(cancel, 0) !== 0) throw new CancelledError();
    now = queue.nextTime();
    if (now === Number.POSITIVE_INFINITY) return;
    if (now > LATEST) throwForStatus(STATUS.timeOverflow, 0, 0);
    while (queue.pop(now)) if (generation[queue.route] === queue.generation) arrive(state, out, queue.route);
  }
}

/** The JavaScript twin of native/kernels/match.h: the same transfers, bit by bit, in the same order. */
export function matchJs(problem: MatchProblem, cancel?: CancelFlag): Transfers {
  const state = buildMatchState(problem);
  const out = {
    chunk: new Int32Array(state.expected),
    route: new Int32Array(state.expected),
    startPs: new Float64Array(state.expected),
  };
  runEvents(state, out, cancel);
  if (state.delivered !== state.expected) throwUnreachable(state);
  return out;
}
