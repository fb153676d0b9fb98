// What the C ABI asks of columns before a kernel sees them.
#ifndef BANYAN_KERNELS_CHECKS_H_
#define BANYAN_KERNELS_CHECKS_H_

#include <cstdint>

#include "lists.h"

namespace banyan {

constexpr double kMaxSafe = 9007199254740991.0;
constexpr std::int32_t kMostNodes = INT32_MAX - 64;  // rows of bits of all nodes still have an int32_t of bits

inline bool InRange(const std::int32_t* values, std::int32_t count, std::int32_t below) {
  for (std::int32_t i = 0; i < count; i++) {
    if (values[i] < 0 || values[i] >= below) return false;
  }
  return true;
}

inline bool InRange(const std::uint8_t* flags, std::int32_t count) {
  for (std::int32_t i = 0; i < count; i++) {
    if (flags[i] > 1) return false;
  }
  return true;
}

inline bool Ascending(const std::int32_t* offset, std::int32_t lists, std::int32_t end) {
  if (offset[0] != 0 || offset[lists] != end) return false;
  for (std::int32_t i = 0; i < lists; i++) {
    if (offset[i] > offset[i + 1]) return false;
  }
  return true;
}

/// Finds values that stand twice in a list, for one list after another.
class Repeats {
 public:
  /// For values 0 .. below - 1. False when the memory cannot be had.
  [[nodiscard]] bool Allocate(std::int32_t below) { return last_.Allocate(At(below)); }

  /// Whether one of the list's values stands in it twice. O(count).
  [[nodiscard]] bool In(const std::int32_t* values, std::int32_t count) {
    lists_++;
    for (std::int32_t i = 0; i < count; i++) {
      std::uint32_t& last = last_[At(values[i])];
      if (last == lists_) return true;
      last = lists_;
    }
    return false;
  }

 private:
  Buffer<std::uint32_t> last_;  // the last list that had the value
  std::uint32_t lists_ = 0;
};

/// Whether values are integers from least to most, at most 2^53 of either sign.
inline bool ExactIntegers(const double* values, std::int32_t count, double least, double most) {
  for (std::int32_t i = 0; i < count; i++) {
    const double value = values[i];
    if (!(value >= least && value <= most)) return false;
    if (value != static_cast<double>(static_cast<std::int64_t>(value))) return false;
  }
  return true;
}

}  // namespace banyan

#endif  // BANYAN_KERNELS_CHECKS_H_
