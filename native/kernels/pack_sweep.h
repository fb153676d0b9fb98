// The oracle of packing: are there violated cuts? One maximum flow per NPU.
//
// With rem(v) copies still to start at v and m copies of a tree in the making that has reached the NPUs R, packing can be
// finished exactly when for every node set X with an NPU
//   (*)  capacity left into X  >=  sum of rem(v) over v outside X  +  (m if R does not meet X),
// where every switch has as much capacity in as out. A source feeds v with rem(v), and a node called the gate with m; the
// gate has arcs without limit into R. Then (*) holds exactly when all of that can flow into every NPU.
// An NPU that has been seen to get it is fed without limit from then on, for no violated set has it: later flows stay local.
// Each flow that falls short shows the smallest and the largest violated set around its NPU; NPUs in them are passed over.
// Which NPUs fall short does not depend on the order, nor do these sets: NPUs are screened as they are numbered, so that
// those of a box follow one another, and only those that fall short are taken once more, breadth-first, for their sets. By
// breadth-first search alone 512 boxes of 8 on rails take some 20 s of flows instead of 1.5 s, for it meets the boxes' first NPUs first.
// Complexity. One flow per NPU outside the sets found, and one more per set.
#ifndef BANYAN_KERNELS_PACK_SWEEP_H_
#define BANYAN_KERNELS_PACK_SWEEP_H_

#include "pack_state.h"

namespace banyan {

class PackSweep {
 public:
  explicit PackSweep(PackState& state) : state_(state), flow_(state.net.graph) {}

  [[nodiscard]] bool Allocate() {
    const auto nodes = At(state_.net.nodes) + 1;
    return flow_.Allocate() && passed_.Allocate(At(state_.net.npus)) && enough_.Allocate(At(state_.net.npus)) &&
           side_.Allocate(nodes) && OrderSinks();
  }

  /// Calls found(inside, largest) for every violated set, marked in `inside` [nodes + 1]; with `tight` also for sets that
  /// have nothing to spare, the smallest around their NPUs. The state may change meanwhile; the sets are of what it was.
  /// `again`: since the last sweep trees have only been undone, so NPUs that could get all then still can. Returns false when
  /// it was asked to stop.
  template <typename Found>
  [[nodiscard]] bool Run(bool tight, bool again, BanyanCancelled cancelled, const void* context, Found found) {
    const std::int32_t npus = state_.net.npus;
    const std::int64_t all = state_.Missing();
    Feed(all);
    if (!again) enough_.Fill(0);
    for (std::int32_t v = 0; v < npus; v++) {
      if (enough_[At(v)] != 0) flow_.Feed(v, all);
    }
    if (!tight && !Screen(all, cancelled, context)) return false;
    passed_.Fill(0);
    for (std::int32_t i = 0; i < npus; i++) {
      const std::int32_t sink = order_[At(i)];
      if (passed_[At(sink)] != 0 || enough_[At(sink)] != 0) continue;
      if (cancelled != nullptr && cancelled(context) != 0) return false;
      const std::int64_t flow = flow_.Solve(sink, tight ? all + 1 : all);
      if (flow < all || (tight && flow == all)) {
        flow_.MarkSinkSide(sink, side_.data());
        if (HasOutsider()) {
          if (flow < all) PassOver();
          found(side_.data(), false);
        }
      }
      if (flow < all) {
        MarkLargest();
        PassOver();
        found(side_.data(), true);
      }
      flow_.Undo();
      if (flow >= all) flow_.Feed(sink, all);
    }
    return true;
  }

 private:
  // Finds the NPUs that all can flow into. False when it was asked to stop.
  [[nodiscard]] bool Screen(std::int64_t all, BanyanCancelled cancelled, const void* context) {
    passed_.Fill(0);
    for (std::int32_t sink = 0; sink < state_.net.npus; sink++) {
      if (passed_[At(sink)] != 0 || enough_[At(sink)] != 0) continue;
      if (cancelled != nullptr && cancelled(context) != 0) return false;
      const bool enough = flow_.Solve(sink, all) >= all;
      if (!enough) {
        MarkLargest();
        PassOver();
      }
      flow_.Undo();
      if (!enough) continue;
      flow_.Feed(sink, all);
      enough_[At(sink)] = 1;
    }
    return true;
  }

  // Marks the largest violated set after a flow that fell short.
  void MarkLargest() {
    flow_.MarkSourceSide(side_.data());
    for (std::size_t v = 0; v < side_.size(); v++) side_[v] = side_[v] == 0 ? 1 : 0;
  }

  void Feed(std::int64_t all) {
    const PackNet& net = state_.net;
    FlowGraph<std::int64_t>& graph = state_.net.graph;
    for (std::int32_t v = 0; v < net.npus; v++) {
      graph.capacity[At(net.gate[At(v)])] = state_.open && state_.reached[At(v)] != 0 ? all : 0;
    }
    flow_.Scale(1);
    for (std::int32_t v = 0; v < net.npus; v++) flow_.Feed(v, state_.unstarted[At(v)]);
    flow_.Feed(net.nodes, state_.open ? state_.copies : 0);
  }

  [[nodiscard]] bool HasOutsider() const {
    for (std::int32_t v = 0; v < state_.net.npus; v++) {
      if (side_[At(v)] == 0) return true;
    }
    return false;
  }

  void PassOver() {
    for (std::int32_t v = 0; v < state_.net.npus; v++) {
      if (side_[At(v)] != 0) passed_[At(v)] = 1;
    }
  }

  // Breadth-first over links in both directions, from the least NPU that has not been reached.
  [[nodiscard]] bool OrderSinks() {
    const PackNet& net = state_.net;
    Touched seen;
    if (!seen.Allocate(At(net.nodes) + 1) || !order_.Allocate(At(net.npus))) return false;
    seen.marks[At(net.nodes)] = 1;
    std::int32_t ordered = 0;
    std::int32_t taken = 0;
    for (std::int32_t start = 0; start < net.npus; start++) {
      seen.Touch(start);
      for (; taken < seen.count; taken++) {
        const std::int32_t v = seen.list[At(taken)];
        if (v < net.npus) order_[At(ordered++)] = v;
        for (std::int32_t a = net.graph.offset[At(v)]; a < net.graph.offset[At(v) + 1]; a++) {
          seen.Touch(net.graph.tail[At(a)]);
        }
      }
    }
    return true;
  }

  PackState& state_;
  Flow<std::int64_t> flow_;
  Buffer<std::int32_t> order_;   // [npus] sinks
  Buffer<std::uint8_t> passed_;  // [npus] 1: in a violated set
  Buffer<std::uint8_t> enough_;  // [npus] 1: all can flow into it
  Buffer<std::uint8_t> side_;    // [nodes + 1]
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_PACK_SWEEP_H_
