// A team of threads that work in step. Without threads (WebAssembly) a team has one member: the caller.
#ifndef BANYAN_KERNELS_TEAM_H_
#define BANYAN_KERNELS_TEAM_H_

#include <atomic>
#include <cstdint>

#include "buffer.h"

#if !defined(__wasm__)
#include <thread>
#endif

namespace banyan {

/// Where all members of a team wait for each other. What a member wrote before is seen by all behind it.
class Barrier {
 public:
  explicit Barrier(std::int32_t members) : members_(members) {}

  void Wait() {
    if (members_ == 1) return;
#if !defined(__wasm__)
    const std::uint32_t round = round_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) == members_ - 1) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.fetch_add(1, std::memory_order_release);
      round_.notify_all();
      return;
    }
    // Members mostly arrive within microseconds of each other; on a busy machine the processor is handed on.
    for (std::int32_t spins = 0; spins < kSpins; spins++) {
      if (round_.load(std::memory_order_acquire) != round) return;
    }
    round_.wait(round, std::memory_order_acquire);
#endif
  }

 private:
  static constexpr std::int32_t kSpins = 5000;

  const std::int32_t members_;
  std::atomic<std::int32_t> arrived_{0};
  std::atomic<std::uint32_t> round_{0};
};

/// Runs work(member) for members 0 .. members - 1 at the same time, member 0 on the calling thread.
template <typename Work>
void RunTeam(std::int32_t members, const Work& work) {
#if !defined(__wasm__)
  if (members > 1) {
    auto* threads = new std::thread[static_cast<std::size_t>(members - 1)];
    for (std::int32_t member = 1; member < members; member++) {
      threads[member - 1] = std::thread([&work, member] { work(member); });
    }
    work(0);
    for (std::int32_t member = 1; member < members; member++) threads[member - 1].join();
    delete[] threads;
    return;
  }
#endif
  for (std::int32_t member = 0; member < members; member++) work(member);
}

}  // namespace banyan

#endif  // BANYAN_KERNELS_TEAM_H_
