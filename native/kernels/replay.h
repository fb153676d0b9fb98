// The replay of a schedule in a congestion-aware network, where serialisation occupies links and latency does not.
//
// Problem. Rows are transfers in planned order, each of a chunk over a route. The order on every link is kept, planned times are
// dropped: when does each start and end? src/simulate/replay.ts says what holds a transfer up.
// Algorithm. The plan is turned into places, pairs of an NPU and a chunk, and the arrivals that each departure waits for
// (replay_plan.h). Cut-through is one pass over the rows (replay_cut.h); store-and-forward runs events (replay_events.h) over
// links that serve one message at a time (replay_network.h), in rings of equal delay (replay_queue.h).
// Invariants. No arrival planned by the departure of row i is of row i or a later one, so waiting is never circular. Events of
// one ring ascend by (time, sequence number).
// Complexity. Cut-through O(rows * links of a route * in flight on a link), messages O(hops * log different delays); memory
// O(rows + NPUs + chunks + route links): about 60 bytes a row.
// Rejected. One heap of all events: 8,000 in flight on a mesh of 1,024 NPUs.
// The twin of src/model/replay/, which keeps its events in one heap: the same numbers by another queue.
#ifndef BANYAN_KERNELS_REPLAY_H_
#define BANYAN_KERNELS_REPLAY_H_

#include "../abi.h"

namespace banyan {

/// Writes what `out` has room for. The caller has checked every index, row and value, and that there are fewer than 2^31 hops.
[[nodiscard]] BanyanStatus Replay(const BanyanReplay& problem, BanyanCancelled cancelled, const void* context,
                                  BanyanReplayed* out);

}  // namespace banyan

#endif  // BANYAN_KERNELS_REPLAY_H_
