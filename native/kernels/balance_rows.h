// The rows of one step: which parts of which shards come in through which port. The twin of
// src/engine/kernels/js/balance.ts.
#ifndef BANYAN_KERNELS_BALANCE_ROWS_H_
#define BANYAN_KERNELS_BALANCE_ROWS_H_

#include "../abi.h"
#include "balance_pour.h"

namespace banyan {

/// The shards of one step: nodes ascending, each with its class.
struct StepShards {
  const std::int32_t* nodes;     // [count]
  const std::int32_t* class_of;  // [count]
  std::int32_t count;
};

class RowWriter {
 public:
  /// Writes the rows of a step from `at` on; *end gets where they end. The shards of a class fill its ports in turn, those first
  /// that get a part of a shard, so that only shards between two of them are cut. O(shards + edges). False when out of memory.
  [[nodiscard]] bool Write(const Pouring& pouring, const StepShards& shards, std::int64_t unit, std::int32_t step,
                           const BanyanBalanced& out, std::int64_t at, std::int64_t* end) {
    const std::int32_t edges = pouring.classes() == 0 ? 0 : pouring.End(pouring.classes() - 1);
    if (!GrowTo(turn_, At(edges)) || !GrowTo(next_, At(pouring.classes())) || !GrowTo(left_, At(pouring.classes())) ||
        !GrowTo(place_, At(pouring.ports()) + 1)) {
      return false;
    }
    std::int32_t used = 0;
    for (std::int32_t c = 0; c < pouring.classes(); c++) {
      for (std::int32_t e = pouring.First(c); e < pouring.End(c); e++) {
        if (pouring.Flow(e) % unit != 0) turn_[At(used++)] = e;
      }
      for (std::int32_t e = pouring.First(c); e < pouring.End(c); e++) {
        if (pouring.Flow(e) % unit == 0) turn_[At(used++)] = e;
      }
    }
    for (std::int32_t k = 0; k <= pouring.ports(); k++) place_[At(k)] = 0;
    Walk(pouring, shards, unit,
         [this](std::int32_t port, std::int32_t, std::int64_t, std::int64_t) { place_[At(port) + 1]++; });
    for (std::int32_t k = 0; k < pouring.ports(); k++) place_[At(k) + 1] += place_[At(k)];
    *end = at + place_[At(pouring.ports())];
    Walk(pouring, shards, unit, [&](std::int32_t port, std::int32_t node, std::int64_t from, std::int64_t to) {
      const auto row = static_cast<std::size_t>(at + place_[At(port)]++);
      out.step[row] = static_cast<std::uint16_t>(step);
      out.port[row] = static_cast<std::uint16_t>(port);
      out.source[row] = node;
      out.from[row] = static_cast<std::uint16_t>(from);
      out.to[row] = static_cast<std::uint16_t>(to);
    });
    return true;
  }

 private:
  template <typename Take>
  void Walk(const Pouring& pouring, const StepShards& shards, std::int64_t unit, const Take& take) {
    for (std::int32_t c = 0; c < pouring.classes(); c++) {
      next_[At(c)] = pouring.First(c);
      left_[At(c)] = pouring.Flow(turn_[At(next_[At(c)])]);
    }
    for (std::int32_t i = 0; i < shards.count; i++) {
      const std::size_t c = At(shards.class_of[i]);
      for (std::int64_t from = 0; from < unit;) {
        while (left_[c] == 0) left_[c] = pouring.Flow(turn_[At(++next_[c])]);
        const std::int64_t to = unit - from < left_[c] ? unit : from + left_[c];
        take(pouring.PortOf(turn_[At(next_[c])]), shards.nodes[i], from, to);
        left_[c] -= to - from;
        from = to;
      }
    }
  }

  Buffer<std::int32_t> turn_;   // [edges] of each class, in the order in which they are filled
  Buffer<std::int32_t> next_;   // [classes]
  Buffer<std::int64_t> left_;   // [classes]
  Buffer<std::int64_t> place_;  // [ports + 1]
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_BALANCE_ROWS_H_
