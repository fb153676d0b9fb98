// The logs of the NPUs that follow from those of their representatives; spread.h explains it.
#ifndef BANYAN_KERNELS_SPREAD_UNFOLD_H_
#define BANYAN_KERNELS_SPREAD_UNFOLD_H_

#include <cstdint>

#include "spread_state.h"
#include "team.h"

namespace banyan {

/// Writes the log of an NPU as the image of its representative's: chunks mapped, ports renamed, the arrivals of a slot
/// again in order of port. `taken` [ports of the NPU] kNone, and again at the end.
template <typename Entry>
void UnfoldLog(SpreadState<Entry>& state, std::int32_t npu, std::int32_t* taken) {
  const Fold<Entry>& fold = state.fold;
  const std::int32_t of = fold.representative[At(npu)];
  const std::int32_t count = state.PortCount(npu);
  const std::int32_t* image_port = fold.image_port.data() + state.port_offset[At(npu)];
  const Entry* map = fold.ChunkMap(fold.element[At(npu)]);
  const Entry* from = state.Log(of);
  Entry* to = state.Log(npu);
  const std::int32_t held = state.problem.held_offset[of + 1] - state.problem.held_offset[of];
  for (std::int32_t i = 0; i < held; i++) *to++ = map[*from++];
  const std::int32_t stride = (count + 7) / 8;
  const std::uint8_t* bits = state.out.ports + static_cast<std::size_t>(state.out.port_offset[of]);
  std::uint8_t* image_bits = state.out.ports + static_cast<std::size_t>(state.out.port_offset[npu]);
  const std::int32_t slots = state.out.slots[of];
  for (std::int32_t slot = 0; slot < slots; slot++, bits += stride, image_bits += stride) {
    for (std::int32_t p = 0; p < count; p++) {
      if ((bits[p >> 3] >> (p & 7) & 1) != 0) taken[image_port[p]] = map[*from++];
    }
    for (std::int32_t p = 0; p < count; p++) {
      if (taken[p] == kNone) continue;
      *to++ = static_cast<Entry>(taken[p]);
      image_bits[p >> 3] = static_cast<std::uint8_t>(image_bits[p >> 3] | (1U << (p & 7)));
      taken[p] = kNone;
    }
  }
  state.out.slots[npu] = slots;
}

/// Writes the logs of all NPUs that are not matched and have room.
template <typename Entry>
BanyanStatus UnfoldLogs(SpreadState<Entry>& state, Team& team, BanyanCancelled cancelled, const void* context) {
  const std::int32_t members = team.members();
  const std::int32_t npus = state.problem.npu_count;
  std::int32_t most_ports = 0;
  for (std::int32_t v = 0; v < npus; v++)
    most_ports = most_ports > state.PortCount(v) ? most_ports : state.PortCount(v);
  Buffer<std::int32_t> taken;
  if (!taken.Allocate(At(members) * At(most_ports))) return kBanyanOutOfMemory;
  taken.Fill(kNone);
  std::int32_t stopped = 0;
  std::int32_t next = 0;
  team.Run([&](std::int32_t member) {
    for (;;) {
      const std::int32_t v = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED);
      if (v >= npus) return;
      if (state.fold.Represents(v) || state.out.log_offset[v] == state.out.log_offset[v + 1]) continue;
      if (cancelled != nullptr && cancelled(context) != 0) {
        __atomic_store_n(&stopped, 1, __ATOMIC_RELAXED);
        return;
      }
      UnfoldLog(state, v, taken.data() + At(member) * At(most_ports));
    }
  });
  return stopped != 0 ? kBanyanCancelled : kBanyanOk;
}

}  // namespace banyan

#endif  // BANYAN_KERNELS_SPREAD_UNFOLD_H_
