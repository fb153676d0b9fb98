#include "partition.h"

#include "flow.h"

namespace banyan {
namespace {

template <typename Amount>
class PartitionSearch {
 public:
  PartitionSearch(const BanyanPartition& problem, std::int32_t* part)
      : problem_(problem), terminals_(problem.terminal_count), drain_(problem.node_count), flow_(graph_), part_(part) {}

  [[nodiscard]] BanyanStatus Run(std::int64_t divisor, BanyanCancelled cancelled, const void* context) {
    if (!Build(divisor)) return kBanyanOutOfMemory;
    Number(problem_.start);
    if (parts_ < 2) {
      for (std::int32_t v = 0; v < terminals_; v++) part_[v] = v;
      parts_ = terminals_;
    }
    if (parts_ < 2) return kBanyanOk;
    Lists members;
    if (!members.Group(part_, terminals_, parts_)) return kBanyanOutOfMemory;
    if (!Measure(members, cancelled, context)) return kBanyanCancelled;
    for (;;) {
      Amount sum = 0;
      if (!Truncate(cancelled, context, &sum)) return kBanyanCancelled;
      if (!(sum + p_ < 0)) return kBanyanOk;
      for (std::int32_t v = 0; v < terminals_; v++) block_[At(v)] = Find(parent_.data(), v);
      Number(block_.data());
      p_ = sum + static_cast<Amount>(parts_) * p_;
      q_ = q_ * static_cast<Amount>(parts_ - 1);
      Reduce();
    }
  }

 private:
  // The network turned around, and an arc from every terminal to the drain.
  [[nodiscard]] bool Build(std::int64_t divisor) {
    const std::int32_t links = problem_.link_count;
    Buffer<std::int32_t> source;
    Buffer<std::int32_t> target;
    Buffer<double> capacity;
    const auto all = At(links) + At(terminals_);
    if (!source.Allocate(all) || !target.Allocate(all) || !capacity.Allocate(all)) return false;
    for (std::int32_t i = 0; i < links; i++) {
      source[At(i)] = problem_.link_target[i];
      target[At(i)] = problem_.link_source[i];
      capacity[At(i)] = problem_.capacity[i];
      total_ += static_cast<Amount>(static_cast<std::int64_t>(problem_.capacity[i]) / divisor);
    }
    for (std::int32_t v = 0; v < terminals_; v++) {
      source[At(links + v)] = v;
      target[At(links + v)] = drain_;
    }
    if (!graph_.Build(drain_ + 1, links + terminals_, source.data(), target.data(), capacity.data(), divisor))
      return false;
    const auto count = At(terminals_);
    return flow_.Allocate() && side_.Allocate(At(drain_ + 1)) && parent_.Allocate(count) && block_.Allocate(count) &&
           number_.Allocate(count);
  }

  // Numbers parts as they come.
  void Number(const std::int32_t* name) {
    number_.Fill(kNone);
    parts_ = 0;
    for (std::int32_t v = 0; v < terminals_; v++) {
      std::int32_t& number = number_[At(name[v])];
      if (number == kNone) number = parts_++;
      part_[v] = number;
    }
  }

  // The arc from a terminal to the drain: arcs ascend by tail.
  [[nodiscard]] std::int32_t Outlet(std::int32_t terminal) const { return graph_.offset[At(drain_)] + terminal; }

  // Feeds all terminals, and what goes with no part, without limit; nothing drains.
  void Refill(Amount factor) {
    flow_.Scale(factor);
    endless_ = factor * total_ + 1;
    for (std::int32_t v = 0; v < terminals_; v++) flow_.Feed(v, endless_);
    for (std::int32_t v = drain_ - problem_.outside_count; v < drain_; v++) flow_.Feed(v, endless_);
  }

  void Drain(std::int32_t terminal, Amount amount) {
    flow_.Widen(Outlet(terminal), amount > 0 ? amount : 0);
    flow_.Feed(terminal, amount > 0 ? 0 : -amount);
  }

  void Close(std::int32_t terminal) {
    flow_.Widen(Outlet(terminal), 0);
    flow_.Feed(terminal, endless_);
  }

  // Sets p/q to the ratio of the parts to begin with.
  [[nodiscard]] bool Measure(const Lists& members, BanyanCancelled cancelled, const void* context) {
    Refill(1);
    p_ = 0;
    for (std::int32_t i = 0; i < parts_; i++) {
      if (cancelled != nullptr && cancelled(context) != 0) return false;
      for (std::int32_t j = members.Begin(i); j < members.End(i); j++) Drain(members.items[At(j)], endless_);
      p_ += flow_.Solve(drain_, endless_);
      flow_.Undo();
      for (std::int32_t j = members.Begin(i); j < members.End(i); j++) Close(members.items[At(j)]);
    }
    q_ = static_cast<Amount>(parts_ - 1);
    Reduce();
    return true;
  }

  void Reduce() {
    const Amount common = Gcd(p_, q_);
    if (common == 0) return;
    p_ /= common;
    q_ /= common;
  }

  // Sets `sum` to Dilworth's truncation of q f - p, whose blocks are the sets of parent_.
  [[nodiscard]] bool Truncate(BanyanCancelled cancelled, const void* context, Amount* sum) {
    Refill(q_);
    for (std::int32_t v = 0; v < terminals_; v++) parent_[At(v)] = v;
    Amount drained = 0;
    for (std::int32_t v = 0; v < terminals_; v++) {
      if (cancelled != nullptr && cancelled(context) != 0) return false;
      Drain(v, endless_);
      const Amount x = flow_.Solve(drain_, drained + endless_) - drained - p_;
      flow_.MarkSinkSide(drain_, side_.data());
      for (std::int32_t u = 0; u < v; u++) {
        if (side_[At(u)] != 0) Unite(parent_.data(), u, v);
      }
      flow_.Undo();
      Drain(v, x);
      if (x > 0) drained += x;
      *sum += x;
    }
    return true;
  }

  const BanyanPartition& problem_;
  std::int32_t terminals_;
  std::int32_t drain_;  // a node behind all others
  FlowGraph<Amount> graph_;
  Flow<Amount> flow_;
  std::int32_t* part_;
  std::int32_t parts_ = 0;

  Buffer<std::uint8_t> side_;    // [nodes + 1]
  Buffer<std::int32_t> parent_;  // [terminals] blocks so far
  Buffer<std::int32_t> block_;   // [terminals]
  Buffer<std::int32_t> number_;  // [terminals] of a name
  Amount total_ = 0;             // of all capacities
  Amount p_ = 0;                 // the least ratio so far is p / q
  Amount q_ = 1;
  Amount endless_ = 0;  // more than any flow
};

}  // namespace

BanyanStatus NarrowestPartition(const BanyanPartition& problem, BanyanCancelled cancelled, const void* context,
                                std::int32_t* part) {
  const std::int64_t divisor = CommonDivisor(problem.capacity, problem.link_count);
  Wide capacities = 0;
  for (std::int32_t i = 0; i < problem.link_count; i++) {
    capacities += static_cast<std::int64_t>(problem.capacity[i]) / divisor;
  }
  if ((capacities + 1) * problem.terminal_count < static_cast<Wide>(1) << 60) {
    PartitionSearch<std::int64_t> search(problem, part);
    return search.Run(divisor, cancelled, context);
  }
  PartitionSearch<Wide> search(problem, part);
  return search.Run(divisor, cancelled, context);
}

}  // namespace banyan
