// What the C ABI asks of columns before a kernel sees them.
#ifndef BANYAN_KERNELS_CHECKS_H_
#define BANYAN_KERNELS_CHECKS_H_

#include <cstdint>

namespace banyan {

constexpr double kMaxSafe = 9007199254740991.0;

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
