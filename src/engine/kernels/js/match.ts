import { CancelledError, InternalError } from "../../../base/errors.ts";
import { shuffle } from "../../../base/random.ts";
import { type CancelFlag, CHOICE, type MatchProblem, type TenNetwork, type Transfers } from "../../contract/kernels.ts";
import { STATUS, throwForStatus } from "../status.ts";
import { NONE, touch } from "./lists.ts";
import { completes, type FoldedNetwork, imageRoute, shows } from "./match-fold.ts";
import { type PortState, receivePort, sendPort } from "./match-port-state.ts";
import {
  appendToLog,
  buildMatchState,
  claim,
  MAX_SCORED_NEIGHBOURS,
  type MatchState,
  novelRow,
} from "./match-state.ts";
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

/** Returns whether the route could depart now at this level; level NONE stands for overtaking. */
function eligible(state: MatchState, route: number, level: number, now: number): boolean {
  if (state.carried[route] !== NONE || !state.resources.free(route)) return false;
  if (level === NONE) return overtakable(state, route, now) !== NONE;
  if (state.missing[state.problem.network.routeTarget[route]] === 0) return false;
  return level <= state.levelOfRank[state.ranks.rank[route]] && firstCandidate(state, route, level) !== NONE;
}

function rotationStart(position: number, routeCount: number, tick: number): number {
  const start = (position - 1 - (tick % routeCount)) % routeCount;
  return start < 0 ? start + routeCount : start;
}

/** Forgets the last round's matching and turns each port's list of routes on. */
function startRound(network: TenNetwork, ports: PortState, group: number): void {
  const { groupPorts, portRoutes, rotation, matched, chosen, tick } = ports;
  const begin = groupPorts.offset[group];
  for (let i = begin; i < groupPorts.offset[group + 1]; i++) {
    const port = groupPorts.items[i];
    const routesBegin = portRoutes.offset[port];
    const count = portRoutes.offset[port + 1] - routesBegin;
    chosen[port] = NONE;
    rotation[port] = rotationStart(i - begin, count, tick[group]);
    for (let k = 0; k < count; k++) matched[sendPort(network, portRoutes.items[routesBegin + k])] = NONE;
  }
}

/** Gives every port the first route of its list where that can depart; returns how many ports stay open. */
function matchFirst(state: MatchState, group: number, level: number, now: number): number {
  const { groupPorts, portRoutes, rotation, matched, chosen, open } = state.ports;
  let openCount = 0;
  for (let i = groupPorts.offset[group]; i < groupPorts.offset[group + 1]; i++) {
    const port = groupPorts.items[i];
    if (state.resources.left(port) <= 0) continue;
    const route = portRoutes.items[portRoutes.offset[port] + rotation[port]];
    const sender = sendPort(state.problem.network, route);
    if (matched[sender] === NONE && eligible(state, route, level, now)) {
      matched[sender] = route;
      chosen[port] = route;
    } else {
      open[openCount++] = port;
    }
  }
  return openCount;
}

/**
 * Kuhn's augmenting step for one receiving port, without recursion: at trail[0 .. depth] stand ports, each of which looks
 * for another sender than the one before took from it, and the place in its list where it is.
 */
function augment(state: MatchState, port: number, level: number, now: number): boolean {
  const { ports } = state;
  const { network } = state.problem;
  const { portRoutes, rotation, visited, matched, chosen, trail } = ports;
  let depth = 0;
  trail.port[0] = port;
  trail.place[0] = 0;
  for (;;) {
    const at = trail.port[depth];
    const begin = portRoutes.offset[at];
    const count = portRoutes.offset[at + 1] - begin;
    if (trail.place[depth] === count) {
      if (depth === 0) return false;
      trail.place[--depth]++;
      continue;
    }
    const route = portRoutes.items[begin + ((rotation[at] + trail.place[depth]) % count)];
    const sender = sendPort(network, route);
    if (visited[sender] === ports.stamp || !eligible(state, route, level, now)) {
      trail.place[depth]++;
      continue;
    }
    visited[sender] = ports.stamp;
    trail.route[depth] = route;
    const rival = matched[sender];
    if (rival !== NONE) {
      trail.port[++depth] = receivePort(network, rival);
      trail.place[depth] = 0;
      continue;
    }
    for (; depth >= 0; depth--) {
      const taken = trail.route[depth];
      matched[sendPort(network, taken)] = taken;
      chosen[trail.port[depth]] = taken;
    }
    return true;
  }
}

/** One round of matching at one level; returns whether anything departed. */
function matchPorts(state: MatchState, group: number, level: number, now: number): boolean {
  const { ports } = state;
  const { network, policy } = state.problem;
  const { groupPorts, chosen, open } = ports;
  startRound(network, ports, group);
  const openCount = matchFirst(state, group, level, now);
  shuffle(open, 0, openCount, policy.seed, state.serves++);
  for (let i = 0; i < openCount; i++) {
    ports.stamp++;
    augment(state, open[i], level, now);
  }
  let departed = false;
  for (let i = groupPorts.offset[group]; i < groupPorts.offset[group + 1]; i++) {
    const route = chosen[groupPorts.items[i]];
    if (route === NONE || !eligible(state, route, level, now)) continue;
    if (level === NONE) departOvertaking(state, route, now);
    else departChosen(state, route, level, now);
    departed = true;
  }
  return departed;
}

/** Matches receiving to sending ports of one group of switches, novelty level by level, then by overtaking. */
function servePorts(state: MatchState, group: number, now: number): void {
  let any = false;
  for (let level = state.levelOfRank[state.ports.groupRank[group]]; level >= 0; level--) {
    while (matchPorts(state, group, level, now)) any = true;
  }
  if (mayOvertake(state)) {
    while (matchPorts(state, group, NONE, now)) any = true;
  }
  if (any) state.ports.tick[group]++;
}

/** Returns the index in the source's log of the first chunk the route may take at this novelty level, or NONE. */
function firstCandidate(state: MatchState, route: number, level: number): number {
  const { problem, pointer, levels, log, logBegin, logLength, hi, novel, words } = state;
  const source = problem.network.routeSource[route];
  const target = problem.network.routeTarget[route];
  const begin = logBegin[source];
  const length = logLength[source];
  const hiRow = target * words;
  let i = pointer[route * levels + level];
  if (level === 0) {
    for (; i < length; i++) {
      const c = log[begin + i];
      if (((hi[hiRow + (c >>> 5)] >>> (c & 31)) & 1) === 0) break;
    }
  } else {
    const row = novelRow(state, level, target);
    for (; i < length; i++) {
      const c = log[begin + i];
      if ((((novel[row + (c >>> 5)] | hi[hiRow + (c >>> 5)]) >>> (c & 31)) & 1) === 0) break;
    }
  }
  pointer[route * levels + level] = i;
  return i < length ? i : NONE;
}

/** Returns the latest candidate in the source's log. */
function newest(state: MatchState, route: number, level: number, first: number): number {
  const { problem, log, logBegin, logLength, hi, words } = state;
  const source = problem.network.routeSource[route];
  const target = problem.network.routeTarget[route];
  const hiRow = target * words;
  const begin = logBegin[source];
  const seenRow = level === 0 ? hiRow : novelRow(state, level, target);
  const seenBits = level === 0 ? hi : state.novel;
  let i = logLength[source] - 1;
  for (; i > first; i--) {
    const c = log[begin + i];
    if ((((seenBits[seenRow + (c >>> 5)] | hi[hiRow + (c >>> 5)]) >>> (c & 31)) & 1) === 0) break;
  }
  return log[begin + i];
}

/**
 * Returns of the next `window` candidates the one that fewest of the target's neighbours have, where those are scored; then,
 * where they are, that fewest NPUs two steps away have; ties and else: that fewest NPUs have; then the oldest.
 */
function rarest(state: MatchState, route: number, level: number, first: number): number {
  const { problem, log, logBegin, logLength, hi, words, copies, neighbours, around } = state;
  const { policy, network } = problem;
  const source = network.routeSource[route];
  const target = network.routeTarget[route];
  const begin = logBegin[source];
  const length = logLength[source];
  const hiRow = target * words;
  const seenRow = level === 0 ? hiRow : novelRow(state, level, target);
  const seenBits = level === 0 ? hi : state.novel;
  const from = neighbours.offset[target];
  let to = neighbours.offset[target + 1];
  const scored = policy.choice === CHOICE.neighbour || policy.choice === CHOICE.around;
  if (!scored || to - from > MAX_SCORED_NEIGHBOURS) to = from;
  const farFrom = around.offset[target];
  const farTo = around.offset[target + 1];
  let best = NONE;
  let bestScore = 0;
  let bestFar = 0;
  let bestCopies = 0;
  let seen = 0;
  for (let i = first; i < length && seen < policy.window; i++) {
    const c = log[begin + i];
    if (((seenBits[seenRow + (c >>> 5)] | hi[hiRow + (c >>> 5)]) >>> (c & 31)) & 1) continue;
    seen++;
    let score = 0;
    for (let j = from; j < to; j++) score += (hi[neighbours.items[j] * words + (c >>> 5)] >>> (c & 31)) & 1;
    if (best !== NONE && score > bestScore) continue;
    let far = 0;
    for (let j = farFrom; j < farTo; j++) far += (hi[around.items[j] * words + (c >>> 5)] >>> (c & 31)) & 1;
    const tied = score === bestScore;
    if (best === NONE || !tied || far < bestFar || (far === bestFar && copies[c] < bestCopies)) {
      best = c;
      bestScore = score;
      bestFar = far;
      bestCopies = copies[c];
    }
  }
  return best;
}

/** Returns whether routes into the NPU take the oldest of what they may take by now. */
const takesOldest = ({ problem: { policy, choosers }, missing }: MatchState, npu: number): boolean =>
  policy.choice === CHOICE.oldest || choosers?.[npu] === 0 || missing[npu] > policy.lateLimit;

/** Returns the chunk that the route takes at this novelty level, or NONE. */
function choose(state: MatchState, route: number, level: number): number {
  const first = firstCandidate(state, route, level);
  if (first === NONE) return NONE;
  const { network, policy } = state.problem;
  if (takesOldest(state, network.routeTarget[route])) {
    return state.log[state.logBegin[network.routeSource[route]] + first];
  }
  return policy.choice === CHOICE.newest ? newest(state, route, level, first) : rarest(state, route, level, first);
}

/** Returns whether there is anything that a faster route may overtake. */
const mayOvertake = (state: MatchState): boolean => state.problem.policy.overtaking !== 0 && state.slowUnderWay > 0;

/** Returns the slower route into the same target whose chunk this route could bring strictly earlier, or NONE: of those the one that arrives last. */
function overtakable(state: MatchState, route: number, now: number): number {
  const { problem, ranks, allIn, carried, overtaken, duplicate, start, holds, words } = state;
  const source = problem.network.routeSource[route];
  const target = problem.network.routeTarget[route];
  let best = NONE;
  let latest = now + ranks.slot[ranks.rank[route]];
  for (let i = allIn.offset[target]; i < allIn.offset[target + 1]; i++) {
    const other = allIn.items[i];
    const c = carried[other];
    if (c === NONE || ranks.rank[other] <= ranks.rank[route]) continue;
    if (overtaken[other] !== 0 || duplicate[other] !== 0) continue;
    const end = start[other] + ranks.slot[ranks.rank[other]];
    if (end > latest && (holds[source * words + (c >>> 5)] >>> (c & 31)) & 1) {
      latest = end;
      best = other;
    }
  }
  return best;
}

/** Sends the chunk over the route now. */
function depart(state: MatchState, route: number, chunk: number, now: number): void {
  const { problem, ranks } = state;
  state.carried[route] = chunk;
  state.start[route] = now;
  state.departureLength[route] = state.logLength[problem.network.routeSource[route]];
  if (shared(problem.network, route)) state.resources.take(route);
  const rank = ranks.rank[route];
  if (rank > 0) state.slowUnderWay++;
  state.queue.push(rank, now + ranks.slot[rank], route, state.generation[route]);
}

/** Sends the chosen chunk of this novelty level over the route; returns whether there was one. */
function departChosen(state: MatchState, route: number, level: number, now: number): boolean {
  const chunk = choose(state, route, level);
  if (chunk === NONE) return false;
  claim(state, state.problem.network.routeTarget[route], chunk);
  depart(state, route, chunk, now);
  return true;
}

/** Sends the chunk of a slower route over this one as well; returns whether there was one. */
function departOvertaking(state: MatchState, route: number, now: number): boolean {
  const slower = overtakable(state, route, now);
  if (slower === NONE) return false;
  state.overtaken[slower] = 1;
  state.duplicate[route] = 1;
  depart(state, route, state.carried[slower], now);
  return true;
}
