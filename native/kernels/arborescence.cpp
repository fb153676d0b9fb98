#include "arborescence.h"

#include "arc_heap.h"
#include "lists.h"

namespace banyan {
namespace {

class Arborescence {
 public:
  Arborescence(const BanyanArborescence& problem, std::int32_t* arc) : problem_(problem), arc_(arc) {}

  [[nodiscard]] BanyanStatus Run(BanyanCancelled cancelled, const void* context) {
    bool all_reached = false;
    if (!Search(&all_reached)) return kBanyanOutOfMemory;
    if (!all_reached) return kBanyanUnreachable;
    if (!Allocate()) return kBanyanOutOfMemory;
    visit_[At(problem_.root)] = problem_.node_count + 1;
    for (std::int32_t start = 0; start < problem_.node_count; start++) {
      if (cancelled != nullptr && cancelled(context) != 0) return kBanyanCancelled;
      GrowPath(start);
    }
    OpenCircles();
    return kBanyanOk;
  }

 private:
  // Breadth-first from the root: arc_ gets the arc by which each node is reached.
  [[nodiscard]] bool Search(bool* all_reached) {
    Lists out;
    Buffer<std::int32_t> queue;
    if (!out.Group(problem_.arc_source, problem_.arc_count, problem_.node_count)) return false;
    if (!queue.Allocate(At(problem_.node_count))) return false;
    for (std::int32_t v = 0; v < problem_.node_count; v++) arc_[v] = kNone;
    std::int32_t queued = 0;
    queue[At(queued++)] = problem_.root;
    for (std::int32_t i = 0; i < queued; i++) {
      const std::int32_t v = queue[At(i)];
      for (std::int32_t k = out.Begin(v); k < out.End(v); k++) {
        const std::int32_t a = out.items[At(k)];
        const std::int32_t u = problem_.arc_target[a];
        if (u == problem_.root || arc_[u] != kNone) continue;
        arc_[u] = a;
        queue[At(queued++)] = u;
      }
    }
    *all_reached = queued == problem_.node_count;
    return true;
  }

  [[nodiscard]] bool Allocate() {
    const std::int32_t most = 2 * problem_.node_count;
    if (!heaps_.Allocate(problem_.cost, problem_.arc_count) || !heap_.Allocate(At(most))) return false;
    if (!chosen_.Allocate(At(most)) || !visit_.Allocate(At(most)) || !path_.Allocate(At(problem_.node_count))) {
      return false;
    }
    if (!AllocateRange(set_, most) || !parent_.Allocate(At(most))) return false;
    heap_.Fill(kNone);
    parent_.Fill(kNone);
    count_ = problem_.node_count;
    for (std::int32_t a = 0; a < problem_.arc_count; a++) {
      std::int32_t& heap = heap_[At(problem_.arc_target[a])];
      heap = heaps_.Merge(heap, a);
    }
    return true;
  }

  [[nodiscard]] std::int32_t NodeOf(std::int32_t node) { return Find(set_.data(), node); }

  // Chooses arcs backwards from a node until one comes from the root or from a node of an earlier path.
  void GrowPath(std::int32_t start) {
    std::int32_t depth = 0;
    std::int32_t v = NodeOf(start);
    while (visit_[At(v)] == 0) {
      visit_[At(v)] = start + 1;
      path_[At(depth++)] = v;
      v = ChooseArc(v);
      if (visit_[At(v)] == start + 1) v = CloseCircle(v, &depth);
    }
  }

  // Chooses the cheapest arc into a node from outside; returns the node that it comes from.
  std::int32_t ChooseArc(std::int32_t v) {
    std::int32_t& heap = heap_[At(v)];
    while (NodeOf(problem_.arc_source[heap]) == v) heap = heaps_.Pop(heap);
    chosen_[At(v)] = heap;
    heaps_.Lower(heap, heaps_.Cost(heap));
    return NodeOf(problem_.arc_source[heap]);
  }

  // Makes one node of the path's end from `first` on; returns it.
  std::int32_t CloseCircle(std::int32_t first, std::int32_t* depth) {
    const std::int32_t circle = count_++;
    std::int32_t part = kNone;
    do {
      part = path_[At(--*depth)];
      heap_[At(circle)] = heaps_.Merge(heap_[At(circle)], heap_[At(part)]);
      parent_[At(part)] = circle;
      set_[At(part)] = circle;
    } while (part != first);
    return circle;
  }

  // From the outermost circles inwards, the arc into a circle is chosen for all its parts that it enters.
  void OpenCircles() {
    for (std::int32_t circle = count_ - 1; circle >= problem_.node_count; circle--) {
      const std::int32_t entering = chosen_[At(circle)];
      if (entering == kNone) continue;  // was entered with the circle around it
      for (std::int32_t v = problem_.arc_target[entering]; v != circle; v = parent_[At(v)]) {
        chosen_[At(v)] = v < problem_.node_count ? entering : kNone;
      }
    }
    for (std::int32_t v = 0; v < problem_.node_count; v++) arc_[v] = v == problem_.root ? kNone : chosen_[At(v)];
  }

  const BanyanArborescence& problem_;
  std::int32_t* arc_;

  // Of nodes and circles, [2 * nodes].
  Buffer<std::int32_t> heap_;    // arcs into it, those from within still among them
  Buffer<std::int32_t> chosen_;  // the arc into it
  Buffer<std::int32_t> visit_;   // 1 + start of the path that it lies on; 0: none
  Buffer<std::int32_t> parent_;  // the circle that it is part of
  Buffer<std::int32_t> set_;     // disjoint sets, the outermost circle as root

  Buffer<std::int32_t> path_;  // [nodes]
  std::int32_t count_ = 0;     // of nodes and circles
  ArcHeaps heaps_;
};

}  // namespace

BanyanStatus CheapestArborescence(const BanyanArborescence& problem, BanyanCancelled cancelled, const void* context,
                                  std::int32_t* arc) {
  Arborescence search(problem, arc);
  return search.Run(cancelled, context);
}

}  // namespace banyan
