// Chunks in order of arrival. No twin: JavaScript keeps plain logs.
#ifndef BANYAN_KERNELS_MATCH_LOG_H_
#define BANYAN_KERNELS_MATCH_LOG_H_

#include <bit>
#include <cstddef>
#include <cstdint>

#include "buffer.h"
#include "lists.h"

namespace banyan {

constexpr std::size_t kLine = 64;   // bytes of a cache line
constexpr std::int32_t kRows = 4;   // rows of offers
constexpr std::int32_t kShift = 5;  // an index in a log is (slice << kShift) + place

/// A cache line of one NPU's log, and beside each chunk a bit for each of the
/// first ways out of the NPU: whether its reader lacked the chunk when it
/// arrived. A reader that had it then will always have it, so it need not be
/// asked again. The last row is shared by all further ways.
template <typename Entry>
struct Slice {
  static constexpr std::int32_t kEntries = (kLine - kRows * sizeof(std::uint32_t)) / sizeof(Entry);
  Entry chunk[kEntries];
  std::uint32_t offers[kRows];
};
static_assert(sizeof(Slice<std::uint16_t>) == kLine && sizeof(Slice<std::int32_t>) == kLine);

/// `size` zeros from the beginning of a cache line on, in `buffer`; null when
/// there is no memory.
template <typename T>
[[nodiscard]] T* AllocateLines(Buffer<T>& buffer, std::size_t size) {
  static_assert(kLine % sizeof(T) == 0);
  if (!buffer.Allocate(size + kLine / sizeof(T))) return nullptr;
  const std::size_t past = reinterpret_cast<std::uintptr_t>(buffer.data()) % kLine;
  return reinterpret_cast<T*>(reinterpret_cast<char*>(buffer.data()) + (kLine - past) % kLine);
}

/// The logs of all NPUs. Their slices with one number lie together, as they are
/// written and read at about the same time: the active ones are few pages,
/// where whole logs are one page or more each.
template <typename Entry>
class Logs {
 public:
  static constexpr std::int32_t kEntries = Slice<Entry>::kEntries;

  /// Room for so many chunks in each of `npus` logs; false when there is no
  /// memory.
  [[nodiscard]] bool Allocate(std::int32_t npus, std::int32_t longest) {
    npus_ = At(npus);
    const std::int32_t slices = longest / kEntries + 1;
    if (slices > INT32_MAX >> kShift) return false;
    slices_ = AllocateLines(memory_, At(slices) * npus_);
    return slices_ != nullptr && length_.Allocate(npus_);
  }

  /// Behind the last chunk.
  [[nodiscard]] std::int32_t Length(std::int32_t npu) const { return length_[At(npu)]; }
  /// The slice with this index of an NPU's log.
  [[nodiscard]] Slice<Entry>& Line(std::int32_t npu, std::int32_t index) const {
    return slices_[At(index >> kShift) * npus_ + At(npu)];
  }
  [[nodiscard]] std::int32_t Chunk(std::int32_t npu, std::int32_t index) const {
    return static_cast<std::int32_t>(Line(npu, index).chunk[Place(index)]);
  }
  /// Puts the chunk behind the others; returns its index.
  std::int32_t Append(std::int32_t npu, std::int32_t chunk) {
    const std::int32_t index = length_[At(npu)];
    Line(npu, index).chunk[Place(index)] = static_cast<Entry>(chunk);
    length_[At(npu)] = Place(index) + 1 == kEntries ? NextSlice(index) : index + 1;
    return index;
  }
  /// The index of the chunk before this one.
  [[nodiscard]] static std::int32_t Before(std::int32_t index) {
    return Place(index) > 0 ? index - 1 : index - (1 << kShift) + kEntries - 1;
  }
  [[nodiscard]] static std::int32_t NextSlice(std::int32_t index) { return (index | ((1 << kShift) - 1)) + 1; }
  [[nodiscard]] static std::int32_t Place(std::int32_t index) { return index & ((1 << kShift) - 1); }

 private:
  Buffer<Slice<Entry>> memory_;
  Slice<Entry>* slices_ = nullptr;  // [slices][npus]
  std::size_t npus_ = 0;
  Buffer<std::int32_t> length_;  // [npus]
};

/// Walks over the chunks of an NPU's log that are offered in a row, or over all
/// of them where `row` is kRows.
template <typename Entry>
class Offers {
 public:
  Offers(const Logs<Entry>& logs, std::int32_t npu, std::int32_t row, std::int32_t from)
      : logs_(logs), npu_(npu), row_(row), length_(logs.Length(npu)), base_(from - logs.Place(from)) {
    if (base_ < length_) Open(logs.Place(from));
  }

  /// Goes on to the next chunk; false behind the last.
  [[nodiscard]] bool Next() {
    while (bits_ == 0) {
      base_ = logs_.NextSlice(base_);
      if (base_ >= length_) return false;
      Open(0);
    }
    place_ = std::countr_zero(bits_);
    bits_ &= bits_ - 1;
    return true;
  }
  [[nodiscard]] std::int32_t index() const { return base_ + place_; }
  [[nodiscard]] std::int32_t chunk() const { return static_cast<std::int32_t>(line_->chunk[place_]); }

 private:
  // Starts with the slice at base_, from this place on.
  void Open(std::int32_t place) {
    line_ = &logs_.Line(npu_, base_);
    const std::int32_t left = length_ - base_ < Logs<Entry>::kEntries ? length_ - base_ : Logs<Entry>::kEntries;
    bits_ = (row_ < kRows ? line_->offers[row_] : (1U << left) - 1) >> place << place;
  }

  const Logs<Entry>& logs_;
  const Slice<Entry>* line_ = nullptr;
  const std::int32_t npu_;
  const std::int32_t row_;
  const std::int32_t length_;
  std::int32_t base_;  // of the slice
  std::int32_t place_ = 0;
  std::uint32_t bits_ = 0;  // what is left of it
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_MATCH_LOG_H_
