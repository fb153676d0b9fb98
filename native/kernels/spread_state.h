// The state of the matching in slots and how it is built; spread.h explains it.
#ifndef BANYAN_KERNELS_SPREAD_STATE_H_
#define BANYAN_KERNELS_SPREAD_STATE_H_

#include <cstdint>

#include "bits.h"
#include "buffer.h"
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
  static constexpr std::int32_t kCopied = 48 / sizeof(Entry);
  std::int32_t source;
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
  Buffer<std::size_t> log_begin;     // [npus]
  Buffer<std::int32_t> port_offset;  // [npus + 1]
  Buffer<Port<Entry>> ports;         // [routes] NPU by NPU, ascending by route
  Buffer<std::int32_t> bits_offset;  // [npus + 1] port bytes of a slot
  Buffer<std::uint8_t> bits;         // [kSlotsKept][bits_offset[npus]] port bits of the last slots, slot by slot
  Buffer<std::int32_t> out_offset;   // [npus + 1]
  Buffer<std::int32_t> neighbours;   // NPUs one route away, without repeats
  Lists around;                      // NPUs two routes away, not one; only for the choice that scores them
  Buffer<std::uint32_t> hi;          // [npus][words] I1
  Buffer<std::int32_t> length[2];    // [npus] I3
  Buffer<std::int32_t> missing;      // [npus] wanted, not held, not under way
  Buffer<std::int32_t> copies;       // [chunks] NPUs that hold it or are being sent it; for the rarest
  std::int64_t expected = 0;

  [[nodiscard]] std::uint32_t* Hi(std::int32_t npu) { return hi.data() + At(npu) * words; }
  [[nodiscard]] Entry* Log(std::int32_t npu) { return logs + log_begin[At(npu)]; }
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
[[nodiscard]] bool BuildPorts(SpreadState<Entry>& state) {
  const BanyanSpread& problem = state.problem;
  Lists in;
  Lists leaving;
  if (!in.Group(problem.route_target, problem.route_count, problem.npu_count) ||
      !leaving.Group(problem.route_source, problem.route_count, problem.npu_count) ||
      !state.ports.Allocate(At(problem.route_count)) || !state.neighbours.Allocate(At(problem.route_count)) ||
      !state.out_offset.Allocate(At(problem.npu_count) + 1)) {
    return false;
  }
  for (std::int32_t i = 0; i < problem.route_count; i++) {
    state.ports[At(i)].source = problem.route_source[in.items[At(i)]];
  }
  state.port_offset.Swap(in.offset);
  if (!state.bits_offset.Allocate(At(problem.npu_count) + 1)) return false;
  for (std::int32_t v = 0; v < problem.npu_count; v++) {
    state.bits_offset[At(v) + 1] = state.bits_offset[At(v)] + (state.PortCount(v) + 7) / 8;
  }
  if (!state.bits.Allocate(At(kSlotsKept) * At(state.bits_offset[At(problem.npu_count)]))) return false;
  std::int32_t count = 0;
  for (std::int32_t v = 0; v < problem.npu_count; v++) {
    const std::int32_t first = count;
    for (std::int32_t i = leaving.Begin(v); i < leaving.End(v); i++) {
      const std::int32_t target = problem.route_target[leaving.items[At(i)]];
      bool fresh = true;
      for (std::int32_t j = first; j < count; j++) fresh = fresh && state.neighbours[At(j)] != target;
      if (fresh) state.neighbours[At(count++)] = target;
    }
    state.out_offset[At(v) + 1] = count;
  }
  if (static_cast<Choice>(problem.choice) != Choice::kAround) {
    return state.around.offset.Allocate(At(problem.npu_count) + 1);
  }
  // The analyzer does not see that the lists of the arguments outlive the call.
  // NOLINTNEXTLINE(clang-analyzer-unix.Malloc)
  return state.around.GroupSecond(state.out_offset.data(), state.neighbours.data(), problem.npu_count, kMostScored);
}

// What every NPU holds, wants and lacks before slot 0.
template <typename Entry>
void FillSpread(SpreadState<Entry>& state) {
  const BanyanSpread& problem = state.problem;
  for (std::int32_t v = 0; v < problem.npu_count; v++) {
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
    state.length[0][At(v)] = held;
    state.length[1][At(v)] = held;
    state.missing[At(v)] = wanted;
    state.expected += wanted;
  }
}

/// Fills the state as it is before slot 0; false when there is no memory.
template <typename Entry>
[[nodiscard]] bool BuildSpread(SpreadState<Entry>& state) {
  const BanyanSpread& problem = state.problem;
  const auto npus = At(problem.npu_count);
  if (!state.log_begin.Allocate(npus) || !state.hi.Allocate(npus * state.words) || !state.length[0].Allocate(npus) ||
      !state.length[1].Allocate(npus) || !state.missing.Allocate(npus) ||
      !state.copies.Allocate(At(problem.chunk_count)) || !BuildPorts(state)) {
    return false;
  }
  for (std::size_t v = 0; v < npus; v++) state.log_begin[v] = static_cast<std::size_t>(state.out.log_offset[v]);
  AdviseHugePages(state.ports.data(), state.ports.size() * sizeof(Port<Entry>));
  AdviseHugePages(state.hi.data(), state.hi.size() * sizeof(std::uint32_t));
  AdviseHugePages(state.logs, static_cast<std::size_t>(state.out.log_offset[npus]) * sizeof(Entry));
  AdviseHugePages(state.out.ports, static_cast<std::size_t>(state.out.port_offset[npus]));
  FillSpread(state);
  return true;
}

}  // namespace banyan

#endif  // BANYAN_KERNELS_SPREAD_STATE_H_
