// When one chunk per spanning tree goes up its tree, summed, and down again, the same again every period.
//
// Problem. Spanning trees of a network whose edges are alike both ways. Each tree is rooted in its middle; NPU v sends up its
// entry once all NPUs below it have (job 2 N i + v of tree i), and receives the result over it once the NPU above has that (job
// 2 N i + N + v). A job occupies its direction of its edge for serial_ps and arrives latency_ps later. Find starts such that no
// two jobs of a direction overlap when all jobs begin once every period, and that the first round ends early.
//
// Algorithm. List scheduling modulo the period (Rau 1981): a direction has cells of its slot from the beginning of the period on;
// whenever it has a job that is ready, it starts the one with the longest way still to go, to the end of the tree, in its next
// free cell. `shake`: ways count up to so much more, at random.
//
// Events lie in a calendar of buckets as long as the shortest slot. Where all slots are equal, those of a bucket are in order
// already; others are sorted when their bucket comes. What is planned within the bucket that is served joins it behind, or waits
// in a heap. Of one instant arrivals come first; among them, and among directions, the order does not matter, as they only fill
// heaps of ready jobs, which are ordered by (key, job).
//
// Deviation. Keys are rounded to floats, so ways that differ by less than 1e-7 of them count as equal.
//
// Invariants. I1: every direction has as many cells as jobs, so a job that is ready finds a free one, in this period or the next.
// I2: ready jobs of a direction lie in a heap in its slice of one array, which has room for all its jobs. I3: a direction's
// `planned` is the free cell next to the first of its ready jobs; an event of another time is stale.
//
// Complexity. O(jobs log(jobs of a direction)) for equal slots. Memory 32 bytes per tree and NPU beside what is taken and given.
#ifndef BANYAN_KERNELS_PERIOD_H_
#define BANYAN_KERNELS_PERIOD_H_

#include "../abi.h"

namespace banyan {

/// Whether every index and time is in range, and counts are small enough. O(trees x edges).
[[nodiscard]] bool ValidPeriod(const BanyanPeriod& problem);

/// Fills `out`. kBanyanBadArgument where a tree does not span all NPUs, or an edge has more transfers than fit a period.
[[nodiscard]] BanyanStatus Period(const BanyanPeriod& problem, BanyanCancelled cancelled, const void* context,
                                  const BanyanTimetable& out);

}  // namespace banyan

#endif  // BANYAN_KERNELS_PERIOD_H_
