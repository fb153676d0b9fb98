#include "lists.h"

namespace banyan {

bool Lists::Group(const std::int32_t* keys, std::int32_t count, std::int32_t key_count) {
  if (!offset.Allocate(At(key_count) + 1)) return false;
  std::int32_t kept = 0;
  for (std::int32_t i = 0; i < count; i++) {
    if (keys[i] < 0) continue;
    offset[At(keys[i]) + 1]++;
    kept++;
  }
  for (std::int32_t k = 0; k < key_count; k++) offset[At(k) + 1] += offset[At(k)];
  Buffer<std::int32_t> next;
  if (!next.Allocate(At(key_count)) || !items.Allocate(At(kept))) return false;
  for (std::int32_t k = 0; k < key_count; k++) next[At(k)] = offset[At(k)];
  for (std::int32_t i = 0; i < count; i++) {
    if (keys[i] >= 0) items[At(next[At(keys[i])]++)] = i;
  }
  return true;
}

std::int32_t Find(std::int32_t* parent, std::int32_t node) {
  std::int32_t v = node;
  while (parent[v] != v) {
    parent[v] = parent[parent[v]];
    v = parent[v];
  }
  return v;
}

void Unite(std::int32_t* parent, std::int32_t a, std::int32_t b) {
  const std::int32_t x = Find(parent, a);
  const std::int32_t y = Find(parent, b);
  if (x < y) parent[y] = x;
  if (y < x) parent[x] = y;
}

bool AllocateRange(Buffer<std::int32_t>& range, std::int32_t count) {
  if (!range.Allocate(At(count))) return false;
  for (std::int32_t i = 0; i < count; i++) range[At(i)] = i;
  return true;
}

}  // namespace banyan
