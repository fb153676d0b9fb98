#include "match.h"

#include <cstddef>
#include <cstdint>

#include "match_build.h"
#include "match_moves.h"
#include "match_ports.h"
#include "match_serve.h"
#include "match_state.h"
#include "random.h"

namespace banyan {
namespace {

constexpr std::size_t kRoutesAhead = 24;    // arrivals between the prefetch of a route's state and the use
constexpr std::size_t kArrivalsAhead = 12;  // the same for what its arrival changes

template <typename Entry>
inline void Free(MatchState<Entry>& state, std::int32_t route, std::int32_t target) {
  RouteState& of = state.routes[route];
  of.carried = kNone;
  of.marks &= kFresh;
  state.busy[At(route >> 5)] &= ~(1U << (route & 31));
  if (of.rank > 0) state.slow_under_way--;
  if (of.shared != 0) {
    state.resources.Release(route);
    state.groups.Touch(state.ports.group_of_resource[At(SendPort(state.problem.network, route))]);
  } else {
    state.nodes.Touch(target);
  }
}

// The overtaken transfer of this chunk takes another chunk that its source held
// when it departed, or is dropped.
template <typename Entry>
void Outdate(MatchState<Entry>& state, std::int32_t target, std::int32_t chunk) {
  for (std::int32_t i = state.all_in.Begin(target); i < state.all_in.End(target); i++) {
    const std::int32_t route = state.AllIn(i);
    RouteState& of = state.routes[route];
    if (of.carried != chunk) continue;
    const std::int32_t found = FirstCandidate(state, route, target, 0);
    if (found == kNone || found >= of.departure_length) {
      Free(state, route, target);
      continue;
    }
    const std::int32_t other = state.logs.Chunk(of.source, found);
    Claim(state, target, other);
    of.carried = other;
    of.marks &= static_cast<std::uint16_t>(~kOvertaken);
  }
}

// The log of the NPU, or of a copy, has grown: its readers are served.
template <typename Entry>
inline void Announce(MatchState<Entry>& state, std::int32_t npu) {
  if (MayOvertake(state)) {
    TouchReaders<true>(state, npu);
  } else {
    TouchReaders<false>(state, npu);
  }
  const Lists& node_groups = state.ports.node_groups;
  for (std::int32_t i = node_groups.Begin(npu); i < node_groups.End(npu); i++) {
    state.groups.Touch(node_groups.items[At(i)]);
  }
}

// Appends the chunk to the copies of a representative, each through its map.
template <typename Entry>
void AppendToCopies(MatchState<Entry>& state, std::int32_t npu, std::int32_t chunk) {
  const FoldedNetwork& folded = *state.folded;
  for (std::int32_t i = folded.copies.Begin(npu); i < folded.copies.End(npu); i++) {
    const std::int32_t copy = folded.copies.items[At(i)];
    const std::int32_t node = folded.given.network.npu_count + copy;
    const std::int32_t image = folded.fold.ChunkMap(folded.copy_map[At(copy)])[chunk];
    AppendToLog(state, node, image);
    state.SetHi(node, image);
    Announce(state, node);
  }
}

// What maps leave in place shows a chunk once all its images under them have arrived.
template <typename Entry>
void FollowArrival(MatchState<Entry>& state, std::int32_t npu, std::int32_t chunk) {
  FoldedNetwork& folded = *state.folded;
  if (folded.copies.Begin(npu) == folded.copies.End(npu)) return;
  if (!folded.fold.Fixed(npu)) {
    AppendToCopies(state, npu, chunk);
  } else if (folded.Completes(npu, chunk)) {
    for (std::int32_t g = 0; g < folded.fold.map_count; g++) {
      const std::int32_t image = folded.fold.ChunkMap(g)[chunk];
      if (folded.Shows(g, npu, image)) AppendToCopies(state, npu, image);
    }
  }
}

// Writes the transfer, at every NPU of its target's orbit.
template <typename Entry>
inline void Write(MatchState<Entry>& state, BanyanTransfers* out, std::int32_t route, std::int32_t chunk) {
  const double start = static_cast<double>(state.routes[route].start);
  const auto write = [&](std::int32_t image, std::int32_t through) {
    const auto row = static_cast<std::size_t>(state.delivered++);
    out->chunk[row] = image;
    out->route[row] = through;
    out->start_ps[row] = start;
  };
  const std::int32_t kept = state.numbers.Given(route);
  if (state.folded == nullptr) {
    write(chunk, kept);
    return;
  }
  const FoldedNetwork& folded = *state.folded;
  const std::int32_t target = state.problem.network.route_target[route];
  for (std::int32_t i = folded.orbit.Begin(target); i < folded.orbit.End(target); i++) {
    const std::int32_t npu = folded.orbit.items[At(i)];
    write(folded.fold.ChunkMap(folded.fold.element[At(npu)])[chunk], folded.ImageRoute(kept, npu));
  }
}

template <typename Entry>
inline void Arrive(MatchState<Entry>& state, BanyanTransfers* out, std::int32_t route) {
  const RouteState& of = state.routes[route];
  const std::int32_t target = state.problem.network.route_target[route];
  const std::int32_t chunk = of.carried;
  const bool overtook = (of.marks & kDuplicate) != 0;
  Write(state, out, route, chunk);
  Free(state, route, target);
  AppendToLog(state, target, chunk);
  Announce(state, target);
  if (state.folded != nullptr) FollowArrival(state, target, chunk);
  if (overtook) Outdate(state, target, chunk);
}

// Asks early for what Arrive reads and writes. No twin. Inlined by force: GCC
// drops calls of a function that does nothing but prefetch.
template <typename Entry>
[[gnu::always_inline]] inline void PrefetchArrival(const MatchState<Entry>& state, std::int32_t route) {
  const std::int32_t chunk = state.routes[route].carried;
  if (chunk == kNone) return;
  const std::int32_t target = state.problem.network.route_target[route];
  const std::uint32_t* hi = state.hi.data() + chunk * state.npu_words;
  __builtin_prefetch(&state.logs.Line(target, state.logs.Length(target)), 1);
  for (std::int32_t k = state.direct_out.Begin(target); k < state.direct_out.End(target); k++) {
    __builtin_prefetch(hi + state.ways[At(k)].column);
  }
}

template <typename Entry>
void ServeTouched(MatchState<Entry>& state, Time now) {
  Touched& groups = state.groups;
  ServeNodes(state, now);
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
  while (chunk < state.problem.chunk_count && !state.Lacks(npu, chunk)) chunk++;
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
    state.queue.TakeAll(now, [&](auto routes, std::size_t count) {
      for (std::size_t i = 0; i < count; i++) {
        if (i + kRoutesAhead < count) __builtin_prefetch(&state.routes[routes(i + kRoutesAhead)]);
        if (i + kArrivalsAhead < count) PrefetchArrival(state, routes(i + kArrivalsAhead));
        const std::int32_t route = routes(i);
        const RouteState& of = state.routes[route];
        // Else dropped by Outdate, and perhaps under way anew.
        if (of.carried != kNone && of.start + state.ranks.slot[At(of.rank)] == now) Arrive(state, out, route);
      }
    });
  }
}

template <typename Entry>
BanyanStatus MatchOver(const MatchProblem& given, FoldedNetwork* folded, BanyanCancelled cancelled, const void* context,
                       BanyanTransfers* out) {
  RouteNumbers numbers(given.network);
  if (!numbers.Build()) return kBanyanOutOfMemory;
  MatchState<Entry> state(MatchProblem{numbers.network, given.chunk_count, given.held_offset, given.held_chunk,
                                       given.wanted, given.choosers, given.policy, given.map_count, given.maps},
                          numbers, folded);
  if (!BuildMatchState(state)) return kBanyanOutOfMemory;
  if (static_cast<double>(state.expected) > out->room) return kBanyanOutputTooSmall;
  const BanyanStatus status = RunEvents(state, cancelled, context, out);
  if (status != kBanyanOk) return status;
  out->count = static_cast<double>(state.delivered);
  return state.delivered == state.expected ? kBanyanOk : ReportUnreachable(state, out);
}

template <typename Entry>
BanyanStatus MatchWith(const MatchProblem& given, BanyanCancelled cancelled, const void* context,
                       BanyanTransfers* out) {
  if (given.map_count == 0) return MatchOver<Entry>(given, nullptr, cancelled, context, out);
  FoldedNetwork folded(given);
  const BanyanStatus built = folded.Build();
  if (built != kBanyanOk) return built;
  MatchProblem kept{folded.network,
                    given.chunk_count,
                    folded.held_offset.data(),
                    folded.held_chunk.data(),
                    given.wanted,
                    nullptr,  // with maps all take the oldest
                    given.policy,
                    given.map_count,
                    given.maps};
  return MatchOver<Entry>(kept, &folded, cancelled, context, out);
}

}  // namespace

BanyanStatus Match(const MatchProblem& problem, BanyanCancelled cancelled, const void* context, BanyanTransfers* out) {
  if (problem.chunk_count <= 65536) return MatchWith<std::uint16_t>(problem, cancelled, context, out);
  return MatchWith<std::int32_t>(problem, cancelled, context, out);
}

}  // namespace banyan
