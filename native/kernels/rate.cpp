#include "rate.h"

#include "flow.h"

namespace banyan {
namespace {

template <typename Amount>
class RateSearch {
 public:
  RateSearch(const BanyanRate& problem, std::uint8_t* cut) : problem_(problem), flow_(graph_), cut_(cut) {}

  [[nodiscard]] BanyanStatus Run(std::int64_t capacity_divisor, std::int64_t weight_divisor, BanyanCancelled cancelled,
                                 const void* context) {
    if (!Build(capacity_divisor, weight_divisor)) return kBanyanOutOfMemory;
    CutOneOff();
    if (!(p_ > 0 && q_ > 0)) return kBanyanOk;
    Rescale(0);
    for (std::int32_t done = 0; done < problem_.npu_count; done++) {
      const std::int32_t sink = order_[At(done)];
      for (;;) {
        if (cancelled != nullptr && cancelled(context) != 0) return kBanyanCancelled;
        if (!(flow_.Solve(sink, all_) < all_)) break;
        flow_.MarkSourceSide(cut_);
        Measure();
        if (!(q_ > 0)) return kBanyanOk;
        Rescale(done);
      }
      flow_.Undo();
      flow_.Feed(sink, all_);
    }
    return kBanyanOk;
  }

 private:
  [[nodiscard]] bool Build(std::int64_t capacity_divisor, std::int64_t weight_divisor) {
    if (!graph_.Build(problem_.node_count, problem_.link_count, problem_.link_source, problem_.link_target,
                      problem_.capacity, capacity_divisor)) {
      return false;
    }
    if (!flow_.Allocate() || !weight_.Allocate(At(problem_.npu_count))) return false;
    for (std::int32_t v = 0; v < problem_.npu_count; v++) {
      weight_[At(v)] = static_cast<Amount>(static_cast<std::int64_t>(problem_.weight[v]) / weight_divisor);
      total_ += weight_[At(v)];
    }
    return OrderSinks();
  }

  // Breadth-first over links in both directions, from the least NPU that has not been reached.
  [[nodiscard]] bool OrderSinks() {
    const auto nodes = At(problem_.node_count);
    Touched seen;
    if (!seen.Allocate(nodes) || !order_.Allocate(At(problem_.npu_count))) return false;
    std::int32_t ordered = 0;
    std::int32_t taken = 0;
    for (std::int32_t start = 0; start < problem_.npu_count; start++) {
      seen.Touch(start);
      for (; taken < seen.count; taken++) {
        const std::int32_t v = seen.list[At(taken)];
        if (v < problem_.npu_count) order_[At(ordered++)] = v;
        for (std::int32_t a = graph_.offset[At(v)]; a < graph_.offset[At(v) + 1]; a++) seen.Touch(graph_.tail[At(a)]);
      }
    }
    return true;
  }

  // The cut with the greatest ratio among those that lack one NPU and nothing else.
  void CutOneOff() {
    std::int32_t lacking = 0;
    p_ = 0;
    q_ = 1;
    for (std::int32_t v = 0; v < problem_.npu_count; v++) {
      Amount in = 0;
      for (std::int32_t a = graph_.offset[At(v)]; a < graph_.offset[At(v) + 1]; a++) in += graph_.capacity[At(a)];
      if (!((total_ - weight_[At(v)]) * q_ > p_ * in)) continue;
      p_ = total_ - weight_[At(v)];
      q_ = in;
      lacking = v;
    }
    for (std::int32_t v = 0; v < problem_.node_count; v++) cut_[v] = v == lacking ? 0 : 1;
  }

  // Sets p/q to the ratio of the cut.
  void Measure() {
    p_ = 0;
    q_ = 0;
    for (std::int32_t v = 0; v < problem_.node_count; v++) {
      if (cut_[v] != 0) {
        if (v < problem_.npu_count) p_ += weight_[At(v)];
        continue;
      }
      for (std::int32_t a = graph_.offset[At(v)]; a < graph_.offset[At(v) + 1]; a++) {
        if (cut_[graph_.tail[At(a)]] != 0) q_ += graph_.capacity[At(a)];
      }
    }
  }

  // Sets up the network for p/q, the first `done` sinks supplied without limit.
  void Rescale(std::int32_t done) {
    const Amount common = Gcd(p_, q_);
    p_ /= common;
    q_ /= common;
    all_ = q_ * total_;
    flow_.Scale(p_);
    for (std::int32_t v = 0; v < problem_.npu_count; v++) flow_.Feed(v, q_ * weight_[At(v)]);
    for (std::int32_t i = 0; i < done; i++) flow_.Feed(order_[At(i)], all_);
  }

  const BanyanRate& problem_;
  FlowGraph<Amount> graph_;
  Flow<Amount> flow_;
  std::uint8_t* cut_;

  Buffer<Amount> weight_;       // [npus]
  Buffer<std::int32_t> order_;  // [npus] sinks
  Amount total_ = 0;            // of all weights
  Amount p_ = 0;                // the greatest ratio so far is p / q
  Amount q_ = 0;
  Amount all_ = 0;  // q times total
};

}  // namespace

BanyanStatus OptimalRate(const BanyanRate& problem, BanyanCancelled cancelled, const void* context, std::uint8_t* cut) {
  const std::int64_t capacity_divisor = CommonDivisor(problem.capacity, problem.link_count);
  const std::int64_t weight_divisor = CommonDivisor(problem.weight, problem.npu_count);
  Wide capacities = 0;
  Wide weights = 0;
  for (std::int32_t i = 0; i < problem.link_count; i++) {
    capacities += static_cast<std::int64_t>(problem.capacity[i]) / capacity_divisor;
  }
  for (std::int32_t v = 0; v < problem.npu_count; v++) {
    weights += static_cast<std::int64_t>(problem.weight[v]) / weight_divisor;
  }
  if (capacities * weights < static_cast<Wide>(1) << 62) {
    RateSearch<std::int64_t> search(problem, cut);
    return search.Run(capacity_divisor, weight_divisor, cancelled, context);
  }
  RateSearch<Wide> search(problem, cut);
  return search.Run(capacity_divisor, weight_divisor, cancelled, context);
}

}  // namespace banyan
