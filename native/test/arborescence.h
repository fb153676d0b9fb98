// Random arborescence problems and their answer from all choices of arcs.
#ifndef BANYAN_TEST_ARBORESCENCE_H_
#define BANYAN_TEST_ARBORESCENCE_H_

#include "problem.h"

namespace banyan_test {

struct ArborescenceCase {
  std::int32_t nodes = 1;
  std::int32_t root = 0;
  std::vector<std::int32_t> source, target;
  std::vector<double> cost;

  [[nodiscard]] BanyanArborescence View() const {
    return {nodes, root, static_cast<std::int32_t>(source.size()), source.data(), target.data(), cost.data()};
  }
};

/// Up to `max_nodes` nodes; some arcs lead back to their source or into the root.
inline ArborescenceCase RandomArborescence(Source& random, std::int32_t max_nodes) {
  ArborescenceCase made;
  made.nodes = 1 + random.Below(max_nodes);
  made.root = random.Below(made.nodes);
  const std::int32_t most = random.Below(3) == 0 ? INT32_MAX : 1 + random.Below(9);
  for (std::int32_t i = random.Below(4 * made.nodes); i > 0; i--) {
    made.source.push_back(random.Below(made.nodes));
    made.target.push_back(random.Below(made.nodes));
    made.cost.push_back(random.Below(most));
  }
  return made;
}

/// Whether all nodes lead back to the root over the arcs chosen.
inline bool LeadsBack(const ArborescenceCase& made, const std::vector<std::int32_t>& arc) {
  for (std::int32_t v = 0; v < made.nodes; v++) {
    std::int32_t at = v;
    for (std::int32_t steps = 0; at != made.root; steps++) {
      if (steps == made.nodes) return false;
      at = made.source[static_cast<std::size_t>(arc[static_cast<std::size_t>(at)])];
    }
  }
  return true;
}

/// The least cost of all arborescences, infinite if there is none: every choice of an arc into nodes from `node` on.
inline double LeastCost(const ArborescenceCase& made, std::int32_t node, std::vector<std::int32_t>* arc, double cost) {
  if (node == made.nodes) return LeadsBack(made, *arc) ? cost : std::numeric_limits<double>::infinity();
  if (node == made.root) return LeastCost(made, node + 1, arc, cost);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a < made.target.size(); a++) {
    if (made.target[a] != node) continue;
    (*arc)[static_cast<std::size_t>(node)] = static_cast<std::int32_t>(a);
    least = std::min(least, LeastCost(made, node + 1, arc, cost + made.cost[a]));
  }
  return least;
}

inline const char* RunArborescence(const ArborescenceCase& made, std::int32_t* status) {
  const BanyanArborescence view = made.View();
  std::vector<std::int32_t> arc(static_cast<std::size_t>(made.nodes), -9);
  std::vector<std::int32_t> tried(arc.size());
  *status = banyan_arborescence(&view, nullptr, nullptr, arc.data());
  const double least = LeastCost(made, 0, &tried, 0);
  if (*status == kBanyanUnreachable) {
    if (least != std::numeric_limits<double>::infinity()) return "there is an arborescence";
    const bool named = std::count(arc.begin(), arc.end(), -1) > 1;
    return named ? nullptr : "no node is named that cannot be reached";
  }
  if (*status != kBanyanOk) return "unexpected status";
  double cost = 0;
  for (std::int32_t v = 0; v < made.nodes; v++) {
    const std::int32_t a = arc[static_cast<std::size_t>(v)];
    if (v == made.root) {
      if (a != -1) return "an arc enters the root";
      continue;
    }
    if (a < 0 || static_cast<std::size_t>(a) >= made.source.size()) return "arc out of range";
    if (made.target[static_cast<std::size_t>(a)] != v) return "an arc enters another node";
    cost += made.cost[static_cast<std::size_t>(a)];
  }
  if (!LeadsBack(made, arc)) return "the arcs go in a circle";
  return cost == least ? nullptr : "another arborescence is cheaper";
}

}  // namespace banyan_test

#endif  // BANYAN_TEST_ARBORESCENCE_H_
