// The shards of one step of one target, grouped by the ports that they may take.
#ifndef BANYAN_KERNELS_BALANCE_CLASSES_H_
#define BANYAN_KERNELS_BALANCE_CLASSES_H_

#include <bit>
#include <cstdint>

#include "balance_even.h"
#include "balance_pour.h"
#include "balance_reach.h"
#include "balance_rows.h"

namespace banyan {

template <typename Rows>
class Classes {
 public:
  [[nodiscard]] bool Allocate(std::int32_t node_count) {
    std::size_t slots = 16;
    while (slots < 2 * At(node_count)) slots *= 2;
    if (kDirect) slots = std::size_t{1} << (kDirect ? Rows::kLaneBits : 0);
    shift_ = 64 - std::countr_zero(slots);
    const std::size_t lists = At(node_count) * At(Rows::kLanes);
    return nodes_.Allocate(lists) && table_.Allocate(slots) && slot_.Allocate(At(node_count)) &&
           shards_.Allocate(At(node_count)) && class_of_.Allocate(At(node_count)) && first_.Allocate(At(node_count));
  }

  /// Takes apart the lanes of a level.
  void Collect(const Reach<Rows>& reach, std::int32_t node_count) {
    room_ = At(node_count);
    for (std::int32_t& count : count_) count = 0;
    for (std::int32_t i = 0; i < reach.count(); i++) {
      const std::int32_t v = reach.nodes()[i];
      const std::uint64_t* row = reach.RowOf(v);
      for (std::int32_t lane = 0; lane < Rows::kLanes; lane++) {
        nodes_[At(lane) * room_ + At(count_[lane])] = v;
        if constexpr (Rows::kNarrow) {
          count_[lane] += Rows::Mask(row, lane) != 0 ? 1 : 0;
        } else {
          count_[lane]++;
        }
      }
    }
  }

  [[nodiscard]] std::int32_t Count(std::int32_t lane) const { return count_[lane]; }
  [[nodiscard]] StepShards Shards(std::int32_t lane) const {
    return {nodes_.data() + At(lane) * room_, class_of_.data(), count_[lane]};
  }

  /// Whether the shards of a lane, split evenly over their ports, load no port with more than num / den; no for many ports. Not
  /// tried any more where it mostly fails.
  [[nodiscard]] bool FitsEvenly(const Reach<Rows>& reach, std::int32_t lane, std::int64_t num, std::int64_t den) {
    if constexpr (kDirect) {
      if (failures_ > kPatience) return false;
      const std::int32_t* nodes = nodes_.data() + At(lane) * room_;
      EvenSplit split;
      for (std::int32_t i = 0; i < count_[lane]; i++) {
        split.Add(static_cast<std::uint32_t>(Rows::Mask(reach.RowOf(nodes[i]), lane)));
      }
      const bool fits = split.Fits(num, den);
      failures_ += fits ? -1 : 1;
      return fits;
    }
    return false;
  }

  /// Groups the shards of a lane, classes as they come, into a pouring for a node with so many ports. False: out of memory.
  [[nodiscard]] bool Group(const Reach<Rows>& reach, std::int32_t lane, std::int32_t ports, Pouring& pouring) {
    const std::int32_t* nodes = nodes_.data() + At(lane) * room_;
    std::int32_t classes = 0;
    for (std::int32_t i = 0; i < count_[lane]; i++) {
      const std::size_t slot = SlotOf(reach, lane, nodes[i]);
      if (table_[slot] == 0) {
        first_[At(classes)] = nodes[i];
        slot_[At(classes)] = slot;
        shards_[At(classes)] = 0;
        table_[slot] = ++classes;
      }
      class_of_[At(i)] = table_[slot] - 1;
      shards_[At(table_[slot] - 1)]++;
    }
    pouring.Begin(ports);
    bool done = true;
    for (std::int32_t c = 0; c < classes; c++) {
      table_[slot_[At(c)]] = 0;
      done = done && pouring.AddClass(shards_[At(c)]) && AddPorts(reach, lane, first_[At(c)], pouring);
    }
    return done;
  }

 private:
  static constexpr std::int32_t kPatience = 64;
  static constexpr bool kDirect = Rows::kNarrow && Rows::kLaneBits <= 16;

  // Where the class with the ports of a node stands in the table, or would stand.
  std::size_t SlotOf(const Reach<Rows>& reach, std::int32_t lane, std::int32_t v) const {
    const std::uint64_t* row = reach.RowOf(v);
    if constexpr (kDirect) {
      return static_cast<std::size_t>(Rows::Mask(row, lane));
    } else {
      std::uint64_t hash = 0;
      ForEachWord(reach, [&](std::int32_t k) { hash = (hash ^ Word(row, lane, k)) * 0x9e3779b97f4a7c15ULL; });
      auto slot = static_cast<std::size_t>(hash >> shift_);
      while (table_[slot] != 0 && !Same(reach, row, reach.RowOf(first_[At(table_[slot] - 1)]), lane)) {
        slot = slot + 1 == table_.size() ? 0 : slot + 1;
      }
      return slot;
    }
  }

  static std::uint64_t Word(const std::uint64_t* row, std::int32_t lane, std::int32_t k) {
    if constexpr (Rows::kNarrow) return Rows::Mask(row, lane);
    return row[k];
  }

  template <typename Visit>
  static void ForEachWord(const Reach<Rows>& reach, const Visit& visit) {
    const std::int32_t words = Rows::kNarrow ? 1 : reach.rows().words();
    for (std::int32_t k = 0; k < words; k++) visit(k);
  }

  static bool Same(const Reach<Rows>& reach, const std::uint64_t* a, const std::uint64_t* b, std::int32_t lane) {
    bool same = true;
    ForEachWord(reach, [&](std::int32_t k) { same = same && Word(a, lane, k) == Word(b, lane, k); });
    return same;
  }

  static bool AddPorts(const Reach<Rows>& reach, std::int32_t lane, std::int32_t v, Pouring& pouring) {
    const std::uint64_t* row = reach.RowOf(v);
    bool done = true;
    ForEachWord(reach, [&](std::int32_t k) {
      for (std::uint64_t left = Word(row, lane, k); left != 0; left &= left - 1) {
        done = done && pouring.AddPort(64 * k + std::countr_zero(left));
      }
    });
    return done;
  }

  std::size_t room_ = 0;
  std::int32_t failures_ = 0;
  std::int32_t shift_ = 0;
  std::int32_t count_[Rows::kLanes] = {};
  Buffer<std::int32_t> nodes_;     // [lanes * nodes] shards of each lane
  Buffer<std::int32_t> table_;     // [slots] class + 1 by its ports; empty between uses
  Buffer<std::size_t> slot_;       // [classes]
  Buffer<std::int32_t> first_;     // [classes] a node of the class
  Buffer<std::int32_t> shards_;    // [classes]
  Buffer<std::int32_t> class_of_;  // [shards]
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_BALANCE_CLASSES_H_
