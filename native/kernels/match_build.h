// How the state of the multicast matching is built. The twin of the builders in
// src/engine/kernels/js/match-state.ts, function by function.
#ifndef BANYAN_KERNELS_MATCH_BUILD_H_
#define BANYAN_KERNELS_MATCH_BUILD_H_

#include <cstdint>

#include "bits.h"
#include "buffer.h"
#include "lists.h"
#include "match_state.h"
#include "ten.h"

namespace banyan {

// Only the choice that scores what is two steps away needs to know it.
[[nodiscard]] inline bool BuildAround(const MatchProblem& problem, const Lists& neighbours, Lists& around) {
  const std::int32_t npus = problem.network.npu_count;
  if (static_cast<Choice>(problem.policy.choice) != Choice::kAround) return around.offset.Allocate(At(npus) + 1);
  return around.GroupSecond(neighbours, npus, kMaxScoredNeighbours);
}

// Where the columns of `hi` begin for each of these NPUs.
template <typename Entry>
[[nodiscard]] bool BuildColumns(const MatchState<Entry>& state, const Buffer<std::int32_t>& npus,
                                Buffer<std::uint32_t>& columns) {
  if (!columns.Allocate(npus.size())) return false;
  for (std::size_t i = 0; i < npus.size(); i++) columns[i] = static_cast<std::uint32_t>(state.Word(npus[i], 0));
  return true;
}

// Level k >= 1 of a rank: the components under routes of lower rank. Levels
// with one component say nothing new, and neither do levels equal to the one
// before.
template <typename Entry>
[[nodiscard]] bool BuildLevels(MatchState<Entry>& state) {
  const BanyanNetwork& network = state.folded == nullptr ? state.problem.network : state.folded->given.network;
  const std::int32_t npus = network.npu_count;
  SlotRanks ranks;  // of all routes, also those that are not matched
  if (!ranks.Build(network)) return false;
  const std::size_t stride = At(state.problem.network.npu_count);
  if (!state.level_of_rank.Allocate(At(ranks.count)) || !state.component.Allocate(At(kMaxLevels) * stride)) {
    return false;
  }
  Lists by_rank;
  Buffer<std::int32_t> parent;
  if (!by_rank.Group(ranks.rank.data(), network.route_count, ranks.count) || !AllocateRange(parent, npus)) return false;
  std::int32_t components = npus;
  std::int32_t rows = 1;
  for (std::int32_t rank = 1; rank < ranks.count && state.problem.policy.novelty != 0; rank++) {
    const std::int32_t before = components;
    for (std::int32_t i = by_rank.Begin(rank - 1); i < by_rank.End(rank - 1); i++) {
      const std::int32_t a = Find(parent.data(), network.route_source[by_rank.items[At(i)]]);
      const std::int32_t b = Find(parent.data(), network.route_target[by_rank.items[At(i)]]);
      if (a == b) continue;
      Unite(parent.data(), a, b);
      components--;
    }
    if (components < before && components > 1 && state.levels < kMaxLevels) {
      std::int32_t* row = state.component.data() + At(state.levels) * stride;
      for (std::int32_t v = 0; v < npus; v++) {
        const std::int32_t root = Find(parent.data(), v);
        row[v] = root == v ? rows++ : row[root];
      }
      state.levels++;
    }
    state.level_of_rank[At(rank)] = state.levels - 1;
  }
  if (At(rows) * state.words > UINT32_MAX || !state.novel.Allocate(At(rows) * state.words)) return false;
  for (std::size_t i = 0; i < state.words; i++) state.novel[i] = UINT32_MAX;
  return true;
}

// Marks what NPUs do not want, and takes it from what they are to get.
template <typename Entry>
void MarkUnwanted(MatchState<Entry>& state, Buffer<std::int32_t>& entries) {
  const MatchProblem& problem = state.problem;
  for (std::int32_t v = 0; v < problem.network.npu_count; v++) {
    const std::uint32_t* wanted = problem.wanted + At(v) * state.words;
    for (std::int32_t c = 0; c < problem.chunk_count; c++) {
      if (Bit(wanted, c)) continue;
      state.SetHi(v, c);
      entries[At(v)]--;
    }
  }
}

// Marks what each NPU holds or does not want, and gives its log room for what
// it will ever hold.
template <typename Entry>
[[nodiscard]] bool BuildHoldings(MatchState<Entry>& state) {
  const MatchProblem& problem = state.problem;
  const auto npus = At(problem.network.npu_count);
  const auto rows = static_cast<std::size_t>(state.first_column + problem.chunk_count * state.npu_words);
  if (rows > UINT32_MAX || !state.hi.Allocate(rows) || !state.missing.Allocate(npus) ||
      !state.copies.Allocate(At(problem.chunk_count))) {
    return false;
  }
  if (problem.policy.overtaking != 0 && problem.wanted != nullptr && !state.holds.Allocate(rows)) return false;
  Buffer<std::int32_t>& entries = state.missing;
  entries.Fill(problem.chunk_count);
  if (problem.wanted != nullptr) MarkUnwanted(state, entries);
  std::int32_t longest = 0;
  for (std::int32_t v = 0; v < problem.network.npu_count; v++) {
    for (std::int32_t i = problem.held_offset[v]; i < problem.held_offset[v + 1]; i++) {
      if (!state.Lacks(v, problem.held_chunk[i])) entries[At(v)]++;  // held, but not wanted
      state.SetHi(v, problem.held_chunk[i]);
    }
    if (entries[At(v)] > longest) longest = entries[At(v)];
  }
  return state.logs.Allocate(problem.network.npu_count, longest);
}

template <typename Entry>
void FillHoldings(MatchState<Entry>& state) {
  const MatchProblem& problem = state.problem;
  const FoldedNetwork* folded = state.folded;
  for (std::int32_t v = 0; v < problem.network.npu_count; v++) {
    const bool is_copy = folded != nullptr && v >= folded->given.network.npu_count;
    for (std::int32_t i = problem.held_offset[v]; i < problem.held_offset[v + 1]; i++) {
      const std::int32_t chunk = problem.held_chunk[i];
      AppendToLog(state, v, chunk);
      state.SetHi(v, chunk);
      if (!is_copy) ClaimForComponents(state, v, chunk);
      state.missing[At(v)]--;
      state.copies[At(chunk)]++;
    }
    if (folded != nullptr && (is_copy || !folded->fold.Represents(v))) state.missing[At(v)] = 0;
    const std::int32_t images = folded == nullptr || is_copy ? 1 : folded->orbit.End(v) - folded->orbit.Begin(v);
    state.expected += static_cast<std::int64_t>(state.missing[At(v)]) * images;
  }
}

/// Fills the state as it is before time 0; false when there is no memory.
template <typename Entry>
[[nodiscard]] bool BuildMatchState(MatchState<Entry>& state) {
  const BanyanNetwork& network = state.problem.network;
  const auto routes = At(network.route_count);
  const RouteNumbers& numbers = state.numbers;
  if (!state.ranks.Build(network) || !GroupRoutes(network, network.route_target, false, state.direct_in) ||
      !GroupRoutes(numbers.given, numbers.given.route_source, false, state.direct_out) ||
      !state.all_in.Group(network.route_target, network.route_count, network.npu_count) ||
      !state.neighbours.GroupTargets(state.direct_out, numbers.given.route_target, network.npu_count) ||
      !BuildAround(state.problem, state.neighbours, state.around) ||
      !BuildColumns(state, state.neighbours.items, state.neighbour_columns) ||
      !BuildColumns(state, state.around.items, state.around_columns) || !BuildLevels(state) || !BuildHoldings(state) ||
      !BuildPorts(network, state.ranks, state.ports)) {
    return false;
  }
  state.routes = AllocateLines(state.route_memory, routes);
  if (state.routes == nullptr || !state.pointer.Allocate(routes * At(state.levels - 1)) ||
      !state.busy.Allocate(routes / 32 + 1) || !state.idle.Allocate(routes + 1) || !state.asking.Allocate(routes + 1) ||
      !state.ways.Allocate(state.direct_out.items.size()) || !state.queue.Allocate(state.ranks.count) ||
      !state.resources.Allocate(network) || !state.nodes.Allocate(At(network.npu_count) + 1) ||
      !state.groups.Allocate(state.ports.tick.size())) {
    return false;
  }
  SortByRank(state.direct_in, state.ranks.rank);
  for (std::int32_t r = 0; r < network.route_count; r++) {
    RouteState& route = state.routes[r];
    route.source = network.route_source[r];
    route.carried = kNone;
    route.rank = state.ranks.rank[At(r)];
    route.way = kRows;
    route.shared = Shared(network, r) ? 1 : 0;
    if (route.shared != 0) route.marks = kFresh;
  }
  for (std::int32_t v = 0; v < network.npu_count; v++) {
    for (std::int32_t i = state.direct_out.Begin(v); i < state.direct_out.End(v); i++) {
      const std::int32_t r = numbers.Number(state.direct_out.items[At(i)]);
      const std::int32_t way = i - state.direct_out.Begin(v);
      const std::int32_t target = network.route_target[r];
      const std::int32_t level = state.LevelOf(r);
      const std::size_t row = level == 0 ? 0 : At(state.Row(level, target)) * state.words;
      state.routes[r].way = static_cast<std::uint8_t>(way < kRows ? way : kRows - 1);
      state.ways[At(i)] = Way{static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(target),
                              static_cast<std::uint32_t>(state.Word(target, 0)), static_cast<std::uint32_t>(row)};
    }
  }
  FillHoldings(state);
  return true;
}

}  // namespace banyan

#endif  // BANYAN_KERNELS_MATCH_BUILD_H_
