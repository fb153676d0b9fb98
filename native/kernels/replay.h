// The replay of a schedule in a congestion-aware network, where serialisation occupies links and latency does not.
//
// Problem. Rows are transfers in planned order, each of a chunk over a route. The order on every link is kept, planned times are
// dropped: when does each start and end? src/simulate/steps/replay.ts says what holds a transfer up.
// Algorithm. The plan is turned into places, pairs of an NPU and a chunk, and the arrivals that each departure waits for.
// Cut-through is one pass over the rows (replay_cut.h); store-and-forward numbers the places (replay_plan.h) and runs events
// (replay_events.h) over links that serve one message at a time (replay_network.h), in rings of equal delay (replay_queue.h).
// Invariants. No arrival planned by the departure of row i is of row i or a later one, so waiting is never circular. Events of
// one ring ascend by (time, sequence number).
// Complexity. Cut-through O(rows * links of a route * in flight on a link), messages O(hops * log different delays); memory
// O(rows + NPUs + chunks + route links): about 70 bytes a row, in cut-through at most 24 where places are a table.
// Rejected. Asking memory early for the place of the event eight ahead: no faster, for what stalls is the place of the row
// behind the one that is sent, which is asked for when its forerunner is parked (5 to 10 % less processor time).
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
