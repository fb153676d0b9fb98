// The partition of a network that limits what its parts exchange most.
//
// Problem. Terminals V and switches, links with integer capacities. f(P) is the least capacity that leaves P and X together,
// over all sets X of switches that may be chosen; those that go with no part are never in X. Find parts P_1 .. P_n of V, n >= 2,
// for which (f(P_1) + ... + f(P_n)) / (n - 1) is least: n - 1 (or twice as many) transfers of all that is exchanged must
// leave the parts (src/model/bounds/byte-partition.ts).
// Algorithm. f is submodular. Newton (Dinkelbach 1967) on the ratio p/q: a partition with a lesser one is a partition for
// which the sum of f(P) - p/q is below -p/q, and the least such sum is Dilworth's truncation of f - p/q, by the greedy
// algorithm (Edmonds 1970): x(v) = min f(S) - p/q - x(S - v) over all S of v and terminals before it. S is the sink's side
// of a minimum cut in the network turned around, where v drains without limit, earlier terminals drain x > 0 or are fed
// -x, and all others are fed without limit. v joins the blocks that S meets; the blocks at the end are the parts.
// Invariants. x(B) = f(B) - p/q for every block B (tight sets that meet unite to tight sets), so the blocks' ratio is known
// from the sum of x. Ratios fall, so it ends.
// The same parts on every backend: terminals are taken in order, and the smallest sink side of a minimum cut is unique.
// Complexity. One flow per terminal and ratio, three to five ratios as a rule; memory O(nodes + links).
// Deviations. Capacities are divided by their greatest common divisor and multiplied by q. Magnitudes stay below 4 x terminals
// x (all capacities): the sum of x > 0 is at most q times that of f(v), and no prefix of x sums to less than -p x terminals.
// 64-bit integers where that is below 2^62, else 128-bit ones.
#ifndef BANYAN_KERNELS_PARTITION_H_
#define BANYAN_KERNELS_PARTITION_H_

#include <cstdint>

#include "../abi.h"
#include "rate.h"

namespace banyan {

/// The greatest terminals x (all capacities) that the kernel takes.
constexpr Wide kMostPartitionProduct = (static_cast<Wide>(1) << 124) - 1;

/// Writes the part of each terminal to `part` [terminal_count], parts numbered as they come; one terminal is one part. The
/// caller has checked every index and value.
[[nodiscard]] BanyanStatus NarrowestPartition(const BanyanPartition& problem, BanyanCancelled cancelled,
                                              const void* context, std::int32_t* part);

}  // namespace banyan

#endif  // BANYAN_KERNELS_PARTITION_H_
