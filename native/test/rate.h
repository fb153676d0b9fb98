// Random rate problems and their answer from the definition alone.
#ifndef BANYAN_TEST_RATE_H_
#define BANYAN_TEST_RATE_H_

#include "kernels/rate.h"
#include "problem.h"

namespace banyan_test {

struct RateCase {
  std::int32_t nodes = 1;
  std::int32_t npus = 1;
  std::vector<std::int32_t> source, target;
  std::vector<double> capacity, weight;

  [[nodiscard]] BanyanRate View() const {
    return {nodes,           npus,         static_cast<std::int32_t>(source.size()), source.data(), target.data(),
            capacity.data(), weight.data()};
  }
};

/// A network of up to `max_nodes` nodes; where links have great capacities and NPUs great weights, beyond 64 bits.
inline RateCase RandomRate(Source& random, std::int32_t max_nodes) {
  RateCase made;
  made.nodes = 1 + random.Below(max_nodes);
  made.npus = made.nodes - random.Below(std::min(made.nodes, 4));
  const std::int32_t most = random.Below(2) == 0 ? 8 : INT32_MAX;
  const double unit = random.Below(3) == 0 ? 4194303 : 1;
  for (std::int32_t i = made.nodes == 1 ? 0 : random.Below(4 * made.nodes); i > 0; i--) {
    const std::int32_t from = random.Below(made.nodes);
    made.source.push_back(from);
    made.target.push_back((from + 1 + random.Below(made.nodes - 1)) % made.nodes);
    made.capacity.push_back((1 + random.Below(most)) * unit - (unit > 1 ? random.Below(3) : 0));
  }
  const std::int32_t heaviest = random.Below(2) == 0 ? 1 : random.Below(2) == 0 ? 4 : INT32_MAX;
  for (std::int32_t v = 0; v < made.npus; v++) {
    made.weight.push_back(heaviest == 1 ? 1 : random.Below(heaviest) * (heaviest > 4 ? 4093.0 : 1.0));
  }
  made.weight[static_cast<std::size_t>(random.Below(made.npus))] = 1;
  return made;
}

struct Ratio {
  banyan::Wide shards = 0;
  banyan::Wide capacity = 1;
};

/// What a cut says, node v in it where `has(v)`.
template <typename Has>
Ratio RatioOf(const RateCase& made, const Has& has) {
  Ratio ratio{0, 0};
  for (std::int32_t v = 0; v < made.npus; v++) {
    if (has(v)) ratio.shards += static_cast<std::int64_t>(made.weight[static_cast<std::size_t>(v)]);
  }
  for (std::size_t i = 0; i < made.source.size(); i++) {
    if (has(made.source[i]) && !has(made.target[i])) ratio.capacity += static_cast<std::int64_t>(made.capacity[i]);
  }
  return ratio;
}

/// Null when no cut of all 2^nodes has a greater ratio; else what is wrong.
inline const char* RateFault(const RateCase& made, const std::vector<std::uint8_t>& cut) {
  const std::uint32_t npus = (1U << made.npus) - 1;
  std::uint32_t inside = 0;
  for (std::size_t v = 0; v < cut.size(); v++) {
    if (cut[v] > 1) return "a mark is neither 0 nor 1";
    inside |= static_cast<std::uint32_t>(cut[v]) << v;
  }
  if ((inside & npus) == npus) return "no NPU is outside the cut";
  const Ratio given = RatioOf(made, [&](std::int32_t v) { return ((inside >> v) & 1U) != 0; });
  if (made.npus > 1 && given.shards == 0) return "the cut has no shards";
  for (std::uint32_t set = 0; set < 1U << made.nodes; set++) {
    if ((set & npus) == npus) continue;
    const Ratio other = RatioOf(made, [&](std::int32_t v) { return ((set >> v) & 1U) != 0; });
    if (other.shards * given.capacity > given.shards * other.capacity) return "another cut has a greater ratio";
    if (other.shards > 0 && other.capacity == 0 && given.capacity > 0) return "a cut that nothing leaves is not found";
  }
  return nullptr;
}

inline const char* RunRate(const RateCase& made, std::int32_t* status) {
  const BanyanRate view = made.View();
  std::vector<std::uint8_t> cut(static_cast<std::size_t>(made.nodes), 9);
  *status = banyan_rate(&view, nullptr, nullptr, cut.data());
  return *status == kBanyanOk ? RateFault(made, cut) : "unexpected status";
}

}  // namespace banyan_test

#endif  // BANYAN_TEST_RATE_H_
