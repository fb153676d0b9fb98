#include "spread.h"

#include "spread_serve.h"
#include "spread_state.h"
#include "spread_unfold.h"
#include "team.h"

namespace banyan {
namespace {

/// NPUs that are served one after another.
struct Block {
  std::int32_t first = 0;  // NPUs first .. last - 1
  std::int32_t last = 0;
  std::int32_t active_count = 0;    // that lack chunks, or did when the last slot began
  std::int32_t deferred_count = 0;  // of these, the ones that look at their neighbours in this slot
  std::int64_t arrivals = 0;        // in this slot
};

constexpr std::int32_t kBlocksEach = 16;  // for each thread
constexpr std::int32_t kLeastNpus = 64;   // in a block, where there are several

enum class Stop : std::int32_t { kNo, kDone, kCancelled, kNoRoom };

std::int32_t BlockCount(std::int32_t npus, std::int32_t members) {
  const std::int32_t most = members == 1 ? 1 : members * kBlocksEach;
  const std::int32_t wanted = npus / kLeastNpus < members ? members : npus / kLeastNpus;
  return wanted < most ? wanted : most;
}

template <typename Entry>
class SpreadRun {
 public:
  SpreadRun(SpreadState<Entry>& state, Team& team, BanyanCancelled cancelled, const void* context)
      : state_(state),
        team_(team),
        cancelled_(cancelled),
        context_(context),
        block_count_(BlockCount(state.problem.npu_count, team.members())),
        rounds_(team.members(), block_count_) {}
  SpreadRun(const SpreadRun&) = delete;
  SpreadRun& operator=(const SpreadRun&) = delete;

  /// Splits the NPUs into blocks whose NPUs that lack chunks have equally many ports.
  [[nodiscard]] bool Build() {
    const std::int32_t npus = state_.problem.npu_count;
    std::int32_t most_ports = 0;
    std::int64_t all_ports = 0;
    for (std::int32_t v = 0; v < npus; v++) {
      most_ports = most_ports > state_.PortCount(v) ? most_ports : state_.PortCount(v);
      if (state_.missing[At(v)] > 0) all_ports += state_.PortCount(v);
    }
    for (std::int32_t member = 0; member < team_.members(); member++) {
      if (!served_[member].Allocate(most_ports)) return false;
    }
    if (!active_.Allocate(At(npus)) || !deferred_.Allocate(At(npus)) || !blocks_.Allocate(At(block_count_)))
      return false;
    std::int32_t last = 0;
    std::int64_t ports = 0;
    for (std::int32_t b = 0; b < block_count_; b++) {
      Block& block = blocks_[At(b)];
      block.first = last;
      for (; last < npus && (b == block_count_ - 1 || ports * block_count_ < all_ports * (b + 1)); last++) {
        if (state_.missing[At(last)] == 0) continue;
        active_[At(block.first + block.active_count++)] = last;
        ports += state_.PortCount(last);
      }
      block.last = last;
    }
    return true;
  }

  Stop Run() {
    Decide();
    if (stop_ == Stop::kNo) team_.Run([this](std::int32_t member) { Work(member); });
    return stop_;
  }

  [[nodiscard]] std::int64_t delivered() const { return delivered_; }

 private:
  // A round is a slot; the last one writes what is kept.
  void Work(std::int32_t member) {
    const bool oldest = static_cast<Choice>(state_.problem.choice) == Choice::kOldest;
    for (;;) {
      const std::uint32_t round = rounds_.Round();
      if (Rounds::IsLast(round)) return;
      for (std::int32_t b = rounds_.Take(member); b != Rounds::kNoBlock; b = rounds_.Take(member)) {
        Block& block = blocks_[At(b)];
        const bool stops = stop_ != Stop::kNo;
        if (slot_ > 0 && (stops || slot_ % kSlotsKept == 0)) {
          WriteBits(state_, block.first, block.last, (slot_ - 1) / kSlotsKept * kSlotsKept, slot_);
        }
        if (!stops) ServeBlock(block, served_[member], oldest);
        if (!rounds_.Done()) continue;
        if (stops) {
          rounds_.End();
          return;
        }
        if (!oldest) ServeDeferred(served_[member]);
        slot_++;
        Decide();
        rounds_.Begin();
      }
      rounds_.WaitFor(round);
    }
  }

  // Ends the run, or lets one more slot begin.
  void Decide() {
    std::int64_t arrivals = 0;
    for (std::int32_t b = 0; b < block_count_; b++) {
      Block& block = blocks_[At(b)];
      arrivals += block.arrivals;
      block.arrivals = 0;
    }
    delivered_ += arrivals;
    if (state_.problem.progress != nullptr && state_.expected > 0) {
      const auto done = static_cast<std::int32_t>(delivered_ * 1000 / state_.expected);
      __atomic_store_n(state_.problem.progress, done, __ATOMIC_RELAXED);
    }
    if (delivered_ == state_.expected || (slot_ > 0 && arrivals == 0)) {
      stop_ = Stop::kDone;
    } else if (slot_ == state_.out.max_slots) {
      stop_ = Stop::kNoRoom;
    } else if ((slot_ & 15) == 0 && cancelled_ != nullptr && cancelled_(context_) != 0) {
      stop_ = Stop::kCancelled;
    }
  }

  void ServeBlock(Block& block, Served& served, bool oldest) {
    const std::int32_t* length = state_.length[slot_ & 1].data();
    std::int32_t* next = state_.length[(slot_ + 1) & 1].data();
    std::int32_t* active = active_.data() + block.first;
    const std::int32_t count = block.active_count;
    std::int32_t kept = 0;
    std::int32_t deferred = 0;
    std::int64_t all_arrivals = 0;
    for (std::int32_t i = 0; i < count; i++) {
      if (i + kLogAhead < count) PrefetchEntries(state_, active[i + kLogAhead]);
      if (i + kHoldAhead < count) PrefetchTests(state_, active[i + kHoldAhead]);
      const std::int32_t npu = active[i];
      next[npu] = length[npu];
      if (state_.missing[At(npu)] == 0) continue;  // its last arrivals are now in both lengths
      active[kept++] = npu;
      if (!oldest && !IsPlain(state_, npu)) {
        deferred_[At(block.first + deferred++)] = npu;
        continue;
      }
      const std::int32_t arrivals = Serve(state_, served, npu, slot_, true, length);
      const std::int32_t before = state_.LogLength(npu, state_.missing[At(npu)]) - arrivals;
      next[npu] += ShowArrivals(state_, npu, before, arrivals, length[npu]);
      all_arrivals += arrivals;
      if (!oldest) CountCopies(state_, npu, length[npu], arrivals);
    }
    block.active_count = kept;
    block.deferred_count = deferred;
    block.arrivals = all_arrivals;
  }

  void ServeDeferred(Served& served) {
    const std::int32_t* length = state_.length[slot_ & 1].data();
    std::int32_t* next = state_.length[(slot_ + 1) & 1].data();
    for (std::int32_t b = 0; b < block_count_; b++) {
      Block& block = blocks_[At(b)];
      for (std::int32_t i = 0; i < block.deferred_count; i++) {
        const std::int32_t npu = deferred_[At(block.first + i)];
        const std::int32_t arrivals = Serve(state_, served, npu, slot_, false, length);
        next[npu] += arrivals;
        block.arrivals += arrivals;
        CountCopies(state_, npu, length[npu], arrivals);
      }
    }
  }

  Served served_[kMostMembers];  // [threads]
  SpreadState<Entry>& state_;
  Team& team_;
  BanyanCancelled cancelled_;
  const void* context_;
  const std::int32_t block_count_;
  Buffer<Block> blocks_;
  Buffer<std::int32_t> active_;    // [NPUs] of every block, from its first NPU on
  Buffer<std::int32_t> deferred_;  // [NPUs] the same
  std::int64_t delivered_ = 0;
  std::int32_t slot_ = 0;
  Stop stop_ = Stop::kNo;
  Rounds rounds_;
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
