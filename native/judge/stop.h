// When the threads of a judgement stop: at the first thing that is not shown, and when the caller asks.
#ifndef BANYAN_JUDGE_STOP_H_
#define BANYAN_JUDGE_STOP_H_

#include <atomic>
#include <cstdint>

#include "../abi.h"

namespace banyan {

class Stop {
 public:
  Stop(BanyanCancelled cancelled, const void* context) : cancelled_(cancelled), context_(context) {}

  /// Whether to stop; the caller is asked on its own thread, which is member 0.
  [[nodiscard]] bool Asked(std::int32_t member) {
    if (member == 0 && cancelled_ != nullptr && cancelled_(context_) != 0) {
      is_cancelled_.store(true, std::memory_order_relaxed);
      failed_.store(true, std::memory_order_relaxed);
    }
    return failed_.load(std::memory_order_relaxed);
  }
  /// Ends all for want of memory; returns false, as those do who find that something is not shown.
  [[nodiscard]] bool LackMemory() {
    lacks_memory_.store(true, std::memory_order_relaxed);
    return false;
  }
  void Fail() { failed_.store(true, std::memory_order_relaxed); }
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_relaxed); }
  [[nodiscard]] BanyanStatus Status() const {
    if (is_cancelled_.load(std::memory_order_relaxed)) return kBanyanCancelled;
    return lacks_memory_.load(std::memory_order_relaxed) ? kBanyanOutOfMemory : kBanyanOk;
  }

 private:
  BanyanCancelled cancelled_;
  const void* context_;
  std::atomic<bool> failed_{false};
  std::atomic<bool> is_cancelled_{false};
  std::atomic<bool> lacks_memory_{false};
};

/// So many rows lie between two looks at whether to stop.
constexpr std::int32_t kRowsBetween = 1 << 16;

}  // namespace banyan

#endif  // BANYAN_JUDGE_STOP_H_
