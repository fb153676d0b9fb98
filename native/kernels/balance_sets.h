// Loads of nodes with at most 8 ports, from the sums over all sets of ports.
#ifndef BANYAN_KERNELS_BALANCE_SETS_H_
#define BANYAN_KERNELS_BALANCE_SETS_H_

#include <bit>
#include <cstdint>

#include "balance_loads.h"
#include "balance_reach.h"

namespace banyan {

/// The size of every set of up to 8 ports.
struct SetSizes {
  std::uint8_t of[256] = {};
  constexpr SetSizes() {
    for (std::uint32_t set = 0; set < 256; set++) of[set] = static_cast<std::uint8_t>(std::popcount(set));
  }
};

template <std::int32_t kWords>
class SetSums {
 public:
  using Rows = NarrowRows<8, kWords>;
  static constexpr std::int32_t kSets = 256;
  static constexpr SetSizes kSizes{};

  /// Raises the loads of a step (from 0) to what the shards at the level need, lane by lane.
  void Raise(const Reach<Rows>& reach, const BanyanBalance& problem, const std::int32_t* targets, std::int32_t lanes,
             std::int32_t step, Loads& loads) {
    Count(reach);
    for (std::int32_t lane = 0; lane < lanes; lane++) {
      const std::int32_t u = targets[lane];
      const std::int32_t ports = problem.in_offset[u + 1] - problem.in_offset[u];
      RaiseLane(shards_[lane], ports, step, u, loads);
      for (std::int32_t set = 0; set < 1 << ports; set++) shards_[lane][set] = 0;
    }
  }

 private:
  void Count(const Reach<Rows>& reach) {
    for (std::int32_t i = 0; i < reach.count(); i++) {
      const std::uint64_t* row = reach.RowOf(reach.nodes()[i]);
      for (std::int32_t k = 0; k < kWords; k++) {
        if (row[k] == 0) continue;
        for (std::int32_t lane = 0; lane < 8; lane++) shards_[8 * k + lane][row[k] >> (8 * lane) & 255U]++;
      }
    }
  }

  static void RaiseLane(std::uint32_t* sums, std::int32_t ports, std::int32_t step, std::int32_t target, Loads& loads) {
    sums[0] = 0;
    const std::int32_t sets = 1 << ports;
    for (std::int32_t half = 1; half < sets; half *= 2) {
      for (std::int32_t first = 0; first < sets; first += 2 * half) {
        for (std::int32_t i = first; i < first + half; i++) sums[i + half] += sums[i];
      }
    }
    if (!loads.Exceeds(step, sums[sets - 1], 1)) return;
    std::uint32_t most[9];
    for (std::int32_t size = 0; size <= ports; size++) {
      most[size] = static_cast<std::uint32_t>(loads.Num(step) * size / loads.Den(step));
    }
    std::uint32_t excess = 0;
    for (std::int32_t set = 1; set < sets; set++) excess |= sums[set] > most[kSizes.of[set]] ? 1U : 0U;
    if (excess == 0) return;
    std::int64_t shards = 0;
    std::int64_t size = 1;
    for (std::int32_t set = 1; set < sets; set++) {
      const std::int32_t here = kSizes.of[set];
      if (sums[set] * size <= shards * here) continue;
      shards = sums[set];
      size = here;
    }
    loads.Raise(step, shards, size, target);
  }

  std::uint32_t shards_[Rows::kLanes][kSets] = {};  // zeros between uses, but for no ports
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_BALANCE_SETS_H_
