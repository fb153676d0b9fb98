#include "concurrent.h"

#include <cstdint>
#include <limits>

#include "concurrent_loads.h"
#include "concurrent_paths.h"
#include "lists.h"

namespace banyan {
namespace {

// p stays below 2^20.
constexpr std::int32_t kSharpest = 20;
// Fractions below this are not kept.
constexpr double kLeastShare = 1e-12;

class ConcurrentFlow {
 public:
  ConcurrentFlow(const BanyanConcurrent& problem, BanyanConcurrentFlow* out)
      : problem_(problem), out_(out), paths_(problem), loads_(problem) {}

  [[nodiscard]] BanyanStatus Run(BanyanCancelled cancelled, const void* context) {
    if (!Allocate()) return kBanyanOutOfMemory;
    if (!loads_.Count()) return kBanyanBadArgument;
    for (std::int32_t s = 0; s < problem_.source_count; s++) {
      if (cancelled != nullptr && cancelled(context) != 0) return kBanyanCancelled;
      if (!SplitEvenly(s)) return kBanyanUnreachable;
    }
    out_->rate = 0;
    out_->bound = std::numeric_limits<double>::infinity();
    for (out_->rounds = 0;; out_->rounds++) {
      Measure();
      if (out_->bound <= out_->rate * (1 + problem_.gap) || out_->rounds == problem_.max_rounds) return kBanyanOk;
      for (std::int32_t s = 0; s < problem_.source_count; s++) {
        if (cancelled != nullptr && cancelled(context) != 0) return kBanyanCancelled;
        Improve(s);
      }
    }
  }

 private:
  [[nodiscard]] bool Allocate() {
    const std::size_t nodes = At(problem_.node_count);
    const std::size_t arcs = At(problem_.arc_count);
    if (!paths_.Allocate() || !loads_.Allocate() || !tail_.Allocate(arcs) || !next_.Allocate(arcs)) return false;
    if (!need_.Allocate(nodes) || !change_.Allocate(At(problem_.class_count))) return false;
    if (!step_.Allocate(At(problem_.source_count))) return false;
    if (!entering_.Group(problem_.arc_target, problem_.arc_count, problem_.node_count)) return false;
    for (std::int32_t v = 0; v < problem_.node_count; v++) {
      for (std::int32_t a = problem_.arc_offset[v]; a < problem_.arc_offset[v + 1]; a++) tail_[At(a)] = v;
    }
    step_.Fill(1);
    if (arcs != 0 && At(problem_.source_count) > SIZE_MAX / sizeof(double) / arcs) return false;
    return flow_.Allocate(At(problem_.source_count) * arcs);
  }

  [[nodiscard]] double* FlowOf(std::int32_t s) { return flow_.data() + At(s) * At(problem_.arc_count); }

  // need_ becomes what the nodes want from a source.
  void Demand(std::int32_t s) {
    const std::int32_t source = problem_.sources[s];
    for (std::int32_t v = 0; v < problem_.node_count; v++) {
      const double demand = problem_.demand == nullptr ? (problem_.terminals[v] != 0 ? 1.0 : 0.0)
                                                       : problem_.demand[At(s) * At(problem_.node_count) + At(v)];
      need_[At(v)] = v == source ? 0 : demand;
    }
  }

  // Splits what enters a node evenly over the arcs from nodes one hop nearer. False: a demand has no path.
  [[nodiscard]] bool SplitEvenly(std::int32_t s) {
    double* flow = FlowOf(s);
    for (std::int32_t a = 0; a < problem_.arc_count; a++) flow[a] = 0;
    change_.Fill(1);
    paths_.Run(problem_.sources[s], change_);
    Demand(s);
    for (std::int32_t v = 0; v < problem_.node_count; v++) {
      if (need_[At(v)] > 0 && paths_.Rank(v) == problem_.node_count) return false;
    }
    for (std::int32_t i = paths_.Settled() - 1; i > 0; i--) {
      const std::int32_t w = paths_.Order(i);
      std::int32_t ways = 0;
      for (std::int32_t k = entering_.Begin(w); k < entering_.End(w); k++) {
        if (IsHop(entering_.items[At(k)], w)) ways++;
      }
      const double share = need_[At(w)] / ways;
      for (std::int32_t k = entering_.Begin(w); k < entering_.End(w); k++) {
        const std::int32_t a = entering_.items[At(k)];
        if (!IsHop(a, w)) continue;
        flow[a] = share;
        need_[At(tail_[At(a)])] += share;
      }
    }
    return true;
  }

  [[nodiscard]] bool IsHop(std::int32_t arc, std::int32_t head) const {
    return paths_.Distance(tail_[At(arc)]) + 1 == paths_.Distance(head);
  }

  // Finds the rate that the flows reach and a bound; makes p greater where that is what keeps them apart.
  void Measure() {
    loads_.Clear();
    for (std::int32_t s = 0; s < problem_.source_count; s++) loads_.Add(FlowOf(s), problem_.source_weight[s]);
    loads_.Price();
    KeepBest();
    const Buffer<double>& length = loads_.WholeLengths();
    double reached = 0;
    for (std::int32_t s = 0; s < problem_.source_count; s++) {
      paths_.Run(problem_.sources[s], length);
      reached += problem_.source_weight[s] * Reached(s);
    }
    double paid = 0;
    double used = 0;
    loads_.Totals(&paid, &used);
    if (paid / reached < out_->bound) {
      out_->bound = paid / reached;
      for (std::int32_t c = 0; c < problem_.class_count; c++)
        out_->length[c] = static_cast<std::int32_t>(length[At(c)]);
    }
    const double uneven = loads_.Greatest() * paid / used - 1;
    const double astray = used / reached - 1;
    if (astray >= 0.4 * uneven || loads_.Sharpness() == kSharpest) return;
    loads_.Sharpen();
    loads_.Price();
  }

  // Loads fall for the sum of their powers, so the greatest may rise: the best rate stays, with its flows.
  void KeepBest() {
    const double rate = 1 / loads_.Greatest();
    if (!(rate > out_->rate)) return;
    out_->rate = rate;
    if (out_->flow == nullptr) return;
    for (std::size_t i = 0; i < flow_.size(); i++) out_->flow[i] = flow_[i];
  }

  // The sum of demand times distance over all nodes.
  double Reached(std::int32_t s) {
    Demand(s);
    double sum = 0;
    for (std::int32_t i = 1; i < paths_.Settled(); i++) {
      const std::int32_t v = paths_.Order(i);
      sum += need_[At(v)] * paths_.Distance(v);
    }
    return sum;
  }

  // Reroutes; returns how much of the change is best.
  double MoveBy(std::int32_t s, const double* flow, const Buffer<double>& length, double cut) {
    Demand(s);
    Reroute(flow, length, cut);
    change_.Fill(0);
    for (std::int32_t a = 0; a < problem_.arc_count; a++) {
      change_[At(problem_.arc_class[a])] += next_[At(a)] - flow[a];
    }
    loads_.Scale(&change_, problem_.source_weight[s]);
    return loads_.Search(change_);
  }

  void Improve(std::int32_t s) {
    const Buffer<double>& length = loads_.Lengths();
    paths_.Run(problem_.sources[s], length);
    double* flow = FlowOf(s);
    double longer = 0;
    double squares = 0;
    for (std::int32_t a = 0; a < problem_.arc_count; a++) {
      if (flow[a] == 0) continue;
      const double detour = Detour(a, length);
      longer += flow[a] * detour;
      squares += flow[a] * detour * detour;
    }
    if (longer <= problem_.gap / 8 * Reached(s)) return;
    double theta = MoveBy(s, flow, length, step_[At(s)] * longer / squares);
    if (theta > 0) {
      Adapt(s, theta);
    } else {
      theta = MoveBy(s, flow, length, std::numeric_limits<double>::infinity());
    }
    if (theta == 0) return;
    loads_.Move(change_, theta);
    loads_.Price();
    for (std::int32_t a = 0; a < problem_.arc_count; a++) flow[a] += theta * (next_[At(a)] - flow[a]);
  }

  // By how much a way over the arc is longer than the shortest to its head.
  [[nodiscard]] double Detour(std::int32_t arc, const Buffer<double>& length) const {
    const std::int32_t head = problem_.arc_target[arc];
    if (paths_.Parent(head) == arc) return 0;
    const double detour = paths_.Distance(tail_[At(arc)]) + length[At(problem_.arc_class[arc])] - paths_.Distance(head);
    return detour > 0 ? detour : 0;
  }

  // next_ becomes the flow with arcs that are no arc of the tree cut by the detour times `cut`, to 0 at most; with infinity,
  // the flow along the tree. Arcs from nodes
  // that were settled later are not used, so it has no circles.
  void Reroute(const double* flow, const Buffer<double>& length, double cut) {
    next_.Fill(0);
    for (std::int32_t i = paths_.Settled() - 1; i > 0; i--) {
      const std::int32_t w = paths_.Order(i);
      const double need = need_[At(w)];
      if (need == 0) continue;
      double entering = 0;
      for (std::int32_t k = entering_.Begin(w); k < entering_.End(w); k++) entering += flow[entering_.items[At(k)]];
      const std::int32_t tree = paths_.Parent(w);
      double rest = need;
      for (std::int32_t k = entering_.Begin(w); k < entering_.End(w); k++) {
        const std::int32_t a = entering_.items[At(k)];
        if (flow[a] == 0 || a == tree || paths_.Rank(tail_[At(a)]) >= i) continue;
        const double share = flow[a] / entering * (1 - cut * Detour(a, length));
        if (!(share > kLeastShare)) continue;
        next_[At(a)] = need * share;
        need_[At(tail_[At(a)])] += need * share;
        rest -= need * share;
      }
      if (rest < 0) rest = 0;
      next_[At(tree)] = rest;
      need_[At(tail_[At(tree)])] += rest;
    }
  }

  // Cuts more where all of a change was good, less where little of it was.
  void Adapt(std::int32_t s, double theta) {
    double& step = step_[At(s)];
    if (theta >= 1) {
      if (step < 64) step *= 2;
    } else if (theta < 0.3 && step > 1e-4) {
      step *= 0.5;
    }
  }

  const BanyanConcurrent& problem_;
  BanyanConcurrentFlow* out_;
  ShortestPaths paths_;
  ClassLoads loads_;
  Lists entering_;             // arcs that enter each node
  Buffer<std::int32_t> tail_;  // [arcs] node that the arc leaves
  Buffer<double> flow_;        // [sources * arcs]
  Buffer<double> next_;        // [arcs] what the flow of the source might become
  Buffer<double> need_;        // [nodes] what must still reach the node
  Buffer<double> change_;      // [classes]
  Buffer<double> step_;        // [sources] how much is cut where the detour is as long as the mean one
};

}  // namespace

BanyanStatus MaximumConcurrentFlow(const BanyanConcurrent& problem, BanyanCancelled cancelled, const void* context,
                                   BanyanConcurrentFlow* out) {
  ConcurrentFlow flow(problem, out);
  return flow.Run(cancelled, context);
}

}  // namespace banyan
