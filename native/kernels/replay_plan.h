// What the plan of a replay says about who waits for whom.
//
// A place is a pair (NPU, chunk) that some transfer leaves or enters. Only those are numbered, chunk by chunk with a mark per
// NPU, so memory is O(rows + NPUs + chunks), not NPUs x chunks. The twin of src/model/replay/plan.ts.
#ifndef BANYAN_KERNELS_REPLAY_PLAN_H_
#define BANYAN_KERNELS_REPLAY_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "../abi.h"
#include "buffer.h"
#include "lists.h"

namespace banyan {

/// Rows by planned arrival, ties by lower row: radix sort of the bits of the times, 11 at a time, which ascend as times do.
class ArrivalOrder {
 public:
  [[nodiscard]] bool Build(const double* end, std::int32_t count) {
    ascending_ = true;
    for (std::int32_t i = 1; i < count && ascending_; i++) ascending_ = end[i - 1] <= end[i];
    if (ascending_) return true;
    const std::size_t rows = At(count);
    Buffer<Entry> from;
    Buffer<Entry> to;
    Buffer<std::uint32_t> counts;
    if (!from.Allocate(rows) || !to.Allocate(rows) || !counts.Allocate(kDigits * kValues)) return false;
    for (std::size_t i = 0; i < rows; i++) {
      Entry& entry = from[i];
      std::memcpy(&entry.bits, end + i, sizeof(double));
      entry.row = static_cast<std::int32_t>(i);
      for (std::uint32_t d = 0; d < kDigits; d++) counts[d * kValues + Digit(entry.bits, d)]++;
    }
    for (std::uint32_t d = 0; d < kDigits; d++) {
      std::uint32_t* begin = &counts[d * kValues];
      if (begin[Digit(from[0].bits, d)] == rows) continue;
      std::uint32_t before = 0;
      for (std::size_t value = 0; value < kValues; value++) {
        const std::uint32_t many = begin[value];
        begin[value] = before;
        before += many;
      }
      for (std::size_t i = 0; i < rows; i++) to[begin[Digit(from[i].bits, d)]++] = from[i];
      from.Swap(to);
    }
    if (!rows_.Allocate(rows)) return false;
    for (std::size_t i = 0; i < rows; i++) rows_[i] = from[i].row;
    return true;
  }

  [[nodiscard]] std::int32_t operator[](std::int32_t i) const { return ascending_ ? i : rows_[At(i)]; }

 private:
  struct Entry {
    std::uint64_t bits;
    std::int32_t row;
  };
  static constexpr std::uint32_t kBits = 11;
  static constexpr std::uint32_t kDigits = 6;
  static constexpr std::size_t kValues = std::size_t{1} << kBits;

  static std::size_t Digit(std::uint64_t bits, std::uint32_t digit) {
    return static_cast<std::size_t>(bits >> (digit * kBits)) & (kValues - 1);
  }

  Buffer<std::int32_t> rows_;
  bool ascending_ = true;
};

/// The places that a row leaves and enters.
struct Ends {
  std::int32_t source;
  std::int32_t target;
};

struct ReplayPlaces {
  Buffer<Ends> ends;                // [rows]
  Buffer<std::uint8_t> initial;     // [2 * rows] 1 where the place holds its chunk from the start
  Buffer<std::int32_t> collective;  // [rows]; empty where there is one
  Buffer<std::int32_t> last_place;  // [collectives] behind the places of its chunks; those of the first come first
  std::int32_t places = 0;

  [[nodiscard]] bool Build(const BanyanReplay& problem) {
    const auto rows = At(problem.row_count);
    const auto chunks = At(problem.chunk_count);
    Buffer<std::int32_t> next;
    Buffer<Placed> by_chunk;
    Buffer<Mark> marks;
    if (!ends.Allocate(rows) || !initial.Allocate(2 * rows)) return false;
    if (!last_place.Allocate(At(problem.collective_count))) return false;
    if (problem.collective_count > 1 && !collective.Allocate(rows)) return false;
    if (!next.Allocate(chunks + 1) || !by_chunk.Allocate(rows) || !marks.Allocate(At(problem.npu_count))) return false;
    for (std::size_t i = 0; i < rows; i++) next[At(problem.chunk[i]) + 1]++;
    for (std::size_t c = 0; c < chunks; c++) next[c + 1] += next[c];
    for (std::size_t i = 0; i < rows; i++) {
      by_chunk[At(next[At(problem.chunk[i])]++)] = Placed{static_cast<std::int32_t>(i), problem.route[i]};
    }
    // next[c] is now where chunk c ends
    std::int32_t at = 0;
    std::int32_t k = 0;
    for (std::int32_t c = 0; c < problem.chunk_count; c++) {
      while (problem.first_chunk[k + 1] <= c) last_place[At(k++)] = places;
      for (; at < next[At(c)]; at++) {
        const Placed& placed = by_chunk[At(at)];
        ends[At(placed.row)] = Ends{PlaceOf(problem, marks, c, problem.route_source[placed.route]),
                                    PlaceOf(problem, marks, c, problem.route_target[placed.route])};
        if (collective.size() > 0) collective[At(placed.row)] = k;
      }
    }
    for (; k < problem.collective_count; k++) last_place[At(k)] = places;
    return true;
  }

  [[nodiscard]] std::int32_t Collective(std::int32_t row) const {
    return collective.size() == 0 ? 0 : collective[At(row)];
  }

 private:
  struct Placed {
    std::int32_t row;
    std::int32_t route;
  };
  // Zeros before a chunk has come to the NPU: NPUs without routes cost no memory.
  struct Mark {
    std::int32_t behind_chunk;  // the chunk, plus 1
    std::int32_t place;
  };

  std::int32_t PlaceOf(const BanyanReplay& problem, Buffer<Mark>& marks, std::int32_t chunk, std::int32_t npu) {
    Mark& mark = marks[At(npu)];
    if (mark.behind_chunk != chunk + 1) {
      mark = Mark{chunk + 1, places++};
      const std::int32_t set = problem.holders[chunk];
      const std::int32_t* begin = problem.set_members + problem.set_offset[set];
      const std::int32_t* end = problem.set_members + problem.set_offset[set + 1];
      initial[At(mark.place)] = std::binary_search(begin, end, npu) ? 1 : 0;
    }
    return mark.place;
  }
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_REPLAY_PLAN_H_
