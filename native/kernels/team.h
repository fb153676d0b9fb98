// A team of threads that work in step. Without threads (WebAssembly) a team has one member: the caller.
#ifndef BANYAN_KERNELS_TEAM_H_
#define BANYAN_KERNELS_TEAM_H_

#include <atomic>
#include <cstdint>

#if defined(_WIN32)
#include <thread>
#elif !defined(__wasm__)
#include <pthread.h>
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

constexpr std::int32_t kMostMembers = 64;

#if defined(_WIN32)
/// A thread.
class Thread {
 public:
  [[nodiscard]] bool Start(void* (*run)(void*), void* with) {
    thread_ = std::thread([run, with] { run(with); });
    return true;
  }
  void Join() { thread_.join(); }

 private:
  std::thread thread_;
};
#elif !defined(__wasm__)
/// A thread. Not std::thread, which throws where none can be had.
class Thread {
 public:
  [[nodiscard]] bool Start(void* (*run)(void*), void* with) {
    return pthread_create(&thread_, nullptr, run, with) == 0;
  }
  void Join() { pthread_join(thread_, nullptr); }

 private:
  pthread_t thread_{};
};
#endif

/// Runs work(member) for members 0 .. members - 1, at most kMostMembers, at the same time, member 0 on the calling thread.
/// False where so many threads cannot be had; nothing has been done then.
template <typename Work>
[[nodiscard]] bool RunTeam(std::int32_t members, const Work& work) {
#if !defined(__wasm__)
  enum Gate : std::int32_t { kShut, kOpen, kCalledOff };
  struct Member {
    const Work* work = nullptr;
    std::atomic<std::int32_t>* gate = nullptr;
    std::int32_t number = 0;
    Thread thread;
  };
  const auto run = [](void* with) -> void* {
    const auto& member = *static_cast<Member*>(with);
    member.gate->wait(kShut, std::memory_order_acquire);
    if (member.gate->load(std::memory_order_acquire) == kOpen) (*member.work)(member.number);
    return nullptr;
  };
  std::atomic<std::int32_t> gate{kShut};
  Member team[kMostMembers];
  std::int32_t started = 1;
  for (; started < members; started++) {
    Member& member = team[started];
    member.work = &work;
    member.gate = &gate;
    member.number = started;
    if (!member.thread.Start(run, &member)) break;
  }
  gate.store(started == members ? kOpen : kCalledOff, std::memory_order_release);
  gate.notify_all();
  if (started == members) work(0);
  for (std::int32_t member = 1; member < started; member++) team[member].thread.Join();
  return started == members;
#else
  for (std::int32_t member = 0; member < members; member++) work(member);
  return true;
#endif
}

}  // namespace banyan

#endif  // BANYAN_KERNELS_TEAM_H_
