// Whether a schedule to be judged is well-formed, its rows aside.
#ifndef BANYAN_JUDGE_CHECK_H_
#define BANYAN_JUDGE_CHECK_H_

#include <cstdint>

#include "../abi.h"
#include "../kernels/checks.h"
#include "../kernels/spans.h"

namespace banyan {

inline bool SetArrays(const BanyanSets& sets, std::int32_t chunks, Spans& spans) {
  return spans.Reads(sets.set_of, chunks) && sets.set_count >= 0 && sets.set_count < INT32_MAX &&
         spans.Reads(sets.offset, sets.set_count + 1) && spans.Reads(sets.members, sets.member_count);
}

inline bool JudgeArrays(const BanyanSteps* problem, const std::int32_t* shown) {
  Spans spans;
  if (!spans.Reads(problem, 1) || problem->npu_count < 1 || problem->npu_count > kMostNodes) return false;
  const std::int32_t routes = problem->route_count;
  const std::int32_t rows = problem->row_count;
  if (routes < 0 || routes == INT32_MAX) return false;
  return spans.Reads(problem->route_source, routes) && spans.Reads(problem->route_target, routes) &&
         spans.Reads(problem->link_offset, routes + 1) && spans.Reads(problem->links, problem->route_link_count) &&
         spans.Reads(problem->cost, problem->route_link_count) && spans.Reads(problem->capacity, problem->link_count) &&
         spans.Reads(problem->least, routes) && spans.Reads(problem->further, routes) &&
         SetArrays(problem->from, problem->chunk_count, spans) && SetArrays(problem->to, problem->chunk_count, spans) &&
         spans.Reads(problem->chunk, rows) && spans.Reads(problem->route, rows) && spans.Reads(problem->start, rows) &&
         spans.Reads(problem->end, rows) && spans.Reads(problem->op, rows) && spans.Writes(shown, 1);
}

inline bool ValidSets(const BanyanSets& sets, std::int32_t chunks, std::int32_t npus) {
  return InRange(sets.set_of, chunks, sets.set_count) && Ascending(sets.offset, sets.set_count, sets.member_count) &&
         InRange(sets.members, sets.member_count, npus);
}

/// O(route links + links + chunks + members).
inline bool ValidSteps(const BanyanSteps& problem) {
  constexpr double kTooLate = 9007199254740992.0;
  if (problem.reduces < 0 || problem.reduces > 1 || problem.threads < 1) return false;
  if (!InRange(problem.route_source, problem.route_count, problem.npu_count)) return false;
  if (!InRange(problem.route_target, problem.route_count, problem.npu_count)) return false;
  if (!Ascending(problem.link_offset, problem.route_count, problem.route_link_count)) return false;
  if (!InRange(problem.links, problem.route_link_count, problem.link_count)) return false;
  if (!ExactIntegers(problem.least, problem.route_count, 0, kTooLate)) return false;
  if (!ExactIntegers(problem.further, problem.route_count, 0, kTooLate)) return false;
  if (!ExactIntegers(problem.capacity, problem.link_count, 1, kMaxSafe)) return false;
  if (!ExactIntegers(problem.cost, problem.route_link_count, 1, kMaxSafe)) return false;
  for (std::int32_t p = 0; p < problem.route_link_count; p++) {
    if (problem.cost[p] > problem.capacity[problem.links[p]]) return false;
  }
  return ValidSets(problem.from, problem.chunk_count, problem.npu_count) &&
         ValidSets(problem.to, problem.chunk_count, problem.npu_count);
}

}  // namespace banyan

#endif  // BANYAN_JUDGE_CHECK_H_
