// Serving NPUs: their idle routes take chunks. The twin of serveNode in
// src/engine/kernels/js/match.ts, some NPUs at a time.
#ifndef BANYAN_KERNELS_MATCH_SERVE_H_
#define BANYAN_KERNELS_MATCH_SERVE_H_

#include <cstdint>

#include "match_moves.h"
#include "match_state.h"
#include "random.h"

namespace banyan {

constexpr std::int32_t kNodesAtOnce = 32;  // served together, and asked for so many early

// Lists the idle routes into the NPU from idle[at] on, each rank shuffled;
// returns where they end.
template <typename Entry>
inline std::int32_t ListIdle(MatchState<Entry>& state, std::int32_t target, std::int32_t at) {
  if (state.missing[At(target)] == 0 && !MayOvertake(state)) return at;
  std::int32_t* const idle = state.idle.data();
  Asking* const asking = state.asking.data();
  std::int32_t count = at;
  std::int32_t run = at;
  std::int32_t rank = kNone;
  const auto shuffle = [&] {
    if (count - run > 1) Shuffle(idle + run, count - run, state.problem.policy.seed, state.serves++);
    run = count;
  };
  const std::int32_t end = state.direct_in.End(target);
  for (std::int32_t i = state.direct_in.Begin(target); i < end; i++) {
    const std::int32_t route = state.DirectIn(i);
    const RouteState& of = state.routes[route];
    if (of.rank != rank) {
      shuffle();
      rank = of.rank;
    }
    idle[count] = route;
    asking[count].target = target;
    count += of.carried == kNone ? 1 : 0;
  }
  shuffle();
  return count;
}

// Finds the first chunk that is offered over the route, and asks early for the
// word that says whether the target has it by now.
template <typename Entry>
inline void Ask(MatchState<Entry>& state, std::int32_t route, Asking& asking) {
  RouteState& of = state.routes[route];
  Offers<Entry> offers(state.logs, of.source, of.way, of.pointer);
  asking.chunk = kNone;
  if (!offers.Next()) {
    of.pointer = state.logs.Length(of.source);
    return;
  }
  of.pointer = offers.index();
  asking.chunk = offers.chunk();
  asking.word = state.hi.data() + state.Word(asking.target, asking.chunk);
  __builtin_prefetch(asking.word);
}

// Sends a chunk over the idle route, if there is one for it; returns whether
// there was.
template <typename Entry>
inline bool TryDepart(MatchState<Entry>& state, std::int32_t route, const Asking& asking, Time now) {
  const std::int32_t target = asking.target;
  RouteState& of = state.routes[route];
  if ((of.marks & kFresh) != 0) {
    for (std::int32_t level = state.LevelOf(route); level > 0; level--) {
      if (DepartChosen(state, route, target, level, now)) return true;
    }
  }
  if (asking.chunk == kNone) return false;
  if (!TakesOldest(state, target)) return DepartChosen(state, route, target, 0, now);
  std::int32_t chunk = asking.chunk;
  if ((*asking.word >> (target & 31) & 1U) != 0) {
    of.pointer++;
    const std::int32_t next = FirstCandidate(state, route, target, 0);
    if (next == kNone) return false;
    chunk = state.logs.Chunk(of.source, next);
  }
  of.pointer++;
  Claim(state, target, chunk);
  Depart(state, route, chunk, now);
  return true;
}

// Asks early for what ListIdle reads. Inlined by force: GCC drops calls of a
// function that does nothing but prefetch.
template <typename Entry>
[[gnu::always_inline]] inline void PrefetchRoutes(const MatchState<Entry>& state, std::int32_t target) {
  const std::int32_t first = state.direct_in.Begin(target);
  if (first == state.direct_in.End(target)) return;
  const RouteState* route = state.routes + state.DirectIn(first);
  __builtin_prefetch(route);
  __builtin_prefetch(route + 2);
}

/// Serves the touched NPUs in order. Some at a time, as what is done for one of
/// them says nothing of which routes into others are idle and what these are
/// offered; but once something slow is under way, all idle routes are looked
/// at.
template <typename Entry>
void ServeNodes(MatchState<Entry>& state, Time now) {
  Touched& nodes = state.nodes;
  for (std::int32_t from = 0; from < nodes.count;) {
    std::int32_t count = nodes.count - from < kNodesAtOnce ? nodes.count - from : kNodesAtOnce;
    if (state.problem.policy.overtaking != 0 && state.ranks.count > 1 && state.slow_under_way == 0) count = 1;
    std::int32_t end = 0;
    for (std::int32_t i = from; i < from + count; i++) {
      if (i + kNodesAtOnce < nodes.count) PrefetchRoutes(state, nodes.list[At(i + kNodesAtOnce)]);
      const std::int32_t target = nodes.list[At(i)];
      nodes.marks[At(target)] = 0;
      end = ListIdle(state, target, end);
    }
    for (std::int32_t i = 0; i < end; i++) {
      const RouteState& of = state.routes[state.idle[At(i)]];
      __builtin_prefetch(&state.logs.Line(of.source, of.pointer));
    }
    for (std::int32_t i = 0; i < end; i++) Ask(state, state.idle[At(i)], state.asking[At(i)]);
    for (std::int32_t i = 0; i < end; i++) {
      const std::int32_t route = state.idle[At(i)];
      const Asking& asking = state.asking[At(i)];
      if (state.missing[At(asking.target)] > 0 && TryDepart(state, route, asking, now)) continue;
      if (MayOvertake(state)) static_cast<void>(DepartOvertaking(state, route, asking.target, now));
    }
    from += count;
  }
  nodes.count = 0;
}

}  // namespace banyan

#endif  // BANYAN_KERNELS_MATCH_SERVE_H_
