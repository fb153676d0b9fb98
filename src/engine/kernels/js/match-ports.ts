/**
 * The multicast matching of routes that share resources, the ports of switches; the twin of native/kernels/match_ports.h,
 * function by function.
 */
import { shuffle } from "../../../base/random.ts";
import type { TenNetwork } from "../../contract/kernels.ts";
import { NONE } from "./lists.ts";
import { departChosen, departOvertaking, firstCandidate, mayOvertake, overtakable } from "./match-moves.ts";
import { type PortState, receivePort, sendPort } from "./match-port-state.ts";
import type { MatchState } from "./match-state.ts";

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
export function servePorts(state: MatchState, group: number, now: number): void {
  let any = false;
  for (let level = state.levelOfRank[state.ports.groupRank[group]]; level >= 0; level--) {
    while (matchPorts(state, group, level, now)) any = true;
  }
  if (mayOvertake(state)) {
    while (matchPorts(state, group, NONE, now)) any = true;
  }
  if (any) state.ports.tick[group]++;
}
