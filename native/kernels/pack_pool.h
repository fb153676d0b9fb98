// The cuts that packing has run into, with what may still enter each.
//
// A cut is a node set X with an NPU. slack(X) = (capacity left into X) - (copies still to start at NPUs outside X); the tree
// in the making, of m copies, needs m of it as long as it has not touched X. A cut has no entry twice: it is added when it
// is violated, and the others never are.
// Memory: nodes / 8 bytes and one index per arc that enters, for each cut.
#ifndef BANYAN_KERNELS_PACK_POOL_H_
#define BANYAN_KERNELS_PACK_POOL_H_

#include "pack_net.h"

namespace banyan {

class CutPool {
 public:
  [[nodiscard]] bool Allocate(const PackNet& net) {
    words_ = (net.nodes + 31) / 32;
    const std::size_t arcs = net.graph.tail.size();
    return begin_.Allocate(arcs) && size_.Allocate(arcs) && room_.Allocate(arcs);
  }

  [[nodiscard]] std::int32_t count() const { return count_; }
  [[nodiscard]] std::int64_t Slack(std::int32_t cut) const { return slack_[At(cut)]; }
  /// Whether the tree in the making has not touched the cut.
  [[nodiscard]] bool Untouched(std::int32_t cut) const { return untouched_[At(cut)] != 0; }
  [[nodiscard]] bool Has(std::int32_t cut, std::int32_t node) const {
    return ((Row(cut)[node >> 5] >> (node & 31)) & 1U) != 0;
  }

  /// The cuts that an arc enters are Entered(arc)[0 .. EnteredCount(arc)), the oldest first.
  [[nodiscard]] const std::int32_t* Entered(std::int32_t arc) const { return entered_.data() + begin_[At(arc)]; }
  [[nodiscard]] std::int32_t EnteredCount(std::int32_t arc) const { return size_[At(arc)]; }

  /// Adds the set of the nodes marked in `inside`. False when the memory cannot be had. O(nodes + arcs).
  [[nodiscard]] bool Add(const PackNet& net, const std::uint8_t* inside, std::int64_t slack, bool untouched) {
    const std::int32_t cut = count_;
    if (!Reserve(slack_, cut + 1) || !Reserve(untouched_, cut + 1) || !Reserve(open_, cut + 1) ||
        !Reserve(member_, static_cast<std::int64_t>(words_) * (cut + 1))) {
      return false;
    }
    std::uint32_t* row = member_.data() + At(cut) * At(words_);
    for (std::int32_t w = 0; w < words_; w++) row[w] = 0;
    for (std::int32_t v = 0; v < net.nodes; v++) {
      if (inside[v] == 0) continue;
      row[v >> 5] |= 1U << (v & 31);
      for (std::int32_t a = net.graph.offset[At(v)]; a < net.graph.offset[At(v) + 1]; a++) {
        if (net.real[At(a)] != 0 && inside[net.graph.tail[At(a)]] == 0 && !Enter(a, cut)) return false;
      }
    }
    slack_[At(cut)] = slack;
    untouched_[At(cut)] = untouched ? 1 : 0;
    if (untouched) open_[At(open_count_++)] = cut;
    count_++;
    return true;
  }

  /// Forgets all cuts.
  void Clear() {
    count_ = 0;
    open_count_ = 0;
    used_ = 0;
    size_.Fill(0);
    room_.Fill(0);
  }

  /// Takes `amount` of the capacity of an arc; it may be negative.
  void Draw(std::int32_t arc, std::int64_t amount) {
    const std::int32_t* cuts = Entered(arc);
    const std::int32_t count = size_[At(arc)];
    for (std::int32_t i = 0; i < count; i++) slack_[At(cuts[i])] -= amount;
  }

  /// So many copies more (or, negative, fewer) have started at a root.
  void Start(std::int32_t root, std::int64_t copies) {
    for (std::int32_t cut = 0; cut < count_; cut++) {
      if (!Has(cut, root)) slack_[At(cut)] += copies;
    }
  }

  /// A new tree touches no cut yet.
  void TouchNone() {
    for (std::int32_t cut = 0; cut < count_; cut++) {
      untouched_[At(cut)] = 1;
      open_[At(cut)] = cut;
    }
    open_count_ = count_;
  }

  /// The tree in the making has reached a node. O(cuts that it had not touched).
  void Touch(std::int32_t node) {
    std::int32_t kept = 0;
    for (std::int32_t i = 0; i < open_count_; i++) {
      const std::int32_t cut = open_[At(i)];
      if (Has(cut, node)) {
        untouched_[At(cut)] = 0;
      } else {
        open_[At(kept++)] = cut;
      }
    }
    open_count_ = kept;
  }

 private:
  [[nodiscard]] const std::uint32_t* Row(std::int32_t cut) const { return member_.data() + At(cut) * At(words_); }

  // Lists lie in one array; one that is full moves to its end with twice the room.
  [[nodiscard]] bool Enter(std::int32_t arc, std::int32_t cut) {
    std::int32_t& room = room_[At(arc)];
    std::int32_t& size = size_[At(arc)];
    if (size == room) {
      const std::int32_t larger = room == 0 ? 4 : 2 * room;
      if (used_ > INT32_MAX - larger || !Reserve(entered_, static_cast<std::int64_t>(used_) + larger)) return false;
      for (std::int32_t i = 0; i < size; i++) entered_[At(used_ + i)] = entered_[At(begin_[At(arc)] + i)];
      begin_[At(arc)] = used_;
      room = larger;
      used_ += larger;
    }
    entered_[At(begin_[At(arc)] + size++)] = cut;
    return true;
  }

  Buffer<std::uint32_t> member_;    // [cuts * words] bit v: node v is inside
  Buffer<std::int64_t> slack_;      // [cuts]
  Buffer<std::int32_t> open_;       // cuts that the tree in the making has not touched, ascending
  Buffer<std::uint8_t> untouched_;  // [cuts] 1: among those
  Buffer<std::int32_t> entered_;
  Buffer<std::int32_t> begin_;  // [arcs]
  Buffer<std::int32_t> size_;   // [arcs]
  Buffer<std::int32_t> room_;   // [arcs]
  std::int32_t words_ = 0;
  std::int32_t count_ = 0;
  std::int32_t open_count_ = 0;
  std::int32_t used_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_PACK_POOL_H_
