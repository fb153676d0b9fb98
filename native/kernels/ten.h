// The time-expanded network: slot lengths, the queue of arrivals, and the resources in use. The twin of
// src/engine/kernels/js/ten.ts, function by function.
//
// Arrivals: transfers over routes of one slot length depart in time order, so one first-in-first-out queue per distinct
// slot length holds them sorted, and the next arrival is the least of the queues' heads. No heap; equal times compare
// equal because times are integers. O(1) per push, O(number of distinct slot lengths) per instant.
#ifndef BANYAN_KERNELS_TEN_H_
#define BANYAN_KERNELS_TEN_H_

#include <cstdint>

#include "../abi.h"
#include "buffer.h"
#include "lists.h"

namespace banyan {

using Time = std::int64_t;

constexpr Time kNever = INT64_MAX;
constexpr Time kLatest = (Time{1} << 53) - 1;  // times leave the kernels as doubles

/// Whether the route takes units of resources, which others may take too.
inline bool Shared(const BanyanNetwork& network, std::int32_t route) {
  return network.use_offset[route] < network.use_offset[route + 1];
}

/// Groups the routes that share resources, or those that do not, by `end` [route_count]: their source or target.
[[nodiscard]] bool GroupRoutes(const BanyanNetwork& network, const std::int32_t* end, bool sharing, Lists& lists);

/// The routes that use each resource.
[[nodiscard]] bool GroupUsers(const BanyanNetwork& network, Lists& users);

/// The distinct slot lengths in ascending order, and each route's rank among them.
struct SlotRanks {
  Buffer<std::int32_t> rank;  // [routes]
  Buffer<Time> slot;          // [ranks]
  std::int32_t count = 0;

  [[nodiscard]] bool Build(const BanyanNetwork& network);
};

struct Arrival {
  Time time;
  std::int32_t route;
  std::uint32_t generation;
};

/// One growing ring of arrivals per slot rank.
class ArrivalQueue {
 public:
  ArrivalQueue() = default;
  ~ArrivalQueue();
  ArrivalQueue(const ArrivalQueue&) = delete;
  ArrivalQueue& operator=(const ArrivalQueue&) = delete;

  [[nodiscard]] bool Allocate(std::int32_t ranks);
  /// `arrival.time` must not be below the last pushed to the same rank.
  [[nodiscard]] bool Push(std::int32_t rank, Arrival arrival) {
    Ring& ring = rings_[At(rank)];
    if (ring.size == ring.capacity && !Grow(ring)) return false;
    ring.storage[(ring.head + ring.size) & (ring.capacity - 1)] = arrival;
    ring.size++;
    return true;
  }
  /// The least time in the queue, or kNever.
  [[nodiscard]] Time NextTime() const;
  /// Takes up to `room` arrivals at exactly `time`, lower ranks first; returns how many. The twin takes one.
  std::int32_t Pop(Time time, Arrival* arrivals, std::int32_t room);

 private:
  struct Ring {
    std::size_t head = 0;
    std::size_t size = 0;
    std::size_t capacity = 0;  // a power of two
    Arrival* storage = nullptr;
  };
  [[nodiscard]] static bool Grow(Ring& ring);

  Buffer<Ring> rings_;
};

/// Units in use of every resource.
class Resources {
 public:
  [[nodiscard]] bool Allocate(const BanyanNetwork& network);
  [[nodiscard]] bool Free(std::int32_t route) const;
  void Take(std::int32_t route);
  void Release(std::int32_t route);
  /// Units of one resource still free.
  [[nodiscard]] std::int32_t Left(std::int32_t resource) const {
    return network_->capacity[resource] - used_[At(resource)];
  }

 private:
  const BanyanNetwork* network_ = nullptr;
  Buffer<std::int32_t> used_;
};

}  // namespace banyan

#endif  // BANYAN_KERNELS_TEN_H_
