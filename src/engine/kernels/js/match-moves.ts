/** Candidates and departures of the multicast matching; the twin of those parts of native/kernels/match.cpp. */
import { CHOICE } from "../kernels.ts";
import { type MatchState, switched } from "./match-state.ts";
import { NONE } from "./ten.ts";

const MAX_SCORED_NEIGHBOURS = 32;

/** Returns the index in the source's log of the first chunk the route may take at this novelty level, or NONE. */
export function firstCandidate(state: MatchState, route: number, level: number): number {
  const { problem, pointer, levels, log, logBegin, logLength, hi, novel, component, words } = state;
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
    const novelRow = component[level * problem.network.npuCount + target] * words;
    for (; i < length; i++) {
      const c = log[begin + i];
      if ((((novel[novelRow + (c >>> 5)] | hi[hiRow + (c >>> 5)]) >>> (c & 31)) & 1) === 0) break;
    }
  }
  pointer[route * levels + level] = i;
  return i < length ? i : NONE;
}

/** Returns the chunk that the route takes at this novelty level, or NONE. */
export function choose(state: MatchState, route: number, level: number): number {
  const first = firstCandidate(state, route, level);
  if (first === NONE) return NONE;
  const { problem, log, logBegin, logLength, hi, novel, component, words, missing, copies, neighbours } = state;
  const { policy, network } = problem;
  const source = network.routeSource[route];
  const target = network.routeTarget[route];
  const begin = logBegin[source];
  if (policy.choice === CHOICE.oldest || missing[target] > policy.lateLimit) return log[begin + first];
  const hiRow = target * words;
  const seenRow = level === 0 ? hiRow : component[level * network.npuCount + target] * words;
  const seenBits = level === 0 ? hi : novel;
  const length = logLength[source];
  const passed = (c: number): boolean =>
    (((seenBits[seenRow + (c >>> 5)] | hi[hiRow + (c >>> 5)]) >>> (c & 31)) & 1) !== 0;
  if (policy.choice === CHOICE.newest) {
    for (let i = length - 1; i > first; i--) if (!passed(log[begin + i])) return log[begin + i];
    return log[begin + first];
  }
  const from = neighbours.offset[target];
  const to = neighbours.offset[target + 1];
  const scoreNeighbours = policy.choice === CHOICE.neighbour && to - from <= MAX_SCORED_NEIGHBOURS;
  let best = NONE;
  let bestScore = 0;
  let bestCopies = 0;
  let seen = 0;
  for (let i = first; i < length && seen < policy.window; i++) {
    const c = log[begin + i];
    if (passed(c)) continue;
    seen++;
    let score = 0;
    if (scoreNeighbours) {
      for (let j = from; j < to; j++) score += (hi[neighbours.items[j] * words + (c >>> 5)] >>> (c & 31)) & 1;
    }
    if (best === NONE || score < bestScore || (score === bestScore && copies[c] < bestCopies)) {
      best = c;
      bestScore = score;
      bestCopies = copies[c];
    }
  }
  return best;
}

/** Returns the slower route into the same target whose chunk this route could bring strictly earlier, or NONE. */
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

/** Marks the chunk as under way to the target. */
export function claim(state: MatchState, target: number, chunk: number): void {
  const { hi, words, levels, novel, component, missing, copies, problem } = state;
  const word = chunk >>> 5;
  const bit = 1 << (chunk & 31);
  hi[target * words + word] |= bit;
  for (let level = 1; level < levels; level++) {
    novel[component[level * problem.network.npuCount + target] * words + word] |= bit;
  }
  missing[target]--;
  copies[chunk]++;
}

/** Sends the chunk over the route now. */
export function depart(state: MatchState, route: number, chunk: number, now: number): void {
  const { problem, ranks } = state;
  state.carried[route] = chunk;
  state.start[route] = now;
  state.departureLength[route] = state.logLength[problem.network.routeSource[route]];
  if (switched(problem.network, route)) state.resources.take(route);
  const rank = ranks.rank[route];
  if (rank > 0) state.slowUnderWay++;
  state.queue.push(rank, now + ranks.slot[rank], route, state.generation[route]);
}

/** Sends the chunk of the slower route over the faster one as well. */
export function departOvertaking(state: MatchState, route: number, slower: number, now: number): void {
  state.overtaken[slower] = 1;
  state.duplicate[route] = 1;
  depart(state, route, state.carried[slower], now);
}
