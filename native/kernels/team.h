// A team of threads that work in step. Without threads (WebAssembly) a team has one member: the caller.
#ifndef BANYAN_KERNELS_TEAM_H_
#define BANYAN_KERNELS_TEAM_H_

#include <atomic>
#include <cstdint>

#if defined(_MSC_VER)
#include <system_error>
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

/// Most members of a team.
constexpr std::int32_t kMostMembers = 64;

#if !defined(__wasm__)
/// A thread whose start may fail: std::thread would throw, and nobody here could catch it.
class Thread {
 public:
  /// Starts run(argument); false when the system gives no more threads.
  [[nodiscard]] bool Start(void (*run)(void*), void* argument) {
    run_ = run;
    argument_ = argument;
#if defined(_MSC_VER)
    try {
      thread_ = std::thread(run, argument);
    } catch (const std::system_error&) {
      return false;
    }
    return true;
#else
    return pthread_create(&thread_, nullptr, Main, this) == 0;
#endif
  }

  void Join() {
#if defined(_MSC_VER)
    thread_.join();
#else
    pthread_join(thread_, nullptr);
#endif
  }

 private:
#if defined(_MSC_VER)
  std::thread thread_;
#else
  static void* Main(void* self) {
    const auto* thread = static_cast<Thread*>(self);
    thread->run_(thread->argument_);
    return nullptr;
  }

  pthread_t thread_{};
#endif
  void (*run_)(void*) = nullptr;
  void* argument_ = nullptr;
};
#endif

/// Threads that do a work together, the calling one as member 0. They live as long as the team.
class Team {
 public:
  /// Gathers so many members, 1 .. kMostMembers; fewer where the system gives no more threads.
  explicit Team(std::int32_t wanted) {
#if !defined(__wasm__)
    while (members_ < wanted && seats_[members_].Take(*this, members_)) members_++;
#else
    static_cast<void>(wanted);
#endif
  }

  ~Team() {
    Begin(nullptr, nullptr);
#if !defined(__wasm__)
    for (std::int32_t member = 1; member < members_; member++) seats_[member].thread.Join();
#endif
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  [[nodiscard]] std::int32_t members() const { return members_; }

  /// Runs work(member) for members 0 .. members() - 1 at the same time; returns when all are done.
  template <typename Work>
  void Run(const Work& work) {
    Begin([](const void* of, std::int32_t member) { (*static_cast<const Work*>(of))(member); }, &work);
    work(0);
#if !defined(__wasm__)
    for (std::int32_t left = busy_.load(std::memory_order_acquire); left != 0;
         left = busy_.load(std::memory_order_acquire)) {
      busy_.wait(left, std::memory_order_acquire);
    }
#endif
  }

 private:
  using Call = void (*)(const void* work, std::int32_t member);

  // Hands a work to all threads; without one they end.
  void Begin(Call call, const void* work) {
#if !defined(__wasm__)
    call_ = call;
    work_ = work;
    busy_.store(members_ - 1, std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
#else
    static_cast<void>(call);
    static_cast<void>(work);
#endif
  }

  std::int32_t members_ = 1;
#if !defined(__wasm__)
  struct Seat {
    Thread thread;
    Team* team = nullptr;
    std::int32_t member = 0;

    [[nodiscard]] bool Take(Team& of, std::int32_t as) {
      team = &of;
      member = as;
      return thread.Start([](void* self) { static_cast<Seat*>(self)->Serve(); }, this);
    }

    void Serve() const {
      for (std::uint32_t round = 0;; round++) {
        team->round_.wait(round, std::memory_order_acquire);
        if (team->call_ == nullptr) return;
        team->call_(team->work_, member);
        if (team->busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) team->busy_.notify_all();
      }
    }
  };

  Seat seats_[kMostMembers];
  Call call_ = nullptr;
  const void* work_ = nullptr;
  std::atomic<std::uint32_t> round_{0};
  std::atomic<std::int32_t> busy_{0};
#endif
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_TEAM_H_
