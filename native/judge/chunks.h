// Chunks: whether each is at the source of every transfer when it departs, and in the end where it must be.
//
// Where chunks are only copied, an NPU holds one from its first arrival on. Where they are sums, contributions are counted: the
// argument why numbers are enough, and for which schedules they are, is at `countJudge` (src/verify/steps/contributions.ts).
#ifndef BANYAN_JUDGE_CHUNKS_H_
#define BANYAN_JUDGE_CHUNKS_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "../abi.h"
#include "../kernels/buffer.h"
#include "../kernels/lists.h"
#include "stop.h"

namespace banyan {

/// Chunks that are judged together, which have the rows `first` .. `end` - 1 of all rows sorted by chunk.
struct ChunkBlock {
  std::int32_t first_chunk;
  std::int32_t end_chunk;
  std::int64_t first;
  std::int64_t end;
};

/// Judges blocks of chunks one after the other; each thread has a judge of its own.
class ChunkJudge {
 public:
  ChunkJudge(const BanyanSteps& problem, const Buffer<std::int64_t>& rows_of) : problem_(problem), rows_of_(rows_of) {}

  /// Whether the chunks of a block are where they must be.
  [[nodiscard]] bool Run(const ChunkBlock& block, std::int32_t member, Stop& stop) {
    if (!Gather(block, member, stop)) return false;
    std::size_t begin = 0;
    for (std::int32_t chunk = block.first_chunk; chunk < block.end_chunk; chunk++) {
      const auto count = static_cast<std::size_t>(rows_of_[At(chunk)]);
      if (begin / kRowsBetween != (begin + count) / kRowsBetween && stop.Asked(member)) return false;
      const Sent* sent = &sent_[begin];
      if (!(problem_.reduces != 0 ? IsSummed(chunk, sent, count, stop) : IsCopied(chunk, sent, count, stop)))
        return false;
      begin += count;
    }
    return true;
  }

 private:
  struct Sent {
    double start;
    double end;
    std::int32_t route;
    std::int32_t op;
  };
  // How many contributions an NPU has; what has left it is spent.
  struct Held {
    std::int32_t size;
    bool is_spent;
  };
  struct Members {
    const std::int32_t* begin_;
    const std::int32_t* end_;
    [[nodiscard]] const std::int32_t* begin() const { return begin_; }
    [[nodiscard]] const std::int32_t* end() const { return end_; }
  };

  [[nodiscard]] static Members Listed(const BanyanSets& sets, std::int32_t chunk) {
    const std::int32_t set = sets.set_of[chunk];
    return {sets.members + sets.offset[set], sets.members + sets.offset[set + 1]};
  }
  [[nodiscard]] std::int32_t From(const Sent& sent) const { return problem_.route_source[sent.route]; }
  [[nodiscard]] std::int32_t To(const Sent& sent) const { return problem_.route_target[sent.route]; }

  // Brings the rows of a block together, chunk by chunk, each chunk's in their order.
  [[nodiscard]] bool Gather(const ChunkBlock& block, std::int32_t member, Stop& stop) {
    const auto chunks = static_cast<std::uint32_t>(block.end_chunk - block.first_chunk);
    const auto rows = static_cast<std::size_t>(block.end - block.first);
    if (sent_.size() < rows + 1 && !sent_.Allocate(rows + 1)) return stop.LackMemory();
    if (!next_.Allocate(chunks)) return stop.LackMemory();
    std::int64_t at = 0;
    for (std::uint32_t c = 0; c < chunks; c++) {
      next_[c] = at;
      at += rows_of_[At(block.first_chunk) + c];
    }
    for (std::int32_t i = 0; i < problem_.row_count; i++) {
      if (i % kRowsBetween == 0 && stop.Asked(member)) return false;
      const std::uint32_t c =
          static_cast<std::uint32_t>(problem_.chunk[i]) - static_cast<std::uint32_t>(block.first_chunk);
      if (c >= chunks) continue;
      sent_[static_cast<std::size_t>(next_[c]++)] =
          Sent{problem_.start[i], problem_.end[i], problem_.route[i], problem_.op[i]};
    }
    return true;
  }

  [[nodiscard]] bool IsCopied(std::int32_t chunk, const Sent* sent, std::size_t count, Stop& stop) {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    if (since_.size() == 0) {
      if (!since_.Allocate(At(problem_.npu_count))) return stop.LackMemory();
      since_.Fill(kNever);
    }
    const Members before = Listed(problem_.from, chunk);
    for (const std::int32_t npu : before) since_[At(npu)] = 0;
    for (std::size_t i = 0; i < count; i++) {
      double& since = since_[At(To(sent[i]))];
      since = std::min(since, sent[i].end);
    }
    bool is_right = true;
    for (std::size_t i = 0; i < count; i++) is_right = is_right && since_[At(From(sent[i]))] <= sent[i].start;
    for (const std::int32_t npu : Listed(problem_.to, chunk)) is_right = is_right && since_[At(npu)] < kNever;
    for (const std::int32_t npu : before) since_[At(npu)] = kNever;
    for (std::size_t i = 0; i < count; i++) since_[At(To(sent[i]))] = kNever;
    return is_right;
  }

  [[nodiscard]] bool IsSummed(std::int32_t chunk, const Sent* sent, std::size_t count, Stop& stop) {
    if (held_.size() == 0 && !held_.Allocate(At(problem_.npu_count))) return stop.LackMemory();
    if (!SortArrivals(sent, count)) return stop.LackMemory();
    const Members before = Listed(problem_.from, chunk);
    const auto whole = static_cast<std::int32_t>(before.end() - before.begin());
    for (const std::int32_t npu : before) held_[At(npu)].size = 1;
    bool is_right = Play(sent, count, whole);
    for (const std::int32_t npu : Listed(problem_.to, chunk)) is_right = is_right && held_[At(npu)].size == whole;
    for (const std::int32_t npu : before) held_[At(npu)] = Held{0, false};
    for (std::size_t i = 0; i < count; i++) held_[At(To(sent[i]))] = Held{0, false};
    return is_right;
  }

  // By end, then start, route, operation: rows are in order of start and route already.
  [[nodiscard]] bool SortArrivals(const Sent* sent, std::size_t count) {
    if (arrivals_.size() < count && (!arrivals_.Allocate(2 * count) || !payload_.Allocate(2 * count))) return false;
    bool is_sorted = true;
    const auto is_before = [sent](std::uint32_t a, std::uint32_t b) {
      const Sent& x = sent[a];
      const Sent& y = sent[b];
      if (x.end != y.end) return x.end < y.end;
      if (x.start != y.start) return x.start < y.start;
      if (x.route != y.route) return x.route < y.route;
      return x.op != y.op ? x.op < y.op : a < b;
    };
    for (std::uint32_t i = 0; i < count; i++) {
      arrivals_[i] = i;
      is_sorted = is_sorted && (i == 0 || is_before(i - 1, i));
    }
    if (!is_sorted) std::sort(arrivals_.data(), arrivals_.data() + count, is_before);
    return true;
  }

  // Departures and arrivals in order of time, arrivals first.
  [[nodiscard]] bool Play(const Sent* sent, std::size_t count, std::int32_t whole) {
    std::size_t landed = 0;
    for (std::size_t i = 0; i < count; i++) {
      for (; sent[arrivals_[landed]].end <= sent[i].start; landed++) {
        if (!Arrive(sent[arrivals_[landed]], payload_[arrivals_[landed]], whole)) return false;
      }
      Held& source = held_[At(From(sent[i]))];
      if (source.size == 0 || (source.size < whole && source.is_spent)) return false;
      source.is_spent = source.size < whole;
      payload_[i] = source.size;
    }
    for (; landed < count; landed++) {
      if (!Arrive(sent[arrivals_[landed]], payload_[arrivals_[landed]], whole)) return false;
    }
    return true;
  }

  [[nodiscard]] bool Arrive(const Sent& sent, std::int32_t payload, std::int32_t whole) {
    Held& target = held_[At(To(sent))];
    if (sent.op == kCopy || target.size == 0) {
      target = Held{payload, false};
      return true;
    }
    if (target.is_spent || payload == whole) return false;
    target.size += payload;
    return true;
  }

  static constexpr std::int32_t kCopy = 0;

  const BanyanSteps& problem_;
  const Buffer<std::int64_t>& rows_of_;  // [chunks]
  Buffer<Sent> sent_;                    // [rows of a block and one that nobody reads] chunk by chunk
  Buffer<std::int64_t> next_;            // [chunks of a block]
  Buffer<double> since_;                 // [NPUs] when the chunk is there; never between chunks
  Buffer<Held> held_;                    // [NPUs] nothing between chunks
  Buffer<std::uint32_t> arrivals_;       // [rows of a chunk] in order of arrival
  Buffer<std::int32_t> payload_;         // [rows of a chunk] contributions on their way
};

}  // namespace banyan

#endif  // BANYAN_JUDGE_CHUNKS_H_
