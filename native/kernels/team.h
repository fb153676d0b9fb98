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

/// Most members of a team.
constexpr std::int32_t kMostMembers = 64;

/// Blocks of work, the same ones in every round, taken by whichever members are there: a member that the system does not
/// let run holds up no more than the block that it is at. What was written in a round is seen by all in the next one.
class Rounds {
 public:
  Rounds(std::int32_t members, std::int32_t blocks) : members_(members), blocks_(blocks) { Fill(); }

  [[nodiscard]] std::uint32_t Round() const { return round_.load(std::memory_order_acquire); }
  /// Whether there is no further round behind the one that was seen.
  [[nodiscard]] static bool IsLast(std::uint32_t round) { return (round & kOver) != 0; }

  /// Takes a block that nobody has taken in this round, of the member's own first; kNoBlock where there is none left.
  [[nodiscard]] std::int32_t Take(std::int32_t member) {
    for (std::int32_t i = 0; i < members_; i++) {
      const std::int32_t owner = (member + i) % members_;
      std::atomic<std::int32_t>& next = queues_[owner].next;
      const std::int32_t end = First(owner + 1);
      if (next.load(std::memory_order_relaxed) >= end) continue;
      const std::int32_t block = next.fetch_add(1, std::memory_order_acq_rel);
      if (block < end) return block;
    }
    return kNoBlock;
  }

  /// Says that a block that was taken is done; returns whether it was the last of the round.
  [[nodiscard]] bool Done() {
    if (done_.fetch_add(1, std::memory_order_acq_rel) < blocks_ - 1) return false;
    done_.store(0, std::memory_order_relaxed);
    return true;
  }

  /// Lets the next round begin. Its caller is the only member that holds anything.
  void Begin() {
    Fill();
    round_.fetch_add(1, std::memory_order_release);
    Notify();
  }

  /// Lets all members go who wait for the next round: there is none.
  void End() {
    round_.fetch_or(kOver, std::memory_order_release);
    Notify();
  }

  /// Waits until a round is over: for microseconds while its last blocks are at work, else the processor is handed on.
  void WaitFor(std::uint32_t round) const {
    if (members_ == 1) return;
#if !defined(__wasm__)
    for (std::int32_t spins = 0; spins < kSpins; spins++) {
      if (Round() != round) return;
    }
    round_.wait(round, std::memory_order_acquire);
#else
    static_cast<void>(round);
#endif
  }

  static constexpr std::int32_t kNoBlock = -1;

 private:
  static constexpr std::int32_t kSpins = 5000;
  static constexpr std::uint32_t kOver = 1U << 31;

  // The blocks that a member takes first, in a cache line of their own.
  struct alignas(64) Queue {
    std::atomic<std::int32_t> next{0};
  };

  [[nodiscard]] std::int32_t First(std::int32_t owner) const {
    return static_cast<std::int32_t>(static_cast<std::int64_t>(blocks_) * owner / members_);
  }

  void Notify() {
#if !defined(__wasm__)
    if (members_ > 1) round_.notify_all();
#endif
  }

  void Fill() {
    for (std::int32_t owner = 0; owner < members_; owner++) {
      queues_[owner].next.store(First(owner), std::memory_order_release);
    }
  }

  Queue queues_[kMostMembers];
  const std::int32_t members_;
  const std::int32_t blocks_;
  std::atomic<std::int32_t> done_{0};
  std::atomic<std::uint32_t> round_{0};
};

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
