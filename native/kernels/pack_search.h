// Packs what is still to start: batches of trees, a sweep after each, back to before what broke a cut.
#ifndef BANYAN_KERNELS_PACK_SEARCH_H_
#define BANYAN_KERNELS_PACK_SEARCH_H_

#include "pack_grow.h"
#include "pack_sweep.h"
#include "pack_worth.h"

namespace banyan {

enum class PackEnd : std::uint8_t {
  kPacked,
  kStuck,    // no path is allowed, and no cut is violated
  kTooDear,  // the trees cost more than they may
  kFailed    // see status()
};

class PackSearch {
 public:
  PackSearch(PackState& state, BanyanCancelled cancelled, const void* context)
      : grower(state, cancelled, context), state_(state), sweep_(state), cancelled_(cancelled), context_(context) {}

  TreeGrower grower;
  const PackWorth* worth = nullptr;  // where there is one, trees from `first` on may cost so much
  std::int64_t budget = 0;
  std::int32_t first = 0;

  [[nodiscard]] bool Allocate() {
    const std::int32_t npus = state_.net.npus;
    if (!grower.Allocate() || !sweep_.Allocate() || !AllocateRange(all_, npus)) return false;
    SetRoots(all_.data(), npus);
    return true;
  }
  [[nodiscard]] BanyanStatus status() const { return status_; }
  [[nodiscard]] bool Cancelled() const { return cancelled_ != nullptr && cancelled_(context_) != 0; }

  /// Lets the copies of roots [count] start in this order, in turn; the caller keeps the array.
  void SetRoots(const std::int32_t* roots, std::int32_t count) {
    roots_ = roots;
    root_count_ = count;
  }

  /// Looks for sets that forbid the trees before any is made; sets with nothing to spare join the pool. Marks in `cut` [nodes]
  /// the outside of the largest violated one; *violated tells whether there is one. False when it failed.
  [[nodiscard]] bool Begin(std::uint8_t* cut, bool* violated) {
    std::int32_t fewest = INT32_MAX;
    bool fits = true;
    const bool swept = Sweep(true, false, [&](const std::uint8_t* inside, bool) {
      if (state_.SlackOf(inside) >= 0) {
        if (fewest == INT32_MAX) fits = fits && state_.pool.Add(state_.net, inside, state_.SlackOf(inside), false);
        return;
      }
      std::int32_t outside = 0;
      for (std::int32_t v = 0; v < state_.net.nodes; v++) outside += inside[v] == 0 ? 1 : 0;
      if (outside >= fewest) return;
      fewest = outside;
      for (std::int32_t v = 0; v < state_.net.nodes; v++) cut[v] = inside[v] == 0 ? 1 : 0;
    });
    *violated = fewest < INT32_MAX;
    return swept && (fits || Fail(kBanyanOutOfMemory));
  }

  /// Packs all copies that are still to start.
  [[nodiscard]] PackEnd Run() {
    turn_ = 0;
    std::int32_t batch = kMostBatch;
    bool thorough = false;
    for (;;) {
      const Growth growth = GrowBatch(batch, thorough);
      if (growth == Growth::kFailed) return PackEnd::kFailed;
      if (growth == Growth::kTooHigh || IsTooDear()) return PackEnd::kTooDear;
      if (state_.Missing() == 0) return PackEnd::kPacked;
      const std::int32_t before = rollbacks_;
      if (!Verify()) return PackEnd::kFailed;
      if (rollbacks_ > before) {
        batch = batch > 1 ? batch / 2 : 1;
        thorough = false;
        continue;
      }
      if (batch < kMostBatch) batch *= 2;
      if (growth == Growth::kWhole) {
        thorough = false;
      } else if (state_.copies > 1) {
        state_.LowerTo(state_.copies / 2);
      } else if (!thorough) {
        thorough = true;
      } else {
        return PackEnd::kStuck;
      }
    }
  }

  [[nodiscard]] std::int32_t sweeps() const { return sweeps_; }
  [[nodiscard]] std::int32_t rollbacks() const { return rollbacks_; }

 private:
  static constexpr std::int32_t kMostBatch = 64;

  bool Fail(BanyanStatus status) {
    status_ = status;
    return false;
  }

  // Up to `batch` trees; kWhole when they are finished.
  [[nodiscard]] Growth GrowBatch(std::int32_t batch, bool thorough) {
    for (std::int32_t i = 0; i < batch && state_.Missing() > 0; i++) {
      if (!state_.open) {
        if (!state_.StartTree(NextRoot())) {
          status_ = kBanyanOutputTooSmall;
          return Growth::kFailed;
        }
      }
      grower.prices.NextTree(tree_number_++);
      if (worth != nullptr) grower.most_height = worth->MostHeight(state_.root, state_.copies, budget);
      const Growth growth = grower.Grow(thorough);
      if (growth == Growth::kFailed) status_ = grower.status();
      if (growth != Growth::kWhole || IsTooDear()) return growth;
      thorough = false;
    }
    return Growth::kWhole;
  }

  [[nodiscard]] bool IsTooDear() const {
    return worth != nullptr && worth->OfTrees(first, state_.out->tree_count - (state_.open ? 1 : 0)) > budget;
  }

  // The next root in turn that has copies to start.
  std::int32_t NextRoot() {
    while (state_.unstarted[At(roots_[turn_])] == 0) turn_ = turn_ + 1 == root_count_ ? 0 : turn_ + 1;
    const std::int32_t root = roots_[turn_];
    turn_ = turn_ + 1 == root_count_ ? 0 : turn_ + 1;
    return root;
  }

  template <typename Found>
  [[nodiscard]] bool Sweep(bool tight, bool again, Found found) {
    sweeps_++;
    return sweep_.Run(tight, again, cancelled_, context_, found) || Fail(kBanyanCancelled);
  }

  // Sweeps, and rolls back before what broke the cuts found, until there are none.
  [[nodiscard]] bool Verify() {
    bool again = false;
    for (bool clean = false; !clean; again = true) {
      clean = true;
      bool fits = true;
      const bool swept = Sweep(false, again, [&](const std::uint8_t* inside, bool largest) {
        const std::int64_t slack = state_.SlackOf(inside);
        const bool untouched = state_.Untouched(inside);
        const bool violated = slack < (untouched ? state_.copies : 0);
        clean = false;
        if (largest && !violated) return;
        fits = fits && state_.pool.Add(state_.net, inside, slack, untouched);
        if (!violated) return;
        state_.RollBack(Breach(inside, slack));
        rollbacks_++;
      });
      if (!swept) return false;
      if (!fits) return Fail(kBanyanOutOfMemory);
    }
    return true;
  }

  // The first edge that broke a cut whose slack is `slack` now. Slack never grows along the trees, so it is looked for
  // from the end. O(links of the trees passed over).
  [[nodiscard]] PackPlace Breach(const std::uint8_t* inside, std::int64_t slack) const {
    for (std::int32_t tree = state_.out->tree_count - 1; tree > 0; tree--) {
      const std::int64_t before = SlackBefore(inside, tree, slack);
      if (before >= 0) return BreachIn(inside, tree, before);
      slack = before;
    }
    return BreachIn(inside, 0, SlackBefore(inside, 0, slack));
  }

  // The slack before a tree from that after it.
  [[nodiscard]] std::int64_t SlackBefore(const std::uint8_t* inside, std::int32_t tree, std::int64_t after) const {
    const std::int64_t begin = state_.Begin(tree, 0);
    const std::int64_t end = state_.Begin(tree, state_.Edges(tree));
    const std::int32_t root = state_.out->root[tree];
    const std::int64_t entries = Entries(inside, begin, end) - (inside[root] == 0 ? 1 : 0);
    return after + static_cast<std::int64_t>(state_.out->copies[tree]) * entries;
  }

  [[nodiscard]] PackPlace BreachIn(const std::uint8_t* inside, std::int32_t tree, std::int64_t slack) const {
    const auto copies = static_cast<std::int64_t>(state_.out->copies[tree]);
    bool untouched = inside[state_.out->root[tree]] == 0;
    if (untouched) slack += copies;
    std::int32_t edge = 0;
    for (; edge < state_.Edges(tree); edge++) {
      const std::int64_t end = state_.Begin(tree, edge + 1);
      slack -= copies * Entries(inside, state_.Begin(tree, edge), end);
      if (inside[state_.net.target[state_.out->links[end - 1]]] != 0) untouched = false;
      if (slack < (untouched ? copies : 0)) break;
    }
    return {tree, edge};
  }

  // How often links[begin .. end) enter a set.
  [[nodiscard]] std::int64_t Entries(const std::uint8_t* inside, std::int64_t begin, std::int64_t end) const {
    std::int64_t entries = 0;
    for (std::int64_t i = begin; i < end; i++) {
      const std::int32_t link = state_.out->links[i];
      if (inside[state_.net.source[link]] == 0 && inside[state_.net.target[link]] != 0) entries++;
    }
    return entries;
  }

  PackState& state_;
  PackSweep sweep_;
  BanyanCancelled cancelled_;
  const void* context_;
  Buffer<std::int32_t> all_;             // [npus] 0 .. npus - 1
  const std::int32_t* roots_ = nullptr;  // [root_count_] in the order of their turns
  std::int32_t root_count_ = 0;
  std::int32_t turn_ = 0;
  std::int32_t sweeps_ = 0;
  std::int32_t rollbacks_ = 0;
  std::uint32_t tree_number_ = 0;
  BanyanStatus status_ = kBanyanOk;
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_PACK_SEARCH_H_
