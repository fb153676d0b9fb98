// Random partition problems and their answer from the definition alone.
#ifndef BANYAN_TEST_PARTITION_H_
#define BANYAN_TEST_PARTITION_H_

#include "problem.h"

namespace banyan_test {

struct PartitionCase {
  std::int32_t nodes = 1, outside = 0;
  std::vector<std::int32_t> source, target, start;
  std::vector<double> capacity;

  [[nodiscard]] BanyanPartition View() const {
    return {nodes,           static_cast<std::int32_t>(start.size()),
            outside,         static_cast<std::int32_t>(source.size()),
            source.data(),   target.data(),
            capacity.data(), start.data()};
  }
};

/// A network of up to `max_terminals` terminals and a few switches.
inline PartitionCase RandomPartition(Source& random, std::int32_t max_terminals) {
  PartitionCase made;
  const std::int32_t terminals = 1 + random.Below(max_terminals);
  made.outside = random.Below(2);
  made.nodes = terminals + random.Below(3) + made.outside;
  const std::int32_t most = random.Below(2) == 0 ? 4 : 1 << 20;
  const double unit = random.Below(3) == 0 ? 4294967296.0 : 1;
  const std::int32_t fewest = (made.nodes - terminals + 1) / 2;
  for (std::int32_t i = made.nodes == 1 ? 0 : fewest + random.Below(4 * made.nodes); i > 0; i--) {
    const std::int32_t from = random.Below(made.nodes);
    made.source.push_back(from);
    made.target.push_back((from + 1 + random.Below(made.nodes - 1)) % made.nodes);
    made.capacity.push_back((1 + random.Below(most)) * unit);
  }
  for (std::int32_t v = 0; v < terminals; v++) made.start.push_back(random.Below(terminals));
  return made;
}

/// The least capacity that leaves the terminals of a set with any of the switches.
inline double LeastBorder(const PartitionCase& made, std::uint32_t set) {
  const auto terminals = static_cast<std::int32_t>(made.start.size());
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t chosen = 0; chosen < 1U << (made.nodes - made.outside - terminals); chosen++) {
    const std::uint32_t inside = set | chosen << terminals;
    const auto has = [&](std::int32_t v) { return ((inside >> v) & 1U) != 0; };
    double leaving = 0;
    for (std::size_t i = 0; i < made.source.size(); i++) {
      if (has(made.source[i]) && !has(made.target[i])) leaving += made.capacity[i];
    }
    least = std::min(least, leaving);
  }
  return least;
}

/// What leaves the parts together; capacities are small enough for doubles.
inline double BorderOf(const PartitionCase& made, const std::vector<std::int32_t>& part, std::int32_t parts) {
  double sum = 0;
  for (std::int32_t i = 0; i < parts; i++) {
    std::uint32_t set = 0;
    for (std::size_t v = 0; v < part.size(); v++) set |= (part[v] == i ? 1U : 0U) << v;
    sum += LeastBorder(made, set);
  }
  return sum;
}

inline const char* RunPartition(const PartitionCase& made, std::int32_t* status) {
  const BanyanPartition view = made.View();
  std::vector<std::int32_t> found(made.start.size(), -1);
  *status = banyan_partition(&view, nullptr, nullptr, found.data());
  if (*status != kBanyanOk) return "unexpected status";
  std::int32_t parts = 0;
  for (const std::int32_t own : found) {
    if (own < 0 || own > parts) return "parts are not numbered as they come";
    parts = std::max(parts, own + 1);
  }
  if (found.size() == 1) return nullptr;
  if (parts < 2) return "one part";
  const double border = BorderOf(made, found, parts);
  // all partitions, as numbers in base `terminals`; a part that is not there has no border
  const auto terminals = static_cast<std::int32_t>(found.size());
  std::vector<std::int32_t> other(found.size(), 0);
  for (;;) {
    std::int32_t i = 0;
    while (i < terminals && other[static_cast<std::size_t>(i)] == terminals - 1)
      other[static_cast<std::size_t>(i++)] = 0;
    if (i == terminals) return nullptr;
    other[static_cast<std::size_t>(i)]++;
    std::uint32_t used = 0;
    for (const std::int32_t own : other) used |= 1U << own;
    std::int32_t count = 0;
    for (std::int32_t own = 0; own < terminals; own++) count += ((used >> own) & 1U) != 0 ? 1 : 0;
    if (count < 2) continue;
    if (BorderOf(made, other, terminals) * (parts - 1) < border * (count - 1)) return "there is a narrower partition";
  }
}

}  // namespace banyan_test

#endif  // BANYAN_TEST_PARTITION_H_
