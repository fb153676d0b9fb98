// The state of the matching in slots and how it is built; spread.h explains it.
#ifndef BANYAN_KERNELS_SPREAD_STATE_H_
#define BANYAN_KERNELS_SPREAD_STATE_H_

#include <cstdint>

#include "bits.h"
#include "buffer.h"
#include "fold.h"
#include "huge_pages.h"
#include "lists.h"
#include "match.h"
#include "spread.h"

namespace banyan {

constexpr std::int32_t kMostScored = 32;  // with more neighbours the neighbour choices fall back to the rarest

/// A port of an NPU, 64 bytes: where it reads, how far it has read, and a copy of the entries that it reads next, so
/// that the source's log is looked at once for many entries.
template <typename Entry>
struct Port {
  static constexpr std::int32_t kCopied = 44 / sizeof(Entry);
  std::int32_t source;
  std::int32_t map;  // what takes the source's log to what the port reads; 0: nothing
  std::int32_t pointer;
  std::int32_t copied_from;  // copy[i] is entry copied_from + i of the log, for entries up to copied_to
  std::int32_t copied_to;
  Entry copy[kCopied];
};

/// `Entry` holds a chunk in the logs.
template <typename Entry>
struct SpreadState {
  SpreadState(const BanyanSpread& of, const BanyanLogs& into)
      : problem(of), out(into), words((At(of.chunk_count) + 31) / 32), logs(static_cast<Entry*>(into.chunk)) {}

  const BanyanSpread& problem;
  const BanyanLogs& out;
  const std::size_t words;
  Entry* const logs;
  Buffer<Entry*> shown;              // [npus] the log as others read it
  Buffer<std::int32_t> port_offset;  // [npus + 1]
  Buffer<Port<Entry>> ports;         // [routes] NPU by NPU, ascending by route
  Buffer<std::int32_t> bits_offset;  // [npus + 1] port bytes of a slot
  Buffer<std::uint8_t> bits;         // [kSlotsKept][bits_offset[npus]] port bits of the last slots, slot by slot
  Lists neighbours;                  // NPUs one route away
  Lists around;                      // NPUs two routes away, not one; only for the choice that scores them
  Buffer<std::uint32_t> hi;          // [npus][words] I1
  Buffer<std::int32_t> length[2];    // [npus] I3, of the logs as shown
  Buffer<std::int32_t> missing;      // [npus] wanted, not held, not under way
  Buffer<std::int32_t> copies;       // [chunks] NPUs that hold it or are being sent it; for the rarest
  std::int64_t expected = 0;
  Fold<Entry> fold;
  Buffer<Entry> fixed_logs;            // [fixed NPUs][chunks] the log as others read it
  Buffer<std::uint32_t> fixed_chunks;  // [fixed NPUs][words] what is in it

  [[nodiscard]] std::uint32_t* Hi(std::int32_t npu) { return hi.data() + At(npu) * words; }
  /// The log of the NPU, and what others read of it.
  [[nodiscard]] Entry* Log(std::int32_t npu) { return logs + static_cast<std::size_t>(out.log_offset[npu]); }
  [[nodiscard]] Entry* Shown(std::int32_t npu) { return shown[At(npu)]; }
  /// What the log holds while the NPU still lacks so many chunks.
  [[nodiscard]] std::int32_t LogLength(std::int32_t npu, std::int32_t lacks) const {
    return static_cast<std::int32_t>(out.log_offset[npu + 1] - out.log_offset[npu]) - lacks;
  }
  [[nodiscard]] std::int32_t PortCount(std::int32_t npu) const {
    return port_offset[At(npu) + 1] - port_offset[At(npu)];
  }
};

/// Slots whose port bits are collected before they are written NPU by NPU, where each has pages of its own.
constexpr std::int32_t kSlotsKept = 64;

/// Writes the port bits of NPUs first .. last - 1 in slots from .. to - 1, and clears them.
template <typename Entry>
void WriteBits(SpreadState<Entry>& state, std::int32_t first, std::int32_t last, std::int32_t from, std::int32_t to) {
  const auto stride = At(state.bits_offset[At(state.problem.npu_count)]);
  for (std::int32_t v = first; v < last; v++) {
    const auto bytes = At(state.bits_offset[At(v) + 1] - state.bits_offset[At(v)]);
    std::uint8_t* row = state.out.ports + static_cast<std::size_t>(state.out.port_offset[v]);
    for (std::int32_t slot = from; slot < to && slot < state.out.slots[v]; slot++) {
      std::uint8_t* kept = state.bits.data() + At(slot % kSlotsKept) * stride + At(state.bits_offset[At(v)]);
      for (std::size_t b = 0; b < bytes; b++) {
        row[At(slot) * bytes + b] = kept[b];
        kept[b] = 0;
      }
    }
  }
}

// The ports of every NPU, and the NPUs that each one sends to.
template <typename Entry>
[[nodiscard]] BanyanStatus BuildPorts(SpreadState<Entry>& state) {
  const BanyanSpread& problem = state.problem;
  Lists in;
  Lists leaving;
  if (!in.Group(problem.route_target, problem.route_count, problem.npu_count) ||
      !leaving.Group(problem.route_source, problem.route_count, problem.npu_count) ||
      !state.neighbours.GroupTargets(leaving, problem.route_target, problem.npu_count) ||
      !state.ports.Allocate(At(problem.route_count))) {
    return kBanyanOutOfMemory;
  }
  if (problem.map_count > 0) {
    const BanyanStatus folded =
        state.fold.Build({problem.npu_count, problem.chunk_count, problem.map_count, problem.maps, problem.route_source,
                          nullptr, problem.held_offset, problem.held_chunk},
                         in);
    if (folded != kBanyanOk) return folded;
    for (std::int32_t v = 0; v < problem.npu_count; v++) {
      const bool is_empty = state.out.log_offset[v] == state.out.log_offset[v + 1];
      if (is_empty && state.fold.Represents(v) && LogEntries(problem, v) > 0) return kBanyanBadArgument;
    }
    const auto fixed = At(state.fold.fixed_count);
    if (!state.fixed_logs.Allocate(fixed * At(problem.chunk_count)) ||
        !state.fixed_chunks.Allocate(fixed * state.words)) {
      return kBanyanOutOfMemory;
    }
  }
  for (std::int32_t i = 0; i < problem.route_count; i++) {
    const std::int32_t source = problem.route_source[in.items[At(i)]];
    state.ports[At(i)].source = state.fold.Folded() ? state.fold.representative[At(source)] : source;
    state.ports[At(i)].map = state.fold.Folded() ? state.fold.element[At(source)] : 0;
  }
  state.port_offset.Swap(in.offset);
  if (!state.bits_offset.Allocate(At(problem.npu_count) + 1)) return kBanyanOutOfMemory;
  for (std::int32_t v = 0; v < problem.npu_count; v++) {
    state.bits_offset[At(v) + 1] = state.bits_offset[At(v)] + (state.PortCount(v) + 7) / 8;
  }
  if (!state.bits.Allocate(At(kSlotsKept) * At(state.bits_offset[At(problem.npu_count)]))) return kBanyanOutOfMemory;
  if (static_cast<Choice>(problem.choice) != Choice::kAround) {
    return state.around.offset.Allocate(At(problem.npu_count) + 1) ? kBanyanOk : kBanyanOutOfMemory;
  }
  const bool built = state.around.GroupSecond(state.neighbours, problem.npu_count, kMostScored);
  return built ? kBanyanOk : kBanyanOutOfMemory;
}

/// Shows the others what has just arrived: entries from .. from + count - 1 of the NPU's log. Where maps leave the NPU in
/// place, a chunk is shown as soon as all its images under them are there. Returns how many are shown, behind the
/// `shown_before` that were.
template <typename Entry>
std::int32_t ShowArrivals(SpreadState<Entry>& state, std::int32_t npu, std::int32_t from, std::int32_t count,
                          std::int32_t shown_before) {
  const Fold<Entry>& fold = state.fold;
  if (!fold.Fixed(npu)) return count;
  const std::uint32_t* hi = state.Hi(npu);
  std::uint32_t* shown = state.fixed_chunks.data() + At(fold.fixed_row[At(npu)]) * state.words;
  Entry* log = state.Shown(npu) + shown_before;
  std::int32_t written = 0;
  for (std::int32_t i = from; i < from + count; i++) {
    const std::int32_t chunk = state.Log(npu)[i];
    bool complete = !Bit(shown, chunk);
    for (std::int32_t g = 1; g < fold.map_count && complete; g++) {
      if (fold.Fixes(g, npu)) complete = Bit(hi, fold.ChunkMap(g)[chunk]);
    }
    for (std::int32_t g = 0; g < fold.map_count && complete; g++) {
      const std::int32_t image = fold.ChunkMap(g)[chunk];
      if (!fold.Fixes(g, npu) || Bit(shown, image)) continue;
      SetBit(shown, image);
      log[written++] = static_cast<Entry>(image);
    }
  }
  return written;
}

// What every NPU holds, wants and lacks before slot 0.
template <typename Entry>
void FillSpread(SpreadState<Entry>& state) {
  const BanyanSpread& problem = state.problem;
  for (std::int32_t v = 0; v < problem.npu_count; v++) {
    if (!state.fold.Represents(v)) continue;
    std::uint32_t* hi = state.Hi(v);
    std::int32_t wanted = problem.chunk_count;
    if (problem.wanted != nullptr) {
      const std::uint32_t* row = problem.wanted + At(v) * state.words;
      for (std::int32_t c = 0; c < problem.chunk_count; c++) {
        if (Bit(row, c)) continue;
        SetBit(hi, c);
        wanted--;
      }
    }
    Entry* log = state.Log(v);
    std::int32_t held = 0;
    for (std::int32_t i = problem.held_offset[v]; i < problem.held_offset[v + 1]; i++) {
      const std::int32_t chunk = problem.held_chunk[i];
      if (!Bit(hi, chunk)) wanted--;
      SetBit(hi, chunk);
      log[held++] = static_cast<Entry>(chunk);
      state.copies[At(chunk)]++;
    }
    state.missing[At(v)] = wanted;
    const std::int32_t length = ShowArrivals(state, v, 0, held, 0);
    state.length[0][At(v)] = length;
    state.length[1][At(v)] = length;
    state.expected += wanted;
  }
}

/// Fills the state as it is before slot 0.
template <typename Entry>
[[nodiscard]] BanyanStatus BuildSpread(SpreadState<Entry>& state) {
  const BanyanSpread& problem = state.problem;
  const auto npus = At(problem.npu_count);
  if (!state.shown.Allocate(npus) || !state.hi.Allocate(npus * state.words) || !state.length[0].Allocate(npus) ||
      !state.length[1].Allocate(npus) || !state.missing.Allocate(npus) ||
      !state.copies.Allocate(At(problem.chunk_count))) {
    return kBanyanOutOfMemory;
  }
  const BanyanStatus ports = BuildPorts(state);
  if (ports != kBanyanOk) return ports;
  for (std::int32_t v = 0; v < problem.npu_count; v++) {
    state.shown[At(v)] = state.Log(v);
    if (!state.fold.Fixed(v)) continue;
    state.shown[At(v)] = state.fixed_logs.data() + At(state.fold.fixed_row[At(v)]) * At(problem.chunk_count);
  }
  AdviseHugePages(state.ports.data(), state.ports.size() * sizeof(Port<Entry>));
  AdviseHugePages(state.hi.data(), state.hi.size() * sizeof(std::uint32_t));
  AdviseHugePages(state.logs, static_cast<std::size_t>(state.out.log_offset[npus]) * sizeof(Entry));
  AdviseHugePages(state.out.ports, static_cast<std::size_t>(state.out.port_offset[npus]));
  FillSpread(state);
  return kBanyanOk;
}

}  // namespace banyan

#endif  // BANYAN_KERNELS_SPREAD_STATE_H_
