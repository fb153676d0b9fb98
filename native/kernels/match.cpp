#include "match.h"

#include "match_moves.h"
#include "match_ports.h"
#include "match_state.h"
#include "random.h"

namespace banyan {
namespace {

constexpr std::int32_t kArrivalsAtOnce = 16;
constexpr std::size_t kCacheBytes = std::size_t{4}
                                    << 20;  // bits that outgrow it are asked for early: 10,000 NPUs in half the time

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
  std::int32_t run = 0;
  std::int32_t rank = kNone;
  const auto shuffle = [&] {
    if (count - run > 1) Shuffle(idle + run, count - run, state.problem.policy.seed, state.serves++);
    run = count;
  };
  for (std::int32_t i = state.direct_in.Begin(target); i < state.direct_in.End(target); i++) {
    const std::int32_t route = state.direct_in.items[At(i)];
    if (state.carried[At(route)] != kNone) continue;
    if (state.routes[At(route)].rank != rank) {
      shuffle();
      rank = state.routes[At(route)].rank;
    }
    idle[count++] = route;
  }
  shuffle();
  for (std::int32_t i = 0; i < count; i++) {
    if (state.missing[At(target)] > 0 && TryDepart(state, idle[i], now)) continue;
    if (MayOvertake(state)) static_cast<void>(DepartOvertaking(state, idle[i], now));
  }
}

template <typename Entry>
void Free(MatchState<Entry>& state, std::int32_t route) {
  RouteState& of = state.routes[At(route)];
  state.carried[At(route)] = kNone;
  of.duplicate = 0;
  of.overtaken = 0;
  of.generation++;
  if (of.rank > 0) state.slow_under_way--;
  if (of.shared != 0) {
    state.resources.Release(route);
    state.groups.Touch(state.ports.group_of_resource[At(SendPort(state.problem.network, route))]);
  } else {
    state.nodes.Touch(of.target);
  }
}

// The overtaken transfer of this chunk takes another chunk that its source held when it departed, or is dropped.
template <typename Entry>
void Outdate(MatchState<Entry>& state, std::int32_t target, std::int32_t chunk) {
  for (std::int32_t i = state.all_in.Begin(target); i < state.all_in.End(target); i++) {
    const std::int32_t route = state.all_in.items[At(i)];
    if (state.carried[At(route)] != chunk) continue;
    const std::int32_t found = FirstCandidate(state, route, 0);
    if (found == kNone || found >= state.routes[At(route)].departure_length) {
      Free(state, route);
      continue;
    }
    const std::int32_t other = state.Chunk(state.problem.network.route_source[route], found);
    Claim(state, target, other);
    state.carried[At(route)] = other;
    state.routes[At(route)].overtaken = 0;
  }
}

// The log of the NPU, or of a copy, has grown: its readers are served.
template <typename Entry>
void TouchReaders(MatchState<Entry>& state, std::int32_t npu) {
  const std::int32_t end = state.direct_out.End(npu);
  const bool overtaking = MayOvertake(state);
  for (std::int32_t i = state.direct_out.Begin(npu); i < end; i++) {
    const std::int32_t reader = state.reader[At(i)];
    if (state.carried[At(state.direct_out.items[At(i)])] == kNone && (overtaking || state.missing[At(reader)] > 0)) {
      state.nodes.Touch(reader);
    }
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
    SetBit(state.Hi(node), image);
    TouchReaders(state, node);
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
void Write(MatchState<Entry>& state, BanyanTransfers* out, std::int32_t route, std::int32_t chunk) {
  const double start = static_cast<double>(state.routes[At(route)].start);
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
  const std::int32_t target = state.routes[At(route)].target;
  for (std::int32_t i = folded.orbit.Begin(target); i < folded.orbit.End(target); i++) {
    const std::int32_t npu = folded.orbit.items[At(i)];
    write(folded.fold.ChunkMap(folded.fold.element[At(npu)])[chunk], folded.ImageRoute(kept, npu));
  }
}

template <typename Entry>
void Arrive(MatchState<Entry>& state, BanyanTransfers* out, std::int32_t route) {
  const RouteState& of = state.routes[At(route)];
  const std::int32_t target = of.target;
  const std::int32_t chunk = state.carried[At(route)];
  const bool overtook = of.duplicate != 0;
  Write(state, out, route, chunk);
  Free(state, route);
  AppendToLog(state, target, chunk);
  TouchReaders(state, target);
  if (state.folded != nullptr) FollowArrival(state, target, chunk);
  if (overtook) Outdate(state, target, chunk);
}

// Asks early for what Arrive reads and writes. No twin.
template <typename Entry>
[[gnu::always_inline]] inline void PrefetchArrivals(const MatchState<Entry>& state, const Arrival* arrivals,
                                                    std::int32_t count) {
  for (std::int32_t i = 0; i < count; i++) __builtin_prefetch(&state.routes[At(arrivals[i].route)]);
  for (std::int32_t i = 0; i < count; i++) {
    const std::int32_t target = state.routes[At(arrivals[i].route)].target;
    __builtin_prefetch(state.Slice(target, state.log_length[At(target)]), 1);
  }
}

template <typename Entry>
void ServeTouched(MatchState<Entry>& state, Time now) {
  Touched& nodes = state.nodes;
  Touched& groups = state.groups;
  const bool large = state.hi.size() * sizeof(std::uint32_t) > kCacheBytes;
  for (std::int32_t i = 0; i < nodes.count; i++) {
    if (large && i + kRoutesAhead < nodes.count) PrefetchRoutes(state, nodes.list[At(i + kRoutesAhead)]);
    if (large && i + kLogsAhead < nodes.count) PrefetchIdleLogs(state, nodes.list[At(i + kLogsAhead)]);
    if (large && i + kWordsAhead < nodes.count) PrefetchIdleWords(state, nodes.list[At(i + kWordsAhead)]);
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
    for (std::int32_t count = kArrivalsAtOnce; count == kArrivalsAtOnce;) {
      Arrival arrivals[kArrivalsAtOnce];
      count = state.queue.Pop(now, arrivals, kArrivalsAtOnce);
      PrefetchArrivals(state, arrivals, count);
      for (std::int32_t i = 0; i < count; i++) {
        const auto [time, route, generation] = arrivals[i];
        // Of an older generation: dropped by Outdate.
        if (state.routes[At(route)].generation == generation) Arrive(state, out, route);
      }
    }
  }
}

template <typename Entry>
BanyanStatus MatchOver(const MatchProblem& given, FoldedNetwork* folded, BanyanCancelled cancelled, const void* context,
                       BanyanTransfers* out) {
  RouteNumbers numbers(given.network);
  if (!numbers.Build()) return kBanyanOutOfMemory;
  MatchState<Entry> state(MatchProblem{numbers.network, given.chunk_count, given.held_offset, given.held_chunk,
                                       given.wanted, given.policy, given.map_count, given.maps},
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
  MatchProblem kept{folded.network, given.chunk_count, folded.held_offset.data(), folded.held_chunk.data(),
                    given.wanted,   given.policy,      given.map_count,           given.maps};
  return MatchOver<Entry>(kept, &folded, cancelled, context, out);
}

}  // namespace

BanyanStatus Match(const MatchProblem& problem, BanyanCancelled cancelled, const void* context, BanyanTransfers* out) {
  if (problem.chunk_count <= 65536) {
    return MatchWith<std::uint16_t>(problem, cancelled, context, out);
  }
  return MatchWith<std::int32_t>(problem, cancelled, context, out);
}

}  // namespace banyan
