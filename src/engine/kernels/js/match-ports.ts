import { shuffle } from "../../../random.ts";
import { choose, claim, depart, departOvertaking, firstCandidate, overtakable } from "./match-moves.ts";
import { type MatchState, receivePort, sendPort } from "./match-state.ts";
import { NONE } from "./ten.ts";

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

/** Kuhn's augmenting step for one receiving port. */
function augment(state: MatchState, port: number, level: number, now: number): boolean {
  const { ports } = state;
  const { network } = state.problem;
  const { portRoutes, rotation, visited, matched, chosen } = ports;
  const begin = portRoutes.offset[port];
  const count = portRoutes.offset[port + 1] - begin;
  for (let k = 0; k < count; k++) {
    const route = portRoutes.items[begin + ((rotation[port] + k) % count)];
    const sender = sendPort(network, route);
    if (visited[sender] === ports.stamp || !eligible(state, route, level, now)) continue;
    visited[sender] = ports.stamp;
    const rival = matched[sender];
    if (rival === NONE || augment(state, receivePort(network, rival), level, now)) {
      matched[sender] = route;
      chosen[port] = route;
      return true;
    }
  }
  return false;
}

function departMatched(state: MatchState, route: number, level: number, now: number): void {
  if (level === NONE) {
    departOvertaking(state, route, overtakable(state, route, now), now);
    return;
  }
  const chunk = choose(state, route, level);
  claim(state, state.problem.network.routeTarget[route], chunk);
  depart(state, route, chunk, now);
}

/** One round of matching at one level; returns whether anything departed. */
function matchPorts(state: MatchState, group: number, level: number, now: number): boolean {
  const { ports, resources } = state;
  const { network, policy } = state.problem;
  const { groupPorts, portRoutes, rotation, matched, chosen, open, tick } = ports;
  const begin = groupPorts.offset[group];
  const end = groupPorts.offset[group + 1];
  for (let i = begin; i < end; i++) {
    const port = groupPorts.items[i];
    chosen[port] = NONE;
    const routesBegin = portRoutes.offset[port];
    const count = portRoutes.offset[port + 1] - routesBegin;
    rotation[port] = rotationStart(i - begin, count, tick[group]);
    for (let k = 0; k < count; k++) matched[sendPort(network, portRoutes.items[routesBegin + k])] = NONE;
  }
  let openCount = 0;
  for (let i = begin; i < end; i++) {
    const port = groupPorts.items[i];
    if (resources.left(port) <= 0) continue;
    const route = portRoutes.items[portRoutes.offset[port] + rotation[port]];
    const sender = sendPort(network, route);
    if (matched[sender] === NONE && eligible(state, route, level, now)) {
      matched[sender] = route;
      chosen[port] = route;
    } else {
      open[openCount++] = port;
    }
  }
  shuffle(open, 0, openCount, policy.seed, state.serves++);
  for (let i = 0; i < openCount; i++) {
    ports.stamp++;
    augment(state, open[i], level, now);
  }
  let departed = false;
  for (let i = begin; i < end; i++) {
    const route = chosen[groupPorts.items[i]];
    if (route === NONE || !eligible(state, route, level, now)) continue;
    departMatched(state, route, level, now);
    departed = true;
  }
  return departed;
}

/** Matches receiving to sending ports of one group of switches, novelty level by level, then by overtaking. */
export function servePorts(state: MatchState, group: number, now: number): void {
  let any = false;
  for (let level = state.levelOfRank[state.ports.groupRank[group]]; level >= 0; level--) {
    while (matchPorts(state, group, level, now)) any = true;
  }
  if (state.problem.policy.overtaking !== 0 && state.slowUnderWay > 0) {
    while (matchPorts(state, group, NONE, now)) any = true;
  }
  if (any) state.ports.tick[group]++;
}
