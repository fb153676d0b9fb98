/**
 * Candidates, choice, overtaking and departures of the multicast matching; the twin of native/kernels/match_moves.h, function by
 * function.
 */
import { CHOICE } from "../../contract/kernels.ts";
import { NONE } from "./lists.ts";
import { claim, MAX_SCORED_NEIGHBOURS, type MatchState, novelRow } from "./match-state.ts";
import { shared } from "./ten.ts";

/** Returns the index in the source's log of the first chunk the route may take at this novelty level, or NONE. */
export function firstCandidate(state: MatchState, route: number, level: number): number {
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

/** Returns the chunk that the route takes at this novelty level, or NONE. */
function choose(state: MatchState, route: number, level: number): number {
  const first = firstCandidate(state, route, level);
  if (first === NONE) return NONE;
  const { network, policy } = state.problem;
  if (policy.choice === CHOICE.oldest || state.missing[network.routeTarget[route]] > policy.lateLimit) {
    return state.log[state.logBegin[network.routeSource[route]] + first];
  }
  return policy.choice === CHOICE.newest ? newest(state, route, level, first) : rarest(state, route, level, first);
}

/** Returns whether there is anything that a faster route may overtake. */
export const mayOvertake = (state: MatchState): boolean =>
  state.problem.policy.overtaking !== 0 && state.slowUnderWay > 0;

/** Returns the slower route into the same target whose chunk this route could bring strictly earlier, or NONE: of those the one that arrives last. */
export function overtakable(state: MatchState, route: number, now: number): number {
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
export function departChosen(state: MatchState, route: number, level: number, now: number): boolean {
  const chunk = choose(state, route, level);
  if (chunk === NONE) return false;
  claim(state, state.problem.network.routeTarget[route], chunk);
  depart(state, route, chunk, now);
  return true;
}

/** Sends the chunk of a slower route over this one as well; returns whether there was one. */
export function departOvertaking(state: MatchState, route: number, now: number): boolean {
  const slower = overtakable(state, route, now);
  if (slower === NONE) return false;
  state.overtaken[slower] = 1;
  state.duplicate[route] = 1;
  depart(state, route, state.carried[slower], now);
  return true;
}
