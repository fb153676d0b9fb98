// The cheapest arborescence: one arc into every node but the root, without circles.
//
// Problem. A directed graph with integer costs >= 0 and a root; choose one arc into every other node such that all can be
// reached from the root, of least total cost.
// Algorithm. Chu and Liu (1965), Edmonds (1967), by growing one path backwards (Gabow, Galil, Spencer, Tarjan 1986): every
// node on it has chosen its cheapest arc from outside. Where the path meets itself, the circle becomes one node, whose arcs
// cost less by what their heads have chosen; where it meets the root or an earlier path, it is done. At the end circles are
// opened from the last to the first: the arc into a circle replaces the choice of the node that it enters.
// Invariants. Costs in heaps are >= 0; every circle is a node of its own, numbered from node_count on, later than its parts.
// The same arcs on every backend: among equal costs the least arc goes first, and paths start at nodes in order.
// Complexity. O(arcs log arcs) with skew heaps (arc_heap.h); O(nodes + arcs) memory.
// Deviations. None is known to matter: Fibonacci heaps would save a logarithm where arcs are many.
// The twin of src/engine/kernels/js/arborescence.ts, function by function.
#ifndef BANYAN_KERNELS_ARBORESCENCE_H_
#define BANYAN_KERNELS_ARBORESCENCE_H_

#include <cstdint>

#include "../abi.h"

namespace banyan {

/// Writes to `arc` [node_count] the arc that enters each node, -1 at the root. kBanyanUnreachable: the arcs of a search from
/// the root, -1 at every node that it does not reach. The caller has checked every index and value.
[[nodiscard]] BanyanStatus CheapestArborescence(const BanyanArborescence& problem, BanyanCancelled cancelled,
                                                const void* context, std::int32_t* arc);

}  // namespace banyan

#endif  // BANYAN_KERNELS_ARBORESCENCE_H_
