// Breadth-first searches backwards from several targets at once: who reaches each, when, and over which of its ports.
//
// A row of a node has a lane per target, a lane a bit per port of its target: those on shortest paths from the node. Rows of a
// level come from the rows of the one before by bitwise or, so a word serves several targets. A level is pushed over arcs
// into the nodes of the one before while these are few, else every node pulls over the arcs that leave it.
#ifndef BANYAN_KERNELS_BALANCE_REACH_H_
#define BANYAN_KERNELS_BALANCE_REACH_H_

#include <algorithm>
#include <cstdint>

#include "../abi.h"
#include "buffer.h"
#include "lists.h"

namespace banyan {

/// Rows of lanes of kBits bits; kWords words of 64 bits.
template <std::int32_t kBits, std::int32_t kWords>
struct NarrowRows {
  static constexpr bool kNarrow = true;
  static constexpr std::int32_t kLaneBits = kBits;
  static constexpr std::int32_t kLanes = 64 * kWords / kBits;
  static constexpr std::uint64_t kOnes = ~0ULL >> (64 - kBits);
  static constexpr std::uint64_t kHigh = ~0ULL / kOnes << (kBits - 1);

  explicit NarrowRows(std::int32_t) {}
  static constexpr std::int32_t words() { return kWords; }

  static void AddBits(std::uint64_t* row, std::int32_t lane, std::uint64_t bits) {
    row[lane * kBits / 64] |= bits << (lane * kBits % 64);
  }
  static void AddPort(std::uint64_t* row, std::int32_t lane, std::int32_t port) { AddBits(row, lane, 1ULL << port); }
  static void Fill(std::uint64_t* row, std::int32_t lane) { AddBits(row, lane, kOnes); }
  static std::uint64_t Mask(const std::uint64_t* row, std::int32_t lane) {
    return row[lane * kBits / 64] >> (lane * kBits % 64) & kOnes;
  }
  /// Fills the lanes of `seen` that are not empty in `row`.
  static void FillSeen(const std::uint64_t* row, std::uint64_t* seen) {
    for (std::int32_t i = 0; i < kWords; i++) {
      const std::uint64_t high = (((row[i] & ~kHigh) + ~kHigh) | row[i]) & kHigh;
      seen[i] |= (high - (high >> (kBits - 1))) | high;
    }
  }
};

/// One lane of as many words as a target has ports.
struct WideRows {
  static constexpr bool kNarrow = false;
  static constexpr std::int32_t kLaneBits = 64;
  static constexpr std::int32_t kLanes = 1;

  explicit WideRows(std::int32_t ports) : words_((ports + 63) / 64) {}
  [[nodiscard]] std::int32_t words() const { return words_; }

  static void AddPort(std::uint64_t* row, std::int32_t, std::int32_t port) { row[port / 64] |= 1ULL << (port % 64); }
  void Fill(std::uint64_t* row, std::int32_t) const {
    for (std::int32_t i = 0; i < words_; i++) row[i] = ~0ULL;
  }
  void FillSeen(const std::uint64_t* row, std::uint64_t* seen) const {
    std::uint64_t any = 0;
    for (std::int32_t i = 0; i < words_; i++) any |= row[i];
    if (any != 0) Fill(seen, 0);
  }

 private:
  std::int32_t words_;
};

/// Arcs by the node that they leave; those that lead back to it are left out.
struct OutArcs {
  Buffer<std::int32_t> offset;  // [nodes + 1]
  Buffer<std::int32_t> target;  // [arcs]

  [[nodiscard]] bool Build(const BanyanBalance& problem) {
    const std::int32_t nodes = problem.node_count;
    if (!offset.Allocate(At(nodes) + 2) || !target.Allocate(At(problem.arc_count))) return false;
    const auto for_each = [&](const auto& visit) {
      for (std::int32_t v = 0; v < nodes; v++) {
        for (std::int32_t i = problem.in_offset[v]; i < problem.in_offset[v + 1]; i++) {
          if (problem.in_source[i] != v) visit(problem.in_source[i], v);
        }
      }
    };
    for_each([this](std::int32_t source, std::int32_t) { offset[At(source) + 2]++; });
    for (std::int32_t v = 0; v < nodes; v++) offset[At(v) + 2] += offset[At(v) + 1];
    for_each([this](std::int32_t source, std::int32_t v) { target[At(offset[At(source) + 1]++)] = v; });
    return true;
  }
};

template <typename Rows>
class Reach {
 public:
  Reach(const BanyanBalance& problem, const OutArcs& out, Rows rows) : problem_(problem), out_(out), rows_(rows) {}

  [[nodiscard]] bool Allocate() {
    const std::size_t nodes = At(problem_.node_count);
    const std::size_t words = nodes * At(rows_.words());
    return level_.Allocate(words) && next_.Allocate(words) && seen_.Allocate(words) && list_.Allocate(nodes) &&
           next_list_.Allocate(nodes);
  }

  /// Begins with the nodes one step from up to kLanes targets.
  void Start(const std::int32_t* targets, std::int32_t count) {
    Clear();
    seen_.Fill(0);
    for (std::int32_t lane = 0; lane < Rows::kLanes; lane++) {
      if (lane < count) {
        rows_.Fill(Row(seen_, targets[lane]), lane);
        continue;
      }
      for (std::int32_t v = 0; v < problem_.node_count; v++) rows_.Fill(Row(seen_, v), lane);
    }
    for (std::int32_t lane = 0; lane < count; lane++) {
      const std::int32_t u = targets[lane];
      for (std::int32_t i = problem_.in_offset[u]; i < problem_.in_offset[u + 1]; i++) {
        const std::int32_t v = problem_.in_source[i];
        if (v == u) continue;
        std::uint64_t* row = Row(next_, v);
        if (IsEmpty(row)) list_[At(count_++)] = v;
        rows_.AddPort(row, lane, i - problem_.in_offset[u]);
      }
    }
    See();
    level_.Swap(next_);
  }

  /// Goes one step on; what the last level held is gone.
  void Advance() {
    const std::int32_t before = count_;
    list_.Swap(next_list_);
    count_ = 0;
    if (before >= problem_.node_count / kPullFrom) {
      Pull();
    } else {
      Push(before);
      See();
    }
    for (std::int32_t i = 0; i < before; i++) {
      std::uint64_t* row = Row(level_, next_list_[At(i)]);
      for (std::int32_t w = 0; w < rows_.words(); w++) row[w] = 0;
    }
    level_.Swap(next_);
  }

  /// Nodes of this level in any lane; ascending after Sort.
  [[nodiscard]] std::int32_t count() const { return count_; }
  [[nodiscard]] const std::int32_t* nodes() const { return list_.data(); }
  [[nodiscard]] const std::uint64_t* RowOf(std::int32_t v) const { return level_.data() + At(v) * At(rows_.words()); }
  [[nodiscard]] const Rows& rows() const { return rows_; }
  void Sort() { std::sort(list_.data(), list_.data() + count_); }

  /// Whether a node has not been seen in some lane.
  [[nodiscard]] bool LacksSome() const {
    for (std::size_t i = 0; i < seen_.size(); i++) {
      if (seen_[i] != ~0ULL) return true;
    }
    return false;
  }
  /// The least node that has not been seen in a lane; kNone when there is none.
  [[nodiscard]] std::int32_t Unseen(std::int32_t lane) const {
    for (std::int32_t v = 0; v < problem_.node_count; v++) {
      const std::uint64_t* row = seen_.data() + At(v) * At(rows_.words());
      if ((row[lane * Rows::kLaneBits / 64] >> (lane * Rows::kLaneBits % 64) & 1U) == 0) return v;
    }
    return kNone;
  }

 private:
  static constexpr std::int32_t kPullFrom = 4;

  std::uint64_t* Row(Buffer<std::uint64_t>& rows, std::int32_t v) { return rows.data() + At(v) * At(rows_.words()); }

  [[nodiscard]] bool IsEmpty(const std::uint64_t* row) const {
    std::uint64_t any = 0;
    for (std::int32_t w = 0; w < rows_.words(); w++) any |= row[w];
    return any == 0;
  }

  // Empties what a search that was given up has left.
  void Clear() {
    for (std::int32_t i = 0; i < count_; i++) {
      std::uint64_t* row = Row(level_, list_[At(i)]);
      for (std::int32_t w = 0; w < rows_.words(); w++) row[w] = 0;
    }
    count_ = 0;
  }

  void See() {
    for (std::int32_t i = 0; i < count_; i++) {
      const std::int32_t v = list_[At(i)];
      rows_.FillSeen(Row(next_, v), Row(seen_, v));
    }
  }

  void Push(std::int32_t before) {
    const std::int32_t words = rows_.words();
    for (std::int32_t i = 0; i < before; i++) {
      const std::int32_t w = next_list_[At(i)];
      const std::uint64_t* row = Row(level_, w);
      for (std::int32_t a = problem_.in_offset[w]; a < problem_.in_offset[w + 1]; a++) {
        const std::int32_t v = problem_.in_source[a];
        const std::uint64_t* seen = Row(seen_, v);
        std::uint64_t* into = Row(next_, v);
        std::uint64_t any = 0;
        std::uint64_t held = 0;
        for (std::int32_t k = 0; k < words; k++) {
          const std::uint64_t fresh = row[k] & ~seen[k];
          held |= into[k];
          any |= fresh;
          into[k] |= fresh;
        }
        if (any != 0 && held == 0) list_[At(count_++)] = v;
      }
    }
  }

  void Pull() {
    const std::int32_t words = rows_.words();
    const std::int32_t* targets = out_.target.data();
    for (std::int32_t v = 0; v < problem_.node_count; v++) {
      std::uint64_t* seen = Row(seen_, v);
      std::uint64_t all = ~0ULL;
      for (std::int32_t k = 0; k < words; k++) all &= seen[k];
      if (all == ~0ULL) continue;
      std::uint64_t* into = Row(next_, v);
      const std::int32_t end = out_.offset[At(v) + 1];
      if constexpr (Rows::kNarrow) {
        std::uint64_t sum[Rows::words()] = {};
        for (std::int32_t a = out_.offset[At(v)]; a < end; a++) {
          const std::uint64_t* row = Row(level_, targets[a]);
          for (std::int32_t k = 0; k < words; k++) sum[k] |= row[k];
        }
        for (std::int32_t k = 0; k < words; k++) into[k] = sum[k] & ~seen[k];
      } else {
        for (std::int32_t a = out_.offset[At(v)]; a < end; a++) {
          const std::uint64_t* row = Row(level_, targets[a]);
          for (std::int32_t k = 0; k < words; k++) into[k] |= row[k] & ~seen[k];
        }
      }
      if (IsEmpty(into)) continue;
      list_[At(count_++)] = v;
      rows_.FillSeen(into, seen);
    }
  }

  const BanyanBalance& problem_;
  const OutArcs& out_;
  const Rows rows_;
  Buffer<std::uint64_t> level_;  // [nodes * words] empty but for the nodes of the level
  Buffer<std::uint64_t> next_;   // the same, empty between steps
  Buffer<std::uint64_t> seen_;   // [nodes * words] full in the lanes in which the node was seen
  Buffer<std::int32_t> list_, next_list_;
  std::int32_t count_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_BALANCE_REACH_H_
