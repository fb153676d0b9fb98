// Heaps of arcs whose costs fall together.
//
// Algorithm. Skew heaps (Sleator, Tarjan 1986) with what is still to be added kept at the top of each subtree; merging goes
// down the right spines and swaps the children on its way, without recursion. The least of equal costs is the least arc.
// Complexity. O(1) for Least and Lower, O(log arcs) amortised for Merge and Pop; O(arcs) memory for all heaps together.
// The twin of src/engine/kernels/js/arborescence.ts, function by function.
#ifndef BANYAN_KERNELS_ARC_HEAP_H_
#define BANYAN_KERNELS_ARC_HEAP_H_

#include <cstdint>

#include "lists.h"

namespace banyan {

/// A heap is named by the arc at its top, its least; the empty one is kNone.
class ArcHeaps {
 public:
  /// Heaps of one arc each.
  [[nodiscard]] bool Allocate(const double* cost, std::int32_t arcs) {
    if (!key_.Allocate(At(arcs)) || !lowered_.Allocate(At(arcs))) return false;
    if (!left_.Allocate(At(arcs)) || !right_.Allocate(At(arcs))) return false;
    for (std::int32_t a = 0; a < arcs; a++) key_[At(a)] = static_cast<std::int64_t>(cost[a]);
    left_.Fill(kNone);
    right_.Fill(kNone);
    return true;
  }

  [[nodiscard]] std::int64_t Cost(std::int32_t heap) const { return key_[At(heap)]; }

  /// Takes `amount` off the cost of every arc of the heap.
  void Lower(std::int32_t heap, std::int64_t amount) {
    if (heap == kNone) return;
    key_[At(heap)] -= amount;
    lowered_[At(heap)] += amount;
  }

  /// Returns the two heaps as one.
  std::int32_t Merge(std::int32_t a, std::int32_t b) {
    std::int32_t top = kNone;
    std::int32_t* hole = &top;
    while (a != kNone && b != kNone) {
      if (Before(b, a)) {
        const std::int32_t other = a;
        a = b;
        b = other;
      }
      HandDown(a);
      *hole = a;
      hole = &left_[At(a)];
      const std::int32_t next = right_[At(a)];
      right_[At(a)] = *hole;
      a = next;
    }
    *hole = a == kNone ? b : a;
    return top;
  }

  /// Returns the heap without its least.
  std::int32_t Pop(std::int32_t heap) {
    HandDown(heap);
    return Merge(left_[At(heap)], right_[At(heap)]);
  }

 private:
  [[nodiscard]] bool Before(std::int32_t a, std::int32_t b) const {
    return key_[At(a)] != key_[At(b)] ? key_[At(a)] < key_[At(b)] : a < b;
  }

  // Passes on what is to be taken off below.
  void HandDown(std::int32_t arc) {
    Lower(left_[At(arc)], lowered_[At(arc)]);
    Lower(right_[At(arc)], lowered_[At(arc)]);
    lowered_[At(arc)] = 0;
  }

  Buffer<std::int64_t> key_;      // [arcs] cost, but for what ancestors still hold back
  Buffer<std::int64_t> lowered_;  // [arcs] to be taken off everything below
  Buffer<std::int32_t> left_;
  Buffer<std::int32_t> right_;
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_ARC_HEAP_H_
