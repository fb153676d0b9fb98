// Whether a schedule of transfers keeps every rule of the link-busy model (src/verify/steps/schedule.ts has the rules).
//
// Problem. Rows are transfers in order of their starts, each of a chunk over a route for some time. Are they well-formed, none
// too short, no link above its capacity, every chunk where it is sent from, and in the end where it must be?
// Algorithm. Links are one pass over the rows (links.h). Chunks are judged one by one (chunks.h): the rows of a block of chunks are
// brought together by counting, block by block, on as many threads as there are.
// The answer is yes or not shown. It is not shown where rows are in another order, where contributions cannot be told by their
// numbers, and of course where a rule is broken: the judge in TypeScript then says which, or that there is
// none after all.
// Invariants. What the links' pass accepts has chunks, routes and times in range; only then are blocks looked at.
// Complexity. O(rows * (links of a route + blocks)), a block being 2^24 rows; memory O(NPUs + chunks + route links), and 24 bytes
// for each row of a block and thread.
// Shared with the kernels that synthesize: arrays, threads and the checks of arguments, nothing else.
#ifndef BANYAN_JUDGE_JUDGE_H_
#define BANYAN_JUDGE_JUDGE_H_

#include <cstdint>

#include "../abi.h"

namespace banyan {

/// Writes 1 to `shown` where every rule is kept, else 0. The caller has checked all columns but those of rows.
[[nodiscard]] BanyanStatus Judge(const BanyanSteps& problem, BanyanCancelled cancelled, const void* context,
                                 std::int32_t* shown);

}  // namespace banyan

#endif  // BANYAN_JUDGE_JUDGE_H_
