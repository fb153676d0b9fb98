// Candidates, choice, overtaking and departures of the multicast matching. The
// twin of src/engine/kernels/js/match.ts, function by function.
#ifndef BANYAN_KERNELS_MATCH_MOVES_H_
#define BANYAN_KERNELS_MATCH_MOVES_H_

#include <cstdint>

#include "match_state.h"

namespace banyan {

/// The index in the source's log of the first chunk that the route may take at
/// this novelty level, or kNone.
template <typename Entry>
inline std::int32_t FirstCandidate(MatchState<Entry>& state, std::int32_t route, std::int32_t target,
                                   std::int32_t level) {
  RouteState& of = state.routes[route];
  const auto bit = static_cast<std::uint16_t>(1U << level);
  if (level > 0 && (of.marks & bit) == 0) return kNone;
  std::int32_t& pointer = state.Pointer(route, level);
  const Lacking<Entry> lacks(state, level, target);
  for (Offers<Entry> offers(state.logs, of.source, of.way, pointer); offers.Next();) {
    if (!lacks(offers.chunk())) continue;
    pointer = offers.index();
    return pointer;
  }
  pointer = state.logs.Length(of.source);
  if (level > 0 && of.shared == 0) of.marks = static_cast<std::uint16_t>(of.marks & ~bit);
  return kNone;
}

// The latest candidate in the source's log.
template <typename Entry>
std::int32_t Newest(MatchState<Entry>& state, std::int32_t route, std::int32_t level, std::int32_t first) {
  const std::int32_t source = state.problem.network.route_source[route];
  const std::int32_t target = state.problem.network.route_target[route];
  const Lacking<Entry> lacks(state, level, target);
  for (std::int32_t i = state.logs.Before(state.logs.Length(source)); i > first; i = state.logs.Before(i)) {
    const std::int32_t chunk = state.logs.Chunk(source, i);
    if (lacks(chunk)) return chunk;
  }
  return state.logs.Chunk(source, first);
}

// How many of these NPUs have the chunk or are being sent it.
template <typename Entry>
inline std::int32_t CountHaving(const MatchState<Entry>& state, const std::int32_t* npus, const std::uint32_t* columns,
                                std::int32_t count, std::int32_t chunk) {
  const std::uint32_t* const hi = state.hi.data() + chunk * state.npu_words;
  std::uint32_t having = 0;
  for (std::int32_t j = 0; j < count; j++) having += hi[columns[j]] >> (npus[j] & 31) & 1U;
  return static_cast<std::int32_t>(having);
}

// Of the next `window` candidates the one that fewest of the target's
// neighbours have, where those are scored; then, where they are, that fewest
// NPUs two steps away have; ties and else: that fewest NPUs have; then the
// oldest.
template <typename Entry>
std::int32_t Rarest(MatchState<Entry>& state, std::int32_t route, std::int32_t level, std::int32_t first) {
  const BanyanMatchPolicy& policy = state.problem.policy;
  const RouteState& of = state.routes[route];
  const std::int32_t target = state.problem.network.route_target[route];
  const std::int32_t near = state.neighbours.Begin(target);
  std::int32_t near_count = state.neighbours.End(target) - near;
  const auto choice = static_cast<Choice>(policy.choice);
  const bool scored = choice == Choice::kNeighbour || choice == Choice::kAround;
  if (!scored || near_count > kMaxScoredNeighbours) near_count = 0;
  const std::int32_t around = state.around.Begin(target);
  const std::int32_t around_count = state.around.End(target) - around;
  std::int32_t best = kNone;
  std::int32_t best_score = 0;
  std::int32_t best_far = 0;
  std::int32_t best_copies = 0;
  std::int32_t seen = 0;
  const Lacking<Entry> lacks(state, level, target);
  for (Offers<Entry> offers(state.logs, of.source, of.way, first); seen < policy.window && offers.Next();) {
    const std::int32_t chunk = offers.chunk();
    if (!lacks(chunk)) continue;
    seen++;
    const std::int32_t score = CountHaving(state, state.neighbours.items.data() + near,
                                           state.neighbour_columns.data() + near, near_count, chunk);
    if (best != kNone && score > best_score) continue;
    const std::int32_t far = CountHaving(state, state.around.items.data() + around,
                                         state.around_columns.data() + around, around_count, chunk);
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

/// Whether routes into the NPU take the oldest of what they may take by now.
template <typename Entry>
inline bool TakesOldest(const MatchState<Entry>& state, std::int32_t npu) {
  const MatchProblem& problem = state.problem;
  return static_cast<Choice>(problem.policy.choice) == Choice::kOldest ||
         (problem.choosers != nullptr && problem.choosers[npu] == 0) ||
         state.missing[At(npu)] > problem.policy.late_limit;
}

/// The chunk that the route takes at this novelty level, or kNone.
template <typename Entry>
inline std::int32_t Choose(MatchState<Entry>& state, std::int32_t route, std::int32_t target, std::int32_t level) {
  const std::int32_t first = FirstCandidate(state, route, target, level);
  if (first == kNone) return kNone;
  if (TakesOldest(state, target)) {
    state.Pointer(route, level) = first + 1;
    return state.logs.Chunk(state.routes[route].source, first);
  }
  const auto choice = static_cast<Choice>(state.problem.policy.choice);
  return choice == Choice::kNewest ? Newest(state, route, level, first) : Rarest(state, route, level, first);
}

/// Whether there is anything that a faster route may overtake.
template <typename Entry>
bool MayOvertake(const MatchState<Entry>& state) {
  return state.problem.policy.overtaking != 0 && state.slow_under_way > 0;
}

/// Whether the chunk has arrived at the NPU. Where all want everything: whether
/// it has it or is being sent it, and is not.
template <typename Entry>
bool Holds(const MatchState<Entry>& state, std::int32_t npu, std::int32_t chunk) {
  if (state.holds.size() > 0) return (state.holds[state.Word(npu, chunk)] >> (npu & 31) & 1U) != 0;
  if (state.Lacks(npu, chunk)) return false;
  for (std::int32_t i = state.all_in.Begin(npu); i < state.all_in.End(npu); i++) {
    if (state.routes[state.AllIn(i)].carried == chunk) return false;
  }
  return true;
}

/// The slower route into the same target whose chunk this route could bring
/// strictly earlier, or kNone: of those the one that arrives last, ties to the
/// lower route as given.
template <typename Entry>
std::int32_t Overtakable(const MatchState<Entry>& state, std::int32_t route, std::int32_t target, Time now) {
  const RouteState& of = state.routes[route];
  std::int32_t best = kNone;
  Time latest = now + state.ranks.slot[At(of.rank)];
  // Routes that are numbered by target are so by rank as well: the slower ones
  // follow.
  const std::int32_t begin = state.numbers.ByTarget() ? route + 1 : state.all_in.Begin(target);
  const std::int32_t end = state.all_in.End(target);
  for (std::int32_t i = begin; i < end; i++) {
    const std::int32_t number = state.AllIn(i);
    const RouteState& other = state.routes[number];
    if (other.carried == kNone || other.rank <= of.rank || (other.marks & (kOvertaken | kDuplicate)) != 0) continue;
    const Time other_end = other.start + state.ranks.slot[At(other.rank)];
    const bool later = other_end > latest || (other_end == latest && best != kNone &&
                                              state.numbers.Given(number) < state.numbers.Given(best));
    if (later && Holds(state, of.source, other.carried)) {
      latest = other_end;
      best = number;
    }
  }
  return best;
}

/// Sends the chunk over the route now.
template <typename Entry>
inline void Depart(MatchState<Entry>& state, std::int32_t route, std::int32_t chunk, Time now) {
  RouteState& of = state.routes[route];
  of.carried = chunk;
  of.start = now;
  of.departure_length = state.logs.Length(of.source);
  SetBit(state.busy.data(), route);
  if (of.shared != 0) state.resources.Take(route);
  if (of.rank > 0) state.slow_under_way++;
  if (!state.queue.Push(of.rank, now + state.ranks.slot[At(of.rank)], route)) state.failed = true;
}

/// Sends the chosen chunk of this novelty level over the route; returns whether
/// there was one.
template <typename Entry>
inline bool DepartChosen(MatchState<Entry>& state, std::int32_t route, std::int32_t target, std::int32_t level,
                         Time now) {
  const std::int32_t chunk = Choose(state, route, target, level);
  if (chunk == kNone) return false;
  Claim(state, target, chunk);
  Depart(state, route, chunk, now);
  return true;
}

/// Sends the chunk of a slower route over this one as well; returns whether
/// there was one.
template <typename Entry>
inline bool DepartOvertaking(MatchState<Entry>& state, std::int32_t route, std::int32_t target, Time now) {
  if (state.routes[route].rank + 1 == state.ranks.count) return false;
  const std::int32_t slower = Overtakable(state, route, target, now);
  if (slower == kNone) return false;
  state.routes[slower].marks |= kOvertaken;
  state.routes[route].marks |= kDuplicate;
  Depart(state, route, state.routes[slower].carried, now);
  return true;
}

}  // namespace banyan

#endif  // BANYAN_KERNELS_MATCH_MOVES_H_
