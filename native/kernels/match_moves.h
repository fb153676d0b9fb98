// Candidates, choice, overtaking and departures of the multicast matching. The twin of
// src/engine/kernels/js/match-moves.ts, function by function.
#ifndef BANYAN_KERNELS_MATCH_MOVES_H_
#define BANYAN_KERNELS_MATCH_MOVES_H_

#include <bit>
#include <cstdint>

#include "match_state.h"

namespace banyan {

constexpr std::int32_t kRoutesAhead = 16;  // NPUs between the prefetch of what is known of their routes and the use
constexpr std::int32_t kLogsAhead = 8;     // the same for the log entries
constexpr std::int32_t kWordsAhead = 4;    // the same for the words that the entries are tested against

/// The index of the first entry of the NPU's log from `at` on that is neither in `seen` nor in `also`, or `length`. Tests four
/// entries at a time, as the next step is hard to foresee; what stands behind them is read and passed over.
template <bool kBoth, typename Entry>
inline std::int32_t FirstOpen(const MatchState<Entry>& state, std::int32_t npu, std::int32_t at, std::int32_t length,
                              const std::uint32_t* seen, const std::uint32_t* also) {
  while (at < length) {
    const std::int32_t behind = at - InSlice(at) + kSlice;
    const std::int32_t end = behind < length ? behind : length;
    const Entry* log = state.Slice(npu, at) + InSlice(at);
    std::uint32_t open = 0;
    for (std::int32_t k = 0; k < kEntriesAtOnce; k++) {
      const auto chunk = static_cast<std::uint32_t>(log[k]);
      std::uint32_t word = seen[chunk >> 5];
      if (kBoth) word |= also[chunk >> 5];
      open |= (~word >> (chunk & 31) & 1U) << k;
    }
    const std::int32_t next = at + (open != 0 ? std::countr_zero(open) : kEntriesAtOnce);
    if (open != 0 && next < end) return next;
    at = next < end ? next : end;
  }
  return length;
}

// The cost of the matching is cache misses. The prefetches are inlined by force: GCC drops calls of a function that does
// nothing but prefetch.

/// Asks early for what is known of the routes into `target`, which have neighbouring numbers. No twin.
template <typename Entry>
[[gnu::always_inline]] inline void PrefetchRoutes(const MatchState<Entry>& state, std::int32_t target) {
  const std::int32_t first = state.direct_in.Begin(target);
  if (first == state.direct_in.End(target)) return;
  const std::int32_t route = state.direct_in.items[At(first)];
  __builtin_prefetch(&state.routes[At(route)]);
  __builtin_prefetch(state.routes.data() + At(route) + 2);
  __builtin_prefetch(&state.carried[At(route)]);
  __builtin_prefetch(&state.pointer[At(route) * At(state.levels)]);
}

/// The same for the logs and levels of the routes into `target` that are idle. No twin.
template <typename Entry>
[[gnu::always_inline]] inline void PrefetchIdleLogs(const MatchState<Entry>& state, std::int32_t target) {
  if (state.missing[At(target)] == 0) return;
  for (std::int32_t i = state.direct_in.Begin(target); i < state.direct_in.End(target); i++) {
    const std::int32_t route = state.direct_in.items[At(i)];
    if (state.carried[At(route)] != kNone) continue;
    const RouteState& of = state.routes[At(route)];
    for (std::int32_t level = of.level; level >= 0; level--) {
      __builtin_prefetch(state.Slice(of.source, state.Pointer(route, level)));
    }
  }
}

/// Asks for the words that these log entries will be tested against. No twin.
template <typename Entry>
[[gnu::always_inline]] inline void PrefetchIdleWords(const MatchState<Entry>& state, std::int32_t target) {
  if (state.missing[At(target)] == 0) return;
  for (std::int32_t i = state.direct_in.Begin(target); i < state.direct_in.End(target); i++) {
    const std::int32_t route = state.direct_in.items[At(i)];
    if (state.carried[At(route)] != kNone) continue;
    const RouteState& of = state.routes[At(route)];
    const std::int32_t length = state.log_length[At(of.source)];
    for (std::int32_t level = of.level; level >= 0; level--) {
      const std::int32_t at = state.Pointer(route, level);
      if (at >= length) continue;
      const Entry* entries = state.Slice(of.source, at) + InSlice(at);
      const std::uint32_t* seen = state.Novel(level, target);
      for (std::int32_t k = 0; k < kEntriesAtOnce; k++)
        __builtin_prefetch(seen + (static_cast<std::uint32_t>(entries[k]) >> 5));
    }
  }
}

/// The index in the source's log of the first chunk that the route may take at this novelty level, or kNone.
template <typename Entry>
inline std::int32_t FirstCandidate(MatchState<Entry>& state, std::int32_t route, std::int32_t level) {
  const RouteState& of = state.routes[At(route)];
  std::int32_t& pointer = state.Pointer(route, level);
  const std::int32_t length = state.log_length[At(of.source)];
  const std::int32_t at = pointer;
  if (at >= length) return kNone;
  const std::uint32_t* hi = state.Hi(of.target);
  // What everyone wants and an NPU has or is being sent, its components have or are being sent as well.
  const std::int32_t found = level == 0 ? FirstOpen<false>(state, of.source, at, length, hi, hi)
                             : state.problem.wanted == nullptr
                                 ? FirstOpen<false>(state, of.source, at, length, state.Novel(level, of.target), hi)
                                 : FirstOpen<true>(state, of.source, at, length, state.Novel(level, of.target), hi);
  pointer = found;
  return found < length ? found : kNone;
}

// The latest candidate in the source's log.
template <typename Entry>
std::int32_t Newest(MatchState<Entry>& state, std::int32_t route, std::int32_t level, std::int32_t first) {
  const std::int32_t source = state.problem.network.route_source[route];
  const std::int32_t target = state.problem.network.route_target[route];
  const std::uint32_t* hi = state.Hi(target);
  const std::uint32_t* novel = state.Novel(level, target);
  for (std::int32_t i = state.log_length[At(source)] - 1; i > first; i--) {
    const std::int32_t chunk = state.Chunk(source, i);
    if (!Bit(novel, chunk) && !Bit(hi, chunk)) return chunk;
  }
  return state.Chunk(source, first);
}

// Of the next `window` candidates the one that fewest of the target's neighbours have, where those are scored; then, where
// they are, that fewest NPUs two steps away have; ties and else: that fewest NPUs have; then the oldest.
template <typename Entry>
std::int32_t Rarest(MatchState<Entry>& state, std::int32_t route, std::int32_t level, std::int32_t first) {
  const BanyanMatchPolicy& policy = state.problem.policy;
  const std::int32_t source = state.problem.network.route_source[route];
  const std::int32_t target = state.problem.network.route_target[route];
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
  const std::int32_t window = policy.window;
  const Entry* slice = state.Slice(source, first);
  for (std::int32_t i = first; i < length && seen < window; i++) {
    const std::int32_t chunk = slice[InSlice(i)];
    if (InSlice(i) == kSlice - 1) slice += state.slice_stride;
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
inline std::int32_t Choose(MatchState<Entry>& state, std::int32_t route, std::int32_t level) {
  const std::int32_t first = FirstCandidate(state, route, level);
  if (first == kNone) return kNone;
  const BanyanMatchPolicy& policy = state.problem.policy;
  const BanyanNetwork& network = state.problem.network;
  const auto choice = static_cast<Choice>(policy.choice);
  if (choice == Choice::kOldest || state.missing[At(network.route_target[route])] > policy.late_limit) {
    return state.Chunk(network.route_source[route], first);
  }
  return choice == Choice::kNewest ? Newest(state, route, level, first) : Rarest(state, route, level, first);
}

/// Whether there is anything that a faster route may overtake.
template <typename Entry>
bool MayOvertake(const MatchState<Entry>& state) {
  return state.problem.policy.overtaking != 0 && state.slow_under_way > 0;
}

/// Whether the chunk has arrived at the NPU. Where all want everything: whether it has it or is being sent it, and is not.
template <typename Entry>
bool Holds(const MatchState<Entry>& state, std::int32_t npu, std::int32_t chunk) {
  if (state.holds.size() > 0) return Bit(state.holds.data() + At(npu) * state.words, chunk);
  if (!Bit(state.hi.data() + At(npu) * state.words, chunk)) return false;
  for (std::int32_t i = state.all_in.Begin(npu); i < state.all_in.End(npu); i++) {
    if (state.carried[At(state.all_in.items[At(i)])] == chunk) return false;
  }
  return true;
}

/// The slower route into the same target whose chunk this route could bring strictly earlier, or kNone: of those the one
/// that arrives last.
template <typename Entry>
std::int32_t Overtakable(const MatchState<Entry>& state, std::int32_t route, Time now) {
  const RouteState& of = state.routes[At(route)];
  if (of.rank + 1 == state.ranks.count) return kNone;
  std::int32_t best = kNone;
  Time latest = now + state.ranks.slot[At(of.rank)];
  for (std::int32_t i = state.all_in.Begin(of.target); i < state.all_in.End(of.target); i++) {
    const std::int32_t number = state.all_in.items[At(i)];
    const std::int32_t chunk = state.carried[At(number)];
    const RouteState& other = state.routes[At(number)];
    if (chunk == kNone || other.rank <= of.rank || other.overtaken != 0 || other.duplicate != 0) continue;
    const Time end = other.start + state.ranks.slot[At(other.rank)];
    if (end > latest && Holds(state, of.source, chunk)) {
      latest = end;
      best = number;
    }
  }
  return best;
}

/// Sends the chunk over the route now.
template <typename Entry>
inline void Depart(MatchState<Entry>& state, std::int32_t route, std::int32_t chunk, Time now) {
  RouteState& of = state.routes[At(route)];
  state.carried[At(route)] = chunk;
  of.start = now;
  of.departure_length = state.log_length[At(of.source)];
  if (of.shared != 0) state.resources.Take(route);
  if (of.rank > 0) state.slow_under_way++;
  if (!state.queue.Push(of.rank, Arrival{now + state.ranks.slot[At(of.rank)], route, of.generation})) {
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
  if (state.routes[At(route)].rank + 1 == state.ranks.count) return false;
  const std::int32_t slower = Overtakable(state, route, now);
  if (slower == kNone) return false;
  state.routes[At(slower)].overtaken = 1;
  state.routes[At(route)].duplicate = 1;
  Depart(state, route, state.carried[At(slower)], now);
  return true;
}

}  // namespace banyan

#endif  // BANYAN_KERNELS_MATCH_MOVES_H_
