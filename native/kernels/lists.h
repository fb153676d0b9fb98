// Lists and sets of indices: the twin of src/engine/kernels/js/lists.ts, function by function.
#ifndef BANYAN_KERNELS_LISTS_H_
#define BANYAN_KERNELS_LISTS_H_

#include <cstddef>
#include <cstdint>

#include "buffer.h"

namespace banyan {

constexpr std::int32_t kNone = -1;

/// An index as arrays take it.
inline std::size_t At(std::int32_t i) { return static_cast<std::size_t>(i); }

/// Lists of indices: list i is items[offset[i] .. offset[i + 1]].
struct Lists {
  Buffer<std::int32_t> offset;
  Buffer<std::int32_t> items;

  /// Groups 0 .. count - 1 by keys[i] in [0, key_count), each list ascending. Keys of -1 are left out.
  [[nodiscard]] bool Group(const std::int32_t* keys, std::int32_t count, std::int32_t key_count);
  /// Lists for each of `count` nodes where its `routes` lead by `target`, each node once, in their order.
  [[nodiscard]] bool GroupTargets(const Lists& routes, const std::int32_t* target, std::int32_t count);
  /// Lists for each of `count` nodes what is two steps away and not fewer, where `near` lists what is one step away, without
  /// repeats; steps out of nodes with more than `most` of them are left out.
  [[nodiscard]] bool GroupSecond(const Lists& near, std::int32_t count, std::int32_t most);
  [[nodiscard]] std::int32_t Begin(std::int32_t list) const { return offset[At(list)]; }
  [[nodiscard]] std::int32_t End(std::int32_t list) const { return offset[At(list) + 1]; }
};

/// A list of indices in which each stands at most once until it is taken.
struct Touched {
  Buffer<std::uint8_t> marks;
  Buffer<std::int32_t> list;
  std::int32_t count = 0;

  [[nodiscard]] bool Allocate(std::size_t size) { return marks.Allocate(size) && list.Allocate(size); }
  void Touch(std::int32_t index) {
    if (marks[At(index)] != 0) return;
    marks[At(index)] = 1;
    list[At(count++)] = index;
  }
};

/// The disjoint sets of a forest: parent[v] = v at the root, which is the least of its set.
std::int32_t Find(std::int32_t* parent, std::int32_t node);
void Unite(std::int32_t* parent, std::int32_t a, std::int32_t b);

/// Fills `range` with 0 .. count - 1.
[[nodiscard]] bool AllocateRange(Buffer<std::int32_t>& range, std::int32_t count);

}  // namespace banyan

#endif  // BANYAN_KERNELS_LISTS_H_
