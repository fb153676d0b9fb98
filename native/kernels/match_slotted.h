// The multicast matching where time moves in slots: all routes are equally long and none shares a resource. The twin of
// src/engine/kernels/js/match-slotted.ts, function by function.
//
// The NPUs that lack chunks are served in ascending order on what the logs held when the slot began, and the slot's
// transfers end together: the same choices as the event-driven loop without its queue. 4,096 NPUs in a third of the time.
#ifndef BANYAN_KERNELS_MATCH_SLOTTED_H_
#define BANYAN_KERNELS_MATCH_SLOTTED_H_

#include <cstdint>

#include "match.h"
#include "match_moves.h"
#include "match_state.h"
#include "random.h"

namespace banyan {

constexpr std::int32_t kBitsAhead =
    2;  // NPUs between the prefetch of the bit that a log entry is tested against and its use

template <typename Entry>
[[nodiscard]] bool IsSlotted(const MatchState<Entry>& state) {
  return state.ranks.count <= 1 && state.problem.network.use_count == 0;
}

/// Asks early for the bits that the next entries of the logs are tested against. No twin.
template <typename Entry>
void PrefetchBits(MatchState<Entry>& state, std::int32_t target) {
  for (std::int32_t i = state.direct_in.Begin(target); i < state.direct_in.End(target); i++) {
    const std::int32_t route = state.direct_in.items[At(i)];
    const std::int32_t source = state.problem.network.route_source[route];
    const std::int32_t at = state.Pointer(route, 0);
    if (at < state.log_length[At(source)]) __builtin_prefetch(state.Hi(target) + (state.Chunk(source, at) >> 5));
  }
}

/// Serves one NPU's routes in random order; returns the number of routes in `departed`.
template <typename Entry>
std::int32_t ServeSlot(MatchState<Entry>& state, std::int32_t target, std::int32_t* departed, std::int32_t first) {
  const BanyanMatchPolicy& policy = state.problem.policy;
  const std::int32_t begin = state.direct_in.Begin(target);
  const std::int32_t routes = state.direct_in.End(target) - begin;
  std::int32_t* idle = state.idle.data();
  for (std::int32_t i = 0; i < routes; i++) idle[i] = state.direct_in.items[At(begin + i)];
  Shuffle(idle, routes, policy.seed, state.serves++);
  std::int32_t& missing = state.missing[At(target)];
  const bool plain = static_cast<Choice>(policy.choice) == Choice::kOldest || missing - routes > policy.late_limit;
  const std::uint32_t* hi = state.Hi(target);
  std::int32_t count = first;
  for (std::int32_t i = 0; i < routes && missing > 0; i++) {
    const std::int32_t route = idle[i];
    std::int32_t chunk = kNone;
    if (plain) {  // Choose spelled out: 10 % of the time of 1,024 NPUs
      const std::int32_t source = state.problem.network.route_source[route];
      const std::int32_t length = state.log_length[At(source)];
      std::int32_t& pointer = state.Pointer(route, 0);
      std::int32_t at = pointer;
      while (at < length && Bit(hi, state.Chunk(source, at))) at++;
      pointer = at;
      if (at < length) chunk = state.Chunk(source, at);
    } else {
      chunk = Choose(state, route, 0);
    }
    if (chunk == kNone) continue;
    Claim(state, target, chunk);
    state.carried[At(route)] = chunk;
    departed[count++] = route;
  }
  return count;
}

/// Runs the matching slot by slot until nothing more can depart.
template <typename Entry>
[[nodiscard]] BanyanStatus RunSlotted(MatchState<Entry>& state, BanyanCancelled cancelled, const void* context,
                                      BanyanTransfers* out) {
  const BanyanNetwork& network = state.problem.network;
  const Time slot = state.ranks.count == 0 ? 0 : state.ranks.slot[0];
  Buffer<std::int32_t> departed;
  Buffer<std::int32_t> active;
  if (!departed.Allocate(At(network.route_count)) || !active.Allocate(At(network.npu_count))) return kBanyanOutOfMemory;
  for (std::int32_t v = 0; v < network.npu_count; v++) active[At(v)] = v;
  std::int32_t active_count = network.npu_count;
  Time now = 0;
  for (std::uint32_t polls = 0; state.delivered < state.expected; polls++) {
    if ((polls & 63) == 0 && cancelled != nullptr && cancelled(context) != 0) return kBanyanCancelled;
    std::int32_t count = 0;
    std::int32_t kept = 0;
    for (std::int32_t i = 0; i < active_count; i++) {
      if (i + kLogsAhead < active_count) PrefetchLogs(state, active[At(i + kLogsAhead)]);
      if (i + kBitsAhead < active_count) PrefetchBits(state, active[At(i + kBitsAhead)]);
      const std::int32_t target = active[At(i)];
      if (state.missing[At(target)] > 0) count = ServeSlot(state, target, departed.data(), count);
      if (state.missing[At(target)] > 0) active[At(kept++)] = target;
    }
    active_count = kept;
    if (count == 0) return kBanyanOk;
    if (now + slot > kLatest) return kBanyanTimeOverflow;
    for (std::int32_t i = 0; i < count; i++) {
      const std::int32_t route = departed[At(i)];
      const auto row = static_cast<std::size_t>(state.delivered++);
      out->chunk[row] = state.carried[At(route)];
      out->route[row] = state.numbers.Given(route);
      out->start_ps[row] = static_cast<double>(now);
      AppendToLog(state, network.route_target[route], state.carried[At(route)]);
    }
    now += slot;
  }
  return kBanyanOk;
}

}  // namespace banyan

#endif  // BANYAN_KERNELS_MATCH_SLOTTED_H_
