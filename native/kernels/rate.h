// The rate of an optimal all-gather on a network with switches, by its bottleneck cut.
//
// Problem. Nodes V, of which the first are NPUs; links with integer capacities b; NPU v contributes w(v) to all NPUs. Over
// all node sets S that lack an NPU, 1/x = max w(S) / B+(S), where w(S) is what the NPUs in S contribute and B+(S) the
// capacity of the links that leave S. What S contributes must leave it, so no schedule is faster, and trees that reach this
// rate exist where every node has as much capacity in as out (Zhao 2026, 4.4 and theorem 24).
// Algorithm. Discrete Newton instead of the binary search of Zhao 2026, algorithm 1. With p/q the greatest ratio so far, at
// first the best of all sets V - v: give link e the capacity p b(e), let a source supply every NPU c with q w(c), and send
// all that to one NPU after another. Where it does not arrive, the source's side of the minimum cut has a greater ratio,
// which becomes p/q. NPUs done stay done, for the ratio only grows.
// Invariants. A set that is still too great for p/q has all NPUs that are done. So the source supplies those without limit,
// which keeps flows local: NPUs are taken by breadth-first search, neighbours of those that are done next.
// The same cut on every backend: the order of NPUs is fixed, and the smallest source side of a minimum cut is unique.
// Complexity. One flow per NPU and per cut found; memory O(nodes + links).
// Deviations. Any network, balanced or not, and any weights. Capacities and weights are divided by their greatest
// common divisors. 64-bit integers where (all weights) x (all capacities) < 2^62, else 128-bit ones.
#ifndef BANYAN_KERNELS_RATE_H_
#define BANYAN_KERNELS_RATE_H_

#include <cstdint>

#include "../abi.h"

#if defined(_MSC_VER) && !defined(__clang__)
#include <__msvc_int128.hpp>
#endif

namespace banyan {

#if defined(_MSC_VER) && !defined(__clang__)
using Wide = std::_Signed128;
#else
using Wide = __int128;
#endif

/// The greatest (all weights) x (all capacities) that the kernel takes.
constexpr Wide kMostRateProduct = (static_cast<Wide>(1) << 126) - 1;

/// Marks in `cut` [node_count] a set S with the greatest w(S) / B+(S). Nothing leaves it where an NPU cannot be reached; for
/// one NPU it is all other nodes. The caller has checked every index and value.
[[nodiscard]] BanyanStatus OptimalRate(const BanyanRate& problem, BanyanCancelled cancelled, const void* context,
                                       std::uint8_t* cut);

}  // namespace banyan

#endif  // BANYAN_KERNELS_RATE_H_
