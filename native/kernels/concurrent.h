// Maximum concurrent flow: every source sends its demand to every node at once, at the greatest common rate.
//
// Problem. LP (A.1) of Zhao 2026, grouped by sources, with capacities, demands and symmetry: minimise the greatest load (flow
// by capacity) of an arc over flows that carry all demands; the rate is one by it.
// Algorithm. Block-coordinate descent on the sum of load^p. One source after another: shortest paths under the gradient as
// lengths; at every node, from the farthest back, what enters it by other arcs than its tree's is cut in proportion to
// how much longer the way is, and given to the tree (gradient projection as by Gallager 1977 and Bertsekas, Gafni, Gallager
// 1984 on fractions, with the fraction of the source adapted), and a line search says how much of the change is taken. Where that
// is none, for the tree leads through nodes that themselves are reached by long ways, the change is to the tree alone, along
// which the sum falls.
// After each round the lengths, as whole numbers, give a bound by duality: sum of capacity * length by sum of demand *
// distance. The gap is a product: how far the greatest load is above the mean under these lengths, and how far paths are
// above the shortest; p is doubled when the second is below 0.4 of the first. It starts at 16, with flows split
// evenly at every node over the arcs from nodes one hop nearer, which on symmetric graphs is near the optimum.
// Invariants. Every flow carries its demand after each step. A step is taken only where the sum was seen to be less after it.
// The greatest rate found is returned, with its flows, and the least bound, with its lengths.
// Complexity. O(sources * (arcs log nodes + classes * log p)) a round; 10 to 100 rounds for a gap of 1 %, some hundred for
// 0.02 %. Memory O(sources * arcs), and as much for the best flows where they are asked for.
// Rejected. Frank-Wolfe directions (the whole tree instead of fractions): 732 rounds instead of 41 for 0.2 % on a random
// 4-regular graph of 128 nodes. Doubling p by progress of the gap: stalls at 1 %, for p grows before flows have settled.
// The twin of src/engine/kernels/js/concurrent.ts, function by function.
#ifndef BANYAN_KERNELS_CONCURRENT_H_
#define BANYAN_KERNELS_CONCURRENT_H_

#include "../abi.h"

namespace banyan {

/// Writes rate, bound and lengths, and the flows where there is room for them. kBanyanUnreachable: a demand has no path. The
/// caller has checked every index and value, and that there is a demand above 0.
[[nodiscard]] BanyanStatus MaximumConcurrentFlow(const BanyanConcurrent& problem, BanyanCancelled cancelled,
                                                 const void* context, BanyanConcurrentFlow* out);

}  // namespace banyan

#endif  // BANYAN_KERNELS_CONCURRENT_H_
