// Paths from the tree in the making through nodes that only forward, as labels that hang on one another.
#ifndef BANYAN_KERNELS_PACK_LABELS_H_
#define BANYAN_KERNELS_PACK_LABELS_H_

#include "pack_net.h"

namespace banyan {

enum LabelState : std::uint8_t {
  kShelved,  // a live one at its node can do all that it can
  kLive,
  kDead  // its path has no room for another edge of the tree
};

/// Label l is the path of label parent[l] and link[l], ending at node[l]; at a member of the tree a path begins and has
/// neither.
struct PackLabels {
  Buffer<std::int64_t> price;
  Buffer<std::int32_t> node;
  Buffer<std::int32_t> link;
  Buffer<std::int32_t> parent;
  Buffer<std::int32_t> length;  // links of the path
  Buffer<std::int32_t> seen;    // edges that the tree had when the path was last found to have room
  Buffer<std::uint8_t> state;
  Buffer<std::int32_t> live;       // [nodes] the first live label at a node, or kNone
  Buffer<std::int32_t> next;       // the next one there; or in the shelf or queue that it stands in
  Buffer<std::int32_t> shelf;      // the first label shelved because of this one, or kNone
  Buffer<std::int32_t> shelf_end;  // the last one
  Buffer<std::int32_t>
      entry_begin;  // cuts with little slack that a live path enters: entry_cut[entry_begin .. entry_end)
  Buffer<std::int32_t> entry_end;
  Buffer<std::int32_t> entry_cut;
  Buffer<std::int32_t> entry_times;
  std::int32_t count = 0;
  std::int32_t entries = 0;

  [[nodiscard]] bool Allocate(std::int32_t nodes) { return live.Allocate(At(nodes)); }

  void Clear() {
    live.Fill(kNone);
    count = 0;
    entries = 0;
  }

  /// Returns a new label on no list, or kNone when the memory cannot be had.
  [[nodiscard]] std::int32_t Add(std::int32_t at, std::int32_t over, std::int32_t on, std::int64_t with_price) {
    const std::int32_t l = count;
    const std::int64_t size = static_cast<std::int64_t>(l) + 1;
    if (!Reserve(price, size) || !Reserve(node, size) || !Reserve(link, size) || !Reserve(parent, size) ||
        !Reserve(length, size) || !Reserve(seen, size) || !Reserve(state, size) || !Reserve(next, size) ||
        !Reserve(shelf, size) || !Reserve(shelf_end, size) || !Reserve(entry_begin, size) ||
        !Reserve(entry_end, size)) {
      return kNone;
    }
    price[At(l)] = with_price;
    node[At(l)] = at;
    link[At(l)] = over;
    parent[At(l)] = on;
    length[At(l)] = on == kNone ? 0 : length[At(on)] + 1;
    seen[At(l)] = kNone;
    state[At(l)] = kLive;
    next[At(l)] = kNone;
    shelf[At(l)] = kNone;
    entry_begin[At(l)] = entries;
    entry_end[At(l)] = entries;
    count++;
    return l;
  }

  [[nodiscard]] bool AddEntry(std::int32_t l, std::int32_t cut, std::int32_t times) {
    const std::int64_t size = static_cast<std::int64_t>(entries) + 1;
    if (!Reserve(entry_cut, size) || !Reserve(entry_times, size)) return false;
    entry_cut[At(entries)] = cut;
    entry_times[At(entries)] = times;
    entry_end[At(l)] = ++entries;
    return true;
  }

  void Shelve(std::int32_t l, std::int32_t because_of) {
    state[At(l)] = kShelved;
    next[At(l)] = kNone;
    if (shelf[At(because_of)] == kNone) {
      shelf[At(because_of)] = l;
    } else {
      next[At(shelf_end[At(because_of)])] = l;
    }
    shelf_end[At(because_of)] = l;
  }

  void GoLive(std::int32_t l) {
    state[At(l)] = kLive;
    next[At(l)] = live[At(node[At(l)])];
    live[At(node[At(l)])] = l;
  }

  /// Takes a label from the live ones at its node.
  void Kill(std::int32_t l) {
    state[At(l)] = kDead;
    std::int32_t* place = &live[At(node[At(l)])];
    while (*place != l) place = &next[At(*place)];
    *place = next[At(l)];
  }

  /// Whether the path of a label visits a node.
  [[nodiscard]] bool Visits(std::int32_t l, std::int32_t at) const {
    for (; l != kNone; l = parent[At(l)]) {
      if (node[At(l)] == at) return true;
    }
    return false;
  }

  [[nodiscard]] std::int32_t StartOf(std::int32_t l) const {
    while (parent[At(l)] != kNone) l = parent[At(l)];
    return l;
  }
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_PACK_LABELS_H_
