// Growth of the tree in the making, path by path, the cheapest first.
//
// A label search from all members of the tree at once. A label at a forwarding node is shelved when a live one there enters
// every cut with little slack no more often, for that one can do all that it can; it is taken up again when that one dies.
// What is refused stays refused while the tree grows, for room only shrinks. Labels die when their paths have no room left.
// A pass that begins with fresh labels and adds nothing proves that no path is allowed: labels differ only in how often they
// enter cuts with slack below `little` times the copies, which is all that matters for paths that enter none so often; a
// thorough search takes more than a path can have links.
#ifndef BANYAN_KERNELS_PACK_GROW_H_
#define BANYAN_KERNELS_PACK_GROW_H_

#include "pack_heap.h"
#include "pack_limit.h"
#include "pack_prices.h"

namespace banyan {

enum class Growth : std::uint8_t {
  kWhole,    // the tree reaches all NPUs
  kStuck,    // no path is allowed for a single copy, or it would take a sweep to know
  kTooHigh,  // the tree is higher than it may be
  kFailed    // see status()
};

class TreeGrower {
 public:
  TreeGrower(PackState& state, BanyanCancelled cancelled, const void* context)
      : prices(state), state_(state), limit_(state, labels_), cancelled_(cancelled), context_(context) {}

  PackPrices prices;
  std::int32_t most_height = INT32_MAX;

  [[nodiscard]] bool Allocate() { return labels_.Allocate(state_.net.nodes); }
  [[nodiscard]] BanyanStatus status() const { return status_; }

  /// Grows the tree in the making, for fewer copies where it has to.
  [[nodiscard]] Growth Grow(bool thorough) {
    const std::int32_t forwarders = state_.net.nodes - state_.net.npus;
    little_ = thorough && forwarders + 2 > kLittle ? forwarders + 2 : kLittle;
    while (state_.open) {
      const std::int32_t members = state_.members;
      if (!Pass()) return Growth::kFailed;
      if (state_.height > most_height) return Growth::kTooHigh;
      if (state_.members > members) continue;
      if (most_refused_ == 0) return Growth::kStuck;
      state_.LowerTo(most_refused_);
    }
    return Growth::kWhole;
  }

 private:
  static constexpr std::int32_t kLittle = 8;
  static constexpr std::int32_t kPollEvery = 4096;

  [[nodiscard]] bool Fail(BanyanStatus status) {
    status_ = status;
    return false;
  }

  // One search with fresh labels; false when it failed.
  [[nodiscard]] bool Pass() {
    labels_.Clear();
    offers_.Clear();
    most_refused_ = 0;
    if (!limit_.Fit() || !mine_.Fit(state_.pool.count())) return Fail(kBanyanOutOfMemory);
    for (std::int32_t i = 0; i < state_.members; i++) {
      if (!AddStart(state_.member[At(i)])) return false;
    }
    while (!offers_.IsEmpty() && state_.open && state_.height <= most_height) {
      if (++pops_ == kPollEvery) {
        pops_ = 0;
        if (cancelled_ != nullptr && cancelled_(context_) != 0) return Fail(kBanyanCancelled);
      }
      const PackOffer offer = offers_.Pop();
      if (labels_.state[At(offer.label)] != kLive) continue;
      const std::int32_t head = state_.net.target[offer.link];
      if (!(head < state_.net.npus ? TryJoin(offer, head) : TryPass(offer, head))) return false;
    }
    return true;
  }

  [[nodiscard]] bool AddStart(std::int32_t npu) {
    const std::int32_t l = labels_.Add(npu, kNone, kNone, prices.OfStart(npu));
    return l == kNone ? Fail(kBanyanOutOfMemory) : AddOffers(l);
  }

  // Offers the links out of a label's node.
  [[nodiscard]] bool AddOffers(std::int32_t l) {
    const PackNet& net = state_.net;
    const std::int32_t at = labels_.node[At(l)];
    for (std::int32_t i = net.out.Begin(at); i < net.out.End(at); i++) {
      const std::int32_t link = net.out.items[At(i)];
      const std::int32_t head = net.target[link];
      if (head < net.npus && state_.reached[At(head)] != 0) continue;
      if (state_.left[At(link)] < state_.copies) {
        Refuse(state_.left[At(link)]);
        continue;
      }
      if (!offers_.Push({labels_.price[At(l)] + prices.OfLink(link), l, link})) return Fail(kBanyanOutOfMemory);
    }
    return true;
  }

  void Refuse(std::int64_t limit) {
    if (limit > most_refused_) most_refused_ = limit;
  }

  [[nodiscard]] bool TryJoin(const PackOffer& offer, std::int32_t npu) {
    if (state_.reached[At(npu)] != 0) return true;
    const std::int64_t limit = limit_.Of(offer.label, offer.link, npu);
    if (limit < state_.copies) {
      Refuse(limit);
      return BuryIfDead(offer.label);
    }
    return Join(offer, npu) && AddStart(npu);
  }

  // Adds an edge to the tree; false when there is no room for its links.
  [[nodiscard]] bool Join(const PackOffer& offer, std::int32_t npu) {
    const std::int32_t path_links = labels_.length[At(offer.label)] + 1;
    const std::int64_t begin = state_.Begin(state_.out->tree_count - 1, state_.members - 1);
    if (begin + path_links > static_cast<std::int64_t>(state_.out->max_links)) return Fail(kBanyanOutputTooSmall);
    std::int64_t at = begin + path_links - 1;
    state_.out->links[at] = offer.link;
    std::int32_t l = offer.label;
    for (; labels_.parent[At(l)] != kNone; l = labels_.parent[At(l)]) state_.out->links[--at] = labels_.link[At(l)];
    state_.AddEdge(labels_.node[At(l)], npu, path_links);
    return true;
  }

  [[nodiscard]] bool TryPass(const PackOffer& offer, std::int32_t node) {
    if (labels_.Visits(offer.label, node)) return true;
    const std::int64_t limit = limit_.Of(offer.label, offer.link, kNone);
    if (limit < state_.copies) {
      Refuse(limit);
      return BuryIfDead(offer.label);
    }
    const std::int32_t l = labels_.Add(node, offer.link, offer.label, offer.price);
    if (l == kNone) return Fail(kBanyanOutOfMemory);
    labels_.seen[At(l)] = state_.members;
    Enqueue(l);
    return Settle();
  }

  // Whether the path of a label has room for the copies.
  [[nodiscard]] bool HasRoom(std::int32_t l) {
    if (labels_.parent[At(l)] == kNone || labels_.seen[At(l)] == state_.members) return true;
    if (limit_.Of(l, kNone, kNone) < state_.copies) return false;
    labels_.seen[At(l)] = state_.members;
    return true;
  }

  [[nodiscard]] bool BuryIfDead(std::int32_t l) {
    for (; l != kNone && !HasRoom(l); l = labels_.parent[At(l)]) {
      if (labels_.state[At(l)] == kLive) Kill(l);
    }
    return Settle();
  }

  void Kill(std::int32_t l) {
    labels_.Kill(l);
    std::int32_t next = kNone;
    for (std::int32_t other = labels_.shelf[At(l)]; other != kNone; other = next) {
      next = labels_.next[At(other)];
      Enqueue(other);
    }
  }

  void Enqueue(std::int32_t l) {
    labels_.next[At(l)] = kNone;
    if (queue_ == kNone) {
      queue_ = l;
    } else {
      labels_.next[At(queue_end_)] = l;
    }
    queue_end_ = l;
  }

  // Finds their places for the labels in the queue.
  [[nodiscard]] bool Settle() {
    while (queue_ != kNone) {
      const std::int32_t l = queue_;
      queue_ = labels_.next[At(l)];
      if (!HasRoom(l)) {
        labels_.state[At(l)] = kDead;
        continue;
      }
      CountEntries(l);
      const std::int32_t other = Dominator(l);
      if (other != kNone) {
        labels_.Shelve(l, other);
        mine_.Clear();
        continue;
      }
      labels_.entry_begin[At(l)] = labels_.entries;
      for (std::int32_t i = 0; i < mine_.count; i++) {
        const std::int32_t cut = mine_.cut[At(i)];
        if (!labels_.AddEntry(l, cut, mine_.times[At(cut)])) return Fail(kBanyanOutOfMemory);
      }
      mine_.Clear();
      labels_.GoLive(l);
      if (!AddOffers(l)) return false;
    }
    return true;
  }

  // Counts how often a path enters the cuts with little slack.
  void CountEntries(std::int32_t l) {
    for (; labels_.parent[At(l)] != kNone; l = labels_.parent[At(l)]) {
      const std::int32_t arc = state_.net.arc[At(labels_.link[At(l)])];
      const std::int32_t* cuts = state_.pool.Entered(arc);
      const std::int32_t count = state_.pool.EnteredCount(arc);
      for (std::int32_t i = 0; i < count; i++) {
        if (state_.pool.Slack(cuts[i]) < state_.copies * little_) mine_.Enter(cuts[i]);
      }
    }
  }

  // A live label at the same node that enters no cut more often than has been counted; kills the dead ones it meets.
  [[nodiscard]] std::int32_t Dominator(std::int32_t l) {
    std::int32_t next = kNone;
    for (std::int32_t other = labels_.live[At(labels_.node[At(l)])]; other != kNone; other = next) {
      next = labels_.next[At(other)];
      if (!HasRoom(other)) {
        Kill(other);
      } else if (Dominates(other)) {
        return other;
      }
    }
    return kNone;
  }

  [[nodiscard]] bool Dominates(std::int32_t other) const {
    for (std::int32_t i = labels_.entry_begin[At(other)]; i < labels_.entry_end[At(other)]; i++) {
      if (labels_.entry_times[At(i)] > mine_.times[At(labels_.entry_cut[At(i)])]) return false;
    }
    return true;
  }

  PackState& state_;
  PackLabels labels_;
  PathLimit limit_;
  OfferHeap offers_;
  EntryCounts mine_;
  BanyanCancelled cancelled_;
  const void* context_;
  std::int64_t most_refused_ = 0;  // the most copies for which a refused path, or the beginning of one, had room
  std::int32_t queue_ = kNone;
  std::int32_t queue_end_ = kNone;
  std::int32_t little_ = kLittle;
  std::int32_t pops_ = 0;
  BanyanStatus status_ = kBanyanOk;
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_PACK_GROW_H_
