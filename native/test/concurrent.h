// Random concurrent flow problems and the laws that every answer must keep.
#ifndef BANYAN_TEST_CONCURRENT_H_
#define BANYAN_TEST_CONCURRENT_H_

#include <cmath>

#include "problem.h"

namespace banyan_test {

struct ConcurrentCase {
  std::int32_t nodes = 2;
  std::vector<std::int32_t> offset{0}, target, kind, sources;
  std::vector<double> capacity, weight, demand;
  std::vector<std::uint8_t> terminals;

  [[nodiscard]] BanyanConcurrent View() const {
    BanyanConcurrent view{};
    view.gap = 1e-2;
    view.node_count = nodes;
    view.arc_count = static_cast<std::int32_t>(target.size());
    view.class_count = static_cast<std::int32_t>(capacity.size());
    view.source_count = static_cast<std::int32_t>(sources.size());
    view.max_rounds = 200;
    view.arc_offset = offset.data();
    view.arc_target = target.data();
    view.arc_class = kind.data();
    view.capacity = capacity.data();
    view.sources = sources.data();
    view.source_weight = weight.data();
    view.demand = demand.empty() ? nullptr : demand.data();
    view.terminals = terminals.data();
    return view;
  }

  [[nodiscard]] double Demand(std::size_t s, std::size_t v) const {
    if (v == static_cast<std::size_t>(sources[s])) return 0;
    return demand.empty() ? terminals[v] : demand[s * static_cast<std::size_t>(nodes) + v];
  }
};

/// A ring with more arcs, now and then cut open; every arc a class of its own.
inline ConcurrentCase RandomConcurrent(Source& random, std::int32_t max_nodes) {
  ConcurrentCase made;
  made.nodes = 2 + random.Below(max_nodes - 1);
  const bool is_open = random.Below(8) == 0;
  const bool has_demand = random.Below(2) == 0;
  for (std::int32_t v = 0; v < made.nodes; v++) {
    if (!is_open || v > 0) made.target.push_back((v + 1) % made.nodes);
    for (std::int32_t i = random.Below(4); i > 0; i--) made.target.push_back(random.Below(made.nodes));
    made.offset.push_back(static_cast<std::int32_t>(made.target.size()));
    made.terminals.push_back(v < 2 || random.Below(4) > 0 ? 1 : 0);
    if (made.terminals.back() == 0) continue;
    made.sources.push_back(v);
    made.weight.push_back(1 + random.Below(3));
  }
  for (std::size_t a = 0; a < made.target.size(); a++) {
    made.kind.push_back(static_cast<std::int32_t>(a));
    made.capacity.push_back(1 + random.Below(9));
  }
  for (std::size_t i = 0; has_demand && i < made.sources.size() * static_cast<std::size_t>(made.nodes); i++) {
    made.demand.push_back(i == 1 ? 1 : random.Below(5));
  }
  return made;
}

/// Null when demands are met at the rate that is said, which is not above the bound.
inline const char* ConcurrentFault(const ConcurrentCase& made, const BanyanConcurrentFlow& out) {
  const auto nodes = static_cast<std::size_t>(made.nodes);
  const std::size_t arcs = made.target.size();
  std::vector<double> load(arcs, 0);
  for (std::size_t s = 0; s < made.sources.size(); s++) {
    std::vector<double> net(nodes, 0);
    for (std::size_t v = 0; v < nodes; v++) {
      for (auto a = static_cast<std::size_t>(made.offset[v]); a < static_cast<std::size_t>(made.offset[v + 1]); a++) {
        const double flow = out.flow[s * arcs + a];
        if (!(flow >= 0)) return "a negative flow";
        load[a] += made.weight[s] * flow;
        net[v] -= flow;
        net[static_cast<std::size_t>(made.target[a])] += flow;
      }
    }
    for (std::size_t v = 0; v < nodes; v++) {
      if (v != static_cast<std::size_t>(made.sources[s]) && std::abs(net[v] - made.Demand(s, v)) > 1e-8) {
        return "a demand that is not met";
      }
    }
  }
  double busiest = 0;
  for (std::size_t a = 0; a < arcs; a++) busiest = std::max(busiest, load[a] / made.capacity[a]);
  if (std::abs(busiest * out.rate - 1) > 1e-9) return "the flows reach another rate";
  return out.rate <= out.bound * (1 + 1e-9) ? nullptr : "a rate above the bound";
}

inline const char* RunConcurrent(const ConcurrentCase& made, std::int32_t* status) {
  const BanyanConcurrent view = made.View();
  std::vector<std::int32_t> length(made.capacity.size(), 0);
  std::vector<double> flow(made.sources.size() * made.target.size(), -1);
  BanyanConcurrentFlow out{};
  out.length = length.data();
  out.flow = flow.data();
  *status = banyan_concurrent(&view, nullptr, nullptr, &out);
  if (*status == kBanyanOk) return ConcurrentFault(made, out);
  return *status == kBanyanUnreachable ? nullptr : "unexpected status";
}

}  // namespace banyan_test

#endif  // BANYAN_TEST_CONCURRENT_H_
