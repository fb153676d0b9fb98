// The clock that all processes of one machine share.
#pragma once

#include <time.h>

namespace banyan {

inline double now() {
  timespec at{};
  clock_gettime(CLOCK_MONOTONIC, &at);
  return static_cast<double>(at.tv_sec) + static_cast<double>(at.tv_nsec) * 1e-9;
}

// Keeps no core busy meanwhile.
inline void sleepFor(double seconds) {
  if (seconds <= 0) return;
  timespec time{};
  time.tv_sec = static_cast<time_t>(seconds);
  time.tv_nsec = static_cast<long>((seconds - static_cast<double>(time.tv_sec)) * 1e9);
  nanosleep(&time, nullptr);
}

}  // namespace banyan
