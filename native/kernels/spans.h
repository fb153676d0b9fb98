// Where the arrays of a call lie: what is written must overlap nothing else, or a kernel's input changes under its feet.
#ifndef BANYAN_KERNELS_SPANS_H_
#define BANYAN_KERNELS_SPANS_H_

#include <cstdint>

namespace banyan {

/// The arrays of one call, in the order in which they are added.
class Spans {
 public:
  /// Adds an array that is read. False where the count is negative, memory of so many elements cannot lie there, or a
  /// written one overlaps it; the call is then refused. O(arrays added).
  template <typename T>
  [[nodiscard]] bool Reads(const T* data, std::int64_t count) {
    return Add(data, count, sizeof(T), alignof(T), false);
  }
  /// The same for one that is written, which no other may overlap.
  template <typename T>
  [[nodiscard]] bool Writes(const T* data, std::int64_t count) {
    return Add(data, count, sizeof(T), alignof(T), true);
  }
  /// The same for those that need not be there.
  template <typename T>
  [[nodiscard]] bool MayRead(const T* data, std::int64_t count) {
    return data == nullptr || Reads(data, count);
  }
  template <typename T>
  [[nodiscard]] bool MayWrite(const T* data, std::int64_t count) {
    return data == nullptr || Writes(data, count);
  }

 private:
  static constexpr std::int32_t kMost = 32;

  struct Span {
    std::uintptr_t begin;
    std::uintptr_t end;
    bool is_written;
  };

  [[nodiscard]] bool Add(const void* data, std::int64_t count, std::uintptr_t size, std::uintptr_t alignment,
                         bool is_written) {
    if (count == 0) return true;
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    if (count < 0 || begin == 0 || begin % alignment != 0 || count_ == kMost) return false;
    if (static_cast<std::uint64_t>(count) > (UINTPTR_MAX / 2) / size) return false;
    const std::uintptr_t bytes = static_cast<std::uintptr_t>(count) * size;
    if (begin > UINTPTR_MAX - bytes) return false;
    const Span own{begin, begin + bytes, is_written};
    for (std::int32_t i = 0; i < count_; i++) {
      const Span& other = spans_[i];
      const bool is_apart = own.end <= other.begin || other.end <= own.begin;
      if (!is_apart && (is_written || other.is_written)) return false;
    }
    spans_[count_++] = own;
    return true;
  }

  Span spans_[kMost];
  std::int32_t count_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_SPANS_H_
