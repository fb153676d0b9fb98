// What the C ABI asks of the networks through which flows are sent and over which trees grow.
#ifndef BANYAN_KERNELS_FLOW_CHECKS_H_
#define BANYAN_KERNELS_FLOW_CHECKS_H_

#include <cstdint>

#include "../abi.h"
#include "checks.h"
#include "partition.h"
#include "rate.h"

namespace banyan {

// Exact integers of at least `least`; `sum` gets what they add up to.
inline bool ExactSum(const double* values, std::int32_t count, double least, Wide* sum) {
  *sum = 0;
  if (!ExactIntegers(values, count, least, kMaxSafe)) return false;
  for (std::int32_t i = 0; i < count; i++) *sum += static_cast<std::int64_t>(values[i]);
  return true;
}

// Links as flows take them: each is two arcs, none leads back to its source.
inline bool ValidLinks(const std::int32_t* source, const std::int32_t* target, std::int32_t count, std::int32_t nodes) {
  if (count > INT32_MAX / 2) return false;
  if (!InRange(source, count, nodes) || !InRange(target, count, nodes)) return false;
  for (std::int32_t i = 0; i < count; i++) {
    if (source[i] == target[i]) return false;
  }
  return true;
}

inline bool ValidRate(const BanyanRate& problem) {
  if (problem.npu_count < 1 || problem.node_count < problem.npu_count) return false;
  if (!ValidLinks(problem.link_source, problem.link_target, problem.link_count, problem.node_count)) return false;
  Wide capacities = 0;
  Wide weights = 0;
  if (!ExactSum(problem.capacity, problem.link_count, 1, &capacities)) return false;
  if (!ExactSum(problem.weight, problem.npu_count, 0, &weights)) return false;
  if (weights < 1 || weights > static_cast<std::int64_t>(kMaxSafe)) return false;
  return capacities <= kMostRateProduct / weights;
}

inline bool ValidSweep(const BanyanSweep& problem) {
  if (!ValidLinks(problem.link_source, problem.link_target, problem.link_count, problem.node_count)) return false;
  if (!InRange(problem.sinks, problem.sink_count, problem.node_count)) return false;
  Wide capacities = 0;
  Wide supplies = 0;
  if (!ExactSum(problem.capacity, problem.link_count, 0, &capacities)) return false;
  if (!ExactSum(problem.supply, problem.node_count, 0, &supplies)) return false;
  return capacities + supplies <= static_cast<std::int64_t>(kMaxSafe);
}

inline bool ValidPartition(const BanyanPartition& problem) {
  const std::int32_t terminals = problem.terminal_count;
  if (terminals < 1 || problem.node_count < terminals) return false;
  if (problem.outside_count < 0 || problem.outside_count > problem.node_count - terminals) return false;
  if (!ValidLinks(problem.link_source, problem.link_target, problem.link_count, problem.node_count)) return false;
  if (problem.link_count > INT32_MAX / 2 - terminals) return false;
  // memory goes by nodes, which no column counts
  if (problem.node_count - terminals > 2 * problem.link_count) return false;
  if (!InRange(problem.start, terminals, terminals)) return false;
  Wide capacities = 0;
  if (!ExactSum(problem.capacity, problem.link_count, 1, &capacities)) return false;
  return capacities <= kMostPartitionProduct / terminals;
}

inline bool ValidPack(const BanyanPack& problem) {
  if (problem.node_count < problem.npu_count) return false;
  if (!ValidLinks(problem.link_source, problem.link_target, problem.link_count, problem.node_count)) return false;
  if (problem.link_count > INT32_MAX / 2 - problem.npu_count) return false;
  if (problem.depth_price < 0 || problem.depth_price > 1000 || problem.load_price < 0 || problem.load_price > 1000 ||
      problem.scheduled < 0 || problem.scheduled > 1 || problem.repairs < 0 || problem.enough_height < 0) {
    return false;
  }
  Wide capacities = 0;
  Wide copies = 0;
  if (!ExactSum(problem.capacity, problem.link_count, 0, &capacities)) return false;
  if (!ExactSum(problem.copies, problem.npu_count, 0, &copies)) return false;
  return capacities + copies <= static_cast<std::int64_t>(kMaxSafe);
}

inline bool ValidArborescence(const BanyanArborescence& problem) {
  const std::int32_t nodes = problem.node_count;
  if (nodes > INT32_MAX / 2 || problem.arc_count == INT32_MAX) return false;
  if (!InRange(&problem.root, 1, nodes)) return false;
  if (!InRange(problem.arc_source, problem.arc_count, nodes)) return false;
  if (!InRange(problem.arc_target, problem.arc_count, nodes)) return false;
  const std::int64_t most = static_cast<std::int64_t>(kMaxSafe) / nodes;
  return ExactIntegers(problem.cost, problem.arc_count, 0, static_cast<double>(most));
}

}  // namespace banyan

#endif  // BANYAN_KERNELS_FLOW_CHECKS_H_
