// What trees cost in the eyes of repairs: the less the better.
#ifndef BANYAN_KERNELS_PACK_WORTH_H_
#define BANYAN_KERNELS_PACK_WORTH_H_

#include "pack_state.h"

namespace banyan {

/// A tree costs its share of all copies, in about 4096ths, times the cube of the edges by which it is higher than the least
/// height that its root allows; and something for being a tree of its own, the more so where trees stand for many copies, for
/// those split most.
class PackWorth {
 public:
  explicit PackWorth(const PackState& state) : state_(state) {}

  /// False when the memory cannot be had. O(npus (nodes + links)).
  [[nodiscard]] bool Build() {
    const std::int32_t npus = state_.net.npus;
    share_ = state_.total / kShares > 0 ? state_.total / kShares : 1;
    const std::int64_t average = state_.total / state_.out->tree_count / share_;
    per_tree_ = (kPerTree + average) * (average > 0 ? average : 1);
    Touched seen;
    Buffer<std::int32_t> distance;
    if (!least_.Allocate(At(npus)) || !seen.Allocate(At(state_.net.nodes)) ||
        !distance.Allocate(At(state_.net.nodes))) {
      return false;
    }
    for (std::int32_t v = 0; v < npus; v++) least_[At(v)] = Eccentricity(v, seen, distance);
    return true;
  }

  /// The least height of a tree rooted at an NPU.
  [[nodiscard]] std::int32_t Least(std::int32_t root) const { return least_[At(root)]; }

  [[nodiscard]] std::int64_t OfTree(std::int32_t tree) const {
    const auto copies = static_cast<std::int64_t>(state_.out->copies[tree]);
    return per_tree_ + Weight(copies) * Cube(state_.heights[At(tree)] - least_[At(state_.out->root[tree])]);
  }

  [[nodiscard]] std::int64_t OfTrees(std::int32_t begin, std::int32_t end) const {
    std::int64_t sum = 0;
    for (std::int32_t tree = begin; tree < end; tree++) sum += OfTree(tree);
    return sum;
  }

  /// The greatest height for which a tree alone costs no more than `budget`.
  [[nodiscard]] std::int32_t MostHeight(std::int32_t root, std::int64_t copies, std::int64_t budget) const {
    std::int32_t excess = 0;
    while (excess < kMostExcess && per_tree_ + Weight(copies) * Cube(excess + 1) <= budget) excess++;
    return excess < kMostExcess ? least_[At(root)] + excess : INT32_MAX;
  }

 private:
  static constexpr std::int32_t kShares = 4096;
  static constexpr std::int32_t kPerTree = 4;
  static constexpr std::int32_t kMostExcess = 1024;

  [[nodiscard]] std::int64_t Weight(std::int64_t copies) const { return copies / share_ > 0 ? copies / share_ : 1; }

  static std::int64_t Cube(std::int32_t excess) {
    const std::int64_t x = excess < kMostExcess ? excess : kMostExcess;
    return x * x * x;
  }

  // Edges from an NPU to the farthest one; forwarding nodes are as far as what they are reached from.
  std::int32_t Eccentricity(std::int32_t root, Touched& seen, Buffer<std::int32_t>& distance) const {
    const PackNet& net = state_.net;
    seen.Touch(root);
    distance[At(root)] = 0;
    // A wave takes its forwarding nodes before the next one's NPUs: two passes over what it has reached.
    std::int32_t farthest = 0;
    for (std::int32_t begin = 0; begin < seen.count;) {
      std::int32_t end = seen.count;
      for (std::int32_t i = begin; i < end; i++) {
        const std::int32_t u = seen.list[At(i)];
        for (std::int32_t j = net.out.Begin(u); j < net.out.End(u); j++) {
          const std::int32_t link = net.out.items[At(j)];
          const std::int32_t v = net.target[link];
          if (v < net.npus || seen.marks[At(v)] != 0 || state_.full[At(link)] == 0) continue;
          seen.Touch(v);
          distance[At(v)] = distance[At(u)];
          end = seen.count;
        }
      }
      for (std::int32_t i = begin; i < end; i++) {
        const std::int32_t u = seen.list[At(i)];
        for (std::int32_t j = net.out.Begin(u); j < net.out.End(u); j++) {
          const std::int32_t link = net.out.items[At(j)];
          const std::int32_t v = net.target[link];
          if (v >= net.npus || seen.marks[At(v)] != 0 || state_.full[At(link)] == 0) continue;
          seen.Touch(v);
          distance[At(v)] = distance[At(u)] + 1;
          farthest = distance[At(v)];
        }
      }
      begin = end;
    }
    for (std::int32_t i = 0; i < seen.count; i++) seen.marks[At(seen.list[At(i)])] = 0;
    seen.count = 0;
    return farthest;
  }

  const PackState& state_;
  Buffer<std::int32_t> least_;  // [npus]
  std::int64_t share_ = 1;      // copies that weigh 1
  std::int64_t per_tree_ = 1;
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_PACK_WORTH_H_
