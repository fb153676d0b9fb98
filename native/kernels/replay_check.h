// Whether a replay problem is well-formed, and which of its rows no valid plan has.
#ifndef BANYAN_KERNELS_REPLAY_CHECK_H_
#define BANYAN_KERNELS_REPLAY_CHECK_H_

#include <cstdint>
#include <initializer_list>

#include "../abi.h"
#include "checks.h"

namespace banyan {

/// All but the rows. O(route links + links + chunks + members).
inline bool ValidReplay(const BanyanReplay& problem) {
  constexpr double kTooLate = 9007199254740992.0;
  const bool through = problem.mode == kBanyanCutThrough;
  const std::int32_t collectives = problem.collective_count;
  for (const std::int32_t count : {problem.route_count, problem.route_link_count, problem.link_count, problem.set_count,
                                   problem.member_count, problem.chunk_count}) {
    if (count == INT32_MAX) return false;
  }
  if (problem.row_count > INT32_MAX / 2) return false;  // a row has two places
  if (problem.mode < 0 || problem.mode > kBanyanFirstCome || collectives < 1) return false;
  if (!InRange(problem.route_source, problem.route_count, problem.npu_count)) return false;
  if (!InRange(problem.route_target, problem.route_count, problem.npu_count)) return false;
  if (!Ascending(problem.link_offset, problem.route_count, problem.route_link_count)) return false;
  for (std::int32_t r = 0; r < problem.route_count; r++) {
    if (problem.link_offset[r] == problem.link_offset[r + 1]) return false;
  }
  if (!InRange(problem.links, problem.route_link_count, problem.link_count)) return false;
  if (!Ascending(problem.first_chunk, collectives, problem.chunk_count)) return false;
  if (!InRange(problem.reduces, collectives)) return false;
  const std::int32_t timed = through ? problem.route_count : problem.link_count;
  if (timed > INT32_MAX / collectives) return false;
  if (!ExactIntegers(problem.serial, collectives * timed, 0, kTooLate)) return false;
  if (!ExactIntegers(problem.delay, collectives * timed, 0, kTooLate)) return false;
  if (through) {
    if (!ExactIntegers(problem.capacity, problem.link_count, 1, kMaxSafe)) return false;
    if (!ExactIntegers(problem.cost, problem.route_link_count, 1, kMaxSafe)) return false;
    for (std::int32_t p = 0; p < problem.route_link_count; p++) {
      if (problem.cost[p] > problem.capacity[problem.links[p]]) return false;
    }
  }
  if (!InRange(problem.holders, problem.chunk_count, problem.set_count)) return false;
  if (!Ascending(problem.set_offset, problem.set_count, problem.member_count)) return false;
  if (!InRange(problem.set_members, problem.member_count, problem.npu_count)) return false;
  for (std::int32_t s = 0; s < problem.set_count; s++) {
    for (std::int32_t i = problem.set_offset[s] + 1; i < problem.set_offset[s + 1]; i++) {
      if (problem.set_members[i - 1] >= problem.set_members[i]) return false;
    }
  }
  return true;
}

/// The first row out of order, that ends before it starts or too late, or of no chunk or route; -1: none, and `hops` gets the
/// links that all rows use. O(rows).
inline std::int32_t BadRow(const BanyanReplay& problem, std::int64_t* hops) {
  double before = 0;
  *hops = 0;
  for (std::int32_t i = 0; i < problem.row_count; i++) {
    const double start = problem.planned_start[i];
    const double end = problem.planned_end[i];
    const std::int32_t route = problem.route[i];
    const bool is_timed = start >= before && end > start && end <= kMaxSafe;
    const bool is_known =
        problem.chunk[i] >= 0 && problem.chunk[i] < problem.chunk_count && route >= 0 && route < problem.route_count;
    if (!is_timed || !is_known) return i;
    before = start;
    *hops += problem.link_offset[route + 1] - problem.link_offset[route];
  }
  return -1;
}

}  // namespace banyan

#endif  // BANYAN_KERNELS_REPLAY_CHECK_H_
