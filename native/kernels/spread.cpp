#include "spread.h"

#include "spread_serve.h"
#include "spread_state.h"
#include "spread_unfold.h"
#include "team.h"

namespace banyan {
namespace {

/// One thread's share, in a cache line of its own.
struct alignas(64) Share {
  Served served;
  Buffer<std::int32_t> active;    // NPUs of its range that lack chunks, or did when the last slot began
  Buffer<std::int32_t> deferred;  // of these, the ones that look at their neighbours in this slot
  std::int32_t first = 0;         // NPUs first .. last - 1
  std::int32_t last = 0;
  std::int32_t active_count = 0;
  std::int32_t deferred_count = 0;
  std::int64_t arrivals = 0;  // in this slot
};

enum class Stop : std::int32_t { kNo, kDone, kCancelled, kNoRoom };

template <typename Entry>
class SpreadRun {
 public:
  SpreadRun(SpreadState<Entry>& state, Team& team, BanyanCancelled cancelled, const void* context)
      : state_(state),
        team_(team),
        cancelled_(cancelled),
        context_(context),
        members_(team.members()),
        barrier_(members_) {}
  SpreadRun(const SpreadRun&) = delete;
  SpreadRun& operator=(const SpreadRun&) = delete;

  /// Splits the NPUs into ranges whose NPUs that lack chunks have equally many ports.
  [[nodiscard]] bool Build() {
    const std::int32_t npus = state_.problem.npu_count;
    std::int32_t most_ports = 0;
    std::int64_t all_ports = 0;
    for (std::int32_t v = 0; v < npus; v++) {
      most_ports = most_ports > state_.PortCount(v) ? most_ports : state_.PortCount(v);
      if (state_.missing[At(v)] > 0) all_ports += state_.PortCount(v);
    }
    std::int32_t last = 0;
    std::int64_t ports = 0;
    for (std::int32_t member = 0; member < members_; member++) {
      Share& share = shares_[member];
      share.first = last;
      std::int32_t active = 0;
      for (; last < npus && (member == members_ - 1 || ports * members_ < all_ports * (member + 1)); last++) {
        if (state_.missing[At(last)] == 0) continue;
        ports += state_.PortCount(last);
        active++;
      }
      share.last = last;
      if (!share.served.Allocate(most_ports) || !share.active.Allocate(At(active)) ||
          !share.deferred.Allocate(At(active))) {
        return false;
      }
      for (std::int32_t v = share.first; v < last; v++) {
        if (state_.missing[At(v)] > 0) share.active[At(share.active_count++)] = v;
      }
    }
    return true;
  }

  Stop Run() {
    team_.Run([this](std::int32_t member) { Work(member); });
    return stop_;
  }

  [[nodiscard]] std::int64_t delivered() const { return delivered_; }

 private:
  void Work(std::int32_t member) {
    Share& share = shares_[member];
    const bool oldest = static_cast<Choice>(state_.problem.choice) == Choice::kOldest;
    for (std::int32_t slot = 0;; slot++) {
      if (member == 0) Decide(slot);
      barrier_.Wait();
      const bool stops = stop_ != Stop::kNo;
      if (slot > 0 && (stops || slot % kSlotsKept == 0)) {
        const std::int32_t from = (slot - 1) / kSlotsKept * kSlotsKept;
        WriteBits(state_, share.first, share.last, from, slot);
      }
      if (stops) return;
      ServeRange(share, slot, oldest);
      barrier_.Wait();
      if (oldest) continue;
      if (member == 0) ServeDeferred(slot);
    }
  }

  // Ends the run, or lets one more slot begin.
  void Decide(std::int32_t slot) {
    std::int64_t arrivals = 0;
    for (std::int32_t member = 0; member < members_; member++) {
      arrivals += shares_[member].arrivals;
      shares_[member].arrivals = 0;
    }
    delivered_ += arrivals;
    if (state_.problem.progress != nullptr && state_.expected > 0) {
      const auto done = static_cast<std::int32_t>(delivered_ * 1000 / state_.expected);
      __atomic_store_n(state_.problem.progress, done, __ATOMIC_RELAXED);
    }
    if (delivered_ == state_.expected || (slot > 0 && arrivals == 0)) {
      stop_ = Stop::kDone;
    } else if (slot == state_.out.max_slots) {
      stop_ = Stop::kNoRoom;
    } else if ((slot & 15) == 0 && cancelled_ != nullptr && cancelled_(context_) != 0) {
      stop_ = Stop::kCancelled;
    }
  }

  void ServeRange(Share& share, std::int32_t slot, bool oldest) {
    const std::int32_t* length = state_.length[slot & 1].data();
    std::int32_t* next = state_.length[(slot + 1) & 1].data();
    const std::int32_t count = share.active_count;
    std::int32_t kept = 0;
    share.deferred_count = 0;
    for (std::int32_t i = 0; i < count; i++) {
      if (i + kLogAhead < count) PrefetchEntries(state_, share.active[At(i + kLogAhead)]);
      if (i + kHoldAhead < count) PrefetchTests(state_, share.active[At(i + kHoldAhead)]);
      const std::int32_t npu = share.active[At(i)];
      next[npu] = length[npu];
      if (state_.missing[At(npu)] == 0) continue;  // its last arrivals are now in both lengths
      share.active[At(kept++)] = npu;
      if (!oldest && !IsPlain(state_, npu)) {
        share.deferred[At(share.deferred_count++)] = npu;
        continue;
      }
      const std::int32_t arrivals = Serve(state_, share.served, npu, slot, true, length);
      const std::int32_t before = state_.LogLength(npu, state_.missing[At(npu)]) - arrivals;
      next[npu] += ShowArrivals(state_, npu, before, arrivals, length[npu]);
      share.arrivals += arrivals;
      if (!oldest) CountCopies(state_, npu, length[npu], arrivals);
    }
    share.active_count = kept;
  }

  void ServeDeferred(std::int32_t slot) {
    const std::int32_t* length = state_.length[slot & 1].data();
    std::int32_t* next = state_.length[(slot + 1) & 1].data();
    for (std::int32_t member = 0; member < members_; member++) {
      Share& share = shares_[member];
      for (std::int32_t i = 0; i < share.deferred_count; i++) {
        const std::int32_t npu = share.deferred[At(i)];
        const std::int32_t arrivals = Serve(state_, share.served, npu, slot, false, length);
        next[npu] += arrivals;
        share.arrivals += arrivals;
        CountCopies(state_, npu, length[npu], arrivals);
      }
    }
  }

  Share shares_[kMostMembers];
  SpreadState<Entry>& state_;
  Team& team_;
  BanyanCancelled cancelled_;
  const void* context_;
  std::int64_t delivered_ = 0;
  const std::int32_t members_;
  Stop stop_ = Stop::kNo;
  Barrier barrier_;
};

template <typename Entry>
BanyanStatus ReportUnreachable(SpreadState<Entry>& state, BanyanLogs* out) {
  std::int32_t npu = 0;
  while (state.missing[At(npu)] == 0) npu++;
  std::int32_t chunk = 0;
  while (Bit(state.Hi(npu), chunk)) chunk++;
  out->detail[0] = npu;
  out->detail[1] = chunk;
  return kBanyanUnreachable;
}

template <typename Entry>
BanyanStatus SpreadWith(const BanyanSpread& problem, BanyanCancelled cancelled, const void* context, BanyanLogs* out) {
  SpreadState<Entry> state(problem, *out);
  const BanyanStatus built = BuildSpread(state);
  if (built != kBanyanOk) return built;
  const std::int32_t most = problem.npu_count < kMostMembers ? problem.npu_count : kMostMembers;
  Team team(problem.threads < most ? problem.threads : most);
  SpreadRun<Entry> run(state, team, cancelled, context);
  if (!run.Build()) return kBanyanOutOfMemory;
  const Stop stop = run.Run();
  if (stop == Stop::kCancelled) return kBanyanCancelled;
  if (stop == Stop::kNoRoom) return kBanyanOutputTooSmall;
  if (run.delivered() != state.expected) return ReportUnreachable(state, out);
  return state.fold.Folded() ? UnfoldLogs(state, team, cancelled, context) : kBanyanOk;
}

}  // namespace

std::int32_t LogEntries(const BanyanSpread& problem, std::int32_t npu) {
  const std::size_t words = (At(problem.chunk_count) + 31) / 32;
  std::int32_t entries = 0;
  for (std::int32_t c = 0; problem.wanted != nullptr && c < problem.chunk_count; c++) {
    entries += Bit(problem.wanted + At(npu) * words, c) ? 1 : 0;
  }
  if (problem.wanted == nullptr) return problem.chunk_count;
  for (std::int32_t i = problem.held_offset[npu]; i < problem.held_offset[npu + 1]; i++) {
    entries += Bit(problem.wanted + At(npu) * words, problem.held_chunk[i]) ? 0 : 1;
  }
  return entries;
}

BanyanStatus Spread(const BanyanSpread& problem, BanyanCancelled cancelled, const void* context, BanyanLogs* out) {
  if (out->entry_bytes == 2) return SpreadWith<std::uint16_t>(problem, cancelled, context, out);
  return SpreadWith<std::int32_t>(problem, cancelled, context, out);
}

}  // namespace banyan
