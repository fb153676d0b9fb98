// Lower trees: ruin and recreate (Schrimpf and others 2000).
//
// A repair takes out one to three of the highest trees and some others, and packs their copies anew, the high roots first
// and with prices drawn by chance. What comes out stays when it costs no more (pack_worth.h); it is given up as soon as it does.
// Packing anew never fails, for taking trees out leaves room for at least what was there.
#ifndef BANYAN_KERNELS_PACK_REPAIR_H_
#define BANYAN_KERNELS_PACK_REPAIR_H_

#include "pack_search.h"

namespace banyan {

class PackRepair {
 public:
  PackRepair(PackState& state, PackSearch& search, std::uint32_t seed)
      : state_(state), search_(search), worth_(state), seed_(seed) {}

  /// At most `repairs` repairs, until no tree is higher than `enough`. The packing is whole before and after.
  [[nodiscard]] BanyanStatus Run(std::int32_t repairs, std::int32_t enough) {
    if (repairs == 0 || state_.out->tree_count == 0) return kBanyanOk;
    if (!worth_.Build() || !taken_.Allocate(At(state_.out->max_trees)) || !list_.Allocate(kMostTaken) ||
        !roots_.Allocate(kMostTaken)) {
      return kBanyanOutOfMemory;
    }
    load_price_ = search_.grower.prices.load_price;
    search_.worth = &worth_;
    for (std::int32_t i = 0; i < repairs && Highest(0) > enough; i++) {
      // One that finds no room for its trees ends before it has searched.
      if ((i & 63) == 63 && search_.Cancelled()) return kBanyanCancelled;
      const BanyanStatus status = Repair(static_cast<std::uint32_t>(i));
      if (status != kBanyanOk) return status;
    }
    return kBanyanOk;
  }

 private:
  static constexpr std::int32_t kMostHigh = 3;
  static constexpr std::int32_t kFewestOthers = 1;
  static constexpr std::int32_t kMostOthers = 7;
  static constexpr std::uint32_t kMostChance =
      (1 << 18) - 1;  // a quarter of what an edge costs for depth at price 1000
  static constexpr std::int32_t kMostTaken = kMostHigh + kMostOthers;

  [[nodiscard]] BanyanStatus Repair(std::uint32_t number) {
    if (state_.pool.count() > 1024 + 4 * state_.net.nodes) state_.pool.Clear();
    Choose(number);
    const std::int32_t whole = state_.out->tree_count;
    const std::int64_t before = TakeOut();
    search_.first = whole;
    search_.budget = before;
    search_.grower.prices.chance = Below(Draw(seed_, number, 4), 4) == 0 ? 63 : kMostChance;
    search_.grower.prices.load_price = LoadPrice(Draw(seed_, number, 3));
    const PackEnd end = search_.Run();
    if (end == PackEnd::kPacked && worth_.OfTrees(whole, state_.out->tree_count) <= before) {
      Drop(whole);
      return kBanyanOk;
    }
    while (state_.out->tree_count > whole) state_.DropTree();
    PutBack();
    const bool goes_on = end != PackEnd::kFailed || search_.status() == kBanyanOutputTooSmall;
    return goes_on ? kBanyanOk : search_.status();
  }

  // None, half, once, twice, four or eight times the price that was asked for.
  [[nodiscard]] std::int32_t LoadPrice(std::uint32_t random) const {
    const std::int32_t choice = Below(random, 6);
    return choice == 0 ? 0 : load_price_ * (1 << choice) / 4;
  }

  // Lists the trees to take out and their roots, the high ones first.
  void Choose(std::uint32_t number) {
    const std::int32_t trees = state_.out->tree_count;
    listed_ = 0;
    const std::int32_t high = 1 + Below(Draw(seed_, number, 0), kMostHigh);
    for (std::int32_t i = 0; i < high && listed_ < trees; i++) {
      Take(HighestFrom(Below(Draw(seed_, number, 16U + static_cast<std::uint32_t>(i)), trees)));
    }
    std::int32_t others = kFewestOthers + Below(Draw(seed_, number, 1), kMostOthers - kFewestOthers + 1);
    for (std::uint32_t i = 0; others > 0 && listed_ < trees; others--, i++) {
      std::int32_t tree = Below(Draw(seed_, number, 32U + i), trees);
      while (taken_[At(tree)] != 0) tree = tree + 1 == trees ? 0 : tree + 1;
      Take(tree);
    }
    for (std::int32_t i = 0; i < listed_; i++) roots_[At(i)] = state_.out->root[list_[At(i)]];
    search_.SetRoots(roots_.data(), listed_);
  }

  void Take(std::int32_t tree) {
    taken_[At(tree)] = 1;
    list_[At(listed_++)] = tree;
  }

  // The height of the highest tree.
  [[nodiscard]] std::int32_t Highest(std::int32_t from) const {
    std::int32_t highest = 0;
    for (std::int32_t tree = from; tree < state_.out->tree_count; tree++) {
      if (state_.heights[At(tree)] > highest) highest = state_.heights[At(tree)];
    }
    return highest;
  }

  // The first of the highest trees not taken yet, looking from tree `from` on and around.
  [[nodiscard]] std::int32_t HighestFrom(std::int32_t from) const {
    const std::int32_t trees = state_.out->tree_count;
    std::int32_t best = kNone;
    for (std::int32_t i = 0, tree = from; i < trees; i++, tree = tree + 1 == trees ? 0 : tree + 1) {
      if (taken_[At(tree)] != 0) continue;
      if (best == kNone || state_.heights[At(tree)] > state_.heights[At(best)]) best = tree;
    }
    return best;
  }

  // Makes room of the listed trees; returns what they cost.
  std::int64_t TakeOut() {
    std::int64_t cost = 0;
    for (std::int32_t i = 0; i < listed_; i++) {
      cost += worth_.OfTree(list_[At(i)]);
      Give(list_[At(i)], 1);
    }
    return cost;
  }

  void PutBack() {
    for (std::int32_t i = 0; i < listed_; i++) {
      Give(list_[At(i)], -1);
      taken_[At(list_[At(i)])] = 0;
    }
  }

  void Give(std::int32_t tree, std::int64_t sign) {
    const std::int64_t copies = sign * static_cast<std::int64_t>(state_.out->copies[tree]);
    state_.Draw(state_.Begin(tree, 0), state_.Begin(tree, state_.EdgesPerTree()), -copies);
    state_.Return(state_.out->root[tree], copies);
  }

  // Closes the gaps that the listed trees, all before tree `whole`, leave.
  void Drop(std::int32_t whole) {
    std::int32_t kept = 0;
    while (kept < whole && taken_[At(kept)] == 0) kept++;
    for (std::int32_t tree = kept; tree < state_.out->tree_count; tree++) {
      if (tree < whole && taken_[At(tree)] != 0) {
        taken_[At(tree)] = 0;
      } else {
        Move(tree, kept++);
      }
    }
    state_.out->tree_count = kept;
  }

  void Move(std::int32_t from, std::int32_t to) {
    BanyanTrees& out = *state_.out;
    out.root[to] = out.root[from];
    out.copies[to] = out.copies[from];
    state_.heights[At(to)] = state_.heights[At(from)];
    const std::int32_t edges = state_.EdgesPerTree();
    double* row = out.link_offset + At(to) * At(edges);
    std::int64_t end = state_.Begin(to, 0);
    for (std::int32_t edge = 0; edge < edges; edge++) {
      const std::int64_t last = state_.Begin(from, edge + 1);
      for (std::int64_t i = state_.Begin(from, edge); i < last; i++) out.links[end++] = out.links[i];
      row[edge + 1] = static_cast<double>(end);
    }
  }

  PackState& state_;
  PackSearch& search_;
  PackWorth worth_;
  Buffer<std::uint8_t> taken_;  // [trees] 1: listed
  Buffer<std::int32_t> list_;   // trees to take out
  Buffer<std::int32_t> roots_;  // their roots
  std::uint32_t seed_;
  std::int32_t listed_ = 0;
  std::int32_t load_price_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_PACK_REPAIR_H_
