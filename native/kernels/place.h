// List scheduling of given transfers with precedence on the time-expanded network.
//
// Problem. Transfers i, each over a route r(i) that it occupies (with the route's units of shared resources) for slot[r(i)].
// Transfer j waits for transfer i when j is one of successor[successor_offset[i] .. successor_offset[i + 1]]: it starts when
// i has ended, or later. Every transfer has a key. Find starts that end early when the keys are a good order.
//
// Algorithm. Parallel list scheduling (Graham 1966): at every instant all transfers that end are completed first; then each
// idle route starts the least of its ready transfers by (key, index). Routes that share resources are tried in order of
// (key of that transfer, route) and start when their resources are free; a route that does not fit waits for a transfer that
// uses one of its resources to end: before that nothing it lacks can become free. So that not all routes of a freed resource
// are sorted, each freed resource offers the least of its routes that fit; the least offer starts, and its resource offers anew.
//
// Invariants. I1: ready transfers of route r lie in a binary heap in the slice of r of one array, as no route can have more
// than its transfers. I2: a route with ready transfers is busy, marked to be tried, or lacks a resource that is in use.
// I3: the resources in use never exceed their capacity. The result does not depend on the order of completions at one
// instant, as they only fill heaps and mark routes.
//
// Complexity. O(transfers log(transfers per route) + successors) without shared resources; with them, per transfer that
// ends, the routes that use one of its resources, once for each offer. Memory 40 bytes per transfer.
// Rejected. All routes of freed resources marked, collected and sorted: 20 s where this takes 6, for 2 million transfers over
// 8 rails of 128 boxes.
#ifndef BANYAN_KERNELS_PLACE_H_
#define BANYAN_KERNELS_PLACE_H_

#include <cstdint>

#include "../abi.h"

namespace banyan {

struct PlaceProblem {
  const BanyanNetwork& network;
  std::int32_t transfer_count;
  const std::int32_t* route;             // [transfer_count]
  const std::int32_t* successor_offset;  // [transfer_count + 1]
  const std::int32_t* successor;
  const double* key;  // [transfer_count] exact integers, of any sign
};

/// Fills start_ps [transfer_count]. The caller has checked every index and key. kBanyanBadArgument when transfers wait for
/// each other in a circle.
[[nodiscard]] BanyanStatus Place(const PlaceProblem& problem, BanyanCancelled cancelled, const void* context,
                                 double* start_ps);

}  // namespace banyan

#endif  // BANYAN_KERNELS_PLACE_H_
