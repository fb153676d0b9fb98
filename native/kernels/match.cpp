#include "match.h"

#include "match_moves.h"
#include "match_ports.h"
#include "match_slotted.h"
#include "match_state.h"
#include "random.h"

namespace banyan {
namespace {

template <typename Entry>
bool TryDepart(MatchState<Entry>& state, std::int32_t route, Time now) {
  for (std::int32_t level = state.LevelOf(route); level >= 0; level--) {
    if (DepartChosen(state, route, level, now)) return true;
  }
  return false;
}

template <typename Entry>
void ServeNode(MatchState<Entry>& state, std::int32_t target, Time now) {
  if (state.missing[At(target)] == 0 && !MayOvertake(state)) return;
  std::int32_t* idle = state.idle.data();
  std::int32_t count = 0;
  for (std::int32_t i = state.direct_in.Begin(target); i < state.direct_in.End(target); i++) {
    const std::int32_t route = state.direct_in.items[At(i)];
    if (state.carried[At(route)] == kNone) idle[count++] = route;
  }
  std::int32_t run = 0;
  while (run < count) {
    const std::int32_t rank = state.ranks.rank[At(idle[run])];
    std::int32_t end = run + 1;
    while (end < count && state.ranks.rank[At(idle[end])] == rank) end++;
    if (end - run > 1) Shuffle(idle + run, end - run, state.problem.policy.seed, state.serves++);
    run = end;
  }
  for (std::int32_t i = 0; i < count; i++) {
    if (state.missing[At(target)] > 0 && TryDepart(state, idle[i], now)) continue;
    if (MayOvertake(state)) static_cast<void>(DepartOvertaking(state, idle[i], now));
  }
}

template <typename Entry>
void Free(MatchState<Entry>& state, std::int32_t route) {
  const BanyanNetwork& network = state.problem.network;
  state.carried[At(route)] = kNone;
  state.duplicate[At(route)] = 0;
  state.overtaken[At(route)] = 0;
  state.generation[At(route)]++;
  if (state.ranks.rank[At(route)] > 0) state.slow_under_way--;
  if (Shared(network, route)) {
    state.resources.Release(route);
    state.groups.Touch(state.ports.group_of_resource[At(SendPort(network, route))]);
  } else {
    state.nodes.Touch(network.route_target[route]);
  }
}

// The overtaken transfer of this chunk takes another chunk that its source held when it departed, or is dropped.
template <typename Entry>
void Outdate(MatchState<Entry>& state, std::int32_t target, std::int32_t chunk) {
  for (std::int32_t i = state.all_in.Begin(target); i < state.all_in.End(target); i++) {
    const std::int32_t route = state.all_in.items[At(i)];
    if (state.carried[At(route)] != chunk) continue;
    const std::int32_t found = FirstCandidate(state, route, 0);
    if (found == kNone || found >= state.departure_length[At(route)]) {
      Free(state, route);
      continue;
    }
    const std::int32_t other = state.Log(state.problem.network.route_source[route])[found];
    Claim(state, target, other);
    state.carried[At(route)] = other;
    state.overtaken[At(route)] = 0;
  }
}

template <typename Entry>
void Arrive(MatchState<Entry>& state, BanyanTransfers* out, std::int32_t route) {
  const BanyanNetwork& network = state.problem.network;
  const std::int32_t target = network.route_target[route];
  const std::int32_t chunk = state.carried[At(route)];
  const bool overtook = state.duplicate[At(route)] != 0;
  const auto row = static_cast<std::size_t>(state.delivered++);
  out->chunk[row] = chunk;
  out->route[row] = route;
  out->start_ps[row] = static_cast<double>(state.start[At(route)]);
  Free(state, route);
  AppendToLog(state, target, chunk);
  for (std::int32_t i = state.direct_out.Begin(target); i < state.direct_out.End(target); i++) {
    const std::int32_t next = state.direct_out.items[At(i)];
    const std::int32_t reader = network.route_target[next];
    if (state.carried[At(next)] == kNone && (state.missing[At(reader)] > 0 || MayOvertake(state))) {
      state.nodes.Touch(reader);
    }
  }
  const Lists& node_groups = state.ports.node_groups;
  for (std::int32_t i = node_groups.Begin(target); i < node_groups.End(target); i++) {
    state.groups.Touch(node_groups.items[At(i)]);
  }
  if (overtook) Outdate(state, target, chunk);
}

template <typename Entry>
void ServeTouched(MatchState<Entry>& state, Time now) {
  Touched& nodes = state.nodes;
  Touched& groups = state.groups;
  for (std::int32_t i = 0; i < nodes.count; i++) {
    if (i + kLogsAhead < nodes.count) PrefetchLogs(state, nodes.list[At(i + kLogsAhead)]);
    nodes.marks[At(nodes.list[At(i)])] = 0;
    ServeNode(state, nodes.list[At(i)], now);
  }
  nodes.count = 0;
  for (std::int32_t i = 0; i < groups.count; i++) {
    groups.marks[At(groups.list[At(i)])] = 0;
    ServePorts(state, groups.list[At(i)], now);
  }
  groups.count = 0;
}

template <typename Entry>
BanyanStatus ReportUnreachable(MatchState<Entry>& state, BanyanTransfers* out) {
  std::int32_t npu = 0;
  while (state.missing[At(npu)] == 0) npu++;
  std::int32_t chunk = 0;
  while (chunk < state.problem.chunk_count && Bit(state.Hi(npu), chunk)) chunk++;
  out->detail[0] = npu;
  out->detail[1] = chunk;
  return kBanyanUnreachable;
}

// The event-driven loop: serve what has changed, go on to the next arrivals.
template <typename Entry>
BanyanStatus RunEvents(MatchState<Entry>& state, BanyanCancelled cancelled, const void* context, BanyanTransfers* out) {
  for (std::int32_t v = 0; v < state.problem.network.npu_count; v++) state.nodes.Touch(v);
  for (std::int32_t g = 0; At(g) < state.ports.tick.size(); g++) state.groups.Touch(g);
  Time now = 0;
  for (std::uint32_t polls = 0;; polls++) {
    ServeTouched(state, now);
    if (state.failed) return kBanyanOutOfMemory;
    if ((polls & 63) == 0 && cancelled != nullptr && cancelled(context) != 0) return kBanyanCancelled;
    now = state.queue.NextTime();
    if (now == kNever) return kBanyanOk;
    if (now > kLatest) return kBanyanTimeOverflow;
    Arrival arrival{};
    while (state.queue.Pop(now, &arrival)) {
      // Of an older generation: dropped by Outdate.
      if (state.generation[At(arrival.route)] == arrival.generation) Arrive(state, out, arrival.route);
    }
  }
}

template <typename Entry>
BanyanStatus MatchWith(MatchState<Entry> state, BanyanCancelled cancelled, const void* context, BanyanTransfers* out) {
  if (!BuildMatchState(state)) return kBanyanOutOfMemory;
  if (static_cast<double>(state.expected) > out->room) return kBanyanOutputTooSmall;
  const BanyanStatus status =
      IsSlotted(state) ? RunSlotted(state, cancelled, context, out) : RunEvents(state, cancelled, context, out);
  if (status != kBanyanOk) return status;
  out->count = static_cast<double>(state.delivered);
  return state.delivered == state.expected ? kBanyanOk : ReportUnreachable(state, out);
}

}  // namespace

BanyanStatus Match(const MatchProblem& problem, BanyanCancelled cancelled, const void* context, BanyanTransfers* out) {
  if (problem.chunk_count <= 65536) {
    return MatchWith(MatchState<std::uint16_t>(problem), cancelled, context, out);
  }
  return MatchWith(MatchState<std::int32_t>(problem), cancelled, context, out);
}

}  // namespace banyan
