// The multicast matching of routes that share resources, the ports of switches.
// The twin of src/engine/kernels/js/match.ts, function by function.
#ifndef BANYAN_KERNELS_MATCH_PORTS_H_
#define BANYAN_KERNELS_MATCH_PORTS_H_

#include <cstdint>

#include "match_moves.h"
#include "match_state.h"
#include "random.h"

namespace banyan {

/// Whether the route could depart now at this level; level kNone stands for
/// overtaking.
template <typename Entry>
bool Eligible(MatchState<Entry>& state, std::int32_t route, std::int32_t level, Time now) {
  if (state.routes[route].carried != kNone || !state.resources.Free(route)) return false;
  const std::int32_t target = state.problem.network.route_target[route];
  if (level == kNone) return Overtakable(state, route, target, now) != kNone;
  if (state.missing[At(target)] == 0) return false;
  return level <= state.LevelOf(route) && FirstCandidate(state, route, target, level) != kNone;
}

inline std::int32_t RotationStart(std::int32_t position, std::int32_t route_count, std::uint32_t tick) {
  const auto shift = static_cast<std::int32_t>(tick % static_cast<std::uint32_t>(route_count));
  const std::int32_t start = (position - 1 - shift) % route_count;
  return start < 0 ? start + route_count : start;
}

// Forgets the last round's matching and turns each port's list of routes on.
inline void StartRound(const BanyanNetwork& network, PortState& ports, std::int32_t group) {
  const std::int32_t begin = ports.group_ports.Begin(group);
  for (std::int32_t i = begin; i < ports.group_ports.End(group); i++) {
    const std::int32_t port = ports.group_ports.items[At(i)];
    const std::int32_t routes_begin = ports.port_routes.Begin(port);
    const std::int32_t count = ports.port_routes.End(port) - routes_begin;
    ports.chosen[At(port)] = kNone;
    ports.rotation[At(port)] = RotationStart(i - begin, count, ports.tick[At(group)]);
    for (std::int32_t k = 0; k < count; k++) {
      ports.matched[At(SendPort(network, ports.port_routes.items[At(routes_begin + k)]))] = kNone;
    }
  }
}

// Gives every port the first route of its list where that can depart; returns
// how many ports stay open.
template <typename Entry>
std::int32_t MatchFirst(MatchState<Entry>& state, std::int32_t group, std::int32_t level, Time now) {
  PortState& ports = state.ports;
  std::int32_t open_count = 0;
  for (std::int32_t i = ports.group_ports.Begin(group); i < ports.group_ports.End(group); i++) {
    const std::int32_t port = ports.group_ports.items[At(i)];
    if (state.resources.Left(port) <= 0) continue;
    const std::int32_t route = ports.port_routes.items[At(ports.port_routes.Begin(port) + ports.rotation[At(port)])];
    std::int32_t& matched = ports.matched[At(SendPort(state.problem.network, route))];
    if (matched == kNone && Eligible(state, route, level, now)) {
      matched = route;
      ports.chosen[At(port)] = route;
    } else {
      ports.open[At(open_count++)] = port;
    }
  }
  return open_count;
}

// Kuhn's augmenting step for one receiving port, without recursion: at trail[0 .. depth] stand ports, each of which looks
// for another sender than the one before took from it, and the place in its list where it is.
template <typename Entry>
bool Augment(MatchState<Entry>& state, std::int32_t port, std::int32_t level, Time now) {
  const BanyanNetwork& network = state.problem.network;
  PortState& ports = state.ports;
  std::int32_t depth = 0;
  ports.trail[0] = {port, 0};
  for (;;) {
    PortTurn& turn = ports.trail[At(depth)];
    const std::int32_t begin = ports.port_routes.Begin(turn.port);
    const std::int32_t count = ports.port_routes.End(turn.port) - begin;
    if (turn.place == count) {
      if (depth == 0) return false;
      ports.trail[At(--depth)].place++;
      continue;
    }
    const std::int32_t route =
        ports.port_routes.items[At(begin + (ports.rotation[At(turn.port)] + turn.place) % count)];
    const std::int32_t sender = SendPort(network, route);
    if (ports.visited[At(sender)] == ports.stamp || !Eligible(state, route, level, now)) {
      turn.place++;
      continue;
    }
    ports.visited[At(sender)] = ports.stamp;
    turn.route = route;
    const std::int32_t rival = ports.matched[At(sender)];
    if (rival != kNone) {
      ports.trail[At(++depth)] = {ReceivePort(network, rival), 0};
      continue;
    }
    for (; depth >= 0; depth--) {
      const PortTurn& taken = ports.trail[At(depth)];
      ports.matched[At(SendPort(network, taken.route))] = taken.route;
      ports.chosen[At(taken.port)] = taken.route;
    }
    return true;
  }
}

// One round of matching at one level; returns whether anything departed.
template <typename Entry>
bool MatchPorts(MatchState<Entry>& state, std::int32_t group, std::int32_t level, Time now) {
  const BanyanNetwork& network = state.problem.network;
  PortState& ports = state.ports;
  StartRound(network, ports, group);
  const std::int32_t open_count = MatchFirst(state, group, level, now);
  Shuffle(ports.open.data(), open_count, state.problem.policy.seed, state.serves++);
  for (std::int32_t i = 0; i < open_count; i++) {
    ports.stamp++;
    static_cast<void>(Augment(state, ports.open[At(i)], level, now));
  }
  bool departed = false;
  for (std::int32_t i = ports.group_ports.Begin(group); i < ports.group_ports.End(group); i++) {
    const std::int32_t route = ports.chosen[At(ports.group_ports.items[At(i)])];
    if (route == kNone || !Eligible(state, route, level, now)) continue;
    const std::int32_t target = network.route_target[route];
    static_cast<void>(level == kNone ? DepartOvertaking(state, route, target, now)
                                     : DepartChosen(state, route, target, level, now));
    departed = true;
  }
  return departed;
}

/// Matches receiving to sending ports of one group of switches, novelty level
/// by level, then by overtaking.
template <typename Entry>
void ServePorts(MatchState<Entry>& state, std::int32_t group, Time now) {
  bool any = false;
  for (std::int32_t level = state.level_of_rank[At(state.ports.group_rank[At(group)])]; level >= 0; level--) {
    while (MatchPorts(state, group, level, now)) any = true;
  }
  if (MayOvertake(state)) {
    while (MatchPorts(state, group, kNone, now)) any = true;
  }
  if (any) state.ports.tick[At(group)]++;
}

}  // namespace banyan

#endif  // BANYAN_KERNELS_MATCH_PORTS_H_
