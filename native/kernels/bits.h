// Rows of bits, one per chunk.
#ifndef BANYAN_KERNELS_BITS_H_
#define BANYAN_KERNELS_BITS_H_

#include <cstdint>

namespace banyan {

inline bool Bit(const std::uint32_t* row, std::int32_t chunk) { return ((row[chunk >> 5] >> (chunk & 31)) & 1U) != 0; }
inline void SetBit(std::uint32_t* row, std::int32_t chunk) { row[chunk >> 5] |= 1U << (chunk & 31); }

}  // namespace banyan

#endif  // BANYAN_KERNELS_BITS_H_
