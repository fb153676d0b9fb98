// Multicast matching in slots, written as arrival logs, by several threads. The twin of src/engine/kernels/js/spread.ts.
//
// Problem. As match.h's, where all routes are equally long and none shares a resource. Port p of NPU v is the p-th route
// into v, ascending. In every slot each port brings at most one chunk that its source held when the slot began.
//
// Algorithm. TACOS 2024, Algorithms 1 and 2, by arrival logs (match.h): every NPU keeps its chunks in order of arrival,
// and every port a pointer into its source's log. In a slot an NPU serves its ports in random order; each takes the first
// chunk behind its pointer that the NPU lacks, or, once the NPU lacks few, one chosen among the next `window` (Choice).
// The arrivals of a slot join the log in ascending order of port, so logs and port bits together are the schedule.
//
// Threads. Random numbers are drawn from the counter (seed, slot, NPU), and the oldest choice reads only what the logs
// held when the slot began: blocks of NPUs are taken by whichever thread is there, slot by slot, and no bit changes. The
// other choices look at what neighbours are being sent in this very slot, which is worth a slot on tori: NPUs that choose
// so are served after the others, in ascending order, by one thread.
//
// Symmetry. With a group of maps of the network onto itself the schedule is made the same under all of them: only one NPU
// of each orbit, its representative, is matched. A port whose source is the image g(u) of a representative u reads u's log
// through the map g of chunks. An NPU that maps leave in place may receive what it likes, but shows a chunk to others only
// once all its images under these maps have arrived, so that what is shown is symmetric too. At the end the logs of the
// other NPUs are written as images, where they have room. Meshes lose nothing by it (3 x 3 to 316 x 316, 46 x 46 x 46: the
// bound is met) and need an eighth of the work, cubes a 48th.
//
// Invariants. I1: hi[v] = chunks v holds, is being sent, or does not want; it only grows. I2: pointers only move forward.
// I3: length[slot & 1] is what every log held when the slot began, and nothing writes it during the slot.
//
// Complexity. With O(1) per entry of the maps and per arrival that is written as an image, over the NPUs that are matched:
// O(ports x chunks) bit tests plus O(1) per arrival for the oldest choice; a factor `window` while another
// choice is on. Memory: the logs and port bits, which are the result, and NPUs x chunks / 8 bytes.
#ifndef BANYAN_KERNELS_SPREAD_H_
#define BANYAN_KERNELS_SPREAD_H_

#include <cstdint>

#include "../abi.h"

namespace banyan {

/// Fills `out`. The caller has checked every index and the room of every log.
[[nodiscard]] BanyanStatus Spread(const BanyanSpread& problem, BanyanCancelled cancelled, const void* context,
                                  BanyanLogs* out);

/// Returns how many entries the log of an NPU ends with: what it holds and what it wants.
[[nodiscard]] std::int32_t LogEntries(const BanyanSpread& problem, std::int32_t npu);

}  // namespace banyan

#endif  // BANYAN_KERNELS_SPREAD_H_
