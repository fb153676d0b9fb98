#include "ten.h"

#include <algorithm>

namespace banyan {

bool Lists::Group(const std::int32_t* keys, std::int32_t count, std::int32_t key_count) {
  const auto lists = static_cast<std::size_t>(key_count);
  if (!offset.Allocate(lists + 1)) return false;
  std::int32_t kept = 0;
  for (std::int32_t i = 0; i < count; i++) {
    if (keys[i] < 0) continue;
    offset[static_cast<std::size_t>(keys[i]) + 1]++;
    kept++;
  }
  for (std::size_t k = 0; k < lists; k++) offset[k + 1] += offset[k];
  Buffer<std::int32_t> next;
  if (!next.Allocate(lists) || !items.Allocate(static_cast<std::size_t>(kept))) return false;
  for (std::size_t k = 0; k < lists; k++) next[k] = offset[k];
  for (std::int32_t i = 0; i < count; i++) {
    if (keys[i] >= 0) items[static_cast<std::size_t>(next[static_cast<std::size_t>(keys[i])]++)] = i;
  }
  return true;
}

bool SlotRanks::Build(const BanyanNetwork& network) {
  const auto routes = static_cast<std::size_t>(network.route_count);
  Buffer<Time> sorted;
  if (!sorted.Allocate(routes) || !rank.Allocate(routes)) return false;
  for (std::size_t r = 0; r < routes; r++) sorted[r] = static_cast<Time>(network.slot_ps[r]);
  std::sort(sorted.data(), sorted.data() + routes);
  const Time* end = std::unique(sorted.data(), sorted.data() + routes);
  count = static_cast<std::int32_t>(end - sorted.data());
  if (!slot.Allocate(static_cast<std::size_t>(count))) return false;
  for (std::int32_t i = 0; i < count; i++) slot[static_cast<std::size_t>(i)] = sorted[static_cast<std::size_t>(i)];
  for (std::size_t r = 0; r < routes; r++) {
    const Time* found = std::lower_bound(slot.data(), slot.data() + count, static_cast<Time>(network.slot_ps[r]));
    rank[r] = static_cast<std::int32_t>(found - slot.data());
  }
  return true;
}

ArrivalQueue::~ArrivalQueue() {
  for (std::size_t i = 0; i < rings_.size(); i++) std::free(rings_[i].storage);
}

bool ArrivalQueue::Allocate(std::int32_t ranks) { return rings_.Allocate(static_cast<std::size_t>(ranks)); }

bool ArrivalQueue::Push(std::int32_t rank, Arrival arrival) {
  Ring& ring = rings_[static_cast<std::size_t>(rank)];
  if (ring.size == ring.capacity) {
    const std::size_t capacity = ring.capacity == 0 ? 64 : ring.capacity * 2;
    auto* storage = static_cast<Arrival*>(std::malloc(capacity * sizeof(Arrival)));
    if (storage == nullptr) return false;
    for (std::size_t i = 0; i < ring.size; i++) storage[i] = ring.storage[(ring.head + i) & (ring.capacity - 1)];
    std::free(ring.storage);
    ring.storage = storage;
    ring.capacity = capacity;
    ring.head = 0;
  }
  ring.storage[(ring.head + ring.size) & (ring.capacity - 1)] = arrival;
  ring.size++;
  return true;
}

Time ArrivalQueue::NextTime() const {
  Time next = kNever;
  for (std::size_t i = 0; i < rings_.size(); i++) {
    const Ring& ring = rings_[i];
    if (ring.size > 0 && ring.storage[ring.head].time < next) next = ring.storage[ring.head].time;
  }
  return next;
}

bool ArrivalQueue::Pop(Time time, Arrival* arrival) {
  for (std::size_t i = 0; i < rings_.size(); i++) {
    Ring& ring = rings_[i];
    if (ring.size == 0 || ring.storage[ring.head].time != time) continue;
    *arrival = ring.storage[ring.head];
    ring.head = (ring.head + 1) & (ring.capacity - 1);
    ring.size--;
    return true;
  }
  return false;
}

bool Resources::Allocate(const BanyanNetwork& network) {
  network_ = &network;
  return used_.Allocate(static_cast<std::size_t>(network.resource_count));
}

bool Resources::Free(std::int32_t route) const {
  for (std::int32_t i = network_->use_offset[route]; i < network_->use_offset[route + 1]; i++) {
    if (Left(network_->use_resource[i]) < network_->use_units[i]) return false;
  }
  return true;
}

void Resources::Take(std::int32_t route) {
  for (std::int32_t i = network_->use_offset[route]; i < network_->use_offset[route + 1]; i++) {
    used_[static_cast<std::size_t>(network_->use_resource[i])] += network_->use_units[i];
  }
}

void Resources::Release(std::int32_t route) {
  for (std::int32_t i = network_->use_offset[route]; i < network_->use_offset[route + 1]; i++) {
    used_[static_cast<std::size_t>(network_->use_resource[i])] -= network_->use_units[i];
  }
}

}  // namespace banyan
