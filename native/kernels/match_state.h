// The state of the multicast matching; match.h explains it. The twin of
// src/engine/kernels/js/match-state.ts, function by function.
#ifndef BANYAN_KERNELS_MATCH_STATE_H_
#define BANYAN_KERNELS_MATCH_STATE_H_

#include <cstdint>

#include "bits.h"
#include "buffer.h"
#include "lists.h"
#include "match.h"
#include "match_fold.h"
#include "match_log.h"
#include "match_port_state.h"
#include "match_queue.h"
#include "match_routes.h"
#include "ten.h"

namespace banyan {

constexpr std::int32_t kMaxLevels = 8;             // novelty levels kept, level 0 included
constexpr std::int32_t kMaxScoredNeighbours = 32;  // beyond that the neighbour choices fall back to the rarest

/// What an idle route may take.
struct Asking {
  const std::uint32_t* word;  // of `hi`: whether the target has the chunk
  std::int32_t chunk;         // the first on offer, or kNone
  std::int32_t target;
};

/// `Entry` holds a chunk in the logs.
template <typename Entry>
struct MatchState {
  MatchState(const MatchProblem& of, const RouteNumbers& by, FoldedNetwork* how)
      : problem(of),
        numbers(by),
        folded(how),
        words((At(of.chunk_count) + 31) / 32),
        npu_words((of.network.npu_count + 31) / 32),
        column_step(of.chunk_count / (how == nullptr ? of : how->given).network.npu_count * npu_words),
        first_column((of.network.npu_count - 1) * column_step) {}

  const MatchProblem problem;
  const RouteNumbers& numbers;
  FoldedNetwork* const folded;      // or null
  const std::size_t words;          // 32-bit words per row of chunks
  const std::int64_t npu_words;     // and per row of NPUs
  const std::int64_t column_step;   // between the columns of `hi` of two NPUs
  const std::int64_t first_column;  // where that of NPU 0 begins
  SlotRanks ranks;
  Lists direct_in;                          // routes without resources into each NPU, fastest first
  Lists direct_out;                         // routes without resources out of each NPU, as given
  Buffer<Way> ways;                         // [direct_out]
  Lists all_in;                             // all routes into each NPU
  Lists neighbours;                         // NPUs one direct route away
  Lists around;                             // NPUs two direct routes away, not one; only for the choice
                                            // that scores them
  Buffer<std::uint32_t> neighbour_columns;  // [neighbours] where their columns of `hi` begin
  Buffer<std::uint32_t> around_columns;     // [around] the same

  Buffer<std::uint32_t> hi;            // [rows][npu_words] I1; see Word
  Buffer<std::uint32_t> holds;         // the same: arrived; only with overtaking where
                                       // some do not want everything
  std::int32_t levels = 1;             // novelty levels; level 0 asks what the target itself lacks
  Buffer<std::int32_t> level_of_rank;  // [ranks] highest novelty level of a rank
  Buffer<std::int32_t> component;      // [levels][npus] row of `novel`
  Buffer<std::uint32_t> novel;         // [rows][words] held by or under way to the
                                       // component; row 0: everything
  Logs<Entry> logs;
  Buffer<std::int32_t> pointer;  // [routes][levels - 1] I2, levels from 1 on
  Buffer<std::int32_t> missing;  // [npus] wanted, not held, not under way
  Buffer<std::int32_t> copies;   // [chunks] NPUs that hold it or are being sent it

  Buffer<RouteState> route_memory;
  RouteState* routes = nullptr;  // [routes] in it
  Buffer<std::uint32_t> busy;    // [routes / 32] bits: something is under way
  DepartureQueue queue;
  Resources resources;
  PortState ports;
  Touched nodes;              // NPUs to serve at this instant
  Touched groups;             // groups of ports to serve
  Buffer<std::int32_t> idle;  // [routes] scratch: idle routes into the NPUs being served
  Buffer<Asking> asking;      // [routes] scratch: the same

  std::int64_t slow_under_way = 0;  // transfers under way on routes that are not of the fastest rank
  std::uint32_t serves = 0;         // shuffles so far
  std::int64_t delivered = 0;
  std::int64_t expected = 0;
  bool failed = false;  // the queue found no memory

  /// The NPUs that have a chunk, are being sent it or do not want it.
  /// The word of `hi` with the NPU's bit for the chunk. Each NPU's column
  /// begins lower than that of the NPU before, by as many rows as there are
  /// chunks per NPU: at one time NPUs ask for what comes from about the same
  /// direction and distance, so that few rows are in use at a time where the
  /// numbers of neighbours lie side by side, as in meshes.
  [[nodiscard]] std::size_t Word(std::int32_t npu, std::int32_t chunk) const {
    return static_cast<std::size_t>(first_column - npu * column_step + (npu >> 5) + chunk * npu_words);
  }
  /// The bits that a route into `npu` passes at this level >= 1.
  [[nodiscard]] std::uint32_t* Novel(std::int32_t level, std::int32_t npu) {
    return novel.data() + At(Row(level, npu)) * words;
  }
  [[nodiscard]] std::int32_t Row(std::int32_t level, std::int32_t npu) const {
    return component[At(level) * At(problem.network.npu_count) + At(npu)];
  }
  /// The NPU has the chunk, is being sent it or does not want it.
  void SetHi(std::int32_t npu, std::int32_t chunk) { hi[Word(npu, chunk)] |= 1U << (npu & 31); }
  /// Whether the NPU could take the chunk.
  [[nodiscard]] bool Lacks(std::int32_t npu, std::int32_t chunk) const {
    return (hi[Word(npu, chunk)] >> (npu & 31) & 1U) == 0;
  }
  [[nodiscard]] std::int32_t& Pointer(std::int32_t route, std::int32_t level) {
    return level == 0 ? routes[route].pointer : pointer[At(route) * At(levels - 1) + At(level - 1)];
  }
  [[nodiscard]] std::int32_t LevelOf(std::int32_t route) const { return level_of_rank[At(routes[route].rank)]; }
  /// Number `i` of the routes without resources, and of all, listed by targets.
  [[nodiscard]] std::int32_t DirectIn(std::int32_t i) const { return numbers.ByTarget() ? i : direct_in.items[At(i)]; }
  [[nodiscard]] std::int32_t AllIn(std::int32_t i) const { return numbers.ByTarget() ? i : all_in.items[At(i)]; }
};

/// Whether an NPU could take a chunk, and at level >= 1 whether the chunk would
/// be new to its component.
template <typename Entry>
class Lacking {
 public:
  Lacking(const MatchState<Entry>& state, std::int32_t level, std::int32_t npu)
      : column_(state.hi.data() + state.Word(npu, 0)),
        novel_(level == 0 ? nullptr : state.novel.data() + At(state.Row(level, npu)) * state.words),
        words_(state.npu_words),
        shift_(npu & 31) {}

  [[nodiscard]] bool operator()(std::int32_t chunk) const {
    return (novel_ == nullptr || !Bit(novel_, chunk)) && (column_[chunk * words_] >> shift_ & 1U) == 0;
  }

 private:
  const std::uint32_t* const column_;
  const std::uint32_t* const novel_;
  const std::int64_t words_;
  const std::int32_t shift_;
};

/// What the route may have passed at this level >= 1 is new again from this log
/// entry on.
template <typename Entry>
inline void Refresh(MatchState<Entry>& state, std::int32_t route, std::int32_t level, std::int32_t index) {
  std::uint16_t& marks = state.routes[route].marks;
  const auto bit = static_cast<std::uint16_t>(1U << level);
  if ((marks & bit) != 0) return;
  marks = static_cast<std::uint16_t>(marks | bit);
  state.Pointer(route, level) = index;
}

/// The same for levels below the highest of the routes out of the NPU, in whose
/// log the chunk is entry `index`.
template <typename Entry>
void RefreshLower(MatchState<Entry>& state, std::int32_t npu, std::int32_t chunk, std::int32_t index) {
  for (std::int32_t i = state.direct_out.Begin(npu); i < state.direct_out.End(npu); i++) {
    const auto route = static_cast<std::int32_t>(state.ways[At(i)].route);
    const auto reader = static_cast<std::int32_t>(state.ways[At(i)].reader);
    for (std::int32_t level = state.LevelOf(route) - 1; level > 0; level--) {
      if (!Bit(state.Novel(level, reader), chunk)) Refresh(state, route, level, index);
    }
  }
}

/// The chunk has arrived at the NPU and is offered to those that it leads to.
template <typename Entry>
inline void AppendToLog(MatchState<Entry>& state, std::int32_t npu, std::int32_t chunk) {
  const Way* way = state.ways.data() + state.direct_out.Begin(npu);
  const Way* const end = state.ways.data() + state.direct_out.End(npu);
  const std::int32_t index = state.logs.Append(npu, chunk);
  const std::uint32_t place = 1U << state.logs.Place(index);
  std::uint32_t* offers = state.logs.Line(npu, index).offers;
  const std::uint32_t* const last = offers + kRows - 1;
  const std::uint32_t* const hi = state.hi.data() + chunk * state.npu_words;
  const std::uint32_t* const novel = state.novel.data() + (chunk >> 5);
  for (; way < end; way++) {
    const std::uint32_t has = hi[way->column] >> (way->reader & 31) & 1U;
    *offers |= place & (has - 1);
    if (offers < last) offers++;
    if ((novel[way->row] >> (chunk & 31) & 1U) != 0) continue;
    const auto route = static_cast<std::int32_t>(way->route);
    Refresh(state, route, state.LevelOf(route), index);
  }
  if (state.levels > 2) RefreshLower(state, npu, chunk, index);
  if (state.holds.size() > 0) state.holds[state.Word(npu, chunk)] |= 1U << (npu & 31);
}

/// Those that the NPU leads to over idle routes are to be served; unless
/// `kAll`, only those that lack something.
template <bool kAll, typename Entry>
inline void TouchReaders(MatchState<Entry>& state, std::int32_t npu) {
  const Way* way = state.ways.data() + state.direct_out.Begin(npu);
  const Way* const end = state.ways.data() + state.direct_out.End(npu);
  const std::uint32_t* const busy = state.busy.data();
  const std::int32_t* const missing = state.missing.data();
  std::uint8_t* const marks = state.nodes.marks.data();
  std::int32_t* next = state.nodes.list.data() + state.nodes.count;
  for (; way < end; way++) {
    const std::uint32_t reader = way->reader;
    // No branches: there is no foreseeing them.
    std::uint32_t stays = (busy[way->route >> 5] >> (way->route & 31)) | marks[reader];
    if (!kAll) stays |= missing[reader] == 0 ? 1U : 0U;
    const std::uint32_t goes = ~stays & 1U;
    *next = static_cast<std::int32_t>(reader);
    next += goes;
    marks[reader] = static_cast<std::uint8_t>(marks[reader] | goes);
  }
  state.nodes.count = static_cast<std::int32_t>(next - state.nodes.list.data());
}

/// The components of the NPU have the chunk or are being sent it.
template <typename Entry>
inline void ClaimForComponents(MatchState<Entry>& state, std::int32_t npu, std::int32_t chunk) {
  for (std::int32_t level = 1; level < state.levels; level++) SetBit(state.Novel(level, npu), chunk);
}

/// The chunk is under way to the NPU.
template <typename Entry>
inline void Claim(MatchState<Entry>& state, std::int32_t npu, std::int32_t chunk) {
  state.SetHi(npu, chunk);
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

}  // namespace banyan

#endif  // BANYAN_KERNELS_MATCH_STATE_H_
