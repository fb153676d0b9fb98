// The state of the multicast matching and how it is built; match.h explains it. The twin of
// src/engine/kernels/js/match-state.ts, function by function.
#ifndef BANYAN_KERNELS_MATCH_STATE_H_
#define BANYAN_KERNELS_MATCH_STATE_H_

#include <cstdint>

#include "bits.h"
#include "buffer.h"
#include "lists.h"
#include "match.h"
#include "match_fold.h"
#include "match_port_state.h"
#include "match_routes.h"
#include "ten.h"

namespace banyan {

constexpr std::int32_t kMaxLevels = 8;             // novelty levels kept, level 0 included
constexpr std::int32_t kMaxScoredNeighbours = 32;  // beyond that the neighbour choices fall back to the rarest
constexpr std::int32_t kEntriesAtOnce = 4;         // log entries tested together
constexpr std::int32_t kSliceShift = 5;
constexpr std::int32_t kSlice = 1 << kSliceShift;  // log entries that lie together

/// Where a log entry is in its slice.
inline std::int32_t InSlice(std::int32_t index) { return index & (kSlice - 1); }

/// `Entry` holds a chunk in the logs: 16 bits where they do, which halves the memory that the matching walks over.
template <typename Entry>
struct MatchState {
  MatchState(const MatchProblem& of, const RouteNumbers& by, FoldedNetwork* how)
      : problem(of), numbers(by), folded(how), words((At(of.chunk_count) + 31) / 32) {}

  const MatchProblem problem;
  const RouteNumbers& numbers;
  FoldedNetwork* const folded;  // or null
  const std::size_t words;      // 32-bit words per row of chunks
  SlotRanks ranks;
  Lists direct_in;              // routes without resources into each NPU, fastest first
  Lists direct_out;             // routes without resources out of each NPU
  Buffer<std::int32_t> reader;  // [direct_out] the targets of these
  Lists all_in;                 // all routes into each NPU
  Lists neighbours;             // NPUs one direct route away
  Lists around;                 // NPUs two direct routes away, not one; only for the choice that scores them

  Buffer<std::uint32_t> hi;            // [npus][words] I1
  Buffer<std::uint32_t> holds;         // [npus][words] arrived; only with overtaking where some do not want everything
  std::int32_t levels = 1;             // novelty levels; level 0 asks what the target itself lacks
  Buffer<std::int32_t> level_of_rank;  // [ranks] highest novelty level of a rank
  Buffer<std::int32_t> component;      // [levels][npus] row of `novel`
  Buffer<std::uint32_t> novel;         // [component rows][words] held by or under way to the component
  Buffer<Entry> log;                   // [slices][npus][kSlice] chunks in order of arrival
  Entry* slices = nullptr;             // in `log`, at the beginning of a cache line
  std::size_t slice_stride = 0;        // entries between two slices of one NPU
  Buffer<std::int32_t> log_length;     // [npus]
  Buffer<std::int32_t> pointer;        // [routes][levels] I2
  Buffer<std::int32_t> missing;        // [npus] wanted, not held, not under way
  Buffer<std::int32_t> copies;         // [chunks] NPUs that hold it or are being sent it

  Buffer<std::int32_t> carried;  // [routes] chunk under way, or kNone
  Buffer<RouteState> routes;     // [routes]
  ArrivalQueue queue;
  Resources resources;
  PortState ports;
  Touched nodes;              // NPUs to serve at this instant
  Touched groups;             // groups of ports to serve
  Buffer<std::int32_t> idle;  // [routes] scratch: idle routes into the NPU being served

  std::int64_t slow_under_way = 0;  // transfers under way on routes that are not of the fastest rank
  std::uint32_t serves = 0;         // shuffles so far
  std::int64_t delivered = 0;
  std::int64_t expected = 0;
  bool failed = false;  // the queue found no memory

  [[nodiscard]] std::uint32_t* Hi(std::int32_t npu) { return hi.data() + At(npu) * words; }
  [[nodiscard]] const std::uint32_t* Hi(std::int32_t npu) const { return hi.data() + At(npu) * words; }
  /// The bits that a route into `npu` passes at this level.
  [[nodiscard]] const std::uint32_t* Novel(std::int32_t level, std::int32_t npu) const {
    if (level == 0) return Hi(npu);
    return novel.data() + NovelBegin(level, npu);
  }
  [[nodiscard]] std::size_t NovelBegin(std::int32_t level, std::int32_t npu) const {
    return At(component[At(level) * At(problem.network.npu_count) + At(npu)]) * words;
  }
  /// The slice of an NPU's log with entry `index`, which is at InSlice(index) in it. Slices of all NPUs lie together, as they
  /// are written and read at about the same time: the active ones are few pages, where whole logs are one page or more each.
  [[nodiscard]] Entry* Slice(std::int32_t npu, std::int32_t index) const {
    return slices + At(index >> kSliceShift) * slice_stride + At(npu) * At(kSlice);
  }
  [[nodiscard]] std::int32_t Chunk(std::int32_t npu, std::int32_t index) const {
    return Slice(npu, index)[InSlice(index)];
  }
  [[nodiscard]] std::int32_t& Pointer(std::int32_t route, std::int32_t level) {
    return pointer[At(route) * At(levels) + At(level)];
  }
  [[nodiscard]] std::int32_t Pointer(std::int32_t route, std::int32_t level) const {
    return pointer[At(route) * At(levels) + At(level)];
  }
  [[nodiscard]] std::int32_t LevelOf(std::int32_t route) const { return routes[At(route)].level; }
  [[nodiscard]] Time Slot(std::int32_t route) const { return ranks.slot[At(routes[At(route)].rank)]; }
};

/// The chunk has arrived at the NPU.
template <typename Entry>
inline void AppendToLog(MatchState<Entry>& state, std::int32_t npu, std::int32_t chunk) {
  const std::int32_t index = state.log_length[At(npu)]++;
  state.Slice(npu, index)[InSlice(index)] = static_cast<Entry>(chunk);
  if (state.holds.size() > 0) SetBit(state.holds.data() + At(npu) * state.words, chunk);
}

/// The components of the NPU have the chunk or are being sent it.
template <typename Entry>
inline void ClaimForComponents(MatchState<Entry>& state, std::int32_t npu, std::int32_t chunk) {
  for (std::int32_t level = 1; level < state.levels; level++) {
    SetBit(state.novel.data() + state.NovelBegin(level, npu), chunk);
  }
}

/// The chunk is under way to the NPU.
template <typename Entry>
inline void Claim(MatchState<Entry>& state, std::int32_t npu, std::int32_t chunk) {
  SetBit(state.Hi(npu), chunk);
  ClaimForComponents(state, npu, chunk);
  if (state.folded != nullptr && state.levels > 1) {
    const FoldedNetwork& folded = *state.folded;
    for (std::int32_t i = folded.orbit.Begin(npu) + 1; i < folded.orbit.End(npu); i++) {
      const std::int32_t image = folded.orbit.items[At(i)];
      ClaimForComponents(state, image, folded.fold.ChunkMap(folded.fold.element[At(image)])[chunk]);
    }
  }
  state.missing[At(npu)]--;
  if (static_cast<Choice>(state.problem.policy.choice) != Choice::kOldest) state.copies[At(chunk)]++;
}

// Insertion sort: lists are short, and equal ranks keep their order.
inline void SortByRank(Lists& lists, const Buffer<std::int32_t>& rank) {
  std::int32_t* items = lists.items.data();
  for (std::size_t list = 0; list + 1 < lists.offset.size(); list++) {
    for (std::int32_t i = lists.offset[list] + 1; i < lists.offset[list + 1]; i++) {
      const std::int32_t route = items[i];
      std::int32_t j = i;
      for (; j > lists.offset[list] && rank[At(items[j - 1])] > rank[At(route)]; j--) items[j] = items[j - 1];
      items[j] = route;
    }
  }
}

// The NPUs that each NPU reaches over one direct route, without repeats.
[[nodiscard]] inline bool BuildNeighbours(const BanyanNetwork& network, const Lists& direct_out, Lists& neighbours) {
  if (!neighbours.offset.Allocate(At(network.npu_count) + 1)) return false;
  if (!neighbours.items.Allocate(direct_out.items.size())) return false;
  std::int32_t* items = neighbours.items.data();
  std::int32_t count = 0;
  for (std::int32_t v = 0; v < network.npu_count; v++) {
    const std::int32_t first = count;
    for (std::int32_t i = direct_out.Begin(v); i < direct_out.End(v); i++) {
      const std::int32_t target = network.route_target[direct_out.items[At(i)]];
      bool fresh = true;
      for (std::int32_t j = first; j < count; j++) fresh = fresh && items[j] != target;
      if (fresh) items[count++] = target;
    }
    neighbours.offset[At(v) + 1] = count;
  }
  return true;
}

// Only the choice that scores what is two steps away needs to know it.
[[nodiscard]] inline bool BuildAround(const MatchProblem& problem, const Lists& neighbours, Lists& around) {
  const std::int32_t npus = problem.network.npu_count;
  if (static_cast<Choice>(problem.policy.choice) != Choice::kAround) return around.offset.Allocate(At(npus) + 1);
  return around.GroupSecond(neighbours.offset.data(), neighbours.items.data(), npus, kMaxScoredNeighbours);
}

// Level k >= 1 of a rank: the components under routes of lower rank. Levels with one component say nothing new, and
// neither do levels equal to the one before.
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
  if (state.problem.policy.novelty == 0) return true;
  Lists by_rank;
  Buffer<std::int32_t> parent;
  if (!by_rank.Group(ranks.rank.data(), network.route_count, ranks.count) || !AllocateRange(parent, npus)) return false;
  std::int32_t components = npus;
  std::int32_t rows = 0;
  for (std::int32_t rank = 1; rank < ranks.count; rank++) {
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
  return state.novel.Allocate(At(rows) * state.words);
}

// Marks what each NPU holds or does not want, and gives its log room for what it will ever hold.
template <typename Entry>
[[nodiscard]] bool BuildHoldings(MatchState<Entry>& state) {
  const MatchProblem& problem = state.problem;
  const auto npus = At(problem.network.npu_count);
  if (!state.hi.Allocate(npus * state.words) || !state.log_length.Allocate(npus) || !state.missing.Allocate(npus) ||
      !state.copies.Allocate(At(problem.chunk_count))) {
    return false;
  }
  if (problem.policy.overtaking != 0 && problem.wanted != nullptr && !state.holds.Allocate(npus * state.words)) {
    return false;
  }
  std::int32_t longest = 0;
  for (std::int32_t v = 0; v < problem.network.npu_count; v++) {
    std::uint32_t* hi = state.Hi(v);
    std::int32_t entries = problem.chunk_count;
    if (problem.wanted != nullptr) {
      const std::uint32_t* wanted = problem.wanted + At(v) * state.words;
      for (std::int32_t c = 0; c < problem.chunk_count; c++) {
        if (Bit(wanted, c)) continue;
        SetBit(hi, c);
        entries--;
      }
    }
    for (std::int32_t i = problem.held_offset[v]; i < problem.held_offset[v + 1]; i++) {
      if (Bit(hi, problem.held_chunk[i])) entries++;  // held, but not wanted
      SetBit(hi, problem.held_chunk[i]);
    }
    state.missing[At(v)] = entries;
    if (entries > longest) longest = entries;
  }
  constexpr std::size_t kLine = 64;
  state.slice_stride = npus * At(kSlice);
  const std::size_t length = At((longest + kSlice - 1) / kSlice) * state.slice_stride;
  if (!state.log.Allocate(length + kEntriesAtOnce + kLine)) return false;
  const auto address = reinterpret_cast<std::uintptr_t>(state.log.data());
  state.slices = state.log.data() + (kLine - address % kLine) % kLine / sizeof(Entry);
  return true;
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
      SetBit(state.Hi(v), chunk);
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
      !BuildNeighbours(numbers.given, state.direct_out, state.neighbours) ||
      !BuildAround(state.problem, state.neighbours, state.around) || !BuildLevels(state) || !BuildHoldings(state) ||
      !BuildPorts(network, state.ranks, state.ports)) {
    return false;
  }
  if (!state.pointer.Allocate(routes * At(state.levels)) || !state.carried.Allocate(routes) ||
      !state.routes.Allocate(routes) || !state.idle.Allocate(routes) || !state.queue.Allocate(state.ranks.count) ||
      !state.resources.Allocate(network) || !state.nodes.Allocate(At(network.npu_count)) ||
      !state.groups.Allocate(state.ports.tick.size())) {
    return false;
  }
  if (!state.reader.Allocate(state.direct_out.items.size())) return false;
  for (std::size_t i = 0; i < state.direct_out.items.size(); i++) {
    state.reader[i] = numbers.given.route_target[state.direct_out.items[i]];
    state.direct_out.items[i] = numbers.Number(state.direct_out.items[i]);
  }
  SortByRank(state.direct_in, state.ranks.rank);
  state.carried.Fill(kNone);
  for (std::int32_t r = 0; r < network.route_count; r++) {
    RouteState& route = state.routes[At(r)];
    route.source = network.route_source[r];
    route.target = network.route_target[r];
    route.rank = state.ranks.rank[At(r)];
    route.level = static_cast<std::uint8_t>(state.level_of_rank[At(route.rank)]);
    route.shared = Shared(network, r) ? 1 : 0;
  }
  FillHoldings(state);
  return true;
}

}  // namespace banyan

#endif  // BANYAN_KERNELS_MATCH_STATE_H_
