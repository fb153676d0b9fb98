// Random balance problems and their answers from all sets of ports.
#ifndef BANYAN_TEST_BALANCE_H_
#define BANYAN_TEST_BALANCE_H_

#include <bit>

#include "problem.h"

namespace banyan_test {

struct BalanceCase {
  std::int32_t nodes = 1;
  std::int32_t parts = 0;
  std::int32_t wants_shares = 0;
  std::vector<std::int32_t> in_offset{0}, in_source, targets;

  [[nodiscard]] BanyanBalance View(std::int32_t threads) const {
    return {nodes,
            static_cast<std::int32_t>(in_source.size()),
            static_cast<std::int32_t>(targets.size()),
            parts,
            wants_shares,
            threads,
            in_offset.data(),
            in_source.data(),
            targets.data()};
  }
};

/// A graph of up to `max_nodes` nodes and 9 ports a node, mostly with a ring through all of them.
inline BalanceCase RandomBalance(Source& random, std::int32_t max_nodes) {
  BalanceCase made;
  made.nodes = 1 + random.Below(max_nodes);
  const bool ring = random.Below(8) != 0;
  const std::int32_t most = 1 + random.Below(9);
  for (std::int32_t v = 0; v < made.nodes; v++) {
    if (ring) made.in_source.push_back((v + made.nodes - 1) % made.nodes);
    for (std::int32_t i = random.Below(most); i > 0; i--) made.in_source.push_back(random.Below(made.nodes));
    made.in_offset.push_back(static_cast<std::int32_t>(made.in_source.size()));
    if (random.Below(4) != 0) made.targets.push_back(v);
  }
  made.parts = random.Below(3) == 0 ? 0 : 1 + random.Below(9);
  made.wants_shares = made.parts == 0 ? 0 : random.Below(2);
  return made;
}

struct Balanced {
  std::vector<std::int32_t> num, den, worst, source;
  std::vector<double> row_offset;
  std::vector<std::uint16_t> step, port, from, to;
  BanyanBalanced view{};

  Balanced(const BalanceCase& made, std::int32_t max_steps, std::size_t max_rows) {
    const auto steps = static_cast<std::size_t>(max_steps);
    for (auto* column : {&num, &den, &worst}) column->resize(steps);
    row_offset.resize(made.targets.size() + 1);
    source.resize(max_rows);
    for (auto* column : {&step, &port, &from, &to}) column->resize(max_rows);
    view = {static_cast<double>(max_rows),
            max_steps,
            0,
            num.data(),
            den.data(),
            worst.data(),
            row_offset.data(),
            step.data(),
            port.data(),
            source.data(),
            from.data(),
            to.data(),
            {0, 0}};
  }
};

constexpr std::int32_t kFar = INT32_MAX / 2;

/// [nodes] steps from every node to a target; kFar where there is no way.
inline std::vector<std::int32_t> DistancesTo(const BalanceCase& made, std::int32_t target) {
  std::vector<std::int32_t> distance(static_cast<std::size_t>(made.nodes), kFar);
  distance[static_cast<std::size_t>(target)] = 0;
  for (std::int32_t round = 0; round < made.nodes; round++) {
    for (std::size_t v = 0; v < distance.size(); v++) {
      for (std::int32_t i = made.in_offset[v]; i < made.in_offset[v + 1]; i++) {
        std::int32_t& from = distance[static_cast<std::size_t>(made.in_source[static_cast<std::size_t>(i)])];
        from = std::min(from, distance[v] + 1);
      }
    }
  }
  return distance;
}

/// What a target needs in a step: `shards` for `ports`, the greatest ratio over all sets of ports.
struct Need {
  std::int64_t shards = 0;
  std::int64_t ports = 1;
};

/// The sets of ports on shortest paths of every node, by distances to all nodes from which an arc enters the target.
inline std::vector<std::uint32_t> PortsOf(const BalanceCase& made, std::int32_t target,
                                          const std::vector<std::int32_t>& distance) {
  std::vector<std::uint32_t> ports(distance.size(), 0);
  const std::int32_t first = made.in_offset[static_cast<std::size_t>(target)];
  const std::int32_t end = made.in_offset[static_cast<std::size_t>(target) + 1];
  for (std::int32_t i = first; i < end; i++) {
    const std::int32_t via = made.in_source[static_cast<std::size_t>(i)];
    if (via == target) continue;
    const std::vector<std::int32_t> to_via = DistancesTo(made, via);
    for (std::size_t v = 0; v < ports.size(); v++) {
      if (static_cast<std::int32_t>(v) != target && to_via[v] + 1 == distance[v]) ports[v] |= 1U << (i - first);
    }
  }
  return ports;
}

inline Need NeedOf(const std::vector<std::uint32_t>& ports, const std::vector<std::int32_t>& distance,
                   std::int32_t step) {
  Need best;
  std::uint32_t all = 0;
  for (std::size_t v = 0; v < ports.size(); v++) all |= distance[v] == step ? ports[v] : 0;
  for (std::uint32_t set = all; set != 0; set = (set - 1) & all) {
    std::int64_t inside = 0;
    for (std::size_t v = 0; v < ports.size(); v++) inside += distance[v] == step && (ports[v] & ~set) == 0 ? 1 : 0;
    if (inside * best.ports > best.shards * std::popcount(set)) best = {inside, std::popcount(set)};
  }
  return best;
}

/// What is wrong with the rows of the i-th target; null: nothing.
inline const char* RowsFault(const BalanceCase& made, const Balanced& out, std::size_t i,
                             const std::vector<std::int32_t>& distance, const std::vector<std::uint32_t>& ports) {
  std::vector<std::int32_t> arrived(distance.size(), 0);
  const auto first = static_cast<std::size_t>(out.row_offset[i]);
  const auto end = static_cast<std::size_t>(out.row_offset[i + 1]);
  std::vector<std::vector<std::int32_t>> load(out.num.size() + 1, std::vector<std::int32_t>(10, 0));
  for (std::size_t row = first; row < end; row++) {
    const auto v = static_cast<std::size_t>(out.source[row]);
    if (out.step[row] != distance[v]) return "a row in the wrong step";
    if ((ports[v] >> out.port[row] & 1U) == 0) return "a row over a port off the shortest paths";
    if (out.from[row] >= out.to[row] || out.to[row] > made.parts) return "a row without parts";
    arrived[v] += out.to[row] - out.from[row];
    load[out.step[row]][out.port[row]] += out.to[row] - out.from[row];
  }
  for (std::size_t v = 0; v < arrived.size(); v++) {
    if (arrived[v] != (static_cast<std::int32_t>(v) == made.targets[i] ? 0 : made.parts)) return "parts are missing";
  }
  for (std::int32_t step = 1; step <= out.view.steps; step++) {
    const Need need = NeedOf(ports, distance, step);
    const auto& loads = load[static_cast<std::size_t>(step)];
    if (*std::max_element(loads.begin(), loads.end()) != (need.shards * made.parts + need.ports - 1) / need.ports) {
      return "a target's load is not the least";
    }
  }
  return nullptr;
}

inline const char* BalanceFault(const BalanceCase& made, const Balanced& out) {
  std::vector<Need> needs(out.num.size());
  std::vector<std::int32_t> worst(out.num.size(), 0);
  std::int32_t steps = 0;
  for (std::size_t i = 0; i < made.targets.size(); i++) {
    const std::vector<std::int32_t> distance = DistancesTo(made, made.targets[i]);
    const std::vector<std::uint32_t> ports = PortsOf(made, made.targets[i], distance);
    steps = std::max(steps, *std::max_element(distance.begin(), distance.end()));
    if (steps > out.view.steps) return "too few steps";
    for (std::int32_t step = 1; step <= steps; step++) {
      Need need = NeedOf(ports, distance, step);
      if (made.parts != 0) need = {(need.shards * made.parts + need.ports - 1) / need.ports, 1};
      Need& most = needs[static_cast<std::size_t>(step) - 1];
      if (need.shards * most.ports <= most.shards * need.ports) continue;
      most = need;
      worst[static_cast<std::size_t>(step) - 1] = made.targets[i];
    }
    if (made.wants_shares == 0) continue;
    const char* fault = RowsFault(made, out, i, distance, ports);
    if (fault != nullptr) return fault;
  }
  if (steps != out.view.steps) return "too many steps";
  for (std::size_t step = 0; step < static_cast<std::size_t>(steps); step++) {
    if (out.num[step] * needs[step].ports != out.den[step] * needs[step].shards) return "a load is not the greatest";
    if (out.worst[step] != worst[step]) return "not the first target with the load";
  }
  return nullptr;
}

inline const char* RunBalance(const BalanceCase& made, std::int32_t* status) {
  const std::size_t nodes = static_cast<std::size_t>(made.nodes);
  const std::size_t rows = made.wants_shares != 0 ? made.targets.size() * nodes * 10 : 0;
  const BanyanBalance view = made.View(1);
  Balanced first(made, made.nodes, rows);
  *status = banyan_balance(&view, nullptr, nullptr, &first.view);
  for (std::int32_t threads = 2; threads <= 3; threads++) {
    const BanyanBalance shared = made.View(threads);
    Balanced other(made, made.nodes, rows);
    if (banyan_balance(&shared, nullptr, nullptr, &other.view) != *status) return "threads change the status";
    if (other.view.detail[0] != first.view.detail[0] || other.view.detail[1] != first.view.detail[1]) {
      return "threads change what cannot be reached";
    }
    if (*status != kBanyanOk) continue;
    const auto count = static_cast<std::ptrdiff_t>(first.row_offset.back());
    if (other.num != first.num || other.den != first.den || other.worst != first.worst ||
        other.row_offset != first.row_offset ||
        !std::equal(first.source.begin(), first.source.begin() + count, other.source.begin()) ||
        !std::equal(first.port.begin(), first.port.begin() + count, other.port.begin()) ||
        !std::equal(first.from.begin(), first.from.begin() + count, other.from.begin())) {
      return "threads change the balance";
    }
  }
  if (*status == kBanyanUnreachable) {
    const auto node = static_cast<std::size_t>(first.view.detail[1]);
    return DistancesTo(made, first.view.detail[0])[node] >= kFar ? nullptr : "the node reaches the target";
  }
  return *status == kBanyanOk ? BalanceFault(made, first) : "unexpected status";
}

}  // namespace banyan_test

#endif  // BANYAN_TEST_BALANCE_H_
