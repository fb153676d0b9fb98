// Maximum flows from a source that feeds nodes, into one sink after another.
//
// Problem. A network with integer capacities; the source feeds every node with up to its supply. For each of the given
// sinks alone: how much can arrive there, its own supply included?
// Algorithm. flow.h; the network is built once, and the flow into a sink is taken back before the next.
// It is the oracle of everything that packs trees (Zhao 2026, 4.4 to 4.5 and B.7): with a copy of supply at each root, a sink
// that gets less than all of it names a cut that is too narrow. Sinks do not depend on each other, so they may be spread
// over threads (src/engine/pool/pool.ts).
// Complexity. One flow per sink, O(n^2 m) each at worst, far less on networks; memory O(nodes + links).
#ifndef BANYAN_KERNELS_SWEEP_H_
#define BANYAN_KERNELS_SWEEP_H_

#include "../abi.h"

namespace banyan {

/// Writes the flow into each sink to `flow` [sink_count]. The caller has checked every index and value.
[[nodiscard]] BanyanStatus Sweep(const BanyanSweep& problem, BanyanCancelled cancelled, const void* context,
                                 double* flow);

}  // namespace banyan

#endif  // BANYAN_KERNELS_SWEEP_H_
