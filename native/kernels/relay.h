// Unicast matching with relays: scatter, gather, all-to-all.
//
// Problem. As in match.h, but each chunk has one target, and NPUs that do not want it may pass it on. One copy of a chunk
// is alive at a time.
//
// Algorithm. Algorithm 1 of TACOS 2024 matches only unsatisfied postconditions and so never moves such a chunk. Here a
// chunk may take any free route that brings it strictly closer to its target (distance in transfer time), so it arrives.
// Chunks that wait at an NPU for the same target are interchangeable: one queue per (NPU, target). At every instant an
// NPU's waiting targets are served in the caller's order (farthest first, nearest first, by load ...) and assigned to its
// free routes by augmenting paths, so that a choice made early does not idle a route. Routes that share resources are
// taken greedily when their resources are free.
//
// Complexity. O(transfers x (out-degree + waiting targets of other directions)); memory 20 bytes per NPU pair.
#ifndef BANYAN_KERNELS_RELAY_H_
#define BANYAN_KERNELS_RELAY_H_

#include <cstdint>

#include "../abi.h"

namespace banyan {

struct RelayProblem {
  const BanyanNetwork& network;
  std::int32_t chunk_count;
  const std::int32_t* chunk_source;  // [chunk_count]
  const std::int32_t* chunk_target;  // [chunk_count]
  const double* distance_ps;         // [npu_count * npu_count]
  const std::int32_t* order;         // [npu_count * npu_count] a permutation of the targets in each row
  std::uint32_t seed;
};

/// Fills `out` with the transfers in order of their ends. The caller has checked every index.
[[nodiscard]] BanyanStatus Relay(const RelayProblem& problem, BanyanCancelled cancelled, const void* context,
                                 BanyanTransfers* out);

}  // namespace banyan

#endif  // BANYAN_KERNELS_RELAY_H_
