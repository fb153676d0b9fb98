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

namespace {

// Counts what GroupSecond lists, and writes it where there is `items`. `seen`: the last node that has seen it, plus 1.
void ListSecond(const std::int32_t* near_offset, const std::int32_t* near, std::int32_t count, std::int32_t most,
                std::int32_t* seen, std::int32_t* offset, std::int32_t* items) {
  std::int32_t found = 0;
  for (std::int32_t v = 0; v < count; v++) {
    const std::int32_t begin = near_offset[v];
    const std::int32_t end = near_offset[v + 1];
    seen[v] = v + 1;
    for (std::int32_t i = begin; i < end; i++) seen[near[i]] = v + 1;
    for (std::int32_t i = begin; i < end && end - begin <= most; i++) {
      const std::int32_t u = near[i];
      if (near_offset[u + 1] - near_offset[u] > most) continue;
      for (std::int32_t j = near_offset[u]; j < near_offset[u + 1]; j++) {
        if (seen[near[j]] == v + 1) continue;
        seen[near[j]] = v + 1;
        if (items != nullptr) items[found] = near[j];
        found++;
      }
    }
    offset[v + 1] = found;
  }
}

}  // namespace

bool Lists::GroupTargets(const Lists& routes, const std::int32_t* target, std::int32_t count) {
  if (!offset.Allocate(At(count) + 1) || !items.Allocate(routes.items.size())) return false;
  std::int32_t found = 0;
  for (std::int32_t v = 0; v < count; v++) {
    const std::int32_t first = found;
    for (std::int32_t i = routes.Begin(v); i < routes.End(v); i++) {
      const std::int32_t node = target[routes.items[At(i)]];
      bool fresh = true;
      for (std::int32_t j = first; j < found; j++) fresh = fresh && items[At(j)] != node;
      if (fresh) items[At(found++)] = node;
    }
    offset[At(v) + 1] = found;
  }
  return true;
}

bool Lists::GroupSecond(const Lists& near, std::int32_t count, std::int32_t most) {
  Buffer<std::int32_t> seen;
  if (!offset.Allocate(At(count) + 1) || !seen.Allocate(At(count))) return false;
  ListSecond(near.offset.data(), near.items.data(), count, most, seen.data(), offset.data(), nullptr);
  if (!items.Allocate(At(offset[At(count)]))) return false;
  seen.Fill(0);
  ListSecond(near.offset.data(), near.items.data(), count, most, seen.data(), offset.data(), items.data());
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
