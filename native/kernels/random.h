// The counter-based generator of src/base/random.ts, bit by bit.
#ifndef BANYAN_KERNELS_RANDOM_H_
#define BANYAN_KERNELS_RANDOM_H_

#include <cstdint>

namespace banyan {

inline std::uint32_t Mix(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  x ^= x >> 16;
  return x;
}

/// The 32-bit random number at counter (a, b) of the stream `seed`.
inline std::uint32_t Draw(std::uint32_t seed, std::uint32_t a, std::uint32_t b) {
  return Mix(Mix(Mix(seed + 0x9e3779b9U) ^ a) + b);
}

/// An index in [0, bound) from a 32-bit random number: the high half of the product.
inline std::int32_t Below(std::uint32_t random, std::int32_t bound) {
  return static_cast<std::int32_t>((static_cast<std::uint64_t>(random) * static_cast<std::uint32_t>(bound)) >> 32);
}

/// Shuffles items [count] (Fisher-Yates, highest index first). The first step uses the draw at counter (a, b), each
/// further one x <- 0x9e3779b1 x + 0x7f4a7c15 of it: a kernel shuffles a handful of routes a million times.
inline void Shuffle(std::int32_t* items, std::int32_t count, std::uint32_t seed, std::uint32_t a, std::uint32_t b = 0) {
  std::uint32_t x = Draw(seed, a, b);
  for (std::int32_t i = count - 1; i > 0; i--) {
    const std::int32_t j = Below(x, i + 1);
    const std::int32_t kept = items[i];
    items[i] = items[j];
    items[j] = kept;
    x = x * 0x9e3779b1U + 0x7f4a7c15U;
  }
}

}  // namespace banyan

#endif  // BANYAN_KERNELS_RANDOM_H_
