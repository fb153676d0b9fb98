// Breadth-first broadcast: what the busiest arc into a node carries in each step, and which arc brings what.
//
// Problem. Node u receives in step t the shards of the nodes at distance t, each over the arcs into u that lie on shortest
// paths from its node, in any parts; the arc with the greatest load has as little as possible: LP (3.1) of Zhao 2026, or with
// shards of P equal parts the integer program (A.11).
// Algorithm. One search backwards from u tells who is at which distance and over which ports of u (balance_reach.h). Shards
// with the same ports are a class. With c(W) the shards whose ports all lie in W, the least load is max c(W) / |W| over sets
// W of ports: theorem 19 turned into a formula. Up to 8 ports all sets are summed up (balance_sets.h). For more, shards are
// poured into ports (balance_pour.h) under the greatest load of the targets before; where that cannot be, the search for room
// ends in a set W that needs more, which is the next load to try (Newton's method on the ratio, Dinkelbach 1967).
// With parts the least load is max ceil(P c(W) / |W|), for the flow is integral: the exact optimum of (A.11), which rounding
// the solution of the LP (theorem 20) only comes near.
// Shares. The flow under the target's own least load is freed of circles between shards that are cut (balance_whole.h), so
// a step of a node with d ports cuts at most d - 1 times, and is written in rows (balance_rows.h).
// Invariants. Targets do not depend on each other. A thread takes them in ascending blocks; its loads only grow, so the first
// target with the greatest load is the first that raised it, and the least over threads is the same for any number of them.
// Complexity. O(targets * (arcs + nodes * ports) * words of a mask) and the flows, which are of classes and ports only;
// memory O(nodes * words) a thread.
#ifndef BANYAN_KERNELS_BALANCE_H_
#define BANYAN_KERNELS_BALANCE_H_

#include <cstdint>

#include "../abi.h"

namespace banyan {

/// Rows that the i-th target may need, as balanceRows of src/engine/contract/kernels.ts counts them; 0 without shares.
std::int64_t BalanceRows(const BanyanBalance& problem, std::int32_t i, std::int32_t max_steps);

/// Writes the loads and rows. The caller has checked every index, value and the room for rows.
[[nodiscard]] BanyanStatus Balance(const BanyanBalance& problem, BanyanCancelled cancelled, const void* context,
                                   BanyanBalanced* out);

}  // namespace banyan

#endif  // BANYAN_KERNELS_BALANCE_H_
