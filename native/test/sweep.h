// Random sweep problems and their answer from all cuts.
#ifndef BANYAN_TEST_SWEEP_H_
#define BANYAN_TEST_SWEEP_H_

#include "problem.h"

namespace banyan_test {

struct SweepCase {
  std::int32_t nodes = 1;
  std::vector<std::int32_t> source, target, sinks;
  std::vector<double> capacity, supply;

  [[nodiscard]] BanyanSweep View() const {
    return {nodes,
            static_cast<std::int32_t>(source.size()),
            static_cast<std::int32_t>(sinks.size()),
            source.data(),
            target.data(),
            capacity.data(),
            supply.data(),
            sinks.data()};
  }
};

/// A network of up to `max_nodes` nodes, each of them a sink now and then, some twice.
inline SweepCase RandomSweep(Source& random, std::int32_t max_nodes) {
  SweepCase made;
  made.nodes = 1 + random.Below(max_nodes);
  const std::int32_t most = random.Below(2) == 0 ? 6 : INT32_MAX;
  const double unit = random.Below(3) == 0 ? 4093 : 1;
  for (std::int32_t i = made.nodes == 1 ? 0 : random.Below(4 * made.nodes); i > 0; i--) {
    const std::int32_t from = random.Below(made.nodes);
    made.source.push_back(from);
    made.target.push_back((from + 1 + random.Below(made.nodes - 1)) % made.nodes);
    made.capacity.push_back(random.Below(most) * unit);
  }
  const std::int32_t fed = 1 + random.Below(3);
  for (std::int32_t v = 0; v < made.nodes; v++) {
    made.supply.push_back(random.Below(fed) == 0 ? random.Below(most) * unit : 0);
  }
  for (std::int32_t i = random.Below(2 * made.nodes); i > 0; i--) made.sinks.push_back(random.Below(made.nodes));
  return made;
}

/// The least capacity of all cuts between the source that feeds nodes and a sink.
inline double LeastCut(const SweepCase& made, std::int32_t sink) {
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t set = 0; set < 1U << made.nodes; set++) {
    const auto has = [&](std::int32_t v) { return ((set >> v) & 1U) != 0; };
    if (has(sink)) continue;
    double cut = 0;
    for (std::int32_t v = 0; v < made.nodes; v++) cut += has(v) ? 0 : made.supply[static_cast<std::size_t>(v)];
    for (std::size_t i = 0; i < made.source.size(); i++) {
      if (has(made.source[i]) && !has(made.target[i])) cut += made.capacity[i];
    }
    least = std::min(least, cut);
  }
  return least;
}

inline const char* RunSweep(const SweepCase& made, std::int32_t* status) {
  const BanyanSweep view = made.View();
  std::vector<double> flow(made.sinks.size(), -1);
  *status = banyan_sweep(&view, nullptr, nullptr, flow.data());
  if (*status != kBanyanOk) return "unexpected status";
  for (std::size_t i = 0; i < flow.size(); i++) {
    if (flow[i] != LeastCut(made, made.sinks[i])) return "the flow is not the least cut";
  }
  return nullptr;
}

}  // namespace banyan_test

#endif  // BANYAN_TEST_SWEEP_H_
