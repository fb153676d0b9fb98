// What one NPU does in one slot; spread.h explains it.
#ifndef BANYAN_KERNELS_SPREAD_SERVE_H_
#define BANYAN_KERNELS_SPREAD_SERVE_H_

#include <cstdint>

#include "match.h"
#include "random.h"
#include "spread_state.h"

namespace banyan {

/// What one thread works with.
struct Served {
  Buffer<std::int32_t> order;  // [most ports]
  Buffer<std::int32_t> taken;  // [most ports] chunk that arrives through the port, or kNone

  [[nodiscard]] bool Allocate(std::int32_t most_ports) {
    if (!order.Allocate(At(most_ports)) || !taken.Allocate(At(most_ports))) return false;
    taken.Fill(kNone);
    return true;
  }
};

/// Whether the NPU takes the oldest candidates in this slot, so that it need not look at its neighbours.
template <typename Entry>
bool IsPlain(const SpreadState<Entry>& state, std::int32_t npu) {
  const BanyanSpread& problem = state.problem;
  return static_cast<Choice>(problem.choice) == Choice::kOldest ||
         (problem.choosers != nullptr && problem.choosers[npu] == 0) ||
         state.missing[At(npu)] - state.PortCount(npu) > problem.late_limit;
}

// Of the next `window` candidates from entry `first` on the one that fewest of the NPU's neighbours have, where those are
// scored; then, where they are, that fewest NPUs two routes away have; ties and else: that fewest NPUs have; then the
// oldest.
template <typename Entry>
std::int32_t RarestFrom(SpreadState<Entry>& state, std::int32_t npu, const Entry* log, std::int32_t first,
                        std::int32_t length) {
  const BanyanSpread& problem = state.problem;
  const std::uint32_t* hi = state.Hi(npu);
  const std::int32_t begin = state.neighbours.Begin(npu);
  std::int32_t end = state.neighbours.End(npu);
  const auto choice = static_cast<Choice>(problem.choice);
  const bool scored = choice == Choice::kNeighbour || choice == Choice::kAround;
  if (!scored || end - begin > kMostScored) end = begin;
  const std::int32_t from = state.around.Begin(npu);
  const std::int32_t to = state.around.End(npu);
  std::int32_t best = kNone;
  std::int32_t best_score = 0;
  std::int32_t best_far = 0;
  std::int32_t best_copies = 0;
  std::int32_t seen = 0;
  for (std::int32_t i = first; i < length && seen < problem.window; i++) {
    const std::int32_t chunk = log[i];
    if (Bit(hi, chunk)) continue;
    seen++;
    std::int32_t score = 0;
    for (std::int32_t j = begin; j < end; j++) score += Bit(state.Hi(state.neighbours.items[At(j)]), chunk) ? 1 : 0;
    if (best != kNone && score > best_score) continue;
    std::int32_t far = 0;
    for (std::int32_t j = from; j < to; j++) far += Bit(state.Hi(state.around.items[At(j)]), chunk) ? 1 : 0;
    const std::int32_t copies = state.copies[At(chunk)];
    const bool tied = score == best_score;
    if (best == kNone || !tied || far < best_far || (far == best_far && copies < best_copies)) {
      best = chunk;
      best_score = score;
      best_far = far;
      best_copies = copies;
    }
  }
  return best;
}

// The chunk that the port takes among the candidates from entry `first`, which is one, on.
template <typename Entry>
std::int32_t ChooseFrom(SpreadState<Entry>& state, std::int32_t npu, const Entry* log, std::int32_t first,
                        std::int32_t length) {
  if (static_cast<Choice>(state.problem.choice) != Choice::kNewest) return RarestFrom(state, npu, log, first, length);
  const std::uint32_t* hi = state.Hi(npu);
  std::int32_t i = length - 1;
  while (Bit(hi, log[i])) i--;
  return log[i];
}

/// Copies the entries of the log from the port's pointer on; `end` is what the log held when the slot began.
template <typename Entry>
void CopyEntries(SpreadState<Entry>& state, Port<Entry>& port, std::int32_t end) {
  const Entry* log = state.Shown(port.source) + port.pointer;
  const std::int32_t most = port.pointer + Port<Entry>::kCopied;
  port.copied_from = port.pointer;
  port.copied_to = end < most ? end : most;
  const std::int32_t count = port.copied_to - port.copied_from;
  if (port.map == 0) {
    for (std::int32_t i = 0; i < count; i++) port.copy[i] = log[i];
  } else {
    const Entry* map = state.fold.ChunkMap(port.map);
    for (std::int32_t i = 0; i < count; i++) port.copy[i] = map[log[i]];
  }
}

/// Moves the port's pointer to the first entry that the NPU lacks; returns its chunk, or kNone.
template <typename Entry>
inline std::int32_t NextCandidate(SpreadState<Entry>& state, Port<Entry>& port, const std::uint32_t* hi,
                                  const std::int32_t* length) {
  for (;;) {
    std::int32_t at = port.pointer;
    const std::int32_t from = port.copied_from;
    while (at < port.copied_to && Bit(hi, port.copy[at - from])) at++;
    port.pointer = at;
    if (at < port.copied_to) return port.copy[at - from];
    CopyEntries(state, port, length[port.source]);
    if (port.copied_to == port.copied_from) return kNone;
  }
}

/// Serves the ports of an NPU that lacks chunks: writes what arrives behind its log and into its port bits. Returns the
/// number of arrivals. `length` [npus]: what the logs held when the slot began.
template <typename Entry>
std::int32_t Serve(SpreadState<Entry>& state, Served& served, std::int32_t npu, std::int32_t slot, bool plain,
                   const std::int32_t* length) {
  const std::int32_t count = state.PortCount(npu);
  Port<Entry>* ports = state.ports.data() + state.port_offset[At(npu)];
  std::uint32_t* hi = state.Hi(npu);
  std::int32_t* order = served.order.data();
  std::int32_t* taken = served.taken.data();
  for (std::int32_t p = 0; p < count; p++) order[p] = p;
  Shuffle(order, count, state.problem.seed, static_cast<std::uint32_t>(slot), static_cast<std::uint32_t>(npu));
  std::int32_t missing = state.missing[At(npu)];
  for (std::int32_t i = 0; i < count && missing > 0; i++) {
    Port<Entry>& port = ports[order[i]];
    std::int32_t chunk = NextCandidate(state, port, hi, length);
    if (chunk == kNone) continue;
    if (!plain) chunk = ChooseFrom(state, npu, state.Shown(port.source), port.pointer, length[port.source]);
    SetBit(hi, chunk);
    taken[order[i]] = chunk;
    missing--;
  }
  const std::int32_t arrivals = state.missing[At(npu)] - missing;
  if (arrivals == 0) return 0;
  Entry* log = state.Log(npu) + state.LogLength(npu, state.missing[At(npu)]);
  state.missing[At(npu)] = missing;
  std::uint8_t* bits = state.bits.data() + At(state.bits_offset[At(npu)]) +
                       At(slot % kSlotsKept) * At(state.bits_offset[At(state.problem.npu_count)]);
  for (std::int32_t p = 0; p < count; p++) {
    if (taken[p] == kNone) continue;
    *log++ = static_cast<Entry>(taken[p]);
    bits[p >> 3] = static_cast<std::uint8_t>(bits[p >> 3] | (1U << (p & 7)));
    taken[p] = kNone;
  }
  state.out.slots[npu] = slot + 1;
  return arrivals;
}

/// Counts what has just arrived, for the rarest choice. Threads may count at the same time.
template <typename Entry>
void CountCopies(SpreadState<Entry>& state, std::int32_t npu, std::int32_t from, std::int32_t arrivals) {
  const Entry* log = state.Log(npu) + from;
  for (std::int32_t i = 0; i < arrivals; i++) __atomic_fetch_add(&state.copies[At(log[i])], 1, __ATOMIC_RELAXED);
}

constexpr std::int32_t kLogAhead = 8;   // NPUs between the prefetch of the log entries that it reads and its turn
constexpr std::int32_t kHoldAhead = 4;  // the same for the bits that they are tested against
constexpr std::int32_t kTestsAhead = 4;

/// Asks early for what an NPU will read: most of the matching's time is waiting for memory. No twin. Inlined by force: GCC
/// drops calls of a function that does nothing but prefetch.
template <typename Entry>
[[gnu::always_inline]] inline void PrefetchEntries(SpreadState<Entry>& state, std::int32_t npu) {
  for (std::int32_t i = state.port_offset[At(npu)]; i < state.port_offset[At(npu) + 1]; i++) {
    const Port<Entry>& port = state.ports[At(i)];
    if (port.copied_to - port.pointer < kTestsAhead) __builtin_prefetch(state.Shown(port.source) + port.pointer);
  }
}

template <typename Entry>
[[gnu::always_inline]] inline void PrefetchTests(SpreadState<Entry>& state, std::int32_t npu) {
  const std::uint32_t* hi = state.Hi(npu);
  for (std::int32_t i = state.port_offset[At(npu)]; i < state.port_offset[At(npu) + 1]; i++) {
    const Port<Entry>& port = state.ports[At(i)];
    const Entry* copy = port.copy + (port.pointer - port.copied_from);
    const std::int32_t left = port.copied_to - port.pointer;
    for (std::int32_t at = 0; at < kTestsAhead && at < left; at++) __builtin_prefetch(hi + (copy[at] >> 5));
  }
}

}  // namespace banyan

#endif  // BANYAN_KERNELS_SPREAD_SERVE_H_
