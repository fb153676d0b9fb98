import { CancelledError, InternalError } from "../../../errors.ts";
import { shuffle } from "../../../random.ts";
import type { CancelFlag, MatchProblem, Transfers } from "../kernels.ts";
import { STATUS, throwForStatus } from "../status.ts";
import { NONE, touch } from "./lists.ts";
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

function arrive(state: MatchState, out: Transfers, route: number): void {
  const { problem, carried, duplicate, directOut, missing, ports } = state;
  const target = problem.network.routeTarget[route];
  const chunk = carried[route];
  const overtook = duplicate[route] !== 0;
  const row = state.delivered++;
  out.chunk[row] = chunk;
  out.route[row] = route;
  out.startPs[row] = state.start[route];
  free(state, route);
  appendToLog(state, target, chunk);
  for (let i = directOut.offset[target]; i < directOut.offset[target + 1]; i++) {
    const next = directOut.items[i];
    const reader = problem.network.routeTarget[next];
    if (carried[next] === NONE && (missing[reader] > 0 || mayOvertake(state))) touch(state.nodes, reader);
  }
  const { nodeGroups } = ports;
  for (let i = nodeGroups.offset[target]; i < nodeGroups.offset[target + 1]; i++) {
    touch(state.groups, nodeGroups.items[i]);
  }
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
