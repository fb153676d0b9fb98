#include "ten.h"

#include <algorithm>

namespace banyan {

bool GroupRoutes(const BanyanNetwork& network, const std::int32_t* end, bool sharing, Lists& lists) {
  Buffer<std::int32_t> keys;
  if (!keys.Allocate(At(network.route_count))) return false;
  for (std::int32_t r = 0; r < network.route_count; r++) keys[At(r)] = Shared(network, r) == sharing ? end[r] : kNone;
  return lists.Group(keys.data(), network.route_count, network.npu_count);
}

bool GroupUsers(const BanyanNetwork& network, Lists& users) {
  Buffer<std::int32_t> route_of_use;
  if (!route_of_use.Allocate(At(network.use_count))) return false;
  for (std::int32_t r = 0; r < network.route_count; r++) {
    for (std::int32_t i = network.use_offset[r]; i < network.use_offset[r + 1]; i++) route_of_use[At(i)] = r;
  }
  if (!users.Group(network.use_resource, network.use_count, network.resource_count)) return false;
  for (std::size_t i = 0; i < users.items.size(); i++) users.items[i] = route_of_use[At(users.items[i])];
  return true;
}

bool SlotRanks::Build(const BanyanNetwork& network) {
  const auto routes = At(network.route_count);
  Buffer<Time> sorted;
  if (!sorted.Allocate(routes) || !rank.Allocate(routes)) return false;
  for (std::size_t r = 0; r < routes; r++) sorted[r] = static_cast<Time>(network.slot_ps[r]);
  std::sort(sorted.data(), sorted.data() + routes);
  const Time* end = std::unique(sorted.data(), sorted.data() + routes);
  count = static_cast<std::int32_t>(end - sorted.data());
  if (!slot.Allocate(At(count))) return false;
  for (std::int32_t i = 0; i < count; i++) slot[At(i)] = sorted[At(i)];
  for (std::size_t r = 0; r < routes; r++) {
    const Time* found = std::lower_bound(slot.data(), slot.data() + count, static_cast<Time>(network.slot_ps[r]));
    rank[r] = static_cast<std::int32_t>(found - slot.data());
  }
  return true;
}

ArrivalQueue::~ArrivalQueue() {
  for (std::size_t i = 0; i < rings_.size(); i++) std::free(rings_[i].storage);
}

bool ArrivalQueue::Allocate(std::int32_t ranks) { return rings_.Allocate(At(ranks)); }

bool ArrivalQueue::Grow(Ring& ring) {
  const std::size_t capacity = ring.capacity == 0 ? 64 : ring.capacity * 2;
  auto* storage = static_cast<Arrival*>(std::malloc(capacity * sizeof(Arrival)));
  if (storage == nullptr) return false;
  for (std::size_t i = 0; i < ring.size; i++) storage[i] = ring.storage[(ring.head + i) & (ring.capacity - 1)];
  std::free(ring.storage);
  ring.storage = storage;
  ring.capacity = capacity;
  ring.head = 0;
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

std::int32_t ArrivalQueue::Pop(Time time, Arrival* arrivals, std::int32_t room) {
  std::int32_t count = 0;
  for (std::size_t i = 0; i < rings_.size(); i++) {
    Ring& ring = rings_[i];
    while (ring.size > 0 && count < room && ring.storage[ring.head].time == time) {
      arrivals[count++] = ring.storage[ring.head];
      ring.head = (ring.head + 1) & (ring.capacity - 1);
      ring.size--;
    }
  }
  return count;
}

bool Resources::Allocate(const BanyanNetwork& network) {
  network_ = &network;
  return used_.Allocate(At(network.resource_count));
}

bool Resources::Free(std::int32_t route) const {
  for (std::int32_t i = network_->use_offset[route]; i < network_->use_offset[route + 1]; i++) {
    if (Left(network_->use_resource[i]) < network_->use_units[i]) return false;
  }
  return true;
}

void Resources::Take(std::int32_t route) {
  for (std::int32_t i = network_->use_offset[route]; i < network_->use_offset[route + 1]; i++) {
    used_[At(network_->use_resource[i])] += network_->use_units[i];
  }
}

void Resources::Release(std::int32_t route) {
  for (std::int32_t i = network_->use_offset[route]; i < network_->use_offset[route + 1]; i++) {
    used_[At(network_->use_resource[i])] -= network_->use_units[i];
  }
}

}  // namespace banyan
