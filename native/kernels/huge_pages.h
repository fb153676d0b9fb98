// Asks for large pages where the matching walks over gigabytes: most of its time is waiting for memory.
#ifndef BANYAN_KERNELS_HUGE_PAGES_H_
#define BANYAN_KERNELS_HUGE_PAGES_H_

#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace banyan {

/// Advises the system to back the memory with pages of 2 MiB; best before it is first touched. Does nothing elsewhere.
inline void AdviseHugePages(void* data, std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::size_t kPage = 4096;
  constexpr std::size_t kWorthwhile = std::size_t{4} << 20;
  if (bytes < kWorthwhile) return;
  const std::size_t before = (kPage - reinterpret_cast<std::uintptr_t>(data) % kPage) % kPage;
  static_cast<void>(madvise(static_cast<char*>(data) + before, (bytes - before) / kPage * kPage, MADV_HUGEPAGE));
#else
  static_cast<void>(data);
  static_cast<void>(bytes);
#endif
}

}  // namespace banyan

#endif  // BANYAN_KERNELS_HUGE_PAGES_H_
