// Shortest paths from one node, with the order in which nodes are settled: Dijkstra's algorithm on a binary heap.
// Equal distances are settled by node, and of equal paths the first found stays, so that trees are the same on every backend.
// The twin of src/engine/kernels/js/concurrent.ts, function by function.
#ifndef BANYAN_KERNELS_CONCURRENT_PATHS_H_
#define BANYAN_KERNELS_CONCURRENT_PATHS_H_

#include <cstdint>
#include <limits>

#include "../abi.h"
#include "lists.h"

namespace banyan {

class ShortestPaths {
 public:
  explicit ShortestPaths(const BanyanConcurrent& graph) : graph_(graph) {}

  [[nodiscard]] bool Allocate() {
    const std::size_t nodes = At(graph_.node_count);
    if (!dist_.Allocate(nodes) || !parent_.Allocate(nodes) || !order_.Allocate(nodes)) return false;
    return rank_.Allocate(nodes) && heap_.Allocate(nodes) && place_.Allocate(nodes);
  }

  /// Finds the paths from `source` where an arc is as long as `length` says of its class, >= 0. O(arcs log nodes).
  void Run(std::int32_t source, const Buffer<double>& length) {
    dist_.Fill(std::numeric_limits<double>::infinity());
    place_.Fill(kNone);
    parent_.Fill(kNone);
    rank_.Fill(graph_.node_count);
    settled_ = 0;
    size_ = 0;
    dist_[At(source)] = 0;
    Lift(size_++, source);
    while (size_ > 0) {
      const std::int32_t u = heap_[0];
      size_--;
      if (size_ > 0) Sink(0, heap_[At(size_)]);
      rank_[At(u)] = settled_;
      order_[At(settled_++)] = u;
      for (std::int32_t a = graph_.arc_offset[u]; a < graph_.arc_offset[u + 1]; a++) {
        const std::int32_t w = graph_.arc_target[a];
        const double dist = dist_[At(u)] + length[At(graph_.arc_class[a])];
        if (!(dist < dist_[At(w)])) continue;
        dist_[At(w)] = dist;
        parent_[At(w)] = a;
        Lift(place_[At(w)] == kNone ? size_++ : place_[At(w)], w);
      }
    }
  }

  /// Infinite where no path leads.
  [[nodiscard]] double Distance(std::int32_t node) const { return dist_[At(node)]; }
  /// The arc by which the node is reached; kNone at the source and where no path leads.
  [[nodiscard]] std::int32_t Parent(std::int32_t node) const { return parent_[At(node)]; }
  [[nodiscard]] std::int32_t Settled() const { return settled_; }
  /// The i-th node settled; the source is the 0-th.
  [[nodiscard]] std::int32_t Order(std::int32_t i) const { return order_[At(i)]; }
  /// When the node was settled; node_count where no path leads.
  [[nodiscard]] std::int32_t Rank(std::int32_t node) const { return rank_[At(node)]; }

 private:
  [[nodiscard]] bool Before(std::int32_t a, std::int32_t b) const {
    return dist_[At(a)] != dist_[At(b)] ? dist_[At(a)] < dist_[At(b)] : a < b;
  }

  void Put(std::int32_t place, std::int32_t node) {
    heap_[At(place)] = node;
    place_[At(node)] = place;
  }

  void Lift(std::int32_t place, std::int32_t node) {
    while (place > 0) {
      const std::int32_t above = (place - 1) >> 1;
      if (!Before(node, heap_[At(above)])) break;
      Put(place, heap_[At(above)]);
      place = above;
    }
    Put(place, node);
  }

  void Sink(std::int32_t place, std::int32_t node) {
    for (;;) {
      std::int32_t below = 2 * place + 1;
      if (below >= size_) break;
      if (below + 1 < size_ && Before(heap_[At(below + 1)], heap_[At(below)])) below++;
      if (!Before(heap_[At(below)], node)) break;
      Put(place, heap_[At(below)]);
      place = below;
    }
    Put(place, node);
  }

  const BanyanConcurrent& graph_;
  Buffer<double> dist_;          // [nodes]
  Buffer<std::int32_t> parent_;  // [nodes]
  Buffer<std::int32_t> order_;   // [nodes]
  Buffer<std::int32_t> rank_;    // [nodes]
  std::int32_t settled_ = 0;
  Buffer<std::int32_t> heap_;   // [nodes]
  Buffer<std::int32_t> place_;  // [nodes] in the heap
  std::int32_t size_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_CONCURRENT_PATHS_H_
