// Candidates, choice, overtaking and departures of the multicast matching. The twin of
// src/engine/kernels/js/match-moves.ts, function by function.
#ifndef BANYAN_KERNELS_MATCH_MOVES_H_
#define BANYAN_KERNELS_MATCH_MOVES_H_

#include <cstdint>

#include "match_state.h"

namespace banyan {

constexpr std::int32_t kLogsAhead = 4;  // NPUs between the prefetch of their log entries and the use

/// The cost of the matching is cache misses: asks early for the log entries that the routes into `target` will read. No twin.
template <typename Entry>
inline void PrefetchLogs(MatchState<Entry>& state, std::int32_t target) {
  for (std::int32_t i = state.direct_in.Begin(target); i < state.direct_in.End(target); i++) {
    const std::int32_t route = state.direct_in.items[At(i)];
    const Entry* log = state.Log(state.problem.network.route_source[route]);
    __builtin_prefetch(log + state.Pointer(route, state.LevelOf(route)));
  }
}

/// The index in the source's log of the first chunk that the route may take at this novelty level, or kNone.
template <typename Entry>
inline std::int32_t FirstCandidate(MatchState<Entry>& state, std::int32_t route, std::int32_t level) {
  const std::int32_t source = state.problem.network.route_source[route];
  const std::int32_t target = state.problem.network.route_target[route];
  std::int32_t& pointer = state.Pointer(route, level);
  const Entry* log = state.Log(source);
  const std::int32_t length = state.log_length[At(source)];
  const std::uint32_t* hi = state.Hi(target);
  const std::uint32_t* novel = state.Novel(level, target);
  std::int32_t i = pointer;
  while (i < length && (Bit(novel, log[i]) || Bit(hi, log[i]))) i++;
  pointer = i;
  return i < length ? i : kNone;
}

// The latest candidate in the source's log.
template <typename Entry>
std::int32_t Newest(MatchState<Entry>& state, std::int32_t route, std::int32_t level, std::int32_t first) {
  const std::int32_t source = state.problem.network.route_source[route];
  const std::int32_t target = state.problem.network.route_target[route];
  const Entry* log = state.Log(source);
  const std::uint32_t* hi = state.Hi(target);
  const std::uint32_t* novel = state.Novel(level, target);
  std::int32_t i = state.log_length[At(source)] - 1;
  while (i > first && (Bit(novel, log[i]) || Bit(hi, log[i]))) i--;
  return log[i];
}

// Of the next `window` candidates the one that fewest of the target's neighbours have, where those are scored; then, where
// they are, that fewest NPUs two steps away have; ties and else: that fewest NPUs have; then the oldest.
template <typename Entry>
std::int32_t Rarest(MatchState<Entry>& state, std::int32_t route, std::int32_t level, std::int32_t first) {
  const BanyanMatchPolicy& policy = state.problem.policy;
  const std::int32_t source = state.problem.network.route_source[route];
  const std::int32_t target = state.problem.network.route_target[route];
  const Entry* log = state.Log(source);
  const std::int32_t length = state.log_length[At(source)];
  const std::uint32_t* hi = state.Hi(target);
  const std::uint32_t* novel = state.Novel(level, target);
  const std::int32_t begin = state.neighbours.Begin(target);
  std::int32_t end = state.neighbours.End(target);
  const auto choice = static_cast<Choice>(policy.choice);
  const bool scored = choice == Choice::kNeighbour || choice == Choice::kAround;
  if (!scored || end - begin > kMaxScoredNeighbours) end = begin;
  const std::int32_t from = state.around.Begin(target);
  const std::int32_t to = state.around.End(target);
  std::int32_t best = kNone;
  std::int32_t best_score = 0;
  std::int32_t best_far = 0;
  std::int32_t best_copies = 0;
  std::int32_t seen = 0;
  for (std::int32_t i = first; i < length && seen < policy.window; i++) {
    const std::int32_t chunk = log[i];
    if (Bit(novel, chunk) || Bit(hi, chunk)) continue;
    seen++;
    std::int32_t score = 0;
    for (std::int32_t j = begin; j < end; j++) score += Bit(state.Hi(state.neighbours.items[At(j)]), chunk) ? 1 : 0;
    if (best != kNone && score > best_score) continue;
    std::int32_t far = 0;
    for (std::int32_t j = from; j < to; j++) far += Bit(state.Hi(state.around.items[At(j)]), chunk) ? 1 : 0;
    const std::int32_t copies = state.copies[At(chunk)];
    const bool tied = score == best_score;
    if (best == kNone || !tied || far < best_far || (far == best_far && copies < best_copies)) {
      best = chunk;
      best_score = score;
      best_far = far;
      best_copies = copies;
    }
  }
  return best;
}

/// The chunk that the route takes at this novelty level, or kNone.
template <typename Entry>
std::int32_t Choose(MatchState<Entry>& state, std::int32_t route, std::int32_t level) {
  const std::int32_t first = FirstCandidate(state, route, level);
  if (first == kNone) return kNone;
  const BanyanMatchPolicy& policy = state.problem.policy;
  const BanyanNetwork& network = state.problem.network;
  const auto choice = static_cast<Choice>(policy.choice);
  if (choice == Choice::kOldest || state.missing[At(network.route_target[route])] > policy.late_limit) {
    return state.Log(network.route_source[route])[first];
  }
  return choice == Choice::kNewest ? Newest(state, route, level, first) : Rarest(state, route, level, first);
}

/// Whether there is anything that a faster route may overtake.
template <typename Entry>
bool MayOvertake(const MatchState<Entry>& state) {
  return state.problem.policy.overtaking != 0 && state.slow_under_way > 0;
}

/// The slower route into the same target whose chunk this route could bring strictly earlier, or kNone: of those the one
/// that arrives last.
template <typename Entry>
std::int32_t Overtakable(const MatchState<Entry>& state, std::int32_t route, Time now) {
  const std::int32_t source = state.problem.network.route_source[route];
  const std::int32_t target = state.problem.network.route_target[route];
  const std::uint32_t* holds = state.holds.data() + At(source) * state.words;
  std::int32_t best = kNone;
  Time latest = now + state.Slot(route);
  for (std::int32_t i = state.all_in.Begin(target); i < state.all_in.End(target); i++) {
    const std::int32_t other = state.all_in.items[At(i)];
    const std::int32_t chunk = state.carried[At(other)];
    if (chunk == kNone || state.ranks.rank[At(other)] <= state.ranks.rank[At(route)]) continue;
    if (state.overtaken[At(other)] != 0 || state.duplicate[At(other)] != 0) continue;
    const Time end = state.start[At(other)] + state.Slot(other);
    if (end > latest && Bit(holds, chunk)) {
      latest = end;
      best = other;
    }
  }
  return best;
}

/// Sends the chunk over the route now.
template <typename Entry>
inline void Depart(MatchState<Entry>& state, std::int32_t route, std::int32_t chunk, Time now) {
  const BanyanNetwork& network = state.problem.network;
  const std::int32_t rank = state.ranks.rank[At(route)];
  state.carried[At(route)] = chunk;
  state.start[At(route)] = now;
  state.departure_length[At(route)] = state.log_length[At(network.route_source[route])];
  if (Shared(network, route)) state.resources.Take(route);
  if (rank > 0) state.slow_under_way++;
  if (!state.queue.Push(rank, Arrival{now + state.ranks.slot[At(rank)], route, state.generation[At(route)]})) {
    state.failed = true;
  }
}

/// Sends the chosen chunk of this novelty level over the route; returns whether there was one.
template <typename Entry>
inline bool DepartChosen(MatchState<Entry>& state, std::int32_t route, std::int32_t level, Time now) {
  const std::int32_t chunk = Choose(state, route, level);
  if (chunk == kNone) return false;
  Claim(state, state.problem.network.route_target[route], chunk);
  Depart(state, route, chunk, now);
  return true;
}

/// Sends the chunk of a slower route over this one as well; returns whether there was one.
template <typename Entry>
bool DepartOvertaking(MatchState<Entry>& state, std::int32_t route, Time now) {
  const std::int32_t slower = Overtakable(state, route, now);
  if (slower == kNone) return false;
  state.overtaken[At(slower)] = 1;
  state.duplicate[At(route)] = 1;
  Depart(state, route, state.carried[At(slower)], now);
  return true;
}

}  // namespace banyan

#endif  // BANYAN_KERNELS_MATCH_MOVES_H_
